"""`model.chance`: what it takes, and for which models."""

from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest

import laconic
from laconic import (
    RuleBoostingClassifier,
    RuleBoostingClassifierCV,
    RuleBoostingRegressor,
    RuleBoostingRegressorCV,
)

N_ROWS = 150
RNG = np.random.default_rng(5)
TABLE = pd.DataFrame(
    {
        "age": RNG.integers(18, 90, N_ROWS),
        "bmi": np.where(RNG.random(N_ROWS) < 0.1, np.nan, RNG.normal(25, 4, N_ROWS).round(1)),
        "city": RNG.choice(["Bonn", "Rom", "Ulm"], N_ROWS),
    }
)
EFFECT = 2.0 * (TABLE["age"] > 60) + RNG.normal(size=N_ROWS)
TARGETS = {
    "numbers": EFFECT.to_numpy(),
    "two classes": np.where(EFFECT > 1, "yes", "no"),
    "three classes": np.array(["low", "mid", "high"])[np.digitize(EFFECT, [0, 1.5])],
    "counts": RNG.poisson(np.exp(EFFECT / 2)),
}


def make(target, **parameters):
    parameters = {"n_terms": 2, "max_conditions": 2} | parameters
    if "classes" in target:
        return RuleBoostingClassifier(**parameters)
    loss = {"loss": "poisson"} if target == "counts" else {}
    return RuleBoostingRegressor(**loss, **parameters)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"strategy": "stagewise"},
        {"strategy": "polished"},
        {"strategy": "global"},
        {"brevity": 0.0},
        {"slopes": False},
        {"n_terms": "auto"},
        {"search": "greedy"},
    ],
    ids=str,
)
def test_models_of_all_kinds(target, parameters):
    if target == "counts" and parameters.get("strategy") == "global":
        pytest.skip("no proofs for counts")
    y = TARGETS[target]
    model = make(target, **parameters).fit(TABLE, y)
    answer = model.chance(TABLE, y, n_permutations=9)
    assert len(answer) == len(model.ensemble_)
    assert answer[0].p == 0.1
    assert answer[0].method == "permutation"
    assert model.own_trust.chance is answer
    for term in answer[1:]:
        assert term.method in ("residuals", "classes", "cells", "impossible")
        assert (term.p is None) == (term.method == "impossible")


def test_chosen_sizes():
    for kind, target in (
        (RuleBoostingRegressorCV, "numbers"),
        (RuleBoostingClassifierCV, "two classes"),
    ):
        model = kind(3, max_conditions=1).fit(TABLE, TARGETS[target])
        answer = model.chance(TABLE, TARGETS[target], n_permutations=9)
        assert len(answer) == len(model.ensemble_)
    empty = RuleBoostingRegressorCV(2, max_conditions=1).fit(TABLE, np.zeros(N_ROWS))
    assert "no terms" in str(empty.chance(TABLE, np.zeros(N_ROWS)))


def test_a_constant_is_no_relation_to_the_features():
    y = 5.0 + TARGETS["numbers"]
    model = make("numbers", fit_intercept=False).fit(TABLE, y)
    answer = model.chance(TABLE, y, n_permutations=9)
    assert [(term.text, term.p) for term in answer][:1] == [("always", 1.0)]


def test_tables_of_any_library_give_the_same():
    y = TARGETS["numbers"]
    answers = []
    for X in (TABLE, pl.from_pandas(TABLE)):
        model = make("numbers").fit(X, y)
        answers.append(model.chance(X, y, n_permutations=9))
    assert answers[0] == answers[1]


def test_weights_move_with_the_target():
    y = TARGETS["numbers"]
    for weights in (
        np.full(N_ROWS, 2.0),
        np.where(np.arange(N_ROWS) < 20, 0.0, 1.0),
        y - y.min() + 1,
    ):
        model = make("numbers").fit(TABLE, y, sample_weight=weights)
        answer = model.chance(TABLE, y, sample_weight=weights, n_permutations=9)
        assert answer[0].p == 0.1


