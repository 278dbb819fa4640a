"""Numbers, names, values and conditions as a person would write them.

Conditions are merged where one condition covers the same values of a feature as several.
"""

from __future__ import annotations

import copy
import itertools
import math
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from laconic._util.words import listed
from laconic.tables.times import MOMENTS, time_text

if TYPE_CHECKING:
    from laconic.tables.columns import Category, FeatureKind
    from laconic.terms.conditions import Condition, Query, Value


INTERCEPT = "(intercept)"
"""The text of an intercept, in place of the conditions of a rule."""

OTHER = "other"
"""The text of all categories that have no conditions of their own."""

NO_KINDS: Mapping[str, FeatureKind] = MappingProxyType({})
"""For ensembles whose features are of unknown kinds."""

# Allowed in a value without quotes, besides letters, their marks and digits of any script.
PLAIN_PUNCTUATION = frozenset("_.+-")
# A feature name is in quotes if it has one of these characters, or words that could be read as a
# relation to a shorter name, as "not" or a weight before one, or as the words of a slope.
NOT_IN_PLAIN_NAMES = frozenset("&,<>=!'\"≤≥≠∧")
UNSIGNED = r"(?:\d{1,3}(?:,\d{3})+(?:\.\d*)?|\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
"""Pattern of a computed number, which may have commas."""
SLOPE_STEP = rf"(?:{UNSIGNED}|unit|year|month|day|hour|minute|second)\s+of"
"""Pattern of the step that the weight of a slope is per."""
_KEYWORDS = re.compile(
    r"(?:^|\s)(?:not|NOT|is (?:not )?missing|is present)(?:\s|$)|\sin \{|^always$"
    r"|\sfrom\s+[+\-−.\d]"
    rf"|^per\s+{SLOPE_STEP}\s"
    rf"|^[+\-−.\d]\S*\s+(?:if|for|always|per\s+{SLOPE_STEP})(?:\s|$)"
)
# Of texts for people: longer values are cut, and further values of a set are counted.
_MAX_VALUE_WIDTH, _MAX_SET_WIDTH = 60, 80
_DATE_LIKE = re.compile(r"\d{4}-\d\d-\d\d")


def exact_number(number: float) -> str:
    """Shortest text that reads back as the same number, without a decimal point for integers.

    Examples
    --------
    >>> [exact_number(number) for number in (30.0, 0.25, 1e-7)]
    ['30', '0.25', '1e-07']
    """
    return repr(number).removesuffix(".0")


def format_number(number: float, digits: int = 4) -> str:
    """Write a computed number: some significant digits, and every integer digit.

    Examples
    --------
    >>> [format_number(number) for number in (0.123456, 144641.7, -3.0, 0.00001234)]
    ['0.1235', '144,642', '-3', '1.234e-05']
    >>> format_number(0.0123, digits=2), format_number(667.4, digits=2)
    ('0.012', '667')
    """
    # Beyond 1e16 a double does not hold its last integer digit.
    if 10 ** (digits - 1) <= abs(number) < 1e16:
        return f"{number:,.0f}"
    return f"{number:,.{digits}g}"


def format_estimate(number: float, error: float) -> str:
    """Write a number with its standard error, both to the second digit of the error.

    Examples
    --------
    >>> format_estimate(0.86793, 0.0142), format_estimate(0.7, 0.0045)
    ('0.868 ± 0.014', '0.7000 ± 0.0045')
    >>> format_estimate(24448.2, 1168.3), format_estimate(1.0, 2.5e-17)
    ('24,448 ± 1,168', '1 ± 0')
    """
    if error <= 1e-12 * abs(number):
        error = 0.0  # and not a rounding error
    if not 1e-8 < error < 1e16:
        return f"{format_number(number)} ± {format_number(error, 2)}"
    n_decimals = max(1 - math.floor(math.log10(error)), 0)
    return f"{number:,.{n_decimals}f} ± {error:,.{n_decimals}f}"


