"""A loss for numbers of which some are far off."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from laconic._util.types import Floats

# The share of rows that count as in the squared loss, as in scikit-learn's gradient boosting.
_NEAR_SHARE = 0.9


@dataclass(frozen=True)
class HuberLoss:
    """Squared error up to a distance delta, and from there on linear: outliers pull no harder.

    ``(y - f)**2`` where that distance is at most delta, ``2 delta |y - f| - delta**2`` beyond.
    Its second derivative is 0 beyond delta, which would make outliers weightless; the hessians are
    those of the parabola that touches the loss on both sides of the target, ``2 delta / |y - f|``.
    It lies above the loss, so that a step by these hessians never makes the loss larger.

    Parameters
    ----------
    delta : float or None, default=None
        None: the distance to the median that nine in ten training targets stay within.

    Examples
    --------
    >>> loss = HuberLoss(delta=1.0)
    >>> y, raw_predictions = np.array([0.5, 4.0]), np.array([0.0, 0.0])
    >>> loss.value(y, raw_predictions)
    array([0.25, 7.  ])
    >>> loss.gradients(y, raw_predictions)
    array([-1., -2.])
    >>> loss.hessians(y, raw_predictions)
    array([2. , 0.5])
    """

    delta: float | None = None

    name: ClassVar[str] = "huber"
    link: ClassVar[str] = "identity"

    def __post_init__(self) -> None:
        if self.delta is not None and not 0.0 < self.delta < np.inf:
            raise ValueError(
                "The 'delta' of a HuberLoss must be a positive number or None. Got "
                f"{self.delta!r} instead."
            )

    def for_target(self, y: Floats, sample_weight: Floats | None) -> Self:
        """Fill in a delta from the targets, where none is given."""
        if self.delta is not None:
            return self
        distances = np.abs(y - _quantile(y, 0.5, sample_weight))
        delta = _quantile(distances, _NEAR_SHARE, sample_weight) or float(distances.max())
        return type(self)(delta or 1.0)

    @property
    def _delta(self) -> float:
        return 1.0 if self.delta is None else self.delta

    def value(self, y: Floats, raw_predictions: Floats) -> Floats:
        """Loss of each row."""
        distances, delta = np.abs(y - raw_predictions), self._delta
        near = np.minimum(distances, delta)
        return near * (2.0 * distances - near)

    def gradients(self, y: Floats, raw_predictions: Floats) -> Floats:
        """First derivative of each row's loss, never beyond 2 delta."""
        return 2.0 * np.clip(raw_predictions - y, -self._delta, self._delta)

    def hessians(self, y: Floats, raw_predictions: Floats) -> Floats:
        """Curvature of the parabola above each row's loss: ``2 delta / max(delta, |y - f|)``."""
        delta = self._delta
        return 2.0 * delta / np.maximum(delta, np.abs(y - raw_predictions))

    def inverse_link(self, raw_predictions: Floats) -> Floats:
        """Raw predictions as they are: they estimate the middle of the target."""
        return raw_predictions


def _quantile(values: Floats, share: float, weights: Floats | None) -> float:
    """Smallest value that at least a share of the rows do not exceed."""
    order = np.argsort(values, kind="stable")
    counts = np.ones(len(values)) if weights is None else weights[order]
    reached = np.cumsum(counts)
    place = int(np.searchsorted(reached, share * reached[-1] * (1 - 1e-12)))
    return float(values[order][min(place, len(values) - 1)])
