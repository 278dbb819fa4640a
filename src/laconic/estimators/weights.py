"""Weights of rows: those that are passed, those of classes, and exposures."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.validation import _check_sample_weight

from laconic._util.checks import require
from laconic._util.types import Floats
from laconic._util.words import listed_names, parameter
from laconic.losses import Loss, known_loss
from laconic.models.tasks import Task

# Weights that add up to a smaller share of the number of rows, with none of one or more, are meant
# as shares. Weights that fade out with time are at most one for the newest rows.
_MIN_SHARE_OF_ROWS = 0.1


def class_factors(
    task: Task, class_weight: Mapping[Any, float] | str, counts: Sequence[int] | Any
) -> Floats:
    """Find the weight of each class, given how many rows have the first, second, ... of them."""
    assert task.classes is not None
    numbers = np.repeat(np.arange(len(counts)), counts)
    present, labels = np.unique(numbers), task.classes
    factors = np.ones(len(labels))
    if isinstance(class_weight, str):
        factors[present] = compute_class_weight(
            class_weight, classes=labels[present], y=labels[numbers]
        )
        return factors
    known = labels.tolist()
    for label, weight in class_weight.items():
        if label not in known:
            raise ValueError(
                f"{parameter('class_weight')} must be about the classes of the target, "
                f"{listed_names(list(map(str, known)))}. Got {label!r}."
            )
        factors[known.index(label)] = weight
    is_met = bool(np.isfinite(factors).all() and (factors >= 0).all())
    name = f"Weights in {parameter('class_weight')}"
    require(is_met, name, "finite numbers in the range [0, inf)", class_weight)
    return factors


def check_any(weights: Floats, class_weight: Any) -> None:
    """Refuse weights of classes that leave no row."""
    required = "positive for some class of the target"
    require(bool(weights.any()), parameter("class_weight"), required, class_weight)


def check_exposed(loss: Loss) -> None:
    """Refuse an exposure for a loss that has no use for one."""
    known = known_loss(loss)
    if known is None or known.link != "log":
        raise ValueError(
            "An exposure needs a loss with a logarithmic link: 'poisson', 'gamma' or "
            f"'tweedie'. Got loss {loss!r}. Set one of these, or pass y / exposure with "
            "sample_weight=exposure."
        )


def checked_exposure(exposure: ArrayLike, n_rows: int) -> Floats:
    """Read one positive exposure per row."""
    _refuse_masked(exposure, "exposure")
    amounts: Floats = _check_sample_weight(exposure, np.empty((n_rows, 0)))
    if not (amounts > 0).all():
        row = int((amounts > 0).argmin())
        raise ValueError(
            f"The exposure must be positive in every row. Got {amounts[row]} at row {row}. "
            "Drop rows without exposure."
        )
    return amounts


def as_rates(
    target: Floats, weights: Floats | None, exposure: ArrayLike | None, loss: Loss
) -> tuple[Floats, Floats | None]:
    """Divide a target by its exposure, which becomes a factor of the weights."""
    if exposure is None:
        return target, weights
    check_exposed(loss)
    amounts = checked_exposure(exposure, len(target))
    return target / amounts, amounts if weights is None else amounts * weights


def checked_weights(sample_weight: ArrayLike | None, n_rows: int) -> Floats | None:
    """Read one weight per row, if there are any."""
    if sample_weight is None:
        return None
    _refuse_masked(sample_weight, "sample_weight")
    weights: Floats = _check_sample_weight(
        sample_weight, np.empty((n_rows, 0)), ensure_non_negative=True
    )
    # Releases of scikit-learn before 1.7 do not check this, others do with these words.
    if not weights.any():
        raise ValueError("Sample weights must contain at least one non-zero number.")
    return weights


def warn_about_scale(weights: Floats, stacklevel: int) -> None:
    """Warn about weights that count each row as a small part of one, such as shares of one."""
    counted = weights[weights > 0]
    total = float(counted.sum())
    if not len(counted) or counted.max() >= 1 or total >= _MIN_SHARE_OF_ROWS * len(counted):
        return
    warnings.warn(
        f"The weights of the rows add up to only {total:.3g}. A weight says how many times a row "
        f"counts, and {parameter('l2_regularization', 'auto')} has the effect of 10 rows, so that "
        "little is left of a model. If only the proportions of the weights matter, multiply "
        f"{parameter('sample_weight')} or {parameter('class_weight')} by the number of rows "
        "divided by this sum.",
        UserWarning,
        stacklevel=stacklevel,
    )


def _refuse_masked(values: ArrayLike, name: str) -> None:
    if np.ma.is_masked(values):
        row = int(np.ma.getmaskarray(np.ma.asarray(values)).argmax())
        raise ValueError(
            f"'{name}' must have a value in every row. Got a masked one at row {row}. Fill it with "
            "a number, or leave the row out."
        )
