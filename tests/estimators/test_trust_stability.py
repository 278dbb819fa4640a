"""The method `stability` of the estimators, and its answer in model files."""

import json
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone

from laconic import (
    RuleBoostingClassifier,
    RuleBoostingClassifierCV,
    RuleBoostingRegressor,
    RuleBoostingRegressorCV,
    load_model,
    save_model,
    scan,
)
from laconic.estimators.files import model_from_dict
from laconic.export import model_to_dict
from laconic.tables.tables import take_rows
from laconic.trust import Stability
from laconic.trust.stability import draw_rows

N_ROWS = 150


def table(n_rows=N_ROWS, seed=3):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "age": rng.integers(18, 80, n_rows),
            "bmi": np.where(rng.random(n_rows) < 0.2, np.nan, rng.normal(27.0, 4.0, n_rows)),
            "city": rng.choice(["Bonn", "Köln", "Rom"], n_rows),
        }
    )


def scores(X, seed=4):
    noise = np.random.default_rng(seed).normal(size=len(X))
    return 2.0 * (X["age"] > 50) + 1.0 * (X["city"] == "Bonn") + 0.5 * noise


@pytest.fixture(scope="module")
def numbers():
    X = table()
    return X, scores(X).to_numpy()


def classes(y, *names):
    cuts = np.quantile(y, np.arange(1, len(names)) / len(names))
    return np.array(names)[np.searchsorted(cuts, y)]


def regressor(**parameters):
    return RuleBoostingRegressor(**({"n_terms": 2, "max_conditions": 2} | parameters))


def classifier(**parameters):
    return RuleBoostingClassifier(**({"n_terms": 2, "max_conditions": 2} | parameters))


def test_a_strong_term_comes_back(numbers):
    model = regressor().fit(*numbers)
    found = model.stability(*numbers, n_resamples=20)
    assert found.n_done == found.n_resamples == 20
    assert found.terms[0].n_returned >= 19
    assert found.features[0].n_selected == 20
    assert found.row_spread.shape == (N_ROWS,)
    assert model.trust_.stability is found
    assert model.own_trust.stability is found
    assert "In 20 resampled copies of this table" in str(found)
    model.fit(*numbers)
    assert model.own_trust.stability is None


def resampled(make, X, y, rows, n_resamples=6, **settings):
    """Models of tables of the drawn rows, and those of the answer."""
    model = make().fit(X, y, **rows)
    found = model.stability(X, y, **rows, n_resamples=n_resamples, **settings)
    for number, ensemble in found.models:
        times = draw_rows(number, 0, np.arange(len(y)), lambda drawn: True)
        drawn = np.repeat(np.arange(len(y)), times)
        taken = {name: take_rows(values, drawn) for name, values in rows.items()}
        yield make().fit(take_rows(X, drawn), np.asarray(y)[drawn], **taken).ensemble_, ensemble


WEIGHTS = np.random.default_rng(1).choice([0.5, 1.0, 2.0], N_ROWS)
PROCEDURES = {
    "numbers": (lambda: regressor(n_terms=4), "numbers", {}),
    "as many as beat chance": (lambda: regressor(n_terms="auto"), "numbers", {}),
    "brief": (lambda: regressor(n_terms=4, brevity=2.5, max_conditions=None), "numbers", {}),
    "stagewise": (lambda: regressor(strategy="stagewise"), "numbers", {}),
    "polished": (lambda: regressor(strategy="polished"), "numbers", {}),
    "without intercept": (lambda: regressor(fit_intercept=False), "numbers", {}),
    "few thresholds": (lambda: regressor(max_thresholds=5, min_coverage=20), "numbers", {}),
    "greedy": (lambda: regressor(search="greedy"), "numbers", {}),
    "weights": (regressor, "numbers", {"sample_weight": WEIGHTS}),
    "counts": (lambda: regressor(loss="poisson"), "counts", {"exposure": WEIGHTS}),
    "two classes": (classifier, "two classes", {}),
    "first class positive": (lambda: classifier(positive="a"), "two classes", {}),
    "three classes": (lambda: classifier(n_terms=4), "three classes", {}),
}


def target_of(kind, y):
    if kind == "counts":
        return np.floor(np.maximum(y + 1.0, 0.0))
    names = {"two classes": "ab", "three classes": "abc"}
    return classes(y, *names[kind]) if kind in names else y


