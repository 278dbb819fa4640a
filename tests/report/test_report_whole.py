"""What a report says about all rules together."""

import json

import numpy as np
import pytest

from laconic import RuleBoostingClassifier, RuleBoostingRegressor, load_model, save_model


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(3)
    X = rng.integers(0, 4, size=(120, 3))
    return X, (X[:, 0] > 1) * 2.0 + (X[:, 1] > 1) * (X[:, 2] > 0) + rng.normal(size=120)


@pytest.fixture(scope="module")
def model(table):
    return RuleBoostingRegressor(3, strategy="global", l2_regularization=3.0).fit(*table)


def test_certificate_of_the_model_is_shown(model, table):
    report = model.report(*table)
    whole = report.to_dict()["whole"]
    certificate = model.certificate_
    assert whole["summary"] == certificate.summary
    assert whole["proven_percent"] / 100 <= certificate.share
    assert [size["bound"] for size in whole["sizes"]] == [s.bound for s in certificate.sizes]
    assert json.loads(report.to_json())["whole"] == whole
    page = report.to_html()
    assert f"At least {certificate.summary}" in page
    assert "not for new ones" in page
    assert "lower bound" in page
    assert "not a proof for all terms together" not in page


def test_saved_certificate_is_shown(model, table, tmp_path):
    save_model(model, tmp_path / "model.json")
    loaded = load_model(tmp_path / "model.json")
    assert loaded.report(*table).to_dict()["whole"] == model.report(*table).to_dict()["whole"]


def test_model_without_certificate(table):
    model = RuleBoostingRegressor(2).fit(*table)
    report = model.report(*table)
    assert report.to_dict()["whole"] is None
    assert "not a proof for all terms together" in report.to_html()


@pytest.mark.parametrize("against", ["rules", "weight"])
def test_given_certificate_is_shown(table, against):
    X, y = table
    model = RuleBoostingClassifier(2, l2_regularization=1.0).fit(X, y > 1)
    certificate = model.certificate(X, y > 1, against=against)
    report = model.report(X[:50], y[:50] > 1, certificate=certificate)
    assert report.to_dict()["whole"]["against"] == against
    assert "120 training rows" in report.to_html()


def test_certificate_has_to_be_about_the_model(model, table):
    other = RuleBoostingRegressor(2).fit(*table)
    with pytest.raises(ValueError, match="must be that of the model"):
        other.report(*table, certificate=model.certificate_)
    with pytest.raises(TypeError, match="must be what"):
        other.report(*table, certificate=0.9)
