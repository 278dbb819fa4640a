"""Find columns that determine the target: copies, recodings, thresholds, sums and products.

A relation is first looked for in a sample of the rows. Only what may hold there is tested on all
rows, so that a column without any relation costs little more than reading it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import compress, pairwise

import numpy as np

from laconic._util.types import Floats, Indices
from laconic._util.words import listed
from laconic.tables.columns import CategoricalColumn, Column, NumericColumn, Rows, TimeColumn
from laconic.tables.tables import Table
from laconic.tables.thresholds import shortest_separator
from laconic.tables.times import round_separator, time_text

# With fewer rows, any relation to the target may be chance.
MIN_ROWS = 100
# In smaller tables, classes may lie apart in a measurement, as those of the iris flowers do.
MIN_ROWS_FOR_THRESHOLDS = 200
# Largest number of values that may each stand for one value of the target; more in long tables.
MAX_GROUPS, _ROWS_PER_GROUP = 20, 50
# Rows that have to be outside of the largest group.
_MIN_OTHERS = 10
# Shares of the variance of the target: of two classes of the same size, one row in 200 may be
# wrong; of two others, 2 % of the rows of the smaller one. A copy may be rounded.
_SHARE_OF_CLASSES, _SHARE_OF_GROUPS, _SHARE_OF_LINE = 0.98, 0.99, 0.9998
# Without the largest and smallest targets: a few of them can make up most of the variance.
_SHARE_OF_MIDDLE = 0.99
# Rows and shares to see that there is no relation.
_N_SAMPLE, _SAMPLE_OF_GROUPS, _SAMPLE_OF_LINE = 400, 0.9, 0.99
# Largest number of columns of a sum, and of those that it is looked for in.
_MAX_ADDENDS, _MAX_SCREENED = 5, 100

ALONE = "determines the target on its own"


@dataclass(frozen=True)
class _Rows:
    """Rows to find a relation in, and how good it has to be."""

    rows: Rows
    target: Floats
    levels: Floats
    """The values of the target, ascending; none if there are many."""
    max_groups: int
    max_values: int
    """Largest number of categories, and of different numbers, to group rows by."""
    has_thresholds: bool
    share_of_groups: float = _SHARE_OF_GROUPS
    share_of_line: float = _SHARE_OF_LINE
    min_others: int = _MIN_OTHERS

    @cached_property
    def centred(self) -> Floats:
        """The target minus its mean."""
        centred: Floats = self.target - self.target.mean()
        return centred

    @cached_property
    def squares(self) -> float:
        """The sum of squares of the centred target."""
        return float(np.square(self.centred).sum())


def find_leaks(
    table: Table, target: Floats, rows: Rows = slice(None)
) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield columns that determine the target, and how, in words that follow their names.

    The target is numbers, one for each class where there are classes, of the given `rows`.
    """
    if len(target) < MIN_ROWS or (target == target[0]).all():
        return
    every, some = _rows_to_compare(_to_one(target), rows, table.n_rows)
    names: Iterable[str] = table.feature_names
    if table.cells is not None:
        unexplained = 1 - every.share_of_groups
        names = compress(names, table.cells.may_determine(every.target, rows, unexplained))
    strengths: dict[str, float] = {}
    for name in names:
        column = read_column(table, name)
        sample = column.take(some.rows)
        words = _relation(sample, some) and _relation(column.take(rows), every)
        if words is not None:
            yield (name,), words
        elif isinstance(sample, NumericColumn) and not isinstance(sample, TimeColumn):
            strengths[name] = _correlation(sample.values, some)
    if table.cells is None:
        strongest = sorted(strengths, key=lambda name: -strengths[name])[:_MAX_SCREENED]
        yield from _find_sums(table, strongest, every, some, float(np.abs(target).max()))


def read_column(table: Table, name: str) -> Column:
    """Read a column, and do not keep it if it is numbers."""
    column = table.column(name)
    if column.is_numeric:
        # Numbers are quickly read again, and all columns at once may take much memory.
        table.pop_column(name)
    return column


