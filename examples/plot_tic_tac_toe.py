"""
Tic-tac-toe: rules that a greedy search does not find
=====================================================

Who has won a finished game of tic-tac-toe? Eight rules, one for each line, describe it completely.
A single field is not very informative, so a greedy search does not find the lines; the exact search
does.
"""

import matplotlib.pyplot as plt
from sklearn.model_selection import train_test_split

from laconic import RuleBoostingClassifier
from laconic.datasets import tic_tac_toe

game = tic_tac_toe(backend="pandas")
X_train, X_test, y_train, y_test = train_test_split(
    game.data, game.target, train_size=0.5, random_state=0
)

models = {
    search: RuleBoostingClassifier(n_terms=8, search=search).fit(X_train, y_train)
    for search in ("optimal", "greedy")
}
print(models["optimal"])

# %%
# Accuracy on held-out games, by number of rules:
_, axes = plt.subplots(figsize=(6, 3), layout="constrained")
for name, model in models.items():
    scores = [
        ((score > 0) == (y_test > 0)).mean() for score in model.staged_decision_function(X_test)
    ]
    axes.plot(range(1, len(scores) + 1), scores, marker="o", label=name)
axes.set(xlabel="number of rules", ylabel="accuracy on new games")
axes.set_title("Optimal and greedy rules")
axes.legend(frameon=False)
