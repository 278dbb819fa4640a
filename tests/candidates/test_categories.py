"""Conditions about categories: values, sets, groups of rare ones, thresholds of ordered ones."""

import json
from itertools import chain, combinations, product

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import laconic
from laconic import Condition, Query, RuleBoostingClassifier, RuleBoostingRegressor, RuleEnsemble
from laconic.candidates.candidates import candidate_conditions
from laconic.export.json.files import model_to_dict, read_dict
from laconic.search import SearchProblem, search

N_PROBLEMS = 1000


def texts(X, **options):
    return [*map(str, candidate_conditions(X, **options).conditions)]


def frame(values):
    return pl.DataFrame({"x": values})


class TestSets:
    def test_few_categories_give_all_sets(self):
        assert texts(frame(["a", "b", "c", "d"]), categories="sets") == [
            *("x == a", "x == b", "x == c", "x == d", "x != a", "x != b", "x != c", "x != d"),
            *("x in {a, b}", "x in {a, c}", "x in {a, d}"),
            *("x in {b, c}", "x in {b, d}", "x in {c, d}"),
        ]

    def test_negations_only_where_they_are_shorter(self):
        five = texts(frame(list("abcde")), categories="sets")
        assert len(five) == 2**5 - 2
        assert "x not in {a, b}" in five
        assert "x in {c, d, e}" not in five
        without = texts(frame(list("abcde")), categories="equal")
        assert without == [f"x == {value}" for value in "abcde"]

    def test_two_categories_need_none(self):
        assert texts(frame(["a", "b"]), categories="sets") == ["x == a", "x == b"]
        assert texts(frame(["a", None]), categories="sets") == [
            *("x == a", "x is missing", "x is present"),
        ]

    def test_many_categories_give_ends_of_the_order_of_their_targets(self):
        target = [5.0, 1.0, 4.0, 2.0, 3.0, 6.0]
        found = texts(frame(list("abcdef")), categories="sets", orders=[(target, None)])
        assert found[12:] == [
            *("x in {b, d}", "x not in {b, d}"),
            *("x in {b, d, e}", "x in {a, c, f}"),
            *("x not in {a, f}", "x in {a, f}"),
        ]

    def test_missing_values_are_in_no_set(self):
        X = frame(["a", "b", None])
        assert Condition("x", "in", ("a", "b")).covered(X).tolist() == [True, True, False]
        assert Condition("x", "not in", ("a", "c")).covered(X).tolist() == [False, True, False]

    def test_the_best_set_of_a_single_condition_is_among_them(self):
        generator = np.random.default_rng(0)
        for _ in range(50):
            codes, gradients = generator.integers(0, 8, 60), generator.normal(size=60)
            X = frame([f"c{code}" for code in codes])
            candidates = candidate_conditions(X, categories="sets", orders=[(gradients, None)])
            problem = SearchProblem(
                candidates.extents, gradients, np.ones(60), l2_regularization=1.0
            )
            found = search(problem, max_conditions=1).objective_value
            sums, sizes = np.bincount(codes, gradients, 8), np.bincount(codes, minlength=8)
            subsets = np.array([*product([0, 1], repeat=8)])[1:]
            best = np.max((subsets @ sums) ** 2 / (subsets @ sizes + 1.0))
            assert found * 2 * 60 == pytest.approx(best)


class CubicLoss:
    """A loss of one's own, whose hessians are 0 where a prediction is exact."""

    def value(self, y, raw_predictions):
        return np.abs(y - raw_predictions) ** 3 / 3

    def gradients(self, y, raw_predictions):
        return (raw_predictions - y) * np.abs(y - raw_predictions)

    def hessians(self, y, raw_predictions):
        return 2 * np.abs(y - raw_predictions)

    def inverse_link(self, raw_predictions):
        return raw_predictions


class BentLoss(CubicLoss):
    """One that is a line far below the target, where hessians are 0 and gradients are not."""

    def gradients(self, y, raw_predictions):
        return np.maximum(raw_predictions - y, -1.0)

    def hessians(self, y, raw_predictions):
        return (raw_predictions - y > -1.0).astype(float)

    def value(self, y, raw_predictions):
        error = raw_predictions - y
        return np.where(error > -1.0, error**2 / 2, -error - 0.5)


