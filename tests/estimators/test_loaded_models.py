"""A model from a file does all that its original does, with the same result.

`USES` has an entry for every public method of the estimators, found by looking at them: a new one
fails here until it says what a loaded model makes of it.
"""

import inspect
import warnings
from copy import copy
from functools import cache

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from laconic import (
    Condition,
    RuleBoostingClassifier,
    RuleBoostingClassifierCV,
    RuleBoostingRegressor,
    RuleBoostingRegressorCV,
    load_model,
    save_model,
)

ESTIMATORS = (
    RuleBoostingClassifier,
    RuleBoostingRegressor,
    RuleBoostingClassifierCV,
    RuleBoostingRegressorCV,
)
N_ROWS = 60
# What a fit does beside finding a model.
ABOUT_THE_RUN = {"callback", "n_jobs", "verbose", "on_interrupt", "warm_start"}


class Example:
    """A fitted model, the same from a file, and its training rows."""

    def __init__(self, model, X, y, folder, **rows):
        self.model, self.X, self.y, self.rows = model, X, y, rows
        path = folder / "model.json"
        save_model(model, path)
        self.loaded = load_model(path)
        self.arguments = {"X": X, "y": y, **rows}


def table():
    rng = np.random.default_rng(7)
    return pd.DataFrame(
        {
            "age": rng.integers(18, 80, N_ROWS),
            "size": [None if n % 9 == 0 else float(n % 5) for n in range(N_ROWS)],
            "city": rng.choice(["Bonn", "Köln", "Rom", "Ulm"], N_ROWS),
            "booked": pd.Timestamp("2024-03-01") + pd.to_timedelta(rng.integers(0, 8, N_ROWS), "D"),
        }
    )


def scores(X):
    noise = np.random.default_rng(8).normal(size=N_ROWS)
    return (X["age"] > 45) + 1.0 * (X["city"] == "Bonn") + 0.5 * noise


def classes(X, names=("no", "yes")):
    cuts = np.quantile(scores(X), np.arange(1, len(names)) / len(names))
    return np.array(names)[np.searchsorted(cuts, scores(X))]


def of_classes(folder, names=("no", "yes"), rows=None, kind=RuleBoostingClassifier, **parameters):
    X = table()
    y = classes(X, names)
    model = kind(3, max_conditions=2, **parameters).fit(X, y, **(rows or {}))
    return Example(model, X, y, folder, **(rows or {}))


def of_numbers(folder, kind=RuleBoostingRegressor, **parameters):
    X = table()
    y = scores(X)
    return Example(kind(3, max_conditions=2, **parameters).fit(X, y), X, y, folder)


def of_counts(folder):
    X, rng = table(), np.random.default_rng(3)
    exposure = rng.choice([0.5, 1.0, 2.0], N_ROWS)
    y = rng.poisson(np.exp(scores(X)) * exposure)
    model = RuleBoostingRegressor(3, max_conditions=2, loss="poisson")
    return Example(model.fit(X, y, exposure=exposure), X, y, folder, exposure=exposure)


def of_edits(folder):
    X = table()
    y = scores(X)
    model = RuleBoostingRegressor(3, max_conditions=2).fit(X, y)
    edited = model.edit(X, y, drop=[1], force=["age > 60 & city != Rom"])
    return Example(edited, X, y, folder)


