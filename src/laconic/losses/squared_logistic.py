"""The losses of the paper: for numbers, and for two classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import expit

from laconic._util.types import Floats


@dataclass(frozen=True)
class SquaredLoss:
    """Squared error ``(y - f)**2``, for real targets.

    This is the paper's loss. scikit-learn's squared error is half of it, so the same
    ``l2_regularization`` shrinks weights twice as much there.

    Examples
    --------
    >>> loss = SquaredLoss()
    >>> y, raw_predictions = np.array([3.0, 1.0]), np.array([1.0, 1.0])
    >>> loss.value(y, raw_predictions)
    array([4., 0.])
    >>> loss.gradients(y, raw_predictions)
    array([-4.,  0.])
    >>> loss.hessians(y, raw_predictions)
    array([2., 2.])
    """

    name: ClassVar[str] = "squared"
    link: ClassVar[str] = "identity"
    takes_means: ClassVar[bool] = True
    """The mean of the targets of rows with the same raw prediction is all there is to know of them:
    it changes neither gradients nor hessians, and the loss by a constant."""

    def value(self, y: Floats, raw_predictions: Floats) -> Floats:
        """Loss of each row: ``(y - f)**2``."""
        return np.square(y - raw_predictions)

    def gradients(self, y: Floats, raw_predictions: Floats) -> Floats:
        """First derivative of each row's loss: ``-2 (y - f)``."""
        return 2.0 * (raw_predictions - y)

    def hessians(self, y: Floats, raw_predictions: Floats) -> Floats:
        """Second derivative of each row's loss: 2 everywhere."""
        return np.full(np.shape(raw_predictions), 2.0)

    def inverse_link(self, raw_predictions: Floats) -> Floats:
        """Raw predictions as they are: they estimate the mean."""
        return raw_predictions


@dataclass(frozen=True)
class LogisticLoss:
    """Logistic loss ``log(1 + exp(-y f))``, for targets -1 and 1.

    Raw predictions are log odds of the class 1. Neither value nor derivatives overflow: far out
    the loss grows like ``|f|`` and the derivatives underflow to 0.

    Examples
    --------
    >>> loss = LogisticLoss()
    >>> y, raw_predictions = np.array([1, -1]), np.array([0.0, 0.0])
    >>> loss.value(y, raw_predictions).round(3)
    array([0.693, 0.693])
    >>> loss.gradients(y, raw_predictions)
    array([-0.5,  0.5])
    >>> loss.hessians(y, raw_predictions)
    array([0.25, 0.25])
    >>> loss.inverse_link(raw_predictions)
    array([0.5, 0.5])
    """

    name: ClassVar[str] = "logistic"
    link: ClassVar[str] = "logistic"

    def value(self, y: Floats, raw_predictions: Floats) -> Floats:
        """Loss of each row: ``log(1 + exp(-y f))``."""
        return np.logaddexp(0.0, -y * raw_predictions)

    def gradients(self, y: Floats, raw_predictions: Floats) -> Floats:
        """First derivative of each row's loss: ``-y sigma(-y f)``."""
        gradients = _sigmoid(-(y * raw_predictions))
        gradients *= y
        return -gradients

    def hessians(self, y: Floats, raw_predictions: Floats) -> Floats:
        """Second derivative of each row's loss: ``sigma(f) sigma(-f)``."""
        # Not sigma(f) (1 - sigma(f)): that is 0 from f = 37 on, when the true value is still 1e-16
        # and, with no regularization, decides the weight of a rule. It is even in f, and as
        # e / (1 + e)^2 with e = exp(-|f|) a single exponential serves both factors.
        hessians = np.exp(-np.abs(raw_predictions))
        divisors = 1.0 + hessians
        divisors *= divisors
        hessians /= divisors
        return hessians

    def inverse_link(self, raw_predictions: Floats) -> Floats:
        """Probability of the class 1: ``sigma(f)``."""
        return _sigmoid(raw_predictions)


def _sigmoid(raw_predictions: Floats) -> Floats:
    probabilities: Floats = expit(raw_predictions)
    return probabilities
