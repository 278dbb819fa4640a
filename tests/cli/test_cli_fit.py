"""laconic fit"""

import json
import os
import re
import signal
import subprocess
import sys
import threading
import warnings
from functools import partial

import numpy as np
import polars as pl
import pytest
from commands import PROGRAM, fit_client, people, refused

from laconic import RuleBoostingClassifier, RuleBoostingRegressor, load_model
from laconic.cli.progress import FitScreen
from laconic.estimators.base import RuleBoosting
from laconic.estimators.files import ESTIMATORS
from laconic.terms.formatting import format_weight


def test_fit_shows_and_saves_the_model_of_the_api(run, table, tmp_path):
    path = tmp_path / "model.json"
    code, out, err = run(*fit_client(table, "--n-terms", 3, "--output", path))
    assert (code, err) == (0, "")
    X = people().drop("client", "spent", "weight")
    expected = RuleBoostingClassifier(3).fit(X, people()["client"].to_numpy())
    loaded = load_model(path)
    assert loaded.ensemble_ == expected.ensemble_
    assert loaded.classes_.tolist() == ["no", "yes"]
    n_covered = expected.ensemble_.covered(X).sum(axis=0)
    found, _, shown = out.partition("Classification model: ")
    lines = expected.ensemble_.lines[-3:]
    for stage, line, n_rows in zip(expected.stages_[1:], lines, n_covered, strict=True):
        assert f"term {len(stage)} of 3: {stage[-1].query} [" in found
        assert format_weight(line.weight) in shown
        assert re.search(rf"{re.escape(' & '.join(line.conditions))} +{n_rows} ", out)
    assert "term 1 of 3: " in out
    assert "proven optimal" in out
    score = expected.score(X, people()["client"].to_numpy())
    assert re.search(rf"training rows +{score:.4g} ", out)
    assert "Positive weights vote for yes, negative weights for no." in out
    assert f"Saved to {path}" in out


def test_fit_passes_every_option_on(run, table, tmp_path, monkeypatch):
    given = {}

    class Spy(RuleBoostingRegressor):
        def fit(self, X, y, sample_weight=None, exposure=None):
            given.update(self.get_params(), sample_weight=sample_weight, columns=X.columns)
            return super().fit(X, y, sample_weight, exposure)

    monkeypatch.setitem(ESTIMATORS, "regression", Spy)
    options = {
        "n_terms": 2,
        "strategy": "joint",
        "l2_regularization": 0.5,
        "search": "beam",
        "max_conditions": 2,
        "min_coverage": 2.5,
        "approximation_factor": 0.9,
        "node_limit": 77,
        "time_limit": 9.5,
        "max_thresholds": 3,
        "categories": "sets",
        "max_categories": 12,
        "n_jobs": 2,
    }
    tokens = [f"--{name.replace('_', '-')}={value}" for name, value in options.items()]
    more = ["--fit-intercept", "--weight", "weight", "--drop=client"]
    more += ["--no-validation", "--date-parts", "weekday", "month"]
    code, out, _ = run("fit", table, "--target", "spent", *tokens, *more)
    assert code == 0
    assert re.search(r"scores +R²", out)
    flags = {"fit_intercept": True, "date_parts": ["weekday", "month"]}
    assert given.items() >= (options | flags).items()
    assert given["columns"] == ["age", "[red]plan", "income"]
    assert given["sample_weight"].tolist() == people()["weight"].to_list()


@pytest.mark.parametrize(
    ("option", "word"),
    [
        ("node_limit", "none"),
        ("max_conditions", "none"),
        ("max_thresholds", "none"),
        ("max_thresholds", "all"),
    ],
)
def test_limits_can_be_lifted(run, table, monkeypatch, option, word):
    given = {}

    class Spy(RuleBoostingClassifier):
        def fit(self, X, y, sample_weight=None, exposure=None):
            given.update(self.get_params())
            return super().fit(X, y, sample_weight, exposure)

    monkeypatch.setitem(ESTIMATORS, "classification", Spy)
    flag = f"--{option.replace('_', '-')}"
    code, *_ = run(*fit_client(table, flag, word, "--n-terms", 1, "--search", "greedy"))
    assert code == 0
    assert given[option] is None


