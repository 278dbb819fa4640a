"""Rules as plain values: `Proposition`, `Query`, `Rule` and `RuleEnsemble`.

A proposition is one condition on one feature, a query a conjunction of
propositions, a rule a weighted query, and a rule ensemble an additive model
made of rules. All of them are immutable, hashable and equal by value; they
evaluate themselves on any table and print as a person would write them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from numbers import Integral, Real
from typing import Any, cast, overload

import numpy as np
from numpy.typing import NDArray

from laconic.columns import CategoricalColumn, Category, Column, NumericColumn
from laconic.display import rules_frame, rules_html, rules_latex, rules_markdown
from laconic.formatting import (
    format_conditions,
    format_count,
    format_name,
    format_number,
    format_value,
    format_weight,
)
from laconic.frames import FrameBackend
from laconic.tables import Table, as_table

__all__ = ["Proposition", "Query", "Rule", "RuleEnsemble", "format_number", "format_weight"]

THRESHOLD_RELATIONS = ("<=", ">")
VALUE_RELATIONS = ("==", "!=")
MISSING_RELATIONS = ("is missing", "is present")
RELATIONS = THRESHOLD_RELATIONS + VALUE_RELATIONS + MISSING_RELATIONS

# A float is a Real, but to ask for it first is ten times faster.
NUMBERS = (float, Real)

# Rows that are predicted at a time: masks and sums of so many stay in the cache of a processor, and
# NumPy's fixed cost per call does not count.
BLOCK_SIZE = 32_768


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
        name = format_name(self.feature)
        if self.value is None:
            return f"{name} {self.relation}"
        return f"{name} {self.relation} {format_value(self.value)}"

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
        return " & ".join(format_conditions(self.propositions)) or "always"

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

    @property
    def condition(self) -> str:
        """When the rule holds, in words."""
        return f"if {self.query}" if self.query.propositions else str(self.query)

    def __str__(self) -> str:
        return f"{format_weight(self.weight)} {self.condition}"

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
        for rows in _blocks(table.n_rows):
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
        # Rule by rule in memory, as they are written and mostly read.
        covered = np.empty((self.n_rules, table.n_rows), dtype=bool)
        for rows in _blocks(table.n_rows):
            for position, mask in enumerate(self._covered_in_block(table, rows)):
                covered[position, rows] = mask
        return covered.T

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
        return rules_frame(self, backend)

    def to_markdown(self) -> str:
        """Rules as a Markdown table.

        Returns
        -------
        text : str
            With the columns weight and rule; conditions are in code style.

        Examples
        --------
        >>> rule = Rule(Query((Proposition("PS", ">", 100), Proposition("PS", "<=", 180))), 0.5)
        >>> print(RuleEnsemble((rule,)).to_markdown())
        | weight | rule |
        |---:|:---|
        | +0.5000 | `100 < PS <= 180` |
        """
        return rules_markdown(self)

    def to_latex(self) -> str:
        r"""Rules as a LaTeX table.

        Returns
        -------
        text : str
            A tabular environment; the document needs ``\usepackage{booktabs}``.

        Examples
        --------
        >>> rule = Rule(Query((Proposition("PS", ">", 100), Proposition("PS", "<=", 180))), 0.5)
        >>> print(RuleEnsemble((rule,)).to_latex())
        \begin{tabular}{rl}
        \toprule
        weight & rule \\
        \midrule
        $+0.5000$ & 100 $<$ PS $\leq$ 180 \\
        \bottomrule
        \end{tabular}
        """
        return rules_latex(self)

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
        lines = [(rule.weight, rule.condition) for rule in self.rules]
        if self.shows_intercept:
            lines.insert(0, (self.intercept, "intercept"))
        weights = [format_weight(weight) for weight, _ in lines]
        width = max(map(len, weights))
        return "\n".join(
            f"{weight:>{width}} {text}" for weight, (_, text) in zip(weights, lines, strict=True)
        )

    def __repr__(self) -> str:
        return f"<RuleEnsemble: {self.size}>\n{self}"

    def _repr_html_(self) -> str:
        """Table for notebooks."""
        conditions = [str(len(rule.query)) for rule in self.rules]
        return rules_html(self, f"RuleEnsemble: {self.size}", {"conditions": conditions})

    @property
    def shows_intercept(self) -> bool:
        """Whether the intercept is worth a line: when it is not 0, or all there is."""
        return self.intercept != 0.0 or not self.rules

    @property
    def size(self) -> str:
        """Numbers of rules and conditions, in words."""
        rules = format_count(self.n_rules, "rule")
        return f"{rules}, {format_count(self.n_conditions, 'condition')}"


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


def _blocks(n_rows: int) -> Iterator[slice]:
    # One block even where there are no rows: a missing column is an error there too.
    for start in range(0, max(n_rows, 1), BLOCK_SIZE):
        yield slice(start, min(start + BLOCK_SIZE, n_rows))


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
