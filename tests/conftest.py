"""What every test needs: nothing but hypothesis, and the folder of problems for those that ask."""

import pytest
from hypothesis import settings

# How long an example takes says more about the machine than about the code.
settings.register_profile("no_deadline", deadline=None)
settings.load_profile("no_deadline")


@pytest.fixture
def datasets_folder():
    """Folder of benchmark problems: the one named by LACONIC_DATASETS, or a neighbour."""
    # Only here: the packages that the benchmarks import are not needed by other tests.
    from benchmarks.problems import NEIGHBOUR, find_datasets, find_folder

    if find_folder() is None and not NEIGHBOUR.is_dir():
        pytest.skip("needs the folder of benchmark problems: set LACONIC_DATASETS to it")
    return find_datasets()


@pytest.fixture(scope="session")
def dask_client():
    """A Dask cluster of two worker processes, started once."""
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client
