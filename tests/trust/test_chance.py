"""Chance: how shuffled copies are made, and how often they have a term as good."""

import json
from dataclasses import replace

import numpy as np
import pytest

from helpers.rounds import class_constants, make_rounds, run_boost
from laconic import RuleBoostingRegressor, load_model, save_model
from laconic.boosting import State
from laconic.candidates.candidates import candidate_conditions
from laconic.losses import HuberLoss, LogisticLoss, MultinomialLoss, PoissonLoss, SquaredLoss
from laconic.search.optimal import search_optimal
from laconic.terms.rules import RuleEnsemble
from laconic.trust import Chance, TermChance, Trust
from laconic.trust.chance import chance, extrapolated
from laconic.trust.null_targets import Drawn, Exchange, cells_of, null_targets

N_ROWS = 120


def table(seed=0):
    return np.random.default_rng(seed).normal(size=(N_ROWS, 4)).round(1)


def make_state(y, loss, n_terms=2, **options):
    """Rounds and the model that they lead to."""
    options = {"l2_regularization": 5.0, "is_joint": True, "fit_intercept": True} | options
    rounds = make_rounds(candidate_conditions(table()), y, loss, **options)
    rounds = replace(rounds, search_options={"max_conditions": 2})
    if isinstance(loss, MultinomialLoss):
        start = class_constants(y, None, 3)
    else:
        start = rounds.refit(State(RuleEnsemble()))[0].ensemble
    return rounds, run_boost(rounds, n_terms, start)[-1]


def numbers(effect=0.0, seed=1):
    return effect * (table()[:, 0] > 0.5) + np.random.default_rng(seed).normal(size=N_ROWS)


# Exchanges


def test_rows_are_exchanged_within_cells():
    cells = np.array([0, 1, 0, 1, 2, 0])
    exchange = Exchange.of_rows(cells)
    assert exchange.moved == pytest.approx(5 / 6)
    rng = np.random.default_rng(0)
    drawn = np.array([exchange.draw(rng) for _ in range(300)])
    assert (np.sort(drawn, axis=1) == np.arange(6)).all()
    assert (cells[drawn] == cells).all()
    # Each of the three rows of a cell is as likely.
    assert np.bincount(drawn[:, 0])[[0, 2, 5]] == pytest.approx(100, abs=30)


def test_groups_of_equal_size_are_exchanged_row_by_row():
    groups, y = np.array([0, 0, 1, 1, 2]), np.arange(5.0)
    exchange = Exchange.of_groups(groups, np.zeros(5, dtype=np.int64), y)
    assert exchange.moved == pytest.approx(4 / 5)
    rng = np.random.default_rng(0)
    drawn = {tuple(exchange.draw(rng).tolist()) for _ in range(50)}
    assert drawn == {(0, 1, 2, 3, 4), (2, 3, 0, 1, 4)}


def test_groups_with_one_target_are_exchanged_whatever_their_size():
    groups, y = np.array([0, 1, 1, 0, 0, 2]), np.array([7.0, 8.0, 8.0, 7.0, 7.0, 9.0])
    exchange = Exchange.of_groups(groups, np.zeros(6, dtype=np.int64), y, None)
    assert exchange.moved == 1.0
    rng = np.random.default_rng(0)
    drawn = {tuple(y[exchange.draw(rng)].tolist()) for _ in range(200)}
    assert len(drawn) == 6
    assert all(a == d == e and b == c for a, b, c, d, e, _ in drawn)


def test_groups_that_terms_cover_differently_are_not_exchanged():
    groups, cells = np.array([0, 0, 1, 1, 2, 2]), np.array([0, 1, 0, 1, 1, 1])
    exchange = Exchange.of_groups(groups, cells, np.arange(6.0))
    rng = np.random.default_rng(0)
    drawn = np.array([exchange.draw(rng) for _ in range(50)])
    assert (cells[drawn] == cells).all()
    assert (drawn[:, 4:] == [4, 5]).all()


def test_cells_are_rows_with_the_same_values_of_all_terms():
    columns = [np.array([True, True, False, False]), np.array([0.5, 0.5, 0.5, 1.0])]
    cells = cells_of(columns, 4)
    assert cells[0] == cells[1]
    assert len(set(cells.tolist())) == 3


# Copies


def test_first_targets_are_permuted_with_their_weights():
    y, weights = numbers(), np.random.default_rng(2).uniform(1, 2, N_ROWS)
    rounds, state = make_state(y, SquaredLoss(), sample_weight=weights)
    method, targets = null_targets(rounds, state.first(0))
    assert method == "permutation"
    drawn = targets.draw(np.random.default_rng(0))
    assert set(zip(*drawn, strict=True)) == set(zip(y, weights, strict=True))


