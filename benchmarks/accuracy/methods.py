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
from laconic import (
    RuleBoostingClassifier,
    RuleBoostingClassifierCV,
    RuleBoostingRegressor,
    RuleBoostingRegressorCV,
)
from laconic.estimators.progress import FitProgress
from laconic.terms.rules import RuleEnsemble

Way: TypeAlias = Literal["prefixes", "steps", "once", "cross-validated"]

MAX_RULES = 10
STEPS = (1, 2, 3, 5, 10)
"""Numbers of terms that are shown."""
MAX_SIZE, MAX_TERMS = 40, 20
"""Sizes end there; a term has at least one condition."""


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
    way : {"prefixes", "steps", "once", "cross-validated"}
        How models of fewer terms come about: they are the first terms of the last one, or
        what the fit had at every step, before weights moved.
        With "once" there is one model, of the number of terms in the settings, and with
        "cross-validated" one of a number that cross-validation chooses.
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

    def path(self, split: Split, max_terms: int | None = None) -> Iterator[Model]:
        """Fit, and yield a model per number of terms.

        Unless said otherwise there are ten, or more where ten have a size below 40.
        """
        ways = {
            "prefixes": self._prefixes,
            "steps": self._steps,
            "once": self._once,
            "cross-validated": self._once,
        }
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # unproven rules are fine here
            yield from ways[self.way](split, max_terms)

    def _prefixes(self, split: Split, max_terms: int | None) -> Iterator[Model]:
        started = process_time()
        ensemble = self._estimator(split, max_terms or MAX_RULES).fit(split.X, split.y).ensemble_
        seconds = process_time() - started
        n_conditions = 0
        stages = ensemble.staged_raw_predictions(split.X_test)
        for step, (term, raw) in enumerate(zip(ensemble, stages, strict=True), start=1):
            n_conditions += term.n_conditions
            size = Size(step, n_conditions)
            yield Model(step, size, _readings(split, raw), seconds * step / len(ensemble))

    def _steps(self, split: Split, max_terms: int | None) -> Iterator[Model]:
        started = process_time()
        found: dict[int, tuple[RuleEnsemble, float]] = {}

        def keep(progress: FitProgress) -> bool:
            ensemble = progress.ensemble
            if progress.search is None and len(ensemble):
                found[len(ensemble)] = ensemble, process_time() - started
            return len(ensemble) >= MAX_RULES and ensemble.size >= MAX_SIZE

        model = self._estimator(split, max_terms or MAX_TERMS).set_params(callback=keep)
        model.fit(split.X, split.y)
        for step, (ensemble, seconds) in found.items():
            yield self._model(ensemble, split, step, seconds)

    def _once(self, split: Split, _: int | None) -> Iterator[Model]:
        started = process_time()
        model = self._estimator(split).fit(split.X, split.y)
        ensemble = model.ensemble_
        yield self._model(ensemble, split, max(ensemble.n_terms, 1), process_time() - started)

    def _model(self, ensemble: RuleEnsemble, split: Split, step: int, seconds: float) -> Model:
        size = Size(ensemble.n_terms, ensemble.n_conditions)
        return Model(step, size, _readings(split, ensemble.raw_predictions(split.X_test)), seconds)

    def _estimator(self, split: Split, n_terms: int | None = None) -> Any:
        settings = dict(self.settings)
        if n_terms is not None:
            settings["n_terms"] = n_terms
        penalty = settings.get("l2_regularization")
        if isinstance(penalty, PseudoRows):
            has_intercept = settings.get("fit_intercept", False)
            settings["l2_regularization"] = penalty.penalty(split, fit_intercept=has_intercept)
        makes = (RuleBoostingRegressor, RuleBoostingClassifier)
        if self.way == "cross-validated":
            makes = (RuleBoostingRegressorCV, RuleBoostingClassifierCV)
        return makes[split.is_classification](**settings)


def _readings(split: Split, raw: NDArray[np.float64]) -> NDArray[np.float64]:
    return expit(raw) if split.is_classification else raw


