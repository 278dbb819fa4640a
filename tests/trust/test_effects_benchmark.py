"""The simulations of coverage run."""

import pytest

from benchmarks.trust import effects


def test_quick_simulations(monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["effects", "--quick"])
    monkeypatch.setattr(effects, "REQUIRED", (effects.Numbers, effects.Visits))
    monkeypatch.setattr(effects, "N_FRESH", 1_000)
    effects.main()
    rows = [line for line in capsys.readouterr().out.splitlines() if line.startswith("| ")]
    assert len(rows) == 1 + 2 * 3
    assert all(row.count("|") == 11 for row in rows)


@pytest.mark.parametrize("make", [*effects.REQUIRED, *effects.OTHERS])
def test_every_kind_of_target_can_be_studied(make):
    tallies = effects.study(make(), make.strengths["strong"], 200, 1, seed=0)
    assert tallies["unseen half"].n_terms == 3
