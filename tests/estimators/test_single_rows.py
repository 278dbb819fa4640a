"""Single rows, which terms read as plain cells, against the same rows read by columns."""

import copy
import math
import pickle
import random
import warnings
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from exports import MODELS, dated_model, make_model, many_classes, with_certificates
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from laconic import Condition, RuleBoostingRegressor, RuleEnsemble, Slope, load_model, save_model
from laconic.estimators import training_data
from laconic.export.edge_rows import edge_values
from laconic.export.portable import portable_model
from laconic.tables import tables
from laconic.terms.rows import RowPlan

NAMES = ("a", "b", "c", "d")
NUMBERS = (0.0, -0.0, 1.0, 2.5, -3.0, 1e300, 5e-324, math.inf, -math.inf, math.nan)
INTEGERS = (0, 1, -3, 7, 2**53, 2**53 + 1, -(2**53) - 1, 2**63, 10**400)
TEXTS = ("x", "o", "other", "1", "1.0", "01", "true", "False", "", " ", "2024-03-01", "nan")
OTHERS = (
    *(None, True, False, date(2024, 3, 1), datetime(2024, 3, 1, 12), Decimal("2.5")),
    *(np.float64(2.5), np.float64("nan"), np.float32(0.1), np.int64(7), np.bool_(True)),
    *(datetime(2024, 3, 1, 12, tzinfo=UTC), datetime.max, date.min, datetime(1969, 12, 31, 23)),
    *(pd.Timestamp("2024-03-01 12:00:00.000000001"), pd.Timestamp("2024-03-01 12", tz="UTC")),
    *(timedelta(days=1), time(12), pd.Timestamp("1970-01-02")),
    *(pd.NA, pd.NaT, pd.Timestamp("2024-03-01"), np.datetime64("2024-03-01"), 1j, b"x", [1, 2]),
)
DATES = (date(2024, 3, 1), datetime(2024, 3, 1, 12), pd.Timestamp("2024-03-01"), pd.NaT, None)
CELLS = st.one_of(*map(st.sampled_from, (NUMBERS, INTEGERS, TEXTS, DATES, OTHERS)), st.floats())


def thresholds(name):
    values = st.sampled_from((0.0, 1.0, 2.5, -3.0, 1e300)) | st.floats(-10, 10)
    return st.builds(Condition, st.just(name), st.sampled_from(("<=", ">")), values)


def comparisons(name, values):
    one = st.builds(Condition, st.just(name), st.sampled_from(("==", "!=")), values)
    sets = st.lists(values, min_size=1, max_size=4).map(tuple)
    return one | st.builds(Condition, st.just(name), st.sampled_from(("in", "not in")), sets)


def missing(name):
    return st.builds(Condition, st.just(name), st.sampled_from(("is missing", "is present")))


@st.composite
def slopes(draw, name):
    if draw(st.booleans()):
        return Slope(name, date(1960, 1, 1), date(2030, 1, 1), 1e-3, missing=date(2000, 1, 1))
    lower = draw(st.sampled_from((0.0, -3.0, 1.0)))
    upper = lower + draw(st.sampled_from((1.0, 2.5, 1e6)))
    share = draw(st.sampled_from((None, 0.0, 0.3, 1.0)))
    value = None if share is None else lower + share * (upper - lower)
    return Slope(name, lower, upper, draw(st.floats(-5, 5)), missing=value)


WHOLE = st.sampled_from((0, 1, 2.5, -3, True, 2**53, 2**53 + 1))
DAYS = st.sampled_from((date(2024, 3, 1), datetime(2024, 3, 1, 12), date(1970, 1, 1)))
KINDS = {
    "numbers": lambda name: thresholds(name) | comparisons(name, WHOLE) | missing(name),
    "texts": lambda name: comparisons(name, st.sampled_from(TEXTS)) | missing(name),
    "missing": missing,
    "mixed": lambda name: thresholds(name) | comparisons(name, st.sampled_from(TEXTS)),
    "dates": lambda name: (
        st.builds(Condition, st.just(name), st.sampled_from(("==", "!=", "<=", ">")), DAYS)
        | missing(name)
        | st.builds(Condition, st.just(f"weekday of {name}"), st.just("=="), st.just("Fri"))
    ),
}


# Cells that rows with such terms mostly have.
USUAL = {"numbers": (*NUMBERS, *INTEGERS, None), "texts": (*TEXTS, None), "dates": DATES}


