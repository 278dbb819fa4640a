"""What checks of parameters have in common."""

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from laconic._util.checks import is_finite_number, is_whole, require


@pytest.mark.parametrize("value", [0, -7, 2**70, np.int8(3), np.uint64(5)])
def test_whole_numbers(value):
    assert is_whole(value)
    assert is_whole(value, int(value))
    assert not is_whole(value, int(value) + 1)


@pytest.mark.parametrize("value", [True, False, np.True_, 1.0, np.float64(2), "3", None, [1]])
def test_other_values_are_not_whole(value):
    assert not is_whole(value)


@pytest.mark.parametrize("value", [0, -1.5, 2**70, np.float32(0.1), np.int64(4), Fraction(1, 3)])
def test_finite_numbers(value):
    assert is_finite_number(value)


@pytest.mark.parametrize(
    "value", [True, math.nan, -math.inf, 10**400, "1", None, 1j, Decimal(1), [1.0]]
)
def test_other_values_are_no_finite_numbers(value):
    assert not is_finite_number(value)


def test_message_says_what_is_required_and_what_was_given():
    require(True, "width", "a whole number", 1)
    with pytest.raises(ValueError, match=r"^width must be a whole number\. Got 'wide'\.$"):
        require(False, "width", "a whole number", "wide")


def test_message_shows_a_part_of_a_long_value():
    with pytest.raises(ValueError, match=r"^width must be a number\. Got \[0, 1, .*\.\.\.\]\.$"):
        require(False, "width", "a number", list(range(1000)))
