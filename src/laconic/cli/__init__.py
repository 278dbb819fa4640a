"""The command line: thin commands over the public classes.

Results go to the standard output, errors and warnings to the standard error. The exit code is 0 for
success, 1 for an error, 2 for wrong usage, 3 for models that differ with 'compare --exit-code', and
130 after Ctrl-C.

The help must appear at once: packages that take long to import, such as polars and scikit-learn,
are imported by the functions that need them, and for types only under TYPE_CHECKING.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence
from contextvars import copy_context
from importlib.util import find_spec

import laconic
from laconic._util.words import PARAMETER_WRITER

try:
    import cyclopts

    from laconic.cli import terminal
    from laconic.cli.compare import compare
    from laconic.cli.cv import cv
    from laconic.cli.demo import demo
    from laconic.cli.explain import explain
    from laconic.cli.export import export
    from laconic.cli.files import STANDARD_INPUT
    from laconic.cli.fit import fit
    from laconic.cli.messages import usage_message
    from laconic.cli.predict import predict
    from laconic.cli.report import report
    from laconic.cli.show import option, show
    from laconic.cli.terminal import EXIT_ERROR, EXIT_INTERRUPTED, EXIT_USAGE, CommandError
    from laconic.cli.training_table import alternatives, certify, edit
    from laconic.cli.trust import trust

    if find_spec("polars") is None:
        raise ModuleNotFoundError
except ModuleNotFoundError:
    # The console script starts with this import, so that a user sees this line alone.
    raise SystemExit(
        'The command line needs extra packages. Install them with: pip install "laconic[cli]"'
    ) from None
except KeyboardInterrupt:
    raise SystemExit(130) from None  # EXIT_INTERRUPTED may not be imported yet

__all__ = ["main"]

COMMANDS = (
    *(demo, fit, show, predict, explain, compare, cv, certify),
    *(trust, edit, alternatives, report, export),
)
"""In the order of the help."""


def main(tokens: Sequence[str] | None = None) -> int:
    """Run a command, with the arguments of the process if none are given; returns an exit code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        exit_code = copy_context().run(_run, tokens)
        sys.stdout.flush()
    except BrokenPipeError:
        # Broken pipe, as with head. What Python flushes at exit goes nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_ERROR
    except cyclopts.CycloptsError as error:
        terminal.complain(f"error: {usage_message(error)}")
        return EXIT_USAGE
    except (CommandError, OSError, ValueError, TypeError) as error:
        terminal.complain(f"error: {error}")
        return EXIT_ERROR
    except MemoryError:
        terminal.complain(
            "error: Out of memory. Close other programs, or use fewer rows, fewer columns or a "
            "smaller --max-thresholds."
        )
        return EXIT_ERROR
    except KeyboardInterrupt:
        terminal.complain("Interrupted.")
        return EXIT_INTERRUPTED
    return exit_code


def _run(tokens: Sequence[str] | None) -> int:
    PARAMETER_WRITER.set(option)
    app = cyclopts.App(
        name="laconic",
        help="Learn short, readable rule ensembles in which every term is proven to be the best.",
        version=laconic.__version__,
    )
    for command in COMMANDS:
        app.command(command)
    given = _with_standard_input(sys.argv[1:] if tokens is None else tokens)
    called, arguments, *_ = app.parse_args(given, exit_on_error=False, print_error=False)
    return called(*arguments.args, **arguments.kwargs) or 0


def _with_standard_input(tokens: Sequence[str]) -> list[str]:
    """Replace the table "-", which would be parsed as an option, by a name."""
    option, given = "", []
    for token in tokens:
        option = token if token.startswith("--") else option
        is_table = token == "-" and option != "--missing"
        given.append(str(STANDARD_INPUT) if is_table else token)
    return given
