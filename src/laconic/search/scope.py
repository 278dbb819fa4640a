"""What a fit looked for: the rules that its certificates speak of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class SearchScope:
    """The rules among which those of a model were searched, and how.

    The names are those of the parameters of an estimator, after which all but the last three
    are called.
    """

    search: str
    """The name of the method; "own" for one of the caller's own."""
    objective: str
    l2_regularization: float
    max_conditions: int | None
    min_coverage: float
    approximation_factor: float
    simplify: float
    max_thresholds: int | None
    negated_categories: bool
    categories: str
    max_categories: int | None
    categorical_features: tuple[str, ...]
    ordered_features: tuple[str, ...]
    date_parts: tuple[str, ...]
    n_propositions: int
    """Number of candidate conditions."""
    are_propositions_given: bool
    """Whether the candidate conditions were given, and not made from the table."""
    constraints: Mapping[str, Any] = field(default_factory=dict, hash=False)
    """What else rules were allowed to be, by the parameters that say so."""
