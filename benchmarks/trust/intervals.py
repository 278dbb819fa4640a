"""Coverage and width of prediction intervals and sets on real tables, and what they cost.

    python -m benchmarks.trust.intervals
    python -m benchmarks.trust.intervals --quick

Each table is split at random several times; of at most 1,000 training rows five terms are learned,
and all ways of calibration are judged by the same test rows. The worst fifth is that of five groups
of test rows, by their prediction, in which the fewest targets are within. Prints Markdown.
"""

from __future__ import annotations

import argparse
import math
import time
import warnings
from collections import defaultdict
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import train_test_split

from benchmarks.datasets import load_dataset
from benchmarks.pages import to_markdown
from benchmarks.suites.planted import planted
from laconic import RuleBoostingClassifier, RuleBoostingRegressor
from laconic.estimators.choose_size import make_splits
from laconic.tables.tables import take_rows
from laconic.trust import Intervals
from laconic.trust.intervals import MOST_GROUPS, intervals_of_classes, intervals_of_numbers

NUMBERS = ("used_cars", "life_expectancy", "red_wine_quality", "insurance", "diabetes")
CLASSES = ("titanic", "ibm_hr", "telco_churn", "breast_cancer", "wine")
LEVEL = 0.9
MOST_ROWS = 1000
N_FIFTHS = 5
SHAPES = ("1000x20", "10000x30", "100000x20")

Scores = dict[str, dict[str, float]]


def three_classes() -> tuple[Any, Any]:
    """Return the table of wines, with its three classes."""
    from sklearn.datasets import load_wine

    return load_wine(return_X_y=True, as_frame=True)


def load(name: str) -> tuple[Any, Any]:
    """Return a table and its target."""
    if name == "wine":
        return three_classes()
    dataset = load_dataset(name, backend="pandas")
    return dataset.data, np.asarray(dataset.target)


def draw(name: str, seed: int) -> tuple[Any, Any, Any, Any]:
    """Split a table into training and test rows."""
    X, y = load(name)
    y = np.asarray(y)
    is_of_classes = name in CLASSES
    n_train = min(MOST_ROWS, int(0.6 * len(y)))
    return train_test_split(
        X, y, train_size=n_train, random_state=seed, stratify=y if is_of_classes else None
    )


def fifths(order_by: Any) -> list[Any]:
    """Divide rows into five groups by a prediction, ties at random."""
    keys = np.random.default_rng(0).random(len(order_by))
    return np.array_split(np.lexsort((keys, order_by)), N_FIFTHS)


def scores_of_numbers(
    name: str, seed: int, n_terms: int, cv: int, *, slopes: bool = True
) -> Scores:
    """Judge all ways for one split of a table of numbers."""
    X, X_test, y, y_test = draw(name, seed)
    model = RuleBoostingRegressor(n_terms, slopes=slopes).fit(X, y)
    predictions, new = model.predict(X), model.predict(X_test)
    held_out = np.empty(len(y))
    for train, test in make_splits(cv, y, holds_classes=False, weights=None, seed=seed):
        other = clone(model).fit(take_rows(X, train), y[train])
        held_out[test] = other.predict(take_rows(X, test))
    errors = np.abs(y - held_out)
    rows, spared = train_test_split(np.arange(len(y)), test_size=0.3, random_state=seed)
    part = clone(model).fit(take_rows(X, rows), y[rows])
    of_part = part.predict(take_rows(X, spared))
    part_errors = np.abs(y[spared] - of_part)

    def made(predictions: Any, errors: Any, is_grouped: bool, most: int = MOST_GROUPS) -> Intervals:
        how: dict[str, Any] = {"is_grouped": is_grouped, "most_groups": most}
        return intervals_of_numbers(predictions, errors, level=LEVEL, method="cv", **how)

    ways = {
        "training residuals": (made(predictions, np.abs(y - predictions), False), new),
        "split (30%)": (made(of_part, part_errors, False), part.predict(X_test)),
        "split, groups": (made(of_part, part_errors, True), part.predict(X_test)),
        "CV pooled": (made(predictions, errors, False), new),
        "CV pooled, groups": (made(predictions, errors, True), new),
        "the same, by held-out predictions": (made(held_out, errors, True), new),
        "the same, up to 20 groups": (made(predictions, errors, True, 20), new),
    }
    found = {}
    for way, (answer, values) in ways.items():
        low, high = answer.limits(values).T
        is_in = (low <= y_test) & (y_test <= high)
        found[way] = {
            "coverage": is_in.mean(),
            "worst fifth": min(is_in[group].mean() for group in fifths(values)),
            "width/sd": (high - low).mean() / y.std(),
            "groups": len(answer.half_widths),
        }
    return found


