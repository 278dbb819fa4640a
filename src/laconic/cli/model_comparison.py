"""Two models on the same rows: which one predicts better, and whether that may be chance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from laconic._util.types import Floats
from laconic.cli import table_file, terminal
from laconic.cli.validation import scores_of
from laconic.terms.formatting import format_count, format_number, visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from laconic.models.rule_model import RuleModel
    from laconic.models.tasks import Metric, Task

# Enough for a standard error to within a tenth, and few enough to score in a second.
MAX_GROUPS = 50

# Standard errors beyond which a difference is hardly chance: one in twenty.
_CLEAR = 2.0


class Difference(NamedTuple):
    """Scores of the two models, and how much the second is above the first."""

    first: float
    second: float
    standard_error: float
    """Of the difference, on the same rows."""

    @property
    def value(self) -> float:
        """How much the second score is above the first."""
        return self.second - self.first

    @property
    def gap(self) -> str:
        """How far the scores are apart, in words."""
        return format_number(abs(self.value), 2)

    @property
    def error(self) -> str:
        """The standard error in words."""
        return format_number(self.standard_error, 2)

    @property
    def is_clear(self) -> bool:
        """Whether it is hardly chance."""
        return abs(self.value) > _CLEAR * self.standard_error


@dataclass(frozen=True)
class Contest:
    """What is known about two models on the rows of a table."""

    task: Task
    target: str
    n_rows: int
    differences: dict[str, Difference]

    def as_dict(self) -> dict[str, Any]:
        """Write as plain values."""
        return {
            "target": self.target,
            "n_rows": self.n_rows,
            "metrics": {
                name: {
                    "a": each.first,
                    "b": each.second,
                    "difference": each.value,
                    "standard_error": each.standard_error,
                }
                for name, each in self.differences.items()
            },
            "better": self.better,
        }

    @property
    def deciding(self) -> Metric:
        """The metric by which models are chosen."""
        name = self.task.deciding_metrics[0]
        return next(metric for metric in self.task.metrics if metric.name == name)

    @property
    def better(self) -> str | None:
        """The model that is better, a or b; None if that may be chance."""
        difference = self.differences[self.deciding.name]
        if not difference.is_clear:
            return None
        return "b" if (difference.value > 0) == self.deciding.is_higher_better else "a"

    def show(self, console: Console) -> None:
        """Show all scores, and say which model is better."""
        table = terminal.make_table()
        table.add_column(f"scores for {visible(self.target)}")
        for name in ("a", "b", "b − a"):
            table.add_column(name, justify="right", no_wrap=True)
        for metric in self.task.metrics:
            if metric.name not in self.differences:
                continue
            each = self.differences[metric.name]
            scores = map(format_number, (each.first, each.second))
            sign = "+" if each.value >= 0 else "-"
            change = f"{sign}{each.gap} ± {each.error}"
            table.add_row(metric.label, *scores, change)
        console.print("", table, "", sep="\n")
        terminal.print_text(console, self.verdict)

    @property
    def verdict(self) -> str:
        """Which model is better, in a sentence."""
        label, each = self.deciding.label, self.differences[self.deciding.name]
        n_rows = format_count(self.n_rows, "row")
        if each.value == 0 and each.standard_error == 0:
            return f"Both models have the same {label} on these {n_rows}."
        words = f"by {each.gap} on these {n_rows}, with a standard error of {each.error}"
        if self.better is None:
            return (
                f"No telling which model is better: their {label} differs {words}, which "
                "may be chance."
            )
        other = "a" if self.better == "b" else "b"
        return f"Model {self.better} is better than {other}: its {label} is smaller {words}."


def hold(
    models: tuple[RuleModel, RuleModel], table: table_file.TableFile, target: str | None
) -> Contest | None:
    """Compare the scores of two models, if the target is known.

    Unless it is named, it is the one of both records, if the table has it.
    """
    if target is None:
        known = {None if model.record_ is None else model.record_.target for model in models}
        target = known.pop()
        if known or target is None or target not in table.cells.columns:
            return None
    raw = []
    numbers: Floats = np.empty(0)
    for model in models:
        X, y = table.rows(model, target)
        with table_file.columns_by_name():
            predictions = model.predictions_for(X)
        numbers = model.task_.numbers(y, len(y))
        raw.append(predictions.raw)
    task = models[0].task_
    return Contest(task, target, len(numbers), _differences(task, numbers, raw[0], raw[1]))


def _differences(task: Task, numbers: Floats, a: Floats, b: Floats) -> dict[str, Difference]:
    """Score both models, and see how much the differences change where a few rows are left out.

    That is the jackknife over groups of rows, which are drawn always in the same way.
    """
    groups = np.random.default_rng(0).permutation(len(numbers)) % MAX_GROUPS
    n_groups = min(MAX_GROUPS, len(numbers))

    def scored(rows: Any) -> tuple[dict[str, float], dict[str, float]]:
        first, second = (scores_of(task, numbers[rows], raw[rows], None) for raw in (a, b))
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
    """Compute the standard error of a score, given what it is without each group."""
    return float(np.std(values) * np.sqrt(len(values) - 1)) if len(values) > 1 else 0.0
