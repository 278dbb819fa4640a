"""The format of the answers that a model file keeps, see `laconic.trust`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from laconic._util.checks import require
from laconic._util.json_format import Entry, Object, optional
from laconic.export.json.trust.chance import CHANCE
from laconic.export.json.trust.effects import EFFECTS, FINGERPRINT
from laconic.export.json.trust.intervals import INTERVALS
from laconic.export.json.trust.stability import STABILITY
from laconic.terms.rules import RuleEnsemble
from laconic.trust import Trust

__all__ = ["FINGERPRINT", "TRUST", "checked_trust"]

TRUST = Object(
    {
        "chance": Entry(optional(CHANCE), default=None),
        "effects": Entry(optional(EFFECTS), default=None),
        "stability": Entry(optional(STABILITY), default=None),
        "intervals": Entry(optional(INTERVALS), "How sure predictions are.", default=None),
    },
    Trust,
    "What is known about the model besides its proof, where it was asked.",
)


def checked_trust(
    trust: Trust, ensemble: RuleEnsemble, labels: Sequence[Any] | None, *, fit_intercept: bool
) -> Trust:
    """Set what answers are about; refuse those about other terms, weights or classes."""
    for name in ("chance", "stability"):
        answer = getattr(trust, name)
        if answer is not None:
            required = f"one for each of the {len(ensemble)} terms"
            is_met = len(answer.terms) == len(ensemble)
            require(is_met, f"trust.{name}.terms", required, len(answer.terms))
    effects, intervals = trust.effects, trust.intervals
    if effects is not None:
        is_own = effects.is_about(ensemble, fit_intercept=fit_intercept)
        required = "about the terms and intercepts of the model, with their weights"
        require(is_own, "trust.effects", required, effects)
        for place, n_rows in enumerate(effect.n_rows for effect in effects.effects):
            path, most = f"trust.effects.effects[{place}].n_rows", effects.n_rows
            require(n_rows <= most, path, f"at most n_rows, {most}", n_rows)
    if intervals is not None:
        classes, path = [*intervals.classes], "trust.intervals.classes"
        require(classes == [*(labels or ())], path, "the classes of the model", classes)
    return replace(trust, ensemble=ensemble)
