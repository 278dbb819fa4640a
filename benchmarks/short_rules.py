"""Ten rules of few conditions: what their proof costs, in tables of sums and by branching.

    python -m benchmarks.short_rules
    python -m benchmarks.short_rules --shapes 10000x10 1000000x10 10000x500 --ways auto beam

Conditions are those of the defaults. Each way of searching finds its own ten rules, one thread, CPU
seconds of the whole fit; a search may take as long as `--time-limit` says. Tables of a shape, rows
by features, are drawn with five rules and much noise.
"""

import argparse
import warnings
from dataclasses import dataclass
from functools import partial
from time import process_time

from sklearn.exceptions import ConvergenceWarning

from benchmarks.problems import AS_IN_THE_PAPER, find_datasets, load_problem, specifications
from benchmarks.suites.planted import planted
from laconic import RuleBoostingClassifier, RuleBoostingRegressor
from laconic.search.optimal import search_optimal

STRATEGIES = {"stagewise": {}, "joint": {"strategy": "joint", "fit_intercept": True}}
WAYS = {
    "auto": "optimal",
    "tables": partial(search_optimal, branching="tables"),
    "conditions": partial(search_optimal, branching="conditions"),
    "beam": "beam",
    "greedy": "greedy",
}


@dataclass(frozen=True, eq=False)
class Drawn:
    """A table of some shape, drawn by chance."""

    X: object
    y: object
    task: str = "regression"


def draw(shape):
    """Draw a table whose rules explain a third of the target."""
    n_rows, n_features = map(int, shape.split("x"))
    drawn = planted(n_rows, n_features, r2=0.3)
    return Drawn(drawn.table, drawn.target)


def measure(problem, way, max_conditions, l2_regularization, arguments):
    """Fit ten rules; returns CPU seconds and the results of the searches."""
    kind = RuleBoostingClassifier if problem.task == "classification" else RuleBoostingRegressor
    terms = {"brevity": arguments.brevity, "slopes": arguments.slopes}
    model = kind(
        n_terms=10,
        **(AS_IN_THE_PAPER | STRATEGIES[arguments.strategy] | terms),
        search=WAYS[way],
        max_conditions=max_conditions,
        l2_regularization=l2_regularization,
        node_limit=None,
        time_limit=arguments.time_limit,
    )
    started = process_time()
    results = model.fit(problem.X, problem.y).search_results_
    return process_time() - started, results


def row(name, way, max_conditions, l2_regularization, seconds, results):
    """Write a line of the table."""
    counters = [result.counters for result in results]
    cells = [
        name,
        max_conditions,
        f"{l2_regularization:g}",
        way,
        f"{seconds:.2f}",
        f"{max(result.seconds for result in results):.2f}",
        f"{sum(entry.get('nodes', 0) for entry in counters):,}",
        f"{sum(entry.get('tables', 0) for entry in counters):,}",
        f"{sum(result.is_optimal for result in results)} of {len(results)}",
        f"{sum(result.objective_value for result in results[:3]):.5g}",
    ]
    return f"| {' | '.join(map(str, cells))} |"


def main():
    """Print a Markdown table, and the seconds of all problems together."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--problems", nargs="+", default=None)
    parser.add_argument("--shapes", nargs="+", default=[], help="such as 10000x10, instead")
    parser.add_argument("--strategy", default="stagewise", choices=STRATEGIES)
    parser.add_argument("--brevity", type=float, default=0.0)
    parser.add_argument("--slopes", action="store_true", help="as terms beside rules")
    parser.add_argument("--ways", nargs="+", default=list(WAYS), choices=WAYS)
    parser.add_argument("--max-conditions", nargs="+", type=int, default=[2, 3, 4, 5])
    parser.add_argument("--l2-regularization", nargs="+", type=float, default=[0.1, 1.0, 10.0])
    parser.add_argument("--time-limit", type=float, default=20.0, help="seconds per rule")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    folder = None if arguments.shapes else find_datasets()
    heads = ("problem", "conditions", "λ", "search", "seconds", "slowest rule", "nodes", "tables")
    print(f"| {' | '.join((*heads, 'proven', 'objective of three rules'))} |")
    print("| --- | ---: | ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    totals = {}
    for name in arguments.shapes or arguments.problems or specifications(folder):
        problem = draw(name) if arguments.shapes else load_problem(name, folder)
        for n in arguments.max_conditions:
            for penalty in arguments.l2_regularization:
                for way in arguments.ways:
                    seconds, results = measure(problem, way, n, penalty, arguments)
                    totals[n, penalty, way] = totals.get((n, penalty, way), 0.0) + seconds
                    print(row(name, way, n, penalty, seconds, results), flush=True)
    for (n, penalty, way), seconds in totals.items():
        print(f"| all | {n} | {penalty:g} | {way} | {seconds:.2f} | | | | | |")


if __name__ == "__main__":
    main()
