"""Whole fits from a data frame: seconds, memory, and the share that is not search."""

import warnings
from time import perf_counter, process_time

from sklearn.exceptions import ConvergenceWarning

from laconic import RuleBoostingClassifier, RuleBoostingRegressor

from .planted import planted

SIZES = {"small": (1_000, 10), "medium": (5_000, 20), "large": (50_000, 20)}
ESTIMATORS = {"classification": RuleBoostingClassifier, "regression": RuleBoostingRegressor}


class Fit:
    """Five rules, at most ten nodes each, on a table that five rules explain."""

    params = (list(SIZES), list(ESTIMATORS))
    param_names = ("size", "task")
    timer = process_time

    def setup(self, size: str, task: str) -> None:
        drawn = planted(*SIZES[size], r2=0.99)
        self.table = drawn.table
        self.target = drawn.classes if task == "classification" else drawn.target
        self.estimator = ESTIMATORS[task](n_terms=5, node_limit=10)

    def fit(self) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            self.estimator.fit(self.table, self.target)

    def time_fit(self, size: str, task: str) -> None:
        self.fit()

    def peakmem_fit(self, size: str, task: str) -> None:
        self.fit()

    def track_share_outside_search(self, size: str, task: str) -> float:
        started = perf_counter()
        self.fit()
        seconds = perf_counter() - started
        return 1 - sum(result.seconds for result in self.estimator.search_results_) / seconds

    track_share_outside_search.unit = "of the seconds"
