"""Attacks on what reads model files: a file is refused in a few words, or it is a model."""

from __future__ import annotations

import json
import time
import warnings
from collections import Counter
from contextlib import suppress
from copy import deepcopy
from functools import cache
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from fuzz.searches import check
from laconic import RuleBoostingClassifier, RuleBoostingRegressor, load_model, save_model
from laconic.export import to_json

# More than anybody wants to read, and more seconds than any small file may take.
MAX_WORDS, MAX_SECONDS = 2000, 10.0

HOSTILE: tuple[Any, ...] = (
    None, True, -1, 0, 1e308, 10**400, -(2**63), 0.5, "", "x" * 100_000, "\x00", "\ud800", [], {},
    [[[[]]]], {"": {}}, "NaN", "<=", [None] * 1000, "9" * 5000,
)  # fmt: skip


@cache
def models() -> list[str]:
    """Write models of either task, with every kind of column."""
    generator = np.random.default_rng(0)
    X = np.empty((60, 3), dtype=object)
    X[:, 0] = generator.normal(size=60).round(1).tolist()
    X[:, 1] = generator.choice(["a", "b", None], 60).tolist()
    X[:, 2] = generator.choice([True, False], 60).tolist()
    y = np.array([float(a) * (b == "a") + c for a, b, c in X.tolist()])
    fitted = (
        RuleBoostingRegressor(3).fit(X, y),
        RuleBoostingClassifier(3, strategy="stagewise").fit(X, np.where(y > 0, "yes", "no")),
    )
    return [to_json(model) for model in fitted]


def model_files(number: int, counts: Counter[str]) -> None:
    """Break a model file somewhere, and read it."""
    random = Random(number)
    text = random.choice(models())
    is_structured = random.random() < 0.6
    content = (
        _with_other_entries(random, text) if is_structured else _with_other_bytes(random, text)
    )
    with TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        path.write_bytes(content)
        started = time.perf_counter()
        try:
            model = load_model(path)
        except ValueError as error:
            words = str(error)
            check("model.json" in words, "the file is not named", words[:300])
            check(len(words) <= MAX_WORDS, "a long message", len(words), words[:300])
            counts["model files refused"] += 1
        else:
            save_model(model, path)
            check(to_json(load_model(path)) == to_json(model), "not the same again", number)
            rows = np.array([[0.5, "a", True], [None, None, False]], dtype=object)
            # Columns may be of other kinds now.
            ignored = warnings.catch_warnings(action="ignore", category=UserWarning)
            with ignored, suppress(ValueError, TypeError):
                check(len(model.predict(rows)) == 2, "no predictions", number)
            counts["model files read"] += 1
        seconds = time.perf_counter() - started
        check(seconds < MAX_SECONDS, "slow", seconds)


def _with_other_bytes(random: Random, text: str) -> bytes:
    content = bytearray(text.encode())
    for _ in range(random.choice((1, 1, 3, 20))):
        start = random.randrange(len(content))
        kind = random.random()
        if kind < 0.4:
            content[start] = random.randrange(256)
        elif kind < 0.6:
            del content[start : start + random.randint(1, 50)]
        elif kind < 0.8:
            content[start:start] = content[start : start + random.randint(1, 200)]
        else:
            del content[start:]
        if not content:
            break
    return bytes(content)


def _with_other_entries(random: Random, text: str) -> bytes:
    data = json.loads(text)
    for _ in range(random.choice((1, 1, 2))):
        places = list(_places(data))
        where, key = random.choice(places)
        kind = random.random()
        if kind < 0.2:
            del where[key]
        elif kind < 0.3 and isinstance(where, dict):
            name = random.choice(("extra", "", "__proto__", "x" * 1000))
            where[name] = deepcopy(where[key])
        elif kind < 0.6:
            other, name = random.choice(places)
            where[key] = deepcopy(other[name]) if _has(other, name) else None
        else:
            where[key] = deepcopy(random.choice(HOSTILE))
    return json.dumps(data, ensure_ascii=True).encode()


def _places(data: Any) -> Any:
    """List where entries of lists and objects are."""
    entries = data.items() if isinstance(data, dict) else enumerate(data)
    for key, value in entries:
        yield data, key
        if isinstance(value, dict | list):
            yield from _places(value)


def _has(where: Any, key: Any) -> bool:
    return key in where if isinstance(where, dict) else key < len(where)
