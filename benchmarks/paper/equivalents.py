"""How far the choice among equivalent queries moves a score.

Several queries often cover the same training rows. They have the same objective and weight, so a
search may return any of them, but they differ on new rows. Writes ``equivalents.csv`` and
``equivalents.md``: the area with the fewest conditions (as laconic chooses), with the paper's
greedy set cover, and the range over queries drawn at random among those without a superfluous
condition.
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.pages import to_markdown
from benchmarks.paper.settings import (
    MAX_RULES,
    OPTIMAL,
    Run,
    estimator,
    resume,
    scoring,
    smallest_size,
)
from benchmarks.problems import Problem
from laconic import Query, Rule, RuleEnsemble
from laconic.models.curves import area_scorer
from laconic.search.reference import shorten_query

# Those whose optimal area differs from the published one in the fourth digit.
PROBLEMS = ("digits5", "iris", "boston", "diabetes", "life_expectancy")
N_DRAWS = 20
COLUMNS = ("problem", "split", "choice", "area")

Extents = NDArray[np.bool_]


def measure(run: Run, name: str, split: int) -> Iterator[dict[str, Any]]:
    """Areas of the same rules written in several ways."""
    problem = run.load(name, split)
    model = estimator(problem, OPTIMAL, run.penalty(name, OPTIMAL)).fit(problem.X, problem.y)
    candidates = problem.candidates()
    extents = candidates.covered()
    scorer = area_scorer(scoring(problem), smallest=smallest_size(problem.task), largest=MAX_RULES)
    ensemble: RuleEnsemble = model.ensemble_

    def area(choose: Callable[[Extents, NDArray[np.intp]], Any]) -> float:
        model.ensemble_ = RuleEnsemble(
            tuple(
                _rewritten(rule, problem, extents, candidates.conditions, choose)
                for rule in ensemble
            ),
            ensemble.intercept,
            ensemble.feature_names,
        )
        return float(scorer(model, problem.X_test, problem.y_test))

    key = {"problem": name, "split": split}
    yield key | {"choice": "fewest", "area": scorer(model, problem.X_test, problem.y_test)}
    yield key | {"choice": "set cover", "area": area(shorten_query)}
    generator = np.random.default_rng(split)
    for draw in range(N_DRAWS):
        choose = partial(random_query, generator=generator)
        yield key | {"choice": f"random {draw}", "area": area(choose)}


def _rewritten(
    rule: Rule, problem: Problem, extents: Extents, conditions: tuple[Any, ...], choose: Any
) -> Rule:
    rows = np.flatnonzero(rule.query.covered(problem.X))
    return Rule(Query(tuple(conditions[i] for i in choose(extents, rows))), rule.weight)


def random_query(
    extents: Extents, rows: NDArray[np.intp], generator: np.random.Generator
) -> list[int]:
    """Conditions that together cover the given rows, none of which can go."""
    implied = generator.permutation(np.flatnonzero(extents[:, rows].all(axis=1)))
    query = list(implied)
    n_missed = (~extents[query]).sum(axis=0)
    for i in implied:
        without = n_missed - ~extents[i]
        # No row outside may be let in.
        if np.count_nonzero(without == 0) == len(rows):
            n_missed = without
            query.remove(i)
    return [int(i) for i in query]


def make(run: Run) -> None:
    """Measure and write."""
    names = [name for name in PROBLEMS if name in run.problems]
    keys = [(name, split) for name in names for split in range(run.n_splits(name))]
    rows = resume(run.output / "equivalents.csv", keys, partial(measure, run), COLUMNS, run.n_jobs)
    head = [
        "problem",
        "published",
        "fewest conditions",
        "greedy set cover",
        "random, lowest",
        "highest",
    ]
    lines = []
    for name in names:
        areas: dict[str, list[float]] = {}
        for row in rows:
            if row["problem"] == name:
                areas.setdefault(row["choice"], []).append(row["area"])
        means = {choice: float(np.mean(found)) for choice, found in areas.items()}
        drawn = [mean for choice, mean in means.items() if choice.startswith("random")]
        published = run.specifications[name]["table1"]["auc_opt"]
        numbers = (published, means["fewest"], means["set cover"], min(drawn), max(drawn))
        lines.append([name, *(f"{number:.4f}" for number in numbers)])
    (run.output / "equivalents.md").write_text(to_markdown(head, lines) + "\n", encoding="utf-8")