def test_rows_without_weight_make_no_difference():
    y, rest = TARGETS["numbers"], slice(20, None)
    weights = np.where(np.arange(N_ROWS) < 20, 0.0, 1.0)
    weighted, few = make("numbers", slopes=False), make("numbers", slopes=False)
    weighted.fit(TABLE, y, sample_weight=weights)
    few.fit(TABLE[rest], y[rest])
    groups = np.repeat(np.arange(N_ROWS // 2), 2)
    one = weighted.chance(TABLE, y, sample_weight=weights, groups=groups, n_permutations=19)
    other = few.chance(TABLE[rest], y[rest], groups=groups[rest], n_permutations=19)
    assert one == other


def test_exposures_and_weights_of_classes():
    exposure = RNG.choice([0.5, 1.0, 2.0], N_ROWS)
    model = make("counts").fit(TABLE, TARGETS["counts"], exposure=exposure)
    assert model.chance(TABLE, TARGETS["counts"], exposure=exposure, n_permutations=9)[0].p == 0.1
    for target in ("two classes", "three classes"):
        model = make(target, class_weight="balanced").fit(TABLE, TARGETS[target])
        answer = model.chance(TABLE, TARGETS[target], n_permutations=9)
        assert answer[0].p == 0.1
        assert answer[1].method == "classes"


def test_targets_of_extreme_size():
    y = TARGETS["numbers"]
    answers = [
        make("numbers").fit(TABLE, scale * y).chance(TABLE, scale * y, n_permutations=19)
        for scale in (1.0, 2.0**-600)
    ]
    assert [term.n_draws for term in answers[0]] == [term.n_draws for term in answers[1]]


def test_groups_are_exchanged_as_a_whole():
    groups = np.repeat(np.arange(15), 10)
    # The feature and the target differ between groups, and have nothing to do with each other.
    of_groups = np.random.default_rng(12)
    X = of_groups.normal(size=(15, 6))[groups]
    y = of_groups.normal(size=15)[groups] + 0.1 * of_groups.normal(size=N_ROWS)
    model = RuleBoostingRegressor(1, max_conditions=2).fit(X, y)
    assert model.chance(X, y, n_permutations=39)[0].p == 1 / 40
    answer = model.chance(X, y, groups=[f"patient {n}" for n in groups], n_permutations=39)
    assert answer[0].p > 0.1
    assert answer.n_groups == 15


def test_groups_that_cannot_be_exchanged_are_named():
    sizes = [*range(1, 17), 14]
    groups = np.repeat(np.arange(17), sizes)[:N_ROWS]
    y = TARGETS["numbers"]
    answer = make("numbers").fit(TABLE, y).chance(TABLE, y, groups=groups, n_permutations=9)
    assert answer[0].method == "impossible"
    assert "groups of the same size" in str(answer)


def test_given_terms_were_not_searched_for():
    y = TARGETS["numbers"]
    model = make("numbers", initial_terms=["bmi > 25"]).fit(TABLE, y)
    answer = model.chance(TABLE, y, n_permutations=9)
    assert [term.method for term in answer] == ["given", "residuals"]
    assert answer[0].p is None
    assert answer[1].p == 0.1
    edited = make("numbers").fit(TABLE, y).edit(TABLE, y, replace={2: "bmi > 25"}, cv=2)
    assert "given" in [term.method for term in edited.chance(TABLE, y, n_permutations=9)]


def test_terms_of_several_fits_are_worth_no_more_than_the_best():
    y = TARGETS["numbers"]
    model = make("numbers", n_terms=1, warm_start=True, brevity=0.0).fit(TABLE, y)
    model.set_params(n_terms=2, max_conditions=1).fit(TABLE, y)
    assert model.settings_.is_mixed
    assert len(model.chance(TABLE, y, n_permutations=9)) == 2


def test_terms_of_a_part_of_the_rows_are_worth_no_more_than_the_best():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(300, 5))
    y = X[:, 0] + rng.normal(size=300)
    # The thresholds of all rows are others.
    model = make("numbers", n_terms=3, honest=0.5, max_thresholds=4, slopes=False).fit(X, y)
    answer = model.chance(X, y, n_permutations=59)
    model.settings_ = replace(model.settings_, is_mixed=True)
    assert model.chance(X, y, n_permutations=59) == answer


@pytest.mark.parametrize("is_weighted", [False, True])
@pytest.mark.parametrize("target", ["numbers", "two classes", "three classes", "counts"])
def test_sets_of_categories_are_made_for_each_copy(target, is_weighted):
    rng = np.random.default_rng(1)
    table = pd.DataFrame({"town": rng.choice([*"abcdefghijklmnopqrst"], N_ROWS)})
    y = rng.permutation(TARGETS[target])
    weights = rng.integers(0, 3, N_ROWS) if is_weighted else None
    model = make(target, n_terms=1, categories="sets", n_jobs=2).fit(table, y, weights)
    # The set that suits the target best looks good, though it is noise.
    assert any(isinstance(each.value, tuple) for each in model.ensemble_[0].query)
    assert model.chance(table, y, weights, n_permutations=39)[0].p > 0.05


def test_the_result_does_not_depend_on_threads():
    y = TARGETS["two classes"]
    one, two = (make("two classes", n_jobs=n).fit(TABLE, y) for n in (1, 2))
    assert one.chance(TABLE, y) == two.chance(TABLE, y)


def test_progress_is_printed_and_told(capsys):
    y, told = TARGETS["numbers"], []
    model = make("numbers", n_terms=1, verbose=1).fit(TABLE, y)
    capsys.readouterr()
    model.chance(TABLE, y, n_permutations=9, callback=told.append)
    assert capsys.readouterr().out == (
        "chance, term 1 of 1: 9 of at most 9 copies, 0 with a term as good\n"
    )
    assert [progress.n_draws for progress in told] == [*range(1, 10)]


def test_tables_in_parts_are_refused(tmp_path):
    y = TARGETS["numbers"]
    model = make("numbers", slopes=False).fit(TABLE, y)
    TABLE.assign(y=y).to_parquet(tmp_path / "table.parquet")
    with pytest.raises(ValueError, match="Chance needs a table in memory"):
        model.chance(laconic.scan(tmp_path / "table.parquet"), "y")
