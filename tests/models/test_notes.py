"""Notes on the terms of a model."""

from datetime import date, time, timedelta

import numpy as np
import polars as pl
import pytest

from laconic import Condition, Query, Rule, RuleBoostingRegressor, RuleEnsemble, Slope
from laconic.models.notes import note_on_dates

DAY = date(2013, 1, 1)


def rule(value):
    return Rule(Query([Condition("x", ">", 1), Condition("day", "<=", value)]), 1.0)


@pytest.mark.parametrize(
    ("terms", "start"),
    [
        ([rule(DAY)], "Term 1 depends on fixed dates: it is constant for later dates. Use"),
        (
            [rule(3), rule(DAY), Slope("day", DAY, date(2014, 1, 1), 1.0)],
            "Terms 2 and 3 depend on fixed dates: they are constant for later dates",
        ),
    ],
)
def test_terms_on_fixed_dates(terms, start):
    """A rule about a date of the past is the same for all new rows, which nothing said."""
    assert note_on_dates(RuleEnsemble(terms)).startswith(start)


def test_other_terms_are_not_reported():
    terms = [rule(3), rule(time(12)), Slope("x", 1, 2, 1.0)]
    assert note_on_dates(RuleEnsemble(terms)) is None


def test_printed_models_carry_the_note():
    days = [date(2012, 1, 1) + timedelta(days=each // 2) for each in range(200)]
    y = np.random.default_rng(0).normal(size=200) + (np.arange(200) > 120)
    model = RuleBoostingRegressor(n_terms=1, slopes=False).fit(pl.DataFrame({"day": days}), y)
    note = note_on_dates(model.ensemble_)
    assert str(model).endswith(note)
    assert f"<p>{note}</p>" in model._repr_mimebundle_()["text/html"]
