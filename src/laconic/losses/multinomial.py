"""The loss for three or more classes, each of which has a raw prediction of its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import log_softmax, softmax

from laconic._util.types import Floats

# The share of a class without rows, as far as logarithms are concerned.
_LEAST_SHARE = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class MultinomialLoss:
    """Multinomial loss, minus the logarithm of the probability of the true class.

    Targets are the numbers of classes from 0 on, and raw predictions have a column for each class:
    probabilities are their exponentials, divided by the sum. It is no `Loss` of a single raw
    prediction.

    Examples
    --------
    >>> loss = MultinomialLoss()
    >>> y, raw_predictions = np.array([0.0, 2.0]), np.zeros((2, 3))
    >>> loss.value(y, raw_predictions).round(3)
    array([1.099, 1.099])
    >>> loss.gradients(y, raw_predictions).round(3)
    array([[-0.667,  0.333,  0.333],
           [ 0.333,  0.333, -0.667]])
    """

    name: ClassVar[str] = "multinomial"
    link: ClassVar[str] = "softmax"

    def value(self, y: Floats, raw_predictions: Floats) -> Floats:
        """Loss of each row."""
        logarithms = log_softmax(raw_predictions, axis=1)
        return np.asarray(-logarithms[np.arange(len(y)), y.astype(np.intp)], dtype=np.float64)

    def gradients(self, y: Floats, raw_predictions: Floats) -> Floats:
        """First derivatives with respect to each raw prediction, of shape (n_rows, n_classes)."""
        gradients = self.inverse_link(raw_predictions)
        gradients[np.arange(len(y)), y.astype(np.intp)] -= 1.0
        return gradients

    def hessians(self, y: Floats, raw_predictions: Floats) -> Floats:
        """Second derivatives with respect to each raw prediction by itself: ``p (1 - p)``."""
        probabilities = self.inverse_link(raw_predictions)
        return probabilities * (1.0 - probabilities)

    def inverse_link(self, raw_predictions: Floats) -> Floats:
        """Probabilities of the classes, of shape (n_rows, n_classes)."""
        return np.asarray(softmax(raw_predictions, axis=1), dtype=np.float64)

    def constants(self, y: Floats, n_classes: int, sample_weight: Floats | None = None) -> Floats:
        """Best raw predictions for all rows: logarithms of the shares, minus their mean."""
        counts = np.bincount(y.astype(np.intp), sample_weight, n_classes)
        logarithms = np.log(np.maximum(counts / counts.sum(), _LEAST_SHARE))
        return np.asarray(logarithms - logarithms.mean(), dtype=np.float64)
