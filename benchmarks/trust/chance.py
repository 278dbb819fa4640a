"""Chance: type I error of the p-values, their tail, cutoffs, power and seconds.

    python -m benchmarks.trust.chance
    python -m benchmarks.trust.chance --quick

Tables of noise have 300 rows and ten features; models have rules of at most two conditions. Where
terms come before the one in question, the target depends on one or two binary features, and tables
count in which exactly these were found first. Every table is made from its own seed.
"""

import argparse
import warnings
from dataclasses import dataclass, field, replace
from itertools import islice
from time import perf_counter

import numpy as np

from laconic import RuleBoostingClassifier, RuleBoostingRegressor
from laconic.boosting import State
from laconic.estimators.fitting import columns_of, make_rounds
from laconic.estimators.training_data import read_rows
from laconic.search import SearchStatus
from laconic.trust.chance import chance

N_ROWS, N_FEATURES = 300, 10
N_COPIES, LEVEL = 39, 0.05
# Of rare classes, what was planted is seldom found.
MAX_TRIES = 12
NUMBERS = ("normal", "t3", "lognormal")
_DEVIATIONS = {
    "normal": 1.0,
    "t3": 3**0.5,
    "lognormal": float(np.sqrt(np.expm1(2.25) * np.exp(2.25))),
}


@dataclass(frozen=True)
class Case:
    """A kind of table, and of model."""

    name: str
    target: str
    correlation: float = 0.0
    weights: str = ""
    effect: float = 0.0
    """Of one more rule, for power."""
    parameters: dict = field(default_factory=dict)
    groups: str = ""
    uses_groups: bool = True

    def features(self, rng, n_rows=N_ROWS):
        """Draw normal features, of which the first two are made binary."""
        X = rng.normal(size=(n_rows, N_FEATURES))
        for column in range(1, N_FEATURES):
            rest = (1 - self.correlation**2) ** 0.5
            X[:, column] = self.correlation * X[:, column - 1] + rest * X[:, column]
        X[:, :2] = X[:, :2] > 0.25
        return X

    def of_groups(self, rng):
        """Draw the group of each row; None without groups."""
        if self.groups == "of different sizes":
            return np.sort(rng.integers(0, 100, N_ROWS))
        return np.arange(N_ROWS) // 3 if self.groups else None

    def sample(self, seed, n_before):
        """Make a table with a target that depends on the first features only."""
        rng = np.random.default_rng([seed, n_before])
        X, groups = self.features(rng), self.of_groups(rng)
        if groups is not None:
            X = X[groups]
        before = X[:, :2] * (np.arange(2) < n_before)
        extra = self.effect * ((X[:, 4] > 0) & (X[:, 5] > 0))
        weights = None
        if self.weights == "of the noise":
            weights = rng.choice([0.5, 1.0, 3.0], N_ROWS)
        elif self.weights == "by a feature":
            weights = np.where(X[:, 6] > 0, 3.0, 1.0)
        y = self._target(rng, before, extra, weights)
        if self.groups == "of different sizes":
            # One target for all rows of a group.
            y = y[np.unique(groups, return_index=True)[1]][
                np.unique(groups, return_inverse=True)[1]
            ]
        elif groups is not None:
            y = y + rng.normal(size=N_ROWS)[groups]
        return X, y, weights, groups

    def _target(self, rng, before, extra, weights):
        if self.target in NUMBERS:
            noise = {
                "normal": lambda: rng.normal(size=N_ROWS),
                "t3": lambda: rng.standard_t(3, N_ROWS),
                "lognormal": lambda: rng.lognormal(0.0, 1.5, N_ROWS),
            }[self.target]()
            noise /= _DEVIATIONS[self.target]
            if self.weights == "of the noise":
                noise /= np.sqrt(weights)
            return 1.5 * before.sum(axis=1) + extra + noise
        if self.target == "counts":
            return rng.poisson(np.exp(before.sum(axis=1) + extra)).astype(float)
        if self.target == "three classes":
            raw = np.zeros((N_ROWS, 3))
            raw[:, :2] += 2.5 * before
            raw[:, 2] += extra
            shares = np.exp(raw) / np.exp(raw).sum(axis=1, keepdims=True)
            return (rng.random(N_ROWS)[:, None] >= np.cumsum(shares, axis=1)[:, :2]).sum(axis=1)
        share = float(self.target) / 100
        raw = 2.5 * before.sum(axis=1) + extra
        low, high = -20.0, 20.0
        while high - low > 1e-6:
            middle = (low + high) / 2
            is_less = (1 / (1 + np.exp(-(raw + middle)))).mean() < share
            low, high = (middle, high) if is_less else (low, middle)
        return rng.random(N_ROWS) < 1 / (1 + np.exp(-(raw + low)))

    def model(self, n_terms):
        """Make the estimator."""
        is_number = self.target in (*NUMBERS, "counts")
        kind = RuleBoostingRegressor if is_number else RuleBoostingClassifier
        loss = {"loss": "poisson"} if self.target == "counts" else {}
        settings = {"slopes": False, "max_conditions": 2} | loss | self.parameters
        return kind(n_terms=n_terms, **settings)


