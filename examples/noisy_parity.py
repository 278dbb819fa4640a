"""Compare optimal and greedy rules on the noisy parity problem.

Each row belongs to one of the 2**d corners of a cube, and its class is the product of the signs of
the corner. A single condition is not informative, so the choices of a greedy search are arbitrary.
The optimal search finds whole corners. Rules for half of them, and an intercept for the others,
make the best model.

    python examples/noisy_parity.py docs/images/noisy_parity.png
"""

import sys

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import PercentFormatter

from laconic import RuleBoostingClassifier
from laconic.datasets import noisy_parity

COLOURS = {"optimal": "#1f5a8a", "greedy": "#b3541e"}


def accuracies(search: str, n_features: int) -> list[float]:
    """Compute the accuracy on new rows of models of up to 2**(d - 1) rules."""
    train = noisy_parity(100 * 2**n_features, n_features, random_state=0)
    test = noisy_parity(10_000, n_features, random_state=1)
    model = RuleBoostingClassifier(
        2 ** (n_features - 1), search=search, max_conditions=n_features, max_thresholds=9
    )
    model.fit(train.data, train.target)
    scores = model.staged_decision_function(test.data)
    return [0.5] + [float(np.mean((score > 0) == (test.target > 0))) for score in scores]


def draw(ax: Axes, n_features: int) -> None:
    """Plot accuracy against the number of rules, for both searches."""
    for search, colour in COLOURS.items():
        curve = accuracies(search, n_features)
        ax.plot(range(len(curve)), curve, color=colour, linewidth=2.2)
        ax.annotate(
            f"{search} {curve[-1]:.0%}",
            (len(curve) - 1, curve[-1]),
            xytext=(5, 0),
            textcoords="offset points",
            color=colour,
            va="center",
        )
    ax.set_title(f"{n_features} features, {100 * 2**n_features} rows")
    ax.set(
        xlabel="number of rules", ylim=(0.45, 1), xticks=np.linspace(0, 2 ** (n_features - 1), 5)
    )
    ax.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
    ax.spines[["top", "right"]].set_visible(False)


def main(path: str) -> None:
    figure, axes = plt.subplots(1, 2, figsize=(9, 3), sharey=True, layout="constrained")
    for ax, n_features in zip(axes, (3, 4), strict=True):
        draw(ax, n_features)
    axes[0].set_ylabel("new rows classified correctly")
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    main(sys.argv[1])
