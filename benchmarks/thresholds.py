"""Ten rules with twenty thresholds per column: seconds, nodes, and how many rules are proven.

    python -m benchmarks.thresholds

The penalty is the paper's, queries may be of any length, and a search may take as long as
`--time-limit` says.
"""

import argparse
import warnings
from time import process_time

from sklearn.exceptions import ConvergenceWarning

from benchmarks.problems import AS_IN_THE_PAPER, find_datasets, load_problem
from laconic import RuleBoostingClassifier, RuleBoostingRegressor

PROBLEMS = ("boston", "diabetes", "breast_cancer", "friedman1", "red_wine_quality")


def main():
    """Print a Markdown table."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--thresholds", type=int, default=20)
    parser.add_argument("--time-limit", type=float, default=60.0, help="seconds per rule")
    parser.add_argument("--problems", nargs="+", default=PROBLEMS)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    print("| problem | rows | seconds | nodes | rules proven | least ratio |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    for name in arguments.problems:
        problem = load_problem(name, find_datasets())
        is_classification = problem.task == "classification"
        estimator = RuleBoostingClassifier if is_classification else RuleBoostingRegressor
        model = estimator(
            n_terms=10,
            **AS_IN_THE_PAPER,
            max_thresholds=arguments.thresholds,
            l2_regularization=problem.l2_regularization,
            max_conditions=None,
            node_limit=None,
            time_limit=arguments.time_limit,
        )
        started = process_time()
        results = model.fit(problem.X, problem.y).search_results_
        seconds = process_time() - started
        nodes = sum(result.counters["nodes"] for result in results)
        n_proven = sum(result.is_optimal for result in results)
        ratio = min(result.approximation_ratio for result in results)
        row = f"| {name} | {len(problem.y):,} | {seconds:.3g} | {nodes:,} "
        print(f"{row}| {n_proven} | {ratio:.3g} |", flush=True)


if __name__ == "__main__":
    main()
