"""Predictions of a model for a table, each column of which is read once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

from numpy.typing import NDArray

from laconic._util.types import Bools, Floats, Values
from laconic.models.tasks import Task
from laconic.tables.tables import Table
from laconic.terms.rules import RuleEnsemble


class Predictions:
    """Rows, what the terms of a model are for them, and their predictions.

    Explanations, reports, scores and commands share it. Made by the method ``predictions_for`` of
    a model; everything is computed when it is first used. `stages` are the model with its first 0,
    1, 2, ... terms, where their weights differ from those of the ensemble.
    """

    def __init__(
        self,
        ensemble: RuleEnsemble,
        task: Task,
        table: Table,
        stages: Sequence[RuleEnsemble] | None = None,
    ) -> None:
        self.ensemble = ensemble
        self.task = task
        self.table = table
        self.stages = ensemble.stages if stages is None else stages

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.table.n_rows

    @cached_property
    def term_values(self) -> Values:
        """What weights multiply, of shape (n_rows, n_terms): bools, or numbers if terms slope."""
        return self.ensemble.values(self.table)

    @cached_property
    def covered(self) -> Bools:
        """Which term covers which row, of shape (n_rows, n_terms)."""
        return self.term_values.astype(bool, copy=False)

    @cached_property
    def raw(self) -> Floats:
        """Intercept plus what the terms add, of shape (n_rows,)."""
        if "term_values" not in vars(self):
            # Works in blocks of rows, and needs no memory for the values of each term.
            return self.ensemble.raw_predictions(self.table)
        raw = self.ensemble.start(self.n_rows)
        for term, values in zip(self.ensemble, self.term_values.T, strict=True):
            self.ensemble.add_to(raw, term, values)
        return raw

    def staged_raw(self) -> Iterator[Floats]:
        """Yield the raw predictions of the model when it had 0, 1, 2, ... terms."""
        known = self.ensemble[:0]
        raw = known.start(self.n_rows)
        for stage in self.stages:
            if stage[: len(known)] != known:
                known = stage[:0]
                raw = known.start(self.n_rows)
            raw = raw.copy()
            for place in range(len(known), len(stage)):
                stage.add_to(raw, stage.terms[place], self.term_values[:, place])
            yield raw
            known = stage

    @property
    def means(self) -> Floats:
        """Raw predictions on the target's scale."""
        return self.task.means(self.raw)

    @property
    def values(self) -> NDArray[Any]:
        """Predictions: classes or numbers."""
        return self.task.predictions(self.raw)

    @property
    def probabilities(self) -> Floats | None:
        """Of the predicted classes; None where there are no classes."""
        return self.task.predicted_probabilities(self.raw)
