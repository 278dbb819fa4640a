"""Words about searches."""

import math

import pytest

from laconic.search import SearchProgress, SearchResult, SearchStatus
from laconic.search.results import (
    describe_certificate,
    describe_ratio,
    describe_search,
    proven_percent,
)


@pytest.mark.parametrize(
    ("status", "ratio", "words"),
    [
        (SearchStatus.OPTIMAL, 1.0, "proven optimal"),
        (SearchStatus.HEURISTIC, 0.5, "heuristic, no proof"),
        (SearchStatus.APPROXIMATE, 0.905, "at least 90% of the best possible"),
        (SearchStatus.NODE_LIMIT, 0.9999, "at least 99% of the best possible"),
        (SearchStatus.TIME_LIMIT, 0.29, "at least 29% of the best possible"),
        (SearchStatus.NODE_LIMIT, 0.03, "at least 3% of the best possible"),
        (SearchStatus.NODE_LIMIT, 1e-9, "at least 0% of the best possible"),
        (SearchStatus.NODE_LIMIT, 0.0, "at least 0% of the best possible"),
    ],
)
def test_certificate_in_words(status, ratio, words):
    assert describe_certificate(SearchResult((0,), ratio, 1.0, status)) == words


def test_certificate_without_any_bound():
    words = describe_certificate(SearchResult((0,), 0.5, math.inf, SearchStatus.TIME_LIMIT))
    assert words == "at least 0% of the best possible"


@pytest.mark.parametrize("percent", range(101))
def test_percent_is_the_largest_that_is_reached(percent):
    ratio = percent / 100
    assert proven_percent(ratio) == percent
    assert proven_percent(math.nextafter(ratio, 0.0)) == percent
    assert proven_percent(max(ratio - 1e-6, 0.0)) == max(percent - 1, 0)


@pytest.mark.parametrize(
    ("best", "proof"),
    [
        (0.0, "nothing proven yet"),
        (0.001, "nothing proven yet"),
        (0.45, "at least 45% of the best possible"),
        (0.9996, "at least 99% of the best possible"),
        (1.0, "proven optimal"),
    ],
)
def test_search_in_words(best, proof):
    words = describe_search(SearchProgress(best, 1.0, n_nodes=1234567, n_open=0))
    assert words == f"best so far {best:g}, {proof}"


def test_short_memory_in_words():
    progress = SearchProgress(0.5, 1.0, n_nodes=10, n_open=3, seconds=2.0, is_depth_first=True)
    words = describe_search(progress)
    assert words.endswith("at least 50% of the best possible, slower as memory is short")


@pytest.mark.parametrize("ratio", [0.0, 0.905, 1.0])
def test_ratio_and_certificate_agree(ratio):
    result = SearchResult((0,), ratio, 1.0, SearchStatus.APPROXIMATE)
    assert describe_certificate(result) == describe_ratio(ratio)
