from dataclasses import replace

import pytest

from benchmarks import full_resolution
from benchmarks.full_resolution import Proof, Score, read_rows, write_rows
from benchmarks.problems import load_problem

PROOF = Proof("iris", 120, 4, 220, 15.0, 10, 9, 0.996, 1234, 0.5, 0.95, 0.99)
SCORE = Score("iris", 0, "8", 0.0, 1.0, 10, 0.9, 30.0, 0.1)


def test_rows_are_read_as_written(tmp_path):
    path = tmp_path / "proofs.csv"
    assert read_rows(path, Proof) == []
    write_rows(path, Proof, lambda name: [replace(PROOF, problem=name)], ["iris", "wine"])
    assert read_rows(path, Proof) == [PROOF, replace(PROOF, problem="wine")]


def test_measuring_goes_on_where_it_ended(tmp_path):
    path = tmp_path / "proofs.csv"
    measured = []

    def measure(name):
        measured.append(name)
        return [replace(PROOF, problem=name)]

    write_rows(path, Proof, measure, ["iris"])
    write_rows(path, Proof, measure, ["iris", "wine"])
    assert measured == ["iris", "wine"]
    assert [row.problem for row in read_rows(path, Proof)] == ["iris", "wine"]


def test_ratio_of_the_table_is_a_promise():
    line = full_resolution.proofs_table([PROOF]).splitlines()[-1]
    assert line == ("| iris | 120 x 4 | 220 | 15 | 9 of 10 | 0.99 | 1,234 | 0.5 | 0.950 | 0.990 |")


def test_scores_are_compared_with_those_of_eight_thresholds():
    rows = [
        SCORE,
        replace(SCORE, problem="wine", score=0.8),
        replace(SCORE, thresholds="all", score=0.92, smallest_coverage=3.0),
        replace(SCORE, thresholds="all", problem="wine", score=0.804, smallest_coverage=5.0),
    ]
    *_, eight, everything = full_resolution.scores_table(rows).splitlines()
    assert "| 0.8500 | 0.8500 | 0 | 2 | 0 | 30 rows |" in eight
    assert "| 0.8620 | 0.8620 | 1 | 1 | 0 | 4 rows |" in everything


def test_page_gets_both_tables_again_and_again(tmp_path, monkeypatch):
    page = tmp_path / "page.md"
    page.write_text(
        "# Page\n\n<!-- proofs -->\n<!-- end of proofs -->\n\n<!-- scores -->\n"
        "<!-- end of scores -->\n\nEnd.\n",
        encoding="utf-8",
    )
    for name, kind, row in (("PROOFS", Proof, PROOF), ("SCORES", Score, SCORE)):
        path = tmp_path / f"{name}.csv"
        write_rows(path, kind, lambda _, row=row: [row], ["iris"])
        monkeypatch.setattr(full_resolution, name, path)
    monkeypatch.setattr(full_resolution, "PAGE", page)
    full_resolution.document()
    once = page.read_text(encoding="utf-8")
    full_resolution.document()
    assert page.read_text(encoding="utf-8") == once
    assert once.count("| iris | 120 x 4 |") == 1
    assert once.endswith("<!-- end of scores -->\n\nEnd.\n")


@pytest.mark.datasets
def test_all_thresholds_are_proven_on_a_small_problem(datasets_folder):
    proof = full_resolution.prove("iris", datasets_folder, time_limit=60.0)
    assert (proof.n_terms, proof.n_proven, proof.smallest_ratio) == (10, 10, 1.0)
    X = load_problem("iris", datasets_folder).X
    assert proof.conditions == sum(2 * (X[name].nunique() - 1) for name in X)