@pytest.mark.parametrize("loss", [SquaredLoss(), HuberLoss(1.0)])
@pytest.mark.parametrize("is_joint", [True, False])
def test_residuals_are_those_of_weights_without_penalty(loss, is_joint):
    y = numbers(3.0)
    rounds, state = make_state(y, loss, 1, is_joint=is_joint)
    method, targets = null_targets(rounds, state)
    assert method == "residuals"
    covered = state.columns[0]
    if isinstance(loss, SquaredLoss):
        means = np.where(covered, y[covered].mean(), y[~covered].mean())
        np.testing.assert_allclose(targets.fitted, means)
    drawn, _ = targets.draw(np.random.default_rng(0))
    residuals = np.sort(drawn - targets.fitted)
    np.testing.assert_allclose(residuals, np.sort(y - targets.fitted), atol=1e-12)


def test_classes_are_drawn_from_shares_of_the_terms():
    y = np.where(numbers(2.0) > 1, 1.0, -1.0)
    rounds, state = make_state(y, LogisticLoss(), 1)
    method, targets = null_targets(rounds, state)
    assert method == "classes"
    rng = np.random.default_rng(0)
    drawn = np.array([targets.draw(rng)[0] for _ in range(400)])
    assert set(np.unique(drawn)) == {-1.0, 1.0}
    for rows in (state.columns[0], ~state.columns[0]):
        share = (y[rows] > 0).mean()
        assert (drawn[:, rows] > 0).mean() == pytest.approx(share, abs=0.02)


def test_weights_of_classes_do_not_change_their_shares():
    y = np.where(numbers(2.0) > 1, 1.0, -1.0)
    of_classes = {1.0: 3.0, -1.0: 0.5}
    weights = np.where(y > 0, 3.0, 0.5)
    rounds, state = make_state(y, LogisticLoss(), 1, sample_weight=weights)
    _, targets = null_targets(rounds, state, None, of_classes)
    rng = np.random.default_rng(0)
    drawn, of_drawn = targets.draw(rng)
    np.testing.assert_array_equal(of_drawn, np.where(drawn > 0, 3.0, 0.5))
    shares = [(targets.draw(rng)[0] > 0).mean() for _ in range(200)]
    assert np.mean(shares) == pytest.approx((y > 0).mean(), abs=0.02)


def test_one_of_several_classes_is_drawn():
    probabilities = np.array([[0.2, 0.5, 0.3], [0.0, 0.0, 1.0]])
    rng = np.random.default_rng(0)
    targets = Drawn(probabilities, None, None)
    drawn = np.array([targets.draw(rng)[0] for _ in range(1000)])
    shares = np.bincount(drawn[:, 0].astype(int)) / 1000
    np.testing.assert_allclose(shares, probabilities[0], atol=0.05)
    assert (drawn[:, 1] == 2).all()


def test_separated_classes_have_penalised_probabilities():
    y = np.where(table()[:, 0] > 0, 1.0, -1.0)
    rounds, state = make_state(y, LogisticLoss(), 1)
    method, targets = null_targets(rounds, state)
    assert method == "penalised classes"
    assert 0.01 < targets.probabilities.min() < targets.probabilities.max() < 0.99


def test_counts_are_exchanged_within_cells():
    y = np.random.default_rng(3).poisson(np.exp(0.8 * (table()[:, 0] > 0))).astype(float)
    rounds, state = make_state(y, PoissonLoss(), 2)
    method, targets = null_targets(rounds, state)
    assert method == "cells"
    drawn, _ = targets.draw(np.random.default_rng(0))
    for covered in state.columns:
        assert drawn[covered].sum() == y[covered].sum()


def test_cells_of_single_rows_are_refused_in_words():
    y = np.random.default_rng(3).poisson(2, N_ROWS).astype(float)
    rounds, state = make_state(y, PoissonLoss(), 1)
    sloped = replace(state, columns=(np.arange(N_ROWS) / 7,))
    assert "as beside slopes" in null_targets(rounds, sloped)


def test_groups_that_cannot_be_exchanged_are_refused_in_words():
    y = numbers(1.0)
    sizes = np.arange(1, 16)
    groups = np.repeat(np.arange(15), sizes)
    assert len(groups) == N_ROWS
    rounds, state = make_state(y, SquaredLoss(), 1)
    assert "the target is the same in all rows" in null_targets(rounds, state.first(0), groups)
    assert "the residual is the same in all rows" in null_targets(rounds, state, groups)
    rounds, state = make_state(np.where(y > 0, 1.0, -1.0), LogisticLoss(), 1)
    groups = np.arange(N_ROWS) // 10
    assert "cover in the same way" in null_targets(rounds, state, groups)


