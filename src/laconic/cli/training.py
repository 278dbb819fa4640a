"""What 'laconic fit' and 'laconic cv' share: their options, and how a table is read to learn from.

The class docstrings are the help of the options.
"""

from __future__ import annotations

import shlex
from collections.abc import Collection
from dataclasses import asdict, dataclass
from itertools import compress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import cyclopts
import numpy as np
from numpy.typing import NDArray

from laconic._util.defaults import (
    DEFAULT_L2_REGULARIZATION,
    DEFAULT_MAX_CONDITIONS,
    DEFAULT_N_RULES,
    DEFAULT_STRATEGY,
)
from laconic._util.types import Floats
from laconic._util.words import listed_names
from laconic.candidates.candidates import DEFAULT_MAX_THRESHOLDS
from laconic.candidates.categories import DEFAULT_MAX_CATEGORIES
from laconic.cli import options, table_file, targets
from laconic.cli.options import read_constraints
from laconic.cli.terminal import CommandError
from laconic.tables.inspection import inspect_columns, inspect_target
from laconic.tables.tables import as_table
from laconic.tables.text_files.read_table import add_types, is_usable
from laconic.tables.text_files.text_format import Reading

if TYPE_CHECKING:
    import polars as pl

    from laconic.estimators import RuleBoosting
    from laconic.models.tasks import Task


class TrainingRows(NamedTuple):
    """What there is to learn from, and the estimator for that kind of target."""

    estimator: type[RuleBoosting]
    X: pl.DataFrame
    target: NDArray[Any]
    weights: Floats | None = None
    exposure: Floats | None = None
    reading: Reading | None = None

    @property
    def y(self) -> NDArray[Any]:
        """What models predict: the target, or its rate where there is an exposure."""
        return self.target if self.exposure is None else self.target / self.exposure

    @property
    def sample_weight(self) -> Floats | None:
        """How much each row counts in scores."""
        if self.exposure is None or self.weights is None:
            return self.weights if self.exposure is None else self.exposure
        return self.weights * self.exposure

    def fit(self, model: RuleBoosting, rows: Any = slice(None)) -> RuleBoosting:
        """Fit a model to some of the rows."""
        others = (None if each is None else each[rows] for each in (self.weights, self.exposure))
        return model.fit(self.X[rows], self.target[rows], *others)

    def task(self, loss: str) -> Task:
        """Tell what models of the rows are for, before there is one."""
        from laconic.losses import get_loss

        kind = self.estimator.task
        numbers, _ = kind.read(
            self.y,
            get_loss(kind.default_loss if loss == "auto" else loss),
            n_rows=len(self.y),
            counted=slice(None),
            owner=self.estimator.__name__,
        )
        return numbers