@st.composite
def problems(draw):
    """Draw a model, and a row for it."""
    kinds = [draw(st.sampled_from(("numbers", "texts", "dates", *KINDS))) for _ in NAMES]
    conditions = [KINDS[kind](name) for kind, name in zip(kinds, NAMES, strict=True)]
    rules = st.tuples(st.lists(st.one_of(conditions), max_size=3), st.floats(-5, 5))
    numeric = [name for kind, name in zip(kinds, NAMES, strict=True) if kind != "texts"]
    terms = st.one_of(rules, *map(slopes, numeric))
    model = make_model(
        draw(st.lists(terms, max_size=6)),
        intercept=draw(st.sampled_from((0.0, 0.1, -2.0))),
        feature_names=NAMES,
    )
    is_usual = draw(st.integers(0, 3)) > 0
    cells = [st.sampled_from(USUAL[kind]) if kind in USUAL else CELLS for kind in kinds]
    return model, [draw(each if is_usual else CELLS) for each in cells]


NULLS = (pl.List(pl.Int8), pl.Binary, pl.Date, pl.Null)


def as_text(frame):
    return frame.astype({name: "str" for name in NAMES if isinstance(frame[name][0], str)})


FORMS = {
    "list": lambda row: [row],
    "array of objects": lambda row: np.array([row], dtype=object),
    "array": lambda row: np.array([row]),
    "pandas": lambda row: pd.DataFrame([row], columns=NAMES),
    "objects": lambda row: pd.DataFrame([row], columns=NAMES, dtype=object),
    "text": lambda row: as_text(pd.DataFrame([row], columns=NAMES)),
    "category": lambda row: pd.DataFrame([row], columns=NAMES).astype("category"),
    "nullable": lambda row: pd.DataFrame([row], columns=NAMES).convert_dtypes(),
    "part": lambda row: pd.DataFrame([row, row], columns=NAMES).iloc[[1]],
    "other order": lambda row: pd.DataFrame([row], columns=NAMES)[["b", "a", "c", "d"]],
    "too few": lambda row: pd.DataFrame([row], columns=NAMES)[["a", "b"]],
    "too many": lambda row: pd.DataFrame([row], columns=NAMES).assign(e=1),
    "other names": lambda row: pd.DataFrame([row], columns=["a", "b", "c", "D"]),
    "numbered": lambda row: pd.DataFrame([row]),
    "mixed names": lambda row: pd.DataFrame([row], columns=["a", "b", "c", 4]),
    "polars": lambda row: pl.DataFrame([row], schema=[*NAMES], orient="row"),
    "polars texts": lambda row: pl.DataFrame([row], schema=[*NAMES], orient="row").with_columns(
        pl.col(pl.String).cast(pl.Categorical)
    ),
    "polars times": lambda row: pl.from_pandas(
        pd.DataFrame({name: pd.to_datetime([cell]) for name, cell in zip(NAMES, row, strict=True)})
    ),
    "polars objects": lambda row: pl.DataFrame([row], schema=dict.fromkeys(NAMES, pl.Object)),
    "polars nulls": lambda row: pl.DataFrame(
        [pl.Series(name, [None], dtype) for name, dtype in zip(NAMES, NULLS, strict=True)]
    ),
    "records": lambda row: [dict(zip(reversed(NAMES), row, strict=True))],
    "too few keys": lambda row: [dict(zip("abc", row, strict=False))],
    "other keys": lambda row: [dict(zip("abcD", row, strict=True))],
    "pyarrow": lambda row: pa.Table.from_pylist([dict(zip(NAMES, row, strict=True))]),
}


def outcome(predict, X):
    """Return what a call returns or raises, and its warnings."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            raw = predict(X)
            result = raw.dtype, raw.shape, repr(raw.tolist()), raw.flags.writeable
        except Exception as error:
            result = type(error), str(error)
    return result, [(each.category, str(each.message)) for each in told]


def by_columns(predict, X):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(RowPlan, "read", lambda self, table: None)
        # scikit-learn does not know rows that are dictionaries.
        patch.setattr(
            training_data, "_has_fitted_columns", lambda estimator, table: table.has_records
        )
        return outcome(predict, X)


def made(form, row):
    """Make a table; None if its library does not take the cells."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return FORMS[form](row)
        except Exception:
            return None


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(problems(), st.sampled_from([*FORMS]), st.booleans())
def test_rows_are_predicted_as_columns_are(problem, form, has_names):
    model, row = problem
    X = made(form, row)
    if X is None:
        return
    if not has_names:
        del model.feature_names_in_
    assert outcome(model.predict, X) == by_columns(model.predict, X)
    raw_predictions = model.ensemble_.raw_predictions
    assert outcome(raw_predictions, X) == by_columns(raw_predictions, X)


