"""Loss functions and their derivatives.

A loss compares targets with raw predictions, row by row. Boosting needs its first and second
derivatives with respect to the raw prediction (``gradients``, ``hessians``) and nothing else, so
any twice differentiable convex loss will do: pass an object that has the four methods of `Loss`.

This package knows targets and raw predictions. It knows nothing about rules.
"""

from laconic.losses.constants import (
    mean_hessian,
    optimal_constant,
    optimal_constants,
    ranking_values,
)
from laconic.losses.functions import (
    GammaLoss,
    HuberLoss,
    LogisticLoss,
    LogLinkLoss,
    Loss,
    MultinomialLoss,
    PoissonLoss,
    SquaredLoss,
    TweedieLoss,
)
from laconic.losses.named import (
    ABSENT_LOSSES,
    NAMED_LOSSES,
    NamedLoss,
    get_loss,
    known_loss,
    loss_settings,
    make_loss,
    takes_means,
)

__all__ = [
    "ABSENT_LOSSES",
    "NAMED_LOSSES",
    "GammaLoss",
    "HuberLoss",
    "LogLinkLoss",
    "LogisticLoss",
    "Loss",
    "MultinomialLoss",
    "NamedLoss",
    "PoissonLoss",
    "SquaredLoss",
    "TweedieLoss",
    "get_loss",
    "known_loss",
    "loss_settings",
    "make_loss",
    "mean_hessian",
    "optimal_constant",
    "optimal_constants",
    "ranking_values",
    "takes_means",
]
