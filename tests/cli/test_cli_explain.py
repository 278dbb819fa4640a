"""laconic explain"""

import json

import numpy as np
import polars as pl
import pytest
from commands import people, pretend_terminal, refused
from sloped import sloped_classifier

from laconic import RuleBoostingClassifier, RuleBoostingRegressor, load_model, save_model
from laconic.cli.explain import _as_dict


@pytest.fixture
def model(tmp_path):
    X = people().drop("client", "spent", "weight")
    estimator = RuleBoostingClassifier(3).fit(X, people()["client"].to_numpy())
    save_model(estimator, tmp_path / "model.json")
    return tmp_path / "model.json"


def sentences(model, rows):
    X = people().drop("client", "spent", "weight")
    return [load_model(model).explain(X)[row].sentence for row in rows]


def test_sentences_when_piped(run, model, table):
    code, out, err = run("explain", model, table, "--row", 3, 0)
    assert (code, err) == (0, "")
    assert out.splitlines() == sentences(model, [3, 0])


def test_all_rows_by_default(run, model, table):
    _, out, _ = run("explain", model, table)
    assert out.splitlines() == sentences(model, range(80))


def test_json(run, model, table):
    code, out, _ = run("explain", model, table, "--row", "2", "--json")
    [told] = json.loads(out)
    assert code == 0
    estimator = load_model(model)
    X = people().drop("client", "spent", "weight")[2]
    assert told["row"] == 2
    assert told["prediction"] == estimator.predict(X)[0]
    assert told["probability"] == estimator.predict_proba(X).max()
    assert told["raw_prediction"] == estimator.decision_function(X)[0]
    total = told["intercept"] + sum(term["contribution"] for term in told["terms"])
    assert total == pytest.approx(told["raw_prediction"])
    assert told["sentence"] == sentences(model, [2])[0]


def test_json_of_a_regression(run, tmp_path):
    save_model(RuleBoostingRegressor(1).fit([[1.0], [2.0]], [1, 2]), tmp_path / "model.json")
    pl.DataFrame({"x0": [1.0, None]}).write_parquet(tmp_path / "new.parquet")
    _, out, _ = run("explain", tmp_path / "model.json", tmp_path / "new.parquet", "--json")
    first, second = json.loads(out)
    assert "probability" not in first
    assert isinstance(second["prediction"], float)


def test_table_on_a_terminal(run, model, table, monkeypatch):
    pretend_terminal(monkeypatch)
    code, out, _ = run("explain", model, table, "--row", "0")
    assert code == 0
    assert "Row 0 is predicted" in out
    assert "sum, the log odds of yes" in out


def test_hostile_text_cannot_act_on_the_terminal(run, tmp_path, monkeypatch):
    X = np.array([["\x1b[31mred"], ["blue"], ["\x1b[31mred"], ["blue"]])
    save_model(RuleBoostingClassifier(1).fit(X, [0, 1, 0, 1]), tmp_path / "model.json")
    pl.DataFrame({"x0": X[:, 0]}).write_csv(tmp_path / "new.csv")
    tokens = ("explain", tmp_path / "model.json", tmp_path / "new.csv")
    _, out, _ = run(*tokens)
    assert "\x1b" not in out
    pretend_terminal(monkeypatch)
    _, out, _ = run(*tokens)
    assert "\x1b[31mred" not in out


def test_refusals(run, model, table):
    assert refused(run("explain", model, table, "--row", 80), "number of rows, 80", "Got 80")
    assert refused(run("explain", table, model), "laconic explain MODEL TABLE")
    assert refused(run("explain", model, "nowhere.csv"), "no file 'nowhere.csv'")
    code, _, err = run("explain", model, table, "--row=-1")
    assert code == 2
    assert "at least 0" in err


def test_slopes_are_told_by_the_value_of_the_row():
    """Sentences and JSON are made of the explanation; models with slopes are not saved here."""
    model, X, _ = sloped_classifier()
    told = _as_dict(model.explain(X)[1])
    assert told["terms"][0] == {
        "term": 1,
        "text": "age from 25 to 68 (45 if missing)",
        "contribution": pytest.approx(0.031 * 39),
    }
    total = told["intercept"] + sum(term["contribution"] for term in told["terms"])
    assert total == pytest.approx(told["raw_prediction"])
    assert "+1.209 because age is 64 (+0.3100 per 10 from 25 to 68)" in told["sentence"]
    assert json.loads(json.dumps(told))["values"]["admitted"] == "2021-06-17"
