"""Exports to SQL, run in SQLite, DuckDB and PostgreSQL."""

import sqlite3
from datetime import date, datetime, time

import duckdb
import numpy as np
import polars as pl
import psycopg
import pytest
import sqlglot
from exports import (
    CLASS_SLOPES,
    MODELS,
    N_ROWS,
    classifier,
    dated_model,
    dated_slopes,
    duration_slopes,
    every_relation,
    make_model,
    many_classes,
    regressor,
    rows_and_outputs,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from postgres import find_server, running_server

from laconic import Condition, RuleBoostingRegressor
from laconic.export import to_sql
from laconic.export.edge_rows import check_outputs, expected_outputs
from laconic.export.portable import portable_model
from laconic.export.sql.statement import (
    KEY,
    TABLE,
    column_names,
    run_duckdb,
    run_sqlite,
    select_for_checks,
    select_outputs,
)
from laconic.losses import PoissonLoss
from laconic.tables.times import DATE_PARTS, part_codes
from laconic.terms.slopes import Slope

POSTGRES_TYPES = {
    "number": "double precision",
    "boolean": "boolean",
    "text": "text",
    "date": "timestamp",
    "time": "time",
    "any": "double precision",
}
SQL_MODELS = {
    **MODELS,
    "many classes": many_classes(),
    "many classes with slopes": many_classes(*CLASS_SLOPES),
    "dates": dated_model(),
    "dates with slopes": dated_slopes(),
}
KEEPS_ALL = pytest.mark.parametrize("keeps_all", [False, True])
NOT_SQL = {"dax", "exasol", "prql", "solr", "tableau"}
DIALECTS = sorted(name for name in sqlglot.Dialect.classes if name and name not in NOT_SQL)


@pytest.fixture(scope="module")
def postgres():
    """Return a connection to a server of this module's own."""
    programs = find_server()
    if programs is None:
        pytest.skip("needs a PostgreSQL server: install the package postgresql")
    with running_server(programs) as address, psycopg.connect(address) as connection:
        yield connection


@pytest.mark.parametrize("run", [run_sqlite, run_duckdb])
@KEEPS_ALL
@pytest.mark.parametrize("name", SQL_MODELS)
def test_databases_predict_the_same(name, keeps_all, run):
    model = SQL_MODELS[name]
    rows, expected = rows_and_outputs(model, 1000 if keeps_all else N_ROWS)
    portable = portable_model(model)
    dialect = run.__name__.removeprefix("run_")
    select = select_for_checks(portable, dialect, keeps_all=keeps_all)
    check_outputs("SQL", rows, expected, run(portable, select, rows))


@KEEPS_ALL
@pytest.mark.parametrize("name", SQL_MODELS)
def test_postgres_predicts_the_same(name, keeps_all, postgres):
    model = SQL_MODELS[name]
    rows, expected = rows_and_outputs(model, 1000 if keeps_all else N_ROWS)
    portable = portable_model(model)
    names = column_names(portable)
    declared = [f'"{names[name]}" {POSTGRES_TYPES[kind]}' for name, kind in portable.kinds.items()]
    select = select_for_checks(portable, "postgres", keeps_all=keeps_all)
    with postgres.transaction(force_rollback=True), postgres.cursor() as cursor:
        cursor.execute(f"CREATE TABLE {TABLE} ({', '.join([f'{KEY} integer', *declared])})")
        with cursor.copy(f"COPY {TABLE} FROM STDIN") as copy:
            for number, row in enumerate(rows):
                copy.write_row([number, *(row[name] for name in names)])
        cursor.execute(f"{select} ORDER BY 1".encode())
        check_outputs("SQL", rows, expected, select_outputs(portable, cursor.fetchall()))


def execute_sqlite(statements):
    connection = sqlite3.connect(":memory:")
    try:
        return [connection.execute(statement).fetchall() for statement in statements][-1]
    finally:
        connection.close()


def execute_duckdb(statements):
    with duckdb.connect() as connection:
        return [connection.execute(statement).fetchall() for statement in statements][-1]


def run_statements(dialect, statements, request):
    if dialect == "sqlite":
        return execute_sqlite(statements)
    if dialect == "duckdb":
        return execute_duckdb(statements)
    connection = request.getfixturevalue("postgres")
    with connection.transaction(force_rollback=True), connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement.encode())
        return cursor.fetchall()


ALL_DATABASES = pytest.mark.parametrize("dialect", ["sqlite", "duckdb", "postgres"])


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


