"""Short, readable rule ensembles in which every rule is proven to be the best one."""

from laconic._core import __version__
from laconic.estimators import RuleBoostingClassifier, RuleBoostingRegressor
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
]
