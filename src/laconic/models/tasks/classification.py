"""Classes: a raw prediction for the second of two, or one for each of three or more."""

from __future__ import annotations

import reprlib
import warnings
from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from laconic._util.checks import require
from laconic._util.json_format import CATEGORY, Array, Entries, Entry
from laconic._util.types import Floats, Indices
from laconic._util.words import parameter
from laconic.boosting.training_data import FitTask
from laconic.losses import LogisticLoss, Loss, MultinomialLoss, known_loss
from laconic.models.tasks.base import Metric, Task, as_1d, varies
from laconic.tables.columns import Rows, is_present
from laconic.terms.formatting import class_text, format_factor, format_percent
from laconic.terms.record import ClassCounts

# A class with a smaller share of the rows is rare: accuracy hardly depends on it.
RARE = 0.2
# So many classes are fine, even if most rows are of another one.
MAX_SINGLE_CLASSES = 20


def _predicted_places(raw: Floats) -> Indices:
    """Find the class that is predicted for each row; of equal raw predictions, the first."""
    places: Indices = raw.argmax(axis=1) if raw.ndim == 2 else (raw > 0).astype(np.intp)
    return places


def _accuracy(numbers: Floats, raw: Floats, means: Floats, weights: Floats | None) -> float:
    return float(np.average(_predicted_places(raw) == numbers, weights=weights))


def _area(numbers: Floats, raw: Floats, means: Floats, weights: Floats | None) -> float:
    from sklearn.metrics import roc_auc_score

    return float(roc_auc_score(numbers > 0, raw, sample_weight=weights))


def _log_loss(numbers: Floats, raw: Floats, means: Floats, weights: Floats | None) -> float:
    from sklearn.metrics import log_loss

    labels = np.arange(raw.shape[1] if raw.ndim == 2 else 2)
    # A user-supplied loss may return values outside of [0, 1].
    return float(log_loss(numbers, means.clip(0, 1), sample_weight=weights, labels=labels))


def _average_precision(
    numbers: Floats, raw: Floats, means: Floats, weights: Floats | None
) -> float:
    """Compute the average precision of the rarer class, which is its share without a model."""
    from sklearn.metrics import average_precision_score

    if np.average(numbers > 0, weights=weights) > 0.5:
        numbers, raw = 1.0 - numbers, -raw
    return float(average_precision_score(numbers > 0, raw, sample_weight=weights))


def _has_rare_class(numbers: Floats, weights: Floats | None) -> bool:
    share = float(np.average(numbers > 0, weights=weights))
    return 0.0 < min(share, 1.0 - share) < RARE


# Of two classes.
_RANKING = (
    Metric("auc", "AUC", "AUC", True, _area, varies),
    Metric(
        "average_precision",
        "average precision",
        "Average precision of the rarer class",
        True,
        _average_precision,
        _has_rare_class,
    ),
)


