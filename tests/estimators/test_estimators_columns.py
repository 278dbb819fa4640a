"""Columns of new tables: chosen by name, and read as the columns of the fit were."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from commands import refused
from numpy.testing import assert_array_equal

from laconic import RuleBoostingClassifier, load_model, save_model

FRAMES = {"pandas": lambda X: X, "polars": pl.from_pandas, "pyarrow": pa.Table.from_pandas}


def customers(n_rows=200):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "age": rng.integers(18, 90, n_rows),
            "code": rng.choice(["1", "2", "3", "A"], n_rows),
            "member": rng.choice([True, False], n_rows),
        }
    )
    is_yes = (X["age"] > 50) ^ X["code"].isin(["1", "A"]) ^ X["member"]
    return X, np.where(is_yes, "yes", "no")


@pytest.fixture(scope="module")
def model():
    options = {"slopes": False, "max_thresholds": 5}
    return RuleBoostingClassifier(n_terms=8, brevity=0.0, **options).fit(*customers())


@pytest.fixture(scope="module")
def saved(model, tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "model.json"
    save_model(model, path)
    return path


def test_all_features_are_used(model):
    assert model.ensemble_.used_features == ["age", "code", "member"]


@pytest.mark.parametrize("library", FRAMES)
def test_messages_say_how_to_choose_the_columns(model, library):
    X, y = customers(20)
    make, choice = FRAMES[library], "X" if library == "pandas" else "X.select"
    X = make(X.assign(note=1)[["member", "code", "note", "age"]])
    for call in (model.predict, model.explain, model.transform, model.predict_proba):
        with pytest.raises(ValueError, match=r"model.feature_names_in_. to choose the") as caught:
            call(X)
    for call in (model.score, model.report, model.certificate, model.edit):
        with pytest.raises(ValueError, match="Feature names unseen at fit time") as caught:
            call(X, y)
    line = str(caught.value).splitlines()[-1].removeprefix("Pass ").split(" to choose")[0]
    assert line.startswith(choice)
    chosen = eval(line, {"X": X, "model": model})
    assert_array_equal(model.predict(chosen), model.predict(make(customers(20)[0])))


def test_missing_columns_are_named_with_the_nearest_spelling(model):
    X = customers(20)[0]
    with pytest.raises(ValueError, match="Perhaps rename 'Age' to 'age'"):
        model.predict(X.rename(columns={"age": "Age"}))
    with pytest.raises(ValueError, match=r"Add 'age' to the table\.$"):
        model.predict(X.drop(columns="age"))


OTHER_TYPES = {
    "the same": lambda X: X,
    "numbers in a column of texts": lambda X: X.assign(code=3),
    "floats in a column of texts": lambda X: X.assign(code=[np.nan, *[1.0] * (len(X) - 1)]),
    "unseen texts": lambda X: X.assign(code="Z"),
    "unseen numbers": lambda X: X.assign(code=77),
    "numbers as texts": lambda X: X.assign(age=X["age"].astype(str)),
    "booleans as texts": lambda X: X.assign(member=X["member"].astype(str).str.lower()),
    "booleans as numbers": lambda X: X.assign(member=X["member"].astype(int)),
    "categories": lambda X: X.astype({"code": "category"}),
}


@pytest.mark.parametrize("kind", OTHER_TYPES)
def test_other_types_are_read_alike_everywhere(model, saved, run, tmp_path, kind):
    X = OTHER_TYPES[kind](customers(40)[0])
    texts = X.astype({"code": object})
    whole = [each if isinstance(each, str) else f"{each:.0f}" for each in texts["code"]]
    code = pd.Series(whole, dtype=object).replace("nan", None)
    is_true = customers(40)[0]["member"]
    expected = model.predict(customers(40)[0].assign(code=code, member=is_true))
    for make in FRAMES.values():
        assert_array_equal(model.predict(make(X)), expected)
    assert_array_equal(load_model(saved).predict(X), expected)
    X.to_csv(tmp_path / "new.csv", index=False, float_format="%g")
    X.to_parquet(tmp_path / "new.parquet")
    for name in ("new.csv", "new.parquet"):
        code, out, _ = run("predict", saved, tmp_path / name)
        assert code == 0
        assert_array_equal(out.split()[1:], expected)
    path = tmp_path / "predictions.parquet"
    model.save_predictions(pl.from_pandas(X).lazy(), path)
    assert_array_equal(pl.read_parquet(path)["prediction"].to_list(), expected)


def test_numbers_that_have_lost_zeros_are_refused(run, tmp_path):
    X = pd.DataFrame({"zip": ["08001", "9003", "9004", "08002"] * 10})
    y = X["zip"].str.startswith("0").to_numpy()
    model = RuleBoostingClassifier(n_terms=1).fit(X, y)
    new = X.astype(int)
    with pytest.raises(TypeError, match="Read it as text: numbers do not keep the zeros of '0800"):
        model.predict(new)
    save_model(model, tmp_path / "model.json")
    new.to_parquet(tmp_path / "new.parquet")
    result = run("predict", tmp_path / "model.json", tmp_path / "new.parquet")
    assert refused(result, "Read it as text: numbers do not keep the zeros of '0800")


@pytest.mark.parametrize(
    ("column", "cell", "words"),
    [
        ("age", "old", "needs a column of numbers. Column 'age' holds strings, such as 'old'"),
        ("age", pd.Timestamp("2024-03-01"), "Column 'age' holds dates. Convert the column"),
        ("code", pd.Timestamp("2024-03-01"), "Column 'code' holds dates. Convert the column"),
        ("member", "member", "Column 'member' holds strings, such as 'member'"),
    ],
)
def test_what_cannot_be_compared_is_refused_in_the_same_words(
    model, saved, run, tmp_path, column, cell, words
):
    X = customers(20)[0].assign(**{column: cell})
    with pytest.raises(TypeError, match=words):
        model.predict(X)
    X.to_parquet(tmp_path / "new.parquet")
    result = run("predict", saved, tmp_path / "new.parquet")
    if not isinstance(cell, str):
        assert refused(result, words)
        return
    # Texts in files are cells of another type.
    code, out, err = result
    assert code == 0
    assert f"column '{column}' has 20 of 20 cells that are not" in err
    missing = pd.Series([None] * 20, dtype=object)
    assert out.split()[1:] == model.predict(X.assign(**{column: missing})).tolist()


@pytest.mark.parametrize(
    ("known", "cells", "kind"),
    [
        (("yes", "no"), [True, False], "booleans"),
        (("yes", "no"), [1, 0], "numbers"),
        (("yes", "no"), ["1", "0"], "numbers"),
        (("true", "false"), [1, 0], "numbers"),
        (("1", "0"), [True, False], "booleans"),
        (("1", "0"), [1, 0], None),
        (("1", "0"), [2, 3], None),
        (("yes", "no"), ["maybe", "1"], None),
        (("yes", "no"), [None, None], None),
    ],
)
def test_columns_that_no_text_can_equal_are_warned_of(run, tmp_path, known, cells, kind):
    X = pd.DataFrame({"z": pd.Series([*known] * 20, dtype=object)})
    model = RuleBoostingClassifier(n_terms=1).fit(X, X["z"] == known[0])
    new = pd.DataFrame({"z": pd.Series(cells, dtype=object if None in cells else None)})
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = model.predict(new)
    words = [f"Column 'z' holds only {kind}, but the model compares it with"] if kind else []
    assert [str(each.message)[: len(words[0])] for each in caught] == words
    save_model(model, tmp_path / "model.json")
    new.to_csv(tmp_path / "new.csv", index=False, na_rep="")
    code, out, err = run("predict", tmp_path / "model.json", tmp_path / "new.csv")
    assert code == 0
    if None not in cells:
        assert out.split()[1:] == [str(each).lower() for each in found]
        assert ("the model compares it with" in err) == (kind is not None)
