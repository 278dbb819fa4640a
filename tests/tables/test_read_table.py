"""Tables of files with types, as the command line reads them too."""

import gzip
import warnings
from datetime import date
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from commands import fit_client, people

from laconic import ColumnWarning, RuleBoostingClassifier, load_model, read_table
from laconic.tables.text_files.formats import TableFileError


@pytest.fixture
def written(tmp_path):
    """Write a text to a file."""

    def write(text, name="table.csv"):
        path = tmp_path / name
        content = text if isinstance(text, bytes) else text.encode()
        path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
        return path

    return write


def test_texts_become_numbers_dates_and_booleans(written):
    text = (
        "price;share;since;zip;is_new;text\n"
        "1.200,50 €;5%;15.03.2024;08001;true;x\n"
        "80 €;7,5%;NA;80010;false;?\n"
    )
    for name in ("table.csv", "table.csv.gz"):
        assert read_table(written(text, name)).to_dict(as_series=False) == {
            "price": [1200.5, 80],
            "share": [5, 7.5],
            "since": [date(2024, 3, 15), None],
            "zip": ["08001", "80010"],
            "is_new": [True, False],
            "text": ["x", None],
        }


def test_options_decide(written):
    path = written("a|b\n1,234|NA\n2,345|none\n")
    assert read_table(path)["a"].to_list() == [1.234, 2.345]
    given = read_table(str(path), decimal=".", missing=["none"])
    assert given.to_dict(as_series=False) == {"a": [1234, 2345], "b": ["NA", None]}
    assert read_table(path, separator=";").columns == ["a|b"]


@pytest.mark.parametrize(
    "option",
    [
        *({"separator": ";;"}, {"decimal": ";"}, {"missing": "NA"}, {"keep": "a"}, {"dates": "a"}),
        *({"missing": [-1]}, {"keep": [0]}, {"numeric": [0]}, {"dates": {0: None}}),
    ],
)
def test_wrong_options_are_refused(written, option):
    with pytest.raises(ValueError, match=f"{next(iter(option))} must be"):
        read_table(written("a,b\n1,2\n"), **option)


def test_columns_to_keep_stay_text(written):
    path = written("price,day\n$5,2024-03-15\n$6,2024-03-16\n")
    kept = read_table(path, keep=["price", "day"])
    assert kept["price"].to_list() == ["$5", "$6"]
    assert kept["day"].dtype == pl.Categorical
    with pytest.raises(ValueError, match=r"no column 'prize'\. Did you mean 'price'\?"):
        read_table(path, keep=["prize"])


def test_ids_are_dropped_if_asked_for(written):
    rows = [f"{number},{number * 7},{number % 5},1" for number in range(60)]
    path = written("\n".join(["row,client_id,x,same", *rows]))
    assert read_table(path).columns == ["row", "client_id", "x", "same"]
    assert read_table(path, drop_ids=True).columns == ["x", "same"]
    assert read_table(path, drop_ids=True, keep=["client_id"]).columns == ["client_id", "x", "same"]


def test_lists_are_kept(written):
    rows = [f'{{"id": {number}, "tags": ["x"]}}' for number in (5, 6, 1)]
    path = written("\n".join(rows), "table.json")
    assert read_table(path, drop_ids=True).columns == ["tags"]


def test_doubts_are_warnings(written):
    with pytest.warns(UserWarning, match=r"The table .*table.csv' is not in UTF-8 \(line 2\)"):
        assert read_table(written("a,b\né,1\n".encode("latin-1")))["a"].to_list() == ["é"]
    ambiguous = r"'a' holds dates that can .* with dates=\{'a': '%d/%m/%Y'\} or dates=\{'a': '%m/"
    with pytest.warns(ColumnWarning, match=ambiguous):
        assert read_table(written("a,b\n03/04/2024,1\n"))["a"].to_list() == ["03/04/2024"]
    path = written("a,b\n1,5\n2,5\n??,5\nNA,5\n")
    message = r"Column 'a' is read as text because of '\?\?' \(1 of 4 cells\)\. .* numeric=\['a'\]"
    with pytest.warns(ColumnWarning, match=message):
        read_table(path)
    assert read_table(path, missing=["??", "NA"])["a"].to_list() == [1, 2, None, None]
    with pytest.warns(ColumnWarning, match=r"Column 'a' has 1 of 4 cells that are not numbers"):
        assert read_table(path, numeric=["a"])["a"].to_list() == [1, 2, None, None]


