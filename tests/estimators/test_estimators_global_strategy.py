"""The estimators: all rules at once, as a second start."""

import copy
import pickle
import signal

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from estimators import ESTIMATORS, both, numeric_problem
from laconic import RuleBoostingRegressor, RuleBoostingRegressorCV, load_model, save_model
from laconic.boosting.certificate import EnsemblesOfSize, EnsemblesOfWeight
from laconic.losses import SquaredLoss


def tangled(task, seed=0, n_rows=150):
    """A table whose rules overlap so much that the best ones do not come one by one."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 3, size=(n_rows, 4))
    parts = [(X[:, 0] > 0) & (X[:, 1] > 0), (X[:, 1] > 1) & (X[:, 2] > 0), X[:, 3] == 1]
    y = sum(w * part for w, part in zip((2.0, -2.0, 1.0), parts, strict=True))
    y = y + rng.normal(scale=0.7, size=n_rows)
    return X, (y > 0.3 if task == "classifier" else y)


def objective(model, X, y, weights=None):
    return model.certificate(X, y, weights, against="rules", node_limit=1).objective


@both
@pytest.mark.parametrize("seed", range(5))
def test_never_worse_than_both_starts(task, seed):
    X, y = tangled(task, seed)
    weights = None if seed % 2 else np.resize([0.0, 1.0, 2.5], len(y))
    # With brevity, a shorter model may have the larger objective.
    options = {"l2_regularization": 3.0, "fit_intercept": seed != 3, "brevity": 0.0}
    polished = ESTIMATORS[task](4, strategy="polished", **options).fit(X, y, weights)
    model = ESTIMATORS[task](4, strategy="global", **options).fit(X, y, weights)
    found = objective(model, X, y, weights)
    assert found <= objective(polished, X, y, weights) * (1 + 1e-12)
    certificate = model.certificate_
    assert certificate.objective == pytest.approx(found)
    assert certificate.ensemble == model.ensemble_
    assert certificate.compared == EnsemblesOfSize(4, 3.0)
    assert certificate.verify(X)
    assert len(model.search_results_) == len(model.ensemble_) == len(model.rule_coverages_)
    assert all(np.isfinite(result.bound) for result in model.search_results_)
    assert len(model.stages_) == len(model.ensemble_) + 1


def test_second_start_can_be_the_better_one():
    better = 0
    for seed in range(12):
        X, y = tangled("regressor", seed, 80)
        options = {"n_terms": 3, "l2_regularization": 1.0, "slopes": False, "brevity": 0.0}
        polished = RuleBoostingRegressor(strategy="polished", **options).fit(X, y)
        model = RuleBoostingRegressor(strategy="global", **options).fit(X, y)
        better += objective(model, X, y) < objective(polished, X, y) * (1 - 1e-9)
    assert better > 0


@both
def test_two_fits_are_the_same(task):
    X, y = tangled(task)
    first, second = (ESTIMATORS[task](3, strategy="global").fit(X, y) for _ in range(2))
    more = ESTIMATORS[task](3, strategy="global", n_jobs=2).fit(X, y)
    assert first.ensemble_ == second.ensemble_ == more.ensemble_
    assert first.certificate_.bound == second.certificate_.bound == more.certificate_.bound


def test_sizes_are_bounded():
    X, y = tangled("regressor")
    model = RuleBoostingRegressor(4, strategy="global", l2_regularization=2.0).fit(X, y)
    certificate = model.certificate_
    assert len(certificate.sizes) == 5
    assert certificate.sizes[-1].objective == certificate.objective
    assert certificate.sizes[-1].bound == certificate.bound
    for size in certificate.sizes:
        assert size.bound <= size.objective * (1 + 1e-12)
    bounds = [size.bound for size in certificate.sizes]
    assert bounds == sorted(bounds, reverse=True)
    for n_terms in (1, 2, 3):
        other = RuleBoostingRegressor(n_terms, strategy="global", l2_regularization=2.0).fit(X, y)
        assert bounds[n_terms] <= other.certificate_.objective


def smooth(task, seed=0, n_rows=150):
    """A table of effects that are lines, a hinge and a step."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 4))
    y = X[:, 0] + np.maximum(X[:, 1], 0.0) - (X[:, 2] > 0.5) + rng.normal(scale=0.3, size=n_rows)
    return X, (y > 0.3 if task == "classifier" else y)


