"""The parameters that both estimators have: what they mean, and what they may be."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache
from typing import (
    Annotated,
    Any,
    NamedTuple,
    NoReturn,
    TypeAlias,
    TypedDict,
    TypeVar,
    get_args,
    get_type_hints,
)

import numpy as np

from laconic._util.checks import is_finite_number, is_whole
from laconic._util.defaults import (
    DEFAULT_L2_REGULARIZATION,
    DEFAULT_MAX_CONDITIONS,
    DEFAULT_N_RULES,
    DEFAULT_STRATEGY,
)
from laconic.candidates.candidates import DEFAULT_MAX_THRESHOLDS
from laconic.candidates.categories import DEFAULT_MAX_CATEGORIES, Way
from laconic.candidates.constraints import CONSTRAINTS, check_constraint
from laconic.estimators.progress import FitProgress
from laconic.losses import ABSENT_LOSSES, Loss
from laconic.search import METHODS, SearchResult
from laconic.tables.times import DATE_PARTS
from laconic.terms.conditions import Condition, Query
from laconic.terms.rules import Rule

DEFAULT_FOLDS = 5

PARAMETERS = """\
n_rules : int, default=10
    Largest number of rules. Fewer are found when no further rule improves the fit.
strategy : {{"joint", "stagewise", "polished", "global"}}, default="joint"
    How rules are found, one after the other. "joint" takes the rule that gains most once all
    weights, and the intercept if there is one, are refitted; they are refitted after every rule.
    "stagewise" is the published algorithm: it takes the rule that gains most while the rules before
    it keep their weights. "polished" is "joint", and then exchanges rules for better ones, given
    all others, one at a time, as long as the penalised loss decreases. With the squared loss, and
    where all searches end with a proof, no single exchange then improves the model; with other
    losses none does to second order. "global" is "polished", starts a second time from the convex
    problem over all rules, reduced to `n_rules` of them and polished, and keeps the model with the
    smaller penalised loss. `certificate_` then proves how close the model comes to the best
    possible one. It takes longer and needs classes or the squared loss; a limit on a search counts
    `n_rules` times for the proof.
loss : {losses} or Loss, default="auto"
    {about_losses}Any object with the methods of :class:`laconic.losses.Loss` serves.
l2_regularization : float or "auto", default="auto"
    Penalty λ on squared weights. More of it favours rules that cover many rows, and makes proofs
    faster. "auto" counts as much as {pseudo_rows} rows do, whatever the loss; classes rarer than
    one row in 40,000 count as one in 40,000 there.
search : {{"optimal", "greedy", "beam", "reference"}}, default="optimal"
    How to find a rule; "optimal" proves that there is no better one.
max_conditions : int or None, default=3
    Largest number of conditions in a rule; None sets no limit.
min_coverage : float, default=0
    Smallest number of training rows, or total weight if there are weights, that a rule covers.
approximation_factor : float in (0, 1], default=1.0
    Be content with a rule once it is proven to reach this share of the best possible objective.
node_limit : int, None or "auto", default="auto"
    Stop searching for a rule after that many nodes. "auto" allows for a few seconds per rule:
    between 20 and 20,000 nodes, fewer the larger the table; None sets no limit. A
    ``ConvergenceWarning`` at the end of the fit names the rules that were not proven by then.
time_limit : float or None, default=None
    Stop searching for a rule after that many seconds, for all classes together. The model then
    depends on the machine.
max_thresholds : int or None, default=7
    Largest number of thresholds per numeric feature, at quantiles. None: between all values.
categories : {{"values", "equal", "sets"}}, default="values"
    Conditions on categories. "values" gives ``x == v`` and, for features with more than two
    categories, ``x != v``; "equal" gives ``x == v`` only. "sets" adds sets of categories, such as
    ``region in {{"N", "NE"}}``. Up to five categories give all of their sets; more give the
    beginnings and ends of their order by target: by the mean target, by the share of each of three
    or more classes, or by the mean step of the Huber loss or of a loss of your own. For a first
    rule of one condition, the best set of all is among them, unless `min_coverage` or
    `excluded_rules` exclude it.
