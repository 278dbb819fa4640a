"""The commands 'laconic edit' and 'laconic alternatives', and constraints of 'laconic fit'."""

import json

import numpy as np
import polars as pl
import pytest
from commands import people, refused

from laconic import load_model
from laconic.cli import main


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    people().write_csv(folder / "people.csv")
    assert main(fit(folder, "client.json")) == 0
    return folder


def fit(folder, name, *options):
    table, model = str(folder / "people.csv"), ["--output", str(folder / name)]
    plain = ["--drop", "spent", "weight", "--n-terms", "3", "--no-validation", "--quiet"]
    return ["fit", table, "--target", "client", *plain, *model, *options]


def test_an_edited_model_is_saved_with_its_costs_shown(run, folder):
    paths = folder / "client.json", folder / "people.csv"
    edits = ["--drop", "1", "--force", "age > 65", "--output", folder / "edited.json"]
    code, out, err = run("edit", *paths, *edits)
    assert (code, err) == (0, "")
    before, after = load_model(paths[0]), load_model(folder / "edited.json")
    texts = [str(rule.query) for rule in after.ensemble_]
    assert "age > 65" in texts
    assert str(before.ensemble_[0].query) not in texts
    assert f"without {before.ensemble_[0].query}" in out
    assert "held out" in out
    assert out.rstrip().endswith("edited.json")
    assert after.record_.target == "client"
    assert after.reading_ == before.reading_


def test_rules_are_replaced_by_number(run, folder):
    paths = folder / "client.json", folder / "people.csv"
    code, out, err = run("edit", *paths, "--replace", "2: income > 48", "--lock", "1", "--json")
    assert (code, err) == (0, "")
    conditions = [rule["conditions"] for rule in json.loads(out)["terms"]]
    assert [{"feature": "income", "relation": ">", "value": 48.0}] in conditions


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--replace", "income > 48"], "such as '2: income > 40'"),
        (["--force", "agee > 3"], "Did you mean 'age'?"),
        (["--drop", "9"], "from 1 to 3. Got 9"),
    ],
)
def test_edits_that_make_no_sense_are_refused(run, folder, options, words):
    paths = folder / "client.json", folder / "people.csv"
    assert refused(run("edit", *paths, *options), words)


def test_alternatives_are_listed(run, folder):
    paths = folder / "client.json", folder / "people.csv"
    code, out, err = run("alternatives", *paths, "--term", "1", "--tolerance", "0.2")
    assert (code, err) == (0, "")
    assert "term 1" in out.lower()
    code, out, _ = run("alternatives", *paths, "--json", "--max-found", "3", "--tolerance", "0.5")
    found = json.loads(out)
    assert (code, [entry["number"] for entry in found]) == (0, [1, 2, 3])
    others = [one for entry in found for one in entry["found"]]
    assert len(others) > 2
    assert all({"text", "weight", "share", "overlap", "output"} == {*one} for one in others)


def test_constraints_are_options_of_fit(run, folder):
    options = [
        "--monotonic",
        "age=+1",
        "--interactions",
        "age,[red]plan",
        "income",
        "--cost",
        "income=0.001",
    ]
    more = ["--weight-signs", "positive", "--initial-terms", "age > 50"]
    assert run(*fit(folder, "constrained.json", *options, *more))[0] == 0
    model = load_model(folder / "constrained.json")
    assert model.settings_.constraints.settings == {
        "monotonic_cst": {"age": 1},
        "interaction_cst": [["age", "[red]plan"], ["income"]],
        "feature_costs": {"income": 0.001},
        "weight_signs": "positive",
    }
    assert str(model.ensemble_[0].query) == "age > 50"
    assert all(rule.weight > 0 for rule in model.ensemble_)
    assert model.record_.settings["monotonic"] == "age=+1"
    _, out, _ = run("show", folder / "constrained.json")
    assert "--interactions age,[red]plan, income" in out.replace("\n", " ")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--monotonic", "age"], "such as age=+1 or price=-1"),
        (["--monotonic", "age=up"], "takes a column and +1 or -1"),
        (["--monotonic", "agee=+1"], "Did you mean 'age'?"),
        (["--cost", "age=much"], "such as mri=0.01"),
        (["--interactions", "age,incme"], "Did you mean 'income'?"),
    ],
)
def test_constraints_that_make_no_sense_are_refused(run, folder, options, words):
    assert refused(run(*fit(folder, "none.json", *options)), words)


def test_weights_and_exposures_are_those_of_the_fit(run, tmp_path):
    """Counts were silently refitted without their exposure."""
    rng = np.random.default_rng(0)
    years, age = rng.uniform(0.2, 3.0, 80), rng.integers(20, 80, 80)
    claims = rng.poisson(np.where(age > 50, 3.0, 1.0) * years)
    weight = rng.integers(1, 4, 80)
    X = pl.DataFrame({"age": age, "noise": rng.normal(size=80)})
    table = X.with_columns(claims=claims, years=years, weight=weight)
    path, saved = tmp_path / "table.csv", tmp_path / "model.json"
    table.write_csv(path)
    options = ["--loss", "poisson", "--exposure", "years", "--weight", "weight", "--n-terms", "2"]
    assert run("fit", path, "--target", "claims", *options, "--output", saved)[0] == 0
    model = load_model(saved)
    expected = model.edit(X, claims, weight, years, drop=[1])
    assert run("edit", saved, path, "--drop", "1", "--output", tmp_path / "edited.json")[0] == 0
    assert load_model(tmp_path / "edited.json").ensemble_ == expected.ensemble_
    found = model.alternatives(1, X, claims, weight, years, tolerance=0.3)
    assert str(found) in run("alternatives", saved, path, "--term", "1", "--tolerance", "0.3")[1]
