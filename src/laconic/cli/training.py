"""What 'laconic fit' and 'laconic cv' share: their options, and how a table is read to learn from.

The help of options is in the docstring of `Source`, and in the table of parameters.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import compress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, TypeAlias, get_args

import cyclopts
import numpy as np
from numpy.typing import NDArray

from laconic._util.types import Floats
from laconic._util.words import listed, listed_names
from laconic.cli import options, table_file, targets
from laconic.cli.messages import in_words
from laconic.cli.terminal import CommandError
from laconic.estimators.groups import groups_for, read_groups
from laconic.estimators.parameters import (
    N_TERMS,
    ClassifierParameters,
    Kind,
    Words,
    describe_option,
    known_parameters,
)
from laconic.tables.inspection import inspect_columns, inspect_target
from laconic.tables.tables import as_table
from laconic.tables.text_files.read_table import TypedTable, add_types, is_usable
from laconic.tables.text_files.text_format import Reading
from laconic.terms.formatting import exact_number

if TYPE_CHECKING:
    import polars as pl

    from laconic.estimators.base import RuleBoosting


class TrainingRows(NamedTuple):
    """What there is to learn from, and the estimator for that kind of target."""

    estimator: type[RuleBoosting]
    X: pl.DataFrame
    target: NDArray[Any]
    weights: Floats | None = None
    exposure: Floats | None = None
    groups: NDArray[Any] | None = None
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
        belonging = groups_for(model, self.groups, rows)
        return model.fit(self.X[rows], self.target[rows], *others, **belonging)

    def with_labels(self, class_weight: Any, positive: str | None) -> dict[str, Any]:
        """Replace the texts of classes by the classes of the target."""
        classes = np.unique(self.target).tolist()
        names = [exact_number(c) if isinstance(c, float) else str(c) for c in classes]
        labels = {str(label): label for label in classes} | dict(zip(names, classes, strict=True))
        # Files write them as true and false.
        labels |= {str(label).lower(): label for label in classes if isinstance(label, bool)}
        weights = class_weight if isinstance(class_weight, dict) else {}
        given = {"--positive": [] if positive is None else [positive], "--class-weight": weights}
        for option, texts in given.items():
            if unknown := [text for text in texts if text not in labels]:
                raise CommandError(
                    f"{option} must name classes of the target, {listed_names(names)}. Got "
                    f"{unknown[0]!r}."
                )
        return {
            "class_weight": {labels[text]: each for text, each in weights.items()} or class_weight,
            "positive": None if positive is None else labels[positive],
        }


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
    groups : str
        Column that says which rows belong together, such as those of one patient: they are held out
        together, by cross-validation and by --honest.
    drop : tuple of str
        Columns not to use.
    keep : tuple of str
        Columns to use as they are, even if they look like row IDs, leak the target, or are text
        that looks like dates or currency.
    numeric : tuple of str
        Columns of numbers: all cells that are not numbers are missing values.
    date : tuple of str
        Columns of dates, with their formats as for strptime if needed, such as day=%d/%m/%Y; all
        other cells are missing values.
    """

    target: str
    task: Literal["auto", "classification", "regression"] = "auto"
    weight: str | None = None
    exposure: str | None = None
    groups: str | None = None
    drop: options.Names = ()
    keep: options.Names = ()
    numeric: options.Names = ()
    date: options.Names = ()
    format: options.Format = options.DEFAULT_FORMAT

    @property
    def roles(self) -> list[str]:
        """Columns that are not features: the target, the weights, the exposures and the groups."""
        return [self.target, *self.named_columns.values()]

    @property
    def dates(self) -> dict[str, str | None]:
        """The columns of --date, with their formats if these are given."""
        return dict(map(options.date_format, self.date))

    @property
    def typed_columns(self) -> list[str]:
        """Columns whose types are given."""
        return [*self.numeric, *self.dates]

    @property
    def named_columns(self) -> dict[str, str]:
        """Columns besides the target that a saved model needs again for its rows."""
        named = {"weight": self.weight, "exposure": self.exposure, "groups": self.groups}
        return {name: column for name, column in named.items() if column is not None}

    def read(self, path: Path | str, *, quiet: bool = False) -> TrainingRows:
        """Read a table, and print notes and warnings about its columns."""
        if self.target in self.drop:
            raise CommandError(
                f"--drop must not name the target. Got {self.target!r} for both. Choose another "
                "--target, or drop other columns."
            )
        table = table_file.TableFile(path, self.format)
        rows = self.rows(*self._prepare(table, quiet))
        if rows.estimator.task.holds_classes:
            targets.check_classes(self.target, rows.target)
        elif self.task == "auto" and self.exposure is None:
            table_file.note(targets.describe_numbers(self.target, rows.target), quiet=quiet)
        return rows

    def _prepare(
        self, table: table_file.TableFile, quiet: bool
    ) -> tuple[pl.DataFrame, pl.DataFrame, Reading]:
        """Give types to the columns of a table, and leave out those that no term should use.

        Each decision is printed; if `quiet`, only which columns are left out. Returns the columns
        for terms, all columns, and how they were read.
        """
        table_file.check_columns(
            table.cells, [*self.roles, *self.drop, *self.keep, *self.typed_columns]
        )
        roles, dropped = {*self.roles}, {*self.drop}
        is_chosen = [name in roles or name not in dropped for name in table.cells.columns]
        typed = add_types(
            table.content,
            list(compress(table.cells.columns, is_chosen)),
            decimal=self.format.decimal,
            missing=self.format.missing_texts(),
            keep=self.keep,
            roles=self.roles,
            numeric=self.numeric,
            dates=self.dates,
        )
        X = typed.frame.drop(self.roles)
        if X.width == 0:
            raise CommandError(
                f"Models need at least one column besides {listed_names(self.roles)}. Got none. "
                "Drop fewer columns."
            )
        table_file.note([*table.notes, *self._notes(typed)], quiet=quiet)
        table_file.warn(self._warnings(typed))
        ambiguous = {
            name: f"holds dates that can be read in {len(formats)} ways; decide with "
            f"{date_options(name, formats)}"
            for name, formats in typed.ambiguous.items()
        }
        X = leave_out(X, ambiguous, " Keep it as text with --keep {}.")
        unusable = {
            each.name: f"has the type {each.dtype}, which no term can use"
            for each in X
            if not is_usable(each)
        }
        X = leave_out(X, unusable, "")
        X, same = without_useless(X, {*self.keep, *typed.odd})
        words = "is the same in every row: no term can use it."
        table_file.note((f"column {name!r} {words}" for name in same), quiet=quiet)
        return X, typed.frame, typed.reading

    def _notes(self, typed: TypedTable) -> Iterator[str]:
        """Yield which texts are read as numbers and dates."""
        if typed.reading.decimal == ",":
            yield "commas in numbers are decimal signs. --decimal . decides otherwise."
        for name, words in typed.converted.items():
            advice = f" Keep it as text with --keep {shlex.quote(name)}."
            yield f"column {name!r} {words}.{'' if name in self.typed_columns else advice}"
        for name in typed.compact:
            if name not in self.keep:
                yield (
                    f"column {name!r} is read as numbers, and looks like dates such as 20240315. "
                    f"Read it as dates with --date {shlex.quote(name)}."
                )

    def _warnings(self, typed: TypedTable) -> Iterator[str]:
        """Yield which cells are missing values, or make a column one of text."""
        for name, words in typed.unread.items():
            yield f"column {name!r} {words}."
        for name, odd in typed.odd.items():
            if name not in self.keep:
                way = date_options(name, odd.formats) or f"--numeric {shlex.quote(name)}"
                yield (
                    f"column {name!r} {odd.words}. Read these cells as missing values with {way}."
                )

    def rows(self, X: pl.DataFrame, others: pl.DataFrame, reading: Reading) -> TrainingRows:
        """Choose the rows with a target and an estimator for it; check weights and exposure."""
        from laconic.estimators.files import ESTIMATORS

        is_known = targets.where_known(others[self.target])
        table_file.warn(targets.dropped(is_known))
        X, goal = X.filter(is_known), others[self.target].filter(is_known)
        detected = "regression" if self.exposure is not None else targets.detect_task(goal)
        estimator = ESTIMATORS[detected if self.task == "auto" else self.task]
        y = targets.read_target(goal, estimator.task)
        weights = exposure = groups = None
        if self.weight is not None:
            weights = targets.read_weights(others[self.weight].filter(is_known))
        if self.exposure is not None:
            amounts = others[self.exposure].filter(is_known)
            exposure = targets.read_exposure(amounts, estimator.task)
        if self.groups is not None:
            groups = read_groups(others[self.groups].filter(is_known).to_list(), len(y))
        rows = TrainingRows(estimator, X, y, weights, exposure, groups, reading)
        warn_about_target(X, rows.y, self.keep)
        return rows


