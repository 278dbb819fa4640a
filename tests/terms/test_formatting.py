import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from laconic.tables.columns import NumericColumn
from laconic.terms.conditions import Condition, Query, all_of
from laconic.terms.formatting import (
    FOR_PEOPLE,
    exact_number,
    format_conditions,
    format_estimate,
    format_like,
    format_number,
    format_percent,
    format_weight,
    intervals,
    value_text,
)
from laconic.terms.parsing import parse_query
from laconic.terms.rules import Rule, RuleEnsemble


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
    assert exact_number(number) == text


@pytest.mark.parametrize(
    ("number", "error", "text"),
    [
        (0.656, 0.00051, "0.65600 ± 0.00051"),
        (0.7, 0.0045, "0.7000 ± 0.0045"),
        (12.3456, 3.21, "12.3 ± 3.2"),
        (24448.2, 1168.3, "24,448 ± 1,168"),
        (-0.25, 0.019, "-0.250 ± 0.019"),
        (1.0, 2.5e-17, "1 ± 0"),
        (0.5, 0.0, "0.5 ± 0"),
        (2e-12, 1.23e-13, "2e-12 ± 1.2e-13"),
        (0.5, float("nan"), "0.5 ± nan"),
    ],
)
def test_estimate(number, error, text):
    assert format_estimate(number, error) == text


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_number_reads_back(number):
    assert float(exact_number(number)) == number


@pytest.mark.parametrize(
    ("weight", "text"),
    [
        (1.18742, "+1.187"),
        (-0.5, "-0.5000"),
        (22.4561, "+22.46"),
        (999.96, "+1,000"),
        (-1234.6, "-1,235"),
        (16192.3, "+16,192"),
        (0.0, "+0.000"),
        (0.00012341, "+0.0001234"),
        (1.23456e-9, "+1.235e-09"),
        (1.23456e20, "+1.235e+20"),
    ],
)
def test_weight(weight, text):
    assert format_weight(weight) == text


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0.123456, "0.1235"),
        (144641.7, "144,642"),
        (999.96, "1,000"),
        (-3.0, "-3"),
        (0.0, "0"),
        (1.23456e20, "1.235e+20"),
    ],
)
def test_computed_number(number, text):
    assert format_number(number) == text


@pytest.mark.parametrize(
    ("share", "text"),
    [
        *((0, "0%"), (1, "100%"), (0.9999, ">99%"), (0.00001, "<0.1%"), (0.05, "5%")),
        *((0.0544, "5.4%"), (0.0996, "10%"), (0.494, "49%"), (0.99, "99%")),
    ],
)
def test_percent(share, text):
    assert format_percent(share) == text


KINDS = {"rooms": "integer", "paid": "boolean", "a & b": "boolean"}


@pytest.mark.parametrize(
    ("conditions", "text"),
    [
        ([("rooms", ">", 6), ("rooms", "<=", 7)], "rooms == 7"),
        ([("rooms", "<=", 7.5), ("rooms", ">", 6.2)], "rooms == 7"),
        ([("rooms", ">", 5), ("rooms", "<=", 7)], "5 < rooms <= 7"),
        ([("rooms", "<=", 3.5)], "rooms <= 3"),
        ([("rooms", ">", -0.5)], "rooms > -1"),
        ([("rooms", "==", 4)], "rooms == 4"),
        ([("rooms", "is missing")], "rooms is missing"),
        ([("paid", ">", 0)], "paid"),
        ([("paid", "<=", 0.5)], "not paid"),
        ([("paid", "==", True)], "paid"),
        ([("paid", "!=", 1)], "not paid"),
        ([("paid", "!=", 0)], "paid"),
        ([("paid", "==", 2)], "paid == 2"),
        ([("paid", ">", 1)], "paid > 1"),
        ([("paid", "is present")], "paid is present"),
        ([("a & b", "<=", 0)], "not 'a & b'"),
        ([("year", ">", 1900), ("year", "<=", 1901)], "1900 < year <= 1901"),
        ([("paid", ">", 0), ("paid", "<=", 0)], "paid & not paid"),
    ],
)
def test_conditions_in_the_values_of_their_features(conditions, text):
    given = [Condition(*condition) for condition in conditions]
    assert " & ".join(format_conditions(given, KINDS)) == text


@given(st.lists(st.tuples(st.sampled_from(["<=", ">"]), st.floats(-3, 3)), min_size=1, max_size=3))
def test_conditions_put_for_people_hold_for_the_same_values(conditions):
    given = [Condition("rooms", *condition) for condition in conditions]
    column = NumericColumn("rooms", np.arange(-5.0, 6.0))
    put = [p for pair in intervals(given, KINDS) for p in pair if p is not None]
    exact, people = (all_of((p.covered_in(column) for p in ps), 11) for ps in (given, put))
    assert (exact == people).all()


@pytest.mark.parametrize("relation", ["in", "not in"])
def test_long_sets_and_values_are_cut_for_people(relation):
    towns = tuple(f"Town {number:03}" for number in range(500))
    condition = Condition("city", relation, towns)
    [text] = format_conditions([condition], notation=FOR_PEOPLE)
    shown = ", ".join(f"'{town}'" for town in towns[:6])
    assert text == f"city {relation} {{{shown}, … 494 more}}"
    assert value_text(towns) == f"{', '.join(towns[:8])} or 492 more"
    rule = Rule(Query((condition,)), 1.0)
    ensemble = RuleEnsemble((rule,))
    for written in (ensemble.text(rule), str(ensemble), ensemble.to_markdown()):
        assert "… 494 more}" in written
        assert max(map(len, written.splitlines())) < 150
    assert r"… 494 more\}" in ensemble.to_latex()
    assert parse_query(str(rule.query), ["city"]) == rule.query
    with pytest.raises(ValueError, match=r"This set is cut\. Write all of its values"):
        parse_query(text, ["city"])
    # Long texts that begin or end alike stay different.
    for long in ("x" * 500, "x" * 500 + "shoes", "hats" + "x" * 500):
        [text] = format_conditions([Condition("a", "==", long)], notation=FOR_PEOPLE)
        assert text == f"a == '{long[:30]}…{long[-29:]}'"
        assert value_text(long) == f"{long[:30]}…{long[-29:]}"
        assert str(Condition("a", "==", long)) == f"a == {long}"


def test_numbers_beside_others_keep_what_distinguishes_them():
    assert format_like(0.5, "1") == "0.5"  # an area without a model beside a perfect one
    assert format_like(0.5, "1 ± 0") == "0.5"
    assert format_like(0.5, "1,234") == "0"
    assert format_like(0.5, "") == format_like(0.5, "nan") == "0.5"
    assert format_like(math.nan, "1") == "nan"
    assert format_like(1e-300, "0") == "1e-300"
    assert format_like(0.4957, "0.95433 ± 0.00041") == "0.49570"
