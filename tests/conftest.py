"""Fixtures of several folders: the folder of problems, a Dask cluster, and the command line."""

import signal

import pytest
from commands import fit_client, people
from hypothesis import settings

# How long an example takes says more about the machine than about the code.
settings.register_profile("no_deadline", deadline=None)
settings.load_profile("no_deadline")

# A shell without job control starts background jobs with SIGINT ignored, and Python then installs
# no handler: tests of Ctrl-C would wait for ever. Programs that tests start inherit an ignored
# signal, but not a handler, so that they too begin with the default action.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


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


@pytest.fixture
def run(capfd):
    """Run a command in this process: exit code, standard output, standard error."""
    from laconic.cli import main

    def run(*tokens):
        code = main([str(token) for token in tokens])
        out, err = capfd.readouterr()
        assert "Traceback" not in err
        return code, out, err

    return run


@pytest.fixture
def table(tmp_path):
    """File of the table that commands read."""
    path = tmp_path / "people.csv"
    people().write_csv(path)
    return path


@pytest.fixture(scope="session")
def saved_client_model(tmp_path_factory):
    """Content of the file of the model that the command line fits to that table, fitted once."""
    from laconic.cli import main

    folder = tmp_path_factory.mktemp("client")
    people().write_csv(folder / "people.csv")
    tokens = fit_client(folder / "people.csv", "--output", folder / "model.json", "--quiet")
    assert main([str(token) for token in tokens]) == 0
    return (folder / "model.json").read_bytes()


@pytest.fixture
def model(saved_client_model, tmp_path):
    """File of the model that the command line fits to that table."""
    path = tmp_path / "model.json"
    path.write_bytes(saved_client_model)
    return path
