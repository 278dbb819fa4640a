"""Callbacks of scikit-learn, from version 1.9 on: a fit as tasks, one for each term."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from laconic._util.releases import callback_support
from laconic.tables.sources.sources import is_source

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from laconic.boosting import State, TrainingData
    from laconic.estimators.base import RuleBoosting

__all__ = ["CallbackSupportMixin", "RuleTasks", "fit_task", "told_rows"]

CallbackSupportMixin: Any
_with_callbacks: Any
CallbackSupportMixin, _with_callbacks = callback_support()


@_with_callbacks  # type: ignore[untyped-decorator]
def _tear_down(estimator: RuleBoosting) -> None:
    """Let go of the callbacks that were set up.

    Not around `fit` itself, as warnings name the line that calls it.
    """


def told_rows(
    data: TrainingData, y: ArrayLike, sample_weight: ArrayLike | None, exposure: ArrayLike | None
) -> dict[str, Any]:
    """Return the rows to score by, as they were passed to fit; rates, with an exposure."""
    if is_source(data.X):
        return {}
    if exposure is not None:
        y, sample_weight = data.target, data.weights
    metadata = None if sample_weight is None else {"sample_weight": sample_weight}
    return {"X": data.X, "y": y, "metadata": metadata}


def drop_callbacks(estimator: RuleBoosting) -> None:
    """Remove scikit-learn's callbacks, which are told of the fits that users ask for."""
    estimator.__dict__.pop("_skl_callbacks", None)


@contextmanager
def fit_task(
    estimator: RuleBoosting, n_tasks: int | None, rows: Mapping[str, Any]
) -> Iterator[RuleTasks | None]:
    """Notify callbacks of where a fit begins and ends; None if there are none."""
    if not hasattr(estimator, "_skl_callbacks"):
        yield None
        return
    try:
        context = estimator._init_callback_context(max_subtasks=n_tasks)
        tasks = RuleTasks(estimator, context, n_tasks, rows)
        yield tasks
        tasks.finish({})
    finally:
        _tear_down(estimator)


class RuleTasks:
    """A task of a fit, with one subtask for each term, of which callbacks are notified.

    Parameters
    ----------
    estimator : RuleBoosting
    context : sklearn.callback.CallbackContext
    n_tasks : int or None
        How many terms there are at most; None if that is not known.
    rows : mapping of str to any
        `X`, `y` and `metadata`, as far as callbacks are given them.
    """

    def __init__(
        self, estimator: RuleBoosting, context: Any, n_tasks: int | None, rows: Mapping[str, Any]
    ) -> None:
        self.estimator = estimator
        self.context = context
        self.n_left = n_tasks
        self.rows = rows
        self._rule: Any = None
        context.call_on_fit_task_begin(estimator=estimator, **rows)

    def stage(self, name: str, n_tasks: int | None, rows: Mapping[str, Any]) -> RuleTasks:
        """Begin a task of its own for some of the terms."""
        context = self.context.subcontext(task_name=name, max_subtasks=n_tasks)
        return RuleTasks(self.estimator, context, n_tasks, rows)

    def begin_rule(self) -> None:
        """Notify callbacks that the search for a term begins."""
        if self.n_left == 0:
            return
        self.n_left = None if self.n_left is None else self.n_left - 1
        self._rule = self.context.subcontext(task_name="term")
        self._rule.call_on_fit_task_begin(estimator=self.estimator, **self.rows)

    def end_rule(self, state: State, data: TrainingData) -> bool:
        """Notify callbacks that it has ended; returns whether one of them wants to end the fit."""
        task, self._rule = self._rule, None
        return task is not None and self._end(task, lambda: _fitted(state, data))

    def finish(self, attributes: Any) -> None:
        """Notify callbacks that all terms are found."""
        self._end(self.context, attributes)

    def _end(self, task: Any, attributes: Any) -> bool:
        is_stopped: bool = task.call_on_fit_task_end(
            estimator=self.estimator, reconstruction_attributes=attributes, **self.rows
        )
        return is_stopped


def _fitted(state: State, data: TrainingData) -> dict[str, Any]:
    """Make an estimator predict as if the fit had ended."""
    return {
        "ensemble_": state.ensemble,
        "search_results_": list(state.results),
        "task_": data.task,
    }
