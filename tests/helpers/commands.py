"""What the tests of the command line share: a table, and how commands are called and refuse."""

import sys

import numpy as np

PROGRAM = [sys.executable, "-c", "import sys; from laconic.cli import main; sys.exit(main())"]


def refused(result, *parts):
    """Check that a command failed with a message and nothing else."""
    code, out, err = result
    assert (code, out) == (1, "")
    assert err.startswith("error: ")
    for part in parts:
        assert part in err
    return True


def pretend_terminal(monkeypatch, n_columns=60):
    """Let commands believe that the standard output is a terminal."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", str(n_columns))
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)


def people(n_rows=80, seed=0):
    import polars as pl  # does not start under the sanitizer of threads

    generator = np.random.default_rng(seed)
    frame = pl.DataFrame(
        {
            "age": generator.integers(18, 90, size=n_rows),
            "[red]plan": generator.choice(["basic", "plus", None], size=n_rows).tolist(),
            "income": generator.normal(50, 10, size=n_rows),
            "weight": generator.integers(1, 4, size=n_rows),
        }
    )
    is_client = (frame["age"] > 40) & (frame["income"] > 45)
    return frame.with_columns(
        client=pl.Series(np.where(is_client, "yes", "no")),
        spent=pl.Series(np.where(is_client, 10.0, 1.0) + generator.normal(size=n_rows)),
    )


def write_with_commas(frame, path, separator):
    """Write a text file in which commas are decimal signs."""
    import polars as pl

    floats = pl.selectors.float().cast(pl.String).str.replace(".", ",", literal=True)
    frame.with_columns(floats).write_csv(path, separator=separator)


def fit_client(table, *options):
    return ["fit", table, "--target", "client", "--drop", "spent", "weight", *options]
