"""What to do with a table once it has been looked at."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from laconic.candidates import CandidatePropositions, check_propositions
from laconic.categories import DEFAULT_MAX_CATEGORIES, CategoryOptions
from laconic.data.columns import Category, FeatureKind
from laconic.data.tables import unknown_column_message
from laconic.model.conditions import Proposition, by_feature
from laconic.model.parsing import Feature
from laconic.reduction.cells import TableCells
from laconic.reduction.conditions import summary_propositions
from laconic.reduction.roles import NO_TARGETS, Range, Roles
from laconic.reduction.rows import Plan, ReducedRows
from laconic.reduction.summary import TableSummary
from laconic.reduction.sums import Units


@dataclass(frozen=True, eq=False)
class Conditions:
    """What the conditions of a table are made from."""

    max_thresholds: int | None
    negated_categories: bool
    given: Sequence[Proposition] | None = None
    """Conditions to take instead of those that the table suggests."""
    known: Sequence[Proposition] = ()
    """Further ones that rows have to be told apart by: those of rules to go on from."""
    wanted: Callable[[Sequence[str], Callable[[str], Feature]], Sequence[Proposition]] | None = None
    """Reads those of rules that are written as texts, given the features and what they hold."""
    max_categories: int | None = DEFAULT_MAX_CATEGORIES

    @property
    def categories(self) -> CategoryOptions:
        """Which conditions categories give."""
        return CategoryOptions("values", bool(self.negated_categories), self.max_categories)


@dataclass(frozen=True, eq=False)
class Reduction:
    """A table reduced to the rows that its conditions tell apart."""

    rows: ReducedRows
    propositions: tuple[Proposition, ...]
    kinds: dict[str, FeatureKind]
    labels: tuple[Category, ...]
    """The classes, ascending, where these are kept."""
    targets: Range = NO_TARGETS
    """What the targets are, where these are numbers."""
    summary: TableSummary | None = None
    """What the columns of a table in parts hold."""

    def candidates(self) -> CandidatePropositions:
        """List the conditions with the rows that they cover."""
        return self.rows.candidates(self.propositions, self.kinds)


def check_given(
    propositions: Sequence[Proposition], names: Iterable[str]
) -> dict[str, list[Proposition]]:
    """Group given conditions by feature, all of which have to be there."""
    check_propositions(propositions)
    grouped = by_feature(propositions)
    for name in grouped:
        if name not in (known := tuple(names)):
            raise ValueError(unknown_column_message(name, known))
    return grouped


def make_plan(
    summary: TableSummary, roles: Roles, conditions: Conditions
) -> tuple[Plan, tuple[Proposition, ...], dict[str, FeatureKind]]:
    """Find the conditions of a table, and how to reduce its rows to those that they tell apart."""
    kinds = summary.kinds
    if conditions.given is None:
        propositions = summary_propositions(
            summary,
            roles,
            max_thresholds=conditions.max_thresholds,
            categories=conditions.categories,
        )
    else:
        propositions = tuple(conditions.given)
        named = check_given(propositions, summary.columns)
        kinds = {name: kind for name, kind in kinds.items() if name in named}
    known = [*propositions, *conditions.known]
    if conditions.wanted is not None:
        known += conditions.wanted(tuple(summary.columns), summary.feature)
    for each in known:
        summary.feature(each.feature)
    labels = tuple(sorted(summary.labels))
    n_targets = len(labels) if roles.kept == "classes" else 1
    cells = TableCells.of(summary.categories, known, n_targets, summary.times)
    units = None
    if roles.kept == "means":
        units = Units.for_terms(summary.targets.largest, summary.n_counted)
    return Plan(roles, cells, labels, units), propositions, kinds
