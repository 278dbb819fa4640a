"""Losses for counts and amounts, whose raw prediction is the logarithm of the mean."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from laconic._util.types import Floats

# The constant where all targets are 0: the loss falls for ever, but hardly any more.
_LEAST_LOGARITHM = math.log(np.finfo(np.float64).eps)


class LogLinkLoss:
    """What losses with a logarithmic link share.

    They are half the deviance of a distribution without what does not depend on the raw
    prediction, and linear in the target: rows that differ in the target only count as their mean.
    """

    name: ClassVar[str]
    link: ClassVar[str] = "log"
    takes_means: ClassVar[bool] = True

    @property
    def variance_power(self) -> float:
        """The p of a variance that grows like mean**p."""
        raise NotImplementedError

    def inverse_link(self, raw_predictions: Floats) -> Floats:
        """Mean of the target: ``exp(f)``."""
        means: Floats = np.exp(raw_predictions)
        return means

    def constant(self, y: Floats, sample_weight: Floats | None = None) -> float:
        """Best raw prediction for all rows: the logarithm of the mean."""
        mean = float(np.average(y, weights=sample_weight))
        return math.log(mean) if mean > 0.0 else _LEAST_LOGARITHM

    def check_target(self, y: Floats) -> None:
        """Refuse a target for which the loss has no minimum."""
        needs_positive = self.variance_power >= 2
        is_wrong = y <= 0 if needs_positive else y < 0
        if is_wrong.any():
            row = int(is_wrong.argmax())
            required, hint = (
                ("be positive", "Leave out rows without an amount, or use loss='tweedie'")
                if needs_positive
                else ("not be negative", "Use loss='squared' for numbers of both signs")
            )
            raise ValueError(
                f"The target y must {required} with loss={self.name!r}. Got {float(y[row])!r} at "
                f"row {row}. {hint}."
            )
        if not y.any():
            raise ValueError(
                f"The target y must have a positive sum with loss={self.name!r}. Got nothing but "
                "zeros. Add rows where something was counted."
            )


@dataclass(frozen=True)
class PoissonLoss(LogLinkLoss):
    """Poisson loss ``exp(f) - y f``, for counts and rates.

    Examples
    --------
    >>> loss = PoissonLoss()
    >>> y, raw_predictions = np.array([3.0, 1.0]), np.array([0.0, 0.0])
    >>> loss.gradients(y, raw_predictions)
    array([-2.,  0.])
    >>> loss.hessians(y, raw_predictions)
    array([1., 1.])
    """

    name: ClassVar[str] = "poisson"

    @property
    def variance_power(self) -> float:
        """1: the variance is the mean."""
        return 1.0

    def value(self, y: Floats, raw_predictions: Floats) -> Floats:
        """Loss of each row: ``exp(f) - y f``."""
        return np.exp(raw_predictions) - y * raw_predictions

    def gradients(self, y: Floats, raw_predictions: Floats) -> Floats:
        """First derivative of each row's loss: ``exp(f) - y``."""
        return np.exp(raw_predictions) - y

    def hessians(self, y: Floats, raw_predictions: Floats) -> Floats:
        """Second derivative of each row's loss: ``exp(f)``."""
        hessians: Floats = np.exp(raw_predictions)
        return hessians


@dataclass(frozen=True)
class GammaLoss(LogLinkLoss):
    """Gamma loss ``y exp(-f) + f``, for positive amounts whose spread grows with their mean.

    Examples
    --------
    >>> loss = GammaLoss()
    >>> y, raw_predictions = np.array([3.0, 1.0]), np.array([0.0, 0.0])
    >>> loss.gradients(y, raw_predictions)
    array([-2.,  0.])
    >>> loss.hessians(y, raw_predictions)
    array([3., 1.])
    """

    name: ClassVar[str] = "gamma"

    @property
    def variance_power(self) -> float:
        """2: the variance is proportional to the squared mean."""
        return 2.0

    def value(self, y: Floats, raw_predictions: Floats) -> Floats:
        """Loss of each row: ``y exp(-f) + f``."""
        return y * np.exp(-raw_predictions) + raw_predictions

    def gradients(self, y: Floats, raw_predictions: Floats) -> Floats:
        """First derivative of each row's loss: ``1 - y exp(-f)``."""
        return 1.0 - y * np.exp(-raw_predictions)

    def hessians(self, y: Floats, raw_predictions: Floats) -> Floats:
        """Second derivative of each row's loss: ``y exp(-f)``."""
        return y * np.exp(-raw_predictions)


@dataclass(frozen=True)
class TweedieLoss(LogLinkLoss):
    """Tweedie loss, for amounts that are often exactly zero, such as the claims of a policy.

    ``y exp((1 - p) f) / (p - 1) + exp((2 - p) f) / (2 - p)`` with the power p: the closer to 1, the
    more it is like counting, and the closer to 2, the more like amounts.

    Parameters
    ----------
    power : float in (1, 2), default=1.5
        The variance grows like the mean to that power.

    Examples
    --------
    >>> loss = TweedieLoss(power=1.5)
    >>> y, raw_predictions = np.array([3.0, 0.0]), np.array([0.0, 0.0])
    >>> loss.gradients(y, raw_predictions)
    array([-2.,  1.])
    >>> loss.hessians(y, raw_predictions)
    array([2. , 0.5])
    """

    power: float = 1.5

    name: ClassVar[str] = "tweedie"

    def __post_init__(self) -> None:
        if not 1.0 < self.power < 2.0:
            raise ValueError(
                "The 'power' of a TweedieLoss must be a number between 1 and 2. Got "
                f"{self.power!r} instead. Use PoissonLoss for 1 and GammaLoss for 2."
            )

    @property
    def variance_power(self) -> float:
        """The power itself."""
        return self.power

    def value(self, y: Floats, raw_predictions: Floats) -> Floats:
        """Loss of each row."""
        falling, rising = self._parts(y, raw_predictions)
        return falling / (self.power - 1.0) + rising / (2.0 - self.power)

    def gradients(self, y: Floats, raw_predictions: Floats) -> Floats:
        """First derivative of each row's loss: ``exp((2 - p) f) - y exp((1 - p) f)``."""
        falling, rising = self._parts(y, raw_predictions)
        return rising - falling

    def hessians(self, y: Floats, raw_predictions: Floats) -> Floats:
        """Second derivative of each row's loss."""
        falling, rising = self._parts(y, raw_predictions)
        return (self.power - 1.0) * falling + (2.0 - self.power) * rising

    def _parts(self, y: Floats, raw_predictions: Floats) -> tuple[Floats, Floats]:
        return (
            y * np.exp((1.0 - self.power) * raw_predictions),
            np.exp((2.0 - self.power) * raw_predictions),
        )