CASES = (
    *(Case(name, name) for name in NUMBERS),
    *(Case(f"class {share} %", share) for share in ("50", "10", "5")),
    Case("counts", "counts"),
    Case("three classes", "three classes"),
    Case("normal, correlated features", "normal", 0.8),
    Case("class 50 %, correlated features", "50", 0.8),
    Case("normal, weights of the noise", "normal", weights="of the noise"),
    Case("normal, weights by a feature", "normal", weights="by a feature"),
    Case("class 10 %, balanced weights", "10", parameters={"class_weight": "balanced"}),
    Case("normal, slopes too", "normal", parameters={"slopes": True}),
    Case("class 50 %, slopes too", "50", parameters={"slopes": True}),
    Case("normal, brevity 0", "normal", parameters={"brevity": 0.0}),
    Case("normal, stagewise", "normal", parameters={"strategy": "stagewise"}),
    Case("normal, polished", "normal", parameters={"strategy": "polished"}),
)
POWER = (
    Case("normal, +.6", "normal", effect=0.6),
    Case("normal, +.8", "normal", effect=0.8),
    Case("lognormal, +.6", "lognormal", effect=0.6),
    Case("class 50 %, +1.4", "50", effect=1.4),
    Case("class 10 %, +1.4", "10", effect=1.4),
    Case("counts, +.5", "counts", effect=0.5),
    Case("three classes, +1.4", "three classes", effect=1.4),
)

GROUPED = (
    Case("normal, groups of 3", "normal", groups="of 3"),
    Case("normal, groups of 3 that are ignored", "normal", groups="of 3", uses_groups=False),
    Case("normal, one target per group", "normal", groups="of different sizes"),
    Case("class 50 %, one target per group", "50", groups="of different sizes"),
)


def read(model, X, y, weights=None):
    """Return the rounds and the state of a fitted model."""
    data = read_rows(model, X, y, weights, None)
    settings = model.settings_
    state = State(model.ensemble_, columns_of(model.ensemble_, data), tuple(model.search_results_))
    rounds = make_rounds(data, settings, settings.candidates(data), model.l2_regularization_)
    return rounds, state.divided_by(data.scale)


def has_found(model, case, n_before):
    """Check whether the first terms are exactly those that the target depends on."""
    terms = model.ensemble_.terms
    if len(terms) <= n_before:
        return False
    if case.parameters.get("strategy") == "polished" or n_before == 0:
        # Which of them come first is not known.
        return True
    found = [(*term.features,) for term in terms[:n_before]]
    return sorted(found) == [("x0",), ("x1",)][:n_before]


def p_value(case, seed, n_before):
    """Return p of the term after some; None if these are others than planted, or nothing found."""
    X, y, weights, groups = case.sample(seed, n_before)
    if len(np.unique(y)) < 2:
        return None
    class_weight = case.parameters.get("class_weight")
    model = case.model(n_before + 1).fit(X, y, sample_weight=weights)
    if not has_found(model, case, n_before):
        return None
    if class_weight is not None:
        answer = model.chance(
            X, y, sample_weight=weights, n_permutations=N_COPIES, random_state=seed
        )
        return answer[n_before].p
    rounds, state = read(model, X, y, weights)
    results = [replace(each, status=SearchStatus.GIVEN) for each in state.results[:n_before]]
    state = replace(state, results=(*results, *state.results[n_before:]))
    answer = chance(
        rounds,
        state,
        groups=groups if case.uses_groups else None,
        n_permutations=N_COPIES,
        random_state=seed,
    )
    return answer[n_before].p


def rejections(cases, n_tables, numbers_before=(0, 1, 2)):
    """Print how often p is at most 5 %."""
    heads = ["first term", "after one", "after two"]
    print("| case | " + " | ".join(heads[n] for n in numbers_before) + " |")
    print("|-" * (len(numbers_before) + 1) + "|")
    for case in cases:
        cells = []
        for n_before in numbers_before:
            tried = (p_value(case, seed, n_before) for seed in range(MAX_TRIES * n_tables))
            values = np.array([*islice((p for p in tried if p is not None), n_tables)])
            if len(values) == 0:
                cells.append("")
                continue
            rate = float((values <= LEVEL + 1e-12).mean())
            error = (LEVEL * (1 - LEVEL) / len(values)) ** 0.5
            if case.effect:
                error = (rate * (1 - rate) / len(values)) ** 0.5
            few = "" if len(values) == n_tables else f", {len(values)} tables"
            cells.append(f"{rate:.3f} ± {error:.3f}{few}")
        print(f"| {case.name} | " + " | ".join(cells) + " |", flush=True)
    print()


