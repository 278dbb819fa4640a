"""Development workflow, for developers and continuous integration: `nox -s lint tests`."""

from __future__ import annotations

import difflib
import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path

import nox

nox.needs_version = ">=2024.4.15"
nox.options.sessions = ["lint", "types", "tests"]

PROJECT = nox.project.load_toml("pyproject.toml")["project"]
ROOT = Path(__file__).parent
STUB = ROOT / "src" / "laconic" / "_core.pyi"

# Releases of a formatter differ: keep these versions the same as in .pre-commit-config.yaml.
RUFF = "ruff==0.17.4"
CLANG_FORMAT = "clang-format==23.1.3"
CODESPELL = "codespell==2.4.3"
MYPY = "mypy==2.4.1"
NANOBIND = "nanobind==3.1.0"  # the version that generated the committed stub
ZIZMOR = "zizmor==1.32.0"
REPO_REVIEW = "sp-repo-review[cli]==2026.8.14"

# Releases about half way between the oldest supported ones and those of today.
MIDDLE = (
    *("numpy==2.2.*", "scipy==1.14.*", "scikit-learn==1.7.*", "narwhals==1.48.*"),
    *("pandas==2.3.*", "polars==1.32.*", "pyarrow==20.*", "duckdb==1.3.*", "cyclopts==3.20.*"),
    *("dask[dataframe]==2025.7.*", "distributed==2025.7.*"),
)
# Old releases warn about newer versions of their own dependencies.
OLD_RELEASES = ("-W", "ignore::DeprecationWarning")


def oldest() -> list[str]:
    """Return the oldest releases that the package claims to work with."""
    extras = PROJECT["optional-dependencies"]
    used = ("cli", "dask", "databases", "excel", "large", "onnx", "plot", "report", "shap", "sql")
    required = {*PROJECT["dependencies"]}.union(*(extras[name] for name in (*used, "test")))
    # Requirements without a lower bound are this package itself, with other extras.
    return sorted(line.replace(">=", "==") for line in required if ">=" in line)


def install(session: nox.Session, *requirements: str) -> None:
    """Install into the environment of the session.

    With `nox --no-venv`, this is the environment of nox, in which the package is already installed;
    then only tools are installed.
    """
    if session.virtualenv.is_sandboxed:
        session.install(*requirements)
    else:
        tools = [line for line in requirements if not line.startswith(".")]
        if tools:
            session.run("python", "-m", "pip", "install", *tools, silent=True)


@nox.session
def lint(session: nox.Session) -> None:
    """Check style and spelling; change nothing."""
    install(session, RUFF, CLANG_FORMAT, CODESPELL)
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")
    sources = sorted(str(path) for path in (ROOT / "src").rglob("*.[ch]pp"))
    session.run("clang-format", "--dry-run", "--Werror", *sources)
    session.run("codespell")


@nox.session
def repository(session: nox.Session) -> None:
    """Audit the workflows, and review how the repository is set up."""
    install(session, ZIZMOR, REPO_REVIEW)
    session.run("zizmor", "--offline", ".github")
    session.run("sp-repo-review", ".")


@nox.session
def types(session: nox.Session) -> None:
    """Check the types of the package."""
    # The committed stub describes the extension, so nothing has to be compiled.
    extras = PROJECT["optional-dependencies"]
    used = (line for name in ("cli", "plot", "report") for line in extras[name])
    install(session, MYPY, *PROJECT["dependencies"], *used)
    session.run("mypy")


@nox.session
def tests(session: nox.Session) -> None:
    """Build, install and test the package."""
    session.install(".[test,pmml-test]")
    session.run("python", "-m", "pytest", *session.posargs)


@nox.session
def tests_oldest(session: nox.Session) -> None:
    """Test with the oldest releases that the package claims to work with."""
    session.install(".", *oldest())
    session.run("python", "-m", "pytest", *OLD_RELEASES, *session.posargs)


@nox.session
def tests_middle(session: nox.Session) -> None:
    """Test with releases that are neither the oldest nor the newest."""
    session.install(".[test]", *MIDDLE)
    session.run("python", "-m", "pytest", *OLD_RELEASES, *session.posargs)


@nox.session
def stubs(session: nox.Session) -> None:
    """Write the stub of the extension; with `-- --check`, fail if it would change."""
    install(session, ".", NANOBIND)
    check = "--check" in session.posargs
    output = Path(session.create_tmp()) / STUB.name if check else STUB
    session.run("python", "-m", "nanobind.stubgen", "-m", "laconic._core", "-o", str(output))
    if check:
        difference = "".join(
            difflib.unified_diff(
                STUB.read_text(encoding="utf-8").splitlines(keepends=True),
                output.read_text(encoding="utf-8").splitlines(keepends=True),
                fromfile="committed stub",
                tofile="generated stub",
            )
        )
        if difference:
            session.error(f"The stub is out of date, run `nox -s stubs`:\n{difference}")


@nox.session
def docs(session: nox.Session) -> None:
    """Check the links of all pages and the generated reference, and run the examples."""
    install(session, ".[test]")
    session.run("python", "docs/links.py")
    session.run("python", "docs/command_reference.py", "--check")
    session.run("python", "-m", "pytest", "README.md", "docs")


