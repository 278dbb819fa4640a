"""What the tests of exports share: models with every kind of condition, and many rows for them."""

from __future__ import annotations

import math
from datetime import date, datetime, time

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


def make_model(rules, *, intercept=0.0, feature_names=None, classes=None, loss=None):
    """Put rules into a fitted estimator."""
    model = RuleBoostingRegressor() if classes is None else RuleBoostingClassifier()
    used = dict.fromkeys(condition.feature for query, _ in rules for condition in query)
    ensemble = RuleEnsemble(
        tuple(Rule(Query(tuple(query)), weight) for query, weight in rules),
        intercept,
        tuple(feature_names or used or ("x0",)),
    )
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
}


def many_classes():
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
    model.ensemble_ = RuleEnsemble(rules, 0.0, names, outputs=outputs)
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
    rules = (Rule(Query(conditions), 0.1), Rule(Query(), -2.5))
    model = RuleBoostingClassifier()
    model.ensemble_ = RuleEnsemble(rules, 0.25, ("a", "b", "c", "d"))
    model.search_results_ = [
        SearchResult((0, 3), 0.3, 0.4, SearchStatus.TIME_LIMIT, {"nodes": 7}, 1.5),
        SearchResult((), 0.0, math.inf, SearchStatus.NODE_LIMIT, {}, 0.0),
    ]
    model.task_ = Classification(LogisticLoss(), np.array([0, 1]))
    model.n_features_in_ = 4
    keep_settings(model)
    model.record_ = SMALL_RECORD
    return model_to_dict(model)
