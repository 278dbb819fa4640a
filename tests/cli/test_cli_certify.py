"""The command 'laconic certify': what it says, and when it warns."""

import json

import pytest
from commands import people, refused

from laconic.cli import main


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    people().write_csv(folder / "people.csv")
    drop = ["--drop", "spent", "--n-terms", "3", "--l2-regularization", "2", "--no-slopes"]
    table = str(folder / "people.csv")
    model = ["--output", str(folder / "client.json")]
    assert main(["fit", table, "--target", "client", "--weight", "weight", *drop, *model]) == 0
    return folder


def certify(folder, *options, table="people.csv"):
    paths = folder / "client.json", folder / table
    return ["certify", *paths, "--target", "client", "--weight", "weight", *options]


def test_the_target_is_the_one_of_the_model(run, folder):
    paths = folder / "client.json", folder / "people.csv"
    assert run("certify", *paths, "--weight", "weight") == run(*certify(folder))


def test_words(run, folder):
    code, out, err = run(*certify(folder))
    assert (code, err) == (0, "")
    assert out.startswith("At least ")
    assert "any 3 rules could achieve, proven." in out


@pytest.mark.parametrize("against", ["rules", "weight"])
def test_json(run, folder, against):
    code, out, err = run(*certify(folder, "--against", against, "--json"))
    content = json.loads(out)
    assert (code, err) == (0, "")
    assert content["against"] == against
    assert 0 < content["share"] <= 1
    assert content["bound"] <= content["objective"] <= content["start"]


def test_another_table_is_noticed(run, folder):
    people().drop("income").with_columns(income=0.0).write_csv(folder / "others.csv")
    code, _, err = run(*certify(folder, table="others.csv"))
    assert code == 0
    assert "may not be the table that the model was fitted to" in err


def test_table_before_model_is_refused(run, folder):
    table, model = folder / "people.csv", folder / "client.json"
    assert refused(run("certify", table, model, "--target", "client"), "The model comes first")


def test_saved_numbers_reach_the_report(run, folder):
    saved = folder / "client.json"
    assert run(*certify(folder, "-o", saved, "--by-size"))[1].endswith(f"Saved to {saved}\n")
    code, out, _ = run(
        "report", folder / "client.json", folder / "people.csv", "--target", "client", "--json"
    )
    assert code == 0
    assert (
        "All terms together: on the training rows at least"
        in run("show", folder / "client.json")[1]
    )
    whole = json.loads(out)["whole"]
    assert whole["n_terms"] == 3
    assert len(whole["sizes"]) == 4
