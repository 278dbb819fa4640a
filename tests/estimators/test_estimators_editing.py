"""Models that experts edit: what changes, what stays, and what it costs."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import ConvergenceWarning

from estimators import RULES_BY_GAIN, forms
from laconic import (
    Query,
    RuleBoostingClassifier,
    RuleBoostingClassifierCV,
    RuleBoostingRegressor,
    RuleBoostingRegressorCV,
    load_model,
    save_model,
)
from laconic.estimators.edit import Edit, EditReport
from laconic.losses import SquaredLoss
from laconic.search import SearchStatus
from laconic.tables.inspection import ColumnWarning


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 8, size=(150, 4)).astype(float)
    y = 2.0 * (X[:, 0] > 3) + (X[:, 1] > 5) * (X[:, 2] > 2) - X[:, 3] / 4
    return X, y + 0.3 * rng.normal(size=150)


@pytest.fixture(scope="module")
def model(data):
    return RuleBoostingRegressor(4, slopes=False).fit(*data)


def queries(model):
    return [str(form) for form in forms(model)]


def test_a_dropped_rule_does_not_come_back_in_other_words(model, data):
    edited = model.edit(*data, drop=[1])
    assert queries(edited)[:3] == queries(model)[1:]
    assert len(edited.ensemble_) == 4
    old = model.ensemble_[0].query.covered(data[0])
    assert not any((rule.query.covered(data[0]) == old).all() for rule in edited.ensemble_)
    assert queries(model) == queries(RuleBoostingRegressor(4, slopes=False).fit(*data))


def test_warnings_of_an_edit_are_new_and_point_at_it():
    x = np.arange(200.0)
    X = pd.DataFrame({"copy": 2.0 * x, "z": x % 7, "u": x % 11})
    with pytest.warns() as caught:
        model = RuleBoostingRegressor(2, node_limit=1, slopes=False).fit(X, x)
    assert {each.category for each in caught} == {ColumnWarning, ConvergenceWarning}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.edit(X, x, drop=[1])
    assert {each.category for each in caught} == {ConvergenceWarning}
    assert {each.filename for each in caught} == {__file__}


def test_forced_terms_without_weight_are_warned_of():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    y = (X[:, 0] > 0) + 0.1 * rng.normal(size=200)
    model = RuleBoostingRegressor(1, weight_signs="positive", slopes=False).fit(X, y)
    with pytest.warns(UserWarning, match="has the weight 0") as caught:
        model.edit(X, y, force=["x0 <= -0.8"])
    assert caught[0].filename == __file__


def test_forced_and_replaced_rules_are_there_and_locked_ones_stay(model, data):
    edited = model.edit(*data, replace={2: "x1 > 4"}, force=["x3 <= 1"], lock=[3])
    assert set(queries(edited)) >= {"x1 > 4", "x3 <= 1", queries(model)[2]}
    assert len(edited.ensemble_) == 4
    statuses = [result.status for result in edited.search_results_]
    assert statuses.count(SearchStatus.GIVEN) == 3
    assert statuses[3] is SearchStatus.OPTIMAL


def test_costs_are_those_of_the_rules_with_their_best_weights(model, data):
    X, y = data
    edited = model.edit(X, y, drop=[2], force=["x2 <= 1"], n_terms=4)
    words = [edit.words for edit in edited.edits_]
    assert words == ["before", f"without {queries(model)[1]}", "with x2 <= 1"]
    before, dropped, forced = edited.edits_
    assert (before.n_terms, dropped.n_terms, forced.n_terms) == (4, 3, 4)
    assert dropped.risk > before.risk
    assert forced.risk <= dropped.risk

    def risk(model):
        penalty = model.l2_regularization_ * sum(rule.weight**2 for rule in model.ensemble_)
        return np.mean((y - model.predict(X)) ** 2) + penalty / 2 / len(y)

    assert before.risk == pytest.approx(risk(model))
    assert forced.risk == pytest.approx(risk(edited))
    assert before.loss > 0
    text = str(edited.edits_)
    assert text.splitlines()[0].split() == ["terms", "risk", "cost", "held", "out", "cost"]
    assert len(text.splitlines()) == 4


def test_more_or_fewer_rules_can_be_asked_for(model, data):
    assert len(model.edit(*data, drop=[1, 2], n_terms=2).ensemble_) == 2
    longer = model.edit(*data, n_terms=6)
    assert queries(longer)[:4] == queries(model)
    assert longer.edits_[-1].words == "completed by 2 terms"


@pytest.mark.parametrize(
    ("edits", "message"),
    [
        ({"drop": [5]}, "'drop' must name terms by their numbers, from 1 to 4. Got 5"),
        ({"drop": [0]}, "from 1 to 4. Got 0"),
        ({"drop": [1], "lock": [1]}, "not two of these. Got 1 twice"),
        ({"force": ["x9 > 3"]}, "There is no feature 'x9'"),
    ],
)
def test_edits_that_make_no_sense_are_refused(model, data, edits, message):
    with pytest.raises(ValueError, match=message):
        model.edit(*data, **edits)


def test_request_edited_models_stay_valid_and_explainable(data, tmp_path):
    """interpretml/interpret #460 and #592: editing leaves a valid, explainable model."""
    X, y = data
    model = RuleBoostingClassifier(5).fit(X, y > 1)
    save_model(model, tmp_path / "model.json")
    loaded = load_model(tmp_path / "model.json")
    edited = loaded.edit(X, y > 1, drop=[1, 4], force=["x3 <= 1"], n_terms=3)
    assert len(edited.ensemble_) == 4
    contributions = edited.explain(X[:3])
    assert contributions is not None
    save_model(edited, tmp_path / "edited.json")
    again = load_model(tmp_path / "edited.json")
    assert (again.predict(X) == edited.predict(X)).all()
    dropped = tuple(forms(model)[n] for n in (0, 3))
    assert again.settings_ == edited.settings_
    assert edited.settings_.excluded_terms == dropped
    twice = again.edit(X, y > 1, drop=[1])
    assert twice.settings_.excluded_terms == (*dropped, forms(again)[0])


