"""What commands import, as every package takes a part of the first second."""

import subprocess
import sys

import pytest

HEAVY = "matplotlib", "pandas", "polars", "pyarrow", "scipy", "sklearn"
PROGRAM = f"""
import sys
from laconic.cli import main
code = main(sys.argv[1:])
print(code, *(name for name in {HEAVY} if name in sys.modules), file=sys.stderr)
"""


def imported_by(*tokens):
    command = [sys.executable, "-c", PROGRAM, *map(str, tokens)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    code, *packages = done.stderr.splitlines()[-1].split()
    assert code == "0", done.stderr
    assert done.stdout
    return {*packages}


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_models_are_shown_without_heavy_packages(model, options):
    assert imported_by("show", model, *options) == set()


def test_models_are_compared_and_exported_without_heavy_packages(model):
    assert imported_by("compare", model, model) == set()
    assert imported_by("export", model, "--to", "json") == set()


def test_predictions_need_the_reader_of_tables(model, table):
    assert imported_by("predict", model, table) == {"polars"}


def test_probabilities_need_their_functions_as_well(model, table):
    expected = {"polars", "scipy"}
    assert imported_by("predict", model, table, "--probabilities") == expected
    assert imported_by("explain", model, table) == expected


def test_scores_need_scikit_learn(model, table):
    assert "sklearn" in imported_by("compare", model, model, table)


def test_no_command_needs_models_to_be_found():
    rooms = "laconic.boosting", "laconic.models", "laconic.trust"
    program = f"import sys, laconic.cli; print([name for name in {rooms} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout == "[]\n", done.stderr
