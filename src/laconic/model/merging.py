"""Several conditions on the values of a feature as one condition that covers the same cells."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

from laconic.data.times import MOMENTS

if TYPE_CHECKING:
    from laconic.model.conditions import Proposition, Query

Values: TypeAlias = tuple[Any, ...]

# Columns of numbers round larger integers to doubles, columns of categories do not.
_LARGEST_EXACT = 2**53


def merged(query: Query) -> Query:
    """Join conditions on the values of a feature: into one set that it is in, or not in.

    The query covers the same cells, whatever these are: a missing value fulfils none of the
    conditions, and a value that did not occur in training is in no set. Conditions that no single
    one can replace, as they contradict each other, stay as they are.

    Examples
    --------
    >>> from laconic.model.conditions import Proposition, Query
    >>> print(merged(Query((Proposition("a", "in", ("x", "y", "z")), Proposition("a", "!=", "x")))))
    a in {y, z}
    >>> merged(Query((Proposition("a", "!=", "x"), Proposition("a", "!=", "y")))).propositions
    (<Proposition: a not in {x, y}>,)
    """
    return replace(query, propositions=tuple(merged_conditions(query)))


def merged_conditions(propositions: Iterable[Proposition]) -> list[Proposition]:
    """Join conditions as `merged` does; what is joined stands where the first of them stood."""
    found: list[Proposition] = []
    for proposition in dict.fromkeys(propositions):
        for place, other in enumerate(found):
            joined = _joined(other, proposition)
            if joined is not None:
                found[place] = joined
                break
        else:
            found.append(proposition)
    return found


def _joined(first: Proposition, second: Proposition) -> Proposition | None:
    """Find the one condition that says what two of them say; None if there is none."""
    if first.feature != second.feature:
        return None
    one, other = _membership(first), _membership(second)
    if one is None or other is None or not _are_comparable(*one[1], *other[1]):
        return None
    (is_inside, values), (is_other_inside, others) = one, other
    if not is_inside and not is_other_inside:
        return _condition(first, False, tuple(dict.fromkeys((*values, *others))))
    if is_inside and is_other_inside:
        left = tuple(value for value in values if value in others)
    else:
        inside, outside = (values, others) if is_inside else (others, values)
        left = tuple(value for value in inside if value not in outside)
    return _condition(first, True, left) if left else None


def _membership(proposition: Proposition) -> tuple[bool, Values] | None:
    """Read a condition as a set that a value is in, or is not in; None for any other."""
    value = proposition.value
    values = value if isinstance(value, tuple) else (value,)
    if proposition.relation in ("==", "in"):
        return True, values
    if proposition.relation in ("!=", "not in"):
        return False, values
    return (False, ()) if proposition.relation == "is present" else None


def _are_comparable(*values: Any) -> bool:
    """Tell whether columns of any kind agree on which of the values are equal."""
    if any(isinstance(value, MOMENTS) for value in values):
        return False
    are_texts = {isinstance(value, str) for value in values}
    return are_texts <= {True} or (
        are_texts == {False} and all(abs(value) <= _LARGEST_EXACT for value in values)
    )


def _condition(proposition: Proposition, is_inside: bool, values: Values) -> Proposition:
    if not values:
        return replace(proposition, relation="is present", value=None)
    if len(values) == 1:
        return replace(proposition, relation="==" if is_inside else "!=", value=values[0])
    return replace(proposition, relation="in" if is_inside else "not in", value=values)
