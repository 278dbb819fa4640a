"""Where a model comes from and how well it does, as commands show it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from laconic.cli import terminal
from laconic.cli.training import DEFAULT_LEARNING
from laconic.terms.formatting import format_count, format_estimate, format_number, visible

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray
    from rich.console import Console
    from rich.table import Table

    from laconic.models import Predictions
    from laconic.models.rule_model import RuleModel
    from laconic.terms.record import FitRecord, Setting

_WORDS = {"training": "training rows", "cross-validation": "unseen rows", "test": "test rows"}


def describe_record(model: RuleModel) -> str:
    """Say what a model was learned from, when, and with which settings."""
    record = model.record_
    if record is None:
        return "The file does not tell what it was learned from."
    words = "Learned"
    if record.n_rows is not None:
        words += f" from {format_count(record.n_rows, 'row')}"
    if record.target is not None:
        words += f" to predict {visible(record.target)}"
    if record.date is not None:
        words += f", {visible(record.date[:10])}"
    return f"{words}, with {_settings(record)}."


def _settings(record: FitRecord) -> str:
    """List the options that are not as they are by themselves."""
    defaults = DEFAULT_LEARNING.settings
    changed = [
        option(name, value)
        for name, value in record.settings.items()
        if name not in defaults or value != defaults[name]
    ]
    return visible(" ".join(changed)) or "the default settings"


def option(name: str, value: Setting) -> str:
    """Write a parameter as an option."""
    words = name.replace("_", "-")
    if isinstance(value, bool):
        return f"--{'' if value else 'no-'}{words}"
    return f"--{words} {'none' if value is None else value}"


def describe_constant(predictions: Predictions, y: NDArray[Any], stop: str | None) -> str:
    """Say what a model without rules predicts, given the target of its rows.

    Where an option stopped the search before it found a rule, no more is known than that.
    """
    value = predictions.values[:1].tolist()[0]
    words = format_number(value) if isinstance(value, float) else visible(str(value))
    if (y == y[0]).all():
        return f"There is nothing to learn: the target is {words} in every row. Choose another one."
    reason = f"No rule was found before {stop}" if stop else "No rule improves on a constant"
    return f"{reason}: every row is predicted {words}."


def describe_whole(model: RuleModel) -> str | None:
    """Say how close all rules together come to the best possible ones; None if it is not known."""
    certificate = model.own_certificate
    if certificate is None:
        return None
    return f"All rules together: on the training rows at least {certificate.summary}"


def print_scores(console: Console, model: RuleModel) -> None:
    """Show the scores that are known, those on unseen rows first."""
    if model.record_ is None or not model.record_.scores:
        return
    console.print("", _table(model), "", sep="\n")
    for line in _explanations(model.record_):
        terminal.print_text(console, line)


def _table(model: RuleModel) -> Table:
    scores = model.record_.scores if model.record_ is not None else ()
    metrics = [m for m in model.task_.metrics if any(m.name in each.values for each in scores)]
    table = terminal.make_table()
    table.add_column("scores")
    for metric in metrics:
        table.add_column(metric.label, justify="right", no_wrap=True)
    for each in reversed(scores):
        cells = [
            _score(each.values.get(metric.name), each.errors.get(metric.name)) for metric in metrics
        ]
        table.add_row(_WORDS[each.rows], *cells, style="dim" if each.rows == "training" else "bold")
    return table


def _score(value: float | None, error: float | None) -> str:
    if value is None:
        return ""
    return format_number(value) if error is None else format_estimate(value, error)


def _explanations(record: FitRecord) -> Iterator[str]:
    for each in record.scores:
        n_rows = format_count(each.n_rows, "row")
        if each.rows == "cross-validation":
            yield (
                f"Unseen: each part of the {n_rows} is scored by a model of the others; mean and "
                "standard error (cross-validation)."
            )
        elif each.rows == "test":
            yield f"Test: {n_rows} of another table."
    if len(record.scores) == 1:
        yield "On rows that a model was fitted to, it looks better than it is."
