"""Fixtures of the command line: how to call it, a table, and a model of that table."""

import pytest

from cli.commands import fit_client, people
from laconic.cli import main


@pytest.fixture
def run(capfd):
    """Run a command in this process: exit code, standard output, standard error."""

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


@pytest.fixture
def model(table, tmp_path, run):
    """File of the model that the command line fits to that table."""
    path = tmp_path / "model.json"
    code, *_ = run(*fit_client(table, "--model", path, "--quiet"))
    assert code == 0
    return path
