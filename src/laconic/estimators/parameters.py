"""The parameters of the estimators: one table, from which everything else about them follows.

`Parameters` has the text and the type of each of them, its default, the values that it may have,
and the form of the command-line option. Signatures, docstrings, checks and options are made from
these.

The command line reads the table before it imports scikit-learn, so that nothing here needs it.
"""

import inspect
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Literal,
    NamedTuple,
    NoReturn,
    TypeAlias,
    TypedDict,
    TypeVar,
    get_args,
)

import numpy as np

from laconic._util.checks import is_finite_number, is_whole
from laconic._util.words import parameter
from laconic.candidates.candidates import DEFAULT_MAX_THRESHOLDS
from laconic.candidates.categories import DEFAULT_MAX_CATEGORIES, Way
from laconic.candidates.constraints import CONSTRAINTS, is_list
from laconic.tables.times import DATE_PARTS

if TYPE_CHECKING:
    from laconic.estimators.progress import FitProgress
    from laconic.losses import Loss
    from laconic.search import SearchResult
    from laconic.terms.conditions import Condition, Query
    from laconic.terms.rules import Rule
    from laconic.terms.slopes import Slope

# The automatic penalty counts as much as this many rows.
PSEUDO_ROWS = 10
DEFAULT_FOLDS = 5

Strategy: TypeAlias = Literal["joint", "stagewise", "polished", "global"]
Method: TypeAlias = Literal["optimal", "greedy", "beam", "reference"]
Interactions: TypeAlias = Literal["pairwise", "no_interactions"]
Signs: TypeAlias = Literal["both", "positive", "negative"]
OnInterrupt: TypeAlias = Literal["raise", "keep"]
LossName: TypeAlias = Literal["auto", "logistic", "squared", "poisson", "gamma", "tweedie", "huber"]
Words: TypeAlias = tuple[str, ...]
"""An option that takes several words."""


class Kind(NamedTuple):
    """The values that a parameter may have."""

    required: str
    """As messages write it."""
    is_met: Callable[[Any], bool]
    option: Any = None
    """Type of the command-line option; None where there is none."""

    def or_none(self) -> "Kind":
        """Allow None as well."""
        return Kind(
            f"{self.required} or None",
            lambda value: value is None or self.is_met(value),
            self.option if self.option in (None, Words) else self.option | None,
        )

    def or_auto(self) -> "Kind":
        """Allow "auto" as well."""
        return Kind(
            f"{self.required} or 'auto'",
            lambda value: _is_text(value, "auto") or self.is_met(value),
            self.option | Literal["auto"],
        )


def _is_text(value: Any, *texts: str) -> bool:
    return isinstance(value, str) and value in texts


def _choice(literal: Any, option: Any = Any) -> Kind:
    """Allow the values of a Literal, which is the type of the option unless another is given."""
    texts = get_args(literal)
    required = f"a str among {{{', '.join(map(repr, texts))}}}"
    return Kind(
        required, lambda value: _is_text(value, *texts), literal if option is Any else option
    )


def _number(words: str, is_met: Callable[[Any], bool]) -> Kind:
    required = f"a float in the range {words}"
    return Kind(required, lambda value: is_finite_number(value) and is_met(value), float)


