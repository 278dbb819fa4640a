"""Fills what was measured into the page ``docs/research/accuracy.md``, and draws its pictures."""

from collections.abc import Callable, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pandas as pd

from benchmarks.accuracy import numbers, pictures, published, recovery, summary
from benchmarks.accuracy.competitors import COMPETITORS, EBM, L1, RELAXED, XGBOOST
from benchmarks.accuracy.methods import (
    GREEDY_TERMS,
    JOINT,
    LACONIC,
    RULES_ONLY,
    STEPS,
    VARIANTS,
    settings_to_choose_from,
)
from benchmarks.accuracy.packaged import PACKAGED
from benchmarks.accuracy.tables import CHOOSING, REPORTING, all_tasks, halves, load_split
from benchmarks.pages import fill_in, to_markdown
from benchmarks.peers.run import describe_machine
from benchmarks.problems import find_datasets, specifications

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "research" / "accuracy.md"
RESULTS = ROOT / "benchmarks" / "results"
COMPARED, CHOSEN_FROM, PUBLISHED, TABLES, COUNTED = (
    RESULTS / f"accuracy{name}.csv" for name in ("", "_settings", "_paper", "_tables", "_terms")
)
METHODS = tuple(method.name for method in (*VARIANTS, *COMPETITORS))
CEILINGS = (XGBOOST, EBM)
SUBJECTS = (LACONIC, RULES_ONLY, JOINT)
BELOW_CEILINGS = (LACONIC, GREEDY_TERMS, RULES_ONLY, JOINT, RELAXED, L1)
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
    for name, block in blocks(folder).items():
        text = fill_in(text, name, block, "benchmarks/accuracy")
    PAGE.write_text(text, encoding="utf-8")
    reported = compared(REPORTING, folder)
    pictures.draw(reported, _methods(reported))


def show(folder: Path | None = None) -> None:
    """Print the blocks of the page."""
    for name, block in blocks(folder).items():
        print(f"\n## {name}\n\n{block}")


def compared(half: str, folder: Path | None) -> pd.DataFrame:
    """Points of the methods that were measured on all tables of a half."""
    points = _of_half(summary.read_points(COMPARED), half, folder)
    return points[points["method"].isin(summary.complete_methods(points, METHODS))]


def blocks(folder: Path | None = None) -> dict[str, str]:
    """Return what the page has between its markers, by the names of the markers."""
    everything = _of_half(summary.read_points(COMPARED), REPORTING, folder)
    reported = compared(REPORTING, folder)
    tried = _of_half(summary.read_points(CHOSEN_FROM), CHOOSING, folder)
    counted = summary.read_points(COUNTED)
    return {
        "context": context(everything, summary.complete_methods(everything, METHODS)),
        "glance": glance_table(everything),
        "scores": scores_table(reported),
        "ranks": ranks_table(reported),
        "tests": tests_table(reported),
        "ceilings": ceilings_table(everything),
        "rules": rules_table(reported),
        "settings": settings_table(tried, _SETTINGS),
        "numbers": numbers_table(counted),
        "recovery": _saved(recovery.PATH, recovery.to_table),
        "published": published_table(folder) if PUBLISHED.is_file() else NOTHING,
        "tables": list_of_tables(),
    }


def _saved(path: Path, to_table: Callable[[pd.DataFrame], str]) -> str:
    return to_table(pd.read_csv(path)) if path.is_file() else NOTHING


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


def _readable(points: pd.DataFrame) -> list[str]:
    return [name for name in _methods(points) if name not in CEILINGS]


def glance_table(points: pd.DataFrame) -> str:
    """Mean scores and median seconds of a few well-known methods, on what all have measured."""
    limits = {LACONIC: STEPS[-1], EBM: None, XGBOOST: None, RELAXED: STEPS[-1]}
    points = summary.common_splits(points[points["method"].isin(limits)])
    keys = ["table", "split"]
    lines = []
    for name, limit in limits.items():
        own = points[(points["method"] == name) & (points["step"] > 0)]
        own = own if limit is None else own[own["step"] <= limit]
        last = own.sort_values("step").groupby(keys).last()
        size = "any" if limit is None else f"{limit} {'features' if name == RELAXED else 'terms'}"
        scores = [f"{last[metric].mean():.3f}" for metric in ("auc", "r2")]
        counts = [str(last[metric].count()) for metric in ("auc", "r2")]
        lines.append([name, size, *scores, f"{last['seconds'].median():.2f}", "/".join(counts)])
    head = ["method", "size", "mean AUC", "mean R²", "median s", "tables: classes/numbers"]
    return to_markdown(head, lines)


