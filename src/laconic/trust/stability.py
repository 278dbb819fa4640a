"""Stability: how often terms come back when the rows are drawn again.

The whole procedure is repeated on bootstrap resamples, each of which is a function of the seed and
its number alone. A resample says how often each row was drawn, so that no table is copied. What
came back is judged on the rows of the original table.
"""

from __future__ import annotations

import math
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, ClassVar, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from laconic._util.parallel import call_outside, is_worker, map_in_parallel
from laconic._util.types import Bools, Floats, Indices, Values
from laconic.tables.tables import FrameBackend, Table, make_frame
from laconic.terms.formatting import format_count, format_number, format_percent
from laconic.terms.rules import Rule, RuleEnsemble, Term
from laconic.terms.slopes import Slope

# Overlap of the rows of two rules, and correlation of two slopes, from which on they are the same.
SIMILAR_ROWS = 0.8
SIMILAR_VALUES = 0.9
SPREAD_LEVELS = (0.05, 0.25, 0.5, 0.75, 0.95)
# Of the texts of the terms that came back, the share from which on one is called frequent.
FREQUENT = 0.25
# Features that texts name; there may be hundreds that were used once.
MAX_FEATURES_SHOWN = 8
# Draws for a resample that has rows of every class.
_MAX_DRAWS = 1000

TermKind: TypeAlias = Literal["rule", "slope"]


@dataclass(frozen=True)
class TermStability:
    """How often a term came back."""

    text: str
    """The term without its weight; with its class, where there are three or more."""
    kind: TermKind
    n_returned: int
    """Number of resamples in which a term for nearly the same rows came back."""
    nearest: str = ""
    """The most frequent text of these terms; empty if there are none."""
    n_nearest: int = 0
    """How often that one came back."""
    is_complement: bool = False
    """Whether it covers the other rows, with the opposite sign, which says the same."""

    def sentence(self, n_done: int) -> str:
        """Describe how often the term came back.

        Examples
        --------
        >>> print(TermStability("age > 60", "rule", 44, "age > 61", 30).sentence(100))
        In 100 resampled copies, a rule for nearly the same rows came back 44 times; most often as
        'age > 61'.
        """
        what = "a rule for nearly the same rows"
        if self.kind == "slope":
            what = "nearly the same slope"
        times = {1: "once", 2: "twice"}.get(self.n_returned, f"{self.n_returned} times")
        copies = format_count(n_done, "resampled copy", "resampled copies")
        came = f"came back {times}" if self.n_returned else "never came back"
        return f"In {copies}, {what} {came}{self._copy_words}."

    @property
    def _copy_words(self) -> str:
        if not self.n_nearest or (self.nearest == self.text and not self.is_complement):
            return ""
        complement = "the complement of " if self.is_complement else ""
        is_frequent = self.n_nearest > 1 and self.n_nearest >= FREQUENT * self.n_returned
        how = "most often " if is_frequent else "for example " if self.n_returned > 1 else ""
        quote = '"' if "'" in self.nearest else "'"
        return f"; {how}as {complement}{quote}{self.nearest}{quote}"


@dataclass(frozen=True)
class FeatureStability:
    """How often a feature was used."""

    name: str
    n_selected: int
    """Number of resamples whose model has a term with the feature."""


@dataclass(frozen=True)
class StabilityProgress:
    """The state of running refits, for callbacks."""

    n_done: int
    n_resamples: int

    @property
    def line(self) -> str:
        """The state in words."""
        return f"stability: {self.n_done} of {format_count(self.n_resamples, 'resample')}"