ANYTHING = Kind("anything", lambda _: True)
BOOL = Kind("a bool", lambda value: isinstance(value, bool | np.bool_), bool)
COUNT = Kind("an int in the range [1, inf)", lambda value: is_whole(value, 1), int)
THREADS = Kind("an int other than 0", lambda value: is_whole(value) and value != 0, int)
LEVEL = Kind(
    "an int in the range [0, inf)", lambda value: isinstance(value, bool) or is_whole(value, 0)
)
AMOUNT = _number("[0, inf)", lambda value: value >= 0)
FRACTION = _number("(0, 1]", lambda value: 0 < value <= 1)
SHARE = _number("(0, 1)", lambda value: 0 < value < 1)
SECONDS = _number("(0, inf)", lambda value: value > 0)
SEARCH = _choice(Method, Literal["optimal", "greedy", "beam"])._replace(
    is_met=lambda value: callable(value) or _is_text(value, *get_args(Method))
)
NODES = COUNT.or_none().or_auto()._replace(required=f"{COUNT.required}, None or 'auto'")
CATEGORICAL = Kind(
    "'from_dtype', names, positions or a mask of columns, a dict of columns to 'nominal' or "
    "'ordered', or None",
    lambda value: (
        all(_is_text(each, "nominal", "ordered") for each in value.values())
        if isinstance(value, Mapping)
        else value is None or _is_text(value, "from_dtype") or is_list(value)
    ),
    Words,
)
PARTS = Kind(
    f"a list of str among {{{', '.join(map(repr, DATE_PARTS))}}}",
    lambda value: (
        isinstance(value, list | tuple) and all(_is_text(each, *DATE_PARTS) for each in value)
    ),
    Words,
)
CONDITIONS = Kind(
    "a list or tuple of Condition, a callable",
    lambda value: callable(value) or isinstance(value, list | tuple),
)
TERMS = Kind(
    "a list of str, Query, Rule or Slope,", lambda value: isinstance(value, list | tuple), Words
)
DIRECTIONS = Kind(
    "a dict of features to -1, 0 or 1, or to one class with such a number, an array of numbers,",
    lambda value: isinstance(value, Mapping) or is_list(value),
    Words,
)
INTERACTIONS = Kind(
    "'pairwise', 'no_interactions', a list of sets of features,",
    lambda value: _is_text(value, *get_args(Interactions)) or is_list(value),
    Words,
)
COSTS = Kind(
    "a dict of features to numbers in the range [0, inf]",
    lambda value: isinstance(value, Mapping),
    Words,
)
CLASS_WEIGHTS = Kind(
    "a dict of classes to weights, 'balanced'",
    lambda value: isinstance(value, Mapping) or _is_text(value, "balanced"),
    Words,
)
LABEL = Kind(
    "one of two classes (a str, a bool or a number)",
    lambda value: isinstance(value, str | bool | np.bool_ | int | float | np.number),
    str,
)
FOLDS = Kind(
    "an int in the range [2, inf), a splitter with the method 'split', an iterable of splits",
    lambda value: (
        is_whole(value, 2)
        or (not isinstance(value, str) and bool({"split", "__iter__"} & {*dir(value)}))
    ),
)


class Parameter(NamedTuple):
    """What is known about a parameter, besides its name, its type and its text."""

    default: Any
    kind: Kind
    option: str = ""
    """Name of the command-line option, where it is another one."""
    words: str = ""
    """What the help of the option says about writing a value."""


