"""laconic show"""

import io
import json
import re

import pytest
from rich.console import Console

from laconic import RuleBoostingRegressor, load_model, save_model
from laconic.cli.show import print_terms
from laconic.estimators.files import model_from_dict


def test_show_tells_all_about_a_model(run, model):
    code, out, err = run("show", model)
    assert (code, err) == (0, "")
    ensemble = load_model(model).ensemble_
    for term in ensemble:
        assert ensemble.text(term) in out
    assert "proven optimal" in out
    assert "\x1b" not in out
    assert re.search(r"Features used \(\d of 3\): ", out)


def test_names_with_commas_are_told_apart(run, tmp_path):
    path, table = tmp_path / "model.json", tmp_path / "table.csv"
    table.write_text('"Debt, total",y\n' + "".join(f"{x},{x // 5}\n" for x in range(10)))
    run("fit", table, "--target", "y", "--keep", "Debt, total", "--output", path, "--quiet")
    assert "Features used (1 of 1): 'Debt, total'\n" in run("show", path)[1]


def test_models_as_json(run, model, table):
    saved = model.read_text(encoding="utf-8")
    assert run("show", model, "--json") == (0, saved, "")
    code, out, _ = run("fit", table, "--target", "spent", "--drop", "client", "--json")
    assert code == 0
    assert len(model_from_dict(json.loads(out)).ensemble_) == 10


def test_show_tells_where_a_model_comes_from(run, model, table):
    _, out, _ = run("show", model)
    assert re.search(
        r"Fitted to 80 rows to predict client, \d{4}-\d\d-\d\d, with the default settings\.", out
    )
    assert re.search(r"held-out rows +0\.\d+ ± ", out)
    assert re.search(r"training rows +\d", out)


def test_show_tells_settings(run, table, tmp_path):
    path = tmp_path / "model.json"
    options = ["--n-terms", 2, "--max-conditions", "none", "--no-fit-intercept", "--n-jobs", 1]
    run("fit", table, "--target", "spent", *options, "--output", path, "--no-validation")
    _, out, _ = run("show", path)
    assert "with --n-terms 2 --max-conditions none --no-fit-intercept." in out
    assert "held-out" not in out


def test_show_does_without_a_record(run, tmp_path):
    path = tmp_path / "model.json"
    save_model(RuleBoostingRegressor(1).fit([[1], [2], [3], [4]], [5, 5, 1, 1]), path)
    code, out, _ = run("show", path)
    assert code == 0
    assert "The file does not say what the model was fitted to." in out


def test_terms_on_fixed_dates_are_reported(run, tmp_path):
    table, path, page = tmp_path / "table.csv", tmp_path / "model.json", tmp_path / "page.html"
    rows = (f"20{10 + x % 9}-03-{1 + x % 28:02},{(x % 9 > 4) + x % 4 / 9}\n" for x in range(200))
    table.write_text(f"day,y\n{''.join(rows)}", encoding="utf-8")
    words = "Term 1 depends on fixed dates: it is constant for later dates."
    fit = ("fit", table, "--target", "y", "--n-terms", "1", "--no-validation")
    assert words in run(*fit, "--output", path)[1]
    assert words in run("show", path)[1]
    assert run("report", path, table, "--output", page)[0] == 0
    assert words in page.read_text(encoding="utf-8")


def test_show_tells_which_rows_weights_are_fitted_to(run, table, tmp_path):
    path = tmp_path / "model.json"
    options = ("--honest", "0.5", "--n-terms", "2", "--output", path, "--quiet")
    assert run("fit", table, "--target", "spent", "--drop", "client", *options)[0] == 0
    _, out, _ = run("show", path)
    words = " ".join(out.split())
    assert "Weights are fitted to 40 rows not used to find the terms." in words
    assert "on the 40 rows that found the terms" in words


@pytest.mark.parametrize("width", [70, 200])
def test_how_sure_terms_are_is_never_squeezed(width):
    X = [[n, n % 7] for n in range(40)]
    y = [5 * (n > 20) + n % 3 for n in range(40)]
    model = RuleBoostingRegressor(n_terms=2).fit(X, y)
    model.chance(X, y, n_permutations=9)
    model.stability(X, y, n_resamples=3)
    screen = io.StringIO()
    print_terms(Console(file=screen, width=width), model)
    lines = [line.split() for line in screen.getvalue().splitlines()]
    assert "(intercept)" in lines[2]
    heading = ["p", "(shuffled)", "found", "again"]
    [place] = [at for at, line in enumerate(lines) if line[-4:] == heading]
    first = lines[place + (2 if width == 70 else 3)]
    assert first[0] == "1"
    assert first[-3:] == ["3", "of", "3"]
    assert lines[0][-1] == ("certificate" if width == 70 else "again")