@dataclass(frozen=True)
class Stability:
    """What came back when the whole fit was repeated on resampled copies of the table.

    Each resampled copy has about 63 % of the rows of the table, some of them several times. New
    data have none of these rows: terms come back less often there.

    Attributes
    ----------
    row_spread : ndarray of shape (n_rows,) or None
        Standard deviation of the prediction of each row over the resampled models; for classes that
        of the probability of the class that the model predicts. Not in files.
    row_other_class : ndarray of shape (n_rows,) or None
        Share of the resampled models that predict another class; None for numbers. Not in files.
    models : tuple of (int, RuleEnsemble)
        Numbers of the resamples and their models. Not in files.
    """

    n_resamples: int
    """How many were asked for."""
    n_done: int
    """How many there are: fewer than that after Ctrl-C."""
    random_state: int
    has_groups: bool
    """Whether whole groups of rows were drawn."""
    terms: tuple[TermStability, ...]
    """One for each term of the model."""
    features: tuple[FeatureStability, ...]
    """The features that any resampled model uses, the most frequent first."""
    sizes: tuple[int, ...]
    """The number of terms of each resampled model."""
    spread: tuple[float, ...]
    """Quantiles of `row_spread`: 5, 25, 50, 75 and 95 %."""
    other_class: float | None = None
    """Mean of `row_other_class`; None for numbers."""
    row_spread: Floats | None = field(default=None, compare=False, repr=False)
    row_other_class: Floats | None = field(default=None, compare=False, repr=False)
    models: tuple[tuple[int, RuleEnsemble], ...] = field(default=(), compare=False, repr=False)
    origin: str = field(default="", compare=False, repr=False)
    """Identifies the rows, the parameters and the seed, to go on with the same ones."""

    def __post_init__(self) -> None:
        for problem in self._problems():
            raise ValueError(problem)

    def _problems(self) -> list[str]:
        """List what cannot be true of any answer."""
        n_done = self.n_done
        counts = [(f"terms[{n}].n_returned", each.n_returned) for n, each in enumerate(self.terms)]
        counts += [
            (f"features[{n}].n_selected", each.n_selected) for n, each in enumerate(self.features)
        ]
        found = [
            f"{name} must be at most n_done, {n_done}. Got {count}."
            for name, count in counts
            if not 0 <= count <= n_done
        ]
        found += [
            f"terms[{n}].n_nearest must be at most n_returned, {each.n_returned}, and 0 only if "
            f"that is 0. Got {each.n_nearest}."
            for n, each in enumerate(self.terms)
            if not min(each.n_returned, 1) <= each.n_nearest <= each.n_returned
        ]
        if not 1 <= n_done <= self.n_resamples:
            found.append(f"n_done must be from 1 to n_resamples. Got {n_done}.")
        if len(self.sizes) != n_done:
            found.append(f"sizes must have {n_done} items, as n_done. Got {len(self.sizes)}.")
        is_ascending = all(one <= other for one, other in pairwise((0.0, *self.spread)))
        if len(self.spread) != len(SPREAD_LEVELS) or not is_ascending:
            found.append(
                f"spread must be {len(SPREAD_LEVELS)} ascending numbers of at least 0. Got "
                f"{list(self.spread)}."
            )
        if self.other_class is not None and not 0.0 <= self.other_class <= 1.0:
            found.append(f"other_class must be in the range [0, 1]. Got {self.other_class}.")
        return found

    heading: ClassVar[str] = "found again"

    @property
    def cells(self) -> list[str]:
        """How often each term came back."""
        return [f"{term.n_returned} of {self.n_done}" for term in self.terms]

    @property
    def legend(self) -> str:
        """What the shares mean."""
        copies = format_count(self.n_done, "resampled copy", "resampled copies")
        return (
            f"found again: in how many of {copies} of the table, random draws of its rows, a "
            "similar term was found. With entirely new data, it is found less often."
        )

    @property
    def sentences(self) -> list[str]:
        """A sentence for each term."""
        return [term.sentence(self.n_done) for term in self.terms]

    def __str__(self) -> str:
        return "\n".join([self._head, *self._term_lines, self._feature_line, *self._model_lines])

    @property
    def _head(self) -> str:
        copies = format_count(self.n_done, "resampled copy", "resampled copies")
        groups = ", drawn by whole groups," if self.has_groups else ""
        rest = ""
        if self.n_done < self.n_resamples:
            rest = f" ({self.n_resamples} were asked for)"
        what = "these terms, or terms for nearly the same rows, came back"
        return f"In {copies} of this table{groups}{rest} {what}:"

    @property
    def _term_lines(self) -> list[str]:
        width = max([len(str(term.n_returned)) for term in self.terms], default=0)
        lines = [
            f" {term.n_returned:>{width}} {'time ' if term.n_returned == 1 else 'times'}  "
            f"{term.text}{term._copy_words}"
            for term in self.terms
        ]
        return lines or [" The model has no terms."]

    @property
    def _feature_line(self) -> str:
        shown = self.features[:MAX_FEATURES_SHOWN]
        words = [f"{each.name} in {each.n_selected}" for each in shown]
        n_hidden = len(self.features) - len(shown)
        if n_hidden:
            most = self.features[len(shown)].n_selected
            words.append(f"{n_hidden} more in at most {most}")
        return f"Features used: {', '.join(words) or 'none'}."

    @property
    def _model_lines(self) -> list[str]:
        fewest, most = min(self.sizes), max(self.sizes)
        sizes = format_count(most, "term") if fewest == most else f"{fewest} to {most} terms"
        lines = [f"The resampled models have {sizes}."]
        least, _, middle, _, largest = (format_number(each, 2) for each in self.spread)
        what = "Predictions" if self.other_class is None else "Predicted probabilities"
        lines.append(
            f"{what} of single rows vary from copy to copy with a standard deviation of {middle} "
            f"(median; {least} to {largest} in 9 of 10 rows)."
        )
        if self.other_class is not None:
            share = format_percent(self.other_class)
            lines.append(f"A row gets another class than by the model in {share} of the copies.")
        lines.append(
            "Resampled copies share rows with this table: with new data, terms come back less "
            "often."
        )
        return lines

    def to_frame(self, backend: FrameBackend | None = None) -> Any:
        """How often each term came back, as a DataFrame.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"} or None, default=None
            Library of the result; None takes the first that is installed.

        Returns
        -------
        frame : pandas.DataFrame, polars.DataFrame or pyarrow.Table
            Columns term (counted from 1), kind, text, n_returned, frequency, nearest (the most
            frequent text of the terms that came back), n_nearest and is_complement.
        """
        columns: dict[str, list[Any]] = {
            "term": [*range(1, len(self.terms) + 1)],
            "kind": [term.kind for term in self.terms],
            "text": [term.text for term in self.terms],
            "n_returned": [term.n_returned for term in self.terms],
            "frequency": [term.n_returned / self.n_done for term in self.terms],
            "nearest": [term.nearest for term in self.terms],
            "n_nearest": [term.n_nearest for term in self.terms],
            "is_complement": [term.is_complement for term in self.terms],
        }
        return make_frame(columns, backend=backend)

    def features_to_frame(self, backend: FrameBackend | None = None) -> Any:
        """How often each feature was used, as a DataFrame.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"} or None, default=None
            Library of the result; None takes the first that is installed.

        Returns
        -------
        frame : pandas.DataFrame, polars.DataFrame or pyarrow.Table
            Columns feature, n_selected and frequency; the most frequent first.
        """
        columns: dict[str, list[Any]] = {
            "feature": [each.name for each in self.features],
            "n_selected": [each.n_selected for each in self.features],
            "frequency": [each.n_selected / self.n_done for each in self.features],
        }
        return make_frame(columns, backend=backend)


