"""Curves of several estimators and penalties over splits of a table, as one tidy frame."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby, product
from typing import Any, TextIO

import narwhals as nw
import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone, is_classifier
from sklearn.model_selection import check_cv
from sklearn.pipeline import Pipeline
from sklearn.utils.parallel import Parallel, delayed

from laconic.models.curves import Scoring, normalized_area, rule_model, score_curve
from laconic.tables.tables import FrameBackend, make_frame, take_rows

_CURVE = ("estimator", "l2_regularization", "split")
_SCHEMA = {
    "estimator": nw.String(),
    "l2_regularization": nw.Float64(),
    "split": nw.Int64(),
    "n_terms": nw.Int64(),
    "train_score": nw.Float64(),
    "test_score": nw.Float64(),
    "seconds": nw.Float64(),
}


@dataclass(frozen=True, eq=False)
class _Fit:
    """One fit to make: which estimator, on which rows."""

    name: str
    estimator: Any
    l2_regularization: float | str
    split: int
    train: NDArray[np.intp]
    test: NDArray[np.intp]

    def rows(
        self, X: Any, y: NDArray[Any], scoring: Scoring, max_rules: int
    ) -> list[dict[str, Any]]:
        """Fit, and score every size: one row each."""
        part, target = take_rows(X, self.train), y[self.train]
        model = clone(self.estimator).fit(part, target)
        other_part, other_target = take_rows(X, self.test), y[self.test]
        columns = {
            "n_terms": range(max_rules + 1),
            "train_score": score_curve(model, part, target, scoring=scoring, max_terms=max_rules),
            "test_score": score_curve(
                model, other_part, other_target, scoring=scoring, max_terms=max_rules
            ),
            "seconds": _cumulative_seconds(model, max_rules),
        }
        shared = dict(zip(_CURVE, (self.name, self.l2_regularization, self.split), strict=True))
        return [
            shared | dict(zip(columns, cells, strict=True))
            for cells in zip(*columns.values(), strict=True)
        ]


def evaluate(
    estimators: Any,
    X: Any,
    y: ArrayLike,
    *,
    cv: Any = None,
    scoring: Scoring = None,
    l2_regularization: Iterable[float | str] | None = None,
    n_terms: int | None = None,
    groups: ArrayLike | None = None,
    n_jobs: int | None = None,
    verbose: int = 0,
    backend: FrameBackend | None = None,
) -> Any:
    """Score every size of one or more estimators on splits of a table.

    Each combination of estimator, penalty and split is fitted once; the smaller sizes are the
    first rules of the same fit.

    Parameters
    ----------
    estimators : estimator or mapping of str to estimator
        Rule ensembles, or pipelines that end with one. They stay unfitted.
    X : table-like of shape (n_rows, n_features)
    y : array-like of shape (n_rows,)
    cv : int, splitter or iterable, default=None
        As in :func:`sklearn.model_selection.cross_validate`: a number of folds, None for five, or
        a splitter such as ``ShuffleSplit(5, test_size=0.2)`` for repeated splits.
    scoring : str, callable or None, default=None
        As for :func:`score_curve`.
    l2_regularization : iterable of float or "auto", default=None
        Penalties to try with every estimator; None: those that the estimators have.
    n_terms : int or None, default=None
        Largest size; None: the largest `n_terms` of the estimators.
    groups : array-like of shape (n_rows,), default=None
        For splitters that keep groups together.
    n_jobs : int or None, default=None
        Processes that fit at the same time; -1 means all processors.
    verbose : int, default=0
        1 says on standard error how many fits are done.
    backend : {"pandas", "polars", "pyarrow"} or None, default=None
        Library of the result; None takes that of `X`, or the first that is installed.

    Returns
    -------
    frame : pandas.DataFrame, polars.DataFrame or pyarrow.Table
        Columns estimator, l2_regularization, split (from 0), n_terms (from 0), train_score,
        test_score, and seconds: what the searches for that many rules took together. Penalties
        are numbers, or texts if one of them is "auto".

    Examples
    --------
    >>> from laconic import RuleBoostingRegressor
    >>> X, y = [[1], [2], [3], [4]] * 20, [5, 3, 1, 1] * 20
    >>> frame = evaluate(RuleBoostingRegressor(n_terms=2), X, y, cv=2, backend="pandas")
    >>> frame[["split", "n_terms", "test_score"]].round(3).head(3)
       split  n_terms  test_score
    0      0        0       0.000
    1      0        1       0.614
    2      0        2       0.824
    """
    named = _named(estimators)
    target = np.asarray(y)
    fits = list(_fits(named, target, cv, l2_regularization, n_terms, groups))
    largest = n_terms or max(int(_get(fit.estimator, "n_terms")) for fit in fits)
    jobs = (delayed(fit.rows)(X, target, scoring, largest) for fit in fits)
    progress = _Progress(len(fits), sys.stderr) if verbose else None
    rows: list[dict[str, Any]] = []
    for done in Parallel(n_jobs=n_jobs, return_as="generator")(jobs):
        rows += done
        if progress:
            progress.advance()
    return _frame(rows, _schema(rows), backend or _library_of(X))


def curve_areas(frame: Any, *, score: str = "test_score", smallest: int = 0) -> Any:
    """Normalised area of every curve of a frame made by `evaluate`.

    Parameters
    ----------
    frame : data frame
        With the columns estimator, l2_regularization, split, n_terms and `score`.
    score : str, default="test_score"
        Column with the heights of the curves.
    smallest : int, default=0
        First size that counts.

    Returns
    -------
    areas : data frame of the same library
        Columns estimator, l2_regularization, split and area, a row per curve, in the order of the
        frame.
    """
    table = nw.from_native(frame, eager_only=True)
    cells = table.select(*_CURVE, "n_terms", score).iter_rows()
    rows = []
    for curve, points in groupby(cells, key=lambda row: row[: len(_CURVE)]):
        kept = [(size, height) for *_, size, height in points if size >= smallest]
        sizes, heights = zip(*kept, strict=True)
        rows.append(
            dict(zip(_CURVE, curve, strict=True)) | {"area": normalized_area(heights, sizes)}
        )
    schema = {name: _schema(rows)[name] for name in _CURVE} | {"area": nw.Float64()}
    return _frame(rows, schema, _library_of(frame))


def _fits(
    estimators: Mapping[str, Any],
    y: NDArray[Any],
    cv: Any,
    penalties: Iterable[float | str] | None,
    n_terms: int | None,
    groups: ArrayLike | None,
) -> Iterator[_Fit]:
    choices = None if penalties is None else [_number_or_auto(penalty) for penalty in penalties]
    for name, estimator in estimators.items():
        splitter = check_cv(cv, y, classifier=is_classifier(estimator))
        splits = list(splitter.split(np.empty((len(y), 0)), y, groups))
        own = choices or [_number_or_auto(_get(estimator, "l2_regularization"))]
        for penalty, (number, (train, test)) in product(own, enumerate(splits)):
            changed = clone(estimator)
            _set(changed, "l2_regularization", penalty)
            if n_terms is not None:
                _set(changed, "n_terms", n_terms)
            yield _Fit(name, changed, penalty, number, train, test)


def _number_or_auto(penalty: float | str) -> float | str:
    return penalty if penalty == "auto" else float(penalty)


def _named(estimators: Any) -> Mapping[str, Any]:
    if isinstance(estimators, Mapping) and estimators:
        return estimators
    if not hasattr(estimators, "get_params"):
        raise TypeError(
            "'estimators' must be an estimator or a mapping of names to at least one estimator. "
            f"Got {estimators!r}. Give each a name: {{'optimal': RuleBoostingClassifier()}}."
        )
    last = estimators.steps[-1][1] if isinstance(estimators, Pipeline) else estimators
    return {type(last).__name__: estimators}


def _key(estimator: Any, name: str) -> str:
    """Name of a parameter of a rule ensemble, or of the one at the end of a pipeline."""
    keys = [key for key in estimator.get_params() if key.rpartition("__")[2] == name]
    if not keys:
        raise TypeError(
            f"Every estimator must have a parameter {name!r}, as rule ensembles do. Got "
            f"{type(estimator).__name__}. Leave it out, or score it by itself."
        )
    return str(min(keys, key=len))


def _get(estimator: Any, name: str) -> Any:
    return estimator.get_params()[_key(estimator, name)]


def _set(estimator: Any, name: str, value: Any) -> None:
    estimator.set_params(**{_key(estimator, name): value})


def _cumulative_seconds(model: Any, max_rules: int) -> NDArray[np.float64]:
    """Seconds of the searches for the first 0, 1, 2, ... rules."""
    seconds = np.zeros(max_rules + 1)
    rules = rule_model(model)
    each = [result.seconds for result in rules.search_results_[: len(rules.ensemble_)]]
    seconds[1 : len(each) + 1] = each
    return np.cumsum(seconds)


def _library_of(X: Any) -> FrameBackend | None:
    table = nw.from_native(X, eager_only=True, pass_through=True)
    if not isinstance(table, nw.DataFrame):
        return None
    implementation = table.implementation
    if implementation.is_polars():
        return "polars"
    return "pyarrow" if implementation.is_pyarrow() else "pandas"


def _schema(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Kinds of the columns; penalties are texts if one of them is."""
    has_texts = any(isinstance(row["l2_regularization"], str) for row in rows)
    return _SCHEMA | ({"l2_regularization": nw.String()} if has_texts else {})


