"""Models as SQL statements in any dialect that sqlglot writes, run in SQLite and DuckDB."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from importlib.util import find_spec
from typing import Any, Literal, TypeAlias

import numpy as np

from laconic._util.optional import import_extra
from laconic.export.edge_rows import Outputs, check_outputs, edge_rows, expected_outputs
from laconic.export.portable import PortableModel, portable_model
from laconic.export.sql.terms import SqlTerms, quoted_column, sqlglot
from laconic.models import RuleModel
from laconic.tables.times import MOMENTS

# All but tabs and line breaks.
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")

# Dialects in which names of tables are case sensitive, but those of columns are not.
_FOLDS_COLUMNS = frozenset({"doris", "mysql", "singlestore", "starrocks"})

SqlOutput: TypeAlias = Literal["raw_prediction", "probability", "prediction", "lower", "upper"]


def to_sql(
    model: RuleModel,
    dialect: str,
    *,
    table: str | None = None,
    keep: Sequence[str] | None = None,
    term_columns: bool = False,
    output: SqlOutput = "raw_prediction",
    columns: Mapping[str, str] | None = None,
) -> str:
    """Write a fitted model as SQL.

    Before it is returned, the statement is run on edge rows and compared with the model: in
    SQLite for every dialect, and for DuckDB in DuckDB itself where that is installed. It is also
    parsed again, to make sure that every name and every text is whole.

    Parameters
    ----------
    model : RuleModel
        Fitted, with one of the named losses.
    dialect : str
        A dialect of sqlglot, such as "postgres", "duckdb", "sqlite", "bigquery" or "snowflake".
    table : str or None, default=None
        Table to select from, written as in this dialect. None gives an expression to be put into a
        statement.
    keep : sequence of str or None, default=None
        Columns of the table to select as well; None for all of them. Only with a table. With names
        the statement is shorter: raw predictions are written once.
    term_columns : bool, default=False
        Whether to add the columns term_1, term_2, ..., which are 1 where a rule covers the row or
        the row is above the lower end of a slope, and 0 elsewhere. Only with a table.
    output : {"raw_prediction", "probability", "prediction", "lower", "upper"}, \
            default="raw_prediction"
        The value of an expression. A SELECT has all of them as columns; probabilities, which only
        a classifier has, are those of the second class. With three or more classes it has
        raw_prediction_1, probability_1 and so on, in their order. A model that was calibrated by
        `conformalize` has lower and upper, the ends of an interval, NULL where there is no bound;
        for classes a SELECT has in_set_1, in_set_2 and so on, which are 1 or 0.
    columns : mapping of str to str or None, default=None
        Names in the database, for features that have other names there.

    Returns
    -------
    sql : str
        A SELECT or an expression, without a semicolon.

    Notes
    -----
    Columns of the model come last, also if the table has columns of the same names, which `keep`
    can leave out. Names are quoted. Columns of numbers are cast to double precision, so that
    integers beyond 2**53 are rounded as they are here. NULL and NaN are missing values; in a column
    of which rules only use whether it has a value, only NULL is. Infinities, which `predict`
    refuses, compare as numbers. Text compares by the collation of the column, which must be case
    sensitive. Dates with a time zone are converted to that of the session, which must be UTC; in
    SQLite they are texts such as 2024-03-01 or 2024-03-01 12:30:00, without a time zone.

    Examples
    --------
    >>> from laconic import RuleBoostingRegressor
    >>> model = RuleBoostingRegressor(1, l2_regularization=0, fit_intercept=False, brevity=0)
    >>> model = model.fit([[1], [2], [3], [4]], [5, 5, 0, 0])
    >>> print(to_sql(model, "sqlite", columns={"x0": "dose"}))
    CASE WHEN CAST("dose" AS REAL) <= 2 THEN 5.0 ELSE 0 END
    """
    portable = portable_model(model)
    dialect = _checked_dialect(dialect)
    if table is None and portable.ensemble.outputs:
        raise ValueError(
            "An expression has one value, and a model of three or more classes has several. Name a "
            "'table' to select from."
        )
    _check_options(portable, table, keep, term_columns, output)
    columns = _checked_columns(portable, columns or {}, dialect)
    terms = SqlTerms(portable, dialect, columns)
    if table is None:
        tree = _expression(terms, output)
    else:
        tree = _select(terms, _parsed_table(table, dialect), keep, term_columns)
    sql = _written(tree, dialect)
    _check_in_databases(model, portable, dialect, keeps_all=table is not None and keep is None)
    return sql


def _expression(terms: SqlTerms, output: SqlOutput) -> Any:
    raw_prediction = terms.raw_prediction()
    if output == "raw_prediction":
        return raw_prediction
    if output in ("lower", "upper"):
        return terms.intervals([raw_prediction])[output]
    return (terms.mean if output == "probability" else terms.prediction)(raw_prediction)


def _select(terms: SqlTerms, table: Any, keep: Sequence[str] | None, term_columns: bool) -> Any:
    """Select columns of a table, raw predictions, terms, probabilities and predictions.

    If all columns of a table are kept, their names are unknown and may be those of ours. Raw
    predictions are then written again wherever they are needed, instead of by name; next to
    columns with known names, they are computed once.
    """
    terms = terms.within(_name_of(table))
    raw = terms.raw_predictions()
    computed = [*raw.items(), *(terms.terms().items() if term_columns else ())]
    if keep is not None:
        return _select_kept(terms, table, keep, computed, len(raw))
    exp = sqlglot().exp
    star = exp.Column(this=exp.Star(), table=_name_of(table).copy())
    derived = terms.derived([*raw.values()])
    return exp.select(star, *_aliases([*computed, *derived.items()])).from_(table)


def _select_kept(
    terms: SqlTerms,
    table: Any,
    keep: Sequence[str],
    computed: Sequence[tuple[str, Any]],
    n_raw: int,
) -> Any:
    """Select named columns and computed ones, the first of which are raw predictions."""
    exp = sqlglot().exp
    kept = [(name, quoted_column(name, _name_of(table))) for name in keep]
    names, trees = zip(*kept, *computed, strict=True)
    inner = _distinct(names)
    scored = exp.select(*_aliases(zip(inner, trees, strict=True))).from_(table).subquery("scored")
    columns = [quoted_column(name, _name_of(scored)) for name in inner]
    derived = terms.derived(columns[len(kept) : len(kept) + n_raw])
    outer = [*zip(names, columns, strict=True), *derived.items()]
    return exp.select(*_aliases(outer)).from_(scored)


def _aliases(columns: Iterable[tuple[str, Any]]) -> list[Any]:
    return [sqlglot().exp.alias_(tree, name, quoted=True) for name, tree in columns]


def _distinct(names: Sequence[str]) -> list[str]:
    """Change names that differ from an earlier one by case only, or not at all."""
    distinct: list[str] = []
    for name in names:
        while name.casefold() in map(str.casefold, distinct):
            name += "_"
        distinct.append(name)
    return distinct


def _name_of(source: Any) -> Any:
    """Return the name of a table or a subquery that qualifies its columns."""
    return (source.args.get("alias") or source).this


def _written(tree: Any, dialect: str) -> str:
    # Some releases of sqlglot change names with line breaks when they indent.
    for pretty in (True, False):
        try:
            sql = tree.sql(dialect, pretty=pretty, unsupported_level=sqlglot().ErrorLevel.RAISE)
        except sqlglot().errors.SqlglotError as error:
            raise ValueError(
                f"The model cannot be written in the dialect {dialect!r}: {error} Choose another."
            ) from None
        _check_controls(sql)
        if _is_whole(sql, tree, dialect):
            return str(sql)
    raise ValueError(
        f"The dialect {dialect!r} must allow every column name and category of the model. The "
        "statement differs when it is parsed again. Rename what has unusual characters, or choose "
        "another dialect."
    )


def _check_controls(sql: str) -> None:
    """Refuse characters that control a terminal."""
    found = _CONTROL.search(sql)
    if found is not None:
        raise ValueError(
            "A model for a database must have no control characters in its column names and "
            f"categories, besides tabs and line breaks. Got U+{ord(found[0]):04X}. Rename what has "
            "them."
        )


def _is_whole(sql: str, tree: Any, dialect: str) -> bool:
    """Check that a statement parses to the names and texts of the tree, and to no other one."""
    exp = sqlglot().exp
    text = sql if isinstance(tree, exp.Select) else f"SELECT {sql}"
    try:
        statements = sqlglot().parse(text, dialect=dialect)
    except sqlglot().errors.SqlglotError:
        return False
    return len(statements) == 1 and all(
        {node.name for node in statements[0].find_all(kind)}
        == {node.name for node in tree.find_all(kind)}
        for kind in (exp.Column, exp.Literal, exp.Table)
    )


def _check_in_databases(
    model: RuleModel, portable: PortableModel, dialect: str, *, keeps_all: bool
) -> None:
    rows = edge_rows(portable)
    expected = expected_outputs(model, rows)
    runs = {"sqlite": ("SQLite", run_sqlite)}
    if dialect == "duckdb" and find_spec("duckdb") is not None:
        runs["duckdb"] = ("DuckDB", run_duckdb)
    for name, (database, run) in runs.items():
        actual = run(portable, select_for_checks(portable, name, keeps_all=keeps_all), rows)
        check_outputs(f"SQL (run in {database})", rows, expected, actual)


def select_for_checks(portable: PortableModel, dialect: str, *, keeps_all: bool = False) -> str:
    """Return a SELECT from the table of edge rows."""
    terms = SqlTerms(portable, dialect, column_names(portable))
    keep = None if keeps_all else [KEY]
    return _written(_select(terms, _parsed_table(TABLE, dialect), keep, True), dialect)


def _checked_dialect(dialect: Any) -> str:
    known = sorted(name for name in sqlglot().Dialect.classes if name)
    if dialect not in known:
        raise ValueError(
            f"The 'dialect' must be one of {', '.join(known)}. Got {dialect!r} instead."
        )
    return str(dialect)


def _parsed_table(table: str, dialect: str) -> Any:
    try:
        # A text that is not a name in this dialect becomes a quoted one.
        tree = sqlglot().exp.to_table(table, dialect=dialect)
        is_name = all(isinstance(part, sqlglot().exp.Identifier) for part in tree.parts)
    except (sqlglot().errors.SqlglotError, ValueError):
        is_name = False
    if not is_name:
        raise ValueError(
            f"The 'table' must be the name of a table as in the dialect {dialect!r}. Got "
            f'{table!r} instead. Quote it as there, for example as schema."My table".'
        )
    return tree


def _check_options(
    portable: PortableModel,
    table: str | None,
    keep: Sequence[str] | None,
    term_columns: bool,
    output: str,
) -> None:
    if table is None and (keep is not None or term_columns):
        raise ValueError(
            "An expression has no columns: 'keep' and 'term_columns' need a 'table' to select "
            "from. Got table=None. Name a table, or leave them out."
        )
    if isinstance(keep, str):
        raise TypeError(f"'keep' must be a list of column names. Got {keep!r}. Use [{keep!r}].")
    outputs = ["raw_prediction", "prediction"]
    if portable.classes is not None:
        outputs.insert(1, "probability")
    elif portable.intervals is not None:
        outputs += ["lower", "upper"]
    if output not in outputs:
        raise ValueError(
            f"The 'output' of this model must be one of {', '.join(map(repr, outputs))}. "
            f"Got {output!r} instead."
        )


def _checked_columns(
    portable: PortableModel, columns: Mapping[str, str], dialect: str
) -> Mapping[str, str]:
    for name in columns:
        if name not in portable.feature_names:
            raise ValueError(
                "The keys of 'columns' must be features of the model. "
                f"Got {name!r}, which is none. Check the spelling."
            )
    names = dict.fromkeys(columns.get(name, name) for name in portable.kinds)
    if _folds_case(dialect):
        _check_case(names, dialect)
    for text in [*names, *portable.texts]:
        if "\0" in text:
            raise ValueError(
                f"SQL cannot contain the character NUL. Got {text!r}. Fit the model without it."
            )
    return columns


def _folds_case(dialect: str) -> bool:
    """Check whether names of columns are not case sensitive."""
    strategy = sqlglot().Dialect.get_or_raise(dialect).NORMALIZATION_STRATEGY
    return dialect in _FOLDS_COLUMNS or strategy.name.startswith("CASE_INSENSITIVE")


def _check_case(names: Iterable[str], dialect: str) -> None:
    seen: dict[str, str] = {}
    for name in names:
        other = seen.setdefault(name.lower(), name)
        if other != name:
            raise ValueError(
                f"The columns of a table in the dialect {dialect!r} must differ by more than upper "
                f"and lower case. Got {other!r} and {name!r}. Name one of them as it is called "
                f"there, such as columns={{{name!r}: {name + '_2'!r}}}."
            )


TABLE = "edge"
KEY = "number"

_DUCKDB_TYPES = {
    "number": "DOUBLE",
    "boolean": "BOOLEAN",
    "text": "VARCHAR",
    "date": "TIMESTAMP",
    "time": "TIME",
    "any": "DOUBLE",
}


def column_names(portable: PortableModel) -> dict[str, str]:
    """Return names for the columns of the edge rows that differ by more than case."""
    return {name: f"column {position}" for position, name in enumerate(portable.kinds)}


def run_sqlite(portable: PortableModel, select: str, rows: Sequence[dict[str, Any]]) -> Outputs:
    """Run a SELECT with the key and a column per term in SQLite."""
    names = column_names(portable)
    declared = ", ".join([KEY, *(f'"{name}"' for name in names.values())])
    marks = ", ".join("?" * (len(names) + 1))
    cells = [
        [number, *(_sqlite_cell(row[name]) for name in names)] for number, row in enumerate(rows)
    ]
    connection = sqlite3.connect(":memory:")
    try:
        connection.execute(f"CREATE TABLE {TABLE} ({declared})")
        connection.executemany(f"INSERT INTO {TABLE} VALUES ({marks})", cells)
        return select_outputs(portable, connection.execute(f"{select} ORDER BY 1"))
    finally:
        connection.close()


def _sqlite_cell(cell: Any) -> Any:
    return str(cell) if isinstance(cell, MOMENTS) else cell


def run_duckdb(portable: PortableModel, select: str, rows: Sequence[dict[str, Any]]) -> Outputs:
    """Run a SELECT with the key and a column per term in DuckDB."""
    types = {name: _DUCKDB_TYPES[kind] for name, kind in portable.kinds.items()}
    names = column_names(portable)
    declared = ", ".join(f'"{names[name]}" {types[name]}' for name in names)
    # In some releases, NaN in a list of numbers becomes NULL, so numbers are texts.
    marks = ", ".join(
        f"unnest(?::VARCHAR[])::{kind}" if kind == "DOUBLE" else f"unnest(?::{kind}[])"
        for kind in ("INTEGER", *types.values())
    )
    lists = [list(range(len(rows))), *([row[name] for row in rows] for name in names)]
    for cells in lists[1:]:
        cells[:] = (str(cell) if isinstance(cell, int | float) else cell for cell in cells)
    with import_extra("duckdb", "sql", "To run SQL in DuckDB").connect() as connection:
        connection.execute(f"CREATE TABLE {TABLE} ({KEY} INTEGER, {declared})")
        connection.execute(f"INSERT INTO {TABLE} SELECT {marks}", lists)
        return select_outputs(portable, connection.execute(f"{select} ORDER BY 1").fetchall())


def select_outputs(portable: PortableModel, fetched: Iterable[Sequence[Any]]) -> Outputs:
    """Return outputs from rows that end in raw predictions, terms, probabilities and prediction."""
    n_classes, n_terms = len(portable.ensemble.outputs), portable.ensemble.n_terms
    n_shares, results = n_classes or int(portable.classes is not None), list(fetched)
    intervals = None
    if portable.intervals is not None:
        n_added = len(portable.classes or (0, 1))
        intervals = _read_intervals(portable, [row[-n_added:] for row in results])
        results = [row[:-n_added] for row in results]

    def numbers(n: int, n_after: int) -> Any:
        found = [row[-n_after - n : -n_after] for row in results]
        return np.array(found, dtype=float).reshape(len(results), n)

    raw = numbers(n_classes or 1, n_terms + n_shares + 1)
    shares = numbers(n_shares, 1)
    return Outputs(
        raw if n_classes else raw[:, 0],
        np.array([row[-1] for row in results]),
        None if not n_shares else shares if n_classes else shares[:, 0],
        numbers(n_terms, n_shares + 1).astype(bool),
        intervals,
    )


def _read_intervals(portable: PortableModel, cells: Sequence[Sequence[Any]]) -> Any:
    """Return limits, of which NULL is infinite, or which classes are in the sets."""
    if portable.classes is not None:
        return np.array(cells, dtype=bool)
    limits = np.array(cells, dtype=float)
    return np.where(np.isnan(limits), [-np.inf, np.inf], limits)
