"""Displays: what they compute, and that what they draw can be read."""

import sys
from itertools import combinations

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import NotFittedError
from sklearn.metrics import log_loss
from sloped import TERMS, sloped_classifier, sloped_regressor

from estimators import STAGEWISE
from laconic import (
    Condition,
    Query,
    Rule,
    RuleBoostingClassifier,
    RuleBoostingRegressor,
    RuleBoostingRegressorCV,
    RuleEnsemble,
)
from laconic.datasets import noisy_parity
from laconic.plot import (
    ContributionDisplay,
    CrossValidationDisplay,
    RuleBoxDisplay,
    RuleOverlapDisplay,
    RuleWeightDisplay,
    SizeScoreDisplay,
)
from laconic.plot._boxes import DENSITY_HEIGHT
from laconic.tables import tables
from laconic.terms.rules import Output
from laconic.terms.slopes import Slope

mpl.use("Agg")

LONG = "a rather long name of a column, as questionnaires have them, in US$"


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def clients(n_rows=120, seed=0):
    generator = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            LONG: generator.normal(50, 10, size=n_rows).round(1),
            "age": pd.array(generator.integers(18, 90, size=n_rows), dtype="Int64"),
            "plan": pd.Categorical(generator.choice(["basic", "plus", "pro"], size=n_rows)),
        }
    )
    X.loc[::11, "age"] = pd.NA
    X.loc[::13, "plan"] = None
    is_rich = (X[LONG] > 48).to_numpy() & (X["plan"] != "basic").to_numpy()
    return X, np.where(is_rich | (X["age"] > 70).fillna(False).to_numpy(bool), "yes", "no")


@pytest.fixture
def classifier():
    X, y = clients()
    return RuleBoostingClassifier(5, fit_intercept=True).fit(X, y)


@pytest.fixture
def regressor():
    X, y = clients()
    return RuleBoostingRegressor(5).fit(X, np.where(y == "yes", 10.0, 1.0))


def texts_inside(display):
    """All texts, once it is known that none of them leaves the picture."""
    figure = display.figure_
    figure.canvas.draw()
    renderer = figure.canvas.get_renderer()
    shown = [
        text for text in figure.findobj(mpl.text.Text) if text.get_text() and text.get_visible()
    ]
    width, height = figure.canvas.get_width_height()
    for text in shown:
        box = text.get_window_extent(renderer)
        is_inside = box.x0 > -2 and box.y0 > -2 and box.x1 < width + 2 and box.y1 < height + 2
        # Ticks beyond the limits of an axis exist, but are not drawn.
        is_tick = text.get_text().lstrip("−").replace(".", "").isdigit()
        assert is_inside or is_tick, text
    return [text.get_text() for text in shown]


class TestSizeScore:
    def test_training_rows_and_the_chosen_size(self):
        X, y = [[1], [2], [3], [4]] * 5, [5, 6, 1, 2] * 5
        model = RuleBoostingRegressorCV(n_terms=4).fit(X, y)
        display = SizeScoreDisplay.from_estimator(model, X, y, X_train=X[:8], y_train=y[:8])
        assert len(display.train_line_.get_xdata()) == len(display.scores)
        assert display.n_terms == model.n_terms_
        legend = [text.get_text() for text in display.ax_.get_legend().get_texts()]
        assert legend == ["other rows", "training rows", f"chosen: {model.n_terms_}"]
        with pytest.raises(ValueError, match="Got no y_train"):
            SizeScoreDisplay.from_estimator(model, X, y, X_train=X)

    def test_scores_are_those_of_the_first_rules(self, classifier):
        X, y = clients(seed=1)
        display = SizeScoreDisplay.from_estimator(classifier, X, y)
        staged = [float(np.mean(labels == y)) for labels in classifier.staged_predict(X)]
        assert_allclose(display.scores[1:], staged)
        assert_array_equal(display.line_.get_xdata(), np.arange(6))
        assert display.ax_.get_ylabel() == "accuracy"
        assert "number of terms" in texts_inside(display)

    def test_any_scoring(self, classifier):
        X, y = clients(seed=1)
        display = SizeScoreDisplay.from_estimator(classifier, X, y, scoring="neg_log_loss")
        assert display.scores[-1] == pytest.approx(-log_loss(y, classifier.predict_proba(X)))
        assert display.ax_.get_ylabel() == "neg log loss"
        display = SizeScoreDisplay.from_estimator(classifier, X, y, scoring=lambda *_: 1.0)
        assert display.ax_.get_ylabel() == "score"

    def test_curves_share_axes(self, regressor):
        X, y = clients()
        y = np.where(y == "yes", 10.0, 1.0)
        first = SizeScoreDisplay.from_estimator(regressor, X, y, name="training", color="black")
        second = SizeScoreDisplay.from_estimator(regressor, X, y, name="test", ax=first.ax_)
        assert second.figure_ is first.figure_
        legend = [text.get_text() for text in first.ax_.get_legend().get_texts()]
        assert legend == ["training", "test"]
        assert first.line_.get_color() == "black"
        assert first.ax_.get_ylabel() == "R²"
        assert len(regressor.ensemble_) == 5


