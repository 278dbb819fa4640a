"""Pictures of rule ensembles, in the manner of scikit-learn's displays.

Each display is made by ``from_estimator``, which computes and draws; ``plot`` draws again, on axes
of your own.
Drawing needs matplotlib: ``pip install "laconic[plot]"``.
"""

from laconic.plot._boxes import RuleBoxDisplay
from laconic.plot._contributions import ContributionDisplay
from laconic.plot._rules import RuleOverlapDisplay, RuleWeightDisplay
from laconic.plot._scores import CrossValidationDisplay, SizeScoreDisplay

__all__ = [
    "ContributionDisplay",
    "CrossValidationDisplay",
    "RuleBoxDisplay",
    "RuleOverlapDisplay",
    "RuleWeightDisplay",
    "SizeScoreDisplay",
]
