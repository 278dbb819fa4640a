"""The command line: thin commands over the public API.

What a command has to say goes to the standard output, errors and warnings to the standard error.
The exit code is 0 for success, 1 for an error, 2 for a wrong call and 130 after Ctrl-C.
"""

from __future__ import annotations

import io
import os
import signal
import sys
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

import laconic
from laconic.datasets import tic_tac_toe
from laconic.progress import FitProgress, describe_certificate, describe_search
from laconic.rules import format_weight
from laconic.search import SearchResult

# What takes long to import is imported when a command needs it: polars, and scikit-learn, which
# the estimators bring along.
if TYPE_CHECKING:
    import polars as pl

    Estimator: TypeAlias = laconic.RuleBoostingClassifier | laconic.RuleBoostingRegressor

_NEEDS_EXTRAS = (
    'The command line needs extra packages. Install them with: pip install "laconic[cli]"'
)

try:
    import cyclopts
    from rich import box
    from rich.console import Console
    from rich.status import Status
    from rich.table import Table
    from rich.text import Text
except ModuleNotFoundError:
    # The console script starts with this import, so that this line is all a user sees.
    raise SystemExit(_NEEDS_EXTRAS) from None

__all__ = ["main"]

Task: TypeAlias = Literal["classification", "regression"]

EXIT_ERROR = 1
EXIT_USAGE = 2
EXIT_INTERRUPTED = 130

# Piped output is for programs and editors, which do not want lines cut to a screen.
_PIPED_WIDTH = 10_000

# Seconds between two lines about the same search where lines cannot be overwritten.
_PIPED_INTERVAL = 10.0

_SEPARATORS = {".csv": ",", ".tsv": "\t"}
_PARQUET_SUFFIXES = (".parquet", ".pq")

_TABLE_STYLE: dict[str, Any] = {
    "box": box.SIMPLE_HEAD,
    "show_edge": False,
    "pad_edge": False,
    "padding": (0, 1, 0, 0),
}

_TABLE_GAP = 3

_DEMO_PARAMETERS: dict[str, Any] = {
    "n_rules": 10,
    "l2_regularization": 10,
    "negated_categories": False,
}


class CommandError(Exception):
    """Something that the user can mend; the message says how."""


