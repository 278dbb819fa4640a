"""A file of finished searches, from which a program that was killed can go on.

A fit is a sequence of searches with little work between them, which gives the same numbers each
time. So a second run that finds the first searches in a checkpoint ends with the same model, to the
last bit, as long as it poses the same problems.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from contextlib import ExitStack
from contextvars import ContextVar
from pathlib import Path
from typing import Any, BinaryIO, Self
from weakref import WeakKeyDictionary

import numpy as np

from laconic import _core
from laconic._core import Extents
from laconic.search.brevity import Pricing
from laconic.search.problem import SearchLimits, SearchProblem
from laconic.search.query_families import QueryFamilies
from laconic.search.results import SearchResult, SearchStatus

_HEADER = {"format": "laconic checkpoint", "version": 1, "core": _core.version}

_current: ContextVar[Checkpoint | None] = ContextVar("checkpoint", default=None)


def current_checkpoint() -> Checkpoint | None:
    """Return the checkpoint of the surrounding ``with`` block; None if there is none."""
    return _current.get()


class Checkpoint:
    """A file of finished searches, by their inputs.

    As a context manager, it opens the file; searches inside take their results from it where they
    are known, and are added to it otherwise.

    Parameters
    ----------
    path : path-like
        A new file, or one of an earlier run. An incomplete last line, of a program that was killed,
        is removed.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self.results: dict[str, SearchResult] = {}
        self._extents: WeakKeyDictionary[Extents, bytes] = WeakKeyDictionary()
        self._stream: BinaryIO | None = None

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            try:
                self._stream = self.path.open("r+b" if self.path.exists() else "x+b")
                stack.callback(self._stream.close)
                self._read(self._stream)
            except OSError as error:
                self._name_file(error)
            stack.callback(_current.reset, _current.set(self))
            self._exit = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._exit.close()
        self._stream = None

    def key(
        self,
        problem: SearchProblem,
        method: str,
        limits: SearchLimits,
        families: QueryFamilies | None,
        pricing: Pricing,
        options: Mapping[str, Any],
    ) -> str:
        """Return a digest of everything that determines the result of a search."""
        digest = hashlib.sha256(self._extents_digest(problem.extents))
        arrays = (problem.gradients, problem.hessians, problem.coverage)
        for array in (*arrays, problem.projections, problem.cells, problem.excluded):
            digest.update(b"-" if array is None else np.ascontiguousarray(array).tobytes())
        asked = (problem.l2_regularization, problem.unscaled(1.0), problem.sign, method, limits)
        # Where a search runs does not change its result.
        how = sorted((name, value) for name, value in options.items() if name != "client")
        digest.update(repr((*asked, how, _described(families), pricing)).encode())
        return digest.hexdigest()

    def find(
        self, key: str, problem: SearchProblem, *, is_priced: bool = False
    ) -> SearchResult | None:
        """Look a search up; raise an error if its result does not fit the problem."""
        found = self.results.get(key)
        if found is None:
            return None
        query = found.query
        is_query = all(0 <= p < problem.n_candidates for p in query)
        # Prices are not known here.
        if not is_query or not (is_priced or problem.objective(query) == found.objective_value):
            raise ValueError(
                f"The checkpoint {str(self.path)!r} holds a search that does not fit its problem. "
                "Delete the file to start over."
            )
        return found

    def add(self, key: str, result: SearchResult) -> None:
        """Write a search to the file, unless it was interrupted."""
        if self._stream is None or result.status is SearchStatus.INTERRUPTED:
            return
        self.results[key] = result
        entry = {"key": key, **vars(result), "counters": dict(result.counters)}
        try:
            self._stream.write(_line(entry))
            self._stream.flush()
            os.fsync(self._stream.fileno())
        except OSError as error:
            self._name_file(error)

    def _extents_digest(self, extents: Extents) -> bytes:
        known = self._extents.get(extents)
        if known is None:
            digest = hashlib.sha256(repr((extents.n_candidates, extents.n_rows)).encode())
            for index in range(extents.n_candidates):
                digest.update(np.packbits(extents.covered([index])).tobytes())
            known = self._extents[extents] = digest.digest()
        return known

    def _read(self, stream: BinaryIO) -> None:
        """Read the searches of an earlier run, and prepare to append.

        Sets: results.
        """
        content = stream.read()
        complete = content[: content.rfind(b"\n") + 1]
        for number, line in enumerate(complete.splitlines(), start=1):
            try:
                entry = json.loads(line)
                if number == 1:
                    is_known = entry == _HEADER
                else:
                    key = str(entry.pop("key"))
                    self.results[key] = _result(entry)
                    is_known = True
            except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
                is_known = False
            if not is_known:
                raise ValueError(
                    f"The checkpoint {str(self.path)!r} must be one that this version of laconic "
                    f"wrote. Line {number} is not. Choose another file, or delete it to start over."
                )
        if content and not complete:
            raise ValueError(
                f"{str(self.path)!r} is no checkpoint. Choose another file, or delete it."
            )
        stream.seek(len(complete))
        stream.truncate()
        if not complete:
            stream.write(_line(_HEADER))
            stream.flush()

    def _name_file(self, error: OSError) -> None:
        if error.errno is None:
            raise error
        raise type(error)(error.errno, os.strerror(error.errno), os.fspath(self.path)) from None


def _described(families: QueryFamilies | None) -> Any:
    """Describe families and costs, the latter in an order that is always the same."""
    if families is None:
        return None
    costs = sorted((sorted(group), cost) for group, cost in families.costs.items())
    return [(each.conditions, each.sign) for each in families.families], costs


def _line(entry: Mapping[str, Any]) -> bytes:
    return json.dumps(entry).encode() + b"\n"


def _result(entry: dict[str, Any]) -> SearchResult:
    """Read a result; anything that is not one is a ValueError, TypeError or KeyError."""
    query, counters = entry.pop("query"), entry.pop("counters")
    objective_value, bound = entry.pop("objective_value"), entry.pop("bound")
    return SearchResult(
        query=tuple(int(p) for p in query),
        objective_value=float(objective_value),
        bound=float(bound),
        status=SearchStatus(entry.pop("status")),
        seconds=float(entry.pop("seconds")),
        queries=tuple(tuple(int(p) for p in each) for each in entry.pop("queries")),
        counters={str(name): int(count) for name, count in counters.items()},
        **entry,
    )