def literal(cell):
    if cell is None:
        return "NULL"
    return repr(cell) if isinstance(cell, float | int) else "'" + cell.replace("'", "''") + "'"


def few_counts():
    return make_model(every_relation()[:4], loss=PoissonLoss())


def identifiers(model, dialect):
    """Collect all names that a statement is made of."""
    trees = [
        sqlglot.parse_one(
            to_sql(model, dialect, table="t", keep=keep, term_columns=True), dialect=dialect
        )
        for keep in (None, ["id"])
    ]
    found = {node.name for tree in trees for node in tree.find_all(sqlglot.exp.Identifier)}
    return sorted(found - {"id"})


@ALL_DATABASES
@pytest.mark.parametrize("spell", [str, str.upper, str.title])
@pytest.mark.parametrize("model", [classifier(n_terms=4), few_counts(), many_classes()])
def test_columns_of_the_table_are_not_taken_for_ours(model, spell, dialect, request):
    """A column raw_prediction of the table was once returned as the prediction."""
    features = {p.feature for rule in model.ensemble_ for p in rule.query}
    others = [spell(name) for name in identifiers(model, dialect) if name not in features]
    rows = [
        dict.fromkeys(features) | {"age": age, "mark": mark}
        for age in (20.0, 50.0, 80.0, None)
        for mark in ("x", "o", None)
    ]
    types = {name: "VARCHAR(9)" if name == "mark" else "DOUBLE PRECISION" for name in features}
    columns = [f"{quoted(name)} {types[name]}" for name in features]
    columns += [f"{quoted(name)} DOUBLE PRECISION" for name in others]
    lines = [
        [str(number), *(literal(row[name]) for name in features), *["-9"] * len(others)]
        for number, row in enumerate(rows)
    ]
    cells = ", ".join(f"({', '.join(line)})" for line in lines)
    made = [
        f"CREATE TABLE scored (id INTEGER, {', '.join(columns)})",
        f"INSERT INTO scored VALUES {cells}",
    ]
    expected = expected_outputs(model, rows)
    for keep in (None, ["id"], ["id", *others, *others[:2]]):
        statement = to_sql(model, dialect, table="scored", keep=keep, term_columns=True)
        fetched = run_statements(dialect, [*made, f"{statement} ORDER BY 1"], request)
        check_outputs("SQL", rows, expected, select_outputs(portable_model(model), fetched))
        assert [row[0] for row in fetched] == list(range(len(rows)))


@ALL_DATABASES
def test_features_may_have_our_names(dialect, request):
    names = ("raw_prediction", "probability", "prediction", "rule_1", "scored", "t")
    rules = [((Condition(name, ">", 0.5),), 2.0**n) for n, name in enumerate(names)]
    model = make_model(rules, intercept=-20.0, classes=("no", "yes"))
    rows = [{name: float(n >> k & 1) for k, name in enumerate(names)} for n in range(64)]
    cells = ", ".join(f"({', '.join(map(str, row.values()))})" for row in rows)
    statements = [
        f"CREATE TABLE t ({', '.join(f'{quoted(name)} DOUBLE PRECISION' for name in names)})",
        f"INSERT INTO t VALUES {cells}",
    ]
    expected = expected_outputs(model, rows)
    for keep in (None, names):
        select = to_sql(model, dialect, table="t", keep=keep, term_columns=True)
        fetched = run_statements(dialect, [*statements, select], request)
        fetched.sort(key=lambda row: row[len(names) - 1 :: -1])
        check_outputs("SQL", rows, expected, select_outputs(portable_model(model), fetched))
        assert [tuple(row[:6]) for row in fetched] == [tuple(row.values()) for row in rows]


def test_fields_of_structures_are_not_taken_for_columns():
    model = make_model([((Condition("x", ">", 3),), 1.0)])
    statements = [
        "CREATE TABLE t (x INTEGER, t STRUCT(x INTEGER), scored STRUCT(raw_prediction INTEGER))",
        "INSERT INTO t VALUES (4, {'x': 0}, {'raw_prediction': 9}), (0, {'x': 4}, NULL)",
    ]
    for keep in (None, ["x", "t", "scored"]):
        select = to_sql(model, "duckdb", table="t", keep=keep) + " ORDER BY 1"
        assert [row[-1] for row in execute_duckdb([*statements, select])] == [0.0, 1.0]