class Classification(Task):
    """A target of two or more classes.

    They are in ascending order, except that the positive one of two is the second one if it was
    chosen. Of two classes, positive weights vote for the second one. Of three or more, each term
    votes for or against one class.

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
    >>> task = Classification(MultinomialLoss(), np.array(["ill", "so-so", "well"]))
    >>> task.effect(np.log(2), output=2)
    'multiplies the odds of well by 2'
    >>> task.predictions(np.array([[0.5, 1.0, -1.0]]))
    array(['so-so'], dtype='<U5')
    """

    name = "classification"
    default_loss = LogisticLoss.name
    losses = (LogisticLoss.name,)
    holds_classes = True
    metrics: tuple[Metric, ...] = (
        Metric("accuracy", "accuracy", "Accuracy", True, _accuracy),
        *_RANKING,
        Metric("log_loss", "log loss", "Log loss", False, _log_loss),
    )
    deciding_metrics: tuple[str, ...] = ("log_loss", "accuracy", "auc")

    classes: NDArray[Any]

    def __init__(self, loss: Loss, classes: NDArray[Any]) -> None:
        super().__init__(loss)
        self.classes = classes
        if self.outputs:
            self.metrics = tuple(metric for metric in self.metrics if metric not in _RANKING)
            self.deciding_metrics = ("log_loss", "accuracy")

    @classmethod
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
        """Check the target, and find its classes."""
        from sklearn.utils.validation import assert_all_finite, check_consistent_length

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
        if has_too_many_classes(len(classes), n_rows):
            warnings.warn(
                f"The target has {len(classes)} classes in {n_rows} rows, fewer than two rows per "
                "class. Use RuleBoostingRegressor to predict numbers; replace rare classes by a "
                "common one; an identifier of rows is no target.",
                UserWarning,
                stacklevel=5,
            )
        if len(classes) > 2:
            if not isinstance(known_loss(loss), LogisticLoss):
                raise ValueError(
                    f"{owner} takes a user-supplied loss for two classes only. Got {len(classes)} "
                    "classes. Set loss='auto', or use sklearn.multiclass.OneVsRestClassifier."
                )
            loss = MultinomialLoss()
        # Rows that do not count may be of other classes.
        numbers = np.searchsorted(classes, labels).clip(max=len(classes) - 1)
        if _is_first(positive, classes.tolist()):
            classes, numbers = classes[::-1], 1 - numbers
        return cls(loss, classes), numbers.astype(np.float64)

    def check_same(self, other: FitTask) -> None:
        """Check that another target has the same classes."""
        if self.labels != other.labels:
            raise ValueError(
                f"With warm_start=True the classes must stay the same, {self.labels}. "
                f"Got {other.labels}. Set warm_start=False to start over."
            )

    def _numbers(self, cells: NDArray[Any]) -> Floats:
        labels = self.classes.tolist()
        unknown = [label for label in cells.tolist() if label not in labels]
        if unknown:
            raise ValueError(
                f"The target y must hold the classes of the model, {labels}. Got {unknown[0]!r} "
                "as well. Leave out rows of other classes, or convert the classes."
            )
        places = {label: place for place, label in enumerate(labels)}
        return np.array([places[label] for label in cells.tolist()], dtype=np.float64)

    def for_loss(self, numbers: Floats) -> Floats:
        """Return 1 for the second of two classes and -1 for the first; else positions."""
        return numbers if self.outputs else np.where(numbers > 0, 1.0, -1.0)

    def covered_target(self, numbers: Floats, output: int) -> Floats:
        """Return 1 for the class of a term and 0 for all others."""
        return np.asarray(numbers == output, dtype=np.float64) if self.outputs else numbers

    def predictions(self, raw_predictions: Floats) -> NDArray[Any]:
        """Return the class with the largest raw prediction, or the second of two if positive."""
        predictions: NDArray[Any] = self.classes[_predicted_places(raw_predictions)]
        return predictions

    def probabilities(self, raw_predictions: Floats) -> Floats:
        """Estimate the probability of each class."""
        means = self.means(raw_predictions)
        return means if self.outputs else np.column_stack([1.0 - means, means])

    def predicted_probabilities(self, raw_predictions: Floats) -> Floats:
        """Estimate the probability of the class that is predicted."""
        places = _predicted_places(raw_predictions)
        predicted: Floats = self.probabilities(raw_predictions)[np.arange(len(places)), places]
        return predicted

    def count_classes(
        self, numbers: Floats, raw_predictions: Floats, weights: Floats | None
    ) -> tuple[ClassCounts, ...]:
        """Count the rows and the predictions of each class."""
        labels, predicted = self.classes.tolist(), _predicted_places(raw_predictions)
        places = numbers.astype(np.intp)
        amounts = np.ones(len(places)) if weights is None else weights
        counts = (
            np.bincount(each, each_amounts, minlength=len(labels)).tolist()
            for each, each_amounts in (
                (places, amounts),
                (predicted, amounts),
                (places, amounts * (places == predicted)),
            )
        )
        return tuple(map(ClassCounts, labels, *counts))

    @property
    def is_ascending(self) -> bool:
        """Whether the classes are in the order of scikit-learn, as they are by default."""
        first, *_, last = self.classes.tolist()
        return bool(first < last)

    @cached_property
    def _texts(self) -> tuple[str, ...]:
        """The classes, as texts write them."""
        return tuple(map(class_text, self.classes.tolist()))

    @property
    def outputs(self) -> tuple[str, ...]:
        """Names of three or more classes; else empty."""
        return self._texts if len(self.classes) > 2 else ()

    @property
    def _has_odds(self) -> bool:
        """Whether raw predictions are logarithms of odds."""
        return isinstance(known_loss(self.loss), LogisticLoss | MultinomialLoss)

    @property
    def sum_words(self) -> str:
        """Log odds of the second class, or scores where they are no such thing."""
        if self.outputs:
            return "scores of the classes"
        return f"{'log odds' if self._has_odds else 'score'} of {self._texts[1]}"

    @property
    def mean_words(self) -> str:
        """Share of the second class, or of the class of a term."""
        return f"share of {'the class' if self.outputs else self._texts[1]}"

    def format_mean(self, mean: float) -> str:
        """Write a share in per cent."""
        return format_percent(mean)

    @property
    def weights_sentence(self) -> str:
        """Which class weights vote for."""
        if self.outputs:
            return (
                "Positive weights vote for the class of the term, negative weights against it; the "
                "class with the largest sum is predicted."
            )
        negative, positive = self._texts
        return f"Positive weights vote for {positive}, negative weights for {negative}."

    @property
    def aim(self) -> str:
        """Name both of two classes."""
        if self.outputs:
            return "distinguish classes"
        negative, positive = self._texts
        return f"distinguish {positive} from {negative}"

    def effect(self, weight: float, output: int = 0) -> str:
        """Describe by what a weight multiplies the odds of a class, where there are odds."""
        if not self._has_odds:
            return super().effect(weight)
        verb = "multiplies" if weight >= 0 else "divides"
        label = self._texts[output if self.outputs else 1]
        return f"{verb} the odds of {label} by {format_factor(abs(weight))}"

    @property
    def _effect_scale(self) -> str:
        return f"the score of {self._texts[1]}"

    entries: ClassVar[Entries] = {
        "classes": Entry(
            Array(CATEGORY, min_items=2, is_distinct=True, is_uniform=True),
            "The classes of a classification; three or more are in ascending order. Of two, the "
            "second one is predicted where the raw prediction is positive; of more, the first one "
            "with the largest raw prediction.",
        )
    }

    def to_dict(self) -> dict[str, Any]:
        """Return the classes."""
        return {"classes": self.labels}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], loss: Loss) -> Self:
        """Check the classes and that the loss is one for that many."""
        classes = _checked_classes(data["classes"])
        is_many = isinstance(loss, MultinomialLoss)
        required = "two classes, or more with the loss 'multinomial'"
        require((len(classes) > 2) == is_many, "classes", required, classes.tolist())
        return cls(loss, classes)