class TestRuleWeights:
    def test_bars_are_effects_and_shares_coverage(self, classifier):
        display = RuleWeightDisplay.from_estimator(classifier)
        effects = [classifier.ensemble_.intercept, *(term.effect for term in classifier.ensemble_)]
        assert_allclose([bar.get_width() for bar in display.bars_], effects)
        texts = texts_inside(display)
        assert f"{classifier.rule_coverages_[0].share:.0%}" in texts
        assert any(text.startswith("adds to the log odds of yes") for text in texts)

    def test_coverage_of_other_rows(self, regressor):
        X, _ = clients(seed=2)
        display = RuleWeightDisplay.from_estimator(regressor, X)
        assert_allclose(display.shares, regressor.ensemble_.covered(X).mean(axis=0))

    def test_model_without_coverage(self, regressor):
        regressor.ensemble_ = regressor.ensemble_[:2]
        assert RuleWeightDisplay.from_estimator(regressor).shares is None
        del regressor.rule_coverages_
        assert RuleWeightDisplay.from_estimator(regressor).shares is None

    def test_long_rules_are_wrapped_and_dollars_are_text(self):
        query = Query((Condition(LONG, ">", 1), Condition(LONG, "<=", 20), Condition("b", ">", 0)))
        display = RuleWeightDisplay(RuleEnsemble((Rule(query, 1.0),))).plot()
        [label] = [text for text in texts_inside(display) if "rather" in text]
        assert max(map(len, label.split("\n"))) <= 40
        assert label.replace("\n", " ").replace(r"\$", "$") == f"1: {query}"

    def test_intercepts_of_several_classes(self):
        rules = (Rule(Query((Condition("b", ">", 0),)), 1.0, 1), Rule(Query(), -2.0, 0))
        outputs = (Output("low", 0.5), Output("high", -0.5))
        display = RuleWeightDisplay(RuleEnsemble(rules, outputs=outputs)).plot()
        assert [bar.get_width() for bar in display.bars_] == [0.5, -0.5, 1.0, -2.0]
        labels = [label.get_text() for label in display.ax_.get_yticklabels()]
        assert labels[:2] == ["for low (intercept)", "for high (intercept)"]
        assert labels[2:] == ["1: for high if b > 0", "2: for low always"]


class TestContributions:
    def test_bars_lead_to_the_sum(self, classifier):
        X, _ = clients(seed=1)
        display = ContributionDisplay.from_estimator(classifier, X, row=3)
        *steps, total = display.bars_
        ends = [bar.get_x() + bar.get_width() for bar in steps]
        assert ends[-1] == pytest.approx(classifier.decision_function(X)[3])
        assert_allclose([bar.get_x() for bar in steps], [0.0, *ends[:-1]])
        assert total.get_width() == pytest.approx(ends[-1])
        assert f"Row 3: {classifier.predict(X)[3]} with probability" in " ".join(
            texts_inside(display)
        )

    def test_row_without_rules(self):
        model = RuleBoostingRegressor(1, **STAGEWISE | {"brevity": 0}).fit([[1], [2]], [0, 1])
        display = ContributionDisplay.from_estimator(model, [[1.0]])
        [total] = display.bars_
        assert total.get_width() == 0

    def test_unknown_row(self, classifier):
        with pytest.raises(IndexError):
            ContributionDisplay.from_estimator(classifier, clients()[0], row=1000)


class TestOverlap:
    def test_shares(self, classifier):
        X, _ = clients(seed=1)
        display = RuleOverlapDisplay.from_estimator(classifier, X)
        covered = classifier.ensemble_.covered(X)
        for i, j in np.ndindex(5, 5):
            expected = covered[covered[:, i], j].mean() if covered[:, i].any() else np.nan
            assert_allclose(display.overlaps[i, j], expected)
        assert "100%" in texts_inside(display)

    def test_rules_that_cover_nothing(self):
        model = RuleBoostingRegressor(1, **STAGEWISE | {"brevity": 0}).fit([[1], [2]], [0, 1])
        display = RuleOverlapDisplay.from_estimator(model, [[1.0]])
        assert np.isnan(display.overlaps).all()
        assert "–" in texts_inside(display)


