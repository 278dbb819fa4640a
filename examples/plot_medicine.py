"""
Medicine: a tumour model that can be checked by hand
====================================================

Four terms classify tumours as benign or malignant. Each is proven to be the best term to add, and
each prediction can be explained to the patient.
"""

from sklearn.datasets import load_breast_cancer
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split

from laconic import RuleBoostingClassifier
from laconic.plot import ContributionDisplay, RuleWeightDisplay

X, y = load_breast_cancer(as_frame=True, return_X_y=True)
y = y.map({0: "malignant", 1: "benign"})
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)

model = RuleBoostingClassifier(n_terms=4).fit(X_train, y_train)
print(model)

# %%
# Scores on held-out tumours:
print(f"accuracy {model.score(X_test, y_test):.3f}")
print(f"area under the curve {roc_auc_score(y_test, model.decision_function(X_test)):.3f}")

# %%
# What the terms add; a slope from its lower to its upper end:
display = RuleWeightDisplay.from_estimator(model)
display.ax_.set_title("Effects of four terms")

# %%
# One prediction, from the intercept to the sum:
patient = X_test.iloc[[73]]
print(model.explain(patient)[0])
ContributionDisplay.from_estimator(model, patient)
