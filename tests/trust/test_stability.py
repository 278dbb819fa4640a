"""Resamples, matches of terms, and the answer in words."""

from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest

from laconic import Condition, Query, Rule, RuleEnsemble
from laconic.tables.tables import as_table
from laconic.terms.rules import Output
from laconic.terms.slopes import Slope
from laconic.trust import FeatureStability, Stability, StabilityProgress, TermStability
from laconic.trust.stability import (
    NO_MATCH,
    Original,
    draw_rows,
    make_stability,
    match_terms,
    repeat_fit,
)

AGES = np.arange(100.0).reshape(-1, 1)


def rule(relation, value, weight, output=0):
    return Rule(Query((Condition("x0", relation, value),)), weight, output)


def match(one, other, *, has_intercept=True, X=AGES):
    values = one.values(X), other.values(X)
    return match_terms(one, values[0], other, values[1], has_intercept=has_intercept)


def everything(drawn):
    return True


# Draws.


def test_a_draw_has_as_many_rows_as_the_table():
    times = draw_rows(3, 0, np.arange(50), everything)
    assert times.sum() == 50
    assert 20 < np.count_nonzero(times) < 45


def test_a_draw_depends_on_seed_and_number_only():
    spawned = np.random.SeedSequence(7).spawn(3)[2]
    expected = np.bincount(np.random.default_rng(spawned).integers(50, size=50), minlength=50)
    assert draw_rows(2, 7, np.arange(50), everything).tolist() == expected.tolist()
    other = draw_rows(1, 7, np.arange(50), everything)
    assert other.tolist() != expected.tolist()


def test_groups_are_drawn_as_a_whole_and_rows_that_do_not_count_never():
    groups = np.array([0, 0, 1, 1, 1, 2, -1, 3])
    for number in range(20):
        times = draw_rows(number, 0, groups, everything)
        assert times[0] == times[1]
        assert times[2] == times[3] == times[4]
        assert times[6] == 0
        assert sum(times[[0, 2, 5, 7]]) == 4


def test_rows_are_drawn_again_until_a_model_can_be_fitted():
    y = np.arange(30) == 0
    for number in range(20):
        assert y[draw_rows(number, 0, np.arange(30), lambda drawn: y[drawn].any()) > 0].any()
    with pytest.raises(ValueError, match="No resample with rows of every class was found"):
        draw_rows(0, 0, np.arange(3), lambda drawn: False)


# Matches.


def test_rules_are_compared_by_the_rows_that_they_cover_or_not():
    similarity, is_complement = match(rule(">", 59, 1.0), rule(">", 57, 2.0))
    assert similarity == 40 / 42  # the others: 58 / 60
    assert not is_complement
    assert match(rule(">", 59, 1.0), rule(">", 59, -1.0)).similarity == 0.0


def test_a_complement_with_the_opposite_sign_is_the_same_beside_an_intercept():
    old, young = rule(">", 59, 1.0), rule("<=", 57, -1.0)
    assert match(old, young) == (40 / 42, True)
    assert match(young, old) == (40 / 42, True)
    assert match(old, young, has_intercept=False) == NO_MATCH
    assert match(old, rule("<=", 57, 1.0)).similarity == 0.0


def test_it_does_not_matter_which_side_of_a_large_rule_is_written():
    # The rows that are covered overlap by 90 of 98, those that are not by 2 of 10.
    large, larger = rule(">", 9, 1.0), rule(">", 1, 1.0)
    assert match(large, larger).similarity == 2 / 10
    assert match(rule("<=", 9, -1.0), rule("<=", 1, -1.0)).similarity == 2 / 10
    assert match(large, larger, has_intercept=False).similarity == 90 / 98


def test_terms_of_other_classes_or_kinds_are_not_similar():
    assert match(rule(">", 59, 1.0, 0), rule(">", 59, 1.0, 1)) == NO_MATCH
    assert match(rule(">", 59, 1.0), Slope("x0", 59, 60, 1.0)) == NO_MATCH


