"""How accurate small rule ensembles are, beside other small models.

    python -m benchmarks.accuracy            # all of the below
    python -m benchmarks.accuracy compare    # laconic and other learners, on all tables
    python -m benchmarks.accuracy choose     # settings, on the half of the tables meant for that
    python -m benchmarks.accuracy number     # ways to the number of terms, on all tables
    python -m benchmarks.accuracy paper      # against the paper's rules, on its problems
    python -m benchmarks.accuracy document   # tables and pictures of docs/research/accuracy.md
    python -m benchmarks.accuracy show       # print these tables

What was measured is kept in benchmarks/results: a run that is stopped goes on where it was. Delete
the lines of a method there to measure it again.
"""

import argparse
from pathlib import Path

from benchmarks.accuracy import page, published, tables
from benchmarks.accuracy.competitors import COMPETITORS
from benchmarks.accuracy.measure import measure_all
from benchmarks.accuracy.methods import NUMBERS, VARIANTS, Variant, settings_to_choose_from

PARTS = ("compare", "choose", "number", "paper", "document")
QUICK_TABLES = ("auto_mpg", "iris", "penguins", "titanic_paper", "used_cars", "world_happiness")
N_SPLITS = 3


def main() -> None:
    arguments = _parsed()
    names = arguments.tables or tables.installed_tables(arguments.datasets)
    n_splits = arguments.splits
    if arguments.quick:
        names, n_splits = [name for name in names if name in QUICK_TABLES], 1
    shared = {"n_jobs": arguments.jobs, "folder": arguments.datasets}
    parts = arguments.parts or PARTS
    if "compare" in parts:
        methods = _wanted([*VARIANTS, *COMPETITORS], arguments.methods)
        measure_all(page.COMPARED, methods, names, n_splits or N_SPLITS, **shared)
        page.write_tables(tables.installed_tables(arguments.datasets), arguments.datasets)
    if "choose" in parts:
        half = tables.halves(tables.all_tasks(arguments.datasets))
        own = [name for name in names if half[name] == tables.CHOOSING]
        settings = _wanted(settings_to_choose_from(), arguments.methods)
        measure_all(page.CHOSEN_FROM, settings, own, n_splits or N_SPLITS, **shared)
    if "number" in parts:
        ways = _wanted([*NUMBERS], arguments.methods)
        measure_all(page.COUNTED, ways, names, n_splits or N_SPLITS, **shared)
    if "paper" in parts:
        own = [name for name in names if name in tables.paper_tasks(arguments.datasets)]
        methods = _wanted(published.methods(arguments.datasets), arguments.methods)
        n_own = n_splits or published.N_SPLITS
        measure_all(page.PUBLISHED, methods, own, n_own, max_training_rows=None, **shared)
    if "document" in parts:
        page.write(arguments.datasets)
    if "show" in parts:
        page.show(arguments.datasets)


def _wanted(methods: list, names: list[str] | None) -> list[Variant]:
    """Methods whose names begin with one of the given."""
    return [m for m in methods if not names or any(m.name.startswith(name) for name in names)]


def _parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.accuracy", description=__doc__.splitlines()[0]
    )
    parser.add_argument(
        *("parts",),
        nargs="*",
        choices=[*PARTS, "show", []],
        metavar="PART",
        help=f"of {', '.join(PARTS)}; all if none",
    )
    parser.add_argument("--tables", nargs="+", help="all by default")
    parser.add_argument("--methods", nargs="+", help="beginnings of their names; all by default")
    parser.add_argument("--splits", type=int, help="3 by default, 5 for the paper's problems")
    parser.add_argument("--jobs", type=int, default=1, help="processes, of one thread each")
    parser.add_argument("--quick", action="store_true", help="six small tables, one split")
    parser.add_argument("--datasets", type=Path, help="folder of the paper's problems")
    return parser.parse_args()


if __name__ == "__main__":
    main()
