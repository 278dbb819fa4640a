"""Fills what was measured into the page ``docs/accuracy.md``, and draws its pictures."""

from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pandas as pd

from benchmarks.accuracy import pictures, published, summary
from benchmarks.accuracy.competitors import COMPETITORS, EBM, XGBOOST
from benchmarks.accuracy.methods import (
    JOINT,
    POLISHED,
    STAGEWISE,
    STEPS,
    VARIANTS,
    settings_to_choose_from,
)
from benchmarks.accuracy.packaged import PACKAGED
from benchmarks.accuracy.tables import CHOOSING, REPORTING, all_tasks, halves, load_split
from benchmarks.paper.table1 import to_markdown
from benchmarks.peers.run import describe_machine
from benchmarks.problems import find_datasets, specifications

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "accuracy.md"
RESULTS = ROOT / "benchmarks" / "results"
COMPARED, CHOSEN_FROM, PUBLISHED, TABLES = (
    RESULTS / f"{name}.csv"
    for name in ("accuracy", "accuracy_settings", "accuracy_paper", "accuracy_tables")
)
METHODS = tuple(method.name for method in (*VARIANTS, *COMPETITORS))
SUBJECTS = (STAGEWISE, JOINT, POLISHED)
_SETTINGS = [variant.name for variant in settings_to_choose_from()]
PACKAGES = ("numpy", "scikit-learn", "fastogb", "imodels", "interpret-core", "xgboost")
NOTHING = "Not measured yet."


def write_tables(names: Sequence[str], folder: Path | None) -> None:
    """Write what the tables are, for the page."""
    tasks = all_tasks(folder)
    in_half = halves(tasks)
    rows = []
    for name in names:
        split = load_split(name, 0, folder)
        source = PACKAGED[name].package if name in PACKAGED else "the paper's"
        rows.append(
            {
                "table": name,
                "task": split.task,
                "half": in_half[name],
                "training_rows": len(split.y),
                "features": split.X.shape[1],
                "source": source,
            }
        )
    pd.DataFrame(rows).to_csv(TABLES, index=False, lineterminator="\n")


def write(folder: Path | None = None) -> None:
    """Replace the blocks of the page, and its pictures."""
    text = PAGE.read_text(encoding="utf-8")
    everything = _of_half(summary.read_points(COMPARED), REPORTING, folder)
    complete = summary.complete_methods(everything, METHODS)
    reported = everything[everything["method"].isin(complete)]
    tried = _of_half(summary.read_points(CHOSEN_FROM), CHOOSING, folder)
    names = summary.complete_methods(tried, _SETTINGS)
    tried = summary.common_splits(tried[tried["method"].isin(names)])
    blocks = {
        "context": context(everything, complete),
        "scores": scores_table(reported),
        "tests": tests_table(reported),
        "rules": rules_table(reported),
        "lenient": lenient_table(reported),
        "settings": settings_table(tried) if len(tried) else NOTHING,
        "published": published_table(folder) if PUBLISHED.is_file() else NOTHING,
        "tables": list_of_tables(),
    }
    for name, block in blocks.items():
        text = fill_in(text, name, block)
    PAGE.write_text(text, encoding="utf-8")
    pictures.draw(reported, complete)


def fill_in(text: str, name: str, block: str) -> str:
    """Replace what is between the markers of one block."""
    begin, end = f"<!-- {name}: written by benchmarks/accuracy -->", f"<!-- end of {name} -->"
    before, found, rest = text.partition(begin)
    _, closed, after = rest.partition(end)
    if not found or not closed:
        raise ValueError(f"The page must have the lines {begin!r} and {end!r}. Got none of them.")
    return f"{before}{begin}\n\n{block.strip()}\n\n{end}{after}"


def _of_half(points: pd.DataFrame, half: str, folder: Path | None) -> pd.DataFrame:
    in_half = halves(all_tasks(folder))
    return points[points["table"].map(in_half) == half]


def _methods(points: pd.DataFrame) -> list[str]:
    found = set(points["method"])
    return [name for name in METHODS if name in found]


