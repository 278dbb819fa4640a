"""What the tests of exports share: models with every kind of term, and many rows for them."""

from __future__ import annotations

import copy
import math
from datetime import date, datetime, time, timedelta

import numpy as np
import polars as pl
from sklearn.utils.validation import check_is_fitted

from laconic import (
    Condition,
    Query,
    Rule,
    RuleBoostingClassifier,
    RuleBoostingRegressor,
    RuleEnsemble,
)
from laconic.estimators.settings import read_settings
from laconic.export import model_to_dict
from laconic.export.edge_rows import Outputs, edge_values, expected_outputs
from laconic.export.portable import portable_model
from laconic.losses import (
    HuberLoss,
    LogisticLoss,
    MultinomialLoss,
    PoissonLoss,
    SquaredLoss,
    TweedieLoss,
)
from laconic.models.tasks import Classification, Regression
from laconic.search import SearchResult, SearchStatus
from laconic.tables.times import WEEKDAYS
from laconic.terms.record import FitRecord, RowScores
from laconic.terms.rules import Output
from laconic.terms.slopes import Slope

N_ROWS = 10_000

HOSTILE_NAMES = (
    'double "quote"',
    "it's",
    "a; DROP TABLE rows; --",
    "line\nbreak",
    "größe \U0001f600 <b>",
    "</script><script>",
    "back\\slash`tick`[x]",
    "__proto__",
    "constructor",
    "%s ? :x $1 {y}",
)
HOSTILE_TEXTS = (
    *HOSTILE_NAMES,
    *("\\", "\\'", "'; --", "*/ /* //", "\u2028\u2029", " ", "NULL", "NaN"),
)


def make_model(terms, *, intercept=0.0, feature_names=None, classes=None, loss=None):
    """Put slopes, and rules given as conditions and weights, into a fitted estimator."""
    model = RuleBoostingRegressor() if classes is None else RuleBoostingClassifier()
    terms = tuple(
        each if isinstance(each, Slope) else Rule(Query(tuple(each[0])), each[1]) for each in terms
    )
    used = dict.fromkeys(name for term in terms for name in term.features)
    ensemble = RuleEnsemble(terms, intercept, tuple(feature_names or used or ("x0",)))
    model.ensemble_ = ensemble
    model.search_results_ = []
    keep_settings(model)
    if classes is None:
        model.task_ = Regression(loss or SquaredLoss())
    else:
        model.task_ = Classification(loss or LogisticLoss(), np.array(classes))
    model.n_features_in_ = len(ensemble.feature_names)
    model.feature_names_in_ = np.array(ensemble.feature_names, dtype=object)
    check_is_fitted(model)
    return model


def keep_settings(model):
    """Let a model that was put together know what a fitted one knows about its fit."""
    model.settings_ = read_settings(model, None, model.ensemble_.feature_names)
    model.l2_regularization_, model.n_candidates_ = 1.0, 12


def with_certificates(model):
    """Let a model that was put together be one that can be saved."""
    result = SearchResult((), 0.2, 0.2, SearchStatus.OPTIMAL, {}, 0.0)
    model = copy.copy(model)
    model.search_results_ = [result] * len(model.ensemble_)
    keep_settings(model)
    return model


def every_relation():
    """Rules with every relation on every kind of column, and thresholds of every size."""
    is_old = Condition("age", ">", 65)
    thresholds = (0.1, -2.5e-17, 1 / 3, 123456.789, 2.0**53, 1e22, 1e300, 5e-324, -1.1e-310, 0.0)
    return [
        ((), -0.3),
        ((is_old, Condition("mark", "==", "x")), 1.918273645019283),
        ((Condition("mark", "!=", "x"), Condition("age", "<=", 65)), -0.7071067811865476),
        ((Condition("mark", "is missing"), is_old), 0.1),
        ((Condition("flag", "==", True),), 0.2),
        ((Condition("flag", "!=", True), Condition("age", "is present")), 1e-9),
        ((Condition("flag", "is missing"),), 0.3),
        ((Condition("age", "is missing"),), -1e3),
        ((Condition("grade", "==", 3), Condition("age", "<=", 70)), 1 / 3),
        ((Condition("grade", "!=", 2**53 + 1),), -1 / 7),
        ((Condition("seen", "is present"),), 0.05),
        *[((Condition("size", "<=", t),), (-1) ** n / (n + 3)) for n, t in enumerate(thresholds)],
        *[((Condition("size", ">", t), is_old), 0.01 * n) for n, t in enumerate(thresholds)],
    ]


