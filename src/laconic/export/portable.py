"""What every target needs to know about a fitted model, and what it must be to be exported.

A `PortableModel` is made of plain values. It says of each column that rules use whether it holds
numbers, booleans or text: a target with types has to know, and the rules tell.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from sklearn.utils.validation import check_is_fitted

from laconic.data.columns import Category
from laconic.estimators import RuleBoostingClassifier, RuleBoostingRegressor
from laconic.losses import LogisticLoss, Loss, SquaredLoss
from laconic.model.conditions import Proposition, Query
from laconic.model.rules import Rule, RuleEnsemble

__all__ = ["Estimator", "PortableModel", "checked_estimator", "loss_name", "portable_model"]

Estimator: TypeAlias = RuleBoostingClassifier | RuleBoostingRegressor
Kind: TypeAlias = Literal["number", "boolean", "text", "any"]

LOSS_NAMES: dict[type, str] = {loss: loss.name for loss in (LogisticLoss, SquaredLoss)}


@dataclass(frozen=True)
class PortableModel:
    """A fitted model without the fit.

    Parameters
    ----------
    ensemble : RuleEnsemble
        The rules. Numbers that conditions compare with are floats, also where they stand for
        booleans or for integers, except in columns that hold nothing but booleans.
    is_logistic : bool
        Whether raw predictions are log odds; otherwise they are predictions as they are.
    classes : tuple or None
        The two classes in ascending order, None for a regression.
    kinds : dict of str to {"number", "boolean", "text", "any"}
        The columns that rules use, in the order of the training table. Of "any", rules only ask
        whether there is a value.
    """

    ensemble: RuleEnsemble
    is_logistic: bool
    classes: tuple[Category, ...] | None
    kinds: dict[str, Kind]

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Names of all columns of the training table."""
        return self.ensemble.feature_names or ()

    @property
    def largest_raw_prediction(self) -> float:
        """Number that no raw prediction exceeds, whatever its sign."""
        return abs(self.ensemble.intercept) + sum(abs(rule.weight) for rule in self.ensemble)


def portable_model(model: Estimator) -> PortableModel:
    """Take from a fitted estimator what an export needs.

    Parameters
    ----------
    model : RuleBoostingClassifier or RuleBoostingRegressor
        Fitted, with one of the named losses.

    Returns
    -------
    portable : PortableModel
        Made of plain values.

    Examples
    --------
    >>> X = [[1, "a", True], [2, "a", None], [3, "b", False], [4, "b", True]]
    >>> model = RuleBoostingRegressor(n_rules=2).fit(X, [5, 5, 1, 1])
    >>> portable_model(model).kinds
    {'x0': 'number'}
    """
    ensemble = checked_estimator(model).ensemble_
    names = tuple(map(str.__str__, ensemble.feature_names or ()))
    used = {proposition.feature for rule in ensemble for proposition in rule.query}
    kinds = {name: _kind(name, ensemble) for name in names if name in used}
    rules = tuple(
        Rule(Query(tuple(_plain(p, kinds[p.feature]) for p in rule.query)), rule.weight)
        for rule in ensemble
    )
    is_classifier = isinstance(model, RuleBoostingClassifier)
    _check_texts([*kinds, *(p.value for rule in rules for p in rule.query)])
    return PortableModel(
        RuleEnsemble(rules, ensemble.intercept, names),
        loss_name(model.loss_) == LogisticLoss.name,
        tuple(model.classes_.tolist()) if is_classifier else None,
        kinds,
    )


def checked_estimator(model: Any) -> Estimator:
    """Return a model that is of ours and fitted."""
    if not isinstance(model, RuleBoostingClassifier | RuleBoostingRegressor):
        raise TypeError(
            "Only a RuleBoostingClassifier or a RuleBoostingRegressor can be exported. "
            f"Got {type(model).__name__}. From a pipeline, pass its last step, pipeline[-1]."
        )
    check_is_fitted(model)
    return model


def loss_name(loss: Loss) -> str:
    """Name of a loss that other programs can know."""
    # A subclass may override any method, so only the classes themselves are known by name.
    if type(loss) in LOSS_NAMES:
        return LOSS_NAMES[type(loss)]
    names = " or ".join(map(repr, LOSS_NAMES.values()))
    raise ValueError(
        f"An exported model must have the loss {names}. Got {type(loss).__name__}, whose code an "
        "export cannot hold. ensemble_.to_frame() gives the rules as a table, and pickle keeps "
        "the loss."
    )


def _kind(name: str, ensemble: RuleEnsemble) -> Kind:
    values = [p.value for rule in ensemble for p in rule.query if p.feature == name]
    types = {type(value) for value in values if value is not None}
    if str in types and len(types) > 1:
        raise ValueError(
            "The conditions of a feature must compare with text or with numbers. Those of "
            f"{name!r} do both, so that no column fits all of them. Remove the rules of one kind."
        )
    if not types:
        return "any"
    if types == {bool}:
        return "boolean"
    return "text" if types == {str} else "number"


def _check_texts(texts: Sequence[Any]) -> None:
    for text in texts:
        if isinstance(text, str) and any("\ud800" <= character <= "\udfff" for character in text):
            raise ValueError(
                "The names and categories of an exported model must be Unicode text. Got "
                f"{text!r}, which has half a surrogate pair. Fit the model without it."
            )


def _plain(proposition: Proposition, kind: Kind) -> Proposition:
    value = proposition.value
    if kind == "number" and value is not None:
        value = float(value)
    # The texts of NumPy are texts, but do not look like them when they are written down.
    return Proposition(str.__str__(proposition.feature), str.__str__(proposition.relation), value)
