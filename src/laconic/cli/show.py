"""The command that shows a saved model, and how other commands show one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from laconic._util.words import listed
from laconic.cli import files, options, terminal
from laconic.cli.training import DEFAULT_LEARNING, PARAMETERS
from laconic.search.results import describe_certificate
from laconic.terms.formatting import (
    class_text,
    format_column,
    format_count,
    format_estimate,
    format_like,
    format_name,
    format_number,
    visible,
)

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from laconic.models.rule_model import RuleModel
    from laconic.terms.record import FitRecord, RowScores, Setting
    from laconic.terms.rules import RuleEnsemble

# Of a screen on which no table is wrapped.
_ANY_WIDTH = 10_000
# More classes are only counted.
_MAX_CLASSES = 10
_OTHER_OPTIONS = {"sample_weight": "weight", "cv": "folds"}


def show(model: options.Model, /, *, json: options.Flag = False) -> None:
    """Show the terms of a saved model, the data it was fitted to, and its scores.

    Parameters
    ----------
    json : bool
        Write the model as JSON.
    """
    fitted = files.load_model(model)
    if json:
        terminal.write_model(fitted)
        return
    console = terminal.make_console()
    print_model(console, fitted)
    print_terms(console, fitted)
    names = fitted.ensemble_.used_features
    used = ", ".join(visible(format_name(name)) for name in names) or "none"
    console.print(f"Features used ({len(names)} of {fitted.n_features_in_}): {used}")
    print_remarks(console, fitted)
    print_scores(console, fitted)


def print_model(console: Console, model: RuleModel) -> None:
    """Print the kind and size of a model, how to read its weights, and its training data."""
    ensemble, task = model.ensemble_, model.task_
    kind, sentence = task.name.capitalize(), visible(task.weights_sentence)
    console.print(f"{kind} model: {describe_size(ensemble)}. {sentence}")
    console.print(f"{_describe_record(model.record_)}\n")
    reason = getattr(model, "reason_", None)
    if reason is not None:
        console.print(f"{visible(reason)}\n")


def describe_size(ensemble: RuleEnsemble) -> str:
    """Describe the numbers of terms and conditions."""
    n_rules, n_slopes = len(ensemble.rules), len(ensemble.slopes)
    terms = [format_count(n_rules, "rule")] if n_rules or not n_slopes else []
    terms += [format_count(n_slopes, "slope")] if n_slopes else []
    return f"{listed(terms)} with {format_count(ensemble.n_conditions, 'condition')}"


def _describe_record(record: FitRecord | None) -> str:
    """Describe the rows, the target, the date and the settings of a fit."""
    if record is None:
        return "The file does not say what the model was fitted to."
    words = "Fitted"
    if record.n_rows is not None:
        words += f" to {format_count(record.n_rows, 'row')}"
    if record.target is not None:
        words += f" to predict {visible(record.target)}"
    if record.date is not None:
        words += f", {visible(record.date[:10])}"
    defaults = DEFAULT_LEARNING.settings
    changed = [
        option(name, value)
        for name, value in record.settings.items()
        if name not in defaults or value != defaults[name]
    ]
    return f"{words}, with {visible(' '.join(changed)) or 'the default settings'}."


def option(name: str, *value: Setting) -> str:
    """Write a parameter as an option, with its value if there is one."""
    named = {name: each.option for name, each in PARAMETERS.items() if each.option}
    words = (_OTHER_OPTIONS | named).get(name, name).replace("_", "-")
    if value[:1] == (False,):
        words = f"no-{words}"
    elif value and value[0] is not True:
        words += f" {'none' if value[0] is None else value[0]}"
    return f"--{words}"


def date_now() -> str:
    """Return the date and time for the record of a fit."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def print_terms(console: Console, model: RuleModel) -> None:
    """Print a row per term; on a narrow screen, how sure they are in a table of its own."""
    answers, table = model.own_trust.columns, rules_table(model)
    any_width = console.options.update_width(_ANY_WIDTH)
    if not answers or console.measure(table, options=any_width).maximum <= console.width:
        console.print(table, "", sep="\n")
        return
    numbered = terminal.make_table()
    numbered.add_column("term", justify="right", style="dim")
    for name in answers:
        numbered.add_column(name, justify="right")
    for number, cells in enumerate(zip(*answers.values(), strict=True), start=1):
        numbered.add_row(str(number), *cells)
    console.print(rules_table(model, has_answers=False), "", numbered, "", sep="\n")


