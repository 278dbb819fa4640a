"""Losses by name, and user-supplied losses."""

from __future__ import annotations

from dataclasses import asdict, fields
from typing import Any, TypeAlias, cast, get_args

from laconic.losses.functions import (
    GammaLoss,
    HuberLoss,
    LogisticLoss,
    Loss,
    MultinomialLoss,
    PoissonLoss,
    SquaredLoss,
    TweedieLoss,
)

_METHODS = ("value", "gradients", "hessians", "inverse_link")

NamedLoss: TypeAlias = (
    LogisticLoss | MultinomialLoss | SquaredLoss | PoissonLoss | GammaLoss | TweedieLoss | HuberLoss
)

NAMED_LOSSES: dict[str, NamedLoss] = {kind.name: kind() for kind in get_args(NamedLoss)}
"""The losses with names in files, exports and texts: each has a ``name`` and a ``link``."""

ABSENT_LOSSES = dict.fromkeys(
    ("quantile", "pinball", "absolute_error"),
    "The loss of a quantile has no curvature, so that no search could prove which rule lowers it "
    "most. Use loss='huber' for targets with outliers; for intervals, call "
    "its method 'conformalize', or fit sklearn's HistGradientBoostingRegressor(loss='quantile').",
)
"""Names in other libraries of losses that are not supported, and why."""


def known_loss(loss: Loss) -> NamedLoss | None:
    """Return a loss if it is one of the named losses, else None.

    Examples
    --------
    >>> known_loss(SquaredLoss()).link
    'identity'
    """
    # A subclass may override any method, so only the classes themselves are known.
    is_known = any(type(named) is type(loss) for named in NAMED_LOSSES.values())
    return cast(NamedLoss, loss) if is_known else None


def takes_means(loss: Loss) -> bool:
    """Check whether rows with the same raw prediction may be replaced by their mean target.

    That is the attribute ``takes_means`` of a loss, False where there is none.

    Examples
    --------
    >>> takes_means(SquaredLoss()), takes_means(LogisticLoss())
    (True, False)
    """
    return getattr(loss, "takes_means", False) is True


def loss_settings(loss: NamedLoss) -> dict[str, Any]:
    """Return the parameters of a named loss.

    Examples
    --------
    >>> loss_settings(TweedieLoss(1.7)), loss_settings(SquaredLoss())
    ({'power': 1.7}, {})
    """
    return asdict(loss)


def make_loss(name: str, settings: dict[str, float]) -> NamedLoss:
    """Make a named loss from what `loss_settings` returned.

    Examples
    --------
    >>> make_loss("tweedie", {"power": 1.7})
    TweedieLoss(power=1.7)
    """
    kind = type(NAMED_LOSSES[name])
    known = [field.name for field in fields(kind)]
    if sorted(settings) != sorted(known):
        raise ValueError(
            f"The settings of the loss {name!r} must be {known}. Got {sorted(settings)}."
        )
    return kind(**settings)


def get_loss(loss: str | Loss) -> Loss:
    """Return the loss of a name, or the given loss after a check that it has all methods.

    Examples
    --------
    >>> get_loss("squared")
    SquaredLoss()
    >>> get_loss(LogisticLoss())
    LogisticLoss()
    """
    required = (
        f"'loss' must be one of {', '.join(map(repr, NAMED_LOSSES))} "
        f"or an object with the methods {', '.join(_METHODS)}."
    )
    if isinstance(loss, str):
        if loss not in NAMED_LOSSES:
            if loss in ABSENT_LOSSES:
                raise ValueError(f"There is no loss {loss!r}. {ABSENT_LOSSES[loss]}")
            raise ValueError(f"{required} Got {loss!r} instead. Check the spelling.")
        return NAMED_LOSSES[loss]
    if isinstance(loss, type):
        name = loss.__name__
        raise TypeError(f"{required} Got the class {name} instead. Pass an instance: {name}().")
    missing = [method for method in _METHODS if not callable(getattr(loss, method, None))]
    if missing:
        raise TypeError(
            f"{required} Got {loss!r}, which lacks {', '.join(missing)}. Add these methods."
        )
    return loss