@cyclopts.Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Source:
    """Which columns of a table to learn from.

    Parameters
    ----------
    target : str
        Column to predict.
    task : str
        "auto" is classification for text, booleans and two distinct whole numbers, and regression
        otherwise. Set it if the classes are three or more whole numbers.
    weight : str
        Column with the weights of the rows.
    exposure : str
        Column with the exposures of the rows, such as years, for the losses "poisson", "gamma" and
        "tweedie". The model predicts rates: the target per unit of exposure.
    drop : tuple of str
        Columns not to use.
    query : str
        What to read from a database: SQL, or the name of a table; by default, its only table.
    keep : tuple of str
        Columns to use as they are, even if they look like row IDs, leak the target, or are text
        that looks like dates or currency.
    """

    target: str
    task: Literal["auto", "classification", "regression"] = "auto"
    weight: str | None = None
    exposure: str | None = None
    drop: options.Names = ()
    keep: options.Names = ()
    query: str | None = None
    format: options.Format = options.DEFAULT_FORMAT

    @property
    def roles(self) -> list[str]:
        """Columns that are not features: the target, the weights and the exposures."""
        return [self.target, *filter(None, (self.weight, self.exposure))]

    @property
    def named_columns(self) -> dict[str, Any]:
        """Columns of weights and exposures, which a model has to be told again for its rows."""
        named = {"weight": self.weight, "exposure": self.exposure}
        return {name: column for name, column in named.items() if column is not None}

    def read(self, path: Path, *, quiet: bool = False) -> TrainingRows:
        """Read a table, and print notes and warnings about its columns."""
        if self.target in self.drop:
            raise CommandError(
                f"--drop must not name the target. Got {self.target!r} for both. Choose another "
                "--target, or drop other columns."
            )
        table = table_file.TableFile(path, self.format)
        rows = self.rows(*self._prepare(table, quiet))
        if rows.estimator.task.holds_classes:
            targets.check_two_classes(self.target, rows.target)
        elif self.task == "auto" and self.exposure is None:
            table_file.note(targets.describe_numbers(self.target, rows.target), quiet=quiet)
        return rows

    def _prepare(
        self, table: table_file.TableFile, quiet: bool
    ) -> tuple[pl.DataFrame, pl.DataFrame, Reading]:
        """Give types to the columns of a table, and leave out those that no rule should use.

        Each decision is printed; if `quiet`, only which columns are left out. Returns the columns
        for rules, all columns, and how they were read.
        """
        table_file.check_columns(table.cells, [*self.roles, *self.drop, *self.keep])
        is_chosen = [name in self.roles or name not in self.drop for name in table.cells.columns]
        typed = add_types(
            table.content,
            list(compress(table.cells.columns, is_chosen)),
            decimal=self.format.decimal,
            missing=self.format.missing_texts(),
            keep=self.keep,
            roles=self.roles,
        )
        X = typed.frame.drop(self.roles)
        if X.width == 0:
            raise CommandError(
                f"Rules need at least one column besides {listed_names(self.roles)}. Got none. "
                "Drop fewer columns."
            )
        notes = [*table.notes]
        if typed.reader.reading.decimal == ",":
            notes.append("commas in numbers are decimal signs. --decimal . decides otherwise.")
        notes += (
            f"column {name!r} {words}. Keep it as text with --keep {shlex.quote(name)}."
            for name, words in typed.converted.items()
        )
        table_file.note(notes, quiet=quiet)
        odd = table.warn_about_odd_cells(typed.frame, typed.reader)
        X = leave_out(X, typed.ambiguous, " Keep it as text with --keep {}.")
        unusable = {
            each.name: f"has the type {each.dtype}, which rules cannot use"
            for each in X
            if not is_usable(each)
        }
        X = leave_out(X, unusable, "")
        kept = {*self.keep, *odd}
        found = [each for each in inspect_columns(as_table(X)) if each.column not in kept]
        # If there are no other columns, these are used.
        if len(found) < X.width:
            same = [each.column for each in found if each.kind == "constant"]
            table_file.note(
                (f"column {name!r} is the same in every row: no rule can use it." for name in same),
                quiet=quiet,
            )
            reasons = {each.column: each.words for each in found if each.column not in same}
            X = leave_out(X, reasons, " Use it with --keep {}.")
        return X, typed.frame, typed.reader.reading

    def rows(self, X: pl.DataFrame, others: pl.DataFrame, reading: Reading) -> TrainingRows:
        """Choose the rows with a target and an estimator for it; check weights and exposure."""
        from laconic.estimators import ESTIMATORS

        is_known = targets.where_known(others[self.target])
        table_file.warn(targets.dropped(is_known))
        X, goal = X.filter(is_known), others[self.target].filter(is_known)
        detected = "regression" if self.exposure is not None else targets.detect_task(goal)
        estimator = ESTIMATORS[detected if self.task == "auto" else self.task]
        y = targets.read_target(goal, estimator.task)
        weights = exposure = None
        if self.weight is not None:
            weights = targets.read_weights(others[self.weight].filter(is_known))
        if self.exposure is not None:
            amounts = others[self.exposure].filter(is_known)
            exposure = targets.read_exposure(amounts, estimator.task)
        rows = TrainingRows(estimator, X, y, weights, exposure, reading)
        warn_about_target(X, rows.y, self.keep)
        return rows


def leave_out(X: pl.DataFrame, reasons: dict[str, str], advice: str) -> pl.DataFrame:
    """Leave out columns, and say why."""
    table_file.warn(
        f"column {name!r} {words}. It is left out.{advice.format(shlex.quote(name))}"
        for name, words in reasons.items()
    )
    if len(reasons) == X.width:
        raise CommandError(
            f"Rules need at least one column. All are left out: {listed_names(reasons)}. Convert "
            "one of them."
        )
    return X.drop(list(reasons))


def warn_about_target(X: pl.DataFrame, y: NDArray[Any], keep: Collection[str]) -> None:
    """Warn about columns that determine the target on their own."""
    numbers = np.unique(y, return_inverse=True)[1] if y.dtype.kind not in "fiu" else y
    found = inspect_target(as_table(X), numbers.astype(np.float64))
    table_file.warn(
        f"{finding}. If it is only known afterwards, leave it out with --drop {name}; "
        f"--keep {name} says that it is meant."
        for finding in found
        if finding.column not in keep
        for name in [shlex.quote(finding.column)]
    )


# Options that take several words.
_CONSTRAINTS = ("monotonic", "interactions", "cost")
_LISTS = (*_CONSTRAINTS, "initial_rules", "date_parts")