# Answers


@pytest.mark.parametrize(
    ("loss", "target"),
    [
        (SquaredLoss(), lambda f: f),
        (HuberLoss(1.0), lambda f: f),
        (LogisticLoss(), lambda f: np.where(f > 1, 1.0, -1.0)),
        (PoissonLoss(), lambda f: np.floor(np.exp(np.clip(f, 0, 3)))),
        (MultinomialLoss(), lambda f: np.digitize(f, [0, 2]).astype(float)),
    ],
)
@pytest.mark.parametrize("is_joint", [True, False])
@pytest.mark.parametrize("brevity", [0.0, 1.5])
def test_cutoffs_decide_as_full_searches_do(loss, target, is_joint, brevity):
    y = target(numbers(2.0))
    rounds, state = make_state(y, loss, 3, is_joint=is_joint, brevity=brevity)
    answer = chance(rounds, state, n_permutations=19)
    # Another way of searching takes no cutoffs.
    full = replace(rounds, search_options={**rounds.search_options, "method": _search_optimal})
    assert chance(full, state, n_permutations=19) == answer
    assert answer[0].p == 0.05


def _search_optimal(problem, limits, *, n_jobs, callback, **options):
    assert limits.cutoff is None
    return search_optimal(problem, limits, n_jobs=n_jobs, callback=callback, **options)


def test_terms_without_effect_are_no_better_than_chance():
    rounds, state = make_state(numbers(seed=2), SquaredLoss(), 3)
    answer = chance(rounds, state)
    assert all(term.n_exceeding == 5 and term.p > 0.05 for term in answer)
    assert [term.method for term in answer] == ["permutation", "residuals", "residuals"]


def test_the_answer_does_not_depend_on_threads():
    rounds, state = make_state(numbers(0.7), SquaredLoss(), 3)
    one, three = (chance(rounds, state, n_jobs=n) for n in (1, 3))
    assert one == three


def test_copies_of_a_term_do_not_depend_on_other_terms():
    rounds, state = make_state(numbers(0.7), SquaredLoss(), 3)
    assert chance(rounds, state)[1] == chance(rounds, state.first(2))[1]


def test_seeds_give_other_copies():
    rounds, state = make_state(numbers(seed=2), SquaredLoss(), 1)
    assert len({chance(rounds, state, random_state=n)[0].n_draws for n in range(6)}) > 1


def test_a_callback_or_ctrl_c_keeps_terms_that_are_done():
    rounds, state = make_state(numbers(0.5), SquaredLoss(), 3)
    whole, told = chance(rounds, state, n_permutations=19), []

    def stop(progress):
        told.append(progress)
        return progress.number == 2

    part = chance(rounds, state, n_permutations=19, callback=stop)
    assert part[0] == whole[0]
    assert [term.method for term in part[1:]] == ["interrupted", "interrupted"]
    assert not part.is_complete
    assert "Interrupted" in str(part)
    assert told[0].line == "chance, term 1 of 3: 1 of at most 19 copies, 0 with a term as good"

    def interrupt(progress):
        if progress.number == 2:
            raise KeyboardInterrupt

    assert chance(rounds, state, n_permutations=19, callback=interrupt) == part


def test_ctrl_c_before_the_first_term_is_raised():
    rounds, state = make_state(numbers(0.5), SquaredLoss(), 2)

    def interrupt(progress):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        chance(rounds, state, callback=interrupt)


def test_tails_are_extrapolated_only_where_no_copy_is_as_good():
    rounds, state = make_state(numbers(1.2), SquaredLoss(), 3)
    answer = chance(rounds, state, n_permutations=59)
    assert answer[0].n_exceeding == 0
    assert 1e-6 <= answer[0].extrapolated_p <= 1 / 60
    assert "by extrapolation" in str(answer)
    assert all(term.extrapolated_p is None for term in answer if term.n_exceeding > 0)
    # So few values say nothing about a tail.
    assert chance(rounds, state, n_permutations=19)[0].extrapolated_p is None


def test_extrapolation_needs_values_that_differ():
    assert extrapolated([1.0], 2.0) is None
    assert extrapolated([1.0, 1.0], 2.0) is None
    assert extrapolated(list(np.linspace(0, 1, 99)), 1e9) == 1e-6


@pytest.mark.parametrize(
    ("name", "value"), [("n_permutations", 0), ("n_permutations", 9.5), ("random_state", -1)]
)
def test_numbers_that_make_no_sense_are_refused(name, value):
    rounds, state = make_state(numbers(), SquaredLoss(), 1)
    with pytest.raises(ValueError, match=f"{name} must be a whole number"):
        chance(rounds, state, **{name: value})


