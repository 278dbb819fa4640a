"""Could chance have produced a term? The same search on shuffled targets, for each term.

The best of millions of useless terms looks good, too. How good, the same search tells for targets
to which the features have no relation beyond that of the terms before it. The share of such targets
that have a term at least as good is a p-value by permutation; it presumes nothing about the
distribution of the target.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from laconic._util.checks import is_whole, require
from laconic._util.parallel import map_in_parallel, n_workers
from laconic._util.types import Floats, Integers
from laconic.boosting import Rounds, State
from laconic.boosting.settings import form_of
from laconic.boosting.term_search import ROUNDING
from laconic.candidates.candidates import CandidateConditions
from laconic.search import SearchStatus
from laconic.tables.tables import FrameBackend, make_frame
from laconic.terms.formatting import format_count
from laconic.trust.null_targets import NullTargets, null_targets

MAX_EXCEEDING = 5
"""After that many copies with a term as good, there is no need for more."""
METHODS = {
    "permutation": "the target was exchanged between rows",
    "residuals": "what the terms before it leave of the target was exchanged between rows",
    "classes": "classes were drawn from the probabilities that the terms before it give",
    "penalised classes": "classes were drawn from the penalised probabilities that the terms "
    "before it give, as these separate the classes",
    "cells": "the target was exchanged between rows that the terms before it do not distinguish",
}
"""How copies were made, in words."""
NO_METHODS = ("given", "interrupted", "impossible")
"""Why there are none."""
# The tail is extrapolated from no fewer values, and to no smaller p: their mean and standard
# deviation would be too inexact.
LEAST_FOR_TAIL = 50
LEAST_EXTRAPOLATED = 1e-6
# The values of the first copies tell whether those of the others will be needed.
N_FIRST = 10
# Copies for each of several threads, before the next look at how many were as good.
BATCH = 4

Draw = tuple[bool, float | None]


def _p_text(p: float, n_digits: int = 2) -> str:
    """Write a p-value with few digits, and without an exponent.

    Examples
    --------
    >>> _p_text(5 / 34), _p_text(0.05435), _p_text(3.1e-6, 1), _p_text(1.0)
    ('0.15', '0.054', '0.000003', '1')
    """
    return np.format_float_positional(p, n_digits, fractional=False, trim="-")


@dataclass(frozen=True)
class TermChance:
    """How often shuffled copies of the training table had a term as good as one of the model."""

    text: str
    """The term without its weight, and the class that it is about, of three or more."""
    method: str
    """How copies were made: "permutation", "residuals", "classes", "penalised classes" or "cells";
    or why there are none: "given", "interrupted" or "impossible"."""
    n_draws: int = 0
    """Number of copies that were searched."""
    n_exceeding: int = 0
    """How many of them had a term at least as good."""
    extrapolated_p: float | None = None
    """Where no copy had one: an estimate by a Gumbel distribution with the mean and the variance of
    their best values, no smaller than one in a million."""
    reason: str = ""
    """Why copies are impossible, in words."""

    @property
    def p(self) -> float | None:
        """The p-value; None where there are no copies.

        With b of B copies as good it is (b + 1) / (B + 1); where five ended the search, it is five
        divided by the number of copies until then.
        """
        if self.n_draws == 0:
            return None
        if self.n_exceeding >= MAX_EXCEEDING:
            return self.n_exceeding / self.n_draws
        return (self.n_exceeding + 1) / (self.n_draws + 1)

    @property
    def is_searched(self) -> bool:
        """Whether copies were searched."""
        return self.n_draws > 0

    @property
    def words(self) -> str:
        """A sentence about the copies."""
        if self.method == "given":
            return "The term was given, not searched for."
        if self.method == "interrupted":
            return "Interrupted before enough copies were searched."
        if self.method == "impossible":
            return f"No copies can be made. {self.reason}"
        copies = format_count(self.n_draws, "shuffled copy", "shuffled copies")
        if self.n_exceeding == 0:
            return f"In {copies} of the table, none had a term as good."
        return f"{self.n_exceeding} of {copies} of the table had a term as good."

    def __str__(self) -> str:
        if self.p is None:
            return f"{self.text}: {self.words}"
        p = f"p = {_p_text(self.p)}"
        if self.extrapolated_p is not None:
            p += f", by extrapolation about {_p_text(self.extrapolated_p, 1)}"
        return f"{self.text}: {self.words} ({p})"


@dataclass(frozen=True)
class Chance(Sequence[TermChance]):
    """How often chance alone produces terms as good as those of a model.

    A small p-value says that chance alone seldom does. It does not say that the term is the right
    one, nor how large its effect is on new rows. That of a term after others presumes these.

    Examples
    --------
    >>> terms = (TermChance("age > 65", "permutation", 99), TermChance("bmi > 30", "given"))
    >>> answer = Chance(terms, n_permutations=99, random_state=0)
    >>> print(answer)
    Could chance have produced these terms?
    1. age > 65: In 99 shuffled copies of the table, none had a term as good. (p = 0.01)
    2. bmi > 30: The term was given, not searched for.
    >>> answer[0].p, answer[1].p, answer.is_complete
    (0.01, None, True)
    """

    terms: tuple[TermChance, ...]
    """One for each term of the model, in its order."""
    n_permutations: int
    """Largest number of copies for a term."""
    random_state: int
    """The seed."""
    n_groups: int | None = None
    """Number of groups that were exchanged as a whole; None where single rows were."""

    @property
    def is_complete(self) -> bool:
        """Whether all terms were looked at, which Ctrl-C may have prevented."""
        return all(term.method != "interrupted" for term in self.terms)

    heading: ClassVar[str] = "p (shuffled)"

    @property
    def cells(self) -> list[str]:
        """The p-value of each term."""
        return ["-" if term.p is None else _p_text(term.p) for term in self.terms]

    @property
    def sentences(self) -> list[str]:
        """A sentence for each term."""
        return [term.words for term in self.terms]

    @property
    def legend(self) -> str:
        """What the p-values mean."""
        return (
            "p (shuffled): how easily chance alone gives a term as good, estimated from up to "
            f"{self.n_permutations} copies of the table with shuffled targets. Small values speak "
            "for the term."
        )

    def __getitem__(self, index: Any) -> Any:
        return self.terms[index]

    def __len__(self) -> int:
        return len(self.terms)

    def to_frame(self, backend: FrameBackend | None = None) -> Any:
        """Return a DataFrame with one row per term.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"} or None, default=None
            Library of the result; None takes the first that is installed.

        Returns
        -------
        frame : pandas.DataFrame, polars.DataFrame or pyarrow.Table
            Columns term (number, counted from 1), text, p, extrapolated_p, n_draws, n_exceeding
            and method.
        """
        names = ("text", "p", "extrapolated_p", "n_draws", "n_exceeding", "method")
        columns: dict[str, list[Any]] = {"term": [*range(1, len(self) + 1)]}
        for name in names:
            columns[name] = [getattr(term, name) for term in self.terms]
        for name in ("p", "extrapolated_p"):
            columns[name] = [math.nan if value is None else value for value in columns[name]]
        return make_frame(columns, backend=backend)

    def __str__(self) -> str:
        if not self.terms:
            return "The model has no terms that chance could have produced."
        lines = [f"{number}. {term}" for number, term in enumerate(self.terms, start=1)]
        return "\n".join(["Could chance have produced these terms?", *lines])


@dataclass(frozen=True)
class ChanceProgress:
    """The progress of a computation of chance, for callbacks."""

    number: int
    """The term in question, counted from 1."""
    n_terms: int
    n_draws: int
    """Number of copies that were searched for it."""
    n_exceeding: int
    """How many of them had a term at least as good."""
    n_permutations: int
    """Largest number of copies."""

    @property
    def line(self) -> str:
        """A line about the copies so far."""
        return (
            f"chance, term {self.number} of {self.n_terms}: {self.n_draws} of at most "
            f"{self.n_permutations} copies, {self.n_exceeding} with a term as good"
        )

    @property
    def is_last(self) -> bool:
        """Whether the term is done."""
        return self.n_exceeding >= MAX_EXCEEDING or self.n_draws >= self.n_permutations


Callback = Callable[[ChanceProgress], Any]
CandidatesOf = Callable[[Floats, Floats | None], CandidateConditions]


def chance(
    rounds: Rounds,
    state: State,
    *,
    groups: Integers | None = None,
    of_classes: Mapping[float, float] | None = None,
    candidates_of: CandidatesOf | None = None,
    is_mixed: bool = False,
    n_permutations: int = 99,
    random_state: int = 0,
    n_jobs: int | None = None,
    callback: Callback | None = None,
) -> Chance:
    """Search shuffled copies of the training table for terms as good as those of a model.

    The copies for the first term have permuted targets. Those for a later one keep what the terms
    before it explain, see `null_targets`. Each copy is searched as the training table was, beside
    the terms before it, which are refitted to the copy. Where terms were exchanged for better ones
    after they were found, a term is judged beside those before it, too; it need not be the best one
    there, so that its p-value errs on the safe side.

    Parameters
    ----------
    rounds : Rounds
        As for the fit.
    state : State
        The model, on the scale of the rounds.
    groups : int array of shape (n_rows,), default=None
        Groups of rows, from 0, that are exchanged as a whole.
    of_classes : dict of float to float, default=None
        Factors of the weights by target, where classes have weights.
    candidates_of : callable, default=None
        Makes the conditions for a target and weights, where they depend on these.
    is_mixed : bool, default=False
        Whether terms may have been found with other settings, or on a part of the rows. They are
        then worth no more than the best term of the search.
    n_permutations : int, default=99
        Largest number of copies for a term. Five that have a term as good end the search.
    random_state : int, default=0
        The seed. Each copy has its own, so that the result depends neither on threads nor on the
        other terms.
    n_jobs : int or None, default=None
        Copies that are searched side by side.
    callback : callable, default=None
        Called with a `ChanceProgress` now and then; a true return value stops.

    Returns
    -------
    answer : Chance
        If Ctrl-C or the callback ended it, without the terms that were not done.

    Examples
    --------
    >>> from laconic.boosting import boost
    >>> from laconic.candidates.candidates import candidate_conditions
    >>> from laconic.losses import SquaredLoss
    >>> from laconic.terms.rules import RuleEnsemble
    >>> candidates = candidate_conditions([[float(n)] for n in range(10)])
    >>> y = np.array([5.0, 4.0, 5.0, 4.0, 5.0, 1.0, 0.0, 1.0, 0.0, 1.0])
    >>> rounds = Rounds(candidates, y, SquaredLoss(), l2_regularization=1.0, is_joint=True)
    >>> [state] = boost(rounds, rounds.begin(State(RuleEnsemble())), n_terms=1)
    >>> print(chance(rounds, state, n_permutations=19))
    Could chance have produced these terms?
    1. x0 <= 4: In 19 shuffled copies of the table, none had a term as good. (p = 0.05)
    """
    require(
        is_whole(n_permutations, 1),
        "n_permutations",
        "a whole number in the range [1, inf)",
        n_permutations,
    )
    is_seed = is_whole(random_state, 0)
    require(is_seed, "random_state", "a whole number in the range [0, inf)", random_state)
    # Of searches, the limits of approximation and of chance: all terms are compared by their value.
    options = {**rounds.search_options, "approximation_factor": 1.0}
    rounds = replace(rounds, beats_chance=False, search_options=options)
    seeds = np.random.SeedSequence(int(random_state)).spawn(len(state.ensemble))
    of_terms: list[TermChance] = []
    is_stopped = False
    for position, seed in enumerate(seeds):
        term = state.ensemble[position]
        output = state.ensemble.output_of(term)
        text = f"{f'for {output}: ' if output else ''}{state.ensemble.text(form_of(term))}"
        if state.results[position].status is SearchStatus.GIVEN:
            of_terms.append(TermChance(text, "given"))
            continue
        found = None
        if not is_stopped:
            one = _OneTerm(
                *(rounds, state, position, groups, of_classes, candidates_of), is_mixed=is_mixed
            )
            try:
                found = one.found(text, seed, int(n_permutations), n_jobs, callback)
            except KeyboardInterrupt:
                if not any(term.is_searched for term in of_terms):
                    raise
            is_stopped = found is None
        of_terms.append(found or TermChance(text, "interrupted"))
    n_groups = None if groups is None else len(np.unique(groups))
    return Chance(tuple(of_terms), int(n_permutations), int(random_state), n_groups)


class _OneTerm:
    """Compares a term with the best ones of shuffled copies."""

    def __init__(
        self,
        rounds: Rounds,
        state: State,
        position: int,
        groups: Integers | None,
        of_classes: Mapping[float, float] | None,
        candidates_of: CandidatesOf | None,
        *,
        is_mixed: bool,
    ) -> None:
        self.candidates_of = candidates_of
        self.rounds, self.position, self.n_terms = rounds, position, len(state.ensemble)
        self.start = state.first(position)
        self.deciding = rounds  # with a cutoff, as soon as it is known
        self.groups, self.of_classes = groups, of_classes
        self.term, self.values = state.ensemble[position], state.columns[position]
        self.result, self.is_mixed = state.results[position], is_mixed
        self.has_cutoffs = rounds.search_options.get("method", "optimal") == "optimal"

    def found(
        self,
        text: str,
        seed: np.random.SeedSequence,
        n_permutations: int,
        n_jobs: int | None,
        callback: Callback | None,
    ) -> TermChance | None:
        """Search copies until enough is known; None if the callback stops it."""
        made = null_targets(self.rounds, self.start, self.groups, self.of_classes)
        if isinstance(made, str):
            return TermChance(text, "impossible", reason=made)
        method, targets = made
        least = (1.0 - ROUNDING) * self._own_value()
        options = {**self.rounds.search_options, "cutoff": least, "stop_above_cutoff": True}
        self.deciding = replace(self.rounds, search_options=options)
        seeds = seed.spawn(n_permutations)
        has_tail = n_permutations >= LEAST_FOR_TAIL and least > 0.0
        draws: list[Draw] = []
        # Threads wait for each other at the end of a batch.
        n_side_by_side = BATCH * n_workers(n_jobs) if n_workers(n_jobs) > 1 else 1
        n_exceeding, with_values = 0, has_tail
        while n_exceeding < MAX_EXCEEDING and len(draws) < n_permutations:
            end = min(len(draws) + n_side_by_side, n_permutations)
            if len(draws) < N_FIRST:
                end = min(end, N_FIRST)
            elif with_values and len(draws) == N_FIRST:
                with_values = n_exceeding == 0 and _is_far(draws, least, n_permutations)
            draws += self._draws(targets, seeds[len(draws) : end], least, with_values, n_jobs)
            draws = _until_enough(draws)
            n_exceeding = sum(is_exceeding for is_exceeding, _ in draws)
            told = ChanceProgress(
                *(self.position + 1, self.n_terms, len(draws), n_exceeding, n_permutations)
            )
            if callback is not None and callback(told) and not told.is_last:
                return None
        tail = None
        if has_tail and n_exceeding == 0:
            missing = [n for n, (_, value) in enumerate(draws) if value is None]
            others = self._draws(targets, [seeds[n] for n in missing], least, True, n_jobs)
            known = [value for _, value in (*draws, *others) if value is not None]
            tail = extrapolated(known, least)
        return TermChance(text, method, len(draws), n_exceeding, tail)

    def _own_value(self) -> float:
        """Compute what the term is worth beside those before it."""
        before = self._fitted(self.rounds)
        value = self.rounds.value_beside(before, self.term, self.values, self.result)
        if self.is_mixed:
            value = min(value, self.rounds.search(before).result.objective_value)
        return max(value, 0.0)

    def _fitted(self, rounds: Rounds) -> State:
        """Fit the terms before it to a target, as rounds do."""
        return rounds.refit(self.start)[0] if rounds.is_joint else rounds.stepped(self.start)

    def _draws(
        self,
        targets: NullTargets,
        seeds: Sequence[np.random.SeedSequence],
        least: float,
        with_values: bool,
        n_jobs: int | None,
    ) -> list[Draw]:
        def draw(seed: np.random.SeedSequence) -> Draw:
            return self._draw(targets, np.random.default_rng(seed), least, with_values)

        return map_in_parallel(draw, seeds, n_jobs=n_jobs)

    def _draw(
        self, targets: NullTargets, rng: np.random.Generator, least: float, with_values: bool
    ) -> Draw:
        """Search a copy: whether it has a term as good, and maybe what the best one is worth."""
        if least <= 0.0:
            return True, None
        target = targets.draw(rng)
        copy, deciding = (each.with_target(*target) for each in (self.rounds, self.deciding))
        if self.candidates_of is not None:
            candidates = self.candidates_of(*target)
            copy, deciding = (replace(each, candidates=candidates) for each in (copy, deciding))
        before = self._fitted(copy)
        if self.has_cutoffs and not with_values:
            result = deciding.search(before).result
            if result.objective_value > least:
                return True, None
            if result.bound <= least:
                return False, None
            # A limit has ended the search, as it may have done in the fit: what does it find then?
        value = copy.search(before).result.objective_value
        return value > least, value


def _until_enough(draws: list[Draw]) -> list[Draw]:
    """Leave out copies after those that are enough, which were searched beside them."""
    n_exceeding = 0
    for position, (is_exceeding, _) in enumerate(draws):
        n_exceeding += is_exceeding
        if n_exceeding == MAX_EXCEEDING:
            return draws[: position + 1]
    return draws


def _is_far(draws: Sequence[Draw], least: float, n_permutations: int) -> bool:
    """Guess from a few copies whether none of them all will have a term as good."""
    p = extrapolated([value for _, value in draws if value is not None], least)
    return p is not None and p < 1.0 / (n_permutations + 1)


def extrapolated(values: Sequence[float], least: float) -> float | None:
    """Estimate how often the best value of a copy reaches another one, by a Gumbel distribution.

    Examples
    --------
    >>> values = np.random.default_rng(0).gumbel(size=99)
    >>> round(extrapolated(values, 7.0), 4), round(-math.expm1(-math.exp(-7.0)), 4)
    (0.0013, 0.0009)
    """
    deviation = float(np.std(values, ddof=1)) if len(values) > 1 else 0.0
    if not deviation > 0.0:
        return None
    scale = deviation * math.sqrt(6.0) / math.pi
    mode = float(np.mean(values)) - np.euler_gamma * scale
    exponent = min(-(least - mode) / scale, 700.0)
    p = -math.expm1(-math.exp(exponent))
    return float(min(max(p, LEAST_EXTRAPOLATED), 1.0 / (len(values) + 1)))
