"""The command that compares two models: their terms, their predictions and their scores."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from laconic.cli import files, options, table_file, terminal
from laconic.cli.terminal import EXIT_DIFFERENT, CommandError
from laconic.terms.comparison import Kind, TermChange, compare_terms
from laconic.terms.formatting import (
    INTERCEPT,
    format_count,
    format_number,
    format_percent,
    format_weight,
    visible,
)
from laconic.terms.slopes import Slope

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console
    from rich.table import Table

    from laconic.models.rule_model import RuleModel
    from laconic.models.scores import ScoredRows
    from laconic.models.tasks import Metric, Task
    from laconic.terms.rules import Line, RuleEnsemble

_SIGNS: dict[Kind, str] = {"same": "", "changed": "~", "dropped": "-", "added": "+"}
_STYLES: dict[Kind, str] = {"same": "dim", "changed": "yellow", "dropped": "red", "added": "green"}

# Enough for a standard error to within a tenth, and few enough to score in a second.
MAX_GROUPS = 50

# Standard errors beyond which a difference is significant, at a level of one in twenty.
_SIGNIFICANT = 2.0


def compare(
    model_a: Path,
    model_b: Path,
    table: options.Place | None = None,
    /,
    *,
    target: str | None = None,
    json: options.Flag = False,
    exit_code: options.Flag = False,
    format: options.Format = options.DEFAULT_FORMAT,
) -> int:
    """Compare the terms of two models and, given a table, their predictions and scores.

    Parameters
    ----------
    model_a : Path
        Saved model, the first of the two.
    model_b : Path
        Saved model to compare with the first.
    table : Path
        File with rows to compare the predictions on.
    target : str
        Column that the models predict, to compare their scores; use rows that neither model was
        fitted to. By default, the target that both were fitted to, if the table has it.
    json : bool
        Write JSON: an object with the changes and, given a table, the agreement and scores.
    exit_code : bool
        Exit with code 3 if the terms or intercepts differ, for scripts.
    """
    old, new = files.load_model(model_a), files.load_model(model_b)
    _check_same_task(old.task_, new.task_)
    ensembles = old.ensemble_, new.ensemble_
    changes = compare_terms(*ensembles)
    intercepts = [each.intercepts if each.outputs else each.intercept for each in ensembles]
    if target is not None and table is None:
        raise CommandError(
            "--target needs a table, of which it is a column. Got none. Name a table after the two "
            "models."
        )
    rows = None if table is None else table_file.TableFile(table, format)
    agreement = None if rows is None else _agreement(old, new, rows)
    scores = None if rows is None else compare_scores((old, new), rows, target)
    if json:
        found: dict[str, Any] = {"intercepts": intercepts, "terms": [_as_dict(c) for c in changes]}
        found |= {} if agreement is None else {"agreement": agreement}
        terminal.write_json(found if scores is None else found | {"scores": scores.as_dict()})
    else:
        console = terminal.make_console()
        _show(console, changes, (old, new), agreement)
        if scores is not None:
            scores.show(console)
    is_different = intercepts[0] != intercepts[1] or any(c.kind != "same" for c in changes)
    return EXIT_DIFFERENT if exit_code and is_different else 0


def _check_same_task(old: Task, new: Task) -> None:
    if (old.name, old.labels) != (new.name, new.labels):
        raise CommandError(
            "The two models must predict the same target, and their weights vote for the same of "
            f"two classes. Got {_kind(old)} and {_kind(new)}. Choose models of the same target."
        )


def _kind(task: Task) -> str:
    if task.labels is None:
        return f"a {task.name}"
    positive = "" if task.outputs else f" (positive: {task.labels[1]!r})"
    return f"one with the classes {sorted(task.labels)}{positive}"


def _agreement(old: RuleModel, new: RuleModel, rows: table_file.TableFile) -> dict[str, float]:
    """Compare the predictions for the rows of a table."""
    first, second = (table_file.predictions_for(model, rows) for model in (old, new))
    is_same = first.values == second.values
    # Of three or more classes, the largest difference counts.
    difference = np.abs(first.raw - second.raw).reshape(len(is_same), -1).max(axis=1)
    return {
        "n_rows": len(is_same),
        "n_same": int(is_same.sum()),
        "mean_difference": float(difference.mean()),
        "largest_difference": float(difference.max()),
        "row_of_largest_difference": int(difference.argmax()),
    }


def _as_dict(change: TermChange) -> dict[str, Any]:
    old, new = (
        None
        if term is None
        else {
            "kind": "slope" if isinstance(term, Slope) else "rule",
            "text": term.text() if isinstance(term, Slope) else str(term.query),
            "weight": term.weight,
            **({"output": term.output} if term.output else {}),
        }
        for term in (change.old, change.new)
    )
    return {"kind": change.kind, "old": old, "new": new}


def _show(
    console: Console,
    changes: list[TermChange],
    models: tuple[RuleModel, RuleModel],
    agreement: dict[str, float] | None,
) -> None:
    kinds = [change.kind for change in changes]
    counts = ", ".join(f"{kinds.count(kind)} {kind}" for kind in _SIGNS)
    console.print(f"Terms: {counts}\n")
    ensembles = models[0].ensemble_, models[1].ensemble_
    console.print(_table(changes, ensembles), "", sep="\n")
    if agreement is not None:
        share = agreement["n_same"] / agreement["n_rows"]
        words = (
            f"Same prediction for {agreement['n_same']:,} of {agreement['n_rows']:,} rows "
            f"({format_percent(share)}). "
        )
        name = models[0].task_.sum_words
        if agreement["largest_difference"] == 0:
            words += f"No difference in the {name}."
        else:
            words += (
                f"Difference in the {name}: {format_number(agreement['mean_difference'])} on "
                f"average, up to {format_number(agreement['largest_difference'])}, in row "
                f"{agreement['row_of_largest_difference']}."
            )
        console.print(words)


def _table(changes: list[TermChange], ensembles: tuple[RuleEnsemble, RuleEnsemble]) -> Table:
    table = terminal.make_table()
    table.add_column("")
    table.add_column("weight a", justify="right", no_wrap=True)
    table.add_column("weight b", justify="right", no_wrap=True)
    table.add_column("term", overflow="fold")
    names = [f"for {output.name} {INTERCEPT}" for output in ensembles[0].outputs]
    if not names and any(ensemble.intercept != 0.0 for ensemble in ensembles):
        names = [INTERCEPT]
    pairs = zip(*(ensemble.intercepts for ensemble in ensembles), strict=True)
    for name, intercepts in zip(names, pairs, strict=False):
        kind: Kind = "same" if intercepts[0] == intercepts[1] else "changed"
        weights = [*map(format_weight, intercepts)]
        table.add_row(_SIGNS[kind], *weights, terminal.QueryCell(name), style=_STYLES[kind])
    for change in changes:
        pairs = zip(ensembles, (change.old, change.new), strict=True)
        lines = [
            None if term is None else each.with_terms((term,)).lines[-1] for each, term in pairs
        ]
        weights = ["" if line is None else format_weight(line.weight) for line in lines]
        texts = dict.fromkeys(_text(line) for line in lines if line is not None)
        cell = terminal.QueryCell("  ->  ".join(texts))
        table.add_row(_SIGNS[change.kind], *weights, cell, style=_STYLES[change.kind])
    return table


def _text(line: Line) -> str:
    return f"{f'for {line.output}: ' if line.output else ''}{' & '.join(line.conditions)}"


class Difference(NamedTuple):
    """Scores of the two models."""

    first: float
    second: float
    standard_error: float
    """Of the difference between the scores."""

    @property
    def value(self) -> float:
        """The second score minus the first."""
        return self.second - self.first

    @property
    def gap(self) -> str:
        """The absolute difference as text."""
        return format_number(abs(self.value), 2)

    @property
    def error(self) -> str:
        """The standard error as text."""
        return format_number(self.standard_error, 2)

    @property
    def is_significant(self) -> bool:
        """Whether the difference is beyond two standard errors."""
        return abs(self.value) > _SIGNIFICANT * self.standard_error


@dataclass(frozen=True)
class ScoreComparison:
    """Scores of two models on the rows of a table, by the name of the metric."""

    task: Task
    target: str
    n_rows: int
    differences: dict[str, Difference]
    constants: dict[str, float]
    """Scores without a model: of the constant of the first one, or the best for these rows."""

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON."""
        return {
            "target": self.target,
            "n_rows": self.n_rows,
            "metrics": {
                name: {
                    "a": each.first,
                    "b": each.second,
                    "difference": each.value,
                    "standard_error": each.standard_error,
                    "no_model": self.constants[name],
                }
                for name, each in self.differences.items()
            },
            "better": self.better,
        }

    @property
    def deciding(self) -> Metric:
        """The metric that decides which model is better."""
        return self.task.deciding_metric

    @property
    def better(self) -> str | None:
        """The better model, a or b; None if the difference is within two standard errors."""
        difference = self.differences[self.deciding.name]
        if not difference.is_significant:
            return None
        return "b" if (difference.value > 0) == self.deciding.is_higher_better else "a"

    def show(self, console: Console) -> None:
        """Print all scores, and which model is better."""
        table = terminal.make_table()
        table.add_column(f"scores for {visible(self.target)}")
        for name in ("a", "b", "b − a", "no model"):
            table.add_column(name, justify="right", no_wrap=True)
        for metric in self.task.metrics:
            if metric.name not in self.differences:
                continue
            each = self.differences[metric.name]
            scores = map(format_number, (each.first, each.second))
            sign = "+" if each.value >= 0 else "-"
            change = f"{sign}{each.gap} ± {each.error}"
            constant = format_number(self.constants[metric.name])
            table.add_row(metric.label, *scores, change, constant)
        console.print("", table, "", self.verdict, sep="\n")

    @property
    def verdict(self) -> str:
        """A sentence about which model is better."""
        label, each = self.deciding.label, self.differences[self.deciding.name]
        n_rows = format_count(self.n_rows, "row")
        if each.value == 0 and each.standard_error == 0:
            return f"Both models have the same {label} on these {n_rows}."
        words = f"by {each.gap} on these {n_rows}, with a standard error of {each.error}"
        if self.better is None:
            return (
                f"Neither model is clearly better: their {label} differs {words}, which is within "
                "two standard errors."
            )
        other = "a" if self.better == "b" else "b"
        return f"Model {self.better} is better than {other}: its {label} is smaller {words}."


