"""Constraints and alternatives in a report."""

import numpy as np
import pytest

from laconic import RuleBoostingRegressor
from laconic.report.words import constraint_words


def test_every_constraint_has_words():
    words = constraint_words(
        {
            "monotonic_cst": {"age": 1, "income": 1, "price": -1},
            "interaction_cst": [["age", "income"], ["price"]],
            "feature_costs": {"mri": 0.01, "id": None},
            "excluded_terms": ["age > 65", "sex == f"],
            "weight_signs": "positive",
        }
    )
    assert words == (
        " Predictions only rise with age and income and only fall with price."
        " The columns of a term are from one of these sets: age and income; price; all others."
        " No term uses id."
        " The gain of a term is reduced by the cost of mri (0.01)."
        " Excluded terms: age > 65; sex == f."
        " Weights are positive."
    )
    assert constraint_words({}) == ""
    assert constraint_words({"interaction_cst": "pairwise"}) == " A term uses at most two columns."


def test_alternatives_stand_with_their_rule():
    pytest.importorskip("jinja2")
    rng = np.random.default_rng(0)
    X = rng.integers(0, 6, size=(100, 3)).astype(float)
    y = X[:, 0] + X[:, 1] + rng.normal(size=100)
    model = RuleBoostingRegressor(3, monotonic_cst=[1, 0, 0]).fit(X, y)
    found = model.alternatives(2, X, y, tolerance=0.5, max_found=3)
    report = model.report(X, y, alternatives=[found])
    first, second, third = report.to_dict()["terms"]
    assert first["alternatives"] is third["alternatives"] is None
    shown = second["alternatives"]
    assert (shown["tolerance"], shown["is_complete"]) == (0.5, found.is_complete)
    assert [rule["text"] for rule in shown["terms"]] == [one.text for one in found]
    page = report.to_html()
    assert page.count('<details class="alternatives">') == 1
    assert "Alternatives to this term, within" in page
    assert "Predictions only rise with x0." in page
