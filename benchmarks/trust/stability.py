"""How often terms come back in resampled copies and in disjoint halves of tables.

Compares optimal with greedy terms on the same rows of real tables, counts how many terms
cross-validation chooses in resampled copies, and measures the time of ``model.stability``.

Usage: ``python -m benchmarks.trust.stability``, with ``LACONIC_DATASETS`` naming the folder of the
tables; ``--quick`` makes every part small.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from statistics import fmean
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import wilcoxon
from sklearn.base import clone
from sklearn.metrics import r2_score, roc_auc_score

from benchmarks.problems import NEIGHBOUR, find_folder, load_dataset
from laconic import RuleBoostingClassifier, RuleBoostingRegressor, RuleBoostingRegressorCV
from laconic.tables.tables import as_table
from laconic.terms.rules import Rule, RuleEnsemble, Term
from laconic.terms.slopes import Slope
from laconic.trust.stability import Original, draw_rows, similar_terms

TABLES = (
    *("boston", "breast_cancer", "classification2", "demographics", "diabetes", "friedman1"),
    *("gender_recognition", "ibm_hr", "insurance", "life_expectancy", "mobile_prices"),
    *("red_wine_quality", "suicide_rates", "telco_churn", "tic_tac_toe", "titanic", "used_cars"),
    *("videogamesales", "world_happiness", "digits5"),
)
SEARCHES = ("optimal", "greedy")
N_TERMS = 5
MAX_ROWS = 2000
# The statistics of the table, in its order, with their labels.
MEASURES = {
    "bootstrap_8": "bootstrap, overlap ≥ .8",
    "bootstrap_9": "bootstrap, overlap ≥ .9",
    "bootstrap_rules": "bootstrap, overlap ≥ .8, rules alone",
    "bootstrap_covered": "bootstrap, covered rows ≥ .8, rules alone",
    "bootstrap_slopes": "bootstrap, slopes alone",
    "bootstrap_first": "bootstrap, first term",
    "halves_8": "halves, overlap ≥ .8",
    "halves_rules": "halves, overlap ≥ .8, rules alone",
    "halves_9": "halves, overlap ≥ .9",
    "halves_first": "halves, first term",
    "features": "features in common (Jaccard)",
    "unstable": "unstable predictions (classes flipped, or mean change / sd)",
    "score": "score on rows not drawn (R², area under ROC curve)",
    "conditions": "conditions per term",
    "slopes": "slopes, share of the terms",
}


@dataclass(frozen=True, eq=False)
class Rows:
    """A table, or some rows of one."""

    X: pd.DataFrame
    y: NDArray[Any]
    is_classes: bool

    def at(self, rows: NDArray[Any]) -> Rows:
        """Take some rows."""
        return Rows(self.X.iloc[rows], self.y[rows], self.is_classes)

    def fit(self, search: str) -> Any:
        """Fit a model with default parameters."""
        kind = RuleBoostingClassifier if self.is_classes else RuleBoostingRegressor
        return kind(n_terms=N_TERMS, search=search).fit(self.X, self.y)

    def score(self, model: Any) -> float:
        """Score a model on these rows."""
        if self.is_classes:
            return float(roc_auc_score(self.y, model.decision_function(self.X)))
        return float(r2_score(self.y, model.predict(self.X)))

    @property
    def is_usable(self) -> bool:
        """Whether the target varies."""
        return len(np.unique(self.y)) > 1


def load_rows(name: str) -> Rows:
    """Load a table, at most `MAX_ROWS` rows of it."""
    folder = find_folder() or NEIGHBOUR
    dataset = load_dataset(name, folder=folder, random_state=0, backend="pandas")
    y = np.asarray(dataset.target)
    rows = Rows(dataset.data, y, len(np.unique(y)) == 2)
    kept = np.sort(np.random.default_rng(0).permutation(len(y))[:MAX_ROWS])
    return rows.at(kept)


class Comparison:
    """Compares models with one model, on the rows of a table."""

    def __init__(self, ensemble: RuleEnsemble, X: pd.DataFrame) -> None:
        self.ensemble, self.table = ensemble, as_table(X)
        self.original = Original(
            ensemble,
            self.table,
            np.ones(len(X), dtype=bool),
            has_intercept=True,
            scores=lambda raw: raw,
            labels=None,
        )
        self.values = self.original.values(ensemble)

    def similarities(self, other: RuleEnsemble) -> NDArray[np.float64]:
        """Compute the similarity of each term with its partner in another model."""
        found = np.zeros(len(self.ensemble))
        pairs = similar_terms(self.original, other, self.values, self.original.values(other))
        for place, pair in pairs.items():
            found[place] = pair.match.similarity
            if not isinstance(self.ensemble[place], Rule):
                # A correlation of .9 counts as an overlap of .8, and one of .95 as one of .9.
                found[place] = 1.0 - 2.0 * (1.0 - found[place])
        return found

    def covered_alone(self, other: RuleEnsemble) -> float:
        """Compute the share of the rules that come back if only covered rows are compared.

        A rule may be the return of several ones, and need not overlap in the other rows.
        """
        other_values, found = self.original.values(other), []
        for place, term in enumerate(self.ensemble):
            if isinstance(term, Rule):
                mine = self.values[:, place].astype(bool)
                overlaps = [0.0]
                for other_place, candidate in enumerate(other):
                    if isinstance(candidate, Rule):
                        rows = other_values[:, other_place].astype(bool)
                        if (term.weight < 0) != (candidate.weight < 0):
                            rows = ~rows
                        overlaps.append((mine & rows).sum() / max((mine | rows).sum(), 1))
                found.append(max(overlaps) >= 0.8)
        return fmean(found) if found else float("nan")

    def of_kind(self, kind: type[Term], returned: NDArray[np.bool_]) -> float:
        """Compute the share of the terms of a kind that came back; NaN if there are none."""
        found = [
            each for term, each in zip(self.ensemble, returned, strict=True) if type(term) is kind
        ]
        return fmean(found) if found else float("nan")


def shared(one: RuleEnsemble, other: RuleEnsemble) -> float:
    """Compute the Jaccard index of the features of two models."""
    mine, others = set(one.used_features), set(other.used_features)
    return len(mine & others) / len(mine | others) if mine | others else 1.0


def means_of(found: Mapping[str, Sequence[float]]) -> dict[str, float]:
    """Compute the means of the values that there are; NaN where there are none."""
    means = {}
    for name, values in found.items():
        known = [each for each in values if not np.isnan(each)]
        means[name] = fmean(known) if known else float("nan")
    return means


def bootstraps(rows: Rows, search: str, n_draws: int) -> dict[str, float]:
    """Measure what comes back in resampled copies."""
    model = rows.fit(search)
    comparison, predicted = Comparison(model.ensemble_, rows.X), model.predict(rows.X)
    found: dict[str, list[float]] = {name: [] for name in MEASURES if "halves" not in name}
    scale = 1.0 if rows.is_classes else float(np.std(rows.y))
    for number in range(n_draws):
        times = draw_rows(
            number, 0, np.arange(len(rows.y)), lambda drawn: len(np.unique(rows.y[drawn])) > 1
        )
        other = clone(model).fit(rows.X, rows.y, times)
        similar = comparison.similarities(other.ensemble_)
        found["bootstrap_8"].append(fmean(similar >= 0.8))
        found["bootstrap_9"].append(fmean(similar >= 0.9))
        found["bootstrap_rules"].append(comparison.of_kind(Rule, similar >= 0.8))
        found["bootstrap_slopes"].append(comparison.of_kind(Slope, similar >= 0.8))
        found["bootstrap_first"].append(float(similar[0] >= 0.8))
        found["bootstrap_covered"].append(comparison.covered_alone(other.ensemble_))
        found["features"].append(shared(model.ensemble_, other.ensemble_))
        others = other.predict(rows.X)
        changes = others != predicted if rows.is_classes else np.abs(others - predicted) / scale
        found["unstable"].append(float(np.mean(changes)))
        held_out = rows.at(np.flatnonzero(times == 0))
        if held_out.is_usable:
            found["score"].append(held_out.score(other))
        ensemble = other.ensemble_
        found["conditions"].append(ensemble.n_conditions / max(len(ensemble), 1))
        found["slopes"].append(len(ensemble.slopes) / max(len(ensemble), 1))
    return means_of(found)


def halves(rows: Rows, search: str, n_pairs: int) -> dict[str, float]:
    """Measure what comes back in the other one of two disjoint halves."""
    found: dict[str, list[float]] = {name: [] for name in MEASURES if "halves" in name}
    rng, n_rows = np.random.default_rng(1), len(rows.y)
    while len(found["halves_8"]) < 2 * n_pairs:
        order = rng.permutation(n_rows)
        parts = rows.at(np.sort(order[: n_rows // 2])), rows.at(np.sort(order[n_rows // 2 :]))
        if not all(part.is_usable for part in parts):
            continue
        one, other = (part.fit(search).ensemble_ for part in parts)
        for mine, theirs in ((one, other), (other, one)):
            comparison = Comparison(mine, rows.X)
            similar = comparison.similarities(theirs)
            found["halves_rules"].append(comparison.of_kind(Rule, similar >= 0.8))
            found["halves_8"].append(fmean(similar >= 0.8))
            found["halves_9"].append(fmean(similar >= 0.9))
            found["halves_first"].append(float(similar[0] >= 0.8))
    return means_of(found)


def compare_searches(
    names: Sequence[str], n_draws: int, n_pairs: int
) -> dict[str, dict[str, dict[str, float]]]:
    """Measure both searches on all tables, with the same draws."""
    found: dict[str, dict[str, dict[str, float]]] = {}
    for name in names:
        rows = load_rows(name)
        start = time.monotonic()
        found[name] = {
            search: bootstraps(rows, search, n_draws) | halves(rows, search, n_pairs)
            for search in SEARCHES
        }
        print(f"<!-- {name}: {time.monotonic() - start:.0f} s -->", flush=True)
    return found


def search_lines(found: Mapping[str, Mapping[str, Mapping[str, float]]]) -> Iterator[str]:
    """Write the table of both searches."""
    yield "| | tables | optimal | greedy | optimal higher / lower | difference | Wilcoxon p |"
    yield "|:---|---:|---:|---:|---:|---:|---:|"
    for name, label in MEASURES.items():
        both = np.array([[each[search][name] for search in SEARCHES] for each in found.values()])
        both = both[~np.isnan(both).any(axis=1)]
        # Without rounding errors, which would make ranks of ties.
        differences = np.round(both[:, 0] - both[:, 1], 9)
        p = float(wilcoxon(differences).pvalue) if differences.any() else 1.0
        error = np.std(differences, ddof=1) / np.sqrt(len(differences)) if len(both) > 1 else 0.0
        optimal, greedy = both.mean(axis=0)
        yield (
            f"| {label} | {len(both)} | {optimal:.3f} | {greedy:.3f} | "
            f"{(differences > 0).sum()} / {(differences < 0).sum()} | "
            f"{differences.mean():+.3f} ± {error:.3f} | {p:.3f} |"
        )


def table_lines(found: Mapping[str, Mapping[str, Mapping[str, float]]]) -> Iterator[str]:
    """Write the shares of each table."""
    names = ("bootstrap_8", "bootstrap_first", "halves_8", "halves_first")
    yield f"| table | {' | '.join(MEASURES[name] for name in names)} |"
    yield f"|:---|{'---:|' * len(names)}"
    for table, both in found.items():
        cells = [" / ".join(f"{both[each][name]:.2f}" for each in SEARCHES) for name in names]
        yield f"| {table} | {' | '.join(cells)} |"


def made_rows(n_rows: int, n_features: int, seed: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Make a table of normal features with three rules."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_features))
    y = 1.0 * (X[:, 0] > 0.5) + 0.8 * ((X[:, 1] < 0) & (X[:, 2] > 0)) - 0.6 * (X[:, 3] > 1)
    return X, y + rng.normal(size=n_rows)


def size_lines(n_tables: int, n_draws: int) -> Iterator[str]:
    """Count the terms of resampled copies, where chance or cross-validation decides on them."""
    sizes: dict[str, list[int]] = {}
    kinds = {
        "cross-validation": RuleBoostingRegressorCV(n_terms=10, max_conditions=2),
        'n_terms="auto"': RuleBoostingRegressor(n_terms="auto", max_conditions=2),
    }
    for seed, (kind, estimator) in product(range(n_tables), kinds.items()):
        X, y = made_rows(300, 10, seed)
        model = clone(estimator).fit(X, y)
        sizes.setdefault(f"{kind}, the table", []).append(len(model.ensemble_))
        for number in range(n_draws):
            times = draw_rows(number, seed, np.arange(len(y)), np.any)
            drawn = np.repeat(np.arange(len(y)), times)
            fitted = {
                "a resampled copy": clone(model).fit(X, y, times),
                "a resampled copy with its rows repeated": clone(model).fit(X[drawn], y[drawn]),
            }
            for name, other in fitted.items():
                sizes.setdefault(f"{kind}, {name}", []).append(len(other.ensemble_))
    yield "| chosen by, fitted to | mean number of terms | standard error |"
    yield "|:---|---:|---:|"
    for label, counts in sorted(sizes.items()):
        # Copies of one table are alike: the error is that of the tables.
        of_tables = np.array(counts, dtype=float).reshape(n_tables, -1).mean(axis=1)
        error = of_tables.std(ddof=1) / np.sqrt(n_tables) if n_tables > 1 else 0.0
        yield f"| {label} | {of_tables.mean():.2f} | {error:.2f} |"


def time_lines(shapes: Sequence[tuple[int, int, int]], n_jobs: int) -> Iterator[str]:
    """Measure seconds of 100 resamples, extrapolated where fewer were made."""
    yield "| rows | features | seconds of the fit | resamples | seconds | of 100 resamples |"
    yield "|---:|---:|---:|---:|---:|---:|"
    for n_rows, n_features, n_resamples in shapes:
        X, y = made_rows(n_rows, n_features, 0)
        start = time.monotonic()
        model = RuleBoostingRegressor(n_terms=N_TERMS, n_jobs=n_jobs).fit(X, y)
        fitted = time.monotonic()
        model.stability(X, y, n_resamples=n_resamples)
        seconds = time.monotonic() - fitted
        yield (
            f"| {n_rows:,} | {n_features} | {fitted - start:.2f} | {n_resamples} | {seconds:.1f} | "
            f"{seconds * 100 / n_resamples:.0f} |"
        )


def main(arguments: Sequence[str] | None = None) -> None:
    """Print all tables."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="few and small tables")
    parser.add_argument("--n-jobs", type=int, default=2)
    parser.add_argument("--parts", nargs="+", default=["searches", "sizes", "seconds"])
    given = parser.parse_args(arguments)
    warnings.simplefilter("ignore")

    def show(lines: Callable[[], Iterator[str]], title: str) -> None:
        print(f"\n{title}\n", flush=True)
        for line in lines():
            print(line, flush=True)

    if "searches" in given.parts:
        names = ("breast_cancer", "diabetes") if given.quick else TABLES
        found = compare_searches(names, *((2, 1) if given.quick else (40, 8)))
        show(lambda: search_lines(found), f"Optimal and greedy terms, {len(names)} tables")
        show(lambda: table_lines(found), "Shares that came back, optimal / greedy")
    if "sizes" in given.parts:
        counts = (2, 1) if given.quick else (30, 5)
        show(lambda: size_lines(*counts), "Number of terms of resampled models")
    if "seconds" in given.parts:
        shapes = [(1000, 20, 100), (10_000, 30, 100), (100_000, 20, 10)]
        shapes = [(200, 5, 2)] if given.quick else shapes
        show(lambda: time_lines(shapes, given.n_jobs), f"Seconds, {given.n_jobs} threads")


if __name__ == "__main__":
    main()
