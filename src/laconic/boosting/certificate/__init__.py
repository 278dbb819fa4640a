"""How good a whole ensemble can be: a bound on the best one, and columns that it may be made of.

A relaxed problem, in which the total weight counts instead of the number of rules, is convex. It is
solved over all conjunctions by column generation, and its solution bounds the loss of any rules.
"""

from laconic.boosting.certificate.certificate import (
    EnsembleCertificate,
    SizeBound,
    certify,
)
from laconic.boosting.certificate.column_generation import (
    Proof,
    ProofProgress,
    RuleColumn,
    describe_proof_progress,
    prove,
)
from laconic.boosting.certificate.comparison_class import (
    ComparisonClass,
    EnsemblesOfSize,
    EnsemblesOfWeight,
    lower_bound,
)
from laconic.boosting.certificate.risk import TrainingRisk

__all__ = [
    "ComparisonClass",
    "EnsembleCertificate",
    "EnsemblesOfSize",
    "EnsemblesOfWeight",
    "Proof",
    "ProofProgress",
    "RuleColumn",
    "SizeBound",
    "TrainingRisk",
    "certify",
    "describe_proof_progress",
    "lower_bound",
    "prove",
]