@both
@pytest.mark.parametrize("brevity", [0.0, 1.0])
def test_slopes_are_terms_of_the_second_start(task, brevity):
    n_slopes = 0
    for seed in range(3):
        X, y = smooth(task, seed)
        options = {"l2_regularization": 3.0, "brevity": brevity}
        polished = ESTIMATORS[task](4, strategy="polished", **options).fit(X, y)
        model = ESTIMATORS[task](4, strategy="global", **options).fit(X, y)
        gains = []
        for each in (polished, model):
            found = each.certificate(X, y, node_limit=1)
            gains.append((found.start - found.objective) / each.ensemble_.size**brevity)
        assert gains[1] >= gains[0] * (1 - 1e-9)
        certificate = model.certificate_
        assert certificate.compared == EnsemblesOfSize(4, 3.0)
        assert certificate.n_slopes == 4 * 36
        assert certificate.bound <= certificate.objective
        assert certificate.verify(X)
        assert all(size.bound <= size.objective * (1 + 1e-12) for size in certificate.sizes)
        n_slopes += len(model.ensemble_.slopes)
    assert n_slopes > 0 or task == "classifier"


def test_as_many_terms_as_were_better_than_chance():
    X, y = smooth("regressor")
    model = RuleBoostingRegressor("auto", strategy="global").fit(X, y)
    assert model.certificate_.compared.n_terms == len(model.ensemble_) < 15
    assert model.certificate_.verify(X)
    noise = np.random.default_rng(0).normal(size=150)
    nothing = RuleBoostingRegressor("auto", strategy="global").fit(X, noise)
    assert len(nothing.ensemble_) == nothing.certificate_.compared.n_terms == 0
    assert nothing.certificate_.share == 1.0


def test_without_penalty_the_total_weight_counts():
    X, y = tangled("regressor")
    options = {"strategy": "global", "l2_regularization": 0.0, "slopes": False}
    model = RuleBoostingRegressor(3, **options).fit(X, y)
    total = sum(abs(rule.weight) for rule in model.ensemble_)
    assert model.certificate_.compared == EnsemblesOfWeight(pytest.approx(total))
    assert model.certificate_.share > model.certificate_.trivial_share
    assert model.certificate_.verify(X)


@both
def test_rules_cover_enough(task):
    X, y = tangled(task)
    weights = np.resize([1.0, 2.0], len(y))
    model = ESTIMATORS[task](4, strategy="global", min_coverage=60, l2_regularization=1.0)
    model.fit(X, y, weights)
    for rows in model.ensemble_.covered(X).T:
        assert weights[rows].sum() >= 60
    certificate = model.certificate_
    assert certificate.verify(X)
    assert "cover 60 rows or more" in str(certificate)
    # Fewer compared, higher bound.
    free = ESTIMATORS[task](4, strategy="global", l2_regularization=1.0).fit(X, y, weights)
    assert certificate.bound >= free.certificate_.bound


def test_nothing_to_find():
    X = np.arange(6).reshape(-1, 1)
    model = RuleBoostingRegressor(strategy="global").fit(X, np.zeros(6))
    assert len(model.ensemble_) == 0
    assert model.certificate_.share == 1.0


@both
def test_files_keep_the_numbers(task, tmp_path):
    X, y = tangled(task)
    model = ESTIMATORS[task](3, strategy="global").fit(X, y)
    save_model(model, tmp_path / "model.json")
    loaded = load_model(tmp_path / "model.json")
    assert loaded.certificate_.to_dict() == model.certificate_.to_dict()
    assert str(loaded) == str(model)
    assert "could achieve, proven" in str(model)
    assert "could achieve, proven" in model._rules_html()
    with pytest.raises(ValueError, match="has no forces"):
        loaded.certificate_.verify(X)
    assert pickle.loads(pickle.dumps(model)).certificate_.verify(X)


def test_edited_model_loses_its_certificate(tmp_path):
    X, y = tangled("regressor")
    model = copy.copy(RuleBoostingRegressor(3, strategy="global").fit(X, y))
    model.ensemble_ = model.ensemble_.with_terms(model.ensemble_[:2])
    model.search_results_ = model.search_results_[:2]
    model.stages_ = model.ensemble_.stages
    assert model.own_certificate is None
    assert "proven" not in str(model)
    save_model(model, tmp_path / "model.json")
    assert load_model(tmp_path / "model.json").certificate_ is None


def test_next_fit_forgets_the_certificate():
    X, y = tangled("regressor")
    model = RuleBoostingRegressor(2, strategy="global").fit(X, y)
    model.set_params(strategy="joint").fit(X, y)
    assert model.certificate_ is None


def test_cross_validation_chooses_with_polished_rules():
    X, y = tangled("regressor")
    model = RuleBoostingRegressorCV(3, strategy="global", cv=3).fit(X, y)
    assert len(model.ensemble_) == model.n_terms_
    assert model.certificate_.compared.n_terms == model.n_terms_


