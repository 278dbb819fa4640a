"""Parser of terms, in the forms in which models print them.

A rule is ``+0.52 if age > 65 & sex == f``, and a slope ``+0.31 per 10 of age from 25 to 68`` or
``-0.2 per year of booked from 2020-01-01 to 2024-01-01 (2021-07-01 if missing)``. The weight may be
left out: ``age > 65``, ``age from 25 to 68``. With three or more classes a term may name one of
them, ``+0.52 for setosa if petal length > 2``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date, datetime, time
from typing import Any, NamedTuple

from laconic.tables.tables import whole_column
from laconic.tables.times import MOMENTS, TimeKind, kind_of, microseconds
from laconic.terms.conditions import Condition, Query
from laconic.terms.formatting import SLOPE_STEP, UNSIGNED, format_value
from laconic.terms.parsing import (
    DURATION,
    END_OF_NAME,
    MOMENT,
    NUMBER,
    Feature,
    Parser,
    as_query,
    no_feature,
)
from laconic.terms.rules import Rule
from laconic.terms.slopes import STEPS, UNITS, Slope

_WEIGHT = re.compile(rf"([+\-−]?{UNSIGNED})\s+")
_AFTER_WEIGHT = re.compile(rf"(?:if|for)\s|always\s*$|per\s+{SLOPE_STEP}\s")
_STEP = re.compile(rf"per\s+({SLOPE_STEP})\s+")
_PER, _FOR, _IF = (re.compile(rf"{word}\b\s*") for word in ("per", "for", "if"))
_FROM, _TO = (re.compile(rf"\s+{word}\b") for word in ("from", "to"))
_END_OF_NAME = re.compile(r"(?:\s+|(?<=\s))from\b|\s*$")
_AFTER_CLASS = re.compile(r"\s+(?=(?:if|per|always)\b)")
_NUMBERS_FROM = re.compile(r"[^<>=!≤≥≠&∧]*?\sfrom\s+[+\-−.\d]")
_MISSING, _IF_MISSING = re.compile(r"\s*\("), re.compile(r"\s*if\s+missing\s*\)")


class GivenTerm(NamedTuple):
    """A term that somebody has written: what may be left out of it is None."""

    form: Query | Slope
    """The conditions of a rule, or a slope with a weight of 0."""
    weight: float | None = None
    output: int | None = None


def parse_term(
    text: str,
    names: Sequence[str],
    describe: Callable[[str], Feature] = Feature,
    outputs: Sequence[str] = (),
) -> GivenTerm:
    """Read a rule or a slope, with or without its weight.

    Parameters
    ----------
    text : str
    names : sequence of str
        Features that terms may use. Names with spaces need no quotes.
    describe : callable, default=Feature
        Returns what is known about a feature, such as `features_of` a table.
    outputs : sequence of str, default=()
        Names of the classes, where a row has a raw prediction for each of them.

    Examples
    --------
    >>> form, weight, _ = parse_term("+0.31 per 10 of age from 25 to 68", ["age", "sex"])
    >>> print(form.text(), weight)
    age from 25 to 68 0.031
    >>> print(parse_term("age > 65 & sex == f", ["age", "sex"]).form)
    age > 65 & sex == f
    >>> parse_term("age from 68 to 25", ["age"])
    Traceback (most recent call last):
    ...
    ValueError: The upper end must be above the lower one, 68.
      age from 68 to 25
                     ^
    """
    return TermParser(text, names, describe, outputs).term()


class TermParser(Parser):
    """Reads a term from left to right."""

    def __init__(
        self,
        text: str,
        names: Sequence[str],
        describe: Callable[[str], Feature],
        outputs: Sequence[str] = (),
    ) -> None:
        super().__init__(text, names, describe)
        self.outputs = outputs

    def term(self) -> GivenTerm:
        """Read all of the text."""
        self.skip()
        weight = self._weight()
        output = None
        if weight is not None:
            output = self._output()
            if self.match(_IF) is not None:
                return GivenTerm(self.query(), weight, output)
        if self.text[self.place :].strip() == "always":
            return GivenTerm(Query(), weight, output)
        if weight is None and not self._begins_slope():
            return GivenTerm(self.query())
        per_step, slope = self._slope()
        return GivenTerm(slope, None if weight is None else weight / per_step, output)

    def _weight(self) -> float | None:
        found = _WEIGHT.match(self.text, self.place)
        if found is None:
            return None
        is_weight = _AFTER_WEIGHT.match(self.text, found.end()) is not None
        if not is_weight and _PER.match(self.text, found.end()) is not None:
            # Names may begin so, too.
            is_weight = self._next_name() is None and self._next_name(_FROM) is None
        if not is_weight:
            return None
        self.place = found.end()
        return float(found[1].replace("−", "-").replace(",", ""))

    def _output(self) -> int | None:
        """Read the class of a term, if it names one."""
        if self.match(_FOR) is None:
            return None
        for name in sorted(self.outputs, key=len, reverse=True):
            end = self.place + len(name)
            follows = _AFTER_CLASS.match(self.text, end)
            if self.text.startswith(name, self.place) and follows is not None:
                self.place = follows.end()
                return list(self.outputs).index(name)
        if not self.outputs:
            raise self.error("The model has one raw prediction, and no classes to name after 'for'")
        raise self.error(f"Expected one of the classes {', '.join(self.outputs)}")

    def _next_name(self, end: re.Pattern[str] = END_OF_NAME) -> str | None:
        """Return the name that is next, without reading it."""
        place = self.place
        name = self.known_name(end)
        self.place = place
        return name

    def _begins_slope(self) -> bool:
        if _STEP.match(self.text, self.place) is not None:
            return True
        if self._next_name(_FROM) is None:
            # Of a feature that is not known, or of none.
            is_query = self._next_name() is not None
            return not is_query and _NUMBERS_FROM.match(self.text, self.place) is not None
        place = self.place
        self.known_name(_FROM)
        self.match(_FROM)
        self.skip()
        has_end = any(each.match(self.text, self.place) for each in (MOMENT, DURATION, NUMBER))
        self.place = place
        return has_end or self._next_name() is None

    def _slope(self) -> tuple[float, Slope]:
        """Read a slope, and the step that its weight is per, in units of the weight."""
        step = self.match(_STEP)
        is_named = step is not None or self._next_name(_FROM) is not None
        if not is_named and self.match(_PER) is not None:
            raise self.error("Expected a step such as '10 of', 'unit of' or 'year of'")
        place = self.place
        feature = self.describe(self.name(_END_OF_NAME))
        if feature.is_text and feature.time_kind is None:
            raise self.error(f"{feature.name!r} holds texts, which have no slope", place)
        if self.match(_FROM) is None:
            raise self.error(f"Expected 'from' after {feature.name!r}, such as 'from 25 to 68'")
        lower = self._end(feature)
        if self.match(_TO) is None:
            raise self.error("Expected 'to' and the other end")
        self.skip()
        place = self.place
        upper = self._end(feature)
        self._check_kind(lower, upper, place)
        if not _number(lower) < _number(upper):
            raise self.error(
                f"The upper end must be above the lower one, {format_value(lower)}", place
            )
        missing = self._missing(feature, lower, upper)
        self.skip()
        if self.place < len(self.text):
            raise self.error("Expected the end of the slope, or a value such as '(30 if missing)'")
        lower, upper, missing = _alike(lower, upper, missing)
        slope = Slope(feature.name, lower, upper, 0.0, missing=missing)
        size = 1.0 if step is None else self._step_size(step, slope)
        return size, slope

    def _end(self, feature: Feature) -> Any:
        self.skip()
        if feature.time_kind is None and feature.is_text is None:
            # Nothing is known about the feature.
            feature = replace(feature, time_kind=self._time_kind())
        return self.number() if feature.time_kind is None else self.moment(feature)

    def _time_kind(self) -> TimeKind | None:
        """Return the kind of the time that is next, if there is one."""
        found = MOMENT.match(self.text, self.place)
        if found is not None:
            return "time" if ":" in found.group()[:3] else "datetime"
        return None if DURATION.match(self.text, self.place) is None else "duration"

    def _check_kind(self, end: Any, other: Any, place: int) -> None:
        if len({kind_of(each) for each in _alike(end, other)}) > 1:
            raise self.error(f"Expected a value of the same kind as {format_value(end)}", place)

    def _missing(self, feature: Feature, lower: Any, upper: Any) -> Any:
        if self.match(_MISSING) is None:
            return None
        self.skip()
        place = self.place
        value = self._end(feature)
        self._check_kind(lower, value, place)
        if not _number(lower) <= _number(value) <= _number(upper):
            raise self.error(
                "Missing cells must count as a value between "
                f"{format_value(lower)} and {format_value(upper)}",
                place,
            )
        if self.match(_IF_MISSING) is None:
            raise self.error("Expected 'if missing)'")
        return value

    def _step_size(self, step: re.Match[str], slope: Slope) -> float:
        """Return the size of a step, in the units of weights."""
        name = step[1].removesuffix("of").strip()
        kind = slope.time_kind
        if (name in STEPS) != (kind is not None):
            allowed = "'unit of' or '10 of'" if kind is None else "'year of' or 'hour of'"
            held = "numbers" if kind is None else "times"
            raise self.error(
                f"{slope.feature!r} holds {held}. Expected a step such as {allowed}", step.start(1)
            )
        if kind is not None:
            return STEPS[name] / UNITS[kind]
        size = 1.0 if name == "unit" else float(name.replace(",", ""))
        if not size > 0.0:
            raise self.error("Expected a step above 0", step.start(1))
        return size


def _number(end: Any) -> float:
    return microseconds(end) if isinstance(end, MOMENTS) else float(end)


def _alike(*ends: Any) -> tuple[Any, ...]:
    """Write dates as times at midnight if there are times among them."""
    if not any(isinstance(end, datetime) for end in ends):
        return ends
    return tuple(datetime.combine(end, time()) if type(end) is date else end for end in ends)


def as_term(
    term: Any,
    names: Sequence[str],
    describe: Callable[[str], Feature],
    outputs: Sequence[str] = (),
) -> GivenTerm:
    """Read a term: a text, a Rule, a Slope, a Query or a Condition.

    Parameters
    ----------
    term : str, Rule, Slope, Query or Condition
    names : sequence of str
        Features that terms may use.
    describe : callable
        As for `parse_term`.
    outputs : sequence of str, default=()
        Names of the classes, where a row has a raw prediction for each of them.
    """
    if isinstance(term, str):
        return parse_term(term, names, describe, outputs)
    output = term.output if outputs and isinstance(term, Rule | Slope) else None
    if not isinstance(term, Rule | Slope | Query | Condition):
        raise TypeError(
            "A term must be a text such as 'age > 65 & sex == f' or 'age from 25 to 68', a Rule, a "
            f"Slope or a Query. Got {term!r} instead."
        )
    if not isinstance(term, Slope):
        weight = term.weight if isinstance(term, Rule) else None
        return GivenTerm(as_query(term, names, describe), weight, output)
    if whole_column(term.feature, names) not in names:
        raise no_feature(f"The slope '{term.text()}'", term.feature, names)
    return GivenTerm(term.key, term.weight, output)
