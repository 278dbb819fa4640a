"""Import optional packages when they are needed."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def import_extra(module: str, extra: str, purpose: str) -> Any:
    """Import a module of an optional package, or say which extra of laconic installs it.

    The message of the ModuleNotFoundError also says what needs the package: its `purpose`.
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
