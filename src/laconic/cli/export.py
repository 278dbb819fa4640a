"""The command that writes a saved model in a form that other programs read."""

from __future__ import annotations

import json as json_format
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import cyclopts

from laconic.cli import columns, files, inputs, options, screen
from laconic.cli.exits import CommandError

# Imported when a command needs it: it takes long.
if TYPE_CHECKING:
    from laconic.explain.rule_model import RuleModel

__all__ = ["export"]

Target: TypeAlias = Literal["json", "sql", "python", "javascript", "onnx", "pmml", "scorecard"]

# Options that mean something for one form only.
_FORM_OF = {
    "--dialect": "sql",
    "--table": "sql",
    "--keep": "sql",
    "--rule-columns": "sql",
    "--max-points": "scorecard",
    "--data": "scorecard",
    "--target": "scorecard",
    "--json": "scorecard",
}


def export(
    model: options.Model,
    /,
    *,
    to: Target,
    output: Path | None = None,
    dialect: str | None = None,
    table: str | None = None,
    keep: options.Names = (),
    rule_columns: options.Flag = False,
    max_points: options.CountOrNone = None,
    data: Path | None = None,
    target: str | None = None,
    missing: options.Texts = columns.DEFAULT_MISSING,
    json: options.Flag = False,
) -> None:
    """Write a saved model in a form that other programs read.

    What is written predicts what the model predicts; a scorecard, which rounds, says what that
    costs.

    Parameters
    ----------
    to : str
        "json" for the model as it is saved, "sql" for an expression or a SELECT, "python" and
        "javascript" for a function without dependencies, "onnx" for a graph, "pmml" for a document,
        "scorecard" for whole points.
    output : Path
        File to write, instead of the standard output.
    dialect : str
        With --to sql: postgres, duckdb, sqlite, bigquery, snowflake or another of sqlglot.
    table : str
        With --to sql: the table to select from. Without it, the raw prediction is written as an
        expression.
    keep : tuple of str
        With --to sql and --table: columns of the table to select besides, instead of all.
    rule_columns : bool
        With --to sql and --table: add a column per rule, 1 where it covers a row.
    max_points : int
        With --to scorecard: largest number of points of a rule, 10 if not given.
    data : Path
        With --to scorecard: CSV, TSV or Parquet file of rows to measure the cost of rounding on.
    target : str
        With --data: the column that is predicted.
    missing : tuple of str
        With --data: texts that mean a missing cell in CSV and TSV files, besides no text at all.
    json : bool
        With --to scorecard: write JSON instead of text.
    """
    given = {
        "--dialect": dialect is not None,
        "--table": table is not None,
        "--keep": bool(keep),
        "--rule-columns": rule_columns,
        "--max-points": max_points is not None,
        "--data": data is not None,
        "--target": target is not None,
        "--json": json,
    }
    _check_call(to, given)
    if output is not None:
        files.check_destination(output, [model, *([data] if data else [])])
    elif to == "onnx" and sys.stdout.isatty():
        raise cyclopts.CycloptsError(
            msg="ONNX is a binary format. Name a file to write with --output."
        )
    fitted = files.load_model(model)
    sql: dict[str, Any] = {"dialect": dialect, "table": table, "rule_columns": rule_columns}
    if keep:
        sql["keep"] = list(keep)
    card: dict[str, Any] = {} if max_points is None else {"max_points": max_points}
    if data is not None and target is not None:
        card["X"], card["y"] = inputs.TableFile(data, missing).rows(fitted, target)
    try:
        content = _content(fitted, to, sql=sql, card=card, as_json=json)
    except ImportError as error:
        raise CommandError(str(error)) from None
    if output is not None:
        output.write_bytes(content)
    elif to == "onnx":
        sys.stdout.buffer.write(content)
    else:
        screen.write_text(content.decode())


def _check_call(to: Target, given: dict[str, bool]) -> None:
    for option, is_given in given.items():
        if is_given and _FORM_OF[option] != to:
            raise cyclopts.CycloptsError(
                msg=f"{option} goes with --to {_FORM_OF[option]}. Got --to {to}. Leave it out."
            )
    if to == "sql" and not given["--dialect"]:
        raise cyclopts.CycloptsError(
            msg="--to sql needs --dialect, such as postgres, duckdb, sqlite or bigquery."
        )
    for option in ("--keep", "--rule-columns"):
        if given[option] and not given["--table"]:
            raise cyclopts.CycloptsError(msg=f"{option} needs --table, to select from.")
    if given["--data"] != given["--target"]:
        raise cyclopts.CycloptsError(msg="--data and --target go together. Give both or none.")


def _content(
    model: RuleModel, to: Target, *, sql: dict[str, Any], card: dict[str, Any], as_json: bool
) -> bytes:
    # It takes longer to import than most commands should.
    from laconic import export as exports

    match to:
        case "onnx":
            return bytes(exports.to_onnx(model).SerializeToString())
        case "sql":
            text = exports.to_sql(model, **sql) + "\n"
        case "scorecard":
            scorecard = exports.to_scorecard(model, **card)
            text = (
                json_format.dumps(scorecard.to_dict(), ensure_ascii=False, indent=2)
                if as_json
                else str(scorecard)
            ) + "\n"
        case "json":
            text = exports.to_json(model)
        case "python":
            text = exports.to_python(model)
        case "pmml":
            text = exports.to_pmml(model)
        case "javascript":
            text = exports.to_javascript(model)
    return text.encode()
