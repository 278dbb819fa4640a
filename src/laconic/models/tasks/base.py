"""The task of a model: how its target is read, what it predicts, and the words for that.

Everything that differs between classes and numbers is in a `Task`: texts, tables, plots, reports,
exports and commands make no other difference.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from laconic._util.json_format import Entries
from laconic._util.types import Floats
from laconic.boosting.training_data import FitTask
from laconic.losses import HuberLoss, LogLinkLoss, Loss, known_loss
from laconic.tables.columns import Category, Rows
from laconic.terms.formatting import format_number
from laconic.terms.record import ClassCounts


def always(numbers: Floats, weights: Floats | None) -> bool:
    """Return True for any target."""
    return True


def varies(numbers: Floats, weights: Floats | None) -> bool:
    """Return whether a target has several values in the rows that count."""
    counted = numbers if weights is None else numbers[weights > 0]
    return bool((counted != counted[:1]).any())


@dataclass(frozen=True)
class Metric:
    """A score of predictions.

    Targets are numbers as returned by `Task.numbers`.
    """

    name: str
    """Identifier in files and programs, such as "log_loss"."""
    label: str
    """Words within a sentence, such as "log loss"."""
    title: str
    """Title of a chart, such as "Log loss"."""
    is_higher_better: bool
    function: Callable[[Floats, Floats, Floats, Floats | None], float]
    """Score of a target, given its raw predictions, their means and the sample weights."""
    is_defined: Callable[[Floats, Floats | None], bool] = always
    """Whether the score is defined for a target and sample weights, and of use."""


class Task(ABC):
    """What a fitted model predicts, and the loss that it was fitted with.

    The inverse link of the loss maps raw predictions to the scale of the target.
    """

    name: ClassVar[str]
    """Identifier in files and on the command line."""
    default_loss: ClassVar[str]
    """Name of the loss for a target of this kind."""
    losses: ClassVar[tuple[str, ...]]
    """Names of all losses for such a target, the default one first."""
    holds_classes: ClassVar[bool]
    """Whether the target is one of a few classes; splits are then stratified."""
    metrics: tuple[Metric, ...]
    """The scores to report; the first is that of the method ``score``."""
    deciding_metrics: tuple[str, ...]
    """Names of the scores to choose a size by: the first, of which smaller is better, decides."""

    classes: NDArray[Any] | None = None
    """The classes, in ascending order unless the first of two was chosen as the positive one; None
    where there are none."""

    def __init__(self, loss: Loss) -> None:
        self.loss = loss

    def __repr__(self) -> str:
        settings = "".join(f", {name}={value!r}" for name, value in self.to_dict().items())
        return f"{type(self).__name__}({self.loss!r}{settings})"

    @classmethod
    @abstractmethod
    def read(
        cls,
        y: ArrayLike,
        loss: Loss,
        *,
        n_rows: int,
        counted: Rows,
        owner: str,
        positive: Any = None,
    ) -> tuple[Self, Floats]:
        """Make a task from the target of a training table.

        Rows that are `counted` have a weight; `owner` is the name of the estimator, for messages;
        `positive` is the one of two classes that positive weights vote for.
        Returns the task, and the target as in `numbers`.
        """

    def settle_loss(self, target: Floats, weights: Floats | None) -> None:
        """Check the target for the loss, and estimate parameters of the loss that are not given.

        Sets: loss.
        """
        known = known_loss(self.loss)
        if isinstance(known, LogLinkLoss):
            known.check_target(target)
        elif isinstance(known, HuberLoss):
            self.loss = known.for_target(target, weights)

    @abstractmethod
    def check_same(self, other: FitTask) -> None:
        """Check that a warm start has the same kind of target."""

    def numbers(self, y: ArrayLike, n_rows: int, counted: Rows = slice(None)) -> Floats:
        """Convert the target of other rows: positions of classes, counted from 0, or numbers.

        `mean_words` describe their mean. Rows that do not count may hold anything, such as other
        classes, and are 0.
        """
        cells = np.asarray(y)
        if cells.shape != (n_rows,):
            raise ValueError(
                f"The target y must have one value per row of X, shape ({n_rows},). Got shape "
                f"{cells.shape}. Pass the target of the same rows."
            )
        numbers = np.zeros(n_rows)
        numbers[counted] = self._numbers(cells[counted])
        return numbers

    @abstractmethod
    def _numbers(self, cells: NDArray[Any]) -> Floats: ...

    @abstractmethod
    def for_loss(self, numbers: Floats) -> Floats:
        """Convert the target to the form that the loss expects."""

    def means(self, raw_predictions: Floats) -> Floats:
        """Raw predictions on the target's scale: a mean, or the second class's probability."""
        return self.loss.inverse_link(raw_predictions)

    @abstractmethod
    def predictions(self, raw_predictions: Floats) -> NDArray[Any]:
        """Convert raw predictions to predictions: classes or numbers."""

    @property
    def labels(self) -> list[Category] | None:
        """The classes as plain values; None where there are none."""
        return None if self.classes is None else self.classes.tolist()

    def probabilities(self, raw_predictions: Floats) -> Floats | None:
        """Probabilities of shape (n_rows, n_classes); None where there are no classes."""
        return None

    def predicted_probabilities(self, raw_predictions: Floats) -> Floats | None:
        """Probability of the class that is predicted; None where there are no classes."""
        return None

    def score(
        self,
        metric: Metric,
        numbers: Floats,
        raw_predictions: Floats,
        sample_weight: Floats | None = None,
    ) -> float:
        """Score predictions for a target as in `numbers`."""
        means = self.means(raw_predictions)
        return float(metric.function(numbers, raw_predictions, means, sample_weight))

    def metrics_for(self, numbers: Floats, weights: Floats | None = None) -> list[Metric]:
        """Return the metrics that are defined for a target."""
        return [metric for metric in self.metrics if metric.is_defined(numbers, weights)]

    @property
    def deciding_metric(self) -> Metric:
        """The score that decides on a size."""
        return next(each for each in self.metrics if each.name == self.deciding_metrics[0])

    def count_classes(
        self, numbers: Floats, raw_predictions: Floats, weights: Floats | None
    ) -> tuple[ClassCounts, ...]:
        """Count the rows and the predictions of each class; empty where there are no classes."""
        return ()

    @property
    @abstractmethod
    def sum_words(self) -> str:
        """Words for the sum of the weights, such as "log odds of yes"."""

    @property
    @abstractmethod
    def mean_words(self) -> str:
        """Words for the mean of the target, such as "share of yes"."""

    @abstractmethod
    def format_mean(self, mean: float) -> str:
        """Write the mean of the target."""

    @property
    @abstractmethod
    def weights_sentence(self) -> str:
        """A sentence on the meaning of the weights."""

    @property
    @abstractmethod
    def aim(self) -> str:
        """What the terms do, such as "predict a number"."""

    @property
    def outputs(self) -> tuple[str, ...]:
        """Names of the raw predictions of a row, where there are several; else empty."""
        return ()

    def covered_target(self, numbers: Floats, output: int) -> Floats:
        """Return the target whose mean `mean_words` describe, for a term of one output."""
        return numbers

    def effect(self, weight: float, output: int = 0) -> str:
        """Describe the effect of a weight on a prediction, starting with a verb."""
        size = format_number(abs(weight))
        scale = self._effect_scale
        return f"adds {size} to {scale}" if weight >= 0 else f"subtracts {size} from {scale}"

    @property
    @abstractmethod
    def _effect_scale(self) -> str: ...

    entries: ClassVar[Entries] = {}
    """What a model file contains about the task, besides its name and its loss."""

    def to_dict(self) -> dict[str, Any]:
        """Return the values of `entries`."""
        return {}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], loss: Loss) -> Self:
        """Make a task from the values of `entries`, as they were read from a file."""
        return cls(loss)


def as_1d(y: ArrayLike) -> NDArray[Any]:
    """Convert a target to an array of one dimension."""
    if isinstance(y, np.ma.MaskedArray) and np.ma.is_masked(y):
        row = int(np.ma.getmaskarray(y).argmax())
        raise ValueError(
            f"The target y must have a value in every row. Got a masked one at row {row}. Leave "
            "out rows without a value."
        )
    names = getattr(getattr(y, "dtype", None), "names", None)
    if names:
        raise ValueError(
            "The target y must have one value per row. Got a structured array with the fields "
            f"{', '.join(names)}, as survival times with censoring have. Make a row for each "
            "interval of time that a subject enters, with 1 where the event happens in it, and fit "
            "classes, or loss='poisson' with the time at risk as exposure."
        )
    # scikit-learn's check of a vector takes as long as fitting a rule.
    is_vector = type(y) is np.ndarray and y.ndim == 1
    if is_vector:
        cells = np.asarray(y)
    else:
        from sklearn.utils.validation import column_or_1d

        cells = column_or_1d(y, warn=True)
    if cells.dtype.kind == "c":
        raise ValueError(
            "Complex data not supported: the target y must hold real numbers or classes. Got dtype "
            f"{cells.dtype}. Pass its real part, y.real."
        )
    return cells
