"""Rules that could stand in the place of another one."""

from __future__ import annotations

from typing import Any

from laconic.explain.alternatives import Alternatives


def describe_alternatives(found: Alternatives | None) -> dict[str, Any]:
    """Describe what is nearly as good as a rule; nothing where nobody has looked."""
    if found is None:
        return {"alternatives": None}
    return {
        "alternatives": {
            "tolerance": float(found.tolerance),
            "is_complete": found.is_complete,
            "rules": [
                {
                    "text": one.text,
                    "weight": float(one.weight),
                    "share": float(one.share),
                    "overlap": float(one.overlap),
                }
                for one in found
            ],
        }
    }
