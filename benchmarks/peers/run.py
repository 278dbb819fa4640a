"""Compare laconic with other programs that find optimal rules, on the problems of the paper.

Every program gets the same training rows and settings and runs in a process and an environment of
its own. From the root of the checkout:

    python -m benchmarks.peers.run
    python -m benchmarks.peers.run --problems iris wine --live all
"""

import argparse
import math
import os
import platform
import re
import subprocess
import sys
import tempfile
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmarks.peers.environments import ENVIRONMENTS
from benchmarks.peers.exchange import Measurement, Task, read_measurement
from benchmarks.peers.results import (
    FASTOGB,
    LACONIC,
    LACONIC_PAPER,
    PROGRAMS,
    REALKD,
    Result,
    baselines,
    earlier_results,
    published_result,
    write_results,
)
from benchmarks.peers.table import by_problem, markdown
from benchmarks.problems import Problem, find_datasets, load_problem, specifications
from laconic import _core
from laconic.losses import get_loss

ROOT = Path(__file__).parents[2]
MARKER = "<!-- benchmarks/peers/run.py writes from here to the next such line -->"

# Together about five minutes, most of them realkd's.
CHEAP = (
    "iris",
    "wine",
    "tic_tac_toe",
    "insurance",
    "diabetes",
    "friedman1",
    "friedman2",
    "friedman3",
    "used_cars",
    "world_happiness",
)
# Its labels are partly made up, but it is the one that the paper measured; "titanic" is not.
NOT_IN_PAPER = "titanic"


class Runner(NamedTuple):
    """How to run a program.

    Attributes
    ----------
    environment : str or None
        Name among `ENVIRONMENTS`; None is the environment of this process.
    module : str
    arguments : tuple of str, default=()
        What follows the folder of the task.
    """

    environment: str | None
    module: str
    arguments: tuple[str, ...] = ()


RUNNERS = {
    REALKD: Runner("realkd", "benchmarks.peers.run_realkd"),
    FASTOGB: Runner("fastogb", "benchmarks.peers.run_fastogb"),
    LACONIC_PAPER: Runner(None, "benchmarks.peers.run_laconic", ("paper",)),
    LACONIC: Runner(None, "benchmarks.peers.run_laconic", ("conditions",)),
}
# Linear algebra in other threads would count as CPU time.
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")


def main() -> None:
    arguments = parse_arguments()
    folder = find_datasets(arguments.datasets)
    specs = specifications(folder)
    names = arguments.problems or [name for name in specs if name != NOT_IN_PAPER]
    live = names if "all" in arguments.live else arguments.live
    path = arguments.output / "results.csv"
    earlier = earlier_results(path)
    stored = baselines(arguments.baselines or folder.parent / "baselines") | earlier
    arguments.output.mkdir(parents=True, exist_ok=True)

    results: list[Result] = []
    sizes: dict[str, int] = {}
    versions: dict[str, str] = {}
    for name in names:
        problem = load_problem(name, folder)
        sizes[name] = len(problem.y)
        programs = PROGRAMS if name in live else (LACONIC_PAPER, LACONIC)
        measurements = {program: measure(problem, program, arguments) for program in programs}
        results += to_results(problem, measurements)
        versions |= {
            RUNNERS[program].environment or "laconic": describe_versions(measurement)
            for program, measurement in measurements.items()
        }
        if name not in live:
            known = {(name, REALKD): published_result(name, specs[name])} | stored
            results += [known[name, peer] for peer in (REALKD, FASTOGB) if (name, peer) in known]
        for result in by_problem(results)[name].values():
            print(f"{name}, {result.program}: {result.seconds:.3f} s, {result.source}", flush=True)
        # After every problem: a comparison that is interrupted was not in vain.
        not_run = [result for result in earlier.values() if result.problem not in sizes]
        write_results(results + not_run, path)

    text = markdown(describe_machine() | versions, by_problem(results), sizes)
    (arguments.output / "results.md").write_text(text, encoding="utf-8")
    if arguments.document:
        fill_in(arguments.document, text)
    print(text)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.peers.run", description=(__doc__ or "").split("\n\n")[0]
    )
    add = parser.add_argument
    add("--problems", nargs="+", metavar="NAME", help="default: the 24 of the paper")
    add(
        "--live",
        nargs="*",
        metavar="NAME",
        default=CHEAP,
        help="problems to run the other programs on, or 'all'; default: %(default)s",
    )
    add("--peer-limit", type=float, default=900.0, metavar="SECONDS", help="CPU time per problem")
    add("--limit", type=float, default=60.0, metavar="SECONDS", help="the same for laconic")
    add("--datasets", type=Path, metavar="FOLDER", help="default: LACONIC_DATASETS")
    add("--baselines", type=Path, metavar="FOLDER", help="stored measurements; default: beside")
    add(
        "--environments",
        type=Path,
        metavar="FOLDER",
        default=Path.home() / ".cache" / "laconic-peers",
        help="where to keep the environments of the other programs; default: %(default)s",
    )
    add("--python", metavar="PATH", help="Python 3.8 for realkd; default: look for it")
    add(
        "--output",
        type=Path,
        metavar="FOLDER",
        default=ROOT / "build" / "peers",
        help="where to write results.csv and results.md; default: %(default)s",
    )
    add("--document", type=Path, metavar="FILE", help="Markdown page to put the tables into")
    arguments = parser.parse_args()
    if arguments.document and arguments.document.read_text(encoding="utf-8").count(MARKER) != 2:
        # Now rather than after the measurements.
        parser.error(f"--document must name a page with two lines '{MARKER}'.")
    return arguments