@pytest.mark.parametrize(
    ("cells", "numbers", "odd"),
    [
        (["5k", "6k", "7"], [None, None, 7], r"are not numbers \('5k' and '6k'\)"),
        (["5 kg", "7", "6 kg"], [5, None, 6], r"are not numbers in kg \('7'\)"),
        (["$5", "€6", "7"], [5, None, 7], r"are not numbers in \$ \('€6'\)"),
        (["5%", "0.06", "(7 %)"], [5, None, -7], r"are not numbers in % \('0.06'\)"),
        (["5%", "0.06", "0.07"], [None, 0.06, 0.07], r"are not numbers \('5%'\)"),
    ],
)
def test_cells_in_other_units_are_not_numbers(cells, numbers, odd):
    frame = pl.DataFrame({"count": cells})
    with pytest.warns(ColumnWarning, match=odd):
        assert read_table(frame, numeric=["count"])["count"].to_list() == numbers
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert read_table(frame)["count"].to_list() == cells
    assert all("is read as text because of" in str(each.message) for each in caught)
    assert len(caught) == ("5k" not in cells)


def test_odd_cells_are_the_same_ones_every_time():
    # Two units are equally frequent.
    frame = pl.DataFrame({"a": [*map(str, range(40)), "5%", "7 kg"]})
    for _ in range(20):
        with pytest.warns(ColumnWarning, match=r"because of '5%' and '7 kg' \(2 of 42 cells\)"):
            read_table(frame)


@pytest.mark.parametrize("make", [pl.DataFrame, pd.DataFrame, pa.table])
def test_texts_of_frames_are_read_like_those_of_files(written, make):
    columns = {
        "day": ["Aug 31 1995", "Sep 1 1995", None],
        "price": ["$5", "$1,200", "$7"],
        "kept": ["$5", "$6", "$7"],
        "n": ["1", "2", "x"],
        "size": [0.5, 1.5, 2.5],
    }
    how = {"keep": ["kept"], "numeric": ["n"]}
    path = written(pl.DataFrame(columns).write_csv())
    with pytest.warns(ColumnWarning, match="'n' has 1 of 3 cells that are not numbers"):
        expected = read_table(path, **how)
    given = make(columns)
    with pytest.warns(ColumnWarning, match="'n' has 1 of 3 cells that are not numbers"):
        found = read_table(given, **how)
    assert type(found) is type(given)
    found = pl.DataFrame(found).with_columns(pl.col("day").cast(pl.Date))
    assert found.with_columns(pl.col("n").fill_nan(None)).to_dicts() == expected.to_dicts()
    assert pl.DataFrame(given)["price"].to_list() == columns["price"]


def test_numbers_beside_texts_keep_their_values():
    """Their points are no separators of thousands where commas are decimal signs."""
    numbers = [1.234, -0.05, 1e300, 2.0, True, Decimal("1.125"), np.float32(0.5)]
    frame = pd.DataFrame({"a": [*numbers, "1,5", "odd"], "b": ["3,5"] * 9})
    with pytest.warns(ColumnWarning, match="'a' has 1 of 9 cells that are not numbers"):
        found = read_table(frame, numeric=["a"])
    assert found["a"][:8].tolist() == [*map(float, numbers), 1.5]
    assert found["b"].tolist() == [3.5] * 9


@pytest.mark.parametrize("dtype", ["float64", "Float32", "Int64"])
def test_columns_of_numbers_stay_as_they_are(dtype):
    frame = pd.DataFrame({"a": [5, None, 7], "b": "3,5"}).astype({"a": dtype})
    assert read_table(frame, numeric=["a"])["a"].dtype == dtype


