"""Weights of given terms on other rows, their robust errors, and why there may be none."""

from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest

from laconic import Condition, Query, Rule, RuleEnsemble, Slope
from laconic.boosting import TrainingData
from laconic.losses import (
    GammaLoss,
    HuberLoss,
    LogisticLoss,
    MultinomialLoss,
    PoissonLoss,
    SquaredLoss,
)
from laconic.models.tasks import TASKS
from laconic.tables.tables import as_table
from laconic.terms.rules import Output
from laconic.trust import Effects, estimate_effects, refit_to
from laconic.trust.sandwich import robust_estimates

N_ROWS = 80
Regression, Classification = TASKS["regression"], TASKS["classification"]


def rule(feature, threshold, weight=0.0, output=0):
    return Rule(Query((Condition(feature, ">", threshold),)), weight, output)


TERMS = (rule("x0", 0.3), rule("x1", -0.2), Slope("x2", -1.0, 1.5, 0.0))
NAMES = ("x0", "x1", "x2", "x3")


def features(seed=0, n_rows=N_ROWS):
    return np.random.default_rng(seed).normal(size=(n_rows, len(NAMES)))


def data_of(y, task, X=None, weights=None):
    X = features() if X is None else X
    return TrainingData(X, as_table(X), np.asarray(y, dtype=float), task, weights)


def classes(*labels):
    loss = LogisticLoss() if len(labels) == 2 else MultinomialLoss()
    return Classification(loss, np.array(labels))


def numbers(seed=1, X=None):
    X = features() if X is None else X
    noise = np.random.default_rng(seed).normal(size=len(X))
    return (X[:, 0] > 0.3) - 0.5 * X[:, 2] + noise * (1 + (X[:, 1] > 0))


def ensemble(terms=TERMS, outputs=()):
    return RuleEnsemble(tuple(terms), 0.0, NAMES, outputs=outputs)


def design(terms=TERMS, X=None):
    X = features() if X is None else X
    return np.column_stack([*(term.values(X) * 1.0 for term in terms), np.ones(len(X))])


def found(data, terms=TERMS, outputs=(), groups=None, **options):
    columns = [term.values(data.table)[data.counted] for term in terms]
    return robust_estimates(data, ensemble(terms, outputs), columns, groups, **options)


# Estimates and errors.


@pytest.mark.parametrize("is_weighted", [False, True])
def test_errors_of_the_squared_loss_are_hc3(is_weighted):
    weights = np.random.default_rng(3).uniform(0.2, 3.0, N_ROWS) if is_weighted else None
    y, X = numbers(), design()
    w = np.ones(N_ROWS) if weights is None else weights
    bread = np.linalg.inv(X.T @ (X * w[:, None]))
    best = bread @ X.T @ (w * y)
    leverage = w * np.einsum("ij,jk,ik->i", X, bread, X)
    scores = X * (w * (y - X @ best) / (1 - leverage))[:, None]
    errors = np.sqrt(np.diag(bread @ scores.T @ scores @ bread))
    result = found(data_of(y, Regression(SquaredLoss()), weights=weights))
    np.testing.assert_allclose(result.weights, best, rtol=1e-8)
    np.testing.assert_allclose(result.errors, errors, rtol=1e-8)
    assert result.n_free == N_ROWS - 4
    assert result.quantile(0.9) == pytest.approx(1.6652, abs=1e-4)


def newton_without(X, gradients, hessians, part):
    """The step from the best weights to those without some rows."""
    rest = np.setdiff1d(np.arange(len(X)), part)
    curvature = X[rest].T @ (X[rest] * hessians[rest, None])
    return np.linalg.solve(curvature, X[part].T @ gradients[part])


GROUPS = np.arange(N_ROWS) % 16
POSITIVE = np.exp(numbers() / 2)