def mean_prediction(model, X, **values):
    """Mean raw prediction if all rows had the given values."""
    return model.ensemble_.raw_predictions(X.assign(**values)).mean()


class TestRuleBoxes:
    @pytest.mark.parametrize("features", [("age", LONG), ("plan", "age"), (LONG, "plan")])
    def test_colours_are_mean_predictions(self, classifier, features):
        X, y = clients()
        display = RuleBoxDisplay.from_estimator(classifier, X, y, features=features)
        for position in np.ndindex(display.predictions.shape):
            values = {}
            for cell, index in zip(display.steps, position, strict=True):
                middle = (cell.edges[index] + cell.edges[index + 1]) / 2
                values[cell.name] = cell.categories[index] if cell.categories else middle
            plain = X.astype({"age": float, "plan": object})
            expected = mean_prediction(classifier, plain, **values)
            assert display.predictions[position] == pytest.approx(expected)
        assert "log odds of yes" in texts_inside(display)

    def test_one_feature(self, regressor):
        X, y = clients()
        display = RuleBoxDisplay.from_estimator(
            regressor, X, np.where(y == "yes", 10, 1), features=LONG
        )
        [cell] = display.steps
        middles = (cell.edges[:-1] + cell.edges[1:]) / 2
        expected = [mean_prediction(regressor, X, **{LONG: middle}) for middle in middles]
        assert_allclose(display.predictions, np.column_stack([expected, expected]))
        assert "prediction" in texts_inside(display)

    def test_boxes_of_noisy_parity(self):
        """The four rules are the four quadrants, each with the colour of its class."""
        dataset = noisy_parity(400, 2, random_state=0)
        model = RuleBoostingClassifier(4, max_thresholds=9).fit(dataset.data, dataset.target)
        display = RuleBoxDisplay.from_estimator(
            model, dataset.data, dataset.target, features=["x0", "x1"]
        )
        boxes = [patch for patch in display.ax_.patches if isinstance(patch, mpl.patches.Rectangle)]
        assert len(boxes) == 4
        assert {box.get_linestyle() for box in boxes} == {"-"}
        for box, rule in zip(boxes, model.ensemble_, strict=True):
            centre = [[box.get_x() + box.get_width() / 2, box.get_y() + box.get_height() / 2]]
            assert rule.query.covered(centre).all()
        legend = [text.get_text() for text in display.ax_.get_legend().get_texts()]
        assert legend == ["class -1", "class 1"]

    def test_no_label_is_written_over_another(self):
        queries = [
            Query((Condition("x0", ">", 0.1 * k), Condition("x1", ">", 0))) for k in (1, 2, 3)
        ]
        model = RuleBoostingRegressor(1).fit(np.eye(2), [0, 1])
        model.ensemble_ = RuleEnsemble(
            tuple(Rule(q, 12_345.0) for q in queries * 3), 0.0, ("x0", "x1")
        )
        display = RuleBoxDisplay.from_estimator(model, np.eye(2), features=["x0", "x1"])
        display.figure_.draw_without_rendering()
        boxes = [label.get_window_extent() for label in display.labels_]
        assert len(boxes) == 9
        assert not any(a.overlaps(b) for a, b in combinations(boxes, 2))

    @pytest.mark.parametrize("values", [[0.0, 1.0, 1.0, 9.0], ["a", "b", "b", "c"]])
    def test_one_feature_comes_with_the_density_of_the_rows(self, values):
        X = pd.DataFrame({"x": values})
        model = RuleBoostingRegressor(1).fit(X, [0, 1, 1, 2])
        display = RuleBoxDisplay.from_estimator(model, X, features="x")
        heights = display.density_.get_data().values
        assert heights.max() == pytest.approx(DENSITY_HEIGHT)
        assert sorted(heights[heights > 0] / DENSITY_HEIGHT) == [0.5, 0.5, 1]

    def test_the_legend_hides_no_row(self):
        X, y = [[1], [2], [3]], ["a", "b", "b"]
        model = RuleBoostingClassifier(1).fit(X, y)
        display = RuleBoxDisplay.from_estimator(model, X, y, features="x0")
        display.figure_.draw_without_rendering()
        legend = display.ax_.get_legend().get_window_extent()
        assert legend.y0 >= display.ax_.get_window_extent().y1

    def test_dashes_tell_of_conditions_on_other_features(self):
        query = Query((Condition("x0", ">", 0), Condition("x2", ">", 0)))
        model = RuleBoostingRegressor(1).fit(np.eye(3), [0, 1, 2])
        model.ensemble_ = RuleEnsemble((Rule(query, 1.0),), 0.0, ("x0", "x1", "x2"))
        display = RuleBoxDisplay.from_estimator(model, np.eye(3), features=["x0", "x1"])
        assert [patch.get_linestyle() for patch in display.ax_.patches] == ["--"]
        assert display.predictions.max() == pytest.approx(1 / 3)

    def test_category_that_is_excluded_splits_a_box(self):
        query = Query((Condition("x0", "!=", "b"),))
        X = np.array([["a", "u"], ["b", "v"], ["c", "u"]])
        model = RuleBoostingRegressor(1).fit(X, [0, 1, 2])
        model.ensemble_ = RuleEnsemble((Rule(query, 1.0),), 0.0, ("x0", "x1"))
        display = RuleBoxDisplay.from_estimator(model, X, [0, 1, 2], features=["x0", "x1"])
        assert len(display.ax_.patches) == 2

    def test_bad_features(self, classifier):
        X, y = clients()
        with pytest.raises(
            ValueError, match=r"one or two different features\. Got \['age', 'age'\]"
        ):
            RuleBoxDisplay.from_estimator(classifier, X, y, features=["age", "age"])
        with pytest.raises(ValueError, match="shoe size"):
            RuleBoxDisplay.from_estimator(classifier, X, y, features="shoe size")
        with pytest.raises(ValueError, match="inconsistent numbers"):
            RuleBoxDisplay.from_estimator(classifier, X, y[:3], features="age")


