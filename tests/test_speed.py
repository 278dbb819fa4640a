"""The benchmark of speed: tables, processes, files and the page, on tiny shapes."""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd
import pytest

from benchmarks.pages import fill_in
from benchmarks.speed import fits, page, results
from benchmarks.speed.calls import BATCH, COMMAND, FORMS, ONE_ROW
from benchmarks.speed.programs import EBM, LACONIC, LASSO, PROGRAMS
from benchmarks.speed.tables import MIXED, TABLES, TEST_ROWS, Table
from benchmarks.speed.worker import measure

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no module resource")

RUN = {"date": "2026-01-01", "machine": "a, 2 cores", "commit": "abc", "python": "3.11"}
SMALL = ("60x5", "80x6-mixed")
FIT = {
    "cpu_seconds": 2.0,
    "r2": 0.5,
}
PROVEN = {"n_terms": 10, "n_proven": 10, "proven_share": 1.0, "digest": "d"}


@pytest.fixture
def in_this_process(monkeypatch):
    def run(program, table, settings=None, *, limit=None, python=sys.executable):
        return measure(program, table, settings or {})

    monkeypatch.setattr(fits, "run", run)


@pytest.mark.parametrize("table", TABLES)
def test_tables_are_read_and_written(table):
    shape = Table.parse(table)
    text = str(shape).replace(",", "").replace(" × ", "x")
    assert text.replace(" mixed", MIXED) == table


@pytest.mark.parametrize("table", SMALL)
def test_tables_have_their_shape_and_other_rows_for_tests(table):
    shape = Table.parse(table)
    (X, y), (X_test, y_test) = shape.draw(), shape.draw_test()
    assert X.shape == (len(y), shape.n_columns) == (shape.n_rows, shape.n_columns)
    assert X_test.shape == (len(y_test), shape.n_columns) == (TEST_ROWS, shape.n_columns)
    assert isinstance(X, pd.DataFrame) == shape.is_mixed
    assert not np.isin(y, y_test).any()


def test_page_of_small_fits_without_other_programs(in_this_process, tmp_path):
    measured = {
        results.FITS: fits.compare(SMALL, [LACONIC, LASSO], n_turns=1),
        results.THREADS: fits.compare_threads(SMALL[:1], n_turns=1),
    }
    for name, tables in measured.items():
        for rows in tables:
            results.keep(tmp_path, name, [RUN | row for row in rows])
    blocks = page.blocks(tmp_path)
    assert "- commit: abc" in blocks["context"]
    for name in ("seconds", "ratios", "scores"):
        lines = blocks[name].splitlines()
        assert [line.split(" | ")[0] for line in lines[2:]] == ["| 60 × 5", "| 80 × 6, mixed"]
        assert LASSO in lines[0]
    assert blocks["threads"].count("60 × 5 |") == 2
    assert blocks["rows"] == blocks["scales"] == page.NOTHING
    text = page.PAGE.read_text(encoding="utf-8")
    for name, block in blocks.items():
        text = fill_in(text, name, block, page.WRITER)
        assert block in text


def test_a_fit_in_a_process_of_its_own_is_the_same():
    [rows] = fits.compare(SMALL[:1], [LACONIC], n_turns=1)
    assert rows[0]["digest"] == measure(LACONIC, SMALL[0], {})["digest"]


def test_another_program_that_fails_or_is_ended_has_a_note():
    assert fits.run("unknown", "60x5") == {"note": "failed"}
    # The limit is rounded up to whole seconds.
    assert fits.run(LASSO, "3000x3000", limit=0.01) == {"note": "> 0"}


def test_other_programs_are_left_out_where_they_cannot_be_fitted(in_this_process, monkeypatch):
    monkeypatch.setattr(type(PROGRAMS[EBM]), "version", lambda self: "1")
    [rows] = fits.compare(["200x20000"], [EBM], n_turns=1)
    assert rows[0]["note"] == PROGRAMS[EBM].left_out["200x20000"]


def test_the_fastest_of_several_turns_is_kept():
    seconds = iter([3.0, 9.0, 1.0, 2.0])
    found = fits.in_turns(
        {
            "short": lambda: {"cpu_seconds": next(seconds)},
            "long": lambda: {"cpu_seconds": next(seconds)},
            "ended": lambda: {"note": "> 600"},
        }
    )
    assert found == {
        "short": {"cpu_seconds": 1.0},
        "long": {"cpu_seconds": 9.0},
        "ended": {"note": "> 600"},
    }


def test_rows_that_are_measured_again_replace_those_before(tmp_path):
    for point, seconds in (("5", 1), ("10", 2), ("5", 3)):
        row = {"axis": "n_terms", "point": point, "cpu_seconds": seconds}
        results.keep(tmp_path, results.SCALES, [row])
    found = results.read(tmp_path, results.SCALES)
    assert found.set_index("point")["cpu_seconds"].to_dict() == {"5": 3, "10": 2}


def test_ratios_of_fits_that_were_ended():
    row = {"table": "60x5", "settings": "", "note": None}
    rows = pd.DataFrame(
        [
            row | {"program": LACONIC} | FIT | PROVEN | {"n_proven": 9, "proven_share": 0.93},
            row | {"program": EBM, "settings": "outer_bags=1", "note": "> 1,600"},
            row | {"program": LASSO, "cpu_seconds": 0.5, "r2": 0.25},
        ]
    )
    assert page.ratios_table(rows).splitlines()[-1] == "| 60 × 5 | > 800 | 0.25 |"
    assert page.seconds_table(rows).splitlines()[-1] == (
        "| 60 × 5 | 2.00 | 9 of 10, 93% | > 1,600† | 0.50 |"
    )
    assert page.scores_table(rows).splitlines()[-1] == "| 60 × 5 | 0.500 | – | 0.250 |"


def test_versions_are_compared_to_the_last_bit(in_this_process, monkeypatch):
    monkeypatch.setattr(fits, "BASE", "60x5")
    versions = {name: fits.Version(sys.executable, name) for name in (fits.NOW, fits.BEFORE)}
    axes = {fits.SHAPES: ["60x5"], "n_terms": (1, 10)}
    rows = [RUN | row for found in fits.scale(axes, versions, n_turns=1) for row in found]
    assert {row["commit"] for row in rows} == set(versions)
    assert len(rows) == 6
    frame = pd.DataFrame(rows)
    lines = page.scales_table(frame).splitlines()
    assert len(lines) == 2 + 3
    assert all(line.endswith("| yes |") for line in lines[2:])
    assert "- commit before: before" in page.context([frame[:0], frame])
    frame.loc[frame["laconic"] == fits.BEFORE, "digest"] = "other"
    assert page.scales_table(frame).count("| no |") == 3


def test_page_of_calls():
    rows = [
        {"kind": ONE_ROW, "call": form, "columns": columns, "unit": "µs", "value": 12.3}
        for form in FORMS
        for columns in ("numbers", "mixed")
    ]
    rows.append({"kind": BATCH, "call": "9 rows", "unit": "rows per second", "value": 1e6})
    rows.append({"kind": COMMAND, "call": "laconic fit, wide", "value": 0.2, "seconds": 0.3})
    calls = pd.DataFrame(rows)
    assert page.rows_table(calls).endswith("9 rows at once: 1,000,000 rows per second.")
    assert page.commands_table(calls).endswith("| `laconic fit`, wide | 0.20 | 0.30 |")
