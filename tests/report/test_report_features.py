"""Summaries of columns."""

import numpy as np
import pytest
from reports import column

from laconic.report.features import column_kind, summarize_feature


@pytest.mark.parametrize(
    ("cells", "settings", "kind"),
    [
        ([1.5, None], {}, "number"),
        ([1, 2], {}, "integer"),
        ([1, None], {"dtype": "Int64"}, "integer"),
        ([None, None], {"dtype": float}, "number"),
        ([True, False], {}, "boolean"),
        ([True, None], {"dtype": "boolean"}, "boolean"),
        (["a", None], {}, "category"),
        ([3, 5], {"dtype": "category"}, "category"),
        ([None, None], {"dtype": object}, "category"),
    ],
)
def test_kind_of_each_column(cells, settings, kind):
    assert column_kind(column(cells, **settings)) == kind


def test_numbers_are_summarized():
    summary = summarize_feature(column([4.0, 1.0, None, 2.0, 3.0]), [2, 5])
    assert summary["n_missing"] == 1
    assert summary["terms"] == [2, 5]
    numbers = summary["numbers"]
    assert (numbers["min"], numbers["median"], numbers["max"]) == (1.0, 2.5, 4.0)
    assert sum(numbers["histogram"]["counts"]) == 4


def test_frequent_categories_come_first_and_others_are_counted():
    cells = ["a"] * 5 + ["b"] * 7 + list("cdefgh") + [None]
    categories = summarize_feature(column(cells), [])["categories"]
    assert [entry["value"] for entry in categories["most_frequent"]] == ["b", "a", "c", "d", "e"]
    assert categories["n_categories"] == 8
    assert categories["n_others"] == 3


@pytest.mark.parametrize("cells", [[None, None], [np.nan]])
def test_a_column_without_values_has_a_summary(cells):
    assert summarize_feature(column(cells, dtype=float), [])["numbers"] is None
    texts = summarize_feature(column(cells, dtype=object), [])
    assert texts["categories"]["most_frequent"] == []
