"""Fits in turns: of all programs, with threads, and of this version and another one."""

import json
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from benchmarks.speed.programs import LACONIC, PROGRAMS
from benchmarks.speed.tables import TABLES, Table
from benchmarks.speed.worker import run

Row = dict[str, Any]

N_TURNS, LONG = 3, 5.0
"""Fits are repeated so often, unless they take more CPU seconds than that."""
THREADS = (1, 2)
THREADED = ("1000x30", "1000x120", "20000x20", "100000x20", "200000x8", "1000000x10")
NOW, BEFORE = "now", "before"

BASE = "2000x20"
DEFAULTS = {"max_thresholds": 7, "max_conditions": 3, "n_terms": 10}
ROWS, COLUMNS, SHAPES = "rows, 20 columns", "columns, 2,000 rows", "table"


@dataclass(frozen=True)
class Point:
    """One value of one axis; everything else is as in the base.

    Attributes
    ----------
    axis : str
        What changes.
    name : str
        How the page writes its value.
    table : str
    settings : dict
    """

    axis: str
    name: str
    table: str = BASE
    settings: dict[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """The same for points that are the same fit."""
        return json.dumps([self.table, self.settings])


def points(axis: str, values: Sequence[Any]) -> list[Point]:
    """Return the points of an axis."""
    found = []
    for value in values:
        if axis == SHAPES:
            found.append(Point(axis, str(Table.parse(value)), value))
        elif axis in (ROWS, COLUMNS):
            table = f"{value}x20" if axis == ROWS else f"2000x{value}"
            found.append(Point(axis, f"{value:,}", table))
        else:
            settings = {} if DEFAULTS[axis] == value else {axis: value}
            found.append(Point(axis, f"{value:,}", settings=settings))
    return found


@dataclass(frozen=True)
class Version:
    """An interpreter, and the commit of laconic that is installed there."""

    python: str
    commit: str


AXES = {
    ROWS: (2_000, 20_000, 200_000),
    COLUMNS: (10, 20, 50, 100, 200),
    "max_thresholds": (3, 7, 15, 31),
    "max_conditions": (2, 3, 4),
    "n_terms": (5, 10, 20),
}


def compare(
    tables: Iterable[str] = TABLES,
    programs: Iterable[str] = tuple(PROGRAMS),
    *,
    n_turns: int = N_TURNS,
    limit: float | None = None,
) -> Iterator[list[Row]]:
    """Fit every program to every table; yields the rows of a table at a time."""
    installed = [name for name in programs if PROGRAMS[name].version()]
    for table in tables:
        shape = Table.parse(table)
        runs, rows = {}, {}
        for name in installed:
            program = PROGRAMS[name]
            settings = program.settings(shape)
            rows[name] = {"table": table, "program": name, "settings": _described(settings)}
            if table in program.left_out:
                rows[name]["note"] = program.left_out[table]
            else:
                # laconic has limits of its own.
                own_limit = None if name == LACONIC else limit
                runs[name] = partial(run, name, table, settings, limit=own_limit)
        found = in_turns(runs, n_turns)
        yield [row | found.get(name, {}) for name, row in rows.items()]


def compare_threads(
    tables: Iterable[str] = THREADED,
    threads: Iterable[int] = THREADS,
    *,
    n_turns: int = N_TURNS,
) -> Iterator[list[Row]]:
    """Fit laconic with several numbers of threads."""
    for table in tables:
        runs = {n_jobs: partial(run, LACONIC, table, {"n_jobs": n_jobs}) for n_jobs in threads}
        found = in_turns(runs, n_turns)
        yield [{"table": table, "n_jobs": n_jobs} | row for n_jobs, row in found.items()]


def scale(
    axes: Mapping[str, Sequence[Any]],
    versions: Mapping[str, Version],
    *,
    n_turns: int = N_TURNS,
) -> Iterator[list[Row]]:
    """Change one setting at a time; yields the rows of a point at a time.

    Versions are measured in turns.

    Parameters
    ----------
    axes : mapping of str to sequence
    versions : mapping of str to Version
        `NOW`, and perhaps `BEFORE`.
    """
    known: dict[str, dict[Hashable, Row]] = {}  # the base is a point of every axis
    for axis, values in axes.items():
        for point in points(axis, values):
            rows = []
            if point.key not in known:
                runs = {
                    name: partial(run, LACONIC, point.table, point.settings, python=version.python)
                    for name, version in versions.items()
                }
                known[point.key] = in_turns(runs, n_turns)
            for name, found in known[point.key].items():
                shared = {"laconic": name, "commit": versions[name].commit}
                rows.append({"axis": axis, "point": point.name} | shared | found)
            yield rows


def in_turns(
    runs: Mapping[Hashable, Callable[[], Row]], n_turns: int = N_TURNS
) -> dict[Hashable, Row]:
    """Run everything several times, in turns, and keep the fastest run of each.

    What another process does can only add seconds.
    """
    best: dict[Hashable, Row] = {}
    for _ in range(n_turns):
        for name, measure in runs.items():
            if name not in best:
                best[name] = measure()
            elif best[name].get("cpu_seconds", LONG) < LONG:
                best[name] = min(best[name], measure(), key=lambda row: row["cpu_seconds"])
    return best


def _described(settings: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={value}" for name, value in settings.items())
