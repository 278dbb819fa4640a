"""Every fault that the page on trust names has the tests that it names."""

import re
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
PAGE = TESTS.parent / "docs" / "trust.md"

pytestmark = pytest.mark.skipif(not PAGE.exists(), reason="needs the pages")


def rows_of_faults():
    table = PAGE.read_text("utf-8").split("| Fault or bad input |")[1].split("\n\n")[0]
    return [row.strip("|").split(" | ") for row in table.splitlines()[2:]]


def test_rows_name_tests():
    rows = rows_of_faults()
    assert len(rows) > 20
    for fault, _, tests in rows:
        assert re.fullmatch(r"(`[\w/]+\.py::\w+`(, )?)+", tests.strip()), fault


def test_named_tests_exist():
    named = re.findall(r"`([\w/]+\.py)(?:::(\w+))?`", PAGE.read_text("utf-8"))
    assert named
    for file, test in named:
        assert re.search(rf"^def {test}\b", (TESTS / file).read_text("utf-8"), re.MULTILINE), test
