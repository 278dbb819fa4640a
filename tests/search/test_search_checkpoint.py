"""Searches that are written down, and found again by a program that was killed."""

import errno
import json
import os

import numpy as np
import pytest

from laconic import RuleBoostingClassifier, RuleBoostingRegressorCV
from laconic import search as package
from laconic.search import SearchProblem, SearchResult, SearchStatus, search
from laconic.search.checkpoint import Checkpoint, current_checkpoint


def rows(n_rows=120):
    generator = np.random.default_rng(1)
    X = generator.normal(size=(n_rows, 4)).round(1)
    return X, X[:, 0] * (X[:, 1] > 0) + generator.normal(size=n_rows)


def problem_of(scale=1.0):
    generator = np.random.default_rng(0)
    extents = generator.random((8, 30)) < 0.5
    return SearchProblem(extents, scale * generator.normal(size=30), np.ones(30), 1.0)


def no_search(*arguments, **options):
    raise AssertionError("a search is run again")


def test_searches_are_not_repeated(tmp_path, monkeypatch):
    path = tmp_path / "searches"
    problem = problem_of()
    with Checkpoint(path):
        first = search(problem, max_conditions=2)
    assert current_checkpoint() is None
    monkeypatch.setitem(package.METHODS, "optimal", no_search)
    with Checkpoint(path):
        assert search(problem_of(), max_conditions=2, n_jobs=2) == first
        assert search(problem_of(), max_conditions=2).branching == first.branching
        for other, options in [
            (problem_of(2.0), {"max_conditions": 2}),
            (problem, {"max_conditions": 3}),
            (problem, {"max_conditions": 2, "branching": "paper"}),
        ]:
            with pytest.raises(AssertionError, match="again"):
                search(other, **options)


@pytest.mark.parametrize(
    "make",
    [
        lambda: RuleBoostingClassifier(4, strategy="polished", max_conditions=2),
        lambda: RuleBoostingRegressorCV(3, strategy="stagewise", max_conditions=2),
    ],
)
def test_fits_go_on_to_the_same_model(make, tmp_path, monkeypatch):
    X, y = rows()
    model = make()
    y = y > 0 if hasattr(model, "predict_proba") else y
    expected = make().fit(X, y)
    path = tmp_path / "searches"
    known = package.METHODS["optimal"]
    n_left = 3

    def killed(*arguments, **options):
        nonlocal n_left
        n_left -= 1
        if n_left < 0:
            raise SystemExit
        return known(*arguments, **options)

    n_tries = 0
    while not hasattr(model, "ensemble_"):
        n_left = 3
        monkeypatch.setitem(package.METHODS, "optimal", killed)
        try:
            with Checkpoint(path):
                model = make().fit(X, y)
        except SystemExit:
            n_tries += 1
    assert n_tries > 1
    assert model.ensemble_ == expected.ensemble_
    assert [r.query for r in model.search_results_] == [r.query for r in expected.search_results_]


def test_lines_that_a_kill_left_incomplete_are_dropped(tmp_path):
    path = tmp_path / "searches"
    with Checkpoint(path):
        search(problem_of())
    whole = path.read_bytes()
    path.write_bytes(whole + whole.splitlines()[1][:40])
    with Checkpoint(path) as checkpoint:
        assert len(checkpoint.results) == 1
    assert path.read_bytes() == whole


@pytest.mark.parametrize(
    "content",
    [
        b"a table,\n1,\n",
        b"no line",
        b'{"format": "laconic checkpoint", "version": 2}\n',
        b"[]\n",
        b"[" * 100_000 + b"\n",
    ],
)
def test_other_files_are_refused_and_left_alone(content, tmp_path):
    path = tmp_path / "other"
    path.write_bytes(content)
    with pytest.raises(ValueError, match="other"), Checkpoint(path):
        pass
    assert path.read_bytes() == content


@pytest.mark.parametrize("entry", ["query", "objective_value", "status", "seconds", "counters"])
def test_entries_are_checked(entry, tmp_path):
    path = tmp_path / "searches"
    with Checkpoint(path):
        search(problem_of())
    header, line = path.read_text("utf-8").splitlines()
    changed = json.loads(line) | {entry: [99]}
    path.write_text(f"{header}\n{json.dumps(changed)}\n", "utf-8")
    with pytest.raises(ValueError, match="searches"), Checkpoint(path):
        search(problem_of())


def test_interrupted_searches_are_not_kept(tmp_path):
    path = tmp_path / "searches"
    with Checkpoint(path) as checkpoint:
        checkpoint.add("key", SearchResult((), 0.0, 1.0, SearchStatus.INTERRUPTED))
        checkpoint.add("other", SearchResult((), 0.0, 1.0, SearchStatus.TIME_LIMIT))
        assert list(checkpoint.results) == ["other"]
    with Checkpoint(path) as checkpoint:
        assert list(checkpoint.results) == ["other"]


def test_faults_name_the_file(tmp_path, monkeypatch):
    with pytest.raises(OSError, match=r"absent.searches"), Checkpoint(tmp_path / "absent/searches"):
        pass

    def full(descriptor):
        raise OSError(errno.ENOSPC, "full")

    path = tmp_path / "searches"
    monkeypatch.setattr(os, "fsync", full)
    with (
        pytest.raises(OSError, match=r"No space left on device.*searches"),
        Checkpoint(path),
    ):
        search(problem_of())
