"""Columns that no rule should be made of."""

import re
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine

import laconic
from laconic import (
    ColumnWarning,
    Condition,
    RuleBoostingClassifier,
    RuleBoostingRegressor,
    RuleBoostingRegressorCV,
)
from laconic.tables.inspection import inspect_columns, inspect_target
from laconic.tables.tables import as_table

N_ROWS = 200
COUNT = np.arange(N_ROWS)
RNG = np.random.default_rng(0)
NUMBERS = RNG.normal(size=N_ROWS)
CLASSES = RNG.integers(0, 2, N_ROWS).astype(float)


def kinds(columns):
    return {finding.column: finding.kind for finding in inspect_columns(as_table(columns))}


@pytest.mark.parametrize(
    ("name", "values", "kind"),
    [
        ("Unnamed: 0", COUNT, "index"),
        ("index", COUNT + 1, "index"),
        ("", COUNT, "index"),
        ("column_0", COUNT.astype(float), "index"),
        ("Row Number", COUNT, "index"),
        ("sample", COUNT, "count"),
        ("index", COUNT % 100, "index"),
        ("index", COUNT % 10, None),
        ("sample", COUNT % 100, "count"),
        ("day", COUNT % 100, None),
        ("Unnamed: 0", COUNT + 2, "identifier"),
        ("index", COUNT[::-1], "identifier"),
        ("sample", 2 * COUNT, None),
        ("column_0", NUMBERS, None),
        ("id", COUNT[::-1], "identifier"),
        ("PassengerId", 3 * COUNT, "identifier"),
        ("user_id", 3 * COUNT, "identifier"),
        ("paid", 3 * COUNT, None),
        ("valid", 3 * COUNT, None),
        ("id", COUNT // 2, None),
        ("id", [*COUNT[:1:-1], 5, 7], "identifier"),
        ("id", [*COUNT[:1:-1], None, 7], "identifier"),
        ("id", [*COUNT[:5:-1], *range(10, 16)], None),
        ("patient", 3 * COUNT, "identifier"),
        ("caseNumber", 3 * COUNT, "identifier"),
        ("patients", 3 * COUNT, None),
        ("id", NUMBERS, None),
        ("name", [f"n{number}" for number in COUNT], "names"),
        ("name", [f"n{number // 2}" for number in COUNT], None),
        ("constant", [7.5] * N_ROWS, "constant"),
        ("constant", ["a"] * N_ROWS, "constant"),
        ("constant", [None] * N_ROWS, "constant"),
        ("constant", [7.5, None] * (N_ROWS // 2), None),
    ],
)
def test_columns(name, values, kind):
    expected = {} if kind is None else {name: kind}
    assert kinds(pl.DataFrame({name: values})) == expected


def test_only_the_first_column_may_count_by_chance():
    assert kinds(pl.DataFrame({"x": NUMBERS, "day": COUNT})) == {}
    assert kinds(pl.DataFrame({"day": range(20)})) == {}


LONG = np.random.default_rng(1).permutation(6000)[:5000]


@pytest.mark.parametrize(
    ("values", "is_found"),
    [
        (LONG, True),
        ([*LONG[:-2], *LONG[:2]], True),
        (LONG[:900], False),
        ([*LONG[:-50], *LONG[:50]], True),
        ([*LONG[:-150], *LONG[:150]], False),
        (np.sort(LONG), False),
        (np.random.default_rng(0).integers(0, 10**6, 5000), False),
        (np.random.default_rng(0).integers(0, 10**9, 5000), False),
        (LONG + 0.5, False),
    ],
)
def test_numbers_are_identifiers_if_they_repeat_less_than_by_chance(values, is_found):
    """IDs without a telling name were features, as were those with a few repetitions."""
    found = [*inspect_columns(as_table(pl.DataFrame({"x": values, "value": values})))]
    assert {each.column: each.kind for each in found} == (
        dict.fromkeys(("x", "value"), "identifier") if is_found else {}
    )


def test_findings_count():
    table = pl.DataFrame(
        {
            "group": COUNT // 50,
            "nr": COUNT % 50,
            "value": COUNT % 50,
            "id": [*COUNT[:1:-1], 5, 7],
        }
    )
    assert [*map(str, inspect_columns(as_table(table)))] == [
        "column 'nr' counts the rows, in 4 groups",
        "column 'id' has 198 different whole numbers in 200 rows, like a row ID",
    ]


def tells(values, target):
    table = as_table(pl.DataFrame({"a": values}, strict=False))
    return bool([*inspect_target(table, np.asarray(target, dtype=float))])


@pytest.mark.parametrize(
    ("values", "target"),
    [
        (CLASSES, CLASSES),
        (3 - 2 * CLASSES, CLASSES),
        (np.where(CLASSES == 1, "yes", "no"), CLASSES),
        (np.where(CLASSES == 1, np.where(COUNT % 2, "a", "b"), "c"), CLASSES),
        (np.where(CLASSES == 1, NUMBERS, np.nan), CLASSES),
        (np.where(CLASSES == 1, np.abs(NUMBERS), 0), CLASSES),
        ([f"t{n}" if c else None for n, c in zip(COUNT, CLASSES, strict=True)], CLASSES),
        (NUMBERS, NUMBERS),
        (5 - 3 * NUMBERS, NUMBERS),
        (np.where(COUNT % 20, NUMBERS, np.nan), NUMBERS),
        (np.round(NUMBERS, 2), NUMBERS),
        (np.exp(NUMBERS), NUMBERS),
        (-(NUMBERS**3), NUMBERS),
        (np.array(list("abc"))[COUNT % 3], [1.0, 5.0, 2.5] * 66 + [1.0, 5.0]),
    ],
)
def test_copies_and_recodings_tell_the_target(values, target):
    assert tells(values, target)
    n_few = 99
    assert not tells(values[:n_few], target[:n_few])


@pytest.mark.parametrize(
    ("values", "target"),
    [
        (NUMBERS, CLASSES),
        (NUMBERS + 0.2 * RNG.normal(size=N_ROWS), NUMBERS),
        (NUMBERS > 0, NUMBERS),
        (np.where(COUNT < 6, 1 - CLASSES, CLASSES), CLASSES),
        (np.where(COUNT < 4, "rare", "common"), (COUNT < 4).astype(float)),
        ([f"t{n}" for n in COUNT], CLASSES),
        (CLASSES, np.zeros(N_ROWS)),
        ([None] * N_ROWS, CLASSES),
    ],
)
def test_ordinary_columns_do_not_tell_the_target(values, target):
    assert not tells(values, target)


@pytest.mark.parametrize("scale", [1.7e308, 1e200, 1e-200])
def test_extreme_scales_change_nothing(scale):
    numbers = scale * (NUMBERS / np.abs(NUMBERS).max())
    for values, target in [(numbers, NUMBERS), (NUMBERS, numbers), (numbers, numbers)]:
        assert tells(values, target)
        assert not tells(values, target[::-1])


GRADES = np.digitize(NUMBERS, [-1, 0, 1])
CODES = COUNT % 7


def relations(columns, target):
    return [*map(str, inspect_target(as_table(pl.DataFrame(columns)), np.asarray(target, float)))]


@pytest.mark.parametrize(
    ("values", "target", "words"),
    [
        (NUMBERS, NUMBERS > 0.5, "perfectly (a > 0.5)"),
        (-NUMBERS, NUMBERS > 0.5, "perfectly (a > -0.5)"),
        (np.where(COUNT % 20, NUMBERS, np.nan), NUMBERS > 0.5, "perfectly (a > 0.5)"),
        (NUMBERS + 20 * CLASSES, CLASSES, "perfectly (a > 10)"),
        (NUMBERS, GRADES, "perfectly (thresholds -1, 0 and 1)"),
        (
            np.where(COUNT == 7, -9, NUMBERS),
            np.median(NUMBERS) < NUMBERS,
            "almost perfectly (a > 0.048, right in 99.5 % of the rows)",
        ),
        (
            np.datetime64("2024-01-01") + COUNT,
            COUNT > 30,
            "perfectly (a > 2024-01-31)",
        ),
    ],
)
def test_a_threshold_between_classes_is_told(values, target, words):
    """A late arrival was predicted from the delay at the arrival."""
    sentence = "column 'a' separates the classes of the target " + words
    assert relations({"a": values}, target) == [sentence]
    n_few = 199
    assert relations({"a": values[:n_few]}, target[:n_few]) == []


@pytest.mark.parametrize(
    ("values", "target"),
    [
        (np.where(COUNT < 6, -NUMBERS, NUMBERS), NUMBERS > 0),
        (np.where(COUNT < 120, np.nan, NUMBERS), NUMBERS > 0),
        (NUMBERS, np.abs(NUMBERS) > 1),
        (NUMBERS, COUNT < 9),
        (NUMBERS, np.where(NUMBERS > 1, 2, CLASSES)),
        (np.ones(N_ROWS), CLASSES),
    ],
)
def test_ordinary_thresholds_are_not_told(values, target):
    assert relations({"a": values}, target) == []


def test_a_set_of_numbers_is_told():
    assert relations({"a": CODES}, np.isin(CODES, [2, 5])) == [
        "column 'a' determines the target on its own"
    ]


def test_a_rare_class_among_many_rows_is_told():
    values = np.random.default_rng(0).normal(size=50_000)
    cut = np.sort(values)[-30]
    [sentence] = relations({"a": values}, values >= cut)
    assert "perfectly (a > 3." in sentence


PARTS = dict(zip("abcdefg", RNG.lognormal(size=(7, N_ROWS)).round(2), strict=True))
A, B, C, D, E, F, _ = PARTS.values()


@pytest.mark.parametrize(
    ("target", "names", "formula"),
    [
        (A + B, "ab", "a + b"),
        (C - A, "ac", "- a + c"),
        (A + B + C + D, "abcd", "a + b + c + d"),
        (np.round(100 * (A + B + C + D)), "abcd", "100*a + 100*b + 100*c + 100*d"),
        (3 * A - E / 2 + 7, "ae", "3*a - 0.5*e + 7"),
        (A * B, "ab", "a * b"),
        (A / B, "ab", "a / b"),
        (5 * A / B**2 * C, "abc", "5 * a / b**2 * c"),
    ],
)
def test_sums_and_products_are_told(target, names, formula):
    """Columns that add up to the target were not noticed."""
    listed = ", ".join(map(repr, names[:-1])) + f" and {names[-1]!r}"
    sentence = f"columns {listed} determine the target together ({formula})"
    assert relations(PARTS, target) == [sentence]
    gaps = {name: np.where(RNG.random(N_ROWS) < 0.03, np.nan, each) for name, each in PARTS.items()}
    assert relations(gaps, target) == [sentence]
    copies = PARTS | {f"{name} (copy)": values for name, values in PARTS.items()}
    assert relations(copies, target) == [sentence]


@pytest.mark.parametrize(
    "target",
    [
        A + B + C + D + E + F,
        A + B + 0.1 * NUMBERS,
        A * B + C,
        np.where(COUNT == 3, 1e9 * A, E),
        np.where(COUNT % 3 == 0, A + B, E),
    ],
)
def test_many_or_noisy_addends_are_not_told(target):
    assert relations(PARTS, target) == []


def test_sums_are_found_among_many_columns_and_rows():
    cells = np.random.default_rng(0).normal(size=(2000, 400))
    table = as_table(cells)
    target = cells[:, 7] + cells[:, 90] - 2 * cells[:, 333]
    [found] = inspect_target(table, target)
    assert found.columns == ("x7", "x90", "x333")
    rows = np.arange(2000) % 2 == 0
    target[~rows] = 0
    [found] = inspect_target(table, target[rows], rows)
    assert found.columns == ("x7", "x90", "x333")
    assert [*inspect_target(table, target)] == []


def spoiled():
    return pd.DataFrame(
        {
            "Unnamed: 0": COUNT,
            "x": NUMBERS,
            "name": [f"n{number}" for number in COUNT],
            "copy": np.where(CLASSES == 1, "B", "M"),
        }
    )


def test_estimators_warn_once_about_all_columns():
    with pytest.warns(ColumnWarning) as caught:
        RuleBoostingClassifier(1).fit(spoiled(), CLASSES)
    [warning] = caught
    assert warning.filename == __file__
    assert str(warning.message) == (
        "Column 'Unnamed: 0' counts the rows; column 'name' has 200 different texts in 200 rows; "
        "rules about single ones do not generalize; column 'copy' determines the target on its "
        "own. Drop these columns, or silence laconic.ColumnWarning if they are intended."
    )
    with pytest.warns(ColumnWarning) as caught:
        RuleBoostingRegressorCV(1, search="greedy").fit(spoiled()[["x"]], 2 * NUMBERS)
    assert [each.filename for each in caught] == [__file__]


def test_rows_without_weight_and_own_conditions_say_nothing():
    X, weights = spoiled()[["copy"]], (COUNT < 99).astype(float)
    RuleBoostingClassifier(1).fit(X, CLASSES, weights)
    own = [Condition("copy", "==", "B")]
    RuleBoostingClassifier(1, conditions=own).fit(X, CLASSES)


@pytest.mark.parametrize("load", [load_breast_cancer, load_diabetes, load_iris, load_wine])
def test_ordinary_tables_give_no_warning(load):
    X, y = load(as_frame=True, return_X_y=True)
    with warnings.catch_warnings(action="error"):
        for label in np.unique(y) if load is not load_diabetes else []:
            RuleBoostingClassifier(1, search="greedy").fit(X, y == label)
        RuleBoostingRegressor(1, search="greedy").fit(X, y)


LARGE = [2**53 + n for n in range(60)]


@pytest.mark.parametrize(
    "make",
    [
        lambda cells: np.array([cells, range(60)]).T,
        lambda cells: pd.DataFrame({"x0": cells, "x1": range(60)}),
        lambda cells: pd.DataFrame({"x0": cells}, dtype="Int64"),
        lambda cells: pd.DataFrame({"x0": cells}, dtype=object),
        lambda cells: pl.DataFrame({"x0": [*cells[:-1], None]}),
    ],
)
def test_whole_numbers_that_are_rounded_are_told(make):
    """Rules cannot tell 2**53 from 2**53 + 1: that was not said."""
    y = np.arange(60) % 2
    with pytest.warns(ColumnWarning, match=r"x0' holds whole numbers beyond 2\*\*53"):
        RuleBoostingRegressor(1).fit(make(LARGE), y)
    even = [2**53 + 2 * n for n in range(60)]
    assert not [each for each in inspect_columns(as_table(make(even))) if each.kind == "rounded"]


DAYS = pd.date_range("1995-08-01", periods=60)


@pytest.mark.parametrize(
    ("texts", "words"),
    [
        (DAYS.strftime("%b %d %Y"), "holds dates as texts, such as 'Aug 01 1995'"),
        (DAYS.strftime("%d/%m/%Y"), "holds dates as texts, such as '01/08/1995'"),
        ([f"$1,2{n:02}.50" for n in range(60)], "holds numbers as texts, such as '$1,200.50'"),
    ],
)
@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_texts_of_dates_and_amounts_come_with_the_line_that_reads_them(make, texts, words):
    X, y = make({"when": [*texts]}), np.arange(60.0)
    with pytest.warns(ColumnWarning, match=re.escape(f"'when' {words}")) as caught:
        RuleBoostingRegressor(1).fit(X, y)
    (message,) = (str(each.message) for each in caught)
    assert "convert them with X = laconic.read_table(X)." in message
    X = laconic.read_table(X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = RuleBoostingRegressor(1).fit(X, y)
    assert model.score(X, y) > 0.5


def test_texts_that_are_not_valid_unicode_are_categories():
    X = pd.DataFrame({"a": pd.Series(["\ud8005", "6"] * 10, dtype=object)})
    model = RuleBoostingRegressor(1).fit(X, [0, 1] * 10)
    assert model.ensemble_.used_features == ["a"]


def test_dates_that_can_be_read_in_two_ways_come_with_both_lines():
    days = [f"{1 + n % 12:02}/{1 + n // 12:02}/2020" for n in range(60)]
    with pytest.warns(ColumnWarning, match="holds dates as texts") as caught:
        RuleBoostingRegressor(1).fit(pd.DataFrame({"when": days}), np.arange(60.0))
    message = str(caught[0].message)
    lines = re.findall(r"X = laconic\.read_table\(X, dates=\{'when': '([^']*)'\}\)", message)
    assert sorted(lines) == ["%d/%m/%Y", "%m/%d/%Y"]


@pytest.mark.parametrize(
    "texts",
    [
        [f"type {n % 7}" for n in range(60)],
        [f"{n % 5}-{n % 7 + 5}" for n in range(60)],
        [f"{n % 20} cm" for n in range(60)],
        ["unknown", *(f"{n % 9}{'ab'[n % 2]}" for n in range(59))],
    ],
)
def test_other_texts_with_digits_stay_texts(texts):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        RuleBoostingRegressor(1).fit(pd.DataFrame({"x": texts}), np.arange(60.0))
