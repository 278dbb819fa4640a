"""How the texts of a file became numbers and dates, kept so that a model reads new files alike."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from laconic._checks import require
from laconic.data.entries import check_keys, read_choice, read_text

DECIMAL_SIGNS = (".", ",")
DATE_FORMATS = (
    *("%Y-%m-%d", "%Y/%m/%d", "%Y.%m.%d", "%d.%m.%Y", "%d.%m.%y"),
    *("%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%m-%d-%Y", "%d/%m/%y", "%m/%d/%y"),
    *("%d %B %Y", "%d-%B-%Y", "%B %d, %Y"),
)


@dataclass(frozen=True)
class Reading:
    """What the columns of a text file cannot tell by themselves, least of all those of one row."""

    decimal: str = "."
    """The decimal sign."""
    dates: Mapping[str, str] = field(default_factory=dict)
    """The columns that hold dates, and how these are written."""

    def to_dict(self) -> dict[str, Any]:
        """Describe it by plain values, as a file does."""
        return {"decimal": self.decimal, "dates": dict(self.dates)}


def read_reading(data: Any, path: str) -> Reading:
    """Read what `Reading.to_dict` returned, and refuse what is missing, unknown or wrong."""
    check_keys(data, path, ("decimal", "dates"))
    decimal, dates = data["decimal"], data["dates"]
    require(isinstance(dates, dict), f"{path}.dates", "a JSON object", dates)
    return Reading(
        read_choice(decimal, f"{path}.decimal", DECIMAL_SIGNS),
        {
            read_text(name, f"{path}.dates"): read_choice(
                written, f"{path}.dates.{name}", DATE_FORMATS
            )
            for name, written in dates.items()
        },
    )
