"""
Credit: a scorecard with integer points
=======================================

A scorecard turns the weights of a rule model into integer points that can be added up by hand, with
a table from totals to probabilities. The data are generated.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split

from laconic import RuleBoostingClassifier
from laconic.export import to_scorecard

rng = np.random.default_rng(1)
n_applicants = 3000
applicants = pd.DataFrame(
    {
        "income": rng.lognormal(10.4, 0.5, n_applicants).round(-2),
        "debt share": rng.beta(2, 5, n_applicants).round(2),
        "years employed": rng.gamma(2, 3, n_applicants).round(),
        "late payments": rng.poisson(0.6, n_applicants),
        "housing": rng.choice(["rent", "own", "free"], n_applicants, p=[0.5, 0.4, 0.1]),
    }
)
log_odds = (
    -2.2
    + 1.6 * (applicants["late payments"] > 1)
    + 1.2 * ((applicants["debt share"] > 0.4) & (applicants["income"] <= 30000))
    - 0.9 * ((applicants["years employed"] > 5) & (applicants["housing"] == "own"))
)
defaults = np.where(rng.random(n_applicants) < 1 / (1 + np.exp(-log_odds)), "default", "repaid")
X_train, X_test, y_train, y_test = train_test_split(applicants, defaults, random_state=0)

model = RuleBoostingClassifier(n_terms=5).fit(X_train, y_train)
print(model)

# %%
# The model as a scorecard:
card = to_scorecard(model)
print(card)

# %%
# The cost of rounding on new applicants. The true log odds, from which the data were generated, are
# the upper limit: most defaults are random.
repaid = y_test == "repaid"
for name, scores in {
    "weights": model.decision_function(X_test),
    "points": card.total_points(X_test),
    "true log odds": -log_odds[X_test.index],
}.items():
    print(f"area under the curve by {name}: {roc_auc_score(repaid, scores):.3f}")

# %%
# Calibration of the predicted probabilities, in ten groups of equal size:
probabilities = model.predict_proba(X_test)[:, 1]
groups = pd.qcut(probabilities, 10, duplicates="drop")
means = (
    pd.DataFrame({"predicted": probabilities, "true": repaid}).groupby(groups, observed=True).mean()
)
_, axes = plt.subplots(figsize=(4, 4), layout="constrained")
axes.plot([0, 1], [0, 1], color="0.7")
axes.plot(means["predicted"], means["true"], marker="o")
axes.set(xlabel="predicted probability", ylabel="observed frequency", aspect="equal")
axes.set_title("Calibration of the probability of repayment")