def test_slopes_are_compared_by_the_correlation_of_their_values():
    slope = Slope("x0", 20, 80, 1.0)
    assert match(slope, replace(slope, weight=3.0)).similarity == pytest.approx(1.0)
    assert 0.9 < match(slope, Slope("x0", 0, 99, 1.0)).similarity < 1.0
    assert match(slope, Slope("x0", 97, 99, 1.0)).similarity < 0.5
    assert match(slope, replace(slope, weight=-1.0)) == NO_MATCH
    X = np.column_stack([AGES, AGES])
    assert match(slope, Slope("x1", 20, 80, 1.0), X=X) == NO_MATCH
    constant = np.full((9, 1), 50.0)
    assert match(slope, slope, X=constant).similarity == 0.0


# Answers.


def original(ensemble, *, labels=None, counted=None):
    counted = np.ones(len(AGES), dtype=bool) if counted is None else counted
    table = as_table(AGES)
    return Original(
        ensemble, table, counted, has_intercept=True, scores=lambda raw: raw, labels=labels
    )


def answer(model, others, **kwargs):
    return make_stability(
        original(model, **kwargs),
        dict(enumerate(others)),
        n_resamples=len(others),
        random_state=0,
        has_groups=False,
    )


def models(*terms):
    return [RuleEnsemble((term,), feature_names=("x0",)) for term in terms]


def test_terms_that_came_back_are_counted_with_the_most_frequent_text():
    (model,) = models(rule(">", 59, 1.0))
    others = models(
        *(rule(">", 58, 1.2), rule("<=", 60, -1.0), rule(">", 58, 0.7)),
        *(rule(">", 20, 1.0), rule(">", 59, -1.0)),
    )
    found = answer(model, others)
    assert found.terms == (TermStability("x0 > 59", "rule", 3, "x0 > 58", 2, False),)
    assert found.features == (FeatureStability("x0", 5),)
    assert found.sizes == (1,) * 5


def test_one_term_is_not_the_return_of_two():
    model = RuleEnsemble((rule(">", 57, 1.0), rule(">", 59, 1.0)), feature_names=("x0",))
    found = answer(model, models(rule(">", 59.5, 1.0), rule(">", 57.5, 1.0)))
    assert [term.n_returned for term in found.terms] == [1, 1]
    assert [term.nearest for term in found.terms] == ["x0 > 57.5", "x0 > 59.5"]


def test_rows_that_do_not_count_are_not_compared():
    (model,) = models(rule(">", 59, 1.0))
    others = models(rule(">", 19, 1.0))
    counted = (AGES[:, 0] <= 19) | (AGES[:, 0] > 59)
    assert answer(model, others).terms[0].n_returned == 0
    assert answer(model, others, counted=counted).terms[0].n_returned == 1


def test_spread_is_the_standard_deviation_of_predictions():
    rng = np.random.default_rng(0)
    (model,) = models(rule(">", 59, 1.0))
    others = models(*(rule(">", 59, weight) for weight in rng.normal(size=7)))
    found = answer(model, others)
    expected = np.std([other.raw_predictions(AGES) for other in others], axis=0, ddof=1)
    np.testing.assert_allclose(found.row_spread, expected)
    np.testing.assert_allclose(found.spread, np.quantile(expected, [0.05, 0.25, 0.5, 0.75, 0.95]))
    assert found.other_class is found.row_other_class is None
    with pytest.raises(ValueError, match="read-only"):
        found.row_spread[0] = 1.0


def test_shares_of_other_classes():
    (model,) = models(rule(">", 59, 1.0))
    others = models(rule(">", 59, 1.0), rule(">", 49, 1.0), rule(">", 59, 1.0), rule(">", 49, 1.0))
    found = answer(model, others, labels=lambda raw: raw > 0.5)
    assert found.other_class == pytest.approx(10 / 100 * 2 / 4)
    assert set(found.row_other_class[50:60]) == {0.5}