def format_like(number: float, text: str) -> str:
    """Write a number with as many decimals as the first one of a text.

    There are more of them where these would round it by more than a five hundredth.

    Examples
    --------
    >>> format_like(-0.00081234, "0.450 ± 0.048"), format_like(76.93, "57")
    ('-0.001', '77')
    >>> format_like(0.5, "1 ± 0"), format_like(0.73233, "1")
    ('0.5', '0.732')
    """
    first = text.split(" ")[0]
    decimals = first.partition(".")[2]
    if not first or not (decimals + "0").isdigit():
        return format_number(number)
    tolerance = max(abs(number), abs(float(first.replace(",", "")))) / 500
    n_decimals = len(decimals)
    while abs(round(number, n_decimals) - number) > tolerance:
        n_decimals += 1
        if n_decimals > _MAX_DECIMALS:
            return format_number(number)
    return f"{round(number, n_decimals) + 0.0:,.{n_decimals}f}"  # and not -0


def format_column(numbers: Sequence[float], n_digits: int = 4) -> list[str]:
    """Write numbers with as many decimals as each other: `n_digits` of the largest, two of all.

    Examples
    --------
    >>> format_column([0.001401, 0.00011791, 5.334e-05]), format_column([631.94, 14.61])
    (['0.001401', '0.000118', '0.000053'], ['631.9', '14.6'])
    >>> format_column([1.5, 2.34e-20]), format_column([0.0])
    (['1.5', '2.34e-20'], ['0'])
    """
    sizes = [math.floor(math.log10(abs(each))) for each in numbers if each and math.isfinite(each)]
    n_decimals = max(n_digits - 1 - max(sizes), 1 - min(sizes), 0) if sizes else _MAX_DECIMALS + 1
    if n_decimals > _MAX_DECIMALS or max(sizes) > 15:
        return [*map(format_number, numbers)]
    return [f"{each:,.{n_decimals}f}" for each in numbers]


def aligned(lines: Iterable[str]) -> str:
    """Join lines that begin with a weight, with the weights aligned to the right.

    Examples
    --------
    >>> print(aligned(["+0.5000 (intercept)", "+22.46 if age > 30"]))
    +0.5000 (intercept)
     +22.46 if age > 30
    """
    parts = [line.partition(" ") for line in lines]
    width = max(len(weight) for weight, _, _ in parts)
    return "\n".join(f"{weight:>{width}} {words}" for weight, _, words in parts)


def number_text(number: float) -> str:
    """Write a number with a true minus sign.

    Examples
    --------
    >>> number_text(-54.3214), number_text(1234.5)
    ('−54.32', '1,234')
    """
    return format_number(number).replace("-", "−")


def format_weight(weight: float) -> str:
    """Write a weight: as any number, with its sign and with trailing zeros.

    Examples
    --------
    >>> [format_weight(weight) for weight in (1.18742, -0.5, 22.456, 16192.3)]
    ['+1.187', '-0.5000', '+22.46', '+16,192']
    """
    if 1e3 <= abs(weight) < 1e16:
        return f"{weight:+,.0f}"
    return f"{weight:+#,.4g}".removesuffix(".")


# Numbers with more are written with exponents.
_MAX_DECIMALS = 10
# Beyond that the digits are of no use.
_MAX_LOG_FACTOR = 30


def format_factor(log_factor: float) -> str:
    """Write a factor, given its logarithm.

    Examples
    --------
    >>> format_factor(0.4055)
    '1.5'
    """
    if log_factor > _MAX_LOG_FACTOR:
        return "more than 10¹³"
    return format_number(math.exp(log_factor), 3)


def format_percent(share: float) -> str:
    """Write a fraction in per cent; only 1 is written as 100% and only 0 as 0%.

    Examples
    --------
    >>> [format_percent(share) for share in (0.5, 0.054, 0.9999, 0.0001, 1)]
    ['50%', '5.4%', '>99%', '<0.1%', '100%']
    """
    if 0 < share < 0.001:
        return "<0.1%"
    if 0.99 < share < 1:
        return ">99%"
    text = f"{100 * share:.0f}" if share >= 0.0995 else f"{100 * share:.1f}".removesuffix(".0")
    return f"{text}%"


def format_count(number: int, noun: str, plural: str | None = None) -> str:
    """Write a number with its noun.

    Examples
    --------
    >>> format_count(1, "rule"), format_count(1200, "row")
    ('1 rule', '1,200 rows')
    """
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def visible(text: str) -> str:
    r"""Escape characters that are invisible, or would control a terminal.

    Examples
    --------
    >>> print(visible("size\x1b[31m"))
    size\x1b[31m
    """
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def plain_text(text: str) -> str:
    r"""Escape characters that are invisible, or would break a line.

    Examples
    --------
    >>> print(plain_text("two\nlines"), plain_text(" "), plain_text(""))
    two\nlines ' ' (empty)
    """
    if text == "":
        return "(empty)"
    if text != text.strip():
        text = repr(text)
    return visible(text)