MANY = MODELS | {"dates": dated_model(), "many classes": many_classes(Slope("age", 20, 60, 0.1))}


@pytest.mark.parametrize("name", MANY)
def test_every_kind_of_model(name):
    model = MANY[name]
    names = model.ensemble_.feature_names
    portable = portable_model(model)
    used = model.ensemble_.used_features
    values = {each: [None, *edge_values(portable, each)] for each in used}
    choose = random.Random(0).choice
    for _ in range(20):
        row = {each: choose(values.get(each, [1.5])) for each in names}
        frame = pd.DataFrame([row], columns=names)
        for X in (frame, frame.to_numpy(dtype=object), [row]):
            for method in ("predict", "predict_proba", "decision_function"):
                if predict := getattr(model, method, None):
                    assert outcome(predict, X) == by_columns(predict, X)


MODEL = make_model(
    [
        ([Condition("a", "<=", 1.5), Condition("c", "in", ("x", "o"))], -1.0),
        ([Condition("b", "is missing"), Condition("d", "==", True)], 0.3),
        Slope("a", 1.0, 4.0, 0.7, missing=2.0),
    ],
    intercept=0.1,
    feature_names=NAMES,
)
ROW = (3, None, "x", True)


@pytest.mark.parametrize(
    "form", ["pandas", "text", "category", "polars", "polars texts", "records"]
)
def test_columns_are_not_made(form, monkeypatch):
    X = made(form, ROW[::-1] if form == "records" else ROW)
    expected, _ = by_columns(MODEL.predict, X)
    for name in ("array_column", "pandas_column", "series_column"):
        monkeypatch.setattr(tables, name, None)
    monkeypatch.setattr(training_data, "validate_data", None)
    assert outcome(MODEL.predict, X) == (expected, [])
    predictions = MODEL.predictions_for(X)
    assert repr(predictions.values.tolist()) == expected[2]


@pytest.mark.parametrize("form", ["list", "array of objects"])
def test_names_are_missed(form, monkeypatch):
    X = made(form, ROW)
    expected = by_columns(MODEL.predict, X)
    assert len(expected[1]) == 1
    monkeypatch.setattr(tables, "array_column", None)
    assert outcome(MODEL.predict, X) == expected


def test_a_plan_is_no_part_of_the_model(tmp_path):
    fresh = with_certificates(copy.copy(MODEL))
    fresh.ensemble_ = RuleEnsemble(MODEL.ensemble_.terms, 0.1, NAMES)
    before = pickle.dumps(fresh), repr(fresh.ensemble_), hash(fresh.ensemble_)
    plain = copy.deepcopy(fresh.ensemble_)
    save_model(fresh, tmp_path / "fresh.json")
    X = FORMS["pandas"](ROW)
    expected = fresh.predict(X)
    assert fresh.ensemble_ == plain
    assert (pickle.dumps(fresh), repr(fresh.ensemble_), hash(fresh.ensemble_)) == before
    save_model(fresh, tmp_path / "used.json")
    assert (tmp_path / "used.json").read_bytes() == (tmp_path / "fresh.json").read_bytes()
    for other in (pickle.loads(before[0]), load_model(tmp_path / "used.json"), copy.copy(fresh)):
        assert other.predict(X) == expected
    fresh.ensemble_ = fresh.ensemble_[:1]
    assert fresh.predict(X) == [0.1]


