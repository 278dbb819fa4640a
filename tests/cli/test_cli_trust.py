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
    assert "The table must have the column 'nurse'" in err


def test_groups_are_those_of_the_fit(run, folder, tmp_path):
    saved = tmp_path / "grouped.json"
    options = ("--groups", "doctor", "--n-terms", "1", "--no-validation", "--quiet", "-o", saved)
    assert run("fit", folder / "old.csv", "--target", "cured", *options)[0] == 0
    options = ("--new", folder / "new.csv", "--ask", "intervals")
    code, out, _ = run("trust", saved, folder / "old.csv", *options)
    assert code == 0
    assert "Effects on 240 rows in 60 groups" in out
    code, out, _ = run("edit", saved, folder / "old.csv", "--drop", "1")
    assert (code, "without" in out) == (0, True)
    bare = tmp_path / "bare.csv"
    table(seed=1).drop("doctor").write_csv(bare)
    code, _, err = run("trust", saved, folder / "old.csv", "--new", bare)
    assert code == 1
    assert "The table must have the column 'doctor'" in err


def test_rows_without_a_target_leave_groups_aligned(run, folder, tmp_path):
    gaps = table().with_columns(cured=pl.when(pl.int_range(240) % 8 > 0).then("cured"))
    gaps.write_csv(tmp_path / "gaps.csv")
    options = ("--groups", "doctor", "--ask", "stability", "--n-resamples", "2")
    code, out, err = run("trust", folder / "model.json", tmp_path / "gaps.csv", *options)
    assert code == 0
    assert "drawn by whole groups" in out
    assert "30 of 240 rows have no target" in err


def test_training_rows_are_no_new_rows(run, folder):
    path = folder / "model.json", folder / "old.csv"
    code, out, err = run("trust", *path, "--new", folder / "old.csv", *QUICK)
    assert (code, out) == (1, "")
    assert "Got the training rows" in err
    assert f"(--new {folder / 'old.csv'})" in err


def test_errors_about_new_rows_name_their_file(run, folder, tmp_path):
    bare = tmp_path / "bare.csv"
    table(seed=1).drop("cured").write_csv(bare)
    path = folder / "model.json", folder / "old.csv"
    code, out, err = run("trust", *path, "--new", bare, *QUICK)
    assert (code, out) == (1, "")
    assert "The table must have the column 'cured'" in err
    assert f"(--new {bare})" in err


def test_another_table_is_not_taken_for_that_of_the_fit(run, folder):
    code, out, err = run("trust", folder / "model.json", folder / "new.csv", *QUICK)
    assert code == 0
    assert err.count("These rows are not those that the model was fitted to") == 1
    code, out, err = run("trust", folder / "model.json", folder / "old.csv", *QUICK)
    assert (code, err) == (0, "")
    assert "Not saved. Save the model with these answers with --output model.json." in out
    assert "rows that the model was not fitted to with --new" in out


@pytest.mark.parametrize("question", ["chance", "stability"])
def test_a_question_that_was_stopped_is_the_last_one(run, folder, monkeypatch, question):
    ask, told = getattr(laconic.RuleBoostingClassifier, question), []

    def is_second(progress):
        told.append(progress)
        return len(told) > 1

    def asked(self, **options):
        return ask(self, **{**options, "callback": is_second})

    monkeypatch.setattr(f"laconic.RuleBoostingClassifier.{question}", asked)
    options = ("--ask", question, "intervals", "--n-permutations", "9", "--n-resamples", "20")
    code, out, err = run("trust", folder / "model.json", folder / "old.csv", *options)
    assert code == 0
    assert "nterrupted" in out if question == "chance" else "20 were asked for" in out
    assert "About 90%" not in out
    assert "interrupted: the other questions were not asked" in err


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
