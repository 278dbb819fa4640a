"""Parser of conditions, in the form in which models print them.

``age > 65 & sex == "f"``, ``100 < PS <= 180``, ``not paid``, ``income is missing``: conditions are
joined by ``&`` or ``and``, names and values may be in quotes, and ``<`` and ``>=`` are allowed.
`RELATIONS` maps each relation to its reader.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

from laconic._util.words import listed_names, nearest
from laconic.tables.columns import (
    LARGEST_EXACT,
    CategoricalColumn,
    Category,
    FeatureKind,
    TimeColumn,
    feature_kind,
    with_dates,
)
from laconic.tables.tables import Table, whole_column
from laconic.tables.times import (
    DATE_PARTS,
    DAY,
    HOUR,
    MINUTE,
    SECOND,
    Moment,
    TimeKind,
    from_microseconds,
    kind_of,
    microseconds,
)
from laconic.terms.conditions import Condition, Query
from laconic.terms.formatting import OTHER, format_name, format_value, merged

_STRING = re.compile(r"""(['"])(?:\\.|(?!\1).)*\1""")
NUMBER = re.compile(r"[+\-−]?(?:\d[\d_]*\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?![\w.])")
_JOIN = re.compile(r"\s*(?:&&?|∧|and\b|AND\b)\s*")
END_OF_NAME = re.compile(r"\s*(?:[<>=!≤≥≠&∧]|$)|\s+(?:is|in|not\s+in|and|AND)\b")
_END_OF_MEMBER = re.compile(r"\s*[,}]")
MOMENT = re.compile(
    r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?)?|\d\d:\d\d(?::\d\d(?:\.\d+)?)?"
)
DURATION = re.compile(r"([+\-−]?\d+(?:\.\d+)?)\s*(d|h|min|s)\b")
_UNITS = {"d": DAY, "h": HOUR, "min": MINUTE, "s": SECOND}
_END_OF_VALUE = re.compile(r"\s*(?:&|∧|$|[<>=!])|\s+(?:and|AND)\s")
_WORD = re.compile(r"[^\s<>=!≤≥≠&∧{}]+")
_LIMITS = (_STRING, MOMENT, DURATION, NUMBER, _WORD)
_SPELLINGS = {"≤": "<=", "≥": ">=", "≠": "!=", "=": "=="}


@dataclass(frozen=True)
class Feature:
    """What is known about the feature of a condition."""

    name: str
    is_text: bool | None = None
    """None if unknown."""
    categories: tuple[Category, ...] | None = None
    kind: FeatureKind | None = None
    time_kind: TimeKind | None = None
    """For dates in text form, both the kind and the texts are known."""
    order: tuple[Category, ...] = ()
    """Categories in the order of thresholds."""


def features_of(table: Table) -> Callable[[str], Feature]:
    """Return a function that describes the features of a table."""

    def describe(name: str) -> Feature:
        column = table.column(name)
        if not isinstance(column, CategoricalColumn):
            time_kind = column.kind if isinstance(column, TimeColumn) else None
            return Feature(name, False, None, feature_kind(column), time_kind)
        # Rules compare with dates also where a column holds them as text.
        dates = with_dates(column)
        if isinstance(dates, TimeColumn):
            return Feature(name, True, column.categories, None, dates.kind)
        # Also without a declared order: the parameters of an estimator may declare one.
        order = column.order or (column.categories if column.is_text else ())
        return Feature(name, column.is_text, column.categories, feature_kind(column), order=order)

    return describe


def parse_query(
    text: str, names: Sequence[str], describe: Callable[[str], Feature] = Feature
) -> Query:
    """Read a conjunction of conditions.

    Parameters
    ----------
    text : str
    names : sequence of str
        Features that conditions may use. Names with spaces need no quotes.
    describe : callable, default=Feature
        Returns what is known about a feature, such as `features_of` a table.

    Examples
    --------
    >>> print(parse_query('worst area > 880 and sex == "f"', ["worst area", "sex"]))
    worst area > 880 & sex == f
    >>> parse_query("agee > 65", ["age", "sex"])
    Traceback (most recent call last):
    ...
    ValueError: There is no feature 'agee'. Did you mean 'age'?
      agee > 65
      ^
    """
    return Parser(text, names, describe).query()


class Parser:
    """Reads a text from left to right."""

    def __init__(self, text: str, names: Sequence[str], describe: Callable[[str], Feature]) -> None:
        if not isinstance(text, str):
            raise TypeError(f"Conditions must be written as text. Got {text!r} instead.")
        self.text, self.describe = text, describe
        # The longest first, so that "age at entry" is not read as "age". Those that are printed in
        # quotes last: without quotes, another reading may be meant.
        self.names = sorted(names, key=len, reverse=True)
        parts = [f"{part} of {name}" for part in DATE_PARTS for name in self.names]
        self.known = sorted([*self.names, *parts], key=lambda n: (format_name(n) != n, -len(n)))
        self.place = 0

    def query(self) -> Query:
        """Read all conditions."""
        if self.text.strip() == "always":
            return Query()
        conditions: list[Condition] = []
        while True:
            self.skip()
            conditions += self._condition()
            self.skip()
            if self.place == len(self.text):
                return merged(Query(tuple(conditions)))
            if self.match(_JOIN) is None:
                raise self.error("Expected '&' or the end of the rule")

    def match(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """Read the next characters if they match a pattern."""
        found = pattern.match(self.text, self.place)
        if found is not None:
            self.place = found.end()
        return found

    def error(self, message: str, place: int | None = None) -> ValueError:
        """Make an error that shows the place."""
        place = self.place if place is None else place
        return ValueError(f"{message}.\n  {self.text}\n  {' ' * place}^".replace("?.\n", "?\n"))

    def number(self) -> float:
        """Read a number."""
        self.skip()
        found = self.match(NUMBER)
        if found is None:
            raise self.error("Expected a number")
        return float(found.group().replace("−", "-").replace("_", ""))

    def moment(self, feature: Feature) -> Moment:
        """Read a date, a time or a duration."""
        self.skip()
        place = self.place
        if feature.time_kind == "duration":
            span = self.match(DURATION)
            if span is None:
                raise self.error("Expected a duration such as 90 min")
            count = Decimal(span[1].replace("−", "-")) * _UNITS[span[2]]
            return timedelta(microseconds=int(count.to_integral_value()))
        found = self.match(MOMENT)
        try:
            text = "" if found is None else found.group()
            if feature.time_kind == "time":
                return time.fromisoformat(text)
            return (date if len(text) == 10 else datetime).fromisoformat(text)
        except ValueError:
            words = "a time such as 12:30" if feature.time_kind == "time" else "a date: 2024-03-01"
            raise self.error(f"Expected {words}", place) from None

    def values(self, feature: Feature) -> tuple[Any, ...]:
        """Read a set of values in braces."""
        self.skip()
        if self.match(re.compile(r"\{")) is None:
            raise self.error("Expected a set such as {a, b}")
        values = []
        while True:
            values.append(self.value(feature, _END_OF_MEMBER))
            self.skip()
            if self.match(re.compile(r"\}")) is not None:
                return tuple(values)
            if self.match(re.compile(",")) is None:
                raise self.error("Expected ',' or '}'")

    def value(self, feature: Feature, end_of_value: re.Pattern[str] = _END_OF_VALUE) -> Any:
        """Read a value that a feature is compared with."""
        self.skip()
        place = self.place
        quoted = self.match(_STRING)
        if quoted is not None:
            return self._category(feature, _unquoted(quoted), place)
        if feature.time_kind is not None:
            return self.moment(feature)
        end = end_of_value.search(self.text, self.place)
        word = self.text[self.place : end.start() if end else None].strip()
        if not word:
            raise self.error("Expected a value")
        if word.startswith("…"):
            raise self.error("This set is cut. Write all of its values, as str(query) does")
        self.place += len(word)
        if feature.is_text is not True and NUMBER.fullmatch(word):
            return _exact_number(word)
        if feature.is_text is not True and word.lower() in ("true", "false"):
            return word.lower() == "true"
        return self._category(feature, word, place)

    def _category(self, feature: Feature, value: str, place: int) -> str:
        if feature.is_text is False:
            raise self.error(f"{feature.name!r} holds {_words(feature)}, no texts", place)
        # An order may have categories that do not occur.
        known = [c for c in feature.order or feature.categories or () if isinstance(c, str)]
        if known and value not in known:
            if value == OTHER:
                raise self.error(
                    f"'{OTHER}' stands for all categories of {feature.name!r} without conditions "
                    "of their own. List the categories with 'not in', as str(rule.query) does",
                    place,
                )
            near = nearest(value, known)
            hint = f"Did you mean {near!r}?" if near else f"There are {listed_names(known)}"
            raise self.error(f"{feature.name!r} has no category {value!r}. {hint}", place)
        return value

    def skip(self) -> None:
        """Read white space."""
        while self.place < len(self.text) and self.text[self.place].isspace():
            self.place += 1

    def _condition(self) -> list[Condition]:
        place = self.place
        if self.match(re.compile(r"(?:not|NOT)\s+")) is not None:
            name = self.known_name()
            if name is not None and self._is_at_end():
                return [_yes_or_no(self.describe(name), is_yes=False)]
            self.place = place  # a name that begins with "not"
        if self._begins_interval():
            return self._interval()
        feature = self.describe(self.name())
        if self._is_at_end():
            if feature.kind not in (None, "boolean"):
                raise self.error(f"Expected a relation such as '>' after {feature.name!r}")
            return [_yes_or_no(feature, is_yes=True)]
        return self._related(feature)

    def _begins_interval(self) -> bool:
        """Check whether a threshold is next, and then the name of its feature."""
        place = self.place
        found = next(filter(None, map(self.match, _LIMITS)), None)
        relation = None if found is None else self._relation()
        self.skip()
        is_named = self.known_name() is not None
        has_upper = is_named and self._relation() in ("<", "<=")
        self.place = place
        if found is None or relation not in ("<", "<="):
            return False
        limit = _unquoted(found) if found.re is _STRING else found.group()
        if limit in self.known:
            return has_upper
        return is_named or found.re not in (_STRING, _WORD)

    def _interval(self) -> list[Condition]:
        start = self.place
        next(filter(None, map(self.match, _LIMITS)))
        lower = self._relation()
        self.skip()
        feature = self.describe(self.name())
        end, self.place = self.place, start
        found = _threshold(feature, ">" if lower == "<" else ">=", self.limit(feature))
        self.place = end
        if self._is_at_end():
            return [found]
        upper = self._relation()
        if upper not in ("<", "<="):
            raise self.error("Expected '<=' or '<'")
        return [found, _threshold(feature, upper, self.limit(feature))]

    def limit(self, feature: Feature) -> Any:
        """Read a threshold: a number, a time, or one of ordered categories."""
        if feature.order or feature.time_kind is not None:
            return self.value(feature)
        return self.number()

    def _related(self, feature: Feature) -> list[Condition]:
        self.skip()
        place = self.place
        relation = self._relation()
        if relation is None:
            raise self.error(f"Expected a relation, one of {', '.join(RELATIONS)}", place)
        has_order = not feature.is_text or feature.order or feature.time_kind
        if relation in ("<", "<=", ">", ">=") and not has_order:
            raise self.error(
                f"{feature.name!r} holds texts, which have no order: write '==' or '!='", place
            )
        return RELATIONS[relation](self, feature)

    def _relation(self) -> str | None:
        self.skip()
        for relation in sorted([*RELATIONS, *_SPELLINGS], key=len, reverse=True):
            words = r"\s+".join(map(re.escape, relation.split()))
            if self.match(re.compile(words + (r"\b" if relation[-1].isalpha() else ""))):
                return _SPELLINGS.get(relation, relation)
        return None

    def _is_at_end(self) -> bool:
        rest = self.text[self.place :]
        return not rest.strip() or _JOIN.match(rest) is not None

    def known_name(self, end_of_name: re.Pattern[str] = END_OF_NAME) -> str | None:
        """Read the name of a feature; None if there is no known one, before such an end."""
        quoted = _STRING.match(self.text, self.place)
        if quoted is not None:
            name = _unquoted(quoted)
            if name in self.known:
                self.place = quoted.end()
                return name
            return None
        for name in self.known:
            end = self.place + len(name)
            if self.text.startswith(name, self.place) and end_of_name.match(self.text, end):
                self.place = end
                return name
        return None

    def name(self, end_of_name: re.Pattern[str] = END_OF_NAME) -> str:
        """Read the name of a feature."""
        place = self.place
        name = self.known_name(end_of_name)
        if name is not None:
            return name
        quoted = _STRING.match(self.text, place)
        end = end_of_name.search(self.text, place)
        word = self.text[place : end.start() if end else None].strip()
        if quoted is not None:
            word = _unquoted(quoted)
        if not word:
            raise self.error("Expected the name of a feature")
        near = nearest(word, self.names)
        names = listed_names(sorted(self.names))
        hint = f"Did you mean {near!r}?" if near else f"There are {names}"
        raise self.error(f"There is no feature {word!r}. {hint}", place)


def _words(feature: Feature) -> str:
    if feature.time_kind is not None:
        return "times"
    is_boolean = feature.categories is not None and feature.kind == "boolean"
    return "true and false" if is_boolean else "numbers"


def _unquoted(found: re.Match[str]) -> str:
    return str(ast.literal_eval(found.group()))


def _exact_number(text: str) -> int | float:
    """Read a number, a whole one of any size without rounding."""
    text = text.replace("−", "-").replace("_", "")
    try:
        return int(text)
    except ValueError:
        number = float(text)
        return int(number) if number.is_integer() else number


def _threshold(feature: Feature, relation: str, number: Any) -> Condition:
    """Make a condition, which has no relations ``<`` and ``>=``."""
    if number in feature.order:
        place = feature.order.index(number) + (relation in ("<=", ">"))
        is_upper = relation in ("<", "<=")
        values = feature.order[:place] if is_upper else feature.order[place:]
        if not values:
            raise ValueError(
                f"A threshold must leave some categories on its side. Got "
                f"'{format_name(feature.name)} {relation} {format_value(number)}', where the order "
                f"is {listed_names([*map(str, feature.order)])}."
            )
        return Condition(feature.name, "in", values)
    if feature.time_kind is not None:
        if relation in ("<", ">="):
            kind = kind_of(number) or feature.time_kind
            step = DAY if kind == feature.time_kind == "date" else 1
            kind = "date" if step == DAY else "datetime" if kind == "date" else kind
            number = from_microseconds(microseconds(number) - step, kind)
        return Condition(feature.name, "<=" if relation in ("<", "<=") else ">", number)
    if relation in ("<", ">="):
        is_whole = feature.kind is not None and _has_neighbours(number)
        number = number - 1 if is_whole else math.nextafter(number, -math.inf)
        relation = "<=" if relation == "<" else ">"
    return Condition(feature.name, relation, number)


def _has_neighbours(number: float) -> bool:
    """Check whether a number is whole, and a double can hold its neighbours."""
    return float(number).is_integer() and abs(number) < LARGEST_EXACT


def _yes_or_no(feature: Feature, *, is_yes: bool) -> Condition:
    if feature.categories is None and feature.kind == "boolean":
        return Condition(feature.name, ">" if is_yes else "<=", 0)
    return Condition(feature.name, "==", is_yes)


def _read_threshold(relation: str) -> Callable[[Parser, Feature], list[Condition]]:
    return lambda parser, feature: [_threshold(feature, relation, parser.limit(feature))]


def _read_value(relation: str) -> Callable[[Parser, Feature], list[Condition]]:
    def read(parser: Parser, feature: Feature) -> list[Condition]:
        value = parser.value(feature)
        is_integer = feature.categories is None and feature.kind == "integer"
        if relation == "==" and is_integer and isinstance(value, int) and _has_neighbours(value):
            # As the thresholds that models print in this form.
            return [_threshold(feature, ">", value - 1), _threshold(feature, "<=", value)]
        return [Condition(feature.name, relation, value)]

    return read


def _read_set(relation: str) -> Callable[[Parser, Feature], list[Condition]]:
    return lambda parser, feature: [Condition(feature.name, relation, parser.values(feature))]


def _read_missing(relation: str) -> Callable[[Parser, Feature], list[Condition]]:
    return lambda parser, feature: [Condition(feature.name, relation)]


RELATIONS: dict[str, Callable[[Parser, Feature], list[Condition]]] = {
    **{relation: _read_threshold(relation) for relation in ("<=", ">=", "<", ">")},
    **{relation: _read_value(relation) for relation in ("==", "!=")},
    **{relation: _read_set(relation) for relation in ("in", "not in")},
    **{relation: _read_missing(relation) for relation in ("is missing", "is present")},
    "is not missing": _read_missing("is present"),
}
"""Readers of the text after a feature, by the words that it begins with."""


def as_query(rule: Any, names: Sequence[str], describe: Callable[[str], Feature]) -> Query:
    """Return the conditions of a rule: a text, a Query, a Rule or a Condition."""
    if isinstance(rule, str):
        return parse_query(rule, names, describe)
    query = Query((rule,)) if isinstance(rule, Condition) else getattr(rule, "query", rule)
    if not isinstance(query, Query):
        raise TypeError(
            "A rule must be a text such as 'age > 65 & sex == f', a Query or a Rule. "
            f"Got {rule!r} instead."
        )
    for condition in query:
        if whole_column(condition.feature, names) not in names:
            raise no_feature(f"The rule '{query}'", condition.feature, names)
    return query


def no_feature(owner: str, feature: str, names: Sequence[str]) -> ValueError:
    """Make an error about a term of a feature that does not exist."""
    near = nearest(feature, names)
    hint = f"Did you mean {near!r}?" if near else f"There are {listed_names(names)}."
    return ValueError(f"{owner} uses {format_name(feature)}, which is not a feature. {hint}")
