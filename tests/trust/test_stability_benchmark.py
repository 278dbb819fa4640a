"""The study of what comes back, made small."""

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("scipy.stats")

from benchmarks.trust import stability


def test_quick_study_prints_its_tables(capsys):
    stability.main(["--quick", "--n-jobs", "1"])
    printed = capsys.readouterr().out
    assert "| bootstrap, overlap ≥ .8 |" in printed
    assert "| breast_cancer |" in printed
    assert "| cross-validation, the table |" in printed
    assert "| 200 | 5 |" in printed


def test_the_model_itself_has_come_back():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(200, 3)), columns=[*"abc"])
    rows = stability.Rows(X, 1.0 * (X["a"] > 0).to_numpy() + rng.normal(size=200), False)
    ensemble = rows.fit("greedy").ensemble_
    comparison = stability.Comparison(ensemble, X)
    assert comparison.similarities(ensemble) == pytest.approx(np.ones(len(ensemble)))
    assert stability.shared(ensemble, ensemble) == 1.0
    assert comparison.covered_alone(ensemble) in (1.0, pytest.approx(1.0))
