"""Results of the comparison: from a run of today, an earlier one, or the literature."""

import csv
import json
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

PROGRAMS = ("realkd", "fastogb", "laconic, paper's bound", "laconic")
REALKD, FASTOGB, LACONIC_PAPER, LACONIC = PROGRAMS
N_RULES = 10


@dataclass(frozen=True)
class Result:
    """What one program took for one problem.

    Attributes
    ----------
    problem, program : str
    source : {"live", "stored", "published"}
        Measured in this run, measured before, or taken from the paper.
    n_terms : int
        Rules found.
    seconds : float
        CPU time; where `is_complete` is false, a lower bound.
    is_complete : bool
        Whether all rules were found.
    n_conditions, evaluations, nodes : int or None
        Candidate conditions, evaluated and extended queries, where known.
    n_agreeing : int or None
        How many of the first rules have the objective values of laconic's, where known.
    """

    problem: str
    program: str
    source: str
    n_terms: int
    seconds: float
    is_complete: bool
    n_conditions: int | None = None
    evaluations: int | None = None
    nodes: int | None = None
    n_agreeing: int | None = None


def write_results(results: list[Result], path: Path) -> None:
    """Write one line per result."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, [field.name for field in fields(Result)], lineterminator="\n")
        writer.writeheader()
        writer.writerows(asdict(result) for result in results)


def earlier_results(path: Path) -> dict[tuple[str, str], Result]:
    """Completed measurements of an earlier comparison, by problem and program."""
    if not path.is_file():
        return {}
    with path.open(newline="", encoding="utf-8") as file:
        results = [_parsed(line) for line in csv.DictReader(file)]
    return {
        (result.problem, result.program): replace(result, source="stored")
        for result in results
        if result.is_complete and result.source != "published"
    }


def baselines(folder: Path) -> dict[tuple[str, str], Result]:
    """Measurements that were stored rule by rule, by problem and program."""
    found: dict[tuple[str, str], list[dict[str, str]]] = {}
    for program, name in ((REALKD, "realkd_split1.csv"), (FASTOGB, "fastogb_split1.csv")):
        if (folder / name).is_file():
            with (folder / name).open(newline="", encoding="utf-8") as file:
                for line in csv.DictReader(file):
                    if line.get("method", "optimal") == "optimal":
                        found.setdefault((line["dataset"], program), []).append(line)
    return {
        (problem, program): Result(
            problem,
            program,
            "stored",
            n_terms=len(lines),
            seconds=float(lines[-1]["cum_cpu"]),
            is_complete=len(lines) == N_RULES,
            evaluations=sum(int(line["created"]) for line in lines) if program == REALKD else None,
        )
        for (problem, program), lines in found.items()
    }


def published_result(problem: str, specification: dict[str, Any]) -> Result:
    """Time of the published implementation in the paper's Table 1."""
    seconds = specification["table1"]["time_opt"]
    return Result(problem, REALKD, "published", N_RULES, seconds, is_complete=True)


def _parsed(line: dict[str, str]) -> Result:
    """Read a line as written, whose cells are JSON but for text and None."""
    text = ("problem", "program", "source")
    numbers = {
        name: json.loads(cell.lower()) for name, cell in line.items() if name not in text and cell
    }
    return Result(line["problem"], line["program"], line["source"], **numbers)
