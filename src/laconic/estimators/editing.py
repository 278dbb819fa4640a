"""Rules that somebody drops, replaces, forces or locks, and what each of that costs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from laconic._checks import is_whole
from laconic.estimators.given import read_rules
from laconic.estimators.rows import counted
from laconic.estimators.sizes import make_splits
from laconic.losses import Floats
from laconic.model.conditions import Query
from laconic.model.formatting import format_count, format_number
from laconic.refitting import penalised_loss, refit
from laconic.search import OtherRules

if TYPE_CHECKING:
    from laconic.constraints import Constraints
    from laconic.estimators.base import RuleBoosting
    from laconic.estimators.rows import CheckedRows


@dataclass(frozen=True)
class Edit:
    """One change of a model, and the model after it."""

    words: str
    """What was changed."""
    n_rules: int
    risk: float
    """Mean loss of the training rows, with the penalty on weights, all weights refitted."""
    loss: float
    """Mean loss of rows that were held out, with the same rules and weights from the others."""


@dataclass(frozen=True)
class EditReport(Sequence[Edit]):
    """A model, and what became of it edit by edit; the first entry is the model before.

    The rules are the same in every split of the cross-validation, and only their weights are
    learned anew: rules that were chosen with all rows look a little better than they are, those
    before an edit as well as those after it.
    """

    edits: tuple[Edit, ...]

    def __getitem__(self, index: Any) -> Any:
        return self.edits[index]

    def __len__(self) -> int:
        return len(self.edits)

    def __str__(self) -> str:
        lines = [("", "rules", "risk", "price", "held out", "price")]
        before = None
        for edit in self.edits:
            prices = ("", "")
            if before is not None:
                prices = _price(edit.risk - before.risk), _price(edit.loss - before.loss)
            numbers = format_number(edit.risk), prices[0], format_number(edit.loss), prices[1]
            lines.append((edit.words, str(edit.n_rules), *numbers))
            before = edit
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        return "\n".join(
            "  ".join(
                [
                    line[0].ljust(widths[0]),
                    *(c.rjust(w) for c, w in zip(line[1:], widths[1:], strict=True)),
                ]
            ).rstrip()
            for line in lines
        )


def _price(difference: float) -> str:
    text = f"{difference:+.2g}"
    return "0" if float(text) == 0.0 else text


def edited(
    model: RuleBoosting,
    rows: CheckedRows,
    fit_arguments: tuple[Any, ...],
    *,
    drop: Iterable[int],
    replace: Mapping[int, Any],
    force: Sequence[Any],
    lock: Iterable[int] | None,
    n_rules: int | None,
    cv: Any,
) -> RuleBoosting:
    """Change a model; see `RuleBoosting.edit`."""
    queries = [rule.query for rule in model.ensemble_]
    constraints = model._read_constraints(rows.table)
    dropped = _numbers("drop", drop, len(queries))
    locked = None if lock is None else _numbers("lock", lock, len(queries))
    exchanged = dict(
        zip(
            _numbers("replace", replace, len(queries)),
            read_rules(list(replace.values()), rows, constraints),
            strict=True,
        )
    )
    _check_apart(dropped, exchanged, locked or [])
    forced = read_rules(force, rows, constraints)
    judge = _Judge(model, rows, cv, constraints)
    # Boosting that keeps weights may have found a rule twice.
    steps: list[tuple[str, list[Query]]] = [("before", list(dict.fromkeys(queries)))]
    for number in dropped:
        rest = [query for query in steps[-1][1] if query != queries[number - 1]]
        steps.append((f"without {queries[number - 1]}", rest))
    for number, query in exchanged.items():
        old = queries[number - 1]
        steps.append(
            (f"{query} instead of {old}", [query if q == old else q for q in steps[-1][1]])
        )
    for query in forced:
        if query not in steps[-1][1]:
            steps.append((f"with {query}", [*steps[-1][1], query]))
    kept = steps[-1][1]
    if locked is not None:
        wanted = {queries[number - 1] for number in locked} | {*exchanged.values(), *forced}
        kept = [query for query in kept if query in wanted]
        steps.append((f"{format_count(len(kept), 'rule')} kept", kept))
    n_wanted = len(queries) if n_rules is None else n_rules
    parameters = model._parameters_of_scope()
    excluded = parameters.get("excluded_rules", model.excluded_rules or ())
    result: RuleBoosting = _plain_estimator(model).set_params(
        **parameters
        | {
            "n_rules": max(n_wanted, len(kept), 1),
            "initial_rules": kept or None,
            "excluded_rules": [*excluded, *(queries[n - 1] for n in dropped)] or None,
            "warm_start": False,
        }
    )
    result.fit(*fit_arguments)
    found = [rule.query for rule in result.ensemble_]
    if len(found) != len(kept):
        n_new = len(found) - len(kept)
        steps.append((f"completed by {format_count(n_new, 'rule')}", found))
    result.edits_ = EditReport(
        tuple(Edit(words, len(rules), *judge.judge(rules)) for words, rules in steps)
    )
    return result


def _plain_estimator(model: RuleBoosting) -> RuleBoosting:
    """Make an estimator with the same parameters, but for a choice of the number of rules."""
    parameters = clone(model).get_params(deep=False)
    is_plain = "cv" not in parameters
    parameters.pop("cv", None)
    return cast("RuleBoosting", type(model).__mro__[0 if is_plain else 2](**parameters))


def _numbers(name: str, given: Iterable[int], n_rules: int) -> list[int]:
    numbers = list(dict.fromkeys(given))
    for number in numbers:
        if not is_whole(number, 1) or number > n_rules:
            raise ValueError(
                f"{name!r} must name rules by their numbers, from 1 to {n_rules}. Got {number!r}."
            )
    return [int(number) for number in numbers]


def _check_apart(dropped: Iterable[int], exchanged: Iterable[int], locked: Iterable[int]) -> None:
    for one, other in ((dropped, exchanged), (dropped, locked), (exchanged, locked)):
        both = sorted(set(one) & set(other))
        if both:
            raise ValueError(
                f"A rule is dropped, replaced or locked, not two of these. Got {both[0]} twice."
            )


class _Judge:
    """What rules are worth with the best weights for them."""

    def __init__(
        self, model: RuleBoosting, rows: CheckedRows, cv: Any, constraints: Constraints | None
    ) -> None:
        self.rows, self.constraints = rows, constraints
        self.loss, self.fit_intercept = model.loss_, bool(model.fit_intercept)
        self.penalty = model.l2_regularization_
        self.y = model.task_.for_loss(rows.target)
        self.weights = np.ones(len(self.y)) if rows.weights is None else rows.weights
        self.splits = make_splits(
            cv, rows.target, holds_classes=model.task.holds_classes, weights=rows.weights
        )
        self._covered: dict[Query, NDArray[np.bool_]] = {}

    def judge(self, queries: Sequence[Query]) -> tuple[float, float]:
        """Compute the risk on all rows, and the loss on rows that are held out."""
        for query in queries:
            if query not in self._covered:
                self._covered[query] = query.covered(self.rows.table)
        covered = np.array([self._covered[query] for query in queries], dtype=bool)
        covered = covered.reshape(-1, len(self.y))
        everything = np.arange(len(self.y))[counted(self.rows.weights)]
        rules, weights, offset = self._fitted(queries, covered, everything)
        value, _ = penalised_loss(
            rules, self.y[everything], self.loss, weights,
            offset=offset, sample_weight=self.weights[everything],
        )  # fmt: skip
        total, amount = 0.0, 0.0
        for train, test in self.splits:
            _, weights, offset = self._fitted(queries, covered, train)
            columns = covered[:, test]
            if self.fit_intercept:
                columns = np.vstack([columns, np.ones((1, len(test)), dtype=bool)])
            losses = self.loss.value(self.y[test], offset + weights @ columns)
            total += float(losses @ self.weights[test])
            amount += float(self.weights[test].sum())
        return value / float(self.weights[everything].sum()), total / amount

    def _fitted(
        self, queries: Sequence[Query], covered: NDArray[np.bool_], rows: NDArray[np.intp]
    ) -> tuple[OtherRules, Floats, float]:
        penalties = np.full(len(queries), self.penalty)
        signs = np.zeros(len(queries), dtype=np.int_)
        if self.constraints is not None:
            signs[:] = [self.constraints.sign_of(query) for query in queries]
        covered = np.ascontiguousarray(covered[:, rows])
        if self.fit_intercept:
            covered = np.vstack([covered, np.ones((1, len(rows)), dtype=bool)])
            penalties, signs = np.append(penalties, 0.0), np.append(signs, 0)
        rules = OtherRules(covered, penalties)
        weights = refit(
            rules, self.y[rows], self.loss, np.zeros(len(penalties)),
            sample_weight=self.weights[rows], signs=signs,
        ).weights  # fmt: skip
        return rules, weights, 0.0
