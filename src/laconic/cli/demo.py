"""The command that compares optimal with greedy rules."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import laconic
from laconic.cli import terminal
from laconic.cli.show import rules_table
from laconic.datasets import noisy_parity
from laconic.search.results import describe_certificate

if TYPE_CHECKING:
    from rich.table import Table

    from laconic.estimators.base import RuleBoosting

# Half of the corners of a cube; the intercept is for the others.
_N_RULES = 4
# Both searches look for the largest gain.
_BY_GAIN: dict[str, Any] = {"slopes": False, "brevity": 0.0}


def demo() -> None:
    """Compare greedy with optimal rules on a problem that only joint conditions solve."""
    rows = noisy_parity(800, 3, random_state=1)
    new_rows = noisy_parity(10_000, 3, random_state=2)
    models: dict[str, RuleBoosting] = {
        search: laconic.RuleBoostingClassifier(_N_RULES, search=search, **_BY_GAIN).fit(
            rows.data, rows.target
        )
        for search in ("greedy", "optimal")
    }
    console = terminal.make_console()
    console.print(
        "Is the product of three hidden signs positive? The columns x0, x1 and x2 are the\n"
        f"signs with noise; {len(rows.target)} rows are used to learn {_N_RULES} rules. "
        "A rule with a positive\nweight votes for a positive product, one with a negative weight "
        "against it.\n"
    )
    tables = [rules_table(model, _title(search, model)) for search, model in models.items()]
    terminal.print_beside(console, *tables)
    console.print(_comparison(models, new_rows.data, new_rows.target))
    console.print(
        "\nNo single condition is of any use here. The greedy search adds one condition at a\n"
        "time, and so fits noise. The optimal search finds the four corners of a cube where\n"
        "the product is negative, and proves that no rule has a larger gain."
    )


def _title(search: str, model: RuleBoosting) -> str:
    """Name the search and the certificates that its rules share."""
    certificates = dict.fromkeys(map(describe_certificate, model.search_results_))
    return f"{search.capitalize()} search: {' or '.join(certificates)}"


def _comparison(models: dict[str, RuleBoosting], X: Any, y: Any) -> Table:
    """Make a table of scores, sizes and work, one column per model."""
    table = terminal.make_table()
    table.add_column(f"on {len(y):,} new rows")
    for search in models:
        table.add_column(search, justify="right")
    fitted = list(models.values())
    task, predictions = fitted[0].task_, [model.predictions_for(X) for model in fitted]
    numbers = task.numbers(y, len(y))
    rows = {
        metric.label: [f"{task.score(metric, numbers, each.raw):.3f}" for each in predictions]
        for metric in task.metrics_for(numbers)
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
