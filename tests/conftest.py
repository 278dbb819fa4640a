"""Fixtures that several test files share."""

import os
from pathlib import Path

import pytest


@pytest.fixture
def datasets_folder():
    """Folder of benchmark problems: the one named by LACONIC_DATASETS, or a neighbour."""
    named = os.environ.get("LACONIC_DATASETS")
    if named:
        return Path(named)
    neighbour = Path(__file__).parents[2] / "shared" / "datasets"
    if not neighbour.is_dir():
        pytest.skip("needs the folder of benchmark problems: set LACONIC_DATASETS to it")
    return neighbour
