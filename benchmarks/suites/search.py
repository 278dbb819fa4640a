"""Whole searches for one rule: seconds, nodes, and how far the proof got."""

from time import process_time

from laconic.search import SearchResult, search

from .planted import planted_search

# The less the planted rules explain, the more there is to prove.
PROBLEMS = {
    "clear": {"n_rows": 5_000, "n_features": 20, "r2": 0.99},
    "noisy": {"n_rows": 2_000, "n_features": 20, "r2": 0.5},
    "mostly noise": {"n_rows": 500, "n_features": 10, "r2": 0.1},
    "many conditions": {"n_rows": 500, "n_features": 50, "r2": 0.9},
}
METHODS = {
    "optimal": {},
    "optimal, bound of the paper": {"branching": "paper"},
    "greedy": {"method": "greedy"},
}


class Search:
    """First rule of a planted table, with at most five conditions."""

    params = (list(PROBLEMS), list(METHODS))
    param_names = ("problem", "method")
    timer = process_time

    def setup(self, problem: str, method: str) -> None:
        self.problem = planted_search(**PROBLEMS[problem])

    def run(self, method: str) -> SearchResult:
        # What the bound of the paper needs on some would take minutes.
        return search(self.problem, max_conditions=5, node_limit=2_000, **METHODS[method])

    def time_search(self, problem: str, method: str) -> None:
        self.run(method)

    def track_nodes(self, problem: str, method: str) -> int:
        return self.run(method).counters["nodes"]

    def track_approximation_ratio(self, problem: str, method: str) -> float:
        return self.run(method).approximation_ratio

    track_nodes.unit = "nodes"
    track_approximation_ratio.unit = "of the bound"
