"""The pages keep their word: examples run, and the tests that claims name are there."""

import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
EXAMPLES = sorted((ROOT / "examples").glob("plot_*.py"))
NAMED_TEST = re.compile(r"`([\w/]*test_\w+\.py)(?:::(\w+))?`")

pytestmark = pytest.mark.skipif(not EXAMPLES, reason="needs the examples")


@pytest.fixture
def no_windows(monkeypatch):
    """Pictures that are drawn for nobody, and are gone afterwards."""
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.switch_backend("agg")
    yield pyplot
    pyplot.close("all")


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_examples_run_and_draw(example, no_windows, monkeypatch, tmp_path, capsys):
    pytest.importorskip("pandas")
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(example), run_name="__main__")
    assert no_windows.get_fignums(), "the gallery shows each example by its picture"
    titles = [axes.get_title() + axes.get_title("right") for axes in no_windows.gcf().axes]
    assert any(titles), "the title is the text for those who do not see the picture"
    assert capsys.readouterr().out


def test_gallery_has_an_order(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    from gallery_order import ORDER

    assert sorted(ORDER) == [path.stem.removeprefix("plot_") for path in EXAMPLES]


def test_tests_that_claims_name_are_there():
    named = NAMED_TEST.findall((ROOT / "docs" / "how.md").read_text(encoding="utf-8"))
    assert len(named) > 20
    for file, test in named:
        text = (ROOT / "tests" / file).read_text(encoding="utf-8")
        assert f"def {test}(" in text if test else text, f"{file}::{test}"
