"""The command that lists rules that are nearly as good as one of a saved model."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from laconic.cli import options, table_file, terminal


def alternatives(
    model: options.Model,
    table: Path,
    /,
    *,
    rule: options.Count | None = None,
    tolerance: options.ShareOrZero = 0.05,
    max_found: options.Count = 10,
    target: str | None = None,
    weight: str | None = None,
    exposure: str | None = None,
    json: options.Flag = False,
    format: options.Format = options.DEFAULT_FORMAT,
) -> None:
    """List all rules that are nearly as good as the best one in the place of a rule.

    Parameters
    ----------
    table : Path
        File that the model was trained on.
    rule : int
        Number of a rule, from 1; all rules if it is not given.
    tolerance : float
        What share of the best gain rules may fall short of.
    max_found : int
        Stop after that many for a rule.
    target : str
        Column that the model predicts; without this option, the one that it was fitted to.
    weight : str
        Column with the weights of the rows; without this option, that of the fit.
    exposure : str
        Column with the exposures of the rows; without this option, that of the fit.
    json : bool
        Write them as JSON, for programs.
    """
    fitted, rows = table_file.model_and_rows(
        "alternatives", model, table, target, weight, exposure, format
    )
    numbers = range(1, len(fitted.ensemble_) + 1) if rule is None else [rule]
    console = terminal.make_console(quiet=json)
    found = []
    with table_file.columns_by_name():
        for number in numbers:
            one = fitted.alternatives(number, **rows, tolerance=tolerance, max_found=max_found)
            found.append(one)
            terminal.print_text(console, f"{one}\n")
    if json:
        terminal.write_json([_plain(asdict(one)) for one in found])


def _plain(entry: dict[str, object]) -> dict[str, object]:
    """Leave conditions to their texts."""
    listed = entry["found"]
    assert isinstance(listed, tuple)
    rules = [{key: value for key, value in one.items() if key != "query"} for one in listed]
    return {**entry, "found": rules}
