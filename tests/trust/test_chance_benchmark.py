"""The simulations of chance run, and cutoffs decide as full searches do."""

from benchmarks.trust import chance


def test_simulations_run(capsys):
    cases = [chance.CASES[0], chance.CASES[7], chance.GROUPED[2]]
    chance.rejections(cases, 2, (0, 1))
    chance.cutoffs(1)
    out = capsys.readouterr().out
    assert out.count("| three classes |") == 1
    assert "decided as full ones in 60 of 60 copies" in out
