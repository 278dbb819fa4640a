"""Rules as plain values: `Proposition`, `Query`, `Rule` and `RuleEnsemble`.

A proposition is one condition on one feature, a query a conjunction of
propositions, a rule a weighted query, and a rule ensemble an additive model
made of rules. All of them are immutable, hashable and equal by value; they
evaluate themselves on any table and print as a person would write them.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from html import escape
from importlib.util import find_spec
from numbers import Integral, Real
from typing import Any, Literal, TypeAlias, cast, get_args, overload

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from laconic.tables import CategoricalColumn, Category, Column, NumericColumn, Table, as_table

__all__ = ["Proposition", "Query", "Rule", "RuleEnsemble", "format_number", "format_weight"]

THRESHOLD_RELATIONS = ("<=", ">")
VALUE_RELATIONS = ("==", "!=")
MISSING_RELATIONS = ("is missing", "is present")
RELATIONS = THRESHOLD_RELATIONS + VALUE_RELATIONS + MISSING_RELATIONS

FrameBackend: TypeAlias = Literal["pandas", "polars", "pyarrow"]
FRAME_BACKENDS: tuple[FrameBackend, ...] = get_args(FrameBackend)

# A float is a Real, but to ask for it first is ten times faster.
NUMBERS = (float, Real)

# Rows that are predicted at a time: masks and sums of so many stay in the cache of a processor, and
# NumPy's fixed cost per call does not count.
BLOCK_SIZE = 32_768

# In a value without quotes, besides letters, their marks and digits of any script.
PLAIN_PUNCTUATION = frozenset("_.+-")
# Characters that keep a feature name from standing without quotes next to relations and "&".
NOT_IN_PLAIN_NAMES = frozenset("&,<>=!'\"")


def format_number(number: float) -> str:
    """Shortest text that reads back as the same number.

    Parameters
    ----------
    number : int or float
        A finite number.

    Returns
    -------
    text : str
        Without a decimal point where the number is an integer.

    Examples
    --------
    >>> [format_number(number) for number in (30.0, 0.25, 1e-7)]
    ['30', '0.25', '1e-07']
    """
    return repr(number).removesuffix(".0")


def format_weight(weight: float) -> str:
    """Signed weight with four significant digits, and every integer digit.

    Parameters
    ----------
    weight : float
        A finite number.

    Returns
    -------
    text : str
        Starts with a sign.

    Examples
    --------
    >>> [format_weight(weight) for weight in (1.18742, -0.5, 22.456, 16192.3)]
    ['+1.187', '-0.5000', '+22.46', '+16192']
    """
    # Beyond 1e16 a double no longer knows its last integer digit.
    if 1e3 <= abs(weight) < 1e16:
        return f"{weight:+.0f}"
    return f"{weight:+#.4g}".removesuffix(".")


@dataclass(frozen=True, slots=True, repr=False)
class Proposition:
    """One condition on one feature.

    Parameters
    ----------
    feature : str
        Name of the column.
    relation : {"<=", ">", "==", "!=", "is missing", "is present"}
        The first two compare with a threshold, the next two with a value, the
        last two need neither.
    value : float, int, str, bool or None, default=None
        Threshold or value to compare with.

    Notes
    -----
    A missing value fulfils no comparison, not even ``!=``; ``is missing`` and
    ``is present`` are the conditions about that.

    Strings compare with strings, numbers with numbers, and booleans are the numbers
    0 and 1, as in Python: a condition learned from a boolean column holds for
    the same rows after they were saved as 0 and 1. Comparing a string with a
    number is an error, except in a column without any value, which fits every
    condition and fulfils no comparison.

    Examples
    --------
    >>> X = [[35], [None], [20], [28]]
    >>> Proposition("x0", "<=", 30).covered(X)
    array([False, False,  True,  True])
    >>> Proposition("x0", "<=", 30)
    <Proposition: x0 <= 30>
    >>> print(Proposition("x0", "!=", "São Paulo"))
    x0 != 'São Paulo'
    """

    feature: str
    relation: str
    value: Category | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.feature, str):
            raise TypeError(
                "The 'feature' of a Proposition must be a str. "
                f"Got {self.feature!r} instead. Pass the name of a column."
            )
        if self.relation not in RELATIONS:
            allowed = ", ".join(map(repr, RELATIONS))
            raise ValueError(
                f"The 'relation' of a Proposition must be one of {allowed}. "
                f"Got {self.relation!r} instead."
            )
        object.__setattr__(self, "value", _checked_value(self.relation, self.value))

    def covered(self, X: Any) -> NDArray[np.bool_]:
        """Mask of the rows that fulfil the condition.

        Parameters
        ----------
        X : table-like of shape (n_rows, n_features)
            Any table `as_table` accepts, with a column for `feature`; an array
            has the columns x0, x1, ...

        Returns
        -------
        covered : ndarray of shape (n_rows,), dtype bool
            True where the condition holds.
        """
        return self.covered_in(as_table(X).column(self.feature))

    def covered_in(self, column: Column) -> NDArray[np.bool_]:
        """Mask of the rows of a column that fulfil the condition.

        Parameters
        ----------
        column : NumericColumn or CategoricalColumn
            The column of `feature`.

        Returns
        -------
        covered : ndarray of shape (n_rows,), dtype bool
            True where the condition holds.
        """
        if self.relation == "is missing":
            return column.missing
        if self.relation == "is present":
            return ~column.missing
        if column.is_text != isinstance(self.value, str):
            return self._covered_in_other_kind(column)
        if self.relation in THRESHOLD_RELATIONS:
            numbers, threshold = _numbers(column), cast(float, self.value)
            return numbers <= threshold if self.relation == "<=" else numbers > threshold
        equal = _equal(column, self.value)
        return equal if self.relation == "==" else ~equal & ~column.missing

    def _covered_in_other_kind(self, column: Column) -> NDArray[np.bool_]:
        missing = column.missing
        if not missing.all():
            needed, got = _kind_of_value(self.value), _kind_of_column(column)
            raise TypeError(
                f"The condition '{self}' needs a column of {needed}. Column {self.feature!r} "
                f"holds {got}. Convert the column to {needed}."
            )
        return np.zeros(len(missing), dtype=bool)

    def __str__(self) -> str:
        name = _format_name(self.feature)
        if self.value is None:
            return f"{name} {self.relation}"
        return f"{name} {self.relation} {_format_value(self.value)}"

    def __repr__(self) -> str:
        return f"<Proposition: {self}>"


@dataclass(frozen=True, slots=True, repr=False)
class Query:
    """Conjunction of propositions; ``Query()`` is always true.

    Parameters
    ----------
    propositions : tuple of Proposition, default=()
        The conditions, all of which must hold.

    Examples
    --------
    >>> query = Query((Proposition("PS", ">", 100), Proposition("PS", "<=", 180)))
    >>> print(query)
    100 < PS <= 180
    >>> print(Query())
    always
    """

    propositions: tuple[Proposition, ...] = ()

    def __post_init__(self) -> None:
        _set_checked_tuple(self, "propositions", Proposition)

    def covered(self, X: Any) -> NDArray[np.bool_]:
        """Mask of the rows that fulfil every condition.

        Parameters
        ----------
        X : table-like of shape (n_rows, n_features)
            As for `Proposition.covered`.

        Returns
        -------
        covered : ndarray of shape (n_rows,), dtype bool
            True where all conditions hold.
        """
        table = as_table(X)
        return _all_of((p.covered(table) for p in self.propositions), table.n_rows)

    def __len__(self) -> int:
        return len(self.propositions)

    def __iter__(self) -> Iterator[Proposition]:
        return iter(self.propositions)

    def __str__(self) -> str:
        remaining = list(self.propositions)
        texts = []
        while remaining:
            first = remaining.pop(0)
            other = next((p for p in remaining if _bound_one_interval(first, p)), None)
            if other is None:
                texts.append(str(first))
            else:
                remaining.remove(other)
                texts.append(_format_interval(first, other))
        return " & ".join(texts) or "always"

    def __repr__(self) -> str:
        return f"<Query: {self}>"


@dataclass(frozen=True, slots=True, repr=False)
class Rule:
    """Query with the weight that it adds to the raw predictions of its rows.

    Parameters
    ----------
    query : Query
        Says which rows are covered.
    weight : float
        Added where the query holds.

    Examples
    --------
    >>> rule = Rule(Query((Proposition("x0", "==", "x"),)), 1.18742)
    >>> print(rule)
    +1.187 if x0 == x
    >>> rule.raw_predictions([["x"], ["o"], ["x"], [None]])
    array([1.18742, 0.     , 1.18742, 0.     ])
    """

    query: Query
    weight: float

    def __post_init__(self) -> None:
        if not isinstance(self.query, Query):
            raise TypeError(
                f"The 'query' of a Rule must be a Query. Got {self.query!r} instead. "
                "Wrap propositions as Query((proposition, ...))."
            )
        object.__setattr__(self, "weight", _finite_float("weight", "Rule", self.weight))

    def raw_predictions(self, X: Any) -> NDArray[np.float64]:
        """Contribution of the rule to each row.

        Parameters
        ----------
        X : table-like of shape (n_rows, n_features)
            As for `Proposition.covered`.

        Returns
        -------
        raw_predictions : ndarray of shape (n_rows,), dtype float64
            The weight where the query holds, 0 elsewhere.
        """
        return np.where(self.query.covered(X), self.weight, 0.0)

    def __str__(self) -> str:
        return f"{format_weight(self.weight)} {_format_condition(self.query)}"

    def __repr__(self) -> str:
        return f"<Rule: {self}>"


@dataclass(frozen=True, slots=True, repr=False)
class RuleEnsemble(Sequence[Rule]):
    """Additive model: an intercept plus the weights of the rules that cover a row.

    Parameters
    ----------
    rules : tuple of Rule, default=()
        The rules, in the order in which their weights are added.
    intercept : float, default=0.0
        Raw prediction of a row that no rule covers.
    feature_names : tuple of str or None, default=None
        Names of the columns of a table that comes without names, by position.
        The default is x0, x1, ... Tables with names are matched by name.

    Examples
    --------
    >>> mid = Rule(Query((Proposition("mid", "==", "x"),)), 1.0)
    >>> old = Rule(Query((Proposition("age", ">", 30), Proposition("mid", "!=", "x"))), -0.25)
    >>> ensemble = RuleEnsemble((mid, old), intercept=0.5, feature_names=("age", "mid"))
    >>> print(ensemble)
    +0.5000 intercept
     +1.000 if mid == x
    -0.2500 if age > 30 & mid != x
    >>> ensemble.raw_predictions([[35, "x"], [35, "o"], [20, "x"], [28, None]])
    array([1.5 , 0.25, 1.5 , 0.5 ])
    >>> ensemble[:1]
    <RuleEnsemble: 1 rule, 1 condition>
    +0.5000 intercept
     +1.000 if mid == x
    """

    rules: tuple[Rule, ...] = ()
    intercept: float = 0.0
    feature_names: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        _set_checked_tuple(self, "rules", Rule)
        intercept = _finite_float("intercept", "RuleEnsemble", self.intercept)
        object.__setattr__(self, "intercept", intercept)
        if self.feature_names is not None:
            object.__setattr__(self, "feature_names", tuple(self.feature_names))
            self._check_features(frozenset(self.feature_names))

    def _check_features(self, known: frozenset[str]) -> None:
        for proposition in (proposition for rule in self.rules for proposition in rule.query):
            if proposition.feature not in known:
                raise ValueError(
                    "The features of all rules must be among the 'feature_names' of a "
                    f"RuleEnsemble. Got a rule about {proposition.feature!r}. Add this name, "
                    "or leave out 'feature_names'."
                )

    @property
    def n_rules(self) -> int:
        """Number of rules."""
        return len(self.rules)

    @property
    def n_conditions(self) -> int:
        """Total number of propositions in all rules."""
        return sum(len(rule.query) for rule in self.rules)

    def raw_predictions(self, X: Any) -> NDArray[np.float64]:
        """Intercept plus the weights of the covering rules, added in rule order.

        Parameters
        ----------
        X : table-like of shape (n_rows, n_features)
            Any table `as_table` accepts.

        Returns
        -------
        raw_predictions : ndarray of shape (n_rows,), dtype float64
            Score of each row.
        """
        table = as_table(X, self.feature_names)
        raw_predictions = np.full(table.n_rows, self.intercept)
        # One block even where there are no rows: a missing column is an error there too.
        for start in range(0, max(table.n_rows, 1), BLOCK_SIZE):
            rows = slice(start, min(start + BLOCK_SIZE, table.n_rows))
            for rule, covered in zip(self.rules, self._covered_in_block(table, rows), strict=True):
                raw_predictions[rows] += np.multiply(covered, rule.weight)
        return raw_predictions

    def _covered_in_block(self, table: Table, rows: slice) -> Iterator[NDArray[np.bool_]]:
        """For one rule after the other, which of the given rows it covers."""
        columns: dict[str, Column] = {}
        known: dict[Proposition, NDArray[np.bool_]] = {}
        for rule in self.rules:
            for proposition in rule.query:
                if proposition not in known:
                    name = proposition.feature
                    if name not in columns:
                        columns[name] = table.block(name, rows)
                    known[proposition] = proposition.covered_in(columns[name])
            yield _all_of(map(known.__getitem__, rule.query), rows.stop - rows.start)

    def staged_raw_predictions(self, X: Any) -> Iterator[NDArray[np.float64]]:
        """Raw predictions after the first 1, 2, ..., n_rules rules.

        Parameters
        ----------
        X : table-like of shape (n_rows, n_features)
            Any table `as_table` accepts.

        Yields
        ------
        raw_predictions : ndarray of shape (n_rows,), dtype float64
            Scores of ``ensemble[:1]``, then of ``ensemble[:2]``, and so on.
        """
        table = as_table(X, self.feature_names)
        raw_predictions = np.full(table.n_rows, self.intercept)
        for rule in self.rules:
            raw_predictions = raw_predictions + rule.raw_predictions(table)
            yield raw_predictions

    def covered(self, X: Any) -> NDArray[np.bool_]:
        """Which rule covers which row.

        Parameters
        ----------
        X : table-like of shape (n_rows, n_features)
            Any table `as_table` accepts.

        Returns
        -------
        covered : ndarray of shape (n_rows, n_rules), dtype bool
            One column per rule.
        """
        table = as_table(X, self.feature_names)
        covered = np.empty((table.n_rows, self.n_rules), dtype=bool)
        for position, rule in enumerate(self.rules):
            covered[:, position] = rule.query.covered(table)
        return covered

    def consolidate(self) -> RuleEnsemble:
        """Merge rules with the same set of propositions, adding their weights.

        Returns
        -------
        ensemble : RuleEnsemble
            One rule per distinct set, at the place of its first rule. Its raw
            predictions are the same up to rounding.
        """
        queries: dict[frozenset[Proposition], Query] = {}
        weights: dict[frozenset[Proposition], float] = {}
        for rule in self.rules:
            key = frozenset(rule.query)
            queries.setdefault(key, rule.query)
            weights[key] = weights.get(key, 0.0) + rule.weight
        rules = tuple(Rule(query, weights[key]) for key, query in queries.items())
        return RuleEnsemble(rules, self.intercept, self.feature_names)

    def to_frame(self, backend: FrameBackend | None = None) -> Any:
        """Rules as a DataFrame, one row each, without the intercept.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"} or None, default=None
            Library of the result; None takes the first that is installed.

        Returns
        -------
        frame : pandas.DataFrame, polars.DataFrame or pyarrow.Table
            Columns rule (counted from 1), weight, query (text) and n_conditions.
        """
        columns = {
            "rule": list(range(1, self.n_rules + 1)),
            "weight": [rule.weight for rule in self.rules],
            "query": [str(rule.query) for rule in self.rules],
            "n_conditions": [len(rule.query) for rule in self.rules],
        }
        dtypes = (nw.Int64(), nw.Float64(), nw.String(), nw.Int64())
        schema = dict(zip(columns, dtypes, strict=True))
        return nw.from_dict(columns, schema, backend=_frame_backend(backend)).to_native()

    @overload
    def __getitem__(self, index: int) -> Rule: ...

    @overload
    def __getitem__(self, index: slice) -> RuleEnsemble: ...

    def __getitem__(self, index: int | slice) -> Rule | RuleEnsemble:
        if isinstance(index, slice):
            return RuleEnsemble(self.rules[index], self.intercept, self.feature_names)
        return self.rules[index]

    def __len__(self) -> int:
        return len(self.rules)

    def __str__(self) -> str:
        lines = [(rule.weight, _format_condition(rule.query)) for rule in self.rules]
        if self._shows_intercept:
            lines.insert(0, (self.intercept, "intercept"))
        weights = [format_weight(weight) for weight, _ in lines]
        width = max(map(len, weights))
        return "\n".join(
            f"{weight:>{width}} {text}" for weight, (_, text) in zip(weights, lines, strict=True)
        )

    def __repr__(self) -> str:
        return f"<RuleEnsemble: {self._size}>\n{self}"

    def _repr_html_(self) -> str:
        """Table for notebooks."""
        rows = [(rule.weight, str(rule.query), str(len(rule.query))) for rule in self.rules]
        if self._shows_intercept:
            rows.insert(0, (self.intercept, "intercept", ""))
        body = "".join(
            f"<tr><td>{format_weight(weight)}</td>"
            f'<td style="text-align: left">{escape(text)}</td><td>{n_conditions}</td></tr>'
            for weight, text, n_conditions in rows
        )
        return (
            f"<table><caption>RuleEnsemble: {self._size}</caption>"
            "<thead><tr><th>weight</th>"
            '<th style="text-align: left">query</th><th>conditions</th></tr></thead>'
            f"<tbody>{body}</tbody></table>"
        )

    @property
    def _shows_intercept(self) -> bool:
        return self.intercept != 0.0 or not self.rules

    @property
    def _size(self) -> str:
        return f"{_counted(self.n_rules, 'rule')}, {_counted(self.n_conditions, 'condition')}"


def _checked_value(relation: str, value: Any) -> Category | None:
    if relation in MISSING_RELATIONS:
        if value is not None:
            raise ValueError(
                f"The 'value' of a Proposition with relation {relation!r} must be None. "
                f"Got {value!r} instead."
            )
        return None
    if relation in VALUE_RELATIONS:
        if isinstance(value, bool | np.bool_):
            return bool(value)
        if isinstance(value, str):
            return str.__str__(value)
        if isinstance(value, Integral):
            return int(value)
    required = "a number" if relation in THRESHOLD_RELATIONS else "a str, a bool or a number"
    if isinstance(value, bool) or not isinstance(value, NUMBERS):
        raise TypeError(
            f"The 'value' of a Proposition with relation {relation!r} must be {required}. "
            f"Got {value!r} instead. For missing values, use 'is missing' or 'is present'."
        )
    return _finite_float("value", "Proposition", value)


def _finite_float(name: str, owner: str, number: Any) -> float:
    if isinstance(number, bool) or not isinstance(number, NUMBERS):
        raise TypeError(f"The {name!r} of a {owner} must be a number. Got {number!r} instead.")
    if not math.isfinite(number):
        raise ValueError(
            f"The {name!r} of a {owner} must be a finite number. Got {number!r} instead."
        )
    # Adding 0 turns -0.0 into 0.0, so that equal values print alike.
    return float(number) + 0.0


def _set_checked_tuple(owner: Query | RuleEnsemble, name: str, item_type: type) -> None:
    items = tuple(getattr(owner, name))
    for item in items:
        if not isinstance(item, item_type):
            raise TypeError(
                f"The {name!r} of a {type(owner).__name__} must be {item_type.__name__} objects. "
                f"Got {item!r} among them."
            )
    object.__setattr__(owner, name, items)


def _all_of(masks: Iterable[NDArray[np.bool_]], n_rows: int) -> NDArray[np.bool_]:
    """Mask of the rows that all masks have in common."""
    return reduce(np.logical_and, masks, np.ones(n_rows, dtype=bool))


def _numbers(column: Column) -> NDArray[np.float64]:
    if isinstance(column, NumericColumn):
        return column.values
    # Code -1 means missing and picks the last entry.
    return np.array((*column.categories, np.nan), dtype=np.float64)[column.codes]


def _equal(column: Column, value: Any) -> NDArray[np.bool_]:
    equal: NDArray[np.bool_]
    if isinstance(column, NumericColumn):
        equal = column.values == float(value)
    elif value in column.categories:
        equal = column.codes == column.categories.index(value)
    else:
        equal = np.zeros(len(column.codes), dtype=bool)
    return equal


def _kind_of_value(value: Category | None) -> str:
    if isinstance(value, str):
        return "strings"
    return "booleans" if isinstance(value, bool) else "numbers"


def _kind_of_column(column: Column) -> str:
    if isinstance(column, CategoricalColumn):
        return _kind_of_value(next(iter(column.categories), None))
    return "numbers"


def _bound_one_interval(first: Proposition, second: Proposition) -> bool:
    return first.feature == second.feature and {first.relation, second.relation} == {"<=", ">"}


def _format_interval(first: Proposition, second: Proposition) -> str:
    lower, upper = (first, second) if first.relation == ">" else (second, first)
    return f"{_format_value(lower.value)} < {upper}"


def _format_condition(query: Query) -> str:
    return f"if {query}" if query.propositions else str(query)


def _format_name(name: str) -> str:
    is_plain = (
        name.strip() == name != ""
        and name.isprintable()
        and NOT_IN_PLAIN_NAMES.isdisjoint(name)
        and not _reads_as_number(name)
    )
    return name if is_plain else repr(name)


def _format_value(value: Category | None) -> str:
    if isinstance(value, str):
        is_plain = (
            value not in ("", "True", "False")
            and all(map(_is_plain_character, value))
            and not _reads_as_number(value)
        )
        return value if is_plain else repr(value)
    if isinstance(value, bool) or value is None:
        return str(value)
    return format_number(value)


def _is_plain_character(character: str) -> bool:
    return character in PLAIN_PUNCTUATION or unicodedata.category(character)[0] in "LMN"


def _reads_as_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _frame_backend(backend: FrameBackend | None) -> FrameBackend:
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
