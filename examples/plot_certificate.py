"""
Certificate for a whole model
=============================

Every rule of a model is the best one at its place, but another set of rules could be better. A
certificate bounds how much better, and can be verified independently.
"""

import matplotlib.pyplot as plt

from laconic import RuleBoostingClassifier
from laconic.datasets import tic_tac_toe

game = tic_tac_toe(backend="pandas")
model = RuleBoostingClassifier(n_terms=10, l2_regularization=10).fit(game.data, game.target)
certificate = model.certificate(game.data, game.target, by_size=True)
print(certificate)

# %%
# `verify` checks the bound in exact arithmetic. It shares no code with the search:
print(certificate.verify(game.data))

# %%
# The training objective of the first rules, and the lower bound for as many rules. Better rules
# could gain at most the difference.
sizes = range(len(certificate.sizes))
_, axes = plt.subplots(figsize=(6, 3.2), layout="constrained")
axes.plot(sizes, [size.objective for size in certificate.sizes], marker="o", label="model")
axes.plot(sizes, [size.bound for size in certificate.sizes], label="lower bound for any rules")
axes.set(xlabel="number of terms", ylabel="training objective", ylim=(0, None))
axes.set_title("Objective of the model and lower bound")
axes.legend(frameon=False)
