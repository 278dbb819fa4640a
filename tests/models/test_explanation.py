"""Explanations of predictions, row by row."""

from xml.etree import ElementTree

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from estimators import STAGEWISE
from laconic import Condition, Query, Rule, RuleBoostingClassifier, RuleBoostingRegressor
from laconic.losses import LogisticLoss, SquaredLoss
from laconic.models.explanation import MAX_ROWS_SHOWN, Explanation
from laconic.models.predictions import Predictions
from laconic.models.tasks import Classification, Regression
from laconic.tables.tables import as_table
from laconic.terms.rules import RuleEnsemble

PS = (Condition("PS", ">", 100), Condition("PS", "<=", 180))
RULES = (
    Rule(Query((*PS, Condition("mark", "!=", "x"))), 1.5),
    Rule(Query((Condition("mark", "==", "x"),)), -0.5),
    Rule(Query((Condition("PS", "is missing"),)), 0.25),
)
TABLE = pd.DataFrame({"PS": [150.0, 90.0, None, 200.0], "mark": ["o", "x", None, "b"]})


def explanation(intercept=0.0):
    ensemble = RuleEnsemble(RULES, intercept, ("PS", "mark"))
    return Explanation(Predictions(ensemble, Regression(SquaredLoss()), as_table(TABLE)))


def test_sentences():
    assert [row.sentence for row in explanation()] == [
        "Row 0 is predicted 1.5: +1.500 because 100 < PS <= 180 (150) & mark != x (o). "
        "Sum: +1.500, the prediction.",
        "Row 1 is predicted -0.5: -0.5000 because mark == x. Sum: -0.5000, the prediction.",
        "Row 2 is predicted 0.25: +0.2500 because PS is missing. Sum: +0.2500, the prediction.",
        "Row 3 is predicted 0: no rule applies. Sum: +0.000, the prediction.",
    ]
    assert explanation(2.0)[3].sentence == (
        "Row 3 is predicted 2: +2.000 (intercept). Sum: +2.000, the prediction."
    )


def test_reasons_stand_below_each_other():
    assert str(explanation(12.0)[0]).splitlines() == [
        "Row 0 is predicted 13.5:",
        "+12.00 (intercept)",
        "+1.500 because 100 < PS <= 180 (150) & mark != x (o)",
        "+13.50 in all, the prediction",
    ]
    assert str(explanation()[3]).splitlines()[1:] == [
        "    no rule applies",
        "+0.000 in all, the prediction",
    ]


def test_rules_without_conditions_always_hold():
    shown = RuleBoostingRegressor(1, **STAGEWISE).fit([[1], [1]], [1, 1]).explain([[1]])
    assert str(shown) == ("Row 0 is predicted 0.8:\n+0.8000 always\n+0.8000 in all, the prediction")
    assert repr(shown).startswith("<Explanation of 1 row>")


def test_numbers_are_short_where_conditions_stay_true():
    rule = Rule(Query((Condition("x0", ">", 0.3), Condition("x0", "<=", 0.5))), 1.0)
    ensemble = RuleEnsemble((rule,))
    X = [[1 / 3], [0.300000001], [0.5]]
    shown = Explanation(Predictions(ensemble, Regression(SquaredLoss()), as_table(X)))
    assert ["(0.33333)" in shown[0].sentence, "(0.300000001)" in shown[1].sentence] == [True, True]
    assert "(0.5)" in shown[2].sentence
    large = RuleEnsemble((Rule(Query((Condition("x0", ">", 1),)), 1.0),))
    shown = Explanation(Predictions(large, Regression(SquaredLoss()), as_table([[1234567.0]])))
    assert "(1234567)" in shown[0].sentence


def test_rows_tell_rules_and_values():
    first = explanation()[0]
    assert first.rules == {1: RULES[0]}
    assert first.values == {"PS": 150.0, "mark": "o"}
    assert explanation()[-2].values == {"PS": None}
    assert [row.row for row in explanation()[1:3]] == [1, 2]
    with pytest.raises(IndexError):
        explanation()[4]


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_frame(backend):
    frame = nw.from_native(explanation().to_frame(backend)).to_dict(as_series=False)
    assert frame == {
        "row": [0, 1, 2, 3],
        "rule": [1, 2, 3, 0],
        "query": ["100 < PS <= 180 & mark != x", "mark == x", "PS is missing", "(intercept)"],
        "contribution": [1.5, -0.5, 0.25, 0.0],
        "raw_prediction": [1.5, -0.5, 0.25, 0.0],
        "prediction": [1.5, -0.5, 0.25, 0.0],
    }
    with_intercept = nw.from_native(explanation(2.0).to_frame(backend))
    assert with_intercept["rule"].to_list() == [0, 1, 0, 2, 0, 3, 0]


