"""What fitted estimators print and show in notebooks."""

from xml.etree import ElementTree

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.utils import estimator_html_repr

from laconic import RuleBoostingClassifier, RuleBoostingRegressor, load_model, save_model

X = [[1, "a"], [2, "a"], [3, "a"], [1, "b"], [2, "b"], [3, "b"]]
CLASSES = ["no", "yes", "yes", "no", "no", "yes"]


@pytest.fixture
def model():
    return RuleBoostingClassifier(n_terms=2, brevity=0.0).fit(X, CLASSES)


def test_print_shows_the_rules(model):
    assert str(model) == f"Log odds of yes, 2 rules, 3 conditions:\n{model.ensemble_}"
    assert repr(model) == "RuleBoostingClassifier(brevity=0.0, n_terms=2)"
    regressor = RuleBoostingRegressor(1).fit([[1], [2]], [1, 2])
    assert str(regressor).startswith("Prediction, 1 rule, ")


def test_unfitted_as_scikit_learn_does(model):
    fresh = clone(model)
    assert str(fresh) == repr(fresh) == "RuleBoostingClassifier(brevity=0.0, n_terms=2)"
    assert "sk-top-container" in fresh._repr_html_()
    assert "laconic-rules" not in fresh._repr_html_()
    assert fresh._repr_mimebundle_()["text/plain"] == repr(fresh)


class HalvedLoss:
    def value(self, y, raw_predictions):
        return 0.5 * (y - raw_predictions) ** 2

    def gradients(self, y, raw_predictions):
        return raw_predictions - y

    def hessians(self, y, raw_predictions):
        return np.ones_like(raw_predictions)

    def inverse_link(self, raw_predictions):
        return raw_predictions


def test_sums_of_other_losses_are_not_called_what_they_are_not():
    model = RuleBoostingRegressor(1, loss=HalvedLoss()).fit([[1], [2]], [1, 2])
    assert str(model).startswith("Raw prediction, 1 rule")


def rows_of(html):
    table = html[html.index("<table") : html.index("</table>") + len("</table>")]
    rows = ElementTree.fromstring(table).iter("tr")
    return [["".join(cell.itertext()) for cell in row] for row in rows]


def test_html_of_a_classifier(model):
    assert rows_of(model._repr_html_()) == [
        ["", "weight", "", "term", "rows", "share of yes", "certificate"],
        ["", "+0.2281", "", "(intercept)", "", "", ""],
        ["1", "-0.3434", "", "x0 <= 1", "2 (33%)", "0%", "proven optimal"],
        ["2", "-0.3434", "", "x0 <= 2 & x1 == b", "2 (33%)", "0%", "proven optimal"],
    ]


def test_html_of_a_regressor_and_weights():
    model = RuleBoostingRegressor(1, search="greedy", l2_regularization=0)
    model.fit([[1], [2], [3]], [1.0, 5.0, 5.0], [1.0, 0.5, 1.0])
    head, start, row = rows_of(model._repr_html_())
    assert head[4:] == ["rows", "mean target", "certificate"]
    assert start[3:] == ["(intercept)", "", "", ""]
    assert row[3:] == ["x0 <= 1", "1 (40%)", "1", "heuristic, no proof"]


def test_loaded_models_show_what_they_know(model, tmp_path):
    save_model(model, tmp_path / "model.json")
    loaded = load_model(tmp_path / "model.json")
    assert rows_of(loaded._repr_html_())[0] == ["", "weight", "", "term", "certificate"]
    assert str(loaded) == str(model)


def test_rules_without_their_certificates(model):
    model.ensemble_ = model.ensemble_[:1]
    assert rows_of(model._repr_html_())[0] == ["", "weight", "", "term"]


def test_class_names_are_escaped():
    html = RuleBoostingClassifier(n_terms=2).fit(X, ["0", *["<yes>"] * 5])._repr_html_()
    assert rows_of(html)[0][5] == "share of <yes>"
    assert "<yes>" not in html


def test_diagram_of_scikit_learn_can_still_be_reached(model):
    assert "sk-top-container" in model._repr_html_()
    assert "sk-top-container" in estimator_html_repr(model)
    assert "RuleBoostingClassifier" in make_pipeline(model)._repr_html_()


def test_notebooks_get_text_and_table(model):
    bundle = model._repr_mimebundle_()
    assert bundle["text/plain"] == str(model)
    assert "laconic-rules" in bundle["text/html"]


def test_display_of_text_is_respected(model):
    with sklearn.config_context(display="text"):
        assert not hasattr(model, "_repr_html_")
        assert model._repr_mimebundle_() == {"text/plain": str(model)}


@pytest.mark.parametrize("estimator", [RuleBoostingClassifier(), RuleBoostingRegressor()])
def test_explanations_need_a_fit(estimator):
    with pytest.raises(NotFittedError):
        estimator.explain([[1]])
    with pytest.raises(NotFittedError):
        estimator.shapley_values([[1]], [[1]])
