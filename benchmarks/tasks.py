"""Many classes, counts and amounts: our models next to others of the same size, and to forests.

python -m benchmarks.tasks            # measures, and writes results and docs/research/tasks.md
python -m benchmarks.tasks claims     # measures a part anew
python -m benchmarks.tasks --page     # writes the page from the results
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris, load_wine, make_classification
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.metrics import log_loss, mean_tweedie_deviance
from sklearn.model_selection import train_test_split
from sklearn.multiclass import OneVsRestClassifier
from sklearn.tree import DecisionTreeClassifier

from laconic import RuleBoostingClassifier, RuleBoostingRegressor

RESULTS = Path(__file__).with_name("results") / "tasks.json"
PAGE = Path(__file__).parents[1] / "docs" / "research" / "tasks.md"
N_SPLITS = 3
MAX_CONDITIONS = 2
N_CLAIM_RULES = 20

Table = tuple[NDArray[Any], NDArray[Any]]


def penguins(n_rows: int = 333, seed: int = 0) -> Table:
    """Generate measures of three species of birds, two of which look alike but for their bills."""
    rng = np.random.default_rng(seed)
    species = rng.choice(3, n_rows, p=[0.44, 0.2, 0.36])
    bill_length = np.array([38.8, 48.8, 47.5])[species] + rng.normal(0, 3.0, n_rows)
    bill_depth = np.array([18.3, 18.4, 15.0])[species] + rng.normal(0, 1.1, n_rows)
    flipper = np.array([190.0, 196.0, 217.0])[species] + rng.normal(0, 6.7, n_rows)
    mass = np.array([3700.0, 3730.0, 5080.0])[species] + rng.normal(0, 460.0, n_rows)
    return np.column_stack([bill_length, bill_depth, flipper, mass]), species


def twenty_classes() -> Table:
    """Generate twenty classes in ten columns."""
    return make_classification(
        2000,
        10,
        n_informative=8,
        n_redundant=0,
        n_classes=20,
        n_clusters_per_class=1,
        class_sep=1.5,
        random_state=0,
    )


CLASS_TABLES = {
    "iris": lambda: load_iris(return_X_y=True),
    "wine": lambda: load_wine(return_X_y=True),
    "penguins, generated": penguins,
    "digits": lambda: load_digits(return_X_y=True),
    "20 classes, generated": twenty_classes,
}


def smoothed(tree: DecisionTreeClassifier, X: NDArray[Any], y: NDArray[Any], new: Any) -> Any:
    """Estimate probabilities in the leaves of a tree with one row of each class added."""
    n_classes = len(tree.classes_)
    counts = np.ones((tree.tree_.node_count, n_classes))
    np.add.at(counts, (tree.apply(X), y), 1.0)
    leaves = counts[tree.apply(new)]
    return leaves / leaves.sum(axis=1, keepdims=True)


def measure_classes() -> list[dict[str, Any]]:
    """Compare log losses on unseen rows."""
    found = []
    for name, load in CLASS_TABLES.items():
        X, y = load()
        n_classes = len(np.unique(y))
        n_terms = max(8, 2 * n_classes)
        losses: dict[str, list[float]] = {"ours": [], "one-vs-rest": [], "tree": []}
        n_proven = 0
        for seed in range(N_SPLITS):
            parts = train_test_split(X, y, test_size=0.3, stratify=y, random_state=seed)
            X_train, X_test, y_train, y_test = parts
            model = RuleBoostingClassifier(n_terms, max_conditions=MAX_CONDITIONS)
            model.fit(X_train, y_train)
            n_proven += sum(result.is_optimal for result in model.search_results_)
            each = max(1, round(n_terms / n_classes))
            rest = RuleBoostingClassifier(each, max_conditions=MAX_CONDITIONS)
            others = OneVsRestClassifier(rest).fit(X_train, y_train)
            tree = DecisionTreeClassifier(max_leaf_nodes=n_terms + 1, random_state=0)
            tree.fit(X_train, y_train)
            losses["ours"].append(log_loss(y_test, model.predict_proba(X_test)))
            losses["one-vs-rest"].append(log_loss(y_test, others.predict_proba(X_test)))
            losses["tree"].append(log_loss(y_test, smoothed(tree, X_train, y_train, X_test)))
        found.append(
            {
                "table": name,
                "n_rows": len(y),
                "n_classes": n_classes,
                "n_terms": n_terms,
                "share_proven": n_proven / (N_SPLITS * n_terms),
                "log_loss": {method: float(np.mean(values)) for method, values in losses.items()},
            }
        )
        sys.stdout.write(f"{found[-1]}\n")
    return found


def policies(n_rows: int = 10_000, seed: int = 0) -> tuple[Any, Any, Any, Any]:
    """Generate policies: columns, years, numbers of claims, and their costs."""
    rng = np.random.default_rng(seed)
    age, power = rng.integers(18, 90, n_rows), rng.integers(4, 13, n_rows)
    vehicle, bonus = rng.integers(0, 20, n_rows), rng.integers(50, 151, n_rows)
    density = rng.lognormal(5.5, 1.5, n_rows)
    X = np.column_stack([age, power, vehicle, bonus, density]).astype(float)
    years = rng.uniform(0.1, 1.0, n_rows)
    score = -2.2 + 0.9 * (age < 25) + 0.012 * (bonus - 50) + 0.15 * np.log(density / 250)
    score += 0.5 * ((vehicle > 12) & (power > 8)) - 0.3 * (age > 60)
    claims = rng.poisson(np.exp(score) * years)
    size = 6.5 + 0.5 * (power > 9) - 0.3 * (vehicle > 10) + 0.4 * ((age < 30) & (density > 500))
    costs = rng.gamma(1.5 * np.maximum(claims, 1), np.exp(size) / 1.5)
    return X, years, claims.astype(float), costs


def measure_claims() -> list[dict[str, Any]]:
    """Compare deviances on unseen policies, and on the training rows those of every size."""
    found = []
    X, years, claims, costs = policies()
    has_claim = claims > 0
    tables = {
        "claims per year": ("poisson", 1.0, X, claims / years, years),
        "cost per claim": (
            "gamma",
            2.0,
            X[has_claim],
            costs[has_claim] / claims[has_claim],
            claims[has_claim],
        ),
    }
    for name, (loss, power, columns, rates, weights) in tables.items():
        deviances: dict[str, list[float]] = {"ours": [], "trees": [], "stopped": [], "mean": []}
        largest_rise, n_halvings, n_proven = 0.0, 0, 0
        for seed in range(N_SPLITS):
            parts = train_test_split(columns, rates, weights, test_size=0.3, random_state=seed)
            X_train, X_test, y_train, y_test, w_train, w_test = parts
            model = RuleBoostingRegressor(N_CLAIM_RULES, loss=loss)
            # The target is what was counted over the exposure.
            model.fit(X_train, y_train * w_train, exposure=w_train)
            n_halvings += sum(result.n_halvings for result in model.search_results_)
            n_proven += sum(result.is_optimal for result in model.search_results_)
            path = [
                mean_tweedie_deviance(y_train, np.exp(raw), sample_weight=w_train, power=power)
                for raw in model.predictions_for(X_train).staged_raw()
            ]
            largest_rise = max(largest_rise, float(np.diff(path).max()))
            trees = HistGradientBoostingRegressor(loss=loss, random_state=0)
            stopped = clone(trees).set_params(early_stopping=True)
            for each in (trees, stopped):
                each.fit(X_train, y_train, sample_weight=w_train)
            mean = np.full(len(y_test), np.average(y_train, weights=w_train))
            predicted = {
                "ours": model.predict(X_test),
                "trees": trees.predict(X_test),
                "stopped": stopped.predict(X_test),
                "mean": mean,
            }
            for method, means in predicted.items():
                deviance = mean_tweedie_deviance(y_test, means, sample_weight=w_test, power=power)
                deviances[method].append(float(deviance))
        found.append(
            {
                "table": name,
                "loss": loss,
                "n_rows": len(rates),
                "n_terms": N_CLAIM_RULES,
                "share_proven": n_proven / (N_SPLITS * N_CLAIM_RULES),
                "n_halvings": n_halvings,
                "largest_rise_of_training_deviance": largest_rise,
                "deviance": {method: float(np.mean(each)) for method, each in deviances.items()},
            }
        )
        sys.stdout.write(f"{found[-1]}\n")
    return found


def page(results: dict[str, Any]) -> str:
    """Write the page."""
    classes = "\n".join(
        f"| {each['table']} | {each['n_rows']:,} | {each['n_classes']} | {each['n_terms']} "
        f"| {each['log_loss']['ours']:.3f} | {each['log_loss']['one-vs-rest']:.3f} "
        f"| {each['log_loss']['tree']:.3f} | {each['share_proven']:.0%} |"
        for each in results["classes"]
    )
    claims = "\n".join(
        f"| {each['table']} | {each['loss']} | {each['n_rows']:,} "
        f"| {each['deviance']['ours']:.4f} | {each['deviance']['trees']:.4f} "
        f"| {each['deviance']['stopped']:.4f} | {each['deviance']['mean']:.4f} "
        f"| {each['deviance']['ours'] / each['deviance']['stopped'] - 1:+.1%} "
        f"| {max(0.0, each['largest_rise_of_training_deviance']):.1g} |"
        for each in results["claims"]
    )
    return f"""\
