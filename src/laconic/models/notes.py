"""What a reader of a model should know about its terms."""

from __future__ import annotations

from laconic._util.words import listed, parameter
from laconic.tables.times import kind_of
from laconic.terms.rules import RuleEnsemble, Term
from laconic.terms.slopes import Slope


def note_on_dates(ensemble: RuleEnsemble) -> str | None:
    """Describe which terms depend on fixed dates, and what that means for new rows.

    None if no term does.

    Examples
    --------
    >>> from datetime import date
    >>> from laconic import Condition, Query, Rule
    >>> rule = Rule(Query([Condition("day", ">", date(2013, 1, 1))]), 0.5)
    >>> note_on_dates(RuleEnsemble([rule])).partition(":")[0]
    'Term 1 depends on fixed dates'
    """
    numbers = [str(place) for place, term in enumerate(ensemble, 1) if _has_dates(term)]
    if not numbers:
        return None
    subject, verb = f"Terms {listed(numbers)} depend", "they are"
    if len(numbers) == 1:
        subject, verb = f"Term {numbers[0]} depends", "it is"
    return (
        f"{subject} on fixed dates: {verb} constant for later dates. Use parts of dates "
        f"({parameter('date_parts')}) for what recurs, such as seasons, or leave out the date."
    )


def _has_dates(term: Term) -> bool:
    values = [term.upper] if isinstance(term, Slope) else [each.value for each in term.query]
    return any(kind_of(value) in ("date", "datetime") for value in values)
