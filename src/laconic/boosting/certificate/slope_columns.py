"""The slopes of compared ensembles: columns that can be enumerated.

A slope is a column z of numbers on the scale of rules, where its weight is penalised, or counted,
as that of a rule is. What a proof needs of it is its sum of forces Σ v z. Sums over bins give those
of all slopes at once, with rounding errors that are bounded; the few that may be the largest are
added up exactly.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import cached_property

import numpy as np

from laconic._util.types import Floats
from laconic.boosting.certificate.risk import TrainingRisk
from laconic.candidates.slopes import SlopeCandidates, standardised
from laconic.terms.slopes import Slope

# The values of a slope on the scale of rules, and their exact sums, are rounded by less than this.
_ROUNDING = 1e-12


class SlopeColumns:
    """All slopes that terms of compared ensembles may be.

    Parameters
    ----------
    risk : TrainingRisk
    candidates : SlopeCandidates or None, default=None
        On the rows of the risk.
    own : iterable of pairs of Slope and its values, default=()
        Slopes of a model, which may not be among the candidates.
    """

    def __init__(
        self,
        risk: TrainingRisk,
        candidates: SlopeCandidates | None = None,
        own: Iterable[tuple[Slope, Floats]] = (),
    ) -> None:
        self.risk = risk
        self.candidates = (
            SlopeCandidates((), len(risk.y), None) if candidates is None else candidates
        )
        found = [self.candidates.slope(*place) for place in self.candidates.places()]
        known = {*found}
        self._own = {slope.key: values for slope, values in own if slope.key not in known}
        self.slopes = (*found, *self._own)
        # The feature of each slope.
        self.features = np.unique([slope.feature for slope in self.slopes], return_inverse=True)[1]

    def __len__(self) -> int:
        """Count the slopes."""
        return len(self.slopes)

    def values(self, slope: Slope) -> Floats:
        """Compute the values of a slope, in the units of its feature."""
        own = self._own.get(slope)
        return self.candidates.values(slope) if own is None else own

    @cached_property
    def _standard_own(self) -> Floats:
        columns = [standardised(each, self.risk.sample_weight)[0] for each in self._own.values()]
        return np.array(columns).reshape(-1, len(self.risk.y))

    @cached_property
    def reach(self) -> float:
        """Upper bound on the values of all terms on the scale of rules, of rules as well."""
        reach = max(1.0, float(np.abs(self._standard_own).max(initial=0.0)))
        reaches = self.candidates.reaches
        reach = max(reach, float(reaches[np.isfinite(reaches)].max(initial=0.0)))
        for number in np.flatnonzero(np.isinf(reaches)).tolist():
            reach = max(reach, float(np.abs(self._standard(number)).max()))
        return reach * (1.0 + _ROUNDING)

    def _standard(self, number: int) -> Floats:
        return standardised(self.values(self.slopes[number]), self.risk.sample_weight)[0]

    def sums(self, forces: Floats) -> tuple[Floats, Floats]:
        """Add up forces times the values of each slope, for each output.

        Returns the sums, but for rounding errors, and upper bounds on their absolute values; both
        of shape (n_slopes, n_outputs).
        """
        forces = self.risk.by_output(forces)
        sums, largest = self.candidates.sums(forces)
        own = self._standard_own @ forces
        return np.vstack([sums, own]), np.vstack([largest, np.full(own.shape, np.inf)])

    def largest_sum(self, forces: Floats) -> float:
        """Return an upper bound on the absolute sums of the forces of any one output."""
        _, bounds = self.sums(forces)
        by_output = self.risk.by_output(forces)
        best = 0.0
        for place in np.argsort(-bounds, axis=None, kind="stable").tolist():
            number, output = divmod(place, self.risk.n_outputs)
            if bounds[number, output] <= best:
                break
            products = self._standard(number) * by_output[:, output]
            size = abs(math.fsum(products)) + _ROUNDING * math.fsum(np.abs(products))
            best = max(best, size)
        return best
