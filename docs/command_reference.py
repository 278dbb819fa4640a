"""Write the reference of the command line from the program; with --check, fail if it would change.

python docs/command_reference.py [--check]
"""

from __future__ import annotations

import inspect
import re
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from types import NoneType
from typing import Any, Literal, NamedTuple, get_args, get_origin

import cyclopts

from laconic.cli import COMMANDS

PAGE = Path(__file__).with_name("cli.md")
INTRODUCTION = """# Command line reference

All commands with their arguments and options, as `laconic COMMAND --help` prints them. An option
that takes several values takes all that follow, so put tables and models before the options:
`laconic fit table.csv --target y --drop a b`. [Files](columns.md#files) describes how tables are
read.

Results go to the standard output, warnings and errors to the standard error. The exit code is 0 for
success, 1 for an error, 2 for a wrong call, 3 for models that differ (`compare --exit-code`), and
130 after Ctrl-C.

<!-- Written by `python docs/command_reference.py`. -->
"""
WORDS = {str: "TEXT", int: "NUMBER", float: "NUMBER", Path: "PATH"}
INLINE_CODE = re.compile(r"`+([^`]+)`+")
COMMON = "Options for reading tables"


class Option(NamedTuple):
    """An argument or an option, as a line of a table."""

    usage: str
    default: str
    text: str


def main() -> int:
    page = "\n".join([INTRODUCTION, *sections(options_of_commands())])
    if "--check" not in sys.argv[1:]:
        PAGE.write_text(page, encoding="utf-8")
    elif page != PAGE.read_text(encoding="utf-8"):
        sys.stderr.write(f"{PAGE.name} is out of date, run `python docs/command_reference.py`.\n")
        return 1
    return 0


def options_of_commands() -> dict[str, list[Option]]:
    """Return what each command takes, by its name."""
    app = cyclopts.App()
    for command in COMMANDS:
        app.command(command)
    return {command.__name__: [*options(app[command.__name__])] for command in COMMANDS}


def options(command: cyclopts.App) -> Iterator[Option]:
    for argument in command.assemble_argument_collection(parse_docstring=True):
        if argument.show:
            text = INLINE_CODE.sub(r"`\1`", " ".join((argument.parameter.help or "").split()))
            cells = usage(argument), default(argument), text
            # A bar would end the cell of a table.
            yield Option(*(cell.replace("|", "\\|") for cell in cells))


def usage(argument: cyclopts.Argument) -> str:
    """Return the names of an argument and the values it takes, in backticks."""
    is_option = argument.names[0].startswith("-")
    values = "|".join(dict.fromkeys(value_words(argument.hint)))
    if not is_option or not values:
        return ", ".join(f"`{name}`" for name in argument.names)
    several = "..." if tuple in map(get_origin, (argument.hint, *get_args(argument.hint))) else ""
    named = [*argument.names[:-1], f"{argument.names[-1]} {values}{several}"]
    return ", ".join(f"`{name}`" for name in named)


def value_words(hint: Any) -> Iterator[str]:
    """Yield words for the values of a type: its choices, or what kind of value it is."""
    if get_origin(hint) is Literal:
        yield from map(str, get_args(hint))
    elif hint in WORDS:
        yield WORDS[hint]
    else:
        for part in get_args(hint):
            if part is not NoneType and part is not Ellipsis:
                yield from value_words(part)


def default(argument: cyclopts.Argument) -> str:
    """Return the default, if there is one to show."""
    value = argument.field_info.default
    if argument.required:
        return "required"
    is_shown = value is not inspect.Parameter.empty and value is not None and value != ()
    if not is_shown or value is False:
        return ""
    if value is True:
        return f"`{argument.names[0]}`"
    return f"`{value}`"


def sections(commands: dict[str, list[Option]]) -> Iterator[str]:
    """Yield each command with its own options, then options that several commands share."""
    shared = shared_options(commands)
    in_common = {option for its_options in shared.values() for option in its_options}
    for command in COMMANDS:
        name = command.__name__
        yield f"## {name}\n"
        yield inspect.cleandoc(command.__doc__ or "").split("Parameters\n")[0].rstrip() + "\n"
        yield from table(option for option in commands[name] if option not in in_common)
        used = [f"[{title(names)}](#{anchor(title(names))})" for names in shared if name in names]
        if used:
            yield f"More: {', '.join(used)}.\n"
    for names, its_options in shared.items():
        yield f"## {title(names)}\n"
        if title(names) == COMMON:
            yield f"For {', '.join(f'`{name}`' for name in names)}.\n"
        yield from table(its_options)


def shared_options(commands: dict[str, list[Option]]) -> dict[tuple[str, ...], list[Option]]:
    """Return what several commands take with the same meaning, by the names of the commands."""
    users: dict[Option, list[str]] = defaultdict(list)
    for name, its_options in commands.items():
        for option in its_options:
            users[option].append(name)
    groups: dict[tuple[str, ...], list[Option]] = defaultdict(list)
    for option, names in users.items():
        if option.usage.startswith("`-"):
            groups[tuple(names)].append(option)
    return {names: group for names, group in groups.items() if len(names) > 1 and len(group) > 2}


def title(names: Sequence[str]) -> str:
    return COMMON if len(names) > 3 else f"Options of {' and '.join(names)}"


def anchor(heading: str) -> str:
    return heading.lower().replace(" ", "-")


def table(rows: Iterable[Option]) -> Iterator[str]:
    lines = [f"| {row.usage} | {row.default} | {row.text} |" for row in rows]
    if lines:
        yield "\n".join(["| Option | Default | Meaning |", "|---|---|---|", *lines, ""])


if __name__ == "__main__":
    sys.exit(main())
