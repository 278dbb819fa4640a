"""Lines about a running fit."""

import io
from dataclasses import FrozenInstanceError

import pytest

from laconic import FitProgress
from laconic.estimators.progress import ProgressPrinter
from laconic.search import SearchProgress, SearchResult, SearchStatus
from laconic.terms.conditions import Condition, Query
from laconic.terms.rules import Rule, RuleEnsemble

RULE = Rule(Query((Condition("age", ">", 30),)), 1.5)


def result(objective_value=0.5, bound=0.5, status=SearchStatus.OPTIMAL, **more):
    return SearchResult((0,), objective_value, bound, status, **more)


def after_rule(search_result=None):
    return FitProgress(RuleEnsemble((RULE,)), (search_result or result(),), 4)


def during_search():
    return FitProgress(
        RuleEnsemble((RULE,)), (result(),), 4, SearchProgress(0.45, 0.5, 12_000, 340)
    )


def written(progress, interval=1.0):
    stream = io.StringIO()
    ProgressPrinter(interval, stream)(progress)
    return stream.getvalue()


def test_a_line_for_every_rule():
    found = result(counters={"nodes": 1500}, seconds=0.25)
    line = "term 1 of 4: age > 30 [objective 0.5, proven optimal, 0.25 s]\n"
    assert written(after_rule(found)) == line


def test_a_line_for_a_long_search():
    line = "term 2 of 4: best so far 0.45, at least 90% of the best possible, 0 s\n"
    assert written(during_search(), interval=0.0) == line


def test_silent_about_a_short_search():
    assert written(during_search(), interval=1e9) == ""


def test_interval_starts_anew_with_every_line(monkeypatch):
    clock = [0.0]
    monkeypatch.setattr("time.monotonic", lambda: clock[0])
    stream = io.StringIO()
    printer = ProgressPrinter(1.0, stream)
    n_lines = []
    for clock[0], progress in (
        (0.9, during_search()),
        (1.0, during_search()),
        (1.9, during_search()),
        (1.95, after_rule()),
        (2.9, during_search()),
        (3.0, during_search()),
    ):
        printer(progress)
        n_lines.append(stream.getvalue().count("\n"))
    assert n_lines == [0, 1, 1, 2, 2, 3]


def test_prints_to_standard_output_by_default(capsys):
    ProgressPrinter()(after_rule())
    assert capsys.readouterr().out.startswith("term 1 of 4: age > 30")


def test_printer_never_asks_to_stop():
    assert ProgressPrinter(0.0, io.StringIO())(during_search()) is None


def test_progress_is_read_only():
    with pytest.raises(FrozenInstanceError):
        after_rule().n_terms = 5
