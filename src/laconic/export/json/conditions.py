"""Conditions as plain values, as files have them."""

from __future__ import annotations

from collections.abc import Collection
from datetime import date, datetime, time, timedelta
from typing import Any

from laconic._util.checks import require
from laconic.tables.tables import whole_date
from laconic.tables.times import Moment, kind_of
from laconic.tables.validators import (
    check_keys,
    read_category,
    read_choice,
    read_list,
    read_number,
    read_text,
)
from laconic.terms.conditions import (
    MISSING_RELATIONS,
    RELATIONS,
    SET_RELATIONS,
    THRESHOLD_RELATIONS,
    Condition,
)

_MOMENTS: dict[str, Any] = {"date": date, "datetime": datetime, "time": time}


def condition_to_dict(condition: Condition) -> dict[str, Any]:
    """Describe a condition by plain values.

    Examples
    --------
    >>> condition_to_dict(Condition("day", ">", date(2024, 3, 1)))
    {'feature': 'day', 'relation': '>', 'value': {'date': '2024-03-01'}}
    """
    value: Any = condition.value
    kind = kind_of(value)
    if isinstance(value, tuple):
        value = list(value)
    elif kind is not None:
        value = {kind: value.total_seconds() if kind == "duration" else value.isoformat()}
    return {"feature": condition.feature, "relation": condition.relation, "value": value}


def read_condition(data: Any, path: str, feature_names: Collection[str]) -> Condition:
    """Read what `condition_to_dict` returned."""
    check_keys(data, path, ("feature", "relation", "value"))
    feature = read_text(data["feature"], f"{path}.feature")
    require(
        is_feature(feature, feature_names), f"{path}.feature", "one of the feature_names", feature
    )
    relation = read_choice(data["relation"], f"{path}.relation", RELATIONS)
    value, value_path = data["value"], f"{path}.value"
    if relation in MISSING_RELATIONS:
        require(value is None, value_path, f"null for the relation {relation!r}", value)
        return Condition(feature, relation)
    if relation in SET_RELATIONS:
        values = read_list(value, value_path, read_category)
        are_texts = {isinstance(each, str) for each in values}
        require(len(are_texts) == 1, value_path, "strings, or numbers, at least one", value)
        return Condition(feature, relation, tuple(values))
    if isinstance(value, dict):
        return Condition(feature, relation, _read_moment(value, value_path))
    if relation in THRESHOLD_RELATIONS:
        return Condition(feature, relation, read_number(value, value_path))
    return Condition(feature, relation, read_category(value, value_path))


def is_feature(name: str, feature_names: Collection[str]) -> bool:
    """Check whether a name is that of a feature, or of a part of the dates of one."""
    return name in feature_names or whole_date(name, feature_names) is not None


def _read_moment(data: Any, path: str) -> Moment:
    kinds = (*_MOMENTS, "duration")
    require(len(data) == 1 and next(iter(data)) in kinds, path, f"one of {', '.join(kinds)}", data)
    [(kind, value)] = data.items()
    if kind == "duration":
        return timedelta(seconds=read_number(value, f"{path}.duration"))
    text = read_text(value, f"{path}.{kind}")
    try:
        moment: Moment = _MOMENTS[kind].fromisoformat(text)
    except ValueError:
        require(False, f"{path}.{kind}", "written as 2024-03-01T12:30:00", text)
        raise
    return moment
