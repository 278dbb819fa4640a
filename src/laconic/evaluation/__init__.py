"""How good a rule ensemble is at every size: curves, areas, repeated splits and pictures."""

from laconic.evaluation.curves import area_scorer, normalized_area, score_curve
from laconic.evaluation.displays import SizeScoreDisplay, SizeTimeDisplay
from laconic.evaluation.splits import curve_areas, evaluate

__all__ = [
    "SizeScoreDisplay",
    "SizeTimeDisplay",
    "area_scorer",
    "curve_areas",
    "evaluate",
    "normalized_area",
    "score_curve",
]
