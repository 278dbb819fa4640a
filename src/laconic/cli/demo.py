"""The command that shows what optimal rules are good for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import laconic
from laconic.cli import screen
from laconic.datasets import tic_tac_toe
from laconic.search.certificates import describe_certificate

if TYPE_CHECKING:
    from rich.table import Table

    from laconic.estimators import RuleBoosting

# As in the paper: with refitted weights, and a constant to start from, a greedy search, too, sees
# that o has three in a line.
_PARAMETERS: dict[str, Any] = {
    "n_rules": 10,
    "objective": "stagewise",
    "fit_intercept": False,
    "l2_regularization": 10,
    "negated_categories": False,
}


def demo() -> None:
    """Compare greedy with optimal rules for the final boards of tic-tac-toe."""
    boards = tic_tac_toe(backend="polars")
    models: dict[str, RuleBoosting] = {
        search: laconic.RuleBoostingClassifier(**_PARAMETERS, search=search).fit(
            boards.data, boards.target
        )
        for search in ("greedy", "optimal")
    }
    console = screen.make_console()
    screen.print_text(
        console, f"Has x won? Rules for the {len(boards.target)} final boards of tic-tac-toe."
    )
    screen.print_text(
        console, "A positive weight speaks for x, a negative one against. b is a blank field.\n"
    )
    tables = [screen.rules_table(model, _title(search, model)) for search, model in models.items()]
    screen.print_beside(console, *tables)
    console.print(_comparison(models, boards.data, boards.target))
    screen.print_text(
        console,
        "\nAfter the first rule, the optimal search finds the lines of three that decide\n"
        "a game, and proves that no rule gains more. The greedy search starts from the\n"
        f"condition that looks best alone, and gets {models['greedy'].ensemble_[1].query}.",
    )


def _title(search: str, model: RuleBoosting) -> str:
    """Say once what would be the same in all rows of a table."""
    certificates = dict.fromkeys(map(describe_certificate, model.search_results_))
    return f"{search.capitalize()} search: {' or '.join(certificates)}"


def _comparison(models: dict[str, RuleBoosting], X: Any, y: Any) -> Table:
    """Make a table of scores, sizes and work, one column per model."""
    table = screen.make_table()
    table.add_column("on all boards")
    for search in models:
        table.add_column(search, justify="right")
    fitted = list(models.values())
    task, predictions = fitted[0].task_, [model.predictions_for(X) for model in fitted]
    numbers = task.numbers(y, len(y))
    rows = {
        metric.label: [f"{task.score(metric, numbers, each.raw):.3f}" for each in predictions]
        for metric in task.metrics
    }
    results = [model.search_results_ for model in fitted]
    rows |= {
        "conditions": [str(model.ensemble_.n_conditions) for model in fitted],
        "proven optimal": [f"{sum(r.is_optimal for r in rs)} of {len(rs)}" for rs in results],
        "nodes": [f"{sum(r.counters['nodes'] for r in rs):,}" for rs in results],
        "seconds": [f"{sum(r.seconds for r in rs):.3f}" for rs in results],
    }
    for name, cells in rows.items():
        table.add_row(name, *cells)
    return table