def test_html_is_escaped_and_names_the_rules():
    rule = Rule(Query((Condition("<i>", ">", 0),)), 1.0)
    ensemble = RuleEnsemble((RULES[1], rule), feature_names=("<i>", "mark"))
    table = as_table(pd.DataFrame({"<i>": [1.0], "mark": ["<b>"]}))
    task = Classification(LogisticLoss(), np.array(["<i>", "<u>"]))
    shown = Explanation(Predictions(ensemble, task, table))
    page = ElementTree.fromstring(shown._repr_html_())
    _, [number, *_, query, held] = [
        ["".join(cell.itertext()) for cell in row] for row in page.iter("tr")
    ]
    assert (number, query, held) == ("2", "'<i>' > 0", "1")
    assert "<u> with probability 0.7" in "".join(page.find(".//caption").itertext())


def test_long_explanations_are_cut():
    model = RuleBoostingRegressor(1).fit([[1], [2]], [1, 2])
    shown = model.explain(np.ones((MAX_ROWS_SHOWN + 2, 1)))
    rows, rest = str(shown).split("\n\n")[:-1], str(shown).splitlines()[-1]
    assert len(rows) == MAX_ROWS_SHOWN
    assert rest == "... and 2 more rows: to_frame() has all"
    assert "and 2 more rows" in shown._repr_html_()
    assert repr(shown).startswith(f"<Explanation of {MAX_ROWS_SHOWN + 2} rows>\nRow 0 is")
    assert len(nw.from_native(shown.to_frame())) >= MAX_ROWS_SHOWN + 2


def mixed_table(n_rows=80, seed=0):
    generator = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": pd.array(generator.integers(18, 90, size=n_rows), dtype="Int64"),
            "plan": pd.Categorical(generator.choice(["basic", "plus"], size=n_rows)),
            "member": generator.choice([True, False], size=n_rows),
            "income": generator.normal(50, 10, size=n_rows),
        }
    )
    frame.loc[::7, "age"] = pd.NA
    frame.loc[::9, "plan"] = None
    y = (frame["income"] > 50) & frame["member"] | (frame["plan"] == "plus")
    return frame, y.to_numpy()


@pytest.mark.parametrize(
    ("labels", "words"),
    [(["no", "yes"], "yes"), ([0, 1], "class 1"), ([False, True], "true")],
)
@pytest.mark.parametrize("convert", [lambda X: X, pl.from_pandas])
def test_explanation_agrees_with_the_estimator(labels, words, convert):
    X, y = mixed_table()
    model = RuleBoostingClassifier(6, fit_intercept=True).fit(X, np.array(labels)[y.astype(int)])
    shown = model.explain(convert(X))
    assert_array_equal(shown.raw_predictions, model.decision_function(X))
    assert_allclose(
        shown.contributions.sum(axis=1) + model.ensemble_.intercept, shown.raw_predictions
    )
    assert_array_equal(shown.predictions, model.predict(X))
    assert_array_equal(shown.probabilities, model.predict_proba(X).max(axis=1))
    frame = shown.to_frame("pandas")
    sums = frame.groupby("row")["contribution"].sum()
    assert_allclose(sums, model.decision_function(X))
    assert shown[0].sentence.endswith(f"the log odds of {words}.")
    assert all(str(row.prediction).lower() in row.sentence for row in shown)


def test_regression_and_links():
    X, _ = mixed_table()
    y = X["income"].to_numpy() ** 2
    model = RuleBoostingRegressor(4).fit(X, y)
    shown = model.explain(X)
    assert_array_equal(shown.predictions, model.predict(X))
    assert shown.probabilities is None
    assert "probability" not in shown.to_frame("pandas")


@given(st.integers(0, 2**32 - 1), st.floats(-2, 2))
def test_every_row_has_lines_that_add_up(seed, intercept):
    generator = np.random.default_rng(seed)
    X = generator.integers(0, 4, size=(7, 2)).astype(float)
    rules = tuple(
        Rule(Query((Condition(f"x{column}", ">", float(threshold)),)), float(weight))
        for column, threshold, weight in zip(
            generator.integers(0, 2, 3),
            generator.integers(0, 4, 3),
            generator.normal(size=3),
            strict=True,
        )
    )
    ensemble = RuleEnsemble(rules, intercept)
    raw_predictions = ensemble.raw_predictions(X)
    shown = Explanation(Predictions(ensemble, Regression(SquaredLoss()), as_table(X)))
    frame = shown.to_frame("pandas")
    assert frame["row"].unique().tolist() == list(range(7))
    assert_allclose(frame.groupby("row")["contribution"].sum(), raw_predictions, atol=1e-12)


@pytest.mark.parametrize(
    ("convert", "kind"),
    [
        (lambda frame: frame, pd.DataFrame),
        (lambda frame: frame.select_dtypes("number"), pd.DataFrame),
        (pl.from_pandas, pl.DataFrame),
        (pa.Table.from_pandas, pa.Table),
        (lambda frame: frame.to_numpy(object), pd.DataFrame),
    ],
)
def test_frames_are_of_the_library_of_the_table(convert, kind):
    X, y = mixed_table()
    table = convert(X)
    model = RuleBoostingRegressor(3).fit(table, y)
    assert isinstance(model.explain(table).to_frame(), kind)
    assert isinstance(model.shapley_values(table, table).to_frame(), kind)
    assert isinstance(model.explain(table).to_frame("pyarrow"), pa.Table)