@nox.session
def site(session: nox.Session) -> None:
    """Build the documentation site into build/site; a warning is an error."""
    install(session, ".[docs]", *PROJECT["optional-dependencies"]["docs"][1:])
    for generated in ("gallery", "reference"):
        shutil.rmtree(ROOT / "docs" / generated, ignore_errors=True)
    folder = ROOT / "build" / "site"
    session.run(
        *("python", "-m", "sphinx", "--builder", "html", "--fail-on-warning", "--keep-going"),
        *("--doctree-dir", str(folder.with_name("site-doctrees")), "docs", str(folder)),
    )
    session.log(f"open {folder / 'index.html'}")


@nox.session
def bench(session: nox.Session) -> None:
    """Measure speed beside other programs, for docs/research/speed.md; or `-- --quick`."""
    install(session, ".[bench]", "-r", "benchmarks/speed/requirements.txt")
    session.run("python", "-m", "benchmarks.speed", *session.posargs)


@nox.session
def asv(session: nox.Session) -> None:
    """Run every benchmark of asv once; arguments after `--` go to asv."""
    install(session, ".[bench]")
    with session.chdir("benchmarks"):
        # Measure the installed package: do not build it again from a commit.
        session.run("asv", "machine", "--yes", silent=True)
        session.run("asv", "run", "--python=same", "--quick", "--show-stderr", *session.posargs)


@nox.session
def wheel(session: nox.Session) -> None:
    """Build a wheel from the source distribution; try it with old and new dependencies.

    The environments are empty, have no compiler, and install nothing that needs one.
    """
    session.install("build", "twine")
    folder = Path(session.create_tmp()).resolve() / "dist"
    shutil.rmtree(folder, ignore_errors=True)
    session.run("python", "-m", "build", "--outdir", str(folder), str(ROOT))
    session.run("twine", "check", "--strict", *map(str, folder.iterdir()))
    (built,) = folder.glob("*.whl")
    for name, releases in {"newest": [], "oldest": oldest()}.items():
        _try_wheel(session, built, folder.parent / name, releases)


SMOKE_TESTS = ("tests/test_package.py", "tests/search/test_search.py", "tests/cli/test_cli.py")


def _try_wheel(session: nox.Session, wheel: Path, environment: Path, releases: list[str]) -> None:
    """Install a wheel, run its demo, and test it."""
    session.run("python", "-m", "venv", "--clear", str(environment))
    programs = environment / ("Scripts" if sys.platform == "win32" else "bin")
    python = str(programs / "python")
    alone = {"PATH": str(programs), "CC": None, "CXX": None}  # hide any compiler
    run = partial(session.run, external=True, env=alone)
    install = ("-m", "pip", "install", "--only-binary=:all:")
    run(python, *install, f"{wheel}[cli]", *(line for line in releases if _is_of_demo(line)))
    with session.chdir(environment):
        run(str(programs / "laconic"), "demo")
    run(python, *install, f"{wheel}[test]", *releases)
    run(python, "-m", "pytest", *OLD_RELEASES, *(session.posargs or SMOKE_TESTS))


def _is_of_demo(requirement: str) -> bool:
    needed = (*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["cli"])
    return requirement.replace("==", ">=") in needed


@nox.session
def fuzz(session: nox.Session) -> None:
    """Fuzz the package with random cases for some time: `-- --minutes 30`."""
    install(session, ".[test]")
    session.run("python", "-m", "fuzz", *session.posargs)


# Sanitizers, their runtime library, and the default tests.
SANITIZERS = {
    "memory": ("address,undefined", "libasan.so", ("test_search*.py",)),
    "threads": ("thread", "libtsan.so", ("test_search_agreement.py", "test_search_tables.py")),
}


@nox.session
@nox.parametrize("kind", list(SANITIZERS))
def sanitize(session: nox.Session, kind: str) -> None:
    """Test the search with assertions and sanitizers; needs Linux and GCC."""
    sanitizers, library, tests = SANITIZERS[kind]
    folder = ROOT / "tests" / "search"
    session.install(
        # A separate folder: the CMake cache would keep the option for the next plain build.
        *("-C", f"build-dir=build/sanitize-{kind}"),
        *("-C", "cmake.build-type=Debug"),
        *("-C", f"cmake.define.LACONIC_SANITIZE={sanitizers}"),
        ".[test]",
        env={"CC": "gcc", "CXX": "g++"},
    )
    # Python itself is not instrumented, so the runtime has to be loaded before it; the sanitizer
    # finds the functions that throw exceptions only if the C++ library is already there as well.
    libraries = [
        subprocess.check_output(["g++", f"-print-file-name={name}"], text=True).strip()
        for name in (library, "libstdc++.so")
    ]
    session.run(
        "pytest",
        "--capture=sys",  # not the file descriptors: the sanitizers report there, and exit
        *(session.posargs or sorted(str(path) for name in tests for path in folder.glob(name))),
        env={
            "LD_PRELOAD": " ".join(libraries),
            "ASAN_OPTIONS": "detect_leaks=0",  # the interpreter keeps memory until it exits
            "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1",
            "TSAN_OPTIONS": "halt_on_error=1",
        },
    )