def context(points: pd.DataFrame, complete: Sequence[str]) -> str:
    """Machine, versions, and how much was measured."""
    facts = describe_machine()
    found = {name: _version(name) for name in PACKAGES}
    facts["versions"] = ", ".join(f"{name} {number}" for name, number in found.items() if number)
    n_classes = points[points["auc"].notna()]["table"].nunique()
    facts["reporting half"] = (
        f"{n_classes} tables with classes, {points['table'].nunique() - n_classes} with numbers"
    )
    splits = points.groupby(["method", "table"])["split"].nunique().groupby("method").min()
    by_number: dict[int, list[str]] = {}
    for name in complete:
        by_number.setdefault(int(splits[name]), []).append(name)
    facts["splits per table"] = "; ".join(
        f"{number} for {', '.join(names)}" for number, names in by_number.items()
    )
    absent = [name for name in METHODS if name not in complete]
    facts["not measured on all tables and left out"] = ", ".join(absent) or "none"
    failures = summary.read_failures(COMPARED)
    facts["failed"] = (
        "; ".join(f"{row.method} on {row.table} ({row.note})" for row in failures.itertuples())
        or "nothing"
    )
    return "\n".join(f"- {name}: {value}" for name, value in facts.items())


def _version(package: str) -> str | None:
    for name in (package, f"{package}-cpu"):
        try:
            return version(name)
        except PackageNotFoundError:
            continue
    return None


def scores_table(points: pd.DataFrame) -> str:
    """Scores within sizes, areas and ranks, a line per method."""
    shown = summary.SHOWN_BUDGETS
    auc, r2 = summary.curves(points, "auc"), summary.curves(points, "r2")
    loss = summary.curves(points, "log_loss")
    readable = [name for name in _methods(points) if name not in (EBM, XGBOOST)]
    ranks = summary.average_ranks(summary.comparable_areas(points)[readable])
    head = ["method", *(f"AUC ≤ {size}" for size in shown), "area", "log loss, area"]
    head += [*(f"R² ≤ {size}" for size in shown), "area", "average rank"]
    lines = []
    for name in sorted(_methods(points), key=lambda name: ranks.get(name, 99.0)):
        line = [name]
        for frame, sizes in ((auc, shown), (loss, ()), (r2, shown)):
            own = frame.xs(name, level="method")
            line += [f"{own[size].mean():.3f}" for size in sizes]
            line.append(f"{own.mean(axis=1).mean():.3f}")
        lines.append([*line, f"{ranks[name]:.2f}" if name in ranks else "–"])
    return to_markdown(head, lines)


def tests_table(points: pd.DataFrame) -> str:
    """Ways of laconic against every other method, over the tables."""
    scores = summary.comparable_areas(points)
    packaged = scores[scores.index.isin(PACKAGED)]
    subjects = [name for name in SUBJECTS if name in scores]
    head = ["against"]
    for name in subjects:
        head += [f"{name}: won/lost", "not the paper's", "difference", "p"]
    lines = []
    for other in [name for name in _methods(points) if name in scores]:
        line = [other]
        for name in subjects:
            if name == other:
                line += ["–"] * 4
            else:
                test, apart = (summary.paired(own, name, other) for own in (scores, packaged))
                line += [f"{own['wins']}/{own['losses']}" for own in (test, apart)]
                line += [f"{test['mean']:+.3f}", f"{test['p']:.2g}"]
        lines.append(line)
    return to_markdown(head, lines)


def rules_table(points: pd.DataFrame) -> str:
    """Means by number of rules, for methods whose steps are rules."""
    ruled = [variant.name for variant in VARIANTS] + ["fastogb"]
    return _by_rules(points, [name for name in _methods(points) if name in ruled])


