"""Terms from one part of the rows, and their weights from the other part."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from laconic._util.types import Bools, Floats, Indices
from laconic._util.words import parameter
from laconic.boosting import Settings, State, TrainingData
from laconic.boosting.settings import form_of
from laconic.estimators.fitting import FitRun
from laconic.terms.rules import RuleEnsemble
from laconic.trust import Effects, estimate_effects, refit_to

# Orders of groups that are tried, and a difference of shares that is small enough.
_MAX_ORDERS = 100
_CLOSE = 0.01


def search_part(data: TrainingData, settings: Settings) -> TrainingData:
    """Keep the rows from the search that the weights are fitted to, by giving them no weight.

    Rows, or whole groups of rows, are chosen at random, the same ones in every fit; classes have
    the same share of both parts, as far as groups allow it.
    """
    if settings.honest is None:
        return data
    if data.described is not None or data.candidates is not None:
        raise ValueError(
            f"{parameter('honest', settings.honest)} needs a table in memory, to divide its rows. "
            "Got one that is read in parts. Leave it out, or take a sample of the rows."
        )
    weights = np.ones(data.table.n_rows) if data.weights is None else data.weights
    rows = np.flatnonzero(weights)
    kinds = data.target[rows] if data.task.holds_classes else np.zeros(len(rows))
    is_held = np.zeros(len(weights), dtype=bool)
    if data.groups is None:
        is_held[rows] = _held_rows(kinds, settings.honest)
    else:
        is_held[rows] = _held_groups(data.groups[rows], kinds.astype(np.intp), settings.honest)
    held_out = np.where(is_held, weights, 0.0)
    others = weights - held_out
    for part in (others, held_out):
        _check_part(data, settings, part)
    return replace(data, weights=others, held_out=held_out)


def _held_rows(kinds: Floats, share: float) -> Bools:
    """Choose a share of the rows of each kind."""
    order = np.random.default_rng(0).permutation(len(kinds))
    order = order[np.argsort(kinds[order], kind="stable")]
    is_held = np.zeros(len(kinds), dtype=bool)
    is_held[order] = np.diff(np.floor(np.arange(len(kinds) + 1) * share + 0.5)) > 0
    return is_held


def _held_groups(groups: Indices, kinds: Indices, share: float) -> Bools:
    """Choose rows of whole groups, whose shares of the rows of each kind are close to a given one.

    The first groups of an order are those that come closest, of the first random order where they
    come close enough, or else of the best one.
    """
    counts = np.zeros((int(groups.max()) + 1, int(kinds.max()) + 1))
    np.add.at(counts, (groups, kinds), 1.0)
    rng = np.random.default_rng(0)
    held, least = np.arange(0), np.inf
    for _ in range(_MAX_ORDERS):
        order = rng.permutation(len(counts))
        shares = counts[order].cumsum(axis=0)[:-1] / counts.sum(axis=0).clip(1.0)
        distances = np.square(shares - share).sum(axis=1)
        place = int(distances.argmin())
        if distances[place] < least:
            held, least = order[: place + 1], distances[place]
        if least <= _CLOSE**2:
            break
    return np.isin(groups, held)


def _check_part(data: TrainingData, settings: Settings, weights: Floats) -> None:
    """Refuse a part that no model can be fitted to."""
    target = data.target[weights > 0]
    what = ""
    if len(target) == 0:
        what = "rows"
    elif data.task.holds_classes and len({*target.tolist()}) < len(data.task.labels or ()):
        what = "rows of every class"
    elif getattr(data.loss, "link", "") == "log" and not target.any():
        what = "rows with a target above 0"
    if what:
        whole = "" if data.groups is None else ", as groups are not divided"
        raise ValueError(
            f"{parameter('honest', settings.honest)} needs {what} in both parts: the one that "
            f"finds the terms, and the one that their weights are fitted to. Got too few{whole}. "
            "Leave it out."
        )


def whole_data(data: TrainingData) -> TrainingData:
    """Return all rows, those that were kept from the search as well."""
    if data.held_out is None:
        return data
    assert data.weights is not None
    return replace(data, weights=data.weights + data.held_out, held_out=None)


def refitted_run(run: FitRun) -> tuple[TrainingData, State, Effects | None]:
    """Fit the weights of a run to the rows that were kept from its search.

    Returns the rows that the model is about, the model, and what is known of its effects; without
    such rows, those of the run.
    """
    data, state, settings = run.data, run.state, run.settings
    if data.held_out is None:
        return data, state, None
    rows = data if data.whole is None else data.whole
    others = replace(rows, weights=rows.held_out, held_out=None)
    options: dict[str, Any] = {"fit_intercept": settings.fit_intercept}
    found = estimate_effects(others, state.ensemble, rows="held out", groups=rows.groups, **options)

    def refitted(ensemble: RuleEnsemble, effects: Effects | None) -> RuleEnsemble:
        signs = None
        if settings.constraints is not None:
            signs = np.array(
                [settings.constraints.sign_of(form_of(t), t.output) for t in ensemble],
                dtype=np.int_,
            )
        penalty = run.l2_regularization
        return refit_to(others, ensemble, effects, penalty, signs=signs, **options)

    ensemble = refitted(state.ensemble, found)
    stages = []
    for n_terms in range(len(ensemble)):
        first = state.ensemble[:n_terms]
        known = estimate_effects(others, first, groups=rows.groups, **options)
        stages.append(refitted(first, known))
    found = replace(found, effects=found.with_weights(ensemble))
    whole = whole_data(rows)
    columns = tuple(whole.values(form_of(term)) for term in ensemble)
    state = replace(state, ensemble=ensemble, columns=columns, stages=(*stages, ensemble))
    return whole, state, found
