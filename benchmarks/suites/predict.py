"""How many rows a model of ten rules predicts per second."""

from time import process_time

from laconic import RuleBoostingRegressor

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