@pytest.mark.parametrize(
    "draw",
    [
        lambda model, X, y: SizeScoreDisplay.from_estimator(model, X, y),
        lambda model, X, y: RuleWeightDisplay.from_estimator(model),
        lambda model, X, y: ContributionDisplay.from_estimator(model, X),
        lambda model, X, y: RuleOverlapDisplay.from_estimator(model, X),
        lambda model, X, y: RuleBoxDisplay.from_estimator(model, X, y, features="age"),
    ],
)
def test_common_habits(draw, classifier, monkeypatch):
    X, y = clients()
    with pytest.raises(NotFittedError):
        draw(RuleBoostingClassifier(), X, y)
    wrap, wrapped = tables._wrap_frame, []
    monkeypatch.setattr(tables, "_wrap_frame", lambda X: wrapped.append(X) or wrap(X))
    display = draw(classifier, X, y)
    assert len(wrapped) <= 1
    _, ax = plt.subplots()
    assert display.plot(ax) is display
    assert display.ax_ is ax
    assert display.figure_ is ax.figure
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"pip install \"laconic\[plot\]\""):
        draw(classifier, X, y)


def test_large_numbers_stand_side_by_side():
    X = np.arange(20)[:, None]
    model = RuleBoostingRegressor(1).fit(X, 140_000.0 + 10_000 * (X[:, 0] > 9))
    _, ax = plt.subplots(figsize=(4.5, 2))
    display = ContributionDisplay.from_estimator(model, X, row=12, ax=ax)
    display.figure_.canvas.draw()
    low, high = display.ax_.get_xlim()
    axis = display.ax_.xaxis
    ticks = [tick for tick in axis.get_major_ticks() if low <= tick.get_loc() <= high]
    boxes = [tick.label1.get_window_extent() for tick in ticks]
    assert len(boxes) > 1
    assert not any(a.overlaps(b) for a, b in combinations(boxes, 2))


def test_large_losses_are_written_out():
    X = np.arange(60)
    y = 140_000.0 + 10_000 * (X > 29) + 100 * (X % 7)
    display = CrossValidationDisplay.from_estimator(RuleBoostingRegressorCV(2).fit(X[:, None], y))
    display.figure_.canvas.draw()
    assert display.ax_.yaxis.get_offset_text().get_text() == ""


