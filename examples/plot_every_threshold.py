"""
Every threshold: no binning
===========================

By default a number is cut at up to seven places. With ``max_thresholds=None`` rules are proven over
all thresholds, however many different values a column has.
"""

from sklearn.datasets import load_diabetes
from sklearn.model_selection import train_test_split

from laconic import RuleBoostingRegressor
from laconic.plot import RuleBoxDisplay

X, y = load_diabetes(as_frame=True, return_X_y=True, scaled=False)
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)

for max_thresholds in (7, None):
    model = RuleBoostingRegressor(
        n_rules=3, max_conditions=2, max_thresholds=max_thresholds, objective="stagewise"
    ).fit(X_train, y_train)
    proven = all(result.is_optimal for result in model.search_results_)
    print(f"max_thresholds={max_thresholds}: {model.n_propositions_} conditions, proven: {proven}")
    print(f"R² on new rows {model.score(X_test, y_test):.3f}")
print(model)

# %%
# Where the rules lie in the plane of two features:
RuleBoxDisplay.from_estimator(model, X_train, features=["bmi", "s5"])