class Parameters(TypedDict, total=False):
    """The parameters of all estimators, and below those that some have besides.

    The first paragraph of a text is also the help of the command-line option.

    Parameters
    ----------
    n_terms : int or "auto"
        Largest number of terms: rules and slopes. There are fewer if no further term improves the
        fit. "auto" adds terms as long as they are better than chance.

        What counts as chance: the gain that the best of all rules of that length, or of all slopes,
        would reach if the target had nothing to do with the features.
    slopes : bool
        Whether terms may be slopes, which grow with a numeric feature between two of its values,
        besides rules.

        A slope adds its weight times the feature, within two ends: ``+0.31 per 10 of age from 25 to
        68``. Columns of numbers, dates and times with three values or more may have slopes. They
        need a table in memory.
    brevity : float
        How much short terms are preferred. A term is judged by its gain divided by its size to this
        power, where the size is 1 plus its number of conditions. 0 judges terms by their gain
        alone, as the published algorithm does.
    strategy : {"joint", "stagewise", "polished", "global"}
        How terms are found. "joint" adds the term that improves the model most when all weights are
        refitted, and refits them. "stagewise" is the published algorithm, in which the terms found
        before keep their weights. "polished" is "joint", and then replaces terms by better ones.
        "global" is "polished" from two different starts, keeps the better model, and proves how
        close it is to the best possible one.

        "polished" replaces one term at a time, given all others, while the penalised loss
        decreases. With the squared loss, and if all searches end with a proof, no single
        replacement improves the final model; with other losses, none does to second order. The
        second start of "global" is the solution of the convex problem over all rules, reduced to
        `n_terms` rules and polished; the proof is in `certificate_`. "global" takes longer and
        needs classes or the squared loss; a limit on a search counts `n_terms` times for the proof.
    loss : {losses} or Loss
        The loss that is minimised: "logistic" for classes; for numbers "squared", "poisson" (counts
        and rates), "gamma" (positive amounts), "tweedie" (amounts that are often 0) or "huber"
        (robust to outliers). "auto" is "logistic" or "squared".

        With "poisson", "gamma" and "tweedie", weights add up to the logarithm of the prediction.
        Any object with the methods of :class:`laconic.losses.Loss` is a loss, such as
        :class:`laconic.losses.TweedieLoss` with a power other than 1.5.
    class_weight : dict, "balanced" or None
        Weights of the classes, by which the weights of the rows are multiplied. "balanced" gives
        all classes the same total weight.

        Classes that a dict does not name have the weight 1. With "balanced", probabilities are
        those of a table with equally many rows of each class.
    positive : object or None
        The positive class: the one of two classes whose probability positive weights increase. By
        default, it is the second one in ascending order.

        Texts, reports and exports speak of this class. `classes_`, `predict_proba` and
        `decision_function` are in ascending order in any case, as scikit-learn expects. Tools that
        encode the classes as 0 and 1, such as ``VotingClassifier``, ``StackingClassifier`` and
        ``cross_val_predict`` of probabilities, need the code of the class here.
    l2_regularization : float or "auto"
        Penalty on squared weights. A larger penalty favours rules that cover many rows, and makes
        proofs faster. "auto" has the effect of 10 rows, whatever the loss.

        For that, a class rarer than one row in 40,000 counts as one row in 40,000.
    search : {"optimal", "greedy", "beam", "reference"}
        How to search for a rule. "optimal" proves that there is no better one.
    max_conditions : int or None
        Largest number of conditions in a rule. None sets no limit.
    min_coverage : float
        Smallest number of training rows that a rule covers, or total weight if rows have weights.
    approximation_factor : float in (0, 1]
        Stop a search once its rule is proven to reach this fraction of the best possible objective.
    node_limit : int, None or "auto"
        Stop the search for a rule after this number of nodes. "auto" allows a few seconds per rule,
        None sets no limit.

        "auto" is between 20 and 20,000 nodes, fewer for larger tables. A ``ConvergenceWarning`` at
        the end of the fit names the terms that are not proven.
    time_limit : float or None
        Stop the search for a rule after this number of seconds, for all classes together. The model
        then depends on the speed of the machine.
    max_thresholds : int or None
        Largest number of thresholds per numeric column, at quantiles. None puts one between all
        neighbouring values.
    categories : {"values", "equal", "sets"}
        Conditions on categories. "values" gives ``x == v`` and ``x != v``, "equal" only ``x == v``,
        and "sets" adds sets of categories, such as ``region in {"N", "NE"}``.

        A feature with two categories needs no ``!=``. Up to five categories give all of their sets.
        More give the beginnings and ends of their order by target: by the mean target, by the share
        of each of three or more classes, or by the mean step of the Huber loss or of a loss of your
        own. For a first rule of one condition, the best of all sets is among these, unless
        `min_coverage` or `excluded_terms` exclude it.
    max_categories : int or None
        Keep this number of the most frequent categories of a feature. The rest form one group, with
        categories that do not occur in training. None keeps all.
    categorical_features : "from_dtype", array-like, dict or None
        Columns of numbers that are categories. Text, booleans and columns of a categorical type
        always are.

        Given by names, positions or a mask, they are nominal; "from_dtype" and None name none. A
        dict of columns to "nominal" or "ordered" also says whether the order of the categories
        counts, which is that of their type and gives thresholds: ``size <= M``. Ordered categories
        of pandas and PyArrow are ordered unless they are named as nominal, an Enum of polars is
        ordered if it is named as such.
    date_parts : list of str or None
        Parts of dates that rules may use besides the dates themselves: "year", "month", "day",
        "weekday" and "hour". They give conditions such as ``weekday of booked == Sat``.
    conditions : list or tuple of Condition, callable or None
        The conditions that rules may consist of, if you know them, such as the cut-offs of your
        field. A callable is given the training table, as it was passed to `fit`, and returns them.
        The parameters from `max_thresholds` to here then have no effect, and there are no slopes.
        None makes the conditions from the table.
    monotonic_cst : dict, array-like of shape (n_features,) or None
        Features with which predictions may only rise (1) or only fall (-1).

        They are given by name or position, or as an entry for every feature, which is 0 for those
        that are free. A condition ``x > t`` on a feature with 1 is then used in rules of positive
        weight only, ``x <= t`` in rules of negative weight only, slopes of it have positive
        weights, and refits keep the signs: the model is monotone in such a feature, whatever the
        other features are. Missing values have no place in the order; rules of either sign may test
        whether a value is missing. The features must have an order: numbers or booleans. Of three
        or more classes, the probability of the last one rises or falls, or that of the class in
        ``{"age": {"ill": 1}}``.
    interaction_cst : {"pairwise", "no_interactions"}, list of sets of features or None
        Features that a rule may use together: any two ("pairwise"), no two ("no_interactions"), or
        those of one of several sets. Features in no set form one more set.

        With ``[{"x"}]``, a rule uses x alone or not at all; with ``[{"x", "z"}, {"y", "z"}]``, a
        rule never uses both x and y.
    feature_costs : dict of features to float or None
        What a term must gain to use a feature, in units of the mean loss. No term uses a feature
        whose cost is infinite.

        Each feature counts once per term. The term that is found is the best one after costs.
        ``{"x": np.inf}`` excludes x.
    weight_signs : {"both", "positive", "negative"}
        Signs that the weights of terms may have. The intercept may have any sign.
    initial_terms : list of str, Query, Rule, Slope or pair, or None
        Terms that the model must contain, written as models print them, such as ``'age > 65 & sex
        == "f"'``.

        They come first and are never replaced; the other terms are found given these. Their weights
        are the best ones, which are 0 where constraints allow no other weight; with
        strategy="stagewise", a `Rule` keeps its own weight. Of three or more classes, a `Rule` or
        `Slope` votes for that of its output, and others for the class for which they gain most,
        unless they are given as a pair of a term and a class, or None for any. Their certificates
        compare them with the best term in their place.
    excluded_terms : list of str, Query, Rule or Slope, or None
        Terms that the model must not contain, nor rules that cover the same training rows.

        With an intercept that is refitted, rules that cover exactly the other rows are excluded
        too.
    fit_intercept : bool
        Whether the model has an intercept: it starts from the best constant instead of 0.
        Strategies that refit weights refit the intercept with them.
    honest : float in (0, 1) or None
        Share of the rows that are kept from the search for terms, and that their weights are
        fitted to, with intervals. None uses all rows for both.

        Weights are then fitted without a penalty, and say what the terms add on rows that had no
        part in the choice; `trust_.effects` has the intervals. The price is that terms are found
        on fewer rows. Rows are divided at random, in the same way in every fit, with the same
        shares of the classes. Where rows belong together, pass `groups` to `fit`: whole groups are
        then in one part, and intervals are those of groups.
    cv : int, splitter, iterable or None
        How rows are held out. An int is a number of folds: rows are shuffled, in the same way in
        every fit, and each fold has the same shares of the classes; None is 5. Otherwise a splitter
        of scikit-learn, or an iterable of pairs of row positions, for training and for validation.
        With `groups` in `fit`, a number of folds keeps groups together, and splitters are given the
        groups.
    warm_start : bool
        Whether `fit` adds terms to those of the previous fit, until there are `n_terms`.
    on_interrupt : {"raise", "keep"}
        What Ctrl-C does: "keep" ends the fit and keeps the terms found so far.
    callback : callable or None
        Called with a :class:`FitProgress` after every term and up to twenty times a second during a
        search. A true return value ends the fit and keeps the terms found so far.
    n_jobs : int or None
        Number of threads; -1 uses all processors. The model is the same for any number.

        They are those of the optimal search, or of folds of `cv` that are visited side by side.
        None is 1, or what ``joblib.parallel_config`` says.
    verbose : int
        1 prints terms as they are found, and the progress of long searches.
    """

    slopes: Annotated[bool, Parameter(True, BOOL)]
    # On 25 tables, 1 to 2 are about equally good of the same size; more conditions do not pay.
    brevity: Annotated[float, Parameter(1.5, AMOUNT)]
    strategy: Annotated[Strategy, Parameter("joint", _choice(Strategy))]
    loss: Annotated["str | Loss", Parameter("auto", ANYTHING._replace(option=LossName))]
    l2_regularization: Annotated[float | Literal["auto"], Parameter("auto", AMOUNT.or_auto())]
    search: Annotated["str | Callable[..., SearchResult]", Parameter("optimal", SEARCH)]
    # What people keep in mind; longer rules are no better of the same size of the model.
    max_conditions: Annotated[int | None, Parameter(3, COUNT.or_none())]
    min_coverage: Annotated[float, Parameter(0, AMOUNT)]
    approximation_factor: Annotated[float, Parameter(1.0, FRACTION)]
    node_limit: Annotated[int | Literal["auto"] | None, Parameter("auto", NODES)]
    time_limit: Annotated[float | None, Parameter(None, SECONDS.or_none())]
    max_thresholds: Annotated[
        int | None,
        Parameter(
            DEFAULT_MAX_THRESHOLDS,
            COUNT.or_none()._replace(option=int | Literal["all"] | None),
            words='"all" is the same.',
        ),
    ]
    categories: Annotated[Way, Parameter("values", _choice(Way))]
    max_categories: Annotated[int | None, Parameter(DEFAULT_MAX_CATEGORIES, COUNT.or_none())]
    categorical_features: Annotated[
        Any,
        Parameter("from_dtype", CATEGORICAL, words="size=ordered uses the order of the values."),
    ]
    date_parts: Annotated[Sequence[str] | None, Parameter(None, PARTS.or_none())]
    conditions: Annotated[
        "Sequence[Condition] | Callable[[Any], Sequence[Condition]] | None",
        Parameter(None, CONDITIONS.or_none()),
    ]
    monotonic_cst: Annotated[
        Any,
        Parameter(
            None, DIRECTIONS.or_none(), "monotonic", words="Write them as age=+1 or price=-1."
        ),
    ]
    interaction_cst: Annotated[
        Any,
        Parameter(
            None, INTERACTIONS.or_none(), "interactions", words="Write sets as age,income sex."
        ),
    ]
    feature_costs: Annotated[
        Mapping[Any, float] | None,
        Parameter(None, COSTS.or_none(), "cost", words="Write costs as mri=0.01."),
    ]
    weight_signs: Annotated[Signs, Parameter("both", _choice(Signs))]
    initial_terms: Annotated[Sequence[Any] | None, Parameter(None, TERMS.or_none())]
    excluded_terms: Annotated[
        "Sequence[str | Query | Rule | Slope] | None", Parameter(None, TERMS.or_none())
    ]
    fit_intercept: Annotated[bool, Parameter(True, BOOL)]
    honest: Annotated[float | None, Parameter(None, SHARE.or_none())]
    on_interrupt: Annotated[OnInterrupt, Parameter("raise", _choice(OnInterrupt, None))]
    callback: Annotated[
        "Callable[[FitProgress], Any] | None",
        Parameter(None, Kind("a callable", callable).or_none()),
    ]
    n_jobs: Annotated[
        int | None, Parameter(None, THREADS.or_none(), words="It is -1 unless it is given.")
    ]
    verbose: Annotated[int, Parameter(0, LEVEL)]


