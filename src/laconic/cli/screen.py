"""What commands show: tables of rules, the progress of a fit, and complaints."""

from __future__ import annotations

import json
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from types import FrameType
from typing import TYPE_CHECKING, Any, TypeAlias

from numpy.typing import NDArray
from rich import box
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.measure import Measurement
from rich.status import Status
from rich.table import Table
from rich.text import Text

import laconic
from laconic.formatting import format_weight
from laconic.progress import FitProgress
from laconic.queries import Query
from laconic.search import SearchResult
from laconic.search.certificates import describe_certificate, describe_search

if TYPE_CHECKING:
    import polars as pl

    Estimator: TypeAlias = laconic.RuleBoostingClassifier | laconic.RuleBoostingRegressor

# Piped output is for programs and editors, which do not want lines cut to a screen.
_PIPED_WIDTH = 10_000

# Seconds between two lines about the same search where lines cannot be overwritten.
_PIPED_INTERVAL = 10.0

_TABLE_STYLE: dict[str, Any] = {
    "box": box.SIMPLE_HEAD,
    "show_edge": False,
    "pad_edge": False,
    "padding": (0, 1, 0, 0),
}

_TABLE_GAP = 3


class FitScreen:
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
        self._has_rule = bool(progress.rules)
        number = f"rule {len(progress.rules) + (progress.search is not None)}/{progress.n_rules}"
        if self._status is not None:
            # The table that follows has the rules, so a terminal only hears of the search.
            words = "found" if progress.search is None else describe_search(progress.search)
            self._status.update(Text(f"{number}: {words}"))
        elif progress.search is None:
            self._print_rule(number, progress)
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
        line = Text(f"{number}: {visible(str(progress.rules[-1]))}  ")
        line.append(
            f"{_describe_result(result)}, objective {result.objective_value:.4g}, "
            f"{_count(result.counters.get('nodes', 0), 'node')}, {result.seconds:.2g} s",
            style="dim",
        )
        self._print_line(line)

    def _print_line(self, line: Text) -> None:
        self.console.print(line)
        self._last_time = time.monotonic()


def describe_model(estimator: Estimator) -> str:
    """Say what kind of model it is, how large, and how to read its weights."""
    ensemble = estimator.ensemble_
    size = f"{_count(ensemble.n_rules, 'rule')} with {_count(ensemble.n_conditions, 'condition')}"
    if not isinstance(estimator, laconic.RuleBoostingClassifier):
        return f"Regression model: {size}. Weights add up to the prediction."
    negative, positive = (visible(str(name)) for name in estimator.classes_.tolist())
    return (
        f"Classification model: {size}. "
        f"Positive weights speak for {positive}, negative ones for {negative}."
    )


def _describe_result(result: SearchResult) -> str:
    status = str(result.status)
    stopped = f" (stopped at --{status.replace('_', '-')})" if status.endswith("_limit") else ""
    return describe_certificate(result) + stopped


def rules_title(search: str, estimator: Estimator) -> str:
    """Say once what would be the same in all rows of a table."""
    certificates = dict.fromkeys(map(describe_certificate, estimator.search_results_))
    return f"{search.capitalize()} search: {' or '.join(certificates)}"


def rules_table(
    estimator: Estimator, title: str | None = None, n_covered: Sequence[int] | None = None
) -> Table:
    """Make a table of the rules.

    Parameters
    ----------
    estimator : RuleBoostingClassifier or RuleBoostingRegressor
        Fitted or loaded.
    title : str, default=None
        Stands in for the certificates.
    n_covered : sequence of int, default=None
        Number of training rows that each rule covers, if these are known.

    Returns
    -------
    table : Table
        One row per rule.
    """
    table = make_table(title)
    table.add_column("", justify="right", style="dim")
    table.add_column("weight", justify="right", no_wrap=True)
    table.add_column("rule", overflow="fold")
    if n_covered is not None:
        table.add_column("rows", justify="right", no_wrap=True)
    table.add_column("objective", justify="right", no_wrap=True)
    if title is None:
        table.add_column("certificate", overflow="fold")
    ensemble = estimator.ensemble_
    if ensemble.intercept != 0.0 or not len(ensemble):
        table.add_row("", format_weight(ensemble.intercept), "always (intercept)")
    for number, (rule, result) in enumerate(
        zip(ensemble, estimator.search_results_, strict=True), start=1
    ):
        cells: list[RenderableType] = [
            Text(str(number)),
            Text(format_weight(rule.weight)),
            QueryCell(rule.query),
        ]
        if n_covered is not None:
            cells.append(Text(str(n_covered[number - 1])))
        cells.append(Text(f"{result.objective_value:#.4g}".removesuffix(".")))
        if title is None:
            cells.append(Text(describe_certificate(result)))
        table.add_row(*cells)
    return table


