"""The number of terms, chosen by cross-validation: models of all sizes, scored on held-out rows."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    StratifiedGroupKFold,
    StratifiedKFold,
    check_cv,
)

from laconic._util.checks import is_whole
from laconic._util.parallel import map_in_parallel
from laconic._util.types import Floats, Indices, Values
from laconic._util.words import parameter
from laconic.boosting import UNSCALED, Scale, Settings, TrainingData
from laconic.estimators.callbacks import RuleTasks
from laconic.estimators.fitting import FitRun
from laconic.estimators.parameters import DEFAULT_FOLDS
from laconic.estimators.read_training_data import reduced
from laconic.search import SearchResult
from laconic.tables.sources.sources import is_source
from laconic.tables.tables import take_rows
from laconic.terms.formatting import format_count
from laconic.terms.rules import RuleEnsemble

if TYPE_CHECKING:
    from laconic.estimators.base import RuleBoosting


# Sizes without a smaller loss than the best one before them, after which no larger ones are tried.
# One more term may be of use only together with the next one; three in a row hardly are.
PATIENCE = 3


def check_in_memory(estimator: RuleBoosting, X: Any) -> None:
    """Check that the rows of a table can be held out."""
    if is_source(X) and estimator._plain is not None:
        raise TypeError(
            f"{type(estimator).__name__} needs a table in memory, to hold rows out. Got one that "
            f"is read in parts. Choose n_terms with a sample of it, and fit "
            f"{estimator._plain.__name__} with that."
        )


def choose_size(
    estimator: RuleBoosting, data: TrainingData, settings: Settings, tasks: RuleTasks | None
) -> tuple[Settings, SearchResult | None, list[str]]:
    """Choose the number of terms: all splits find one term after the other, side by side.

    Sets, of the estimator: n_terms_, cv_results_, reason_. Where a limit left nothing to choose
    from, the search that it stopped is returned as well; and what users should know about it.
    """
    weights = np.ones(data.table.n_rows) if data.weights is None else data.weights
    splits = make_splits(
        *(estimator.cv, data.target),
        holds_classes=data.task.holds_classes,
        weights=data.weights,
        groups=data.groups,
    )
    folds = []
    for number, (train, test) in enumerate(splits, start=1):
        given = settings
        if callable(estimator.conditions):
            found = tuple(estimator.conditions(take_rows(data.X, train)))
            given = replace(settings, conditions=found)
        # The others have no weight, so that columns stay what they are. Where a split repeats rows,
        # they count as often.
        times = np.bincount(train, minlength=data.table.n_rows)
        part = replace(data, weights=weights * times, candidates=None)
        run = FitRun(
            reduced(part, given),
            given,
            callbacks=estimator._callbacks(),
            tasks=None if tasks is None else tasks.stage("fold", estimator._n_tasks(settings), {}),
            stage=f"fold {number} of {len(splits)}",
            n_jobs=estimator.n_jobs,
        )
        folds.append(Fold(run, data, test))
    sizes, notes, n_given = [], [], len(settings.initial_terms)
    largest = settings.max_terms
    try:
        for size in grow(folds, settings.max_terms, weights, n_given, n_jobs=estimator.n_jobs):
            sizes.append(size)
    except KeyboardInterrupt:
        if estimator.on_interrupt != "keep" or len(sizes) < 2:
            raise
        largest = len(sizes) - 1
        notes = [
            "Interrupted: the number of terms is chosen among 0 to "
            f"{largest}, not up to {settings.max_terms}."
        ]
    for fold in folds:
        if fold.run.tasks is not None:
            fold.run.tasks.finish(None)
    unfinished = folds[0].run.unfinished if len(sizes) == 1 else None
    tests = [test for _, test in splits]
    choice = choose(sizes, tests, weights, data.scale, n_given, data.groups)
    estimator.n_terms_, estimator.cv_results_ = choice.n_terms, choice.results
    estimator.reason_ = _reason(choice, len(splits), largest)
    return replace(settings, n_terms=choice.n_terms), unfinished, notes


def _reason(choice: Choice, n_folds: int, n_terms: int) -> str:
    """Return a sentence about how the number was chosen."""
    why = "with the smallest loss"
    if choice.best != choice.n_terms:
        why = (
            "the fewest within one standard error of the smallest loss, that of "
            f"{format_count(choice.best, 'term')}"
        )
    largest = format_count(n_terms, "term")
    limit = "" if choice.best < n_terms else f" {describe_limit(n_terms)}"
    return (
        f"{choice.n_terms} of up to {largest}: chosen by {n_folds}-fold cross-validation, {why}."
        f"{limit}"
    )


def describe_limit(n_terms: int) -> str:
    """Return a sentence about a loss that is smallest with the most terms that were tried."""
    limit = format_count(n_terms, "term")
    return f"The loss was still falling at the limit of {limit}: more may be better."


_OF_GROUPS = GroupKFold, StratifiedGroupKFold


def make_splits(
    cv: Any,
    y: Any,
    *,
    holds_classes: bool,
    weights: Floats | None,
    groups: Indices | None = None,
    seed: Any = 0,
) -> list[tuple[Indices, Indices]]:
    """Divide rows into training rows and held-out rows, several times.

    A number makes that many parts, with the same shares of the classes in each. Rows are shuffled,
    as tables are often sorted, always in the same way, so that a fit can be repeated; rows without
    weight are in no part. Whole groups are held out, if there are any. Splitters, which are given
    the groups, and lists of splits are taken as they are.
    """
    if cv is None or is_whole(cv):
        n_folds = DEFAULT_FOLDS if cv is None else cv
        rows = np.arange(len(y)) if weights is None else np.flatnonzero(weights)
        of_rows = None if groups is None else groups[rows]
        if of_rows is not None and (n_groups := len(np.unique(of_rows))) < n_folds:
            raise ValueError(
                f"{parameter('cv')} must be at most the number of groups, {n_groups}. Got "
                f"{n_folds}. Use fewer folds."
            )
        kinds: Any = (KFold, StratifiedKFold) if groups is None else _OF_GROUPS
        splitter = kinds[holds_classes](n_folds, shuffle=True, random_state=seed)
        with warnings.catch_warnings():
            # A class may be absent from some folds.
            warnings.filterwarnings("ignore", message="The least populated class")
            parts = list(splitter.split(y[rows, np.newaxis], y[rows], of_rows))
        splits = [(rows[train], rows[test]) for train, test in parts]
    else:
        splitter = check_cv(cv, y, classifier=holds_classes)
        splits = list(splitter.split(y[:, np.newaxis], y, groups))
    if groups is not None:
        # A fold may have none of the groups that count.
        amounts = np.ones(len(y)) if weights is None else weights
        splits = [(train, test) for train, test in splits if amounts[test].any()]
    for number, split in enumerate(splits):
        for part, words in zip(split, ("learn from", "judge by"), strict=True):
            if len(part) == 0 or (weights is not None and not weights[part].any()):
                raise ValueError(
                    f"{parameter('cv')} must leave rows to learn from and rows to judge by in "
                    f"every split. Got a split ({number}) without rows to {words}, or whose "
                    "weights are all 0."
                )
    return [(np.asarray(train), np.asarray(test)) for train, test in splits]


class Fold:
    """Terms from some rows, found one after the other, and what they cost on the others."""

    def __init__(self, run: FitRun, data: TrainingData, held_out: Indices) -> None:
        self.run, self.data, self.held_out = run, data, held_out
        self.y = data.y[held_out]
        self._values: dict[Any, Values] = {}

    def model(self) -> RuleEnsemble:
        """All terms found so far, polished if the strategy says so, on the scale of the fit."""
        state = self.run.scaled
        # The next term follows those that boosting has found, as in a fit of more terms.
        for step in self.run.polished():
            state = step.state
        return state.ensemble

    def advance(self) -> bool:
        """Find the next term; returns whether there is one."""
        return self.run.advance()

    def score(self) -> tuple[int, Floats]:
        """Return the number of conditions of the model so far, and its losses."""
        model = self.model()
        return model.n_conditions, self.losses(model)

    def losses(self, ensemble: RuleEnsemble) -> Floats:
        """Compute the loss of each row that is held out, on the scale of the fit."""
        raw_predictions = ensemble.start(len(self.y))
        for term in ensemble:
            if term.key not in self._values:
                self._values[term.key] = term.values(self.data.table)[self.held_out]
            ensemble.add_to(raw_predictions, term, self._values[term.key])
        return self.data.loss.value(self.y, raw_predictions)


@dataclass(frozen=True, eq=False)
class Size:
    """Models of one size: one from each split."""

    n_conditions: float
    """Mean over the splits."""
    losses: list[Floats]
    """Of the rows that each split holds out."""


def grow(
    folds: Sequence[Fold],
    n_terms: int,
    weights: Floats,
    fewest: int = 0,
    *,
    n_jobs: int | None = None,
) -> Iterator[Size]:
    """Yield models of 0, 1, 2, ... terms, until no further term is of use.

    A model that finds no further term stays as it is. With refitted weights the model of a size is
    not the beginning of a larger one, so that every size is scored when it is reached. All sizes up
    to the `fewest` terms that there may be are scored. Folds are visited side by side.
    """
    in_parallel = partial(map_in_parallel, items=folds, n_jobs=n_jobs)
    best, best_loss = fewest, np.inf
    for n_found in range(n_terms + 1):
        if n_found > 0:
            has_rule = in_parallel(Fold.advance)
            if not any(has_rule):
                return
        scores = in_parallel(Fold.score)
        if any(fold.run.is_stopped for fold in folds):
            return
        counts, losses = zip(*scores, strict=True)
        size = Size(float(np.mean(counts)), list(losses))
        yield size
        mean_loss = np.average(
            np.concatenate(size.losses),
            weights=np.concatenate([weights[fold.held_out] for fold in folds]),
        )
        if n_found >= fewest and mean_loss < best_loss:
            best, best_loss = n_found, mean_loss
        if n_found - best >= PATIENCE:
            return


@dataclass(frozen=True, eq=False)
class Choice:
    """The number of terms, and why."""

    n_terms: int
    """The fewest whose mean loss is within a standard error of the smallest one."""
    best: int
    """The number with the smallest mean loss."""
    results: dict[str, Any]
    """Arrays with an entry per size."""


def choose(
    sizes: Sequence[Size],
    held_out: Iterable[Indices],
    weights: Floats,
    scale: Scale = UNSCALED,
    fewest: int = 0,
    groups: Indices | None = None,
) -> Choice:
    """Choose the fewest terms that may well be as good as the best number.

    No size below `fewest` is chosen, unless there is no other.

    The standard error is that of the difference between two sizes on the same rows, which is much
    smaller than that of either loss: rows that no term explains cost both the same. It is taken
    over rows, or groups of them, not over splits. In 216 generated problems (none, one or three
    true rules, both tasks, joint and stagewise), rows found the true number 159 times, the five
    means of the splits, whose spread is itself uncertain, 154 times, and the smallest loss by
    itself 139 times.
    """
    parts = list(held_out)
    rows = np.concatenate(parts)
    losses = np.array([np.concatenate(size.losses) for size in sizes])
    means = np.average(losses, axis=1, weights=weights[rows])
    fewest = min(fewest, len(sizes) - 1)
    best = fewest + int(means[fewest:].argmin())
    errors = np.array(
        [_standard_error(each, rows, weights, groups) for each in losses - losses[best]]
    )
    chosen = fewest + int(np.flatnonzero((means - means[best] <= errors)[fewest:])[0])
    results: dict[str, Any] = {
        "n_terms": np.arange(len(sizes)),
        "n_conditions": np.array([size.n_conditions for size in sizes]),
        "mean_loss": scale.inverse.losses(means),
        "standard_error": scale.inverse.losses(errors),
    }
    for number, part in enumerate(parts):
        of_split = np.array([size.losses[number] for size in sizes])
        of_sizes = np.average(of_split, axis=1, weights=weights[part])
        results[f"split{number}_loss"] = scale.inverse.losses(of_sizes)
    return Choice(chosen, best, results)


def _standard_error(
    values: Floats, rows: Indices, weights: Floats, groups: Indices | None = None
) -> float:
    """Compute the standard error of a mean, where rows of weight two count as two rows.

    With groups, these are independent, and their rows are not. Rows that several splits hold out
    count once, with the mean of their values.
    """
    times = np.bincount(rows)
    of_row = np.bincount(rows, values)[times > 0] / times[times > 0]
    counts = weights[: len(times)][times > 0]
    deviations = of_row - np.average(of_row, weights=counts)
    largest = float(np.abs(deviations).max(initial=0.0)) or 1.0  # whose square may overflow
    deviations /= largest
    square = counts @ deviations**2
    if groups is not None:
        # Those without a number have no weight.
        numbers = groups[: len(times)][times > 0] + 1
        square = np.square(np.bincount(numbers, counts * deviations)).sum()
    return largest * float(np.sqrt(square) / counts.sum())
