"""The best term of one output: the best rule, or a slope that is worth more."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from laconic._util.parallel import n_workers
from laconic._util.types import Floats, Integers
from laconic.candidates.candidates import CandidateConditions
from laconic.candidates.constraints import Constraints
from laconic.candidates.slopes import FoundSlope, SlopeCandidates
from laconic.search import QueryFamilies, SearchProblem, SearchResult, SearchStatus, search
from laconic.search.brevity import Pricing
from laconic.terms.conditions import Query
from laconic.terms.slopes import Slope

# Objectives that differ by no more than this fraction differ by rounding errors.
ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class TermSearch:
    """The terms that a model may have, and what they are worth.

    Parameters
    ----------
    candidates : CandidateConditions
        The conditions of rules.
    slopes : SlopeCandidates or None
        The slopes; None for rules only.
    constraints : Constraints or None
        The features that terms may use, the signs of their weights, and their costs.
    brevity : float
        Gains are divided by size ** brevity.
    """

    candidates: CandidateConditions
    slopes: SlopeCandidates | None
    constraints: Constraints | None
    brevity: float

    def cost(self, form: Query | Slope) -> float:
        """Return the cost of the features that a term uses."""
        return 0.0 if self.constraints is None else self.constraints.cost(form)

    def by_chance(self, form: Query | Slope, noise: float, n_searched: int = 0) -> float:
        """Compute what the best of all rules of the same length, or slopes, gains by chance.

        Even a single slope gains something. A rule has at least as many conditions as were
        searched, of which some may be merged.
        """
        if isinstance(form, Slope):
            return noise * math.log(max(0 if self.slopes is None else len(self.slopes), 2))
        n_conditions = max(len(form), n_searched)
        return Pricing(0.0, noise, len(self.candidates)).gain(0.0, n_conditions)

    def worth(
        self, form: Query | Slope, gain: float, noise: float = 0.0, n_searched: int = 0
    ) -> float:
        """Compute what a term is worth: its gain after costs and chance, for its size."""
        left = gain - self.cost(form) - self.by_chance(form, noise, n_searched)
        size = form.n_conditions if isinstance(form, Slope) else max(len(form), n_searched)
        return Pricing(self.brevity).value(left, size)

    def best(
        self,
        problem: SearchProblem,
        output: int | None,
        known: Sequence[Slope],
        noise: float,
        options: Mapping[str, Any],
    ) -> tuple[SearchResult, Slope | None]:
        """Find the best term of an output.

        Parameters
        ----------
        problem : SearchProblem
        output : int or None
            The output, as constraints name it.
        known : sequence of Slope
            Slopes that must not be found.
        noise : float
            Gain of chance per logarithm of the number of terms that are searched.
        options : mapping
            Keyword arguments of :func:`laconic.search.search`. A cutoff is for both kinds of terms.

        Returns
        -------
        result : SearchResult
            The query, and a bound on what all terms of both kinds are worth.
        slope : Slope or None
            The best term if it is a slope. The query is empty then.
        """
        n_jobs = n_workers(options.get("n_jobs", 1))
        slope = self._best_slope(problem, output, known, noise, n_jobs)
        if slope is not None and options.get("method", "optimal") == "optimal":
            # No more than rules that are as good is of interest.
            least = options.get("cutoff") or 0.0
            if options.get("stop_above_cutoff") and slope.value > least:
                above = SearchResult((), slope.value, math.inf, SearchStatus.CUTOFF)
                return above, slope.slope
            options = {**options, "cutoff": max((1.0 - ROUNDING) * slope.value, least)}
        result = search(
            problem, families=self._queries(output), brevity=self.brevity, noise=noise, **options
        )
        if slope is None or not _is_before(slope, result):
            return result, None
        return _of_slope(slope, result), slope.slope

    def _best_slope(
        self,
        problem: SearchProblem,
        output: int | None,
        known: Sequence[Slope],
        noise: float,
        n_jobs: int,
    ) -> FoundSlope | None:
        slopes = self.slopes
        if slopes is None or not slopes.features:
            return None
        signs, costs = self._of_slopes(output)
        by_chance = self.by_chance(Slope("", 0.0, 1.0, 0.0), noise)

        def worth(gains: Floats, n_conditions: Integers) -> Floats:
            left = gains - costs[:, np.newaxis] - by_chance
            return np.asarray(left / (1.0 + n_conditions) ** self.brevity, dtype=np.float64)

        return slopes.best(problem, worth, signs, known, n_jobs)

    def _of_slopes(self, output: int | None) -> tuple[Integers, Floats]:
        """Return the signs of the weights of slopes, by feature, and the costs of the features."""
        assert self.slopes is not None
        names, constraints = self.slopes.names, self.constraints
        if constraints is None:
            return np.zeros(len(names), dtype=np.int64), np.zeros(len(names))
        forms = [Slope(name, 0.0, 1.0, 0.0) for name in names]
        signs = [constraints.signs_of(form, output) for form in forms]
        costs = [
            constraints.cost(form) if constraints.are_allowed(form) and allowed else np.inf
            for form, allowed in zip(forms, signs, strict=True)
        ]
        needed = [min(allowed) if len(allowed) == 1 else 0 for allowed in signs]
        return np.array(needed, dtype=np.int64), np.array(costs)

    @cached_property
    def _allowed(self) -> dict[int | None, QueryFamilies]:
        return {}

    def _queries(self, output: int | None) -> QueryFamilies | None:
        """Return the queries that rules of an output may have; None for all."""
        if self.constraints is None:
            return None
        if output not in self._allowed:
            conditions = self.candidates.conditions
            self._allowed[output] = self.constraints.allowed(conditions, output)
        return self._allowed[output]


def _is_before(slope: FoundSlope, rule: SearchResult) -> bool:
    """Check whether a slope is worth more than a rule, or as much and is smaller."""
    is_smaller = slope.slope.n_conditions < len(rule.query)
    factor = 1.0 + ROUNDING if is_smaller else 1.0 - ROUNDING
    return rule.objective_value < factor * slope.value


def _of_slope(slope: FoundSlope, rules: SearchResult) -> SearchResult:
    """Return the certificate of a slope that is better than all rules that a search has found."""
    bound, status = max(rules.bound, slope.value), rules.status
    if status is SearchStatus.CUTOFF and (1.0 - ROUNDING) * rules.bound > slope.value:
        # The caller was interested in better terms only: rules may be better than the slope.
        return replace(rules, query=(), objective_value=slope.value)
    is_proven = status in (SearchStatus.OPTIMAL, SearchStatus.CUTOFF)
    if is_proven or (bound <= slope.value and status is not SearchStatus.INTERRUPTED):
        bound = slope.value
        status = rules.status if status is SearchStatus.HEURISTIC else SearchStatus.OPTIMAL
    return replace(rules, query=(), objective_value=slope.value, bound=bound, status=status)
