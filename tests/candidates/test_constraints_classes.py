"""Monotone features of three or more classes: the probability of one class rises or falls."""

import itertools
import json

import jsonschema
import numpy as np
import pytest
from problems import n_drawn
from scipy.special import softmax

from laconic import Condition, Query, Rule, RuleEnsemble
from laconic.candidates.candidates import candidate_conditions
from laconic.candidates.constraints import CONSTRAINTS, read_constraints
from laconic.export.json.format import CONSTRAINT_SETTINGS
from laconic.report.words import constraint_words
from laconic.search import SearchProblem, search
from laconic.terms.rules import Output

NAMES, CLASSES = ("x0", "x1", "x2"), ("ill", "so-so", "well")
N_PROBLEMS = n_drawn(100)


def test_directions_are_about_the_last_class_or_one_that_is_named():
    constraints = read_constraints(NAMES, CLASSES, monotonic_cst={"x0": 1, 1: {"ill": -1}, "x2": 0})
    assert constraints.directions == {"x0": 1, "x1": -1}
    assert constraints.outputs == {"x0": 2, "x1": 0}
    assert constraints.settings == {"monotonic_cst": {"x0": {"well": 1}, "x1": {"ill": -1}}}
    assert read_constraints(NAMES, CLASSES, monotonic_cst=[1, {"ill": -1}, 0]) == constraints
    assert read_constraints(NAMES, CLASSES, **constraints.settings) == constraints
    for output, sign in enumerate((-1, -1, 1)):
        assert constraints.sign_of(Query((Condition("x0", ">", 1),)), output) == sign
        assert constraints.sign_of(Query((Condition("x0", "<=", 1),)), output) == -sign
    for output, sign in enumerate((-1, 1, 1)):
        assert constraints.sign_of(Query((Condition("x1", ">", 1),)), output) == sign
    assert constraints.sign_of(Query((Condition("x2", ">", 1),)), 1) == 0


