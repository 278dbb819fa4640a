"""Tables are read once: whatever is said about their rows, no column is extracted twice."""

from collections import Counter

import numpy as np
import polars as pl
import pytest
from reports import classifier, regressor

from laconic import RuleBoostingClassifier
from laconic.export import to_scorecard
from laconic.tables import tables


@pytest.fixture
def readings(monkeypatch):
    """How often each column has been extracted, by its name."""
    counts = Counter()

    def counting(make_column):
        def counted(name, cells):
            counts[name] += 1
            return make_column(name, cells)

        return counted

    for maker in ("array_column", "pandas_column", "series_column"):
        monkeypatch.setattr(tables, maker, counting(getattr(tables, maker)))
    return counts


FORMS = {
    "pandas": lambda X: X,
    "polars": pl.from_pandas,
    "rows": lambda X: X.astype(object).where(X.notna(), None).to_numpy().tolist(),
}


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("make", [classifier, regressor])
def test_a_report_reads_every_column_once(readings, make, form):
    model, X, y = make(100)
    rows = FORMS[form](X)
    readings.clear()
    report = model.report(rows, y)
    assert readings == dict.fromkeys(X.columns, 1)
    report.to_html()
    assert readings.total() == X.shape[1]


def test_a_report_reads_every_column_of_an_array_once(readings):
    X = np.random.default_rng(0).normal(size=(200, 4))
    model = RuleBoostingClassifier(n_terms=3).fit(X, X[:, 0] > X[:, 1])
    readings.clear()
    model.report(X, X[:, 0] > X[:, 1])
    assert readings == {"x0": 1, "x1": 1, "x2": 1, "x3": 1}


def explain(model, X, y):
    explanation = model.explain(X)
    assert str(explanation)
    assert len(explanation.to_frame())


def round_to_points(model, X, y):
    assert to_scorecard(model, X=X, y=y).cost.n_rows == len(y)


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("make", [classifier, regressor])
@pytest.mark.parametrize("use", [explain, round_to_points])
def test_columns_of_rules_are_read_once(readings, use, make, form):
    model, X, y = make(100)
    rows = FORMS[form](X)
    readings.clear()
    use(model, rows, y)
    assert readings == dict.fromkeys(model.ensemble_.used_features, 1)
