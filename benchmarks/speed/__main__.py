"""How fast laconic is: fits beside other programs, threads, predictions, commands, settings.

    python -m benchmarks.speed            # all of the below: fills docs/research/speed.md
    python -m benchmarks.speed fits       # default fits of all programs, by shape of the table
    python -m benchmarks.speed threads    # one and two threads: seconds and memory
    python -m benchmarks.speed calls      # predictions and commands
    python -m benchmarks.speed scales     # one setting at a time
    python -m benchmarks.speed document   # the tables of docs/research/speed.md
    python -m benchmarks.speed show       # print these tables
    python -m benchmarks.speed --quick    # about a minute: small tables, printed only

With `--before PYTHON COMMIT`, the interpreter of an environment in which another version of laconic
is installed, `scales` measures both versions in turns, also for the tables of `fits`, and says
whether their models are the same to the last bit.
"""

import os

# Before NumPy: products of matrices in threads would be counted as ours.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import sys
from collections.abc import Iterable
from pathlib import Path

from benchmarks.speed import calls, fits, page, results
from benchmarks.speed.programs import EBM, PROGRAMS
from benchmarks.speed.tables import TABLES, Table

PARTS = ("fits", "threads", "calls", "scales", "document")
QUICK_TABLES = ("150x4", "1000x20", "1000x30-mixed")
QUICK_AXES = {name: values[:2] for name, values in fits.AXES.items()}
QUICK_FOLDER = page.ROOT / "build" / "speed"


def main() -> None:
    options = _parsed()
    quick = options.quick
    folder = options.output or (QUICK_FOLDER if quick else page.ROOT / "benchmarks" / "results")
    parts = options.parts or (*PARTS[:-1], "show" if quick else "document")
    tables = options.tables or (QUICK_TABLES if quick else TABLES)
    # EBM alone takes more than a minute.
    programs = options.programs or [name for name in PROGRAMS if not (quick and name == EBM)]
    shared = {"n_turns": options.turns or (1 if quick else fits.N_TURNS)}
    run = results.describe_run()

    def keep(name: str, measured: Iterable[list[fits.Row]]) -> None:
        for rows in measured:
            results.keep(folder, name, [run | row for row in rows])
            for row in rows:
                print(*(f"{key}={value}" for key, value in row.items()), flush=True)

    if "fits" in parts:
        keep(results.FITS, fits.compare(tables, programs, limit=options.limit, **shared))
    if "threads" in parts:
        threaded = options.tables or (QUICK_TABLES[-1:] if quick else fits.THREADED)
        keep(results.THREADS, fits.compare_threads(threaded, **shared))
    if "calls" in parts:
        keep(results.CALLS, calls.predict(calls.N_BATCH // 10 if quick else calls.N_BATCH))
        keep(results.CALLS, calls.commands(calls.N_WIDE // 10 if quick else calls.N_WIDE))
    if "scales" in parts:
        axes = QUICK_AXES if quick else fits.AXES
        versions = {fits.NOW: fits.Version(sys.executable, run["commit"])}
        if options.before:
            versions[fits.BEFORE] = fits.Version(*options.before)
            # With a limit on time, models depend on the load of the machine.
            own = [name for name in tables if not PROGRAMS["laconic"].settings(Table.parse(name))]
            axes = {fits.SHAPES: own} | axes
        keep(results.SCALES, fits.scale(axes, versions, **shared))
    if "document" in parts:
        page.write(folder)
    if "show" in parts:
        page.show(folder)


def _parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.speed", description=__doc__.splitlines()[0]
    )
    parser.add_argument(
        *("parts",),
        nargs="*",
        choices=[*PARTS, "show", []],
        metavar="PART",
        help=f"of {', '.join(PARTS)}; all if none",
    )
    parser.add_argument("--quick", action="store_true", help="small tables, once, printed only")
    parser.add_argument("--tables", nargs="+", help="such as 1000x20 or 5000x30-mixed")
    parser.add_argument("--programs", nargs="+", choices=list(PROGRAMS), help="all by default")
    parser.add_argument(
        "--limit", type=float, default=600, help="CPU seconds that other programs have for a fit"
    )
    parser.add_argument("--turns", type=int, help="how often short fits are done; by default 3")
    parser.add_argument(
        *("--before",),
        nargs=2,
        metavar=("PYTHON", "COMMIT"),
        help="interpreter that has another version of laconic, and what this version is called",
    )
    parser.add_argument("--output", type=Path, help="folder of results")
    return parser.parse_args()


if __name__ == "__main__":
    main()
