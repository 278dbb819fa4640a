"""Columns looked at before the search."""

import json
import re
from datetime import date

import numpy as np
import polars as pl
import pytest
from commands import refused

from laconic import load_model

N_ROWS = 120


def dirty():
    """A table whose target depends on the price and on the day."""
    generator = np.random.default_rng(0)
    price = np.round(generator.gamma(1, 1500, N_ROWS), 2)
    day = np.datetime64("2023-01-01") + generator.integers(0, 700, N_ROWS)
    y = (
        10.0 * (price > 1000)
        + 5 * (day > np.datetime64("2024-01-01"))
        + generator.normal(size=N_ROWS)
    )
    return pl.DataFrame(
        {
            "": range(1, N_ROWS + 1),
            "Customer ID": generator.permutation(10 * N_ROWS)[:N_ROWS],
            "name": [f"Ms {number}" for number in range(N_ROWS)],
            "price": [f"${amount:,.2f}" for amount in price],
            "share": [f"{share:.0f}%" for share in generator.uniform(0, 100, N_ROWS)],
            "day": pl.Series(day).dt.strftime("%d/%m/%Y"),
            "when": pl.Series(generator.choice(["03/04/2024", "05/06/2024"], N_ROWS)),
            "shop": ["A"] * N_ROWS,
            "copy": np.round(2 * y + 1, 2),
            "y": y,
        }
    )


def plain():
    """The same columns as numbers, without those that are left out."""
    number = pl.col("price").str.replace_all("[$,]", "").cast(float)
    day = pl.col("day").str.to_date("%d/%m/%Y")
    share = pl.col("share").str.strip_suffix("%").cast(float)
    return (
        dirty()
        .with_columns(price=number, share=share, day=day)
        .drop("", "Customer ID", "name", "when")
    )


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "dirty.csv"
    dirty().write_csv(path)
    return path


def test_every_finding_has_its_line(run, table):
    code, out, err = run("fit", table, "--target", "y", "--n-terms", 2)
    assert code == 0
    assert err.splitlines() == [
        "note: column 'price' is read as numbers, '$" + dirty()["price"][0][1:] + "' as "
        f"{plain()['price'][0]:.15g}. Keep it as text with --keep price.",
        f"note: column 'share' is read as numbers, {dirty()['share'][0]!r} as "
        f"{plain()['share'][0]:.15g}. Keep it as text with --keep share.",
        f"note: column 'day' is read as dates, {dirty()['day'][0]!r} as {plain()['day'][0]}. "
        "Keep it as text with --keep day.",
        "warning: column 'when' holds dates that can be read in 2 ways; decide with --date "
        "when=%d/%m/%Y or --date when=%m/%d/%Y. It is left out. Keep it as text with --keep when.",
        "warning: column 'Unnamed: 0' counts the rows. It is left out. Use it with --keep "
        "'Unnamed: 0'.",
        "warning: column 'Customer ID' has a different whole number in every row, like a row ID. "
        "It is left out. Use it with --keep 'Customer ID'.",
        "warning: column 'name' has 120 different texts in 120 rows; rules about single ones do "
        "not generalize. It is left out. Use it with --keep name.",
        "note: column 'shop' is the same in every row: no term can use it.",
        "warning: column 'copy' determines the target on its own. If it is only known afterwards, "
        "leave it out with --drop copy; --keep copy confirms that it is intended.",
    ]
    assert "copy" in out


def test_columns_can_be_kept(run, table):
    every = dirty().columns
    keep = ["Unnamed: 0", *(name for name in every if name not in ("", "y"))]
    fit = ["fit", table, "--target", "y", "--n-terms", 1, "--search", "greedy", "--json"]
    code, out, err = run(*fit, "--keep", *keep)
    assert (code, err) == (0, "")
    assert json.loads(out)["feature_names"] == keep
    assert refused(run(*fit, "--keep", "names"), "'names'. Did you mean 'name'?")


@pytest.mark.parametrize("command", ["predict", "explain"])
def test_saved_models_read_the_raw_file_as_it_was(run, table, tmp_path, command):
    model, clean = tmp_path / "model.json", tmp_path / "plain.csv"
    code, out, _ = run(
        "fit", table, "--target", "y", "--drop", "copy", "--n-terms", 4, "--output", model
    )
    assert code == 0
    assert re.search(r"price (<=|>) \d+", out)
    assert re.search(r"day (<=|>) 202\d-\d\d-\d\d", out)
    plain().write_csv(clean)
    assert run(command, model, table) == run(command, model, clean)
    expected = load_model(model).predict(
        plain().select(
            pl.lit("").alias(name) if name not in plain().columns else name
            for name in load_model(model).feature_names_in_
        )
    )
    assert run("predict", model, table)[1].split()[1:] == [*map(str, expected.tolist())]
    one = tmp_path / "one.csv"
    dirty()[:1].write_csv(one)
    assert run("predict", model, one)[1].split()[1] == str(expected[0])
    code, out, err = run("report", model, one, "--target", "y", "--json")
    assert (code, err) == (0, "")
    code, out, err = run("compare", model, model, one)
    assert (code, err) == (0, "")


def test_cells_that_are_no_dates_are_missing_values(run, table, tmp_path):
    model = tmp_path / "model.json"
    keep = ["--drop", "copy", "price", "share", "--output", model, "--n-terms", 1, "--quiet"]
    assert run("fit", table, "--target", "y", *keep)[0] == 0
    dirty().with_columns(day=pl.Series(["soon", *dirty()["day"].to_list()[1:]])).write_csv(table)
    code, out, err = run("predict", model, table)
    assert code == 0
    assert "column 'day' has 1 of 120 cells that are not dates ('soon'): they are read as" in err
    assert run("predict", model, table, "--missing", "soon") == (0, out, "")