max_categories : int or None, default=30
    Largest number of categories of a feature that are told apart: the commonest. All others, and
    those that did not occur in training, are one group: what is none of these. None sets no limit.
categorical_features : "from_dtype", array-like, dict or None, default="from_dtype"
    Columns of numbers that are categories, by names, positions or a mask. Text, booleans and
    columns of a categorical type always are; "from_dtype" and None add no others. A dict of columns
    to "nominal" or "ordered" also says which categories have an order, that of their type, which
    gives thresholds: ``size <= M``. Ordered categories of pandas and PyArrow have one unless they
    are named as nominal, an Enum of polars where it is named as ordered.
date_parts : list of str or None, default=None
    Parts of dates that rules may be about, besides the dates themselves: "year", "month", "day",
    "weekday" and "hour". They give conditions such as ``weekday of booked == Sat``.
conditions : list or tuple of Condition, callable or None, default=None
    The conditions that rules may be made of, where you know them: cut-offs of your field, for
    example. A callable is given the training table, as it was passed to `fit`, and returns them.
    The parameters from `max_thresholds` to here then have no effect. None: from the table.
monotonic_cst : dict, array-like of shape (n_features,) or None, default=None
    Features, by name or position, with which predictions may only rise (1) or only fall (-1), or an
    entry for every feature, 0 for those that are free. A condition ``x > t`` on a feature with 1 is
    then used in rules of positive weight only, ``x <= t`` in rules of negative weight only, and
    refits keep the signs: the model is monotone in such a feature, whatever the others are. Missing
    values have no place in the order; either sign may say that a value is missing or present.
    Features must have an order: numbers or booleans.
interaction_cst : {{"pairwise", "no_interactions"}}, list of sets of features or None, default=None
    Which features a rule may use together: any two, none, or those of one of the sets. Features
    that no set names are one more set: with ``[{{"x"}}]``, a rule uses x alone or not at all, and
    with ``[{{"x", "z"}}, {{"y", "z"}}]``, a rule never uses x and y together.
feature_costs : dict of features to float or None, default=None
    What a rule must gain, in units of the mean loss, to use a feature; each feature counts once per
    rule. The rule found is the best one after costs. No rule uses a feature whose cost is
    ``np.inf``.
weight_signs : {{"both", "positive", "negative"}}, default="both"
    Signs that weights of rules may have; the intercept may have any.
initial_rules : list of str, Query, Rule or pair, or None, default=None
    Rules that the model has in any case, written as models print them, such as
    ``'age > 65 & sex == "f"'``. They come first and are never exchanged; the others are found given
    them. Weights are the best ones, which are 0 where constraints leave no other; with
    strategy="stagewise", a `Rule` keeps its own. Of three or more classes, a rule is about the one
    for which it gains most, unless it is given as a pair of a rule and a class. Their certificates
    say how they compare with the best rule in their place.
excluded_rules : list of str, Query or Rule, or None, default=None
    Rules that the model is not to have, nor others that cover the same training rows; nor, beside
    an intercept that is refitted, those that cover the rest.
fit_intercept : bool, default=True
    Start from the best constant instead of 0. Where weights are refitted, it is refitted with them.
warm_start : bool, default=False
    Whether `fit` adds rules to those fitted before, until there are `n_rules`.
on_interrupt : {{"raise", "keep"}}, default="raise"
    What Ctrl-C does: "keep" ends the fit with the rules found so far.
callback : callable, default=None
    Called with a :class:`FitProgress` after every rule and up to twenty times a second during a
    search. A true return value ends the fit with the rules found so far.
n_jobs : int or None, default=None
    Threads of the optimal search; -1 means all processors. The model is the same for any number.
verbose : int, default=0
    1 prints rules as they are found, and how far a long search has come."""

ATTRIBUTES = """\
ensemble_ : RuleEnsemble
    The model: a sequence of rules, each with a query and a weight.
search_results_ : list of SearchResult
    A certificate per rule: objective value, bound, approximation ratio, nodes and seconds.
unfinished_search_ : SearchResult or None
    The search for one more rule, if a limit stopped it before it found any.
l2_regularization_ : float
    The penalty in use.
