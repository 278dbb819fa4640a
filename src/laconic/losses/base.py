"""What boosting asks of a loss."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from laconic._util.types import Floats


@runtime_checkable
class Loss(Protocol):
    """What boosting asks of a loss.

    Every method takes and returns arrays of shape (n_samples,). A loss must be convex in the raw
    prediction. Hessians are its second derivatives or, where these say too little, the curvature of
    a parabola that touches the loss and lies above it; they are never negative.

    Examples
    --------
    A loss that grows ever faster on one side, as where stock must not run out:

    >>> class LinexLoss:
    ...     def value(self, y, raw_predictions):
    ...         return np.exp(y - raw_predictions) - (y - raw_predictions) - 1
    ...     def gradients(self, y, raw_predictions):
    ...         return 1 - np.exp(y - raw_predictions)
    ...     def hessians(self, y, raw_predictions):
    ...         return np.exp(y - raw_predictions)
    ...     def inverse_link(self, raw_predictions):
    ...         return raw_predictions
    >>> isinstance(LinexLoss(), Loss)
    True
    """

    def value(self, y: Floats, raw_predictions: Floats) -> Floats:
        """Loss of each row."""
        ...

    def gradients(self, y: Floats, raw_predictions: Floats) -> Floats:
        """First derivative of each row's loss with respect to its raw prediction."""
        ...

    def hessians(self, y: Floats, raw_predictions: Floats) -> Floats:
        """Second derivative of each row's loss with respect to its raw prediction."""
        ...

    def inverse_link(self, raw_predictions: Floats) -> Floats:
        """Raw predictions on the target's scale: a mean or the positive class's probability."""
        ...
