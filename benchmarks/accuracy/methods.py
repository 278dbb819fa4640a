"""What a method of the study is, and the variants of laconic as small entries."""

import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from time import process_time
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.exceptions import ConvergenceWarning

from benchmarks.accuracy.sizes import Size
from benchmarks.accuracy.tables import Split
from laconic import RuleBoostingClassifier, RuleBoostingRegressor

Way: TypeAlias = Literal["prefixes", "warm", "fits"]

MAX_RULES = 10
STEPS = (1, 2, 3, 5, 10)
"""Numbers of rules where every number takes a fit of its own."""


@dataclass(frozen=True, eq=False)
class Model:
    """One point of a curve.

    Attributes
    ----------
    step : int
        What was asked for: numbers of rules, of leaves or of features.
    size : Size or None
        None for a model that is not meant to be read.
    predictions : ndarray of shape (n_test_rows,)
        Numbers, or probabilities of the class 1.
    seconds : float
        CPU time since the fits for this curve began.
    """

    step: int
    size: Size | None
    predictions: NDArray[np.float64]
    seconds: float


@dataclass(frozen=True)
class Method:
    """A way to models of growing size.

    Attributes
    ----------
    name : str
    path : callable
        Fits to a `Split` and yields a `Model` per size.
    package : str
        What has to be installed.
    is_readable : bool
        Whether its models have a size; the others show what is possible at all.
    """

    name: str
    path: Callable[[Split], Iterator[Model]]
    package: str = "laconic"
    is_readable: bool = True

    def problem(self) -> str | None:
        """Why the method cannot be run, or None."""
        return None if find_spec(self.package) else f"the package {self.package} is not installed"


@dataclass(frozen=True)
class PseudoRows:
    """A penalty of that many rows: their number times the mean hessian before the first rule."""

    n_rows: float

    def penalty(self, split: Split, *, fit_intercept: bool) -> float:
        """Return the number to pass as `l2_regularization`."""
        if not split.is_classification:
            return 2 * self.n_rows
        share = np.mean(split.y > 0) if fit_intercept else 0.5
        return float(self.n_rows * share * (1 - share))