N_TERMS = Parameter(10, COUNT.or_auto())
ClassWeight: TypeAlias = Annotated[
    Mapping[Any, float] | Literal["balanced"] | None,
    Parameter(None, CLASS_WEIGHTS.or_none(), words="Write them as yes=5 no=1, or balanced."),
]
Positive: TypeAlias = Annotated[Any, Parameter(None, LABEL.or_none())]


class RegressorParameters(Parameters, total=False):
    """Those of an estimator for numbers, of a given number of terms."""

    warm_start: Annotated[bool, Parameter(False, BOOL._replace(option=None))]


class ClassifierParameters(RegressorParameters, total=False):
    """Those of an estimator for classes."""

    class_weight: ClassWeight
    positive: Positive


class RegressorCVParameters(Parameters, total=False):
    """Those of an estimator that chooses the number of terms."""

    cv: Annotated[Any, Parameter(DEFAULT_FOLDS, FOLDS.or_none())]


class ClassifierCVParameters(RegressorCVParameters, total=False):
    """Those of an estimator for classes that chooses the number of terms."""

    class_weight: ClassWeight
    positive: Positive


@cache
def known_parameters(parameters: Any) -> dict[str, Parameter]:
    """List the parameters of one of the classes above, by name; first those that not all have."""
    entries = parameters.__annotations__
    names = sorted(entries, key=lambda name: name in Parameters.__annotations__)
    return {"n_terms": N_TERMS} | {name: entries[name].__metadata__[0] for name in names}