def test_unproven_rules_take_one_short_line_each(run, tmp_path):
    generator = np.random.default_rng(0)
    path = tmp_path / "noise.csv"
    pl.DataFrame(generator.normal(size=(200, 8))).write_csv(path)
    options = ["--target", "column_7", "--n-terms", 2, "--node-limit", 3]
    code, out, err = run("fit", path, *options)
    assert (code, err) == (0, "")
    assert (
        len(re.findall(r"term . of 2: .* at least .* best possible, stopped at the node", out)) == 2
    )
    assert re.search("0 of 2 terms are proven .* with up to 7 thresholds per numeric column", out)
    assert "2 searches stopped at --node-limit. With --node-limit auto every term would be" in out
    assert "Warning" not in out


def test_proofs_over_all_thresholds_say_so(run, table):
    code, out, _ = run(*fit_client(table, "--max-thresholds", "all", "--no-validation"))
    assert code == 0
    assert "with all thresholds per numeric column." in out


def test_a_fit_tells_whether_the_model_is_kept(run, table, tmp_path):
    path = tmp_path / "model.json"
    fit = partial(fit_client, table, "--n-terms", 2)
    assert run(*fit())[1].endswith("Not saved. Save the model with --output model.json.\n")
    assert run(*fit("--output", path))[1].endswith(f"Saved to {path}\n")


def test_quiet_fit_is_quiet(run, table):
    assert run(*fit_client(table, "--quiet")) == (0, "", "")


def test_table_without_structure_gives_no_rules(run, tmp_path):
    path = tmp_path / "constant.csv"
    pl.DataFrame({"x": [1, 2, 3], "y": [0.0, 0.0, 0.0]}).write_csv(path)
    code, out, _ = run("fit", path, "--target", "y", "--output", tmp_path / "model.json")
    assert code == 0
    assert "There is nothing to learn: the target is 0 in every row." in out
    assert "always" not in out
    code, out, _ = run("predict", tmp_path / "model.json", path)
    assert (code, out.split()) == (0, ["prediction", "0.0", "0.0", "0.0"])
    assert len(load_model(tmp_path / "model.json").ensemble_) == 0


def test_number_of_rules_by_cross_validation(run, table, tmp_path):
    model = tmp_path / "model.json"
    code, out, err = run(*fit_client(table, "--n-terms", "cv", "--output", model))
    assert (code, err) == (0, "")
    n_terms = len(load_model(model).ensemble_)
    assert 1 <= n_terms <= 10
    assert re.search(rf"^{n_terms} of up to 10 \w+: chosen by 5-fold cross-validation, ", out, re.M)
    assert len(re.findall(r"^term ", out, re.MULTILINE)) == n_terms
    assert not re.search(r"fold \d", out)


@pytest.fixture
def ctrl_c(monkeypatch):
    """Let Ctrl-C arrive from another thread, a moment after a search has shown its progress."""
    timer, show = threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)), FitScreen.__call__

    def press_and_show(screen, progress):
        if timer.ident is None:
            timer.start()
        return show(screen, progress)

    monkeypatch.setattr(FitScreen, "__call__", press_and_show)
    yield
    timer.join()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows cannot send SIGINT to one process")
@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_in_a_fold_without_any_size_saves_nothing(run, tmp_path):
    model = tmp_path / "model.json"
    hard_first_rule = ["--drop", "column_0", "--max-thresholds", 30, "--n-terms", "cv"]
    code, out, err = run(*hard_fit(tmp_path), *hard_first_rule, "--output", model)
    assert (code, out) == (130, "")
    assert err == "Interrupted before the first term was found. Nothing is saved.\n"
    assert not model.exists()


def hard_table(path):
    """Write a table with one good rule; proofs for the noise that is left take hours."""
    generator = np.random.default_rng(0)
    X = generator.normal(size=(1500, 16))
    y = (X[:, 0] > 0.3) | (generator.random(1500) < 0.4)
    pl.DataFrame(X).with_columns(y=pl.Series(y)).write_parquet(path)


def hard_fit(tmp_path):
    hard_table(tmp_path / "hard.parquet")
    options = ["--node-limit", "none", "--l2-regularization", "0.1"]
    return ["fit", tmp_path / "hard.parquet", "--target", "y", *options]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows cannot send SIGINT to one process")
