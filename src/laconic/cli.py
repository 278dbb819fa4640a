"""The command line: thin commands over the public API.

What a command has to say goes to the standard output, errors and warnings to the standard error.
The exit code is 0 for success, 1 for an error, 2 for a wrong call and 130 after Ctrl-C.
"""

from __future__ import annotations

import io
import signal
import sys
import time
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, Literal, NoReturn

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import log_loss, roc_auc_score

from laconic import (
    FitProgress,
    RuleBoostingClassifier,
    RuleBoostingRegressor,
    RuleEnsemble,
    __version__,
    load_model,
    save_model,
)
from laconic.datasets import Dataset, tic_tac_toe
from laconic.progress import describe_certificate, describe_search
from laconic.rules import format_weight

if TYPE_CHECKING:
    import polars as pl

_NEEDS_EXTRAS = (
    "The command line needs extra packages. "
    'Install them with: pip install "laconic[cli]"'
)

try:
    import cyclopts
    from rich import box
    from rich.columns import Columns
    from rich.console import Console, Group, RenderableType
    from rich.status import Status
    from rich.table import Table
    from rich.text import Text
except ModuleNotFoundError:
    # The console script imports this module, so that this line is all a user sees.
    raise SystemExit(_NEEDS_EXTRAS) from None

__all__ = ["main"]

Estimator = RuleBoostingClassifier | RuleBoostingRegressor

EXIT_ERROR = 1
EXIT_USAGE = 2
EXIT_INTERRUPTED = 130

# Piped output is not cut into lines for a screen.
_UNLIMITED_WIDTH = 10_000

# Seconds between two lines about the same search where lines cannot be overwritten.
_PLAIN_INTERVAL = 10.0

_SEPARATORS = {".csv": ",", ".csv.gz": ",", ".tsv": "\t", ".tsv.gz": "\t"}
_PARQUET = (".parquet", ".pq")


class CommandError(Exception):
    """Something the user can mend; its message is all they see."""


def main(tokens: Sequence[str] | None = None) -> int:
    """Run a command.

    Parameters
    ----------
    tokens : sequence of str, default=None
        Command and arguments; None takes those of the process.

    Returns
    -------
    exit_code : int
        0 for success.
    """
    try:
        command, arguments, *_ = _app().parse_args(
            tokens, exit_on_error=False, print_error=False
        )
        return command(*arguments.args, **arguments.kwargs) or 0
    except cyclopts.CycloptsError as error:
        _complain(f"error: {error}")
        return EXIT_USAGE
    except BrokenPipeError:
        # The reader, such as head, has seen enough. Python must not flush into the closed pipe.
        sys.stdout = io.StringIO()
        return EXIT_ERROR
    except (CommandError, ValueError, TypeError, OSError) as error:
        _complain(f"error: {error}")
        return EXIT_ERROR
    except KeyboardInterrupt:
        _complain("Interrupted.")
        return EXIT_INTERRUPTED


def _app() -> cyclopts.App:
    app = cyclopts.App(
        name="laconic",
        help="Learn short, readable rule ensembles in which every rule is proven to be the best.",
        version=__version__,
        help_format="plaintext",
    )
    for command in (demo, fit, show, predict):
        app.command(command)
    return app


def demo() -> None:
    """Compare greedy and optimal rules on the final boards of tic-tac-toe."""
    dataset = tic_tac_toe(backend="polars")
    models = {
        search: RuleBoostingClassifier(
            n_rules=10, l2_regularization=10, negated_categories=False, search=search
        ).fit(dataset.data, dataset.target)
        for search in ("greedy", "optimal")
    }
    console = _console()
    _print(
        console,
        "Has x won? Ten rules for the 958 final boards of tic-tac-toe, found in two ways.\n"
        "Positive weights speak for x.\n",
    )
    tables = [
        _rules_table(model, title=f"{search} search") for search, model in models.items()
    ]
    _print_side_by_side(console, tables)
    console.print(_comparison_table(models, dataset))
    _print(
        console,
        "\nAfter the first rule the optimal search goes straight for the lines of three that\n"
        "win, and proves that no other rule gains more. The greedy search, which adds one\n"
        "condition at a time, settles for rules such as "
        f"'{models['greedy'].ensemble_[1].query}'.",
    )
