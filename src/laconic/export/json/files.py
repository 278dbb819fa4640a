"""Models as JSON files: written whole or not at all, and checked entry by entry when read.

Reading executes nothing and takes no more than a limited number of bytes, so files from untrusted
sources can be loaded.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path
from typing import Any

from laconic._util.checks import shown
from laconic._util.files import write_whole
from laconic.export.json.contents import SavedModel, model_to_dict, read_dict
from laconic.models import RuleModel

# No finite double has more integer digits.
_MAX_DIGITS = 309

# Enough for ten thousand rules. Separators are counted before
# anything is read, so that no file takes more than a second or 200 MB of memory to be refused.
MAX_BYTES = 2**24
MAX_SEPARATORS = 2**19


def to_json(model: RuleModel) -> str:
    """Write a fitted model as JSON.

    Parameters
    ----------
    model : RuleModel
        Fitted, with one of the named losses.

    Returns
    -------
    text : str
        As `laconic.save_model` writes it to a file. `model_schema` describes it.

    Examples
    --------
    >>> from laconic import RuleBoostingRegressor
    >>> model = RuleBoostingRegressor(l2_regularization=0).fit([[1], [2], [3], [4]], [5, 5, 1, 1])
    >>> round(json.loads(to_json(model))["rules"][0]["weight"], 9)
    4.0
    """
    text = json.dumps(model_to_dict(model), ensure_ascii=False, allow_nan=False, indent=2)
    return f"{text}\n"


def write_model(model: RuleModel, path: str | os.PathLike[str]) -> None:
    """Write a fitted model to a file, which is replaced when the new one is complete."""
    content = to_json(model).encode()
    target = Path(path).resolve()
    if target.exists() and not target.is_file():
        raise ValueError(
            f"A model is saved to a regular file. Got {str(path)!r}, which is a folder or a "
            "device. Choose another path."
        )
    if not target.parent.is_dir():
        raise FileNotFoundError(
            f"A model is saved to an existing folder. There is no folder {str(target.parent)!r}. "
            "Create it, or choose another path."
        )
    write_whole(target, content)


def read_model(path: str | os.PathLike[str]) -> SavedModel:
    """Read a file that `write_model` wrote; the message names what is not as it must be."""
    with Path(path).open("rb") as stream:
        content = stream.read(MAX_BYTES + 1)
    try:
        _check_size(content)
        return read_dict(_parse(content))
    except ValueError as error:
        message = f"Cannot load a model from {os.fspath(path)!r}. {error}"
    raise ValueError(message)


def _check_size(content: bytes) -> None:
    if len(content) > MAX_BYTES:
        raise ValueError(
            f"It must be a model of at most {MAX_BYTES} bytes. Got a larger file. Pass a file that "
            "laconic.save_model wrote."
        )
    if sum(content.count(separator) for separator in (b",", b"[", b"{")) > MAX_SEPARATORS:
        raise ValueError(
            f"It must be a model of at most {MAX_SEPARATORS} entries. Got more. Pass a file that "
            "laconic.save_model wrote."
        )


def _parse(content: bytes) -> Any:
    """Parse JSON, stricter than the standard library: no repeated keys, no NaN."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(
            f"It must be text in UTF-8, but byte {error.start} is not. Pass a file that "
            "laconic.save_model wrote."
        ) from None
    try:
        return json.loads(
            text,
            parse_int=_parse_int,
            parse_constant=_refuse_constant,
            object_pairs_hook=_object_without_repeats,
        )
    except json.JSONDecodeError as error:
        raise ValueError(
            f"It must be JSON, but is not at line {error.lineno}, column {error.colno}: "
            f"{error.msg}. The file may be incomplete; save the model again."
        ) from None
    except RecursionError:
        raise ValueError(
            "It must be a model, which has few levels. Got JSON that is nested too deeply to read. "
            "Pass a file that laconic.save_model wrote."
        ) from None


def _parse_int(digits: str) -> int | float:
    # Python refuses to read very long integers, in words that name no entry. As a float they are
    # infinite, which the check of the entry refuses.
    return int(digits) if len(digits) <= _MAX_DIGITS + 1 else float(digits)


def _refuse_constant(constant: str) -> Any:
    raise ValueError(
        f"Numbers must be finite. Got {constant}, which JSON does not know. Correct it, or save "
        "the model again."
    )


def _object_without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    entries = dict(pairs)
    if len(entries) < len(pairs):
        counts = Counter(name for name, _ in pairs)
        repeated = next(name for name, count in counts.items() if count > 1)
        raise ValueError(
            f"A JSON object must have each key once. Got {shown(repeated)} more than once. "
            "Remove one of the two."
        )
    return entries