certificate_ : EnsembleCertificate
    With ``strategy="global"``: how close the model comes to the best possible one on its rows.
settings_ : Settings
    Everything that decided which model came out, as plain values: which rules were searched, how,
    and under which constraints. Files have it as well.
provable_with_ : dict
    Parameters each of which, by itself, would have let every search end with a proof, in seconds.
    Empty if no limit stopped one, or where none is known; not in loaded models.
stages_ : tuple of RuleEnsemble
    The model when it had 0, 1, 2, ... rules. Where weights are refitted, they were others then.
    Once rules have been polished, its first 0, 1, 2, ... rules, with the best weights for these.
rule_coverages_ : list of RuleCoverage
    How many training rows each rule covers, and the mean target there; not in loaded models.
feature_importances_ : ndarray of shape (n_features,)
    Mean absolute Shapley values of the features over the training rows, divided by their sum; all 0
    where there are no rules.
task_ : Task
    What the model is for: it knows the loss, the classes if there are any, metrics and words.
loss_ : Loss
    The loss in use.
n_candidates_ : int
    Number of candidate conditions that rules were made of.
n_features_in_ : int
    Number of columns of the training table.
feature_names_in_ : ndarray of shape (n_features,)
    Their names, where the table had names."""


CV_N_RULES = """\
n_rules : int, default=10
    Largest number of rules that is considered."""
CV_PARAMETER = """\
cv : int, splitter, iterable or None, default=5
    How to hold out rows. A number of parts: rows are shuffled, in the same way in every fit, and
    classes keep their shares in each part; None is 5. Or a splitter of scikit-learn, or an iterable
    of pairs of row positions, to learn from and to judge by, as for rows that belong together:
    ``list(GroupKFold(5).split(X, y, groups))``."""
CV_ATTRIBUTES = """\
n_rules_ : int
    The number of rules that was chosen.
cv_results_ : dict of str to ndarray of shape (n_sizes,)
    What is known about every size that was tried: ``n_rules``, from 0 on; ``n_conditions``, mean
    over the splits; ``mean_loss`` on rows that were held out; ``standard_error`` of its difference
    to the smallest one; ``split0_loss``, ``split1_loss``, ... of each split.
