import pytest
from hypothesis import given
from hypothesis import strategies as st

from laconic.model.formatting import format_number, format_weight


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (30.0, "30"),
        (30, "30"),
        (0.25, "0.25"),
        (1e-7, "1e-07"),
        (-0.1, "-0.1"),
        (1e16, "1e+16"),
        (5e-324, "5e-324"),
    ],
)
def test_number(number, text):
    assert format_number(number) == text


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_number_reads_back(number):
    assert float(format_number(number)) == number


@pytest.mark.parametrize(
    ("weight", "text"),
    [
        (1.18742, "+1.187"),
        (-0.5, "-0.5000"),
        (22.4561, "+22.46"),
        (999.96, "+1000"),
        (-1234.6, "-1235"),
        (16192.3, "+16192"),
        (0.0, "+0.000"),
        (0.00012341, "+0.0001234"),
        (1.23456e-9, "+1.235e-09"),
        (1.23456e20, "+1.235e+20"),
    ],
)
def test_weight(weight, text):
    assert format_weight(weight) == text
