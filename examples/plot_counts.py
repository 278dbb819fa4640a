"""
Counts with exposure: insurance claims
======================================

Drivers are insured for different fractions of a year. The Poisson loss with an exposure models
claims per year, and each term multiplies that rate. The data are generated.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.metrics import mean_poisson_deviance

from laconic import RuleBoostingRegressor

rng = np.random.default_rng(2)
n_drivers = 6000
drivers = pd.DataFrame(
    {
        "age": rng.integers(18, 90, n_drivers),
        "power": rng.choice([50, 70, 90, 120, 160, 200], n_drivers),
        "region": rng.choice(["city", "suburb", "country"], n_drivers),
        "km per year": rng.gamma(4, 3500, n_drivers).round(-2),
    }
)
years = rng.uniform(0.1, 1.0, n_drivers)
rate = 0.08 * np.ones(n_drivers)
rate *= np.where((drivers["age"] <= 25) & (drivers["power"] > 90), 4.0, 1.0)
rate *= np.where((drivers["region"] == "city") & (drivers["km per year"] > 15000), 2.0, 1.0)
claims = rng.poisson(rate * years)

model = RuleBoostingRegressor(n_terms=4, loss="poisson").fit(drivers, claims, exposure=years)
print(model)

# %%
# `predict` returns claims per year. Multiply by the exposure to get the expected number of claims.
expected = model.predict(drivers) * years
constant = np.full(n_drivers, claims.sum() / years.sum()) * years
for name, mean in {"no model": constant, "4 terms": expected}.items():
    print(f"{name}: mean Poisson deviance {mean_poisson_deviance(claims, mean):.4f}")

# %%
# Predicted and observed claims per year, in ten groups of drivers by prediction:
groups = pd.qcut(model.predict(drivers), 10, labels=False, duplicates="drop")
table = pd.DataFrame({"claims": claims, "years": years, "expected": expected}).groupby(groups).sum()
table = table[table["years"] > 50]
_, axes = plt.subplots(figsize=(4, 4), layout="constrained")
rates = table.div(table["years"], axis=0)
axes.scatter(rates["expected"], rates["claims"], table["years"] / 5)
axes.axline((0, 0), slope=1, color="0.7")
axes.set(xlabel="predicted claims per year", ylabel="observed claims per year")
axes.set_title("Predicted and observed claims")