def _cut(text: str) -> str:
    # In the middle: long texts often begin alike, such as addresses, or end alike.
    half = _MAX_VALUE_WIDTH // 2
    return text if len(text) <= _MAX_VALUE_WIDTH else f"{text[:half]}…{text[1 - half :]}"


def _n_shown(texts: Sequence[str]) -> int:
    """Return how many values of a set are shown to people."""
    widths = itertools.accumulate(len(text) + 2 for text in texts)
    return max(1, sum(width <= _MAX_SET_WIDTH for width in widths))


def value_text(value: Value) -> str:
    """Write a category, a threshold or a set as people read it.

    Examples
    --------
    >>> value_text(True), value_text(81.70), value_text("first class"), value_text(("N", "NE"))
    ('true', '81.7', 'first class', 'N or NE')
    >>> value_text(tuple(range(10_000, 10_050)))[60:]
    '8, 10009, 10010 or 39 more'
    """
    if isinstance(value, tuple):
        texts = [*map(value_text, value)]
        return listed(texts, _n_shown(texts), word="or")
    if isinstance(value, str):
        return plain_text(_cut(value))
    if isinstance(value, MOMENTS):
        return time_text(value)
    if isinstance(value, bool):
        return str(value).lower()
    return exact_number(value).replace("-", "−")


def class_text(label: Category) -> str:
    """Write a class so that it is not read as a number.

    Examples
    --------
    >>> class_text(1), class_text("yes")
    ('class 1', 'yes')
    """
    if _reads_as_number(str(label)):
        return f"class {label if isinstance(label, str) else exact_number(label)}"
    return plain_text(label) if isinstance(label, str) else value_text(label)


def format_name(name: str) -> str:
    """Write a feature name, in quotes where it could be read as something else.

    Examples
    --------
    >>> print(format_name("worst area"), format_name("a & b"), format_name("not paid"))
    worst area 'a & b' 'not paid'
    """
    is_plain = (
        name.strip() == name != ""
        and name.isprintable()
        and NOT_IN_PLAIN_NAMES.isdisjoint(name)
        and not _KEYWORDS.search(name)
        and not _reads_as_number(name)
    )
    return name if is_plain else repr(name)


def format_value(value: Value | None, *, is_cut: bool = False) -> str:
    """Write a threshold, a value or a set, text in quotes where it could be read as another type.

    If it `is_cut`, long texts and sets are cut, so that they cannot be parsed again.

    Examples
    --------
    >>> print(format_value(30.0), format_value("x"), format_value("30"), format_value(True))
    30 x '30' True
    >>> print(format_value(("N", "NE")), format_value("2024-03-01"))
    {N, NE} '2024-03-01'
    >>> print(format_value(tuple("ABCDEFGHIJKLMNOPQRSTUVWXYZabcde"), is_cut=True)[60:])
     U, V, W, X, Y, Z, … 5 more}
    """
    if isinstance(value, tuple):
        texts = [format_value(each, is_cut=is_cut) for each in value]
        n_shown = _n_shown(texts) if is_cut else len(texts)
        hidden = [f"… {len(texts) - n_shown} more"] if n_shown < len(texts) else []
        return "{" + ", ".join([*texts[:n_shown], *hidden]) + "}"
    if isinstance(value, MOMENTS):
        return time_text(value)
    if isinstance(value, str):
        value = _cut(value) if is_cut else value
        is_plain = (
            value not in ("", "True", "False")
            and all(map(_is_plain_character, value))
            and not _reads_as_number(value)
            and not _DATE_LIKE.match(value)
        )
        return value if is_plain else repr(value)
    if isinstance(value, bool) or value is None:
        return str(value)
    return exact_number(value)