def test_interrupted_fit_keeps_its_rules(tmp_path):
    model = tmp_path / "model.json"
    command = [*PROGRAM, *map(str, hard_fit(tmp_path)), "--output", str(model)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True) as process:
        try:
            first_line = process.stdout.readline()
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=60)
        finally:
            process.kill()
    assert process.returncode == 130
    assert re.fullmatch(r"Interrupted: the model has the \d of 10 terms found so far\.\n", err)
    ensemble = load_model(model).ensemble_
    assert 1 <= ensemble.n_terms < 10
    assert first_line.startswith(f"term 1 of 10: {ensemble.text(ensemble[0])} [objective ")
    assert ensemble.text(ensemble[0]) in out
    assert f"Saved to {model}" in out


@pytest.mark.skipif(sys.platform == "win32", reason="Windows cannot send SIGINT to one process")
@pytest.mark.usefixtures("ctrl_c")
def test_fit_interrupted_before_the_first_rule_saves_nothing(run, tmp_path):
    model = tmp_path / "model.json"
    hard_first_rule = ["--drop", "column_0", "--max-thresholds", 30, "--max-conditions", "none"]
    code, out, err = run(*hard_fit(tmp_path), *hard_first_rule, "--output", model)
    assert (code, out) == (130, "")
    assert err == "Interrupted before the first term was found. Nothing is saved.\n"
    assert not model.exists()


def test_scores_on_held_out_rows_are_those_of_cross_validation(run, table):
    """A model of 10 rules fits its own rows better than any other."""
    code, out, _ = run(*fit_client(table, "--n-terms", 3, "--json"))
    assert code == 0
    training, held_out = json.loads(out)["record"]["scores"]
    assert (training["rows"], held_out["rows"]) == ("training", "cross-validation")
    assert training["values"]["log_loss"] < held_out["values"]["log_loss"]
    assert training["errors"] == {}
    code, out, _ = run("cv", *fit_client(table, "--n-terms", 3, "--json")[1:])
    sizes = json.loads(out)["sizes"]
    for name in ("accuracy", "auc", "log_loss"):
        assert held_out["values"][name] == pytest.approx(np.mean(sizes[3][name]))


@pytest.mark.parametrize("n_terms", [3, "cv"])
def test_folds_side_by_side_find_the_same(run, table, n_terms):
    found = []
    for n_jobs in (1, 2, 7):
        code, out, err = run(*fit_client(table, "--n-terms", n_terms, "--n-jobs", n_jobs, "--json"))
        assert (code, err) == (0, "")
        model = json.loads(out)
        for term in model["terms"]:
            del term["certificate"]["seconds"]
        del model["record"]["date"]
        found.append(model)
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_warnings_of_folds_are_shown_once(run, table, n_jobs, monkeypatch):
    fit = RuleBoostingClassifier.fit

    def warn(model, X, *given):
        warnings.warn("about every fit", UserWarning, stacklevel=1)
        warnings.warn(f"about {len(X)} rows", UserWarning, stacklevel=1)
        return fit(model, X, *given)

    monkeypatch.setattr(RuleBoostingClassifier, "fit", warn)
    monkeypatch.setattr(ESTIMATORS["classification"], "fit", warn)
    code, _, err = run(*fit_client(table, "--n-terms", 1, "--n-jobs", n_jobs))
    assert code == 0
    fitted, folds = "warning: about every fit\n", "warning: about 64 rows\n"
    assert err == f"{fitted}warning: about 80 rows\n{fitted}{folds}"


@pytest.mark.skipif(sys.platform == "win32", reason="Windows cannot send SIGINT to one process")
@pytest.mark.parametrize("n_jobs", [1, 3])
def test_ctrl_c_in_a_fold_of_the_validation_keeps_the_model(run, table, n_jobs, monkeypatch):
    check = FitScreen.check

    def press(screen, stage):
        check(screen, stage)
        if stage == "fold 2 of 5":
            os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(FitScreen, "check", press)
    code, out, err = run(*fit_client(table, "--n-terms", 2, "--n-jobs", n_jobs))
    assert code == 0
    assert err == "Interrupted: the model is complete, but not scored on held-out rows.\n"
    assert "Classification model: " in out
    assert "held-out rows" not in out


def test_scores_on_a_test_table(run, table, tmp_path):
    path = tmp_path / "test.csv"
    people(40, seed=1).write_csv(path)
    model = tmp_path / "model.json"
    code, out, _ = run(*fit_client(table, "--n-terms", 3, "--test", path, "--output", model))
    assert code == 0
    X, y = people(40, seed=1), people(40, seed=1)["client"].to_numpy()
    score = load_model(model).score(X.drop("client", "spent", "weight"), y)
    assert re.search(rf"test rows +{score:.4g} ", out)
    assert "Test: 40 rows of another table." in out
    assert "held-out" not in out


