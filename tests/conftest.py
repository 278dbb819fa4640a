"""Fixtures that several test files share."""

import os

import pytest

from benchmarks.problems import NEIGHBOUR, find_datasets


@pytest.fixture
def datasets_folder():
    """Folder of benchmark problems: the one named by LACONIC_DATASETS, or a neighbour."""
    if not os.environ.get("LACONIC_DATASETS") and not NEIGHBOUR.is_dir():
        pytest.skip("needs the folder of benchmark problems: set LACONIC_DATASETS to it")
    return find_datasets()
