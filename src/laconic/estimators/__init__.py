"""The scikit-learn estimators, one per task."""

from laconic.estimators.base import RuleBoosting
from laconic.estimators.classifier import RuleBoostingClassifier
from laconic.estimators.cv import CROSS_VALIDATED, RuleBoostingClassifierCV, RuleBoostingRegressorCV
from laconic.estimators.files import ESTIMATORS, load_model, model_from_dict, save_model
from laconic.estimators.progress import FitProgress
from laconic.estimators.regressor import RuleBoostingRegressor
from laconic.search import spread_over
from laconic.tables.inspection import ColumnWarning

__all__ = [
    "CROSS_VALIDATED",
    "ESTIMATORS",
    "ColumnWarning",
    "FitProgress",
    "RuleBoosting",
    "RuleBoostingClassifier",
    "RuleBoostingClassifierCV",
    "RuleBoostingRegressor",
    "RuleBoostingRegressorCV",
    "load_model",
    "model_from_dict",
    "save_model",
    "spread_over",
]
