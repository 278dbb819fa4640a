"""Whole commands, each in a process of its own: how long they take to start, and wide files."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter

import pandas as pd

from laconic import RuleBoostingRegressor, save_model

from .planted import planted

COMMANDS = {
    "help": ["--help"],
    "show": ["show", "model.json"],
    "predict": ["predict", "model.json", "table.csv"],
    "explain": ["explain", "model.json", "table.csv"],
    "export": ["export", "model.json", "--to", "json"],
    "report": ["report", "model.json", "table.csv", "--target", "y", "--output", "report.html"],
}
KINDS = {"numbers": ("normal", "skewed"), "mixed": ("normal", "count", "category", "skewed")}


class _Commands:
    """Runs commands in a folder with a table."""

    timeout = 600

    def write(self, table: pd.DataFrame, target: pd.Series) -> None:
        self.folder = tempfile.TemporaryDirectory()
        table.assign(y=target).to_csv(Path(self.folder.name, "table.csv"), index=False)

    def run(self, *tokens: str) -> None:
        program = [sys.executable, "-m", "laconic", *tokens]
        subprocess.run(program, cwd=self.folder.name, stdout=subprocess.DEVNULL, check=True)

    def cpu_seconds(self, *tokens: str) -> float:
        before = os.times()
        self.run(*tokens)
        after = os.times()
        user = after.children_user - before.children_user
        return user + after.children_system - before.children_system

    def teardown(self, *_: object) -> None:
        self.folder.cleanup()


class Start(_Commands):
    """Commands that need a small model only, or a few rows as well."""

    params = (list(COMMANDS),)
    param_names = ("command",)

    def setup(self, command: str) -> None:
        drawn = planted(100, 5)
        self.write(drawn.table, drawn.target)
        model = RuleBoostingRegressor(3).fit(drawn.table, drawn.target)
        save_model(model, Path(self.folder.name, "model.json"))

    def tokens(self, command: str) -> tuple[str, ...]:
        return tuple(COMMANDS[command])

    def track_cpu_seconds(self, command: str) -> float:
        return min(self.cpu_seconds(*self.tokens(command)) for _ in range(3))

    track_cpu_seconds.unit = "s"


class WideFile(_Commands):
    """Files of 200 rows, with next to no search."""

    params = ([1_250, 2_500, 5_000], list(KINDS))
    param_names = ("n_columns", "kinds")

    def setup(self, n_columns: int, kinds: str) -> None:
        drawn = planted(200, n_columns * 5 // len(KINDS[kinds]))
        names = [name for name in drawn.table if name.split("_")[0] in KINDS[kinds]]
        self.write(drawn.table[names], drawn.target)

    def tokens(self, n_columns: int, kinds: str) -> tuple[str, ...]:
        easy = ("--n-terms", "1", "--max-conditions", "1", "--no-validation")
        return "fit", "table.csv", "--target", "y", *easy

    def track_cpu_seconds(self, n_columns: int, kinds: str) -> float:
        return self.cpu_seconds(*self.tokens(n_columns, kinds))

    track_cpu_seconds.unit = "s"


class Folds(_Commands):
    """A fit with five folds, one after the other and side by side."""

    params = ([1, 2],)
    param_names = ("n_jobs",)

    def setup(self, n_jobs: int) -> None:
        drawn = planted(1_460, 79)
        self.write(drawn.table, drawn.target)

    def tokens(self, n_jobs: int) -> tuple[str, ...]:
        return "fit", "table.csv", "--target", "y", "--n-jobs", str(n_jobs)

    def track_seconds(self, n_jobs: int) -> float:
        started = perf_counter()
        self.run(*self.tokens(n_jobs))
        return perf_counter() - started

    def track_cpu_seconds(self, n_jobs: int) -> float:
        return self.cpu_seconds(*self.tokens(n_jobs))

    track_seconds.unit = track_cpu_seconds.unit = "s"
