"""Effects on rows that a model was not fitted to, and models whose weights are from such rows."""

import json
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from laconic import (
    RuleBoostingClassifier,
    RuleBoostingClassifierCV,
    RuleBoostingRegressor,
    RuleBoostingRegressorCV,
    load_model,
    save_model,
    scan,
)
from laconic.estimators import honest as honest_module
from laconic.export import model_to_dict
from laconic.models.scores import describe_optimality

N_ROWS = 400


def table(seed=0, n_rows=N_ROWS):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "age": rng.integers(18, 80, n_rows),
            "size": np.where(rng.random(n_rows) < 0.1, np.nan, rng.normal(size=n_rows)),
            "city": rng.choice(["Bonn", "Köln", "Rom"], n_rows),
            "other": rng.normal(size=n_rows),
        }
    )


def scores(X, seed=1):
    noise = np.random.default_rng(seed).normal(size=len(X))
    return 1.5 * (X["age"] > 45) + (X["city"] == "Bonn") + 0.5 * X["size"].fillna(0) + noise


def of_classes(X, *names):
    cuts = np.quantile(scores(X), np.arange(1, len(names)) / len(names))
    return np.array(names)[np.searchsorted(cuts, scores(X))]


TARGETS = {
    "numbers": (RuleBoostingRegressor, lambda X: scores(X).to_numpy(), {}),
    "two classes": (RuleBoostingClassifier, lambda X: of_classes(X, "no", "yes"), {}),
    "three classes": (RuleBoostingClassifier, lambda X: of_classes(X, "a", "b", "c"), {}),
    "first class": (
        RuleBoostingClassifier,
        lambda X: of_classes(X, "no", "yes"),
        {"positive": "no"},
    ),
    "counts": (
        RuleBoostingRegressor,
        lambda X: np.round(np.exp(scores(X) / 2)).to_numpy(),
        {"loss": "poisson"},
    ),
    "outliers": (RuleBoostingRegressor, lambda X: scores(X).to_numpy(), {"loss": "huber"}),
}
each_target = pytest.mark.parametrize("name", TARGETS)


def given(name, **parameters):
    kind, target, options = TARGETS[name]
    X = table()
    return kind(3, **(options | parameters)), X, target(X)


# Effects on new rows.


@each_target
def test_effects_are_those_of_the_second_half(name):
    model, X, y = given(name)
    model.fit(X[:200], y[:200])
    before = model.ensemble_
    found = model.effects(X[200:], y[200:])
    assert model.ensemble_ is before
    assert model.trust_.effects is found is model.own_trust.effects
    assert [e.weight for e in found.terms] == [
        line.weight for line in before.lines if line.number > 0
    ]
    for effect in found.terms:
        assert effect.reason or effect.lower < effect.estimate < effect.upper
    assert sum(not effect.reason for effect in found.terms) >= 2
    narrower = model.effects(X[200:], y[200:], level=0.5)
    widths = [
        [e.upper - e.lower for e in each.effects if not e.reason] for each in (narrower, found)
    ]
    assert all(one < other for one, other in zip(*widths, strict=True))


@pytest.mark.parametrize("strategy", ["stagewise", "polished", "global"])
def test_effects_of_all_strategies(strategy):
    model, X, y = given("numbers", strategy=strategy, brevity=0)
    found = model.fit(X[:200], y[:200]).effects(X[200:], y[200:])
    assert not any(effect.reason for effect in found.terms)
    without = clone(model).set_params(fit_intercept=False, strategy="stagewise")
    found = without.fit(X[:200], y[:200]).effects(X[200:], y[200:])
    assert len(found.effects) == len(found.terms) == 3


def test_effects_do_not_depend_on_the_library():
    model, X, y = given("numbers", max_conditions=1)
    model.fit(X[:200], y[:200])
    expected = model.effects(X[200:], y[200:])
    assert model.effects(pl.from_pandas(X[200:]), list(y[200:])) == expected
    numbers = X[["age", "other"]]
    plain = RuleBoostingRegressor(2).fit(numbers[:200].to_numpy(), y[:200])
    named = RuleBoostingRegressor(2).fit(numbers[:200], y[:200])
    one, other = (
        m.effects(rows, y[200:])
        for m, rows in ((plain, numbers[200:].to_numpy()), (named, numbers[200:]))
    )
    assert [e.estimate for e in one.terms] == [e.estimate for e in other.terms]


def test_effects_with_weights_and_groups():
    model, X, y = given("numbers")
    model.fit(X[:200], y[:200])
    weights, groups = np.arange(200) % 3, np.arange(200) // 4
    found = model.effects(X[200:], y[200:], weights, groups=groups)
    assert (found.n_rows, found.n_groups) == (133, 50)
    named = model.effects(X[200:], y[200:], weights, groups=[f"patient {n}" for n in groups])
    assert named == found
    some = weights > 0
    assert model.effects(X[200:][some], y[200:][some], weights[some], groups=groups[some]) == found