STAGEWISE, GREEDY, SHORT = "optimal", "greedy", "optimal, three conditions"
JOINT = "joint"
LACONIC, RULES_ONLY, GREEDY_TERMS = "laconic", "laconic, rules only", "laconic, greedy search"
MILDER = "laconic, β = 1"

BREVITY, FIRST_BREVITY = 1.5, 1.0
"""The one that was chosen, and the one beside which other settings were tried."""
_ANY_LENGTH = {"brevity": 0.0, "slopes": False}
"""Rules alone, judged by their gain alone."""
_JOINT = {
    "strategy": "joint",
    "fit_intercept": True,
    "max_conditions": 3,
    "max_thresholds": 7,
    "l2_regularization": "auto",
} | _ANY_LENGTH
_TERMS = _JOINT | {"brevity": BREVITY, "slopes": True}
PLAIN = {"strategy": "stagewise", "fit_intercept": False} | _ANY_LENGTH
"""Boosting as in the paper, whatever the defaults are."""
_STAGEWISE = PLAIN | {"max_conditions": 5, "max_thresholds": 7, "l2_regularization": 1.0}

VARIANTS = (
    Variant(LACONIC, _TERMS, "steps"),
    Variant(RULES_ONLY, _TERMS | {"slopes": False}, "steps"),
    Variant(MILDER, _TERMS | {"brevity": FIRST_BREVITY}, "steps"),
    Variant(GREEDY_TERMS, _TERMS | {"search": "greedy"}, "steps"),
    Variant(JOINT, _JOINT, "steps"),
    Variant(SHORT, _STAGEWISE | {"max_conditions": 3}),
    Variant(STAGEWISE, _STAGEWISE),
    Variant(GREEDY, _STAGEWISE | {"search": "greedy"}),
)
"""The ways of laconic that are compared with other learners."""

BREVITIES = (0.0, 0.5, 1.0, 1.5, 2.0)
PSEUDO_ROWS = (5, 20)
KINDS = {"rules": False, "rules and slopes": True}


def settings_to_choose_from() -> list[Variant]:
    """Return the settings that are tried on the choosing half only."""
    brevities = [
        Variant(f"{kind}, β = {beta:g}", _TERMS | {"brevity": beta, "slopes": slopes}, "steps")
        for kind, slopes in KINDS.items()
        for beta in BREVITIES
    ]
    first = _TERMS | {"brevity": FIRST_BREVITY}
    usual = f"rules and slopes, β = {FIRST_BREVITY:g}"
    others = {
        f"{usual}, greedy": {"search": "greedy"},
        f"rules, β = {FIRST_BREVITY:g}, greedy": {"search": "greedy", "slopes": False},
        f"{usual}, two conditions": {"max_conditions": 2},
        f"{usual}, four conditions": {"max_conditions": 4},
        f"{usual}, 15 thresholds": {"max_thresholds": 15},
        f"{usual}, 31 thresholds": {"max_thresholds": 31},
        **{f"{usual}, {n} pseudo-rows": {"l2_regularization": PseudoRows(n)} for n in PSEUDO_ROWS},
    }
    beside = [Variant(name, first | settings, "steps") for name, settings in others.items()]
    short = _STAGEWISE | {"max_conditions": 3, "fit_intercept": True}
    penalty = {"l2_regularization": PseudoRows(10)}
    return [*brevities, *beside, Variant(f"{SHORT}, intercept, 10 pseudo-rows", short | penalty)]


TEN, CHANCE, CROSS_VALIDATED = "ten terms", "chance", "cross-validation"
NUMBERS = (
    Variant(TEN, _TERMS | {"n_terms": 10}, "once"),
    Variant(CHANCE, _TERMS | {"n_terms": "auto"}, "once"),
    Variant(CROSS_VALIDATED, _TERMS | {"n_terms": 20}, "cross-validated"),
)
"""Ways to the number of terms."""
