"""The model as plain data for programs in Python and JavaScript, which share its shape."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from laconic.export.portable import PortableModel
from laconic.model.conditions import Proposition


def program_data(portable: PortableModel) -> dict[str, Any]:
    """Describe a model by what a program needs to predict, and to show what it did.

    Values that numbers are compared with are numbers, also for booleans.
    """
    return {
        "classes": None if portable.classes is None else list(portable.classes),
        "link": portable.link,
        "intercept": portable.ensemble.intercept,
        "features": [{"name": name, "kind": kind} for name, kind in portable.kinds.items()],
        "rules": [
            {
                "weight": rule.weight,
                "text": str(rule.query),
                "conditions": [_condition(proposition) for proposition in rule.query],
            }
            for rule in portable.ensemble
        ],
    }


def _condition(proposition: Proposition) -> dict[str, Any]:
    value = proposition.value
    return asdict(proposition) | {"value": float(value) if isinstance(value, bool) else value}
