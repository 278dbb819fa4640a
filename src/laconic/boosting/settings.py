"""Settings: the parameters that determine a model, given the training data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields, replace
from typing import Any, NamedTuple

import numpy as np

from laconic._util.types import Floats
from laconic.boosting.training_data import TrainingData
from laconic.candidates.candidates import (
    CandidateConditions,
    candidate_conditions,
    given_candidates,
)
from laconic.candidates.constraints import CONSTRAINTS, Constraints
from laconic.candidates.slopes import SlopeCandidates, candidate_slopes
from laconic.losses import ranking_values
from laconic.terms.conditions import Condition, Query
from laconic.terms.rules import Rule, Term
from laconic.terms.slopes import Slope

CONDITION_OPTIONS = (
    "max_thresholds",
    "categories",
    "max_categories",
    "categorical_features",
    "date_parts",
)
"""Parameters that the conditions of a table depend on."""
SEARCH_OPTIONS = (
    "max_conditions",
    "min_coverage",
    "approximation_factor",
    "node_limit",
    "time_limit",
)
"""Parameters of a search, besides its method."""
OWN_SEARCH = "own"
"""Name of a user-defined search method in files."""
CLASS_SETTINGS = ("class_weight", "positive")
"""Settings that estimators of numbers do not have."""


MAX_AUTO_TERMS = 20
"""Largest number of terms where chance decides on it; more are not read."""


class InitialTerm(NamedTuple):
    """A term that a model must have."""

    form: Query | Slope
    """The term without its weight."""
    weight: float | None = None
    """Weight where weights are not refitted; None for the best one."""
    output: int | None = None
    """Output, where there are several; None for the one with the largest gain."""


@dataclass(frozen=True)
class Settings:
    """The parameters that determine a model, given the training data.

    The names are those of the parameters of an estimator. Features are given by their names, rules
    as queries, and conditions as they were used.
    """

    n_terms: int | str
    """The parameter, which may be "auto"."""
    slopes: bool
    brevity: float
    strategy: str
    loss: Any
    """The parameter: a name, "auto" or a loss."""
    l2_regularization: float | str
    """The parameter, which may be "auto"."""
    fit_intercept: bool
    honest: float | None
    """Share of the rows that weights are fitted to, and that terms are not found on."""
    search: Any
    """The name of the method, or one of the caller's own."""
    max_conditions: int | None
    min_coverage: float
    approximation_factor: float
    node_limit: int | str | None
    time_limit: float | None
    max_thresholds: int | None
    categories: str
    max_categories: int | None
    categorical_features: Mapping[str, str]
    """Columns that are categories by request: "nominal" or "ordered"."""
    date_parts: tuple[str, ...]
    conditions: tuple[Condition, ...] | None = None
    """The conditions that were given; None where they were made from the table."""
    constraints: Constraints | None = None
    initial_terms: tuple[InitialTerm, ...] = ()
    excluded_terms: tuple[Query | Slope, ...] = ()
    class_weight: Mapping[Any, float] | str | None = None
    positive: Any = None
    """The one of two classes that positive weights vote for; None for the second one."""
    is_mixed: bool = False
    """Whether some rules were found with other settings, by an earlier fit with `warm_start`."""

    @property
    def beats_chance(self) -> bool:
        """Whether terms are added as long as they are better than chance."""
        return self.n_terms == "auto"

    @property
    def max_terms(self) -> int:
        """Largest number of terms."""
        return MAX_AUTO_TERMS if isinstance(self.n_terms, str) else self.n_terms

    @property
    def is_joint(self) -> bool:
        """Whether weights are refitted after every round."""
        return self.strategy != "stagewise"

    @property
    def is_polished(self) -> bool:
        """Whether rules are exchanged for better ones after boosting."""
        return self.strategy in ("polished", "global")

    @property
    def condition_options(self) -> dict[str, Any]:
        """Parameters of `candidate_conditions`."""
        return {name: getattr(self, name) for name in CONDITION_OPTIONS}

    @property
    def search_options(self) -> dict[str, Any]:
        """Parameters of `laconic.search.search`."""
        return {"method": self.search} | {name: getattr(self, name) for name in SEARCH_OPTIONS}

    def check_search(self) -> None:
        """Refuse a user-defined search method, which the file of a model does not hold."""
        if self.search == OWN_SEARCH:
            raise ValueError(
                "The search method that this model was fitted with is not in its file. Fit it "
                "again with a method that laconic knows, or with the same one."
            )

    def is_same_search(self, other: Settings) -> bool:
        """Check whether both search the same rules by the same objective."""
        names = (
            *("is_joint", "slopes", "brevity", "beats_chance"),
            *("search", "max_conditions", "min_coverage", "approximation_factor"),
            *(*CONDITION_OPTIONS, "conditions", "constraints", "excluded_terms"),
        )
        return all(getattr(self, name) == getattr(other, name) for name in names)

    @property
    def conditions_depend_on_target(self) -> bool:
        """Whether the same rows have other conditions with another target."""
        return self.conditions is None and self.categories == "sets"

    def candidates(self, data: TrainingData, **changes: Any) -> CandidateConditions:
        """Find the conditions that rules may be made of, with some options changed."""
        if data.candidates is not None and not changes:
            return data.candidates
        if self.conditions is not None:
            return given_candidates(data.table, self.conditions, sample_weight=data.weights)
        options = self.condition_options | changes
        orders = self._orders(data) if self.conditions_depend_on_target else []
        return candidate_conditions(
            data.table, **options, sample_weight=data.weights, orders=orders
        )

    def slope_candidates(self, data: TrainingData) -> SlopeCandidates | None:
        """Find the slopes that a model may have; None if it has rules only."""
        if not self.slopes or self.conditions is not None or data.candidates is not None:
            # Who gives conditions wants a model of these. Of tables that are read in parts, the
            # numbers are not at hand.
            return None
        return candidate_slopes(
            data.table,
            max_thresholds=self.max_thresholds,
            categorical_features=self.categorical_features,
            sample_weight=data.weights,
        )

    def _orders(self, data: TrainingData) -> list[tuple[Floats, Floats | None]]:
        start, _ = data.start(fit_intercept=self.fit_intercept)
        constants, weights = np.array(start.intercepts), data.counted_weights
        return ranking_values(data.loss, data.counted_y, constants, weights)

    def parameters(self, labels: list[Any] | None) -> dict[str, Any]:
        """Return the parameters of an estimator that has these settings.

        Parameters
        ----------
        labels : list or None
            The classes, where there are three or more.
        """
        left_out = {"constraints", "is_mixed"}
        if self.search == OWN_SEARCH:
            left_out.add("search")
        left_out |= {name for name in CLASS_SETTINGS if getattr(self, name) is None}
        found = {name: value for name, value in vars(self).items() if name not in left_out}
        if not isinstance(self.n_terms, str):
            # Where the number was chosen, it may be 0.
            found["n_terms"] = max(self.n_terms, 1)
        for name in ("date_parts", "excluded_terms"):
            found[name] = list(found[name]) or None
        found["categorical_features"] = dict(self.categorical_features) or "from_dtype"
        found["initial_terms"] = [_parameter(term, labels) for term in self.initial_terms] or None
        found["conditions"] = None if self.conditions is None else list(self.conditions)
        constraints = {} if self.constraints is None else self.constraints.parameters
        return {**found, **CONSTRAINTS, **constraints}


PLAIN_SETTINGS: dict[str, str] = {
    each.name: str(each.type)
    for each in fields(Settings)
    if each.name == "is_mixed" or (each.default is MISSING and each.name != "loss")
}
"""The settings that are numbers, texts and names of features, with their types."""


def make_term(form: Query | Slope, weight: float, output: int) -> Term:
    """Give a weight and an output to a term."""
    if isinstance(form, Slope):
        return replace(form, weight=weight, output=output)
    return Rule(form, weight, output)


def form_of(term: Term) -> Query | Slope:
    """Return a term without its weight."""
    return term.key if isinstance(term, Slope) else term.query


def _parameter(term: InitialTerm, labels: list[Any] | None) -> Any:
    """Write an initial term as users do."""
    form: Query | Term = term.form
    if term.weight is not None:
        form = make_term(term.form, term.weight, term.output or 0)
    if labels is None or (term.output is None and isinstance(form, Query)):
        return form
    # A Rule or a Slope is for the first class unless something else is said.
    return form, None if term.output is None else labels[term.output]
