"""Settings of a model as plain values, as files have them.

The constraints on the rules of a model, as a file tells them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from typing import Any

from laconic._util.checks import require
from laconic.boosting import InitialRule, Settings
from laconic.boosting.settings import OWN_SEARCH, PLAIN_SETTINGS
from laconic.candidates.constraints import read_constraints
from laconic.export.json.conditions import condition_to_dict, read_condition
from laconic.export.portable import named_loss
from laconic.losses import NAMED_LOSSES, loss_settings, make_loss
from laconic.models.tasks import Task
from laconic.tables.validators import (
    check_has,
    check_keys,
    read_amount,
    read_bool,
    read_category,
    read_choice,
    read_list,
    read_mapping,
    read_number,
    read_text,
    read_whole,
)
from laconic.terms.conditions import Condition, Query

_RULES = ("loss", "conditions", "constraints", "initial_rules", "excluded_rules", "class_weight")


def settings_to_dict(settings: Settings) -> dict[str, Any]:
    """Describe settings by plain values."""
    plain = {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in vars(settings).items()
        if name in PLAIN_SETTINGS
    }
    if not isinstance(settings.search, str):
        plain["search"] = OWN_SEARCH
    given = settings.conditions
    return {
        **plain,
        "loss": settings.loss if isinstance(settings.loss, str) else loss_to_dict(settings.loss),
        "conditions": None if given is None else _conditions(given),
        "constraints": {} if settings.constraints is None else dict(settings.constraints.settings),
        "initial_rules": [
            {"conditions": _conditions(rule.query), "weight": rule.weight, "output": rule.output}
            for rule in settings.initial_rules
        ],
        "excluded_rules": [_conditions(query) for query in settings.excluded_rules],
        "class_weight": _class_weight(settings.class_weight),
    }


def _conditions(conditions: Collection[Condition] | Query) -> list[dict[str, Any]]:
    return [condition_to_dict(each) for each in conditions]


def _class_weight(given: Mapping[Any, float] | str | None) -> Any:
    if given is None or isinstance(given, str):
        return given
    # Classes need not be texts, as the keys of an object are.
    return [
        [label.item() if hasattr(label, "item") else label, float(weight)]
        for label, weight in given.items()
    ]


def read_settings(data: Any, path: str, feature_names: Collection[str], task: Task) -> Settings:
    """Read what `settings_to_dict` returned."""
    check_keys(data, path, (*PLAIN_SETTINGS, *_RULES))
    plain = {
        name: _READERS[kind](data[name], f"{path}.{name}") for name, kind in PLAIN_SETTINGS.items()
    }

    def read_conditions(value: Any, path: str) -> tuple[Condition, ...]:
        return tuple(
            read_list(value, path, lambda each, path: read_condition(each, path, feature_names))
        )

    def read_initial_rule(value: Any, path: str) -> InitialRule:
        check_keys(value, path, ("conditions", "weight", "output"))
        weight, output = value["weight"], value["output"]
        if output is not None:
            is_output = read_whole(output, f"{path}.output") < max(1, len(task.outputs))
            require(is_output, f"{path}.output", "one of the outputs", output)
        return InitialRule(
            Query(read_conditions(value["conditions"], f"{path}.conditions")),
            None if weight is None else read_number(weight, f"{path}.weight"),
            output,
        )

    given = data["conditions"]
    constraints = read_constraint_entries(data["constraints"], f"{path}.constraints")
    queries = read_list(data["excluded_rules"], f"{path}.excluded_rules", read_conditions)
    rules = read_list(data["initial_rules"], f"{path}.initial_rules", read_initial_rule)
    return Settings(
        **plain,
        loss=_read_loss(data["loss"], f"{path}.loss"),
        conditions=None if given is None else read_conditions(given, f"{path}.conditions"),
        constraints=read_constraints(tuple(feature_names), classes=task.labels, **constraints),
        initial_rules=tuple(rules),
        excluded_rules=tuple(map(Query, queries)),
        class_weight=_read_class_weight(data["class_weight"], f"{path}.class_weight"),
    )


def loss_to_dict(loss: Any) -> dict[str, Any]:
    """Describe a named loss by plain values."""
    known = named_loss(loss)
    return {"name": known.name, **loss_settings(known)}


def _read_loss(value: Any, path: str) -> Any:
    if isinstance(value, str):
        return read_choice(value, path, ("auto", *NAMED_LOSSES))
    check_has(value, path, ("name",))
    name = read_choice(value["name"], f"{path}.name", NAMED_LOSSES)
    settings = {
        key: read_number(each, f"{path}.{key}") for key, each in value.items() if key != "name"
    }
    try:
        return make_loss(name, settings)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{path} must suit the loss {name!r}. {error}") from None


def _read_class_weight(value: Any, path: str) -> dict[Any, float] | str | None:
    if value is None or isinstance(value, str):
        return None if value is None else read_choice(value, path, ("balanced",))

    def read_pair(pair: Any, path: str) -> tuple[Any, float]:
        is_pair = isinstance(pair, list) and len(pair) == 2
        require(is_pair, path, "an array of a class and its weight", pair)
        return read_category(pair[0], f"{path}[0]"), read_amount(pair[1], f"{path}[1]")

    return dict(read_list(value, path, read_pair))


def _read_kind(value: Any, path: str) -> str:
    return read_choice(value, path, ("nominal", "ordered"))


def _or(other: Any, read: Callable[[Any, str], Any]) -> Callable[[Any, str], Any]:
    """Read a value that may also be something else."""

    def read_either(value: Any, path: str) -> Any:
        return other if type(value) is type(other) and value == other else read(value, path)

    return read_either


_READERS: dict[str, Callable[[Any, str], Any]] = {
    "Any": read_text,
    "bool": read_bool,
    "float": read_amount,
    "float | None": _or(None, read_amount),
    "float | str": _or("auto", read_amount),
    "int": read_whole,
    "int | None": _or(None, read_whole),
    "int | str | None": _or("auto", _or(None, read_whole)),
    "str": read_text,
    "Mapping[str, str]": lambda value, path: read_mapping(value, path, _read_kind),
    "tuple[str, ...]": lambda value, path: tuple(read_list(value, path, read_text)),
}


def read_constraint_entries(data: Any, path: str) -> dict[str, Any]:
    """Return the constraints by the names of the parameters that say so."""
    check_keys(data, path, (), optional=_ENTRIES)
    return {name: _ENTRIES[name](value, f"{path}.{name}") for name, value in data.items()}


def _read_interactions(value: Any, path: str) -> str | list[list[str]]:
    if isinstance(value, str):
        return read_choice(value, path, ("pairwise", "no_interactions"))
    return read_list(value, path, lambda names, path: read_list(names, path, read_text))


def _or_inf(value: Any, path: str) -> float:
    """Read a cost, which is null for a feature that no rule uses."""
    return math.inf if value is None else read_amount(value, path)


def _read_direction(value: Any, path: str) -> int:
    require(not isinstance(value, bool) and value in (-1, 1), path, "-1 or 1", value)
    return int(value)


def _read_directions(value: Any, path: str) -> int | dict[str, int]:
    """Read a direction, of one of three or more classes if it is named."""
    if not isinstance(value, dict):
        return _read_direction(value, path)
    require(len(value) == 1, path, "-1 or 1, or an object of one class with -1 or 1", value)
    return read_mapping(value, path, _read_direction)


_ENTRIES: dict[str, Callable[[Any, str], Any]] = {
    "monotonic_cst": lambda value, path: read_mapping(value, path, _read_directions),
    "interaction_cst": _read_interactions,
    "feature_costs": lambda value, path: read_mapping(value, path, _or_inf),
    "weight_signs": lambda value, path: read_choice(value, path, ("positive", "negative")),
}
