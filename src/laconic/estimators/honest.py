"""Terms from one part of the rows, and their weights from the other part."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from laconic._util.types import Floats
from laconic._util.words import parameter
from laconic.boosting import Settings, State, TrainingData, n_held_out
from laconic.boosting.settings import form_of
from laconic.estimators.fitting import FitRun
from laconic.terms.rules import RuleEnsemble
from laconic.trust import Effects, estimate_effects, refit_to


def search_part(data: TrainingData, settings: Settings) -> TrainingData:
    """Keep the rows from the search that the weights are fitted to, by giving them no weight.

    Rows are chosen at random, the same ones in every fit; classes have the same share of both
    parts.
    """
    if settings.honest is None:
        return data
    if data.described is not None or data.candidates is not None:
        raise ValueError(
            f"{parameter('honest', settings.honest)} needs a table in memory, to divide its rows. "
            "Got one that is read in parts. Leave it out, or take a sample of the rows."
        )
    weights = np.ones(data.table.n_rows) if data.weights is None else data.weights
    order = np.random.default_rng(0).permutation(np.flatnonzero(weights))
    if data.task.holds_classes:
        order = order[np.argsort(data.target[order], kind="stable")]
    steps = np.floor(np.arange(len(order) + 1) * settings.honest + 0.5)
    assert int(steps[-1]) == n_held_out(len(order), settings.honest)
    is_held = np.zeros(len(weights), dtype=bool)
    is_held[order[np.diff(steps) > 0]] = True
    held_out = np.where(is_held, weights, 0.0)
    others = weights - held_out
    for part in (others, held_out):
        _check_part(data, settings, part)
    return replace(data, weights=others, held_out=held_out)


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
        raise ValueError(
            f"{parameter('honest', settings.honest)} needs {what} in both parts: the one that "
            "finds the terms, and the one that their weights are fitted to. Got too few. Leave it "
            "out."
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
    found = estimate_effects(others, state.ensemble, rows="held out", **options)

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
        stages.append(refitted(first, estimate_effects(others, first, **options)))
    found = replace(found, effects=found.with_weights(ensemble))
    whole = whole_data(rows)
    columns = tuple(whole.values(form_of(term)) for term in ensemble)
    state = replace(state, ensemble=ensemble, columns=columns, stages=(*stages, ensemble))
    return whole, state, found