def date_options(name: str, formats: Sequence[str]) -> str:
    """Return the options that read a column as dates, one for each format."""
    ways = (f"--date {shlex.quote(f'{name}={each}')}" for each in formats)
    return listed(ways, word="or") if formats else ""


def leave_out(X: pl.DataFrame, reasons: dict[str, str], advice: str) -> pl.DataFrame:
    """Leave out columns, and say why."""
    table_file.warn(
        f"column {name!r} {words}. It is left out.{advice.format(shlex.quote(name))}"
        for name, words in reasons.items()
    )
    if len(reasons) == X.width:
        raise CommandError(
            f"Models need at least one column. All are left out: {listed_names(reasons)}. Convert "
            "one of them."
        )
    return X.drop(list(reasons))


def without_useless(X: pl.DataFrame, keep: Collection[str]) -> tuple[pl.DataFrame, list[str]]:
    """Leave out columns that no term should use, if there are others; list the constant ones."""
    found = [each for each in inspect_columns(as_table(X)) if each.column not in keep]
    if len(found) == X.width:
        return X, []
    same = [each.column for each in found if each.kind == "constant"]
    reasons = {each.column: each.words for each in found if each.column not in same}
    return leave_out(X, reasons, " Use it with --keep {}."), same


def warn_about_target(X: pl.DataFrame, y: NDArray[Any], keep: Collection[str]) -> None:
    """Warn about columns that determine the target."""
    numbers = np.unique(y, return_inverse=True)[1] if y.dtype.kind not in "fiu" else y
    found = inspect_target(as_table(X), numbers.astype(np.float64))
    table_file.warn(
        f"{finding}. {_advice_about_target(finding.columns)}"
        for finding in found
        if not {*finding.columns} <= {*keep}
    )


