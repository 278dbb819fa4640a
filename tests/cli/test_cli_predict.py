"""laconic predict"""

import json

import numpy as np
import polars as pl
import pytest
from commands import people, refused

from laconic import RuleBoostingClassifier, RuleBoostingRegressor, load_model, save_model


def test_predictions_are_those_of_the_api(run, model, tmp_path):
    other = people(50, seed=1).select("income", "spent", "[red]plan", "age")
    other.write_csv(tmp_path / "other.csv")
    code, out, err = run("predict", model, tmp_path / "other.csv", "--probabilities")
    assert (code, err) == (0, "")
    estimator = load_model(model)
    X = other.select(estimator.feature_names_in_.tolist())
    written = pl.read_csv(out.encode())
    assert written.columns == ["prediction", "probability_no", "probability_yes"]
    assert written["prediction"].to_list() == estimator.predict(X).tolist()
    probabilities = written.select(written.columns[1:]).to_numpy()
    # Text is for people.
    np.testing.assert_allclose(probabilities, estimator.predict_proba(X), rtol=5e-6)
    assert max(map(len, out.replace("\n", ",").split(","))) <= len("probability_yes")
    run("predict", model, tmp_path / "other.csv", "--probabilities", "-o", tmp_path / "p.parquet")
    exact = pl.read_parquet(tmp_path / "p.parquet").select(written.columns[1:]).to_numpy()
    np.testing.assert_array_equal(exact, estimator.predict_proba(X))


def test_predictions_as_json(run, model, table):
    code, out, err = run("predict", model, table, "--json", "--probabilities")
    assert (code, err) == (0, "")
    estimator, X = load_model(model), people()
    X = X.select(estimator.feature_names_in_.tolist())
    shares = estimator.predict_proba(X).tolist()
    for each, label, (no, yes) in zip(json.loads(out), estimator.predict(X), shares, strict=True):
        assert each == {"prediction": label, "probability_no": no, "probability_yes": yes}
    _, out, _ = run("predict", model, table, "--json", "--keep-columns")
    assert [*json.loads(out)[0]] == [*people().columns, "prediction"]


def test_json_goes_to_the_standard_output(run, model, table, tmp_path):
    refused(run("predict", model, table, "--json", "--output", tmp_path / "x.csv"), "Leave one of")


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".parquet"])
def test_predictions_go_to_a_file(run, table, tmp_path, suffix):
    model, output = tmp_path / "model.json", tmp_path / f"out{suffix}"
    run("fit", table, "--target", "spent", "--drop", "client", "--output", model)
    words = f"{len(people())} rows written to {output}\n"
    assert run("predict", model, table, "--output", output, "--keep-columns") == (0, words, "")
    if suffix == ".parquet":
        written = pl.read_parquet(output)
    else:
        written = pl.read_csv(output, separator="\t" if suffix == ".tsv" else ",")
    assert written.columns == [*people().columns, "prediction"]
    estimator = load_model(model)
    X = people().select(estimator.feature_names_in_.tolist())
    assert written["prediction"].to_list() == estimator.predict(X).tolist()


def test_columns_that_no_rule_uses_need_not_be_there(run, tmp_path):
    X = pl.DataFrame({"a": range(10), "b": [0.0] * 10, "c": ["u"] * 10})
    model = tmp_path / "model.json"
    estimator = RuleBoostingRegressor(1).fit(X, [0] * 5 + [1] * 5)
    save_model(estimator, model)
    X.select("a").write_csv(tmp_path / "new.csv")
    code, out, err = run("predict", model, tmp_path / "new.csv")
    assert (code, err) == (0, "")
    assert out.split()[1:] == [str(value) for value in estimator.predict(X)]


def test_model_without_feature_names_predicts_by_number(run, tmp_path):
    rows = np.arange(12.0).reshape(6, 2)
    save_model(RuleBoostingRegressor(2).fit(rows, [1, 1, 1, 2, 2, 2]), tmp_path / "model.json")
    pl.DataFrame(rows, schema=["x0", "x1"]).write_csv(tmp_path / "table.csv")
    code, out, err = run("predict", tmp_path / "model.json", tmp_path / "table.csv")
    assert (code, err) == (0, "")
    assert len(out.split()) == 7


def calibrated_model(folder, target, cv=3):
    frame = people()
    X, y = frame.drop("client", "spent"), frame[target].to_numpy()
    kind = RuleBoostingRegressor if target == "spent" else RuleBoostingClassifier
    model = kind(2).fit(X, y)
    model.conformalize(X, y, cv=cv, level=0.8)
    save_model(model, folder / "calibrated.json")
    return folder / "calibrated.json", model, X


def test_intervals_are_those_of_the_api(run, table, tmp_path):
    path, model, X = calibrated_model(tmp_path, "spent")
    code, out, err = run("predict", path, table, "--interval")
    assert (code, err) == (0, "")
    written = pl.read_csv(out.encode())
    assert written.columns == ["prediction", "lower", "upper"]
    limits = written.select("lower", "upper").to_numpy()
    np.testing.assert_array_equal(limits, model.predict_interval(X))


def test_sets_are_words_in_text_and_lists_elsewhere(run, table, tmp_path):
    path, model, X = calibrated_model(tmp_path, "client")
    code, out, err = run("predict", path, table, "--interval")
    assert (code, err) == (0, "")
    assert pl.read_csv(out.encode())["set"].to_list() == model.predict_set(X, words=True).tolist()
    _, out, _ = run("predict", path, table, "--interval", "--json")
    sets = [
        [label for label, has in zip(model.classes_.tolist(), row, strict=True) if has]
        for row in model.predict_set(X)
    ]
    assert [each["set"] for each in json.loads(out)] == sets
    run("predict", path, table, "--interval", "-o", tmp_path / "p.parquet")
    assert pl.read_parquet(tmp_path / "p.parquet")["set"].to_list() == sets


def test_intervals_need_a_calibrated_model_and_a_table_in_memory(run, model, table, tmp_path):
    refused(run("predict", model, table, "--interval"), "laconic trust model.json table.csv")
    path, *_ = calibrated_model(tmp_path, "spent")
    (tmp_path / "parts").mkdir()
    people().write_parquet(tmp_path / "parts" / "one.parquet")
    words = "--interval needs a table that fits into memory"
    refused(run("predict", path, tmp_path / "parts", "--interval"), words)