def test_effects_with_exposure():
    X = table()
    exposure = np.random.default_rng(2).choice([0.5, 2.0], N_ROWS)
    y = np.random.default_rng(3).poisson(np.exp(scores(X) / 2) * exposure)
    model = RuleBoostingRegressor(2, loss="poisson")
    model.fit(X[:200], y[:200], exposure=exposure[:200])
    found = model.effects(X[200:], y[200:], exposure=exposure[200:])
    rates = model.effects(X[200:], y[200:] / exposure[200:], exposure[200:])
    assert [e.estimate for e in found.terms] == pytest.approx([e.estimate for e in rates.terms])
    with pytest.raises(ValueError, match="Got the training rows"):
        model.effects(X[:200], y[:200], exposure=exposure[:200])


@pytest.mark.parametrize("kind", [RuleBoostingRegressorCV, RuleBoostingRegressor])
def test_effects_of_chosen_sizes(kind):
    _, X, y = given("numbers")
    model = kind(5 if kind is RuleBoostingRegressorCV else "auto").fit(X[:200], y[:200])
    assert len(model.effects(X[200:], y[200:]).terms) == len(model.ensemble_) > 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"level": 1.0}, "must be a float in the range"),
        ({"level": "high"}, "must be a float in the range"),
        ({"groups": [1, 2]}, r"shape \(200,\). Got shape \(2,\)"),
        ({"groups": [None] * 200}, "Got a missing one at row 0"),
        ({"groups": pd.Series([1, pd.NA] * 100, dtype="Int64")}, "Got a missing one at row 1"),
        ({"groups": [1.0] * 199 + [np.nan]}, "Got a missing one at row 199"),
    ],
)
def test_wrong_arguments(options, message):
    model, X, y = given("numbers")
    model.fit(X[:200], y[:200])
    with pytest.raises(ValueError, match=message):
        model.effects(X[200:], y[200:], **options)


def test_models_that_are_not_fitted():
    with pytest.raises(NotFittedError):
        RuleBoostingRegressor().effects(table(), scores(table()))


# Training rows.


@each_target
def test_training_rows_are_refused(name, tmp_path):
    model, X, y = given(name)
    model.fit(X[:200], y[:200])
    save_model(model, tmp_path / "model.json")
    for each in (model, load_model(tmp_path / "model.json")):
        with pytest.raises(ValueError, match="Got the training rows"):
            each.effects(X[:200], y[:200])
        with pytest.raises(ValueError, match="Got the training rows"):
            each.effects(pl.from_pandas(X[:200][::-1]), y[:200][::-1])
        with pytest.warns(UserWarning, match="About 75% of these seem to be training rows"):
            each.effects(X[50:250], y[50:250])
    assert model.trust_.effects.n_rows == 200


def test_training_rows_of_long_tables_are_known():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(12_000, 3))
    y = (X[:, 0] > 0) + rng.normal(size=12_000)
    model = RuleBoostingRegressor(1, slopes=False).fit(X, y)
    assert model.fingerprint_.n_rows == 12_000
    with pytest.raises(ValueError, match="Got the training rows"):
        model.effects(X, y)


def test_tables_read_in_parts_have_no_fingerprint(tmp_path):
    X = table()
    X.assign(y=scores(X)).to_parquet(tmp_path / "rows.parquet")
    source = scan(tmp_path / "rows.parquet")
    model = RuleBoostingRegressor(1, slopes=False).fit(source, "y")
    assert model.fingerprint_ is None
    found = model.effects(X, scores(X))
    assert not found.is_checked
    assert "It was not checked" in str(found)
    with pytest.raises(TypeError, match="Effects need a table in memory"):
        model.effects(source, "y")
    with pytest.raises(ValueError, match=r"honest=0\.5 needs a table in memory"):
        RuleBoostingRegressor(1, slopes=False, honest=0.5).fit(source, "y")


# Weights from other rows.


@each_target
def test_weights_are_those_of_the_other_rows(name):
    model, X, y = given(name, honest=0.4)
    model.fit(X, y)
    found = model.trust_.effects
    assert (found.rows, found.n_rows, found.level) == ("held out", 160, 0.9)
    lines = [line for line in model.ensemble_.lines if line.number > 0]
    for effect, line in zip(found.terms, lines, strict=True):
        assert effect.weight == line.weight
        assert effect.reason or effect.estimate == pytest.approx(line.weight, rel=1e-6)
    assert model.stages[-1] == model.ensemble_
    assert len(model.stages) == len(lines) + 1
    assert model.own_trust is model.trust_