def intervals(
    conditions: Sequence[Condition], kinds: Mapping[str, FeatureKind] = NO_KINDS
) -> Iterator[tuple[Condition | None, Condition]]:
    """Pair the two thresholds of a feature, so that they can be written as an interval.

    Pairs are ``feature > a`` with ``feature <= b``, or None with a single condition. Conditions on
    integers, on zeros and ones, and on ordered categories are written in terms of these values, and
    several conditions on the values of a feature are merged into one set.
    """
    remaining = [
        shown for merged in merged_conditions(conditions) for shown in _as_shown(merged, kinds)
    ]
    while remaining:
        first = remaining.pop(0)
        second = next((each for each in remaining if _bound_one_interval(first, each)), None)
        if second is None:
            yield None, first
            continue
        remaining.remove(second)
        lower, upper = (first, second) if first.relation == ">" else (second, first)
        if _is_single(lower, upper, kinds):
            yield None, replace(upper, relation="==", value=int(cast(float, upper.value)))
        else:
            yield lower, upper


@dataclass(frozen=True)
class Notation:
    """How names, values and relations are written; the default is plain text."""

    escape: Callable[[str], str] = str
    relations: Mapping[str, str] = field(default_factory=dict)
    """Symbols of relations that are not written as they are."""
    negation: str = "not "
    is_cut: bool = False
    """Whether long values and sets are cut."""


PLAIN_TEXT = Notation()
FOR_PEOPLE = Notation(is_cut=True)


def format_conditions(
    conditions: Sequence[Condition],
    kinds: Mapping[str, FeatureKind] = NO_KINDS,
    notation: Notation = PLAIN_TEXT,
) -> list[str]:
    """Write conditions; two thresholds of a feature are an interval such as ``100 < PS <= 180``.

    Without kinds, they are written exactly.
    """
    less = notation.relations.get("<", "<")
    return [
        ("" if lower is None else f"{notation.escape(format_value(lower.value))} {less} ")
        + format_condition(condition, kinds, notation)
        for lower, condition in intervals(conditions, kinds)
    ]


def format_condition(
    condition: Condition,
    kinds: Mapping[str, FeatureKind] = NO_KINDS,
    notation: Notation = PLAIN_TEXT,
) -> str:
    """Write one condition of `intervals`."""
    name, value = notation.escape(format_name(condition.feature)), condition.value
    if kinds.get(condition.feature) == "boolean" and isinstance(value, bool):
        return name if value else f"{notation.negation}{name}"
    relation = notation.relations.get(condition.relation, condition.relation)
    shown = "" if value is None else f" {format_value(value, is_cut=notation.is_cut)}"
    return f"{name} {relation}{notation.escape(shown)}"


def _as_shown(condition: Condition, kinds: Mapping[str, FeatureKind]) -> list[Condition]:
    """Write a condition in terms of the values of its feature; an interval is two conditions."""
    kind = kinds.get(condition.feature)
    if isinstance(kind, tuple):
        return _as_thresholds(condition, kind)
    if isinstance(kind, frozenset):
        return [_with_others(condition, kind)]
    return [_as_kind(condition, kind)]


def _with_others(condition: Condition, kept: frozenset[Category]) -> Condition:
    """Name all categories that are not kept "other", where that is shorter."""
    membership = _membership(condition)
    if membership is None or membership[0]:
        return condition
    outside = {*membership[1]}
    inside = sorted(kept - outside)
    if not outside <= kept or len(inside) + 1 >= len(outside):
        return condition
    shown = (*inside, OTHER)
    return _shown(condition, "in", shown) if inside else _shown(condition, "==", OTHER)


def _as_kind(condition: Condition, kind: str | None) -> Condition:
    value, relation = condition.value, condition.relation
    if kind is None or not isinstance(value, bool | int | float):
        return condition
    if relation in ("<=", ">"):
        whole = math.floor(value)
        if kind == "boolean" and whole == 0:
            return replace(condition, relation="==", value=relation == ">")
        return replace(condition, value=whole)
    if kind == "boolean" and value in (0, 1):
        return replace(condition, relation="==", value=(value == 1) == (relation == "=="))
    return condition


def _as_thresholds(condition: Condition, order: tuple[Category, ...]) -> list[Condition]:
    """Write a set of neighbours among ordered categories as one threshold, or as two."""
    values = condition.value if isinstance(condition.value, tuple) else ()
    # A value that was not seen in training is in no set, and on no side of a threshold.
    is_set = condition.relation == "in" and {*values} <= {*order}
    if not is_set or not 1 < len(values) < len(order):
        return [condition]
    first, last = min(map(order.index, values)), max(map(order.index, values))
    if last - first + 1 > len(values):
        return [condition]
    below = [_shown(condition, ">", order[first - 1])] if first > 0 else []
    above = [_shown(condition, "<=", order[last])] if last + 1 < len(order) else []
    return below + above