def best_of_all_sets(codes, gradients, hessians, penalty, weights, *, has_intercept):
    """Largest objective of all unions of categories, of missing values (-1), and of all rows."""
    n_groups = codes.max() + 1
    sums, sizes = (
        np.bincount(codes + 1, values * weights, n_groups + 1) for values in (gradients, hessians)
    )
    subsets = np.array([(0.0, *subset) for subset in product([0.0, 1.0], repeat=n_groups)])
    subsets = np.vstack([subsets, np.eye(1, n_groups + 1), np.ones(n_groups + 1)])
    covered, curvature = subsets @ sums, subsets @ sizes
    if has_intercept:
        curvature = curvature - curvature**2 / sizes.sum()
    return np.max(covered**2 / (curvature + penalty)) / (2 * weights.sum())


def drawn_target(loss, mean, generator):
    """Draw targets that have some means, from 0 to 3, a few of them far off."""
    if loss in ("logistic", 3, 4):
        n_classes = 2 if loss == "logistic" else loss
        return generator.integers(0, n_classes, len(mean)) * (generator.random(len(mean)) < mean)
    if loss == "poisson":
        return generator.poisson(mean).astype(float)
    if loss == "gamma":
        return generator.gamma(2.0, mean / 2 + 0.1)
    if loss == "tweedie":
        return generator.gamma(1.0, mean + 0.1) * (generator.random(len(mean)) < 0.6)
    outliers = 50.0 * generator.standard_t(1.5, len(mean)) * (generator.random(len(mean)) < 0.2)
    return mean + generator.normal(size=len(mean)) + outliers


LOSSES = ("squared", "logistic", "poisson", "gamma", "tweedie", "huber", 3, 4)