def test_rows_may_be_dictionaries():
    rows = [dict(zip(NAMES, ROW, strict=True)), {"d": None, "c": "z", "b": 2, "a": 1}]
    frame = pd.DataFrame([ROW, (1, 2, "z", None)], columns=NAMES)
    assert MODEL.predict(rows).tolist() == MODEL.predict(frame).tolist()
    assert str(MODEL.explain(rows)) == str(MODEL.explain(frame))
    with pytest.raises(ValueError, match=r"same keys\. Those of row 1 differ"):
        MODEL.predict([rows[0], {"a": 1}])
    with pytest.raises(ValueError, match=r"columns of the fit\. Add 'd' to the table\."):
        MODEL.predict([{"a": 1, "b": 2, "c": "x"}])
    with pytest.raises(ValueError, match="Remove 'e' from the rows"):
        MODEL.predict([rows[0] | {"e": 1}])
    with pytest.raises(TypeError, match="Make a DataFrame of them"):
        RuleBoostingRegressor().fit(rows, [0, 1])


NOON = datetime(2024, 3, 1, 12)
DAY_SLOPE = Slope("a", date(2024, 1, 1), date(2024, 12, 31), 0.1, missing=date(2024, 3, 1))


@pytest.mark.parametrize(
    ("term", "cell", "expected"),
    [
        (Slope("a", 1.0, 4.0, 0.5, missing=2.0), None, 0.5),
        (Slope("a", 1.0, 4.0, 0.5, missing=2.0), math.nan, 0.5),
        (Slope("a", 1.0, 4.0, 0.5), None, 0.0),
        (Slope("a", 1.0, 4.0, 0.5), 9, 1.5),
        (DAY_SLOPE, pd.NaT, 6.0),
        (DAY_SLOPE, date(2024, 1, 11), 1.0),
        (([Condition("a", "<=", NOON)], 1.0), pd.Timestamp(NOON), 1.0),
        (([Condition("a", "<=", NOON)], 1.0), pd.Timestamp("2024-03-01 12:00:00.000000001"), 0.0),
        (([Condition("a", "==", date(2024, 3, 1))], 1.0), datetime(2024, 3, 1), 1.0),
        (([Condition("a", "not in", ("x", "o"))], 1.0), None, 0.0),
        (([Condition("a", "not in", ("x", "o"))], 1.0), "z", 1.0),
        (([Condition("a", "!=", 3)], 1.0), math.nan, 0.0),
        (([Condition("a", "<=", 2**53)], 1.0), 2**53 + 1, 1.0),
    ],
)
def test_terms(term, cell, expected):
    model = make_model([term], feature_names=("a",))
    frame = pd.DataFrame({"a": [cell]})
    for X in (frame, pl.from_pandas(frame)):
        assert model.predict(X).tolist() == pytest.approx([expected])
    for X in (frame, pl.from_pandas(frame), frame.astype(object), [{"a": cell}]):
        assert outcome(model.predict, X) == by_columns(model.predict, X)


DAY = pd.ArrowDtype(pa.date32())
FAR = {
    "polars date": pl.DataFrame([pl.Series("a", [10**8], pl.Int32).cast(pl.Date)]),
    "polars time": pl.DataFrame([pl.Series("a", [2**62]).cast(pl.Datetime("us"))]),
    "polars duration": pl.DataFrame([pl.Series("a", [2**62]).cast(pl.Duration("ms"))]),
    "pandas date": pd.DataFrame({"a": pd.array(pa.array([2**30], pa.date32()), dtype=DAY)}),
}


@pytest.mark.parametrize("frame", FAR.values(), ids=FAR)
@pytest.mark.parametrize("feature", ["a", "b"])
def test_times_that_python_does_not_have(frame, feature):
    slope = Slope("b", 1.0, 4.0, 0.5) if feature == "b" else DAY_SLOPE
    model = make_model([slope], feature_names=("a", "b"))
    one = frame.assign(b=2.0) if isinstance(frame, pd.DataFrame) else frame.with_columns(b=2.0)
    two = (pd if isinstance(frame, pd.DataFrame) else pl).concat([one, one])
    of_first = (outcome(lambda X: model.predict(X)[:1], each) for each in (one, two))
    assert next(of_first) == next(of_first)


def test_texts_that_equal_nothing_are_told():
    model = make_model([([Condition("a", "==", "x")], 1.0)])
    with pytest.warns(UserWarning, match="'a' holds only numbers"):
        assert model.predict(pd.DataFrame({"a": ["1"]})) == [0.0]


def test_converted_cells_are_no_row():
    table = tables.as_table([["5"]])
    assert table.row(["x0"]) == ["5"]
    assert table.row(["x1"]) is None
    assert table.rename(["a"]).row(["a"]) == ["5"]
    assert table.reading_dates(["x0"]).row(["x0"]) is None
