"""What is known besides the proof: chance, effects on unseen rows, stability and intervals."""

from __future__ import annotations

import math
from typing import Any

from laconic.models import RuleModel
from laconic.terms.formatting import format_count, plain_text
from laconic.terms.rules import Term
from laconic.trust import Effect, Effects, Intervals
from laconic.trust.intervals import format_share, target_range


def describe_trust(model: RuleModel) -> dict[str, Any] | None:
    """Describe the answers that a model keeps; None where nobody has asked.

    The result is made of dict, list, str, float and None only.
    """
    trust = model.own_trust
    if trust.is_empty:
        return None
    stability, known = trust.stability, trust.effects
    effects = () if known is None else known.terms
    answers = [each for each in (trust.chance, stability) if each is not None]
    return {
        "terms": [
            {
                "number": number,
                "sentences": [plain_text(each.sentences[number - 1]) for each in answers]
                + ([plain_text(_sentence(known, number))] if known is not None else []),
                "returned": _returned(model, number),
                "found_again": None if stability is None else stability.cells[number - 1],
                "effect": _effect(effects[number - 1], term) if effects else None,
            }
            for number, term in enumerate(model.ensemble_, start=1)
        ],
        "level": None if known is None else format_share(known.level),
        "is_own": known is not None and known.rows == "held out",
        "effect_words": f"adds to the {model.task_.sum_words}",
        "has_chance": trust.chance is not None,
        "has_stability": stability is not None,
        "intervals": None if trust.intervals is None else _intervals(trust.intervals, model),
    }


def _intervals(intervals: Intervals, model: RuleModel) -> dict[str, Any]:
    least, _ = target_range(model.loss_)
    return {
        "about": plain_text(intervals.about),
        "rows": [[*map(plain_text, row)] for row in intervals.rows],
        "edges": [*intervals.edges],
        "half_widths": [each if math.isfinite(each) else None for each in intervals.half_widths],
        "is_bounded": not intervals.places_without_bound,
        "least": least if math.isfinite(least) else None,
    }


def _sentence(effects: Effects, number: int) -> str:
    """Describe the weight for other rows, for readers of a page."""
    effect, rows = effects.terms[number - 1], format_count(effects.n_rows, "row")
    unseen = f"On {rows} not used to find it"
    if effect.estimate is None:
        return f"{unseen}: no interval, as {effect.reason}."
    weights = (*effect.texts, effect.weight_text)
    estimate, lower, upper, weight = (text.replace("-", "\N{MINUS SIGN}") for text in weights)
    own = f", in the model {weight}" if effects.rows == "new" else ""
    level = format_share(effects.level)
    return f"{unseen}: weight {estimate} ({level} interval: {lower} to {upper}){own}."


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
