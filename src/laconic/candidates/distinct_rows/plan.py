"""What to do with a table once it has been looked at."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from laconic.candidates.candidates import CandidateConditions, check_conditions
from laconic.candidates.categories import CategoryOptions
from laconic.candidates.distinct_rows.bins import TableCells, summary_conditions
from laconic.candidates.distinct_rows.column_roles import NO_TARGETS, Range, Roles
from laconic.candidates.distinct_rows.exact_sums import Units
from laconic.candidates.distinct_rows.rows import Plan, ReducedRows
from laconic.candidates.distinct_rows.summary import TableSummary
from laconic.tables.columns import Category, FeatureKind
from laconic.tables.tables import unknown_column_message
from laconic.terms.conditions import Condition, by_feature
from laconic.terms.parsing import Feature


@dataclass(frozen=True, eq=False)
class ConditionOptions:
    """What the conditions of a table are made from."""

    max_thresholds: int | None
    given: Sequence[Condition] | None = None
    """ConditionOptions to take instead of those that the table suggests."""
    known: Sequence[Condition] = ()
    """Further ones that rows have to be told apart by: those of rules to go on from."""
    wanted: Callable[[Sequence[str], Callable[[str], Feature]], Sequence[Condition]] | None = None
    """Reads those of rules that are written as texts, given the features and what they hold."""
    categories: CategoryOptions = field(default_factory=CategoryOptions)
    """Which conditions categories give."""


@dataclass(frozen=True, eq=False)
class Reduction:
    """A table reduced to the rows that its conditions tell apart."""

    rows: ReducedRows
    conditions: tuple[Condition, ...]
    kinds: dict[str, FeatureKind]
    labels: tuple[Category, ...]
    """The classes, ascending, where these are kept."""
    targets: Range = NO_TARGETS
    """What the targets are, where these are numbers."""
    summary: TableSummary | None = None
    """What the columns of a table in parts hold."""

    def candidates(self) -> CandidateConditions:
        """List the conditions with the rows that they cover."""
        return self.rows.candidates(self.conditions, self.kinds)


def check_given(
    conditions: Sequence[Condition], names: Iterable[str]
) -> dict[str, list[Condition]]:
    """Group given conditions by feature, all of which have to be there."""
    check_conditions(conditions)
    grouped = by_feature(conditions)
    for name in grouped:
        if name not in (known := tuple(names)):
            raise ValueError(unknown_column_message(name, known))
    return grouped


def make_plan(
    summary: TableSummary, roles: Roles, options: ConditionOptions
) -> tuple[Plan, tuple[Condition, ...], dict[str, FeatureKind]]:
    """Find the conditions of a table, and how to reduce its rows to those that they tell apart."""
    kinds = summary.kinds
    if options.given is None:
        conditions = summary_conditions(
            summary,
            roles,
            max_thresholds=options.max_thresholds,
            categories=options.categories,
        )
    else:
        conditions = tuple(options.given)
        named = check_given(conditions, summary.columns)
        kinds = {name: kind for name, kind in kinds.items() if name in named}
    known = [*conditions, *options.known]
    if options.wanted is not None:
        known += options.wanted(tuple(summary.columns), summary.feature)
    for each in known:
        summary.feature(each.feature)
    labels = tuple(sorted(summary.labels))
    n_targets = len(labels) if roles.kept == "classes" else 1
    cells = TableCells.of(summary.categories, known, n_targets, summary.times)
    units = None
    if roles.kept == "means":
        units = Units.for_terms(summary.targets.largest, summary.n_counted)
    return Plan(roles, cells, labels, units), conditions, kinds
