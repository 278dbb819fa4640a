"""Rules as plain values: `Rule` and `RuleEnsemble`.

A rule is a weighted query, and a rule ensemble an additive model made of rules.
Both are immutable, hashable and equal by value, as the queries of `laconic.terms.conditions`
are; they evaluate themselves on any table and print as a person would write them.

What a model consists of is shown line by line: texts, tables, plots and explanations are made from
`RuleEnsemble.lines`, and predictions from `RuleEnsemble.add_to`.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, overload

import numpy as np

from laconic import _core
from laconic._util.types import Bools, Floats
from laconic.tables.columns import Column, FeatureKind
from laconic.tables.tables import FrameBackend, Table, as_table, whole_column, whole_date
from laconic.tables.times import MOMENTS
from laconic.terms.conditions import Condition, Query, all_of, finite_float, set_checked_tuple
from laconic.terms.display import rules_frame, rules_html, rules_latex, rules_markdown
from laconic.terms.formatting import (
    INTERCEPT,
    aligned,
    format_conditions,
    format_count,
    format_weight,
)

# Rows that are predicted at a time: their masks and sums fit in the cache of a processor, and
# NumPy's fixed cost per call is negligible.
BLOCK_SIZE = 32_768


@dataclass(frozen=True, slots=True, repr=False)
class Rule:
    """Query with the weight that it adds to the raw predictions of its rows.

    Parameters
    ----------
    query : Query
        Says which rows are covered.
    weight : float
        Added where the query holds.
    output : int, default=0
        Which raw prediction it is added to, where a row has several: one for each class.

    Examples
    --------
    >>> rule = Rule(Query((Condition("x0", "==", "x"),)), 1.18742)
    >>> print(rule)
    +1.187 if x0 == x
    >>> rule.raw_predictions([["x"], ["o"], ["x"], [None]])
    array([1.18742, 0.     , 1.18742, 0.     ])
    """

    query: Query
    weight: float
    output: int = 0

    def __post_init__(self) -> None:
        if not isinstance(self.query, Query):
            raise TypeError(
                f"The 'query' of a Rule must be a Query. Got {self.query!r} instead. "
                "Wrap conditions as Query((condition, ...))."
            )
        object.__setattr__(self, "weight", finite_float("weight", "Rule", self.weight))

    def raw_predictions(self, X: Any) -> Floats:
        """Contribution of the rule to each row.

        Parameters
        ----------
        X : table-like of shape (n_rows, n_features)
            As for `Condition.covered`.

        Returns
        -------
        raw_predictions : ndarray of shape (n_rows,), dtype float64
            The weight where the query holds, 0 elsewhere.
        """
        return np.where(self.query.covered(X), self.weight, 0.0)

    def __str__(self) -> str:
        return f"{format_weight(self.weight)} {'if ' if self.query else ''}{self.query}"

    def __repr__(self) -> str:
        return f"<Rule: {self}>"


class Output(NamedTuple):
    """One of several raw predictions of a row."""

    name: str
    """The class that it belongs to, as texts write it."""
    intercept: float
    """Its value for a row that no rule covers."""


class Line(NamedTuple):
    """A line of a printed model: an intercept, or a rule."""

    number: int
    """Number of the rule, counted from 1; 0 for an intercept."""
    weight: float
    output: str
    """The class that the weight is added to; empty where a row has one raw prediction."""
    conditions: list[str]
    rule: Rule | None = None

    @property
    def prefix(self) -> str:
        """The words before the conditions."""
        output = f"for {self.output} " if self.output else ""
        return f"{output}if " if self.rule is not None and self.rule.query else output

    def __str__(self) -> str:
        return f"{format_weight(self.weight)} {self.prefix}{' & '.join(self.conditions)}"


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
    feature_kinds : dict of str to {"integer", "boolean"} or tuple, default={}
        Features that hold integers only, zeros and ones only, or ordered categories (given as a
        tuple), where that is known. Only printed text depends on it: ``rooms == 7`` for
        ``6 < rooms <= 7``, ``not paid`` for ``paid <= 0``, and ``size <= M`` for
        ``size in {M, S}``. Predictions and equality of ensembles do not.
    outputs : tuple of Output, default=()
        Where a row has several raw predictions, one for each class: their names and intercepts. The
        `intercept` is then not used. Empty for a single one.

    Examples
    --------
    >>> mid = Rule(Query((Condition("mid", "==", "x"),)), 1.0)
    >>> old = Rule(Query((Condition("age", ">", 30), Condition("mid", "!=", "x"))), -0.25)
    >>> ensemble = RuleEnsemble((mid, old), intercept=0.5, feature_names=("age", "mid"))
    >>> print(ensemble)
    +0.5000 (intercept)
     +1.000 if mid == x
    -0.2500 if age > 30 & mid != x
    >>> ensemble.raw_predictions([[35, "x"], [35, "o"], [20, "x"], [28, None]])
    array([1.5 , 0.25, 1.5 , 0.5 ])
    >>> ensemble[:1]
    <RuleEnsemble: 1 rule, 1 condition>
    +0.5000 (intercept)
     +1.000 if mid == x
    """

    rules: tuple[Rule, ...] = ()
    intercept: float = 0.0
    feature_names: tuple[str, ...] | None = None
    feature_kinds: Mapping[str, FeatureKind] = field(default_factory=dict, compare=False)
    outputs: tuple[Output, ...] = ()

    def __post_init__(self) -> None:
        set_checked_tuple(self, "rules", Rule)
        intercept = finite_float("intercept", "RuleEnsemble", self.intercept)
        object.__setattr__(self, "intercept", intercept)
        n_outputs = len(self.intercepts)
        if any(not 0 <= rule.output < n_outputs for rule in self.rules):
            raise ValueError(
                f"The 'output' of every rule must be one of the {n_outputs} outputs of a "
                "RuleEnsemble, counted from 0. Name further 'outputs'."
            )
        if self.feature_names is not None:
            object.__setattr__(self, "feature_names", tuple(self.feature_names))
            self._check_features(frozenset(self.feature_names))

    def _check_features(self, known: frozenset[str]) -> None:
        for condition in self.conditions:
            name = condition.feature
            if name not in known and whole_date(name, known) is None:
                raise ValueError(
                    "The features of all rules must be among the 'feature_names' of a "
                    f"RuleEnsemble. Got a rule with {condition.feature!r}. Add this name, "
                    "or leave out 'feature_names'."
                )

    @property
    def intercepts(self) -> tuple[float, ...]:
        """Raw predictions of a row that no rule covers, one for each output."""
        return tuple(output.intercept for output in self.outputs) or (self.intercept,)

    @property
    def n_terms(self) -> int:
        """Number of rules."""
        return len(self.rules)

    @property
    def n_conditions(self) -> int:
        """Total number of conditions in all rules."""
        return len(self.conditions)

    @property
    def conditions(self) -> list[Condition]:
        """The conditions of all rules, rule by rule."""
        return [condition for rule in self.rules for condition in rule.query]

    @property
    def used_features(self) -> list[str]:
        """Features that rules use, in the order of `feature_names` if these are given.

        A rule with a part of a date uses the date.
        """
        used = dict.fromkeys(condition.feature for condition in self.conditions)
        if self.feature_names is None:
            return list(used)
        wholes = {whole_column(name, self.feature_names) for name in used}
        return [name for name in self.feature_names if name in wholes]

    @property
    def date_features(self) -> list[str]:
        """Features that are compared with dates, also in parts."""
        names = self.feature_names or ()
        parts = [whole_date(each.feature, names) for each in self.conditions]
        dates = [each.feature for each in self.conditions if isinstance(each.value, MOMENTS)]
        return list(dict.fromkeys([*dates, *(part[1] for part in parts if part is not None)]))

    @property
    def stages(self) -> tuple[RuleEnsemble, ...]:
        """The ensembles of the first 0, 1, 2, ... rules."""
        return tuple(self[:n_terms] for n_terms in range(len(self) + 1))

    def raw_predictions(self, X: Any) -> Floats:
        """Intercept plus the weights of the covering rules, added in rule order.

        Parameters
        ----------
        X : table-like of shape (n_rows, n_features)
            Any table `as_table` accepts.

        Returns
        -------
        raw_predictions : ndarray of shape (n_rows,) or (n_rows, n_outputs), dtype float64
            Score of each row.
        """
        table = as_table(X, self.feature_names)
        raw_predictions = self.start(table.n_rows)
        for rows in _blocks(table.n_rows):
            for rule, covered in zip(self.rules, self._covered_in_block(table, rows), strict=True):
                self.add_to(raw_predictions[rows], rule, covered)
        return raw_predictions

    def start(self, n_rows: int) -> Floats:
        """Raw predictions of rows that no rule covers, to be added to."""
        return np.tile(self.intercepts, (n_rows, 1) if self.outputs else n_rows)

    def add_to(self, raw_predictions: Floats, rule: Rule, covered: Bools) -> None:
        """Add the weight of a rule to the raw predictions of the rows that it covers, in place."""
        column = raw_predictions[:, rule.output] if self.outputs else raw_predictions
        column += np.multiply(covered, rule.weight)

    def _covered_in_block(self, table: Table, rows: slice) -> Iterator[Bools]:
        """Yield for each rule which of the given rows it covers."""
        columns: dict[str, Column] = {}
        known: dict[Condition, Bools] = {}
        for rule in self.rules:
            for condition in rule.query:
                if condition not in known:
                    name = condition.feature
                    if name not in columns:
                        columns[name] = table.block(name, rows)
                    known[condition] = condition.covered_in(columns[name])
            yield all_of(map(known.__getitem__, rule.query), rows.stop - rows.start)

    def staged_raw_predictions(self, X: Any) -> Iterator[Floats]:
        """Raw predictions after the first 1, 2, ..., n_terms rules.

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
        raw_predictions = self.start(table.n_rows)
        for rule in self.rules:
            raw_predictions = raw_predictions.copy()
            self.add_to(raw_predictions, rule, rule.query.covered(table))
            yield raw_predictions

    def covered(self, X: Any) -> Bools:
        """Find which rule covers which row.

        Parameters
        ----------
        X : table-like of shape (n_rows, n_features)
            Any table `as_table` accepts.

        Returns
        -------
        covered : ndarray of shape (n_rows, n_terms), dtype bool
            One column per rule.
        """
        table = as_table(X, self.feature_names)
        # Rule by rule in memory, as they are written and mostly read.
        covered = np.empty((self.n_terms, table.n_rows), dtype=bool)
        for rows in _blocks(table.n_rows):
            for position, mask in enumerate(self._covered_in_block(table, rows)):
                covered[position, rows] = mask
        return covered.T

    def consolidate(self) -> RuleEnsemble:
        """Merge rules with the same set of conditions, adding their weights.

        Returns
        -------
        ensemble : RuleEnsemble
            One rule per distinct set, at the place of its first rule. Its raw
            predictions are the same up to rounding.
        """
        queries: dict[tuple[int, frozenset[Condition]], Query] = {}
        weights: dict[tuple[int, frozenset[Condition]], float] = {}
        for rule in self.rules:
            key = rule.output, frozenset(rule.query)
            queries.setdefault(key, rule.query)
            weights[key] = weights.get(key, 0.0) + rule.weight
        rules = tuple(Rule(query, weights[key], key[0]) for key, query in queries.items())
        return self.with_terms(rules)

    def with_terms(
        self, rules: Iterable[Rule], intercepts: Iterable[float] | None = None
    ) -> RuleEnsemble:
        """Make an ensemble of other rules for the same features.

        Parameters
        ----------
        rules : iterable of Rule
        intercepts : iterable of float or None, default=None
            One for each output, as in the property `intercepts`; None leaves them as they are.

        Returns
        -------
        ensemble : RuleEnsemble
        """
        new = [*map(float, self.intercepts if intercepts is None else intercepts)]
        names = [output.name for output in self.outputs]
        return replace(
            self,
            rules=tuple(rules),
            intercept=self.intercept if names else new[0],
            outputs=tuple(itertools.starmap(Output, zip(names, new, strict=bool(names)))),
        )

    def condition_texts(self, query: Query) -> list[str]:
        """Write the conditions of a query for people, in the values that the features hold.

        Parameters
        ----------
        query : Query

        Returns
        -------
        conditions : list of str
            A single "always" for a query without conditions.

        Examples
        --------
        >>> seven = Query((Condition("rooms", ">", 6), Condition("rooms", "<=", 7)))
        >>> unpaid = Query((Condition("paid", "<=", 0),))
        >>> ensemble = RuleEnsemble(feature_kinds={"rooms": "integer", "paid": "boolean"})
        >>> ensemble.condition_texts(seven), ensemble.condition_texts(unpaid)
        (['rooms == 7'], ['not paid'])
        """
        return format_conditions(query.conditions, self.feature_kinds) or [str(query)]

    def text(self, query: Query) -> str:
        """Write a query for people; see `condition_texts`.

        Parameters
        ----------
        query : Query

        Returns
        -------
        text : str
        """
        return " & ".join(self.condition_texts(query))

    def rule_text(self, rule: Rule) -> str:
        """Write a rule for people; see `condition_texts`.

        Parameters
        ----------
        rule : Rule

        Returns
        -------
        text : str
        """
        return str(self._line(0, rule))

    def output_of(self, rule: Rule) -> str:
        """Name the class whose raw prediction a rule changes; empty where a row has only one."""
        return self.outputs[rule.output].name if self.outputs else ""

    @property
    def lines(self) -> list[Line]:
        """The lines of the printed model: intercepts, without a single one of 0, and rules."""
        names = [output.name for output in self.outputs]
        if not names and (self.intercept != 0.0 or not self.rules):
            names = [""]
        pairs = zip(self.intercepts, names, strict=False)
        intercepts = [Line(0, intercept, name, [INTERCEPT]) for intercept, name in pairs]
        return [*intercepts, *itertools.starmap(self._line, enumerate(self.rules, start=1))]

    def _line(self, number: int, rule: Rule) -> Line:
        conditions = self.condition_texts(rule.query)
        return Line(number, rule.weight, self.output_of(rule), conditions, rule)

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
        >>> rule = Rule(Query((Condition("PS", ">", 100), Condition("PS", "<=", 180))), 0.5)
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
        >>> rule = Rule(Query((Condition("PS", ">", 100), Condition("PS", "<=", 180))), 0.5)
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
            return self.with_terms(self.rules[index])
        return self.rules[index]

    def __len__(self) -> int:
        return len(self.rules)

    def __str__(self) -> str:
        return aligned(map(str, self.lines))

    def __repr__(self) -> str:
        return f"<RuleEnsemble: {self.size}>\n{self}"

    def _repr_html_(self) -> str:
        """Table for notebooks."""
        conditions = [str(len(rule.query)) for rule in self.rules]
        return rules_html(self.lines, f"RuleEnsemble: {self.size}", {"conditions": conditions})

    @property
    def size(self) -> str:
        """Numbers of rules and conditions, in words."""
        rules = format_count(self.n_terms, "rule")
        return f"{rules}, {format_count(self.n_conditions, 'condition')}"


def _blocks(n_rows: int) -> Iterator[slice]:
    # One block even where there are no rows: a missing column is an error in that case, too.
    for start in range(0, max(n_rows, 1), BLOCK_SIZE):
        yield slice(start, min(start + BLOCK_SIZE, n_rows))


@dataclass(frozen=True, slots=True)
class RuleCoverage:
    """The training rows of a rule."""

    coverage: float
    """Number of covered rows, or their total weight if there are weights."""
    share: float
    """The same as a fraction of all rows."""
    mean_target: float
    """Mean of the target in these rows; for classes, the fraction of the second class. NaN where
    the rule covers nothing."""


def rule_coverages(
    covered_rows: Iterable[Bools],
    y: Floats | Bools,
    sample_weight: Floats | None = None,
) -> list[RuleCoverage]:
    """Compute the coverage of rules, given as masks of rows, and the mean target there.

    Examples
    --------
    >>> covered = np.array([False, True, True, True])
    >>> rule_coverages([covered], np.array([0.0, 3.0, 3.0, 6.0]))
    [RuleCoverage(coverage=3.0, share=0.75, mean_target=4.0)]
    """
    weights = np.ones(len(y))
    if sample_weight is not None:
        weights = np.ascontiguousarray(sample_weight, dtype=np.float64)
    weighted_targets = np.ascontiguousarray(weights * y)
    total = float(weights.sum())
    coverages = []
    for covered in covered_rows:
        # Not with @, which starts threads that cost more time than they save.
        covered = np.ascontiguousarray(covered)
        coverage = _core.sum_covered(covered, weights)
        sum_targets = _core.sum_covered(covered, weighted_targets)
        mean = sum_targets / coverage if coverage else float("nan")
        coverages.append(RuleCoverage(coverage, coverage / total, mean))
    return coverages
