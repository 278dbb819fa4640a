"""
How good is the whole model?
============================

That every rule is the best one at its place leaves a question: could other rules together be much
better? A certificate answers it, and anybody can check it.
"""

from laconic import RuleBoostingClassifier
from laconic.datasets import tic_tac_toe

game = tic_tac_toe(backend="pandas")
model = RuleBoostingClassifier(n_rules=10, l2_regularization=10).fit(game.data, game.target)
certificate = model.certificate(game.data, game.target)
print(certificate)

# %%
# The bound is checked by other code than that which found it, in exact arithmetic:
print(certificate.verify(game.data))