# Multiclass and count data

`python -m benchmarks.tasks` measures the numbers on this page and writes it. Scores are means over
{N_SPLITS} random splits into 70 % training and 30 % test rows.

## Three or more classes

Log loss on test rows (lower is better) of rules with up to {MAX_CONDITIONS} conditions. Compared
are one multiclass model; one-vs-rest models with the same total number of rules; and a decision
tree with one more leaf than there are rules, with one row of each class added to every leaf.

| table | rows | classes | rules | one model | one-vs-rest | tree | rules proven |
|---|---:|---:|---:|---:|---:|---:|---:|
{classes}

## Insurance claims

Mean deviance on test rows of {N_CLAIM_RULES} rules, of scikit-learn's
`HistGradientBoostingRegressor` with the same loss, with default settings (100 trees,
which overfit these tables) and with early stopping, and of the mean. The difference is relative to
early stopping. Both tables are generated: claims per year with the years as exposure, and cost per
claim with the number of claims as exposure. The last column is the largest rise of the training
deviance from one rule to the next.

| table | loss | rows | {N_CLAIM_RULES} rules | trees | stopped early | mean | difference | rise |
|---|---|---:|---:|---:|---:|---:|---:|---:|
{claims}
"""


PARTS: dict[str, Callable[[], list[dict[str, Any]]]] = {
    "claims": measure_claims,
    "classes": measure_classes,
}


def main() -> None:
    """Measure, unless only the page is asked for."""
    if "--page" not in sys.argv[1:]:
        known = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
        chosen = {name: measure for name, measure in PARTS.items() if name in sys.argv[1:]} or PARTS
        results = known | {name: measure() for name, measure in chosen.items()}
        RESULTS.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    PAGE.write_text(page(json.loads(RESULTS.read_text(encoding="utf-8"))), encoding="utf-8")


if __name__ == "__main__":
    main()
