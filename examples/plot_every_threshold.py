"""
Every threshold: a narrow window
================================

By default, conditions on a numeric column use up to seven thresholds at its quantiles. This is too
coarse for effects in a narrow window. With ``max_thresholds=None``, rules are proven optimal over
all thresholds, however many distinct values a column has. The data are generated.
"""

import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split

from laconic import RuleBoostingRegressor
from laconic.plot import RuleBoxDisplay

rng = np.random.default_rng(0)
n_experiments = 2000
experiments = pd.DataFrame(
    {
        "temperature": rng.uniform(20, 90, n_experiments).round(1),
        "pH": rng.uniform(4, 10, n_experiments).round(2),
    }
)
works = experiments["temperature"].between(58, 66) & experiments["pH"].between(6.2, 7.4)
product = 10 + 60 * works + rng.normal(0, 8, n_experiments)
X_train, X_test, y_train, y_test = train_test_split(experiments, product, random_state=0)

for max_thresholds in (7, None):
    model = RuleBoostingRegressor(
        n_terms=1,
        strategy="stagewise",
        max_conditions=4,
        max_thresholds=max_thresholds,
        l2_regularization=1,
    ).fit(X_train, y_train)
    print(f"max_thresholds={max_thresholds}: R² on new rows {model.score(X_test, y_test):.2f}")
    print(f"proven over {model.n_candidates_:,} conditions: {model.search_results_[0].is_optimal}")

# %%
# The window that the rule found:
print(model)

# %%
# The same window as a plot:
display = RuleBoxDisplay.from_estimator(model, X_train, features=["temperature", "pH"])
display.ax_.set_title("The window that the rule found")
