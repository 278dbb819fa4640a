"""The interface of fitted models, and names of terms as columns of a table."""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from laconic._util.types import Floats
from laconic.boosting import Settings
from laconic.boosting.certificate import EnsembleCertificate
from laconic.losses import Loss
from laconic.models.explanation import Explanation
from laconic.models.predictions import Predictions
from laconic.models.tasks import Task
from laconic.search import SearchResult
from laconic.tables.tables import Table, as_table, selection_advice, whole_date
from laconic.tables.text_files.text_format import Reading
from laconic.terms.conditions import Query
from laconic.terms.record import FitRecord
from laconic.terms.rules import RuleCoverage, RuleEnsemble, Term
from laconic.terms.slopes import Slope
from laconic.trust import Fingerprint, Intervals, Trust
from laconic.trust.intervals import set_words, target_range


class RuleModel:
    """A fitted model: terms, the task that they were fitted for, and their certificates.

    Explanations, plots, scores, exports and reports take any such model, and ask its task wherever
    classes and numbers differ. The estimators are such models. Nothing here needs scikit-learn, so
    that a model from a file can be shown and applied at once.

    Attributes
    ----------
    ensemble_ : RuleEnsemble
    task_ : Task
    settings_ : Settings
        Everything that determines the model besides the training data.
    search_results_ : list of SearchResult
        A certificate per term.
    rule_coverages_ : list of RuleCoverage
        Unless the model was loaded from a file.
    record_ : FitRecord or None
        Record of the fit, if the command `laconic fit` made the model.
    feature_importances_ : ndarray of shape (n_features,)
        Unless the model was loaded from a file that does not have them.
    reading_ : Reading or None
        How the columns of the training file were parsed, where the command line read one.
    certificate_ : EnsembleCertificate or None
        Bound on the distance to the best possible model on its training rows, where computed.
    trust_ : Trust
        What is known about chance, effects on unseen rows, stability and intervals, where asked.
    fingerprint_ : Fingerprint or None
        Hashes by which training rows are recognised; None for a table that was read in parts.
    """

    ensemble_: RuleEnsemble
    task_: Task
    settings_: Settings
    search_results_: list[SearchResult]
    l2_regularization_: float
    rule_coverages_: list[RuleCoverage]
    feature_importances_: Floats
    stages_: Sequence[RuleEnsemble]
    n_candidates_: int
    n_features_in_: int
    record_: FitRecord | None = None
    reading_: Reading | None = None
    certificate_: EnsembleCertificate | None = None
    trust_: Trust = Trust()
    fingerprint_: Fingerprint | None = None
    # A table that was read already; only the copies of `first_terms` and `edit` have one.
    _known: tuple[Any, Table] | None = None

    @property
    def loss_(self) -> Loss:
        """The loss in use."""
        return self.task_.loss

    @property
    def stages(self) -> Sequence[RuleEnsemble]:
        """The ensembles that led to this one, or its first 0, 1, 2, ... terms."""
        stages = getattr(self, "stages_", None)
        # Those of another ensemble, which someone has replaced, are of no use.
        return stages if stages and stages[-1] == self.ensemble_ else self.ensemble_.stages

    @property
    def own_certificate(self) -> EnsembleCertificate | None:
        """The certificate of the model, unless it is that of other terms or weights."""
        certificate = self.certificate_
        is_own = certificate is not None and certificate.ensemble == self.ensemble_
        return certificate if is_own else None

    @property
    def own_trust(self) -> Trust:
        """What is known about the model, unless it is about other terms or weights."""
        return self.trust_ if self.trust_.ensemble == self.ensemble_ else Trust(self.ensemble_)

    def predictions_for(self, X: Any) -> Predictions:
        """Read a table once, for everything that can be asked about its rows.

        Parameters
        ----------
        X : table-like of shape (n_rows, n_features)

        Returns
        -------
        predictions : Predictions
            Values of the terms, raw predictions, predictions and probabilities.
        """
        table = self._fitted_table(X)
        return Predictions(self.ensemble_, self.task_, table, self.stages)

    def explain(self, X: Any) -> Explanation:
        """Find what each term adds to the prediction of each row.

        Parameters
        ----------
        X : table-like of shape (n_rows, n_features)

        Returns
        -------
        explanation : Explanation
            Sequence of `RowExplanation`, one per row. ``print`` shows what each term adds, line by
            line; ``to_frame()`` makes a table.
        """
        return Explanation(self.predictions_for(X))

    def predict_interval(self, X: Any) -> Floats:
        """Return intervals that contain about a given share of new targets.

        The level and the half-widths are those of `conformalize`, which has to be called first. A
        half-width is infinite where there were too few rows. Values that the target cannot have,
        such as negative counts, are left out. With an exposure, the intervals are of rates.

        Parameters
        ----------
        X : table-like of shape (n_rows, n_features)

        Returns
        -------
        limits : ndarray of shape (n_rows, 2)
            The lower and the upper end for each row.

        Examples
        --------
        >>> from laconic import RuleBoostingRegressor
        >>> X = [[n] for n in range(40)]
        >>> y = [5.0 * (n > 20) + n % 5 for n in range(40)]
        >>> model = RuleBoostingRegressor(n_terms=1).fit(X, y)
        >>> answer = model.conformalize(X, y)
        >>> model.predict_interval([[3], [30]]).round(1)
        array([[-0.5,  6.9],
               [ 1.9,  9.2]])
        """
        intervals = self._known_intervals("predict_interval", has_classes=False)
        raw = self.ensemble_.raw_predictions(self._fitted_table(X))
        limits: Floats = intervals.limits(self.task_.means(raw), target_range(self.loss_))
        return limits

    def predict_set(self, X: Any, *, words: bool = False) -> NDArray[Any]:
        """Return sets of classes that contain about a given share of new rows of each class.

        The level and the least probabilities are those of `conformalize`, which has to be called
        first. An empty set says that the row is unlike the rows seen: for most rows of any class,
        that class was more probable.

        Parameters
        ----------
        X : table-like of shape (n_rows, n_features)
        words : bool, default=False
            Whether to return texts, such as "no or yes".

        Returns
        -------
        sets : ndarray of bool of shape (n_rows, n_classes), or of str of shape (n_rows,)
            Which classes are in the set of each row, in the order of `classes_`.

        Examples
        --------
        >>> from laconic import RuleBoostingClassifier
        >>> X = [[n] for n in range(40)]
        >>> y = ["yes" if n > 20 or n % 4 == 0 else "no" for n in range(40)]
        >>> model = RuleBoostingClassifier(n_terms=1).fit(X, y)
        >>> answer = model.conformalize(X, y, level=0.9)
        >>> model.predict_set([[3], [30]])
        array([[ True,  True],
               [False,  True]])
        >>> model.predict_set([[3], [30]], words=True)
        array(['no or yes', 'yes'], dtype=object)
        """
        intervals = self._known_intervals("predict_set", has_classes=True)
        raw = self.ensemble_.raw_predictions(self._fitted_table(X))
        probabilities = self.task_.probabilities(raw)
        assert probabilities is not None
        sets = intervals.sets(probabilities)
        labels = [*intervals.classes]
        if labels != sorted(labels):  # the first of two classes was chosen as the positive one
            sets, labels = sets[:, ::-1], labels[::-1]
        if not words:
            return sets
        names = [*map(str, labels)]
        return np.array([set_words(each, names) for each in sets.tolist()], dtype=object)

    def _known_intervals(self, method: str, *, has_classes: bool) -> Intervals:
        """Return what `conformalize` has found, for the method that needs it."""
        if has_classes != (self.task_.labels is not None):
            other = "predict_interval" if has_classes else "predict_set"
            kinds = ("classes", "numbers") if has_classes else ("numbers", "classes")
            raise ValueError(f"'{method}' is for {kinds[0]}. Got {kinds[1]}. Use '{other}'.")
        intervals = self.own_trust.intervals
        if intervals is None:
            raise ValueError(
                f"'{method}' needs to know how far predictions are off for unseen rows. Got a "
                "model for which that is not known. Call 'conformalize' with its training rows "
                "first; a saved model keeps the answer."
            )
        return intervals

    def _fitted_table(self, X: Any) -> Table:
        """Check a table to predict for."""
        return self._with_fitted_names(checked_table(X))

    def _with_fitted_names(self, table: Table) -> Table:
        """Name the columns as in fit: by position, unless the table itself has these names."""
        names = self.ensemble_.feature_names or ()
        is_named = table.is_named and set(table.feature_names) == set(names)
        if table.has_records and not is_named:
            raise ValueError(
                "The keys of the rows must be the columns of the fit. "
                f"{selection_advice(table, names)}"
            )
        if not is_named and table.feature_names != names:
            table = table.rename(names)
        return self.ensemble_.readable(table)


