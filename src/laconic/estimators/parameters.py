"""The parameters that both estimators have: what they mean, and what they may be."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from laconic._checks import is_finite_number, is_whole
from laconic.boosting import OBJECTIVES, Joint
from laconic.categories import WAYS
from laconic.constraints import CONSTRAINTS, check_constraint
from laconic.data.times import DATE_PARTS
from laconic.losses import ABSENT_LOSSES
from laconic.multiclass import CLASS_OBJECTIVES
from laconic.search import METHODS

PARAMETERS = """\
n_rules : int, default=10
    Largest number of rules. Fewer are found when no further rule improves the fit.
strategy : {{"boosting", "global"}}, default="boosting"
    How rules come together. "boosting" finds one after the other. "global" polishes them as well,
    starts a second time from the convex problem over all rules at once, reduced to `n_rules` of
    them and polished, and keeps the model with the smaller penalised loss. How close it comes to
    the best possible one is proven, in `certificate_`. Takes longer, and needs the logistic or the
    squared loss and refitted weights; a limit on a search counts `n_rules` times for the proof.
objective : {{"joint", "stagewise", "orthogonal"}}, default="joint"
    What a rule is judged by. "joint" is what it gains once all weights, and the intercept if there
    is one, are refitted; they are, after every rule. "stagewise" is the paper's objective: what the
    rule gains while all rules before it keep their weights. "orthogonal" refits as well, and judges
    a rule by its part that is orthogonal to the rules before it, without hessians and penalties.
polish : bool, default=False
    Whether rules are exchanged for better ones, given all others, one at a time and as long as that
    makes the penalised loss smaller. With the squared loss, and where searches are proven, no
    single exchange then improves the model; with other losses none does to second order. Needs an
    objective with refitted weights, "joint" or "orthogonal"; exchanges are judged by "joint".
loss : {losses} or Loss, default="auto"
    {about_losses}Any object with the methods of :class:`laconic.losses.Loss` serves.
l2_regularization : float or "auto", default="auto"
    Penalty λ on squared weights. More of it favours rules that cover many rows, and makes proofs
    faster. "auto" counts as much as {pseudo_rows} rows do, whatever the loss.
search : {{"optimal", "greedy", "beam", "reference", "brute_force"}}, default="optimal"
    How to find a rule; "optimal" proves that there is no better one.
max_conditions : int or None, default=3
    Largest number of conditions in a rule; None sets no limit.
min_coverage : float, default=0
    Smallest number of training rows, or total weight if there are weights, that a rule covers.
approximation_factor : float in (0, 1], default=1.0
    Be content with a rule once it is proven to reach this share of the best possible objective.
simplify : float in [0, 1), default=0.0
    Leave out conditions of a rule as long as that costs no more than this share of the objective of
    the rule found. The certificate says what remains.
node_limit : int, None or "auto", default="auto"
    Stop searching for a rule after that many nodes. "auto" allows for a few seconds per rule:
    between 20 and 20,000 nodes, fewer the larger the table; None sets no limit. A
    ``ConvergenceWarning`` at the end of the fit names the rules that were not proven by then.
time_limit : float or None, default=None
    Stop searching for a rule after that many seconds. The model then depends on the machine.
max_thresholds : int or None, default=7
    Largest number of thresholds per numeric feature, at quantiles. None: between all values.
negated_categories : bool, default=True
    Whether features with more than two categories give ``x != v`` besides ``x == v``.
categories : {{"values", "sets"}}, default="values"
    Whether a condition is about one category, or about a set of them: ``region in {{"N", "NE"}}``.
    Up to five categories give all of their sets; more give the beginnings and ends of their order
    by target: by the mean target, by the share of each of three or more classes, or by the mean
    step that the Huber loss or one of your own asks for. For a first rule of one condition, the
    best set of all is among them, unless `min_coverage` or `excluded_rules` rule it out.
max_categories : int or None, default=30
    Largest number of categories of a feature that are told apart: the commonest. All others, and
    those that did not occur in training, are one group: what is none of these. None sets no limit.
categorical_features : "from_dtype", array-like or None, default="from_dtype"
    Columns of numbers that are categories, by names, positions or a mask. Text, booleans and
    columns of a categorical type always are; "from_dtype" and None add no others.
ordered_features : list of str or None, default=None
    Columns of categories whose order, that of their type, gives thresholds: ``size <= M``. Ordered
    categories of pandas and PyArrow always do, an Enum of polars where it is named here.
date_parts : list of str or None, default=None
    Parts of dates that rules may be about, besides the dates themselves: "year", "month", "day",
    "weekday" and "hour". They give conditions such as ``weekday of booked == Sat``.
propositions : list or tuple of Proposition, callable or None, default=None
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
    that no set names are one more set.
excluded_features : list of features or None, default=None
    Features that no rule uses, by name or position.
lone_features : list of features or None, default=None
    Features that a rule uses by themselves or not at all.
