"""Defaults of the estimators, which the command line shows without importing scikit-learn."""

DEFAULT_N_RULES = 10
DEFAULT_L2_REGULARIZATION = 1.0
# The automatic penalty counts as much as this many rows.
PSEUDO_ROWS = 15
# More than people keep in mind; rules that need more mostly fit noise.
DEFAULT_MAX_CONDITIONS = 5