def scores_of_classes(name: str, seed: int, n_terms: int, cv: int) -> Scores:
    """Judge all ways for one split of a table of classes."""
    X, X_test, y, y_test = draw(name, seed)
    model = RuleBoostingClassifier(n_terms).fit(X, y)
    labels = model.classes_.tolist()
    places, new_places = np.searchsorted(labels, y), np.searchsorted(labels, y_test)
    held_out = np.empty((len(y), len(labels)))
    for train, test in make_splits(cv, y, holds_classes=True, weights=None, seed=seed):
        other = clone(model).fit(take_rows(X, train), y[train])
        held_out[test] = other.predict_proba(take_rows(X, test))
    rows, spared = train_test_split(np.arange(len(y)), test_size=0.3, random_state=seed, stratify=y)
    part = clone(model).fit(take_rows(X, rows), y[rows])

    def made(shares: Any, places: Any, is_by_class: bool = True) -> Any:
        own = shares[np.arange(len(places)), places]
        names = labels if is_by_class else ["any"]
        numbers = places if is_by_class else np.zeros_like(places)
        answer = intervals_of_classes(own, numbers, names, level=LEVEL, method="cv")
        return np.broadcast_to(answer.least_probabilities, len(labels))

    of_part = part.predict_proba(take_rows(X, spared))
    new, new_of_part = model.predict_proba(X_test), part.predict_proba(X_test)
    ways = {
        "training probabilities": (made(model.predict_proba(X), places), new),
        "split (30%), by class": (made(of_part, places[spared]), new_of_part),
        "CV pooled, one threshold": (made(held_out, places, False), new),
        "CV pooled, by class": (made(held_out, places), new),
    }
    found = {}
    for way, (least, shares) in ways.items():
        sets = shares >= least
        is_in = sets[np.arange(len(y_test)), new_places]
        of_classes = [is_in[new_places == place].mean() for place in range(len(labels))]
        found[way] = {
            "coverage": is_in.mean(),
            "worst class": min(of_classes),
            "worst fifth": min(is_in[group].mean() for group in fifths(shares[:, -1])),
            "mean size": sets.sum(axis=1).mean(),
            "empty": (~sets.any(axis=1)).mean(),
        }
    return found


def table_of(names: tuple[str, ...], score: Any, arguments: argparse.Namespace) -> Iterator[str]:
    """Yield the means over all tables, and the coverage of the way that is offered on each."""
    found: dict[str, dict[str, list[Scores]]] = {name: defaultdict(list) for name in names}
    for name in names:
        for seed in range(arguments.splits):
            for way, values in score(name, seed, arguments.terms, arguments.folds).items():
                found[name][way].append(values)
    ways = [*found[names[0]]]
    measures = [*found[names[0]][ways[0]][0]]

    def mean(way: str, measure: str, chosen: tuple[str, ...] = names) -> str:
        values = [[each[measure] for each in found[name][way]] for name in chosen]
        decimals = 1 if measure == "groups" else 2 if measure in ("width/sd", "mean size") else 3
        return f"{np.mean([np.mean(each) for each in values]):.{decimals}f}"

    yield to_markdown(
        ["way", *measures], [[way, *(mean(way, each) for each in measures)] for way in ways]
    )
    offered = next(each for each in ways if each in ("CV pooled, groups", "CV pooled, by class"))
    worst = measures[1]
    others = [each for each in (ways[0], "CV pooled", "CV pooled, one threshold") if each in ways]
    yield to_markdown(
        ["table", *(f"{worst}, {each}" for each in others), *measures],
        [
            [
                name,
                *(mean(each, worst, (name,)) for each in others),
                *(mean(offered, each, (name,)) for each in measures),
            ]
            for name in names
        ],
    )