def tails(n_tables):
    """Print how often the best value of a copy exceeds quantiles of a Gumbel fitted to 99."""
    print("| target | nominal .05 | .01 | .002 |\n|-|-|-|-|")
    for case in (c for c in CASES[:8]):
        exceeding = np.zeros(3)
        n_values = 0
        for seed in range(n_tables):
            X, y, *_ = case.sample(seed, 0)
            if len(np.unique(y)) < 2:
                continue
            rounds, state = read(case.model(1).fit(X, y), X, y)
            rng = np.random.default_rng([seed, 7])
            values = []
            for _ in range(499):
                copy = rounds.with_target(rng.permutation(rounds.y), None)
                values.append(copy.search(state.first(0)).result.objective_value)
            ps = np.array([_gumbel(values[:99], value) for value in values[99:]])
            exceeding += [(ps <= level).sum() for level in (0.05, 0.01, 0.002)]
            n_values += len(ps)
        rates = " | ".join(f"{rate:.4f}" for rate in exceeding / n_values)
        print(f"| {case.name} | {rates} |", flush=True)
    print()


def _gumbel(values, value):
    scale = np.std(values, ddof=1) * 6**0.5 / np.pi
    mode = np.mean(values) - np.euler_gamma * scale
    return -np.expm1(-np.exp(-(value - mode) / scale))


def cutoffs(n_tables):
    """Print how often searches with a cutoff decide as full ones do."""
    n_draws = n_same = 0
    seconds = np.zeros(2)
    for case in (CASES[0], CASES[3], CASES[6], CASES[13]):
        for seed in range(n_tables):
            X, y, *_ = case.sample(seed, 1)
            model = case.model(3).fit(X, y)
            rounds, state = read(model, X, y)
            for position in range(len(state.ensemble)):
                before = rounds.refit(state.first(position))[0]
                term, values = state.ensemble[position], state.columns[position]
                least = rounds.value_beside(before, term, values, state.results[position])
                options = {**rounds.search_options, "cutoff": least, "stop_above_cutoff": True}
                deciding = replace(rounds, search_options=options)
                for draw in range(5):
                    rng = np.random.default_rng([seed, position, draw])
                    y_copy = rng.permutation(rounds.y)
                    start = rounds.with_target(y_copy, None).refit(before)[0]
                    times = [perf_counter()]
                    answers = []
                    for each in (deciding, rounds):
                        copy = each.with_target(y_copy, None)
                        answers.append(copy.search(start).result.objective_value > least)
                        times.append(perf_counter())
                    seconds += np.diff(times)
                    n_draws += 1
                    n_same += answers[0] == answers[1]
    print(
        f"Searches with a cutoff decided as full ones in {n_same} of {n_draws} copies, in "
        f"{seconds[0] / seconds[1]:.0%} of the time.\n"
    )


def times(sizes):
    """Print seconds for three terms, with one thread and with two."""
    print(
        "| rows × features | target | p of the terms | fit | chance | two threads |\n"
        + "|-" * 6
        + "|"
    )
    for n_rows, n_features in sizes:
        rng = np.random.default_rng(0)
        X = rng.normal(size=(n_rows, n_features))
        effects = 1.0 * (X[:, 0] > 0.5) + 0.6 * ((X[:, 1] > 0) & (X[:, 2] > 0))
        numbers = effects + rng.normal(size=n_rows)
        for name, y, kind in (
            ("numbers", numbers, RuleBoostingRegressor),
            ("two classes", numbers > 1, RuleBoostingClassifier),
        ):
            started = perf_counter()
            model = kind(3).fit(X, y)
            seconds = [perf_counter() - started]
            for n_jobs in (1, 2):
                model.n_jobs = n_jobs
                started = perf_counter()
                answer = model.chance(X, y)
                seconds.append(perf_counter() - started)
            shown = ", ".join(f"{term.p:.2f}" for term in answer)
            words = " | ".join(f"{each:.1f} s" for each in seconds)
            print(f"| {n_rows:,} × {n_features} | {name} | {shown} | {words} |", flush=True)
    print()


def main(arguments=None):
    """Print all tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="a few tables, to see that it runs")
    parser.add_argument(
        "--parts", nargs="+", default=["errors", "groups", "power", "tails", "cutoffs", "times"]
    )
    parser.add_argument("--cases", nargs="+", default=None, help="only these")
    parser.add_argument("--tables", type=int, default=None)
    options = parser.parse_args(arguments)
    n_tables = options.tables or (2 if options.quick else 400)
    warnings.simplefilter("ignore")
    if "errors" in options.parts:
        print(f"Share of {n_tables} tables of noise with p at most 5 %, from {N_COPIES} copies.\n")
        rejections([c for c in CASES if c.name in (options.cases or [c.name])], n_tables)
    if "groups" in options.parts:
        print("The same for rows in groups that share their features, and a part of the target.\n")
        rejections(GROUPED, n_tables)
    if "power" in options.parts:
        print("Power: the same with one more rule, for a quarter of the rows.\n")
        rejections(POWER, max(n_tables // 4, 2), (0, 1))
    if "tails" in options.parts:
        print("Shares of copies beyond quantiles of a Gumbel distribution fitted to 99 others.\n")
        tails(max(n_tables // 20, 1))
    if "cutoffs" in options.parts:
        cutoffs(max(n_tables // 40, 1))
    if "times" in options.parts:
        times([(1000, 20)] if options.quick else [(1000, 20), (10_000, 30), (100_000, 20)])


if __name__ == "__main__":
    main()
