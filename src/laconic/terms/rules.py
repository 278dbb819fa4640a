"""Terms and models as plain values: `Rule` and `RuleEnsemble`.

A rule is a weighted query, and a rule ensemble an additive model made of terms: rules, and slopes
(`laconic.terms.slopes`). All of them are immutable, hashable and equal by value, as the queries of
`laconic.terms.conditions` are; they evaluate themselves on any table and print as a person would
write them.

Both kinds of terms have a weight, an output, `features`, `n_conditions`, a `key` that leaves out
the weight, an `effect`, and `values`: what they add to each row if the weight is 1.

What a model consists of is shown line by line: texts, tables, plots and explanations are made from
`RuleEnsemble.lines`, and predictions from `RuleEnsemble.add_to`.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple, TypeAlias, overload

import numpy as np
from numpy.typing import NDArray

from laconic import _core
from laconic._util.types import Bools, Floats, Values
from laconic.tables.columns import Column, FeatureKind, as_numbers, as_texts, with_dates
from laconic.tables.tables import (
    Converter,
    FrameBackend,
    Table,
    as_table,
    whole_column,
    whole_date,
)
from laconic.tables.times import MOMENTS
from laconic.terms.conditions import Condition, Query, all_of, finite_float, set_checked_tuple
from laconic.terms.display import rules_frame, rules_html, rules_latex, rules_markdown
from laconic.terms.formatting import (
    FOR_PEOPLE,
    INTERCEPT,
    aligned,
    format_conditions,
    format_count,
    format_weight,
)
from laconic.terms.rows import RowPlan
from laconic.terms.slopes import Slope

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
        return np.where(self.values(X), self.weight, 0.0)

    def values(self, X: Any) -> Bools:
        """Find the rows that the rule covers; see `Query.covered`."""
        return self.query.covered(X)

    @property
    def features(self) -> tuple[str, ...]:
        """The features that it uses."""
        return tuple(dict.fromkeys(condition.feature for condition in self.query))

    @property
    def key(self) -> frozenset[Condition]:
        """The conditions: what distinguishes it from other rules."""
        return frozenset(self.query)

    @property
    def n_conditions(self) -> int:
        """Number of conditions."""
        return len(self.query)

    @property
    def effect(self) -> float:
        """The largest change that it makes: its weight."""
        return self.weight

    def __str__(self) -> str:
        return f"{format_weight(self.weight)} {'if ' if self.query else ''}{self.query}"

    def __repr__(self) -> str:
        return f"<Rule: {self}>"


Term: TypeAlias = Rule | Slope


class Output(NamedTuple):
    """One of several raw predictions of a row."""

    name: str
    """The class that it belongs to, as texts write it."""
    intercept: float
    """Its value for a row that no rule covers."""


class Line(NamedTuple):
    """A line of a printed model: an intercept, or a term."""

    number: int
    """Number of the term, counted from 1; 0 for an intercept."""
    weight: float
    """Of a slope per step of its feature."""
    output: str
    """The class that the weight is added to; empty where a row has one raw prediction."""
    conditions: list[str]
    term: Term | None = None
    effect: float = 0.0
    """The largest change that the term makes; its contribution in an explanation of a row."""

    @property
    def prefix(self) -> str:
        """The words before the conditions."""
        output = f"for {self.output} " if self.output else ""
        return f"{output}if " if isinstance(self.term, Rule) and self.term.query else output

    def __str__(self) -> str:
        return f"{format_weight(self.weight)} {self.prefix}{' & '.join(self.conditions)}"


@dataclass(frozen=True, slots=True, repr=False)
class RuleEnsemble(Sequence[Term]):
    """Additive model: an intercept plus what rules and slopes add to a row.

    Parameters
    ----------
    terms : tuple of Rule and Slope, default=()
        The terms, in the order in which they are added.
    intercept : float, default=0.0
        Raw prediction of a row to which no term adds anything.
    feature_names : tuple of str or None, default=None
        Names of the columns of a table that comes without names, by position.
        The default is x0, x1, ... Tables with names are matched by name.
    feature_kinds : dict of str to {"integer", "boolean"}, tuple or frozenset, default={}
        Features that hold integers only, zeros and ones only, ordered categories (given as a
        tuple), or many categories, of which only some have conditions of their own (given as a
        frozenset), where that is known. Only printed text depends on it: ``rooms == 7`` for
        ``6 < rooms <= 7``, ``not paid`` for ``paid <= 0``, ``size <= M`` for ``size in {M, S}``,
        and ``city in {Rome, other}`` for ``city not in {Athens, Cairo, Paris}``. Predictions and
        equality of ensembles do not.
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

    terms: tuple[Term, ...] = ()
    intercept: float = 0.0
    feature_names: tuple[str, ...] | None = None
    feature_kinds: Mapping[str, FeatureKind] = field(default_factory=dict, compare=False)
    outputs: tuple[Output, ...] = ()
    _row_plan: RowPlan | None = field(default=None, init=False, compare=False)

    def __post_init__(self) -> None:
        set_checked_tuple(self, "terms", Rule, Slope)
        intercept = finite_float("intercept", "RuleEnsemble", self.intercept)
        object.__setattr__(self, "intercept", intercept)
        n_outputs = len(self.intercepts)
        if any(not 0 <= term.output < n_outputs for term in self.terms):
            raise ValueError(
                f"The 'output' of every term must be one of the {n_outputs} outputs of a "
                "RuleEnsemble, counted from 0. Name further 'outputs'."
            )
        if self.feature_names is not None:
            object.__setattr__(self, "feature_names", tuple(self.feature_names))
            self._check_features(frozenset(self.feature_names))

    def _check_features(self, known: frozenset[str]) -> None:
        for name in itertools.chain.from_iterable(term.features for term in self.terms):
            if name not in known and whole_date(name, known) is None:
                raise ValueError(
                    "The features of all terms must be among the 'feature_names' of a "
                    f"RuleEnsemble. Got a term with {name!r}. Add this name, or leave out "
                    "'feature_names'."
                )

    @property
    def intercepts(self) -> tuple[float, ...]:
        """Raw predictions of a row that no rule covers, one for each output."""
        return tuple(output.intercept for output in self.outputs) or (self.intercept,)

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The terms that are rules."""
        return tuple(term for term in self.terms if isinstance(term, Rule))

    @property
    def slopes(self) -> tuple[Slope, ...]:
        """The terms that are slopes."""
        return tuple(term for term in self.terms if isinstance(term, Slope))

    @property
    def n_terms(self) -> int:
        """Number of terms."""
        return len(self.terms)

    @property
    def n_conditions(self) -> int:
        """Total number of conditions of all terms; a slope has one for each bend, at least one."""
        return sum(term.n_conditions for term in self.terms)

    @property
    def size(self) -> int:
        """Number of terms plus number of conditions: how much there is to read."""
        return self.n_terms + self.n_conditions

    @property
    def conditions(self) -> list[Condition]:
        """The conditions of all rules, rule by rule."""
        return [condition for rule in self.rules for condition in rule.query]

    @property
    def used_features(self) -> list[str]:
        """Features that terms use, in the order of `feature_names` if these are given.

        A rule with a part of a date uses the date.
        """
        used = dict.fromkeys(name for term in self.terms for name in term.features)
        if self.feature_names is None:
            return list(used)
        wholes = {whole_column(name, self.feature_names) for name in used}
        return [name for name in self.feature_names if name in wholes]

    @property
    def compared_values(self) -> dict[str, list[Any]]:
        """The values that the terms compare features with, without missing values."""
        compared: dict[str, list[Any]] = {}
        for slope in self.slopes:
            compared.setdefault(slope.feature, []).append(slope.lower)
        for each in self.conditions:
            values = each.value if isinstance(each.value, tuple) else (each.value,)
            compared.setdefault(each.feature, []).extend(v for v in values if v is not None)
        return compared

    def readable(self, table: Table) -> Table:
        """Return a table whose columns are converted to what the terms compare, if they can be.

        Texts become dates or numbers, and numbers texts, where the terms have such values.
        """
        if table.n_rows == 1 and self.row_plan.read(table) is not None:
            return table  # none of the cells would be changed
        converters: dict[str, Converter] = {}
        for name, known in self.compared_values.items():
            part = whole_date(name, self.feature_names or ())
            if part is not None:
                converters[part[1]] = with_dates
            elif known:
                converters.setdefault(name, _converter(known))
        return table.converted(converters)

    @property
    def stages(self) -> tuple[RuleEnsemble, ...]:
        """The ensembles of the first 0, 1, 2, ... terms."""
        return tuple(self[:n_terms] for n_terms in range(len(self) + 1))

    def raw_predictions(self, X: Any) -> Floats:
        """Intercept plus what the terms add to each row, in their order.

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
        if table.n_rows == 1 and (of_row := self.row_plan.raw_predictions(table)) is not None:
            return of_row
        raw_predictions = self.start(table.n_rows)
        for rows in _blocks(table.n_rows):
            for term, values in zip(self.terms, self._values_in_block(table, rows), strict=True):
                self.add_to(raw_predictions[rows], term, values)
        return raw_predictions

    @property
    def row_plan(self) -> RowPlan:
        """The terms as functions of the cells of a row, made when they are first used."""
        if self._row_plan is None:
            object.__setattr__(self, "_row_plan", RowPlan(self))
        assert self._row_plan is not None
        return self._row_plan

    def __reduce__(self) -> Any:
        # Without the plan.
        parts = self.terms, self.intercept, self.feature_names, self.feature_kinds, self.outputs
        return type(self), parts

    def start(self, n_rows: int) -> Floats:
        """Raw predictions of rows without any term, to be added to."""
        return np.tile(self.intercepts, (n_rows, 1) if self.outputs else n_rows)

    def add_to(self, raw_predictions: Floats, term: Term, values: Values) -> None:
        """Add a term, given its values, to raw predictions, in place."""
        column = raw_predictions[:, term.output] if self.outputs else raw_predictions
        column += np.multiply(values, term.weight)

    def _values_in_block(self, table: Table, rows: slice) -> Iterator[Values]:
        """Yield the values of each term in the given rows."""
        columns: dict[str, Column] = {}
        known: dict[Condition, Bools] = {}
        for term in self.terms:
            for name in term.features:
                if name not in columns:
                    columns[name] = table.block(name, rows)
            if isinstance(term, Slope):
                yield term.values_in(columns[term.feature])
                continue
            for condition in term.query:
                if condition not in known:
                    known[condition] = condition.covered_in(columns[condition.feature])
            yield all_of(map(known.__getitem__, term.query), rows.stop - rows.start)

    def staged_raw_predictions(self, X: Any) -> Iterator[Floats]:
        """Raw predictions after the first 1, 2, ..., n_terms terms.

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
        for term in self.terms:
            raw_predictions = raw_predictions.copy()
            self.add_to(raw_predictions, term, term.values(table))
            yield raw_predictions

    def covered(self, X: Any) -> Bools:
        """Find which rule covers which row; a slope covers the rows above its lower end.

        Parameters
        ----------
        X : table-like of shape (n_rows, n_features)
            Any table `as_table` accepts.

        Returns
        -------
        covered : ndarray of shape (n_rows, n_terms), dtype bool
            One column per term.
        """
        return self._filled(X, bool)

    def values(self, X: Any) -> Values:
        """Compute what each term adds to each row if its weight is 1.

        Parameters
        ----------
        X : table-like of shape (n_rows, n_features)
            Any table `as_table` accepts.

        Returns
        -------
        values : ndarray of shape (n_rows, n_terms)
            One column per term; of bools if all terms are rules.
        """
        return self._filled(X, np.float64 if self.slopes else bool)

    def _filled(self, X: Any, dtype: type) -> NDArray[Any]:
        table = as_table(X, self.feature_names)
        # Term by term in memory, as they are written and mostly read.
        filled: NDArray[Any] = np.empty((self.n_terms, table.n_rows), dtype=dtype)
        for rows in _blocks(table.n_rows):
            for position, values in enumerate(self._values_in_block(table, rows)):
                filled[position, rows] = values
        return filled.T

    def consolidate(self) -> RuleEnsemble:
        """Merge terms that differ in their weights only, adding these.

        Returns
        -------
        ensemble : RuleEnsemble
            One rule per distinct set of conditions, at the place of its first rule, and one slope
            per feature and ends. Its raw predictions are the same up to rounding.
        """
        terms: dict[Any, Term] = {}
        for term in self.terms:
            key = term.output, term.key
            weight = term.weight + (terms[key].weight if key in terms else 0.0)
            terms[key] = replace(terms.get(key, term), weight=weight)
        return self.with_terms(terms.values())

    def with_terms(
        self, terms: Iterable[Term], intercepts: Iterable[float] | None = None
    ) -> RuleEnsemble:
        """Make an ensemble of other terms for the same features.

        Parameters
        ----------
        terms : iterable of Rule and Slope
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
            terms=tuple(terms),
            intercept=self.intercept if names else new[0],
            outputs=tuple(itertools.starmap(Output, zip(names, new, strict=bool(names)))),
        )

    def condition_texts(self, query: Query) -> list[str]:
        """Write the conditions of a query for people, in the values that the features hold.

        Of sets that are long, the first values are written, and the others counted; ``str(query)``
        writes all of them.

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
        kinds = self.feature_kinds
        return format_conditions(query.conditions, kinds, FOR_PEOPLE) or [str(query)]

    def text(self, term: Query | Term) -> str:
        """Write a query, or a term without its weight, for people; see `condition_texts`.

        Parameters
        ----------
        term : Query, Rule or Slope

        Returns
        -------
        text : str
        """
        if isinstance(term, Slope):
            return term.text()
        return " & ".join(self.condition_texts(term.query if isinstance(term, Rule) else term))

    def term_text(self, term: Term) -> str:
        """Write a term with its weight for people; see `condition_texts`.

        Parameters
        ----------
        term : Rule or Slope

        Returns
        -------
        text : str
        """
        return str(self._line(0, term))

    def output_of(self, term: Term) -> str:
        """Name the class whose raw prediction a term changes; empty where a row has only one."""
        return self.outputs[term.output].name if self.outputs else ""

    @property
    def lines(self) -> list[Line]:
        """The lines of the printed model: intercepts, without a single one of 0, and terms."""
        names = [output.name for output in self.outputs]
        if not names and (self.intercept != 0.0 or not self.terms):
            names = [""]
        pairs = zip(self.intercepts, names, strict=False)
        intercepts = [Line(0, intercept, name, [INTERCEPT]) for intercept, name in pairs]
        return [*intercepts, *itertools.starmap(self._line, enumerate(self.terms, start=1))]

    def _line(self, number: int, term: Term) -> Line:
        output = self.output_of(term)
        if isinstance(term, Slope):
            return Line(number, term.step_weight, output, [term.words()], term, term.effect)
        texts = self.condition_texts(term.query)
        return Line(number, term.weight, output, texts, term, term.effect)

    def to_frame(self, backend: FrameBackend | None = None) -> Any:
        """Terms as a DataFrame, one row each, without the intercept.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"} or None, default=None
            Library of the result; None takes the first that is installed.

        Returns
        -------
        frame : pandas.DataFrame, polars.DataFrame or pyarrow.Table
            Columns term (counted from 1), kind ("rule" or "slope"), weight (of a slope per unit of
            its feature), text and n_conditions.
        """
        return rules_frame(self, backend)

    def to_markdown(self) -> str:
        """Terms as a Markdown table.

        Returns
        -------
        text : str
            With the columns weight and term; conditions are in code style.

        Examples
        --------
        >>> rule = Rule(Query((Condition("PS", ">", 100), Condition("PS", "<=", 180))), 0.5)
        >>> print(RuleEnsemble((rule,)).to_markdown())
        | weight | term |
        |---:|:---|
        | +0.5000 | `100 < PS <= 180` |
        """
        return rules_markdown(self)

    def to_latex(self) -> str:
        r"""Terms as a LaTeX table.

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
        weight & term \\
        \midrule
        $+0.5000$ & 100 $<$ PS $\leq$ 180 \\
        \bottomrule
        \end{tabular}
        """
        return rules_latex(self)

    @overload
    def __getitem__(self, index: int) -> Term: ...

    @overload
    def __getitem__(self, index: slice) -> RuleEnsemble: ...

    def __getitem__(self, index: int | slice) -> Term | RuleEnsemble:
        if isinstance(index, slice):
            return self.with_terms(self.terms[index])
        return self.terms[index]

    def __len__(self) -> int:
        return len(self.terms)

    def __str__(self) -> str:
        return aligned(map(str, self.lines))

    def __repr__(self) -> str:
        return f"<RuleEnsemble: {self.size_text}>\n{self}"

    def _repr_html_(self) -> str:
        """Table for notebooks."""
        conditions = [str(term.n_conditions) for term in self.terms]
        caption = f"RuleEnsemble: {self.size_text}"
        return rules_html(self.lines, caption, {"conditions": conditions})

    @property
    def size_text(self) -> str:
        """Numbers of rules, slopes and conditions, in words."""
        counts = {"rule": len(self.rules), "slope": len(self.slopes)}
        words = [format_count(n, noun) for noun, n in counts.items() if n or not self.terms]
        words = words if self.terms else words[:1]
        return ", ".join([*words, format_count(self.n_conditions, "condition")])


def _converter(known: list[Any]) -> Converter:
    """Find how to convert a column to what it is compared with."""
    if any(isinstance(value, MOMENTS) for value in known):
        return with_dates
    texts = [value for value in known if isinstance(value, str)]
    return partial(as_texts, known=texts) if texts else as_numbers


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