@both
def test_parameters_that_do_not_go_together(task):
    X, y = numeric_problem(task)
    with pytest.raises(ValueError, match="'warm_start' cannot be combined with strategy='global'"):
        ESTIMATORS[task](strategy="global", warm_start=True).fit(X, y)
    with pytest.raises(ValueError, match=r"'strategy' parameter of .* must be a str among"):
        ESTIMATORS[task](strategy="best").fit(X, y)


def test_other_losses_are_refused():
    class Twice(SquaredLoss):
        pass

    with pytest.raises(
        ValueError, match="needs one of the losses logistic, multinomial or squared"
    ):
        RuleBoostingRegressor(strategy="global", loss=Twice()).fit(*tangled("regressor"))


def test_progress_says_what_it_is_at(capsys):
    X, y = tangled("regressor")
    seen = []
    model = RuleBoostingRegressor(3, strategy="global", verbose=1, callback=seen.append)
    model.fit(X, y)
    stages = list(dict.fromkeys(progress.stage for progress in seen))
    assert stages[0] == ""
    assert "proving" in stages
    proofs = [progress for progress in seen if progress.proof is not None]
    assert {progress.label for progress in proofs} == {"proving"}
    assert "term 1 of 3" in capsys.readouterr().out


@pytest.mark.parametrize("stage", ["proving", "second start, polishing"])
@pytest.mark.parametrize("seed", range(4))
def test_callback_ends_the_fit_with_the_first_start(stage, seed):
    X, y = tangled("regressor", seed, 80)
    options = {"n_terms": 3, "l2_regularization": 1.0, "brevity": 0.0}
    polished = RuleBoostingRegressor(strategy="polished", **options).fit(X, y)
    model = RuleBoostingRegressor(
        strategy="global", callback=lambda progress: progress.stage == stage, **options
    ).fit(X, y)
    if stage == "proving":
        assert model.ensemble_ == polished.ensemble_
    assert objective(model, X, y) <= objective(polished, X, y) * (1 + 1e-12)
    assert model.certificate_.verify(X)
    assert model.certificate_.objective == pytest.approx(objective(model, X, y))


@pytest.mark.parametrize("keeps", [True, False])
def test_ctrl_c(keeps):
    X, y = tangled("regressor")

    def press(progress):
        if progress.proof is not None:
            signal.raise_signal(signal.SIGINT)

    model = RuleBoostingRegressor(
        3, strategy="global", callback=press, on_interrupt="keep" if keeps else "raise"
    )
    if not keeps:
        with pytest.raises(KeyboardInterrupt):
            model.fit(X, y)
        return
    with pytest.warns(ConvergenceWarning, match="second start may still improve"):
        model.fit(X, y)
    polished = clone(model).set_params(strategy="polished", callback=None).fit(X, y)
    assert model.ensemble_ == polished.ensemble_
    assert model.certificate_.verify(X)


def test_ctrl_c_while_polishing_ends_the_fit():
    """A proof of minutes used to follow."""
    X, y = tangled("regressor", 4, 80)
    stages = []

    def press(progress):
        stages.append(progress.stage)
        if progress.stage == "polishing":
            signal.raise_signal(signal.SIGINT)

    model = RuleBoostingRegressor(
        3,
        strategy="global",
        callback=press,
        on_interrupt="keep",
        l2_regularization=1.0,
        slopes=False,
        brevity=0.0,
    )
    with pytest.warns(ConvergenceWarning, match="Interrupted while polishing"):
        model.fit(X, y)
    assert len(model.ensemble_) == 3
    assert stages[-1] == "polishing"
    assert model.certificate_ is None


def test_limits_count():
    X, y = tangled("regressor")
    with pytest.warns(ConvergenceWarning):
        model = RuleBoostingRegressor(3, strategy="global", node_limit=1).fit(X, y)
    assert model.certificate_.status == "node_limit"
    assert model.certificate_.verify(X)


@pytest.mark.parametrize("on_interrupt", ["keep", "raise"])
def test_ctrl_c_before_the_proof_keeps_the_rules_that_were_found(monkeypatch, on_interrupt):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("laconic.estimators.global_strategy.prove", interrupt)
    X, y = tangled("regressor")
    model = RuleBoostingRegressor(2, strategy="global", on_interrupt=on_interrupt)
    if on_interrupt == "raise":
        with pytest.raises(KeyboardInterrupt):
            model.fit(X, y)
        return
    with pytest.warns(ConvergenceWarning, match="a second start may still improve"):
        model.fit(X, y)
    assert len(model.ensemble_) == len(model.search_results_) == 2
    assert model.certificate_ is None
