"""Terms written by people, and as models print them."""

from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from laconic import Condition, Query, Rule, RuleEnsemble, Slope
from laconic.tables.tables import as_table
from laconic.terms.formatting import format_name
from laconic.terms.parsing import Feature, features_of
from laconic.terms.parsing_terms import GivenTerm, as_term, parse_term
from laconic.terms.rules import Output

NAMES = ["age", "age from birth", "sex", "booked", "at", "clock", "wait", "per capita", "a & b"]
TIMES = {"booked": "date", "at": "datetime", "clock": "time", "wait": "duration"}


def describe(name):
    if name == "sex":
        return Feature(name, True, ("f", "m"))
    return Feature(name, False, None, None, TIMES.get(name))


def slope(feature, lower, upper, missing=None):
    return Slope(feature, lower, upper, 0.0, missing=missing)


AGE = slope("age", 25, 68)
OLD = Query((Condition("age", ">", 65),))
YEARS = slope("booked", date(2020, 1, 1), date(2024, 1, 1))


@pytest.mark.parametrize(
    ("text", "form", "weight"),
    [
        ("age from 25 to 68", AGE, None),
        ("  age  from  25  to  68  ", AGE, None),
        ("per 10 of age from 25 to 68", AGE, None),
        ("+0.3100 per 10 of age from 25 to 68", AGE, 0.031),
        (" -0.31 per unit of age from 25 to 68", AGE, -0.31),
        ("−1,240 per 1,000 of age from 25 to 68", AGE, -1.24),
        ("1.5e-3 per 0.1 of age from 25 to 68", AGE, 0.015),
        ("+1 per 1e-05 of age from 25 to 68", AGE, 1e5),
        ("+0 per unit of age from -3.5 to −1e-7", slope("age", -3.5, -1e-7), 0.0),
        ("age from 25 to 68 (41.5 if missing)", slope("age", 25, 68, 41.5), None),
        ("'age' from 25 to 68 ( 25 if  missing )", slope("age", 25, 68, 25), None),
        ("age from birth from 1 to 3", slope("age from birth", 1, 3), None),
        ("per capita from 1 to 3", slope("per capita", 1, 3), None),
        ("+1 per unit of per capita from 1 to 3", slope("per capita", 1, 3), 1.0),
        ("'a & b' from 1 to 3", slope("a & b", 1, 3), None),
        ("per year of booked from 2020-01-01 to 2024-01-01", YEARS, None),
        ("+365.25 per year of booked from 2020-01-01 to 2024-01-01", YEARS, 1.0),
        ("+2 per day of booked from 2020-01-01 to 2024-01-01", YEARS, 2.0),
        ("year of booked from 2020 to 2024", slope("year of booked", 2020, 2024), None),
        (
            "+2 per unit of year of booked from 2020 to 2024",
            slope("year of booked", 2020, 2024),
            2.0,
        ),
        (
            "at from 2020-01-01 to 2020-02-01 12:30 (2020-01-03 if missing)",
            slope("at", datetime(2020, 1, 1), datetime(2020, 2, 1, 12, 30), datetime(2020, 1, 3)),
            None,
        ),
        ("+2 per hour of clock from 09:00 to 12:30", slope("clock", time(9), time(12, 30)), 2.0),
        (
            "+2 per day of wait from -1.5 s to 3 d (2 h if missing)",
            slope("wait", timedelta(seconds=-1.5), timedelta(3), timedelta(hours=2)),
            2 / 24,
        ),
        ("age > 65", OLD, None),
        ("+0.5 if age > 65", OLD, 0.5),
        ("-1,234 if age > 65", OLD, -1234.0),
        ("age from birth > 3", Query((Condition("age from birth", ">", 3),)), None),
        ("per capita > 3", Query((Condition("per capita", ">", 3),)), None),
        ("3 < age & age <= 5", Query((Condition("age", ">", 3), Condition("age", "<=", 5))), None),
        ("always", Query(), None),
        ("+0.5 always", Query(), 0.5),
    ],
)
def test_terms_are_read(text, form, weight):
    read = parse_term(text, NAMES, describe)
    assert read.form == form
    assert read.weight == (None if weight is None else pytest.approx(weight, rel=1e-12))
    assert read.output is None


