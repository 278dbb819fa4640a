"""How good a rule ensemble is at every size: curves, areas, repeated splits and pictures."""

from laconic.curves import area_scorer, normalized_area, score_curve
from laconic.evaluation.splits import curve_areas, evaluate
from laconic.plot import SplitsScoreDisplay, SplitsTimeDisplay

__all__ = [
    "SplitsScoreDisplay",
    "SplitsTimeDisplay",
    "area_scorer",
    "curve_areas",
    "evaluate",
    "normalized_area",
    "score_curve",
]
