"""Write the page of public names, ``docs/api.md``, from signatures and docstrings.

python docs/api.py            # writes the page
python docs/api.py --check    # fails if the page would change
"""

from __future__ import annotations

import difflib
import inspect
import re
import sys
import textwrap
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

PAGE = Path(__file__).with_name("api.md")
MODULES = (
    "laconic",
    "laconic.search",
    "laconic.plot",
    "laconic.evaluation",
    "laconic.export",
    "laconic.datasets",
)
INTRODUCTION = """\
# Public names

What can be imported, module by module, with the first words of each docstring. `help(name)` shows
the rest: parameters, attributes, examples. Words like query, extent or bound are explained in the
[glossary](glossary.md). `nox -s docs` writes this page; edit the docstrings instead.
"""
COMPILED = "laconic._core"
WIDTH = 100


def main() -> int:
    text = page()
    if "--check" not in sys.argv[1:]:
        PAGE.write_text(text, encoding="utf-8")
        return 0
    committed = PAGE.read_text(encoding="utf-8")
    difference = difflib.unified_diff(
        *(lines.splitlines(keepends=True) for lines in (committed, text)),
        *("committed page", "generated page"),
    )
    sys.stderr.writelines(difference)
    if committed != text:
        sys.stderr.write(f"{PAGE.name} is out of date, run `nox -s docs`.\n")
    return int(committed != text)


def page() -> str:
    parts = [INTRODUCTION]
    for name in MODULES:
        module = import_module(name)
        parts += [f"## {name}\n", filled(first_paragraph(module))]
        for public in sorted(module.__all__, key=str.lower):
            if not public.startswith("__"):
                parts += describe(public, getattr(module, public), name)
    return "\n".join(parts)


def describe(name: str, value: Any, module: str) -> Iterator[str]:
    """Heading, signature and first words of one name; for a class, also those of its methods."""
    yield f"### {module}.{name}\n"
    if not callable(value):
        keys = f" `{'`, `'.join(map(str, value))}`" if isinstance(value, dict) else ""
        yield filled(f"A {type(value).__name__}:{keys}.")
        return
    if is_enumeration(value):
        members = "`, `".join(value.__members__)
        yield filled(f"{first_paragraph(value)} One of `{members}`.")
        return
    if inspect.isclass(value) and issubclass(value, Warning):
        yield filled(f"{first_paragraph(value)} A category of warnings.")
        return
    yield f"```text\n{wrapped(name + signature(value))}\n```\n"
    yield filled(first_paragraph(value))
    if inspect.isclass(value) and value.__module__ != COMPILED:
        methods = public_methods(value)
        items = [filled(f"- `{call}`: {first_paragraph(method)}") for call, method in methods]
        yield from ["".join(items)] if items else []


def public_methods(cls: type) -> Iterator[tuple[str, Any]]:
    """Documented methods and properties that our classes define, with their signatures."""
    for name, value in inspect.getmembers(cls):
        function = getattr(value, "fget", value)
        function = inspect.unwrap(function) if callable(function) else function
        origin = getattr(function, "__module__", None) or ""
        if name.startswith("_") or not origin.startswith("laconic") or not value.__doc__:
            continue
        if isinstance(value, property):
            yield name, value
        elif callable(value) and not inspect.isclass(value):
            yield name + signature(value, is_method=not inspect.ismethod(value)), value


def is_enumeration(value: Any) -> bool:
    return inspect.isclass(value) and hasattr(value, "__members__")


def signature(value: Any, *, is_method: bool = False) -> str:
    """Parameters and defaults, without types: the docstring tells these in words."""
    if value.__module__ == COMPILED:  # has its signature in its text only
        names = re.findall(r"(\w+): ", value.__init__.__doc__)
        return f"({', '.join(names)})"
    parameters = list(inspect.signature(value).parameters.values())[int(is_method) :]
    bare = [parameter.replace(annotation=parameter.empty) for parameter in parameters]
    return str(inspect.Signature(bare))


def first_paragraph(value: Any) -> str:
    return " ".join((inspect.getdoc(value) or "").split("\n\n")[0].split())


def filled(text: str) -> str:
    """Text in lines of the usual length, without the markup of reStructuredText."""
    plain = re.sub(r":\w+:`~?([^`]+)`", r"`\1`", text).replace("``", "`")
    indent = "  " if plain.startswith("- ") else ""
    options = {"break_long_words": False, "break_on_hyphens": False}
    return textwrap.fill(plain, WIDTH, subsequent_indent=indent, **options) + "\n"


def wrapped(call: str) -> str:
    """A call, with one parameter to a line where it is too long for one."""
    if len(call) <= WIDTH:
        return call
    name, parameters = call.removesuffix(")").split("(", 1)
    lines = re.split(r", (?=[\w*/]+(?:=|,|$))", parameters)
    return "\n".join([f"{name}(", *(f"    {line}," for line in lines), ")"])


if __name__ == "__main__":
    sys.exit(main())