def test_classes():
    outputs = ["no", "yes", "yes if asked", "3"]
    for text, output in {
        "+0.5 for yes if age > 65": 1,
        "+0.5 for yes if asked if age > 65": 2,
        "+0.5 for 3 if age > 65": 3,
        "+0.5 if age > 65": None,
    }.items():
        assert parse_term(text, NAMES, describe, outputs) == GivenTerm(OLD, 0.5, output)
    read = parse_term("+0.5 for no per unit of age from 25 to 68", NAMES, describe, outputs)
    assert read == GivenTerm(AGE, 0.5, 0)
    assert parse_term("+0.5 for no always", NAMES, describe, outputs) == GivenTerm(Query(), 0.5, 0)


@pytest.mark.parametrize(
    ("text", "message", "place"),
    [
        ("age from 68 to 25", "The upper end must be above the lower one, 68", 15),
        ("age from 25 to 25", "The upper end must be above the lower one, 25", 15),
        ("sex from 1 to 2", "'sex' holds texts, which have no slope", 0),
        ("agee from 1 to 2", "There is no feature 'agee'. Did you mean 'age'?", 0),
        ("+1 per 10 of agee from 1 to 2", "There is no feature 'agee'. Did you mean 'age'?", 13),
        (
            "+1 per unit of 'zz zz' from 1 to 2",
            "There is no feature 'zz zz'. There are 'a & b'",
            15,
        ),
        ("per 10 of  from 1 to 2", "Expected the name of a feature", 11),
        ("age from x to 2", "Expected a number", 9),
        ("age from 1", "Expected 'to' and the other end", 10),
        ("age from 1 to", "Expected a number", 13),
        ("age from 1 to 2 & sex == f", "Expected the end of the slope, or a value such as", 16),
        (
            "age from 1 to 3 (4 if missing)",
            "Missing cells must count as a value between 1 and 3",
            17,
        ),
        ("age from 1 to 3 (2 missing)", "Expected 'if missing)'", 18),
        ("per 10 of age", "Expected 'from' after 'age', such as 'from 25 to 68'", 13),
        ("+1 per age from 1 to 2", "Expected a step such as '10 of', 'unit of' or 'year of'", 7),
        ("per 0 of age from 1 to 2", "Expected a step above 0", 4),
        ("per 1.2.3 of age from 1 to 2", "Expected a step such as '10 of'", 4),
        (
            "per year of age from 1 to 2",
            "'age' holds numbers. Expected a step such as 'unit of'",
            4,
        ),
        (
            "per 10 of booked from 2020-01-01 to 2021-01-01",
            "'booked' holds times. Expected a step such as 'year of'",
            4,
        ),
        ("booked from 3 to 4", "Expected a date: 2024-03-01", 12),
        ("clock from 3 to 4", "Expected a time such as 12:30", 11),
        ("wait from 3 to 4", "Expected a duration such as 90 min", 10),
        ("+1 for yes if age > 65", "The model has one raw prediction, and no classes to name", 7),
        ("+1 age > 65", "There is no feature '+1 age'. Did you mean 'age'?", 0),
        ("+1 if age > x", "Expected a number", 12),
    ],
)
def test_errors_say_what_is_wrong_and_where(text, message, place):
    with pytest.raises(ValueError, match="\n") as error:
        parse_term(text, NAMES, describe)
    first, line, mark = str(error.value).split("\n")
    assert first.startswith(message)
    assert line == f"  {text}"
    assert mark.index("^") - 2 == place


def test_unknown_class():
    with pytest.raises(ValueError, match="Expected one of the classes no, yes"):
        parse_term("+1 for maybe if age > 65", NAMES, describe, ["no", "yes"])