def seconds(arguments: argparse.Namespace) -> str:
    """Time fits and calibrations of several shapes."""
    lines = []
    for shape in arguments.shapes:
        n_rows, n_features = map(int, shape.split("x"))
        drawn = planted(n_rows, n_features, r2=0.3)
        target = np.asarray(drawn.target, dtype=float)
        cut = float(np.median(target))
        for kind, y in (
            (RuleBoostingRegressor, target),
            (RuleBoostingClassifier, target > cut),
        ):
            model = kind(arguments.terms, n_jobs=2)
            start = time.perf_counter()
            model.fit(drawn.table, y)
            fitted = time.perf_counter()
            model.conformalize(drawn.table, y, cv=arguments.folds)
            done = time.perf_counter()
            predict = model.predict_interval if y is target else model.predict_set
            one = take_rows(drawn.table, np.array([0]))
            times = []
            for _ in range(20):
                begin = time.perf_counter()
                predict(one)
                times.append(time.perf_counter() - begin)
            lines.append(
                [
                    f"{n_rows:,} × {n_features}",
                    "numbers" if y is target else "classes",
                    f"{fitted - start:.2f}",
                    f"{done - fitted:.1f}",
                    f"{1e6 * min(times):.0f}",
                ]
            )
    return to_markdown(["table", "target", "fit, s", "conformalize, s", "one row, µs"], lines)


def guarantee(arguments: argparse.Namespace) -> str:
    """Check the coverage of unseen rows, where it is known: simulated errors of three kinds."""
    lines = []
    for name, error in (
        ("normal", lambda rng, size: rng.normal(size=size)),
        ("t of 3 degrees", lambda rng, size: rng.standard_t(3, size=size)),
        ("lognormal", lambda rng, size: rng.lognormal(0, 1.5, size=size)),
    ):
        shares = defaultdict(list)
        for seed in range(arguments.tables):
            rng = np.random.default_rng(seed)
            X = rng.normal(size=(1400, 5))
            y = 2.0 * (X[:, 0] > 0) + error(rng, 1400)
            model = RuleBoostingRegressor(3).fit(X[:200], y[:200])
            for way, rows, cv in (("CV", slice(200), 10), ("unseen", slice(200, 400), "prefit")):
                model.conformalize(X[rows], y[rows], cv=cv)
                low, high = model.predict_interval(X[400:]).T
                shares[way].append(np.mean((low <= y[400:]) & (y[400:] <= high)))
        lines.append(
            [
                name,
                *(
                    f"{np.mean(each):.3f} ± {np.std(each) / math.sqrt(len(each)):.3f}"
                    for each in shares.values()
                ),
            ]
        )
    return to_markdown(["errors", "CV pooled, groups", "unseen rows, groups"], lines)


def main(given: list[str] | None = None) -> None:
    """Print all tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--splits", type=int, default=8)
    parser.add_argument("--terms", type=int, default=5)
    parser.add_argument("--folds", type=int, default=10)
    parser.add_argument("--tables", type=int, default=200, help="simulated ones of each kind")
    parser.add_argument("--shapes", nargs="*", default=SHAPES)
    parser.add_argument("--quick", action="store_true", help="two small tables, for a test")
    arguments = parser.parse_args(given)
    numbers, classes = NUMBERS, CLASSES
    if arguments.quick:
        numbers, classes = ("diabetes",), ("wine",)
        arguments.splits, arguments.folds, arguments.tables = 1, 3, 2
        arguments.terms, arguments.shapes = 2, ["200x20"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", UserWarning)
        for names, score in (
            (numbers, scores_of_numbers),
            (numbers, partial(scores_of_numbers, slopes=False)),
            (classes, scores_of_classes),
        ):
            for table in table_of(names, score, arguments):
                print(f"\n{table}", flush=True)
        print(f"\n{guarantee(arguments)}", flush=True)
        print(f"\n{seconds(arguments)}", flush=True)


if __name__ == "__main__":
    main()
