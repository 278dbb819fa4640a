"""The scikit-learn estimators, one per task."""

from laconic.estimators.base import RuleBoosting
from laconic.estimators.classifier import RuleBoostingClassifier
from laconic.estimators.progress import FitProgress
from laconic.estimators.regressor import RuleBoostingRegressor

__all__ = [
    "ESTIMATORS",
    "FitProgress",
    "RuleBoosting",
    "RuleBoostingClassifier",
    "RuleBoostingRegressor",
]

ESTIMATORS: dict[str, type[RuleBoosting]] = {
    estimator.task.name: estimator for estimator in (RuleBoostingClassifier, RuleBoostingRegressor)
}
"""The estimators by the name of their task."""
