"""Every table and figure of the paper from one command.

    python -m benchmarks.paper
    python -m benchmarks.paper --full --document

What was measured is kept: a run that is stopped goes on where it was. Delete the folder of the
output to start over.
"""

import argparse
import os
from pathlib import Path

from benchmarks.paper import appendix, equivalents, figure1, figure2, listings, page, table1
from benchmarks.paper.settings import Run
from benchmarks.problems import find_datasets

ROOT = Path(__file__).parents[2]
ITEMS = {
    "table1": table1.make,
    "figure1": figure1.make,
    "figure2": figure2.make,
    "listings": listings.make,
    "appendix": appendix.make,
    "equivalents": equivalents.make,
}


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.paper", description=__doc__.splitlines()[0]
    )
    parser.add_argument(
        "items",
        nargs="*",
        choices=[*ITEMS, []],
        metavar="ITEM",
        help=f"of {', '.join(ITEMS)}; all if none",
    )
    parser.add_argument("--full", action="store_true", help="all problems and splits, not minutes")
    parser.add_argument("--datasets", type=Path, help="folder of the problems")
    parser.add_argument(
        "--output", type=Path, help="default: build/paper/quick or build/paper/full"
    )
    parser.add_argument("--n-jobs", type=int, default=os.cpu_count(), help="processes")
    parser.add_argument("--document", action="store_true", help="write the page in docs/research")
    arguments = parser.parse_args()
    mode = "full" if arguments.full else "quick"
    run = Run(
        find_datasets(arguments.datasets),
        arguments.output or ROOT / "build" / "paper" / mode,
        not arguments.full,
        arguments.n_jobs,
    )
    run.output.mkdir(parents=True, exist_ok=True)
    for name in arguments.items or ITEMS:
        ITEMS[name](run)
    if arguments.document:
        page.write(run, ROOT / "docs" / "research" / "reproduction.md")


if __name__ == "__main__":
    main()
