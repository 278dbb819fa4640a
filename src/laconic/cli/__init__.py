"""The command line: thin commands over the public API.

What a command has to say goes to the standard output, errors and warnings to the standard error.
The exit code is 0 for success, 1 for an error, 2 for a wrong call, 3 for models that differ if
'compare' is asked for an exit code, and 130 after Ctrl-C.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import laconic
from laconic.cli import columns, files
from laconic.cli import target as targets
from laconic.datasets import tic_tac_toe

try:
    import cyclopts

    from laconic.cli import inputs, options, screen
    from laconic.cli.compare import compare
    from laconic.cli.cv import cv
    from laconic.cli.explain import explain
    from laconic.cli.export import export
    from laconic.cli.report import report

    # Too slow to import before a command needs it.
    if find_spec("polars") is None:
        raise ModuleNotFoundError
except ModuleNotFoundError:
    # The console script starts with this import, so that this line is all a user sees.
    raise SystemExit(
        'The command line needs extra packages. Install them with: pip install "laconic[cli]"'
    ) from None

if TYPE_CHECKING:
    Estimator: TypeAlias = laconic.RuleBoostingClassifier | laconic.RuleBoostingRegressor

__all__ = ["main"]

EXIT_ERROR = 1
EXIT_USAGE = 2
EXIT_INTERRUPTED = 130

_DEMO_PARAMETERS: dict[str, Any] = {
    "n_rules": 10,
    "l2_regularization": 10,
    "negated_categories": False,
}


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
        screen.complain(f"error: {_usage_message(error)}")
        return EXIT_USAGE
    except (files.CommandError, ValueError, TypeError, OSError) as error:
        screen.complain(f"error: {error}")
        return EXIT_ERROR
    except KeyboardInterrupt:
        screen.complain("Interrupted.")
        return EXIT_INTERRUPTED
    return exit_code


def _run(tokens: Sequence[str] | None) -> int:
    app = cyclopts.App(
        name="laconic",
        help="Learn short, readable rule ensembles in which every rule is proven to be the best.",
        version=laconic.__version__,
    )
    for command in (demo, fit, show, predict, explain, compare, cv, report, export):
        app.command(command)
    called, arguments, *_ = app.parse_args(tokens, exit_on_error=False, print_error=False)
    return called(*arguments.args, **arguments.kwargs) or 0


def _usage_message(error: cyclopts.CycloptsError) -> str:
    """Say of an argument that is not there that it is missing, and why that may be."""
    is_absent = isinstance(error, cyclopts.MissingArgumentError) and error.keyword is None
    if not is_absent or error.argument is None:
        return str(error)
    message = str(error).replace("requires an argument", "is required, but missing")
    has_options = any(token.startswith("-") for token in error.root_input_tokens or ())
    if error.argument.field_info.is_keyword or not has_options:
        return message
    return (
        f"{message} Put it before the options: those that take several values, such as --missing, "
        "take all that follow."
    )


def demo() -> None:
    """Compare greedy with optimal rules for the final boards of tic-tac-toe."""
    dataset = tic_tac_toe(backend="polars")
    models = {
        search: laconic.RuleBoostingClassifier(**_DEMO_PARAMETERS, search=search).fit(
            dataset.data, dataset.target
        )
        for search in ("greedy", "optimal")
    }
    console = screen.make_console()
    screen.print_text(
        console, f"Has x won? Rules for the {len(dataset.target)} final boards of tic-tac-toe."
    )
    screen.print_text(
        console, "A positive weight speaks for x, a negative one against. b is a blank field.\n"
    )
    screen.print_beside(
        console,
        *(
            screen.rules_table(model, screen.rules_title(search, model))
            for search, model in models.items()
        ),
    )
    console.print(screen.comparison_table(models, dataset.data, dataset.target))
    screen.print_text(
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
    n_rules: options.Count = 10,
    l2_regularization: options.Amount = 1.0,
    search: Literal["optimal", "greedy", "beam"] = "optimal",
    max_conditions: options.CountOrNone = 5,
    min_coverage: options.Amount = 0,
    approximation_factor: options.Share = 1.0,
    node_limit: options.CountOrAuto = "auto",
    time_limit: options.Seconds = None,
    max_thresholds: options.CountOrAll = 7,
    negated_categories: bool = True,
    fit_intercept: options.Flag = False,
    n_jobs: options.Jobs = None,
    weight: str | None = None,
    drop: options.Names = (),
    missing: options.Texts = columns.DEFAULT_MISSING,
    json: options.Flag = False,
    quiet: options.Flag = False,
) -> int:
    """Learn rules from a table.

    Ctrl-C ends the search and keeps the rules found so far.

    Parameters
    ----------
    table : Path
        CSV, TSV or Parquet file (.csv, .csv.gz, .tsv, .tsv.gz, .parquet, .pq). CSV and TSV files
        are text in UTF-8; their empty cells are missing values, and columns with numbers such as
        01234 are text.
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
    negated_categories : bool
        Whether text columns give conditions with != besides those with ==. Without them, rules
        tell what a row is and not what it is not.
    fit_intercept : bool
        Start from the best constant instead of 0.
    n_jobs : int
        Threads of the optimal search; -1 for all processors.
    weight : str
        Column with the weights of the rows.
    drop : tuple of str
        Columns to leave out.
    missing : tuple of str
        Texts that mean a missing cell in CSV and TSV files, besides no text at all.
    json : bool
        Write the model to the standard output, as JSON, and else nothing but warnings and errors.
    quiet : bool
        Show nothing but warnings and errors.
    """
    if model is not None:
        files.check_model_destination(model, table)
    X, goal, weights = inputs.read_training_table(table, target, weight, drop, missing)
    if task == "auto":
        task = targets.detect_task(goal)
    y = targets.read_target(goal, task)
    sample_weight = None if weights is None else targets.read_weights(weights)
    console = screen.make_console(quiet=quiet or json)
    progress = screen.FitScreen(console)
    estimator = targets.estimator_class(task)(
        n_rules,
        l2_regularization=l2_regularization,
        search=search,
        max_conditions=max_conditions,
        min_coverage=min_coverage,
        approximation_factor=approximation_factor,
        node_limit=node_limit,
        time_limit=time_limit,
        max_thresholds=None if max_thresholds == "all" else max_thresholds,
        negated_categories=negated_categories,
        fit_intercept=fit_intercept,
        n_jobs=n_jobs,
        on_interrupt="keep",
        callback=progress,
    )
    with inputs.short_warnings(), progress.watch():
        estimator.fit(X, y, sample_weight)
    if progress.is_interrupted and not getattr(estimator, "ensemble_", ()):
        screen.complain("Interrupted before the first rule was found. Nothing is saved.")
        return EXIT_INTERRUPTED
    if progress.is_interrupted:
        screen.complain(
            f"Interrupted: the model has {len(estimator.ensemble_)} of {n_rules} rules."
        )
    if model is not None:
        laconic.save_model(estimator, model)
    screen.print_text(console, f"\n{screen.describe_model(estimator)}")
    screen.print_text(console, f"Learned from {len(X)} rows to predict {screen.visible(target)}.\n")
    n_covered = estimator.ensemble_.covered(X).sum(axis=0).tolist()
    console.print(screen.rules_table(estimator, n_covered=n_covered), "", sep="\n")
    for line in screen.closing_lines(
        estimator, screen.training_scores(estimator, X, y, sample_weight)
    ):
        screen.print_text(console, line)
    if model is not None:
        screen.print_text(console, f"Saved to {screen.visible(str(model))}")
    if json:
        _write_model(estimator)
    return EXIT_INTERRUPTED if progress.is_interrupted else 0


def show(model: Path, /, *, json: options.Flag = False) -> None:
    """Show the rules of a saved model.

    Parameters
    ----------
    model : Path
        File that 'laconic fit --model' or laconic.save_model wrote.
    json : bool
        Write the model as JSON.
    """
    estimator = files.load_model(model)
    if json:
        _write_model(estimator)
        return
    console = screen.make_console()
    screen.print_text(console, f"{screen.describe_model(estimator)}\n")
    console.print(screen.rules_table(estimator), "", sep="\n")
    names = columns.used_features(estimator)
    listed = ", ".join(map(screen.visible, names)) or "none"
    screen.print_text(
        console, f"Features in use ({len(names)} of {estimator.n_features_in_}): {listed}"
    )


def _write_model(estimator: Estimator) -> None:
    # Too slow to import before there is a model.
    from laconic.export import to_json

    screen.write_text(to_json(estimator))


def predict(
    model: Path,
    table: Path,
    /,
    *,
    output: Path | None = None,
    probabilities: options.Flag = False,
    keep_columns: options.Flag = False,
    json: options.Flag = False,
    missing: options.Texts = columns.DEFAULT_MISSING,
) -> None:
    """Predict the target for the rows of a table.

    Parameters
    ----------
    model : Path
        File that 'laconic fit --model' or laconic.save_model wrote.
    table : Path
        CSV, TSV or Parquet file with the columns that the rules use, in any order.
    output : Path
        File to write (.csv, .tsv, .parquet, .pq) instead of CSV to the standard output.
    probabilities : bool
        Add a column with the probability of each class.
    keep_columns : bool
        Put the predictions next to the columns of the table. The cells of a CSV or TSV file stay
        exactly as they are.
    json : bool
        Write JSON: a list with an object per row.
    missing : tuple of str
        Texts that mean a missing cell in CSV and TSV files, besides no text at all.
    """
    files.check_model_comes_first(model, table)
    estimator = files.load_model(model)
    if output is not None:
        if json:
            raise files.CommandError(
                "--json writes to the standard output. Got --output too. Leave one of them out."
            )
        files.check_destination(output, [model, table])
        files.check_suffix(output, files.OUTPUT_SUFFIXES)
    if probabilities and not isinstance(estimator, laconic.RuleBoostingClassifier):
        raise files.CommandError(
            "--probabilities needs a model with classes. Got a regression model. Leave it out."
        )
    cells, X = inputs.read_features(table, estimator, missing)
    with inputs.columns_by_name():
        predictions = {"prediction": estimator.predict(X)}
        if isinstance(estimator, laconic.RuleBoostingClassifier) and probabilities:
            names = [f"probability_{name}" for name in estimator.classes_.tolist()]
            predictions |= dict(zip(names, estimator.predict_proba(X).T, strict=True))
    result = columns.with_columns(cells, predictions, keep_columns)
    if json:
        screen.write_text(result.write_json() + "\n")
    elif output is None:
        screen.write_text(result.write_csv())
    else:
        files.write_table(result, output)