@pytest.mark.parametrize("procedure", PROCEDURES)
def test_models_are_those_of_tables_of_the_drawn_rows(procedure, numbers):
    make, kind, rows = PROCEDURES[procedure]
    X, y = numbers
    pairs = list(resampled(make, X, target_of(kind, y), rows))
    assert len(pairs) == 6
    for expected, found in pairs:
        assert [term.key for term in found] == [term.key for term in expected]
        np.testing.assert_allclose(
            found.raw_predictions(X), expected.raw_predictions(X), rtol=1e-6, atol=1e-9
        )


@pytest.mark.parametrize(("make", "kind"), [(regressor, "numbers"), (classifier, "three classes")])
def test_the_answer_is_the_same_for_any_number_of_threads(make, kind, numbers):
    X, y = numbers[0], target_of(kind, numbers[1])
    one, two = (make(n_jobs=n_jobs).fit(X, y).stability(X, y, n_resamples=8) for n_jobs in (1, 2))
    assert one == two
    np.testing.assert_array_equal(one.row_spread, two.row_spread)
    assert one.models == two.models


@pytest.mark.parametrize("convert", [pl.from_pandas, lambda X: X.to_numpy(dtype=object)])
def test_tables_of_other_libraries_give_the_same(convert, numbers):
    X, y = numbers
    expected = regressor().fit(X, y).stability(X, y, n_resamples=5)
    other = convert(X)
    found = regressor().fit(other, y).stability(other, y, n_resamples=5)
    assert [term.n_returned for term in found.terms] == [term.n_returned for term in expected.terms]
    assert found.spread == expected.spread


def test_classes(numbers):
    X, y = numbers[0], classes(numbers[1], "a", "b", "c")
    found = classifier(n_terms=3).fit(X, y).stability(X, y, n_resamples=10)
    assert found.terms[0].text.startswith("for ")
    assert 0.0 < found.other_class < 0.5
    assert found.row_other_class.max() <= 1.0
    assert "A row gets another class than by the model in" in str(found)


def test_classes_without_weight_are_never_drawn(numbers):
    X, y = numbers[0], classes(numbers[1], "a", "b", "c")
    model = RuleBoostingClassifier(2, class_weight={"c": 0.0}).fit(X, y)
    found = model.stability(X, y, n_resamples=2)
    assert found.n_done == 2
    assert all(each.outputs[2].intercept < -10 for _, each in found.models)


def test_every_resample_has_every_class(numbers):
    X, _ = numbers
    y = np.array(["rare"] * 2 + ["a"] * 70 + ["b"] * 78)
    model = classifier(min_coverage=1).fit(X, y)
    found = model.stability(X, y, n_resamples=15)
    assert all(len(ensemble.outputs) == 3 for _, ensemble in found.models)


@pytest.mark.parametrize(
    ("kind", "target"),
    [(RuleBoostingRegressorCV, "numbers"), (RuleBoostingClassifierCV, "two classes")],
)
def test_the_size_is_chosen_again(kind, target, numbers):
    X, y = numbers[0], target_of(target, numbers[1])
    model = kind(n_terms=4, max_conditions=1, cv=3).fit(X, y)
    found = model.stability(X, y, n_resamples=12)
    assert len({*found.sizes}) > 1


def test_splits_given_as_rows_are_those_of_the_table(numbers):
    X, y = numbers
    halves = [(np.arange(75), np.arange(75, N_ROWS)), (np.arange(75, N_ROWS), np.arange(75))]
    model = RuleBoostingRegressorCV(n_terms=3, max_conditions=1, cv=halves).fit(X, y)
    assert model.stability(X, y, n_resamples=3).n_done == 3


def test_functions_that_make_conditions_get_the_drawn_rows(numbers):
    X, y = numbers
    seen = []

    def conditions(given):
        from laconic import Condition

        seen.append(len(given))
        return [Condition("age", ">", float(given["age"].median()))]

    model = regressor(conditions=conditions, n_terms=1, slopes=False, n_jobs=2).fit(X, y)
    found = model.stability(X, y, n_resamples=8)
    assert seen == [N_ROWS] * 9
    assert len({ensemble.text(ensemble[0]) for _, ensemble in found.models}) > 1


