"""A model during a fit, and a term that was found for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from laconic._util.types import Bools, Floats, Values
from laconic.boosting.scale import Scale
from laconic.search import SearchProblem, SearchResult
from laconic.terms.conditions import Query
from laconic.terms.rules import RuleEnsemble
from laconic.terms.slopes import Slope


@dataclass(frozen=True, eq=False)
class State:
    """A model during a fit: its terms, their values in the rows, and their certificates."""

    ensemble: RuleEnsemble
    columns: tuple[Values, ...] = ()
    """The values of each term: the rows that a rule covers, or those of a slope."""
    results: tuple[SearchResult, ...] = ()
    """The certificate of each term."""
    stages: tuple[RuleEnsemble, ...] = ()
    """The models of 0, 1, 2, ... terms that led here."""
    largest_gain: float = 0.0
    """Largest gain of all terms so far, which decides what gain is negligible."""
    n_certified: int | None = None
    """Number of terms before the first one that was found beside a term which has left the model
    since, so that its certificate no longer holds; None if there is no such term."""

    def first(self, n_terms: int) -> State:
        """Return the first terms."""
        return self.only(range(n_terms))

    def without(self, position: int) -> State:
        """Return all terms but one."""
        return self.only([n for n in range(len(self.ensemble)) if n != position])

    def only(self, positions: Sequence[int]) -> State:
        """Return some of the terms."""
        return replace(
            self,
            ensemble=self.ensemble.with_terms(self.ensemble[n] for n in positions),
            columns=tuple(self.columns[n] for n in positions),
            # During its search, a term has no certificate yet.
            results=tuple(self.results[n] for n in positions if n < len(self.results)),
        )

    def divided_by(self, scale: Scale) -> State:
        """Divide all weights, and what is proven about them, by a scale."""
        if scale.exponent == 0:
            return self
        return replace(
            self,
            ensemble=scale.ensemble(self.ensemble),
            stages=tuple(map(scale.ensemble, self.stages)),
            results=tuple(map(scale.objectives, self.results)),
        )


class Barred(NamedTuple):
    """A term that must not be found: rows that no rule may cover exactly, or a slope."""

    what: Bools | Slope
    output: int | None = None
    """None for terms of all outputs."""

    @classmethod
    def of(cls, form: Query | Slope, values: Values, output: int | None = None) -> Barred:
        """Bar a term, given its values."""
        if isinstance(form, Slope):
            return cls(form, output)
        return cls(np.asarray(values, dtype=bool), output)

    def is_of(self, output: int) -> bool:
        """Check whether it bars terms of an output."""
        return self.output in (None, output)


@dataclass(frozen=True, eq=False)
class Found:
    """The best term of all outputs at a position of the model."""

    state: State
    """The terms beside it."""
    raw_predictions: Floats
    problems: tuple[SearchProblem, ...]
    """One for each output."""
    free_problems: tuple[SearchProblem, ...]
    """The same without excluded rules, which given rules may be."""
    output: int
    result: SearchResult
    """The query, if the term is a rule, and the bound for the terms of all outputs."""
    form: Query | Slope
    """The term without its weight."""
    values: Values
    """Its values."""
    standard: Values
    """The same on the scale of rules."""
    noise: float = 0.0
    """Gain of chance per logarithm of the number of terms that were searched."""

    @property
    def problem(self) -> SearchProblem:
        """The search problem of its output."""
        return self.problems[self.output]

    @property
    def gain(self) -> float:
        """Gain of the term if all other weights stay as they are.

        Where other terms determine its values to within rounding, its gain after a refit consists
        of rounding errors.
        """
        stagewise = self.problem.stagewise()
        return stagewise.objective_of(stagewise.value(self.standard))
