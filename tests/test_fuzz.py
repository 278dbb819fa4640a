"""A sample of the standing attack, from other cases than those that are run for long."""

import pytest

from fuzz.__main__ import Run

CASES = {"problems": 1500, "engines": 4, "lengths": 300, "files": 100, "names": 4, "rounds": 30}


@pytest.mark.parametrize("attack", CASES)
@pytest.mark.filterwarnings("ignore:X does not have valid feature names:UserWarning")
def test_sample(attack):
    run = Run([attack], first=0, cases=CASES[attack], seconds=600)
    run.go()
    assert not run.failures
    assert run.counts[attack] > 0