def _advice_about_target(columns: Sequence[str]) -> str:
    names = " ".join(map(shlex.quote, columns))
    if len(columns) == 1:
        return (
            f"If it is only known afterwards, leave it out with --drop {names}; --keep {names} "
            "confirms that it is intended."
        )
    return (
        f"If they are only known afterwards, leave them out with --drop {names}; --keep {names} "
        "confirms that they are intended."
    )


NumberOfTerms: TypeAlias = int | Literal["auto", "cv"]
_BY_CROSS_VALIDATION = ' "cv" chooses it by cross-validation, up to 10.'


def _with_options(kind: type) -> type:
    """Give a class a field for each parameter of the estimators that has an option."""
    kind.__annotations__.clear()
    for name, parameter in PARAMETERS.items():
        takes_words = parameter.kind.option is Words
        further = _BY_CROSS_VALIDATION if name == "n_terms" else ""
        option = parameter.option or name
        type_ = options.Names if takes_words else parameter.kind.option
        type_ = NumberOfTerms if further else type_
        read = options.read_or_none if type(None) in get_args(type_) else options.read_value
        about = cyclopts.Parameter(
            help=describe_option(name) + further,
            validator=None if name in options.READERS else _checking(parameter.kind),
            converter=None if takes_words or type_ is bool else read,
        )
        kind.__annotations__[option] = Annotated[type_, about]
        setattr(kind, option, () if takes_words else parameter.default)
    return dataclass(frozen=True, kw_only=True)(kind)


def _checking(kind: Kind) -> Callable[[Any, Any], None]:
    """Refuse numbers and lists as a wrong call; words such as "auto" have been read already."""

    def check(type_: Any, value: Any) -> None:
        if isinstance(value, int | float | tuple) and not kind.is_met(value):
            raise ValueError(f"It must be {in_words(kind.required)}.")

    return check


PARAMETERS = {
    name: parameter
    for name, parameter in known_parameters(ClassifierParameters).items()
    if parameter.kind.option is not None
}
"""The parameters of the estimators that are options, by their names in Python."""


@cyclopts.Parameter(name="*")
@_with_options
class Learning:
    """Parameters of the estimators, as options."""

    n_terms: NumberOfTerms
    n_jobs: int | None
    loss: str
    slopes: bool
    class_weight: tuple[str, ...]

    @property
    def parameters(self) -> dict[str, Any]:
        """As the estimators take them; classes are texts."""
        given = {name: getattr(self, each.option or name) for name, each in PARAMETERS.items()}
        read = {
            name: options.READERS.get(name, list)(words) if words else PARAMETERS[name].default
            for name, words in given.items()
            if isinstance(words, tuple)
        }
        all_thresholds = {"max_thresholds": None} if given["max_thresholds"] == "all" else {}
        largest = {"n_terms": N_TERMS.default} if self.n_terms == "cv" else {}
        # Nobody else waits for the processors of a command.
        n_jobs = {"n_jobs": -1 if self.n_jobs is None else self.n_jobs}
        return given | read | all_thresholds | largest | n_jobs

    @property
    def settings(self) -> dict[str, Any]:
        """What a model depends on, as model files record it."""
        given = {name: value for name, value in vars(self).items() if name != "n_jobs"}
        if given["max_thresholds"] == "all":
            given["max_thresholds"] = None
        return {
            name: ", ".join(value) if isinstance(value, tuple) else value
            for name, value in given.items()
            if value != ()
        }

    @property
    def with_rules_only(self) -> Learning:
        """The same without slopes."""
        return type(self)(**vars(self) | {"slopes": False})

    def make(self, rows: TrainingRows, **changes: Any) -> RuleBoosting:
        """Make an estimator for some rows; of any size if it is "cv"."""
        from laconic.estimators.cv import CROSS_VALIDATED

        kind, parameters = rows.estimator, self.parameters
        losses = ("auto", *kind.task.losses)
        if self.loss not in losses:
            raise CommandError(
                f"--loss must be {listed(map(repr, losses), word='or')} for {kind.task.name}. Got "
                f"{self.loss!r}. Choose one of these, or the other --task."
            )
        of_classes = {name: parameters.pop(name) for name in ("class_weight", "positive")}
        if kind.task.holds_classes:
            parameters |= rows.with_labels(**of_classes)
        elif given := [name for name, value in of_classes.items() if value is not None]:
            raise CommandError(
                f"--{given[0].replace('_', '-')} needs a target of classes. Got one of numbers. "
                "Leave it out, or set --task classification."
            )
        if self.n_terms == "cv" and "n_terms" not in changes:
            kind = CROSS_VALIDATED[kind.task.name]
        return kind(**parameters | changes)


DEFAULT_LEARNING = Learning()