@pytest.mark.parametrize("strategy", ["joint", "stagewise", "polished"])
def test_terms_are_those_of_the_rows_of_the_search(strategy, monkeypatch):
    model, X, y = given("numbers", honest=0.5, strategy=strategy)
    parts = []
    keep = honest_module.search_part

    def record(data, settings):
        parts.append(keep(data, settings))
        return parts[-1]

    monkeypatch.setattr("laconic.estimators.base.search_part", record)
    model.fit(X, y)
    weights, held_out = parts[0].weights, parts[0].held_out
    assert ((weights > 0) != (held_out > 0)).all()
    plain = clone(model).set_params(honest=None).fit(X, y, weights)
    assert [t.key for t in plain.ensemble_] == [t.key for t in model.ensemble_]
    assert [r.objective_value for r in plain.search_results_] == [
        r.objective_value for r in model.search_results_
    ]
    others = plain.effects(X, y, held_out)
    assert [e.estimate for e in others.terms] == [e.estimate for e in model.trust_.effects.terms]
    # What is known of all rows.
    assert [c.coverage for c in model.rule_coverages_] == [
        np.count_nonzero(term.values(X)) for term in model.ensemble_
    ]


def test_the_same_rows_in_every_fit_and_classes_in_both_parts():
    model, X, y = given("three classes", honest=0.3)
    one, other = (clone(model).fit(X, y) for _ in range(2))
    assert one.ensemble_ == other.ensemble_
    assert one.trust_ == other.trust_
    rare = np.where(np.arange(N_ROWS) % 100 == 0, "rare", y)
    assert len(clone(model).fit(X, rare).ensemble_.outputs) == 4


@pytest.mark.parametrize("kind", [RuleBoostingRegressorCV, RuleBoostingRegressor])
def test_sizes_are_chosen_on_the_rows_of_the_search(kind):
    _, X, y = given("numbers")
    options = {"honest": 0.5, "n_terms": 4 if kind is RuleBoostingRegressorCV else "auto"}
    model = kind(**options).fit(X, y)
    assert model.trust_.effects.n_rows == 200
    assert len(model.ensemble_) == model.n_terms_ > 0


def test_weights_of_rows_and_of_classes():
    model, X, y = given("two classes", honest=0.5, class_weight="balanced")
    model.fit(X, y, np.arange(N_ROWS) % 2)
    assert model.trust_.effects.n_rows == 100
    classes = RuleBoostingClassifierCV(3, honest=0.5).fit(X, y)
    assert classes.trust_.effects.n_rows == 200


def test_long_tables_keep_rows_out():
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(12_000, 3)), 1)
    y = (X[:, 0] > 0) + rng.normal(size=12_000)
    options = {"slopes": False, "honest": 0.5}
    model = RuleBoostingRegressor(2, **options).fit(X, y)
    assert model.trust_.effects.n_rows == 6_000
    assert model.rule_coverages_[0].coverage == np.count_nonzero(model.ensemble_[0].values(X))


def test_signs_of_constraints_are_kept():
    X = table()
    model = RuleBoostingRegressor(3, honest=0.5, monotonic_cst={"age": 1, "size": 1})
    model.fit(X, scores(X))
    older = X.assign(age=X["age"] + 5)
    assert (model.predict(older) >= model.predict(X) - 1e-12).all()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"honest": 1.0}, "must be a float in the range"),
        ({"honest": 0}, "must be a float in the range"),
        ({"honest": 0.5, "strategy": "global"}, "cannot be combined with strategy='global'"),
        ({"honest": 0.5, "warm_start": True}, "cannot be combined with warm_start=True"),
    ],
)
def test_wrong_shares(parameters, message):
    X = table()
    with pytest.raises(ValueError, match=message):
        RuleBoostingRegressor(2, **parameters).fit(X, scores(X))


def test_parts_without_rows():
    X, y = [[1], [2], [3], [4]], ["a", "a", "a", "b"]
    with pytest.raises(ValueError, match=r"honest=0.5 needs rows of every class in both parts"):
        RuleBoostingClassifier(1, honest=0.5).fit(X, y)
    with pytest.raises(ValueError, match=r"honest=0.1 needs rows in both parts"):
        RuleBoostingRegressor(1, honest=0.1).fit(X, [1.0, 2.0, 3.0, 4.0])
    with pytest.raises(ValueError, match="needs rows with a target above 0 in both parts"):
        RuleBoostingRegressor(1, honest=0.5, loss="poisson").fit(X, [0, 0, 0, 1])


def test_honest_models_say_so():
    model, X, y = given("numbers", honest=0.5)
    model.fit(X, y)
    remark = "Weights are fitted to 200 rows not used to find the terms."
    assert remark in str(model)
    assert remark in model._repr_html_()
    assert "on the 200 rows that found the terms" in describe_optimality(model)
    report = model.report(X, y)
    assert report.to_dict()["certificates"]["rows"] == "the 200 rows that found the terms"
    assert "proven optimal on the 200 rows that found the terms" in report.to_html()
    plain = clone(model).set_params(honest=None).fit(X, y)
    assert "Weights are fitted" not in str(plain)