def test_test_tables_are_checked_before_the_work(run, table, tmp_path):
    path = tmp_path / "test.csv"
    people().drop("client").write_csv(path)
    assert refused(run(*fit_client(table, "--test", path)), "'client'")


def test_scores_on_training_rows_only(run, table):
    code, out, _ = run(*fit_client(table, "--n-terms", 2, "--no-validation"))
    assert code == 0
    assert "held-out" not in out
    assert "Training: the 80 rows of the fit, whose scores are too optimistic." in out
    assert "How well the model predicts other rows is not known." in out


@pytest.mark.parametrize("n_terms", [3, "auto", "cv"])
def test_a_search_that_is_stopped_at_once_does_not_claim_that_there_are_no_rules(
    run, table, n_terms
):
    code, out, _ = run(
        *fit_client(table, "--time-limit", "1e-9", "--n-terms", n_terms, "--no-slopes")
    )
    assert code == 0
    assert "No term was found before --time-limit: the prediction is " in out
    assert "No term improves" not in out
    assert "With --time-limit none every term would be proven" in out


@pytest.mark.parametrize("n_yes", [1, 2, 4])
def test_tables_of_few_rows_have_fewer_folds(run, tmp_path, n_yes):
    path = tmp_path / "few.csv"
    pl.DataFrame({"x": range(12), "y": ["yes"] * n_yes + ["no"] * (12 - n_yes)}).write_csv(path)
    code, out, err = run("fit", path, "--target", "y", "--n-terms", 1)
    assert code == 0
    assert ("held-out rows" in out) == (n_yes >= 2)
    assert ("Name rows to score on with --test" in err) == (n_yes < 2)


def test_a_class_without_another_is_refused_in_a_sentence(run, tmp_path):
    path = tmp_path / "constant.csv"
    pl.DataFrame({"x": [1, 2, 3], "y": ["yes"] * 3}).write_csv(path)
    message = "There is nothing to learn: column 'y' is 'yes' in every row."
    assert refused(run("fit", path, "--target", "y"), message)


def test_killed_fit_goes_on_to_the_same_model(run, table, tmp_path):
    """Killed in the eighth search of each run, until one reaches the end."""
    expected, path = tmp_path / "expected.json", tmp_path / "model.json"
    checkpoint = tmp_path / "searches"
    fit = partial(fit_client, table, "--n-terms", 3)
    assert run(*fit("--output", expected, "--quiet"))[0] == 0
    script = (
        "import os, signal, sys; from laconic import cli; from laconic.search.checkpoint import "
        "Checkpoint; add = Checkpoint.add; n_left = [8]\n"
        "def killing(self, key, result):\n"
        "    n_left[0] -= 1\n"
        "    if n_left[0] == 0: os.kill(os.getpid(), signal.SIGKILL)\n"
        "    add(self, key, result)\n"
        "Checkpoint.add = killing; sys.exit(cli.main())"
    )
    options = ["--output", path, "--checkpoint", checkpoint, "--quiet"]
    command = [sys.executable, "-c", script, *map(str, fit(*options))]
    codes = []
    while not codes or codes[-1] == -signal.SIGKILL:
        codes.append(subprocess.run(command, check=False).returncode)
        assert len(codes) < 30
    assert len(codes) > 2
    assert codes[-1] == 0
    assert not checkpoint.exists()
    found, wanted = load_model(path), load_model(expected)
    assert found.ensemble_ == wanted.ensemble_
    assert found.stages_ == wanted.stages_
    assert found.record_.scores == wanted.record_.scores


def test_checkpoint_says_what_it_holds_and_refuses_other_files(run, table, tmp_path, monkeypatch):
    checkpoint = tmp_path / "searches"
    monkeypatch.setattr(type(checkpoint), "unlink", lambda *given, **options: None)
    assert run(*fit_client(table, "--checkpoint", checkpoint))[0] == 0
    code, _, err = run(*fit_client(table, "--checkpoint", checkpoint))
    assert code == 0
    assert re.search(r"note: \d+ searches of .* need not be repeated", err)
    other = tmp_path / "other.txt"
    other.write_text("text\n", "utf-8")
    refused(run(*fit_client(table, "--checkpoint", other)), "other.txt", "checkpoint")
    assert other.read_text("utf-8") == "text\n"
    refused(run(*fit_client(table, "--checkpoint", tmp_path / "absent" / "x")), "absent")


