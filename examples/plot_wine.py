"""
Science: which wine, by its chemistry
=====================================

Three growers, thirteen measurements. With three classes every rule speaks for or against one of
them, and the class with the largest sum wins.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_wine
from sklearn.metrics import ConfusionMatrixDisplay
from sklearn.model_selection import cross_val_score, train_test_split

from laconic import RuleBoostingClassifier

X, y = load_wine(as_frame=True, return_X_y=True)
grower = "grower " + (y + 1).astype(str)
X_train, X_test, y_train, y_test = train_test_split(X, grower, random_state=0, stratify=grower)

model = RuleBoostingClassifier(n_rules=6, max_conditions=2)
print(model.fit(X_train, y_train))

# %%
# Every one of the six is proven: no class and no rule for it would have been better in its place.
print(all(result.is_optimal for result in model.search_results_))

# %%
# Five times over, on wines that the model has not seen:
print(cross_val_score(model, X, grower, cv=5).round(2))

# %%
# Which are taken for which:
_, axes = plt.subplots(figsize=(4, 3.6), layout="constrained")
ConfusionMatrixDisplay.from_estimator(model, X_test, y_test, cmap="Blues", colorbar=False, ax=axes)
axes.set_title("New wines: true and predicted grower")