def draw_rows(
    number: int,
    random_state: int,
    units: Indices,
    is_usable: Callable[[Bools], bool],
) -> Indices:
    """Draw a resample: how often it has each row.

    Parameters
    ----------
    number : int
        Of the resample; with the seed, it determines the draw.
    random_state : int
    units : ndarray of shape (n_rows,)
        What is drawn as a whole, numbered from 0: rows, or groups of rows. Rows of a negative
        number are never drawn.
    is_usable : callable
        Whether a model can be fitted to some rows; if not, it is drawn again.

    Examples
    --------
    >>> draw_rows(0, 0, np.array([0, 0, 1, 2, -1]), np.any).tolist()
    [1, 1, 0, 2, 0]
    """
    rng = np.random.default_rng(np.random.SeedSequence(random_state, spawn_key=(number,)))
    n_units = int(units.max()) + 1
    for _ in range(_MAX_DRAWS):
        drawn = rng.integers(n_units, size=n_units)
        # The last entry is that of the rows that are never drawn.
        times = np.append(np.bincount(drawn, minlength=n_units), 0)[units]
        if is_usable(times > 0):
            return times
    raise ValueError(
        f"No resample with rows of every class was found in {_MAX_DRAWS} draws. Some class is in "
        "very few of the rows or groups that are drawn. Leave it out, or merge it with another."
    )


def repeat_fit(
    fit: Callable[[int], RuleEnsemble],
    n_resamples: int,
    known: Mapping[int, RuleEnsemble],
    tell: Callable[[StabilityProgress], Any] | None = None,
    *,
    n_jobs: int | None = None,
) -> dict[int, RuleEnsemble]:
    """Fit models to resamples side by side, besides those that are known.

    Ctrl-C, or a true value of `tell`, ends the work and keeps the models that there are.
    """
    found = {number: known[number] for number in sorted(known) if number < n_resamples}
    missing = [number for number in range(n_resamples) if number not in found]
    is_stopped = False

    def keep(number: int, ensemble: RuleEnsemble) -> None:
        nonlocal is_stopped
        found[number] = ensemble
        if tell is not None and tell(StabilityProgress(len(found), n_resamples)):
            is_stopped = True

    def fit_one(number: int) -> None:
        if not is_stopped:
            call_outside(keep, number, fit(number))

    try:
        with warnings.catch_warnings():
            # Each is about one of many models, none of which is shown.
            warnings.simplefilter("ignore")
            map_in_parallel(fit_one, missing, n_jobs=n_jobs)
    except KeyboardInterrupt:
        if not found or is_worker():
            raise
    return {number: found[number] for number in sorted(found)}


