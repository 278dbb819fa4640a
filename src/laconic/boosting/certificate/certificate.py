"""How good a whole model is next to the best possible one, with all that is needed to check it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Self

import numpy as np

from laconic._util.types import Bools, Floats
from laconic.boosting.certificate.column_generation import Proof, TermColumn, prove
from laconic.boosting.certificate.comparison_class import Bound, ComparisonClass, EnsemblesOfSize
from laconic.boosting.certificate.risk import TrainingRisk
from laconic.boosting.certificate.verify import is_proven
from laconic.search import Extents, SearchStatus
from laconic.search.results import proven_percent
from laconic.tables.tables import as_table
from laconic.terms.conditions import Condition
from laconic.terms.formatting import format_count, format_number
from laconic.terms.rules import RuleEnsemble, Term
from laconic.terms.slopes import Slope

# Of the picture.
_WIDTH, _HEIGHT, _MARGIN = 640, 96, 24
_DONE, _OPEN, _INK = "#2a6fbb", "#d9d9d9", "#333"


@dataclass(frozen=True, eq=False)
class Evidence:
    """What it takes to check a certificate, besides the table."""

    conditions: tuple[Condition, ...]
    """The conditions that rules may be made of."""
    proof: Bound
    """The bound, and the forces from which it follows, one for each row of `is_counted`."""
    risk: TrainingRisk
    is_counted: Bools
    """Rows of the table that have a weight, and so a force."""
    slopes: tuple[Slope, ...] = ()
    """The slopes that terms may be, besides rules."""

    @property
    def forces(self) -> Floats:
        """A number for each row, or each row and class; 0 for rows without weight."""
        forces = np.zeros((len(self.is_counted), *self.risk.shape[1:]))
        forces[self.is_counted] = self.proof.forces
        return forces


@dataclass(frozen=True)
class SizeBound:
    """The first terms of a model, compared with all ensembles of that size."""

    objective: float
    """Objective of the first terms, with the weights that they had before others were added."""
    bound: float
    """Lower bound on the objective of all ensembles of that size."""


@dataclass(frozen=True, eq=False)
class EnsembleCertificate:
    """A proof of how close a model comes to the best possible one, on given rows.

    The improvement of an ensemble is the decrease of the training objective from a model without
    terms. The certificate proves which share of the best possible improvement the model reaches.
    ``print`` describes it in words, ``verify(X)`` checks it.
    """

    ensemble: RuleEnsemble = field(repr=False)
    """The model."""
    objective: float
    """Loss of the model, summed over the rows, and the penalty on its weights if there is one."""
    start: float
    """Objective of the best constant, without terms; of 0 where there is no intercept."""
    bound: float
    """Lower bound on the objective of all compared ensembles."""
    compared: ComparisonClass
    """The ensembles that the model is compared with."""
    max_conditions: int | None
    """Largest number of conditions of their rules; None is no limit."""
    min_coverage: float
    """Fewest rows, or least weight, that their rules cover."""
    n_candidates: int
    """Number of conditions that their rules may be made of."""
    n_rows: int
    """Number of training rows."""
    status: SearchStatus
    """``optimal`` if no other forces can prove much more; else what ended the proof."""
    n_nodes: int
    """Nodes of all searches."""
    n_searches: int
    seconds: float
    n_slopes: int = 0
    """Number of slopes that their terms may be, besides rules."""
    sizes: tuple[SizeBound, ...] = field(default=(), repr=False)
    """Bounds for 0, 1, 2, ... terms; none where ensembles of a total weight are compared."""
    evidence: Evidence | None = field(default=None, repr=False)
    """What it takes to check the certificate; None for one from a file, which has no rows."""

    @classmethod
    def of(
        cls,
        stages: Sequence[RuleEnsemble],
        columns: Sequence[Bools | Floats],
        proof: Proof,
        conditions: Sequence[Condition],
        is_counted: Bools | None = None,
    ) -> Self:
        """Compare a model with what is proven about all ensembles of a kind.

        Parameters
        ----------
        stages : sequence of RuleEnsemble
            The model with its first 0, 1, 2, ... terms; the last one is the model.
        columns : sequence of bool or float arrays of shape (n_counted_rows,)
            The values of each of its terms, in the rows of the risk.
        proof : Proof
        conditions : sequence of Condition
            The conditions that rules may be made of.
        is_counted : bool array of shape (n_rows,), default=None
            Rows of the table that the risk is made of; None is all.

        Returns
        -------
        certificate : EnsembleCertificate
        """
        risk, bounds = proof.risk, proof.bounds_by_size
        objectives = [
            risk.value_of(stage, columns) + proof.compared.penalty(risk.weights_of(stage, columns))
            for stage in (stages if len(bounds) > 0 else stages[-1:])
        ]
        n_rows = len(risk.y)
        is_counted = np.ones(n_rows, dtype=bool) if is_counted is None else is_counted
        return cls(
            ensemble=stages[-1],
            objective=objectives[-1],
            start=risk.value_at_constant,
            bound=proof.bound.value,
            compared=proof.compared,
            max_conditions=proof.max_conditions,
            min_coverage=proof.min_coverage,
            n_candidates=len(conditions),
            n_slopes=len(proof.slopes),
            n_rows=n_rows,
            status=proof.status,
            n_nodes=proof.n_nodes,
            n_searches=proof.n_searches,
            seconds=proof.seconds,
            sizes=tuple(map(SizeBound, objectives, bounds)),
            evidence=Evidence(tuple(conditions), proof.bound, risk, is_counted, proof.slopes),
        )

    @property
    def share(self) -> float:
        """Proven share of the best possible improvement."""
        return self._share(self.bound)

    @property
    def trivial_share(self) -> float:
        """The share that is certain without any proof, as no loss is below 0."""
        return self._share(0.0)

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """The conditions that rules of the compared ensembles may be made of."""
        return self._evidence.conditions

    @property
    def slopes(self) -> tuple[Slope, ...]:
        """The slopes that terms of the compared ensembles may be, besides rules."""
        return self._evidence.slopes

    @property
    def forces(self) -> Floats:
        """The proof: a number for each row, or each row and class; 0 for rows without weight.

        See `verify`.
        """
        return self._evidence.forces

    @property
    def largest_sum(self) -> float:
        """Upper bound on the absolute sum of forces over a conjunction, of any class.

        Of slopes, it is the sum of forces times their values, on the scale of rules: divided by 2.5
        times their standard deviation.
        """
        return self._evidence.proof.largest_sum

    @property
    def _evidence(self) -> Evidence:
        if self.evidence is None:
            raise ValueError(
                "A certificate from a file has no forces, which belong to the training rows. "
                "Make one that can be checked with model.certificate(X, y)."
            )
        return self.evidence

    def _share(self, bound: float) -> float:
        best = self.start - bound
        if best <= 0.0 or self.compared.is_constant:
            return 1.0
        return min(max((self.start - self.objective) / best, 0.0), 1.0)

    def verify(self, X: Any) -> bool:
        """Check the bound, with code that is independent of what has found it.

        It checks that the forces add up to 0 where there is an intercept, that no sum of forces
        over *any* conjunction, or of any slope, is larger than claimed, and that the bound follows
        from these, in exact arithmetic or with fifty digits; for several classes, class by class.
        All conjunctions are enumerated, which takes seconds to minutes for three conditions, and
        too long for long rules.

        Parameters
        ----------
        X : table-like of shape (n_rows, n_features)
            The training rows of the certificate.

        Returns
        -------
        is_true : bool
        """
        evidence = self._evidence
        is_counted, risk = evidence.is_counted, evidence.risk
        rows = [condition.covered(X)[is_counted] for condition in evidence.conditions]
        covered = np.array(rows, dtype=bool).reshape(-1, len(risk.y))
        table = as_table(X)
        return self.bound <= evidence.proof.value and is_proven(
            covered,
            risk,
            self.compared,
            evidence.proof,
            self.max_conditions,
            self.min_coverage,
            (slope.values(table)[is_counted] for slope in evidence.slopes),
        )

    @property
    def compared_words(self) -> str:
        """Describe the ensembles that the model is compared with."""
        if isinstance(self.compared, EnsemblesOfSize):
            penalty = format_number(self.compared.l2_regularization)
            return f"{self._terms_words}, with the same penalty ({penalty})"
        weight = format_number(self.compared.total_weight)
        return f"{self._terms_words}, of total weight {weight} or less"

    @property
    def _term(self) -> str:
        """What compared ensembles consist of."""
        return "term" if self.n_slopes > 0 else "rule"

    @property
    def _terms_words(self) -> str:
        longest = "" if self.max_conditions is None else f"at most {self.max_conditions} of "
        words = f"all conjunctions of {longest}{self.n_candidates} conditions"
        if self.min_coverage > 0.0:
            words += f" that cover {format_number(self.min_coverage)} rows or more"
        if self.n_slopes > 0:
            words += f" and {format_count(self.n_slopes, 'slope')}"
        if self.ensemble.outputs:
            words += f", for or against any of {len(self.ensemble.outputs)} classes"
        return words

    @property
    def summary(self) -> str:
        """The result in a few words."""
        percent = proven_percent(self.share)
        if isinstance(self.compared, EnsemblesOfSize):
            n_terms = format_count(self.compared.n_terms, self._term)
            return f"{percent}% of what any {n_terms} could achieve, proven"
        return (
            f"{percent}% of what any {self._term}s of the same total weight could achieve, proven"
        )

    def __str__(self) -> str:
        numbers = (
            f"{name} {format_number(value)}"
            for name, value in (
                (f"without {self._term}s", self.start),
                ("model", self.objective),
                ("lower bound", self.bound),
            )
        )
        return (
            f"At least {self.summary}.\n"
            f"Compared with {self.compared_words}.\n"
            f"Training objective: {', '.join(numbers)}.\n"
            f"Without the proof, only {proven_percent(self.trivial_share)}% would be guaranteed. "
            "This holds for the training rows, not for new ones."
        )

    def to_svg(self) -> str:
        """Draw the training objective without terms, that of the model, and the bound."""
        return _svg(self.start, self.objective, self.bound, self.share, f"{self._term}s")

    def _repr_html_(self) -> str:
        return f"<div>{self.to_svg()}<p>{str(self).replace(chr(10), '<br>')}</p></div>"

    def to_dict(self) -> dict[str, Any]:
        """Describe the certificate by plain values, without the forces."""
        is_by_size = isinstance(self.compared, EnsemblesOfSize)
        return {
            "share": self.share,
            "trivial_share": self.trivial_share,
            "objective": self.objective,
            "bound": self.bound,
            "start": self.start,
            "against": "rules" if is_by_size else "weight",
            **asdict(self.compared),
            "max_conditions": self.max_conditions,
            "min_coverage": self.min_coverage,
            "n_candidates": self.n_candidates,
            "n_slopes": self.n_slopes,
            "n_rows": self.n_rows,
            "status": str(self.status),
            "n_nodes": self.n_nodes,
            "n_searches": self.n_searches,
            "seconds": self.seconds,
            "sizes": [asdict(size) for size in self.sizes],
        }


def certify(
    extents: Extents,
    conditions: Sequence[Condition],
    risk: TrainingRisk,
    compared: ComparisonClass,
    stages: Sequence[RuleEnsemble],
    columns: Sequence[Bools | Floats],
    *,
    max_conditions: int | None,
    min_coverage: float = 0.0,
    is_counted: Bools | None = None,
    **options: Any,
) -> EnsembleCertificate:
    """Prove how close a model comes to the best possible one.

    Parameters
    ----------
    extents : Extents
        Rows of the risk that the conditions cover.
    conditions, risk, compared, stages, columns, is_counted
        As for :meth:`EnsembleCertificate.of`.
    max_conditions, min_coverage
        Limits of the rules of compared ensembles. They are widened where a rule of the model is
        beyond them, as after edits.
    **options
        Further ones of :func:`prove`: ``slopes``, ``by_size``, ``node_limit``, ``time_limit``,
        ``n_jobs`` and ``callback``.

    Returns
    -------
    certificate : EnsembleCertificate
    """
    pairs = [*zip(stages[-1], columns, strict=True)]
    rules = [(term, rows) for term, rows in pairs if not isinstance(term, Slope)]
    longest = None
    if max_conditions is not None:
        longest = max(max_conditions, 1, *(len(rule.query) for rule, _ in rules))
    smallest = min((float(risk.weights[rows].sum()) for _, rows in rules), default=math.inf)
    proof = prove(
        extents,
        risk,
        compared,
        max_conditions=longest,
        min_coverage=float(min(min_coverage, smallest)),
        start=[column_of(term, values) for term, values in pairs],
        **options,
    )
    return EnsembleCertificate.of(stages, columns, proof, conditions, is_counted)


def column_of(
    term: Term, values: Bools | Floats, query: tuple[int, ...] | None = None
) -> TermColumn:
    """Make the column of a term of a model, to start from; `query` are its conditions."""
    if isinstance(term, Slope):
        return TermColumn(values, output=term.output, slope=term.key)
    return TermColumn(values, query, output=term.output)


def _svg(start: float, objective: float, bound: float, share: float, terms: str) -> str:
    """Draw the improvement of the model, and what may be left, from left to right."""
    length = _WIDTH - 2 * _MARGIN
    reached = _MARGIN + length * share
    marks = (
        (_MARGIN, 30, "start", f"without {terms}: {format_number(start)}"),
        (reached, 84, "middle" if 0.25 < share < 0.75 else ("end" if share > 0.5 else "start"),
         f"model: {format_number(objective)}"),
        (_WIDTH - _MARGIN, 30, "end", f"lower bound {format_number(bound)}"),
    )  # fmt: skip
    parts = [
        f'<rect x="{_MARGIN}" y="42" width="{length}" height="16" fill="{_OPEN}"/>',
        f'<rect x="{_MARGIN}" y="42" width="{reached - _MARGIN:.1f}" height="16" fill="{_DONE}"/>',
    ]
    for x, y, anchor, words in marks:
        parts += [
            f'<line x1="{x:.1f}" x2="{x:.1f}" y1="36" y2="64" stroke="{_INK}" stroke-width="2"/>',
            f'<text x="{x:.1f}" y="{y}" text-anchor="{anchor}" fill="{_INK}">{words}</text>',
        ]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" '
        f'width="{_WIDTH}" height="{_HEIGHT}" font-family="sans-serif" font-size="13" role="img" '
        f'aria-label="Training objective without {terms}, of the model, and the bound">'
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="white"/>{"".join(parts)}</svg>'
    )