def test_groups_are_drawn_as_a_whole(numbers):
    X, y = numbers
    groups = np.repeat([*"abcde"] * 5, 6)
    model = regressor().fit(X, y)
    by_rows = model.stability(X, y, n_resamples=10)
    by_groups = model.stability(X, y, groups=groups, n_resamples=10)
    assert by_groups.has_groups
    assert "drawn by whole groups" in str(by_groups)
    assert by_groups.models != by_rows.models
    with pytest.raises(ValueError, match="'groups' must have one value per row of the table"):
        model.stability(X, y, groups=groups[1:])
    with pytest.raises(ValueError, match="'groups' must name two groups or more"):
        model.stability(X, y, groups=np.ones(N_ROWS))


def test_rows_without_weight_do_not_count(numbers):
    X, y = numbers
    weights = np.arange(N_ROWS) % 3
    kept = weights > 0
    model = regressor().fit(X, y, weights)
    found = model.stability(X, y, weights, n_resamples=6)
    shorter = regressor().fit(X[kept], y[kept], weights[kept])
    expected = shorter.stability(X[kept], y[kept], weights[kept], n_resamples=6)
    assert found.terms == expected.terms
    assert found.spread == pytest.approx(expected.spread)
    assert found.row_spread.shape == (N_ROWS,)


def test_columns_of_dates(numbers):
    X, y = numbers
    X = X.assign(since=[f"2024-03-{1 + n % 28:02d}" for n in range(N_ROWS)])
    y = y + 3.0 * (np.arange(N_ROWS) % 28 > 14)
    found = regressor(slopes=False).fit(X, y).stability(X, y, n_resamples=5)
    assert found.terms[0].n_returned == 5
    assert "since" in found.terms[0].text


def test_models_without_terms():
    X = np.arange(60.0).reshape(-1, 1)
    y = np.random.default_rng(0).normal(size=60)
    model = regressor(n_terms="auto").fit(X, y)
    assert len(model.ensemble_) == 0
    assert "The model has no terms." in str(model.stability(X, y, n_resamples=3))


# Going on.


def test_more_resamples_go_on_from_fewer(numbers):
    model = regressor().fit(*numbers)
    some = model.stability(*numbers, n_resamples=5)
    told = []
    more = model.stability(*numbers, n_resamples=9, resume=some, callback=told.append)
    assert [progress.n_done for progress in told] == [6, 7, 8, 9]
    assert more == model.stability(*numbers, n_resamples=9)
    assert pickle.loads(pickle.dumps(some)) == some
    assert model.stability(*numbers, n_resamples=3, resume=more).models == some.models[:3]


def test_a_stopped_answer_goes_on(numbers):
    model = regressor(n_jobs=2).fit(*numbers)
    some = model.stability(*numbers, n_resamples=9, callback=lambda told: told.n_done >= 4)
    assert 4 <= some.n_done < 9
    assert "(9 were asked for)" in str(some)
    expected = model.stability(*numbers, n_resamples=9)
    assert model.stability(*numbers, n_resamples=9, resume=some) == expected


def test_ctrl_c_keeps_what_there_is(numbers):
    model = regressor(on_interrupt="keep").fit(*numbers)

    def interrupt(progress):
        if progress.n_done == 3:
            raise KeyboardInterrupt

    found = model.stability(*numbers, n_resamples=9, callback=interrupt)
    assert found.n_done == 3
    assert model.trust_.stability is found


def test_answers_for_something_else_are_not_resumed(numbers):
    X, y = numbers
    model = regressor().fit(X, y)
    some = model.stability(X, y, n_resamples=2)
    others = [
        lambda: model.stability(X, y, n_resamples=3, resume=some, random_state=1),
        lambda: model.stability(X, -y, n_resamples=3, resume=some),
        lambda: model.stability(X, y, np.full(N_ROWS, 2.0), n_resamples=3, resume=some),
        lambda: (
            clone(model)
            .set_params(max_conditions=1)
            .fit(X, y)
            .stability(X, y, n_resamples=3, resume=some)
        ),
        # The terms use no bmi, but the models of resamples may.
        lambda: model.stability(X.assign(bmi=X["bmi"] + 1), y, n_resamples=3, resume=some),
        lambda: model.set_params(n_terms=1).stability(X, y, n_resamples=3, resume=some),
    ]
    for other in others:
        with pytest.raises(ValueError, match="'resume' must be an answer for the same rows"):
            other()
    with pytest.raises(TypeError, match="'resume' must be what 'stability' returned"):
        model.stability(X, y, resume="answer.json")
    saved = model_from_dict(model_to_dict(model))
    with pytest.raises(ValueError, match="model file, which does not keep them"):
        saved.stability(X, y, n_resamples=3, resume=saved.trust_.stability)