class Match(NamedTuple):
    """How similar another term is."""

    similarity: float
    is_complement: bool = False


NO_MATCH = Match(0.0)


def match_terms(
    term: Term, values: Values, other: Term, other_values: Values, *, has_intercept: bool
) -> Match:
    """Compare two terms by what they add to the same rows.

    Rules are compared by the Jaccard index of the rows that they cover. Beside an intercept, a rule
    says the same as its complement with the opposite sign; then the index of the rows that they do
    not cover counts as well, and the smaller one is taken, so that it does not matter which side
    was written. Slopes of the same feature and sign are compared by the correlation of their
    values. Terms that differ in more than that are not similar at all.

    Examples
    --------
    >>> from laconic.terms.conditions import Condition, Query
    >>> ages = [[age] for age in range(50, 70)]
    >>> old = Rule(Query((Condition("x0", ">", 60),)), 1.0)
    >>> young = Rule(Query((Condition("x0", "<=", 61),)), -1.0)
    >>> match_terms(old, old.values(ages), young, young.values(ages), has_intercept=True)
    Match(similarity=0.888..., is_complement=True)
    """
    is_same_sign = (term.weight < 0) == (other.weight < 0)
    if term.output != other.output:
        return NO_MATCH
    if isinstance(term, Slope) and isinstance(other, Slope):
        is_comparable = term.feature == other.feature and is_same_sign
        return Match(_correlation(values, other_values)) if is_comparable else NO_MATCH
    if not (isinstance(term, Rule) and isinstance(other, Rule)):
        return NO_MATCH
    rows, other_rows = values.astype(bool), other_values.astype(bool)
    if not has_intercept:
        return Match(_overlap(rows, other_rows)) if is_same_sign else NO_MATCH
    if not is_same_sign:
        other_rows = ~other_rows
    similarity = min(_overlap(rows, other_rows), _overlap(~rows, ~other_rows))
    return Match(similarity, not is_same_sign)


def _overlap(rows: Bools, others: Bools) -> float:
    """Compute the Jaccard index of two sets of rows."""
    n_all = int(np.count_nonzero(rows | others))
    return int(np.count_nonzero(rows & others)) / n_all if n_all else 1.0


def _correlation(values: Values, others: Values) -> float:
    deviations = values - values.mean(), others - others.mean()
    # Scaled, as squares of small or large values are not numbers.
    one, other = (each / (np.abs(each).max(initial=0.0) or 1.0) for each in deviations)
    size = math.sqrt(float(one @ one) * float(other @ other))
    return float(one @ other) / size if size > 0.0 else 0.0


@dataclass(frozen=True, eq=False)
class Original:
    """The model that is asked about, and the rows of its table."""

    ensemble: RuleEnsemble
    table: Table
    counted: Bools
    """Rows of positive weight; others do not count."""
    has_intercept: bool
    scores: Callable[[Floats], Floats]
    """Returns the prediction of each row for raw predictions; the probability of the class that the
    model predicts, where there are classes."""
    labels: Callable[[Floats], NDArray[Any]] | None
    """Returns the class of each row for raw predictions; None where there are no classes."""

    def values(self, ensemble: RuleEnsemble) -> Values:
        """Compute the values of the terms of a model, of shape (n_rows, n_terms)."""
        return ensemble.values(ensemble.readable(self.table))


def make_stability(
    original: Original,
    found: Mapping[int, RuleEnsemble],
    *,
    n_resamples: int,
    random_state: int,
    has_groups: bool,
    origin: str = "",
) -> Stability:
    """Compare the models of resamples with the original one, on the rows of its table."""
    ensemble, counted = original.ensemble, original.counted
    own_values = original.values(ensemble)
    of_rows = own_values[counted]
    spread = _Spread(original, _raw_predictions(ensemble, own_values))
    copies: list[Counter[tuple[str, bool]]] = [Counter() for _ in ensemble]
    features: Counter[str] = Counter()
    for other in found.values():
        values = original.values(other)
        spread.add(_raw_predictions(other, values))
        features.update(other.used_features)
        for place, copy in _copies(original, other, of_rows, values[counted]):
            copies[place][copy] += 1
    names = ensemble.feature_names or ()
    order = {name: place for place, name in enumerate(names)}
    ranked = sorted(features.items(), key=lambda each: (-each[1], order.get(each[0], 0), each[0]))
    row_spread, row_other_class = spread.result()
    return Stability(
        n_resamples=n_resamples,
        n_done=len(found),
        random_state=random_state,
        has_groups=has_groups,
        terms=tuple(
            _term_stability(ensemble, term, counts)
            for term, counts in zip(ensemble, copies, strict=True)
        ),
        features=tuple(FeatureStability(name, count) for name, count in ranked),
        sizes=tuple(map(len, found.values())),
        spread=tuple(map(float, np.quantile(row_spread[counted], SPREAD_LEVELS))),
        other_class=None if row_other_class is None else float(row_other_class[counted].mean()),
        row_spread=row_spread,
        row_other_class=row_other_class,
        models=tuple(found.items()),
        origin=origin,
    )


