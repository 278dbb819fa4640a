"""Coverage of the intervals of effects, in simulated tables.

    python -m benchmarks.trust.effects
    python -m benchmarks.trust.effects --others --rows 400 --tables 100
    python -m benchmarks.trust.effects --kinds "numbers in groups" --rows 400 --tables 100
    python -m benchmarks.trust.effects --kinds "the same without groups" --rows 400 --tables 100
    python -m benchmarks.trust.effects --quick

Features are ten independent normals. The true weight of a found term is that of the best model with
these terms for the whole population, found with many fresh rows. Of each table, three models are
made of three terms: one from the first half, whose effects are estimated on the second half; one
with `honest=0.5`; and one from all rows, whose weights are estimated on the same rows.
"""

import argparse
import warnings
from dataclasses import dataclass, field
from time import process_time

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from laconic import RuleBoostingClassifier, RuleBoostingRegressor
from laconic.boosting.refit import ensemble_risk, refitted
from laconic.estimators.training_data import read_rows
from laconic.trust import estimate_effects

N_FEATURES, N_TERMS, LEVEL = 10, 3, 0.9
N_FRESH = 50_000
GROUP_SIZE = 5
WAYS = ("unseen half", "honest=0.5", "training rows")


def signal(X):
    """Three rules, the sum of which the target depends on."""
    parts = (X[:, 0] > 0.3, (X[:, 1] > 0) & (X[:, 2] > -0.5), X[:, 3] < -0.5)
    return np.subtract(parts[0] + 1.0 * parts[1], parts[2])


class Numbers:
    """Normal noise, whose spread depends on a feature."""

    name, strengths = "numbers", {"none": 0.0, "weak": 0.35, "strong": 1.0}
    make = RuleBoostingRegressor
    loss = "auto"

    def means(self, X, strength):
        return strength * signal(X)

    def draw(self, rng, X, means):
        return means + rng.normal(size=len(X)) * (0.6 + 0.4 * np.abs(X[:, 0]))

    def soft(self, X, means):
        """Rows that have the expected loss of the population, with weights."""
        return X, means, None


class Skewed(Numbers):
    """Exponential noise."""

    name = "skewed numbers"

    def draw(self, rng, X, means):
        return means + rng.exponential(size=len(X)) - 1.0


class Classes(Numbers):
    name, strengths = "two classes", {"none": 0.0, "weak": 0.7, "strong": 1.8}
    make = RuleBoostingClassifier

    def means(self, X, strength):
        return 1.0 / (1.0 + np.exp(0.5 * strength - strength * signal(X)))

    def draw(self, rng, X, means):
        return np.where(rng.random(len(X)) < means, "yes", "no")

    def soft(self, X, means):
        targets = np.repeat(["no", "yes"], len(X))
        return np.vstack([X, X]), targets, np.append(1.0 - means, means)


class Rare(Classes):
    """A tenth of the rows of one class, or somewhat more."""

    name = "a rare class"

    def means(self, X, strength):
        return 1.0 / (1.0 + np.exp(2.2 + 0.5 * strength - strength * signal(X)))


class ThreeClasses(Classes):
    name = "three classes"

    def means(self, X, strength):
        scores = strength * np.column_stack([signal(X), -signal(X), np.zeros(len(X))])
        return np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)

    def draw(self, rng, X, means):
        return np.array(["a", "b", "c"])[
            (rng.random((len(X), 1)) > np.cumsum(means, axis=1)[:, :2]).sum(axis=1)
        ]

    def soft(self, X, means):
        targets = np.repeat(["a", "b", "c"], len(X))
        return np.vstack([X, X, X]), targets, np.maximum(means.T.ravel(), 1e-12)


class Counts(Numbers):
    name, strengths = "counts", {"none": 0.0, "weak": 0.25, "strong": 0.7}
    loss = "poisson"

    def means(self, X, strength):
        return np.exp(strength * signal(X))

    def draw(self, rng, X, means):
        return rng.poisson(means).astype(float)


class Overdispersed(Counts):
    """Counts whose variance is their mean plus its square."""

    name = "overdispersed counts"

    def draw(self, rng, X, means):
        return rng.poisson(means * rng.exponential(size=len(X))).astype(float)