def compare_scores(
    models: tuple[RuleModel, RuleModel], table: table_file.TableFile, target: str | None
) -> ScoreComparison | None:
    """Compare the scores of two models; None if the target is not known.

    Unless it is given, it is the target of both records, if the table has it.
    """
    if target is None:
        known = {None if model.record_ is None else model.record_.target for model in models}
        target = known.pop()
        if known or target is None or target not in table.cells.columns:
            return None
    rows = [table.rows(model, target) for model in models]
    with table_file.short_warnings():
        a, b = (model.predictions_for(X).raw for model, (X, _) in zip(models, rows, strict=True))
    from laconic.models.scores import ScoredRows

    task, y = models[0].task_, rows[0][1]
    old = ScoredRows(task, task.numbers(y, len(y)), a, None, len(y))
    differences = _differences(old, replace(old, raw=b))
    constants = old.without_model(old.constant_for(models[0])).by_metric()
    return ScoreComparison(task, target, len(y), differences, constants)


def _differences(a: ScoredRows, b: ScoredRows) -> dict[str, Difference]:
    """Score both models, and estimate standard errors of the differences.

    They are those of the jackknife over groups of rows, which are always drawn in the same way.
    """
    groups = np.random.default_rng(0).permutation(a.n_rows) % MAX_GROUPS
    n_groups = min(MAX_GROUPS, a.n_rows)

    def scored(rows: Any) -> tuple[dict[str, float], dict[str, float]]:
        first, second = (
            replace(each, numbers=each.numbers[rows], raw=each.raw[rows]).by_metric()
            for each in (a, b)
        )
        return first, second

    left: dict[str, list[float]] = {}
    for group in range(n_groups if n_groups > 1 else 0):
        first, second = scored(groups != group)
        for name in first:
            left.setdefault(name, []).append(second[name] - first[name])
    first, second = scored(slice(None))
    return {
        name: Difference(first[name], second[name], _jackknife_error(left.get(name, ())))
        for name in first
    }


def _jackknife_error(values: Sequence[float]) -> float:
    """Compute the standard error of a score from its values without each of the groups."""
    return float(np.std(values) * np.sqrt(len(values) - 1)) if len(values) > 1 else 0.0