def test_p_values_count_the_table_itself():
    def p(n_draws, n_exceeding):
        return TermChance("a", "permutation", n_draws, n_exceeding).p

    assert (p(99, 0), p(99, 4), p(37, 5), p(99, 5)) == (0.01, 0.05, 5 / 37, 5 / 99)
    assert p(0, 0) is None


def test_words_and_frames():
    terms = (
        TermChance("a > 1", "permutation", 99, 0, 0.0004),
        TermChance("b", "residuals", 37, 5),
        TermChance("c", "impossible", reason="There is a reason."),
        TermChance("d", "cells", 99, 1),
    )
    answer = Chance(terms, 99, 0)
    smallest = TermChance("a", "cells", 10**5 - 1, 0, 1e-6)
    assert str(smallest).endswith("(p = 0.00001, by extrapolation about 0.000001)")
    assert str(answer) == (
        "Could chance have produced these terms?\n"
        "1. a > 1: In 99 shuffled copies of the table, none had a term as good. "
        "(p = 0.01, by extrapolation about 0.0004)\n"
        "2. b: 5 of 37 shuffled copies of the table had a term as good. (p = 0.14)\n"
        "3. c: No copies can be made. There is a reason.\n"
        "4. d: 1 of 99 shuffled copies of the table had a term as good. (p = 0.02)"
    )
    frame = answer.to_frame(backend="pandas")
    assert frame["p"].tolist()[:2] == [0.01, 5 / 37]
    assert frame["p"].isna().tolist() == [False, False, True, False]
    assert frame["term"].tolist() == [1, 2, 3, 4]
    assert answer.to_frame(backend="polars").columns == frame.columns.tolist()
    assert "no terms" in str(Chance((), 99, 0))


# Files


def fitted(tmp_path):
    model = RuleBoostingRegressor(3, max_conditions=2).fit(table(), numbers(1.0))
    model.chance(table(), numbers(1.0), n_permutations=59)
    save_model(model, tmp_path / "model.json")
    return model, tmp_path / "model.json"


def test_files_keep_the_answer_to_the_last_bit(tmp_path):
    model, path = fitted(tmp_path)
    loaded = load_model(path)
    assert loaded.own_trust == model.own_trust
    assert loaded.trust_.chance == model.trust_.chance
    assert str(loaded.trust_.chance) == str(model.trust_.chance)
    save_model(loaded, tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == path.read_bytes()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"n_draws": "many"}, r"trust.chance.terms\[0\].n_draws must be a whole number"),
        ({"n_draws": -1}, r"trust.chance.terms\[0\].n_draws must be a whole number"),
        ({"n_draws": 60}, "trust.chance must be valid. Term 1 has 60 copies of at most 59"),
        ({"n_draws": 12}, "trust.chance must be valid. Term 1 has 12 copies"),
        ({"n_exceeding": 60}, "trust.chance must be valid. Term 1 has 59 copies"),
        ({"n_exceeding": 3}, "trust.chance must be valid. Term 1 has an extrapolated_p that"),
        ({"method": "magic"}, r"trust.chance.terms\[0\].method must be 'permutation'"),
        ({"method": "given"}, "trust.chance must be valid. Term 1 has 59 copies"),
        (
            {"extrapolated_p": 1e-7},
            "Term 1 has an extrapolated_p that",
        ),
        ({"extrapolated_p": 0.5}, "Term 1 has an extrapolated_p that"),
        ({"n_draws": 2**70}, r"trust.chance.terms\[0\].n_draws must be a whole number in the"),
        ({"extrapolated_p": 0}, r"terms\[0\].extrapolated_p must be .*\(0, 1\]"),
        ({"p": 0.001}, r"trust.chance.terms\[0\] must have the keys 'text', 'method' and no"),
    ],
)
def test_damaged_answers_are_refused_by_name(tmp_path, change, words):
    _, path = fitted(tmp_path)
    content = json.loads(path.read_text())
    content["trust"]["chance"]["terms"][0] |= change
    path.write_text(json.dumps(content))
    with pytest.raises(ValueError, match=words):
        load_model(path)


def test_answers_about_another_number_of_terms_are_refused(tmp_path):
    _, path = fitted(tmp_path)
    content = json.loads(path.read_text())
    del content["trust"]["chance"]["terms"][0]
    path.write_text(json.dumps(content))
    with pytest.raises(ValueError, match=r"trust\.chance\.terms must be one for each"):
        load_model(path)


def test_an_answer_is_no_part_of_other_models():
    model = RuleBoostingRegressor(1).fit(table(), numbers(1.0))
    model.chance(table(), numbers(1.0), n_permutations=5)
    assert not model.own_trust.is_empty
    model.fit(table(), numbers(1.0, seed=9))
    assert model.own_trust == Trust()
