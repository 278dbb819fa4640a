"""Packages that only some parts of laconic need, imported when they are asked for."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def import_extra(module: str, extra: str, purpose: str) -> Any:
    """Import a module of an optional package.

    Parameters
    ----------
    module : str
        What to import.
    extra : str
        Name of the extra of laconic that installs it.
    purpose : str
        What needs it, for the message.

    Returns
    -------
    module : module
        The imported module.

    Raises
    ------
    ModuleNotFoundError
        If the package is not installed. The message says how to install it.
    """
    package = module.split(".")[0]
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name != package:
            raise
    raise ModuleNotFoundError(
        f"{purpose} needs the package {package}, which is not installed. Install it with: "
        f'pip install "laconic[{extra}]"'
    )
