"""How good a whole ensemble can be: a bound on the best one, and columns that it may be made of.

A relaxed problem, in which the total weight counts instead of the number of rules, is convex. It is
solved over all conjunctions through a few of them, and its solution bounds what any rules achieve.
"""

from __future__ import annotations

from laconic.relaxation.certificate import EnsembleCertificate, Evidence, Size, certify
from laconic.relaxation.generation import Proof, RelaxationProgress, describe_proof, prove
from laconic.relaxation.pricing import Column
from laconic.relaxation.risk import TrainingRisk
from laconic.relaxation.rivals import Bound, Rivals, SameRules, SameWeight, lower_bound

__all__ = [
    "Bound",
    "Column",
    "EnsembleCertificate",
    "Evidence",
    "Proof",
    "RelaxationProgress",
    "Rivals",
    "SameRules",
    "SameWeight",
    "Size",
    "TrainingRisk",
    "certify",
    "describe_proof",
    "lower_bound",
    "prove",
]
