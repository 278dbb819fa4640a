"""What is known besides the proof: chance, effects on unseen rows, stability and intervals."""

from __future__ import annotations

import math
from typing import Any

from laconic.models import RuleModel
from laconic.terms.formatting import format_percent, plain_text
from laconic.terms.rules import Term
from laconic.trust import Effect, Intervals


def describe_trust(model: RuleModel) -> dict[str, Any] | None:
    """Describe the answers that a model keeps; None where nobody has asked.

    The result is made of dict, list, str, float and None only.
    """
    trust = model.own_trust
    if trust.is_empty:
        return None
    stability = trust.stability
    effects = () if trust.effects is None else trust.effects.terms
    return {
        "terms": [
            {
                "number": number,
                "sentences": [*map(plain_text, trust.sentences(number))],
                "returned": _returned(model, number),
                "found_again": None if stability is None else stability.cells[number - 1],
                "effect": _effect(effects[number - 1], term) if effects else None,
            }
            for number, term in enumerate(model.ensemble_, start=1)
        ],
        "level": None if trust.effects is None else format_percent(trust.effects.level),
        "has_chance": trust.chance is not None,
        "has_stability": stability is not None,
        "intervals": None if trust.intervals is None else _intervals(trust.intervals),
    }


def _intervals(intervals: Intervals) -> dict[str, Any]:
    return {
        "about": plain_text(intervals.about),
        "rows": [[*map(plain_text, row)] for row in intervals.rows],
        "edges": [*intervals.edges],
        "half_widths": [each if math.isfinite(each) else None for each in intervals.half_widths],
    }


def _returned(model: RuleModel, number: int) -> float | None:
    stability = model.own_trust.stability
    if stability is None:
        return None
    return stability.terms[number - 1].n_returned / stability.n_done


def _effect(effect: Effect, term: Term) -> dict[str, float] | None:
    """Return an effect and its interval, of a slope from end to end."""
    if effect.estimate is None:
        return None
    factor = term.effect / effect.weight if effect.weight else 1.0
    names = ("weight", "estimate", "lower", "upper")
    return {name: factor * float(getattr(effect, name)) for name in names}
