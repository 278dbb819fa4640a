"""Extents from arrays, and as copies and pickles."""

from __future__ import annotations

import copyreg
from typing import Any

import numpy as np
import numpy.typing as npt

from laconic._core import Extents, ExtentsBuilder


def as_extents(extents: npt.ArrayLike | Extents) -> Extents:
    """Check and convert extents."""
    if isinstance(extents, Extents):
        return extents
    array = np.asarray(extents)
    if array.dtype != np.bool_:
        raise TypeError(
            f"extents must be a boolean array. Got dtype {array.dtype}. Convert with .astype(bool)."
        )
    if array.ndim != 2:
        raise ValueError(
            "extents must have two dimensions, (n_propositions, n_rows). "
            f"Got {array.ndim} dimension(s), shape {array.shape}."
        )
    return Extents(np.ascontiguousarray(array))


def _reduce_extents(extents: Extents) -> tuple[Any, ...]:
    """Take extents apart, for copies and pickles: a bit per row and proposition."""
    covered = (extents.covered([index]) for index in range(extents.n_propositions))
    return _build_extents, (extents.n_rows, [np.packbits(rows) for rows in covered])


def _build_extents(n_rows: int, packed: list[npt.NDArray[np.uint8]]) -> Extents:
    builder = ExtentsBuilder(n_rows)
    for bits in packed:
        builder.add(np.unpackbits(bits, count=n_rows).astype(bool))
    return builder.build()


copyreg.pickle(Extents, _reduce_extents)
