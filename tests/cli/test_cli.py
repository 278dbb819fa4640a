"""The command line as a program: its commands, wrong calls, and how it ends."""

import os
import re
import subprocess
import sys

import pytest
from commands import PROGRAM, fit_client

from laconic import __version__


def test_version_and_help(run):
    assert run("--version") == (0, f"{__version__}\n", "")
    code, out, _ = run("--help")
    assert code == 0
    assert all(command in out for command in ("demo", "fit", "show", "predict"))
    code, out, _ = run("fit", "--help")
    assert "--approximation-factor" in out


def test_all_commands_name_the_file_that_they_write_alike(run):
    for command in ("fit", "predict", "certify", "edit", "report", "export"):
        lines = [" ".join(line.split()) for line in run(command, "--help")[1].splitlines()]
        # Some releases of cyclopts show the kind of a value, PATH.
        paths = [line for line in lines if re.search(r" --.+ File to", line)]
        assert "--output -o " in paths[0]
        assert all("--output" in line or "--checkpoint" in line for line in paths)


@pytest.mark.parametrize(
    ("tokens", "message"),
    [
        (["fly"], "fly"),
        (["fit"], "TABLE"),
        (["fit", "table.csv"], "--target"),
        (["fit", "table.csv", "--target", "y", "--n-terms", "many"], "many"),
        (["fit", "table.csv", "--target", "y", "--search", "lucky"], "lucky"),
        (["fit", "table.csv", "--target", "y", "--search", "reference"], "reference"),
        (["cv", "table.csv", "--target", "y", "--search", "reference"], "reference"),
        (["show", "a.json", "--colour"], "--colour"),
        (["fit", "table.csv"], "laconic fit needs --target; see laconic fit --help."),
        (["fit", "table.csv", "--target"], "--target requires an argument"),
        (
            ["fit", "--target", "y", "--drop", "x", "table.csv"],
            "Put it before the options",
        ),
        (["fit", "table.csv", "--target", "y", "--n-terms", "0"], "--n-terms"),
        (["fit", "table.csv", "--target", "y", "--max-thresholds", "0"], "--max-thresholds"),
        (["fit", "table.csv", "--target", "y", "--l2-regularization=nan"], "--l2-regularization"),
        (["fit", "table.csv", "--target", "y", "--min-coverage=-1"], "--min-coverage"),
        (
            ["fit", "table.csv", "--target", "y", "--approximation-factor=2"],
            "a number above 0 and at most 1.",
        ),
        (["fit", "table.csv", "--target", "y", "--time-limit=inf"], "--time-limit"),
        (["fit", "table.csv", "--target", "y", "--n-jobs=0"], "other than 0"),
    ],
)
def test_wrong_calls_are_told_from_errors(run, tokens, message):
    code, out, err = run(*tokens)
    assert (code, out) == (2, "")
    assert err.startswith("error: ")
    # Some releases of cyclopts put names in quotes.
    assert message.lower() in err.lower().replace('"', "")


def test_module_is_a_program(model):
    command = [sys.executable, "-m", "laconic", "show", str(model)]
    process = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (process.returncode, process.stderr) == (0, "")
    assert "Classification model" in process.stdout


def test_help_does_not_wait_for_heavy_packages():
    heavy = "pandas polars pyarrow sklearn scipy"
    program = (
        "import sys; from laconic.cli import main\n"
        "for tokens in ('--version', '--help', 'fit --help', 'cv --help'):\n"
        "    assert main(tokens.split()) == 0\n"
        f"    print('imported:', *(set('{heavy}'.split()) & set(sys.modules)))"
    )
    command = [sys.executable, "-c", program]
    process = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert process.returncode == 0, process.stderr
    imported = [line for line in process.stdout.splitlines() if line.startswith("imported:")]
    assert imported == ["imported:"] * 4


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


def test_ctrl_c_while_packages_are_imported_says_nothing(tmp_path):
    # A package of ours in the place of one that takes long to import.
    (tmp_path / "cyclopts.py").write_text("raise KeyboardInterrupt")
    ended = subprocess.run(
        [sys.executable, "-c", "from laconic.cli import main"],
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, "", "")