class QueryCell:
    """Cell with a query, in which lines break between conditions where this is possible.

    Parameters
    ----------
    query : Query or str
        What to show.
    """

    def __init__(self, query: Query | str) -> None:
        first, *others = visible(str(query)).split(" & ")
        self.parts = [first, *(f"& {condition}" for condition in others)]

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        widest = max(map(cell_len, self.parts))
        return Measurement(widest, cell_len(" ".join(self.parts))).with_maximum(options.max_width)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        lines = self.parts[:1]
        for part in self.parts[1:]:
            longer = f"{lines[-1]} {part}"
            if cell_len(longer) <= options.max_width:
                lines[-1] = longer
            else:
                lines.append(part)
        yield Text("\n".join(lines), overflow="fold")


def comparison_table(models: dict[str, laconic.RuleBoostingClassifier], X: Any, y: Any) -> Table:
    """Make a table of scores, sizes and work, one column per model."""
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


def training_scores(
    estimator: Estimator, X: pl.DataFrame, y: NDArray[Any], sample_weight: Any
) -> str:
    """Say how well a model fits the rows it was made from."""
    score = estimator.score(X, y, sample_weight)
    if not isinstance(estimator, laconic.RuleBoostingClassifier):
        return f"R² {score:.4g}"
    from sklearn.metrics import roc_auc_score

    area = roc_auc_score(y, estimator.decision_function(X), sample_weight=sample_weight)
    return f"accuracy {score:.4g}, AUC {area:.4g}"


def closing_lines(estimator: Estimator, scores: str) -> Iterator[str]:
    """Say how well a fit went, and what could be done about searches that were stopped."""
    results = estimator.search_results_
    n_proven = sum(result.is_optimal for result in results)
    seconds = sum(result.seconds for result in results)
    yield f"On the training rows: {scores}"
    thresholds = estimator.max_thresholds
    scope = "all thresholds" if thresholds is None else f"up to {thresholds} thresholds per number"
    yield (
        f"Proven optimal over {scope}: {n_proven} of {_count(len(results), 'rule')}, "
        f"in {seconds:.2g} s"
    )
    stopped = [result for result in results if str(result.status).endswith("_limit")]
    if stopped:
        flag = f"--{str(stopped[0].status).replace('_', '-')}"
        yield (
            f"{_count(len(stopped), 'search', 'searches')} stopped early. Raise {flag}, make the "
            "proof easier with --max-conditions or --l2-regularization, or be content with less "
            "by --approximation-factor."
        )


def _count(number: int, noun: str, plural: str | None = None) -> str:
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def make_table(title: str | None = None) -> Table:
    """Make an empty table in the style of all commands."""
    return Table(title=title, title_justify="left", title_style="bold", **_TABLE_STYLE)


def make_console(*, quiet: bool = False) -> Console:
    """Make a console for the standard output that takes text as it is."""
    width = None if sys.stdout.isatty() else _PIPED_WIDTH
    return Console(width=width, quiet=quiet, markup=False, emoji=False, highlight=False)


def print_text(console: Console, text: str) -> None:
    """Print plain text."""
    console.print(Text(text))


def print_beside(console: Console, left: Table, right: Table) -> None:
    """Print two tables side by side on a screen that is wide enough, else one below the other."""
    width = sum(console.measure(table).maximum + _TABLE_GAP for table in (left, right))
    if console.is_terminal and width <= console.width:
        both = Table.grid(padding=(0, _TABLE_GAP, 0, 0))
        both.add_row(left, right)
        console.print(both, "")
    else:
        console.print(left, "", right, "", sep="\n")


def visible(text: str) -> str:
    r"""Spell out characters that would act on the terminal instead of appearing on it.

    Examples
    --------
    >>> print(visible("size\x1b[31m"))
    size\x1b[31m
    """
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def write_text(text: str) -> None:
    """Write text to the standard output: as it is to a program, and safely to a terminal."""
    sys.stdout.flush()
    if sys.stdout.isatty():
        text = "\n".join(map(visible, text.split("\n")))
    sys.stdout.buffer.write(text.encode())


def write_json(content: Any) -> None:
    """Write JSON to the standard output, for programs."""
    sys.stdout.write(json.dumps(content, indent=2, allow_nan=False) + "\n")


def complain(message: str) -> None:
    """Write to the standard error."""
    sys.stderr.write("\n".join(map(visible, message.splitlines())) + "\n")
