"""Models as JSON files: written whole or not at all, and checked entry by entry when read.

The format is described by ``model-1.schema.json``, next to this module, where 1 is its version. A
file holds the model and nothing of the fit but the certificates: an estimator that is loaded
predicts as the saved one did, and has the default parameters. Reading executes nothing and takes no
more than a limited number of bytes, so files of strangers can be loaded.
"""

from __future__ import annotations

import json
import os
import uuid
from importlib.resources import files
from pathlib import Path
from typing import Any

from laconic.export.checks import shown
from laconic.export.model_dict import VERSION, model_from_dict, model_to_dict
from laconic.export.portable import Estimator

__all__ = ["load_model", "model_schema", "save_model", "to_json"]

# No finite double has more integer digits.
_MAX_DIGITS = 309

# A hundred thousand rules. Whatever is larger is no model that someone wants to read.
MAX_BYTES = 2**26


def to_json(model: Estimator) -> str:
    """Write a fitted model as JSON.

    Parameters
    ----------
    model : RuleBoostingClassifier or RuleBoostingRegressor
        Fitted, with one of the named losses.

    Returns
    -------
    text : str
        As `save_model` writes it to a file. `model_schema` describes it.

    Examples
    --------
    >>> from laconic import RuleBoostingRegressor
    >>> model = RuleBoostingRegressor(n_rules=1).fit([[1], [2], [3], [4]], [5, 5, 1, 1])
    >>> json.loads(to_json(model))["rules"][0]["weight"]
    4.0
    """
    text = json.dumps(model_to_dict(model), ensure_ascii=False, allow_nan=False, indent=2)
    return f"{text}\n"


def model_schema() -> dict[str, Any]:
    """Return the JSON Schema of the files, of the version that this laconic writes.

    Returns
    -------
    schema : dict
        Of the draft 2020-12.

    Examples
    --------
    >>> model_schema()["title"]
    'laconic model, version 1'
    """
    file = files("laconic.export") / f"model-{VERSION}.schema.json"
    schema: dict[str, Any] = json.loads(file.read_text("utf-8"))
    return schema


def save_model(estimator: Estimator, path: str | os.PathLike[str]) -> None:
    """Write a fitted model to a JSON file.

    The file appears when it is complete: if writing fails, a file that was there before is as it
    was.

    Parameters
    ----------
    estimator : RuleBoostingClassifier or RuleBoostingRegressor
        Fitted, with one of the named losses.
    path : path-like
        Where to write. An existing file is replaced.

    See Also
    --------
    load_model : The way back.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from laconic import RuleBoostingRegressor
    >>> model = RuleBoostingRegressor(n_rules=1).fit([[1], [2], [3], [4]], [5, 5, 1, 1])
    >>> with TemporaryDirectory() as folder:
    ...     save_model(model, f"{folder}/model.json")
    ...     print(load_model(f"{folder}/model.json").ensemble_)
    +4.000 if x0 <= 2
    """
    _write_whole(Path(path), to_json(estimator).encode())


def load_model(path: str | os.PathLike[str]) -> Estimator:
    """Read a fitted model from a JSON file.

    Only the fitted model is restored. Parameters such as `n_rules` and `l2_regularization`, which
    matter for fitting only, are not in the file and have their defaults; set them before fitting
    again.

    Parameters
    ----------
    path : path-like
        A file that `save_model` wrote.

    Returns
    -------
    estimator : RuleBoostingClassifier or RuleBoostingRegressor
        Predicts what the saved one predicts, to the last bit. Its parameters are the defaults,
        except for a loss that is not the default.

    Raises
    ------
    ValueError
        If the file is not a complete and valid model. The message names the entry.
    """
    with Path(path).open("rb") as stream:
        content = stream.read(MAX_BYTES + 1)
    try:
        _check_size(content)
        return model_from_dict(_parse(content))
    except ValueError as error:
        message = f"Cannot load a model from {os.fspath(path)!r}. {error}"
    raise ValueError(message)


def _write_whole(path: Path, content: bytes) -> None:
    # Through a link to the file it stands for; replacing would turn the link into a file.
    path = path.resolve()
    if path.exists() and not path.is_file():
        raise ValueError(
            f"A model is saved to a regular file. Got {str(path)!r}, which is a folder or a "
            "device. Choose another path."
        )
    if not path.parent.is_dir():
        raise FileNotFoundError(
            f"A model is saved to an existing folder. There is no folder {str(path.parent)!r}. "
            "Create it, or choose another path."
        )
    unfinished = path.with_name(f".laconic-{uuid.uuid4().hex}.tmp")
    try:
        with unfinished.open("xb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


def _check_size(content: bytes) -> None:
    if len(content) > MAX_BYTES:
        raise ValueError(
            f"It must be a model of at most {MAX_BYTES} bytes. Got a larger file. Pass a file that "
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
        names = [name for name, _ in pairs]
        repeated = next(name for name in names if names.count(name) > 1)
        raise ValueError(
            f"A JSON object must have each key once. Got {shown(repeated)} more than once. "
            "Remove one of the two."
        )
    return entries
