"""Columns of the tables that commands read."""

import re

import polars as pl

from laconic import RuleBoostingRegressor, load_model, save_model


def test_text_that_looks_like_numbers_stays_text(run, tmp_path):
    """A column of text may hold only digits in the table to predict for."""
    codes = ["01", "2", "x"] * 5
    pl.DataFrame({"code": codes, "y": [5.0, 1.0, 2.0] * 5}).write_csv(tmp_path / "table.csv")
    model = tmp_path / "model.json"
    run("fit", tmp_path / "table.csv", "--target", "y", "--output", model)
    (tmp_path / "new.csv").write_text("code\n01\n2\n")
    code, out, err = run("predict", model, tmp_path / "new.csv")
    assert (code, err) == (0, "")
    expected = load_model(model).predict(pl.DataFrame({"code": ["01", "2"]}))
    assert out.split() == ["prediction", *map(str, expected.tolist())]


def test_one_odd_cell_does_not_pass_unnoticed(run, tmp_path):
    path, model = tmp_path / "table.csv", tmp_path / "model.json"
    a = [*map(str, range(40)), "??", "NA"]
    pl.DataFrame({"a": a, "b": ["x", "y", "1"] * 14, "y": range(42)}).write_csv(path)
    fit = ["fit", path, "--target", "y", "--output", model, "--n-terms", 1, "--search", "greedy"]
    code, _, err = run(*fit)
    assert code == 0
    assert err == (
        "warning: column 'a' is read as text because of '??' (1 of 42 cells). Read these cells as "
        "missing values with --numeric a.\n"
    )
    unread = (
        "warning: column 'a' has 1 of 42 cells that are not numbers ('??'): they are read as "
        "missing.\n"
    )
    frame = pl.DataFrame({"a": [*range(40), None, None], "b": "x"})
    for option, message in ((["--missing", "??", "NA"], ""), (["--numeric", "a"], unread)):
        assert run(*fit, *option)[2] == message
        fitted = load_model(model)
        assert fitted.ensemble_[0].query.conditions[0].relation in ("<=", ">")
        code, out, err = run("predict", model, path)
        assert (code, err) == (0, message)
        assert out.split()[1:] == [str(value) for value in fitted.predict(frame)]


def test_bad_cells_of_new_tables_are_missing_values(run, tmp_path):
    train, model, new = (tmp_path / name for name in ("train.csv", "model.json", "new.csv"))
    pl.DataFrame({"age": range(40), "names": ["u"] * 20 + ["v"] * 20}).write_csv(train)
    run("fit", train, "--target", "names", "--output", model, "--n-terms", 1, "--quiet")
    cells = [*map(str, range(10)), "n/a?", "unk", "unk", "1O", "true"]
    pl.DataFrame({"age": cells, "names": "u"}).write_csv(new)
    code, out, err = run("predict", model, new)
    assert err == (
        "warning: column 'age' has 4 of 15 cells that are not numbers ('unk', 'n/a?' and '1O'): "
        "they are read as missing.\n"
    )
    ages = pl.DataFrame({"age": [*range(10), None, None, None, None, 1]})
    assert (code, out.split()[1:]) == (0, load_model(model).predict(ages).tolist())
    for command in (["report", model, new, "--json"], ["compare", model, model, new]):
        code, _, err = run(*command)
        assert (code, err.count("cells that are not numbers")) == (0, 1)


def test_cells_are_read_alike_whatever_other_rows_hold(run, tmp_path):
    model, new = tmp_path / "model.json", tmp_path / "new.csv"
    days = [f"{1 + n % 28:02}.{1 + n % 12:02}.2024" for n in range(84)]
    y = [float(n % 7 > 3) + (n % 12 > 5) for n in range(84)]
    train = pl.DataFrame({"age": [n % 7 for n in range(84)], "day": days, "y": y})
    train.write_csv(tmp_path / "train.csv")
    run("fit", tmp_path / "train.csv", "--target", "y", "--output", model, "--n-terms", 3)
    assert {*load_model(model).ensemble_.used_features} == {"age", "day"}
    header, odd, known = "age,day", "odd,2024/03/04", "3,05.06.2024"
    found = []
    for lines in ([odd], [known], [odd, known]):
        new.write_text("\n".join([header, *lines]))
        code, out, err = run("predict", model, new)
        assert (code, err.count("they are read as missing")) == (0, 2 * (odd in lines))
        found.append(out.split()[1:])
    assert found[2] == found[0] + found[1]


