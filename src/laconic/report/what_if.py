"""What a reader may change about a row, and the program that predicts for it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from laconic.data.columns import Category, Column, TimeColumn
from laconic.explain import RuleModel
from laconic.export import to_javascript
from laconic.model.conditions import by_feature
from laconic.model.formatting import format_number, value_text
from laconic.report.controls import control, script_time, typical_value


def describe_what_if(
    model: RuleModel, columns: Sequence[Column], y: ArrayLike, sample: NDArray[np.intp]
) -> dict[str, Any]:
    """Describe the features that rules use, rows to start from, and the model as a program.

    Ranges, categories and rows come from the given columns, those that rules use. ``javascript`` is
    None, and ``reason`` says why, where a model cannot leave Python: its loss may be of any kind.
    """
    try:
        javascript, reason = to_javascript(model), None
    except ValueError as error:
        javascript, reason = None, str(error)
    propositions = by_feature(model.ensemble_.propositions)
    rows = [[_cell(column, row) for column in columns] for row in sample.tolist()]
    observed = np.asarray(y)[sample].tolist()
    return {
        "javascript": javascript,
        "reason": reason,
        "controls": [
            control(column, propositions.get(column.name, ()), [row[position] for row in rows])
            for position, column in enumerate(columns)
        ],
        "typical": [typical_value(column) for column in columns],
        "rows": [
            {"row": row, "observed": label, "observed_label": _label(label), "values": values}
            for row, label, values in zip(sample.tolist(), observed, rows, strict=True)
        ],
    }


def _cell(column: Column, row: int) -> Category | None:
    """Value of a row as a script has it."""
    if not isinstance(column, TimeColumn):
        return cast(Category | None, column.cell(row))
    number = float(column.values[row])
    return None if np.isnan(number) else script_time(column.kind, number)


def _label(observed: Category) -> str:
    return format_number(observed) if isinstance(observed, float) else value_text(observed)
