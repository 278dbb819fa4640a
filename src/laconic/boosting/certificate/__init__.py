"""How good a whole ensemble can be: a bound on the best one, and columns that it may be made of.

A relaxed problem, in which the total weight counts instead of the number of terms, is convex. It is
solved over all conjunctions and slopes by column generation, and its solution bounds the loss of
any terms.
"""

from laconic.boosting.certificate.certificate import (
    EnsembleCertificate,
    SizeBound,
    certify,
    column_of,
)
from laconic.boosting.certificate.column_generation import (
    Proof,
    ProofProgress,
    TermColumn,
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
    "SizeBound",
    "TermColumn",
    "TrainingRisk",
    "certify",
    "column_of",
    "describe_proof_progress",
    "lower_bound",
    "prove",
]
