"""The floor plan of the sources: who may import whom, and how long anything may be."""

from __future__ import annotations

import ast
import re
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
SRC = TESTS.parent / "src"
CONTRIBUTING = TESTS.parent / "CONTRIBUTING.md"

# Packages of src/laconic, lowest first, with what each one knows. Those on a floor are neighbours,
# which do not import each other; each may import from all floors before its own. This is the only
# list: `python tests/test_architecture.py` writes the table in CONTRIBUTING.md from it.
PACKAGES = (
    {
        "_core": "the compiled search: `src/bindings`, over `src/librulesearch`",
        "_util": "checks, files written whole, optional packages, parallel loops, types, words",
    },
    {"tables": "columns and tables of any library, files, and sources that are read in parts"},
    {"terms": "conditions, queries, rules and ensembles as plain values, and their text"},
    {"losses": "targets and raw predictions; no rules"},
    {"search": "the best query for given gradients and hessians, and the proof of it"},
    {
        "candidates": "the conditions of a table, constraints on rules, and tables reduced to "
        "distinct rows"
    },
    {
        "boosting": "training data and settings; rounds that find, refit, exchange and select "
        "rules; certificates of whole ensembles"
    },
    {"trust": "chance, effects on unseen rows, stability and intervals: how sure a model is"},
    {"models": "tasks, and what a fitted model predicts, explains and scores"},
    {
        "export": "a model in the languages of other programs, compared with it on edge rows",
        "plot": "pictures",
    },
    {"report": "one page: a dictionary of plain values, and templates that show it"},
    {"estimators": "the scikit-learn contract: parameters, input checks, `fit`, models as files"},
    {"cli": "commands over the public classes"},
)
# Apart from the floors: what it may import, and who may import it.
APART = {"datasets": ({"tables"}, {"cli"})}
# May import from laconic itself, as people do; the first two stand above all packages.
PUBLIC_USERS = {"__init__", "__main__", "cli"}

# Folders and files of src/librulesearch, in the same manner.
FLOORS = (
    ("problem",),
    ("kernels",),
    ("engine",),
    ("beam", "slopes"),
    ("conditions", "ranges", "tables"),
    ("optimal",),
)

MAX_FILE_LINES = 900
MAX_FUNCTION_LINES = 60  # of the body, without the docstring
LONG_FUNCTIONS: dict[str, str] = {}  # "path:name" to the reason
GENERATED = {"laconic/_core.pyi"}


def level_of(name, levels):
    found = (number for number, names in enumerate(levels) if name in names)
    return next(found, len(levels))


def may_use(user, used, levels):
    """Whether one part is the other itself, or stands above it."""
    return user == used or level_of(user, levels) > level_of(used, levels)


def may_import(user, used):
    """Whether a package may import another."""
    if used in APART:
        return user == used or user in APART[used][1] | {"__init__", "__main__"}
    if user in APART:
        return used in APART[user][0]
    return user in ("__init__", "__main__") or may_use(user, used, PACKAGES)


def module_name(path, src):
    parts = path.relative_to(src).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def python_modules(src):
    """Syntax trees by module name, packages included."""
    return {
        module_name(path, src): (path, ast.parse(path.read_text(encoding="utf-8")))
        for path in sorted((src / "laconic").rglob("*.py"))
    }


def package_of(module):
    """Package of a module; laconic itself is `__init__`."""
    return [*module.split("."), "__init__"][1]


def absolute(node, path, module):
    """Name of the module in ``from ... import``, also where it is given by dots."""
    if not node.level:
        return node.module or ""
    package = module.split(".") if path.name == "__init__.py" else module.split(".")[:-1]
    parts = package[: len(package) - node.level + 1]
    return ".".join([*parts, *([node.module] if node.module else [])])


def imported(nodes, path, module, known):
    """Modules of the package that some nodes import, laconic itself included."""
    for node in nodes:
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            origin = absolute(node, path, module)
            # A name is a module of its own, or defined where it is imported from.
            inner = [f"{origin}.{alias.name}" for alias in node.names]
            names = [name if name in known else origin for name in inner]
        yield from (name for name in names if name.split(".")[0] == "laconic")


