"""Examples run, and what the pages name exists: tests, modules, files and folders."""

import importlib
import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
EXAMPLES = sorted((ROOT / "examples").glob("plot_*.py"))
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("**/*.md"))]
NAMED_TEST = re.compile(r"`([\w/]*test_\w+\.py)(?:::(\w+))?`")
DOTTED_NAME = re.compile(r"(?<![\w./-])laconic(?:\.[A-Za-z_]\w*)+(?![\w-])")
# In backticks, with at least one slash: `tests/helpers`, `src/librulesearch/`, `cli/fit.py::fit`.
FILE_PATH = re.compile(r"`([\w.*-]+(?:/[\w.*-]+)+/?|[\w.*-]+/)(?:::([\w.]+))?`")
# Pages name files from these folders on. Other paths are those of examples.
FOLDERS = [ROOT / name for name in ("", "src", "src/laconic", "src/librulesearch", "tests")]

pytestmark = pytest.mark.skipif(not EXAMPLES, reason="needs the examples")


@pytest.fixture
def no_windows(monkeypatch):
    """Draw without a display, and close all figures afterwards."""
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
    assert any(titles), "the title is the alternative text of the picture"
    assert capsys.readouterr().out


def test_gallery_has_an_order(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    from gallery_order import ORDER

    assert sorted(ORDER) == [path.stem.removeprefix("plot_") for path in EXAMPLES]


def test_reference_of_commands_is_written_from_the_program(monkeypatch, tmp_path, capsys):
    pytest.importorskip("cyclopts")
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    import command_reference

    monkeypatch.setattr(command_reference, "PAGE", tmp_path / "cli.md")
    monkeypatch.setattr("sys.argv", ["command_reference.py"])
    assert command_reference.main() == 0
    page = command_reference.PAGE.read_text(encoding="utf-8")
    assert "| `--target TEXT` | required | Column to predict. |" in page
    assert "`--strategy joint\\|stagewise" in page
    monkeypatch.setattr("sys.argv", ["command_reference.py", "--check"])
    assert command_reference.main() == 0
    command_reference.PAGE.write_text(
        page.replace("Column to predict", "Another text"), encoding="utf-8"
    )
    assert command_reference.main() == 1
    assert "out of date" in capsys.readouterr().err


def test_tests_that_claims_name_are_there():
    named = NAMED_TEST.findall((ROOT / "docs" / "how.md").read_text(encoding="utf-8"))
    assert len(named) > 20
    for file, test in named:
        text = (ROOT / "tests" / file).read_text(encoding="utf-8")
        assert f"def {test}(" in text if test else text, f"{file}::{test}"


def can_be_imported(name):
    """Whether a dotted name is a module, or a name in one."""
    module_name, *attributes = name.split(".")
    found = importlib.import_module(module_name)
    for attribute in attributes:
        module_name += f".{attribute}"
        if not hasattr(found, attribute):
            try:
                found = importlib.import_module(module_name)
            except ModuleNotFoundError as error:
                # A package of an extra may be missing here.
                return not (error.name or "").startswith("laconic")
        else:
            found = getattr(found, attribute)
    return True


def exists(path, names):
    """Whether there is such a file or folder, and it defines some names: `Class.method`.

    C++ files are named without their endings.
    """
    found = [file for folder in FOLDERS for file in folder.glob(f"{path.rstrip('/')}*")]
    if not names:
        return bool(found)
    text = "".join(file.read_text(encoding="utf-8") for file in found)
    defined = (rf"^ *(def|class) {name}\b|^{name}\b.* =" for name in names.split("."))
    return all(re.search(pattern, text, re.MULTILINE) for pattern in defined)


def is_ours(path):
    """Whether a path begins with a folder of the project, or is a source file."""
    first = path.split("/")[0]
    if first == "build":
        return False  # may be there, and not yet have that file
    is_source = path.endswith((".py", ".hpp", ".cpp"))
    return is_source or any((folder / first).is_dir() for folder in FOLDERS)


def missing(text):
    """Return the modules, names and files in a text that do not exist."""
    names = {name for name in DOTTED_NAME.findall(text) if not can_be_imported(name)}
    paths = {
        f"{path}::{defined}" if defined else path
        for path, defined in FILE_PATH.findall(text)
        if is_ours(path) and not exists(path, defined)
    }
    return names | paths


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_modules_and_files_that_pages_name_exist(page):
    assert missing(page.read_text(encoding="utf-8")) == set()


def test_missing_modules_and_files_are_found():
    text = """`laconic.search.search(problem)` and `laconic.terms.rules`, `src/laconic/cli/`,
    `librulesearch/problem/extents`, `examples/plot_*.py`, `cli/fit.py::fit` and model.json exist.
    `laconic.nowhere.rules`, `laconic.search.nothing`, `tests/nowhere.py`, `cli/nowhere.py`,
    `cli/fit.py::nothing` and `librulesearch/problem/nowhere` do not."""
    assert missing(text) == {
        "laconic.nowhere.rules",
        "laconic.search.nothing",
        "tests/nowhere.py",
        "cli/nowhere.py",
        "cli/fit.py::nothing",
        "librulesearch/problem/nowhere",
    }