def test_memory_that_cannot_be_had_is_reported(run, table, monkeypatch):
    def fit(*given, **options):
        raise MemoryError

    monkeypatch.setattr(RuleBoostingClassifier, "fit", fit)
    refused(run(*fit_client(table)), "Out of memory")


@pytest.fixture
def rare(tmp_path):
    """Table with a class that is rare and hard to predict."""
    generator = np.random.default_rng(0)
    x = generator.normal(size=(400, 2))
    leaves = generator.random(400) < 0.04 + 0.25 * (x[:, 0] > 1.2)
    path = tmp_path / "rare.csv"
    frame = pl.DataFrame({"x": x[:, 0], "z": x[:, 1], "leaves": np.where(leaves, "yes", "no")})
    frame.write_csv(path)
    return path


def test_scores_stand_beside_those_without_a_model(run, rare, tmp_path):
    path = tmp_path / "model.json"
    code, fitted, _ = run("fit", rare, "--target", "leaves", "--n-terms", 6, "-o", path)
    assert code == 0
    [held_out, training] = re.findall(r"^  no model +(0\.\d+) +(0\.\d+) +(0\.\d+) ", fitted, re.M)
    share = pl.read_csv(rare)["leaves"].eq("no").mean()
    for accuracy, area, precision in (held_out, training):
        assert (float(accuracy), float(area)) == (pytest.approx(share, abs=1e-3), 0.5)
        assert float(precision) == pytest.approx(1 - share, abs=2e-3)
    assert "average precision" in fitted
    assert re.search(r"^classes, held-out rows +rows +predicted +precision +recall$", fitted, re.M)
    assert re.search(r"^no +\d+ +\d+ +0\.\d+ ", fitted, re.M)
    _, shown, _ = run("show", path)
    for line in fitted[fitted.index("scores ") : fitted.index("Saved to")].splitlines():
        assert line in shown
    known = load_model(path).record_
    assert [each.rows for each in known.scores] == ["training", "cross-validation"]
    assert known.scores[1].constants["auc"] == 0.5


def test_a_model_worse_than_none(run, rare):
    options = ["--target", "leaves", "--n-terms", 6, "--class-weight", "balanced"]
    _, out, _ = run("fit", rare, *options)
    assert "On held-out rows the model is worse than no model: accuracy 0." in out
    assert "This is the effect of class weights" in out


def test_rows_without_weight_are_not_scored(run, tmp_path):
    path, other = tmp_path / "table.csv", tmp_path / "test.csv"
    frame = pl.DataFrame({"x": range(40), "y": [*"ab"] * 20, "w": 1.0})
    frame.write_csv(path)
    frame.with_columns(w=0.0).write_csv(other)
    call = ["fit", path, "--target", "y", "--weight", "w", "--n-terms", 1, "--test", other]
    code, _, err = run(*call)
    assert code == 1
    assert "error: Scores need rows with a target and a positive weight. Got none." in err


def test_classes_of_numbers_are_written_in_any_way(run, tmp_path):
    path, model = tmp_path / "table.csv", tmp_path / "model.json"
    pl.DataFrame({"x": range(40), "y": [0.0, 1.0] * 20}).write_csv(path)
    call = ["fit", path, "--target", "y", "--n-terms", 1, "--no-validation"]
    for zero in ("0", "0.0"):
        options = ["--positive", zero, "--class-weight", f"{zero}=5", "-o", model]
        assert run(*call, *options)[0] == 0
        assert load_model(model).settings_.positive == 0.0
        assert load_model(model).settings_.class_weight == {0.0: 5.0}
    refused(run(*call, "--positive", "2"), "must name classes of the target, '0' and '1'. Got '2'.")
    refused(run(*call, "--class-weight", "b=2"), "classes of the target, '0' and '1'. Got 'b'.")


def test_a_class_that_is_never_predicted(run, rare):
    _, out, _ = run("fit", rare, "--target", "leaves", "--n-terms", 1)
    assert re.search(r"On held-out rows the model never predicts yes \(\d.*% of them\)\.", out)
    assert "set --class-weight balanced." in out


