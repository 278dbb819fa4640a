"""Scale of weights."""

import warnings

import numpy as np
import polars as pl
import pytest

from laconic import RuleBoostingClassifier, RuleBoostingRegressor, RuleBoostingRegressorCV, scan

RNG = np.random.default_rng(0)
X = pl.DataFrame(RNG.normal(size=(60, 2)), schema=["a", "b"])
Y = X["a"].to_numpy() + RNG.normal(size=60)
SHARES = np.full(60, 1 / 60)


@pytest.mark.parametrize(
    "fit",
    [
        lambda: RuleBoostingRegressor(n_terms=1).fit(X, Y, sample_weight=SHARES),
        lambda: RuleBoostingRegressorCV().fit(X, Y, sample_weight=SHARES),
        lambda: RuleBoostingClassifier(n_terms=1, class_weight={0: 0.01, 1: 0.02}).fit(X, Y > 0),
        lambda: RuleBoostingRegressor(n_terms=1, slopes=False).fit(
            scan(X.with_columns(y=Y, w=SHARES).to_arrow()), "y", sample_weight="w"
        ),
    ],
    ids=["weights", "cross-validation", "classes", "parts"],
)
def test_weights_that_add_up_to_little_are_reported_once(fit):
    """Weights that add up to one left an almost empty model without a word."""
    with pytest.warns(UserWarning, match=r"multiply 'sample_weight' or 'class_weight'") as caught:
        fit()
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert str(caught[0].message).startswith("The weights of the rows add up to only ")


@pytest.mark.parametrize(
    "weights",
    [
        60 * SHARES,
        1e6 * SHARES,
        0.2 * 60 * SHARES,
        0.8 ** np.arange(60),
        (np.arange(60) < 5).astype(float),
    ],
)
def test_other_weights_are_not_reported(weights):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        RuleBoostingRegressor(n_terms=1).fit(X, Y, sample_weight=weights)


def test_a_penalty_for_small_weights_is_not_reported():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = RuleBoostingRegressor(n_terms=1, l2_regularization=1 / 60)
        model.fit(X, Y, sample_weight=SHARES)


def test_proportions_of_weights_are_kept_as_the_message_says():
    weights = RNG.random(60)
    rescaled = weights / 1e6
    rescaled *= len(rescaled) / rescaled.sum()
    models = [
        RuleBoostingRegressor(n_terms=2).fit(X, Y, sample_weight=each)
        for each in (weights * 60 / weights.sum(), rescaled)
    ]
    assert models[1].predict(X) == pytest.approx(models[0].predict(X))
