"""Any two features together: every pair of them in some small model, which is judged.

A quarter of the rows, or all of them with LACONIC_DRAWS=all.
"""

import dataclasses
import os
import re
from itertools import product

import pytest

from fuzz.crossings.attack import random_row
from fuzz.crossings.cases import normalised, run
from fuzz.crossings.covering import all_pairs, covering_rows, pairs_of
from fuzz.crossings.factors import FACTORS, IMPOSSIBLE, IN_PARTS
from fuzz.crossings.judges import WrongError, judge_model
from fuzz.crossings.problem import Problem
from fuzz.crossings.refusals import (
    COMMAND,
    PAGE,
    all_rows,
    implied,
    page,
    read_refused,
    refused_rows,
)

REFUSED = read_refused()
ROWS = all_rows(REFUSED)
REFUSED_ROWS = list(refused_rows(REFUSED).items())
PLAIN = {factor: values[0] for factor, values in FACTORS.items()}


def drawn(cases):
    """As many as are looked at, from all over the list."""
    n_cases = len(cases) if os.environ.get("LACONIC_DRAWS") == "all" else len(cases) // 4
    return [cases[number * len(cases) // n_cases] for number in range(n_cases)]


def named(values):
    """Name a row, or a combination, by what is not plain, always in the same order."""
    chosen = dict(values)
    changed = [chosen[f] for f in FACTORS if chosen.get(f, PLAIN[f]) != PLAIN[f]]
    return " + ".join(changed) or "plain"


@pytest.mark.parametrize("row", drawn(ROWS), ids=named)
def test_features_work_together(row):
    outcome = run(row)
    assert not outcome.wrong
    assert not outcome.refused, f"Refused, and not in the list: run `{COMMAND}`."


@pytest.mark.parametrize(("combination", "row"), drawn(REFUSED_ROWS), ids=named)
def test_others_are_refused_in_words(combination, row):
    outcome = run(row)
    assert not outcome.wrong
    assert outcome.refused, f"No longer refused: run `{COMMAND}`."
    assert normalised(outcome.refused) == REFUSED[combination], f"Run `{COMMAND}`."


def words_for(factor, value):
    """What a refusal may call a feature."""
    if factor == "operation" and value.startswith("to_"):
        return value.removeprefix("to_"), "export"
    if factor == "table" and value in IN_PARTS:
        return ("in parts",)
    if factor == "brevity":  # it decides which terms there are, of which some are refused
        return factor, "terms that use"
    others = {
        "save_predictions": "scan",
        "CV estimator": "hold rows out",
        "ordered categories": "categorical_features",
    }
    # 'edit(drop)' is an edit, "categories='sets'" about categories, 'own loss' a loss.
    return *re.findall(r"\w{4,}", value), factor, others.get(value, value)


@pytest.mark.parametrize("combination", REFUSED, ids=named)
def test_refusals_name_what_does_not_go_together(combination):
    words = REFUSED[combination].lower()
    for factor, value in combination:
        assert any(name.lower() in words for name in words_for(factor, value)), (value, words)


def test_every_pair_is_crossed_refused_or_impossible():
    met = {pair for row in ROWS for pair in pairs_of(row)}
    forbidden = {*IMPOSSIBLE, *REFUSED, *implied(REFUSED)}
    for pair in all_pairs(FACTORS):
        assert (pair in met) != (pair in forbidden), pair
    assert all(len(combination) in (2, 3) for combination in REFUSED)


def test_rows_cover_all_pairs_with_few_rows():
    factors = {name: tuple("abc") for name in "wxyz"}
    rows = covering_rows(factors, ())
    assert {pair for row in rows for pair in pairs_of(row)} == set(all_pairs(factors))
    assert len(rows) <= 12  # nine at the least
    forbidden = [frozenset({("w", a), ("x", b)}) for a, b in product("ab", repeat=2)]
    met = {pair for row in covering_rows(factors, forbidden) for pair in pairs_of(row)}
    assert met == {*all_pairs(factors)} - {*forbidden}


def test_the_page_is_up_to_date():
    assert PAGE.read_text("utf-8") == page(REFUSED), f"Run `{COMMAND}`."


def test_random_rows_can_be_repeated():
    assert random_row(5) == random_row(5) != random_row(6)


def heavier(model):
    terms = [dataclasses.replace(term, weight=1.01 * term.weight) for term in model.ensemble_]
    model.ensemble_ = model.ensemble_.with_terms(terms)


def too_sure(model):
    first, *others = model.search_results_
    model.search_results_ = [dataclasses.replace(first, bound=0.9 * first.bound), *others]


def too_proud(model):
    first, *others = model.search_results_
    better = dataclasses.replace(first, objective_value=1.001 * first.objective_value)
    model.search_results_ = [better, *others]


def exchanged(model):
    first, second, *others = model.search_results_
    model.search_results_ = [second, first, *others]


def penalised(model):
    model.l2_regularization_ *= 2


@pytest.mark.parametrize("spoil", [heavier, too_sure, too_proud, exchanged, penalised])
@pytest.mark.parametrize("strategy", FACTORS["strategy"])
def test_judges_see_what_is_wrong(spoil, strategy, tmp_path):
    problem = Problem(PLAIN | {"strategy": strategy})
    placed, whole = problem.placed(tmp_path)
    model = problem.estimator().fit(**placed.fit_arguments())
    judge_model(model, problem, whole)
    spoil(model)
    with pytest.raises(WrongError):
        judge_model(model, problem, whole)


@pytest.mark.parametrize(
    ("factor", "value"),
    [
        ("features", "interaction_cst, alone"),
        ("features", "interaction_cst, apart"),
        ("costs", "feature_costs=inf"),
        ("signs", "weight_signs"),
        ("signs", "monotonic_cst"),
        ("terms", "excluded rule"),
        ("terms", "excluded slope"),
        ("slopes", "False"),
        ("brevity", "0.0"),
        ("n_terms", "auto"),
        ("limits", "min_coverage"),
        ("max_conditions", "1"),
        ("fit_intercept", "False"),
        ("strategy", "stagewise"),
        ("costs", "feature_costs"),
    ],
)
def test_judges_see_that_a_parameter_was_not_obeyed(factor, value, tmp_path):
    # Of some tables, a model may do what it was not asked to.
    assert any(is_judged_wrong(factor, value, seed, tmp_path) for seed in range(20))


def is_judged_wrong(factor, value, seed, folder):
    asked = Problem(PLAIN | {factor: value}, seed)
    _, whole = asked.placed(folder)
    model = Problem(PLAIN, seed).estimator().fit(**whole.fit_arguments())
    try:
        judge_model(model, asked, whole)
    except WrongError:
        return True
    return False
