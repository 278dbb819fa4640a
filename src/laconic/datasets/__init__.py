"""Tables to try things on, which are computed rather than stored."""

from laconic.datasets.dataset import Dataset
from laconic.datasets.generated import noisy_parity, tic_tac_toe

__all__ = ["Dataset", "noisy_parity", "tic_tac_toe"]
