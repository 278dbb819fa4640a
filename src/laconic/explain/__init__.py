"""Fitted models, what they predict, and why."""

from laconic.explain.explanation import Explanation, RowExplanation
from laconic.explain.predictions import Predictions
from laconic.explain.rule_model import RuleModel, first_rules, is_rule_model
from laconic.explain.shapley import ShapleyValues, feature_importances

__all__ = [
    "Explanation",
    "Predictions",
    "RowExplanation",
    "RuleModel",
    "ShapleyValues",
    "feature_importances",
    "first_rules",
    "is_rule_model",
]
