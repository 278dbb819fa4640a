"""Estimators saved to files, and made from them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from laconic.estimators.base import RuleBoosting
from laconic.estimators.classifier import RuleBoostingClassifier
from laconic.estimators.regressor import RuleBoostingRegressor
from laconic.export.json.files import SavedModel, read_dict, read_model, write_model
from laconic.models import RuleModel

ESTIMATORS: dict[str, type[RuleBoosting]] = {
    estimator.task.name: estimator for estimator in (RuleBoostingClassifier, RuleBoostingRegressor)
}
"""The estimators by the name of their task."""


def save_model(estimator: RuleModel, path: str | os.PathLike[str]) -> None:
    """Write a fitted model to a JSON file.

    The file is written as a whole: if writing fails, an existing file is left unchanged.

    Parameters
    ----------
    estimator : RuleBoostingClassifier or RuleBoostingRegressor
        Fitted, with one of the named losses.
    path : path-like
        Where to write. An existing file is replaced.

    See Also
    --------
    load_model : Read a saved model.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> model = RuleBoostingRegressor(l2_regularization=0).fit([[1], [2], [3], [4]], [5, 5, 1, 1])
    >>> with TemporaryDirectory() as folder:
    ...     save_model(model, f"{folder}/model.json")
    ...     print(load_model(f"{folder}/model.json").ensemble_)
    +1.000 (intercept)
    +4.000 if x0 <= 2
    """
    write_model(estimator, path)


def load_model(path: str | os.PathLike[str]) -> RuleBoosting:
    """Read a fitted model from a JSON file.

    The model does what the saved one does: predict, explain, export, and also `edit`,
    `alternatives` and `certificate`, with the same training rows. Callbacks, the
    number of threads and custom search methods are not saved.

    Parameters
    ----------
    path : path-like
        A file that `save_model` wrote.

    Returns
    -------
    estimator : RuleBoostingClassifier or RuleBoostingRegressor
        Predicts what the saved one predicts, to the last bit, and has its parameters; those that
        were given as functions or positions are replaced by their resolved values.

    Raises
    ------
    ValueError
        If the file is not a complete and valid model. The message names the entry.
    """
    return _estimator(read_model(path))


def model_from_dict(data: Mapping[str, Any]) -> RuleBoosting:
    """Make a fitted estimator from what `laconic.export.model_to_dict` returned.

    Every entry is checked.

    Examples
    --------
    >>> from laconic.export import model_to_dict
    >>> model = RuleBoostingRegressor(l2_regularization=0).fit([[1], [2], [3], [4]], [5, 5, 1, 1])
    >>> model_from_dict(model_to_dict(model)).predict([[2], [3]])
    array([5., 1.])
    """
    return _estimator(read_dict(data))


def _estimator(saved: SavedModel) -> RuleBoosting:
    task, settings = saved.task, saved.settings
    parameters = settings.parameters(task.labels if task.outputs else None)
    return saved.fill(ESTIMATORS[task.name](**parameters))
