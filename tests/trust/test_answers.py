"""The answers that a model keeps."""

from laconic import RuleBoostingRegressor
from laconic.trust import Trust


def test_answers_are_about_one_ensemble():
    model = RuleBoostingRegressor(1).fit([[1], [2], [3], [4]], [5, 5, 1, 1])
    assert model.own_trust.is_empty
    model.trust_ = Trust(model.ensemble_)
    assert model.own_trust is model.trust_
    model.ensemble_ = model.ensemble_.with_terms(())
    assert model.own_trust is not model.trust_