MODEL_CLASSES: list[type[RuleModel]] = []
"""All classes of such models, in the order of their definition."""
_ACTIONS: list[Callable[[type[RuleModel]], None]] = []


def add_model_class(model: type[RuleModel]) -> None:
    """Register a class of models."""
    MODEL_CLASSES.append(model)
    for act in _ACTIONS:
        act(model)


def for_all_models(act: Callable[[type[RuleModel]], None]) -> None:
    """Call a function with every class of models, including classes that are registered later."""
    if act not in _ACTIONS:
        _ACTIONS.append(act)
    for model in MODEL_CLASSES:
        act(model)


Model = TypeVar("Model", bound=RuleModel)


def first_terms(model: Model, X: Any) -> Iterator[Model]:
    """Yield copies of a model with its first 0, 1, 2, ... terms, which read no table again.

    They recognise the object `X` by identity; it must not change meanwhile.
    """
    table = model._fitted_table(X)
    for feature in model.ensemble_.used_features:
        # As a whole: blocks of rows would be read again for every size.
        table.column(feature)
    for n_terms, stage in enumerate(model.stages):
        shorter = copy.copy(model)
        shorter.ensemble_, shorter._known = stage, (X, table)
        shorter.stages_ = model.stages[: n_terms + 1]
        yield shorter