class Visits(Numbers):
    """Five rows per group, with the same features and related errors."""

    name, has_groups = "numbers in groups", True

    def draw(self, rng, X, means):
        shared = np.repeat(rng.normal(size=len(X) // GROUP_SIZE), GROUP_SIZE)
        return means + 0.7 * shared + 0.7 * rng.normal(size=len(X))


class UnknownVisits(Visits):
    """The same, and nobody says which rows belong together."""

    name, has_groups = "the same without groups", False


REQUIRED = (Numbers, Classes, Counts)
OTHERS = (Skewed, Rare, Overdispersed, ThreeClasses, Visits, UnknownVisits)


@dataclass
class Tally:
    """Intervals of one way, table by table."""

    hits: list = field(default_factory=list)
    n_intervals: list = field(default_factory=list)
    n_terms: int = 0
    widths: list = field(default_factory=list)
    estimates: list = field(default_factory=list)
    truths: list = field(default_factory=list)

    def add(self, found, truths):
        """Compare the intervals of the terms of a table with the true weights."""
        pairs = [
            pair for pair in zip(found.terms, truths, strict=True) if pair[0].error is not None
        ]
        self.n_terms += len(found.terms)
        self.hits.append(sum(effect.lower <= truth <= effect.upper for effect, truth in pairs))
        self.n_intervals.append(len(pairs))
        for effect, truth in pairs:
            self.widths.append(effect.upper - effect.lower)
            self.estimates.append(effect.estimate * (np.sign(effect.weight) or 1.0))
            self.truths.append(truth * (np.sign(effect.weight) or 1.0))

    @property
    def coverage(self):
        """Share of the intervals that contain the true weight, and its standard error."""
        hits, counts = np.array(self.hits), np.array(self.n_intervals)
        share = hits.sum() / max(counts.sum(), 1)
        error = np.sqrt(np.square(hits - share * counts).sum()) / max(counts.sum(), 1)
        return share, error


def true_weights(model, kind, strength, fresh):
    """Find the best weights of the terms of a model, for the whole population."""
    X, y, weights = kind.soft(fresh, kind.means(fresh, strength))
    data = read_rows(model, X, y, weights, None)
    columns = [
        data.values(term.query if hasattr(term, "query") else term) for term in model.ensemble_
    ]
    risk = ensemble_risk(
        *(model.ensemble_, columns, data.counted_y, data.loss, 0.0, data.counted_weights),
        fit_intercept=True,
    )
    best, _ = refitted(model.ensemble_, risk)
    return [line.weight for line in best.lines if line.number > 0]


def study(kind, strength, n_rows, n_tables, seed):
    """Return a tally for each way."""
    fresh = np.random.default_rng(seed + 1_000_000).normal(size=(N_FRESH, N_FEATURES))
    tallies = {way: Tally() for way in WAYS}
    for number in range(n_tables):
        rng = np.random.default_rng([seed, number])
        X = rng.normal(size=(n_rows, N_FEATURES))
        groups = None
        if isinstance(kind, Visits):
            X = np.repeat(X[: n_rows // GROUP_SIZE], GROUP_SIZE, axis=0)
            if kind.has_groups:
                groups = np.repeat(np.arange(n_rows // GROUP_SIZE), GROUP_SIZE)
        y = kind.draw(rng, X, kind.means(X, strength))
        half = n_rows // 2
        for way in WAYS:
            honest = 0.5 if way == "honest=0.5" else None
            model = kind.make(N_TERMS, loss=kind.loss, honest=honest)
            rows = slice(half) if way == "unseen half" else slice(None)
            model.fit(X[rows], y[rows], groups=None if honest is None else groups)
            if way == "unseen half":
                others = None if groups is None else groups[half:]
                found = model.effects(X[half:], y[half:], groups=others, level=LEVEL)
            elif way == "honest=0.5":
                found = model.trust_.effects
            else:
                found = estimate_effects(
                    read_rows(model, X, y, None, None), model.ensemble_, groups=groups, level=LEVEL
                )
            tallies[way].add(found, true_weights(model, kind, strength, fresh))
    return tallies


def write(kinds, sizes, n_tables):
    """Print a table, row by row."""
    heads = [*WAYS, "width", "no interval", "on training rows: estimate", "truth"]
    print(f"| target | effect | rows | {' | '.join(heads)} |", flush=True)
    print("|---|---|" + "---:|" * (len(heads) + 1), flush=True)
    for place, make in enumerate(kinds):
        kind = make()
        for level, (name, strength) in enumerate(kind.strengths.items()):
            for n_rows in sizes:
                seed = 10_000 * place + 1_000 * level + n_rows
                tallies = study(kind, strength, n_rows, n_tables, seed)
                cells = [text(tallies[way]) for way in WAYS]
                unseen, naive = tallies["unseen half"], tallies["training rows"]
                width = np.median(unseen.widths or [np.nan]) / np.median(naive.widths or [np.nan])
                missing = 1.0 - sum(unseen.n_intervals) / max(unseen.n_terms, 1)
                means = [np.mean(each or [np.nan]) for each in (naive.estimates, naive.truths)]
                cells += [f"{width:.2f}", f"{missing:.3f}", *(f"{mean:.2f}" for mean in means)]
                print(f"| {kind.name} | {name} | {n_rows} | {' | '.join(cells)} |", flush=True)


def text(tally):
    """Write the coverage of a way."""
    if not sum(tally.n_intervals):
        return ""
    share, error = tally.coverage
    return f"{share:.3f} ± {error:.3f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--tables", type=int, default=200, help="tables per row")
    parser.add_argument("--rows", type=int, nargs="+", default=(400, 1000), help="of a table")
    parser.add_argument("--quick", action="store_true", help="two tables per row, one size")
    parser.add_argument("--others", action="store_true", help="further kinds of targets only")
    names = [kind.name for kind in (*REQUIRED, *OTHERS)]
    parser.add_argument("--kinds", nargs="+", choices=names, help="these kinds of targets only")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    start = process_time()
    sizes, n_tables = ((200,), 2) if arguments.quick else (arguments.rows, arguments.tables)
    kinds = OTHERS if arguments.others else REQUIRED
    if arguments.kinds:
        kinds = [kind for kind in (*REQUIRED, *OTHERS) if kind.name in arguments.kinds]
    write(kinds, sizes, n_tables)
    print(f"\n{n_tables} tables per row; {process_time() - start:.0f} CPU s.")


if __name__ == "__main__":
    main()
