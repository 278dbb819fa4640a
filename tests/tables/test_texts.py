"""Texts that mean numbers or dates."""

from datetime import datetime

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from laconic.tables.text_files import dates, text_format


@pytest.mark.parametrize(
    ("text", "decimal", "number"),
    [
        ("5", ".", 5),
        ("-5.25", ".", -5.25),
        ("1e-3", ".", 0.001),
        (".5", ".", 0.5),
        ("1,234", ".", 1234),
        ("1,234,567.5", ".", 1234567.5),
        ("1'234.5", ".", 1234.5),
        ("1 234", ".", 1234),
        ("$0.11", ".", 0.11),
        ("-$3", ".", -3),
        ("$-3", ".", -3),
        ("3.50 €", ".", 3.5),
        ("EUR 7", ".", 7),
        ("7%", ".", 7),
        ("3.5 %", ".", 3.5),
        ("3,5", ",", 3.5),
        ("1.234,5", ",", 1234.5),
        ("1.234", ",", 1234),
        ("1 234,5 €", ",", 1234.5),
        ("1,5e2", ",", 150),
        ("3.5", ",", 3.5),
        ("3,5", ".", None),
        ("1,23,456", ".", None),
        ("0,123", ".", None),
        ("12 kg", ".", None),
        ("5-6", ".", None),
        ("x", ".", None),
        ("", ".", None),
    ],
)
def test_numbers(text, decimal, number):
    assert text_format.numbers(pl.Series("a", [text, None]), decimal).to_list() == [number, None]


@given(st.lists(st.floats(-1e9, 1e9).map(lambda value: round(value, 2)), min_size=1))
def test_money_is_read_back(amounts):
    american = [f"${amount:,.2f}" for amount in amounts]
    swap = str.maketrans(",.", ".,")
    german = [f"{amount:,.2f} €".translate(swap) for amount in amounts]
    assert text_format.numbers(pl.Series("a", american), ".").to_list() == amounts
    assert text_format.numbers(pl.Series("a", german), ",").to_list() == amounts


@pytest.mark.parametrize(
    ("column", "separator", "known", "sign"),
    [
        (["3.5", "4"], ";", None, "."),
        (["3,5", "4"], ";", None, ","),
        (["3,5", "4"], ",", None, ","),
        (["1,234", "4"], ";", None, ","),
        (["1,234", "4"], ",", None, "."),
        (["1.234", "4"], ";", None, "."),
        (["1,234", "3.5"], ";", None, "."),
        (["1.234", "3,5"], ";", None, ","),
        (["1,234", "4"], ";", ".", "."),
        (["1,234", "4"], ",", ",", ","),
        (["3,5"], ",", ".", ","),
        (["31.12.2024", "x"], ";", None, "."),
        (["4", None], ";", ",", ","),
    ],
)
def test_decimal_sign(column, separator, known, sign):
    assert text_format.decimal_sign([pl.Series(column)], separator, known) == sign


@pytest.mark.parametrize(
    ("column", "formats", "number"),
    [
        (["2024-03-15", None], ["%Y-%m-%d"], 20240315),
        (["2024-3-5"], ["%Y-%m-%d"], 20240305),
        (["2024-03-15 12:30", "2024-03-16T00:00:01.5Z"], ["%Y-%m-%d"], 20240315),
        (["15.03.2024"], ["%d.%m.%Y"], 20240315),
        (["15.3.24"], ["%d.%m.%y"], 20240315),
        (["03/04/2024", "13/04/2024"], ["%d/%m/%Y"], 20240403),
        (["03/04/2024", "03/13/2024"], ["%m/%d/%Y"], 20240304),
        (["15 Mar 2024"], ["%d %B %Y"], 20240315),
        (["March 15, 2024", "May 1, 2024"], ["%B %d %Y"], 20240315),
        (["Aug 31 1995", "aug 1 1995"], ["%B %d %Y"], 19950831),
        (["31-Aug-95", "01-SEP-24"], ["%d %B %y"], 19950831),
        (["31Aug1995"], ["%d %B %Y"], 19950831),
        (["Thu, Aug 31st, 1995", "Sat Sept. 2nd 1995"], ["%B %d %Y"], 19950831),
        (["1995/08/31"], ["%Y/%m/%d"], 19950831),
        (["31.08.1995", "1.9.1995"], ["%d.%m.%Y"], 19950831),
        (["Aug 1995", "September 1995"], ["%B %Y"], 19950801),
        (["8/31/1995 1:05:00 pm", "9/1/1995 11:00 a.m."], ["%m/%d/%Y"], 19950831),
        (["1995-08-31T13:05:00+02:00", "1995-09-01T00:00Z"], ["%Y-%m-%d"], 19950831),
        (["19950831"], [], None),
        (["Aug 31 1995", "see above"], [], None),
        (["03/04/2024"], ["%d/%m/%Y", "%m/%d/%Y"], 20240403),
        (["05/05/2024"], ["%d/%m/%Y"], 20240505),
        (["1.2.3"], [], None),
        (["1.2.10", "2.0.11"], [], None),
        (["1.2.10", "12.2.11"], ["%d.%m.%y"], 20100201),
        (["2024-03-15 12:30", "2024-03-16 27:75"], [], None),
        (["2024-13-45"], [], None),
        (["2024-03-15", "soon"], [], None),
        (["20240315"], [], None),
        ([None], [], None),
    ],
)
def test_dates(column, formats, number):
    values = pl.Series("a", column, dtype=pl.String)
    assert dates.date_formats(values) == formats
    if formats:
        assert dates.dates(values, formats[0]).dt.strftime("%Y%m%d")[0] == str(number)


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2024-03-15 12:30", datetime(2024, 3, 15, 12, 30)),
        ("2024-03-15T00:00:01.5Z", datetime(2024, 3, 15, 0, 0, 1, 500_000)),
        ("2024-03-15 12:30 AM", datetime(2024, 3, 15, 0, 30)),
        ("2024-03-15 1:30 pm", datetime(2024, 3, 15, 13, 30)),
        ("2024-03-15 00:30:00+01:00", datetime(2024, 3, 14, 23, 30)),
        ("2024-03-15", datetime(2024, 3, 15)),
    ],
)
def test_times_of_dates(text, moment):
    values = pl.Series("a", [text, "2024-03-16 10:00", None])
    assert dates.dates(values, "%Y-%m-%d").to_list() == [
        moment,
        datetime(2024, 3, 16, 10),
        None,
    ]