@cyclopts.Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Learning:
    """Parameters of the estimators.

    Parameters
    ----------
    n_rules : int
        Largest number of rules; "auto" chooses a number of up to 10 by cross-validation.
    strategy : str
        How rules are found: "joint" refits the weights of all rules after every rule, "stagewise"
        keeps those of the rules before it, "polished" also exchanges rules for better ones, and
        "global" starts a second time from all rules at once, keeps the better model, and proves how
        close it comes to the best one.
    loss : str
        What predictions are judged by: "logistic" for classes; for numbers "squared", "poisson"
        (counts), "gamma" (positive amounts), "tweedie" (amounts that are often 0) or "huber"
        (numbers of which some are far off). "auto" is "logistic" or "squared".
    l2_regularization : float
        Penalty on squared weights; more of it favours rules that cover many rows. "auto" suits
        the loss.
    search : str
        How to find a rule; "optimal" proves that there is no better one.
    max_conditions : int
        Largest number of conditions in a rule; "none" for no limit.
    min_coverage : float
        Smallest number of rows, or total weight, that a rule covers.
    approximation_factor : float
        Be content with a rule proven to reach this share of the best possible objective.
    node_limit : int
        Stop searching for a rule after that many nodes; "auto" allows for a few seconds, "none" for
        no limit.
    time_limit : float
        Stop searching for a rule after that many seconds.
    max_thresholds : int
        Largest number of thresholds per numeric column, at quantiles; "all" or "none" for all
        values.
    categories : str
        Conditions on text columns: "values" gives == and !=, "equal" only ==, and "sets" adds sets
        of values.
    max_categories : int
        Categories of a column that are told apart, the commonest; all others are one group. "none"
        for no limit.
    date_parts : tuple of str
        Parts of dates to compare as well: weekday, month, hour.
    monotonic : tuple of str
        Columns with which predictions may only rise or only fall, such as age=+1 or price=-1.
    interactions : tuple of str
        Columns that a rule may use together: "pairwise", "no_interactions", or sets such as
        age,income. Columns in no set form one more set.
    cost : tuple of str
        What a rule must gain, in units of the mean loss, to use a column, such as mri=0.01.
    weight_signs : str
        Signs that the weights of rules may have.
    initial_rules : tuple of str
        Rules that the model has in any case, written as they are shown: 'age > 65 & sex == "f"'.
    fit_intercept : bool
        Start from the best constant instead of 0.
    n_jobs : int
        Threads of the optimal search; -1 for all processors.
    """

    n_rules: options.CountOrChoice = DEFAULT_N_RULES
    strategy: Literal["joint", "stagewise", "polished", "global"] = DEFAULT_STRATEGY
    loss: Literal["auto", "logistic", "squared", "poisson", "gamma", "tweedie", "huber"] = "auto"
    l2_regularization: options.AmountOrAuto = DEFAULT_L2_REGULARIZATION
    search: Literal["optimal", "greedy", "beam"] = "optimal"
    max_conditions: options.CountOrNone = DEFAULT_MAX_CONDITIONS
    min_coverage: options.Amount = 0
    approximation_factor: options.Share = 1.0
    node_limit: options.CountOrAuto = "auto"
    time_limit: options.Seconds = None
    max_thresholds: options.CountOrAll = DEFAULT_MAX_THRESHOLDS
    categories: Literal["values", "equal", "sets"] = "values"
    max_categories: options.CountOrNone = DEFAULT_MAX_CATEGORIES
    date_parts: options.Names = ()
    monotonic: options.Names = ()
    interactions: options.Names = ()
    cost: options.Names = ()
    weight_signs: Literal["both", "positive", "negative"] = "both"
    initial_rules: options.Names = ()
    fit_intercept: bool = True
    n_jobs: options.Jobs = None

    @property
    def parameters(self) -> dict[str, Any]:
        """As the estimators take them."""
        all_thresholds = {"max_thresholds": None} if self.max_thresholds == "all" else {}
        largest = {"n_rules": DEFAULT_N_RULES} if self.n_rules == "auto" else {}
        given = asdict(self)
        words = {name: given.pop(name) for name in _CONSTRAINTS}
        lists = {name: list(given[name]) or None for name in ("initial_rules", "date_parts")}
        return given | all_thresholds | largest | read_constraints(**words) | lists

    @property
    def settings(self) -> dict[str, Any]:
        """What a model depends on, as a file tells it."""
        parameters = self.parameters
        given = {name: parameters.get(name) for name in asdict(self)} | {"n_rules": self.n_rules}
        lists = {name: ", ".join(getattr(self, name)) for name in _LISTS}
        unset = {name for name, text in lists.items() if not text} | {"n_jobs"}
        if self.weight_signs == "both":
            unset.add("weight_signs")
        return {name: value for name, value in (given | lists).items() if name not in unset}

    def estimator(self, rows: TrainingRows) -> type[RuleBoosting]:
        """Tell what learns from some rows."""
        from laconic.estimators import CROSS_VALIDATED

        kind = rows.estimator
        return CROSS_VALIDATED[kind.task.name] if self.n_rules == "auto" else kind


DEFAULT_LEARNING = Learning()
