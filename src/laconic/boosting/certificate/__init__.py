"""How good a whole ensemble can be: a bound on the best one, and columns that it may be made of.

A relaxed problem, in which the total weight counts instead of the number of rules, is convex. It is
solved over all conjunctions through a few of them, and its solution bounds what any rules achieve.
"""

from __future__ import annotations

from laconic.boosting.certificate.certificate import EnsembleCertificate, Evidence, Size, certify
from laconic.boosting.certificate.column_generation import (
    Proof,
    RelaxationProgress,
    describe_proof,
    prove,
)
from laconic.boosting.certificate.comparison_class import (
    Bound,
    ComparisonClass,
    EnsemblesOfSize,
    EnsemblesOfWeight,
    lower_bound,
)
from laconic.boosting.certificate.pricing import Column
from laconic.boosting.certificate.risk import TrainingRisk

__all__ = [
    "Bound",
    "Column",
    "ComparisonClass",
    "EnsembleCertificate",
    "EnsemblesOfSize",
    "EnsemblesOfWeight",
    "Evidence",
    "Proof",
    "RelaxationProgress",
    "Size",
    "TrainingRisk",
    "certify",
    "describe_proof",
    "lower_bound",
    "prove",
]