def loading_nodes(tree):
    """Nodes that run when a module is loaded: not those in functions or only for type checkers."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            continue
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            nodes = node.orelse
            yield from nodes
            for child in nodes:
                yield from loading_nodes(child)
            continue
        yield node
        yield from loading_nodes(node)


def import_complaints(src):
    """What is wrong with the imports of the Python modules."""
    modules = python_modules(src)
    known = {*modules, "laconic._core"}
    for module, (path, tree) in modules.items():
        user = package_of(module)
        for name in dict.fromkeys(imported(ast.walk(tree), path, module, known)):
            used = package_of(name)
            if used == "__init__" and user not in PUBLIC_USERS:
                yield f"{module} imports from laconic itself"
            elif used != "__init__" and not may_import(user, used):
                yield f"{module} imports {name}"
    graph = {
        module: {
            name
            for name in imported(loading_nodes(tree), path, module, known)
            if name != "laconic" and name != module
        }
        for module, (path, tree) in modules.items()
        if module != "laconic"
    }
    yield from cycle(graph)


def cycle(graph):
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        yield f"cycle: {' <- '.join(error.args[1])}"


def include_complaints(src):
    """What is wrong with the includes of the C++ files."""
    graph = {}
    for path in sorted(src.rglob("*.[ch]pp")):
        name = path.relative_to(src).as_posix()
        text = path.read_text(encoding="utf-8")
        top, *inner = name.split("/")
        if "<nanobind" in text and not top.startswith("bindings"):
            yield f"{name} includes nanobind"
        graph[name] = re.findall(r'^\s*#\s*include\s*"([^"]+)"', text, re.MULTILINE)
        for used in graph[name]:
            if not (src / used).is_file():
                yield f"{name} includes {used}, which is not a path from src"
            elif top == "librulesearch":
                folder = inner[0].split(".")[0]
                used_top, *used_inner = used.split("/")
                used_folder = used_inner[0].split(".")[0] if used_inner else ""
                if used_top != "librulesearch" or not may_use(folder, used_folder, FLOORS):
                    yield f"{name} includes {used}"
    yield from cycle(graph)


def length_complaints(src):
    """Files and functions that are too long to be read at once."""
    for path in sorted(path for path in src.rglob("*") if path.is_file()):
        name = path.relative_to(src).as_posix()
        if path.suffix in (".so", ".pyd", ".pyc") or name in GENERATED:
            continue
        text = path.read_text(encoding="utf-8")
        if len(text.splitlines()) > MAX_FILE_LINES:
            yield f"{name} has {len(text.splitlines())} lines"
        if path.suffix != ".py":
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                n_lines = body_lines(node)
                if n_lines > MAX_FUNCTION_LINES and f"{name}:{node.name}" not in LONG_FUNCTIONS:
                    yield f"{name}:{node.name} has {n_lines} lines"


def body_lines(function):
    body = function.body[1:] if ast.get_docstring(function) is not None else function.body
    return body[-1].end_lineno - body[0].lineno + 1 if body else 0


def test_packages_are_all_there_is():
    folder = SRC / "laconic"
    found = {path.stem for path in folder.glob("*.py")} | {
        path.name for path in folder.iterdir() if (path / "__init__.py").is_file()
    }
    named = {name for floor in PACKAGES for name in floor} | set(APART)
    assert found - {"__init__", "__main__"} == named - {"_core"}


def table_of_packages():
    """Write the packages as a Markdown table, highest first."""
    rows = [
        f"| `{name}{'' if name == '_core' else '/'}` | {knows} |"
        for floor in reversed(PACKAGES)
        for name, knows in floor.items()
    ]
    return "\n".join(["| Package | Knows |", "|---|---|", *rows, ""])


def with_table_of_packages(text):
    """Replace the table of packages in a text."""
    return re.sub(r"\| Package \| Knows \|\n(\|.*\n)+", lambda _: table_of_packages(), text)


def test_contributors_read_of_the_same_packages():
    text = CONTRIBUTING.read_text(encoding="utf-8")
    assert table_of_packages() in text, "run python tests/test_architecture.py"


def test_tests_mirror_the_packages():
    folders = {path.name for path in TESTS.iterdir() if any(path.glob("test_*.py"))}
    assert folders == {name for floor in PACKAGES for name in floor} - {"_core"}


def test_floors_are_all_there_is():
    parts = {path.stem for path in (SRC / "librulesearch").iterdir()}
    assert parts == {name for names in FLOORS for name in names}


@pytest.mark.parametrize("complaints", [import_complaints, include_complaints, length_complaints])
def test_sources_keep_to_the_plan(complaints):
    assert list(complaints(SRC)) == []


def test_long_functions_are_still_there():
    """A function that was cut in parts loses its exception."""
    for place in LONG_FUNCTIONS:
        path, name = place.split(":")
        tree = ast.parse((SRC / path).read_text(encoding="utf-8"))
        assert name in {getattr(node, "name", None) for node in ast.walk(tree)}


def write(src, files):
    for name, text in files.items():
        path = src / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


EMPTY = {
    "laconic/__init__.py": "",
    "laconic/tables/__init__.py": "",
    "laconic/cli/__init__.py": "",
}


@pytest.mark.parametrize(
    ("path", "text", "complaint"),
    [
        ("tables/a.py", "from laconic.cli import x", "laconic.tables.a imports laconic.cli"),
        ("tables/a.py", "def f():\n    import laconic.cli", "laconic.tables.a imports laconic.cli"),
        ("tables/a.py", "from ..cli import x", "laconic.tables.a imports laconic.cli"),
        ("tables/a.py", "from laconic import cli", "laconic.tables.a imports laconic.cli"),
        ("tables/a.py", "if TYPE_CHECKING:\n    from laconic.cli import x", "imports laconic.cli"),
        ("tables/a.py", "from laconic import Rule", "laconic.tables.a imports from laconic itself"),
        ("_util/a.py", "import laconic._core", "laconic._util.a imports laconic._core"),
        ("datasets/__init__.py", "import laconic.cli", "laconic.datasets imports laconic.cli"),
        ("tables/a.py", "import laconic.datasets", "laconic.tables.a imports laconic.datasets"),
        ("tables/a.py", "from laconic.tables.a import x\nfrom laconic.tables import b", ""),
        ("cli/a.py", "from laconic import Rule\nfrom laconic.datasets import x", ""),
        ("tables/__init__.py", "from laconic.tables.b import c", "cycle: "),
    ],
)
def test_a_wrong_import_is_found(tmp_path, path, text, complaint):
    files = {"laconic/tables/b.py": "class A:\n    from laconic.tables import d", **EMPTY}
    write(tmp_path, files | {f"laconic/{path}": text})
    found = list(import_complaints(tmp_path))
    assert len(found) == bool(complaint)
    assert not found or complaint in found[0]


@pytest.mark.parametrize(
    ("path", "included", "complaint"),
    [
        ("problem/a.hpp", '"librulesearch/engine/b.hpp"', "a.hpp includes librulesearch/engine/b"),
        ("ranges/a.hpp", '"librulesearch/conditions/b.hpp"', "a.hpp includes"),
        ("ranges/a.hpp", '"librulesearch/optimal.hpp"', "a.hpp includes"),
        ("ranges/a.hpp", '"bindings/b.hpp"', "a.hpp includes bindings/b.hpp"),
        ("ranges/a.hpp", '"b.hpp"', "which is not a path from src"),
        ("ranges/a.hpp", "<nanobind/nanobind.h>", "a.hpp includes nanobind"),
        ("engine/b.hpp", '"librulesearch/engine/b.hpp"', "cycle: "),
        ("ranges/a.hpp", '"librulesearch/engine/b.hpp"', ""),
        ("optimal.cpp", '"librulesearch/conditions/b.hpp"', ""),
    ],
)
def test_a_wrong_include_is_found(tmp_path, path, included, complaint):
    others = ["engine/b.hpp", "conditions/b.hpp", "ranges/b.hpp", "optimal.hpp"]
    files = {f"librulesearch/{name}": "" for name in others}
    write(tmp_path, {"bindings/b.hpp": "#include <nanobind/nanobind.h>", **files})
    write(tmp_path, {f"librulesearch/{path}": f"#include {included}\n"})
    found = list(include_complaints(tmp_path))
    assert len(found) == bool(complaint)
    assert not found or complaint in found[0]


def test_long_files_and_functions_are_found(tmp_path):
    lines = ["    x = 1"] * 61
    function = "\n".join(['def f():\n    """Text.\n\n\n    """', *lines])
    fits = "\n".join(['def f():\n    """Text.\n\n\n    """', *lines[1:]])
    write(tmp_path, {"a.py": function, "b.py": fits, "c.js": "\n" * 901, "d.js": "\n" * 900})
    assert list(length_complaints(tmp_path)) == ["a.py:f has 61 lines", "c.js has 901 lines"]


if __name__ == "__main__":
    CONTRIBUTING.write_text(
        with_table_of_packages(CONTRIBUTING.read_text(encoding="utf-8")), "utf-8"
    )