def _shown(condition: Condition, relation: str, value: Value) -> Condition:
    """Make a condition for texts only, with a threshold or a value that no condition can have."""
    shown = copy.copy(condition)
    object.__setattr__(shown, "relation", relation)
    object.__setattr__(shown, "value", value)
    return shown


def _is_single(lower: Condition, upper: Condition, kinds: Mapping[str, FeatureKind]) -> bool:
    """Check whether an interval holds a single integer."""
    if kinds.get(upper.feature) not in ("integer", "boolean"):
        return False
    return cast(float, upper.value) - cast(float, lower.value) == 1


def _bound_one_interval(first: Condition, second: Condition) -> bool:
    return first.feature == second.feature and {first.relation, second.relation} == {"<=", ">"}


def _is_plain_character(character: str) -> bool:
    return character in PLAIN_PUNCTUATION or unicodedata.category(character)[0] in "LMN"


def _reads_as_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


Values: TypeAlias = tuple[Any, ...]

# Columns of numbers round larger integers to doubles, columns of categories do not.
_LARGEST_EXACT = 2**53


def merged(query: Query) -> Query:
    """Merge conditions on the values of a feature into one set that it is in, or not in.

    The query covers the same rows of any table: a missing value satisfies none of the conditions,
    and a value that did not occur in training is in no set. Conditions that contradict each other,
    so that no single condition can replace them, stay as they are.

    Examples
    --------
    >>> from laconic.terms.conditions import Condition, Query
    >>> print(merged(Query((Condition("a", "in", ("x", "y", "z")), Condition("a", "!=", "x")))))
    a in {y, z}
    >>> merged(Query((Condition("a", "!=", "x"), Condition("a", "!=", "y")))).conditions
    (<Condition: a not in {x, y}>,)
    """
    return replace(query, conditions=tuple(merged_conditions(query)))


def merged_conditions(conditions: Iterable[Condition]) -> list[Condition]:
    """Merge conditions as `merged` does, each in the place of the first that was merged."""
    found: list[Condition] = []
    for condition in dict.fromkeys(conditions):
        for place, other in enumerate(found):
            joined = _joined(other, condition)
            if joined is not None:
                found[place] = joined
                break
        else:
            found.append(condition)
    return found


def _joined(first: Condition, second: Condition) -> Condition | None:
    """Find the condition that is equivalent to two of them; None if there is none."""
    if first.feature != second.feature:
        return None
    one, other = _membership(first), _membership(second)
    if one is None or other is None or not _are_comparable(*one[1], *other[1]):
        return None
    (is_inside, values), (is_other_inside, others) = one, other
    if not is_inside and not is_other_inside:
        return _merged_condition(first, False, tuple(dict.fromkeys((*values, *others))))
    if is_inside and is_other_inside:
        left = tuple(value for value in values if value in others)
    else:
        inside, outside = (values, others) if is_inside else (others, values)
        left = tuple(value for value in inside if value not in outside)
    return _merged_condition(first, True, left) if left else None


def _membership(condition: Condition) -> tuple[bool, Values] | None:
    """Return whether values must be in a set, and the set; None for other conditions."""
    value = condition.value
    values = value if isinstance(value, tuple) else (value,)
    if condition.relation in ("==", "in"):
        return True, values
    if condition.relation in ("!=", "not in"):
        return False, values
    return (False, ()) if condition.relation == "is present" else None


def _are_comparable(*values: Any) -> bool:
    """Check whether columns of all types agree on which of the values are equal."""
    if any(isinstance(value, MOMENTS) for value in values):
        return False
    are_texts = {isinstance(value, str) for value in values}
    return are_texts <= {True} or (
        are_texts == {False} and all(abs(value) <= _LARGEST_EXACT for value in values)
    )


def _merged_condition(condition: Condition, is_inside: bool, values: Values) -> Condition:
    if not values:
        return replace(condition, relation="is present", value=None)
    if len(values) == 1:
        return replace(condition, relation="==" if is_inside else "!=", value=values[0])
    return replace(condition, relation="in" if is_inside else "not in", value=values)