@pytest.mark.parametrize("groups", [None, GROUPS])
@pytest.mark.parametrize(
    ("loss", "y"),
    [
        (PoissonLoss(), np.round(POSITIVE)),
        (GammaLoss(), POSITIVE),
        (HuberLoss(1.0), numbers()),
        (SquaredLoss(), numbers()),
    ],
)
def test_errors_are_those_of_newton_steps_that_leave_rows_out(loss, y, groups):
    data = data_of(y, Regression(loss), weights=np.linspace(0.5, 2.0, N_ROWS))
    result = found(data, groups=groups)
    X, scores = design(), design() @ result.weights
    gradients = data.weights * loss.gradients(data.y, scores)
    assert np.abs(X.T @ gradients).max() < 1e-8
    hessians = data.weights * loss.hessians(data.y, scores)
    if isinstance(loss, HuberLoss):
        hessians = data.weights * 2.0 * (np.abs(data.y - scores) <= loss.delta)
    parts = np.arange(N_ROWS) if groups is None else groups
    steps = [
        newton_without(X, gradients, hessians, np.flatnonzero(parts == n)) for n in np.unique(parts)
    ]
    errors = np.sqrt(np.square(steps).sum(axis=0))
    np.testing.assert_allclose(result.errors, errors, rtol=1e-4)


def test_one_group_per_row_is_no_group():
    data = data_of(numbers(), Regression(SquaredLoss()))
    alone, together = found(data), found(data, groups=np.arange(N_ROWS))
    np.testing.assert_allclose(alone.errors, together.errors, rtol=1e-7)


def test_three_classes_by_brute_force():
    rng = np.random.default_rng(5)
    task, outputs = classes("a", "b", "c"), tuple(Output(name, 0.0) for name in "abc")
    terms = (rule("x0", 0.3, output=0), rule("x1", 0.0, output=2), replace(TERMS[2], output=1))
    y = rng.integers(0, 3, N_ROWS)
    result = found(data_of(y, task), terms, outputs)
    # The last intercept is taken to be 0, and all of them are centred at the end.
    values = design(terms)
    blocks = np.zeros((N_ROWS, 3, 5))
    for place, term in enumerate(terms):
        blocks[:, term.output, place] = values[:, place]
    blocks[:, 0, 3] = blocks[:, 1, 4] = 1.0
    best = np.zeros(5)
    for _ in range(50):
        shares = np.exp(blocks @ best)
        shares /= shares.sum(axis=1, keepdims=True)
        gradients = shares - np.eye(3)[y]
        hessians = shares[:, :, None] * np.eye(3) - shares[:, :, None] * shares[:, None, :]
        scores = np.einsum("ikp,ik->ip", blocks, gradients)
        curvatures = np.einsum("ikp,ikl,ilq->ipq", blocks, hessians, blocks)
        best -= np.linalg.solve(curvatures.sum(axis=0), scores.sum(axis=0))
    steps = np.array(
        [
            np.linalg.solve(curvatures.sum(axis=0) - curvature, score)
            for curvature, score in zip(curvatures, scores, strict=True)
        ]
    )
    asked = np.zeros((6, 5))
    asked[:3, :3] = np.eye(3)
    asked[3:, 3:] = [[2 / 3, -1 / 3], [-1 / 3, 2 / 3], [-1 / 3, -1 / 3]]
    np.testing.assert_allclose(result.weights, asked @ best, atol=1e-7)
    errors = np.sqrt(np.square(asked @ steps.T).sum(axis=1))
    np.testing.assert_allclose(result.errors, errors, rtol=1e-6)
    assert set(result.reasons) == {""}
    assert result.n_free == np.inf


def test_without_intercept():
    y = numbers()
    result = found(data_of(y, Regression(SquaredLoss())), fit_intercept=False)
    best = np.linalg.lstsq(design()[:, :3], y, rcond=None)[0]
    np.testing.assert_allclose(result.weights, best, rtol=1e-8)


