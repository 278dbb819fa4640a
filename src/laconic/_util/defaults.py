"""Defaults of the estimators, which the command line shows without importing scikit-learn."""

from typing import Final

DEFAULT_N_RULES = 10
DEFAULT_STRATEGY: Final = "joint"
DEFAULT_L2_REGULARIZATION: Final = "auto"
# The automatic penalty counts as much as this many rows.
PSEUDO_ROWS = 10
# What people keep in mind; longer rules are no better of the same size of the model.
DEFAULT_MAX_CONDITIONS = 3
