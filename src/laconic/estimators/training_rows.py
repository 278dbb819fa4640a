"""Whether rows are those that a model was fitted to, by the fingerprint that it keeps."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

from laconic.boosting import TrainingData
from laconic.terms.formatting import format_percent
from laconic.trust import fingerprint, hash_rows

if TYPE_CHECKING:
    from laconic.estimators.base import RuleBoosting


def warn_of_others(model: RuleBoosting, data: TrainingData, stacklevel: int = 3) -> None:
    """Warn of a table that is not the one of the fit: answers would be about other rows."""
    known = model.fingerprint_
    if known is not None and not fingerprint(hash_rows(data)).is_same(known):
        warnings.warn(
            "These rows are not those that the model was fitted to, which the answer needs. Pass "
            "the training table, with the target and the weights of the fit.",
            UserWarning,
            stacklevel,
        )


def check_unseen(
    model: RuleBoosting,
    data: TrainingData,
    *,
    what: str,
    outcome: str,
    advice: str,
    stacklevel: int = 3,
) -> None:
    """Refuse training rows, and warn of tables in which many of the rows are."""
    known = model.fingerprint_
    if known is None:
        return
    hashes, needed = hash_rows(data), f"{what} rows that the model was not fitted to"
    if fingerprint(hashes).is_same(known):
        raise ValueError(
            f"{needed}. Got the training rows, for which its terms were chosen: intervals would be "
            f"{outcome}. Pass other rows, or {advice}."
        )
    share = known.known_share(hashes)
    if share > 0.0:
        warnings.warn(
            f"{needed}. About {format_percent(share)} of these seem to be training rows, so that "
            f"intervals are {outcome}. Leave those rows out.",
            UserWarning,
            stacklevel,
        )