def rules_table(
    model: RuleModel,
    title: str | None = None,
    n_covered: Sequence[int] | None = None,
    *,
    has_answers: bool = True,
) -> Table:
    """Make a table with a row per term.

    A title replaces the certificates; `n_covered` are training rows per term, if known. The last
    columns say how sure the terms are, unless `has_answers` is false.
    """
    ensemble, results = model.ensemble_, model.search_results_
    table = terminal.make_rules_table(title, has_classes=bool(ensemble.outputs))
    further: dict[str, list[str]] = {}
    if n_covered is not None:
        further["rows"] = [f"{count:,}" for count in n_covered]
    further["objective"] = format_column([each.objective_value for each in results])
    for name in further:
        table.add_column(name, justify="right", no_wrap=True)
    if title is None:
        further["certificate"] = [*map(describe_certificate, results)]
        table.add_column("certificate", overflow="fold")
        for name, cells in model.own_trust.columns.items() if has_answers else ():
            further[name] = cells
            table.add_column(name, justify="right", overflow="fold")
    rows = zip(*further.values(), strict=True)
    for line in ensemble.lines:
        terminal.add_line(table, line, *(() if line.term is None else next(rows)))
    return table


def print_remarks(console: Console, model: RuleModel) -> None:
    """Print what a reader should know about the terms, and how good all of them together are."""
    from laconic.models.notes import note_on_dates

    note = note_on_dates(model.ensemble_)
    if note is not None:
        console.print(note)
    effects = model.own_trust.effects
    if effects is not None and effects.remark:
        console.print(effects.remark)
    for words in model.own_trust.legend:
        console.print(words)
    certificate = model.own_certificate
    if certificate is not None:
        console.print(f"All terms together: on the training rows at least {certificate.summary}")


def print_scores(console: Console, model: RuleModel) -> None:
    """Print the known scores, those on unseen rows first, and what there is to say about them."""
    from laconic.models.scores import describe_optimality, describe_unseen, remarks

    record = model.record_
    if record is None or not record.scores:
        return
    metrics = [m for m in model.task_.metrics if any(m.name in s.values for s in record.scores)]
    table = terminal.make_table()
    table.add_column("scores")
    for metric in metrics:
        table.add_column(metric.label, justify="right", no_wrap=True)
    for scores in reversed(record.scores):
        cells = [_score(scores, metric.name) for metric in metrics]
        style = "dim" if scores.rows == "training" else "bold"
        table.add_row(scores.rows_words, *cells, style=style)
        if scores.constants:
            known = (scores.constants.get(metric.name) for metric in metrics)
            cells = [
                "" if value is None else format_like(value, cell)
                for value, cell in zip(known, cells, strict=True)
            ]
            table.add_row("  no model", *cells, style="dim")
    console.print("", table, "", *_explanations(record), sep="\n")
    shown = record.unseen or record.scores[0]
    if shown.classes:
        console.print("", _class_table(shown), "", sep="\n")
    for sentence in remarks(model, shown):
        console.print(visible(sentence))
    if model.search_results_:
        console.print(f"{describe_optimality(model)} {describe_unseen(model)}")


def _score(scores: RowScores, metric: str) -> str:
    if metric not in scores.values:
        return ""
    value, error = scores.values[metric], scores.errors.get(metric)
    return format_number(value) if error is None else format_estimate(value, error)


def _class_table(scores: RowScores) -> Table:
    """Make a table of precision and recall, the most frequent classes first."""
    table = terminal.make_table()
    table.add_column(f"classes, {scores.rows_words}", overflow="fold")
    for name in ("rows", "predicted", "precision", "recall"):
        table.add_column(name, justify="right", no_wrap=True)
    classes = sorted(scores.classes, key=lambda each: -each.n_rows)
    for each in classes[:_MAX_CLASSES]:
        shares = (each.precision, each.recall)
        table.add_row(
            visible(class_text(each.label)),
            *(format_number(count) for count in (each.n_rows, each.n_predicted)),
            *("-" if share is None else format_number(share, 3) for share in shares),
        )
    if len(classes) > _MAX_CLASSES:
        table.add_row(f"and {len(classes) - _MAX_CLASSES} more")
    return table


def _explanations(record: FitRecord) -> Iterator[str]:
    for each in reversed(record.scores):
        n_rows = format_count(each.n_rows, "row")
        if each.rows == "cross-validation":
            yield (
                f"Held-out: each part of the {n_rows} is scored by a model fitted to the others; "
                "mean and standard error (cross-validation)."
            )
        elif each.rows == "test":
            yield f"Test: {n_rows} of another table."
        else:
            yield f"Training: the {n_rows} of the fit, whose scores are too optimistic."
    if any(each.constants for each in record.scores):
        yield "No model: the best constant prediction for the training rows."
