"""Three or more classes: rules against brute force, weights, texts, files and exports."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose
from problems import all_covered, best_gain, n_drawn
from rounds import class_constants, make_rounds, run_boost
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.utils.estimator_checks import parametrize_with_checks

from estimators import RULES_BY_GAIN, forms
from laconic import (
    Condition,
    Query,
    Rule,
    RuleBoostingClassifier,
    RuleBoostingClassifierCV,
    load_model,
    save_model,
)
from laconic.candidates.candidates import candidate_conditions
from laconic.estimators.files import model_from_dict
from laconic.export import (
    model_to_dict,
    to_javascript,
    to_onnx,
    to_pmml,
    to_python,
    to_scorecard,
    to_sql,
)
from laconic.losses import MultinomialLoss, SquaredLoss
from laconic.models.tasks import Classification
from laconic.plot import ContributionDisplay, RuleBoxDisplay, RuleWeightDisplay
from laconic.search import SearchStatus

N_PROBLEMS = n_drawn(1_000)  # half of them for each objective
LOSS = MultinomialLoss()


@pytest.fixture(scope="module")
def iris():
    data = load_iris(as_frame=True)
    return data.data, np.array(data.target_names)[data.target]


@pytest.fixture(scope="module")
def model(iris):
    return RuleBoostingClassifier(5, slopes=False).fit(*iris)


def best_of_all_classes(sets, y, raw, weights, penalty, others):
    """Largest gain, to second order, of any class, refitting the others of that class."""
    gradients = weights[:, None] * LOSS.gradients(y, raw)
    hessians = weights[:, None] * LOSS.hessians(y, raw)
    gains = (
        best_gain(
            *(sets, gradients[:, label], hessians[:, label], penalty),
            [(mask, own) for output, mask, own in others if output == label],
        )
        for label in range(raw.shape[1])
    )
    return max(gains) / weights.sum()


@pytest.mark.parametrize("objective", ["stagewise", "joint"])
def test_rules_are_the_best_of_all_conjunctions_and_classes(objective):
    for seed in range(N_PROBLEMS // 2):
        rng = np.random.default_rng(seed)
        n_rows, n_classes = int(rng.integers(5, 10)), int(rng.integers(3, 5))
        X = rng.integers(0, 3, (n_rows, 2)).astype(float)
        y = rng.permutation(np.arange(n_rows) % n_classes).astype(float)
        weights, penalty = rng.choice([1.0, 2.0], n_rows), float(rng.choice([0.1, 1.0, 5.0]))
        max_conditions = int(rng.integers(1, 4))
        candidates = candidate_conditions(X)
        before = class_constants(y, weights, n_classes)
        rounds = make_rounds(
            candidates,
            y,
            LOSS,
            l2_regularization=penalty,
            sample_weight=weights,
            is_joint=objective == "joint",
            fit_intercept=True,
            search_options={"max_conditions": max_conditions},
        )
        sets, losses = all_covered(candidates, max_conditions), []
        for state in run_boost(rounds, 2, before):
            ensemble, result = state.ensemble, state.results[-1]
            raw = before.raw_predictions(X)
            others = []
            if objective == "joint":
                everyone = np.ones(n_rows, dtype=bool)
                others = [(label, everyone, 0.0) for label in range(n_classes)]
                others += [(rule.output, rule.query.covered(X), penalty) for rule in before]
            best = best_of_all_classes(sets, y, raw, weights, penalty, others)
            assert_allclose(result.objective_value, best, rtol=1e-6, atol=1e-10)
            assert result.is_optimal
            for each in (before, ensemble):
                decay = penalty * sum(rule.weight**2 for rule in each) / 2
                losses.append(weights @ LOSS.value(y, each.raw_predictions(X)) + decay)
            assert losses[-1] <= losses[-2] + 1e-9
            before = ensemble


def test_refitted_weights_are_the_best_ones(iris):
    X, labels = iris
    model = RuleBoostingClassifier(4, l2_regularization=2.0, slopes=False).fit(X, labels)
    covered, y = model.ensemble_.covered(X).astype(float), np.unique(labels, return_inverse=True)[1]
    outputs = [rule.output for rule in model.ensemble_]

    def risk(weights):
        raw = np.tile(weights[4:], (len(y), 1))
        for place, output in enumerate(outputs):
            raw[:, output] += covered[:, place] * weights[place]
        return LOSS.value(y, raw).sum() + weights[:4] @ weights[:4]

    weights = [rule.weight for rule in model.ensemble_]
    starts = [output.intercept for output in model.ensemble_.outputs]
    best = minimize(risk, np.zeros(7), method="BFGS", options={"gtol": 1e-9})
    assert_allclose(risk(np.array([*weights, *starts])), best.fun, rtol=1e-9)
    assert_allclose(weights, best.x[:4], rtol=1e-4)
    assert sum(starts) == pytest.approx(0.0, abs=1e-9)


def test_predictions_are_those_of_the_largest_probability(model, iris):
    X, y = iris
    shares, raw = model.predict_proba(X), model.decision_function(X)
    assert shares.shape == raw.shape == (150, 3)
    assert_allclose(shares.sum(axis=1), 1.0)
    assert_allclose(shares, np.exp(raw) / np.exp(raw).sum(axis=1, keepdims=True))
    assert (model.predict(X) == model.classes_[shares.argmax(axis=1)]).all()
    assert model.score(X, y) > 0.94
    assert [*model.staged_predict(X)][-1].tolist() == model.predict(X).tolist()
    assert all(result.is_optimal for result in model.search_results_)


@pytest.mark.parametrize("labels", [[5, 7, 9], ["a", "b", "c"], [0.0, 1.0, 3.0], [-1, 0, 1]])
def test_labels_of_any_type(labels):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 4, (90, 2))
    y = np.array(labels)[np.clip(X[:, 0], 0, 2)]
    y[::7] = labels[0]
    model = RuleBoostingClassifier(3).fit(X, y)
    assert model.classes_.tolist() == labels
    assert model.predict(X).dtype == y.dtype


def test_weights_count_like_repeated_rows(iris):
    X, y = iris
    counts = np.random.default_rng(0).integers(0, 4, len(y))
    weighted = RuleBoostingClassifier(3).fit(X, y, counts)
    repeated = RuleBoostingClassifier(3).fit(X.loc[X.index.repeat(counts)], np.repeat(y, counts))
    assert forms(weighted) == forms(repeated)
    assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), rtol=1e-7)


def test_warm_start_goes_on_where_it_was(iris, model):
    growing = RuleBoostingClassifier(2, warm_start=True, slopes=False).fit(*iris)
    growing.set_params(n_terms=5).fit(*iris)
    assert forms(growing) == forms(model)
    assert_allclose(growing.predict_proba(iris[0]), model.predict_proba(iris[0]), rtol=1e-6)
    assert len(growing.stages_) == 6
    with pytest.raises(ValueError, match="the classes must stay the same"):
        growing.set_params(n_terms=6).fit(iris[0], np.where(iris[1] == "setosa", "a", iris[1]))


def test_sizes_are_chosen_by_cross_validation(iris):
    X, y = iris
    model = RuleBoostingClassifierCV(4).fit(X, y)
    assert model.n_terms_ >= 2
    assert model.cv_results_["mean_loss"][0] == pytest.approx(np.log(3), rel=1e-6)
    shuffled = np.random.default_rng(0).permutation(y)
    assert RuleBoostingClassifierCV(4).fit(X, shuffled).n_terms_ == 0


def test_a_callback_ends_the_fit(iris):
    model = RuleBoostingClassifier(5, callback=lambda progress: len(progress.ensemble) == 2)
    assert len(model.fit(*iris).ensemble_) == 2


def test_a_search_that_is_stopped_says_so_for_all_classes():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 12)), rng.integers(0, 3, 300)
    options = RULES_BY_GAIN | {"max_conditions": None, "node_limit": 1}
    model = RuleBoostingClassifier(1, strategy="stagewise", **options)
    with pytest.warns(UserWarning, match="not proven"):
        model.fit(X, y)
    [result] = model.search_results_
    assert result.status is SearchStatus.NODE_LIMIT
    assert result.bound > result.objective_value


def test_given_rules_are_about_a_class(iris):
    X, y = iris
    rules = [("petal length (cm) > 5", "setosa"), "petal width (cm) <= 0.8"]
    for strategy in ("joint", "stagewise"):
        model = RuleBoostingClassifier(4, initial_terms=rules, strategy=strategy).fit(X, y)
        texts = [model.ensemble_.term_text(rule) for rule in model.ensemble_[:2]]
        assert texts[0].endswith(" for setosa if petal length (cm) > 5")
        assert texts[1].endswith(" for setosa if petal width (cm) <= 0.8")
        assert [result.status for result in model.search_results_[:2]] == ["given", "given"]
        assert all(result.is_optimal for result in model.search_results_[2:])
    own = Rule(Query((Condition("petal length (cm)", ">", 5.0),)), -0.125, 1)
    kept = RuleBoostingClassifier(2, initial_terms=[own], strategy="stagewise").fit(X, y)
    assert kept.ensemble_[0] == own
    with pytest.raises(ValueError, match=r"three or more classes, or None for any\. Got 'rose'"):
        RuleBoostingClassifier(2, initial_terms=[("petal width (cm) > 1", "rose")]).fit(X, y)
    # The same rule may speak for one class and against another, and not twice about one.
    both = [("petal width (cm) > 1", "setosa"), ("petal width (cm) > 1", "virginica")]
    model = RuleBoostingClassifier(2, initial_terms=both).fit(X, y)
    assert [rule.output for rule in model.ensemble_] == [0, 2]
    with pytest.raises(ValueError, match="Terms must be different"):
        RuleBoostingClassifier(3, initial_terms=[both[0], both[0]]).fit(X, y)


@pytest.mark.parametrize("strategy", ["joint", "stagewise"])
def test_given_terms_are_for_any_class_in_a_file_too(iris, strategy):
    X, y = iris
    given = ["petal length (cm) from 4 to 6", "+0.5 if petal width (cm) > 1.7"]
    model = RuleBoostingClassifier(3, initial_terms=given, strategy=strategy).fit(X, y)
    assert all(term.output > 0 for term in model.ensemble_[:2])
    loaded = model_from_dict(model_to_dict(model))
    assert [pair[1] for pair in loaded.initial_terms] == [None, None]
    assert clone(loaded).fit(X, y).ensemble_ == model.ensemble_


@pytest.mark.parametrize("signs", ["positive", "negative"])
@pytest.mark.parametrize(
    "parameters", [{}, {"strategy": "stagewise"}, {"strategy": "polished"}], ids=str
)
def test_weights_of_all_classes_have_the_signs_that_are_asked_for(iris, signs, parameters):
    model = RuleBoostingClassifier(6, weight_signs=signs, brevity=0.0, **parameters).fit(*iris)
    sign = 1 if signs == "positive" else -1
    assert len(model.ensemble_) == 6
    assert all(rule.weight * sign > 0 for rule in model.ensemble_)
    assert all(result.is_optimal for result in model.search_results_)
    assert model.score(*iris) > 0.9


def test_polishing_lowers_the_penalised_loss(iris):
    X, y = iris

    def risk(model):
        losses = LOSS.value(model.task_.numbers(y, len(y)), model.decision_function(X))
        return losses.sum() + model.l2_regularization_ / 2 * sum(
            rule.weight**2 for rule in model.ensemble_
        )

    options = RULES_BY_GAIN | {"l2_regularization": 0.3}
    plain, polished = (
        RuleBoostingClassifier(8, strategy=strategy, **options).fit(X, y)
        for strategy in ("joint", "polished")
    )
    assert risk(polished) < risk(plain)
    assert tuple(polished.stages_)[-1] == polished.ensemble_
    assert [len(stage) for stage in polished.stages_] == [*range(9)]


def test_rules_of_classes_are_edited(iris, model, tmp_path):
    X, y = iris
    first = model.ensemble_[0]
    edited = model.edit(X, y, drop=[1], replace={2: "petal length (cm) <= 4.8"}, n_terms=5)
    assert forms(edited)[1:4] == forms(model)[2:]
    assert [t.output for t in edited.ensemble_[1:4]] == [t.output for t in model.ensemble_[2:]]
    # What takes the place of a rule is about its class.
    assert str(edited.ensemble_[0].query) == "petal length (cm) <= 4.8"
    assert edited.ensemble_[0].output == model.ensemble_[1].output
    covered = first.query.covered(X)
    assert not any((rule.query.covered(X) == covered).all() for rule in edited.ensemble_)
    forced = model.edit(X, y, force=[("petal width (cm) > 1.7", "versicolor")], n_terms=6)
    assert forced.ensemble_[5].output == 1
    assert forced.edits_[0].words == "before"
    assert "for versicolor" in forced.edits_[1].words
    # Where no class is named, it is the one for which the rule is of most use.
    placed = model.edit(X, y, force=["petal width (cm) > 1.7"], n_terms=6)
    chosen = placed.ensemble_[5].output
    risks = []
    for name in model.classes_:
        each = model.edit(X, y, force=[("petal width (cm) > 1.7", name)], n_terms=6)
        risks.append(each.edits_[1].risk)
    assert chosen == int(np.argmin(risks))
    assert placed.edits_[1].risk == pytest.approx(min(risks))
    save_model(model, tmp_path / "model.json")
    again = load_model(tmp_path / "model.json").edit(X, y, drop=[1])
    assert again.ensemble_ == model.edit(X, y, drop=[1]).ensemble_


@pytest.mark.parametrize("strategy", ["stagewise", "joint"])
def test_alternatives_are_those_of_all_classes(strategy):
    """All sets of rows and classes that gain nearly as much, one by one."""
    rng = np.random.default_rng(3)
    X = rng.integers(0, 3, (60, 3)).astype(float)
    y = np.argmax(X + rng.gumbel(size=X.shape), axis=1).astype(float)
    options = RULES_BY_GAIN | {"max_conditions": 2, "l2_regularization": 1.0}
    model = RuleBoostingClassifier(3, strategy=strategy, **options).fit(X, y)
    sets = all_covered(candidate_conditions(X), 2)
    for number in (1, 2, 3):
        found = model.alternatives(number, X, y, tolerance=0.4, max_found=100)
        assert found.is_complete
        expected = gains_in_place(model, X, y, number, sets)
        own = model.ensemble_[number - 1]
        rows = own.query.covered(X)
        best = max(expected.values())
        del expected[own.output, key_of(rows, strategy)]
        kept = sorted((v / best for v in expected.values() if v >= 0.6 * best), reverse=True)
        assert [one.share for one in found] == pytest.approx(kept, rel=1e-6)
        assert {one.output for one in found} <= {"0", "1", "2", "class 0", "class 1", "class 2"}


def key_of(rows, strategy):
    """Beside an intercept that is refitted, a set of rows and the rest of them say the same."""
    return min(rows.tobytes(), (~rows).tobytes()) if strategy == "joint" else rows.tobytes()


def gains_in_place(model, X, y, number, sets):
    """What each set of rows gains for each class in the place of a rule, to second order."""
    penalty, is_joint = model.l2_regularization_, model.strategy == "joint"
    others = [rule for n, rule in enumerate(model.ensemble_, start=1) if n != number]
    raw = model.stages_[number - 1].raw_predictions(X)
    if is_joint:
        texts = [(str(rule.query), float(rule.output)) for rule in others]
        beside = RuleBoostingClassifier(2, initial_terms=texts, l2_regularization=penalty).fit(X, y)
        raw = beside.decision_function(X)
    gradients, hessians = LOSS.gradients(y, raw), LOSS.hessians(y, raw)
    found = {}
    for output in range(3):
        columns = [rule.query.covered(X) for rule in others if rule.output == output]
        columns, penalties = [*columns, np.ones(len(y))], [*[penalty] * (len(columns) + 1), 0.0]
        if not is_joint:
            columns, penalties = [], [penalty]
        for rows in sets:
            if any(np.all(rows == each) or np.all(rows != each) for each in columns):
                continue
            matrix = np.array([rows, *columns], dtype=float)
            curvature = (matrix * hessians[:, output]) @ matrix.T + np.diag(penalties)
            inverse = np.linalg.pinv(curvature, rcond=1e-12, hermitian=True)[0, 0]
            gain = (rows @ gradients[:, output]) ** 2 * inverse / 2
            found[output, key_of(rows, model.strategy)] = gain
    return found


def test_losses_of_ones_own_are_for_two_classes(iris):
    with pytest.raises(ValueError, match="a user-supplied loss for two classes only"):
        RuleBoostingClassifier(2, loss=SquaredLoss()).fit(*iris)


def test_texts_name_the_class_of_every_rule(model):
    assert str(model).startswith("Scores of the classes, 5 rules")
    rule = model.ensemble_[0]
    assert model.ensemble_.term_text(rule).startswith("+")
    assert " for setosa if " in model.ensemble_.term_text(rule)
    assert model.ensemble_.to_frame()["class"].tolist()[0] == "setosa"
    assert model.ensemble_.to_markdown().startswith("| class | weight | term |")
    assert r"class & weight & term" in model.ensemble_.to_latex()
    assert ">class<" in model._rules_html()
    assert "share of the class" in model._rules_html()
    assert model.task_.effect(np.log(2), 1) == "multiplies the odds of versicolor by 2"
    assert 0 < model.rule_coverages_[0].mean_target <= 1


def test_explanations_add_up_class_by_class(model, iris):
    X, _ = iris
    told = model.explain(X)[100]
    assert told.sentence.startswith("Row 100 is predicted virginica with probability 0.")
    assert "Sums: " in told.sentence
    frame = model.explain(X[:3]).to_frame()
    sums = frame.groupby(["row", "class"])["contribution"].sum().unstack()
    assert_allclose(sums.to_numpy(), model.decision_function(X[:3]))
    own = told.of_class()
    assert own.raw_prediction == max(told.raw_prediction)
    total = own.intercept + sum(own.contributions)
    assert_allclose(total, own.raw_prediction)


def test_shapley_values_of_each_class(model, iris):
    X, _ = iris
    shares = model.shapley_values(X[:4], X)
    assert shares.values.shape == (4, 4, 3)
    totals = shares.values.sum(axis=1) + shares.base_value
    assert_allclose(totals, model.decision_function(X[:4]))
    assert shares.to_frame().shape == (12, 6)
    assert_allclose(model.feature_importances_.sum(), 1.0)


def test_files_hold_the_model_to_the_last_bit(model, iris, tmp_path):
    X, _ = iris
    save_model(model, tmp_path / "model.json")
    loaded = load_model(tmp_path / "model.json")
    assert loaded.ensemble_ == model.ensemble_
    assert tuple(loaded.stages) == tuple(model.stages)
    assert isinstance(loaded.task_, Classification)
    assert (loaded.predict_proba(X) == model.predict_proba(X)).all()
    assert pickle.loads(pickle.dumps(model)).ensemble_ == model.ensemble_


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda data: data.update(intercept=[0.0, 1.0]), "3 or more items"),
        (lambda data: data.update(loss="logistic"), "two classes, or more with the loss"),
        (lambda data: data["terms"][0].update(output=3), "the position of a class"),
        (lambda data: data.update(classes=["a", "c", "b"]), "ascending order"),
    ],
)
def test_broken_files_are_refused(model, tmp_path, change, message):
    data = model_to_dict(model)
    change(data)
    (tmp_path / "model.json").write_text(json.dumps(data))
    with pytest.raises(ValueError, match=message):
        load_model(tmp_path / "model.json")


@pytest.mark.parametrize("labels", [["no", "so-so", "yes"], [1, 2, 3]])
def test_exports_are_run_and_compared_before_they_are_handed_out(labels):
    rng = np.random.default_rng(1)
    X = [[float(a), "xyz"[b], c] for a, b, c in rng.integers(0, 3, (120, 3)).tolist()]
    y = np.array(labels)[rng.integers(0, 3, 120)]
    model = RuleBoostingClassifier(6).fit(X, y)
    assert "_predict_classes" in to_python(model)
    assert "predictClasses" in to_javascript(model)
    for dialect in ("duckdb", "postgres", "sqlite"):
        assert "probability_3" in to_sql(model, dialect, table="cases")
    assert to_onnx(model, inputs="columns").graph.output[2].name == "probabilities"
    with pytest.raises(ValueError, match="Name a 'table'"):
        to_sql(model, "duckdb")
    for export in (to_pmml, to_scorecard):
        with pytest.raises(ValueError, match="of two classes or of numbers"):
            export(model)


def test_pictures_of_rules_and_of_one_row(model, iris):
    X, y = iris
    weights = RuleWeightDisplay.from_estimator(model)
    assert "for setosa if" in weights.ax_.get_yticklabels()[3].get_text()
    row = ContributionDisplay.from_estimator(model, X, row=100)
    assert row.ax_.get_xlabel() == "score of virginica"
    with pytest.raises(ValueError, match="one raw prediction per row"):
        RuleBoxDisplay.from_estimator(model, X, y, features="petal length (cm)")


@parametrize_with_checks([RuleBoostingClassifier(n_terms=6, strategy="stagewise")])
def test_the_contract_of_scikit_learn_with_classes(estimator, check):
    check(estimator)


def test_a_report_names_the_class_of_every_rule(model, iris):
    X, y = iris
    report = model.report(X, y)
    content = report.to_dict()
    assert content["model"]["is_many"]
    assert content["terms"][0]["class_label"] == "setosa"
    assert content["terms"][0]["effect"].startswith("multiplies the odds of setosa by ")
    assert np.trace(content["confusion"]) == (model.predict(X) == y).sum()
    assert sum(content["what_if"]["groups"][0]["counts"]) > 0
    page = report.to_html()
    assert "Intercept for virginica" in page
    rule = model.ensemble_.rules[0]
    assert f"share of {model.classes_[rule.output]}" in page
