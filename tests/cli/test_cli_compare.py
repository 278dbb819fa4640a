"""laconic compare"""

import dataclasses
import json
import re

import numpy as np
import polars as pl
import pytest
from commands import people, pretend_terminal, refused

from estimators import STAGEWISE
from laconic import (
    RuleBoostingClassifier,
    RuleBoostingRegressor,
    RuleEnsemble,
    load_model,
    save_model,
)
from laconic.cli import table_file
from laconic.cli.compare import MAX_GROUPS, _differences
from laconic.losses import SquaredLoss
from laconic.models.scores import ScoredRows
from laconic.models.tasks import Regression

X = people().drop("client", "spent", "weight")
RULES_BY_GAIN = {"slopes": False, "brevity": 0.0}


@pytest.fixture
def saved(tmp_path):
    """Save a model of clients: path of the file."""

    def save(name, **parameters):
        # Rules that keep their weights, so that a model is the beginning of a larger one.
        model = RuleBoostingClassifier(**STAGEWISE | RULES_BY_GAIN | parameters)
        model.fit(X, people()["client"].to_numpy())
        save_model(model, tmp_path / f"{name}.json")
        return tmp_path / f"{name}.json"

    return save


def test_same_models(run, saved):
    a = saved("a", n_terms=3)
    code, out, err = run("compare", a, a, "--exit-code")
    assert (code, err) == (0, "")
    assert out.startswith("Terms: 3 same, 0 changed, 0 dropped, 0 added\n")


def test_differences(run, saved):
    a, b = saved("a", n_terms=3), saved("b", n_terms=4)
    code, out, _ = run("compare", a, b)
    assert code == 0
    assert out.startswith("Terms: 3 same, 0 changed, 0 dropped, 1 added\n")
    assert run("compare", a, b, "--exit-code")[0] == 3
    code, out, _ = run("compare", b, a, "--json")
    assert [term["kind"] for term in json.loads(out)["terms"]] == [*["same"] * 3, "dropped"]


def test_refitted_weights_change(run, tmp_path):
    paths = [tmp_path / "a.json", tmp_path / "b.json"]
    for n_terms, path in enumerate(paths, start=1):
        save_model(RuleBoostingClassifier(n_terms).fit(X, people()["client"].to_numpy()), path)
    code, out, _ = run("compare", *paths, "--exit-code")
    assert code == 3
    assert out.startswith("Terms: 0 same, 1 changed, 0 dropped, 1 added\n")


def test_intercepts_count(run, tmp_path):
    paths = [tmp_path / "a.json", tmp_path / "b.json"]
    for path, intercept in zip(paths, (0.0, 0.5), strict=True):
        model = RuleBoostingRegressor(1).fit([[1], [2]], [1, 2])
        model.ensemble_ = RuleEnsemble(model.ensemble_.terms, intercept, ("x0",))
        save_model(model, path)
    code, out, _ = run("compare", *paths, "--exit-code")
    assert code == 3
    assert "(intercept)" in out


def test_intercepts_of_several_classes_count(run, tmp_path):
    """They used to be shown, and to count for nothing."""
    model = RuleBoostingClassifier(1).fit([[1], [2], [3]] * 4, ["a", "b", "c"] * 4)
    paths = [tmp_path / "a.json", tmp_path / "b.json"]
    save_model(model, paths[0])
    first, *others = model.ensemble_.outputs
    outputs = (first._replace(intercept=0.5), *others)
    model.ensemble_ = dataclasses.replace(model.ensemble_, outputs=outputs)
    save_model(model, paths[1])
    assert run("compare", *paths, "--exit-code")[0] == 3
    found = json.loads(run("compare", *paths, "--json")[1])["intercepts"]
    assert found[1][0] == 0.5
    assert found[0][1:] == found[1][1:]


def test_agreement(run, saved, tmp_path):
    a, b = saved("a", n_terms=1), saved("b", n_terms=4)
    people(seed=1).write_csv(tmp_path / "new.csv")
    _, out, _ = run("compare", a, b, tmp_path / "new.csv", "--json")
    agreement = json.loads(out)["agreement"]
    new = people(seed=1).drop("client", "spent", "weight")
    y = people()["client"].to_numpy()
    first, second = (
        RuleBoostingClassifier(n, **STAGEWISE | RULES_BY_GAIN).fit(X, y) for n in (1, 4)
    )
    difference = np.abs(first.decision_function(new) - second.decision_function(new))
    assert agreement == {
        "n_rows": 80,
        "n_same": int((first.predict(new) == second.predict(new)).sum()),
        "mean_difference": pytest.approx(difference.mean()),
        "largest_difference": pytest.approx(difference.max()),
        "row_of_largest_difference": int(difference.argmax()),
    }
    _, out, _ = run("compare", a, b, tmp_path / "new.csv")
    assert f"Same prediction for {agreement['n_same']} of 80 rows" in out
    assert "Difference in the log odds of yes: " in out


