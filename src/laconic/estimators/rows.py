"""What an estimator learns from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import _check_sample_weight

from laconic.candidates import CandidatePropositions
from laconic.data.columns import Rows
from laconic.data.tables import Table
from laconic.losses import Loss, known_loss
from laconic.model.parsing import Feature, features_of

Floats: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class CheckedRows:
    """What there is to learn from, checked."""

    X: Any
    """The table as it was passed to fit."""
    table: Table
    target: Floats
    weights: Floats | None
    candidates: CandidatePropositions | None = None
    """The conditions, where these are known already."""
    whole: CheckedRows | None = None
    """Rows in memory that these were reduced from."""
    described: Callable[[str], Feature] | None = None
    """What columns hold, where the table does not show it: rows that were read in parts."""

    @property
    def describe(self) -> Callable[[str], Feature]:
        """What those who write rules have to know about a column."""
        if self.described is not None:
            return self.described
        # Reduced rows may not show what a column holds.
        return features_of(self.table if self.whole is None else self.whole.table)

    def per_exposure(self, exposure: ArrayLike | None, loss: Loss) -> CheckedRows:
        """Divide the target by what it was counted over, which then weighs the row."""
        if exposure is None:
            return self
        check_exposed(loss)
        _refuse_masked(exposure, "exposure")
        amounts: Floats = _check_sample_weight(exposure, np.empty((self.table.n_rows, 0)))
        if not (amounts > 0).all():
            row = int((amounts > 0).argmin())
            raise ValueError(
                f"The exposure must be positive in every row. Got {amounts[row]} at row {row}. "
                "Leave out rows over which nothing could be counted."
            )
        weights = amounts if self.weights is None else amounts * self.weights
        return replace(self, target=self.target / amounts, weights=weights)

    @property
    def counted_target(self) -> Floats:
        """Target of the rows that count."""
        return self.target[counted(self.weights)]

    @property
    def counted_weights(self) -> Floats | None:
        """Weights of the rows that count."""
        return None if self.weights is None else self.weights[self.weights > 0]


def check_exposed(loss: Loss) -> None:
    """Refuse an exposure for a loss that has no use for one."""
    known = known_loss(loss)
    if known is None or known.link != "log":
        raise ValueError(
            "An exposure needs a loss with a logarithmic link: 'poisson', 'gamma' or "
            f"'tweedie'. Got loss {loss!r}. Set one of these, or pass y / exposure with "
            "sample_weight=exposure."
        )


def counted(weights: Floats | None) -> Rows:
    """Tell which rows are there: those without weight neither fit nor tell queries apart."""
    return slice(None) if weights is None else weights > 0


def checked_weights(sample_weight: ArrayLike | None, n_rows: int) -> Floats | None:
    """Read one weight per row, if there are any."""
    if sample_weight is None:
        return None
    _refuse_masked(sample_weight, "sample_weight")
    weights: Floats = _check_sample_weight(
        sample_weight, np.empty((n_rows, 0)), ensure_non_negative=True
    )
    return weights


def _refuse_masked(values: ArrayLike, name: str) -> None:
    if np.ma.is_masked(values):
        row = int(np.ma.getmaskarray(np.ma.asarray(values)).argmax())
        raise ValueError(
            f"'{name}' must have a value in every row. Got a masked one at row {row}. Fill it with "
            "a number, or leave the row out."
        )
