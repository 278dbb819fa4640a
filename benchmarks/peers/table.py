"""The comparison as Markdown: what it was measured with, seconds and ratios, queries."""

import statistics
from collections.abc import Callable, Iterable

from benchmarks.peers.results import FASTOGB, LACONIC, LACONIC_PAPER, PROGRAMS, REALKD, Result

MARKS = {"live": "", "stored": "†", "published": "‡"}
UNKNOWN = "–"

LEGEND = """\
CPU seconds of ten rules on the first split. Unmarked: measured in this run. † Measured before, on a
machine of the same kind. ‡ Published with the paper, mean of its splits. > Stopped by then."""

Results = dict[str, dict[str, Result]]
"""By problem, then by program."""


def by_problem(results: Iterable[Result]) -> Results:
    """Sort results into rows, in the order of the problems."""
    rows: Results = {}
    for result in results:
        rows.setdefault(result.problem, {})[result.program] = result
    return rows


def markdown(context: dict[str, str], rows: Results, sizes: dict[str, int]) -> str:
    """Write everything.

    Parameters
    ----------
    context : dict of str to str
        Machine, compiler, versions: what the numbers depend on.
    rows : Results
    sizes : dict of str to int
        Number of training rows by problem.
    """
    facts = "\n".join(f"- {name}: {value}" for name, value in context.items())
    return "\n\n".join([facts, _seconds_table(rows, sizes), LEGEND, _queries_table(rows)]) + "\n"


def _seconds_table(rows: Results, sizes: dict[str, int]) -> str:
    head = ["problem", "rows", "conditions", *PROGRAMS]
    peers = PROGRAMS[:-1]
    head += [f"{peer} / laconic" for peer in peers]
    lines = [
        [
            problem,
            f"{sizes[problem]:,}",
            _count(row[LACONIC].n_conditions),
            *(_seconds(row.get(program)) for program in PROGRAMS),
            *(_ratio(row, peer) for peer in peers),
        ]
        for problem, row in rows.items()
    ]
    means = [_mean_ratio(rows.values(), peer) for peer in peers]
    lines.append(["geometric mean", "", "", *[""] * len(PROGRAMS), *means])
    return _table(head, lines)


def _queries_table(rows: Results) -> str:
    head = [
        "problem",
        "realkd, evaluated",
        "bound of the paper, evaluated",
        "extended",
        "laconic, evaluated",
        "extended",
        "rules of realkd that agree",
        "of fastogb",
    ]

    def cells(row: dict[str, Result]) -> list[str]:
        return [
            _attribute(row, REALKD, lambda result: result.evaluations),
            _attribute(row, LACONIC_PAPER, lambda result: result.evaluations),
            _attribute(row, LACONIC_PAPER, lambda result: result.nodes),
            _attribute(row, LACONIC, lambda result: result.evaluations),
            _attribute(row, LACONIC, lambda result: result.nodes),
            _attribute(row, REALKD, lambda result: result.n_agreeing),
            _attribute(row, FASTOGB, lambda result: result.n_agreeing),
        ]

    return _table(head, [[problem, *cells(row)] for problem, row in rows.items()])


def _table(head: list[str], lines: list[list[str]]) -> str:
    rule = ["---"] + ["---:"] * (len(head) - 1)
    return "\n".join("| " + " | ".join(line) + " |" for line in (head, rule, *lines))


def _seconds(result: Result | None) -> str:
    if result is None:
        return UNKNOWN
    bound = "" if result.is_complete else "> "
    return f"{bound}{_number(result.seconds)}{MARKS[result.source]}"


def _attribute(
    row: dict[str, Result], program: str, attribute: Callable[[Result], int | None]
) -> str:
    return _count(attribute(row[program])) if program in row else UNKNOWN


def _quotient(row: dict[str, Result], peer: str) -> float | None:
    """Seconds of the peer per second of laconic, unless laconic was stopped too."""
    if peer not in row or not row[LACONIC].is_complete:
        return None
    return row[peer].seconds / row[LACONIC].seconds


def _ratio(row: dict[str, Result], peer: str) -> str:
    quotient = _quotient(row, peer)
    if quotient is None:
        return UNKNOWN
    return ("" if row[peer].is_complete else "> ") + _number(quotient)


def _mean_ratio(rows: Iterable[dict[str, Result]], peer: str) -> str:
    known = [row for row in rows if _quotient(row, peer) is not None]
    if not known:
        return UNKNOWN
    bound = "" if all(row[peer].is_complete for row in known) else "> "
    mean = statistics.geometric_mean(_quotient(row, peer) or 0.0 for row in known)
    return f"{bound}{_number(mean)} (of {len(known)})"


def _count(number: int | None) -> str:
    return UNKNOWN if number is None else f"{number:,}"


def _number(number: float) -> str:
    """Three digits, and every integer digit."""
    if number >= 100:
        return f"{number:,.0f}"
    return f"{number:.3g}" if number >= 1 else f"{number:.2g}"
