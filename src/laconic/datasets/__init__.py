"""Problems to try things on: generated, bundled with scikit-learn, or read from a folder."""

from laconic.datasets.dataset import Dataset
from laconic.datasets.generated import noisy_parity, tic_tac_toe
from laconic.datasets.paper import DATASET_NAMES, find_folder, load_dataset

__all__ = [
    "DATASET_NAMES",
    "Dataset",
    "find_folder",
    "load_dataset",
    "noisy_parity",
    "tic_tac_toe",
]
