"""Models, counters and exported texts of all problems, to see what a change of the code changes.

    python -m benchmarks.fingerprints write before.json    # in one checkout
    python -m benchmarks.fingerprints write after.json     # in the other
    python -m benchmarks.fingerprints compare before.json after.json

A fingerprint holds every rule, weight, objective value, bound and counter to the last bit, and a
digest of every text that the model is written as. Seconds are left out.
"""

import argparse
import hashlib
import json
import re
import sys
import warnings
from functools import partial
from pathlib import Path

from sklearn.exceptions import ConvergenceWarning

from benchmarks.problems import (
    AS_IN_THE_PAPER,
    find_datasets,
    load_problem,
    paper_conditions,
    specifications,
)
from laconic import RuleBoostingClassifier, RuleBoostingRegressor
from laconic.export import to_javascript, to_json, to_pmml, to_python, to_scorecard, to_sql

N_EXPLAINED = 20
# A search over all thresholds has few nodes of many seconds.
N_NODES = {"paper": None, "defaults": "auto", "all thresholds": 30, "greedy": None}


def make_model(problem, setting):
    """Make an estimator: with the paper's settings, the defaults, or another way of searching."""
    kind = RuleBoostingClassifier if problem.task == "classification" else RuleBoostingRegressor
    options = {
        "paper": {
            **AS_IN_THE_PAPER,
            "conditions": partial(paper_conditions, limits=problem.max_conditions_per_column),
            "l2_regularization": problem.l2_regularization,
            "max_conditions": None,
        },
        "defaults": {"n_terms": 5},
        "all thresholds": {"n_terms": 2, "max_thresholds": None, "fit_intercept": True},
        "greedy": {"search": "greedy"},
    }[setting]
    return kind(**{"n_terms": problem.n_terms, "node_limit": N_NODES[setting], **options})


def digest(text):
    """Digest of a text without its seconds."""
    text = re.sub(r'"seconds": [0-9.e-]+', '"seconds": 0', text)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def fingerprint(model, problem):
    """Describe a fitted model to the last bit."""
    results = [
        {
            "rule": str(rule),
            "weight": rule.weight.hex(),
            "query": list(result.query),
            "objective_value": float(result.objective_value).hex(),
            "bound": float(result.bound).hex(),
            "status": str(result.status),
            "counters": dict(result.counters),
        }
        for rule, result in zip(model.ensemble_, model.search_results_, strict=True)
    ]
    X, y = problem.X_test, problem.y_test
    texts = {
        "text": str(model),
        "html": re.sub(r"<details>.*", "", model._repr_html_(), flags=re.DOTALL),
        "explanation": str(model.explain(X[:N_EXPLAINED])),
        "predictions": repr(model.predict(X).tolist()),
        "report": model.report(X, y, max_sample_rows=20).to_json(),
        "json": to_json(model),
        "sql": to_sql(model, "postgres", table="t"),
        "python": to_python(model),
        "javascript": to_javascript(model),
        "pmml": to_pmml(model),
        "scorecard": str(to_scorecard(model, X=X, y=y)),
    }
    return {
        "results": results,
        "coverages": [repr(coverage) for coverage in model.rule_coverages_],
        "texts": {name: digest(text) for name, text in texts.items()},
    }


def write(path, names):
    """Write the fingerprints of all problems in all settings."""
    folder = find_datasets()
    found = {}
    for name in names or specifications(folder):
        problem = load_problem(name, folder)
        for setting in N_NODES:
            with warnings.catch_warnings(action="ignore", category=ConvergenceWarning):
                model = make_model(problem, setting).fit(problem.X, problem.y)
            found[f"{name}, {setting}"] = fingerprint(model, problem)
            print(name, setting, sum(r.seconds for r in model.search_results_), file=sys.stderr)
            path.write_text(json.dumps(found, indent=1), encoding="utf-8")


def compare(before, after):
    """Count what is the same, and name what is not."""
    old, new = (json.loads(path.read_text(encoding="utf-8")) for path in (before, after))
    n_terms = n_texts = 0
    differences = [f"{key}: only in one file" for key in old.keys() ^ new.keys()]
    for key in sorted(old.keys() & new.keys()):
        n_terms += len(new[key]["results"])
        n_texts += len(new[key]["texts"])
        for part in ("results", "coverages"):
            if old[key][part] != new[key][part]:
                differences.append(f"{key}: {part}")
        for name, text in new[key]["texts"].items():
            if old[key]["texts"].get(name) != text:
                differences.append(f"{key}: {name}")
    print(f"{len(new)} models, {n_terms} rules, {n_texts} texts; {len(differences)} differences")
    print(*differences, sep="\n")
    return bool(differences)


def main():
    """Write or compare fingerprints."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    writer = commands.add_parser("write")
    writer.add_argument("path", type=Path)
    writer.add_argument("names", nargs="*")
    comparer = commands.add_parser("compare")
    comparer.add_argument("paths", nargs=2, type=Path)
    arguments = parser.parse_args()
    if arguments.command == "write":
        return write(arguments.path, arguments.names)
    return compare(*arguments.paths)


if __name__ == "__main__":
    sys.exit(main())