def test_rows_of_weight_0_do_not_count():
    y, weights = numbers(), np.arange(N_ROWS) % 3.0
    some = weights > 0
    whole = estimate_effects(data_of(y, Regression(SquaredLoss()), weights=weights), ensemble())
    data = data_of(y[some], Regression(SquaredLoss()), features()[some], weights[some])
    assert estimate_effects(data, ensemble()) == whole
    assert whole.n_rows == some.sum()


@pytest.mark.parametrize("scale", [2.0**-600, 2.0**450])
def test_targets_of_extreme_size(scale):
    ordinary = found(data_of(numbers(), Regression(SquaredLoss())))
    data = data_of(numbers() * scale, Regression(SquaredLoss())).scaled()
    assert data.scale.exponent != 0
    extreme = found(data)
    np.testing.assert_allclose(extreme.weights / scale, ordinary.weights, rtol=1e-9)
    np.testing.assert_allclose(extreme.errors / scale, ordinary.errors, rtol=1e-9)


def test_long_tables_in_blocks():
    X = features(n_rows=40_000)
    y = numbers(X=X)
    result = found(data_of(y, Regression(SquaredLoss()), X))
    columns = design(X=X)
    bread = np.linalg.inv(columns.T @ columns)
    residuals = y - columns @ (bread @ columns.T @ y)
    plain = bread @ (columns.T * residuals**2) @ columns @ bread
    np.testing.assert_allclose(result.errors, np.sqrt(np.diag(plain)), rtol=1e-3)


# Why there is no interval.


def reasons(data, terms, outputs=(), **options):
    answer = estimate_effects(data, ensemble(terms, outputs), **options)
    return [effect.reason for effect in answer.terms]


def test_too_few_rows():
    X = features()
    lowest, highest = np.sort(X[:, 0])[6], np.sort(X[:, 0])[-8]
    terms = rule("x0", highest), rule("x0", lowest), rule("x1", 9.0), rule("x1", 0.0)
    assert reasons(data_of(numbers(), Regression(SquaredLoss())), terms) == [
        "it covers 7 rows, fewer than 10",
        "it does not cover 7 rows, fewer than 10",
        "it covers 0 rows, fewer than 10",
        "",
    ]
    # Without an intercept, the rows that it does not cover say nothing about it.
    data = data_of(numbers(), Regression(SquaredLoss()))
    assert reasons(data, terms[1:2], fit_intercept=False) == [""]
    slope = Slope("x0", -9.0, lowest, 1.0)
    assert reasons(data, [slope]) == [
        "it differs from its most frequent value in 6 rows, fewer than 10"
    ]


def test_too_few_rows_of_a_class():
    X = features()
    y = (X[:, 0] > 0.3).astype(float)
    y[np.flatnonzero(y)[:3]] = 0.0
    y[np.flatnonzero(X[:, 0] <= 0.3)[:8]] = 1.0
    assert reasons(data_of(y, classes("no", "yes")), TERMS[:2]) == [
        "it covers 3 rows of another class than yes, fewer than 5",
        "",
    ]
    assert reasons(data_of(0.0 * y, classes(0, 1)), TERMS[:1]) == [
        "it covers 0 rows of class 1, fewer than 5"
    ]
    outputs = tuple(Output(name, 0.0) for name in "abc")
    terms = rule("x0", 0.3, output=2), rule("x1", 0.0, output=1)
    y = np.where(X[:, 0] > 0.3, np.arange(N_ROWS) % 2, np.arange(N_ROWS) % 3)
    assert reasons(data_of(y, classes(*"abc")), terms, outputs) == [
        "it covers 0 rows of c, fewer than 5",
        "",
    ]


def test_too_few_counts():
    X = features()
    y = np.where(X[:, 0] > 0.3, 0.0, np.arange(N_ROWS) % 3)
    assert reasons(data_of(y, Regression(PoissonLoss())), TERMS[:2]) == [
        "it covers 0 rows with a target above 0, fewer than 5",
        "",
    ]


