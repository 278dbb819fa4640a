"""How numbers, dates and missing values are written in a file; a model keeps it for new files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

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