def _frame(
    rows: list[dict[str, Any]], schema: Mapping[str, Any], backend: FrameBackend | None
) -> Any:
    columns = {name: [row[name] for row in rows] for name in schema}
    if schema["l2_regularization"] == nw.String():
        columns["l2_regularization"] = [*map(str, columns["l2_regularization"])]
    return make_frame(columns, schema, backend)


class _Progress:
    """Print how many fits are done: in one line of a terminal, or now and then in a file."""

    def __init__(self, n_fits: int, stream: TextIO) -> None:
        self.n_fits, self.stream = n_fits, stream
        self.n_done = 0
        self.started = self.reported = time.monotonic()

    def advance(self) -> None:
        """Count one more fit.

        Sets: n_done, reported.
        """
        self.n_done += 1
        now, is_last = time.monotonic(), self.n_done == self.n_fits
        # In a file every report is a line: one in ten seconds is enough.
        if not is_last and now - self.reported < (0.1 if self.stream.isatty() else 10.0):
            return
        self.reported = now
        start, end = ("\r", "\n" if is_last else "") if self.stream.isatty() else ("", "\n")
        text = f"{self.n_done} of {self.n_fits} fits, {now - self.started:.0f} s"
        self.stream.write(f"{start}{text}{end}")
        self.stream.flush()
