"""
Churn: choosing the number of terms
===================================

The generated table of customers has text, numbers and missing values. Cross-validation chooses the
number of terms, and a plot shows where they overlap.
"""

import numpy as np
import pandas as pd

from laconic import RuleBoostingClassifierCV
from laconic.plot import CrossValidationDisplay, RuleOverlapDisplay

rng = np.random.default_rng(0)
n_customers = 2000
customers = pd.DataFrame(
    {
        "contract": rng.choice(["month", "year", "two years"], n_customers, p=[0.5, 0.3, 0.2]),
        "months": rng.integers(1, 73, n_customers),
        "monthly fee": rng.normal(65, 25, n_customers).clip(20).round(2),
        "support calls": rng.poisson(1.0, n_customers).astype(float),
        "paperless": rng.random(n_customers) < 0.6,
    }
)
customers.loc[rng.random(n_customers) < 0.05, "support calls"] = None
risk = 0.08 + 0.45 * ((customers["contract"] == "month") & (customers["months"] <= 12))
risk += 0.3 * ((customers["monthly fee"] > 80) & (customers["support calls"] > 1))
left = np.where(rng.random(n_customers) < risk, "left", "stayed")

model = RuleBoostingClassifierCV(positive="left").fit(customers, left)
print(model)

# %%
# The cross-validated loss by number of terms:
display = CrossValidationDisplay.from_estimator(model)
display.ax_.set_title("Loss on held-out customers, by number of terms")

# %%
# The number of customers that pairs of terms cover:
RuleOverlapDisplay.from_estimator(model, customers)