DAYS = (
    *("1699-12-31", "1900-02-28", "1968-02-29", "1969-12-31", "1970-01-01", "2000-02-29"),
    *("2024-02-29", "2024-03-01", "2024-03-02", "2024-03-03", "2024-12-31"),
)
CLOCKS = ("", " 00:00", " 12:30", " 23:59:59", " 00:00:00.000001", " 23:59:59.999999", "T12:59:59")


@ALL_DATABASES
@pytest.mark.parametrize("kind", ["DATE", "TIMESTAMP", "TEXT"])
@pytest.mark.parametrize("model", [dated_model(), dated_slopes()], ids=["rules", "slopes"])
def test_dates_of_every_type(model, kind, dialect, request):
    """A fraction of a second near midnight was once counted to the next weekday in SQLite."""
    clocks = CLOCKS if kind != "DATE" else ("",)
    texts = [f"{day}{clock}" for day in DAYS for clock in clocks]
    rows = [
        {"day": text, "seen": text, "clock": None if n % 3 else "12:30", "unused": None}
        for n, text in enumerate(texts)
    ]
    rows.append(dict.fromkeys(rows[0]))
    read = [
        {
            name: cell and (time if name == "clock" else datetime).fromisoformat(cell)
            for name, cell in row.items()
        }
        for row in rows
    ]
    clock_type = "TEXT" if kind == "TEXT" else "TIME"
    cells = ", ".join(
        f"({n}, {', '.join(literal(row[name]) for name in ('day', 'seen', 'clock'))})"
        for n, row in enumerate(rows)
    )
    statements = [
        f"CREATE TABLE t (id INTEGER, day {kind}, seen {kind}, clock {clock_type})",
        f"INSERT INTO t VALUES {cells}",
        to_sql(model, dialect, table="t", keep=["id"], term_columns=True) + " ORDER BY 1",
    ]
    fetched = run_statements(dialect, statements, request)
    expected = expected_outputs(model, read)
    check_outputs("SQL", rows, expected, select_outputs(portable_model(model), fetched))


def test_slopes_of_times_only_where_they_were_tried():
    with pytest.raises(ValueError, match=r"for duckdb, postgres, sqlite\. Got terms that use diff"):
        to_sql(make_model([Slope("day", date(2020, 1, 1), date(2024, 1, 1), 1.0)]), "bigquery")
    with pytest.raises(ValueError, match="Got terms that use durations in 'stay'"):
        to_sql(duration_slopes(), "duckdb")


@settings(max_examples=40, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.lists(st.floats(-1e200, 1e200), min_size=3, max_size=3, unique=True).map(sorted),
            st.floats(-1e9, 1e9),
            st.sampled_from([None, 0, 1, 2]),
        ),
        min_size=1,
        max_size=3,
    ),
    st.sampled_from(["sqlite", "duckdb"]),
)
def test_any_slope(drawn, dialect):
    slopes = [
        Slope("x", ends[0], ends[2], weight, missing=None if place is None else ends[place])
        for ends, weight, place in drawn
    ]
    to_sql(make_model(slopes), dialect)  # compares at every end and next to it


@ALL_DATABASES
def test_a_slope_is_flat_up_to_infinity(dialect, request):
    """PostgreSQL refuses products that are too small for a double."""
    model = make_model([Slope("x", 0, 3, 0.5, missing=1)])
    plus, minus = ("9e999", "-9e999") if dialect == "sqlite" else ("'Infinity'", "'-Infinity'")
    cells = [plus, minus, "NULL", "5e-324", "2"]
    statements = [
        "CREATE TABLE t (id INTEGER, x DOUBLE PRECISION)",
        f"INSERT INTO t VALUES {', '.join(f'({n}, {cell})' for n, cell in enumerate(cells))}",
        to_sql(model, dialect, table="t", keep=["id"], term_columns=True) + " ORDER BY 1",
    ]
    fetched = run_statements(dialect, statements, request)
    assert [row[1] for row in fetched] == [1.5, 0.0, 0.5, 0.0, 1.0]
    assert [row[2] for row in fetched] == [1, 0, 1, 1, 1]


@ALL_DATABASES
@pytest.mark.parametrize("part", DATE_PARTS)
def test_fitted_parts_of_dates(part, dialect):
    rng = np.random.default_rng(0)
    days = np.datetime64("1960-01-01T00:30", "m") + rng.integers(0, 40 * 366 * 1440, 300)
    codes = part_codes(days.astype("M8[us]").astype(float), part)
    days = np.where(codes < 2, np.datetime64("NaT", "us"), days).astype("M8[us]")
    X = pl.DataFrame({"day": days.tolist()})
    y = (codes == np.median(codes)) * 3.0 + (codes < 2)
    model = RuleBoostingRegressor(4, date_parts=[part]).fit(X, y)
    assert f"{part} of day" in str(model)
    assert to_sql(model, dialect, table="t")


