"""Models with slopes, as commands show, compare and change them."""

import json

import numpy as np
import polars as pl
import pytest
from commands import refused

from laconic import load_model

FIT = ["--target", "price", "--no-validation"]


@pytest.fixture
def sloped(tmp_path):
    """Write a table whose target rises with the age from 30 to 60, and drops for a plan."""
    rng = np.random.default_rng(0)
    age, plan = rng.integers(18, 90, 200), rng.choice(["free", "gold"], 200)
    price = 100.0 * np.clip(age, 30, 60) - 1500 * (plan == "free") + 300 * rng.normal(size=200)
    frame = pl.DataFrame({"age": age, "plan": plan, "price": price.round(2)})
    path = tmp_path / "parts" / "table.csv"
    path.parent.mkdir()
    frame.write_csv(path)
    return path


@pytest.fixture
def model(run, sloped, tmp_path):
    path = tmp_path / "model.json"
    assert run("fit", sloped, *FIT, "--n-terms", 2, "--output", path, "--quiet")[0] == 0
    return path


def test_fit_shows_slopes(run, sloped):
    code, out, err = run("fit", sloped, *FIT, "--n-terms", 2)
    assert (code, err) == (0, "")
    assert "Regression model: 1 rule and 1 slope with " in out
    assert " per 10 of age from " in out
    _, out, _ = run("fit", sloped, *FIT, "--n-terms", 2, "--no-slopes")
    assert "Regression model: 2 rules with " in out


def test_by_chance(run, sloped):
    code, out, _ = run("fit", sloped, *FIT, "--n-terms", "auto")
    assert code == 0
    assert "term would be no better than chance." in out
    assert "--n-terms auto" in out


def test_tables_in_parts_have_rules_only(run, sloped):
    words = "note: only rules are learned from a table that is read in parts, and no slopes.\n"
    code, out, err = run("fit", sloped.parent, *FIT, "--n-terms", 2)
    assert (code, err) == (0, words)
    assert "Regression model: 2 rules with " in out
    assert "with --n-terms 2 --no-slopes." in out
    code, _, err = run("fit", sloped.parent, *FIT, "--n-terms", 2, "--no-slopes")
    assert (code, err) == (0, "")
    assert run("fit", sloped.parent, *FIT, "--n-terms", 2, "--quiet")[2] == ""
    given = ["--no-slopes", "--initial-terms", "age from 30 to 60"]
    refused_slope = run("fit", sloped.parent, *FIT, *given)
    assert refused_slope[0] == 1
    assert "Slopes need a table in memory. Got 'age from 30 to 60' for one" in refused_slope[2]


def test_show(run, model):
    code, out, _ = run("show", model)
    assert code == 0
    [slope] = load_model(model).ensemble_.slopes
    assert slope.words() in out


@pytest.mark.parametrize("text", ["age from 20 to 50", "+310 per 10 of age from 20 to 50"])
def test_slopes_can_be_forced(run, sloped, model, tmp_path, text):
    output = tmp_path / "edited.json"
    paths = model, sloped
    code, out, err = run("edit", *paths, "--drop", 1, "--force", text, "--output", output)
    assert (code, err) == (0, "")
    assert " per 10 of age from 20 to 50 " in out
    assert (20.0, 50.0) in [slope.ends for slope in load_model(output).ensemble_.slopes]
    assert refused(
        run("edit", *paths, "--force", "age from 50 to 20"),
        "The upper end must be above the lower one, 50.\n  age from 50 to 20\n",
    )


def test_compare(run, sloped, model, tmp_path):
    other = tmp_path / "other.json"
    run("fit", sloped, *FIT, "--n-terms", 1, "--output", other, "--quiet")
    code, out, _ = run("compare", model, other)
    assert code == 0
    assert out.startswith("Terms: 0 same, 1 changed, 1 dropped, 0 added\n")
    [slope] = load_model(other).ensemble_.slopes
    assert slope.words() in out
    changed = json.loads(run("compare", model, other, "--json")[1])["terms"][0]
    assert changed["new"] == {"kind": "slope", "text": slope.text(), "weight": slope.weight}
