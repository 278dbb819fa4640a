"""Fills what was measured into ``docs/research/reproduction.md``, and its figures beside it."""

import shutil
from importlib.metadata import version
from pathlib import Path

import pandas as pd

from benchmarks.pages import fill_in, to_markdown
from benchmarks.paper.settings import GREEDY, OPTIMAL, RULEFIT, Run
from benchmarks.paper.table1 import BY_CLASS, METHODS
from benchmarks.peers.run import describe_machine

FIGURES = ("figure1", "figure2", "appendix")
RESULTS = Path(__file__).parents[1] / "results"
PACKAGES = ("laconic", "numpy", "pandas", "scikit-learn", "xgboost")
CLOSE = 0.005


def write(run: Run, document: Path) -> None:
    """Replace the blocks of the page that are named after files of the output, and the figures."""
    text = document.read_text(encoding="utf-8")
    blocks = {
        "context": context(run),
        "agreement": agreement(run),
        "table1": _read(run, "table1.md"),
        "labels": label_table(run),
        "listings": _read(run, "listings.md"),
        "pruning": _read(run, "pruning.md"),
        "equivalents": _read(run, "equivalents.md"),
    }
    for name, block in blocks.items():
        text = fill_in(text, name, block, "benchmarks/paper")
    document.write_text(text, encoding="utf-8")
    images = document.parents[1] / "images"
    for name in FIGURES:
        shutil.copyfile(run.output / f"{name}.svg", images / f"paper_{name}.svg")
    shutil.copyfile(run.output / "table1.csv", RESULTS / "paper_table1.csv")


def context(run: Run) -> str:
    """Machine, versions and CPU time."""
    facts = describe_machine()
    facts["versions"] = ", ".join(f"{name} {version(name)}" for name in PACKAGES)
    facts["mode"] = "quick: one split, without slow problems" if run.is_quick else "full"
    curves = pd.read_csv(run.output / "curves.csv")
    fits = curves.drop_duplicates(["problem", "method", "split"])
    for method in METHODS:
        own = fits[fits["method"] == method]["seconds"]
        facts[f"CPU time, {method}"] = f"{own.sum():,.0f} s for {len(own)} fits"
    return "\n".join(f"- {name}: {value}" for name, value in facts.items())


def agreement(run: Run) -> str:
    """On how many problems the areas are the published ones, and where they are not."""
    table = pd.read_csv(run.output / "table1.csv")
    lines = []
    for method in (OPTIMAL, GREEDY):
        own = table[table["method"] == method].set_index("problem")["difference"]
        far = own[own.abs() > CLOSE]
        n_close, n_equal = int((own.abs() <= CLOSE).sum()), int((own.abs() < 1e-6).sum())
        others = ", ".join(f"{name} {difference:+.4f}" for name, difference in far.items())
        lines.append(
            f"- {method}: within {CLOSE} of the published area on {n_close} of {len(own)} problems,"
            f" equal to six digits on {n_equal}; the others: {others or 'none'}"
        )
    return "\n".join(lines)


def label_table(run: Run) -> str:
    """RuleFit on classification problems, scored in two ways."""
    areas = pd.read_csv(run.output / "table1.csv").pivot(
        index="problem", columns="method", values="area"
    )
    lines = []
    for name in run.problems:
        specification = run.specifications[name]
        if specification["task"] == "classification":
            own = areas.loc[name]
            numbers = (own[RULEFIT], own[BY_CLASS], specification["table1"]["auc_rf"])
            lines.append([name, *(f"{number:.3f}" for number in numbers)])
    return to_markdown(["problem", "decision values", "predicted classes", "published"], lines)


def _read(run: Run, name: str) -> str:
    return (run.output / name).read_text(encoding="utf-8")
