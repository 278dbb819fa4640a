"""Results of searches."""

from dataclasses import replace

from laconic.search import SearchProgress, SearchResult, SearchStatus


def test_share_of_the_best_possible():
    result = SearchResult((1,), 0.4, 0.5, SearchStatus.NODE_LIMIT)
    assert result.approximation_ratio == 0.8
    assert not result.is_optimal
    assert SearchResult((), 0.0, 0.0, SearchStatus.OPTIMAL).approximation_ratio == 1.0
    assert SearchProgress(0.4, 0.5, n_nodes=1, n_open=1).approximation_ratio == 0.8


def test_speed_before_there_is_one():
    assert SearchProgress(0.4, 0.5, n_nodes=0, n_open=1).nodes_per_second == 0.0
    assert SearchProgress(0.4, 0.5, n_nodes=6, n_open=1, seconds=2.0).nodes_per_second == 3.0


def test_results_are_equal_however_they_were_found():
    """Model files keep what was found and how much work it took, not the way it was done."""
    result = SearchResult((1,), 0.4, 0.5, SearchStatus.NODE_LIMIT, {"nodes": 7})
    assert replace(result, branching="ranges", node_limit=7) == result
    assert replace(result, counters={"nodes": 8}) != result