def test_models_of_a_chosen_size_can_be_edited(data):
    chosen = RuleBoostingRegressorCV(4).fit(*data)
    edited = chosen.edit(*data, force=["x3 <= 1"])
    assert type(edited) is RuleBoostingRegressor
    assert "x3 <= 1" in queries(edited)


def test_models_of_all_rules_at_once_can_be_edited(data, tmp_path):
    X, y = data
    model = RuleBoostingRegressor(3, strategy="global").fit(X, y)
    edited = model.edit(X, y, drop=[2])
    assert queries(edited)[:2] == [queries(model)[0], queries(model)[2]]
    assert edited.strategy == "polished"
    save_model(model, tmp_path / "model.json")
    assert load_model(tmp_path / "model.json").edit(X, y, drop=[2]).ensemble_ == edited.ensemble_


class Chosen(RuleBoostingRegressorCV):
    """A model of a user's own, with all parameters."""


class ShortRules(RuleBoostingClassifierCV):
    """A model of a user's own, with few parameters and one more."""

    def __init__(self, n_terms=4, *, cv=5, note=""):
        super().__init__(n_terms, cv=cv, max_conditions=1, loss=SquaredLoss())
        self.note = note


def test_models_of_ones_own_that_choose_their_size_can_be_edited(data, tmp_path):
    X, y = data
    edited = Chosen(4).fit(X, y).edit(X, y, force=["x3 <= 1"])
    assert type(edited) is RuleBoostingRegressor
    assert "x3 <= 1" in queries(edited)
    chosen = ShortRules(note="two weeks").fit(X, y > 1)
    edited = chosen.edit(X, y > 1, force=["x3 <= 1"], drop=[1])
    assert type(edited) is RuleBoostingClassifier
    assert "x3 <= 1" in queries(edited)
    assert edited.max_conditions == 1
    assert isinstance(edited.loss_, SquaredLoss)
    rules = [form for form in forms(edited) if isinstance(form, Query)]
    assert all(len(query) == 1 for query in rules)
    assert rules
    save_model(chosen, tmp_path / "model.json")
    loaded = load_model(tmp_path / "model.json")
    assert queries(loaded.edit(X, y > 1, force=["x3 <= 1"], drop=[1])) == queries(edited)


class OfOneCondition(RuleBoostingRegressor):
    """A model of a user's own, with few parameters."""

    def __init__(self, n_terms=4):
        super().__init__(n_terms, max_conditions=1)


def test_models_of_ones_own_with_few_parameters_can_be_edited(data):
    X, y = data
    model = OfOneCondition().fit(X, y)
    edited = model.edit(X, y, drop=[1], force=["x3 <= 1"])
    assert type(edited) is OfOneCondition
    assert queries(edited)[3] == "x3 <= 1"
    assert queries(model)[0] not in queries(edited)
    rules = [form for form in forms(edited) if isinstance(form, Query)]
    assert all(len(query) == 1 for query in rules)
    assert rules


def test_edits_keep_constraints(data):
    X, y = data
    model = RuleBoostingRegressor(4, monotonic_cst=[1, 1, 1, -1]).fit(X, y)
    edited = model.edit(X, y, drop=[2])
    for form, term in zip(forms(edited), edited.ensemble_, strict=True):
        assert edited.settings_.constraints.sign_of(form) in (0, np.sign(term.weight))
    with pytest.raises(ValueError, match="fits no weight"):
        model.edit(X, y, force=["2 < x0 <= 5"])


# Alternatives