Initializer = TypeVar("Initializer", bound=Callable[..., None])


def with_signature(parameters: Any) -> Callable[[Initializer], Initializer]:
    """Make the parameters of an initializer visible to scikit-learn and `help`."""
    shown = [inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)]
    for name, each in known_parameters(parameters).items():
        kind = shown[0].kind if name == "n_terms" else inspect.Parameter.KEYWORD_ONLY
        shown.append(inspect.Parameter(name, kind, default=each.default))

    def decorate(initializer: Initializer) -> Initializer:
        initializer.__signature__ = inspect.Signature(shown)  # type: ignore[attr-defined]
        return initializer

    return decorate


def _read_texts() -> dict[str, str]:
    """Divide the docstring of `Parameters` into the entries of single parameters."""
    _, _, entries = (inspect.getdoc(Parameters) or "").partition("----------\n")
    return {entry.split(" ")[0]: entry for entry in re.split(r"\n(?=\w)", entries)}


_TEXTS = _read_texts()


def describe_parameters(names: Iterable[str], losses: Sequence[str]) -> str:
    """Write the docstring entries of some parameters; the loss is one of some names."""
    quoted = ", ".join(f'"{name}"' for name in ("auto", *losses))
    entries = []
    for name in names:
        head, *lines = _TEXTS[name].replace("{losses}", f"{{{quoted}}}").splitlines()
        default = _KNOWN[name].default
        default = f'"{default}"' if isinstance(default, str) else default
        entries += [f"{head}, default={default}", *lines]
    return "\n".join(entries)


