"""The paper's rules against today's: areas under the size/score curves of its 24 problems.

As in Table 1 of the paper the size is the number of rules, the area is that from no rule on for
classes and from one rule on for numbers, to ten rules, and all training rows are used.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pandas as pd

from benchmarks.accuracy.methods import (
    JOINT,
    LACONIC,
    PLAIN,
    VARIANTS,
    Model,
    Variant,
)
from benchmarks.accuracy.summary import SCORES, common_splits, read_points
from benchmarks.accuracy.tables import Split, paper_tasks
from benchmarks.paper.settings import (
    MAX_RULES,
    OPTIMAL,
    estimator,
    published_settings,
    smallest_size,
)
from benchmarks.problems import find_datasets, load_problem, specifications
from laconic.models.curves import normalized_area

PAPER = "paper"
N_SPLITS = 5


@dataclass(frozen=True)
class PaperVariant(Variant):
    """Optimal rules with the paper's conditions, penalties and no limits."""

    folder: Path | None = None

    def problem(self) -> None:
        """Nothing keeps it from running."""

    def path(self, split: Split) -> Iterator[Model]:
        """Fit with the settings of the problem."""
        folder = find_datasets(self.folder)
        problem = load_problem(split.table, folder, split.index)
        penalty = published_settings(specifications(folder)[split.table], "lambda_opt")
        model = estimator(problem, OPTIMAL, float(penalty), **PLAIN)
        settings = {name: value for name, value in model.get_params().items() if name != "n_terms"}
        yield from replace(self, settings=settings)._prefixes(split, MAX_RULES)


def methods(folder: Path | None) -> list[Variant]:
    """Return the methods: rules of the paper, and of laconic."""
    ours = [variant for variant in VARIANTS if variant.name in (LACONIC, JOINT)]
    return [PaperVariant(PAPER, {}, folder=folder), *ours]


def areas(path: Path, folder: Path | None = None) -> pd.DataFrame:
    """Mean area over the splits of all methods: a row per problem, a column per method."""
    points = read_points(path)
    points = points[points["method"].isin([PAPER, LACONIC, JOINT]) & (points["step"] <= MAX_RULES)]
    points = common_splits(points)
    tasks = paper_tasks(folder)
    rows = []
    for (table, method, split), group in points.groupby(["table", "method", "split"], sort=False):
        task = tasks[table]
        curve = dict(zip(group["step"], group[SCORES[task]], strict=True))
        curve.setdefault(MAX_RULES, curve[max(curve)])  # where nothing more was found
        sizes = [size for size in sorted(curve) if size >= smallest_size(task)]
        area = normalized_area([curve[size] for size in sizes], sizes)
        rows.append({"table": table, "method": method, "split": split, "area": area})
    if not rows:
        return pd.DataFrame()
    frame = pd.DataFrame(rows).groupby(["table", "method"])["area"].mean().unstack("method")
    return frame.reindex([name for name in tasks if name in frame.index])