NAMES = ("unused", "age", "mark", "flag", "grade", "size", "seen")


def classifier(classes=("no", "yes"), n_terms=None, **settings):
    """Classifier with every relation, or with the first rules of it."""
    settings = {"intercept": 0.25, "feature_names": NAMES, **settings}
    return make_model(every_relation()[:n_terms], classes=classes, **settings)


def regressor(**settings):
    """Regressor with every relation."""
    return make_model(every_relation(), **{"feature_names": NAMES, **settings})


def hostile_model():
    """Classifier with names and values that try to break out of their quotes."""
    rules = [
        ((Condition(name, "==" if n % 2 else "!=", text),), 1.0 + n / 10)
        for n, (name, text) in enumerate(zip(HOSTILE_NAMES, HOSTILE_TEXTS, strict=False))
    ]
    texts = [((Condition("text", "==", text),), 0.1 + n) for n, text in enumerate(HOSTILE_TEXTS)]
    return make_model([*rules, *texts], classes=('it\'s a "no"; --', "yes\n</script>"))


OUR_NAMES = (
    # Of graphs and documents,
    *(":Cast:0", ":constant:0", "::Cast:1", "X", "n_rows", "sum_0", "sum_1", "sum__1", "if", "and"),
    # of statements,
    *("scored", "edge", "number", "column 0", "rule_1", "Prediction", "RAW_PREDICTION", "select"),
    # and of programs: keywords, and what every object or module has.
    *("MODEL", "row", "class", "lambda", "None", "__name__", "toString", "hasOwnProperty", "var"),
)


def model_of_our_names():
    """Regressor of columns with the names of what exports are made of."""
    rules = [((Condition(name, ">", 0.5),), 2.0**n) for n, name in enumerate(OUR_NAMES)]
    return make_model([*rules, ((Condition("text", "==", "x"),), 0.5)])


def slopes_and_rules():
    """Slopes of numbers of every size, with rules on the same features."""
    return [
        Slope("age", 25, 68, 0.031, missing=45.5),
        ((Condition("age", ">", 65), Condition("mark", "==", "x")), 1.918273645019283),
        Slope("age", 60, 90, -1 / 7, n_conditions=1),
        ((Condition("age", "is missing"),), 0.1),
        Slope("size", -1 / 3, 1e3, -0.7071067811865476),
        Slope("size", 1e-300, 7e-300, 1.1e299, missing=3e-300),
        Slope("size", -1e300, 1e300, 1e-300, missing=0.1),
        Slope("size", -5e-324, 0.1, 3.3, missing=0.1),
        ((Condition("flag", "==", True), Condition("size", "<=", 0.1)), 0.2),
        Slope("flag", 0, 1, 0.3, missing=0.25),
        Slope("size", 2, 3, 1 + 1e-9),
        Slope("size", 3, 4, -1 - 1e-9),
    ]


SLOPE_NAMES = ("unused", "age", "size", "mark", "flag")


def sloped(**settings):
    """Model with slopes and rules."""
    return make_model(slopes_and_rules(), **{"feature_names": SLOPE_NAMES, **settings})


def hostile_slopes():
    """Classifier with slopes of features with names that try to break out of their quotes."""
    slopes = [Slope(name, n, n + 1.5, 0.1 + n) for n, name in enumerate(HOSTILE_NAMES)]
    return make_model(slopes, classes=(0, 1), intercept=-30.0)


MODELS = {
    "classifier": classifier(),
    "integer classes": classifier((0, 1), n_terms=5),
    "boolean classes": classifier((False, True), n_terms=5),
    "classifier by squares": classifier(loss=SquaredLoss(), n_terms=5),
    "large weights": make_model(
        [((Condition("age", ">", 1.5),), 800.0), ((Condition("age", "<=", 1.5),), -800.0)],
        classes=("a", "b"),
    ),
    "regressor": regressor(),
    "logistic regressor": regressor(loss=LogisticLoss()),
    "counts": regressor(loss=PoissonLoss()),
    "amounts": regressor(loss=TweedieLoss(1.7)),
    "far off": regressor(loss=HuberLoss(2.5)),
    "hostile": hostile_model(),
    "our names": model_of_our_names(),
    "no rules": make_model([], classes=("a", "b"), intercept=0.5),
    "only an intercept": make_model([((), 2.5)]),
    "classes with slopes": sloped(classes=("no", "yes"), intercept=-1.25),
    "regressor with slopes": sloped(intercept=1 / 3),
    "counts with slopes": sloped(loss=PoissonLoss()),
    "hostile slopes": hostile_slopes(),
}


