"""scikit-learn's own checks of an estimator, without exemptions."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from laconic import (
    RuleBoostingClassifier,
    RuleBoostingClassifierCV,
    RuleBoostingRegressor,
    RuleBoostingRegressorCV,
)


@parametrize_with_checks(
    [
        RuleBoostingClassifier(),
        RuleBoostingRegressor(),
        RuleBoostingClassifier("auto"),
        RuleBoostingRegressor("auto"),
        RuleBoostingClassifierCV(3),
        RuleBoostingRegressorCV(3),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