def scores_table(points: pd.DataFrame) -> str:
    """Scores within sizes and areas, a line per method."""
    shown = summary.SHOWN_BUDGETS
    auc, r2 = summary.curves(points, "auc"), summary.curves(points, "r2")
    loss = summary.curves(points, "log_loss")
    areas = summary.comparable_areas(points).mean()
    head = ["method", "area", *(f"AUC ≤ {size}" for size in shown), "AUC, area", "log loss, area"]
    head += [*(f"R² ≤ {size}" for size in shown), "R², area"]
    lines = []
    for name in sorted(_methods(points), key=lambda name: (name in CEILINGS, -areas[name])):
        line = [name, f"{areas[name]:.3f}"]
        for frame, sizes in ((auc, shown), (loss, ()), (r2, shown)):
            own = frame.xs(name, level="method")
            line += [f"{own[size].mean():.3f}" for size in sizes]
            line.append(f"{own.mean(axis=1).mean():.3f}")
        lines.append(line)
    return to_markdown(head, lines)


def ranks_table(points: pd.DataFrame) -> str:
    """Average ranks by area and within sizes, a line per method that has sizes."""
    readable, shown = _readable(points), summary.SHOWN_BUDGETS
    scores = [summary.comparable_areas(points)]
    scores += [summary.comparable_scores(points, size) for size in shown]
    ranks = [summary.average_ranks(each[readable]) for each in scores]
    lines = [[name, *(f"{each[name]:.2f}" for each in ranks)] for name in ranks[0].index]
    return to_markdown(["method", "area", *(f"size {size}" for size in shown)], lines)


def ceilings_table(points: pd.DataFrame) -> str:
    """Scores at the largest size, and how far they are from models of any size.

    On the tables and splits of both methods, which may be fewer for a slow one.
    """
    size = summary.SHOWN_BUDGETS[-1]
    auc, r2 = (summary.curves(points, metric)[size].unstack("method") for metric in ("auc", "r2"))
    n_tables = points.groupby("method")["table"].nunique()
    ceilings = [name for name in CEILINGS if name in n_tables]
    head = ["method", f"AUC ≤ {size}", f"R² ≤ {size}"]
    for name in ceilings:
        head += [f"below {name} ({n_tables[name]} tables): mean", "median", "largest", "won/lost"]
    lines = []
    for name in [name for name in BELOW_CEILINGS if name in n_tables] + ceilings:
        is_complete = n_tables[name] == points["table"].nunique()
        means = [f"{each[name].mean():.3f}" if is_complete else "–" for each in (auc, r2)]
        line = [name, *means]
        for ceiling in ceilings:
            if name in ceilings:
                line += ["–"] * 4
                continue
            apart = summary.distances(points, name, ceiling).dropna()
            line += [f"{value:+.3f}" for value in (apart.mean(), apart.median())]
            line += [f"{apart.max():+.3f} ({apart.idxmax()})"]
            line.append(f"{(apart < 0).sum()}/{(apart > 0).sum()}")
        lines.append(line)
    return to_markdown(head, lines)


def _won(scores: pd.DataFrame, name: str, other: str) -> str:
    if name == other:
        return "–"
    test = summary.paired(scores, name, other)
    return f"{test['wins']}/{test['losses']}"


def numbers_table(points: pd.DataFrame) -> str:
    """Scores and sizes of ways to the number of terms."""
    if not len(points) or not TABLES.is_file():
        return NOTHING
    return numbers.table(points, pd.read_csv(TABLES).set_index("table")["training_rows"])


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


def settings_table(points: pd.DataFrame, settings: Sequence[str]) -> str:
    """Format settings on the choosing half: areas, wins, scores of ten terms, and seconds.

    Those that were not measured on all tables are left out, and so are splits that some lack.
    """
    names = summary.complete_methods(points, settings)
    if not names:
        return NOTHING
    points = summary.common_splits(points[points["method"].isin(names)])
    scores = summary.comparable_areas(points)
    auc, r2 = (summary.areas(points, metric).mean() for metric in ("auc", "r2"))
    ranks = summary.average_ranks(scores)
    terms = summary.by_rules(points, STEPS[-1:])
    first = names[0]
    head = ["setting", "area", f"won/lost against {first}", "p", "average rank"]
    head += ["AUC, area", "R², area"]
    head += ["AUC, 10 terms", "R², 10 terms", "conditions of 10 terms", "s per table"]
    seconds = points.groupby(["method", "table", "split"])["seconds"].max().groupby("method").mean()
    lines = []
    for name in names:
        last = terms.loc[name, STEPS[-1]]
        p = f"{summary.paired(scores, name, first)['p']:.2g}" if name != first else "–"
        line = [name, f"{scores[name].mean():.4f}", _won(scores, name, first), p]
        line += [f"{ranks[name]:.2f}", *(f"{found[name]:.4f}" for found in (auc, r2))]
        line += [f"{last[metric]:.4f}" for metric in ("auc", "r2")]
        lines.append([*line, f"{last['n_conditions']:.1f}", f"{seconds[name]:.1f}"])
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