def many_classes(*slopes):
    """Classifier of three classes."""
    rules = (
        Rule(Query((Condition("age", ">", 65),)), 1.25, output=0),
        Rule(Query((Condition("mark", "==", "x"),)), -0.3, output=1),
        Rule(Query((Condition("age", "<=", 40), Condition("mark", "!=", "x"))), 2.1, output=2),
        Rule(Query((Condition("age", "is missing"),)), 0.7, output=1),
    )
    outputs = (Output("high", 0.1), Output("low", -0.2), Output("medium", 1 / 3))
    model = RuleBoostingClassifier()
    names = ("age", "mark")
    model.ensemble_ = RuleEnsemble((*slopes, *rules), 0.0, names, outputs=outputs)
    model.search_results_ = []
    model.task_ = Classification(MultinomialLoss(), np.array([each.name for each in outputs]))
    model.n_features_in_, model.feature_names_in_ = 2, np.array(names, dtype=object)
    return model


def dated_model(**settings):
    """Regressor with every relation on dates, on times and on every part of dates."""
    at, noon = datetime(1969, 12, 31, 23, 59, 59, 999_999), time(12, 30)
    conditions = [
        Condition("day", "<=", date(1968, 2, 29)),
        Condition("day", ">", date(2024, 3, 1)),
        Condition("day", "==", date(2024, 3, 1)),
        Condition("day", "is missing"),
        Condition("seen", ">", at),
        Condition("seen", "==", at),
        Condition("seen", "!=", datetime(2024, 3, 1)),
        Condition("seen", "is present"),
        Condition("clock", "<=", noon),
        Condition("clock", "==", noon),
        Condition("clock", "!=", time(0, 0)),
        *(Condition("weekday of seen", "==", name) for name in WEEKDAYS),
        Condition("weekday of day", "!=", "Sun"),
        Condition("weekday of seen", "in", ("Sat", "Sun")),
        Condition("weekday of seen", "not in", ("Mon", "Thu")),
        Condition("weekday of seen", "is missing"),
        *(Condition("month of seen", "==", name) for name in ("Jan", "May", "Dec")),
        Condition("month of day", "in", ("Feb", "Jan")),
        Condition("year of seen", "<=", 1969),
        Condition("year of day", ">", 2000.5),
        Condition("day of seen", ">", 15),
        Condition("day of day", "==", 29),
        Condition("hour of seen", "<=", 12),
        Condition("hour of seen", ">", 22),
    ]
    rules = [((condition,), 2.0**n) for n, condition in enumerate(conditions)]
    return make_model(rules, feature_names=("unused", "day", "seen", "clock"), **settings)


CLASS_SLOPES = (
    Slope("age", 20, 60, 1 / 30, missing=40),
    Slope("age", 50, 70, -0.3, output=2),
    Slope("age", 65, 66, 2.0, output=0),
)


def dated_slopes(**settings):
    """Regressor with slopes of dates, times and parts of dates, and rules on them."""
    seen = datetime(1969, 12, 31, 23, 59, 59, 999_999)
    terms = [
        Slope("day", date(1968, 2, 29), date(2024, 3, 1), 1 / 3650, missing=date(2000, 1, 1)),
        ((Condition("day", ">", date(2020, 1, 1)),), -1.5),
        Slope("seen", seen, datetime(2024, 3, 1, 12, 30, 0, 1), -0.001, missing=seen),
        Slope("seen", datetime(2024, 3, 1), datetime(2024, 3, 1, 0, 0, 1), 1e4),
        ((Condition("weekday of seen", "==", "Mon"), Condition("day", "is present")), 0.3),
        Slope("clock", time(6, 15), time(21, 45, 30, 7), 0.1, missing=time(12)),
        Slope("clock", time(0), time(0, 0, 0, 2), 1e8),
        Slope("hour of seen", 5, 20.5, 0.7, missing=7),
        Slope("year of day", 1990, 2010, -0.2),
    ]
    return make_model(terms, feature_names=("unused", "day", "seen", "clock"), **settings)


