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
from sloped import sloped_classes, sloped_classifier

from estimators import STAGEWISE
from laconic import Condition, Query, Rule, RuleBoostingClassifier, RuleBoostingRegressor
from laconic.losses import LogisticLoss, SquaredLoss
from laconic.models.explanation import MAX_ROWS_SHOWN, Explanation
from laconic.models.predictions import Predictions
from laconic.models.tasks import Classification, Regression
from laconic.tables.tables import as_table
from laconic.terms.rules import RuleEnsemble
from laconic.terms.slopes import Slope

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
        "Row 3 is predicted 0: no term applies. Sum: +0.000, the prediction.",
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
        "    no term applies",
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
    assert first.terms == {1: RULES[0]}
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
        "term": [1, 2, 3, 0],
        "text": ["100 < PS <= 180 & mark != x", "mark == x", "PS is missing", "(intercept)"],
        "contribution": [1.5, -0.5, 0.25, 0.0],
        "raw_prediction": [1.5, -0.5, 0.25, 0.0],
        "prediction": [1.5, -0.5, 0.25, 0.0],
    }
    with_intercept = nw.from_native(explanation(2.0).to_frame(backend))
    assert with_intercept["term"].to_list() == [0, 1, 0, 2, 0, 3, 0]


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


def slopes(X, terms, names=("age",)):
    ensemble = RuleEnsemble(terms, feature_names=names)
    return Explanation(Predictions(ensemble, Regression(SquaredLoss()), as_table(X, names)))


def test_slopes_are_told_with_the_value_of_the_row():
    shown = slopes([[54], [20], [25], [None], [80], [1 / 3 + 30]], (Slope("age", 25, 68, 0.031),))
    assert [row.sentence.split(": ")[1].removesuffix(". Sum") for row in shown] == [
        "+0.8990 because age is 54 (+0.3100 per 10 from 25 to 68)",
        "no term applies",
        "no term applies",
        "no term applies",
        "+1.333 because age is 80 (+0.3100 per 10 from 25 to 68)",
        "+0.1653 because age is 30.333 (+0.3100 per 10 from 25 to 68)",
    ]
    assert [row.contributions for row in shown[:2]] == [(0.031 * 29,), ()]
    assert shown[0].terms == {1: Slope("age", 25, 68, 0.031)}
    assert shown[0].values == {"age": 54}


def test_slopes_say_what_a_missing_cell_is_taken_as():
    terms = (Slope("age", 25, 68, 0.031, missing=45), Rule(Query(()), 1.0))
    shown = slopes([[None]], terms)[0]
    assert str(shown).splitlines()[1:] == [
        "+0.6200 because age is missing, taken as 45 (+0.3100 per 10 from 25 to 68)",
        " +1.000 always",
        " +1.620 in all, the prediction",
    ]


def test_values_just_above_the_lower_end_are_not_rounded_to_it():
    assert "age is 25.0000001 (" in slopes([[25.0000001]], (Slope("age", 25, 68, 1.0),))[0].sentence


def test_html_of_slopes_has_contributions_and_is_escaped():
    shown = slopes([[30.0]], (Slope("<i>", 25, 68, 0.5), Slope("<i>", 20, 40, -0.5)), ("<i>",))
    page = ElementTree.fromstring(shown._repr_html_())
    head, *rows = [["".join(cell.itertext()) for cell in row] for row in page.iter("tr")]
    assert head[1] == "adds"
    assert [[row[1], row[3], row[4]] for row in rows] == [
        ["+2.500", "+5.000 per 10 of '<i>' from 25 to 68", "30"],
        ["-5.000", "-0.5000 per unit of '<i>' from 20 to 40", "30"],
    ]
    bars = [bar.get("style") for bar in page.iter("div") if "left" in bar.get("style", "")]
    assert ["width: 25.0%" in bars[0], "width: 50.0%" in bars[1]] == [True, True]


@pytest.mark.parametrize("make", [sloped_classifier, sloped_classes])
def test_frames_and_contributions_of_slopes_add_up(make):
    model, X, _ = make()
    shown = model.explain(X)
    raw = model.decision_function(X).reshape(len(X), -1)
    ensemble = model.ensemble_
    sums = np.tile(ensemble.intercepts, (len(X), 1))
    for place, term in enumerate(ensemble):
        sums[:, term.output] += shown.contributions[:, place]
    assert_allclose(sums, raw, atol=1e-12)
    frame = shown.to_frame("pandas")
    keys = ["row", "class"] if ensemble.outputs else ["row"]
    totals = frame.groupby(keys)["contribution"].sum()
    assert_allclose(totals, frame.groupby(keys)["raw_prediction"].first(), atol=1e-12)
    assert (frame["contribution"] != 0.0)[frame["term"] > 0].all()
    assert set(frame["text"][frame["term"] == 1]) == {"age from 25 to 68 (45 if missing)"}
    for row in shown[:20]:
        of_class = row.of_class()
        total = of_class.intercept + sum(of_class.contributions)
        assert total == pytest.approx(np.max(row.raw_prediction))
        assert sum(line.weight for line in of_class.lines) == pytest.approx(total)
