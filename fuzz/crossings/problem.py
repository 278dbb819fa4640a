"""A row of values as a problem: an estimator with its parameters, rows, and their truth."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from fuzz.crossings import brute, terms
from fuzz.crossings.brute import Truth
from fuzz.crossings.covering import Row
from fuzz.crossings.factors import CLASSES, IN_PARTS
from fuzz.crossings.tables import Placed, Rows, in_memory, in_parts, make_rows
from fuzz.crossings.terms import Atom, Key, Limits, Line, Prices, Sets
from laconic import (
    Condition,
    RuleBoostingClassifier,
    RuleBoostingClassifierCV,
    RuleBoostingRegressor,
    RuleBoostingRegressorCV,
    Slope,
)
from laconic.candidates.slopes import candidate_slopes

N_TERMS = 3
MAX_AUTO_TERMS = 20
CLASS_WEIGHTS = {
    "logistic": {"no": 1.0, "yes": 3.0},
    "positive='no'": {"no": 1.0, "yes": 3.0},
    "three classes": {"a": 1.0, "b": 0.5, "c": 3.0},
}
_FEATURES: dict[str, Any] = {
    "interaction_cst": [["x0", "x2"], ["x1"]],
    "interaction_cst, alone": [["x2"]],
    "interaction_cst, apart": [["x0", "x1"], ["x0", "x2"]],
}
_GROUPS = {
    "free": ("x0 x1 x2",),
    "interaction_cst": ("x0 x2", "x1"),
    "interaction_cst, alone": ("x0 x1", "x2"),
    "interaction_cst, apart": ("x0 x1", "x0 x2"),
}
# The last column has an order, which its conditions are about.
_IN_ORDER = ("numbers", "missing values", "dates", "sparse matrix", "integers and booleans")
_LIMITS: dict[str, dict[str, Any]] = {
    "none": {},
    "min_coverage": {"min_coverage": 12.0},
    "approximation_factor": {"approximation_factor": 0.7},
    "node_limit": {"node_limit": 1},
    "max_thresholds": {"max_thresholds": None},
}


@dataclass(frozen=True, eq=False)
class Problem:
    """What a row of values asks for."""

    row: Row
    seed: int = 0

    def __getitem__(self, factor: str) -> str:
        return self.row[factor]

    @cached_property
    def rows(self) -> Rows:
        """The rows, as plain cells."""
        # Chance lets few terms pass, unless they tell much.
        noise = 0.1 if self["n_terms"] == "auto" else 0.35
        return make_rows(self["columns"], self["loss"], self["rows"], self.seed, noise=noise)

    @property
    def belonging(self) -> dict[str, Any]:
        """The groups of the rows, if there are any, as an argument; two rows each, under names."""
        groups = [f"group {number // 2}" for number in range(len(self.rows))]
        return {"groups": groups} if self["rows"] == "groups" else {}

    @property
    def is_joint(self) -> bool:
        """Whether all weights are refitted."""
        return self["strategy"] != "stagewise"

    @property
    def fit_intercept(self) -> bool:
        """Whether there is an intercept."""
        return self["fit_intercept"] == "True"

    @property
    def is_polished(self) -> bool:
        """Whether terms are exchanged."""
        return self["strategy"] in ("polished", "global")

    @property
    def beats_chance(self) -> bool:
        """Whether chance decides on the number of terms, and not cross-validation."""
        return self["n_terms"] == "auto" and self["operation"] != "CV estimator"

    @property
    def n_terms(self) -> int:
        """The largest number of terms."""
        return MAX_AUTO_TERMS if self["n_terms"] == "auto" else N_TERMS

    # The truth

    @cached_property
    def all_weights(self) -> np.ndarray:
        """What each row counts: weights of rows and of classes, and exposures."""
        rows = self.rows
        weights = np.ones(len(rows)) if rows.sample_weight is None else rows.sample_weight.copy()
        if self["rows"].startswith("class_weight"):
            factors = CLASS_WEIGHTS[self["loss"]]
            if "balanced" in self["rows"]:
                names, counts = np.unique(rows.y, return_counts=True)
                shares = len(rows) / (len(names) * counts)
                factors = dict(zip(names.tolist(), shares.tolist(), strict=True))
            weights *= np.array([factors[label] for label in rows.y.tolist()])
        return weights if rows.exposure is None else weights * rows.exposure

    @cached_property
    def counted(self) -> np.ndarray:
        """Which rows count."""
        return self.all_weights > 0

    @cached_property
    def target(self) -> np.ndarray:
        """Targets, per unit of exposure."""
        exposure, y = self.rows.exposure, self.rows.y
        # Classes have no rates, which is for the estimator to say.
        return y if exposure is None or y.dtype.kind == "U" else y / exposure

    @cached_property
    def truth(self) -> Truth:
        """Target and loss of the rows that count."""
        return Truth(
            self["loss"],
            self.target[self.counted],
            self.all_weights[self.counted],
            fit_intercept=self.fit_intercept,
        )

    @cached_property
    def atoms(self) -> list[Atom]:
        """All conditions."""
        return terms.atoms_of(self["columns"], self.rows.cells, self.counted)

    @property
    def max_conditions(self) -> int:
        """The longest rule."""
        return int(self["max_conditions"])

    @property
    def min_coverage(self) -> float:
        """The smallest weight that a rule covers."""
        return float(_LIMITS[self["limits"]].get("min_coverage", 0.0))

    @cached_property
    def limits(self) -> Limits:
        """What rules may be made of."""
        absent = {name for name, cost in self.costs.items() if cost == np.inf}
        groups = tuple(frozenset(names.split()) - absent for names in _GROUPS[self["features"]])
        sign = 1 if self["signs"] == "weight_signs" else 0
        return Limits(groups, self.directions, sign, self.costs, self.truth.n_outputs)

    @cached_property
    def directions(self) -> dict[str, int]:
        """Features with which predictions only rise or fall."""
        if self["signs"] != "monotonic_cst":
            return {}
        return {"x0": 1} | ({"x2": -1} if self["columns"] in _IN_ORDER else {})

    @cached_property
    def costs(self) -> dict[str, float]:
        """What features cost, so that it matters: a share of the best gain without costs."""
        if self["costs"] == "none":
            return {}
        if self["costs"] == "feature_costs=inf":
            return {"x2": np.inf}
        gain = float(self.first_gains(self._free_sets).max())
        return {"x1": 0.1 * gain, "x2": 0.25 * gain}

    @cached_property
    def _free_sets(self) -> Sets:
        free = Limits(n_outputs=self.truth.n_outputs)
        sets = terms.all_sets(self.atoms, free, self.max_conditions, self.all_weights)
        return sets.part(self._covers_enough(sets))

    def _covers_enough(self, sets: Sets) -> np.ndarray:
        """Return which terms cover enough rows; slopes are about all of them."""
        is_enough = sets.values @ self.truth.weights >= self.min_coverage * (1 - 1e-12)
        return is_enough | sets.is_slope

    def first_gains(self, sets: Sets) -> np.ndarray:
        """Compute what terms gain beside no other, in the output where they gain most."""
        truth = self.truth
        others = np.zeros((0, len(truth.weights))) if self.is_joint else None
        found = [
            truth.gains(sets.values, truth.start, output, others)[0]
            for output in range(truth.n_outputs)
        ]
        return np.max(found, axis=0)

    @property
    def has_slopes(self) -> bool:
        """Whether terms may be slopes; where conditions are given, they are not."""
        return self["slopes"] == "True" and self["columns"] != "conditions"

    @cached_property
    def lines(self) -> list[Line]:
        """All slopes: the package chooses the knots, and nothing else."""
        if not self.has_slopes:
            return []
        table = self["table"] if self["table"] not in IN_PARTS else "pandas"
        slopes = candidate_slopes(
            in_memory(self.rows, table, self["columns"]).X,
            max_thresholds=self.parameters_of_columns.get("max_thresholds", 7),
            categorical_features=self.parameters_of_columns.get("categorical_features", ()),
            sample_weight=self.all_weights,
        )
        known: dict[tuple[str, Any, Any], Any] = {}
        knots: dict[str, set[Any]] = {}
        for position, name in enumerate(slopes.names):
            for place, pair in enumerate(slopes.pairs):
                if max(pair) < len(slopes.features[position].knots):
                    slope = slopes.slope(position, place)
                    knots.setdefault(name, set()).update({slope.lower, slope.upper})
                    known[name, slope.lower, slope.upper] = slope.missing
        in_order = {name: sorted(ends, key=terms.number_of) for name, ends in knots.items()}
        return terms.all_lines(in_order, lambda *ends: known[ends])

    @property
    def parameters_of_columns(self) -> dict[str, Any]:
        """The parameters that conditions and slopes depend on."""
        return _LIMITS[self["limits"]] | self._columns()

    @cached_property
    def sets(self) -> Sets:
        """All terms that a model may have."""
        cells, lines = self.rows.cells, self.lines
        of = self.atoms, self.limits, self.max_conditions, self.all_weights
        sets = terms.all_sets(*of, lines, cells)
        return sets.part(self._covers_enough(sets))

    def prices(self, raw: np.ndarray) -> Prices:
        """Tell what length and chance cost, where these are the raw predictions."""
        noise = self.truth.noise(raw) if self.beats_chance else 0.0
        n_lines = sum(line.is_of(self.rows.cells, self.counted) for line in self.lines)
        return Prices(float(self["brevity"]), noise, len(self.atoms), n_lines)

    @cached_property
    def good_rules(self) -> list[tuple[Atom, ...]]:
        """Conjunctions that may be rules, the best first; no two for the same rows or the rest."""
        gains, sets = self.first_gains(self.sets), self.sets
        found: dict[Key, tuple[Any, ...]] = {}
        for place in np.argsort(-gains, kind="stable").tolist():
            atoms, key = sets.atoms[place], sets.keys[place]
            rest = (sets.values[place] == 0.0).tobytes()
            if atoms and not sets.is_slope[place] and key not in found and rest not in found:
                found[key] = atoms
        return list(found.values())

    def good_rule(self, number: int) -> tuple[Atom, ...]:
        """Take one of the good rules, or the last one."""
        return self.good_rules[min(number, len(self.good_rules) - 1)]

    def written(self, number: int) -> str:
        """Write one of the good rules as people do."""
        return self.text(self.good_rule(number))

    @staticmethod
    def text(atoms: tuple[Atom, ...]) -> str:
        """Write a conjunction as people do."""
        return " & ".join(atom.text for atom in atoms)

    def good_slope(self, number: int) -> Line:
        """Take one of the slopes that may be terms and gain most by themselves."""
        if not self.has_slopes:
            return Line("x0", 0.75, 2.25, 1.5 if self["columns"] == "missing values" else None, 2)
        gains, sets = self.first_gains(self.sets), self.sets
        places = [n for n in np.argsort(-gains, kind="stable").tolist() if sets.is_slope[n]]
        [line] = sets.atoms[places[min(number, len(places) - 1)]]
        assert isinstance(line, Line)
        return line

    @staticmethod
    def slope(line: Line) -> Slope:
        """Make a slope of the package."""
        ends = line.lower, line.upper
        return Slope(line.column, *ends, 0.0, missing=line.missing, n_conditions=line.n_conditions)

    @cached_property
    def barred(self) -> set[Key]:
        """The terms that no model is to have, as the rows that count show them."""
        if self["terms"] == "excluded slope":
            return {self.good_slope(0).key}
        if self["terms"] != "excluded rule":
            return set()
        covered = np.ones(len(self.rows), dtype=bool)
        for atom in self.good_rule(0):
            covered &= atom.covered
        covered = covered[self.counted]
        has_rest = self.is_joint and self.fit_intercept
        return {covered.tobytes(), *([(~covered).tobytes()] if has_rest else [])}

    # The estimator

    @property
    def loss_parameter(self) -> Any:
        """The parameter of that name."""
        if self["loss"] == "own loss":
            return brute.OwnLoss()
        return "auto" if self["loss"] in CLASSES else self["loss"]

    def parameters(self) -> dict[str, Any]:
        """List the parameters of the estimator that are not the default."""
        chosen: dict[str, Any] = {"n_terms": "auto" if self["n_terms"] == "auto" else N_TERMS}
        chosen |= {"slopes": self["slopes"] == "True", "brevity": float(self["brevity"])}
        chosen["max_conditions"] = self.max_conditions
        chosen |= {"strategy": self["strategy"], "fit_intercept": self.fit_intercept}
        chosen |= {"loss": self.loss_parameter, "search": self["search"]}
        if self["loss"] == "positive='no'":
            chosen["positive"] = "no"
        return chosen | self.parameters_of_columns | self._constraints() | self._rows()

    def _columns(self) -> dict[str, Any]:
        columns = self["columns"]
        if columns == "categories='sets'":
            return {"categories": "sets"}
        if columns == "date_parts":
            return {"date_parts": list(terms.PARTS)}
        if columns == "conditions":
            return {"conditions": [Condition(*condition) for condition in terms.GIVEN]}
        if columns == "ordered categories" and self["table"] not in ("pandas", "Dask"):
            return {"categorical_features": {"x2": "ordered"}}
        return {}

    def _constraints(self) -> dict[str, Any]:
        chosen: dict[str, Any] = {}
        if self["features"] != "free":
            chosen["interaction_cst"] = _FEATURES[self["features"]]
        if self["signs"] == "monotonic_cst":
            chosen["monotonic_cst"] = self.directions
        if self["signs"] == "weight_signs":
            chosen["weight_signs"] = "positive"
        if self.costs:
            chosen["feature_costs"] = self.costs
        if self["terms"] == "initial rule":
            chosen["initial_terms"] = [self.written(2)]
        if self["terms"] == "initial slope":
            chosen["initial_terms"] = [self.slope(self.good_slope(2)).text()]
        if self["terms"] == "excluded rule":
            chosen["excluded_terms"] = [self.written(0)]
        if self["terms"] == "excluded slope":
            chosen["excluded_terms"] = [self.slope(self.good_slope(0))]
        return chosen

    def _rows(self) -> dict[str, Any]:
        if not self["rows"].startswith("class_weight"):
            return {}
        is_balanced = "balanced" in self["rows"]
        return {"class_weight": "balanced" if is_balanced else CLASS_WEIGHTS[self["loss"]]}

    def estimator(self, **changes: Any) -> Any:
        """Make the estimator."""
        is_classifier = self["loss"] in CLASSES
        parameters = self.parameters() | changes
        if self["operation"] == "CV estimator":
            kind = RuleBoostingClassifierCV if is_classifier else RuleBoostingRegressorCV
            return kind(**parameters, cv=3)
        return (RuleBoostingClassifier if is_classifier else RuleBoostingRegressor)(**parameters)

    def placed(self, folder: Path) -> tuple[Placed, Placed]:
        """Put the rows where the estimator finds them, and into memory."""
        if self["table"] in IN_PARTS:
            return in_parts(self.rows, self["table"], folder)
        whole = in_memory(self.rows, self["table"], self["columns"])
        return whole, whole