reason_ : str
    How the number was chosen, in a sentence."""


Requirement: TypeAlias = tuple[str, Callable[[Any], bool]]
"""What a parameter must be, in words, and whether a value is."""


class Parameter(NamedTuple):
    """What signatures and checks know of a parameter."""

    default: Any
    requirement: Requirement = ("anything", lambda _: True)


def _among(names: Collection[str]) -> Requirement:
    words = f"a str among {{{', '.join(map(repr, names))}}}"
    return words, lambda value: isinstance(value, str) and value in names


def _or_none(requirement: Requirement) -> Requirement:
    words, is_met = requirement
    return f"{words} or None", lambda value: value is None or is_met(value)


def _number(words: str, is_met: Callable[[Any], bool]) -> Requirement:
    return f"a float in the range {words}", lambda value: is_finite_number(value) and is_met(value)


def _is_auto(value: Any) -> bool:
    return isinstance(value, str) and value == "auto"


STRATEGIES = ("joint", "stagewise", "polished", "global")
_BOOL: Requirement = ("a bool", lambda value: isinstance(value, bool | np.bool_))
_COUNT: Requirement = ("an int in the range [1, inf)", lambda value: is_whole(value, 1))
_AMOUNT = _number("[0, inf)", lambda value: value >= 0)
_AMOUNT_OR_AUTO: Requirement = (
    f"{_AMOUNT[0]} or 'auto'",
    lambda value: _is_auto(value) or _AMOUNT[1](value),
)
_COUNT_OR_AUTO: Requirement = (
    f"{_COUNT[0]}, None or 'auto'",
    lambda value: value is None or _is_auto(value) or _COUNT[1](value),
)
_SHARE = _number("(0, 1]", lambda value: 0 < value <= 1)
_SECONDS = _number("(0, inf)", lambda value: value > 0)
_METHOD: Requirement = (
    _among(METHODS)[0],
    lambda value: callable(value) or (isinstance(value, str) and value in METHODS),
)
_FEATURES: Requirement = (
    "'from_dtype', names, positions or a mask of columns, a dict of columns to 'nominal' or "
    "'ordered', or None",
    lambda value: (
        {*value.values()} <= {"nominal", "ordered"}
        if isinstance(value, Mapping)
        else not isinstance(value, str) or value == "from_dtype"
    ),
)
_DATE_PARTS: Requirement = (
    f"a list of str among {{{', '.join(map(repr, DATE_PARTS))}}}",
    lambda value: isinstance(value, list | tuple) and {*value} <= {*DATE_PARTS},
)
_CONDITIONS: Requirement = (
    "a list or tuple of Condition, a callable or None",
    lambda value: value is None or callable(value) or isinstance(value, list | tuple),
)
_RULES: Requirement = (
    "a list of str, Query or Rule, or None",
    lambda value: value is None or isinstance(value, list | tuple),
)
_THREADS: Requirement = ("an int other than 0", lambda value: is_whole(value) and value != 0)
_LEVEL: Requirement = (
    "an int in the range [0, inf)",
    lambda value: isinstance(value, bool) or is_whole(value, 0),
)


class Parameters(TypedDict, total=False):
    """The parameters that all estimators have besides the number of rules."""

    strategy: Annotated[str, Parameter(DEFAULT_STRATEGY, _among(STRATEGIES))]
    loss: Annotated[str | Loss, Parameter("auto")]
    l2_regularization: Annotated[float | str, Parameter(DEFAULT_L2_REGULARIZATION, _AMOUNT_OR_AUTO)]
    search: Annotated[str | Callable[..., SearchResult], Parameter("optimal", _METHOD)]
    max_conditions: Annotated[int | None, Parameter(DEFAULT_MAX_CONDITIONS, _or_none(_COUNT))]
    min_coverage: Annotated[float, Parameter(0, _AMOUNT)]
    approximation_factor: Annotated[float, Parameter(1.0, _SHARE)]
    node_limit: Annotated[int | str | None, Parameter("auto", _COUNT_OR_AUTO)]
    time_limit: Annotated[float | None, Parameter(None, _or_none(_SECONDS))]
    max_thresholds: Annotated[int | None, Parameter(DEFAULT_MAX_THRESHOLDS, _or_none(_COUNT))]
    categories: Annotated[str, Parameter("values", _among(get_args(Way)))]
    max_categories: Annotated[int | None, Parameter(DEFAULT_MAX_CATEGORIES, _or_none(_COUNT))]
    categorical_features: Annotated[Any, Parameter("from_dtype", _FEATURES)]
    date_parts: Annotated[Sequence[str] | None, Parameter(None, _or_none(_DATE_PARTS))]
    conditions: Annotated[
        Sequence[Condition] | Callable[[Any], Sequence[Condition]] | None,
        Parameter(None, _CONDITIONS),
    ]
    monotonic_cst: Any
    interaction_cst: Any
    feature_costs: Any
    weight_signs: str
    initial_rules: Annotated[Sequence[Any] | None, Parameter(None, _RULES)]
    excluded_rules: Annotated[Sequence[str | Query | Rule] | None, Parameter(None, _RULES)]
    fit_intercept: Annotated[bool, Parameter(True, _BOOL)]
    on_interrupt: Annotated[str, Parameter("raise", _among(("raise", "keep")))]
    callback: Annotated[
        Callable[[FitProgress], Any] | None, Parameter(None, _or_none(("a callable", callable)))
    ]
    n_jobs: Annotated[int | None, Parameter(None, _or_none(_THREADS))]
    verbose: Annotated[int, Parameter(0, _LEVEL)]


class RegressorParameters(Parameters, total=False):
    """Those of an estimator for numbers, of a given number of rules."""

    warm_start: Annotated[bool, Parameter(False, _BOOL)]


class ClassifierParameters(RegressorParameters, total=False):
    """Those of an estimator for classes."""

    class_weight: Annotated[Mapping[Any, float] | str | None, Parameter(None)]


class RegressorCVParameters(Parameters, total=False):
    """Those of an estimator that chooses the number of rules."""

    cv: Annotated[Any, Parameter(DEFAULT_FOLDS)]


class ClassifierCVParameters(RegressorCVParameters, total=False):
    """Those of an estimator for classes that chooses the number of rules."""

    class_weight: Annotated[Mapping[Any, float] | str | None, Parameter(None)]


@cache
def known_parameters(parameters: Any) -> dict[str, Parameter]:
    """List the parameters of a class of them, by name; first those that some do not have."""
    hints = get_type_hints(parameters, include_extras=True)
    return {
        # Constraints are checked where they are read.
        name: Parameter(CONSTRAINTS[name]) if name in CONSTRAINTS else hints[name].__metadata__[0]
        for name in sorted(hints, key=lambda name: name in Parameters.__annotations__)
    }


_KNOWN = known_parameters(ClassifierParameters)

Initializer = TypeVar("Initializer", bound=Callable[..., None])


def with_signature(parameters: Any) -> Callable[[Initializer], Initializer]:
    """Make the parameters of an initializer visible to scikit-learn and `help`."""
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    shown = [
        inspect.Parameter("self", kind),
        inspect.Parameter("n_rules", kind, default=DEFAULT_N_RULES),
        *(
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=each.default)
            for name, each in known_parameters(parameters).items()
        ),
    ]

    def decorate(initializer: Initializer) -> Initializer:
        initializer.__signature__ = inspect.Signature(shown)  # type: ignore[attr-defined]
        return initializer

    return decorate


def check_parameters(estimator: Any) -> None:
    """Refuse parameters of an estimator that make no sense."""
    names = ("auto", *estimator.task.losses)

    def is_loss(value: Any) -> bool:
        if isinstance(value, str) and value in ABSENT_LOSSES:
            raise ValueError(f"There is no loss {value!r}. {ABSENT_LOSSES[value]}")
        return not isinstance(value, str) or value in names

    losses = f"{', '.join(map(repr, names))} or an object with the methods of laconic.losses.Loss"
    checks = {name: each.requirement for name, each in _KNOWN.items()}
    checks |= {"n_rules": _COUNT, "loss": (losses, is_loss)}
    for name, (required, is_met) in checks.items():
        # Where an estimator does not have it, nothing is wrong with it.
        if hasattr(estimator, name) and not is_met(getattr(estimator, name)):
            _refuse(estimator, name, getattr(estimator, name), required)
    for refusal in REFUSALS:
        refusal.check(estimator)
    for name in CONSTRAINTS:
        value = getattr(estimator, name)
        not_met = check_constraint(name, value)
        if not_met is not None:
            _refuse(estimator, name, value, not_met)


def _refuse(estimator: Any, name: str, value: Any, required: str) -> NoReturn:
    raise ValueError(
        f"The {name!r} parameter of {type(estimator).__name__} must be {required}. "
        f"Got {value!r} instead."
    )


class Refusal(NamedTuple):
    """Two parameters that do not go together."""

    name: str
    """The parameter that must have its default."""
    beside: str
    value: Any
    """Of the other one."""
    reason: str

    def check(self, estimator: Any) -> None:
        """Refuse parameters of an estimator, in words."""
        value, default = getattr(estimator, self.name, None), _KNOWN[self.name].default
        # Not with "==" alone, which compares arrays element by element.
        is_default = (
            value is None or value is default or (type(value) is type(default) and value == default)
        )
        if getattr(estimator, self.beside) != self.value or is_default:
            return
        raise ValueError(
            f"The {self.name!r} parameter of {type(estimator).__name__} must be {default!r} with "
            f"{self.beside}={self.value!r}, {self.reason}. Got {value!r} instead. Leave it out, or "
            f"set {self.beside}={_KNOWN[self.beside].default!r}."
        )


REFUSALS = (
    Refusal("warm_start", "strategy", "global", "which exchanges all rules"),
    *(
        Refusal(name, "strategy", "global", "which compares with all rules")
        for name in (*CONSTRAINTS, "initial_rules", "excluded_rules")
    ),
)
"""The pairs of parameters that estimators refuse."""