class TestSlopes:
    def test_bars_are_total_changes(self):
        model, X, _ = sloped_classifier()
        display = RuleWeightDisplay.from_estimator(model)
        effects = [model.ensemble_.intercept, *(term.effect for term in TERMS)]
        assert_allclose([bar.get_width() for bar in display.bars_], effects)
        assert_allclose(display.shares, model.ensemble_.covered(X).mean(axis=0))
        texts = [" ".join(text.split()) for text in texts_inside(display)]
        assert "1: +0.3100 per 10 of age from 25 to 68 (45 if missing)" in texts
        assert "2: plan == plus & age > 40" in texts
        assert "+1.333" in texts
        assert any("from its lower to its upper end" in text for text in texts)

    def test_overlap_names_slopes_without_weights(self):
        model, X, _ = sloped_classifier()
        display = RuleOverlapDisplay.from_estimator(model, X)
        covered = model.ensemble_.covered(X)
        share = (covered[:, 0] & covered[:, 2]).sum() / covered[:, 0].sum()
        assert display.overlaps[0, 2] == pytest.approx(share)
        assert "3: dose from 40 to 200" in texts_inside(display)

    def test_contributions_are_those_of_the_row(self):
        model, X, _ = sloped_classifier()
        display = ContributionDisplay.from_estimator(model, X, row=1)
        added = [term.raw_predictions(X.iloc[[1]])[0] for term in TERMS]
        widths = [bar.get_width() for bar in display.bars_]
        raw = model.decision_function(X)[1]
        assert_allclose(widths, [model.ensemble_.intercept, added[0], *added[2:], raw])
        texts = [" ".join(text.split()) for text in texts_inside(display)]
        assert "1: age is 64 (+0.3100 per 10 from 25 to 68)" in texts

    def test_one_feature_is_exact_at_both_ends_of_steps(self):
        model, X, _ = sloped_regressor()
        display = RuleBoxDisplay.from_estimator(model, X, features="age")
        [age] = display.steps
        assert set(age.edges[1:-1]) == {25.0, 40.0, 68.0}
        for (start, stop), (first, last) in zip(
            zip(age.edges, age.edges[1:], strict=False), display.predictions, strict=True
        ):
            # A threshold belongs to its lower side.
            assert last == pytest.approx(mean_prediction(model, X, age=stop))
            assert first == pytest.approx(mean_prediction(model, X, age=np.nextafter(start, stop)))
            middle = mean_prediction(model, X, age=(start + stop) / 2)
            assert (first + last) / 2 == pytest.approx(middle)
        model_line, slope, rule = display.ax_.lines
        assert_array_equal(model_line.get_ydata(), display.predictions.ravel())
        assert slope.get_xdata()[0] == 25.0
        assert slope.get_ydata()[0] == 0.0
        heights = dict(zip(slope.get_xdata(), slope.get_ydata(), strict=True))
        assert_allclose([heights[68.0], heights[age.edges[-1]]], TERMS[0].effect)
        assert set(rule.get_ydata()) == {0.8}
        assert [label.get_text() for label in display.labels_] == ["1", "2"]

    @pytest.mark.parametrize("features", ["admitted", ["age", "dose"], ["admitted", "plan"]])
    def test_any_features(self, features):
        model, X, y = sloped_classifier()
        display = RuleBoxDisplay.from_estimator(model, X, y, features=features)
        if len(display.steps) == 1:
            ends = display.predictions[[0, -1], [0, 1]]
            assert np.ptp(ends) == pytest.approx(TERMS[3].effect)
            return
        for feature in display.steps:
            assert len(feature.edges) > 50 or feature.categories
        places = [(0, 0), tuple(length // 2 for length in display.predictions.shape), (-1, -1)]
        for place in places:
            values = {
                each.name: each.categories[at]
                if each.categories
                else (each.edges[:-1] + each.edges[1:])[at] / 2
                for each, at in zip(display.steps, place, strict=True)
            }
            if "admitted" in values:
                values["admitted"] = pd.Timestamp(round(values["admitted"]) * 1000)
            expected = model.decision_function(X.assign(**values)).mean()
            assert display.predictions[place] == pytest.approx(expected, abs=1e-6)

    def test_categories_of_numbers(self):
        """Booleans count as 0 and 1."""
        X = pd.DataFrame({"paid": [True, False, True, False]})
        model = RuleBoostingRegressor(1).fit(X, [1, 2, 1, 3])
        model.ensemble_ = model.ensemble_.with_terms([Slope("paid", 0, 1, 3.0)], [1.0])
        display = RuleBoxDisplay.from_estimator(model, X, features="paid")
        assert_array_equal(display.predictions, [[1, 1], [4, 4]])

    def test_a_range_of_four_years_has_few_dates(self):
        model, X, _ = sloped_classifier()
        display = RuleBoxDisplay.from_estimator(model, X, features="admitted")
        display.figure_.canvas.draw()
        shown = [text for text in display.ax_.get_xticklabels() if text.get_text()]
        assert 2 <= len(shown) <= 7
        boxes = [text.get_window_extent() for text in shown]
        assert not any(one.overlaps(other) for one, other in combinations(boxes, 2))
