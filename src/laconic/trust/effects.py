"""Effects of the found terms on rows that the search has not seen.

The weights of a model are too large for other rows: its terms were chosen because they fit the
training rows well. On rows that had no part in the choice, the same terms are fitted without a
penalty, and intervals have the errors that they claim.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from laconic._util.types import Bools, Integers, Values
from laconic.boosting import TrainingData
from laconic.boosting.refit import ensemble_risk, refitted
from laconic.boosting.settings import form_of
from laconic.tables.tables import FrameBackend, make_frame
from laconic.terms.formatting import INTERCEPT, class_text, format_count, format_weight
from laconic.terms.rules import Line, RuleEnsemble
from laconic.terms.slopes import Slope
from laconic.trust.intervals import format_share
from laconic.trust.sandwich import robust_estimates

FEWEST_ROWS = 10
"""A term gets no interval if it covers, or does not cover, fewer rows."""
FEWEST_OF_EACH = 5
"""The same for rows of each class, or for rows where something was counted, and for groups."""

Rows: TypeAlias = Literal["new", "held out"]


@dataclass(frozen=True)
class Effect:
    """What a term, or an intercept, adds on rows that the search has not seen."""

    number: int
    """Of the term, from 1; 0 for an intercept."""
    text: str
    """The term without its weight, as models print it."""
    output: str
    """The class that the weight is added to, of three or more; else empty."""
    weight: float
    """In the model; that of a slope, and its estimate, are per step, as models print them."""
    n_rows: int
    """Number of the new rows that it covers; of a slope, those above its lower end."""
    estimate: float | None = None
    """The weight that suits the new rows best, without penalty; None where there is no interval."""
    error: float | None = None
    """Its robust standard error."""
    lower: float | None = None
    """Where the interval begins."""
    upper: float | None = None
    """Where it ends."""
    reason: str = ""
    """Why there is no interval."""

    def words_at(self, level: float) -> str:
        """Write the estimate with its interval, or why there is none.

        Examples
        --------
        >>> Effect(1, "if age > 65", "", 4.81, 120, 3.12, 1.15, 1.22, 5.02).words_at(0.9)
        '+3.1 (90%: 1.2 to 5.0)'
        """
        if self.estimate is None:
            return f"no interval, as {self.reason}"
        estimate, lower, upper = self.texts
        return f"{estimate} ({format_share(level)}: {lower} to {upper})"

    @property
    def texts(self) -> tuple[str, str, str]:
        """Estimate and ends of the interval, to the second digit of the error."""
        if self.estimate is None or self.lower is None or self.upper is None:
            return "", "", ""
        error = self.error or 0.0
        if not 1e-8 < error < 1e16:
            return format_weight(self.estimate), f"{self.lower:.4g}", f"{self.upper:.4g}"
        n_decimals = max(1 - math.floor(math.log10(error)), 0)
        lower, upper = (
            f"{round(end, n_decimals) + 0.0:,.{n_decimals}f}" for end in (self.lower, self.upper)
        )
        return f"{self.estimate:+,.{n_decimals}f}", lower, upper

    @property
    def weight_text(self) -> str:
        """The weight in the model, with as many decimals as the estimate, if these say enough."""
        n_decimals = len(self.texts[0].partition(".")[2])
        is_near = math.isclose(round(self.weight, n_decimals), self.weight, rel_tol=0.05)
        if self.estimate is None or not is_near:
            return format_weight(self.weight)
        return f"{self.weight:+,.{n_decimals}f}"


@dataclass(frozen=True)
class Effects:
    """Effects of all terms on rows that the search has not seen, with robust intervals."""

    level: float
    """Share of such intervals that contain the weight which is best for all rows like these."""
    rows: Rows
    """"new" for rows of the caller's, "held out" for those that `honest` kept from the search; the
    weights of the model are then those estimated here."""
    n_rows: int
    """Number of these rows, of positive weight."""
    effects: tuple[Effect, ...]
    """Intercepts first, then the terms in order."""
    n_groups: int | None = None
    """Number of groups of rows that belong together, where groups were given."""
    is_checked: bool = True
    """Whether it was checked that the rows are not the training rows."""

    @property
    def terms(self) -> tuple[Effect, ...]:
        """The effects of terms, in their order."""
        return tuple(effect for effect in self.effects if effect.number > 0)

    heading: ClassVar[str] = "on unseen rows"

    @property
    def cells(self) -> list[str]:
        """The estimate of each term, with its interval."""
        return [
            "-" if effect.estimate is None else "{} ({} to {})".format(*effect.texts)
            for effect in self.terms
        ]

    @property
    def legend(self) -> str:
        """What the intervals mean."""
        return (
            f"on unseen rows: the weight estimated from {self._rows_words} not used to find the "
            f"terms, with {format_share(self.level)} confidence intervals; one that contains 0 "
            "leaves it open whether the term has an effect."
        )

    @property
    def sentences(self) -> list[str]:
        """A sentence for each term."""
        return [
            f"On {self._rows_words} not used to find it: {effect.words_at(self.level)}"
            f"{self._in_model(effect)}."
            for effect in self.terms
        ]

    def _in_model(self, effect: Effect) -> str:
        if self.rows == "held out":
            return ""
        return f"; in the model: {effect.weight_text}"

    @property
    def remark(self) -> str:
        """A sentence about weights that are fitted to these rows; empty if others are."""
        if self.rows != "held out":
            return ""
        return f"Weights are fitted to {self._rows_words} not used to find the terms."

    @property
    def _rows_words(self) -> str:
        groups = "" if self.n_groups is None else f" in {format_count(self.n_groups, 'group')}"
        return f"{format_count(self.n_rows, 'row')}{groups}"

    def __str__(self) -> str:
        level = format_share(self.level)
        head = f"Effects on {self._rows_words} not used to find the terms, with {level} intervals:"
        names = ("effect", "from", "to", "in the model", "rows", "")
        lines = [names, *map(_cells, self.effects)]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        table = [
            "  ".join((*(c.rjust(w) for c, w in zip(line[:-1], widths, strict=False)), line[-1]))
            for line in lines
        ]
        return "\n".join([head, *(line.rstrip() for line in table), *self._notes()])

    def _notes(self) -> Iterator[str]:
        for effect in self.effects:
            if effect.reason:
                name = f"term {effect.number}" if effect.number else "the intercept"
                yield f"No interval for {name}{_of_class(effect)}: {effect.reason}."
        if not self.is_checked:
            yield (
                "It was not checked that these rows are not the training rows, as nothing is "
                "known about those."
            )

    def is_about(self, ensemble: RuleEnsemble, *, fit_intercept: bool) -> bool:
        """Check whether the effects are those of a model, with its weights."""
        return [(e.number, e.text, e.output, e.weight) for e in self.effects] == [
            (line.number, _text(line), line.output, line.weight)
            for line in _lines(ensemble, fit_intercept=fit_intercept)
        ]

    def with_weights(self, ensemble: RuleEnsemble) -> tuple[Effect, ...]:
        """Return the effects of the same terms with other weights in the model."""
        lines = _lines(ensemble, fit_intercept=len(self.effects) > len(self.terms))
        pairs = zip(self.effects, lines, strict=True)
        return tuple(replace(effect, weight=line.weight) for effect, line in pairs)

    def to_frame(self, backend: FrameBackend | None = None) -> Any:
        """Effects as a DataFrame, one row each.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"} or None, default=None
            Library of the result; None takes the first that is installed.

        Returns
        -------
        frame : pandas.DataFrame, polars.DataFrame or pyarrow.Table
            Columns term (number, 0 for an intercept), class with three or more classes, text,
            weight (in the model), estimate, error, lower, upper, n_rows and reason. Weights of
            slopes are per step of their feature, as the text says.
        """
        import narwhals as nw

        kinds: dict[str, tuple[str, Any]] = {
            "term": ("number", nw.Int64()),
            "class": ("output", nw.String()),
            "text": ("text", nw.String()),
            **{
                name: (name, nw.Float64())
                for name in ("weight", "estimate", "error", "lower", "upper")
            },
            "n_rows": ("n_rows", nw.Int64()),
            "reason": ("reason", nw.String()),
        }
        if not any(effect.output for effect in self.effects):
            del kinds["class"]
        columns = {
            name: [getattr(effect, field) for effect in self.effects]
            for name, (field, _) in kinds.items()
        }
        return make_frame(columns, {name: kind for name, (_, kind) in kinds.items()}, backend)


def _cells(effect: Effect) -> tuple[str, ...]:
    about = f"for {effect.output} " if effect.output else ""
    n_rows, text = f"{effect.n_rows:,}", f"{about}{effect.text}"
    return *(each or "-" for each in effect.texts), effect.weight_text, n_rows, text


def _of_class(effect: Effect) -> str:
    return f" of {effect.output}" if effect.output and not effect.number else ""


def estimate_effects(
    data: TrainingData,
    ensemble: RuleEnsemble,
    *,
    fit_intercept: bool = True,
    groups: NDArray[Any] | None = None,
    level: float = 0.9,
    rows: Rows = "new",
    is_checked: bool = True,
) -> Effects:
    """Fit the terms of a model to rows that the search has not seen, without penalty.

    Intervals have robust errors: squared loss, heteroscedastic of the kind HC3, with Student's
    distribution; other losses, the sandwich with the same correction for rows of much influence,
    with the normal distribution. With groups, errors of rows of a group may be related.

    Parameters
    ----------
    data : TrainingData
        The rows. A row of weight 2 counts as one row of twice the influence, not as two rows.
    ensemble : RuleEnsemble
        The terms, with the weights of the model.
    fit_intercept : bool, default=True
    groups : ndarray of shape (n_rows,) or None, default=None
        Rows with the same value belong together, such as visits of a patient.
    level : float in (0, 1), default=0.9
        Share of intervals that are to contain the best weight.
    rows : {"new", "held out"}, default="new"
        Where the rows come from, for texts.
    is_checked : bool, default=True
        Whether the rows are known not to be the training rows.

    Returns
    -------
    effects : Effects
    """
    columns = [data.values(form_of(term)) for term in ensemble]
    numbers = None
    if groups is not None:
        numbers = np.unique(groups[data.counted], return_inverse=True)[1].reshape(-1)
    found = robust_estimates(data, ensemble, columns, numbers, fit_intercept=fit_intercept)
    n_rows, n_groups = len(data.counted_y), None if numbers is None else int(numbers.max()) + 1
    reach = found.quantile(level)
    effects = []
    for line in _lines(ensemble, fit_intercept=fit_intercept):
        is_term = line.number > 0
        values = columns[line.number - 1] if is_term else np.ones(n_rows, dtype=bool)
        place = line.number - 1 if is_term else len(ensemble) + _position(ensemble, line.output)
        reason = _too_few(data, line, values, numbers, fit_intercept=fit_intercept)
        reason = reason or found.reasons[place]
        step = line.term.step.size if isinstance(line.term, Slope) else 1.0
        interval: dict[str, Any] = {}
        if not reason:
            estimate, error = (float(each[place]) * step for each in (found.weights, found.errors))
            ends = {"lower": estimate - reach * error, "upper": estimate + reach * error}
            interval = {"estimate": estimate, "error": error} | ends
        n_covered = int(np.count_nonzero(values))
        about = line.number, _text(line), line.output, line.weight, n_covered
        effects.append(Effect(*about, **interval, reason=reason))
    return Effects(level, rows, n_rows, tuple(effects), n_groups, is_checked)


def refit_to(
    data: TrainingData,
    ensemble: RuleEnsemble,
    effects: Effects | None,
    l2_regularization: float,
    *,
    fit_intercept: bool,
    signs: Integers | None = None,
) -> RuleEnsemble:
    """Fit the weights of terms to other rows than they were found on.

    There is no penalty, except on terms that the rows cannot determine.

    Parameters
    ----------
    data : TrainingData
        The rows.
    ensemble : RuleEnsemble
        The terms.
    effects : Effects or None
        Which of them the rows determine; None if all are taken to be determined.
    l2_regularization : float
        The penalty on the weights of the others.
    fit_intercept : bool
    signs : int array of shape (n_terms,) or None, default=None
        As in `ensemble_risk`.

    Returns
    -------
    ensemble : RuleEnsemble
        The same terms with other weights.
    """
    is_free = np.ones(len(ensemble), dtype=bool)
    if effects is not None:
        is_free = np.array([e.estimate is not None for e in effects.terms], dtype=bool)
    scale = data.scale
    risk = ensemble_risk(
        scale.ensemble(ensemble),
        [data.values(form_of(term)) for term in ensemble],
        data.counted_y,
        data.loss,
        np.where(is_free[: len(ensemble)], 0.0, l2_regularization),
        data.counted_weights,
        fit_intercept=fit_intercept,
        signs=signs,
    )
    return scale.inverse.ensemble(refitted(scale.ensemble(ensemble), risk)[0])


def _lines(ensemble: RuleEnsemble, *, fit_intercept: bool) -> list[Line]:
    """List the intercepts, if they are fitted, and the terms."""
    names = [output.name for output in ensemble.outputs] or [""]
    starts = [
        Line(0, start, name, [INTERCEPT])
        for start, name in zip(ensemble.intercepts, names, strict=True)
    ]
    terms = [line for line in ensemble.lines if line.number > 0]
    return [*(starts if fit_intercept else []), *terms]


def _position(ensemble: RuleEnsemble, output: str) -> int:
    names = [each.name for each in ensemble.outputs]
    return names.index(output) if output else 0


def _text(line: Line) -> str:
    """Write a line without its weight and its class."""
    text = " & ".join(line.conditions)
    is_rule = line.term is not None and not isinstance(line.term, Slope) and line.term.query
    return f"if {text}" if is_rule else text


def _too_few(
    data: TrainingData,
    line: Line,
    values: Values,
    groups: Integers | None,
    *,
    fit_intercept: bool,
) -> str:
    """Describe which rows are too few to judge a term by; empty if there are enough."""
    is_covered = values != 0.0
    parts = {"it covers": is_covered}
    if line.number > 0 and fit_intercept:
        if isinstance(line.term, Slope):
            distinct, counts = np.unique(values, return_counts=True)
            parts["it differs from its most frequent value in"] = (
                values != distinct[counts.argmax()]
            )
        else:
            parts["it does not cover"] = ~is_covered
    for words, part in parts.items():
        n_rows = int(np.count_nonzero(part))
        if n_rows < FEWEST_ROWS:
            return f"{words} {format_count(n_rows, 'row')}, fewer than {FEWEST_ROWS}"
        if groups is not None:
            n_groups = len(np.unique(groups[part]))
            if n_groups < FEWEST_OF_EACH:
                few = f"rows of {format_count(n_groups, 'group')}, fewer than {FEWEST_OF_EACH}"
                return f"{words} {few}"
        for kind, is_kind in _kinds(data, line):
            n_kind = int(np.count_nonzero(part & is_kind))
            if n_kind < FEWEST_OF_EACH:
                return f"{words} {format_count(n_kind, 'row')} {kind}, fewer than {FEWEST_OF_EACH}"
    return ""


def _kinds(data: TrainingData, line: Line) -> Iterator[tuple[str, Bools]]:
    """Yield kinds of rows without which no weight can be estimated, and which rows those are."""
    target, labels = data.counted_target, data.task.labels
    if labels is not None:
        own = len(labels) - 1
        if line.output:
            own = list(data.task.outputs).index(line.output)
        name = line.output or class_text(labels[own])
        yield f"of {name}", target == own
        yield (
            f"of {'other classes than ' if line.output else 'another class than '}{name}",
            (target != own),
        )
    elif getattr(data.loss, "link", "") == "log":
        yield "with a target above 0", target > 0