def test_too_few_groups():
    X = features()
    groups = np.where(X[:, 0] > 0.3, np.arange(N_ROWS) % 4, np.arange(N_ROWS) % 20)
    data = data_of(numbers(), Regression(SquaredLoss()))
    assert reasons(data, TERMS[:2], groups=groups.astype(str)) == [
        "it covers rows of 4 groups, fewer than 5",
        "",
    ]


SAME = "it cannot be told apart from other terms on these rows"


def test_collinear_terms():
    data = data_of(numbers(), Regression(SquaredLoss()))
    others = Rule(Query((Condition("x0", "<=", 0.3),)), 0.0)
    assert reasons(data, [TERMS[0], others, TERMS[1]]) == [SAME, SAME, ""]
    plain = found(data, [TERMS[0], TERMS[1]])
    doubled = found(data, [TERMS[0], others, TERMS[1]])
    np.testing.assert_allclose(plain.weights[1], doubled.weights[2], rtol=1e-8)
    np.testing.assert_allclose(plain.errors[1], doubled.errors[2], rtol=1e-6)
    # The same rule for each of three classes changes nothing, as adding a constant to all of them.
    outputs = tuple(Output(name, 0.0) for name in "abc")
    y = np.random.default_rng(4).integers(0, 3, N_ROWS)
    terms = [*(rule("x0", 0.3, output=place) for place in range(3)), rule("x1", 0.0, output=1)]
    assert reasons(data_of(y, classes(*"abc")), terms, outputs) == [SAME] * 3 + [""]


def test_separated_classes():
    rng = np.random.default_rng(7)
    X = features()
    terms = [*TERMS[:2], rule("x3", 0.0)]
    # Neither term separates the classes by itself.
    both = (X[:, 0] > 0.3) == (X[:, 1] > -0.2)
    y = np.where(both, X[:, 0] > 0.3, rng.integers(0, 2, N_ROWS)).astype(float)
    result = reasons(data_of(y, classes("no", "yes")), terms)
    words = "it has no finite estimate: with the other terms it separates the classes"
    assert result == [words, words, ""]


def test_an_effect_that_rests_on_a_single_row():
    X = features()
    X[:, 1] = X[:, 0]
    X[5, 1] = 9.0 if X[5, 0] <= 0.3 else -9.0
    terms = rule("x0", 0.3), rule("x1", 0.3)
    data = data_of(numbers(X=X), Regression(SquaredLoss()), X)
    assert reasons(data, terms) == ["it rests on a single row"] * 2
    groups = np.arange(N_ROWS) // 4
    assert reasons(data, terms, groups=groups) == ["it rests on a single group"] * 2


def test_one_class_only():
    data = data_of(np.ones(N_ROWS), classes("no", "yes"))
    answer = estimate_effects(data, ensemble())
    assert all(effect.reason and effect.estimate is None for effect in answer.effects)


def test_no_terms():
    answer = estimate_effects(data_of(numbers(), Regression(SquaredLoss())), ensemble(()))
    assert answer.terms == ()
    assert answer.effects[0].estimate == pytest.approx(numbers().mean())
    nothing = estimate_effects(
        data_of(numbers(), Regression(SquaredLoss())), ensemble(()), fit_intercept=False
    )
    assert nothing.effects == ()
    assert str(nothing)


# Weights that are fitted to other rows.


def test_weights_without_penalty():
    data = data_of(numbers(), Regression(SquaredLoss()))
    model = ensemble()
    refitted = refit_to(data, model, estimate_effects(data, model), 10.0, fit_intercept=True)
    np.testing.assert_allclose(
        [*(term.weight for term in refitted), refitted.intercept], found(data).weights, rtol=1e-9
    )


def test_undetermined_weights_keep_their_penalty():
    X = features()
    y = (X[:, 0] > 0.3).astype(float)
    data, model = data_of(y, classes("no", "yes")), ensemble(TERMS[:1])
    effects = estimate_effects(data, model)
    assert effects.terms[0].reason
    penalised = refit_to(data, model, effects, 2.0, fit_intercept=True)
    assert 0.0 < penalised[0].weight < 10.0
    assert refit_to(data, model, None, 2.0, fit_intercept=True)[0].weight > 20.0