def test_terms_of_classes_name_them():
    outputs = (Output("a", 0.0), Output("b", 0.0), Output("c", 0.0))
    terms = (rule(">", 59, 1.0, 1), Slope("x0", 1, 9, 1.0, 2))
    model = RuleEnsemble(terms, feature_names=("x0",), outputs=outputs)
    other = model.with_terms((rule(">", 59, 1.0, 0), Slope("x0", 1, 9, 1.0, 2)))
    of_classes = replace(
        original(model, labels=lambda raw: raw.argmax(axis=1)), scores=lambda raw: raw[:, 0]
    )
    settings = {"n_resamples": 1, "random_state": 0, "has_groups": False}
    found = make_stability(of_classes, {0: other}, **settings)
    assert [term.text for term in found.terms] == ["for b if x0 > 59", "for c x0 from 1 to 9"]
    assert [term.n_returned for term in found.terms] == [0, 1]


def of_terms(*terms, **changes):
    """Make an answer for the terms."""
    values = {
        "n_resamples": 100,
        "n_done": 100,
        "random_state": 0,
        "has_groups": False,
        "terms": terms,
        "features": (FeatureStability("age", 98),),
        "sizes": (2,) * 100,
        "spread": (0.1, 0.2, 0.3, 0.4, 0.5),
    }
    return Stability(**values | changes)


def test_words():
    found = of_terms(
        TermStability("age > 60", "rule", 44, "age > 61", 30),
        TermStability("bmi > 30", "rule", 98, "bmi > 30", 91),
        TermStability("size from 1 to 2", "slope", 1, "size from 1 to 3", 1),
        TermStability("bmi <= 20", "rule", 2, "bmi > 20", 2, True),
        TermStability("bmi <= 21", "rule", 3, "bmi <= 22", 1),
        TermStability("sex == f", "rule", 0),
        other_class=0.05,
        sizes=(2,) * 50 + (4,) * 50,
    )
    assert found.sentences == [
        "In 100 resampled copies, a rule for nearly the same rows came back 44 times; most often "
        "as 'age > 61'.",
        "In 100 resampled copies, a rule for nearly the same rows came back 98 times.",
        "In 100 resampled copies, nearly the same slope came back once; as 'size from 1 to 3'.",
        "In 100 resampled copies, a rule for nearly the same rows came back twice; most often as "
        "the complement of 'bmi > 20'.",
        "In 100 resampled copies, a rule for nearly the same rows came back 3 times; for example "
        "as 'bmi <= 22'.",
        "In 100 resampled copies, a rule for nearly the same rows never came back.",
    ]
    assert str(found).splitlines() == [
        "In 100 resampled copies of this table these terms, or terms for nearly the same rows, "
        "came back:",
        " 44 times  age > 60; most often as 'age > 61'",
        " 98 times  bmi > 30",
        "  1 time   size from 1 to 2; as 'size from 1 to 3'",
        "  2 times  bmi <= 20; most often as the complement of 'bmi > 20'",
        "  3 times  bmi <= 21; for example as 'bmi <= 22'",
        "  0 times  sex == f",
        "Features used: age in 98.",
        "The resampled models have 2 to 4 terms.",
        "Predicted probabilities of single rows vary from copy to copy with a standard deviation "
        "of 0.3 (median; 0.1 to 0.5 in 9 of 10 rows).",
        "A row gets another class than by the model in 5% of the copies.",
        "Resampled copies share rows with this table: with new data, terms come back less often.",
    ]


def test_words_for_fewer_resamples_groups_and_no_terms():
    features = tuple(FeatureStability(f"x{n}", 9 - n) for n in range(10))
    found = of_terms(n_done=9, sizes=(0,) * 9, has_groups=True, features=features)
    lines = str(found).splitlines()
    assert lines[0].startswith(
        "In 9 resampled copies of this table, drawn by whole groups, (100 were asked for) these"
    )
    assert lines[1] == " The model has no terms."
    assert lines[2].endswith("x7 in 2, 2 more in at most 1.")
    assert StabilityProgress(1, 100).line == "stability: 1 of 100 resamples"


