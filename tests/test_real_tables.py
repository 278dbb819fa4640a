"""Tables as people have them: from files, through fit, texts and predictions, to exports.

Each of them, read from CSV and from Parquet by pandas and by polars, must give the same model and
the same predictions, here and after export.
"""

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine

from laconic import RuleBoostingClassifier, RuleBoostingRegressor
from laconic.export import to_python, to_sql
from laconic.export.json.files import model_to_dict, read_dict

N_ROWS = 300


def rng(seed):
    return np.random.default_rng(seed)


def with_gaps(values, generator, share=0.1):
    gaps = generator.random(N_ROWS) < share
    return [None if gap else value for value, gap in zip(values, gaps, strict=True)]


def days(generator, first="2022-01-01", n_days=900):
    return np.datetime64(first) + generator.integers(0, n_days, N_ROWS)


def loaded(load, **renamed):
    data = load(as_frame=True)
    return data.data.rename(columns=renamed), data.target


def bookings():
    """Dates with gaps, regions, and a count."""
    g = rng(1)
    booked, region = days(g), g.choice(["N", "NE", "E", "S", "W"], N_ROWS)
    y = (
        3 * (booked > np.datetime64("2023-03-01"))
        + 2 * np.isin(region, ["N", "NE"])
        + g.random(N_ROWS)
    )
    return {
        "booked on": pd.Series(with_gaps(pd.Series(booked), g)),
        "region": region,
        "nights": g.integers(1, 9, N_ROWS),
    }, y


def calls():
    """Times to the minute, and a yes/no column with gaps."""
    g = rng(2)
    at = np.datetime64("2024-01-01T00:00") + g.integers(0, 60 * 24 * 90, N_ROWS)
    hour = pd.Series(at).dt.hour
    y = np.where((hour > 17) ^ (g.random(N_ROWS) < 0.1), "late", "early")
    return {
        "called at": at,
        "is new": with_gaps(g.random(N_ROWS) < 0.5, g),
        "x": g.normal(size=N_ROWS),
    }, y


def odd_names():
    """Names and categories that try to break texts and exports."""
    g = rng(3)
    mark = g.choice(["it's", 'a "b"', "c, d", "é\u2028", "x & y", "1"], N_ROWS)
    size = np.round(g.normal(size=N_ROWS), 3)
    y = 2.0 * (mark == "it's") + (size > 0) + 0.1 * g.normal(size=N_ROWS)
    return {"a & b": mark, "größe (cm)": with_gaps(size, g), "is missing": g.normal(size=N_ROWS)}, y


def many_cities():
    """A text column with hundreds of values, some of them common."""
    g = rng(4)
    city = np.where(
        g.random(N_ROWS) < 0.6,
        g.choice(["Bern", "Rome", "Oslo"], N_ROWS),
        np.char.add("city ", g.integers(0, 500, N_ROWS).astype(str)),
    )
    y = np.where(np.isin(city, ["Bern", "Rome"]), "yes", "no")
    y = np.where(g.random(N_ROWS) < 0.1, "no", y)
    return {"city": with_gaps(city, g, 0.05), "zip": g.integers(1000, 9999, N_ROWS)}, y


def years():
    """Years and other integers, one of them constant, one empty column."""
    g = rng(5)
    year = g.integers(1990, 2025, N_ROWS)
    return {
        "year": year,
        "constant": np.full(N_ROWS, 7),
        "rooms": with_gaps(g.integers(1, 8, N_ROWS).astype(float), g),
        "price": np.round(g.gamma(2, 100, N_ROWS), 2),
    }, (year > 2005) * 10.0 + g.normal(size=N_ROWS)


def two_dates():
    """Two dates, one before 1970, and text that has dates in it without being one."""
    g = rng(6)
    born, seen = days(g, "1940-01-01", 25_000), days(g)
    text = g.choice(["2024-03-01?", "soon", "2024"], N_ROWS)
    y = (born > np.datetime64("1980-01-01")) * 2.0 + (seen > np.datetime64("2023-01-01"))
    return {"born": born, "last seen": seen, "note": text}, y + 0.1 * g.normal(size=N_ROWS)


TABLES = {
    "bookings": bookings,
    "calls": calls,
    "odd names": odd_names,
    "many cities": many_cities,
    "years": years,
    "two dates": two_dates,
    "iris": lambda: (lambda X, y: (X, y == 1))(*loaded(load_iris)),
    "wine": lambda: (lambda X, y: (X, y == 0))(*loaded(load_wine)),
    "breast cancer": lambda: loaded(load_breast_cancer),
    "diabetes": lambda: loaded(load_diabetes, sex="sex [0/1]"),
}


def files(folder, X):
    """Write a table once as CSV and once as Parquet, and read each with pandas and polars."""
    frame = pd.DataFrame(X)
    csv, parquet = folder / "table.csv", folder / "table.parquet"
    frame.to_csv(csv, index=False)
    frame.to_parquet(parquet)
    # Old releases round the last digit of some numbers unless they are told not to.
    is_old = int(pd.__version__.split(".")[0]) < 3
    options = {"float_precision": "round_trip"} if is_old else {}
    return {
        "pandas, CSV": pd.read_csv(csv, **options),
        "polars, CSV": pl.read_csv(csv, infer_schema_length=None),
        "polars, CSV with dates": pl.read_csv(csv, try_parse_dates=True, infer_schema_length=None),
        "pandas, Parquet": pd.read_parquet(parquet),
        "polars, Parquet": pl.read_parquet(parquet),
    }


@pytest.mark.parametrize("categories", ["values", "sets"])
@pytest.mark.parametrize("name", TABLES)
@pytest.mark.filterwarnings("ignore::laconic.ColumnWarning")
def test_files_and_libraries_give_the_same(tmp_path, name, categories):
    X, y = TABLES[name]()
    y = np.asarray(y)
    is_numeric = y.dtype.kind == "f"
    make = RuleBoostingRegressor if is_numeric else RuleBoostingClassifier
    parameters = {"n_terms": 4, "categories": categories, "date_parts": ["weekday", "hour"]}
    models, predictions = {}, {}
    tables = files(tmp_path, X)
    for source, table in tables.items():
        models[source] = make(**parameters).fit(table, y)
        predictions[source] = models[source].predict(table).tolist()
    first = models["pandas, Parquet"]
    expected = first.predict(tables["pandas, Parquet"]).tolist()
    for source, model in models.items():
        assert str(model) == str(first), source
        assert predictions[source] == expected, source
        assert first.predict(tables[source]).tolist() == expected, source
    _check_exports(first, tables["polars, Parquet"], expected)


def _check_exports(model, table, expected):
    loaded = read_dict(json.loads(json.dumps(model_to_dict(model))))
    assert loaded.ensemble == model.ensemble_
    assert str(loaded.ensemble) == str(model.ensemble_)
    # Both are run on edge rows before they are handed out.
    to_sql(model, "duckdb")
    module = {}
    exec(to_python(model), module)
    assert [module["predict"](row)["prediction"] for row in table.to_dicts()] == expected
