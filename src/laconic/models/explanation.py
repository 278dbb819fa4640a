"""Explanations of predictions: what each term of a model adds to a row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import Any, overload

import numpy as np

from laconic._util.types import Floats
from laconic.models.predictions import Predictions
from laconic.tables.columns import Category, NumericColumn
from laconic.tables.tables import FrameBackend, make_frame
from laconic.tables.times import Moment
from laconic.terms.conditions import MISSING_RELATIONS, Condition
from laconic.terms.display import rules_html
from laconic.terms.formatting import (
    INTERCEPT,
    OTHER,
    aligned,
    class_text,
    format_count,
    format_name,
    format_number,
    format_value,
    format_weight,
    intervals,
)
from laconic.terms.rules import Line, Output, RuleEnsemble, Term
from laconic.terms.slopes import Slope

# Few enough for a screen; single rows and to_frame() show the rest.
MAX_ROWS_SHOWN = 10
# Significant digits of the values of a row.
DIGITS = 5


@dataclass(frozen=True)
class RowExplanation:
    """Explanation of the prediction for one row.

    Attributes
    ----------
    row : int
        Position of the row, counted from 0.
    numbers : tuple of int
        Numbers of the terms that cover the row, counted from 1: rules that hold, and slopes that
        are above their lower ends. All others add 0.
    contributions : tuple of float
        What these terms add: the weight of a rule, and a slope at the value of the row.
    ensemble : RuleEnsemble
        The part of the model that covers the row.
    raw_prediction : float or tuple of float
        Intercept plus the contributions; one for each of three or more classes.
    prediction : Any
        What the model predicts: a class, or a number.
    probability : float or None
        Of the predicted class.
    values : dict of str to value
        What the row holds in the features that these terms use.
    meaning : str
        What the sum is, such as "log odds of yes".
    terms : dict of int to Term
        The terms that cover the row, by their number.
    intercept : float
        The raw prediction of a row that no term covers.
    outputs : tuple of Output
        Three or more classes with their intercepts; else empty.
    lines : list of Line
        Non-zero intercepts, and what the terms add, with the values of the row.
    predicted : str
        The prediction in words, of a class with its probability.
    sentence : str
        The explanation in a sentence.
    """

    row: int
    numbers: tuple[int, ...]
    contributions: tuple[float, ...]
    ensemble: RuleEnsemble
    raw_prediction: float | tuple[float, ...]
    prediction: Any
    probability: float | None
    values: dict[str, Category | Moment | None]
    meaning: str

    @property
    def terms(self) -> dict[int, Term]:
        """The terms that cover the row, by their number."""
        return dict(zip(self.numbers, self.ensemble, strict=True))

    @property
    def intercept(self) -> float:
        """The raw prediction of a row that no term covers."""
        return self.ensemble.intercept

    @property
    def outputs(self) -> tuple[Output, ...]:
        """Three or more classes with their intercepts; else empty."""
        return self.ensemble.outputs

    def of_class(self, output: int | None = None) -> RowExplanation:
        """Return the explanation of the score of one of three or more classes.

        Parameters
        ----------
        output : int or None, default=None
            Position of the class; None is the one that is predicted.

        Returns
        -------
        explanation : RowExplanation
            With the sum of that class.
        """
        sums = self.raw_prediction
        if not isinstance(sums, tuple):
            return self
        place = sums.index(max(sums)) if output is None else output
        name, intercept = self.outputs[place]
        chosen = [at for at, term in enumerate(self.ensemble) if term.output == place]
        return replace(
            self,
            numbers=tuple(self.numbers[at] for at in chosen),
            contributions=tuple(self.contributions[at] for at in chosen),
            ensemble=replace(
                self.ensemble,
                terms=tuple(replace(self.ensemble[at], output=0) for at in chosen),
                intercept=intercept,
                outputs=(),
            ),
            raw_prediction=sums[place],
            meaning=f"score of {name}",
        )

    @property
    def lines(self) -> list[Line]:
        """Non-zero intercepts, and what the terms add, with the values of the row."""
        return [
            line._replace(conditions=self._conditions(line.term)) if line.term else line
            for line in self._numbered
            if line.term or line.weight != 0.0
        ]

    @property
    def _numbered(self) -> list[Line]:
        """The lines of the ensemble, with their contributions and numbers in the whole model."""
        added = iter(zip(self.numbers, self.contributions, strict=True))
        lines = []
        for line in self.ensemble.lines:
            if line.term:
                number, amount = next(added)
                line = line._replace(number=number, weight=amount, effect=amount)
            if isinstance(line.term, Slope):
                line = line._replace(conditions=[str(line.term)])
            lines.append(line)
        return lines

    @property
    def sentence(self) -> str:
        """The explanation in a sentence."""
        return f"{self._head}: {'; '.join(self._reasons)}. {self._total}"

    @property
    def _head(self) -> str:
        return f"Row {self.row} is predicted {self.predicted}"

    @property
    def _sums(self) -> list[tuple[str, str]]:
        """The sums, with words for each."""
        sums = np.atleast_1d(self.raw_prediction).tolist()
        words = [f" for {output.name}" for output in self.outputs] or [f", the {self.meaning}"]
        return list(zip(map(format_weight, sums), words, strict=True))

    @property
    def _total(self) -> str:
        sums = ", ".join(map("".join, self._sums))
        return f"{'Sums' if self.outputs else 'Sum'}: {sums}."

    @property
    def predicted(self) -> str:
        """The prediction in words."""
        if self.probability is not None:
            probability = format_number(self.probability, 3)
            return f"{class_text(self.prediction)} with probability {probability}"
        is_number = isinstance(self.prediction, float)
        return format_number(self.prediction) if is_number else class_text(self.prediction)

    @property
    def _reasons(self) -> list[str]:
        reasons = [
            f"{format_weight(line.weight)} {line.prefix.removesuffix('if ')}"
            f"{'because ' if line.term and line.term.features else ''}{' & '.join(line.conditions)}"
            for line in self.lines
        ]
        return reasons or ["no term applies"]

    def _conditions(self, term: Term) -> list[str]:
        """Write the conditions of a rule, each with the value of the row where that says more.

        Of a slope, the value comes first: what the slope adds depends on it.
        """
        if isinstance(term, Slope):
            [value] = (self._value(*pair) for pair in self._intervals(term))
            if self.values[term.feature] is None:
                value += f", taken as {format_value(term.missing)}"
            step = term.step.text.removesuffix(" of")
            ends = f"from {format_value(term.lower)} to {format_value(term.upper)}"
            per = f"{format_weight(term.step_weight)} per {step} {ends}"
            return [f"{format_name(term.feature)} is {value} ({per})"]
        if not term.query:
            return [str(term.query)]
        values = [
            ""
            if condition.relation in MISSING_RELATIONS
            or (condition.relation == "==" and condition.value != OTHER)
            else f" ({self._value(lower, condition)})"
            for lower, condition in self._intervals(term)
        ]
        conditions = self.ensemble.condition_texts(term.query)
        return [*map("".join, zip(conditions, values, strict=True))]

    def _intervals(self, term: Term) -> Iterator[tuple[Condition | None, Condition]]:
        if isinstance(term, Slope):
            return iter([(None, Condition(term.feature, ">", term.lower))])
        return intervals(term.query.conditions, self.ensemble.feature_kinds)

    def _value(self, lower: Condition | None, condition: Condition) -> str:
        """Write the value of the row, in few digits where the conditions still hold."""
        value = self.values[condition.feature]
        if not isinstance(value, float) or value.is_integer() or isinstance(condition.value, tuple):
            return "missing" if value is None else format_value(value, is_cut=True)
        rounded = float(f"{value:.{DIGITS}g}")
        column = NumericColumn(condition.feature, np.array([rounded]))
        is_true = all(each.covered_in(column).all() for each in (lower, condition) if each)
        return format_value(rounded if is_true else value)

    def __str__(self) -> str:
        """Write a line for each reason, with aligned weights, and the sum."""
        totals = [f"{weight} in all{words}" for weight, words in self._sums]
        return f"{self._head}:\n{aligned((*self._reasons, *totals))}"

    def _repr_html_(self) -> str:
        """Table for notebooks: what the terms add to the row, with its values."""
        values = [
            ", ".join(self._value(*pair) for pair in self._intervals(term))
            for term in self.ensemble
        ]
        caption = f"{self._head}. {self._total}"
        return rules_html(self._numbered, caption, {"values here": values}, weight="adds")


class Explanation(Sequence[RowExplanation]):
    """Explanations of the predictions for some rows.

    A sequence of :class:`RowExplanation`, one per row; ``print`` shows their reasons line by line.
    Made by the method ``explain`` of estimators.

    Parameters
    ----------
    predictions : Predictions
        The rows and their predictions.

    Attributes
    ----------
    ensemble : RuleEnsemble
        The model.
    table : Table
        The rows.
    covered : ndarray of shape (n_rows, n_terms), dtype bool
        Which term covers which row: a rule that holds, and a slope above its lower end.
    contributions : ndarray of shape (n_rows, n_terms)
        What each term adds to each row.
    raw_predictions : ndarray of shape (n_rows,)
        Intercept plus contributions.
    predictions : ndarray of shape (n_rows,)
        What the model predicts.
    probabilities : ndarray of shape (n_rows,) or None
        Of the predicted classes.
    meaning : str
        What the sum is, such as "log odds of yes".
    """

    def __init__(self, predictions: Predictions) -> None:
        self.ensemble = predictions.ensemble
        self.table = predictions.table
        self.covered = predictions.covered
        weights = np.array([term.weight for term in self.ensemble], dtype=np.float64)
        self.contributions: Floats = np.multiply(predictions.term_values, weights)
        self.raw_predictions = predictions.raw
        self.predictions = predictions.values
        self.probabilities = predictions.probabilities
        self.meaning = predictions.task.sum_words

    def to_frame(self, backend: FrameBackend | None = None) -> Any:
        """Explanation as a DataFrame, one row per row of the table and term that covers it.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"} or None, default=None
            Library of the result; None takes that of the explained table, and the first that is
            installed where this was an array.

        Returns
        -------
        frame : pandas.DataFrame, polars.DataFrame or pyarrow.Table
            Columns row (position in the table, counted from 0), term (number, counted from 1),
            text, contribution, raw_prediction (the sum of the row's contributions), prediction and,
            for classes, the probability of the predicted one. Term 0 is the intercept, which has a
            row where it is not 0 or no term covers the row. With three or more classes, there is a
            column class, and raw_prediction is the sum of that class.
        """
        ensemble, names = self.ensemble, [output.name for output in self.ensemble.outputs]
        starts = [each.intercept for each in ensemble.outputs] or [ensemble.intercept]
        has_start = np.repeat(
            bool(names) | (ensemble.intercept != 0.0) | ~self.covered.any(axis=1, keepdims=True),
            len(starts),
            axis=1,
        )
        rows, places = np.nonzero(np.column_stack([has_start, self.covered]))
        entries = [(0, place, INTERCEPT) for place in range(len(starts))]
        for number, term in enumerate(ensemble, start=1):
            entries.append((number, term.output, ensemble.text(term)))
        numbers, outputs, texts = zip(*(entries[place] for place in places), strict=True)
        added = np.column_stack([np.tile(starts, (len(self), 1)), self.contributions])
        raw = self.raw_predictions.reshape(len(self), -1)[rows, np.array(outputs)]
        columns = {
            "row": rows.tolist(),
            "term": numbers,
            **({"class": [names[output] for output in outputs]} if names else {}),
            "text": texts,
            "contribution": added[rows, places].tolist(),
            "raw_prediction": raw.tolist(),
            "prediction": self.predictions[rows].tolist(),
        }
        if self.probabilities is not None:
            columns["probability"] = self.probabilities[rows].tolist()
        return make_frame(columns, backend=backend or self.table.backend)

    @overload
    def __getitem__(self, index: int) -> RowExplanation: ...

    @overload
    def __getitem__(self, index: slice) -> list[RowExplanation]: ...

    def __getitem__(self, index: int | slice) -> RowExplanation | list[RowExplanation]:
        rows = range(len(self))[index]
        return [self._row(row) for row in rows] if isinstance(rows, range) else self._row(rows)

    def _row(self, row: int) -> RowExplanation:
        places = np.flatnonzero(self.covered[row])
        terms = [self.ensemble.terms[place] for place in places.tolist()]
        features = dict.fromkeys(feature for term in terms for feature in term.features)
        probabilities, raw = self.probabilities, self.raw_predictions[row]
        return RowExplanation(
            row,
            tuple((places + 1).tolist()),
            tuple(self.contributions[row, places].tolist()),
            self.ensemble.with_terms(terms),
            tuple(raw.tolist()) if raw.ndim else float(raw),
            self.predictions[row : row + 1].tolist()[0],
            None if probabilities is None else float(probabilities[row]),
            {name: self.table.column(name).cell(row) for name in features},
            self.meaning,
        )

    def __len__(self) -> int:
        return len(self.raw_predictions)

    def __str__(self) -> str:
        texts = [str(explanation) for explanation in self[:MAX_ROWS_SHOWN]]
        return "\n\n".join(texts + self._about_the_rest)

    def __repr__(self) -> str:
        return f"<Explanation of {format_count(len(self), 'row')}>\n{self}"

    def _repr_html_(self) -> str:
        """Tables for notebooks."""
        tables = [explanation._repr_html_() for explanation in self[:MAX_ROWS_SHOWN]]
        notes = [f"<p>{escape(note)}</p>" for note in self._about_the_rest]
        return f"<div>{''.join(tables + notes)}</div>"

    @property
    def _about_the_rest(self) -> list[str]:
        n_hidden = len(self) - MAX_ROWS_SHOWN
        return (
            [f"... and {format_count(n_hidden, 'more row')}: to_frame() has all"]
            if n_hidden > 0
            else []
        )