def test_kinds_of_features_that_are_not_known():
    for text, ends in {
        "a from 2020-01-01 to 2021-01-01": (date(2020, 1, 1), date(2021, 1, 1)),
        "a from 2020-01-01 to 2020-01-01 09:30": (
            datetime(2020, 1, 1),
            datetime(2020, 1, 1, 9, 30),
        ),
        "a from 12:30 to 13:00": (time(12, 30), time(13)),
        "a from 0 s to 3 d": (timedelta(0), timedelta(3)),
        "a from 0 to 3": (0, 3),
    }.items():
        assert parse_term(text, ["a"]).form == slope("a", *ends)
    for text in ("a from 0 to 3 d", "a from 12:30 to 14", "a from 1 to 3 (2 d if missing)"):
        with pytest.raises(ValueError, match="Expected a value of the same kind as"):
            parse_term(text, ["a"])


def test_terms_are_taken_as_they_are():
    given = replace(AGE, weight=0.5, output=1)
    assert as_term(given, NAMES, describe) == GivenTerm(AGE, 0.5)
    assert as_term(given, NAMES, describe, ["a", "b", "c"]) == GivenTerm(AGE, 0.5, 1)
    rule = Rule(OLD, 0.5, 2)
    assert as_term(rule, NAMES, describe) == GivenTerm(OLD, 0.5)
    assert as_term(rule, NAMES, describe, ["a", "b", "c"]) == GivenTerm(OLD, 0.5, 2)
    for plain in (OLD, OLD.conditions[0], "age > 65"):
        assert as_term(plain, NAMES, describe) == GivenTerm(OLD)
    assert as_term("age from 25 to 68", NAMES, describe) == GivenTerm(AGE)
    with pytest.raises(ValueError, match=r"'agee from 25 to 68' uses agee.*Did you mean 'age'"):
        as_term(replace(AGE, feature="agee"), NAMES, describe)
    with pytest.raises(TypeError, match="A term must be a text such as"):
        as_term(3, NAMES, describe)


PIECES = [
    *("age", "a", "b", "per", "unit", "of", "10", "1,000", "year", "from", "to", "25", "68", "(6"),
    *("if", "missing)", "for", "always", "+1", "-0.5", "not", "is", "in", "{x}", "and", "&", "<="),
    *("2020-01-01", "12:30", "3", "d", "'", '"', "\\", "\n", "é", "😀", "missing", "present", "--"),
]
nasty_names = st.one_of(
    st.lists(st.sampled_from(PIECES), min_size=1, max_size=7).map(" ".join),
    st.text(min_size=1, max_size=8),
)
numbers = st.one_of(
    st.floats(1e-300, 1e300),
    st.floats(1e-300, 1e300).map(lambda x: -x),
    st.integers(-(10**6), 10**6).map(float),
    st.just(0.0),
)
moments = {
    None: numbers,
    "date": st.dates(date(1, 1, 2), date(9999, 12, 30)),
    "datetime": st.datetimes(datetime(1700, 1, 1), datetime(2250, 1, 1)),
    "time": st.times(),
    "duration": st.timedeltas(timedelta(days=-50_000), timedelta(days=50_000)),
}


@st.composite
def slopes(draw, name, kind):
    ends = draw(st.lists(moments[kind], min_size=2, max_size=3, unique=True).map(sorted))
    missing = draw(st.sampled_from([None, *ends]))
    return Slope(name, ends[0], ends[-1], draw(st.floats(-1e6, 1e6)), missing=missing)


def printable(each):
    """Check whether four digits of the weight of a step are a normal number."""
    return each.weight == 0.0 or 1e-290 < abs(each.step_weight) < 1e290


@settings(max_examples=300)
@given(st.data())
def test_every_printed_slope_is_read(data):
    names = data.draw(st.lists(nasty_names, min_size=1, max_size=4, unique=True))
    kinds = {name: data.draw(st.sampled_from([*moments])) for name in names}
    name = data.draw(st.sampled_from(names))
    printed = data.draw(slopes(name, kinds[name]))

    def known(other):
        return Feature(other, False, None, None, kinds.get(other))

    for text in (str(printed), printed.text(), printed.words()):
        for about in (known, Feature):
            read = parse_term(text, names, about)
            assert read.form == printed.key, text
            assert str(read.form.step) == str(printed.step)
            if text.startswith(("+", "-")) and text == str(printed) and printable(printed):
                assert read.weight == pytest.approx(printed.weight, rel=6e-4)
                again = replace(printed, weight=read.weight)
                assert str(again) == text


