"""How many terms: ten, until chance could have done as well, or by cross-validation."""

import pandas as pd

from benchmarks.accuracy import summary
from benchmarks.accuracy.methods import NUMBERS
from benchmarks.pages import to_markdown

ROWS = {"fewer than 350": (0, 350), "350 to 1,000": (350, 1_000), "1,000 and more": (1_000, 10**9)}
"""Groups of tables by their training rows."""


def by_rows(points: pd.DataFrame, n_rows: pd.Series) -> pd.DataFrame:
    """Mean score, terms, size and seconds: a row per group of tables and method.

    Parameters
    ----------
    points : DataFrame
        As measured.
    n_rows : Series
        Training rows by table.
    """
    models = summary.single_models(summary.common_splits(points))
    columns = ["score", "n_terms", "size", "seconds"]
    means = models.groupby(["method", "table"])[columns].mean()
    rows = means.index.get_level_values("table").map(n_rows)
    parts = {"all": means} | {
        name: means[(rows >= low) & (rows < high)] for name, (low, high) in ROWS.items()
    }
    grouped = {name: part.groupby(level="method").mean() for name, part in parts.items()}
    found = pd.concat(grouped, names=["rows"])
    found["tables"] = [
        len(parts[group].xs(method, level="method")) for group, method in found.index
    ]
    return found


def table(points: pd.DataFrame, n_rows: pd.Series) -> str:
    """Format the means, a line per group of tables and method."""
    found = by_rows(points, n_rows)
    lines = []
    for group in ["all", *ROWS]:
        for variant in NUMBERS:
            if (group, variant.name) in found.index:
                own = found.loc[group, variant.name]
                line = [f"{group} ({own['tables']:.0f} tables)", variant.name]
                line += [f"{own['score']:.3f}", f"{own['n_terms']:.1f}", f"{own['size']:.1f}"]
                lines.append([*line, f"{own['seconds']:.2f}"])
    return to_markdown(["training rows", "number of terms", "score", "terms", "size", "s"], lines)
