"""laconic and the learners that it is compared with, one thread each.

Texts become a column per category, and missing values the median of their column, where a learner
needs that; this is a part of its fit.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from benchmarks.speed.tables import Table

N_TERMS = 10
TIME_LIMIT = 5  # seconds per search, where the default searches cannot end
FEW_CELLS = 30_000  # EBM has as many bags as by default up to there


def laconic(table: Table, settings: Mapping[str, Any]) -> Any:
    from laconic import RuleBoostingRegressor

    return RuleBoostingRegressor(**({"n_jobs": 1} | settings))


def boosting_machine(table: Table, settings: Mapping[str, Any]) -> Any:
    from interpret.glassbox import ExplainableBoostingRegressor

    return ExplainableBoostingRegressor(n_jobs=1, random_state=0, **settings)


def tree_sums(table: Table, settings: Mapping[str, Any]) -> Any:
    from imodels import FIGSRegressor

    return _from_numbers(table, FIGSRegressor(max_rules=N_TERMS, random_state=0), imputes=True)


def boosted_trees(table: Table, settings: Mapping[str, Any]) -> Any:
    from xgboost import XGBRegressor

    from benchmarks.accuracy.competitors import BOOSTED_TREES

    return _from_numbers(table, XGBRegressor(**BOOSTED_TREES))


def linear(table: Table, settings: Mapping[str, Any]) -> Any:
    from sklearn.linear_model import LassoCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    model = make_pipeline(StandardScaler(), LassoCV(n_jobs=1))
    return _from_numbers(table, model, imputes=True)


def _from_numbers(table: Table, model: Any, *, imputes: bool = False) -> Any:
    """Make a pipeline that reads a mixed table; an array of numbers is used as it is."""
    from sklearn.compose import make_column_selector, make_column_transformer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer, OneHotEncoder

    if not table.is_mixed:
        return model
    one_hot = OneHotEncoder(sparse_output=False, drop="if_binary", handle_unknown="ignore")
    others = (
        SimpleImputer(strategy="median")
        if imputes
        else FunctionTransformer(lambda X: X.to_numpy(float))
    )
    is_text = make_column_selector(dtype_include="category")
    return make_pipeline(make_column_transformer((one_hot, is_text), remainder=others), model)


@dataclass(frozen=True)
class Program:
    """A learner.

    Attributes
    ----------
    package : str
        Its distribution.
    make : callable
        Makes an estimator for a table, with settings.
    settings : callable
        Settings for a table.
    left_out : mapping of str to str
        Tables that it is not fitted to, and why.
    """

    package: str
    make: Callable[[Table, Mapping[str, Any]], Any]
    settings: Callable[[Table], dict[str, Any]] = lambda table: {}
    left_out: Mapping[str, str] = field(default_factory=dict)

    def version(self) -> str | None:
        """Return the installed version, or None."""
        for name in (self.package, f"{self.package}-cpu"):
            try:
                return version(name)
            except PackageNotFoundError:
                continue
        return None


def _limited(table: Table) -> dict[str, Any]:
    """Set a limit for thousands of columns: the default one allows minutes per term."""
    return {"time_limit": TIME_LIMIT} if table.n_columns > 1_000 else {}


def _bags(table: Table) -> dict[str, Any]:
    return {} if table.n_rows * table.n_columns <= FEW_CELLS else {"outer_bags": 1}


LACONIC, EBM, FIGS, XGBOOST, LASSO = "laconic", "EBM", "FIGS", "XGBoost", "LassoCV"

_NOT_EBM = {"200x20000": "not run: 200 million pairs"}

PROGRAMS = {
    LACONIC: Program("laconic", laconic, _limited),
    EBM: Program("interpret-core", boosting_machine, _bags, _NOT_EBM),
    FIGS: Program("imodels", tree_sums),
    XGBOOST: Program("xgboost", boosted_trees),
    LASSO: Program("scikit-learn", linear),
}
