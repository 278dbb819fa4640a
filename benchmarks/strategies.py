"""Rules found one by one, polished, and looked at all at once: training objective and test scores.

    python -m benchmarks.strategies
    python -m benchmarks.strategies --tables titanic boston --penalties auto 0.01 --splits 3

Ten rules of at most three conditions on the splits of the accuracy study. The share is that of the
best possible improvement of the training objective that is proven for the global model; seconds
are those of the processor, one thread.
"""

import argparse
import warnings
from time import process_time

from sklearn.exceptions import ConvergenceWarning

from benchmarks.accuracy.measure import scores
from benchmarks.accuracy.tables import installed_tables, load_split
from laconic import RuleBoostingClassifier, RuleBoostingRegressor

STRATEGIES = {
    "joint": {},
    "polished": {"strategy": "polished"},
    "global": {"strategy": "global"},
}


def measure(split, penalty, settings):
    """Fit a model; returns it with its scores on the test rows and the seconds."""
    kind = RuleBoostingClassifier if split.is_classification else RuleBoostingRegressor
    l2_regularization = penalty if penalty == "auto" else float(penalty) * len(split.y)
    started = process_time()
    model = kind(n_terms=10, l2_regularization=l2_regularization, **settings)
    model.fit(split.X, split.y)
    seconds = process_time() - started
    is_classes = split.is_classification
    predicted = (
        model.predict_proba(split.X_test)[:, 1] if is_classes else model.predict(split.X_test)
    )
    return model, scores(split, predicted), seconds


def objective(model, split):
    """Training objective of a model, penalty included; a proof is not needed for that."""
    return model.certificate(split.X, split.y, against="rules", time_limit=1e-6).objective


def lines(split, penalty):
    """Compare the strategies on one split."""
    found = {name: measure(split, penalty, each) for name, each in STRATEGIES.items()}
    certificate = found["global"][0].certificate_
    for name, (model, values, seconds) in found.items():
        value = objective(model, split)
        gain = (certificate.start - value) / (certificate.start - certificate.bound)
        test = " ".join(f"{key} {value:.4f}" for key, value in values.items())
        cells = split.table, penalty, split.index, name, f"{value:.6g}", f"{gain:.4f}", test
        yield f"| {' | '.join(map(str, cells))} | {seconds:.2f} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", nargs="+", default=None)
    parser.add_argument("--penalties", nargs="+", default=["auto"])
    parser.add_argument("--splits", type=int, default=1)
    options = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    print("| table | λ/n | split | strategy | objective | share | test | s |")
    print("|---|---|---|---|---|---|---|---|")
    for table in options.tables or installed_tables():
        for index in range(options.splits):
            split = load_split(table, index)
            for penalty in options.penalties:
                for line in lines(split, penalty):
                    print(line, flush=True)


if __name__ == "__main__":
    main()