class Pair(NamedTuple):
    """A term of another model that is most similar to one of the original model."""

    match: Match
    place: int
    """Its position in the other model."""


def similar_terms(
    original: Original, other: RuleEnsemble, values: Values, other_values: Values
) -> dict[int, Pair]:
    """Pair terms of the original model, by position, with terms of another one.

    The most similar ones first, and each of them once: a term of the other model is not the return
    of two.
    """
    pairs = []
    for place, term in enumerate(original.ensemble):
        for other_place, candidate in enumerate(other):
            match = match_terms(
                term,
                values[:, place],
                candidate,
                other_values[:, other_place],
                has_intercept=original.has_intercept,
            )
            if match.similarity > 0.0:
                pairs.append((-match.similarity, place, other_place, match))
    found: dict[int, Pair] = {}
    taken: set[int] = set()
    for _, place, other_place, match in sorted(pairs):
        if place not in found and other_place not in taken:
            found[place] = Pair(match, other_place)
            taken.add(other_place)
    return found


def _copies(
    original: Original, other: RuleEnsemble, values: Values, other_values: Values
) -> Iterator[tuple[int, tuple[str, bool]]]:
    """Yield the terms that came back: position, text, and whether it is that of a complement."""
    for place, pair in similar_terms(original, other, values, other_values).items():
        is_slope = isinstance(original.ensemble.terms[place], Slope)
        if pair.match.similarity >= (SIMILAR_VALUES if is_slope else SIMILAR_ROWS):
            yield place, (_full_text(other, other.terms[pair.place]), pair.match.is_complement)


def _full_text(ensemble: RuleEnsemble, term: Term) -> str:
    """Write a term without its weight, with its class where there are several."""
    output, text = ensemble.output_of(term), ensemble.text(term)
    if not output:
        return text
    return f"for {output}{' if' if isinstance(term, Rule) else ''} {text}"


def _term_stability(
    ensemble: RuleEnsemble, term: Term, copies: Counter[tuple[str, bool]]
) -> TermStability:
    # Counters keep the order of the resamples among equals.
    best: Sequence[tuple[tuple[str, bool], int]] = copies.most_common(1)
    (nearest, is_complement), n_nearest = best[0] if best else (("", False), 0)
    return TermStability(
        text=_full_text(ensemble, term),
        kind="slope" if isinstance(term, Slope) else "rule",
        n_returned=copies.total(),
        nearest=nearest,
        n_nearest=n_nearest,
        is_complement=is_complement,
    )


def _raw_predictions(ensemble: RuleEnsemble, values: Values) -> Floats:
    raw_predictions = ensemble.start(len(values))
    for place, term in enumerate(ensemble):
        ensemble.add_to(raw_predictions, term, values[:, place])
    return raw_predictions


class _Spread:
    """Variance of predictions and counts of other classes, model by model, without keeping them."""

    def __init__(self, original: Original, own_raw: Floats) -> None:
        self.original, self.n_models = original, 0
        labels = original.labels
        self.own_labels = None if labels is None else labels(own_raw)
        # Differences from the model, not predictions: those of large numbers lose digits.
        self.start = original.scores(own_raw)
        self.mean = np.zeros(len(own_raw))
        self.squares = np.zeros(len(own_raw))
        self.others = np.zeros(len(own_raw))

    def add(self, raw_predictions: Floats) -> None:
        """Take the raw predictions of another model into account."""
        self.n_models += 1
        differences = self.original.scores(raw_predictions) - self.start
        steps = differences - self.mean
        self.mean += steps / self.n_models
        self.squares += steps * (differences - self.mean)
        if self.original.labels is not None:
            self.others += self.original.labels(raw_predictions) != self.own_labels

    def result(self) -> tuple[Floats, Floats | None]:
        """Return the standard deviation, and the share of other classes, of each row."""
        spread = np.sqrt(self.squares / max(self.n_models - 1, 1))
        shares = None if self.own_labels is None else self.others / self.n_models
        for each in (spread, shares):
            if each is not None:
                each.setflags(write=False)
        return spread, shares
