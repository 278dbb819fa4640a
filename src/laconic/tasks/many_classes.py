"""Three or more classes: each of them has a raw prediction, which rules speak for or against."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import log_loss

from laconic.model.formatting import class_text, format_factor
from laconic.tasks.base import Floats, Metric
from laconic.tasks.classification import Classification


def _accuracy(numbers: Floats, raw: Floats, means: Floats, weights: Floats | None) -> float:
    return float(np.average(raw.argmax(axis=1) == numbers, weights=weights))


def _log_loss(numbers: Floats, raw: Floats, means: Floats, weights: Floats | None) -> float:
    labels = np.arange(raw.shape[1])
    return float(log_loss(numbers, means, sample_weight=weights, labels=labels))


class ManyClasses(Classification):
    """A target of three or more classes in ascending order.

    Examples
    --------
    >>> from laconic.losses import MultinomialLoss
    >>> task = ManyClasses(MultinomialLoss(), np.array(["ill", "so-so", "well"]))
    >>> task
    ManyClasses(MultinomialLoss(), classes=['ill', 'so-so', 'well'])
    >>> task.effect(np.log(2), output=2)
    'multiplies the odds of well by 2'
    >>> task.predictions(np.array([[0.5, 1.0, -1.0]]))
    array(['so-so'], dtype='<U5')
    """

    metrics = (
        Metric("accuracy", "accuracy", "Accuracy", True, _accuracy),
        Metric("log_loss", "log loss", "Log loss", False, _log_loss),
    )
    deciding_metrics = ("log_loss", "accuracy")

    @property
    def outputs(self) -> tuple[str, ...]:
        """The classes, as texts write them."""
        return tuple(map(class_text, self.classes.tolist()))

    def _numbers(self, cells: NDArray[Any]) -> Floats:
        self._check_known(cells)
        places = {label: place for place, label in enumerate(self.classes.tolist())}
        return np.array([places[label] for label in cells.tolist()], dtype=np.float64)

    def for_loss(self, numbers: Floats) -> Floats:
        """Leave the numbers of the classes as they are."""
        return numbers

    def covered_target(self, numbers: Floats, output: int) -> Floats:
        """Take 1 for the class of a rule, and 0 for all others."""
        return np.asarray(numbers == output, dtype=np.float64)

    def predictions(self, raw_predictions: Floats) -> NDArray[Any]:
        """Name the class with the largest raw prediction; of equals, the first."""
        predictions: NDArray[Any] = self.classes[raw_predictions.argmax(axis=1)]
        return predictions

    def probabilities(self, raw_predictions: Floats) -> Floats:
        """Estimate the probability of each class."""
        return self.means(raw_predictions)

    def predicted_probabilities(self, raw_predictions: Floats) -> Floats:
        """Estimate the probability of the class that is predicted."""
        probabilities: Floats = self.means(raw_predictions).max(axis=1)
        return probabilities

    sum_words = "scores of the classes"
    mean_words = "share of the class"
    title = "Rules that tell classes apart"
    weights_sentence = (
        "A positive weight speaks for the class of its rule, a negative one against it; the class "
        "with the largest sum is predicted."
    )

    def effect(self, weight: float, output: int = 0) -> str:
        """Say by what a weight multiplies the odds of the class that its rule is about."""
        verb = "multiplies" if weight >= 0 else "divides"
        return f"{verb} the odds of {self.outputs[output]} by {format_factor(abs(weight))}"
