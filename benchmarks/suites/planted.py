"""A seeded table with planted rules, which all benchmarks draw on.

Columns are independent of each other and come in five kinds: normal numbers, counts, categories,
flags and skewed numbers, of which one in fifty is missing. The target is the sum of five rules on
the first column of each kind, plus normal noise. Thresholds of the rules lie at terciles, so that
every grid of 2, 5, 8, 11, ... quantiles has them.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from laconic.candidates.candidates import candidate_conditions
from laconic.search import SearchProblem
from laconic.terms.conditions import Condition, Query
from laconic.terms.rules import Rule, RuleEnsemble

KINDS = ("normal", "count", "category", "flag", "skewed")
CATEGORIES = ("a", "b", "c", "d")
CATEGORY_SHARES = (0.4, 0.3, 0.2, 0.1)
SHARE_MISSING = 0.02


@dataclass(frozen=True, eq=False)
class Planted:
    """A table, its target and where the target comes from.

    Attributes
    ----------
    table : pandas.DataFrame
    target : ndarray of shape (n_rows,)
    ensemble : RuleEnsemble
        The planted rules.
    """

    table: pd.DataFrame
    target: NDArray[np.float64]
    ensemble: RuleEnsemble

    @property
    def classes(self) -> NDArray[np.bool_]:
        """The target as two classes of the same size."""
        return self.target > np.median(self.target)


def planted(n_rows: int, n_features: int = 20, *, r2: float = 0.9, seed: int = 0) -> Planted:
    """Draw a table and its target.

    Parameters
    ----------
    n_rows : int
    n_features : int, default=20
        At least five, one column of each kind.
    r2 : float, default=0.9
        Share of the target's variance that the planted rules explain; the rest is noise.
    seed : int, default=0
    """
    rng = np.random.default_rng(seed)
    columns = {}
    for position in range(n_features):
        kind = KINDS[position % len(KINDS)]
        columns[f"{kind}_{position}"] = _column(kind, n_rows, rng)
    table = pd.DataFrame(columns)
    ensemble = _planted_rules(table)
    signal = ensemble.raw_predictions(table)
    noise = signal.std() * np.sqrt(1 / r2 - 1)
    return Planted(table, signal + noise * rng.standard_normal(n_rows), ensemble)


def planted_search(
    n_rows: int, n_features: int = 20, *, max_thresholds: int = 7, r2: float = 0.9, seed: int = 0
) -> SearchProblem:
    """Search for the first rule of a planted table, under the squared loss."""
    drawn = planted(n_rows, n_features, r2=r2, seed=seed)
    extents = candidate_conditions(drawn.table, max_thresholds=max_thresholds).extents
    return SearchProblem(extents, -2 * drawn.target, np.full(n_rows, 2.0), l2_regularization=1.0)


def _column(kind: str, n_rows: int, rng: np.random.Generator) -> NDArray | pd.Categorical:
    match kind:
        case "normal":
            return rng.standard_normal(n_rows)
        case "count":
            return rng.poisson(8, n_rows)
        case "category":
            codes = rng.choice(len(CATEGORIES), n_rows, p=CATEGORY_SHARES).astype(np.int8)
            return pd.Categorical.from_codes(codes, CATEGORIES)
        case "flag":
            return rng.random(n_rows) < 0.5
        case _:
            values = rng.lognormal(size=n_rows)
            values[rng.random(n_rows) < SHARE_MISSING] = np.nan
            return values


def _planted_rules(table: pd.DataFrame) -> RuleEnsemble:
    """Five rules that overlap, each worth about half as much as the one before."""

    def at_most(name: str, share: float) -> Condition:
        return Condition(name, "<=", _quantile(table[name], share))

    def above(name: str, share: float) -> Condition:
        return Condition(name, ">", _quantile(table[name], share))

    low, high = 1 / 3, 2 / 3
    rules = [
        (9.0, above("normal_0", high), Condition("flag_3", "==", True)),
        (-6.5, at_most("count_1", low), Condition("category_2", "==", "a")),
        (5.0, above("count_1", low), above("skewed_4", high)),
        (-5.0, at_most("normal_0", low), Condition("category_2", "==", "b")),
        (2.5, Condition("flag_3", "==", False), at_most("skewed_4", low)),
    ]
    return RuleEnsemble(tuple(Rule(Query(conditions), weight) for weight, *conditions in rules))


def _quantile(column: pd.Series, share: float) -> float:
    """Smallest value that at least this share of the present ones does not exceed."""
    return float(np.quantile(column.dropna(), share, method="inverted_cdf"))