@pytest.mark.parametrize(
    ("written", "month"), [("%d/%m/%Y", 4), ("%m/%d/%Y", 3), ("%d/%m/%Y %H:%M", 4)]
)
def test_formats_of_dates_can_be_given(run, tmp_path, written, month):
    """All days and months are at most 12, so the dates can be read in two ways."""
    path, model = tmp_path / "table.csv", tmp_path / "model.json"
    cells = [f"{day:02}/{1 + (7 * day) % 12:02}/2024" for day in range(1, 13)] * 5
    pl.DataFrame({"a b": cells, "y": [float(cell[:2]) for cell in cells]}).write_csv(path)
    fit = ["fit", path, "--target", "y", "--output", model, "--n-terms", 2, "--no-slopes"]
    code, _, err = run(*fit, "--date", f"a b={written}")
    assert code == 0
    assert load_model(model).reading_.dates == {"a b": written}
    (tmp_path / "new.csv").write_text("a b\n03/04/2024\n")
    X = pl.DataFrame({"a b": [date(2024, month, 7 - month)]})
    code, out, err = run("predict", model, tmp_path / "new.csv")
    assert (code, err) == (0, "")
    assert out.split()[1:] == [str(value) for value in load_model(model).predict(X)]
    assert refused(run(*fit, "--date", "a b"), "Name the format too: %d/%m/%Y or %m/%d/%Y")
    assert refused(run(*fit, "--date", "a b=%H"), "The format of the dates of column 'a b' must")
    assert refused(run(*fit, "--date", "b"), "'b'")
    assert refused(run(*fit, "--numeric", "b"), "'b'")


@pytest.mark.parametrize("suffix", [".parquet", ".feather"])
def test_types_of_columns(run, tmp_path, suffix):
    path, model = tmp_path / f"table{suffix}", tmp_path / "model.json"
    days = pl.date_range(pl.date(2024, 1, 1), pl.date(2024, 4, 29), eager=True)
    frame = pl.DataFrame(
        {
            "code": ["1", "2"] * 60,
            "day": days,
            "time": days.cast(pl.Datetime),
            "tags": [["a", "b"]] * 120,
            "y": [1.5] * 60 + [2.5, 3.5] * 30,
        }
    )
    frame.write_parquet(path) if suffix == ".parquet" else frame.write_ipc(path)
    code, out, err = run("fit", path, "--target", "y", "--output", model, "--n-terms", 2)
    assert code == 0
    assert err.splitlines() == [
        "warning: column 'tags' has the type List(String), which no term can use. It is left out.",
    ]
    assert "day <= 2024-03-01" in out or "day > 2024-03-01" in out
    assert "code ==" in out or "code !=" in out
    # The same days in a text file.
    frame.drop("tags").write_csv(tmp_path / "table.csv")
    assert run("predict", model, path) == run("predict", model, tmp_path / "table.csv")


def test_a_table_without_anything_else_is_used(run, tmp_path):
    path = tmp_path / "table.csv"
    pl.DataFrame({"id": range(60), "y": [0, 1] * 30}).write_csv(path)
    assert run("fit", path, "--target", "y", "--quiet") == (0, "", "")
    pl.DataFrame({"when": ["03/04/2024"] * 60, "y": [0, 1] * 30}).write_csv(path)
    code, out, err = run("fit", path, "--target", "y")
    assert (code, out) == (1, "")
    assert "error: Models need at least one column. All are left out: 'when'." in err


def test_different_currencies_stay_text(run, tmp_path):
    path = tmp_path / "table.csv"
    pl.DataFrame({"a": ["$5", "6 €", "$7"] * 20, "y": [0, 1, 0] * 20}).write_csv(path)
    code, out, err = run("fit", path, "--target", "y")
    assert code == 0
    assert "warning: column 'a' is read as text because of '6 €' (20 of 60 cells)." in err
    assert "a == '6 €'" in out


def test_units_of_new_files_are_those_of_the_model(run, tmp_path):
    model, new = tmp_path / "model.json", tmp_path / "new.csv"
    cells = {"a": [f"{n} kg" for n in range(40)], "text": [f"{n} kg or so" for n in range(40)]}
    pl.DataFrame(cells | {"y": [0.5] * 20 + [1.5] * 20}).write_csv(tmp_path / "table.csv")
    fit = ["fit", tmp_path / "table.csv", "--target", "y", "--output", model, "--n-terms", 1]
    assert run(*fit, "--drop", "text")[0] == 0
    assert load_model(model).reading_.units == {"a": "kg"}
    for place in (new, tmp_path / "n*.csv"):
        new.write_text("a\n30 kg\n30\n30 g\n")
        output = tmp_path / "predictions.parquet"
        code, _, err = run("predict", model, place, "--output", output)
        assert code == 0
        assert "column 'a' has 2 of 3 cells that are not numbers in kg ('30' and '30 g')" in err
        known = load_model(model).predict(pl.DataFrame({"a": [30, None, None]}))
        assert pl.read_parquet(output)["prediction"].to_list() == known.tolist()


def test_money_as_a_target(run, tmp_path):
    path = tmp_path / "table.csv"
    generator = np.random.default_rng(0)
    x = generator.integers(0, 5, 60)
    pl.DataFrame({"x": x, "y": [f"${1000 * value + 0.5:,.2f}" for value in x]}).write_csv(path)
    code, out, err = run("fit", path, "--target", "y")
    assert code == 0
    assert "Regression model" in out
    assert "note: column 'y' is read as numbers, '$" in err
