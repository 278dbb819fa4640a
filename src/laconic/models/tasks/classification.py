"""Two classes: raw predictions speak for the second one, or against it.

Three or more classes: each of them has a raw prediction, which rules speak for or against.
"""

from __future__ import annotations

import reprlib
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, Self, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import assert_all_finite, check_consistent_length

from laconic._util.checks import require
from laconic._util.types import Floats
from laconic.boosting.training_data import FitTask
from laconic.losses import LogisticLoss, Loss, MultinomialLoss, known_loss
from laconic.models.tasks.base import Metric, Task, as_1d
from laconic.tables.columns import Rows, is_present
from laconic.tables.validators import read_category, read_list
from laconic.terms.formatting import class_text, format_factor, format_percent


def _accuracy(numbers: Floats, raw: Floats, means: Floats, weights: Floats | None) -> float:
    return float(np.average((raw > 0) == (numbers > 0), weights=weights))


def _area(numbers: Floats, raw: Floats, means: Floats, weights: Floats | None) -> float:
    return float(roc_auc_score(numbers > 0, raw, sample_weight=weights))


def _log_loss(numbers: Floats, raw: Floats, means: Floats, weights: Floats | None) -> float:
    # A loss of the user's own may go beyond probabilities.
    probabilities = means.clip(0, 1)
    return float(log_loss(numbers > 0, probabilities, sample_weight=weights, labels=[False, True]))


def _has_both_classes(numbers: Floats) -> bool:
    return bool(numbers.any() and not numbers.all())


class Classification(Task):
    """A target of two classes in ascending order; positive weights speak for the second one.

    Examples
    --------
    >>> import math
    >>> task = Classification(LogisticLoss(), np.array(["ill", "well"]))
    >>> task
    Classification(LogisticLoss(), classes=['ill', 'well'])
    >>> task.sum_words, task.effect(math.log(2))
    ('log odds of well', 'multiplies the odds of well by 2')
    >>> task.predictions(np.array([-1.0, 2.0]))
    array(['ill', 'well'], dtype='<U4')
    """

    name = "classification"
    default_loss = LogisticLoss.name
    losses = (LogisticLoss.name,)
    about_losses = '"auto" is "logistic". '
    holds_classes = True
    metrics: tuple[Metric, ...] = (
        Metric("accuracy", "accuracy", "Accuracy", True, _accuracy),
        Metric("auc", "AUC", "AUC", True, _area, _has_both_classes),
        Metric("log_loss", "log loss", "Log loss", False, _log_loss),
    )
    deciding_metrics: tuple[str, ...] = ("log_loss", "accuracy", "auc")

    classes: NDArray[Any]

    def __init__(self, loss: Loss, classes: NDArray[Any]) -> None:
        super().__init__(loss)
        self.classes = classes

    @classmethod
    def read(
        cls, y: ArrayLike, loss: Loss, *, n_rows: int, counted: Rows, owner: str
    ) -> tuple[Self, Floats]:
        """Check the target, and find its two classes."""
        labels = as_1d(y)
        # The list itself, because NumPy makes the text 'nan' of a NaN among strings.
        _check_all_present(y if isinstance(y, list | tuple) else labels)
        # Integers, booleans and texts are finite, and classes in any case.
        if labels.dtype.kind not in "iubU":
            assert_all_finite(labels, input_name="y")
            _check_discrete(labels)
        check_consistent_length(labels, np.empty(n_rows))
        classes = np.unique(labels[counted])
        if len(classes) < 2:
            raise ValueError(
                f"{owner} needs rows of two classes. Got {len(classes)} class: "
                f"{classes.tolist()}. Add rows of another class; those of weight 0 do not count."
            )
        if len(classes) > 2:
            return cls._of_many(labels, classes, loss, owner)
        task = cls(loss, classes)
        return task, np.asarray(labels == classes[1], dtype=np.float64)

    @classmethod
    def _of_many(
        cls, labels: NDArray[Any], classes: NDArray[Any], loss: Loss, owner: str
    ) -> tuple[Any, Floats]:
        """Make the task of three or more classes, with their numbers."""
        if not isinstance(known_loss(loss), LogisticLoss):
            raise ValueError(
                f"{owner} takes a loss of your own for two classes only. Got {len(classes)} "
                "classes. Set loss='auto', or put sklearn.multiclass.OneVsRestClassifier around it."
            )
        # Rows that do not count may be of other classes.
        numbers = np.searchsorted(classes, labels).clip(max=len(classes) - 1)
        return ManyClasses(MultinomialLoss(), classes), numbers.astype(np.float64)

    def check_same(self, other: FitTask) -> None:
        """Refuse to go on with a model of other classes."""
        if self.labels != other.labels:
            raise ValueError(
                f"With warm_start=True the classes must stay the same, {self.labels}. "
                f"Got {other.labels}. Set warm_start=False to start over."
            )

    def _numbers(self, cells: NDArray[Any]) -> Floats:
        self._check_known(cells)
        return np.asarray(cells == self.classes[1], dtype=np.float64)

    def _check_known(self, cells: NDArray[Any]) -> None:
        labels = self.classes.tolist()
        unknown = [label for label in cells.tolist() if label not in labels]
        if unknown:
            raise ValueError(
                f"The target y must hold the classes of the model, {labels}. Got {unknown[0]!r} "
                "as well. Leave out rows of other classes, or convert the classes."
            )

    def for_loss(self, numbers: Floats) -> Floats:
        """Write 1 for the second class and -1 for the first."""
        return np.where(numbers > 0, 1.0, -1.0)

    def predictions(self, raw_predictions: Floats) -> NDArray[Any]:
        """Name the class that the raw prediction speaks for."""
        return self.classes[(raw_predictions > 0).astype(np.intp)]

    def probabilities(self, raw_predictions: Floats) -> Floats:
        """Estimate the probability of each class."""
        positive = self.means(raw_predictions)
        return np.column_stack([1.0 - positive, positive])

    def predicted_probabilities(self, raw_predictions: Floats) -> Floats:
        """Estimate the probability of the class that is predicted."""
        positive = self.means(raw_predictions)
        return np.where(raw_predictions > 0, positive, 1.0 - positive)

    @property
    def sum_words(self) -> str:
        """Log odds of the second class, or a score where the loss has no such meaning."""
        return f"{'log odds' if self._has_default_loss else 'score'} of {self._positive_label}"

    @property
    def mean_words(self) -> str:
        """Share of the second class."""
        return f"share of {self._positive_label}"

    def format_mean(self, mean: float) -> str:
        """Write a share in per cent."""
        return format_percent(mean)

    @property
    def weights_sentence(self) -> str:
        """Which class weights speak for."""
        negative, positive = map(class_text, self.classes.tolist())
        return f"Positive weights speak for {positive}, negative ones for {negative}."

    @property
    def title(self) -> str:
        """Name both classes."""
        negative, positive = map(class_text, self.classes.tolist())
        return f"Rules that tell {positive} from {negative}"

    def effect(self, weight: float, output: int = 0) -> str:
        """Say by what a weight multiplies the odds, where the loss tells."""
        if not self._has_default_loss:
            return super().effect(weight)
        verb = "multiplies" if weight >= 0 else "divides"
        return f"{verb} the odds of {self._positive_label} by {format_factor(abs(weight))}"

    @property
    def _effect_scale(self) -> str:
        return f"the score of {self._positive_label}"

    @property
    def _positive_label(self) -> str:
        return class_text(self.classes.tolist()[1])

    entries = ("classes",)

    def to_dict(self) -> dict[str, Any]:
        """Name the classes."""
        return {"classes": self.labels}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], loss: Loss) -> Self:
        """Check the classes, which go with the loss."""
        classes = _read_classes(data["classes"])
        is_many = isinstance(loss, MultinomialLoss)
        required = "two classes, or more with the loss 'multinomial'"
        require((len(classes) > 2) == is_many, "classes", required, classes.tolist())
        kind = cast(type[Self], ManyClasses) if is_many else cls
        return kind(loss, classes)


