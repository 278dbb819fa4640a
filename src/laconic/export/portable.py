"""Fitted models as plain values, from which all exports are made.

A `PortableModel` has the kind of each column that terms use, such as numbers or text, which follows
from the terms: formats with types need it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any, Literal, TypeAlias

from laconic._util.json_format import is_unicode
from laconic.losses import NAMED_LOSSES, Loss, NamedLoss, known_loss
from laconic.models import RuleModel
from laconic.tables.columns import Category
from laconic.tables.tables import whole_date
from laconic.tables.times import NAMES_OF_PARTS, kind_of
from laconic.terms.conditions import Condition, Query
from laconic.terms.rules import RuleEnsemble, Term
from laconic.terms.slopes import Slope
from laconic.trust import Intervals
from laconic.trust.intervals import target_range

Kind: TypeAlias = Literal["number", "boolean", "text", "date", "time", "duration", "any"]


@dataclass(frozen=True)
class PortableModel:
    """The part of a fitted model that is needed for predictions."""

    ensemble: RuleEnsemble
    """The terms. Numbers in conditions are floats, also if they mean booleans or integers, except
    in columns of booleans only."""
    link: str
    """Whether raw predictions are log odds ("logistic"), logarithms of predictions ("log"),
    predictions as they are ("identity"), or one for each class, whose exponentials are divided by
    their sum ("softmax")."""
    classes: tuple[Category, ...] | None
    """The classes; None for a regression. Of two, positive weights vote for the second one. Exports
    with classes have probabilities."""
    kinds: dict[str, Kind]
    """The columns that terms use, in the order of the training table. In a column of kind "any",
    rules only use whether there is a value."""
    parts: dict[str, tuple[str, str]] = field(default_factory=dict)
    """Parts of dates that terms use, such as "weekday of booked": the part, and the column."""
    intervals: Intervals | None = None
    """How sure predictions are, if the model was calibrated."""
    lowest: float | None = None
    """The smallest value that the target may have, if there is one."""

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Return the names of all columns of the training table."""
        return self.ensemble.feature_names or ()

    @property
    def is_ascending(self) -> bool:
        """Return whether the classes are in ascending order, as they are in `classes_`."""
        classes: Sequence[Any] = self.classes or (0, 1)
        return bool(classes[0] < classes[-1])

    @property
    def texts(self) -> list[str]:
        """Return the texts in conditions and classes."""
        values = [v for p in self.ensemble.conditions for v in compared_values(p)]
        return [value for value in (*values, *(self.classes or ())) if isinstance(value, str)]

    def part_kind(self, name: str) -> Kind:
        """Return the kind of a column, or of a part of dates: names are text, others numbers."""
        if name not in self.parts:
            return self.kinds[name]
        return "text" if self.parts[name][0] in NAMES_OF_PARTS else "number"


def portable_model(model: RuleModel) -> PortableModel:
    """Return what an export needs of a fitted model with one of the named losses.

    Examples
    --------
    >>> from laconic import RuleBoostingRegressor
    >>> X = [[1, "a", True], [2, "a", None], [3, "b", False], [4, "b", True]]
    >>> model = RuleBoostingRegressor(n_terms=2).fit(X, [5, 5, 1, 1])
    >>> portable_model(model).kinds
    {'x0': 'number'}
    """
    ensemble = checked_model(model).ensemble_
    names = tuple(map(str.__str__, ensemble.feature_names or ()))
    values = compared_by_feature(ensemble)
    found = {name: whole_date(name, names) for name in values}
    parts = {name: part for name, part in found.items() if part is not None}
    dates = {column for _, column in parts.values()}
    kinds = {name: _kind(name, values[name]) for name in names if name in values}
    kinds |= dict.fromkeys(dates, "date")
    kinds = {name: kinds[name] for name in names if name in kinds}
    for text in (*kinds, *chain.from_iterable(values.values())):
        if isinstance(text, str) and not is_unicode(text):
            raise ValueError(
                "The names and categories of an exported model must be Unicode text. Got "
                f"{text!r}, which has an unpaired surrogate. Fit the model without it."
            )
    terms = tuple(_plain_term(term, kinds) for term in ensemble)
    labels, lowest = model.task_.labels, target_range(model.loss_)[0]
    return PortableModel(
        RuleEnsemble(terms, ensemble.intercept, names, outputs=ensemble.outputs),
        named_loss(model.loss_).link,
        None if labels is None else tuple(labels),
        kinds,
        parts,
        model.own_trust.intervals,
        None if math.isinf(lowest) else lowest,
    )


