"""Loss functions: what a raw prediction costs, and how that cost bends.

A loss compares targets with raw predictions, row by row. Boosting needs its first and second
derivatives with respect to the raw prediction (``gradients``, ``hessians``) and nothing else, so
any twice differentiable convex loss will do: pass an object that has the four methods of `Loss`.

This room knows targets and raw predictions. It knows nothing about rules.
"""

from laconic.losses.base import Loss
from laconic.losses.constants import mean_hessian, optimal_constant, ranking_values
from laconic.losses.huber import HuberLoss
from laconic.losses.multinomial import MultinomialLoss
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
from laconic.losses.positive import GammaLoss, LogLinkLoss, PoissonLoss, TweedieLoss
from laconic.losses.squared_logistic import LogisticLoss, SquaredLoss

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
    "ranking_values",
    "takes_means",
]
