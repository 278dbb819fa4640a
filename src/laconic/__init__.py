"""Short, readable rule ensembles in which every rule is proven to be the best one."""

from laconic._core import version as __version__
from laconic.estimators import RuleBoostingClassifier, RuleBoostingRegressor
from laconic.export import load_model, save_model
from laconic.progress import FitProgress
from laconic.rules import Proposition, Query, Rule, RuleEnsemble

__all__ = [
    "FitProgress",
    "Proposition",
    "Query",
    "Rule",
    "RuleBoostingClassifier",
    "RuleBoostingRegressor",
    "RuleEnsemble",
    "__version__",
    "load_model",
    "save_model",
]