WEIGHTS = {"sample_weight": np.arange(N_ROWS) % 3}
GIVEN = [Condition("age", ">", 30), Condition("age", ">", 50), Condition("city", "==", "Rom")]
MODELS = {
    "two classes": of_classes,
    "three classes": lambda folder: of_classes(folder, ("a", "b", "c")),
    "numbers": of_numbers,
    "numbers without intercept": lambda folder: of_numbers(folder, fit_intercept=False),
    "counts with exposure": of_counts,
    "amounts far off": lambda folder: of_numbers(folder, loss="huber"),
    "weights of rows": lambda folder: of_classes(folder, rows=WEIGHTS),
    "weights of classes": lambda folder: of_classes(folder, class_weight={"no": 1, "yes": 3}),
    "balanced classes": lambda folder: of_classes(folder, class_weight="balanced"),
    "features with costs": lambda folder: of_numbers(
        folder, feature_costs={"city": 0.01, "size": np.inf}, interaction_cst=[["booked"]]
    ),
    "signs of weights": lambda folder: of_numbers(
        folder,
        monotonic_cst={"age": 1},
        interaction_cst=[["age", "size", "booked"], ["size", "city", "booked"]],
    ),
    "excluded rules": lambda folder: of_numbers(folder, excluded_terms=["age > 45"]),
    "initial rules": lambda folder: of_numbers(folder, initial_terms=["age > 60"]),
    "sets": lambda folder: of_numbers(folder, categories="sets"),
    "date parts": lambda folder: of_numbers(folder, date_parts=["weekday", "day"]),
    "given conditions": lambda folder: of_numbers(folder, conditions=GIVEN),
    "few thresholds": lambda folder: of_numbers(folder, max_thresholds=2, min_coverage=5),
    "stagewise": lambda folder: of_classes(folder, strategy="stagewise", l2_regularization=1.0),
    "polished": lambda folder: of_numbers(folder, strategy="polished"),
    "global": lambda folder: of_numbers(folder, strategy="global"),
    "weights from other rows": lambda folder: of_classes(folder, honest=0.5),
    "greedy": lambda folder: of_numbers(folder, search="greedy", approximation_factor=0.9),
    "edited": of_edits,
    "cross-validated classes": lambda folder: of_classes(folder, kind=RuleBoostingClassifierCV),
    "cross-validated numbers": lambda folder: of_numbers(folder, kind=RuleBoostingRegressorCV),
}


def settings(model):
    """Parameters, where rules are what their texts stand for."""
    names = {*inspect.signature(type(model)).parameters} - ABOUT_THE_RUN - {"cv"}
    given = {name: model.get_params()[name] for name in names}
    # Rules may be written as texts or queries.
    rules = {name: [*map(str, given[name] or ())] for name in ("initial_terms", "excluded_terms")}
    return given | rules


def without_seconds(value):
    if isinstance(value, dict):
        return {k: without_seconds(v) for k, v in value.items() if "seconds" not in k}
    return [without_seconds(each) for each in value] if isinstance(value, list) else value


def edited(model, example):
    number = len(model.ensemble_)
    changed = model.edit(**example.arguments, drop=[number], force=["age > 33 & city == Ulm"], cv=3)
    return [str(changed), str(changed.edits_), settings(changed)]


def certified(model, example):
    made = model.certificate(**example.arguments)
    return [made.objective, made.bound, str(made), made.verify(example.X)]


def saved(model, example, folder):
    n_rows = model.save_predictions(example.X, folder / "predictions.parquet")
    return n_rows, pd.read_parquet(folder / "predictions.parquet").to_dict()


def effects(model, example):
    """Of other rows, and what is said of the training rows."""
    X = example.X.assign(age=example.X["age"] + 1)
    found = model.effects(X, example.y, **example.rows)
    with pytest.raises(ValueError, match="Got the training rows"):
        model.effects(example.X, example.y, **example.rows)
    return found, str(found), model.trust_


def conformal(model, example):
    made = model.conformalize(**example.arguments, cv=3)
    is_of_classes = model.task_.labels is not None
    predict = model.predict_set if is_of_classes else model.predict_interval
    return made, str(made), predict(example.X).tolist()


def arrays(found):
    return [np.asarray(each).tolist() for each in found]


def fitted_again(model, example):
    """Models of the same rows and of others, by the same parameters."""
    some = {name: values[10:] for name, values in example.arguments.items()}
    again = [clone(model).fit(**rows) for rows in (example.arguments, some)]
    return [(model.ensemble_, model.search_results_[0].objective_value) for model in again]


def parameters(model, example):
    model = clone(model)
    return settings(model.set_params(max_conditions=1))


def transformed(model, example):
    return model.transform(example.X).tolist()


def framed(model, example):
    return clone(model).set_output(transform="pandas").fit(**example.arguments).transform(example.X)


