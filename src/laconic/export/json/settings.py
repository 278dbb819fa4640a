"""Settings of a model as plain values, as files have them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

from laconic._checks import require
from laconic.boosting import InitialRule, Settings
from laconic.boosting.settings import OWN_SEARCH, PLAIN_SETTINGS
from laconic.constraints import read_constraints
from laconic.data.entries import (
    check_has,
    check_keys,
    read_amount,
    read_bool,
    read_category,
    read_choice,
    read_list,
    read_number,
    read_text,
    read_whole,
)
from laconic.export.json.conditions import condition_to_dict, read_condition
from laconic.export.json.constraints import read_constraint_entries
from laconic.export.portable import named_loss
from laconic.losses import NAMED_LOSSES, loss_settings, make_loss
from laconic.model.conditions import Proposition, Query
from laconic.tasks import Task

_RULES = ("loss", "propositions", "constraints", "initial_rules", "excluded_rules", "class_weight")


def settings_to_dict(settings: Settings) -> dict[str, Any]:
    """Describe settings by plain values."""
    plain = {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in vars(settings).items()
        if name in PLAIN_SETTINGS
    }
    if not isinstance(settings.search, str):
        plain["search"] = OWN_SEARCH
    given = settings.propositions
    return {
        **plain,
        "loss": settings.loss if isinstance(settings.loss, str) else loss_to_dict(settings.loss),
        "propositions": None if given is None else _conditions(given),
        "constraints": {} if settings.constraints is None else dict(settings.constraints.settings),
        "initial_rules": [
            {"conditions": _conditions(rule.query), "weight": rule.weight, "output": rule.output}
            for rule in settings.initial_rules
        ],
        "excluded_rules": [_conditions(query) for query in settings.excluded_rules],
        "class_weight": _class_weight(settings.class_weight),
    }


def _conditions(propositions: Collection[Proposition] | Query) -> list[dict[str, Any]]:
    return [condition_to_dict(each) for each in propositions]


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

    def read_conditions(value: Any, path: str) -> tuple[Proposition, ...]:
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

    given = data["propositions"]
    constraints = read_constraint_entries(data["constraints"], f"{path}.constraints")
    queries = read_list(data["excluded_rules"], f"{path}.excluded_rules", read_conditions)
    rules = read_list(data["initial_rules"], f"{path}.initial_rules", read_initial_rule)
    return Settings(
        **plain,
        loss=_read_loss(data["loss"], f"{path}.loss"),
        propositions=None if given is None else read_conditions(given, f"{path}.propositions"),
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
    "tuple[str, ...]": lambda value, path: tuple(read_list(value, path, read_text)),
}