def test_terminal(run, saved, monkeypatch):
    a, b = saved("a", n_terms=3), saved("b", n_terms=3, l2_regularization=30)
    pretend_terminal(monkeypatch)
    code, out, _ = run("compare", a, b)
    assert code == 0
    assert "\x1b[" in out


def test_models_of_different_targets(run, saved, tmp_path):
    save_model(RuleBoostingRegressor(1).fit([[1], [2]], [1, 2]), tmp_path / "r.json")
    result = run("compare", saved("a"), tmp_path / "r.json")
    assert refused(result, "one with the classes ['no', 'yes'] (positive: 'yes') and a regression")


def test_table_is_read_once_for_both_models(run, saved, table, monkeypatch):
    a, b = saved("a", n_terms=1), saved("b", n_terms=2)
    read, paths = table_file.read_file, []
    monkeypatch.setattr(
        table_file, "read_file", lambda path, *how: (paths.append(path), read(path, *how))[1]
    )
    assert run("compare", a, b, table)[0] == 0
    assert paths == [table]


def test_which_model_is_better(run, saved, table):
    a, b = saved("a", n_terms=1), saved("b", n_terms=10)
    code, out, _ = run("compare", a, b, table, "--target", "client")
    assert code == 0
    assert re.search(r"log loss +0\.\d+ +0\.\d+ +-0\.\d+ ± 0\.\d+", out)
    assert "Model b is better than a: its log loss is smaller by " in out
    code, out, _ = run("compare", b, a, table, "--target", "client", "--json")
    scores = json.loads(out)["scores"]
    assert (scores["better"], scores["n_rows"]) == ("a", 80)
    y = people()["client"].to_numpy()
    for name, path in (("b", a), ("a", b)):
        score = load_model(path).score(X, y)
        assert scores["metrics"]["accuracy"][name] == pytest.approx(score)
    assert run("compare", b, a, table, "--target", "client", "--json")[1] == out


def test_models_that_predict_the_same_are_equally_good(run, saved, table):
    a = saved("a", n_terms=2)
    _, out, _ = run("compare", a, a, table, "--target", "client")
    assert "Both models have the same log loss on these 80 rows." in out


def test_chance_is_not_called_better(run, tmp_path):
    """Two models of noise, each fitted to other rows, differ by chance."""
    generator = np.random.default_rng(0)
    frame = pl.DataFrame(generator.normal(size=(300, 3)))
    paths = [tmp_path / "a.json", tmp_path / "b.json"]
    for path, rows in zip(paths, (slice(0, 100), slice(100, 200)), strict=True):
        part = frame[rows]
        save_model(RuleBoostingRegressor(2).fit(part[:, :2], part["column_2"].to_numpy()), path)
    frame[200:].write_csv(tmp_path / "new.csv")
    _, out, _ = run("compare", *paths, tmp_path / "new.csv", "--target", "column_2")
    assert "Neither model is clearly better: their RMSE differs by " in out


def test_the_target_of_both_models_needs_no_name(run, model, table):
    _, out, _ = run("compare", model, model, table)
    assert "scores for client" in out
    _, out, _ = run("compare", model, model, table, "--json")
    assert json.loads(out)["scores"]["target"] == "client"


def test_a_target_needs_a_table(run, model):
    assert refused(run("compare", model, model, "--target", "client"), "Name a table")


def test_standard_error_of_a_mean():
    """Groups of one row each make the jackknife that of the textbook."""
    generator = np.random.default_rng(1)
    numbers, a, b = generator.normal(size=(3, MAX_GROUPS))
    old = ScoredRows(Regression(SquaredLoss()), numbers, a, None, len(numbers))
    found = _differences(old, dataclasses.replace(old, raw=b))["mae"]
    changes = np.abs(numbers - b) - np.abs(numbers - a)
    assert found.value == pytest.approx(changes.mean())
    assert found.standard_error == pytest.approx(changes.std(ddof=1) / np.sqrt(len(changes)))


def test_scores_without_a_model_stand_beside(run, saved, table):
    a, b = saved("a", n_terms=2), saved("b", n_terms=1)
    _, out, _ = run("compare", a, b, table, "--target", "client")
    assert re.search(r"^scores for client +a +b +b − a +no model *$", out, re.M)
    assert re.search(r"^AUC .* 0\.5 *$", out, re.M)
    _, out, _ = run("compare", a, b, table, "--target", "client", "--json")
    share = people()["client"].eq("yes").mean()
    found = json.loads(out)["scores"]["metrics"]["accuracy"]["no_model"]
    assert found == pytest.approx(max(share, 1 - share))
    path = table.with_name("clients.csv")
    people().filter(pl.col("client") == "yes").write_csv(path)
    c = saved("c", n_terms=1, fit_intercept=True)
    _, out, _ = run("compare", c, b, path, "--target", "client", "--json")
    found = json.loads(out)["scores"]["metrics"]["log_loss"]["no_model"]
    assert found == pytest.approx(-np.log(share))
