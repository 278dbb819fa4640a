"""What the proof of a model does not say: chance, effects on unseen rows, stability, intervals.

A term is the best one for its training rows. Each file here answers one further question, by a
function that takes training data or a way to fit again, and returns an answer: a dataclass of plain
values, which says of itself what it is in words. `Trust` holds the answers that a model keeps.
"""

from laconic.trust.answers import Trust
from laconic.trust.chance import Chance, ChanceProgress, TermChance
from laconic.trust.effects import Effect, Effects, estimate_effects, refit_to
from laconic.trust.fingerprint import Fingerprint, fingerprint, fingerprint_of, hash_rows
from laconic.trust.intervals import Intervals
from laconic.trust.stability import (
    FeatureStability,
    Stability,
    StabilityProgress,
    TermStability,
)

__all__ = [
    "Chance",
    "ChanceProgress",
    "Effect",
    "Effects",
    "FeatureStability",
    "Fingerprint",
    "Intervals",
    "Stability",
    "StabilityProgress",
    "TermChance",
    "TermStability",
    "Trust",
    "estimate_effects",
    "fingerprint",
    "fingerprint_of",
    "hash_rows",
    "refit_to",
]
