"""Short, readable rule ensembles in which every rule is proven to be the best one."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from laconic._core import version as __version__
from laconic.tables.sources.sources import TableSource, scan
from laconic.tables.text_files.read_table import read_table
from laconic.terms.conditions import Condition, Query
from laconic.terms.rules import Rule, RuleEnsemble

if TYPE_CHECKING:
    from laconic.estimators import (
        ColumnWarning,
        FitProgress,
        RuleBoostingClassifier,
        RuleBoostingClassifierCV,
        RuleBoostingRegressor,
        RuleBoostingRegressorCV,
        load_model,
        save_model,
        spread_over,
    )

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
    "TableSource",
    "__version__",
    "load_model",
    "read_table",
    "save_model",
    "scan",
    "spread_over",
]

# scikit-learn imports pandas where it is installed, which takes seconds: what needs it is imported
# when it is first asked for.
_LAZY_MODULE = "laconic.estimators"


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_LAZY_MODULE), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