def duration_slopes():
    """Regressor with slopes of durations."""
    hour = timedelta(hours=1)
    terms = [
        Slope("stay", timedelta(0), 36 * hour, 0.1, missing=hour / 3),
        Slope("stay", -2 * hour, timedelta(microseconds=1), -1 / 3),
        ((Condition("stay", ">", 12 * hour),), 2.5),
    ]
    return make_model(terms, feature_names=("stay",))


def random_rows(model, n_rows=N_ROWS, seed=0):
    """Rows of random numbers and categories, in which half of the cells are edge values."""
    generator = np.random.default_rng(seed)
    portable = portable_model(model)
    columns = {}
    for name, kind in portable.kinds.items():
        edges = edge_values(portable, name)
        picks = generator.integers(len(edges), size=n_rows)
        cells = [edges[pick] for pick in picks]
        if kind == "number":
            others = (generator.normal(size=n_rows) * 10.0 ** generator.integers(-3, 4)).tolist()
            is_other = generator.random(n_rows) < 0.5
            cells = [b if o else a for a, b, o in zip(cells, others, is_other, strict=True)]
        columns[name] = cells
    return [dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True)]


def rows_and_outputs(model, n_rows=N_ROWS) -> tuple[list[dict], Outputs]:
    """Random rows with what the model makes of them."""
    rows = random_rows(model, n_rows) or [{}] * n_rows
    return rows, expected_outputs(model, rows)


def mixed_table(n_rows=60, seed=0):
    generator = np.random.default_rng(seed)
    size = generator.normal(size=n_rows)
    size[::7] = np.nan
    return pl.DataFrame(
        {
            "size [cm]": size,
            "grün": generator.choice(["ja", "nein", "vielleicht", None], size=n_rows).tolist(),
            "flag": generator.choice([True, False], size=n_rows),
            "count": generator.integers(0, 5, size=n_rows),
        }
    )


def fitted_classifier(classes=("no", "yes"), **parameters):
    X = mixed_table()
    is_second = (X["count"].to_numpy() > 2) ^ (X["grün"].to_numpy() == "ja")
    y = np.array(classes)[is_second.astype(int)]
    return RuleBoostingClassifier(n_terms=4, **parameters).fit(X, y)


def fitted_regressor(**parameters):
    X = mixed_table()
    y = X["count"].to_numpy() / 3 + X["flag"].to_numpy()
    return RuleBoostingRegressor(n_terms=4, fit_intercept=True, **parameters).fit(X, y)


SMALL_RECORD = FitRecord(
    "y",
    10,
    "2026-01-31",
    {"n_terms": 2, "fit_intercept": False, "time_limit": None, "strategy": "joint"},
    (RowScores("cross-validation", 10, {"r2": 0.5}, {"r2": 0.1}),),
)


def small_model():
    """Return a model with every relation, as a dict that tests may break."""
    conditions = (
        Condition("a", "<=", 1.5),
        Condition("a", ">", -2),
        Condition("b", "==", "x"),
        Condition("b", "!=", "y"),
        Condition("c", "is missing"),
        Condition("c", "is present"),
        Condition("d", "==", True),
        Condition("d", "!=", 3),
    )
    slope = Slope("a", -1.5, 2.5, 0.3, missing=0.5, n_conditions=1)
    model = RuleBoostingClassifier()
    terms = (Rule(Query(conditions), 0.1), Rule(Query(), -2.5), slope)
    model.ensemble_ = RuleEnsemble(terms, 0.25, ("a", "b", "c", "d"))
    model.search_results_ = [
        SearchResult((0, 3), 0.3, 0.4, SearchStatus.TIME_LIMIT, {"nodes": 7}, 1.5),
        SearchResult((), 0.0, math.inf, SearchStatus.NODE_LIMIT, {}, 0.0),
        SearchResult((), 0.2, 0.2, SearchStatus.OPTIMAL, {}, 0.0),
    ]
    model.task_ = Classification(LogisticLoss(), np.array([0, 1]))
    model.n_features_in_ = 4
    keep_settings(model)
    model.record_ = SMALL_RECORD
    return model_to_dict(model)