def largest_raw_prediction(ensemble: RuleEnsemble) -> float:
    """Return an upper bound on the absolute value of all raw predictions."""
    return sum(map(abs, ensemble.intercepts)) + sum(abs(term.effect) for term in ensemble)


def single_output(model: RuleModel, target: str) -> RuleModel:
    """Return a model with one raw prediction per row; refuse others."""
    n_classes = len(checked_model(model).ensemble_.outputs)
    if n_classes:
        raise ValueError(
            f"{target} needs a model of two classes or of numbers. Got one of {n_classes} classes. "
            "Use Python, JavaScript, SQL, ONNX or JSON instead."
        )
    return model


def checked_model(model: Any) -> RuleModel:
    """Return the model if it is a fitted RuleModel; refuse others."""
    if not isinstance(model, RuleModel):
        raise TypeError(
            "Only a RuleModel can be exported, such as a RuleBoostingClassifier or a "
            f"RuleBoostingRegressor. Got {type(model).__name__}. From a pipeline, pass its last "
            "step, pipeline[-1]."
        )
    if not hasattr(model, "ensemble_"):
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(model)
    return model


def refuse_times(portable: PortableModel, target: str) -> None:
    """Refuse dates, times and durations for a target that does not support them."""
    for name, kind in portable.kinds.items():
        if kind in ("date", "time", "duration"):
            raise ValueError(
                f"The export to {target} must have columns of numbers, booleans or text. Got terms "
                f"that use {kind}s in {name!r}. Fit the model with numbers in their place, such "
                "as days since a fixed date, or export it to SQL, Python or JavaScript."
            )


def named_loss(loss: Loss) -> NamedLoss:
    """Return a loss if it has a name; refuse others."""
    named = known_loss(loss)
    if named is None:
        raise ValueError(
            f"An exported model must have one of the losses {', '.join(map(repr, NAMED_LOSSES))}. "
            f"Got {type(loss).__name__}, whose code an export cannot contain. ensemble_.to_frame() "
            "gives the terms as a table, and pickle keeps the loss."
        )
    return named


def _kind(name: str, values: Sequence[Any]) -> Kind:
    time_kind = next((kind for kind in map(kind_of, values) if kind is not None), None)
    if time_kind is not None:
        return "date" if time_kind == "datetime" else time_kind
    types = {*map(type, values)}
    if str in types and len(types) > 1:
        raise ValueError(
            "The terms of a feature must compare it with text or with numbers. Those of "
            f"{name!r} do both, so that no column suits all of them. Remove the terms of one kind."
        )
    if not types:
        return "any"
    if types == {bool}:
        return "boolean"
    return "text" if types == {str} else "number"


def compared_by_feature(terms: Iterable[Term]) -> dict[str, list[Any]]:
    """Return the values that terms compare each of their features with."""
    found: dict[str, list[Any]] = {}
    for term in terms:
        for each in (term,) if isinstance(term, Slope) else term.query:
            found.setdefault(each.feature, []).extend(compared_values(each))
    return found


def compared_values(part: Condition | Slope) -> tuple[Any, ...]:
    """Return the values that a condition compares with, or the ends of a slope."""
    if isinstance(part, Slope):
        return part.lower, part.upper
    value = part.value
    if value is None:
        return ()
    return value if isinstance(value, tuple) else (value,)


def _plain_term(term: Term, kinds: dict[str, Kind]) -> Term:
    if isinstance(term, Slope):
        return replace(term, feature=str.__str__(term.feature))
    conditions = (_plain(condition, kinds.get(condition.feature)) for condition in term.query)
    return replace(term, query=Query(tuple(conditions)))


def _plain(condition: Condition, kind: Kind | None) -> Condition:
    value: Any = condition.value
    if kind == "number" and value is not None:
        value = tuple(map(float, value)) if isinstance(value, tuple) else float(value)
    # The texts of NumPy are subclasses of str with another representation.
    return Condition(str.__str__(condition.feature), str.__str__(condition.relation), value)
