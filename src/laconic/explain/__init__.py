"""Fitted models, what they predict, and why."""

from laconic.explain.explanation import Explanation, RowExplanation
from laconic.explain.predictions import Predictions
from laconic.explain.rule_model import RuleModel
from laconic.explain.shapley import ShapleyValues

__all__ = ["Explanation", "Predictions", "RowExplanation", "RuleModel", "ShapleyValues"]