def _rows_to_compare(target: Floats, rows: Rows, n_rows: int) -> tuple[_Rows, _Rows]:
    """Return all rows, and a sample with as many rows of each class if there are classes."""
    order = np.argsort(target, kind="stable")
    starts = np.flatnonzero(np.diff(target[order], prepend=np.nan))
    is_few = len(starts) <= MAX_GROUPS
    has_thresholds = is_few and len(target) >= MIN_ROWS_FOR_THRESHOLDS
    # Numbers of more values than the target may be on two sides of a threshold.
    is_small = is_few and not has_thresholds
    every = _Rows(
        *(rows, target, target[order[starts]] if is_few else target[:0]),
        max_groups=max(MAX_GROUPS, len(target) // _ROWS_PER_GROUP),
        max_values=len(starts) if is_small else MAX_GROUPS,
        has_thresholds=has_thresholds,
        share_of_groups=_SHARE_OF_CLASSES if is_few else _SHARE_OF_GROUPS,
    )
    groups = np.split(order, starts[1:]) if is_few else [order]
    sample = np.sort(np.concatenate([_spread(each, _N_SAMPLE // len(groups)) for each in groups]))
    some = _Rows(
        *(np.arange(n_rows)[rows][sample], target[sample], every.levels),
        *(every.max_groups, every.max_values, every.has_thresholds),
        *(_SAMPLE_OF_GROUPS, _SAMPLE_OF_LINE, 1),
    )
    return every, some


def _spread(positions: Indices, n: int) -> Indices:
    """Choose some positions that are evenly spread."""
    if len(positions) <= n:
        return positions
    return positions[np.linspace(0, len(positions) - 1, n).astype(np.intp)]


def _relation(column: Column, rows: _Rows) -> str | None:
    """Describe how a column determines the target on its own; None if it does not."""
    if isinstance(column, NumericColumn) and _is_recoded(column.values, rows):
        return ALONE
    if any(_is_explained(codes, rows) for codes in _groupings(column, rows)):
        return ALONE
    if isinstance(column, NumericColumn) and rows.has_thresholds:
        return _separation(column, rows)
    return None


def _groupings(column: Column, rows: _Rows) -> Iterator[Indices]:
    """Yield groupings of the rows: by value, by the most frequent value, by missing values."""
    missing = column.missing
    if isinstance(column, CategoricalColumn):
        if len(column.categories) < rows.max_groups:
            yield column.codes.astype(np.intp) + 1
        elif missing.any():
            yield missing.astype(np.intp)
        return
    ordered = np.sort(column.values)
    starts = np.append(0, 1 + np.flatnonzero(ordered[1:] != ordered[:-1]))
    n_missing = np.count_nonzero(missing)
    if n_missing:
        yield missing.astype(np.intp)
        # Missing values are the last ones.
        starts = starts[: np.searchsorted(starts, len(ordered) - n_missing) + 1]
    if len(starts) <= rows.max_values:
        yield np.searchsorted(ordered[starts], column.values)
        return
    sizes = np.diff(starts, append=len(ordered))
    if sizes.max() * 10 >= len(ordered):
        yield (column.values == ordered[starts[sizes.argmax()]]).astype(np.intp)


def _is_explained(codes: Indices, rows: _Rows) -> bool:
    """Return whether the means of the groups explain almost all variance of the target."""
    sizes = np.bincount(codes)
    if len(codes) - sizes.max() < rows.min_others:
        return False
    means = np.bincount(codes, weights=rows.centred) / np.maximum(sizes, 1)
    left = np.square(rows.centred - means[codes]).sum()
    return bool(left <= (1 - rows.share_of_groups) * rows.squares)


def _is_recoded(values: Floats, rows: _Rows) -> bool:
    """Return whether numbers are a linear or another monotone function of the target."""
    x, y = _centred_pairs(values, rows)
    if len(x) < max(MIN_ROWS, len(values) / 2):
        return False
    product, squares = x @ y, x @ x
    if np.square(product) >= rows.share_of_line * squares * (y @ y) > 0:
        return _is_close(x * (product / squares), y, rows.share_of_line)
    if len(rows.levels):
        return False  # there may simply be a threshold
    steps = np.diff(x[np.argsort(y, kind="stable")])
    return bool(((steps >= 0).all() or (steps <= 0).all()) and np.count_nonzero(steps) > MAX_GROUPS)


def _centred_pairs(values: Floats, rows: _Rows) -> tuple[Floats, Floats]:
    """Return the numbers and the target of the rows with numbers, each minus its mean."""
    largest, y = np.abs(values).max(), rows.centred
    if np.isnan(largest):
        known = ~np.isnan(values)
        values, y = values[known], y[known]
        if not len(values):
            return values, y
        y, largest = y - y.mean(), np.abs(values).max()
    # Squares do not overflow.
    x = values / largest if largest > 0 else values
    return x - x.mean(), y


def _is_close(predictions: Floats, target: Floats, share: float) -> bool:
    """Return whether predictions explain the target, also without its largest and smallest values.

    Both have a mean of 0.
    """
    errors = np.square(target - predictions)
    if errors.sum() > (1 - share) * _squares(target):
        return False
    low, high = np.quantile(target, [0.02, 0.98])
    is_middle = (low < target) & (target < high)
    if np.count_nonzero(is_middle) < len(target) / 2:
        return True
    return bool(errors[is_middle].sum() <= (1 - _SHARE_OF_MIDDLE) * _squares(target[is_middle]))


def _separation(column: NumericColumn, rows: _Rows) -> str | None:
    """Describe the thresholds of a column that separate the classes of the target, if any do."""
    known = ~column.missing
    values, target = column.values[known], rows.target[known]
    if len(values) < len(known) / 2:
        return None
    order = np.argsort(values)
    values, target = values[order], target[order]
    if np.count_nonzero(target[1:] != target[:-1]) > len(target) / 10:
        return None
    numbers = np.searchsorted(rows.levels, target)
    found = _cuts(values, numbers)
    if found is None:
        return None
    classes, lows, highs = found
    sides = np.searchsorted(lows, values)
    share = float(np.mean(classes[sides] == numbers))
    # Of two classes of the same size, a row that is wrong takes away twice its share.
    is_right = share >= 0.5 + 0.5 * rows.share_of_groups
    if not (is_right and _is_explained(sides, replace(rows, target=target))):
        return None
    texts = [_threshold(column, low, high) for low, high in zip(lows, highs, strict=True)]
    places = f"{column.name} > {texts[0]}" if len(texts) == 1 else f"thresholds {listed(texts)}"
    if share == 1:
        return f"separates the classes of the target perfectly ({places})"
    # Not quite 100 %.
    percents = min(float(f"{100 * share:.2f}"), 99.99)
    return (
        f"separates the classes of the target almost perfectly ({places}, right in {percents} % "
        "of the rows)"
    )


def _cuts(values: Floats, numbers: Indices) -> tuple[Indices, Floats, Floats] | None:
    """Find the thresholds that separate classes best, given the ascending values of the rows.

    Returns the classes in the order of their medians, and the values below and above each of the
    thresholds, ascending; None if there is a single class or value.
    """
    gaps = np.flatnonzero(values[1:] > values[:-1])
    places = {int(each): np.flatnonzero(numbers == each) for each in np.unique(numbers)}
    if len(places) < 2 or not len(gaps):
        return None
    classes = sorted(places, key=lambda each: places[each][len(places[each]) // 2])
    cuts = []
    for below, above in pairwise(classes):
        shares = (
            np.searchsorted(places[each], gaps, side="right") / len(places[each])
            for each in (below, above)
        )
        of_below, of_above = shares
        cuts.append(gaps[np.argmax(of_below - of_above)])
    cuts.sort()
    ends = np.array(cuts)
    return np.array(classes), values[ends], values[ends + 1]


def _threshold(column: NumericColumn, low: float, high: float) -> str:
    """Write the shortest threshold between two values."""
    if not low < high:
        return f"{low:g}"
    if isinstance(column, TimeColumn):
        return time_text(round_separator(low, high, column.kind))
    return f"{shortest_separator(low, high):.12g}"


def _correlation(values: Floats, rows: _Rows) -> float:
    """Return the magnitude of the correlation with the target; 0 if there is none."""
    x, y = _centred_pairs(values, rows)
    squares = float((x @ x) * (y @ y))
    return float(abs(x @ y)) / math.sqrt(squares) if squares > 0 else 0.0


def _find_sums(
    table: Table, names: Sequence[str], every: _Rows, some: _Rows, scale: float
) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield a few columns of which the target is a weighted sum or a product.

    The target was divided by `scale`.
    """
    if len(names) < 2:
        return
    sample = _numbers(table, names, some.rows)
    # Of copies, the first one is enough.
    first = {values.tobytes(): place for place, values in reversed([*enumerate(sample.T)])}
    kept = sorted(first.values())
    names, sample = [names[place] for place in kept], sample[:, kept]
    for as_addends, formula in ((_unchanged, _sum_text), (_logarithms, _product_text)):
        found = _addends(as_addends(sample), as_addends(some.target))
        if len(found) < 2:
            continue
        chosen = tuple(name for name in table.feature_names if name in {names[i] for i in found})
        numbers = _numbers(table, chosen, every.rows)
        fitted = _fit_sum(as_addends(numbers), as_addends(every.target))
        if fitted is not None:
            weights, constant = fitted
            with np.errstate(all="ignore"):
                text = formula(chosen, weights, constant, scale)
            yield chosen, f"determine the target together ({text})"
            return


def _numbers(table: Table, names: Sequence[str], rows: Rows) -> Floats:
    """Return some rows of columns of numbers as a matrix."""
    columns = [read_column(table, name).take(rows) for name in names]
    return np.column_stack([each.values for each in columns if isinstance(each, NumericColumn)])


def _unchanged(numbers: Floats) -> Floats:
    return numbers


def _logarithms(numbers: Floats) -> Floats:
    """Return logarithms, which are missing for numbers that are not positive."""
    return np.log(np.where(numbers > 0, numbers, np.nan))


def _complete(matrix: Floats, target: Floats) -> Indices:
    """Return the rows without missing values, if they are the most."""
    rows = np.flatnonzero(~np.isnan(target) & ~np.isnan(matrix).any(axis=1))
    return rows if len(rows) >= max(MIN_ROWS, len(target) / 2) else rows[:0]


def _addends(matrix: Floats, target: Floats) -> Indices:
    """Find the fewest columns with a weighted sum that is the target; none if there are many."""
    missing = np.isnan(matrix).sum(axis=0)
    chosen = np.arange(matrix.shape[1])
    while len(chosen) and not len(_complete(matrix[:, chosen], target)):
        chosen = np.delete(chosen, missing[chosen].argmax())
    rows = _complete(matrix[:, chosen], target)
    # More columns than this may explain any target.
    chosen = chosen[: len(rows) // 4]
    x, _, _ = _standardized(matrix[np.ix_(rows, chosen)])
    y = target[rows] - target[rows].mean() if len(rows) else target[rows]
    best, positions = chosen[:0], np.arange(len(chosen))
    while len(positions):
        weights = _solve(x[:, positions], y)
        if not _is_close(x[:, positions] @ weights, y, _SHARE_OF_LINE):
            break
        if len(positions) <= _MAX_ADDENDS:
            best = chosen[positions]
        by_weight = np.argsort(-np.abs(weights), kind="stable")
        positions = positions[by_weight[: min(len(positions) - 1, 2 * _MAX_ADDENDS)]]
    return best


def _fit_sum(matrix: Floats, target: Floats) -> tuple[Floats, float] | None:
    """Fit the weights of a sum and its constant; None if it is not the target."""
    rows = _complete(matrix, target)
    if not len(rows):
        return None
    x, means, scales = _standardized(matrix[rows])
    mean = float(target[rows].mean())
    y = target[rows] - mean
    weights = _solve(x, y)
    if not _is_close(x @ weights, y, _SHARE_OF_LINE):
        return None
    with np.errstate(all="ignore"):
        weights = weights / scales
        return weights, mean - float(weights @ means)


def _solve(x: Floats, y: Floats) -> Floats:
    """Fit the weights of standardized columns by least squares."""
    # Columns that add up to each other share a weight.
    penalty = 1e-9 * len(y) * np.eye(x.shape[1])
    return np.linalg.solve(x.T @ x + penalty, x.T @ y).astype(np.float64)


def _standardized(matrix: Floats) -> tuple[Floats, Floats, Floats]:
    """Return columns with a mean of 0 and a variance of 1, their means and standard deviations."""
    largest = np.abs(matrix).max(axis=0, initial=0)
    largest[largest == 0] = 1
    x = matrix / largest
    means = x.mean(axis=0) if len(x) else np.zeros(x.shape[1])
    x = x - means
    spreads = np.sqrt(np.square(x).mean(axis=0)) if len(x) else np.ones(x.shape[1])
    spreads[spreads < 1e-12] = 1
    return x / spreads, means * largest, spreads * largest


def _is_nearly(number: float, other: float) -> bool:
    return abs(number - other) < 0.005 * abs(other)


def _sum_text(names: Sequence[str], weights: Floats, constant: float, scale: float) -> str:
    """Write a weighted sum of columns, such as "a - 2*b + 3"."""
    text = ""
    for name, weight in zip(names, (scale * weights).tolist(), strict=True):
        factor = "" if _is_nearly(abs(weight), 1) else f"{abs(weight):.4g}*"
        text += f" {'-' if weight < 0 else '+'} {factor}{name}"
    if abs(constant) > 1e-4:  # the largest target is 1
        text += f" {'-' if constant < 0 else '+'} {abs(scale * constant):.4g}"
    return text.removeprefix(" + ").strip()


def _product_text(names: Sequence[str], weights: Floats, constant: float, scale: float) -> str:
    """Write a product of powers of columns, such as "0.5 * a * b**2 / c"."""
    factor = float(np.exp(constant)) * scale
    text = "1" if _is_nearly(factor, 1) else f"{factor:.4g}"
    for name, power in zip(names, weights.tolist(), strict=True):
        exponent = "" if _is_nearly(abs(power), 1) else f"**{abs(power):.3g}"
        text += f" {'/' if power < 0 else '*'} {name}{exponent}"
    return text.removeprefix("1 * ")


def _to_one(values: Floats) -> Floats:
    """Divide by the largest magnitude, so that squares do not overflow."""
    largest = np.abs(values).max()
    return values / largest if largest > 0 else values


def _squares(target: Floats) -> float:
    return float(np.square(target - target.mean()).sum())
