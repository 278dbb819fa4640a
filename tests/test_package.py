import ast
import importlib
import inspect
import pkgutil
import re
import subprocess
import sys
from importlib import metadata, resources
from pathlib import Path

import pytest

import laconic

MODULES = [
    name for _, name, _ in pkgutil.walk_packages(laconic.__path__, "laconic.") if "._" not in name
]


def run_python(code):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_import_is_light():
    heavy = "pandas matplotlib polars pyarrow sklearn"
    code = f"import sys, laconic; print(*(set('{heavy}'.split()) & set(sys.modules)))"
    assert run_python(code) == []


def test_every_public_name_can_be_imported_first():
    code = "import laconic; print(*(getattr(laconic, name) is not None for name in dir(laconic)))"
    assert run_python(code) == ["True"] * len(laconic.__all__)


def test_version_is_that_of_the_distribution():
    assert laconic.__version__ == metadata.version("laconic")


def test_core_has_the_same_version():
    assert importlib.import_module("laconic._core").version == laconic.__version__


@pytest.mark.parametrize("name", ["py.typed", "_core.pyi"])
def test_types_are_shipped(name):
    assert resources.files("laconic").joinpath(name).is_file()


def test_dir_lists_the_public_names():
    assert dir(laconic) == sorted(laconic.__all__)


def test_unknown_name():
    with pytest.raises(AttributeError, match="module 'laconic' has no attribute 'RuleBoosting'"):
        _ = laconic.RuleBoosting


REFERENCE = Path(__file__).parents[1] / "docs" / "reference.md"
PUBLIC_MODULES = [
    "laconic",
    "laconic.boosting.certificate",
    "laconic.datasets",
    "laconic.export",
    "laconic.losses",
    "laconic.models.curves",
    "laconic.plot",
    "laconic.search",
]


def listed_in_reference():
    """Return the names that the page lists, module by module."""
    found, module = [], None
    for line in REFERENCE.read_text(encoding="utf-8").splitlines():
        if place := re.fullmatch(r"\.\. currentmodule:: (\S+)", line):
            module = importlib.import_module(place[1])
        elif name := re.fullmatch(r"(?:   |\.\. autoclass:: )(\w+)", line):
            found.append(getattr(module, name[1]))
    return found


def test_reference_lists_all_that_is_public():
    listed = listed_in_reference()
    for name in PUBLIC_MODULES:
        module = importlib.import_module(name)
        for public in module.__all__:
            value = getattr(module, public)
            if inspect.isclass(value) or inspect.isfunction(value):
                assert listed.count(value) == 1, f"{name}.{public}"


def test_modules_are_found():
    assert {"laconic.boosting", "laconic.estimators", "laconic.search"} <= set(MODULES)


def public_names(module):
    """Return the names that a package lists, or that a module defines."""
    own = [
        name
        for name, thing in vars(module).items()
        if not name.startswith("_") and getattr(thing, "__module__", None) == module.__name__
    ]
    return getattr(module, "__all__", own)


def public_objects(module):
    for name in public_names(module):
        thing = getattr(module, name)
        if inspect.isclass(thing) or inspect.isroutine(thing):
            yield name, thing
        if inspect.isclass(thing):
            for member_name, member in inspect.getmembers(thing):
                is_ours = (getattr(member, "__module__", None) or "").startswith("laconic")
                is_documentable = inspect.isroutine(member) and is_ours
                if not member_name.startswith("_") and (
                    is_documentable or isinstance(member, property)
                ):
                    yield f"{name}.{member_name}", member


@pytest.mark.parametrize("module_name", ["laconic", *MODULES])
def test_everything_public_is_documented(module_name):
    module = importlib.import_module(module_name)
    assert module.__doc__
    undocumented = [name for name, thing in public_objects(module) if not inspect.getdoc(thing)]
    assert undocumented == []


def test_placeholders_of_shared_docstrings_are_filled():
    for estimator in (laconic.RuleBoostingClassifier, laconic.RuleBoostingRegressor):
        doc = inspect.getdoc(estimator)
        assert not re.search(r"\{\w*\}", doc)
        parameters = inspect.signature(estimator).parameters
        assert [name for name in parameters if f"\n{name} : " not in doc] == []


@pytest.mark.parametrize("name", ["RuleBoostingClassifier", "RuleBoostingRegressor"])
def test_documented_defaults_are_the_defaults(name):
    estimator = getattr(laconic, name)
    doc = inspect.getdoc(estimator)
    for parameter in inspect.signature(estimator).parameters.values():
        line = next(line for line in doc.splitlines() if line.startswith(f"{parameter.name} : "))
        documented = line.rpartition("default=")[2]
        assert ast.literal_eval(documented) == parameter.default, line


def test_workflows_do_what_is_done_before_a_change_lands():
    root = Path(__file__).parents[1]
    script, workflow = root / ".ci" / "run", root / ".github" / "workflows" / "ci.yml"
    if not script.exists() or not workflow.exists():
        pytest.skip("not a clone")
    (sessions,) = re.findall(r"for session in (.+); do", script.read_text("utf-8"))
    steps = " ".join(re.findall(r"run: (.+)", workflow.read_text("utf-8")))
    assert {"tests", *sessions.split()} <= set(re.findall(r"\w+", steps))
    commands = re.findall(r"```bash\n(.+)\n", (root / "README.md").read_text("utf-8"))
    assert commands[0] in steps
