"""Ten rules of the paper's problems, against objective values measured with other programs.

Needs the folder of benchmark problems, with the measured values in ``baselines`` beside it.
"""

import json

import pytest
from rounds import make_rounds, run_boost

from benchmarks.problems import load_problem
from laconic.losses import get_loss

# All for which the folder has values.
PROBLEMS = [
    "iris",
    "wine",
    "used_cars",
    "insurance",
    "tic_tac_toe",
    "friedman1",
    "friedman2",
    "friedman3",
    "world_happiness",
    "diabetes",
    "breast_cancer",
    "suicide_rates",
    "videogamesales",
    "life_expectancy",
    "titanic_paper",
    "boston",
    "red_wine_quality",
]


@pytest.mark.datasets
@pytest.mark.parametrize("name", PROBLEMS)
def test_objective_values(name, datasets_folder):
    baselines = datasets_folder.parent / "baselines" / "objectives_split1.json"
    if not baselines.is_file():
        pytest.skip("needs the measured values in a folder 'baselines' beside the problems")
    expected = json.loads(baselines.read_text())[name]

    problem = load_problem(name, datasets_folder)
    rounds = make_rounds(
        problem.candidates(),
        problem.y,
        get_loss(problem.loss),
        l2_regularization=problem.l2_regularization,
    )
    results = run_boost(rounds, len(expected))[-1].results
    assert all(result.is_optimal for result in results)
    values = [result.objective_value for result in results]
    assert values == pytest.approx(expected, rel=1e-9)
