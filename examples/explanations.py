"""Draw the pictures of the README and of docs/explain.md: a model, and one prediction.

python examples/explanations.py docs/images
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from laconic import RuleBoostingClassifier
from laconic.datasets import noisy_parity
from laconic.plot import ContributionDisplay, RuleBoxDisplay, RuleWeightDisplay

# A tumour with rules for and against each class.
ROW = 73


def draw_tumours(path: Path) -> None:
    """Draw the rules of a model, and one of its predictions."""
    data = load_breast_cancer(as_frame=True)
    classes = data.target.map(dict(enumerate(data.target_names)))
    X_train, X_test, y_train, _ = train_test_split(data.data, classes, random_state=0)
    model = RuleBoostingClassifier(n_terms=4).fit(X_train, y_train)
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.6), layout="constrained")
    RuleWeightDisplay.from_estimator(model, ax=left)
    left.set_title("The model")
    ContributionDisplay.from_estimator(model, X_test, row=ROW, ax=right)
    figure.savefig(path, dpi=110)


def draw_parity(path: Path) -> None:
    """Draw rules as boxes in the plane of two features."""
    dataset = noisy_parity(400, 2, random_state=0)
    model = RuleBoostingClassifier(n_terms=2, max_thresholds=9).fit(dataset.data, dataset.target)
    display = RuleBoxDisplay.from_estimator(
        model, dataset.data, dataset.target, features=["x0", "x1"]
    )
    display.figure_.savefig(path, dpi=110)


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    draw_tumours(folder / "explanation.png")
    draw_parity(folder / "rule_boxes.png")
