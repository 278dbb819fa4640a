"""Rules of two models, side by side."""

from hypothesis import given
from hypothesis import strategies as st

from laconic import Condition, Query, Rule, RuleEnsemble
from laconic.terms.comparison import TermChange, compare_terms

OLD = Condition("age", ">", 30)
OLDER = Condition("age", ">", 40)
YOUNG = Condition("age", "<=", 30)
BASIC = Condition("plan", "==", "basic")


def rule(weight, *conditions):
    return Rule(Query(conditions), weight)


def compare(old, new):
    return compare_terms(RuleEnsemble(tuple(old)), RuleEnsemble(tuple(new)))


def test_order_of_rules_and_conditions_does_not_matter():
    old = [rule(1.0, OLD, BASIC), rule(2.0, YOUNG)]
    new = [rule(2.0, YOUNG), rule(1.0, BASIC, OLD)]
    assert [change.kind for change in compare(old, new)] == ["same", "same"]


def test_weights_and_thresholds_change():
    changes = compare([rule(1.0, OLD), rule(1.0, BASIC)], [rule(1.0, OLDER), rule(2.0, BASIC)])
    assert [change.kind for change in changes] == ["changed", "changed"]
    assert changes[0] == TermChange(rule(1.0, OLD), rule(1.0, OLDER))


def test_same_conditions_come_before_similar_ones():
    changes = compare([rule(1.0, OLD), rule(2.0, OLDER)], [rule(2.0, OLDER)])
    assert [change.kind for change in changes] == ["dropped", "same"]


def test_repeated_rules_count_once():
    assert [c.kind for c in compare([rule(1.0, OLD)], [rule(0.5, OLD), rule(0.5, OLD)])] == ["same"]


RULES = st.builds(
    lambda conditions, weight: rule(weight, *conditions),
    st.lists(st.sampled_from([OLD, OLDER, YOUNG, BASIC]), unique=True, max_size=2),
    st.sampled_from([1.0, 2.0]),
)
ENSEMBLES = st.lists(RULES, max_size=5).map(lambda rules: RuleEnsemble(tuple(rules)))


@given(ENSEMBLES, ENSEMBLES)
def test_every_rule_occurs_once(old, new):
    changes = compare_terms(old, new)
    assert [c.old for c in changes if c.old is not None] == list(old.consolidate())
    after = [c.new for c in changes if c.new is not None]
    assert sorted(map(str, after)) == sorted(map(str, new.consolidate()))
    assert {c.kind for c in compare_terms(old, old)} <= {"same"}
    backwards = [c.kind for c in compare_terms(new, old)]
    kinds = [c.kind for c in changes]
    assert backwards.count("added") == kinds.count("dropped")
    assert backwards.count("same") == kinds.count("same")
