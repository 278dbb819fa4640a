"""The model as plain data for programs in Python and JavaScript, which share its shape."""

from __future__ import annotations

from typing import Any

from laconic.data.times import kind_of, microseconds
from laconic.export.portable import PortableModel
from laconic.model.conditions import Proposition


def program_data(portable: PortableModel) -> dict[str, Any]:
    """Describe a model by what a program needs to predict, and to show what it did.

    Values that numbers are compared with are numbers, also for booleans, and for times, whose
    microseconds are counted.
    """
    outputs = portable.ensemble.outputs
    return {
        "classes": None if portable.classes is None else list(portable.classes),
        "link": portable.link,
        "intercept": [each.intercept for each in outputs] or portable.ensemble.intercept,
        "features": [
            *({"name": name, "kind": kind} for name, kind in portable.kinds.items()),
            *(
                {"name": name, "kind": portable.part_kind(name), "part": part, "of": column}
                for name, (part, column) in portable.parts.items()
            ),
        ],
        "rules": [
            {
                "weight": rule.weight,
                **({"output": rule.output} if outputs else {}),
                "text": str(rule.query),
                "conditions": [_condition(proposition) for proposition in rule.query],
            }
            for rule in portable.ensemble
        ],
    }


def _condition(proposition: Proposition) -> dict[str, Any]:
    value: Any = proposition.value
    if isinstance(value, tuple):
        value = list(map(_plain, value))
    return {
        "feature": proposition.feature,
        "relation": proposition.relation,
        "value": _plain(value),
    }


def _plain(value: Any) -> Any:
    if kind_of(value) is not None:
        return microseconds(value)
    return float(value) if isinstance(value, bool) else value
