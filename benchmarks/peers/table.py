"""The comparison as Markdown: what it was measured with, seconds and ratios, queries."""

import statistics
from collections.abc import Callable, Collection, Iterable

from benchmarks.peers.results import FASTOGB, LACONIC, LACONIC_PAPER, PROGRAMS, REALKD, Result

MARKS = {"live": "", "stored": "†", "published": "‡"}
UNKNOWN = "–"

LEGEND = """\
CPU seconds of ten rules on the first split. Unmarked: measured in this run. † Measured earlier.
‡ Published with the paper, the mean of its splits on another machine. > Stopped by then."""

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
    *peers, own = PROGRAMS
    head = ["problem", "rows", "conditions", *PROGRAMS, *(f"{peer} / {own}" for peer in peers)]
    lines = [
        [
            problem,
            f"{sizes[problem]:,}",
            _count(row[own].n_conditions),
            *(_seconds(row.get(program)) for program in PROGRAMS),
            *(_bounded(*_ratio(row, peer)) for peer in peers),
        ]
        for problem, row in rows.items()
    ]
    for name, sources in (
        ("geometric mean", MARKS),
        # Other machines are faster or slower: only within a run do seconds compare.
        ("geometric mean, this run only", ["live"]),
    ):
        means = [_mean(_ratio(row, peer, sources) for row in rows.values()) for peer in peers]
        lines.append([name, *[""] * (2 + len(PROGRAMS)), *means])
    return _table(head, lines)


def _queries_table(rows: Results) -> str:
    head = [
        "problem",
        "realkd, evaluated",
        "paper's bound, evaluated",
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
    return _bounded(result.seconds, result.is_complete) + MARKS[result.source]


def _ratio(
    row: dict[str, Result], peer: str, sources: Collection[str] = tuple(MARKS)
) -> tuple[float | None, bool]:
    """Seconds of the peer per second of laconic, and whether that is exact or a lower bound."""
    if peer not in row or row[peer].source not in sources or not row[LACONIC].is_complete:
        return None, True
    return row[peer].seconds / row[LACONIC].seconds, row[peer].is_complete


def _mean(ratios: Iterable[tuple[float | None, bool]]) -> str:
    known = [(ratio, is_exact) for ratio, is_exact in ratios if ratio is not None]
    if not known:
        return UNKNOWN
    mean = statistics.geometric_mean(ratio for ratio, _ in known)
    return f"{_bounded(mean, all(is_exact for _, is_exact in known))} (of {len(known)})"


def _bounded(number: float | None, is_exact: bool) -> str:
    """Three digits, and every integer digit."""
    if number is None:
        return UNKNOWN
    if number >= 100:
        text = f"{number:,.0f}"
    else:
        text = f"{number:.3g}" if number >= 1 else f"{number:.2g}"
    return text if is_exact else f"> {text}"


def _attribute(
    row: dict[str, Result], program: str, attribute: Callable[[Result], int | None]
) -> str:
    if program not in row or attribute(row[program]) is None:
        return UNKNOWN
    return ("" if row[program].is_complete else "> ") + _count(attribute(row[program]))


def _count(number: int | None) -> str:
    return UNKNOWN if number is None else f"{number:,}"