def describe_option(name: str) -> str:
    """Write the help of the command-line option of a parameter."""
    _, _, text = _TEXTS.get(name, "").split("\n\n")[0].partition("\n")
    text = " ".join(text.replace("`", "").split())
    return re.sub(r"\bNone\b", '"none"', f"{text} {_KNOWN[name].words}".strip())


_KNOWN = known_parameters(ClassifierParameters) | known_parameters(RegressorCVParameters)


def check_parameters(estimator: Any) -> None:
    """Refuse parameters of an estimator that make no sense."""
    _check_loss(estimator)
    for name, each in _KNOWN.items():
        # Where an estimator does not have it, nothing is wrong with it.
        if hasattr(estimator, name) and not each.kind.is_met(getattr(estimator, name)):
            _refuse(estimator, name, each.kind.required)
    for refusal in REFUSALS:
        refusal.check(estimator)


def _check_loss(estimator: Any) -> None:
    from laconic.losses import ABSENT_LOSSES

    loss, names = estimator.loss, ("auto", *estimator.task.losses)
    if isinstance(loss, str) and loss in ABSENT_LOSSES:
        raise ValueError(f"There is no loss {loss!r}. {ABSENT_LOSSES[loss]}")
    if isinstance(loss, str) and loss not in names:
        listed = ", ".join(map(repr, names))
        _refuse(estimator, "loss", f"{listed} or an object with the methods of laconic.losses.Loss")


