"""The loss of a table as a sum over its rows, and a lower bound on it by duality.

A convex loss l lies above its tangents: l(f) ≥ θf − l*(θ) for every slope θ, where l* is its
conjugate. Summed over rows of weights c, with *forces* v = cθ, and an ensemble f = b + Σ_j w_j z_j
of terms with the values z_j: zeros and ones for a rule, numbers for a slope,

    loss ≥ D(v) + b Σv + Σ_j w_j Σ_i v_i z_ji,    D(v) = −Σ c l*(v/c).

Where Σv = 0, the intercept does not matter, and a term changes the bound by at most its weight
times the largest sum Σ v z of any term. Both the weight and z of a slope are taken on the scale of
rules.

The same holds for several outputs: raw predictions, slopes and intercepts are vectors, and a term
adds to one output. Forces have to add up to 0 in each output, and the largest sum is
that of the forces of any one output.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np

from laconic._util.checks import require
from laconic._util.types import Floats, Values
from laconic._util.words import listed
from laconic.boosting.certificate.conjugates import CONJUGATES, Conjugate
from laconic.boosting.scale import check_loss
from laconic.candidates.slopes import standardised
from laconic.losses import Loss, MultinomialLoss, NamedLoss, known_loss, optimal_constants
from laconic.terms.rules import RuleEnsemble


def scale_of_values(values: Values, sample_weight: Floats | None) -> float:
    """Return what the values of a term are divided by to be on the scale of rules."""
    if values.dtype == np.bool_:
        return 1.0
    return standardised(values.astype(np.float64, copy=False), sample_weight)[1]


@dataclass(frozen=True, eq=False)
class TrainingRisk:
    """Target, positive weights and loss of some rows.

    Parameters
    ----------
    y : ndarray of shape (n_rows,)
        The target, as the loss expects it.
    loss : LogisticLoss, MultinomialLoss or SquaredLoss
    sample_weight : ndarray of shape (n_rows,), default=None
    fit_intercept : bool, default=True
        Whether ensembles have an intercept, one for each output; without, raw predictions start
        from 0.
    n_outputs : int, default=1
        Raw predictions of a row: the number of classes for the multinomial loss, 1 for others.

    Examples
    --------
    >>> from laconic.losses import SquaredLoss
    >>> risk = TrainingRisk(np.array([1.0, 3.0, 8.0]), SquaredLoss())
    >>> risk.constants, risk.value_at_constant
    (array([4.]), 26.0)
    >>> forces = risk.forces(np.array([2.0, 2.0, 8.0]))
    >>> forces, float(forces.sum())
    (array([ 2., -2.,  0.]), 0.0)
    >>> round(risk.conjugate.value(forces), 6)
    2.0

    With three classes, the forces of a row add up to 0 as well:

    >>> risk = TrainingRisk(np.array([0.0, 1.0, 2.0]), MultinomialLoss(), n_outputs=3)
    >>> risk.forces(np.zeros((3, 3))).round(3)
    array([[-0.667,  0.333,  0.333],
           [ 0.333, -0.667,  0.333],
           [ 0.333,  0.333, -0.667]])
    """

    y: Floats
    loss: NamedLoss
    sample_weight: Floats | None = None
    fit_intercept: bool = True
    n_outputs: int = 1

    def __post_init__(self) -> None:
        if isinstance(self.loss, MultinomialLoss):
            required, is_met = "2 or more for the multinomial loss", self.n_outputs >= 2
        else:
            required, is_met = "1 for a loss of one raw prediction", self.n_outputs == 1
        require(is_met, "n_outputs", required, self.n_outputs)

    @classmethod
    def of(
        cls,
        y: Floats,
        loss: Loss,
        sample_weight: Floats | None = None,
        *,
        fit_intercept: bool = True,
        n_outputs: int = 1,
        what: str = "A certificate",
    ) -> Self:
        """Make the risk of rows, and refuse losses that cannot be bounded.

        Parameters
        ----------
        y, loss, sample_weight, fit_intercept, n_outputs
            As for the class; any loss may be passed.
        what : str, default="A certificate"
            The purpose of the bound, for messages.

        Returns
        -------
        risk : TrainingRisk
        """
        known = known_loss(loss)
        if known is None or type(known) not in CONJUGATES:
            names = listed((kind.name for kind in CONJUGATES), word="or")
            raise ValueError(f"{what} needs one of the losses {names}. Got {loss!r}.")
        risk = cls(y, known, sample_weight, fit_intercept, n_outputs)
        if np.ptp(y) > 0.0:
            # The squares and products of a proof are far below a loss, and must not be 0.
            check_loss(what, risk.value_at_constant)
        return risk

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of raw predictions and forces: (n_rows,), or (n_rows, n_outputs) for several."""
        return (len(self.y),) if self.n_outputs == 1 else (len(self.y), self.n_outputs)

    @cached_property
    def weights(self) -> Floats:
        """Weights of all rows."""
        return np.ones(len(self.y)) if self.sample_weight is None else self.sample_weight

    @cached_property
    def constants(self) -> Floats:
        """The raw predictions of an ensemble without rules, of shape (n_outputs,)."""
        if not self.fit_intercept:
            return np.zeros(self.n_outputs)
        return optimal_constants(self.loss, self.y, self.n_outputs, self.sample_weight)

    @cached_property
    def value_at_constant(self) -> float:
        """The loss of an ensemble without rules."""
        return self.value(np.tile(self.constants, (len(self.y), 1)).reshape(self.shape))

    @cached_property
    def conjugate(self) -> Conjugate:
        """The dual of the loss."""
        kind = CONJUGATES[type(self.loss)]
        return kind(self.y, self.weights, self.constants, has_intercept=self.fit_intercept)

    def value(self, raw_predictions: Floats) -> float:
        """Sum the loss of raw predictions over all rows."""
        return math.fsum(self.weights * self.loss.value(self.y, raw_predictions))

    def value_of(self, ensemble: RuleEnsemble, columns: Iterable[Values]) -> float:
        """Sum the loss of an ensemble over all rows, given the values of each term.

        Further columns are ignored.
        """
        raw_predictions = ensemble.start(len(self.y))
        for term, values in zip(ensemble, columns, strict=False):
            ensemble.add_to(raw_predictions, term, values)
        return self.value(raw_predictions)

    def weights_of(self, ensemble: RuleEnsemble, columns: Iterable[Values]) -> Floats:
        """Return the weights of terms on the scale of rules; further columns are ignored."""
        pairs = zip(ensemble, columns, strict=False)
        weights = [t.weight * scale_of_values(values, self.sample_weight) for t, values in pairs]
        return np.array(weights, dtype=np.float64)

    def gradients(self, raw_predictions: Floats) -> Floats:
        """Compute the first derivatives times weights."""
        return self._weighted(self.loss.gradients(self.y, raw_predictions))

    def curvature(self, raw_predictions: Floats) -> Callable[[int, int], Floats]:
        """Return the second derivatives times weights, as a function of two outputs."""
        hessians = self.by_output(self._weighted(self.loss.hessians(self.y, raw_predictions)))
        if self.n_outputs == 1:
            return lambda first, second: hessians[:, 0]
        probabilities = self.loss.inverse_link(raw_predictions)

        def between(first: int, second: int) -> Floats:
            if first == second:
                return hessians[:, first]
            return np.asarray(-self.weights * probabilities[:, first] * probabilities[:, second])

        return between

    def forces(self, raw_predictions: Floats) -> Floats:
        """Compute gradients, changed slightly so that they are slopes with exact sums.

        With an intercept they add up to 0.
        """
        forces = self.gradients(raw_predictions)
        conjugate = self.conjugate
        return conjugate.exact(conjugate.balanced(forces) if self.fit_intercept else forces)

    def by_output(self, values: Floats) -> Floats:
        """Return raw predictions, gradients or forces with an axis for outputs, also for one."""
        return values.reshape(len(self.y), self.n_outputs)

    def _weighted(self, values: Floats) -> Floats:
        return np.asarray((self.weights * values.T).T)