def main(tokens: Sequence[str] | None = None) -> int:
    """Run a command.

    Parameters
    ----------
    tokens : sequence of str, default=None
        The command and its arguments; None takes those of the process.

    Returns
    -------
    exit_code : int
        0 for success.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        exit_code = _run(tokens)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader has seen enough, as head does. What Python flushes at exit goes nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_ERROR
    except cyclopts.CycloptsError as error:
        _complain(f"error: {error}")
        return EXIT_USAGE
    except (CommandError, ValueError, TypeError, OSError) as error:
        _complain(f"error: {error}")
        return EXIT_ERROR
    except KeyboardInterrupt:
        _complain("Interrupted.")
        return EXIT_INTERRUPTED
    return exit_code


def _run(tokens: Sequence[str] | None) -> int:
    app = cyclopts.App(
        name="laconic",
        help="Learn short, readable rule ensembles in which every rule is proven to be the best.",
        version=laconic.__version__,
    )
    for command in (demo, fit, show, predict):
        app.command(command)
    called, arguments, *_ = app.parse_args(tokens, exit_on_error=False, print_error=False)
    return called(*arguments.args, **arguments.kwargs) or 0


def demo() -> None:
    """Compare greedy with optimal rules for the final boards of tic-tac-toe."""
    _import_polars()
    dataset = tic_tac_toe(backend="polars")
    models = {
        search: laconic.RuleBoostingClassifier(**_DEMO_PARAMETERS, search=search).fit(
            dataset.data, dataset.target
        )
        for search in ("greedy", "optimal")
    }
    console = _console()
    _print(console, f"Has x won? Rules for the {len(dataset.target)} final boards of tic-tac-toe.")
    _print(console, "A positive weight speaks for x, a negative one against. b is a blank field.\n")
    _print_beside(
        console, *(_rules_table(model, _title(search, model)) for search, model in models.items())
    )
    console.print(_comparison_table(models, dataset.data, dataset.target))
    _print(
        console,
        "\nAfter the first rule, the optimal search finds the lines of three that decide\n"
        "a game, and proves that no rule gains more. The greedy search starts from the\n"
        f"condition that looks best alone, and gets {models['greedy'].ensemble_[1].query}.",
    )


def fit(
    table: Path,
    /,
    *,
    target: str,
    task: Literal["auto", "classification", "regression"] = "auto",
    model: Path | None = None,
    n_rules: int = 10,
    l2_regularization: float = 1.0,
    search: Literal["optimal", "greedy", "beam", "reference", "brute_force"] = "optimal",
    max_conditions: int | None = None,
    min_coverage: float = 0,
    approximation_factor: float = 1.0,
    node_limit: int | None = 100_000,
    time_limit: float | None = None,
    max_thresholds: int | Literal["all"] = 8,
    fit_intercept: Annotated[bool, cyclopts.Parameter(negative="")] = False,
    n_jobs: int | None = None,
    weight: str | None = None,
    drop: Annotated[
        list[str] | None, cyclopts.Parameter(negative="", consume_multiple=True)
    ] = None,
    quiet: Annotated[bool, cyclopts.Parameter(negative="")] = False,
) -> int:
    """Learn rules from a table.

    Ctrl-C ends the search and keeps the rules found so far.

    Parameters
    ----------
    table : Path
        CSV, TSV or Parquet file (.csv, .csv.gz, .tsv, .tsv.gz, .parquet, .pq). Empty cells are
        missing values.
    target : str
        Column to predict.
    task : str
        "auto" is classification for text, booleans and whole numbers of which there are two, and
        regression otherwise.
    model : Path
        File to save the model to, as JSON.
    n_rules : int
        Largest number of rules.
    l2_regularization : float
        Penalty on squared weights; more of it favours rules that cover many rows.
    search : str
        How to find a rule; "optimal" proves that there is no better one.
    max_conditions : int
        Largest number of conditions in a rule.
    min_coverage : float
        Smallest number of rows, or total weight, that a rule covers.
    approximation_factor : float
        Be content with a rule proven to reach this share of the best possible objective.
    node_limit : int
        Stop searching for a rule after that many nodes; "none" for no limit.
    time_limit : float
        Stop searching for a rule after that many seconds.
    max_thresholds : int
        Largest number of thresholds per numeric column, at quantiles; "all" for all values.
    fit_intercept : bool
        Start from the best constant instead of 0.
    n_jobs : int
        Threads of the optimal search; -1 for all processors.
    weight : str
        Column with the weights of the rows.
    drop : list of str
        Columns to leave out.
    quiet : bool
        Show nothing but warnings and errors.
    """
    if model is not None:
        _check_destination(model)
    frame = _read_table(table)
    if task == "auto":
        task = _detect_task(_column(frame, target))
    y = _read_target(_column(frame, target), task)
    sample_weight = None if weight is None else _read_weights(_column(frame, weight))
    X = _drop_columns(frame, [target, *([weight] if weight else []), *(drop or [])])
    console = _console(quiet=quiet)
    screen = _FitScreen(console)
    make: type[Estimator] = (
        laconic.RuleBoostingClassifier
        if task == "classification"
        else laconic.RuleBoostingRegressor
    )
    estimator = make(
        n_rules,
        l2_regularization=l2_regularization,
        search=search,
        max_conditions=max_conditions,
        min_coverage=min_coverage,
        approximation_factor=approximation_factor,
        node_limit=node_limit,
        time_limit=time_limit,
        max_thresholds=None if max_thresholds == "all" else max_thresholds,
        fit_intercept=fit_intercept,
        n_jobs=n_jobs,
        on_interrupt="keep",
        callback=screen,
    )
    with _short_warnings(), screen.watch():
        estimator.fit(X, y, sample_weight)
    if screen.is_interrupted and not getattr(estimator, "ensemble_", ()):
        _complain("Interrupted before the first rule was found. Nothing is saved.")
        return EXIT_INTERRUPTED
    if screen.is_interrupted:
        _complain(f"Interrupted: the model has {len(estimator.ensemble_)} of {n_rules} rules.")
    if model is not None:
        laconic.save_model(estimator, model)
    _print(console, f"\n{_describe_model(estimator)}")
    _print(console, f"Learned from {len(X)} rows to predict {_visible(target)}.\n")
    console.print(_rules_table(estimator), "", sep="\n")
    for line in _closing_lines(estimator, _training_scores(estimator, X, y, sample_weight)):
        _print(console, line)
    if model is not None:
        _print(console, f"Saved to {_visible(str(model))}")
    return EXIT_INTERRUPTED if screen.is_interrupted else 0


def show(model: Path, /) -> None:
    """Show the rules of a saved model.

    Parameters
    ----------
    model : Path
        File that 'laconic fit --model' or laconic.save_model wrote.
    """
    estimator = laconic.load_model(model)
    console = _console()
    _print(console, f"{_describe_model(estimator)}\n")
    console.print(_rules_table(estimator), "", sep="\n")
    ensemble = estimator.ensemble_
    used = {proposition.feature for rule in ensemble for proposition in rule.query}
    names = [name for name in ensemble.feature_names or () if name in used]
    listed = ", ".join(map(_visible, names)) or "none"
    _print(console, f"Features in use ({len(names)} of {estimator.n_features_in_}): {listed}")


def predict(
    model: Path,
    table: Path,
    /,
    *,
    output: Path | None = None,
    probabilities: Annotated[bool, cyclopts.Parameter(negative="")] = False,
    keep_columns: Annotated[bool, cyclopts.Parameter(negative="")] = False,
) -> None:
    """Predict the target for the rows of a table.

    Parameters
    ----------
    model : Path
        File that 'laconic fit --model' or laconic.save_model wrote.
    table : Path
        CSV, TSV or Parquet file with the columns that the model was trained on, in any order.
    output : Path
        File to write (.csv, .tsv, .parquet, .pq) instead of CSV to the standard output.
    probabilities : bool
        Add a column with the probability of each class.
    keep_columns : bool
        Put the predictions next to the columns of the table.
    """
    estimator = laconic.load_model(model)
    if output is not None:
        _check_destination(output)
        _check_suffix(output, (*_SEPARATORS, *_PARQUET_SUFFIXES))
    if probabilities and not isinstance(estimator, laconic.RuleBoostingClassifier):
        raise CommandError(
            "--probabilities needs a model with classes. Got a regression model. Leave it out."
        )
    frame = _read_table(table, text_columns=_text_features(estimator))
    X = _select_features(frame, estimator)
    # The columns are taken by name, also for a model that was trained on nameless ones.
    with warnings.catch_warnings(action="ignore", category=UserWarning):
        columns = {"prediction": estimator.predict(X)}
        if isinstance(estimator, laconic.RuleBoostingClassifier) and probabilities:
            names = [f"probability_{name}" for name in estimator.classes_.tolist()]
            columns |= dict(zip(names, estimator.predict_proba(X).T, strict=True))
    _write_table(_with_columns(frame, columns, keep_columns), output)


class _FitScreen:
    """Callback that shows how a fit gets on, and ends it after Ctrl-C.

    Parameters
    ----------
    console : Console
        Where to show it: a line that changes on a terminal, otherwise a line now and then.

    Attributes
    ----------
    is_interrupted : bool
        Whether Ctrl-C was pressed.
    """

    def __init__(self, console: Console) -> None:
        self.console = console
        self.is_interrupted = False
        self._has_rule = False
        self._status: Status | None = None
        self._last_time = time.monotonic()

    def __call__(self, progress: FitProgress) -> bool:
        """Show a rule that was found, or how the search for the next one gets on."""
        number = f"rule {len(progress.rules) + (progress.search is not None)}/{progress.n_rules}"
        if progress.search is None:
            self._has_rule = True
            self._print_rule(number, progress)
        elif self._status is not None:
            self._status.update(Text(f"{number}: {describe_search(progress.search)}"))
        elif time.monotonic() - self._last_time >= _PIPED_INTERVAL:
            self._print_line(Text(f"{number}: {describe_search(progress.search)}"))
        return self.is_interrupted

    @contextmanager
    def watch(self) -> Iterator[None]:
        """Listen to Ctrl-C, and keep a changing line at the bottom of a terminal."""
        # Once there is a rule to keep, Ctrl-C sets a flag: an exception could come when a rule is
        # found but not yet noted. The second time it is an exception for those who cannot wait.
        previous = signal.signal(signal.SIGINT, self._interrupt)
        status = self.console.status(Text("searching")) if self.console.is_terminal else None
        self._status = status
        try:
            with status or nullcontext():
                yield
        except KeyboardInterrupt:
            pass
        finally:
            signal.signal(signal.SIGINT, previous)

    def _interrupt(self, signal_number: int, frame: FrameType | None) -> None:
        is_second_time, self.is_interrupted = self.is_interrupted, True
        if is_second_time or not self._has_rule:
            raise KeyboardInterrupt

    def _print_rule(self, number: str, progress: FitProgress) -> None:
        result = progress.search_results[-1]
        line = Text(f"{number}: {_visible(str(progress.rules[-1]))}  ")
        line.append(
            f"{_describe_result(result)}, objective {result.objective_value:.4g}, "
            f"{result.counters.get('nodes', 0):,} nodes, {result.seconds:.2g} s",
            style="dim",
        )
        self._print_line(line)

    def _print_line(self, line: Text) -> None:
        self.console.print(line)
        self._last_time = time.monotonic()


@contextmanager
def _short_warnings() -> Iterator[None]:
    """Show warnings as single lines; the certificates tell about searches that were stopped."""
    from sklearn.exceptions import ConvergenceWarning

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for warning in caught:
        if not issubclass(warning.category, ConvergenceWarning):
            _complain(f"warning: {warning.message}")


def _detect_task(target: pl.Series) -> Task:
    values = target.drop_nulls()
    if not target.dtype.is_numeric():
        return "classification"
    is_whole = not target.dtype.is_float() or bool((values == values.round()).all())
    return "classification" if is_whole and values.n_unique() == 2 else "regression"


def _read_target(target: pl.Series, task: Task) -> NDArray[Any]:
    import polars as pl

    _check_target(target)
    is_text = not (target.dtype.is_numeric() or target.dtype == pl.Boolean)
    if task == "classification":
        _check_classes(target)
        return np.array(target.cast(pl.String).to_list()) if is_text else target.to_numpy()
    if is_text:
        raise CommandError(
            f"Regression needs a target of numbers. Column {target.name!r} holds text. Use "
            "--task classification, or choose another column with --target."
        )
    return target.cast(pl.Float64).to_numpy()


def _check_target(target: pl.Series) -> None:
    import polars as pl

    dtype = target.dtype
    if not (dtype.is_numeric() or dtype in (pl.Boolean, pl.String, pl.Categorical, pl.Enum)):
        raise CommandError(
            f"The target must hold text, booleans or numbers. Column {target.name!r} has the type "
            f"{dtype}. Convert it, or choose another column with --target."
        )
    n_missing = target.null_count() + (int(target.is_nan().sum()) if dtype.is_float() else 0)
    if n_missing > 0:
        raise CommandError(
            f"The target must be known in every row. Column {target.name!r} is missing in "
            f"{n_missing} of {len(target)} rows. Fill these cells, or remove these rows from the "
            "table."
        )


def _check_classes(target: pl.Series) -> None:
    n_classes = target.n_unique()
    if n_classes > 2:
        hint = ", or use --task regression" if target.dtype.is_numeric() else ""
        raise CommandError(
            "Only two classes are supported for now. "
            f"Column {target.name!r} has {n_classes} different values. Replace all classes but "
            f"one by a common value{hint}."
        )


def _read_weights(weights: pl.Series) -> NDArray[np.float64]:
    import polars as pl

    if not weights.dtype.is_numeric() or weights.null_count() > 0:
        raise CommandError(
            f"Weights must be numbers, and known in every row. Column {weights.name!r} has the "
            f"type {weights.dtype} and {weights.null_count()} missing values. Fill these cells, "
            "or choose another column with --weight."
        )
    numbers: NDArray[np.float64] = weights.cast(pl.Float64).to_numpy()
    return numbers


def _column(frame: pl.DataFrame, name: str) -> pl.Series:
    _check_columns(frame, [name])
    return frame[name]


def _drop_columns(frame: pl.DataFrame, names: list[str]) -> pl.DataFrame:
    _check_columns(frame, names)
    X = frame.drop(names)
    if X.width == 0:
        raise CommandError(
            f"Rules need at least one column besides {', '.join(map(repr, names))}. Got none. "
            "Drop fewer columns."
        )
    return X


def _text_features(estimator: Estimator) -> set[str]:
    """Find features that are compared with text, even if a table has only numbers there."""
    propositions = [proposition for rule in estimator.ensemble_ for proposition in rule.query]
    return {
        proposition.feature for proposition in propositions if isinstance(proposition.value, str)
    }


def _select_features(frame: pl.DataFrame, estimator: Estimator) -> pl.DataFrame:
    names = list(estimator.ensemble_.feature_names or ())
    _check_columns(frame, names)
    return frame.select(names)


def _check_columns(frame: pl.DataFrame, names: list[str]) -> None:
    missing = [name for name in names if name not in frame.columns]
    if missing:
        raise CommandError(
            f"The table must have the column{'s' if len(missing) > 1 else ''} "
            f"{', '.join(map(repr, missing))}. It has {', '.join(map(repr, frame.columns))}. "
            "Check the spelling, or add what is missing."
        )


def _with_columns(
    frame: pl.DataFrame, columns: dict[str, NDArray[Any]], keep_columns: bool
) -> pl.DataFrame:
    import polars as pl

    predictions = pl.DataFrame({name: values.tolist() for name, values in columns.items()})
    if not keep_columns:
        return predictions
    taken = [name for name in predictions.columns if name in frame.columns]
    if taken:
        raise CommandError(
            f"With --keep-columns the table must not have a column {taken[0]!r} already. "
            "Rename it, or leave out --keep-columns."
        )
    return frame.hstack(predictions)


def _import_polars() -> None:
    try:
        import polars  # noqa: F401
    except ModuleNotFoundError:
        raise SystemExit(_NEEDS_EXTRAS) from None


def _read_table(path: Path, text_columns: set[str] | None = None) -> pl.DataFrame:
    """Read a file, the given columns as text if it is a text file."""
    _import_polars()
    import polars as pl

    compressed = [f"{suffix}.gz" for suffix in _SEPARATORS]
    suffix = _check_suffix(path, (*_SEPARATORS, *compressed, *_PARQUET_SUFFIXES))
    if not path.is_file():
        raise CommandError(f"There is no file {str(path)!r}. Check the path of the table.")
    try:
        if suffix in _PARQUET_SUFFIXES:
            frame = pl.read_parquet(path, glob=False)
        else:
            frame = _read_text_table(path, _SEPARATORS[suffix.removesuffix(".gz")], text_columns)
    except (pl.exceptions.PolarsError, OSError) as error:
        reason = (str(error).splitlines() or ["unknown reason"])[0]
        raise CommandError(
            f"Cannot read the table {str(path)!r}: {reason}. Check that it is a complete "
            f"{suffix} file."
        ) from None
    if frame.height == 0:
        raise CommandError(f"The table {str(path)!r} must have at least one row. Got none.")
    return frame


def _read_text_table(path: Path, separator: str, text_columns: set[str] | None) -> pl.DataFrame:
    import polars as pl

    # Bytes, because the name of a file may look like a pattern.
    content = path.read_bytes()
    names = pl.read_csv(content, separator=separator, n_rows=0).columns
    return pl.read_csv(
        content,
        separator=separator,
        # The type of a column depends on all of its rows.
        infer_schema_length=None,
        schema_overrides={name: pl.String for name in names if name in (text_columns or ())},
    )


def _write_table(frame: pl.DataFrame, path: Path | None) -> None:
    if path is None:
        sys.stdout.flush()
        sys.stdout.buffer.write(frame.write_csv().encode())
        return
    content = io.BytesIO()
    if path.suffix.lower() in _PARQUET_SUFFIXES:
        frame.write_parquet(content)
    else:
        frame.write_csv(content, separator=_SEPARATORS[path.suffix.lower()])
    path.write_bytes(content.getvalue())


def _check_suffix(path: Path, allowed: Sequence[str]) -> str:
    """Return the one of the allowed suffixes that a path has."""
    for suffix in allowed:
        if path.name.lower().endswith(suffix):
            return suffix
    raise CommandError(
        f"The name of a table must end with {', '.join(allowed[:-1])} or {allowed[-1]}. "
        f"Got {path.name!r}. Rename or convert the file."
    )


def _check_destination(path: Path) -> None:
    """Refuse a path that cannot be written to before the work, and not after it."""
    folder = path.resolve().parent
    is_taken = path.exists() and not path.is_file()
    if is_taken or not folder.is_dir() or not os.access(folder, os.W_OK):
        raise CommandError(
            f"Cannot write {str(path)!r}: it must be a regular file in an existing folder that "
            "you may write to. Create the folder, or choose another path."
        )


def _describe_model(estimator: Estimator) -> str:
    ensemble = estimator.ensemble_
    size = f"{_count(ensemble.n_rules, 'rule')} with {_count(ensemble.n_conditions, 'condition')}"
    if not isinstance(estimator, laconic.RuleBoostingClassifier):
        return f"Regression model: {size}. Weights add up to the prediction."
    negative, positive = (_visible(str(name)) for name in estimator.classes_.tolist())
    return (
        f"Classification model: {size}. "
        f"Positive weights speak for {positive}, negative ones for {negative}."
    )


def _describe_result(result: SearchResult) -> str:
    status = str(result.status)
    stopped = f" (stopped at --{status.replace('_', '-')})" if status.endswith("_limit") else ""
    return describe_certificate(result) + stopped


def _title(search: str, estimator: Estimator) -> str:
    """Say once what would be the same in all rows of a table."""
    certificates = dict.fromkeys(map(describe_certificate, estimator.search_results_))
    return f"{search.capitalize()} search: {' or '.join(certificates)}"


def _rules_table(estimator: Estimator, title: str | None = None) -> Table:
    """Make a table of the rules; a title stands in for their certificates."""
    table = Table(title=title, title_justify="left", title_style="bold", **_TABLE_STYLE)
    table.add_column("", justify="right", style="dim")
    table.add_column("weight", justify="right", no_wrap=True)
    table.add_column("rule", overflow="fold")
    table.add_column("objective", justify="right", no_wrap=True)
    if title is None:
        table.add_column("certificate", overflow="fold")
    ensemble = estimator.ensemble_
    if ensemble.intercept != 0.0 or not len(ensemble):
        table.add_row("", format_weight(ensemble.intercept), "always (intercept)")
    for number, (rule, result) in enumerate(
        zip(ensemble, estimator.search_results_, strict=True), start=1
    ):
        cells = [
            Text(str(number)),
            Text(format_weight(rule.weight)),
            Text(_visible(str(rule.query))),
            Text(f"{result.objective_value:#.4g}"),
        ]
        if title is None:
            cells.append(Text(describe_certificate(result)))
        table.add_row(*cells)
    return table


def _comparison_table(models: dict[str, laconic.RuleBoostingClassifier], X: Any, y: Any) -> Table:
    from sklearn.metrics import log_loss, roc_auc_score

    table = Table(**_TABLE_STYLE)
    table.add_column("on all boards")
    for search in models:
        table.add_column(search, justify="right")
    probabilities = [model.predict_proba(X)[:, 1] for model in models.values()]
    fitted = list(models.values())
    results = [model.search_results_ for model in fitted]
    rows = {
        "accuracy": [f"{model.score(X, y):.3f}" for model in fitted],
        "AUC": [f"{roc_auc_score(y, positive):.3f}" for positive in probabilities],
        "log loss": [f"{log_loss(y, positive):.3f}" for positive in probabilities],
        "conditions": [str(model.ensemble_.n_conditions) for model in fitted],
        "proven optimal": [f"{sum(r.is_optimal for r in rs)} of {len(rs)}" for rs in results],
        "nodes": [f"{sum(r.counters['nodes'] for r in rs):,}" for rs in results],
        "seconds": [f"{sum(r.seconds for r in rs):.3f}" for rs in results],
    }
    for name, cells in rows.items():
        table.add_row(name, *cells)
    return table


def _training_scores(
    estimator: Estimator, X: pl.DataFrame, y: NDArray[Any], sample_weight: Any
) -> str:
    score = estimator.score(X, y, sample_weight)
    if not isinstance(estimator, laconic.RuleBoostingClassifier):
        return f"R² {score:.4g}"
    from sklearn.metrics import roc_auc_score

    area = roc_auc_score(y, estimator.decision_function(X), sample_weight=sample_weight)
    return f"accuracy {score:.4g}, AUC {area:.4g}"


def _closing_lines(estimator: Estimator, scores: str) -> Iterator[str]:
    results = estimator.search_results_
    n_proven = sum(result.is_optimal for result in results)
    seconds = sum(result.seconds for result in results)
    yield f"On the training rows: {scores}"
    yield f"Proven optimal: {n_proven} of {_count(len(results), 'rule')}, in {seconds:.2g} s"
    stopped = [result for result in results if str(result.status).endswith("_limit")]
    if stopped:
        flag = f"--{str(stopped[0].status).replace('_', '-')}"
        yield (
            f"{_count(len(stopped), 'search', 'searches')} stopped early. Raise {flag}, make the "
            "proof easier with --max-conditions or --l2-regularization, or be content with less "
            "by --approximation-factor."
        )


def _count(number: int, noun: str, plural: str | None = None) -> str:
    return f"{number} {noun if number == 1 else plural or noun + 's'}"


def _console(*, quiet: bool = False) -> Console:
    width = None if sys.stdout.isatty() else _PIPED_WIDTH
    return Console(width=width, quiet=quiet, markup=False, emoji=False, highlight=False)


def _print(console: Console, text: str) -> None:
    console.print(Text(text))


def _print_beside(console: Console, left: Table, right: Table) -> None:
    """Print two tables side by side on a screen that is wide enough, else one below the other."""
    width = sum(console.measure(table).maximum + _TABLE_GAP for table in (left, right))
    if console.is_terminal and width <= console.width:
        both = Table.grid(padding=(0, _TABLE_GAP, 0, 0))
        both.add_row(left, right)
        console.print(both, "")
    else:
        console.print(left, "", right, "", sep="\n")


def _visible(text: str) -> str:
    r"""Spell out characters that would act on the terminal instead of appearing on it.

    Examples
    --------
    >>> print(_visible("size\x1b[31m"))
    size\x1b[31m
    """
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def _complain(message: str) -> None:
    sys.stderr.write("\n".join(map(_visible, message.splitlines())) + "\n")
