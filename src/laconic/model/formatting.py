"""Numbers, names, values and conditions as a person would write them."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from laconic.data.columns import Category
    from laconic.model.conditions import Proposition

INTERCEPT = "to start from"
"""What the intercept is, where a rule has its conditions."""

# In a value without quotes, besides letters, their marks and digits of any script.
PLAIN_PUNCTUATION = frozenset("_.+-")
# Characters that keep a feature name from standing without quotes next to relations and "&".
NOT_IN_PLAIN_NAMES = frozenset("&,<>=!'\"")


def format_error(number: float) -> str:
    """Two significant digits and all integer digits.

    Examples
    --------
    >>> [format_error(number) for number in (0.0123, 667.4)]
    ['0.012', '667']
    """
    return f"{number:.0f}" if 100 <= number < 1e15 else f"{number:.2g}"


def format_number(number: float) -> str:
    """Shortest text that reads back as the same number, without a decimal point for integers.

    Examples
    --------
    >>> [format_number(number) for number in (30.0, 0.25, 1e-7)]
    ['30', '0.25', '1e-07']
    """
    return repr(number).removesuffix(".0")


def format_weight(weight: float) -> str:
    """Signed weight with four significant digits, and every integer digit.

    Examples
    --------
    >>> [format_weight(weight) for weight in (1.18742, -0.5, 22.456, 16192.3)]
    ['+1.187', '-0.5000', '+22.46', '+16192']
    """
    # Beyond 1e16 a double no longer knows its last integer digit.
    if 1e3 <= abs(weight) < 1e16:
        return f"{weight:+.0f}"
    return f"{weight:+#.4g}".removesuffix(".")


def format_count(number: int, noun: str, plural: str | None = None) -> str:
    """Write a number with its noun.

    Examples
    --------
    >>> format_count(1, "rule"), format_count(1200, "row")
    ('1 rule', '1,200 rows')
    """
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def format_statistic(number: float) -> str:
    """Four significant digits, all integer digits, and a true minus sign.

    Examples
    --------
    >>> [format_statistic(number) for number in (0.123456, 12345.6, -3.0, 0.00001234)]
    ['0.1235', '12,346', '−3', '1.234e−05']
    """
    text = f"{number:,.0f}" if 1e3 <= abs(number) < 1e15 else f"{number:.4g}"
    return text.replace("-", "−")


def format_score(number: float) -> str:
    """Four significant digits and all integer digits, as programs read them.

    Examples
    --------
    >>> [format_score(number) for number in (0.123456, 205432.1, -3.0)]
    ['0.1235', '205432', '-3']
    """
    return f"{number:.0f}" if 1e3 <= abs(number) < 1e15 else f"{number:.4g}"


def visible(text: str) -> str:
    r"""Spell out characters that would not be seen, or would act on a terminal.

    Examples
    --------
    >>> print(visible("size\x1b[31m"))
    size\x1b[31m
    """
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def plain_text(text: str) -> str:
    r"""Spell out characters that would not be seen, or would break a line.

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


def value_text(value: Category) -> str:
    """Write a category or a threshold as people read it.

    Examples
    --------
    >>> value_text(True), value_text(81.70), value_text("first class")
    ('true', '81.7', 'first class')
    """
    if isinstance(value, str):
        return plain_text(value)
    if isinstance(value, bool):
        return str(value).lower()
    return format_number(value).replace("-", "−")


def format_name(name: str) -> str:
    """Write a feature name, in quotes where it could be taken for something else.

    Examples
    --------
    >>> print(format_name("worst area"), format_name("a & b"))
    worst area 'a & b'
    """
    is_plain = (
        name.strip() == name != ""
        and name.isprintable()
        and NOT_IN_PLAIN_NAMES.isdisjoint(name)
        and not _reads_as_number(name)
    )
    return name if is_plain else repr(name)


def format_value(value: Category | None) -> str:
    """Write a threshold or a value, text in quotes where it could be taken for something else.

    Examples
    --------
    >>> print(format_value(30.0), format_value("x"), format_value("30"), format_value(True))
    30 x '30' True
    """
    if isinstance(value, str):
        is_plain = (
            value not in ("", "True", "False")
            and all(map(_is_plain_character, value))
            and not _reads_as_number(value)
        )
        return value if is_plain else repr(value)
    if isinstance(value, bool) or value is None:
        return str(value)
    return format_number(value)


def intervals(
    propositions: Sequence[Proposition],
) -> Iterator[tuple[Proposition | None, Proposition]]:
    """Pair the two thresholds of a feature, so that they can be written as an interval.

    Conditions come as ``feature > a`` with ``feature <= b``, or as None with one that stands alone.
    """
    remaining = list(propositions)
    while remaining:
        first = remaining.pop(0)
        second = next((p for p in remaining if _bound_one_interval(first, p)), None)
        if second is None:
            yield None, first
        else:
            remaining.remove(second)
            yield (first, second) if first.relation == ">" else (second, first)


def format_conditions(propositions: Sequence[Proposition]) -> list[str]:
    """Write conditions; two thresholds of a feature are an interval such as ``100 < PS <= 180``."""
    return [
        str(proposition) if lower is None else f"{format_value(lower.value)} < {proposition}"
        for lower, proposition in intervals(propositions)
    ]


def _bound_one_interval(first: Proposition, second: Proposition) -> bool:
    return first.feature == second.feature and {first.relation, second.relation} == {"<=", ">"}


def _is_plain_character(character: str) -> bool:
    return character in PLAIN_PUNCTUATION or unicodedata.category(character)[0] in "LMN"


def _reads_as_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
