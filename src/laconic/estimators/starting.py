"""What a fit starts from: the best constants, without rules."""

from __future__ import annotations

import numpy as np

from laconic.losses import Floats, MultinomialLoss, mean_hessian, optimal_constant
from laconic.model.outputs import Output
from laconic.model.rules import RuleEnsemble
from laconic.tasks import Task


def starting_point(
    task: Task, y: Floats, weights: Floats | None, *, fit_intercept: bool
) -> tuple[RuleEnsemble, float]:
    """Find the best constants, or zeros, and how the loss of a row bends there on average."""
    if isinstance(task.loss, MultinomialLoss):
        loss, n_classes = task.loss, len(task.outputs)
        constants = np.zeros(n_classes)
        if fit_intercept:
            constants = loss.constants(y, n_classes, weights)
        outputs = map(Output, task.outputs, constants.tolist())
        curvature = float(loss.hessians(y[:1], constants[np.newaxis]).mean())
        return RuleEnsemble(outputs=tuple(outputs)), curvature
    constant = optimal_constant(task.loss, y, weights) if fit_intercept else 0.0
    return RuleEnsemble((), constant), mean_hessian(task.loss, constant, y, weights)
