"""The command line as a program: its commands, wrong calls, and how it ends."""

import json
import re
import subprocess
import sys

import pytest

from commands import PROGRAM, fit_client
from laconic import __version__, load_model
from laconic.estimators import model_from_dict


def test_version_and_help(run):
    assert run("--version") == (0, f"{__version__}\n", "")
    code, out, _ = run("--help")
    assert code == 0
    assert all(command in out for command in ("demo", "fit", "show", "predict"))
    code, out, _ = run("fit", "--help")
    assert "--approximation-factor" in out


@pytest.mark.parametrize(
    ("tokens", "message"),
    [
        (["fly"], "fly"),
        (["fit"], "TABLE"),
        (["fit", "table.csv"], "--target"),
        (["fit", "table.csv", "--target", "y", "--n-rules", "many"], "many"),
        (["fit", "table.csv", "--target", "y", "--search", "lucky"], "lucky"),
        (["fit", "table.csv", "--target", "y", "--search", "reference"], "reference"),
        (["cv", "table.csv", "--target", "y", "--search", "brute_force"], "brute_force"),
        (["show", "a.json", "--colour"], "--colour"),
        (["fit", "table.csv"], "--target is required, but missing."),
        (["fit", "table.csv", "--target"], "--target requires an argument"),
        (
            ["fit", "--target", "y", "--drop", "x", "table.csv"],
            "missing. Put it before the options",
        ),
        (["fit", "table.csv", "--target", "y", "--n-rules", "0"], "--n-rules"),
        (["fit", "table.csv", "--target", "y", "--max-thresholds", "0"], "--max-thresholds"),
        (["fit", "table.csv", "--target", "y", "--l2-regularization=nan"], "--l2-regularization"),
        (["fit", "table.csv", "--target", "y", "--min-coverage=-1"], "--min-coverage"),
        (["fit", "table.csv", "--target", "y", "--approximation-factor=2"], "a number above 0"),
        (["fit", "table.csv", "--target", "y", "--time-limit=inf"], "--time-limit"),
        (["fit", "table.csv", "--target", "y", "--n-jobs=0"], "other than 0"),
    ],
)
def test_wrong_calls_are_told_from_errors(run, tokens, message):
    code, out, err = run(*tokens)
    assert (code, out) == (2, "")
    assert err.startswith("error: ")
    assert message.lower() in err.lower()


def test_demo_tells_its_story():
    process = subprocess.run([*PROGRAM, "demo"], capture_output=True, text=True, timeout=120)
    assert (process.returncode, process.stderr) == (0, "")
    out = process.stdout
    assert "\x1b" not in out
    greedy, optimal, comparison = re.split(r"Optimal search: |on all boards", out)
    assert "Greedy search: heuristic, no proof" in greedy
    assert optimal.startswith("proven optimal")
    for start in ("top-lft == x & top-mid == x & top-rgt == x", "bot-lft == o & bot-mid == o"):
        assert start in optimal
    assert re.search(r" 2 +\+\d.\d+ +top-lft == x & mid-mid == b ", greedy)
    assert re.search(r"proven optimal +0 of 10 +10 of 10", comparison)
    accuracy = re.search(r"accuracy +(0\.\d+) +(0\.\d+)", comparison)
    assert float(accuracy[1]) < 0.9 < 0.99 < float(accuracy[2])


def test_show_tells_all_about_a_model(run, model):
    code, out, err = run("show", model)
    assert (code, err) == (0, "")
    for rule in load_model(model).ensemble_:
        assert str(rule.query) in out
    assert "proven optimal" in out
    assert "\x1b" not in out
    assert re.search(r"Features in use \(\d of 3\): ", out)


def test_models_as_json(run, model, table):
    saved = model.read_text(encoding="utf-8")
    assert run("show", model, "--json") == (0, saved, "")
    code, out, _ = run("fit", table, "--target", "spent", "--drop", "client", "--json")
    assert code == 0
    assert len(model_from_dict(json.loads(out)).ensemble_) == 10


def test_module_is_a_program(model):
    command = [sys.executable, "-m", "laconic", "show", str(model)]
    process = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (process.returncode, process.stderr) == (0, "")
    assert "Classification model" in process.stdout


@pytest.mark.parametrize("package", ["cyclopts", "rich", "polars"])
def test_missing_extras_are_named(package, table):
    program = f"import sys; sys.modules[{package!r}] = None; {PROGRAM[-1]}"
    command = [sys.executable, "-c", program, *map(str, fit_client(table))]
    process = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (process.returncode, process.stdout) == (1, "")
    assert process.stderr == (
        'The command line needs extra packages. Install them with: pip install "laconic[cli]"\n'
    )


def test_reader_that_stops_early_causes_no_noise(model, table):
    command = [*PROGRAM, "predict", str(model), str(table)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(60) == 1