def _check_discrete(labels: NDArray[Any]) -> None:
    """Check that labels are classes, and not numbers with a fraction."""
    from sklearn.utils.multiclass import check_classification_targets

    # scikit-learn's check of whole numbers takes as long as fitting a rule.
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
    """Check that no class is missing among objects and in lists, where NumPy does not check."""
    if isinstance(labels, np.ndarray):
        labels = labels.tolist() if labels.dtype == object else ()
    for row, label in enumerate(labels):
        if not is_present(label):
            name = "None" if label is None else "NaN"
            raise ValueError(
                f"Input y contains {name} at row {row}, but every row needs a class. Leave "
                "out rows without one."
            )


def has_too_many_classes(n_classes: int, n_rows: int) -> bool:
    """Return whether a target looks like numbers or identifiers, and not like classes."""
    return n_classes > MAX_SINGLE_CLASSES and 2 * n_classes > n_rows


def _is_first(positive: Any, labels: list[Any]) -> bool:
    """Check the class that was chosen as the positive one, and whether it is the first of two."""
    if positive is None:
        return False
    if len(labels) > 2:
        raise ValueError(
            f"{parameter('positive')} is for two classes: of three or more, each term names its "
            f"class. Got {len(labels)} classes, {labels}. Leave it out."
        )
    if positive not in labels:
        raise ValueError(
            f"{parameter('positive')} must be one of the classes of the target, {labels}. "
            f"Got {positive!r}."
        )
    return labels.index(positive) == 0


def _checked_classes(classes: list[Any]) -> NDArray[Any]:
    # The order of scikit-learn, which tools for estimators rely on.
    is_sorted = all(first < second for first, second in pairwise(classes))
    is_sorted |= len(classes) == 2 and classes[0] != classes[1]
    require(is_sorted, "classes", "different classes in ascending order", classes)
    array = np.array(classes)
    is_exact = array.dtype.kind in "Ubiuf" and array.tolist() == classes
    require(is_exact, "classes", "values that a NumPy array can hold unchanged", classes)
    return array
