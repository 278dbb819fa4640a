"""How numbers, dates and missing values are written in a file; a model keeps it for new files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from laconic._util.checks import require
from laconic.tables.validators import check_keys, read_choice, read_list, read_text

DECIMAL_SIGNS = (".", ",")
MISSING_TEXTS = (
    *("NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan"),
    *("null", "NULL", "None", "?"),
)
DATE_FORMATS = (
    *("%Y-%m-%d", "%Y/%m/%d", "%Y.%m.%d", "%d.%m.%Y", "%d.%m.%y"),
    *("%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%m-%d-%Y", "%d/%m/%y", "%m/%d/%y"),
    *("%d %B %Y", "%d-%B-%Y", "%B %d, %Y"),
)


@dataclass(frozen=True)
class Reading:
    """How numbers, dates and missing values are written, which new files may not show."""

    decimal: str = "."
    """The decimal sign."""
    dates: Mapping[str, str] = field(default_factory=dict)
    """The columns of dates, and their formats."""
    missing: tuple[str, ...] = MISSING_TEXTS
    """Texts that mean a missing value, besides empty cells."""

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values, for a file."""
        usual = self.missing == MISSING_TEXTS
        missing = {} if usual else {"missing": list(self.missing)}
        return {"decimal": self.decimal, "dates": dict(self.dates), **missing}


def read_reading(data: Any, path: str) -> Reading:
    """Read what `Reading.to_dict` returned, and refuse missing, unknown or wrong entries."""
    check_keys(data, path, ("decimal", "dates"), optional=("missing",))
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
        tuple(read_list(data.get("missing", list(MISSING_TEXTS)), f"{path}.missing", read_text)),
    )
