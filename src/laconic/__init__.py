"""Short, readable rule ensembles in which every rule is proven to be the best one."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from laconic._core import version as __version__
from laconic.tables.sources.sources import TableSource, scan
from laconic.terms.conditions import Condition, Query
from laconic.terms.rules import Rule, RuleEnsemble
from laconic.terms.slopes import Slope

if TYPE_CHECKING:
    from laconic.estimators.classifier import RuleBoostingClassifier
    from laconic.estimators.cv import RuleBoostingClassifierCV, RuleBoostingRegressorCV
    from laconic.estimators.files import load_model, save_model
    from laconic.estimators.progress import FitProgress
    from laconic.estimators.regressor import RuleBoostingRegressor
    from laconic.search import spread_over
    from laconic.tables.inspection import ColumnWarning
    from laconic.tables.text_files.read_table import read_table

__all__ = [
    "ColumnWarning",
    "Condition",
    "FitProgress",
    "Query",
    "Rule",
    "RuleBoostingClassifier",
    "RuleBoostingClassifierCV",
    "RuleBoostingRegressor",
    "RuleBoostingRegressorCV",
    "RuleEnsemble",
    "Slope",
    "TableSource",
    "__version__",
    "load_model",
    "read_table",
    "save_model",
    "scan",
    "spread_over",
]

# scikit-learn imports pandas where it is installed, which takes seconds: what needs it is imported
# when it is first used.
_MODULES = {
    "ColumnWarning": "tables.inspection",
    "FitProgress": "estimators.progress",
    "RuleBoostingClassifier": "estimators.classifier",
    "RuleBoostingClassifierCV": "estimators.cv",
    "RuleBoostingRegressor": "estimators.regressor",
    "RuleBoostingRegressorCV": "estimators.cv",
    "load_model": "estimators.files",
    "read_table": "tables.text_files.read_table",
    "save_model": "estimators.files",
    "spread_over": "search",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