def measure(problem: Problem, program: str, arguments: argparse.Namespace) -> Measurement:
    """Run a program on a problem, in a process of its own."""
    runner = RUNNERS[program]
    if runner.environment is None:
        interpreter, time_limit = Path(sys.executable), arguments.limit
    else:
        python = arguments.python if program == REALKD else None
        environment = ENVIRONMENTS[runner.environment]
        interpreter = environment.make(arguments.environments, python)
        time_limit = arguments.peer_limit
    with tempfile.TemporaryDirectory() as folder:
        to_task(problem, time_limit).write(Path(folder))
        command = [interpreter, "-m", runner.module, folder, *runner.arguments]
        subprocess.run(command, cwd=ROOT, env=os.environ | ONE_THREAD, check=True)
        return read_measurement(Path(folder))


def to_task(problem: Problem, time_limit: float) -> Task:
    """Bring a problem to a form that every program reads."""

    def to_array(column: pd.Series) -> NDArray[Any]:
        return column.to_numpy(None if pd.api.types.is_numeric_dtype(column) else str)

    return Task(
        {name: to_array(problem.X[name]) for name in problem.X},
        problem.y,
        loss=problem.loss,
        l2_regularization=problem.l2_regularization,
        n_terms=problem.n_terms,
        max_conditions_per_column=problem.max_conditions_per_column,
        time_limit=time_limit,
    )


def to_results(problem: Problem, measurements: dict[str, Measurement]) -> list[Result]:
    """Sum up measurements by program; the objective values of laconic's rules are the standard."""
    expected = objective_values(problem, measurements[LACONIC])
    return [
        Result(
            problem.name,
            program,
            "live",
            n_terms=len(measurement.weights),
            seconds=measurement.seconds,
            is_complete=measurement.is_complete,
            n_conditions=measurement.n_conditions,
            evaluations=measurement.evaluations if measurement.is_complete else None,
            nodes=measurement.nodes if measurement.is_complete else None,
            n_agreeing=(
                n_agreeing(objective_values(problem, measurement), expected)
                if measurement.is_complete
                else None
            ),
        )
        for program, measurement in measurements.items()
    ]


def n_agreeing(values: list[float], expected: list[float]) -> int:
    """Count values up to the first that differs by more than rounding."""
    is_equal = [math.isclose(*pair, rel_tol=1e-9) for pair in zip(values, expected, strict=False)]
    return [*is_equal, False].index(False)


def objective_values(problem: Problem, measurement: Measurement) -> list[float]:
    """Objective of each rule, given the rules before it with the weights that they have."""
    if measurement.covered is None:
        return []
    loss = get_loss(problem.loss)
    scores = np.zeros(len(problem.y))
    values = []
    for weight, covered in zip(measurement.weights, measurement.covered, strict=True):
        sum_gradients = loss.gradients(problem.y, scores)[covered].sum()
        sum_hessians = loss.hessians(problem.y, scores)[covered].sum()
        denominator = 2 * len(scores) * (problem.l2_regularization + sum_hessians)
        values.append(float(sum_gradients**2 / denominator))
        scores = scores + weight * covered
    return values


def describe_machine() -> dict[str, str]:
    """Name what the numbers depend on besides the programs."""
    commit = subprocess.run(
        ["git", "describe", "--always", "--dirty"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    return {
        "date": date.today().isoformat(),
        "machine": f"{_processor()}, {os.cpu_count()} cores, {platform.platform()}",
        "commit of laconic": commit.stdout.strip() or "unknown",
        "compiler of laconic": _compiler(),
    }


def describe_versions(measurement: Measurement) -> str:
    """Write versions in one line."""
    return ", ".join(f"{name} {version}" for name, version in measurement.versions.items())


def _processor() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    text = cpuinfo.read_text(encoding="utf-8") if cpuinfo.is_file() else ""
    found = re.search(r"model name\s*: (.*)", text)
    return found[1] if found else platform.processor()


def _compiler() -> str:
    """Read the compiler from the note that it left in the extension, where it leaves one."""
    found = re.search(
        rb"GCC: \([^)]*\) [\d.]+|clang version [\d.]+", Path(_core.__file__).read_bytes()
    )
    return found[0].decode() if found else "unknown"


def fill_in(document: Path, text: str) -> None:
    """Replace what is between the two markers of a page."""
    before, _, after = document.read_text(encoding="utf-8").split(MARKER)
    document.write_text(f"{before}{MARKER}\n\n{text}\n{MARKER}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
