"""Tables to try things on, which are computed rather than stored."""

from laconic.datasets.generated import Dataset, noisy_parity, tic_tac_toe

__all__ = ["Dataset", "noisy_parity", "tic_tac_toe"]