# Files.


def saved(name="numbers", **parameters):
    model, X, y = given(name, **parameters)
    model.fit(X[:200], y[:200])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.effects(X[200:], y[200:], groups=np.arange(200) // 2)
    return model


@each_target
def test_effects_are_kept_in_files(name, tmp_path):
    model = saved(name)
    save_model(model, tmp_path / "model.json")
    loaded = load_model(tmp_path / "model.json")
    assert loaded.trust_ == model.trust_
    assert loaded.own_trust.effects == model.trust_.effects
    assert loaded.fingerprint_ == model.fingerprint_
    assert str(loaded.trust_.effects) == str(model.trust_.effects)
    save_model(loaded, tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "model.json").read_bytes()
    model.fit(table(5), TARGETS[name][1](table(5)))
    assert model.own_trust.is_empty


def test_honest_models_are_kept_in_files(tmp_path):
    model, X, y = given("numbers", honest=0.5)
    save_model(model.fit(X, y), tmp_path / "model.json")
    loaded = load_model(tmp_path / "model.json")
    assert str(loaded) == str(model)
    assert loaded.get_params()["honest"] == 0.5
    assert describe_optimality(loaded) == describe_optimality(model)
    assert loaded.fit(X, y).ensemble_ == model.ensemble_


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("trust.effects.level", 1.5, "trust.effects.level must be a number in the range (0, 1)"),
        ("trust.effects.rows", "all", "trust.effects.rows must be 'new' or 'held out'"),
        ("trust.effects.n_rows", -1, "trust.effects.n_rows must be a whole number"),
        ("trust.effects.effects.1.upper", -99.0, "must be an effect whose interval contains"),
        ("trust.effects.effects.1.lower", None, "must be an effect whose interval contains"),
        ("trust.effects.effects.1.reason", "no", "must be an effect whose interval contains"),
        ("trust.effects.effects.1.error", -1, "effects[1].error must be"),
        ("trust.effects.effects.1.weight", 9.0, "trust.effects must be about the terms"),
        ("trust.effects.effects.1.text", "if x", "trust.effects must be about the terms"),
        ("trust.effects.effects.1.n_rows", 2**70, "n_rows must be a whole number in the range [0,"),
        ("trust.effects.effects.1.n_rows", 201, "[1].n_rows must be at most n_rows, 200. Got 201"),
        ("trust.effects.effects.0.weight", 9.0, "trust.effects must be about the terms"),
        ("trust.effects.effects.0.number", 1, "trust.effects must be about the terms"),
        ("trust.effects.effects.1.number", 2, "trust.effects must be about the terms"),
        ("fingerprint.total", "12", "fingerprint.total must be hashes of 16 hexadecimal digits"),
        ("fingerprint.smallest", "", "fingerprint.smallest must be one or more hashes"),
        ("fingerprint.smallest", "f" * 16 + "0" * 16, "fingerprint.smallest must be one or more"),
        ("fingerprint.counts", "12", "must be a fingerprint with a count for each hash"),
        ("fingerprint.counts", "4", "fingerprint.counts must be a string of the digits 1 to 3"),
        ("fingerprint.n_rows", 3, "must be a fingerprint with a count for each hash"),
    ],
)
def test_damaged_files_are_refused(path, value, message, tmp_path):
    content = model_to_dict(saved())
    *places, last = path.split(".")
    entry = content
    for place in places:
        entry = entry[int(place) if place.isdigit() else place]
    entry[last] = value
    (tmp_path / "model.json").write_text(json.dumps(content), "utf-8")
    with pytest.raises(ValueError) as refusal:  # noqa: PT011
        load_model(tmp_path / "model.json")
    assert message in str(refusal.value)


@pytest.mark.parametrize("name", ["numbers", "three classes"])
def test_files_have_each_intercept_once(name, tmp_path):
    content = model_to_dict(saved(name))
    intercept, *others = content["trust"]["effects"]["effects"]
    for effects in (others, [intercept, intercept, *others]):
        content["trust"]["effects"]["effects"] = effects
        (tmp_path / "model.json").write_text(json.dumps(content), "utf-8")
        with pytest.raises(ValueError, match="must be about the terms and intercepts of the model"):
            load_model(tmp_path / "model.json")


def test_files_hold_hashes_and_no_cells():
    model = saved()
    content = model_to_dict(model)["fingerprint"]
    assert {*content} == {"n_rows", "total", "smallest", "counts"}
    assert len(content["smallest"]) == 16 * 200