def test_dates_of_a_model_of_dates_are_found_in_texts(run, tmp_path):
    """The model knows no format."""
    model, new = tmp_path / "model.json", tmp_path / "new.csv"
    days = pl.date_range(pl.date(2024, 1, 1), pl.date(2024, 3, 1), eager=True)
    X = pl.DataFrame({"day": days})
    save_model(RuleBoostingRegressor(1).fit(X, days.dt.month() > 1), model)
    for lines in (["25.02.2024"], ["2024-01-05"], ["25.02.2024", "2024-01-05"]):
        new.write_text("\n".join(["day", *lines]))
        expected = [str(load_model(model).predict(X)[35 if "25" in line else 4]) for line in lines]
        assert run("predict", model, new) == (0, "\n".join(["prediction", *expected, ""]), "")


def test_all_usual_texts_for_missing_cells_are_known(run, tmp_path):
    path = tmp_path / "table.csv"
    gaps = ["", " ", "NA", "N/A", "NaN", "nan", "null", "NULL", "None", '""', " NA", "?", "."]
    gaps += ["n/a", "#N/A", "<NA>"]
    numbers = [f"{number},1" for number in range(16)]
    path.write_text("\n".join(["a,y", *numbers, *(f"{gap},0" for gap in gaps)]))
    code, out, err = run("fit", path, "--target", "y", "--n-terms", 1)
    assert (code, err) == (0, "")
    assert re.search(r"a is missing +16 ", out)


def test_texts_that_start_with_a_hyphen_can_be_missing(run, tmp_path):
    path = tmp_path / "table.csv"
    pl.DataFrame({"a": ["1", "2", "3", "-"], "y": [1, 2, 3, 4]}).write_csv(path)
    assert run("fit", path, "--target", "y", "--missing=-")[2] == ""


def test_codes_stay_text_and_kept_cells_stay_as_they_are(run, tmp_path):
    path, model = tmp_path / "table.csv", tmp_path / "model.json"
    lines = ["zip,flag,x,note", "01234,TRUE,1.50,NA", "99999,FALSE,2,", "01234,True,+3,a b"]
    path.write_text(
        "\n".join([lines[0] + ",y", *(f"{line},{len(line)}" for line in lines[1:] * 4)])
    )
    options = ["--target", "y", "--l2-regularization", "0.1", "--output", model, "--drop", "note"]
    code, out, err = run("fit", path, *options)
    assert (code, err) == (0, "")
    assert "zip == '01234'" in out or "zip == '99999'" in out
    (tmp_path / "new.csv").write_text("\n".join(lines))
    code, out, err = run("predict", model, tmp_path / "new.csv", "--keep-columns")
    assert (code, err) == (0, "")
    assert [line.rpartition(",")[0] for line in out.splitlines()] == lines


def test_numbers_with_zeros_in_front_are_numbers_to_a_model_of_numbers(run, tmp_path):
    model = tmp_path / "model.json"
    X = pl.DataFrame({"a": range(10)})
    save_model(RuleBoostingRegressor(1).fit(X, [0] * 5 + [1] * 5), model)
    (tmp_path / "new.csv").write_text("a\n007\n001\n")
    code, out, err = run("predict", model, tmp_path / "new.csv")
    assert (code, err) == (0, "")
    expected = load_model(model).predict(pl.DataFrame({"a": [7, 1]}))
    assert out.split()[1:] == [str(value) for value in expected]


def test_the_nearest_column_is_suggested_whatever_the_case(run, table):
    code, _, err = run("fit", table, "--target", "CLIENT")
    assert code == 1
    assert "Did you mean 'client'?" in err
