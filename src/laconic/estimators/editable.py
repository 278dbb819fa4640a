"""What experts do with a fitted model: edit it, and look for other rules."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self, cast

from numpy.typing import ArrayLike

from laconic.constraints import CONSTRAINTS, Constraints, read_constraints
from laconic.estimators.alternatives import alternatives
from laconic.estimators.editing import EditReport, edited
from laconic.estimators.rows import CheckedRows, checked_weights
from laconic.estimators.shown import ShownModel
from laconic.explain.alternatives import Alternatives

if TYPE_CHECKING:
    from laconic.data.tables import Table
    from laconic.estimators.base import RuleBoosting

# Those of a scope that are parameters of the same name.
_PARAMETERS = (
    *("objective", "l2_regularization", "max_conditions", "min_coverage", "approximation_factor"),
    *("simplify", "max_thresholds", "negated_categories"),
)


class EditableModel(ShownModel):
    """A model whose rules can be changed, with the help of its training rows."""

    edits_: EditReport

    def edit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        drop: Iterable[int] = (),
        replace: Mapping[int, Any] | None = None,
        force: Sequence[Any] = (),
        lock: Iterable[int] | None = None,
        n_rules: int | None = None,
        cv: Any = 5,
    ) -> Self:
        """Change rules, and let the others be completed by the best ones.

        Rules are counted from 1, and new ones are written as models print them, such as
        ``'age > 65 & sex == "f"'``. The result is a model like any other: its weights are fitted,
        its rules proven or given, and explanations and exports are those of the new rules.

        Parameters
        ----------
        X : table-like of shape (n_rows, n_features)
            The training table.
        y : array-like of shape (n_rows,)
            Its target.
        sample_weight : array-like of shape (n_rows,), default=None
        drop : iterable of int, default=()
            Numbers of rules that go out. Neither these nor rules for the same rows come back.
        replace : dict of int to str, Query or Rule, default=None
            Other rules for some numbers.
        force : sequence of str, Query or Rule, default=()
            Rules that are to be in the model.
        lock : iterable of int or None, default=None
            Numbers of rules that stay, besides those that are replaced or forced, while all others
            are searched anew. None: all rules stay that are neither dropped nor replaced.
        n_rules : int or None, default=None
            How many rules there are to be, given those that stay; None for as many as before.
        cv : int, splitter, iterable or None, default=5
            How rows are held out to tell what an edit costs.

        Returns
        -------
        model : estimator
            A new model; this one stays as it is. Its `edits_` tell the price of each edit, in risk
            on the training rows and in loss on rows that were held out.

        Examples
        --------
        >>> from laconic import RuleBoostingRegressor
        >>> X = [[age, income] for age in (20, 30, 40, 50, 60, 70) for income in (1, 2, 3)]
        >>> y = [3 * (age > 45) + (income > 1) for age, income in X]
        >>> model = RuleBoostingRegressor(n_rules=2).fit(X, y)
        >>> edited = model.edit(X, y, drop=[1], force=["x0 > 55"])
        >>> print(edited)
        Prediction, 2 rules, 3 conditions:
         +1.750 to start from
        +0.7083 if x0 > 40 & x1 > 1
        +0.5417 if x0 > 55
        >>> print(edited.edits_)
                          rules   risk  price  held out  price
        before                2  1.494            1.248
        without x0 <= 40      1  1.992   +0.5     2.012  +0.76
        with x0 > 55          2  1.769  -0.22     1.645  -0.37
        """
        model = cast("RuleBoosting", self)
        result = edited(
            model,
            self._edited_rows(X, y, sample_weight),
            (X, y, sample_weight),
            drop=drop,
            replace=replace or {},
            force=force,
            lock=lock,
            n_rules=n_rules,
            cv=cv,
        )
        return cast(Self, result)

    def alternatives(
        self,
        rule: int,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        tolerance: float = 0.05,
        max_found: int = 10,
    ) -> Alternatives:
        """Find all rules that are nearly as good as the best one in the place of a rule.

        With objective="stagewise" that is the place after the rules before it; otherwise it is
        judged given all others. The same exact search finds one after the other, none of which
        covers the same rows as another or as the rule itself; nor, beside an intercept that is
        refitted, the rest of them, which says the same.

        Parameters
        ----------
        rule : int
            Its number, from 1.
        X : table-like of shape (n_rows, n_features)
            The training table.
        y : array-like of shape (n_rows,)
            Its target.
        sample_weight : array-like of shape (n_rows,), default=None
        tolerance : float in [0, 1), default=0.05
            What share of the best gain rules may fall short of.
        max_found : int, default=10
            Stop after that many.

        Returns
        -------
        alternatives : Alternatives
            The best first, each with its share of the best gain and the overlap of its rows with
            those of the rule. `is_complete` says whether it is proven that there are no others.

        Examples
        --------
        >>> from laconic import RuleBoostingRegressor
        >>> X = [[age, age // 10] for age in range(20, 60)]
        >>> y = [float(age > 37) for age, _ in X]
        >>> model = RuleBoostingRegressor(n_rules=1, max_thresholds=20).fit(X, y)
        >>> print(model.alternatives(1, X, y, tolerance=0.15))
        Instead of rule 1, x0 <= 37, nearly as good, within 15% of the best:
          91% of the gain,    0% overlap: 37 < x0 <= 58
        """
        rows = self._edited_rows(X, y, sample_weight)
        return alternatives(
            cast("RuleBoosting", self), rows, rule, tolerance=tolerance, max_found=max_found
        )

    def _edited_rows(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None) -> CheckedRows:
        table = self._fitted_table(X)
        if self.ensemble_.outputs:
            raise ValueError(
                "Rules of three or more classes cannot be edited or exchanged yet. Got a model of "
                f"{len(self.ensemble_.outputs)} classes. Edit a model for each class against the "
                "others."
            )
        weights = checked_weights(sample_weight, table.n_rows)
        rows = CheckedRows(X, table, self.task_.numbers(y, table.n_rows), weights)
        return cast("RuleBoosting", self)._weighted(rows, self.task_)

    def _parameters_of_scope(self) -> dict[str, Any]:
        """Tell parameters by what was searched: those of a model from a file are the defaults."""
        scope = getattr(self, "scope_", None)
        if scope is None:
            return {}
        search = {} if scope.search == "own" else {"search": scope.search}
        given = {name: getattr(scope, name) for name in _PARAMETERS}
        return search | given | dict(scope.constraints)

    def _read_constraints(self, table: Table) -> Constraints | None:
        parameters = {name: getattr(self, name) for name in CONSTRAINTS}
        scope = self._parameters_of_scope()
        known = {name: scope[name] for name in CONSTRAINTS if name in scope}
        return read_constraints(table.feature_names, **(parameters | known))