def test_frames():
    found = of_terms(TermStability("age > 60", "rule", 44, "age > 61", 30))
    assert found.to_frame().to_dict("records") == [
        {
            "term": 1,
            "kind": "rule",
            "text": "age > 60",
            "n_returned": 44,
            "frequency": 0.44,
            "nearest": "age > 61",
            "n_nearest": 30,
            "is_complement": False,
        }
    ]
    frame = found.features_to_frame("polars")
    assert frame.to_dicts() == [{"feature": "age", "n_selected": 98, "frequency": 0.98}]


def test_answers_cannot_be_changed():
    with pytest.raises(FrozenInstanceError):
        of_terms().n_done = 5


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"n_done": 101}, "n_done must be from 1 to n_resamples"),
        ({"n_done": 0, "sizes": (), "features": ()}, "n_done must be from 1 to n_resamples"),
        ({"sizes": (1, 2)}, "sizes must have 100 items"),
        ({"spread": (0.1, 0.2)}, "spread must be 5 ascending numbers"),
        ({"spread": (0.5, 0.4, 0.3, 0.2, 0.1)}, "spread must be 5 ascending numbers"),
        ({"other_class": 1.5}, r"other_class must be in the range \[0, 1\]"),
        ({"features": (FeatureStability("a", 101),)}, r"features\[0\].n_selected must be at most"),
        ({"terms": (TermStability("a", "rule", 101, "a", 9),)}, r"terms\[0\].n_returned must be"),
        ({"terms": (TermStability("a", "rule", 5, "a", 9),)}, r"terms\[0\].n_nearest must be"),
        ({"terms": (TermStability("a", "rule", 5, "", 0),)}, r"terms\[0\].n_nearest must be"),
    ],
)
def test_what_cannot_be_true_is_refused(changes, words):
    with pytest.raises(ValueError, match=words):
        of_terms(**changes)


# Refits.


def test_models_that_are_known_are_not_fitted_again():
    fitted = []

    def fit(number):
        fitted.append(number)
        return RuleEnsemble((), float(number))

    known = {1: RuleEnsemble((), 1.0), 7: RuleEnsemble((), 7.0)}
    told = []
    found = repeat_fit(fit, 4, known, told.append)
    assert fitted == [0, 2, 3]
    assert [(number, model.intercept) for number, model in found.items()] == [
        *((0, 0.0), (1, 1.0), (2, 2.0), (3, 3.0))
    ]
    assert told == [StabilityProgress(n, 4) for n in (2, 3, 4)]


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_ctrl_c_keeps_the_models_that_there_are(n_jobs):
    def fit(number):
        if number == 3:
            raise KeyboardInterrupt
        return RuleEnsemble((), float(number))

    found = repeat_fit(fit, 50, {}, n_jobs=n_jobs)
    assert 0 < len(found) < 50
    assert 3 not in found
    with pytest.raises(KeyboardInterrupt):
        repeat_fit(lambda number: fit(3), 50, {}, n_jobs=n_jobs)


def test_a_true_return_value_stops():
    found = repeat_fit(lambda number: RuleEnsemble(), 50, {}, lambda progress: progress.n_done == 4)
    assert [*found] == [0, 1, 2, 3]


def test_errors_are_not_hidden():
    def fit(number):
        raise ValueError("no model")

    with pytest.raises(ValueError, match="no model"):
        repeat_fit(fit, 3, {}, n_jobs=2)


def test_names_in_quotes_are_not_quoted_twice():
    term = TermStability("a > 1", "rule", 5, "'dose, mg' > 2", 4)
    assert term.sentence(9).endswith("""; most often as "'dose, mg' > 2".""")