def test_signs_of_weights():
    data, model = data_of(-numbers(), Regression(SquaredLoss())), ensemble(TERMS[:1])
    effects = estimate_effects(data, model)
    assert effects.terms[0].upper < 0
    signs = np.array([1])
    kept = refit_to(data, model, effects, 2.0, fit_intercept=True, signs=signs)
    assert kept[0].weight == 0.0


# Texts.


def answer(**options):
    terms = rule("x0", 0.3, 4.81), rule("x3", 1.9, 0.5), Slope("x2", -1.0, 1.5, -0.7)
    data = data_of(numbers(), Regression(SquaredLoss()))
    return estimate_effects(data, RuleEnsemble(terms, 0.25, NAMES), **options)


def test_effects_in_words():
    assert str(answer()).splitlines() == [
        "Effects on 80 rows not used to find the terms, with 90% intervals:",
        "effect   from     to  in the model  rows",
        " +0.25  -0.09   0.60         +0.25    80  (intercept)",
        " +1.04   0.45   1.63         +4.81    30  if x0 > 0.3",
        "     -      -      -       +0.5000     6  if x3 > 1.9",
        " -0.28  -0.51  -0.05         -0.70    60  per unit of x2 from -1 to 1.5",
        "No interval for term 2: it covers 6 rows, fewer than 10.",
    ]
    sentences = answer(level=0.95).sentences
    assert sentences[:2] == [
        "On 80 rows not used to find it: +1.04 (95%: 0.34 to 1.74); in the model: +4.81.",
        "On 80 rows not used to find it: no interval, as it covers 6 rows, fewer than 10; in the "
        "model: +0.5000.",
    ]


def test_levels_have_all_their_digits():
    found = answer(level=0.975)
    assert "with 97.5% intervals" in str(found)
    assert "97.5% confidence intervals" in found.legend
    assert "(97.5%: " in found.sentences[0]


def test_effects_of_groups_that_nobody_checked():
    text = str(answer(groups=np.arange(N_ROWS) // 2, is_checked=False))
    assert "80 rows in 40 groups" in text
    assert text.endswith(
        "It was not checked that these rows are not the training rows, as nothing is known about "
        "those."
    )


def test_effects_as_a_table():
    frame = answer().to_frame("polars")
    assert frame.columns == [
        *("term", "text", "weight", "estimate", "error", "lower", "upper", "n_rows", "reason")
    ]
    assert frame["term"].to_list() == [0, 1, 2, 3]
    assert frame["estimate"].null_count() == 1
    pandas = answer().to_frame("pandas")
    assert pandas["estimate"].isna().sum() == 1


def test_effects_of_slopes_are_per_step():
    slope = Slope("x2", -100.0, 150.0, -0.007)
    X = features()
    X[:, 2] *= 100.0
    data = data_of(numbers(), Regression(SquaredLoss()), X)
    effect = estimate_effects(data, RuleEnsemble((slope,), 0.0, NAMES)).terms[0]
    assert effect.text == "per 10 of x2 from -100 to 150"
    assert effect.weight == pytest.approx(-0.07)
    assert effect.estimate == pytest.approx(10 * found(data, [slope]).weights[0])


def test_effects_are_immutable():
    with pytest.raises(FrozenInstanceError):
        answer().level = 0.5
    assert isinstance(answer(), Effects)
    assert hash(answer()) == hash(answer())


def test_effects_know_their_model():
    terms = rule("x0", 0.3, 4.81), rule("x3", 1.9, 0.5), Slope("x2", -1.0, 1.5, -0.7)
    model = RuleEnsemble(terms, 0.25, NAMES)
    assert answer().is_about(model, fit_intercept=True)
    assert not answer().is_about(model[:2], fit_intercept=True)
    assert not answer().is_about(
        model.with_terms([rule("x0", 0.3, 4.82), *terms[1:]]), fit_intercept=True
    )
