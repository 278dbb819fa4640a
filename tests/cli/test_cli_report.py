"""The command 'laconic report': what it writes, and how it refuses."""

import json
import sys

import polars as pl
import pytest
from reports import classifier, regressor

from laconic import Condition, RuleBoostingClassifier, load_model, save_model


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Folder with a model of each task and their table."""
    folder = tmp_path_factory.mktemp("models")
    model, X, y = classifier()
    save_model(model, folder / "fate.json")
    X.assign(fate=y).to_csv(folder / "passengers.csv", index=False)
    pl.from_pandas(X.assign(fate=y)).write_parquet(folder / "passengers.parquet")
    model, *_ = regressor()
    save_model(model, folder / "fare.json")
    return folder


def test_a_page_is_written(run, folder, tmp_path):
    page = tmp_path / "report.html"
    code, out, err = run(
        *("report", folder / "fate.json", folder / "passengers.csv"),
        *("--target", "fate", "--output", page, "--title", "Who survived?"),
    )
    assert (code, out, err) == (0, f"Saved to {page}\n", "")
    assert "<h1>Who survived?</h1>" in page.read_text("utf-8")


def test_the_target_is_the_one_of_the_model(run, folder, tmp_path):
    path, table = tmp_path / "fate.json", folder / "passengers.csv"
    assert run("fit", table, "--target", "fate", "--output", path, "--n-terms", 1)[0] == 0
    asked = run("report", path, table, "--target", "fate", "--json")
    assert asked[0] == 0
    assert run("report", path, table, "--json") == asked


@pytest.mark.parametrize("name", ["passengers.csv", "passengers.parquet"])
def test_json_is_what_the_method_gives(run, folder, name):
    code, out, err = run(
        *("report", folder / "fate.json", folder / name, "--target", "fate", "--json")
    )
    assert (code, err) == (0, "")
    _, X, y = classifier()
    assert json.loads(out) == load_model(folder / "fate.json").report(X, y).to_dict()


def test_a_regression_is_reported(run, folder):
    code, out, _ = run(
        *("report", folder / "fare.json", folder / "passengers.csv", "--target", "fare"),
        *("--json", "--max-sample-rows", 0),
    )
    content = json.loads(out)
    assert code == 0
    assert content["model"]["task"] == "regression"
    assert content["what_if"]["rows"] == []


def test_advice_names_options(run, folder, tmp_path):
    path, page = tmp_path / "swapped.csv", tmp_path / "report.html"
    rows = pl.read_csv(folder / "passengers.csv")
    other = {"died": "survived", "survived": "died"}
    rows.with_columns(pl.col("fate").replace_strict(other)).write_csv(path)
    call = ["report", folder / "fate.json", path, "--target", "fate"]
    assert run(*call, "-o", page)[0] == 0
    assert "Try fewer terms (--n-terms auto), or other columns." in page.read_text("utf-8")
    model, X = load_model(folder / "fate.json"), rows.drop("fate")
    swapped = rows["fate"].replace_strict(other).to_numpy()
    assert "Try fewer terms (n_terms=&#39;auto&#39;)" in model.report(X, swapped).to_html()


def test_columns_that_no_rule_uses_may_be_absent(run, tmp_path):
    X = pl.DataFrame({"a": [1, 2, 3, 4] * 5, "b": ["x"] * 20})
    model = RuleBoostingClassifier(n_terms=1).fit(X, X["a"].to_numpy() > 2)
    save_model(model, tmp_path / "model.json")
    X.select("a", (pl.col("a") > 2).alias("y")).write_csv(tmp_path / "table.csv")
    code, out, _ = run(
        *("report", tmp_path / "model.json", tmp_path / "table.csv", "--target", "y", "--json")
    )
    assert code == 0
    assert [f["n_missing"] for f in json.loads(out)["data"]["features"]] == [0, 20]


def test_classes_that_look_like_numbers_stay_text(run, tmp_path):
    X = pl.DataFrame({"a": [1, 2, 3, 4] * 5})
    y = ["1" if a > 2 else "0" for a in X["a"]]
    save_model(RuleBoostingClassifier(n_terms=1).fit(X, y), tmp_path / "model.json")
    X.with_columns(y=pl.Series(y)).write_csv(tmp_path / "table.csv")
    code, out, _ = run(
        *("report", tmp_path / "model.json", tmp_path / "table.csv", "--target", "y", "--json")
    )
    assert code == 0
    assert json.loads(out)["model"]["classes"] == ["0", "1"]


def test_a_baseline_has_columns_of_its_own(run, tmp_path):
    X = pl.DataFrame({"a": [1, 2, 3, 4] * 5, "code": ["01", "01", "02", "02"] * 5})
    y = X["a"].to_numpy() > 2
    for name, column in (("model", "a"), ("greedy", "code")):
        conditions = [Condition(column, *(("==", "02") if column == "code" else (">", 2)))]
        model = RuleBoostingClassifier(n_terms=1, conditions=conditions, search="greedy")
        save_model(model.fit(X, y), tmp_path / f"{name}.json")
    X.with_columns(y=pl.Series(y)).write_csv(tmp_path / "table.csv")
    code, out, _ = run(
        *("report", tmp_path / "model.json", tmp_path / "table.csv", "--target", "y", "--json"),
        *("--baseline", tmp_path / "greedy.json"),
    )
    assert code == 0
    path = json.loads(out)["path"]
    assert path["baseline"] == "greedy search"
    assert path["metrics"][0]["baseline"] == [0.5, 1.0]


@pytest.mark.parametrize(
    ("tokens", "code", "message"),
    [
        (("fate.json", "passengers.csv", "--target", "fat"), 1, "Did you mean 'fate'?"),
        (("fate.json", "passengers.csv", "--target", "sex"), 1, "classes of the model"),
        (("passengers.csv", "fate.json", "--target", "fate"), 1, "laconic report MODEL TABLE"),
        (("none.json", "passengers.csv", "--target", "fate"), 1, "There is no file"),
        (
            ("fate.json", "passengers.csv", "--target", "fate", "--output", "fate.json"),
            1,
            "would overwrite a file that the command reads",
        ),
        (("fate.json", "passengers.csv"), 1, "Name the column with --target."),
        (
            ("fate.json", "passengers.csv", "--target", "fate", "--max-sample-rows", "-1"),
            2,
            "at least 0",
        ),
    ],
)
def test_wrong_calls_are_refused(run, folder, tokens, code, message, monkeypatch):
    monkeypatch.chdir(folder)
    result = run("report", *tokens)
    assert result[:2] == (code, "")
    assert result[2].startswith("error: ")
    assert message in result[2]


def test_missing_packages_are_named(run, folder, monkeypatch):
    monkeypatch.chdir(folder)
    monkeypatch.setitem(sys.modules, "jinja2", None)
    for name in ("laconic.report", "laconic.report.page"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    code, _, err = run("report", "fate.json", "passengers.csv", "--target", "fate")
    assert code == 1
    assert 'pip install "laconic[report]"' in err


def test_the_page_lies_beside_the_model(run, folder, tmp_path, monkeypatch):
    opened = []
    monkeypatch.setattr("webbrowser.open", lambda address: opened.append(address) or True)
    model = tmp_path / "fate.json"
    model.write_bytes((folder / "fate.json").read_bytes())
    code, out, err = run("report", model, folder / "passengers.csv", "--target", "fate", "--open")
    page = tmp_path / "fate.html"
    assert (code, out, err) == (0, f"Saved to {page}\n", "")
    assert "<html" in page.read_text("utf-8")
    assert opened == [page.as_uri()]
