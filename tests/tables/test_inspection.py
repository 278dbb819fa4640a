"""Columns that no rule should be made of."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine

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
        ("index", COUNT + 2, None),
        ("index", COUNT[::-1], None),
        ("sample", 2 * COUNT, None),
        ("column_0", NUMBERS, None),
        ("id", COUNT[::-1], "identifier"),
        ("PassengerId", 3 * COUNT, "identifier"),
        ("user_id", 3 * COUNT, "identifier"),
        ("paid", 3 * COUNT, None),
        ("valid", 3 * COUNT, None),
        ("id", COUNT // 2, None),
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
        (NUMBERS + 20 * CLASSES, CLASSES),
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
