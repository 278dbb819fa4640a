"""Predictions for a table that is read in parts, written or scored as they are made."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from laconic._util.files import whole_file
from laconic._util.optional import import_extra
from laconic._util.types import Floats
from laconic.candidates.distinct_rows import ReadProgress, Roles
from laconic.tables.sources.sources import TableSource
from laconic.tables.tables import as_table

if TYPE_CHECKING:
    from laconic.models.rule_model import RuleModel


def write_predictions(
    model: RuleModel,
    source: TableSource,
    path: str | os.PathLike[str],
    *,
    probabilities: bool,
    keep_columns: Sequence[str],
) -> int:
    """Write a Parquet file, whole or not at all; returns its number of rows."""
    arrow = import_extra("pyarrow", "large", "Writing predictions in parts")
    parquet = import_extra("pyarrow.parquet", "large", "Writing predictions in parts")
    n_rows, start, writer = 0, time.perf_counter(), None

    def tell(is_done: bool) -> None:
        if source.on_progress is not None:
            seconds = time.perf_counter() - start
            source.on_progress(ReadProgress("predictions", n_rows, seconds, is_done=is_done))

    with whole_file(path) as stream:
        try:
            for kept, found in _predicted(model, source, probabilities, keep_columns):
                columns = {name: kept[name].to_arrow() for name in keep_columns}
                table = arrow.table(columns | {name: arrow.array(x) for name, x in found.items()})
                if writer is None:
                    writer = parquet.ParquetWriter(stream, table.schema)
                # Parts whose types are narrower, as those without any value, are cast.
                writer.write_table(table.cast(writer.schema))
                n_rows += len(table)
                tell(False)
            if writer is None:
                raise ValueError("The table to predict for has no rows. Check the query.")
        finally:
            if writer is not None:
                writer.close()
    tell(True)
    return n_rows


def predict_parts(
    model: RuleModel, source: TableSource, roles: Roles
) -> Iterator[tuple[Floats, Floats, Floats | None]]:
    """Yield target, raw predictions and weights of the rows of each part that have a weight."""
    ensemble, task = model.ensemble_, model.task_
    for name in ensemble.used_features:
        source.require(name, "feature of a term")
    for part in source.parts([*dict.fromkeys([*roles.columns, *ensemble.used_features])]):
        table = ensemble.readable(as_table(part))
        counted = roles.counted(table)
        if roles.kept == "classes":
            labels, codes = roles.labels(table, counted)
            numbers = task.numbers(np.array(labels, dtype=object), len(labels))[codes]
        else:
            numbers = task.numbers(roles.numbers(table, counted), counted.n_rows)
        raw = ensemble.raw_predictions(table)
        yield (
            numbers,
            raw if counted.is_counted is None else raw[counted.is_counted],
            counted.weights,
        )


def _predicted(
    model: RuleModel, source: TableSource, probabilities: bool, keep_columns: Sequence[str]
) -> Iterator[tuple[nw.DataFrame[Any], dict[str, NDArray[Any]]]]:
    """Yield the columns of a part that are kept, and its predictions."""
    ensemble, task = model.ensemble_, model.task_
    for name in ensemble.used_features:
        source.require(name, "feature of a term")
    # A model without terms needs a column nevertheless, to count its rows.
    columns = [*dict.fromkeys([*ensemble.used_features, *keep_columns])]
    for part in source.parts(columns or source.column_names[:1]):
        frame = nw.from_native(part, eager_only=True)
        raw_predictions = ensemble.raw_predictions(ensemble.readable(as_table(part)))
        values = task.predictions(raw_predictions)
        found = {"prediction": values.astype(str) if values.dtype == object else values}
        shares = task.probabilities(raw_predictions) if probabilities else None
        if shares is not None:
            names = [f"probability_{label}" for label in task.labels or ()]
            found |= dict(zip(names, np.ascontiguousarray(shares.T), strict=True))
        yield frame, found