@pytest.mark.parametrize(
    "text",
    [
        *("2024-03-15 25:01", "2024-03-15 10:61", "2024-03-15 10:00:99", "2024-03-15 24:00"),
        *("2024-03-15 14:00 am", "2024-03-15 13:00:00.5 PM", "2024-03-15 10:00 +25:00"),
        *("9999-12-31 23:59 -05:00", "12024-03-15", "12024-03-15 10:00"),
    ],
)
def test_times_that_do_not_exist_are_missing(text):
    values = pl.Series("a", [text, "2024-03-16 10:00"])
    assert dates.dates(values, "%Y-%m-%d").to_list() == [None, datetime(2024, 3, 16, 10)]


def test_years_of_other_formats_are_those_of_python():
    values = pl.Series("a", ["23:59 31.12.9999 -0500", "12:30 01.03.2024 +0200"])
    found = dates.dates(values, "%H:%M %d.%m.%Y %z")
    assert found.to_list() == [None, datetime(2024, 3, 1, 10, 30)]


@pytest.mark.parametrize(
    ("column", "unit"),
    [
        (["5 kg", "6", None], "kg"),
        (["5 kg", "6", "7"], None),
        (["5 g", "6 kg", "7 g"], " g"),
        (["12 °C", "-3 °C"], "°C"),
        (["12 km/h", "(3 km/h)"], "km/h"),
        (["5", "-$6", "€7", "$8"], "$"),
        (["7 €", "8"], "€"),
        (["EUR 7"], "EUR"),
        (["5%", "6 %", "0.07"], "%"),
        (["5%", "0.06", "0.07"], ""),
        *(([f"5{unit}", f"6{unit}"], None) for unit in ("k", "K", " K", "M", "A", "a", "Q", "s")),
        *(([f"5{unit}", f"6{unit}"], None) for unit in (" bn", "Mio", "th", "st", " am", " PM")),
        (["x", "5"], None),
        ([None], None),
    ],
)
def test_units(column, unit):
    # The name is one that polars gives to counts.
    assert text_format.likely_unit(pl.Series("count", column, dtype=pl.String)) == unit


@pytest.mark.parametrize("unit", [None, "", "kg", "%", "$"])
@pytest.mark.parametrize("known", text_format.CELL_TYPES)
def test_known_types_do_not_depend_on_other_cells(known, unit):
    cells = [
        "5",
        "5 kg",
        "$5",
        "€6",
        "5%",
        "7 mg",
        "x",
        "true",
        "-1.5",
        "0",
        "",
        "NA",
        "01.02.2024",
    ]
    units = {} if unit is None else {"a": unit}
    formats = {"a": "%d.%m.%Y"} if known == "date" else {}
    how = text_format.Reading(dates=formats, types={"a": known}, units=units)
    reader = text_format.ColumnReader(reading=how)

    def read(texts):
        return reader.read(pl.DataFrame({"a": texts}))["a"].to_list()

    assert read(cells) == [read([cell])[0] for cell in cells]
