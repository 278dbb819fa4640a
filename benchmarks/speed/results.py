"""What was measured, in files: rows that are measured again replace those before."""

from collections.abc import Iterable
from pathlib import Path
from platform import python_version
from typing import Any

import pandas as pd

from benchmarks.peers.run import describe_machine

FITS, THREADS, CALLS, SCALES = "speed_fits", "speed_threads", "speed_calls", "speed_scales"
KEYS = {FITS: ["table"], THREADS: ["table"], CALLS: ["call"], SCALES: ["axis", "point"]}
"""Files, and what their rows are measured together by: a ratio never mixes two runs."""


def describe_run() -> dict[str, str]:
    """Say what the numbers depend on; every row has it."""
    facts = describe_machine()
    return {
        "date": facts["date"],
        "machine": facts["machine"],
        "commit": facts["commit of laconic"],
        "python": python_version(),
    }


def read(folder: Path, name: str) -> pd.DataFrame:
    """Read a file; without it, nothing was measured."""
    path = folder / f"{name}.csv"
    return pd.read_csv(path, dtype={"point": str}) if path.is_file() else pd.DataFrame()


def keep(folder: Path, name: str, rows: Iterable[dict[str, Any]]) -> None:
    """Add rows to a file, in place of those of the same table, call or point."""
    new, known, keys = pd.DataFrame(rows), read(folder, name), KEYS[name]
    if len(known):
        again = pd.MultiIndex.from_frame(known[keys]).isin(pd.MultiIndex.from_frame(new[keys]))
        new = pd.concat([known[~again], new])
    folder.mkdir(parents=True, exist_ok=True)
    new.to_csv(folder / f"{name}.csv", index=False, lineterminator="\n")
