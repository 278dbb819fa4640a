"""The command 'laconic trust': what it asks, says and saves."""

import json

import numpy as np
import polars as pl
import pytest

import laconic
from laconic.cli import main

QUICK = ("--n-permutations", "9", "--n-resamples", "3")


def table(n_rows=240, seed=0):
    rng = np.random.default_rng(seed)
    dose, age = rng.normal(size=(2, n_rows)).round(3)
    cured = np.where(rng.random(n_rows) < np.where(dose > 0, 0.8, 0.3), "y", "n")
    return pl.DataFrame(
        {"dose": dose, "age": age, "doctor": np.arange(n_rows) // 4, "cured": cured}
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    table().write_csv(folder / "old.csv")
    table(seed=1).write_csv(folder / "new.csv")
    options = ("--target", "cured", "--drop", "doctor", "--n-terms", "2", "--no-validation")
    assert main(["fit", str(folder / "old.csv"), *options, "-o", str(folder / "model.json")]) == 0
    return folder


def test_all_questions(run, folder, tmp_path):
    saved = tmp_path / "sure.json"
    options = (*QUICK, "--new", folder / "new.csv", "--output", saved)
    code, out, err = run("trust", folder / "model.json", folder / "old.csv", *options)
    assert (code, err) == (0, "")
    for words in (
        "Effects on 240 rows not used to find the terms",
        "Could chance have produced these terms?",
        "In 3 resampled copies of this table",
        "About 90% of new rows of each class have it in their set",
        "Saved to",
    ):
        assert words in out
    code, out, _ = run("show", saved)
    assert code == 0
    assert "p (shuffled)" in out
    assert "in how many of 3 resampled copies" in out
    model = laconic.load_model(saved)
    printed = str(model).splitlines()
    assert printed[1].split("  ")[-1].strip() == "on unseen rows"
    assert len(printed) == 2 + 1 + 2 + 3
    out = run("predict", saved, folder / "new.csv", "--interval")[1]
    assert out.splitlines()[0].split(",")[-1] == "set"


def test_some_questions_as_json(run, folder):
    options = ("--ask", "intervals", "--level", "0.8", "--json")
    code, out, err = run("trust", folder / "model.json", folder / "old.csv", *options)
    assert (code, err) == (0, "")
    answer = json.loads(out)
    assert [*answer] == ["intervals"]
    assert answer["intervals"]["level"] == 0.8


def test_groups_are_a_column(run, folder):
    path = folder / "model.json", folder / "old.csv"
    options = ("--groups", "doctor", "--ask", "stability", "--n-resamples", "2")
    code, out, _ = run("trust", *path, *options)
    assert code == 0
    assert "drawn by whole groups" in out
    code, _, err = run("trust", *path, "--groups", "nurse", "--ask", "stability")
    assert code == 1
    assert "--groups takes a column of the table. Got 'nurse'" in err


def test_training_rows_are_no_new_rows(run, folder):
    path = folder / "model.json", folder / "old.csv"
    code, out, err = run("trust", *path, "--new", folder / "old.csv", *QUICK)
    assert (code, out) == (1, "")
    assert "Got the training rows" in err


def test_interrupted_questions_keep_the_answers_so_far(run, folder, tmp_path, monkeypatch):
    def stop(self, *arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("laconic.RuleBoostingClassifier.stability", stop)
    saved = tmp_path / "sure.json"
    code, out, err = run(
        "trust", folder / "model.json", folder / "old.csv", *QUICK, "--output", saved
    )
    assert code == 0
    assert "Could chance have" in out
    assert "interrupted: the other questions were not asked" in err
    kept = laconic.load_model(saved).own_trust
    assert kept.chance is not None
    assert kept.stability is kept.intervals is None