@ALL_DATABASES
def test_hostile_names_and_texts_as_they_are(dialect, request):
    model = MODELS["hostile"]
    names = model.ensemble_.feature_names
    # The categories of the model, in turn, and one that it does not know.
    texts = [p.value for rule in model.ensemble_ for p in rule.query] + ["unseen"]
    rows = [{name: texts[(n + k) % len(texts)] for k, name in enumerate(names)} for n in range(40)]

    values = ", ".join(
        f"({n}, {', '.join(literal(row[name]) for name in names)})" for n, row in enumerate(rows)
    )
    columns = ", ".join(f"{quoted(name)} VARCHAR(99)" for name in names)
    statements = [
        f'CREATE TABLE "my; ""table""" (id INTEGER, {columns})',
        f'INSERT INTO "my; ""table""" VALUES {values}',
        to_sql(model, dialect, table='"my; ""table"""', keep=["id"]) + " ORDER BY 1",
    ]
    fetched = run_statements(dialect, statements, request)
    expected = expected_outputs(model, rows)
    assert [row[1] for row in fetched] == expected.raw_predictions.tolist()
    assert [row[3] for row in fetched] == expected.predictions.tolist()


@ALL_DATABASES
@pytest.mark.parametrize("kind", ["BIGINT", "NUMERIC(38, 18)", "REAL", "DOUBLE PRECISION"])
def test_columns_of_every_type_of_number(kind, dialect, request):
    if kind.startswith("NUMERIC") and dialect == "sqlite":
        pytest.skip("SQLite has no decimal numbers")
    thresholds = (0.1, 2.0**53, -3.0, 16777217.0)
    model = make_model([((Condition("x", "<=", t),), 2.0**n) for n, t in enumerate(thresholds)])
    cells = ["0", "-3", "-4", "16777216", "16777217", "16777218", "9007199254740993", "NULL"]
    if kind != "BIGINT":
        cells += ["0.1", "0.100000000000000001", "0.09999999999999999", "0.100000001"]
    statements = [
        f"CREATE TABLE t (id INTEGER, x {kind})",
        f"INSERT INTO t VALUES {', '.join(f'({n}, {cell})' for n, cell in enumerate(cells))}",
        to_sql(model, dialect, table="t") + " ORDER BY 1",
    ]
    # SQLite keeps eight bytes of a REAL, as others do of a double.
    stored = np.float32 if kind == "REAL" and dialect != "sqlite" else float
    rows = [{"x": None if cell == "NULL" else float(stored(cell))} for cell in cells]
    fetched = run_statements(dialect, statements, request)
    expected = expected_outputs(model, rows).raw_predictions
    assert [row[2] for row in fetched] == expected.tolist()


@ALL_DATABASES
@pytest.mark.parametrize("kind", ["BOOLEAN", "INTEGER"])
def test_booleans_also_as_0_and_1(kind, dialect, request):
    rules = [
        ((Condition("flag", "==", True),), 1.0),
        ((Condition("flag", "!=", True),), 2.0),
        ((Condition("flag", "is missing"),), 4.0),
        ((Condition("flag", "is present"),), 8.0),
    ]
    true, false = ("TRUE", "FALSE") if kind == "BOOLEAN" else ("1", "0")
    statements = [
        f"CREATE TABLE t (flag {kind})",
        f"INSERT INTO t VALUES ({true}), ({false}), (NULL)",
        to_sql(make_model(rules), dialect, table="t", keep=[]) + " ORDER BY 1",
    ]
    fetched = run_statements(dialect, statements, request)
    assert [row[0] for row in fetched] == [4.0, 9.0, 10.0]