USES = {
    "alternatives": lambda model, e: str(
        model.alternatives(len(model.ensemble_), **e.arguments, tolerance=0.3, max_found=4)
    ),
    "certificate": certified,
    "chance": lambda model, e: model.chance(**e.arguments, n_permutations=9),
    "conformalize": conformal,
    "decision_function": lambda model, e: model.decision_function(e.X).tolist(),
    "edit": edited,
    "effects": effects,
    "explain": lambda model, e: [str(model.explain(e.X)), str(model.explain(e.X).to_frame())],
    "fit": fitted_again,
    "fit_transform": lambda model, e: clone(model).fit_transform(e.X, e.y).tolist(),
    "get_feature_names_out": lambda model, e: model.get_feature_names_out().tolist(),
    "get_metadata_routing": lambda model, e: str(model.get_metadata_routing()),
    "get_params": lambda model, e: settings(model),
    "predict": lambda model, e: model.predict(e.X).tolist(),
    "predict_interval": lambda model, e: model.predict_interval(e.X).tolist(),
    "predict_proba": lambda model, e: model.predict_proba(e.X).tolist(),
    "predict_set": lambda model, e: model.predict_set(e.X).tolist(),
    "predictions_for": lambda model, e: arrays(
        (model.predictions_for(e.X).raw, model.predictions_for(e.X).covered)
    ),
    "report": lambda model, e: without_seconds(model.report(e.X, e.y).to_dict()),
    "save_predictions": saved,
    "score": lambda model, e: model.score(e.X, e.y),
    "set_callbacks": lambda model, e: None,
    "set_fit_request": lambda model, e: None,
    "set_output": lambda model, e: str(framed(model, e)),
    "set_params": parameters,
    "set_score_request": lambda model, e: None,
    "shapley_values": lambda model, e: model.shapley_values(e.X[:5], e.X).values.tolist(),
    "stability": lambda model, e: copy(model).stability(**e.arguments, n_resamples=3),
    "staged_decision_function": lambda model, e: arrays(model.staged_decision_function(e.X)),
    "staged_predict": lambda model, e: arrays(model.staged_predict(e.X)),
    "transform": transformed,
    # Properties.
    "classes_": lambda model, e: model.classes_.tolist(),
    "loss_": lambda model, e: model.loss_,
    "own_certificate": lambda model, e: str(model.own_certificate),
    "own_trust": lambda model, e: model.own_trust,
    "stages": lambda model, e: list(model.stages),
}
# A file holds the model that was chosen, and not how: fits and parameters are those of its size.
NOT_OF_CROSS_VALIDATED = {
    *("conformalize", "fit", "fit_transform", "set_output", "get_params", "set_params"),
    "stability",
}


def public_members(kind):
    """Methods and properties of an estimator that people may use."""
    members = ((name, inspect.getattr_static(kind, name)) for name in dir(kind))
    return {
        name
        for name, member in members
        if not name.startswith("_")
        and (isinstance(member, property) or callable(member) or hasattr(member, "__get__"))
        and name != "task"
    }


def test_every_public_method_is_compared():
    members = set().union(*map(public_members, ESTIMATORS))
    # Releases of scikit-learn before 1.9 have no callbacks.
    assert members | {"set_callbacks"} == {*USES}


@cache
def example(kind, folder):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return MODELS[kind](folder)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("models")


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_loaded_model_does_the_same(kind, use, folder, tmp_path):
    given = example(kind, folder)
    if not hasattr(given.model, use):
        assert not hasattr(given.loaded, use)
        return
    if kind.startswith("cross-validated") and use in NOT_OF_CROSS_VALIDATED:
        return
    take = (given, tmp_path) if use == "save_predictions" else (given,)
    expected = outcome(USES[use], given.model, *take)
    assert outcome(USES[use], given.loaded, *take) == expected


def outcome(act, model, *given):
    """What comes out of it, or the words in which it is refused."""
    try:
        return act(model, *given)
    except ValueError as error:
        return f"refused: {error}"