def brute_force_alternatives(model, X, y, number, tolerance):
    """All sets of rows that conjunctions cover, by what they gain in the place of a rule."""
    from itertools import combinations

    from laconic.candidates.candidates import candidate_conditions
    from laconic.search import SearchProblem

    candidates = candidate_conditions(X, max_thresholds=model.max_thresholds)
    start = model.stages_[number - 1]
    raw = start.raw_predictions(X)
    problem = SearchProblem(
        candidates.extents,
        model.loss_.gradients(y, raw),
        model.loss_.hessians(y, raw),
        model.l2_regularization_,
    )
    values = {}
    for size in range(model.max_conditions + 1):
        for query in combinations(range(len(candidates)), size):
            covered = problem.covered(query)
            values[covered.tobytes()] = problem.objective_of(problem.value(covered))
    own = model.ensemble_[number - 1].query.covered(X).tobytes()
    best = max(values.values())
    del values[own]
    return sorted(v / best for v in values.values() if v >= (1 - tolerance) * best)[::-1]


@pytest.mark.parametrize("number", [1, 2, 3])
def test_alternatives_are_all_sets_of_rows_within_the_tolerance(data, number):
    X, y = data[0][:60], data[1][:60]
    options = RULES_BY_GAIN | {"strategy": "stagewise", "max_thresholds": 2, "max_conditions": 2}
    model = RuleBoostingRegressor(3, **options).fit(X, y)
    expected = brute_force_alternatives(model, X, y, number, 0.3)
    found = model.alternatives(number, X, y, tolerance=0.3, max_found=100)
    assert found.is_complete
    assert [one.share for one in found] == pytest.approx(expected, rel=1e-6)
    own = model.ensemble_[number - 1].query.covered(X)
    for one in found:
        covered = one.form.covered(X)
        assert one.overlap == (covered & own).sum() / (covered | own).sum()
        assert one.overlap < 1
    assert found.share == pytest.approx(1.0)


def test_alternatives_beside_other_rules_gain_what_they_say(model, data):
    X, y = data
    found = model.alternatives(2, X, y, tolerance=0.5, max_found=5)
    assert len({one.form.covered(X).tobytes() for one in found}) == len(found)
    shares = [one.share for one in found]
    assert shares == sorted(shares, reverse=True)
    assert all(share >= 0.5 for share in shares)
    assert len(found) == 5 or found.is_complete
    assert str(found).startswith("Instead of term 2, ")
    with pytest.raises(ValueError, match=r"by its number, from 1 to 4\. Got 5"):
        model.alternatives(5, X, y)


def test_beside_an_intercept_the_rest_of_the_rows_is_no_alternative():
    X = np.arange(40).reshape(-1, 1)
    y = (X[:, 0] > 17).astype(float)
    model = RuleBoostingRegressor(1, max_thresholds=None, slopes=False).fit(X, y)
    assert str(model.ensemble_[0].query) == "x0 <= 17"
    found = model.alternatives(1, X, y, tolerance=0.3)
    assert "x0 > 17" not in [one.text for one in found]
    sets = {one.form.covered(X).tobytes() for one in found}
    assert not any((~one.form.covered(X)).tobytes() in sets for one in found)
    edited = model.edit(X, y, drop=[1])
    assert str(edited.ensemble_[0].query) != "x0 > 17"


def test_alternatives_keep_constraints(data):
    X, y = data
    model = RuleBoostingRegressor(3, monotonic_cst=[1, 1, 1, -1]).fit(X, y)
    for one in model.alternatives(1, X, y, tolerance=0.5):
        assert model.settings_.constraints.sign_of(one.form) in (0, np.sign(one.weight))


def test_a_rule_that_was_found_twice_is_kept_once():
    X = [[a, b] for a in (0, 1) for b in (0, 1)] * 5
    y = [5.0 * a + 2.0 * b for a, b in X]
    options = {"strategy": "stagewise", "weight_signs": "positive", "l2_regularization": 20.0}
    model = RuleBoostingRegressor(4, max_conditions=1, **options).fit(X, y)
    assert [str(rule.query) for rule in model.ensemble_] == ["x0 > 0"] * 4
    edited = model.edit(X, y, force=["x1 > 0"], n_terms=2)
    assert [str(rule.query) for rule in edited.ensemble_] == ["x0 > 0", "x1 > 0"]


def test_a_rule_that_is_there_twice_is_judged_once():
    """As several rules, the same one would have several penalties, and so a smaller risk."""
    X = [[float(x > 2)] for x in range(6)] * 10
    y = [2.0 * x + 0.1 * (n % 3) for n, [x] in enumerate(X)]
    model = RuleBoostingRegressor(
        3, strategy="stagewise", l2_regularization=20.0, weight_signs="positive"
    ).fit(X, y)
    edited = model.edit(X, y, lock=[1])
    assert len(edited.ensemble_) == 3
    assert len({rule.query for rule in edited.ensemble_}) == 1
    assert [edit.risk for edit in edited.edits_] == [edited.edits_[0].risk] * len(edited.edits_)


