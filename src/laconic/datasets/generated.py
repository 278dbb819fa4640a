"""Tables that are computed rather than stored, as arrays or frames of any library.

`tic_tac_toe` enumerates a classical table of categorical columns; `noisy_parity` samples a problem
in which no single condition is of any use.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

Backend: TypeAlias = Literal["cudf", "modin", "pandas", "polars", "pyarrow"]

_FIELDS = (
    *("top-lft", "top-mid", "top-rgt"),
    *("mid-lft", "mid-mid", "mid-rgt"),
    *("bot-lft", "bot-mid", "bot-rgt"),
)

# Positions in _FIELDS: rows, columns, diagonals.
_LINES = (
    *((0, 1, 2), (3, 4, 5), (6, 7, 8)),
    *((0, 3, 6), (1, 4, 7), (2, 5, 8)),
    *((0, 4, 8), (2, 4, 6)),
)


@dataclass(frozen=True, eq=False)
class Dataset:
    """A table with its target.

    Attributes
    ----------
    data : ndarray of shape (n_samples, n_features) or data frame
        The features.
    target : ndarray of shape (n_samples,)
        The class of each row, -1 or 1, or the number to predict.
    feature_names : tuple of str
        Names of the columns of `data`.
    target_names : tuple of str
        What the classes -1 and 1 mean, in this order; for a number, what it is.
    """

    data: Any
    target: NDArray[Any]
    feature_names: tuple[str, ...]
    target_names: tuple[str, ...]

    def __repr__(self) -> str:
        n_features = len(self.feature_names)
        return f"<Dataset: {len(self.target)} rows, {n_features} features>"


def as_backend(columns: Mapping[str, NDArray[Any]], backend: Backend | None) -> Any:
    """Return columns as an ndarray, or as a data frame of the named library.

    Columns of different kinds give an ndarray of objects.
    """
    if backend is None:
        kinds = {column.dtype.kind for column in columns.values()}
        is_mixed = bool(kinds & set("UO")) and len(kinds) > 1
        dtype = object if is_mixed else None
        return np.column_stack(
            [column.astype(dtype or column.dtype) for column in columns.values()]
        )
    if backend not in get_args(Backend):
        raise ValueError(
            f"'backend' must be None or one of {', '.join(map(repr, get_args(Backend)))}. "
            f"Got {backend!r} instead. Choose a library that is installed, or None for an ndarray."
        )
    return nw.from_dict(dict(columns), backend=backend).to_native()


def tic_tac_toe(*, backend: Backend | None = None) -> Dataset:
    """Enumerate the final boards of tic-tac-toe; the target is whether x, who moves first, won.

    The boards are found by playing: both sides in turn take any free field, and a game ends with
    three in a row or a full board. Each of the 958 final boards is one row. The rows are in the
    order of the UCI table "Tic-Tac-Toe Endgame", so that a seeded split gives the same parts: the
    626 wins of x, then the 316 wins of o, then the 16 draws, and among equals x before o before
    blank, field by field.

    Parameters
    ----------
    backend : {"cudf", "modin", "pandas", "polars", "pyarrow"}, default=None
        Data frame library for `data`, which must be installed. None gives an
        ndarray of str.

    Returns
    -------
    dataset : Dataset
        Nine features with the values "x", "o" and "b" (blank); the target is 1 where x has won,
        else -1.

    Examples
    --------
    >>> dataset = tic_tac_toe()
    >>> dataset
    <Dataset: 958 rows, 9 features>
    >>> dataset.data[0].reshape(3, 3)
    array([['x', 'x', 'x'],
           ['x', 'o', 'o'],
           ['x', 'o', 'o']], dtype='<U1')
    >>> int(dataset.target[0])
    1
    """
    won_by_x, won_by_o, drawn = _final_boards()
    # Descending, because "x" > "o" > "b".
    boards = [*sorted(won_by_x)[::-1], *sorted(won_by_o)[::-1], *sorted(drawn)[::-1]]
    target = np.full(len(boards), -1, dtype=np.int64)
    target[: len(won_by_x)] = 1
    cells = np.array([list(board) for board in boards])
    data = as_backend(dict(zip(_FIELDS, cells.T, strict=True)), backend)
    return Dataset(data, target, _FIELDS, ("x has not won", "x has won"))


def noisy_parity(
    n_rows: int,
    n_features: int,
    *,
    noise: float = 0.5,
    random_state: int | np.random.Generator | None = None,
    backend: Backend | None = None,
) -> Dataset:
    r"""Sample the noisy parity problem, which only conditions on all features together solve.

    A hidden corner C of the cube :math:`\{-1, 1\}^d` is drawn uniformly. The features are normal
    around it, and the target is the product of its coordinates: 1 if an even number of them is
    negative. Any proper subset of the features is independent of the target, so that a greedy
    choice of the first condition follows nothing but chance.

    Parameters
    ----------
    n_rows : int
        Number of rows, at least 1.
    n_features : int
        Number of features d, at least 1.
    noise : float, default=0.5
        Standard deviation of the features around the corner. The sign of a feature differs from
        that of its coordinate with probability :math:`p = \Phi(-1 / \text{noise})`, and the best
        classifier, which multiplies the signs, is right with probability
        :math:`(1 + (1 - 2p)^d) / 2`. For 0.5 this is 0.96 with two features and 0.88 with six.
    random_state : int, numpy.random.Generator or None, default=None
        Seed of the sample; None draws a new one each time.
    backend : {"cudf", "modin", "pandas", "polars", "pyarrow"}, default=None
        Data frame library for `data`, which must be installed. None gives an
        ndarray of float64.

    Returns
    -------
    dataset : Dataset
        Features "x1" to "xd", target -1 or 1.

    Examples
    --------
    Without noise the features are the corner itself:

    >>> dataset = noisy_parity(4, 2, noise=0.0, random_state=1)
    >>> dataset.data
    array([[-1.,  1.],
           [ 1.,  1.],
           [-1., -1.],
           [ 1.,  1.]])
    >>> dataset.target
    array([-1,  1,  1,  1])
    """
    for name, count in (("n_rows", n_rows), ("n_features", n_features)):
        if count < 1:
            raise ValueError(f"{name!r} must be an int in the range [1, inf). Got {count} instead.")
    if not 0 <= noise < np.inf:
        raise ValueError(f"'noise' must be a float in the range [0, inf). Got {noise} instead.")
    generator = np.random.default_rng(random_state)
    corners = generator.choice(np.array([-1, 1], dtype=np.int64), size=(n_rows, n_features))
    features = corners + noise * generator.standard_normal(corners.shape)
    feature_names = tuple(f"x{j + 1}" for j in range(n_features))
    data = as_backend(dict(zip(feature_names, features.T, strict=True)), backend)
    return Dataset(data, corners.prod(axis=1), feature_names, ("odd", "even"))


def _final_boards() -> tuple[set[str], set[str], set[str]]:
    """Return boards, nine characters each, on which x has won, o has won, and nobody has."""
    won: dict[str, set[str]] = {"x": set(), "o": set()}
    open_boards = {"b" * len(_FIELDS)}
    for player in "xoxoxoxox":
        played = {
            board[:field] + player + board[field + 1 :]
            for board in open_boards
            for field in range(len(_FIELDS))
            if board[field] == "b"
        }
        winning = {board for board in played if _has_line(board, player)}
        won[player] |= winning
        open_boards = played - winning
    return won["x"], won["o"], open_boards


def _has_line(board: str, player: str) -> bool:
    return any(all(board[field] == player for field in line) for line in _LINES)
