"""Pictures of rule ensembles, in the manner of scikit-learn's displays.

Each display is made by ``from_estimator``, which computes and draws; ``plot`` draws again, on axes
of your own.
Drawing needs matplotlib: ``pip install "laconic[plot]"``.
"""

from laconic.plot._boxes import RuleBoxDisplay
from laconic.plot._contributions import ContributionDisplay
from laconic.plot._cross_validation import CrossValidationDisplay
from laconic.plot._overlap import RuleOverlapDisplay
from laconic.plot._size_score import SizeScoreDisplay
from laconic.plot._weights import RuleWeightDisplay

__all__ = [
    "ContributionDisplay",
    "CrossValidationDisplay",
    "RuleBoxDisplay",
    "RuleOverlapDisplay",
    "RuleWeightDisplay",
    "SizeScoreDisplay",
]
