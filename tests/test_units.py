"""Units of targets that are too small to be squared."""

import math

import numpy as np
import pytest
from laconic.units import ONE, Unit, unit_of

from laconic import Query, Rule, RuleEnsemble
from laconic.losses import LogisticLoss, SquaredLoss
from laconic.search import SearchProgress, SearchResult, SearchStatus

SMALL = RuleEnsemble((Rule(Query(), 3e-170),), 1e-171)


def test_only_small_targets_of_the_squared_loss_have_a_unit():
    assert unit_of(SquaredLoss(), np.array([1.0, 1e-300])) == ONE
    assert unit_of(SquaredLoss(), np.array([1e150])) == ONE
    assert unit_of(SquaredLoss(), np.zeros(3)) == ONE
    assert unit_of(LogisticLoss(), np.array([1e-300])) == ONE

    class Own(SquaredLoss):
        pass

    assert unit_of(Own(), np.array([1e-300])) == ONE
    assert unit_of(SquaredLoss(), np.array([0.0, -1e-300])).exponent == math.frexp(1e-300)[1]


def test_rules_to_go_on_from_count():
    tiny = np.array([1e-300])
    assert unit_of(SquaredLoss(), tiny, RuleEnsemble((Rule(Query(), 1.0),))) == ONE
    assert unit_of(SquaredLoss(), tiny, SMALL).exponent == math.frexp(3e-170)[1]


def test_there_and_back():
    unit = Unit(-600)
    assert unit.ensemble(unit.measured_ensemble(SMALL)) == SMALL
    assert unit.measured(np.array([2.0**-600])).tolist() == [1.0]
    assert unit.losses(np.array([1.0, 2.0**200])).tolist() == [0.0, 2.0**-1000]
    assert ONE.ensemble(SMALL) is SMALL


def test_objectives_are_told_as_they_are():
    unit = Unit(-300)
    result = SearchResult((0,), 3.0, 4.0, SearchStatus.NODE_LIMIT)
    told = unit.result(result)
    assert (told.objective_value, told.bound) == (3 * 2.0**-600, 4 * 2.0**-600)
    seen = []
    unit.options({"callback": seen.append})["callback"](SearchProgress(1.0, 2.0, 3, 4))
    assert seen[0].bound == pytest.approx(2.0**-599)
    assert unit.options(None) == {}
