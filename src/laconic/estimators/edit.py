"""Edits of a model: terms that are dropped, replaced, forced or locked, and what each edit costs.

Alternatives: terms that are nearly as good as one of a model, in its place.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from laconic._util.checks import is_finite_number, is_whole, require
from laconic._util.types import Bools, Floats, Indices, Values
from laconic._util.words import parameter
from laconic.boosting import Barred, InitialTerm, Settings, State, TrainingData, check_loss
from laconic.boosting.refit import ensemble_risk, ensemble_weights, refitted
from laconic.boosting.settings import form_of, make_term
from laconic.candidates.constraints import form_text
from laconic.estimators.choose_size import make_splits
from laconic.estimators.fitting import columns_of, make_rounds
from laconic.estimators.groups import groups_for
from laconic.estimators.settings import read_terms
from laconic.models.alternatives import Alternative, Alternatives
from laconic.search import SearchStatus
from laconic.tables.inspection import ColumnWarning
from laconic.terms.conditions import Query
from laconic.terms.formatting import format_column, format_count
from laconic.terms.rules import RuleEnsemble, Term
from laconic.terms.slopes import Slope

if TYPE_CHECKING:
    from laconic.estimators.base import RuleBoosting

# Differences that are due to rounding.
_NEGLIGIBLE = 1e-9


@dataclass(frozen=True)
class Edit:
    """One change of a model, and the model after it."""

    words: str
    """What was changed."""
    n_terms: int
    risk: float
    """Mean loss of the training rows, with the penalty on weights, all weights refitted."""
    loss: float
    """Mean loss of rows that were held out, with the same terms and weights from the others."""


@dataclass(frozen=True)
class EditReport(Sequence[Edit]):
    """The history of a model, edit by edit; the first entry is the model before.

    The terms are the same in every split of the cross-validation, and only their weights are
    learned anew: terms that were chosen with all rows look a little better than they are, those
    before an edit as well as those after it.
    """

    edits: tuple[Edit, ...]

    def __getitem__(self, index: Any) -> Any:
        return self.edits[index]

    def __len__(self) -> int:
        return len(self.edits)

    def __str__(self) -> str:
        risks, losses = [edit.risk for edit in self.edits], [edit.loss for edit in self.edits]
        columns = (
            [edit.words for edit in self.edits],
            [str(edit.n_terms) for edit in self.edits],
            *(format_column(risks), _costs(risks), format_column(losses), _costs(losses)),
        )
        head = ("", "terms", "risk", "cost", "held out", "cost")
        lines = [head, *zip(*columns, strict=True)]
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


def _costs(values: Sequence[float]) -> list[str]:
    """Write how much each value is above the one before."""
    costs = [
        0.0 if math.isclose(after, before, rel_tol=_NEGLIGIBLE) else after - before
        for before, after in itertools.pairwise(values)
    ]
    texts = format_column([*map(abs, costs)], n_digits=2)
    signs = ("-" if cost < 0 else "+" if cost > 0 else "" for cost in costs)
    return ["", *(sign + text for sign, text in zip(signs, texts, strict=True))]


def edited(
    model: RuleBoosting,
    data: TrainingData,
    fit_arguments: tuple[Any, ...],
    *,
    drop: Iterable[int],
    replace: Mapping[int, Any],
    force: Sequence[Any],
    lock: Iterable[int] | None,
    n_terms: int | None,
    cv: Any,
) -> RuleBoosting:
    """Change a model; see `RuleBoosting.edit`."""
    if data.described is not None:
        raise ValueError(
            "An edit needs a table in memory, to hold rows out. Got one that is read in parts. "
            "Take a sample of the rows."
        )
    settings, ensemble = model.settings_, model.ensemble_
    settings.check_search()
    rules = [_of_term(rule, ensemble) for rule in ensemble]
    dropped = _numbers("drop", drop, len(rules))
    locked = None if lock is None else _numbers("lock", lock, len(rules))
    numbers = _numbers("replace", replace, len(rules))
    others = read_terms(list(replace.values()), data, settings.constraints)
    _check_apart(dropped, numbers, locked or [])
    judge = _Judge(model, data, cv)
    exchanged = {
        number: rule if rule.output is not None else rule._replace(output=rules[number - 1].output)
        for number, rule in zip(numbers, others, strict=True)
    }
    # Boosting that keeps weights may have found a term twice.
    steps: list[tuple[str, list[InitialTerm]]] = [("before", list(dict.fromkeys(rules)))]
    for number in dropped:
        old = rules[number - 1]
        steps.append((f"without {judge.text(old)}", [r for r in steps[-1][1] if r != old]))
    for number, rule in exchanged.items():
        old = rules[number - 1]
        words = f"{judge.text(rule)} instead of {judge.text(old)}"
        steps.append((words, [rule if r == old else r for r in steps[-1][1]]))
    forced = []
    for rule in read_terms(force, data, settings.constraints):
        forced.append(judge.placed(rule, steps[-1][1]))
        if forced[-1] not in steps[-1][1]:
            steps.append((f"with {judge.text(forced[-1])}", [*steps[-1][1], forced[-1]]))
    kept = steps[-1][1]
    if locked is not None:
        wanted = {rules[number - 1] for number in locked} | {*exchanged.values(), *forced}
        kept = [rule for rule in kept if rule in wanted]
        steps.append((f"{format_count(len(kept), 'term')} kept", kept))
    is_number = n_terms is None or is_whole(n_terms, 1)
    required = "a whole number in the range [1, inf) or None"
    require(is_number, parameter("n_terms"), required, n_terms)
    n_wanted = len(rules) if n_terms is None else n_terms
    changed = dataclasses.replace(
        settings,
        # The convex problem over all rules knows none that are given; others may be exchanged.
        strategy="polished" if settings.strategy == "global" else settings.strategy,
        n_terms=max(n_wanted, len(kept), 1),
        initial_terms=tuple(kept),
        excluded_terms=(*settings.excluded_terms, *(rules[n - 1].form for n in dropped)),
    )
    result = _fitted_again(model, changed, (*fit_arguments, data.groups))
    found = list(dict.fromkeys(_of_term(rule, result.ensemble_) for rule in result.ensemble_))
    if len(found) != len(kept):
        n_new = len(found) - len(kept)
        steps.append((f"completed by {format_count(n_new, 'term')}", found))
    result.edits_ = EditReport(
        tuple(Edit(words, len(rules), *judge.judge(rules)) for words, rules in steps)
    )
    return result


def _fitted_again(
    model: RuleBoosting, settings: Settings, fit_arguments: tuple[Any, ...]
) -> RuleBoosting:
    """Fit with other settings to the same features; an array has their names."""
    labels = model.task_.labels if model.task_.outputs else None
    result = model._plain_estimator(settings.parameters(labels))
    X, *others, groups = fit_arguments
    belonging = groups_for(result, groups)
    result._known = X, model._fitted_table(X)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result.fit(X, *others, **belonging)
    for each in caught:
        # The first fit has warned of the columns.
        if not issubclass(each.category, ColumnWarning):
            warnings.warn(each.message, stacklevel=4)
    del result._known
    if hasattr(model, "feature_names_in_"):
        result.feature_names_in_ = model.feature_names_in_
    return result


def _of_term(term: Term, ensemble: RuleEnsemble) -> InitialTerm:
    return InitialTerm(form_of(term), None, term.output if ensemble.outputs else None)


def _numbers(name: str, given: Iterable[int], n_terms: int) -> list[int]:
    numbers = list(dict.fromkeys(given))
    for number in numbers:
        if not is_whole(number, 1) or number > n_terms:
            raise ValueError(
                f"{parameter(name)} must name terms by their numbers, from 1 to {n_terms}. Got "
                f"{number!r}."
            )
    return [int(number) for number in numbers]


def _check_apart(dropped: Iterable[int], exchanged: Iterable[int], locked: Iterable[int]) -> None:
    for one, other in ((dropped, exchanged), (dropped, locked), (exchanged, locked)):
        both = sorted(set(one) & set(other))
        if both:
            raise ValueError(
                f"A term is dropped, replaced or locked, not two of these. Got {both[0]} twice."
            )


class _Judge:
    """Computes what terms are worth with the best weights for them."""

    def __init__(self, model: RuleBoosting, data: TrainingData, cv: Any) -> None:
        self.data, self.ensemble = data, model.ensemble_
        self.settings, self.penalty = model.settings_, model.l2_regularization_
        self.weights = np.ones(len(data.y)) if data.weights is None else data.weights
        self.splits = make_splits(
            *(cv, data.target),
            holds_classes=data.task.holds_classes,
            weights=data.weights,
            groups=data.groups,
        )
        self._values: dict[Query | Slope, Values] = {}
        if data.scale.exponent != 0:
            risk, _ = self.judge([])
            check_loss("An edit", risk)

    def text(self, rule: InitialTerm) -> str:
        """Write a term, with its class of three or more."""
        outputs = self.ensemble.outputs
        about = "" if not outputs or rule.output is None else f" for {outputs[rule.output].name}"
        return f"{form_text(rule.form)}{about}"

    def placed(self, rule: InitialTerm, others: Sequence[InitialTerm]) -> InitialTerm:
        """Find the class that a term votes for, of three or more: where it lowers the risk most."""
        n_outputs = len(self.ensemble.outputs)
        if n_outputs == 0 or rule.output is not None:
            return rule
        constraints = self.settings.constraints
        choices = [
            rule._replace(output=output)
            for output in range(n_outputs)
            if constraints is None or constraints.signs_of(rule.form, output)
        ]
        everything = np.flatnonzero(self.weights)
        return min(choices, key=lambda one: self._fitted([*others, one], everything)[1])

    def judge(self, rules: Sequence[InitialTerm]) -> tuple[float, float]:
        """Compute the mean risk of all rows, and the mean loss of rows that are held out."""
        everything = np.flatnonzero(self.weights)
        _, risk = self._fitted(rules, everything)
        total, amount, data = 0.0, 0.0, self.data
        for train, test in self.splits:
            ensemble, _ = self._fitted(rules, train)
            raw_predictions = ensemble.start(len(test))
            for rule in ensemble:
                ensemble.add_to(raw_predictions, rule, self._column(form_of(rule))[test])
            losses = data.loss.value(data.y[test], raw_predictions)
            total += float(losses @ self.weights[test])
            amount += float(self.weights[test].sum())
        means = risk / float(self.weights[everything].sum()), total / amount
        risk, loss = data.scale.inverse.losses(np.array(means)).tolist()
        return risk, loss

    def _column(self, form: Query | Slope) -> Values:
        if form not in self._values:
            self._values[form] = make_term(form, 0.0, 0).values(self.data.table)
        return self._values[form]

    def _fitted(self, rules: Sequence[InitialTerm], rows: Indices) -> tuple[RuleEnsemble, float]:
        """Fit weights to some rows; returns them, and the penalised loss there."""
        constraints, data = self.settings.constraints, self.data
        is_fitted = self.settings.fit_intercept
        ensemble = self.ensemble.with_terms(
            (make_term(rule.form, 0.0, rule.output or 0) for rule in rules),
            [0.0] * len(self.ensemble.intercepts),
        )
        signs = None
        if constraints is not None:
            signs = np.array(
                [constraints.sign_of(rule.form, rule.output) for rule in rules], dtype=np.int_
            )
        risk = ensemble_risk(
            ensemble,
            [self._column(rule.form)[rows] for rule in rules],
            data.y[rows],
            data.loss,
            self.penalty,
            self.weights[rows],
            fit_intercept=is_fitted,
            signs=signs,
        )
        ensemble, _ = refitted(ensemble, risk)
        weights = ensemble_weights(ensemble, fit_intercept=is_fitted) * risk.scales
        return ensemble, risk.value(weights)[0]


def alternatives(
    model: RuleBoosting, data: TrainingData, number: int, *, tolerance: float, max_found: int
) -> Alternatives:
    """Find terms that are nearly as good; see `RuleBoosting.alternatives`."""
    ensemble = model.ensemble_
    if not is_whole(number, 1) or number > len(ensemble):
        raise ValueError(
            f"The term must be named by its number, from 1 to {len(ensemble)}. Got {number!r}."
        )
    is_tolerance = is_finite_number(tolerance) and 0 <= tolerance < 1
    require(is_tolerance, "tolerance", "a number in the range [0, 1)", tolerance)
    require(is_whole(max_found, 1), "max_found", "a whole number in the range [1, inf)", max_found)
    before = State(ensemble, columns_of(ensemble, data), tuple(model.search_results_))
    rule, own = ensemble[number - 1], before.columns[number - 1]
    settings = model.settings_
    # Reads the columns of the table one by one, and forgets them.
    candidates = settings.candidates(data)
    rounds = make_rounds(
        *(data, settings, candidates, model.l2_regularization_),
        n_jobs=model.n_jobs,
        method="optimal",
        approximation_factor=1.0,
    )
    place = rounds.place(before.divided_by(data.scale), number - 1)
    best = rounds.search(place)
    own_value = rounds.value(best, rule, own, before.results[number - 1])
    value = max(best.result.objective_value, own_value)
    barred = [Barred.of(form_of(rule), own, rule.output)]
    found: list[Alternative] = []
    is_complete = value <= 0.0
    while not is_complete and len(found) < max_found:
        next_best = rounds.search(place, barred)
        result = next_best.result
        if result.objective_value < (1.0 - tolerance) * value or result.objective_value <= 0.0:
            is_proven = result.status is SearchStatus.OPTIMAL
            is_complete = is_proven or result.bound < (1.0 - tolerance) * value
            break
        weight = rounds.natural(next_best.problem.weight_of(next_best.standard), next_best.values)
        found.append(
            Alternative(
                next_best.form,
                ensemble.text(next_best.form),
                data.scale.inverse.weight(weight),
                result.objective_value / value,
                _overlap(next_best.values != 0.0, own != 0.0, data.counted_weights),
                ensemble.outputs[next_best.output].name if ensemble.outputs else "",
            )
        )
        barred.append(Barred.of(next_best.form, next_best.values, next_best.output))
    share = max(own_value, 0.0) / value if value > 0.0 else 1.0
    text = ensemble.text(rule)
    return Alternatives(number, text, share, tolerance, tuple(found), is_complete)


def _overlap(one: Bools, other: Bools, weights: Floats | None) -> float:
    """Compute what two sets of rows share, where a row of weight two counts as two rows."""
    amounts = np.ones(len(one)) if weights is None else weights
    in_either = float(amounts @ (one | other))
    return float(amounts @ (one & other)) / in_either if in_either > 0.0 else 1.0