@pytest.mark.parametrize("estimator", [RuleBoostingClassifier, RuleBoostingClassifierCV])
@pytest.mark.parametrize("others", [{"class_weight": {False: 1, True: 50}}, {"n_terms": 9}])
def test_parameters_set_after_the_fit_do_not_change_edits(estimator, others, data):
    X, y = data[0], data[1] > 1
    model = estimator(3).fit(X, y)
    expected = model.edit(X, y, drop=[1]).ensemble_
    edited = model.set_params(**others).edit(X, y, drop=[1])
    assert edited.ensemble_ == expected
    assert edited.class_weight is None


@pytest.mark.parametrize("n_classes", [3, 4])
def test_rows_without_weight_may_be_of_other_classes(n_classes, data):
    X, y = data[0], np.digitize(data[1], [0.0, 1.0, 2.0][: n_classes - 1])
    weights = (y > 0).astype(float)
    model = RuleBoostingClassifier(2).fit(X, y, weights)
    alike = RuleBoostingClassifier(2).fit(X[y > 0], y[y > 0])
    rows, fewer = (X, y, weights), (X[y > 0], y[y > 0])
    assert model.edit(*rows, drop=[1]).ensemble_ == alike.edit(*fewer, drop=[1]).ensemble_
    assert str(model.alternatives(1, *rows)) == str(alike.alternatives(1, *fewer))
    certificates = model.certificate(*rows), alike.certificate(*fewer)
    assert certificates[0].bound == pytest.approx(certificates[1].bound)
    assert certificates[0].verify(X)


def test_overlaps_count_a_row_of_weight_two_twice(data):
    X, y = data
    times = np.random.default_rng(0).integers(0, 4, size=len(y))
    repeated = np.repeat(X, times, axis=0), np.repeat(y, times)
    options = {"tolerance": 0.5, "max_found": 5}
    weighted = RuleBoostingRegressor(2).fit(X, y, times).alternatives(1, X, y, times, **options)
    expected = RuleBoostingRegressor(2).fit(*repeated).alternatives(1, *repeated, **options)
    assert len(expected) == 5
    for one, other in zip(weighted, expected, strict=True):
        assert one.form == other.form
        assert one.overlap == pytest.approx(other.overlap)


def test_a_forced_rule_is_about_a_class_that_constraints_allow():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 6, (120, 2)).astype(float)
    score = 2.0 * (X[:, 0] > 2) + (X[:, 1] > 2) + 0.1 * rng.normal(size=120)
    y = np.select([score < 0.5, score < 2.2], ["low", "middle"], "high")
    options = {"monotonic_cst": {0: {"high": 1}}, "weight_signs": "positive"}
    model = RuleBoostingClassifier(2, **options).fit(X, y)
    edited = model.edit(X, y, force=["x0 > 4 & x1 > 3"], cv=3, n_terms=3)
    [rule] = [rule for rule in edited.ensemble_ if str(rule).endswith("if x0 > 4 & x1 > 3")]
    assert edited.ensemble_.outputs[rule.output].name == "high"


def test_an_array_has_the_names_of_the_features_of_the_model():
    """An edit of a model of a named frame failed with an array, whose columns are x0, x1, ..."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(100, 3)), columns=list("abc"))
    y = 2.0 * (frame["a"] > 0) + rng.normal(size=100)
    model = RuleBoostingRegressor(3).fit(frame, y)
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        edited = model.edit(frame.to_numpy(), y, drop=[1])
    assert edited.ensemble_ == model.edit(frame, y, drop=[1]).ensemble_
    assert edited.feature_names_in_.tolist() == ["a", "b", "c"]
    assert not hasattr(edited, "_known") or edited._known is None


@pytest.mark.parametrize("n_terms", ["auto", 0, 2.5])
def test_edits_complete_a_number_of_terms(model, data, n_terms):
    with pytest.raises(ValueError, match="'n_terms' must be a whole number"):
        model.edit(*data, drop=[1], n_terms=n_terms)


def test_costs_are_written_alike_and_without_exponents():
    values = [(8, 0.21471, 0.2152), (7, 0.21532, 0.21526), (8, 0.21532, 0.2150)]
    edits = EditReport(tuple(Edit("", *each) for each in values))
    lines = [line.split() for line in str(edits).splitlines()[1:]]
    assert lines == [
        ["8", "0.2147", "0.2152"],
        ["7", "0.2153", "+0.00061", "0.2153", "+0.000060"],
        ["8", "0.2153", "0.00000", "0.2150", "-0.000260"],
    ]