@pytest.mark.parametrize("classes", [[0, 1, 2], [False, True], ["a", "b", "c"], [0.5, 1.5, 2.5]])
def test_files_know_classes_by_their_texts(classes):
    given = {"x0": {classes[0]: 1}, "x1": 1, "x2": {classes[-1]: -1}}
    constraints = read_constraints(NAMES, classes, monotonic_cst=given)
    data = json.loads(json.dumps(constraints.settings))
    assert data == constraints.settings
    found = CONSTRAINT_SETTINGS.read(data, "settings.constraints")
    assert found == CONSTRAINTS | constraints.settings
    assert read_constraints(NAMES, np.array(classes).tolist(), **data) == constraints
    schema = CONSTRAINT_SETTINGS.schema()
    jsonschema.validate(data, schema)
    for wrong in ({"x0": {"a": 1, "b": 1}}, {"x0": {"a": 2}}, {"x0": {}}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({"monotonic_cst": wrong}, schema)
        with pytest.raises(ValueError, match=r"monotonic_cst\.x0"):
            CONSTRAINT_SETTINGS.read({"monotonic_cst": wrong}, "constraints")


def test_two_classes_have_one_raw_prediction():
    plain = read_constraints(NAMES, monotonic_cst={"x0": -1})
    assert read_constraints(NAMES, ["no", "yes"], monotonic_cst={"x0": -1}) == plain
    assert read_constraints(NAMES, ["no", "yes"], monotonic_cst={"x0": {"no": 1}}) == plain
    assert read_constraints(NAMES, ["no", "yes"], monotonic_cst={"x0": {"yes": -1}}) == plain
    assert plain.settings == {"monotonic_cst": {"x0": -1}}


@pytest.mark.parametrize(
    ("classes", "direction", "message"),
    [
        (CLASSES, {"il": 1}, "names 'il', which is not a class. Did you mean 'ill'?"),
        (CLASSES, {"zzz": 1}, "There are 'ill', 'so-so' and 'well'"),
        (CLASSES, {"ill": 1, "well": -1}, "must name one class for a feature"),
        (CLASSES, {}, "must name one class for a feature"),
        (CLASSES, {"ill": 2}, "The direction of 'x0' in 'monotonic_cst' must be -1, 0 or 1. Got 2"),
        (None, {"ill": 1}, "the target has no classes. Use -1, 0 or 1"),
    ],
)
def test_what_makes_no_sense_is_refused(classes, direction, message):
    with pytest.raises(ValueError, match=message):
        read_constraints(NAMES, classes, monotonic_cst={"x0": direction})


def test_reports_name_the_class():
    constraints = read_constraints(
        NAMES, CLASSES, monotonic_cst={"x0": 1, "x1": {"ill": -1}, "x2": {"ill": 1}}
    )
    assert constraint_words(constraints.settings) == (
        " The probability of well only rises with x0."
        " The probability of ill only rises with x2 and only falls with x1."
    )


# Signs of weights where x0 rises for the last class, and x1 falls for the first one.
WANTED = {"x0": (-1, -1, 1), "x1": (-1, 1, 1)}


def small_problem(seed):
    rng = np.random.default_rng(seed)
    n_rows = int(rng.integers(5, 20))
    X = rng.integers(0, 4, (n_rows, 3)).astype(float)
    X[rng.random(X.shape) < 0.1] = np.nan
    candidates = candidate_conditions(X, max_thresholds=2)
    problem = SearchProblem(
        candidates.extents, rng.normal(size=n_rows), rng.random(n_rows) + 0.1, 1.0
    )
    return candidates.conditions, problem


@pytest.mark.parametrize("signs", ["both", "negative"])
@pytest.mark.parametrize("output", range(3))
def test_rules_of_each_class_agree_with_brute_force(output, signs):
    constraints = read_constraints(
        NAMES, CLASSES, monotonic_cst={"x0": 1, "x1": {"ill": -1}}, weight_signs=signs
    )

    def is_allowed(conditions, sign):
        wanted = {
            WANTED[each.feature][output] * (1 if each.relation == ">" else -1)
            for each in conditions
            if each.feature in WANTED and each.relation in ("<=", ">")
        }
        return wanted <= {sign} and (signs == "both" or sign <= 0)

    for seed in range(N_PROBLEMS):
        known, problem = small_problem(seed)
        best = (0.0, 0, ())
        for size in range(3):
            for query in itertools.combinations(range(len(known)), size):
                conditions = [known[p] for p in query]
                if is_allowed(conditions, np.sign(problem.weight(query))):
                    best = min(best, (-problem.objective(query), size, query))
        allowed = constraints.allowed(known, output)
        result = search(problem, families=allowed, max_conditions=2)
        assert (result.query, result.is_optimal) == (best[2], True), seed
        found = Query(tuple(known[p] for p in result.query))
        constraints.check(found, output)
        if result.objective_value > 0.0:
            sign = np.sign(problem.weight(result.query))
            assert sign in constraints.signs_of(found, output)


@pytest.mark.parametrize("n_classes", [3, 4])
def test_probabilities_of_models_with_such_signs_are_monotone(n_classes):
    rng = np.random.default_rng(n_classes)
    labels = [f"class {number}" for number in range(n_classes)]
    given = {"x0": 1, "x1": {labels[0]: -1}, "x2": {labels[1]: 1}}
    constraints = read_constraints(NAMES, labels, monotonic_cst=given)
    grid = np.linspace(-2.5, 2.5, 21)
    n_terms = 0
    for _ in range(40):
        rules = []
        for _ in range(12):
            names = rng.choice(NAMES, int(rng.integers(1, 4)))
            query = Query(
                tuple(
                    Condition(str(name), str(rng.choice(["<=", ">"])), float(rng.normal()))
                    for name in names
                )
            )
            output = int(rng.integers(n_classes))
            signs = constraints.signs_of(query, output)
            if signs:
                rules.append(Rule(query, min(signs) * float(rng.exponential()), output))
            else:
                with pytest.raises(ValueError, match="fits no weight that the constraints allow"):
                    constraints.check(query, output)
        n_terms += len(rules)
        outputs = tuple(Output(label, float(rng.normal())) for label in labels)
        ensemble = RuleEnsemble(tuple(rules), outputs=outputs, feature_names=NAMES)
        for feature, (label, direction) in enumerate(((n_classes - 1, 1), (0, -1), (1, 1))):
            rows = np.repeat(rng.normal(size=(10, 3)), len(grid), axis=0)
            rows[:, feature] = np.tile(grid, 10)
            probabilities = softmax(ensemble.raw_predictions(rows), axis=1)[:, label]
            steps = direction * np.diff(probabilities.reshape(10, -1), axis=1)
            assert (steps >= -1e-12).all()
    assert n_terms > 100


def test_what_speaks_against_a_rule_is_said_in_words():
    constraints = read_constraints(NAMES, CLASSES, monotonic_cst={"x0": 1}, weight_signs="positive")
    constraints.check(Query((Condition("x0", ">", 1),)), 2)
    message = (
        r"'x0 > 1 & x1 > 2' fits no weight that the constraints allow: 'x0 > 1' needs a negative "
        r"weight and weight_signs='positive' is set\. Leave some of its conditions out, or loosen "
        r"'monotonic_cst' or 'weight_signs'"
    )
    query = Query((Condition("x0", ">", 1), Condition("x1", ">", 2)))
    with pytest.raises(ValueError, match=message):
        constraints.check(query, 0)
    with pytest.raises(ValueError, match="fits no weight"):
        constraints.sign_of(query, 0)