separated_features : list of sets of features or None, default=None
    Of each set a rule uses one feature at most.
feature_costs : dict of features to float or None, default=None
    What a rule must gain, in units of the mean loss, to use a feature; each feature counts once per
    rule. The rule found is the best one after costs. Not with objective="orthogonal", which
    measures gains in other units.
weight_signs : {{"both", "positive", "negative"}}, default="both"
    Signs that weights of rules may have; the intercept may have any.
initial_rules : list of str, Query or Rule, or None, default=None
    Rules that the model has in any case, written as models print them, such as
    ``'age > 65 & sex == "f"'``. They come first and are never exchanged; the others are found given
    them. Weights are the best ones; with objective="stagewise", a `Rule` keeps its own. Their
    certificates say how they compare with the best rule in their place.
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
constraints_ : Constraints or None
    What rules may be made of, as far as it is constrained; not in loaded models.
scope_ : SearchScope
    Which rules were searched: candidate conditions and limits. Missing where `warm_start` added
    rules that were searched among others than those before.
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
n_propositions_ : int
    Number of candidate conditions that rules were made of.
n_features_in_ : int
    Number of columns of the training table.
feature_names_in_ : ndarray of shape (n_features,)
    Their names, where the table had names."""


def set_signature(cls: Any, *bases: Any, without: str = "") -> None:
    """Let scikit-learn and `help` see the parameters of all classes that an estimator is made of.

    Its own ones come first, after the number of rules.
    """
    parameters: dict[str, inspect.Parameter] = {}
    for made_of in (cls, *bases):
        if "__init__" in vars(made_of) and made_of is not object:
            for name, parameter in inspect.signature(made_of.__init__).parameters.items():
                parameters.setdefault(name, parameter)
    shown = [
        parameter
        for name, parameter in parameters.items()
        if parameter.kind is not parameter.VAR_KEYWORD and name != without
    ]

    def initialize(self: Any, *args: Any, **kwargs: Any) -> None:
        super(cls, self).__init__(*args, **kwargs)

    if "__init__" not in vars(cls):
        cls.__init__ = initialize
    cls.__init__.__signature__ = inspect.Signature(shown)


def check_parameters(estimator: Any) -> None:
    """Refuse parameters of an estimator that make no sense."""
    names = ("auto", *estimator.task.losses)

    def is_loss(value: Any) -> bool:
        if isinstance(value, str) and value in ABSENT_LOSSES:
            raise ValueError(f"There is no loss {value!r}. {ABSENT_LOSSES[value]}")
        return not isinstance(value, str) or value in names

    losses = f"{', '.join(map(repr, names))} or an object with the methods of laconic.losses.Loss"
    for name, (requirement, is_met) in {"loss": (losses, is_loss), **_REQUIREMENTS}.items():
        value = getattr(estimator, name)
        if not is_met(value):
            raise ValueError(
                f"The {name!r} parameter of {type(estimator).__name__} must be {requirement}. "
                f"Got {value!r} instead."
            )
    if estimator.strategy == "global" and estimator.warm_start:
        raise ValueError(
            f"The 'warm_start' parameter of {type(estimator).__name__} must be False with "
            "strategy='global', which exchanges all rules. Set strategy='boosting' to add rules to "
            "a model."
        )
    if estimator.strategy == "global" and not issubclass(OBJECTIVES[estimator.objective], Joint):
        raise ValueError(
            f"The 'strategy' parameter of {type(estimator).__name__} must be 'boosting' with "
            f"objective={estimator.objective!r}, which keeps the weights of rules. Set "
            "objective='joint' to refit them."
        )
    for name, nothing in CONSTRAINTS.items():
        value = getattr(estimator, name)
        required = check_constraint(name, value)
        is_given = value is not None and not (isinstance(value, str) and value == nothing)
        if required is None and is_given and estimator.strategy == "global":
            required = f"{nothing!r} with strategy='global', which looks at all rules"
        if required is not None:
            raise ValueError(
                f"The {name!r} parameter of {type(estimator).__name__} must be {required}. "
                f"Got {value!r} instead."
            )
    for name in ("initial_rules", "excluded_rules"):
        if getattr(estimator, name) and estimator.strategy == "global":
            raise ValueError(
                f"The {name!r} parameter of {type(estimator).__name__} must be None with "
                "strategy='global', which looks at all rules. Set strategy='boosting'."
            )
    if estimator.feature_costs and estimator.objective == "orthogonal":
        raise ValueError(
            f"The 'feature_costs' parameter of {type(estimator).__name__} must be None with "
            "objective='orthogonal', which measures gains in other units than the loss. Set "
            "objective='joint'."
        )
    if estimator.polish and not issubclass(OBJECTIVES[estimator.objective], Joint):
        raise ValueError(
            f"The 'polish' parameter of {type(estimator).__name__} must be False with "
            f"objective={estimator.objective!r}, which keeps the weights of rules. Set "
            "objective='joint' to refit them."
        )


def check_for_classes(estimator: Any) -> None:
    """Refuse parameters that are for two classes and numbers only."""
    needed = {
        "objective": CLASS_OBJECTIVES,
        "polish": (False, np.False_),
        "strategy": ("boosting",),
        "monotonic_cst": (None,),
        "weight_signs": ("both",),
        "initial_rules": (None,),
    }
    for name, values in needed.items():
        value = getattr(estimator, name)
        # Not with "in", which compares arrays element by element.
        if not any(value is each or (isinstance(value, str) and value == each) for each in values):
            raise ValueError(
                f"The {name!r} parameter of {type(estimator).__name__} must be "
                f"{' or '.join(map(repr, values))} for three or more classes. Got {value!r} "
                "instead. Or put sklearn.multiclass.OneVsRestClassifier around the estimator."
            )


def _is_count(value: Any) -> bool:
    return is_whole(value, 1)


def _is_not_negative(value: Any) -> bool:
    return is_finite_number(value) and value >= 0


def _is_auto(value: Any) -> bool:
    return isinstance(value, str) and value == "auto"


def _is_bool(value: Any) -> bool:
    return isinstance(value, bool | np.bool_)


def _is_search(value: Any) -> bool:
    return callable(value) or (isinstance(value, str) and value in METHODS)


def _is_none_or(is_met: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: value is None or is_met(value)


STRATEGIES = ("boosting", "global")
_COUNTS = "an int in the range [1, inf)"
_REQUIREMENTS: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "n_rules": (_COUNTS, _is_count),
    "objective": (
        f"a str among {{{', '.join(map(repr, OBJECTIVES))}}}",
        lambda value: isinstance(value, str) and value in OBJECTIVES,
    ),
    "strategy": (
        f"a str among {{{', '.join(map(repr, STRATEGIES))}}}",
        lambda value: isinstance(value, str) and value in STRATEGIES,
    ),
    "polish": ("a bool", _is_bool),
    "l2_regularization": (
        "a float in the range [0, inf) or 'auto'",
        lambda value: _is_auto(value) or _is_not_negative(value),
    ),
    "search": (f"a str among {{{', '.join(map(repr, METHODS))}}}", _is_search),
    "max_conditions": (f"{_COUNTS} or None", _is_none_or(_is_count)),
    "min_coverage": ("a float in the range [0, inf)", _is_not_negative),
    "approximation_factor": (
        "a float in the range (0, 1]",
        lambda value: is_finite_number(value) and 0 < value <= 1,
    ),
    "simplify": (
        "a float in the range [0, 1)",
        lambda value: is_finite_number(value) and 0 <= value < 1,
    ),
    "node_limit": (
        f"{_COUNTS}, None or 'auto'",
        _is_none_or(lambda value: _is_auto(value) or _is_count(value)),
    ),
    "time_limit": (
        "a float in the range (0, inf) or None",
        _is_none_or(lambda value: is_finite_number(value) and value > 0),
    ),
    "max_thresholds": (f"{_COUNTS} or None", _is_none_or(_is_count)),
    "negated_categories": ("a bool", _is_bool),
    "categories": (
        f"a str among {{{', '.join(map(repr, WAYS))}}}",
        lambda value: isinstance(value, str) and value in WAYS,
    ),
    "max_categories": (f"{_COUNTS} or None", _is_none_or(_is_count)),
    "categorical_features": (
        "'from_dtype', names, positions or a mask of columns, or None",
        lambda value: not isinstance(value, str) or value == "from_dtype",
    ),
    "ordered_features": (
        "a list of names of columns or None",
        _is_none_or(lambda value: not isinstance(value, str)),
    ),
    "date_parts": (
        f"a list of str among {{{', '.join(map(repr, DATE_PARTS))}}} or None",
        _is_none_or(
            lambda value: isinstance(value, list | tuple) and {*value} <= {*DATE_PARTS},
        ),
    ),
    "propositions": (
        "a list or tuple of Proposition, a callable or None",
        _is_none_or(lambda value: callable(value) or isinstance(value, list | tuple)),
    ),
    "initial_rules": (
        "a list of str, Query or Rule, or None",
        _is_none_or(lambda value: isinstance(value, list | tuple)),
    ),
    "excluded_rules": (
        "a list of str, Query or Rule, or None",
        _is_none_or(lambda value: isinstance(value, list | tuple)),
    ),
    "fit_intercept": ("a bool", _is_bool),
    "warm_start": ("a bool", _is_bool),
    "on_interrupt": ("a str among {'raise', 'keep'}", lambda value: value in ("raise", "keep")),
    "callback": ("a callable or None", _is_none_or(callable)),
    "n_jobs": (
        "an int other than 0 or None",
        _is_none_or(lambda value: is_whole(value) and value != 0),
    ),
    "verbose": (
        "an int in the range [0, inf)",
        lambda value: isinstance(value, bool) or is_whole(value, 0),
    ),
}
