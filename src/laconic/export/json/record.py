"""Where a model comes from, as a file tells it."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from laconic._checks import require
from laconic.data.entries import (
    check_keys,
    read_amount,
    read_category,
    read_choice,
    read_list,
    read_mapping,
    read_number,
    read_text,
    read_whole,
)
from laconic.model.record import KINDS_OF_ROWS, FitRecord, RowScores, Setting

_PATH = "record"


def record_to_dict(record: FitRecord) -> dict[str, Any]:
    """Describe a record by plain values."""
    data = asdict(record)
    return data | {"scores": list(data["scores"])}


def read_record(data: Any) -> FitRecord:
    """Read what `record_to_dict` returned, and refuse what is missing, unknown or wrong."""
    check_keys(data, _PATH, ("target", "n_rows", "date", "settings", "scores"))
    target, n_rows, date = data["target"], data["n_rows"], data["date"]
    return FitRecord(
        None if target is None else read_text(target, f"{_PATH}.target"),
        None if n_rows is None else read_whole(n_rows, f"{_PATH}.n_rows"),
        None if date is None else read_text(date, f"{_PATH}.date"),
        read_mapping(data["settings"], f"{_PATH}.settings", _read_setting),
        tuple(read_list(data["scores"], f"{_PATH}.scores", _read_scores)),
    )


def _read_setting(value: Any, path: str) -> Setting:
    return None if value is None else read_category(value, path)


def _read_scores(data: Any, path: str) -> RowScores:
    check_keys(data, path, ("rows", "n_rows", "values", "errors"))
    values = read_mapping(data["values"], f"{path}.values", read_number)
    errors = read_mapping(data["errors"], f"{path}.errors", read_amount)
    unknown = next((name for name in errors if name not in values), None)
    require(unknown is None, f"{path}.errors", "those of the values", unknown)
    return RowScores(
        read_choice(data["rows"], f"{path}.rows", KINDS_OF_ROWS),
        read_whole(data["n_rows"], f"{path}.n_rows"),
        values,
        errors,
    )