@ALL_DATABASES
def test_expressions_stand_in_any_statement(dialect, request):
    model = classifier((1, 2), feature_names=None)
    outputs = ("raw_prediction", "probability", "prediction")
    expressions = [f"({to_sql(model, dialect, output=output)})" for output in outputs]
    cells = '70 AS "age", \'x\' AS "mark", 1 AS "flag", 3 AS "grade", 0.5 AS "size", 1 AS "seen"'
    statement = f"SELECT {', '.join(expressions)} FROM (SELECT {cells}) AS patients"
    row = {"age": 70, "mark": "x", "flag": True, "grade": 3, "size": 0.5, "seen": 1}
    expected = expected_outputs(model, [row])
    [fetched] = run_statements(dialect, [statement], request)
    assert fetched[0] == expected.raw_predictions[0]
    assert fetched[1] == pytest.approx(expected.probabilities[0], rel=1e-12)
    assert fetched[2] == expected.predictions[0]


@ALL_DATABASES
def test_infinities_compare_as_numbers(dialect, request):
    model = make_model([((Condition("x", ">", 3),), 1.0), ((Condition("x", "is missing"),), 5.0)])
    plus, minus = ("9e999", "-9e999") if dialect == "sqlite" else ("'Infinity'", "'-Infinity'")
    statements = [
        "CREATE TABLE t (id INTEGER, x DOUBLE PRECISION)",
        f"INSERT INTO t VALUES (1, {plus}), (2, {minus}), (3, NULL)",
        to_sql(model, dialect, table="t", keep=["id"]) + " ORDER BY 1",
    ]
    fetched = run_statements(dialect, statements, request)
    assert [row[1] for row in fetched] == [1.0, 0.0, 5.0]


def test_postgres_enums(postgres):
    model = make_model([((Condition("mark", "==", "x"),), 1.0)])
    statements = [
        "CREATE TYPE mark AS ENUM ('x', 'o')",
        "CREATE TABLE t (id integer, mark mark)",
        "INSERT INTO t VALUES (1, 'x'), (2, 'o'), (3, NULL)",
        to_sql(model, "postgres", table="t") + " ORDER BY 1",
    ]
    with postgres.transaction(force_rollback=True), postgres.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement.encode())
        assert [row[2] for row in cursor.fetchall()] == [1.0, 0.0, 0.0]


def test_duckdb_reads_frames_with_categoricals():
    model = classifier()
    frame = pl.DataFrame(
        {
            "unused": [None, None, None, None],
            "age": [70.0, 3.0, float("nan"), None],
            "mark": pl.Series(["x", "o", None, "unseen"], dtype=pl.Categorical),
            "flag": [True, False, None, True],
            "grade": [3, None, 2, 3],
            "size": [0.1, 0.2, None, 1e300],
            "seen": ["a", None, "b", "c"],
        }
    )
    with duckdb.connect() as connection:
        connection.register("patients", frame)
        fetched = connection.execute(to_sql(model, "duckdb", table="patients", keep=[])).fetchall()
    assert [row[0] for row in fetched] == model.decision_function(frame).tolist()
    assert [row[2] for row in fetched] == model.predict(frame).tolist()


@pytest.mark.parametrize("table", ["t; DROP TABLE x", "SELECT 1", "my table", "(SELECT 1)"])
def test_table_names_stay_names_or_are_refused(table):
    model = make_model([((Condition("x", ">", 3),), 1.0)])
    try:
        select = to_sql(model, "sqlite", table=table)
    except ValueError as error:  # as with older releases of sqlglot
        assert "must be the name of a table" in str(error)  # noqa: PT017
        return
    statements = [
        f'CREATE TABLE "{table}" (x)',
        f'INSERT INTO "{table}" VALUES (4)',
        select,
    ]
    assert execute_sqlite(statements) == [(4, 1.0, 1.0)]


def test_one_column_per_term():
    model = regressor()
    sql = to_sql(model, "duckdb", table="lab.visits", keep=["visit id"], term_columns=True)
    columns = sqlglot.parse_one(sql, dialect="duckdb").find(sqlglot.exp.Subquery).this.named_selects
    terms = [f"term_{number}" for number in range(1, model.ensemble_.n_terms + 1)]
    assert columns == ["visit id", "raw_prediction", *terms]


@pytest.mark.parametrize("name", ["hostile", "boolean classes", "hostile slopes"])
@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_dialect_reads_back_whole(dialect, name):
    model = MODELS[name]
    sql = to_sql(model, dialect, table="t", term_columns=True)
    [tree] = sqlglot.parse(sql, dialect=dialect)
    used = {*model.ensemble_.used_features}
    names = {column.name for column in tree.find_all(sqlglot.exp.Column)}
    assert names == used | {"*"}
    sql = to_sql(model, dialect, table="t", keep=["id"])
    tables = {
        column.table
        for column in sqlglot.parse_one(sql, dialect=dialect).find_all(sqlglot.exp.Column)
    }
    assert tables == {"t", "scored"}


