"""What a fitted model can show of itself with the help of rows: a certificate, a report."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from laconic.data.sources import scan
from laconic.estimators.certifying import certify
from laconic.estimators.predicting import write_predictions
from laconic.estimators.rows import CheckedRows, checked_weights
from laconic.explain.alternatives import Alternatives
from laconic.explain.rule_model import RuleModel
from laconic.relaxation import EnsembleCertificate, RelaxationProgress

if TYPE_CHECKING:
    from laconic.report import Report


class ShownModel(RuleModel):
    """A model with what takes its training rows, or others, to show."""

    def certificate(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        against: str | None = None,
        l2_regularization: float | None = None,
        by_size: bool = False,
        node_limit: int | None = None,
        time_limit: float | None = None,
        callback: Callable[[RelaxationProgress], Any] | None = None,
    ) -> EnsembleCertificate:
        """Prove how close the whole model comes to the best possible one on its training rows.

        The best possible one is out of all ensembles whose rules are among those that the rules of
        this model were searched among, by their conditions and the number of these. The certificate
        is true however the proof ended, also if Ctrl-C stopped it.

        Parameters
        ----------
        X : table-like of shape (n_rows, n_features)
            The training table.
        y : array-like of shape (n_rows,)
            Its target.
        sample_weight : array-like of shape (n_rows,), default=None
        against : {"rules", "weight"} or None, default=None
            What to compare with. "rules": ensembles of as many rules, with the same penalty on
            their squared weights, which counts as part of the objective. "weight": ensembles of any
            number of rules whose absolute weights add up to no more than those of the model,
            without penalty. None is "rules" where there is a penalty.
        l2_regularization : float or None, default=None
            The penalty; None is that of the fit.
        by_size : bool, default=False
            Whether the first 1, 2, ... rules get proofs of their own, for the picture of `sizes`:
            one search more for each. Without, they are bounded by what the others prove.
        node_limit : int or None, default=None
            Stop after that many nodes of all searches.
        time_limit : float or None, default=None
            Stop after that many seconds. The certificate then depends on the machine.
        callback : callable, default=None
            Called with a :class:`RelaxationProgress` now and then; a true return value stops.

        Returns
        -------
        certificate : EnsembleCertificate
            With `share`, `trivial_share`, `objective`, `bound`, `status` and ``verify(X)``.

        Examples
        --------
        >>> from laconic import RuleBoostingRegressor
        >>> X, y = [[1], [2], [3], [4]], [5, 5, 1, 1]
        >>> model = RuleBoostingRegressor(n_rules=1, l2_regularization=1.0).fit(X, y)
        >>> certificate = model.certificate(X, y)
        >>> print(certificate.summary, certificate.verify(X))
        99% of what any 1 rule could achieve, proven True
        """
        table = self._fitted_table(X)
        rows = CheckedRows(
            X,
            table,
            self.task_.numbers(y, table.n_rows),
            checked_weights(sample_weight, table.n_rows),
        )
        return certify(
            self,
            rows,
            against=against,
            l2_regularization=l2_regularization,
            by_size=by_size,
            node_limit=node_limit,
            time_limit=time_limit,
            callback=callback,
        )

    def save_predictions(
        self,
        X: Any,
        path: str | os.PathLike[str],
        *,
        probabilities: bool = False,
        keep_columns: Sequence[str] = (),
    ) -> int:
        """Predict for a table of any length, and write a Parquet file as the rows are read.

        The file is complete or not there at all, also if Ctrl-C ends the work. No more than the
        columns of the rules, and those that are kept, are read.

        Parameters
        ----------
        X : str, path, lazy frame, relation or frame
            As :func:`laconic.scan` takes it.
        path : str or path
            The Parquet file to write: a column "prediction", in the order of the rows.
        probabilities : bool, default=False
            Whether to add a column with the probability of each class.
        keep_columns : sequence of str, default=()
            Columns of the table to put beside the predictions, such as keys.

        Returns
        -------
        n_rows : int
        """
        check_is_fitted(self)
        source = scan(X)
        for name in keep_columns:
            source.require(name, "column to keep")
        return write_predictions(
            self, source, path, probabilities=probabilities, keep_columns=keep_columns
        )

    def report(
        self,
        X: Any,
        y: ArrayLike,
        *,
        title: str | None = None,
        target_name: str | None = None,
        max_sample_rows: int = 100,
        baseline: RuleModel | None = None,
        certificate: EnsembleCertificate | None = None,
        alternatives: Sequence[Alternatives] = (),
    ) -> Report:
        """Show the model on one page that needs nothing but a browser.

        Parameters
        ----------
        X : table-like of shape (n_rows, n_features)
            Rows to look at the model with; better not those that it was trained on.
        y : array-like of shape (n_rows,)
            Their target.
        title : str or None, default=None
            Heading of the page; None makes one from the target.
        target_name : str or None, default=None
            What is predicted; None takes the name of `y`, where it has one.
        max_sample_rows : int, default=100
            Largest number of rows whose values are in the page, to start a what-if from and as
            points of residuals. With 0 there are none, and only summaries leave your data.
        baseline : RuleModel or None, default=None
            Another fitted model, such as one with ``search="greedy"``, whose scores are drawn
            beside those of this one.
        certificate : EnsembleCertificate or None, default=None
            What `certificate` returned for the training rows; None takes that of the model, where
            it has one. The page shows what is proven about all rules together.
        alternatives : sequence of Alternatives, default=()
            What the method ``alternatives`` found for some rules, to be shown with them.

        Returns
        -------
        report : Report
            With ``save(path)``, ``to_html()``, ``to_dict()`` and ``to_json()``. Notebooks show it.
        """
        # Needs packages that estimators do not.
        from laconic.report import make_report

        return make_report(
            self,
            X,
            y,
            title=title,
            target_name=target_name,
            max_sample_rows=max_sample_rows,
            baseline=baseline,
            certificate=certificate,
            alternatives=alternatives,
        )