@settings(max_examples=200)
@given(st.data())
def test_names_of_rules_are_told_apart_from_slopes(data):
    names = data.draw(st.lists(nasty_names, min_size=1, max_size=4, unique=True))
    first, second = (data.draw(st.sampled_from(names)) for _ in range(2))
    booleans = data.draw(st.booleans())

    def known(name):
        return Feature(name, False, None, "boolean" if booleans else None)

    query = Query((Condition(first, ">", 0.0), Condition(second, ">", -3.0)))
    ensemble = RuleEnsemble(
        (Rule(query, 1.5),), feature_kinds=dict.fromkeys(names, "boolean") if booleans else {}
    )
    for text in (ensemble.text(query), str(ensemble)):
        assert parse_term(text, names, known).form == query, text


def test_plain_names_stay_without_quotes():
    for name in ("distance from centre", "from", "per capita", "2 per cent", "rate per unit", "to"):
        assert format_name(name) == name
    for name in ("x from 3", "per unit of x", "+2 if x", "3 always", "5 per year of x"):
        assert format_name(name) == repr(name)


CELLS = {
    "age": [20.0, 35.5, None, 80.0],
    "rooms from 1 to 3": [True, False, True, None],
    "per unit of age": [1, 2, 3, 4],
    "plan": ["free", "x from 1 to 2", None, "free"],
    "booked": pd.to_datetime(["2020-01-01", "2021-05-05", None, "2024-01-01"]),
    "day": ["2020-01-01", "2021-05-05", None, "2024-01-01"],
    "at": pd.to_datetime(["2020-01-01 12:00", None, "2020-01-02 06:30", "2020-01-03 01:00"]),
    "wait": pd.to_timedelta([30, 60, None, 120], unit="min"),
}


@pytest.mark.parametrize("outputs", [(), ("no", "yes", "if asked")])
def test_models_are_read_line_by_line(outputs):
    X = pd.DataFrame(CELLS)
    table = as_table(X)
    place = len(outputs) - 1 if outputs else 0
    noon = datetime(2020, 1, 1, 12, tzinfo=UTC).replace(tzinfo=None)
    terms = (
        Slope("age", 20, 68, 0.031, place, missing=41.25),
        Rule(Query((Condition("age", ">", 65), Condition("plan", "==", "x from 1 to 2"))), -1.5),
        Rule(Query((Condition("rooms from 1 to 3", "==", True),)), 2.25, place),
        Slope("per unit of age", 1, 3.5, -1234.0),
        Rule(Query(), 0.125, place),
        Slope("booked", date(2020, 1, 1), date(2024, 1, 1), 4e-5, missing=date(2022, 1, 1)),
        Slope("day", date(2020, 1, 1), date(2020, 2, 1), 4e-5, place),
        Slope("at", noon, datetime(2020, 1, 2), 4e-5),
        Slope("wait", timedelta(0), timedelta(hours=2), 4e-5),
    )
    ensemble = RuleEnsemble(
        terms,
        outputs=tuple(Output(name, 0.5) for name in outputs),
        feature_names=table.feature_names,
        feature_kinds={"rooms from 1 to 3": "boolean"},
    )
    lines = str(ensemble).split("\n")[-len(terms) :]
    for line, term in zip(lines, terms, strict=True):
        read = as_term(line, table.feature_names, features_of(table), outputs)
        assert read.output == (term.output if outputs else None)
        assert read.weight == pytest.approx(term.weight, rel=6e-4)
        if isinstance(term, Slope):
            assert read.form == term.key
        else:
            assert (read.form.covered(X) == term.query.covered(X)).all()
        assert np.allclose(
            (replace(term, weight=1.0)).raw_predictions(X),
            read.form.values(X) if isinstance(term, Slope) else read.form.covered(X),
        )
