"""What rules may be made of, and which weights they may have, as users say it."""

from laconic.constraints.constraints import Constraints
from laconic.constraints.reading import CONSTRAINTS, check_constraint, read_constraints

__all__ = ["CONSTRAINTS", "Constraints", "check_constraint", "read_constraints"]
