"""How much of the best possible improvement ten rules reach for certain, and what the proof costs.

    python -m benchmarks.certificates
    python -m benchmarks.certificates --penalties auto 0.01 0.05 --against rules weight

Ten joint rules of at most three conditions on the training rows of each problem; a penalty is
"auto" or a multiple of the number of rows. Seconds are those of the processor, one thread.
"""

import argparse
import warnings
from time import process_time

from sklearn.exceptions import ConvergenceWarning

from benchmarks.problems import find_datasets, load_problem, specifications
from laconic import RuleBoostingClassifier, RuleBoostingRegressor


def fit(problem, penalty, n_terms, max_conditions):
    """Fit a model with a penalty that is "auto" or a multiple of the rows."""
    kind = RuleBoostingClassifier if problem.task == "classification" else RuleBoostingRegressor
    l2_regularization = penalty if penalty == "auto" else float(penalty) * len(problem.y)
    model = kind(
        n_terms=n_terms, max_conditions=max_conditions, l2_regularization=l2_regularization
    )
    return model.fit(problem.X, problem.y)


def row(name, penalty, against, certificate, seconds):
    """Write a line of the table."""
    cells = [
        name,
        penalty,
        against,
        f"{certificate.share:.3f}",
        f"{certificate.trivial_share:.3f}",
        f"{seconds:.2f}",
        certificate.n_searches,
        certificate.n_nodes,
        certificate.status,
    ]
    return f"| {' | '.join(map(str, cells))} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    folder = find_datasets()
    parser.add_argument("--problems", nargs="+", default=list(specifications(folder)))
    parser.add_argument("--penalties", nargs="+", default=["auto", "0.01"])
    parser.add_argument("--against", nargs="+", default=["rules", "weight"])
    parser.add_argument("--n-terms", type=int, default=10)
    parser.add_argument("--max-conditions", type=int, default=3)
    parser.add_argument("--time-limit", type=float, default=60.0, help="seconds per certificate")
    options = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    print("| table | λ/n | against | share | trivial | s | searches | nodes | status |")
    print("|---|---|---|---|---|---|---|---|---|")
    for name in options.problems:
        problem = load_problem(name, folder)
        for penalty in options.penalties:
            model = fit(problem, penalty, options.n_terms, options.max_conditions)
            for against in options.against:
                started = process_time()
                certificate = model.certificate(
                    problem.X, problem.y, against=against, time_limit=options.time_limit
                )
                seconds = process_time() - started
                print(row(name, penalty, against, certificate, seconds), flush=True)


if __name__ == "__main__":
    main()
