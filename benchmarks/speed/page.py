"""Fills what was measured into ``docs/research/speed.md``."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from benchmarks.pages import fill_in, to_markdown
from benchmarks.speed.calls import BATCH, COMMAND, FORMS, ONE_ROW
from benchmarks.speed.fits import AXES, BEFORE, NOW, SHAPES, points
from benchmarks.speed.programs import LACONIC, PROGRAMS
from benchmarks.speed.results import CALLS, FITS, SCALES, THREADS, read
from benchmarks.speed.tables import TABLES, Table

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "research" / "speed.md"
WRITER = "benchmarks/speed"
NOTHING = "Not measured yet."
ABSENT = "–"


def write(folder: Path) -> None:
    """Replace the blocks of the page."""
    text = PAGE.read_text(encoding="utf-8")
    for name, block in blocks(folder).items():
        text = fill_in(text, name, block, WRITER)
    PAGE.write_text(text, encoding="utf-8")


def show(folder: Path) -> None:
    """Print the blocks of the page."""
    for name, block in blocks(folder).items():
        print(f"\n## {name}\n\n{block}")


def blocks(folder: Path) -> dict[str, str]:
    """Return what the page has between its markers, by the names of the markers."""
    fits, threads, calls, scales = (read(folder, name) for name in (FITS, THREADS, CALLS, SCALES))
    is_before = scales["axis"] == SHAPES if len(scales) else []
    shapes, others = (scales[is_before], scales[~is_before]) if len(scales) else (scales, scales)
    makers = {
        "seconds": (seconds_table, fits),
        "ratios": (ratios_table, fits),
        "scores": (scores_table, fits),
        "threads": (threads_table, threads),
        "rows": (rows_table, calls),
        "commands": (commands_table, calls),
        "scales": (scales_table, others),
        "versions": (scales_table, shapes),
    }
    found = {"context": context([fits, threads, calls, scales])}
    return found | {name: make(f) if len(f) else NOTHING for name, (make, f) in makers.items()}


def context(frames: Sequence[pd.DataFrame]) -> str:
    """Machine, versions and commits of all rows."""
    rows = pd.concat([frame for frame in frames if len(frame)] or [pd.DataFrame()])
    if rows.empty:
        return NOTHING
    is_before = rows["laconic"] == BEFORE if "laconic" in rows else rows["commit"].isna()
    facts = {name: _listed(rows[~is_before][name]) for name in _FACTS}
    if is_before.any():
        facts["commit before"] = _listed(rows[is_before]["commit"])
    fits = frames[0]
    if len(fits):
        versions = fits.dropna(subset="version").drop_duplicates("program")
        facts["versions"] = ", ".join(
            f"{PROGRAMS[row.program].package} {row.version}" for row in versions.itertuples()
        )
    return "\n".join(f"- {name}: {value}" for name, value in facts.items())


_FACTS = ("date", "machine", "commit", "python")


def _listed(values: pd.Series) -> str:
    return ", ".join(map(str, values.unique()))


def seconds_table(fits: pd.DataFrame) -> str:
    """CPU seconds of all programs, a line per table."""
    fits = _in_order(fits)
    programs = _programs(fits)
    lines = []
    for table, rows in fits.groupby("table", sort=False):
        own = rows.set_index("program")
        cells = [_seconds(own, name) for name in programs]
        lines.append([str(Table.parse(table)), cells[0], _proven(own.loc[LACONIC]), *cells[1:]])
    return to_markdown(["table", LACONIC, "proven", *programs[1:]], lines)


def ratios_table(fits: pd.DataFrame) -> str:
    """Seconds of the other programs in seconds of laconic."""
    fits = _in_order(fits)
    others = _programs(fits)[1:]
    lines = []
    for table, rows in fits.groupby("table", sort=False):
        own = rows.set_index("program")
        seconds = own["cpu_seconds"].get(LACONIC)
        cells = []
        for name in others:
            note = str(own["note"].get(name)) if "note" in own else ""
            if note.startswith(">"):  # ended by the limit
                bound = float(note.removeprefix(">").replace(",", ""))
                cells.append(f"> {number(bound / seconds)}")
            else:
                cells.append(number(own["cpu_seconds"].get(name, float("nan")) / seconds))
        lines.append([str(Table.parse(table)), *cells])
    return to_markdown(["table", *(f"{name} / {LACONIC}" for name in others)], lines)


def scores_table(fits: pd.DataFrame) -> str:
    """R² of rows that were not used for the fit."""
    fits = _in_order(fits)
    programs = _programs(fits)
    lines = []
    for table, rows in fits.groupby("table", sort=False):
        scores = rows.set_index("program")["r2"]
        found = [scores.get(name, float("nan")) for name in programs]
        cells = [ABSENT if pd.isna(score) else f"{score:.3f}" for score in found]
        lines.append([str(Table.parse(table)), *cells])
    return to_markdown(["table", *programs], lines)


def threads_table(threads: pd.DataFrame) -> str:
    """Seconds and memory, a line per table and number of threads."""
    lines = []
    for row in _in_order(threads).itertuples():
        seconds = [number(s) for s in (row.cpu_seconds, row.seconds, row.thread_seconds)]
        memory = [f"{row.megabytes / row.table_megabytes:.1f}", f"{row.megabytes:,.0f}"]
        cells = [str(row.n_jobs), *seconds, f"{row.n_proven} of {row.n_terms}", *memory]
        lines.append([str(Table.parse(row.table)), *cells])
    head = ["table", "threads", "CPU seconds", "elapsed", "of the calling thread", "proven"]
    return to_markdown([*head, "memory, in tables", "in MB"], lines)


def rows_table(calls: pd.DataFrame) -> str:
    """Microseconds of single rows, and rows per second."""
    rows = calls[calls["kind"] == ONE_ROW].set_index(["call", "columns"])["value"]
    cells = [[form, *(number(rows[form, kind]) for kind in ("numbers", "mixed"))] for form in FORMS]
    table = to_markdown(["one row, µs", "numbers", "mixed columns"], cells)
    batch = calls[calls["kind"] == BATCH]
    lines = [f"{row.call} at once: {row.value:,.0f} {row.unit}." for row in batch.itertuples()]
    return "\n\n".join([table, *lines])


def commands_table(calls: pd.DataFrame) -> str:
    """Seconds of commands."""
    lines = []
    for row in calls[calls["kind"] == COMMAND].itertuples():
        name, comma, rest = row.call.partition(", ")
        lines.append([f"`{name}`{comma}{rest}", number(row.value), number(row.seconds)])
    return to_markdown(["command", "CPU seconds", "elapsed"], lines)


def scales_table(scales: pd.DataFrame) -> str:
    """Seconds by one setting at a time; with another version, its seconds and the ratio."""
    has_before = (scales["laconic"] == BEFORE).any()
    head = ["setting", "value", "CPU seconds", "proven"]
    lines = []
    for axis in [*AXES, SHAPES]:
        own = scales[scales["axis"] == axis]
        names = [point.name for point in points(axis, AXES.get(axis, TABLES))]
        for name in sorted(own["point"].unique(), key=lambda name: _place(name, names)):
            rows = own[own["point"] == name]
            now, before = (rows[rows["laconic"] == version] for version in (NOW, BEFORE))
            [row] = now.to_dict("records")
            line = [axis, name, number(row["cpu_seconds"]), _proven(row)]
            if has_before and len(before):
                [other] = before.to_dict("records")
                same = "yes" if row["digest"] == other["digest"] else "no"
                ratio = number(row["cpu_seconds"] / other["cpu_seconds"])
                line += [number(other["cpu_seconds"]), _proven(other), ratio, same]
            elif has_before:
                line += [ABSENT] * 4
            lines.append(line)
    if has_before:
        head += ["before", "proven before", "now / before", "same model"]
    return to_markdown(head, lines)


def number(value: float) -> str:
    """Format with about two digits."""
    if pd.isna(value):
        return ABSENT
    digits = 0 if value >= 100 else 1 if value >= 10 else 2 if value >= 0.1 else 3
    return f"{value:,.{digits}f}"


def _in_order(rows: pd.DataFrame) -> pd.DataFrame:
    """Sort by the order of the tables; other tables come last."""
    places = rows["table"].map(lambda table: _place(table, TABLES))
    return rows.assign(place=places).sort_values("place", kind="stable")


def _place(name: str, names: Sequence[str]) -> int:
    return names.index(name) if name in names else len(names)


def _programs(fits: pd.DataFrame) -> list[str]:
    found = set(fits["program"])
    return [name for name in PROGRAMS if name in found]


def _seconds(own: pd.DataFrame, name: str) -> str:
    if name not in own.index:
        return ABSENT
    row = own.loc[name]
    mark = "†" if row["settings"] == "outer_bags=1" else ""
    if pd.isna(row["cpu_seconds"]):
        return row["note"] + mark if row["note"].startswith(">") else row["note"]
    return number(row["cpu_seconds"]) + mark


def _proven(row: pd.Series | dict) -> str:
    """How many terms, and the smallest proven share of the optimum."""
    text = f"{row['n_proven']:.0f} of {row['n_terms']:.0f}"
    return text if row["n_proven"] == row["n_terms"] else f"{text}, {row['proven_share']:.0%}"
