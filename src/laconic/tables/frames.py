"""Results as data frames of whichever library is installed."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any, Literal, TypeAlias, get_args

import narwhals as nw

FrameBackend: TypeAlias = Literal["pandas", "polars", "pyarrow"]
FRAME_BACKENDS: tuple[FrameBackend, ...] = get_args(FrameBackend)


def make_frame(
    columns: Mapping[str, Any],
    schema: Mapping[str, Any] | None = None,
    backend: FrameBackend | None = None,
) -> Any:
    """Make a data frame of the cells of each column.

    Without a `schema` of narwhals, the cells tell the types; without a `backend`, it is made by the
    first library that is installed.
    """
    return nw.from_dict(columns, schema, backend=frame_backend(backend)).to_native()


def known_backend(name: str) -> FrameBackend | None:
    """Library of this name, if frames can be made with it."""
    return next((backend for backend in FRAME_BACKENDS if backend == name), None)


def frame_backend(backend: FrameBackend | None) -> FrameBackend:
    """Library that a frame is made with: the given one, or the first that is installed."""
    if backend is None:
        installed = [name for name in FRAME_BACKENDS if find_spec(name) is not None]
        if not installed:
            raise ImportError(
                "A DataFrame needs one of pandas, polars or pyarrow. None is installed. "
                "Install one of them, for example with 'pip install pandas'."
            )
        return installed[0]
    if backend not in FRAME_BACKENDS:
        allowed = ", ".join(map(repr, FRAME_BACKENDS))
        raise ValueError(
            f"The 'backend' parameter must be None or one of {allowed}. Got {backend!r} instead."
        )
    return backend
