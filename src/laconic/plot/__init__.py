"""Plots of rule ensembles, with the interface of scikit-learn's displays.

Each display is made by ``from_estimator``, which computes and draws; ``plot`` draws again, on other
axes.
Drawing needs matplotlib: ``pip install "laconic[plot]"``.
"""

from laconic.plot._boxes import RuleBoxDisplay
from laconic.plot._rules import ContributionDisplay, RuleOverlapDisplay, RuleWeightDisplay
from laconic.plot._scores import CrossValidationDisplay, SizeScoreDisplay

__all__ = [
    "ContributionDisplay",
    "CrossValidationDisplay",
    "RuleBoxDisplay",
    "RuleOverlapDisplay",
    "RuleWeightDisplay",
    "SizeScoreDisplay",
]