def test_columns_can_have_other_names_in_the_database():
    model = make_model([((Condition("x0", ">", 3),), 1.0)], feature_names=("x0", "x1"))
    assert '"AGE"' in to_sql(model, "snowflake", columns={"x0": "AGE"})
    with pytest.raises(ValueError, match="Got 'age', which is none"):
        to_sql(model, "snowflake", columns={"age": "AGE"})


CASES = {"sqlite": 1, "duckdb": 1, "mysql": 1, "bigquery": 1, "postgres": 2, "snowflake": 2}


@pytest.mark.parametrize("dialect", CASES)
def test_names_that_differ_by_case_alone(dialect):
    """Both were once the same column in databases that do not tell them apart."""
    model = make_model([((Condition(name, ">", 0.5),), 1.0) for name in ("Age", "age", "x")])
    if CASES[dialect] == 2:
        assert to_sql(model, dialect)
        return
    with pytest.raises(ValueError, match=r"Got 'Age' and 'age'\..*columns=\{'age': 'age_2'\}"):
        to_sql(model, dialect)
    assert "age_2" in to_sql(model, dialect, columns={"age": "age_2"})


@settings(max_examples=40, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.floats(allow_nan=False, allow_infinity=False),
            st.floats(-1e9, 1e9),
            st.sampled_from(["<=", ">", "==", "!="]),
        ),
        min_size=1,
        max_size=4,
    ),
    st.sampled_from(["sqlite", "duckdb"]),
)
def test_any_threshold_and_weight(rules, dialect):
    model = make_model([((Condition("x", r, t),), weight) for t, weight, r in rules])
    to_sql(model, dialect)  # compares at every threshold and next to it


@settings(max_examples=40, deadline=None)
@given(
    st.text(st.characters(exclude_categories=["Cc", "Cs"]), min_size=1),
    st.text(st.characters(exclude_categories=["Cc", "Cs"], include_characters="\t\n\r")),
    st.sampled_from(["sqlite", "duckdb", "postgres", "mysql", "snowflake"]),
)
def test_any_name_and_category(name, category, dialect):
    model = make_model([((Condition(name, "==", category),), 1.0)], classes=("", category or "-"))
    to_sql(model, dialect, table="t")


def test_names_that_a_dialect_cannot_quote_are_refused():
    model = make_model([((Condition("a.b", ">", 1),), 1.0)])
    with pytest.raises(ValueError, match="differs when it is parsed again"):
        to_sql(model, "bigquery")
    assert '"a.b"' in to_sql(model, "postgres")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"dialect": "postgresql"}, "must be one of athena, bigquery, .*Got 'postgresql'"),
        ({"table": "read_csv('/etc/passwd')"}, "must be the name of a table"),
        ({"table": ""}, "must be the name of a table"),
        ({"term_columns": True}, "need a 'table'"),
        ({"keep": ["id"]}, "need a 'table'"),
        ({"output": "class"}, "one of 'raw_prediction', 'probability', 'prediction'"),
    ],
)
def test_wrong_calls_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        to_sql(classifier(), **{"dialect": "sqlite", **settings})


def test_what_sql_cannot_hold_is_refused():
    for text, message in {"a\0b": "the character NUL", "\ud800": "an unpaired surrogate"}.items():
        model = make_model([((Condition("x", "==", text),), 1.0)])
        with pytest.raises(ValueError, match=message):
            to_sql(model, "sqlite")
    with pytest.raises(ValueError, match="'raw_prediction', 'prediction'"):
        to_sql(regressor(), "sqlite", output="probability")
    with pytest.raises(TypeError, match=r"Use \['id'\]"):
        to_sql(regressor(), "sqlite", table="t", keep="id")


@pytest.mark.parametrize("character", ["\x01", "\x1b", "\x7f", "\x9b"])
@pytest.mark.parametrize("place", ["name", "text", "class"])
def test_control_characters_are_refused(character, place):
    """A terminal that shows the statement would obey them."""
    parts = {"name": "name", "text": "text", "class": "class", place: f"a{character}b"}
    rules = [((Condition(parts["name"], "==", parts["text"]),), 1.0)]
    model = make_model(rules, classes=(parts["class"], "other"))
    with pytest.raises(ValueError, match=rf"control characters.*U\+{ord(character):04X}"):
        to_sql(model, "postgres", table="t")