def test_progress_is_printed(numbers, capsys):
    model = regressor(verbose=True).fit(*numbers)
    capsys.readouterr()
    model.stability(*numbers, n_resamples=2)
    assert capsys.readouterr().out == "stability: 2 of 2 resamples\n"


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"n_resamples": 0}, "'n_resamples' must be a whole number of at least 1"),
        ({"n_resamples": 2.5}, "'n_resamples' must be a whole number of at least 1"),
        ({"random_state": -1}, "'random_state' must be a whole number of at least 0"),
        ({"random_state": None}, "'random_state' must be a whole number of at least 0"),
    ],
)
def test_parameters_are_checked(parameters, words, numbers):
    model = regressor().fit(*numbers)
    with pytest.raises(ValueError, match=words):
        model.stability(*numbers, **parameters)


def test_tables_that_are_read_in_parts_are_refused(numbers, tmp_path):
    X, y = numbers
    path = tmp_path / "table.parquet"
    X.assign(y=y).to_parquet(path)
    model = regressor().fit(X, y)
    with pytest.raises(TypeError, match="needs a table in memory"):
        model.stability(scan(path), "y")


# Files.


def test_model_files_keep_the_answer(numbers, tmp_path):
    X, y = numbers[0], classes(numbers[1], "a", "b", "c")
    model = classifier().fit(X, y)
    found = model.stability(X, y, n_resamples=4)
    save_model(model, tmp_path / "model.json")
    loaded = load_model(tmp_path / "model.json")
    assert loaded.trust_.stability == found
    assert str(loaded.trust_.stability) == str(found)
    assert loaded.trust_.stability.row_spread is None
    save_model(loaded, tmp_path / "again.json")
    first, second = (tmp_path / name for name in ("model.json", "again.json"))
    assert first.read_bytes() == second.read_bytes()
    assert loaded.stability(X, y, n_resamples=4) == found


def test_answers_about_other_terms_are_not_saved(numbers):
    model = regressor().fit(*numbers)
    model.stability(*numbers, n_resamples=2)
    assert "trust" in model_to_dict(model)
    model.ensemble_ = model.ensemble_[:1]
    model.search_results_ = model.search_results_[:1]
    assert "trust" not in model_to_dict(model)


DAMAGES = [
    (
        lambda found: found.update(n_done=1),
        "trust.stability must be valid. terms.* at most n_done, 1",
    ),
    (lambda found: found.update(n_done=3), "n_done must be from 1 to n_resamples"),
    (lambda found: found["sizes"].pop(), "trust.stability must be valid. sizes must have 2"),
    (lambda found: found.update(sizes=[1, -1]), r"trust.stability.sizes\[1\] must be a whole"),
    (lambda found: found.update(spread=[0.5]), "trust.stability must be valid. spread must be 5"),
    (lambda found: found.pop("terms"), "trust.stability must have the key 'terms'"),
    (
        lambda found: found["terms"][0].update(n_returned=9),
        r"trust.stability must be valid. terms\[0\].n_returned must be at most n_done, 2. Got 9",
    ),
    (
        lambda found: found["terms"][0].update(kind="bend"),
        r"trust.stability.terms\[0\].kind must be 'rule' or 'slope'",
    ),
    (
        lambda found: found["features"][0].update(n_selected="2"),
        r"trust.stability.features\[0\].n_selected must be a whole number",
    ),
    (lambda found: found.update(other_class=1.5), r"other_class must be in the range \[0, 1\]"),
    (
        lambda found: found["terms"].pop(),
        "trust.stability.terms must be one for each of the 2",
    ),
]


@pytest.mark.parametrize(("damage", "words"), DAMAGES)
def test_damaged_answers_are_refused(damage, words, numbers):
    model = regressor().fit(*numbers)
    model.stability(*numbers, n_resamples=2)
    data = json.loads(json.dumps(model_to_dict(model)))
    damage(data["trust"]["stability"])
    with pytest.raises(ValueError, match=words):
        model_from_dict(data)


def test_the_answer_is_about_the_model(numbers):
    found = regressor().fit(*numbers).stability(*numbers, n_resamples=2)
    assert isinstance(found, Stability)
    assert [term.text for term in found.terms] == [
        regressor().fit(*numbers).ensemble_.text(term)
        for term in regressor().fit(*numbers).ensemble_
    ]
