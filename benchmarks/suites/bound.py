"""What a node costs: searches that end after the root is expanded."""

from time import process_time

from laconic.search import search

from .planted import planted_search


class RootExpansion:
    """All children of the root, bounded; five features give 54 conditions.

    Starts without a beam search, so that nothing but the expansion is measured.
    """

    params = ([1_000, 10_000, 100_000], [5, 20, 80], ["conditions", "paper"])
    param_names = ("n_rows", "n_features", "branching")
    timer = process_time

    def setup(self, n_rows: int, n_features: int, branching: str) -> None:
        if n_rows * n_features > 2_000_000:
            raise NotImplementedError  # skips: half a gigabyte of extents
        self.problem = planted_search(n_rows, n_features)

    def time_root(self, n_rows: int, n_features: int, branching: str) -> None:
        search(self.problem, node_limit=1, max_conditions=5, branching=branching, beam_width=0)