def _check_discrete(labels: NDArray[Any]) -> None:
    """Refuse labels that are no classes, and say what learns numbers with a fraction."""
    # scikit-learn's check of whole numbers takes as long as a rule takes to fit.
    if labels.dtype.kind == "f" and (np.trunc(labels) == labels).all():
        return
    kinds = {isinstance(label, str): label for label in labels.tolist()}
    if len(kinds) > 1:
        raise ValueError(
            f"Classes must be of one type. Got {kinds[False]!r} as well as the text "
            f"{kinds[True]!r}. Convert them all to text, for example with y.astype(str)."
        )
    try:
        check_classification_targets(labels)
    except ValueError as error:
        if labels.dtype.kind != "f":
            raise ValueError(
                "Unknown label type: classes must be texts, booleans, or whole numbers of 64 bits, "
                f"all of one type. Got {reprlib.repr(labels[0])} of type "
                f"{type(labels[0]).__name__}. Convert them to text, for example with y.astype(str)."
            ) from error
        raise ValueError(f"{error} Use RuleBoostingRegressor to predict numbers.") from None


def _check_all_present(labels: Sequence[Any] | NDArray[Any]) -> None:
    """Refuse missing classes where NumPy would not, among objects and in lists."""
    if isinstance(labels, np.ndarray):
        labels = labels.tolist() if labels.dtype == object else ()
    for row, label in enumerate(labels):
        if not is_present(label):
            name = "None" if label is None else "NaN"
            raise ValueError(
                f"Input y contains {name} at row {row}, but every row needs a class. Leave rows "
                "without one out."
            )


def _read_classes(value: Any) -> NDArray[Any]:
    classes: list[Any] = read_list(value, "classes", read_category)
    require(len(classes) >= 2, "classes", "a list of two or more classes", value)
    kinds = {(isinstance(name, str), isinstance(name, bool)) for name in classes}
    require(len(kinds) == 1, "classes", "strings only, booleans only or numbers only", value)
    # The order of scikit-learn, which tools around estimators rely on.
    is_sorted = all(first < second for first, second in pairwise(classes))
    require(is_sorted, "classes", "different classes in ascending order", value)
    array = np.array(classes)
    is_exact = array.dtype.kind in "Ubiuf" and array.tolist() == classes
    require(is_exact, "classes", "values that a NumPy array can hold unchanged", value)
    return array


def _accuracy_of_many(numbers: Floats, raw: Floats, means: Floats, weights: Floats | None) -> float:
    return float(np.average(raw.argmax(axis=1) == numbers, weights=weights))


def _log_loss_of_many(numbers: Floats, raw: Floats, means: Floats, weights: Floats | None) -> float:
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
        Metric("accuracy", "accuracy", "Accuracy", True, _accuracy_of_many),
        Metric("log_loss", "log loss", "Log loss", False, _log_loss_of_many),
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
