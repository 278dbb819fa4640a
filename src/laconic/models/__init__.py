"""Fitted models: tasks, predictions and explanations."""

from laconic.models.explanation import Explanation, RowExplanation
from laconic.models.predictions import Predictions
from laconic.models.rule_model import RuleModel, first_terms
from laconic.models.shapley import ShapleyValues, feature_importances

__all__ = [
    "Explanation",
    "Predictions",
    "RowExplanation",
    "RuleModel",
    "ShapleyValues",
    "feature_importances",
    "first_terms",
]
