"""Read the target, the weights and the exposure of the rows, and detect the task."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from laconic._util.types import Floats
from laconic.cli.terminal import CommandError

if TYPE_CHECKING:
    import polars as pl

    from laconic.models.tasks import Task


# More values are hardly classes.
MAX_CLASSES = 200
# Whole numbers of so few values may be meant as classes.
MAX_NUMBERED_CLASSES = 20
ROWS_PER_CLASS = 5


def detect_task(target: pl.Series) -> str:
    """Detect the task from the values of the target."""
    values = target.drop_nulls()
    if not target.dtype.is_numeric():
        return "classification"
    is_whole = not target.dtype.is_float() or bool((values == values.round()).all())
    return "classification" if is_whole and values.n_unique() == 2 else "regression"


def where_known(target: pl.Series) -> pl.Series:
    """Return which rows have a target."""
    is_known = target.is_not_null()
    if target.dtype.is_float():
        is_known &= target.is_not_nan().fill_null(False)
    if not is_known.any():
        raise CommandError(
            f"Some rows must have a target. Column {target.name!r} is empty. Choose another column "
            "with --target."
        )
    return is_known


def dropped(is_known: pl.Series) -> list[str]:
    """Return a warning if some rows have no target."""
    n_missing = int((~is_known).sum())
    if n_missing == 0:
        return []
    return [
        f"{n_missing:,} of {len(is_known):,} rows have no target, {is_known.name!r}, and are left "
        "out."
    ]


def read_target(target: pl.Series, task: Task | type[Task]) -> NDArray[Any]:
    """Check the target and convert it to an array."""
    import polars as pl

    dtype = target.dtype
    is_text = dtype in (pl.String, pl.Categorical, pl.Enum)
    if not (is_text or dtype.is_numeric() or dtype == pl.Boolean):
        raise CommandError(
            f"The target must hold text, booleans or numbers. Column {target.name!r} has the type "
            f"{dtype}. Convert it, or choose another column with --target."
        )
    if task.holds_classes:
        if (n_classes := target.n_unique()) > MAX_CLASSES:
            _refuse_classes(target.name, n_classes, is_numeric=dtype.is_numeric())
        return np.array(target.cast(pl.String).to_list()) if is_text else target.to_numpy()
    if is_text:
        raise CommandError(
            f"{task.name.capitalize()} needs a target of numbers. Column {target.name!r} holds "
            "text. Use --task classification, or choose another column with --target."
        )
    return target.cast(pl.Float64).to_numpy()


def _refuse_classes(name: str, n_classes: int, *, is_numeric: bool) -> NoReturn:
    hint = "use --task regression" if is_numeric else "choose another column with --target"
    raise CommandError(
        f"Column {name!r} has {n_classes} different values, too many for classes. Replace rare "
        f"ones by a common value, or {hint}."
    )


def describe_numbers(name: str, target: NDArray[Any]) -> list[str]:
    """Return a note if a few whole numbers are predicted as numbers, not classes."""
    n_values = len(np.unique(target))
    is_few = 2 < n_values <= min(MAX_NUMBERED_CLASSES, len(target) / ROWS_PER_CLASS)
    if not is_few or not (target == np.round(target)).all():
        return []
    return [
        f"Column {name!r} has {n_values} different whole numbers, and is predicted as a number. If "
        "they are classes, use --task classification."
    ]


def check_classes(name: str, target: NDArray[Any]) -> None:
    """Refuse a target with a single class, or with hardly a row for each."""
    from laconic.models.tasks.classification import has_too_many_classes

    n_classes = len(np.unique(target))
    if has_too_many_classes(n_classes, len(target)):
        _refuse_classes(name, n_classes, is_numeric=target.dtype.kind in "iuf")
    if (target == target[0]).all():
        raise CommandError(
            f"There is nothing to learn: column {name!r} is {target[0].item()!r} in every row. "
            "Choose another one with --target."
        )


def read_exposure(exposure: pl.Series, task: Task | type[Task]) -> Floats:
    """Check the exposure and convert it to an array."""
    import polars as pl

    if task.holds_classes:
        raise CommandError("--exposure needs a target of numbers. Use --task regression.")
    is_wrong = not exposure.dtype.is_numeric() or exposure.null_count() > 0
    if is_wrong or not bool((exposure > 0).all()):
        raise CommandError(
            "The exposure must be a positive number in every row. Column "
            f"{exposure.name!r} has other values. Leave out such rows, or choose another column "
            "with --exposure."
        )
    numbers: Floats = exposure.cast(pl.Float64).to_numpy()
    return numbers


def read_weights(weights: pl.Series) -> Floats:
    """Check the weights and convert them to an array."""
    import polars as pl

    if not weights.dtype.is_numeric() or weights.null_count() > 0:
        raise CommandError(
            f"Weights must be numbers, and known in every row. Column {weights.name!r} has the "
            f"type {weights.dtype} and {weights.null_count()} missing values. Fill these cells, "
            "or choose another column with --weight."
        )
    numbers: Floats = weights.cast(pl.Float64).to_numpy()
    return numbers
