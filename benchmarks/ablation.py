"""What each ingredient of the search is worth: nodes and seconds with it switched off.

    LACONIC_DATASETS=... python -m benchmarks.ablation

Ten problems of the paper at its settings, ten rules each. The rounds of the complete search are
recorded, and every other search answers the same ones: with the same gradients, whatever it would
have found before. It has to find the same objective value wherever it proves one.
"""

import argparse
import csv
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

from benchmarks.problems import Problem, find_datasets, load_problem
from laconic._core import instruction_sets
from laconic.losses import get_loss
from laconic.search import SearchProblem, search
from laconic.search.optimal import INGREDIENTS

PAGE = Path(__file__).parents[1] / "docs" / "ablation.md"
RESULTS = Path(__file__).parent / "results" / "ablation.csv"
NAMES = (
    "tic_tac_toe",
    "breast_cancer",
    "titanic",
    "gender_recognition",
    "telco_churn",
    "diabetes",
    "boston",
    "insurance",
    "red_wine_quality",
    "friedman1",
)
COMPLETE = "nothing"


@dataclass(frozen=True)
class Measurement:
    """What ten rules of a problem took."""

    problem: str
    switched_off: str
    nodes: int
    seconds: float
    n_unproven: int


def variants() -> dict[str, dict[str, Any]]:
    """Options of the search by what they switch off, the complete search first."""
    *weaker, _ = instruction_sets()
    return (
        {COMPLETE: {"branching": "conditions"}}
        | {name.replace("_", " "): {"without": (name,)} for name in INGREDIENTS}
        | {f"instructions beyond {name}": {"instruction_set": name} for name in weaker}
        | {"everything beyond the paper": {"branching": "paper"}}
    )


def rounds(problem: Problem) -> list[SearchProblem]:
    """Searches of the boosting rounds, each after the optimal rules before it."""
    conditions = problem.candidates().extents
    loss = get_loss(problem.loss)
    scores = np.zeros(len(problem.y))
    found = []
    for _ in range(problem.n_rules):
        round_ = SearchProblem(
            conditions,
            loss.gradients(problem.y, scores),
            loss.hessians(problem.y, scores),
            problem.l2_regularization,
        )
        query = search(round_).query
        scores = scores + np.where(round_.covered(query), round_.weight(query), 0.0)
        found.append(round_)
    return found


def measure(
    name: str,
    searches: Sequence[SearchProblem],
    objectives: Sequence[float],
    switched_off: str,
    options: Mapping[str, Any],
    time_limit: float,
) -> Measurement:
    """Search all rounds and check what is proven against the known objective values."""
    started = process_time()
    results = [search(round_, time_limit=time_limit, **options) for round_ in searches]
    seconds = process_time() - started
    for objective, result in zip(objectives, results, strict=True):
        if result.is_optimal and not np.isclose(result.objective_value, objective, rtol=1e-9):
            raise AssertionError(
                f"All searches must find the same objective values. Got {result.objective_value} "
                f"without {switched_off} and {objective} with it, on {name}."
            )
    return Measurement(
        name,
        switched_off,
        sum(result.counters["nodes"] for result in results),
        seconds,
        sum(not result.is_optimal for result in results),
    )


def measure_problem(problem: Problem, time_limit: float) -> list[Measurement]:
    """All variants on one problem."""
    searches = rounds(problem)
    objectives = [search(round_).objective_value for round_ in searches]
    return [
        measure(problem.name, searches, objectives, switched_off, options, time_limit)
        for switched_off, options in variants().items()
    ]


def geometric_mean(values: Iterable[float]) -> float:
    return float(np.exp(np.mean(np.log(list(values)))))


def factors(measurements: Sequence[Measurement], switched_off: str, what: str) -> list[float]:
    """Nodes or seconds of a variant by those of the complete search, problem by problem."""
    complete = {m.problem: m for m in measurements if m.switched_off == COMPLETE}
    # A proof at the root takes no node: one more of each keeps the ratio finite.
    one = 1 if what == "nodes" else 0
    return [
        (getattr(m, what) + one) / (getattr(complete[m.problem], what) + one)
        for m in measurements
        if m.switched_off == switched_off
    ]


def markdown(measurements: Sequence[Measurement], time_limit: float) -> str:
    """Table of the variants, with geometric means over the problems."""
    names = list(dict.fromkeys(m.problem for m in measurements))
    lines = [
        "| switched off | nodes, sum | seconds, sum | nodes, factor | time, factor | unproven |",
        "|---|---|---|---|---|---|",
    ]
    for switched_off in dict.fromkeys(m.switched_off for m in measurements):
        group = [m for m in measurements if m.switched_off == switched_off]
        nodes, seconds = sum(m.nodes for m in group), sum(m.seconds for m in group)
        node_factor = geometric_mean(factors(measurements, switched_off, "nodes"))
        time_factor = geometric_mean(factors(measurements, switched_off, "seconds"))
        unproven = sum(m.n_unproven for m in group)
        least = "≥ " if unproven else ""
        lines.append(
            f"| {switched_off} | {nodes:,} | {seconds:.2f} | {least}{node_factor:.2f} "
            f"| {least}{time_factor:.2f} | {unproven} |"
        )
    lines += [
        "",
        f"Ten rules each of {len(names)} problems ({', '.join(names)}), first split, CPU seconds "
        "of one thread. Factors are geometric means over the problems. Unproven: rules of a search "
        f"that {time_limit:g} seconds stopped, whose factors would otherwise be larger.",
    ]
    return "\n".join(lines) + "\n"


def write(measurements: Sequence[Measurement], time_limit: float) -> None:
    with RESULTS.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(Measurement.__dataclass_fields__)
        writer.writerows(vars(measurement).values() for measurement in measurements)
    text = "# Ablation\n\nWhat each ingredient of the search is worth, switched off in turn.\n\n"
    text += markdown(measurements, time_limit)
    PAGE.write_text(text, encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--time-limit", type=float, default=2, help="seconds per rule")
    parser.add_argument("--problems", nargs="+", default=NAMES)
    options = parser.parse_args()
    folder = find_datasets()
    measurements = []
    for name in options.problems:
        measurements += measure_problem(load_problem(name, folder), options.time_limit)
        print(name, flush=True)
    print(markdown(measurements, options.time_limit))
    if tuple(options.problems) == NAMES:
        write(measurements, options.time_limit)


if __name__ == "__main__":
    main()
