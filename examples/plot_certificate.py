"""
How good is the whole model?
============================

That every rule is the best one at its place leaves a question: could other rules together be much
better? A certificate answers it, and anybody can check it.
"""

import matplotlib.pyplot as plt

from laconic import RuleBoostingClassifier
from laconic.datasets import tic_tac_toe

game = tic_tac_toe(backend="pandas")
model = RuleBoostingClassifier(n_rules=10, l2_regularization=10).fit(game.data, game.target)
certificate = model.certificate(game.data, game.target, by_size=True)
print(certificate)

# %%
# The bound is checked by other code than that which found it, in exact arithmetic:
print(certificate.verify(game.data))

# %%
# By size: the model of the first rules, and what no rules get below. Between the two lines lies all
# that better rules could gain.
sizes = range(len(certificate.sizes))
_, axes = plt.subplots(figsize=(6, 3.2), layout="constrained")
axes.plot(sizes, [size.objective for size in certificate.sizes], marker="o", label="the model")
axes.plot(sizes, [size.bound for size in certificate.sizes], label="no rules get below")
axes.set(xlabel="number of rules", ylabel="training objective", ylim=(0, None))
axes.set_title("The model, and what is proven")
axes.legend(frameon=False)
