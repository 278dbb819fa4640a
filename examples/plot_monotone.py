"""
Constraints: a monotonic price
==============================

A regulator requires that more kilometres never make an insurance cheaper. The constraint is part of
the search: each term is proven to be the best of those that satisfy it. The data are generated.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from laconic import RuleBoostingRegressor

rng = np.random.default_rng(0)
n_contracts = 400
contracts = pd.DataFrame(
    {
        "km per year": rng.gamma(4, 4000, n_contracts).round(-2),
        "age of car": rng.integers(0, 20, n_contracts),
    }
)
cost = 150 + 8 * np.sqrt(contracts["km per year"]) / 5 + rng.normal(0, 60, n_contracts)
cost += 40 * (contracts["age of car"] > 10)

free = RuleBoostingRegressor(n_terms=5, max_thresholds=15, l2_regularization=1)
rising = RuleBoostingRegressor(
    n_terms=5, max_thresholds=15, l2_regularization=1, monotonic_cst={"km per year": 1}
)
models = {"free": free.fit(contracts, cost), "rising": rising.fit(contracts, cost)}
print(rising)

# %%
# Whether all terms are proven, and how far predictions fall; the constrained ones never do:
grid = pd.DataFrame({"km per year": np.arange(0, 40000, 100.0), "age of car": 5})
for name, model in models.items():
    steps = np.diff(model.predict(grid))
    proven = all(result.is_optimal for result in model.search_results_)
    print(f"{name}: proven {proven}, largest fall {max(0, -steps.min()):.1f}")

# %%
# Predictions by kilometres, for a car that is five years old:
_, axes = plt.subplots(figsize=(6, 3.2), layout="constrained")
axes.scatter(contracts["km per year"], cost, s=6, color="0.75")
for name, model in models.items():
    axes.plot(grid["km per year"], model.predict(grid), label=name)
axes.set(xlabel="km per year", ylabel="cost", xlim=(0, 40000))
axes.set_title("Predicted cost by kilometres, with and without the constraint")
axes.legend(frameon=False)
