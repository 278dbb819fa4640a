"""Virtual environments of the other programs, made on first use and kept."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

REQUIREMENTS = "requirements.txt"


@dataclass(frozen=True)
class Environment:
    """Packages for one version of Python.

    Attributes
    ----------
    name : str
        Also of its folder.
    python : str
        Version as in "3.8".
    requirements : tuple of str
        What pip installs.
    """

    name: str
    python: str
    requirements: tuple[str, ...]

    def make(self, folder: Path, python: str | None = None) -> Path:
        """Make the environment unless it is there, and return its interpreter.

        Parameters
        ----------
        folder : Path
            Where environments are kept.
        python : str, default=None
            Interpreter to make it from; None looks for one.
        """
        home = folder / self.name
        interpreter = home / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
        stamp = home / REQUIREMENTS
        wanted = "\n".join(self.requirements)
        if not stamp.is_file() or stamp.read_text(encoding="utf-8") != wanted:
            base = python or find_python(self.python)
            subprocess.run([base, "-m", "venv", "--clear", home], check=True)
            pip = [interpreter, "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
            # The pip that comes with an old Python may not know today's kinds of wheels.
            subprocess.run([*pip, "--upgrade", "pip"], check=True)
            subprocess.run([*pip, *self.requirements], check=True)
            # Last, so that half an environment is made anew.
            stamp.write_text(wanted, encoding="utf-8")
        return interpreter


ENVIRONMENTS = {
    # As released, with packages of its time: it fails with later ones.
    "realkd": Environment(
        "realkd",
        "3.8",
        ("realkd==0.1.1", "numpy==1.18.5", "pandas==1.0.5", "scikit-learn==0.22.2.post1"),
    ),
    "fastogb": Environment(
        "fastogb", f"{sys.version_info.major}.{sys.version_info.minor}", ("fastogb==0.2.0",)
    ),
}


def find_python(version: str) -> str:
    """Interpreter of a version, from the PATH or from pyenv."""
    for candidate in _candidates(version):
        # What is on the PATH may be a shim for a version that is not there.
        found = subprocess.run(
            [candidate, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"],
            capture_output=True,
            text=True,
            check=False,
        )
        if found.stdout.strip() == version:
            return candidate
    raise FileNotFoundError(
        f"Python {version} is needed, on the PATH as python{version} or installed with pyenv. "
        "None was found. Install it, name it with --python, or pass --live without names to use "
        "stored measurements only."
    )


def _candidates(version: str) -> Iterator[str]:
    yield sys.executable
    on_path = shutil.which(f"python{version}")
    if on_path:
        yield on_path
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    yield from map(str, sorted(pyenv.glob(f"versions/{version}.*/bin/python")))