def test_fewer_terms_of_the_same_loss(run, tmp_path):
    generator = np.random.default_rng(0)
    x = generator.integers(0, 4, size=(300, 3))
    y = 3.0 * (x[:, 0] > 1) + generator.normal(size=300)
    path = tmp_path / "step.csv"
    pl.DataFrame({"a": x[:, 0], "b": x[:, 1], "c": x[:, 2], "y": y}).write_csv(path)
    model = tmp_path / "model.json"
    _, out, _ = run("fit", path, "--target", "y", "--n-terms", 8, "-o", model)
    n_terms = load_model(model).record_.unseen.fewer.n_terms
    assert 0 < n_terms < 8
    assert f"With {n_terms} terms, the RMSE on held-out rows is " in out
    assert f": try --n-terms {n_terms}." in out
    code, out, _ = run("fit", path, "--target", "y", "--n-terms", 1)
    assert code == 0
    assert "Regression model: 1 rule with 1 condition." in out
    assert "try --n-terms" not in out


def test_a_class_of_one_row_is_named_where_it_prevents_cross_validation(run, tmp_path):
    path = tmp_path / "rare.csv"
    labels = [*["yes", "no"] * 100, "typo"]
    pl.DataFrame({"x": range(201), "y": labels}).write_csv(path)
    code, out, err = run("fit", path, "--target", "y", "--n-terms", 1)
    assert code == 0
    assert "held-out rows" not in out
    assert "There is a single one of 'typo'" in err


@pytest.fixture
def visits(tmp_path):
    """File of a table with four rows for each patient."""
    path = tmp_path / "visits.csv"
    people(200).with_columns(patient=pl.format("no {}", pl.int_range(200) // 4)).write_csv(path)
    return path


@pytest.mark.parametrize("options", [("--honest", "0.5"), ("--n-terms", "cv"), ()])
def test_groups_are_kept_together(run, visits, tmp_path, monkeypatch, options):
    given, fit = [], RuleBoosting.fit

    def record(self, X, y, sample_weight=None, exposure=None, groups=None):
        given.append((X.columns, groups))
        return fit(self, X, y, sample_weight, exposure, groups)

    monkeypatch.setattr(RuleBoosting, "fit", record)
    saved = tmp_path / "model.json"
    tokens = fit_client(visits, "--groups", "patient", *options, "--output", saved)
    code, out, err = run(*tokens)
    assert (code, err) == (0, "")
    assert all("patient" not in columns for columns, _ in given)
    n_groups = [None if groups is None else len(np.unique(groups)) for _, groups in given]
    expected = {"--honest": [50] + [40] * 5, "--n-terms": [50] + [None] * 5}
    assert n_groups == expected.get((*options, "")[0], [None] * 6)
    assert "held-out rows" in out
    assert load_model(saved).record_.settings["groups"] == "patient"
    assert "--groups patient" in run("show", saved)[1]


def test_groups_that_cannot_be_held_out(run, visits, tmp_path):
    saved = tmp_path / "model.json"
    one = tmp_path / "one.csv"
    frame = pl.read_csv(visits).with_columns(client=pl.lit("no"))
    is_first = pl.col("patient") == "no 0"
    frame.with_columns(client=pl.when(is_first).then(pl.lit("yes")).otherwise("client")).write_csv(
        one
    )
    tokens = fit_client(one, "--groups", "patient", "--n-terms", 1)
    code, _, err = run(*tokens, "--output", saved)
    assert code == 0
    assert "Some class is in too few groups" in err
    assert saved.exists()
    assert refused(run(*tokens, "--honest", "0.5", "--quiet"), "--honest 0.5 needs rows of every")
    gaps = tmp_path / "gaps.csv"
    frame.with_columns(patient=pl.when(~is_first).then("patient")).write_csv(gaps)
    tokens = ["fit", gaps, "--target", "age", "--groups", "patient"]
    assert refused(run(*tokens, "--quiet"), "--groups must have a value in every row")
    assert refused(run(*fit_client(visits, "--groups", "nurse")), "the column 'nurse'")


def test_groups_need_a_table_that_is_loaded(run, visits):
    tokens = fit_client(f"{visits.parent}/vis*.csv", "--groups", "patient")
    assert refused(run(*tokens), "--groups needs a table that is loaded", "--drop patient")


def test_rows_to_score_on_need_no_groups(run, visits, table):
    options = ("--groups", "patient", "--honest", "0.5", "--test", table)
    code, out, err = run(*fit_client(visits, *options))
    assert (code, err) == (0, "")
    assert "test rows" in out
