"""How many rows a model of ten rules predicts per second, and how long a single row takes."""

from time import process_time

import polars as pl

from laconic import RuleBoostingClassifier, RuleBoostingRegressor

from .planted import planted


class Predict:
    """Rules of a greedy search: they are as fast to apply as optimal ones."""

    params = ([1_000, 100_000, 1_000_000],)
    param_names = ("n_rows",)

    def setup(self, n_rows: int) -> None:
        drawn = planted(1_000)
        self.model = RuleBoostingRegressor(search="greedy").fit(drawn.table, drawn.target)
        self.table = planted(n_rows, seed=1).table

    def track_rows_per_second(self, n_rows: int) -> float:
        started = process_time()
        self.model.predict(self.table)
        return n_rows / (process_time() - started)

    def peakmem_predict(self, n_rows: int) -> None:
        self.model.predict(self.table)

    track_rows_per_second.unit = "rows/s"


class PredictOneRow:
    """One row per call, as services predict: nearly all of the time is not in the terms."""

    params = (
        ["numpy", "pandas", "polars", "dictionary"],
        ["numbers", "mixed"],
        ["predict", "predict_proba"],
    )
    param_names = ("form", "columns", "method")
    timer = process_time

    def setup(self, form: str, columns: str, method: str) -> None:
        drawn = planted(1_000)
        is_regression = method == "predict"
        table = drawn.table if columns == "mixed" else drawn.table.select_dtypes("number")
        row = table.iloc[[0]]
        self.row = {
            "numpy": row.to_numpy(),
            "pandas": row,
            "polars": pl.from_pandas(row),
            "dictionary": row.to_dict("records"),
        }[form]
        estimator = RuleBoostingRegressor if is_regression else RuleBoostingClassifier
        model = estimator(search="greedy").fit(
            table.to_numpy() if form == "numpy" else table,
            drawn.target if is_regression else drawn.classes,
        )
        self.predict = getattr(model, method)

    def time_one_row(self, form: str, columns: str, method: str) -> None:
        self.predict(self.row)