def _by_rules(points: pd.DataFrame, names: Sequence[str]) -> str:
    found = summary.by_rules(points[points["method"].isin(names)], STEPS)
    head = ["method", *(f"AUC, {step}" for step in STEPS), *(f"R², {step}" for step in STEPS)]
    head += [f"log loss, {STEPS[-1]}", *(f"conditions, {step}" for step in STEPS[-2:])]
    lines = []
    for name in names:
        own = found.loc[name]
        line = [name, *(f"{own['auc'][step]:.3f}" for step in STEPS)]
        line += [f"{own['r2'][step]:.3f}" for step in STEPS]
        line.append(f"{own['log_loss'][STEPS[-1]]:.3f}")
        lines.append([*line, *(f"{own['n_conditions'][step]:.1f}" for step in STEPS[-2:])])
    return to_markdown(head, lines)


def lenient_table(points: pd.DataFrame) -> str:
    """Ranks where one leaf of every tree is a constant, which has no size."""
    readable = [name for name in _methods(points) if name not in (EBM, XGBOOST)]
    strict, lenient = (
        summary.comparable_areas(points, is_lenient=is_lenient)[readable]
        for is_lenient in (False, True)
    )
    ranks, lenient_ranks = summary.average_ranks(strict), summary.average_ranks(lenient)
    lines = []
    for name in lenient_ranks.index:
        line = [name, f"{strict[name].mean():.3f}", f"{lenient[name].mean():.3f}"]
        lines.append([*line, f"{ranks[name]:.2f}", f"{lenient_ranks[name]:.2f}"])
    head = ["method", "area", "area, one leaf a constant"]
    return to_markdown([*head, "average rank", "average rank, one leaf a constant"], lines)


def settings_table(points: pd.DataFrame) -> str:
    """Format settings on the choosing half: areas, scores of ten rules, and ranks."""
    names = sorted(set(points["method"]), key=_SETTINGS.index)
    scores = summary.comparable_areas(points)
    auc, loss, r2 = (summary.areas(points, metric).mean() for metric in summary.METRICS)
    ranks = summary.average_ranks(scores)
    rules = summary.by_rules(points, STEPS[-1:])
    head = ["setting", "AUC, area", "log loss, area", "R², area", "AUC, 10 rules"]
    head += ["log loss, 10 rules", "R², 10 rules", "conditions of 10 rules", "average rank"]
    lines = []
    for name in names:
        last = rules.loc[name, STEPS[-1]]
        line = [name, *(f"{found[name]:.4f}" for found in (auc, loss, r2))]
        line += [f"{last[metric]:.4f}" for metric in summary.METRICS]
        lines.append([*line, f"{last['n_conditions']:.1f}", f"{ranks[name]:.2f}"])
    n_splits = points.groupby("table")["split"].nunique().min()
    about = f"{points['table'].nunique()} tables, splits per table: {n_splits}."
    return f"{about}\n\n{to_markdown(head, lines)}"


def published_table(folder: Path | None) -> str:
    """Areas of the paper's rules, published and measured, and of ours."""
    areas = published.areas(PUBLISHED, folder)
    specification = specifications(find_datasets(folder))
    ours = [name for name in SUBJECTS if name in areas]
    lines = []
    for table, own in areas.iterrows():
        line = [table, f"{specification[table]['table1']['auc_opt']:.4f}"]
        line += [f"{own[published.PAPER]:.4f}", *(f"{own[name]:.4f}" for name in ours)]
        lines.append(line)
    counts = []
    for name in ours:
        test = summary.paired(areas, name, published.PAPER)
        counts.append(
            f"- {name}: above the paper's on {test['wins']}, below on {test['losses']} of "
            f"{len(areas[name].dropna())} problems, mean difference {test['mean']:+.4f}, "
            f"p = {test['p']:.2g}"
        )
    head = ["problem", "published", f"{published.PAPER}, measured", *ours]
    return "\n".join(counts) + "\n\n" + to_markdown(head, lines)


def list_of_tables() -> str:
    """Rows, features, half and source of every table."""
    if not TABLES.is_file():
        return NOTHING
    lines = [
        [row.table, row.task, row.half, f"{row.training_rows:,}", str(row.features), row.source]
        for row in pd.read_csv(TABLES).itertuples()
    ]
    return to_markdown(["table", "task", "half", "training rows", "features", "source"], lines)