@dataclass(frozen=True)
class Variant:
    """Settings of laconic as a method.

    Attributes
    ----------
    name : str
    settings : mapping
        Parameters of the estimator that are not left as they are.
    way : {"prefixes", "warm", "fits"}
        How models of fewer rules come about: they are the first rules of the last one; the rules
        are added to a model whose weights move with every rule; or each takes a fit of its own.
    """

    name: str
    settings: Mapping[str, Any]
    way: Way = "prefixes"
    is_readable: bool = True

    def problem(self) -> str | None:
        """Why the variant cannot be run, or None."""
        rows = np.arange(8.0)
        y = np.where(rows > 3, 1.0, -1.0)
        tiny = Split("tiny", 0, "regression", rows[:, None], y, rows[:, None], y)
        try:
            self._estimator(tiny, 1).fit(tiny.X, tiny.y)
        except (TypeError, ValueError) as error:
            return f"this laconic does not know it ({str(error).splitlines()[0]})"
        return None

    def path(self, split: Split, max_rules: int = MAX_RULES) -> Iterator[Model]:
        """Fit, and yield a model per number of rules."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # unproven rules are fine here
            yield from getattr(self, f"_{self.way}")(split, max_rules)

    def _prefixes(self, split: Split, max_rules: int) -> Iterator[Model]:
        started = process_time()
        ensemble = self._estimator(split, max_rules).fit(split.X, split.y).ensemble_
        seconds = process_time() - started
        n_conditions = 0
        stages = ensemble.staged_raw_predictions(split.X_test)
        for step, (rule, raw) in enumerate(zip(ensemble, stages, strict=True), start=1):
            n_conditions += len(rule.query)
            size = Size(step, n_conditions)
            yield Model(step, size, _readings(split, raw), seconds * step / len(ensemble))

    def _warm(self, split: Split, max_rules: int) -> Iterator[Model]:
        model = self._estimator(split, 1).set_params(warm_start=True)
        started = process_time()
        for step in range(1, max_rules + 1):
            model.set_params(n_terms=step).fit(split.X, split.y)
            if len(model.ensemble_) < step:
                return
            yield self._model(model, split, step, process_time() - started)

    def _fits(self, split: Split, max_rules: int) -> Iterator[Model]:
        started = process_time()
        for step in STEPS:
            if step <= max_rules:
                model = self._estimator(split, step).fit(split.X, split.y)
                yield self._model(model, split, step, process_time() - started)

    def _model(self, model: Any, split: Split, step: int, seconds: float) -> Model:
        ensemble = model.ensemble_
        size = Size(ensemble.n_terms, ensemble.n_conditions)
        return Model(step, size, _readings(split, ensemble.raw_predictions(split.X_test)), seconds)

    def _estimator(self, split: Split, n_terms: int) -> Any:
        settings = dict(self.settings)
        penalty = settings.get("l2_regularization")
        if isinstance(penalty, PseudoRows):
            has_intercept = settings.get("fit_intercept", False)
            settings["l2_regularization"] = penalty.penalty(split, fit_intercept=has_intercept)
        make = RuleBoostingClassifier if split.is_classification else RuleBoostingRegressor
        return make(n_terms=n_terms, **settings)


def _readings(split: Split, raw: NDArray[np.float64]) -> NDArray[np.float64]:
    return expit(raw) if split.is_classification else raw


STAGEWISE, GREEDY, SHORT = "optimal", "greedy", "optimal, three conditions"
JOINT, POLISHED = "joint", "joint, polished"

_JOINT = {
    "strategy": "joint",
    "fit_intercept": True,
    "max_conditions": 3,
    "l2_regularization": "auto",
}
PLAIN = {"strategy": "stagewise", "fit_intercept": False}
"""Boosting as in the paper, whatever the defaults are."""
_STAGEWISE = PLAIN | {"max_conditions": 5, "l2_regularization": 1.0}

VARIANTS = (
    Variant(GREEDY, _STAGEWISE | {"search": "greedy"}),
    Variant(SHORT, _STAGEWISE | {"max_conditions": 3}),
    Variant(STAGEWISE, _STAGEWISE),
    Variant(JOINT, _JOINT, "warm"),
    Variant(POLISHED, _JOINT | {"strategy": "polished"}, "fits"),
)
"""The ways of laconic that are compared with other learners."""

PSEUDO_ROWS = (3, 5, 10, 15, 30, 60, 100)
USUAL = 10
"""Pseudo-rows where other settings are tried."""


def settings_to_choose_from() -> list[Variant]:
    """Return the settings that are tried on the choosing half only."""
    base = f"{USUAL} pseudo-rows"
    usual = _JOINT | {"l2_regularization": PseudoRows(USUAL)}
    others = {
        f"joint, {base}, two conditions": {"max_conditions": 2},
        f"joint, {base}, four conditions": {"max_conditions": 4},
        f"joint, {base}, greedy": {"search": "greedy"},
        f"joint, {base}, beam": {"search": "beam"},
    }
    short = _STAGEWISE | {"max_conditions": 3, "fit_intercept": True}
    return [
        *(_with_pseudo_rows("joint", _JOINT, n, "warm") for n in PSEUDO_ROWS),
        *(Variant(name, usual | settings, "warm") for name, settings in others.items()),
        *(_with_pseudo_rows(f"{SHORT}, intercept", short, n, "prefixes") for n in PSEUDO_ROWS),
    ]


def _with_pseudo_rows(name: str, settings: dict[str, Any], n_rows: int, way: Way) -> Variant:
    penalty = {"l2_regularization": PseudoRows(n_rows)}
    return Variant(f"{name}, {n_rows} pseudo-rows", settings | penalty, way)