def checked_table(X: Any) -> Table:
    """Wrap a table, and check that it has rows and columns."""
    table = as_table(X)
    shape = (table.n_rows, len(table.feature_names))
    for size, what in zip(shape, ("sample", "feature"), strict=True):
        if size == 0:
            raise ValueError(
                f"Found array with 0 {what}(s) (shape={shape}) while a minimum of 1 is required."
            )
    return table


def term_names(ensemble: RuleEnsemble, features: Sequence[str] | None = None) -> list[str]:
    """Name each term by its conditions or its feature and ends, no two the same.

    Terms with the same text are distinguished by their classes, and then by numbers.
    `features` are other names for those of the ensemble, by position.

    Examples
    --------
    >>> from laconic.terms.conditions import Condition
    >>> from laconic.terms.rules import Rule
    >>> old = Rule(Query((Condition("x0", ">", 65),)), 1.0)
    >>> term_names(RuleEnsemble((old, old), feature_names=("x0",)), ["age"])
    ['age > 65', 'age > 65 (2)']
    """
    if features is not None:
        ensemble = _renamed(
            ensemble, dict(zip(ensemble.feature_names or (), features, strict=True))
        )
    names = [ensemble.text(term) for term in ensemble]
    if ensemble.outputs:
        counts = Counter(names)
        names = [
            f"{name} for {ensemble.output_of(term)}" if counts[name] > 1 else name
            for name, term in zip(names, ensemble, strict=True)
        ]
    return _unique(names)


def _unique(names: Sequence[str]) -> list[str]:
    taken = set(names)
    seen: set[str] = set()
    unique = []
    for name in names:
        number, each = 1, name
        while each in seen or (number > 1 and each in taken):
            number += 1
            each = f"{name} ({number})"
        seen.add(each)
        unique.append(each)
    return unique


def _renamed(ensemble: RuleEnsemble, names: Mapping[str, str]) -> RuleEnsemble:
    """Rename the features."""

    def other(name: str) -> str:
        part = whole_date(name, names)
        return names[name] if part is None else f"{part[0]} of {names[part[1]]}"

    def renamed(query: Query) -> Query:
        return Query(tuple(replace(each, feature=other(each.feature)) for each in query))

    def renamed_term(term: Term) -> Term:
        if isinstance(term, Slope):
            return replace(term, feature=other(term.feature))
        return replace(term, query=renamed(term.query))

    return replace(
        ensemble,
        terms=tuple(map(renamed_term, ensemble)),
        feature_names=tuple(names.values()),
        feature_kinds={other(name): kind for name, kind in ensemble.feature_kinds.items()},
    )