def test_numbers_with_gaps_are_dates_if_asked_for(tmp_path):
    frame = pd.DataFrame({"d": [20240315, None, 20240401]})
    for dates in (["d"], {"d": "%Y%m%d"}):
        found = read_table(frame, dates=dates)["d"]
        assert found.dt.strftime("%d.%m.%Y").fillna("").tolist() == ["15.03.2024", "", "01.04.2024"]
        frame.to_parquet(tmp_path / "table.parquet")
        stored = read_table(tmp_path / "table.parquet", dates=dates)["d"]
        assert stored.to_list() == [date(2024, 3, 15), None, date(2024, 4, 1)]
    with pytest.raises(ValueError, match=r"dates in the format %Y-%m\. Got only cells such as '20"):
        read_table(tmp_path / "table.parquet", dates={"d": "%Y-%m"})


def test_columns_without_a_cell_of_their_type_are_refused():
    frame = pd.DataFrame({"a": ["15.03.2024", None]})
    with pytest.raises(ValueError, match=r"'a' must hold dates in the format %d/%m/%Y\. Got only"):
        read_table(frame, dates={"a": "%d/%m/%Y"})
    with pytest.raises(ValueError, match=r"'a' must hold numbers\. Got only cells such as '15"):
        read_table(frame, numeric=["a"])
    with pytest.raises(ValueError, match=r"'a' must hold dates in a known format\. Got no text"):
        read_table(frame[:0], dates=["a"])


def test_columns_without_names_are_numbered():
    frame = pd.DataFrame({0: range(100), 1: ["5", "x"] * 50, 2: ["a"] * 100})
    with pytest.warns(ColumnWarning, match="'x1' has 50 of 100 cells"):
        found = read_table(frame, numeric=["x1"], drop_ids=True)
    assert found.columns.tolist() == [1, 2]
    assert found[1][0] == 5
    with pytest.raises(ValueError, match=r"no column '0'\. Did you mean 'x0'"):
        read_table(frame, numeric=["0"])


@pytest.mark.parametrize("table", [np.zeros((2, 2)), pl.LazyFrame({"a": ["5"]}), pl.Series(["5"])])
def test_other_objects_are_refused(table):
    with pytest.raises(TypeError, match=f"must be the path of .* Got {type(table).__name__} inst"):
        read_table(table)


def test_a_few_other_decimal_signs_are_told(written):
    path = written('a\n1.5\n2.5\n"1,5"\n')
    message = r"because of '1,5' \(1 of 3 cells\), which have another decimal sign\. Read"
    with pytest.warns(ColumnWarning, match=message):
        read_table(path)


def test_numbers_of_many_digits_stay_text(written):
    """As numbers, all of these would be the same."""
    numbers = [str(10**20 + n) for n in range(5)]
    assert read_table(written("\n".join(["a", *numbers])))["a"].to_list() == numbers
    few = [*map(str, range(5)), numbers[0]]
    assert read_table(written("\n".join(["a", *few])))["a"].to_list() == [*map(float, few)]


def test_files_that_are_not_tables(written, tmp_path):
    with pytest.raises(TableFileError, match="It is empty"):
        read_table(written(""))
    with pytest.raises(TableFileError, match=r"must end with .csv, .* optionally followed by"):
        read_table(written("a\n1\n", "table.doc"))
    with pytest.raises(TableFileError, match="at least one row"):
        read_table(written("a\n"))
    with pytest.raises(FileNotFoundError, match="There is no file"):
        read_table(tmp_path / "no.csv")
    with pytest.raises(IsADirectoryError, match="The table must be a file"):
        read_table(tmp_path)


def test_the_command_line_learns_the_same_model(run, tmp_path):
    frame = people().with_columns(income=pl.format("${}", "income"))
    frame.write_csv(tmp_path / "table.csv", separator=";")
    fit = fit_client(tmp_path / "table.csv", "--output", tmp_path / "model.json", "--quiet")
    assert run(*fit)[0] == 0
    table = read_table(tmp_path / "table.csv", drop_ids=True)
    known = load_model(tmp_path / "model.json")
    model = RuleBoostingClassifier(n_terms=len(known.ensemble_))
    model.fit(table.drop("client", "spent", "weight"), table["client"].to_numpy())
    assert model.ensemble_ == known.ensemble_
