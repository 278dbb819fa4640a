"""`python -m fuzz --minutes 30`: run the attacks in turns, and count what was tried."""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import threading
import time
import traceback
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from fuzz.crossings.attack import crossings
from fuzz.files import model_files
from fuzz.lengths import priced_lengths
from fuzz.names import hostile_names
from fuzz.rounds import rounds_of_terms
from fuzz.searches import engines, random_problems

Attack = Callable[[int, Counter[str]], None]

# With how many cases in a row: a turn of each takes a second or so.
ATTACKS: dict[str, tuple[Attack, int]] = {
    "problems": (random_problems, 200),
    "engines": (engines, 1),
    "lengths": (priced_lengths, 50),
    "files": (model_files, 50),
    "names": (hostile_names, 1),
    "rounds": (rounds_of_terms, 10),
    "crossings": (crossings, 5),
}
# No case takes that long: a search that does not end ends the program, which says where.
SECONDS_PER_CASE = 300
MAX_FAILURES = 20


class Run:
    """A number of cases of some attacks."""

    def __init__(self, names: list[str], first: int, cases: float, seconds: float) -> None:
        self.names, self.first, self.cases = names, first, cases
        self.started = time.monotonic()
        self.end = self.started + seconds
        self.counts: Counter[str] = Counter()
        self.failures: list[str] = []
        self.current = "", self.started

    def go(self) -> None:
        """Run the attacks in turns.

        Sets: counts, failures.
        """
        while any(self._is_wanted(name) for name in self.names):
            for name in self.names:
                for _ in range(ATTACKS[name][1]):
                    if self._is_wanted(name):
                        self._try_case(name)

    def _is_wanted(self, name: str) -> bool:
        is_in_time = time.monotonic() < self.end and len(self.failures) < MAX_FAILURES
        return is_in_time and self.counts[name] < self.cases

    def _try_case(self, name: str) -> None:
        number = self.first + self.counts[name]
        self.current = f"{name} {number}", time.monotonic()
        self.counts[name] += 1
        try:
            ATTACKS[name][0](number, self.counts)
        except Exception:
            self.failures.append(f"{name} {number}\n{traceback.format_exc()}")
            print(self.failures[-1], flush=True)

    def watch(self) -> None:
        """End the program if a case does not end."""
        while True:
            time.sleep(5)
            case, since = self.current
            if time.monotonic() - since > SECONDS_PER_CASE:
                print(f"{case} does not end", flush=True)
                os._exit(3)


def write_counts(path: Path, run: Run) -> None:
    """Add what was tried to what was tried before."""
    known = json.loads(path.read_text("utf-8")) if path.exists() else {}
    minutes = (time.monotonic() - run.started) / 60
    new = {"minutes": minutes, "failures": len(run.failures), **run.counts}
    for name, count in new.items():
        known[name] = known.get(name, 0) + count
    path.write_text(json.dumps(known, indent=2) + "\n", "utf-8")


def main() -> int:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--cases", type=float, default=float("inf"), help="of each attack")
    parser.add_argument("--only", nargs="+", choices=list(ATTACKS), default=list(ATTACKS))
    parser.add_argument("--counts", type=Path, help="JSON file to add the counts to")
    given = parser.parse_args()
    run = Run(given.only, given.first, given.cases, given.minutes * 60)
    threading.Thread(target=run.watch, daemon=True).start()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # and not without the counts
    try:
        run.go()
    finally:
        if given.counts is not None:
            write_counts(given.counts, run)
        for name, count in run.counts.items():
            print(f"{count:>12,} {name}")
        print(f"{len(run.failures):>12,} failed")
    return 1 if run.failures else 0


if __name__ == "__main__":
    sys.exit(main())