@pytest.mark.parametrize("loss", [*LOSSES, CubicLoss(), BentLoss()])
def test_a_first_rule_of_one_condition_is_the_best_of_all_sets(loss):
    """Fails where sets follow the mean number of a class, or the mean target of a Huber loss."""
    generator = np.random.default_rng(0)
    n_rows, n_checked = 80, 0
    is_classifier = loss in ("logistic", 3, 4)
    for number in range(24):
        n_groups = int(generator.integers(6, 10))
        codes = generator.integers(-1 if number % 3 == 0 else 0, n_groups, n_rows)
        codes[:n_groups] = np.arange(n_groups)
        y = drawn_target(loss, generator.uniform(0, 3, n_groups + 1)[codes], generator)
        weights = generator.integers(0, 4, n_rows) + 0.5 if number % 2 else np.ones(n_rows)
        options = {
            "n_terms": 1,
            "max_conditions": 1,
            "categories": "sets",
            "strategy": ("joint", "stagewise")[number // 2 % 2],
            "fit_intercept": number % 5 > 0,
            "l2_regularization": float(generator.choice([0.3, 3.0, 30.0])),
            "brevity": 0.0,
        }
        if not is_classifier:
            options["loss"] = loss
        estimator = RuleBoostingClassifier if is_classifier else RuleBoostingRegressor
        X = frame([None if code < 0 else f"c{code}" for code in codes])
        model = estimator(**options).fit(X, y, sample_weight=weights)
        if len(model.ensemble_) == 0:
            continue
        n_checked += 1
        target, start = model.task_.for_loss(model.task_.numbers(y, n_rows)), model.stages_[0]
        raw = start.start(n_rows)
        best = max(
            best_of_all_sets(
                codes,
                gradients,
                hessians,
                options["l2_regularization"],
                weights,
                has_intercept=options["fit_intercept"] and options["strategy"] == "joint",
            )
            for gradients, hessians in zip(
                model.loss_.gradients(target, raw).reshape(n_rows, -1).T,
                model.loss_.hessians(target, raw).reshape(n_rows, -1).T,
                strict=True,
            )
        )
        assert model.search_results_[0].objective_value == pytest.approx(best, rel=1e-9)
    assert n_checked > 20


def test_sets_of_several_orders_come_once():
    X, target = frame(list("abcdef")), np.array([5.0, 1.0, 4.0, 2.0, 3.0, 6.0])
    one = texts(X, categories="sets", orders=[(target, None)])
    assert one == texts(X, categories="sets", orders=[(target, None), (-target, np.full(6, 2.0))])
    two = texts(X, categories="sets", orders=[(target, None), (target % 4, None)])
    assert two[: len(one)] == one
    assert len({*two}) == len(two) > len(one)


class TestRareCategories:
    def test_the_commonest_are_told_apart(self):
        X = frame(["a"] * 3 + ["b"] * 2 + ["c", "d"])
        assert texts(X, max_categories=2) == [
            *("x == a", "x == b", "x not in {a, b}", "x != a", "x != b", "x in {a, b}"),
        ]
        # Weights count.
        weights = [1, 1, 1, 1, 1, 9, 8]
        assert texts(X, max_categories=2, sample_weight=weights)[:2] == ["x == c", "x == d"]

    def test_sets_hold_the_group_of_the_others(self):
        X = frame(["a"] * 3 + ["b"] * 2 + ["c", "d"])
        assert texts(X, max_categories=2, categories="sets") == texts(X, max_categories=2)

    def test_names_of_rows_no_longer_make_conditions_without_end(self):
        X = frame([f"name {number}" for number in range(2000)])
        assert len(texts(X)) == 62
        assert len(texts(X, max_categories=None)) == 4000

    def test_unseen_categories_belong_to_the_others(self):
        generator = np.random.default_rng(0)
        cities = generator.choice(["Bern", "Rome", *(f"c{n}" for n in range(40))], 400)
        y = np.where(np.isin(cities, ["Bern", "Rome"]), 0.0, 5.0)
        parameters = {"n_terms": 1, "max_categories": 2, "l2_regularization": 0}
        common = ["Bern"] * 50 + ["Rome"] * 50
        X = pl.DataFrame({"city": [*cities, *common]})
        model = RuleBoostingRegressor(**parameters).fit(X, [*y, *([0.0] * 100)])
        new = pl.DataFrame({"city": ["Bern", "Oslo", None]})
        assert model.predict(new).tolist() == [0.0, 5.0, 0.0]
        assert str(model.ensemble_[0].query) == "city not in {Bern, Rome}"


class TestOrder:
    SIZES = ("S", "M", "L", "XL")

    def frames(self):
        cells = ["L", "S", "XL", "M", None, "S"]
        dtype = pd.CategoricalDtype(self.SIZES, ordered=True)
        codes = [None if cell is None else self.SIZES.index(cell) for cell in cells]
        dictionary = pa.DictionaryArray.from_arrays(
            pa.array(codes, pa.int8()), list(self.SIZES), ordered=True
        )
        return (
            (pd.DataFrame({"size": pd.Categorical(cells, dtype=dtype)}), {}),
            (pa.table({"size": dictionary}), {}),
            (
                pl.DataFrame({"size": cells}, schema={"size": pl.Enum(self.SIZES)}),
                {"categorical_features": {"size": "ordered"}},
            ),
        )

    def test_ordered_categories_give_thresholds(self):
        for X, options in self.frames():
            candidates = candidate_conditions(X, **options)
            assert candidates.feature_kinds == {"size": self.SIZES}
            assert [*map(str, candidates.conditions)] == [
                *("size == S", "size in {L, M, XL}", "size in {M, S}", "size in {L, XL}"),
                *("size in {L, M, S}", "size == XL", "size is missing", "size is present"),
            ]

    def test_they_are_written_as_thresholds(self):
        for X, options in self.frames():
            y = [1.0, 0.0, 1.0, 0.0, 0.0, 0.0]
            model = RuleBoostingRegressor(n_terms=1, l2_regularization=0, **options).fit(X, y)
            assert "size > M" in str(model)
            assert model.predict(X) == pytest.approx(y)

    def test_an_enum_has_no_order_unless_it_is_asked_for(self):
        X, _ = self.frames()[2]
        assert texts(X)[:4] == ["size == L", "size == M", "size == S", "size == XL"]

    def test_ordered_categories_may_be_nominal(self):
        X, _ = self.frames()[0]
        found = texts(X, categorical_features={"size": "nominal"})
        assert found[:4] == ["size == L", "size == M", "size == S", "size == XL"]

    def test_two_thresholds_are_an_interval(self):
        kinds = {"size": self.SIZES}
        query = Query(
            (
                Condition("size", "in", ("M", "L", "XL")),
                Condition("size", "in", ("S", "M", "L")),
            )
        )

        assert RuleEnsemble(feature_kinds=kinds).text(query) == "S < size <= L"


class TestWhichColumns:
    X = pd.DataFrame({"zip": [8001, 8005, 8001, 8050], "age": [1.0, 2.0, 3.0, np.nan]})

    @pytest.mark.parametrize(
        "given",
        [["zip"], [0], [True, False], np.array([True, False]), {"zip": "nominal"}, {0: "nominal"}],
    )
    def test_numbers_can_be_categories(self, given):
        model = RuleBoostingRegressor(n_terms=1, categorical_features=given, l2_regularization=0)
        model.fit(self.X, [1.0, 0.0, 1.0, 0.0])
        assert "zip == 8001" in str(model)
        assert model.settings_.categorical_features == {"zip": "nominal"}
        # Also where another table has them as categories.
        assert model.predict(self.X.astype({"zip": "category"})) == pytest.approx([1, 0, 1, 0])

    def test_by_default_types_decide(self):
        for given in ("from_dtype", None):
            model = RuleBoostingRegressor(categorical_features=given).fit(self.X, [1, 0, 1, 0])
            assert model.settings_.categorical_features == {}

    @pytest.mark.parametrize("given", [["zap"], [7], [True], {"zap": "ordered"}])
    def test_columns_must_exist(self, given):
        model = RuleBoostingRegressor(categorical_features=given)
        with pytest.raises(ValueError, match="must be names or positions of columns of X"):
            model.fit(self.X, [1, 0, 1, 0])


def all_sets(values):
    """Masks of all non-empty sets of the values of a column but the set of all."""
    distinct = np.unique(values)
    subsets = chain.from_iterable(combinations(distinct, size) for size in range(1, len(distinct)))
    return [np.isin(values, subset) for subset in subsets]


def brute_force(columns, gradients, hessians, penalty, max_conditions):
    """Largest objective of all conjunctions of sets, at most one for each feature."""
    n_rows = len(gradients)
    covered, lengths = np.ones((1, n_rows)), np.zeros(1)
    for column in columns:
        masks = np.array([np.ones(n_rows), *all_sets(column)], dtype=float)
        covered = (covered[:, None, :] * masks).reshape(-1, n_rows)
        lengths = np.add.outer(lengths, np.arange(len(masks)) > 0).ravel()
    covered = covered[(lengths <= max_conditions) & covered.any(axis=1)]
    objectives = (covered @ gradients) ** 2 / (covered @ hessians + penalty) / (2 * n_rows)
    return objectives.max()


@pytest.mark.parametrize("part", range(10))
def test_search_over_sets_is_that_of_all_conjunctions(part):
    generator = np.random.default_rng(part)
    for _ in range(N_PROBLEMS // 10):
        n_rows = int(generator.integers(6, 25))
        sizes = generator.integers(2, 5, size=int(generator.integers(1, 4)))
        columns = [generator.integers(0, size, n_rows) for size in sizes]
        gradients = np.round(generator.normal(size=n_rows), 2)
        hessians = np.round(generator.uniform(0.1, 1.0, n_rows), 2)
        penalty = float(generator.choice([0.0, 0.5, 5.0]))
        limit = int(generator.integers(1, 4))
        X = pl.DataFrame({f"x{n}": [f"c{code}" for code in c] for n, c in enumerate(columns)})
        candidates = candidate_conditions(X, categories="sets")
        problem = SearchProblem(candidates.extents, gradients, hessians, l2_regularization=penalty)
        result = search(problem, max_conditions=limit)
        expected = brute_force(columns, gradients, hessians, penalty, limit)
        assert result.objective_value == pytest.approx(expected, abs=1e-12)
        assert result.bound == pytest.approx(expected, abs=1e-12)


def test_sets_replace_piles_of_negations():
    generator = np.random.default_rng(0)
    region = generator.choice(["N", "NE", "E", "S", "W"], 400)
    y = np.where(np.isin(region, ["N", "NE"]), 2.0, 0.0) + generator.normal(scale=0.1, size=400)
    X = pl.DataFrame({"region": region})
    model = RuleBoostingRegressor(n_terms=1, categories="sets").fit(X, y)
    assert len(model.ensemble_[0].query) == 1
    assert "region not in {N, NE}" in str(model) or "region in {N, NE}" in str(model)
    values = RuleBoostingRegressor(n_terms=1).fit(X, y)
    assert [len(result.query) for result in values.search_results_] == [2]
    assert [len(rule.query) for rule in values.ensemble_] == [1]
    assert "region not in {N, NE}" in str(values)


def test_classes_give_the_order_of_their_shares():
    generator = np.random.default_rng(1)
    city = generator.choice([f"c{n}" for n in range(9)], 900)
    share = np.isin(city, ["c1", "c4", "c7"])
    y = np.where(generator.random(900) < np.where(share, 0.9, 0.1), "yes", "no")
    model = RuleBoostingClassifier(n_terms=1, categories="sets").fit(
        pl.DataFrame({"city": city}), y
    )
    assert "{c1, c4, c7}" in str(model)
    assert len(model.ensemble_[0].query) == 1


class TestOthers:
    """The group of all categories that are not kept prints as "other"."""

    KEPT = ("Athens", "Cairo", "Paris", "Rome")

    @pytest.mark.parametrize(
        ("condition", "text"),
        [
            (Condition("city", "not in", KEPT), "city == other"),
            (Condition("city", "not in", KEPT[:3]), "city in {Rome, other}"),
            # What is shorter stays, and so does what says nothing about all others.
            (Condition("city", "not in", KEPT[:2]), "city not in {Athens, Cairo}"),
            (Condition("city", "!=", "Rome"), "city != Rome"),
            (Condition("city", "in", KEPT[:3]), "city in {Athens, Cairo, Paris}"),
            (
                Condition("city", "not in", (*KEPT[:3], "Oslo")),
                "city not in {Athens, Cairo, Oslo, Paris}",
            ),
            (Condition("city", "is missing"), "city is missing"),
        ],
    )
    def test_text(self, condition, text):
        ensemble = RuleEnsemble(feature_kinds={"city": frozenset(self.KEPT)})
        assert ensemble.text(Query((condition,))) == text
        # Where there is no ambiguity, the exact text says the same.
        assert str(condition).startswith("city ")
        assert "other" not in str(condition)

    @pytest.mark.parametrize("n_others", [0, 1, 50])
    def test_a_category_of_that_name(self, n_others):
        cities = [*self.KEPT * 8, *(f"village {n}" for n in range(20)), *["Other"] * n_others]
        X = pd.DataFrame({"city": cities * 5})
        y = X.city.str.startswith("village").astype(float)
        model = RuleBoostingRegressor(1, max_categories=4, slopes=False).fit(X, y)
        # Whether it is kept or rare, nothing else has its name.
        assert ("other" in str(model).lower()) == (n_others != 1)
        assert bool(model.ensemble_.feature_kinds) == (n_others == 0)

    def test_the_word_is_no_category(self):
        X = pd.DataFrame({"city": [*self.KEPT * 8, *(f"village {n}" for n in range(20))] * 5})
        y = X.city.str.startswith("village").astype(float)
        model = RuleBoostingRegressor(1, max_categories=4, weight_signs="positive").fit(X, y)
        assert "city == other" in str(model)
        given = model.get_params() | {"initial_terms": ["city == other"]}
        with pytest.raises(ValueError, match=r"'other' stands for all categories of 'city'"):
            RuleBoostingRegressor(**given).fit(X, y)
        given["initial_terms"] = [str(model.ensemble_[0].query)]
        again = RuleBoostingRegressor(**given).fit(X, y)
        np.testing.assert_array_equal(again.predict(X), model.predict(X))

    @pytest.mark.parametrize("categories", ["values", "equal", "sets"])
    def test_models_know_it(self, categories, tmp_path):
        rng = np.random.default_rng(0)
        cities = np.array([*self.KEPT * 8, *(f"village {n}" for n in range(20))])
        X = pd.DataFrame({"city": rng.choice(cities, 500)})
        y = X.city.str.startswith("village") + 0.01 * rng.normal(size=500)
        settings = {"categories": categories, "max_categories": 4, "slopes": False}
        settings |= {"weight_signs": "positive"}
        model = RuleBoostingRegressor(1, **settings).fit(X, y)
        assert model.ensemble_.feature_kinds == {"city": frozenset(self.KEPT)}
        assert " if city == other" in str(model)
        loaded = read_dict(json.loads(json.dumps(model_to_dict(model))))
        assert loaded.ensemble.feature_kinds == model.ensemble_.feature_kinds
        if categories == "sets":
            return  # need all rows at once
        in_parts = RuleBoostingRegressor(1, **settings)
        source = pd.DataFrame({"city": X.city, "y": y})
        source.to_parquet(tmp_path / "table.parquet")
        in_parts.fit(laconic.scan(tmp_path / "table.parquet"), "y")
        assert in_parts.ensemble_.feature_kinds == model.ensemble_.feature_kinds

    def test_explanations_have_the_value(self):
        X = pd.DataFrame({"city": [*"aaabbb", *"xyz"] * 10})
        y = X.city.isin([*"xyz"]).astype(float)
        model = RuleBoostingRegressor(1, max_categories=2, weight_signs="positive").fit(X, y)
        assert "because city == other (q)" in str(model.explain(pd.DataFrame({"city": ["q"]}))[0])
