"""The command that writes a saved model for other programs."""

from __future__ import annotations

import json as json_format
import sys
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import cyclopts

from laconic._util.files import write_whole
from laconic.cli import files, options, table_file, terminal
from laconic.cli.terminal import CommandError

if TYPE_CHECKING:
    from laconic.models.rule_model import RuleModel

Form: TypeAlias = Literal["json", "sql", "python", "javascript", "onnx", "pmml", "scorecard"]


@cyclopts.Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class SqlOptions:
    """Options of --to sql.

    Parameters
    ----------
    dialect : str
        With --to sql: postgres, duckdb, sqlite, bigquery, snowflake or another dialect of sqlglot.
    table : str
        With --to sql: the table to select from. Without it, an expression for the raw prediction is
        written.
    keep : tuple of str
        With --to sql and --table: columns of the table to select; by default, all.
    term_columns : bool
        With --to sql and --table: add a column per term, 1 where it covers a row.
    """

    dialect: str | None = None
    table: str | None = None
    keep: options.Names = ()
    term_columns: options.Flag = False


@cyclopts.Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class ScorecardOptions:
    """Options of --to scorecard.

    Parameters
    ----------
    max_points : int
        With --to scorecard: largest number of points of a term; by default, 10.
    data : Path
        With --to scorecard: file with rows, to measure the effect of rounding.
    target : str
        With --data: the column that is predicted; by default, the target of the fit.
    json : bool
        With --to scorecard: write JSON instead of text.
    """

    max_points: options.CountOrNone = None
    data: options.Place | None = None
    target: str | None = None
    json: options.Flag = False


_SQL, _SCORECARD = SqlOptions(), ScorecardOptions()


def export(
    model: options.Model,
    /,
    *,
    to: Form,
    output: options.Output = None,
    sql: SqlOptions = _SQL,
    scorecard: ScorecardOptions = _SCORECARD,
    format: options.Format = options.DEFAULT_FORMAT,
) -> None:
    """Write a saved model for other programs: SQL, Python, JavaScript, ONNX, PMML, a scorecard.

    The exported model makes the same predictions. A scorecard rounds the weights to whole points,
    and shows the effect of that.

    Parameters
    ----------
    to : str
        "json" for the model as it is saved, "sql" for an expression or a SELECT, "python" and
        "javascript" for a function without dependencies, "onnx" for a graph, "pmml" for a document,
        "scorecard" for whole points.
    output : Path
        File to write, instead of the standard output.
    """
    _check_call(to, sql=sql, scorecard=scorecard)
    data = scorecard.data
    if output is not None:
        files.check_destination(output, [model] if data is None else [model, data])
    elif to == "onnx" and sys.stdout.isatty():
        raise cyclopts.CycloptsError(
            msg="ONNX is a binary format. Name a file to write with --output."
        )
    fitted = files.load_model(model)
    rows = None if data is None else table_file.TableFile(data, format)
    try:
        content = _content(fitted, to, sql, scorecard, rows)
    except ImportError as error:
        raise CommandError(str(error)) from None
    if output is not None:
        write_whole(output, content)
    elif to == "onnx":
        sys.stdout.buffer.write(content)
    else:
        terminal.write_text(content.decode())


def _check_call(to: Form, **options_of: SqlOptions | ScorecardOptions) -> None:
    """Refuse options that do not apply to a form, or that need another option."""
    given = set()
    for form, values in options_of.items():
        for field in fields(values):
            if getattr(values, field.name) == field.default:
                continue
            option = f"--{field.name.replace('_', '-')}"
            if form != to:
                raise cyclopts.CycloptsError(
                    msg=f"{option} needs --to {form}. Got --to {to}. Leave it out."
                )
            given.add(option)
    if to == "sql" and "--dialect" not in given:
        raise cyclopts.CycloptsError(
            msg="--to sql needs --dialect, such as postgres, duckdb, sqlite or bigquery."
        )
    for option in ("--keep", "--term-columns"):
        if option in given and "--table" not in given:
            raise cyclopts.CycloptsError(msg=f"{option} needs --table, to select from.")
    if "--target" in given and "--data" not in given:
        raise cyclopts.CycloptsError(msg="--target needs --data, the rows to measure on.")


def _content(
    model: RuleModel,
    to: Form,
    sql: SqlOptions,
    scorecard: ScorecardOptions,
    rows: table_file.TableFile | None,
) -> bytes:
    from laconic import export as exports

    match to:
        case "onnx":
            return bytes(exports.to_onnx(model).SerializeToString())
        case "sql":
            text = exports.to_sql(model, **asdict(sql) | {"keep": list(sql.keep) or None}) + "\n"
        case "scorecard":
            card: dict[str, Any] = {}
            if scorecard.max_points is not None:
                card["max_points"] = scorecard.max_points
            if rows is not None:
                target = table_file.target_of(model, scorecard.target)
                card["X"], card["y"] = rows.rows(model, target)
            made = exports.to_scorecard(model, **card)
            content = json_format.dumps(made.to_dict(), ensure_ascii=False, indent=2)
            text = (content if scorecard.json else str(made)) + "\n"
        case "json" | "python" | "javascript" | "pmml":
            text = getattr(exports, f"to_{to}")(model)
    return text.encode()
