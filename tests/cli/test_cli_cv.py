"""laconic cv"""

import json
import re

import numpy as np
import polars as pl
import pytest
from commands import people, pretend_terminal, refused
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold

from laconic import RuleBoostingClassifier, RuleBoostingClassifierCV, RuleBoostingRegressorCV
from laconic.estimators import choose_size
from laconic.estimators.files import ESTIMATORS

TOKENS = ("--target", "client", "--drop", "spent", "weight", "--n-terms", "2")


def test_scores_of_classes(run, table):
    code, out, err = run("cv", table, *TOKENS, "--json", "--folds", 4)
    assert (code, err) == (0, "")
    found = json.loads(out)
    X, y = people().drop("client", "spent", "weight"), people()["client"].to_numpy()
    splits = list(StratifiedKFold(4, shuffle=True, random_state=0).split(y, y))
    expected = []
    for training, test in splits:
        model = RuleBoostingClassifier(2).fit(X[training], y[training])
        expected.append([np.mean(labels == y[test]) for labels in model.staged_predict(X[test])])
    assert [size["n_terms"] for size in found["sizes"]] == [0, 1, 2]
    for size, accuracies in zip(found["sizes"][1:], np.transpose(expected), strict=True):
        assert size["accuracy"] == pytest.approx(accuracies.tolist())
    no_rules = [
        log_loss(y[test] == "yes", np.full(len(test), np.mean(y[training] == "yes")))
        for training, test in splits
    ]
    assert found["sizes"][0]["log_loss"] == pytest.approx(no_rules)
    chosen = RuleBoostingClassifierCV(2, cv=splits).fit(X, y)
    assert found["best"] == chosen.cv_results_["mean_loss"].argmin()
    assert found["within_one_standard_error"] == chosen.n_terms_


def test_every_size_is_polished(run, table):
    _, out, _ = run("cv", table, *TOKENS[:-1], 3, "--strategy", "polished", "--json", "--folds", 2)
    X, y = people().drop("client", "spent", "weight"), people()["client"].to_numpy()
    splits = list(StratifiedKFold(2, shuffle=True, random_state=0).split(y, y))
    chosen = RuleBoostingClassifierCV(3, cv=splits, strategy="polished").fit(X, y)
    losses = [size["log_loss"] for size in json.loads(out)["sizes"]]
    expected = [chosen.cv_results_[f"split{number}_loss"] for number in (0, 1)]
    assert np.array(losses) == pytest.approx(np.transpose(expected))


def test_table(run, table):
    code, out, err = run("cv", table, *TOKENS)
    assert (code, err) == (0, "")
    head, _, *lines = out.splitlines()
    assert head.split() == ["terms", "log", "loss", "accuracy", "AUC"]
    assert lines[0].split()[:4] == ["0", "0.6931", "±", "0"]
    assert "The mean loss is smallest with" in out


