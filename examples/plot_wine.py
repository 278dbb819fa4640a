"""
Science: multiclass classification of wines
===========================================

The growers of wines are predicted from thirteen chemical measurements. With three classes, every
term votes for or against one class, and the class with the largest sum is predicted.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_wine
from sklearn.metrics import ConfusionMatrixDisplay
from sklearn.model_selection import cross_val_score, train_test_split

from laconic import RuleBoostingClassifier

X, y = load_wine(as_frame=True, return_X_y=True)
grower = "grower " + (y + 1).astype(str)
X_train, X_test, y_train, y_test = train_test_split(X, grower, random_state=0, stratify=grower)

model = RuleBoostingClassifier(n_terms=6, max_conditions=2)
print(model.fit(X_train, y_train))

# %%
# All six terms are proven: no term for any class would have been better at its place.
print(all(result.is_optimal for result in model.search_results_))

# %%
# Accuracy in five-fold cross-validation:
print(cross_val_score(model, X, grower, cv=5).round(2))

# %%
# The confusion matrix on held-out wines:
_, axes = plt.subplots(figsize=(4, 3.6), layout="constrained")
ConfusionMatrixDisplay.from_estimator(model, X_test, y_test, cmap="Blues", colorbar=False, ax=axes)
axes.set_title("New wines: true and predicted grower")