def _refuse(estimator: Any, name: str, required: str) -> NoReturn:
    raise ValueError(
        f"The {name!r} parameter of {type(estimator).__name__} must be {required}. "
        f"Got {getattr(estimator, name)!r} instead."
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
        if getattr(estimator, self.beside, None) != self.value or is_default:
            return
        raise ValueError(
            f"{parameter(self.name)} cannot be combined with "
            f"{parameter(self.beside, self.value)}, {self.reason}. Leave it out, or set "
            f"{parameter(self.beside, _KNOWN[self.beside].default)}."
        )


REFUSALS = (
    Refusal("warm_start", "strategy", "global", "which exchanges all terms"),
    Refusal("honest", "strategy", "global", "whose proof is about the weights of its own search"),
    Refusal("honest", "warm_start", True, "which goes on from weights of other rows"),
    *(
        Refusal(name, "strategy", "global", "which compares with all terms")
        for name in (*CONSTRAINTS, "initial_terms", "excluded_terms")
    ),
)
"""The pairs of parameters that estimators refuse."""

ATTRIBUTES = """\
ensemble_ : RuleEnsemble
    The model: a sequence of terms. A rule has a query and a weight, a slope a feature, two ends and
    a weight.
search_results_ : list of SearchResult
    A certificate per term: objective value, bound, approximation ratio, nodes and seconds.
unfinished_search_ : SearchResult or None
    The search for one more term, if a limit stopped it before it found any.
l2_regularization_ : float
    The penalty in use.
certificate_ : EnsembleCertificate
    With ``strategy="global"``: how close the model comes to the best possible one on its rows.
settings_ : Settings
    Everything that determines the model, as plain values: which terms were searched, how, and
    under which constraints. Files have it as well.
provable_with_ : dict
    Parameters each of which, changed alone, would have let every search end with a proof, in
    seconds. Empty if no limit stopped one, or where none is known; not in loaded models.
stages_ : tuple of RuleEnsemble
    The model when it had 0, 1, 2, ... terms. If weights are refitted, they were different then.
    Once terms have been polished, its first 0, 1, 2, ... terms, with the best weights for these.
rule_coverages_ : list of RuleCoverage
    How many training rows each rule covers, and the mean target there; not in loaded models.
feature_importances_ : ndarray of shape (n_features,)
    Mean absolute Shapley values of the features over the training rows, divided by their sum; all 0
    if there are no terms.
trust_ : Trust
    What is known about the model besides its proof, where it was asked: `effects`.
fingerprint_ : Fingerprint or None
    Hashes of the training rows, by which `effects` recognises them; None for tables that are read
    in parts.
task_ : Task
    What the model is for: the loss, the classes if there are any, metrics and words.
loss_ : Loss
    The loss in use.
n_candidates_ : int
    Number of candidate conditions for the rules.
n_features_in_ : int
    Number of columns of the training table.
feature_names_in_ : ndarray of shape (n_features,)
    Their names, if the table has names."""

CV_ATTRIBUTES = """\
n_terms_ : int
    The number of terms that was chosen.
cv_results_ : dict of str to ndarray of shape (n_sizes,)
    Results for every size that was tried: ``n_terms``, from 0 on; ``n_conditions``, mean over the
    splits; ``mean_loss`` on held-out rows; ``standard_error`` of its difference to the smallest
    one; ``split0_loss``, ``split1_loss``, ... of each split.
reason_ : str
    How the number was chosen, in a sentence."""