def grouped(path, frame):
    frame.with_columns(patient=pl.int_range(pl.len()) // 4).write_csv(path)
    return path


def test_folds_keep_groups_together(run, tmp_path, monkeypatch):
    found, divide = [], choose_size.make_splits

    def record(*arguments, **options):
        found.append(divide(*arguments, **options))
        return found[-1]

    monkeypatch.setattr("laconic.estimators.choose_size.make_splits", record)
    table = grouped(tmp_path / "visits.csv", people())
    assert run("cv", table, "--groups", "patient", *TOKENS, "--folds", "4")[0] == 0
    [parts] = found
    groups = np.arange(80) // 4
    assert len(parts) == 4
    for train, test in parts:
        assert not {*groups[train]} & {*groups[test]}
    missing = run("cv", table, "--groups", "[red]plan", *TOKENS)
    assert refused(missing, "--groups must have a value in every row")
    few = run("cv", table, "--groups", "client", "--target", "spent", "--n-terms", "2")
    assert refused(few, "--folds must be at most the number of groups, 2. Got 5.")


def test_regression_and_weights(run, table):
    tokens = ("--target", "spent", "--drop", "client", "--n-terms", "2", "--json")
    _, plain, _ = run("cv", table, *tokens, "--drop", "weight")
    _, weighted, _ = run("cv", table, "--weight", "weight", *tokens)
    assert set(json.loads(plain)["sizes"][0]) == {"n_terms", "rmse", "r2"}
    assert plain != weighted


def test_models_that_need_fewer_rules(run, tmp_path):
    pl.DataFrame({"x": [0, 1] * 10, "y": [0.0, 1.0] * 10}).write_csv(tmp_path / "t.csv")
    _, out, _ = run(
        *("cv", tmp_path / "t.csv", "--target", "y", "--task", "regression"),
        *("--l2-regularization", "0", "--n-terms", "3", "--json"),
    )
    sizes = json.loads(out)["sizes"]
    assert len(sizes) == 4
    assert sizes[3] == sizes[1] | {"n_terms": 3}


def test_terminal_shows_progress(run, table, monkeypatch):
    pretend_terminal(monkeypatch, n_columns=90)
    code, out, _ = run("cv", table, *TOKENS)
    assert code == 0
    assert "The mean loss is smallest " in out


def test_refusals(run, table, tmp_path):
    assert refused(run("cv", table, "--target", "klient"), "Did you mean 'client'?")
    pl.DataFrame({"x": [1, 2, 3], "y": ["a", "b", "b"]}).write_csv(tmp_path / "t.csv")
    assert refused(run("cv", tmp_path / "t.csv", "--target", "y"), "n_splits=5")
    code, _, err = run("cv", table, *TOKENS, "--folds", "1")
    assert code == 2
    assert "at least 2" in err


def test_models_are_those_of_fit(run, table, monkeypatch):
    given = []

    class Spy(RuleBoostingClassifier):
        def fit(self, X, y, sample_weight=None, exposure=None):
            given.append(self.get_params())
            return super().fit(X, y, sample_weight, exposure)

    monkeypatch.setitem(ESTIMATORS, "classification", Spy)
    options = ("--min-coverage", 7, "--node-limit", 50, "--time-limit", 90, "--folds", 2)
    shares = ("--approximation-factor", "0.9", "--categories", "equal")
    assert run("cv", table, *TOKENS, *options, *shares)[0] == 0
    expected = {
        "min_coverage": 7,
        "node_limit": 50,
        "time_limit": 90,
        "approximation_factor": 0.9,
        "categories": "equal",
    }
    assert [{name: each[name] for name in expected} for each in given] == [expected] * 2


def test_scores_without_a_model(run, table):
    _, out, _ = run("cv", table, *TOKENS)
    assert re.search(r"^ +0 .* no model *$", out, re.M)
    _, out, _ = run("cv", table, *TOKENS, "--class-weight", "balanced", "--json")
    found, y = json.loads(out), people()["client"].to_numpy()
    splits = StratifiedKFold(5, shuffle=True, random_state=0).split(y, y)
    expected = [max(np.mean(y[test] == "yes"), np.mean(y[test] == "no")) for _, test in splits]
    assert found["no_model"]["accuracy"] == pytest.approx(expected)


def test_a_limit_that_may_be_too_low(run, tmp_path):
    generator = np.random.default_rng(0)
    x = generator.normal(size=(300, 3))
    path = tmp_path / "sum.csv"
    frame = pl.DataFrame({"a": x[:, 0], "b": x[:, 1], "c": x[:, 2]})
    frame.with_columns(y=frame.sum_horizontal() + generator.normal(size=300)).write_csv(path)
    _, out, _ = run("cv", path, "--target", "y", "--n-terms", 2)
    assert "The loss was still falling at the limit of 2 terms: more may be better." in out
    assert "Try --n-terms 4." in out
    model = RuleBoostingRegressorCV(2).fit(frame, pl.read_csv(path)["y"])
    assert model.reason_.endswith("at the limit of 2 terms: more may be better.")
    code, out, _ = run("cv", path, "--target", "y", "--n-terms", 12)
    assert code == 0
    assert "The mean loss is smallest with " in out
    assert "still falling" not in out
