"""Fits to tables that are read in parts, and to long ones in memory: the same to the last bit."""

from __future__ import annotations

from functools import partial

import duckdb
import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from estimators import forms
from laconic import (
    ColumnWarning,
    Condition,
    RuleBoostingClassifier,
    RuleBoostingClassifierCV,
    RuleBoostingRegressor,
    scan,
)
from laconic.candidates.distinct_rows import summary
from laconic.estimators import read_training_data
from laconic.losses import SquaredLoss
from laconic.tables.times import kind_of

# Tables that are read in parts have rules only.
Classifier = partial(RuleBoostingClassifier, slopes=False)
Regressor = partial(RuleBoostingRegressor, slopes=False)
FEATURES = ["number", "few", "text", "flag", "gaps"]


def make_table(n_rows, seed=0):
    rng = np.random.default_rng(seed)
    number, few = rng.normal(size=n_rows).round(3), rng.integers(0, 4, n_rows)
    text = rng.choice(["a", "b", "c é"], n_rows)
    flag = rng.random(n_rows) < 0.4
    gaps = np.where(rng.random(n_rows) < 0.2, None, rng.exponential(size=n_rows).round(2))
    signal = 2.0 * ((number > 0.2) & (text == "a")) + 1.0 * (flag & (few > 1))
    target = signal + rng.normal(size=n_rows)
    return pl.DataFrame(
        {
            "number": number,
            "few": few,
            "text": text,
            "flag": flag,
            "gaps": pl.Series(gaps.tolist(), dtype=pl.Float64),
            "target": target,
            "class": np.where(target > 1, "yes", "no"),
            "weight": rng.choice([0.0, 0.3, 1.0, 2.5], n_rows),
        }
    )


TASKS = {"class": Classifier, "target": Regressor}


def assert_same(one, other):
    """Compare two models to the last bit."""
    assert one.ensemble_ == other.ensemble_
    assert one.rule_coverages_ == other.rule_coverages_
    assert one.l2_regularization_ == other.l2_regularization_
    assert one.n_candidates_ == other.n_candidates_
    assert one.settings_ == other.settings_
    np.testing.assert_array_equal(one.feature_importances_, other.feature_importances_)
    for mine, yours in zip(one.search_results_, other.search_results_, strict=True):
        assert (mine.query, mine.objective_value, mine.bound, mine.status) == (
            *(yours.query, yours.objective_value),
            *(yours.bound, yours.status),
        )


@pytest.fixture(params=["polars", "duckdb", "parquet", "csv", "parts"])
def as_stream(request, tmp_path):
    def stream(frame):
        if request.param == "polars":
            return frame.lazy()
        if request.param == "duckdb":
            return duckdb.sql("SELECT * FROM frame")
        if request.param == "parquet":
            for number, part in enumerate(frame.iter_slices(777)):
                part.write_parquet(tmp_path / f"part-{number:02}.parquet")
            return scan(tmp_path / "part-*.parquet", rows_per_part=500)
        if request.param == "csv":
            frame.write_csv(tmp_path / "table.csv")
            return scan(tmp_path / "table.csv", rows_per_part=500)
        return scan(frame, rows_per_part=321)

    return stream


@pytest.mark.parametrize("weight", [None, "weight"])
@pytest.mark.parametrize("target", TASKS)
def test_streams_give_the_model_of_the_table_in_memory(as_stream, target, weight, monkeypatch):
    monkeypatch.setattr(read_training_data, "LONG_TABLE", 0)
    frame = make_table(2000)
    columns = frame.select(*FEATURES, target, *([] if weight is None else [weight]))
    weights = None if weight is None else frame[weight].to_numpy()
    model = TASKS[target](n_terms=4)
    known = model.fit(frame.select(FEATURES), frame[target].to_numpy(), weights)
    assert len(known.ensemble_) == 4
    found = TASKS[target](n_terms=4).fit(as_stream(columns), target, weight)
    assert_same(found, known)
    np.testing.assert_array_equal(found.feature_names_in_, FEATURES)
    np.testing.assert_array_equal(
        found.predict(frame.select(FEATURES)), known.predict(frame.select(FEATURES))
    )


@pytest.mark.parametrize("target", TASKS)
def test_rows_in_any_order_and_parts_of_any_size_give_the_same_model(target):
    frame = make_table(150).select(*FEATURES, target)
    models = [
        TASKS[target](n_terms=3).fit(
            scan(frame.sample(fraction=1.0, shuffle=True, seed=seed), rows_per_part=size), target
        )
        for seed, size in [(0, 150), (1, 1), (2, 37), (3, 10**9)]
    ]
    for other in models[1:]:
        assert_same(other, models[0])


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from([*TASKS]), st.sampled_from([None, "weight"]))
def test_reduced_rows_give_the_model_of_all_rows(seed, target, weight):
    rng = np.random.default_rng(seed)
    frame = make_table(int(rng.integers(20, 300)), seed)
    weights = None if weight is None else frame[weight].to_numpy()
    if len(set(frame.filter(pl.lit(True) if weight is None else pl.col(weight) > 0)["class"])) < 2:
        return
    model = TASKS[target](n_terms=2, max_thresholds=int(rng.integers(1, 5)))
    model.fit(frame.select(FEATURES), frame[target].to_numpy(), weights)
    columns = frame.select(*FEATURES, target, *([] if weight is None else [weight]))
    found = TASKS[target](n_terms=2, max_thresholds=model.max_thresholds)
    found.fit(scan(columns, rows_per_part=50), target, weight)
    # Ties between rules may go either way where sums are rounded in another way.
    gains = [result.objective_value for result in model.search_results_]
    assert [r.objective_value for r in found.search_results_] == pytest.approx(gains, rel=1e-9)
    assert found.ensemble_.intercept == pytest.approx(model.ensemble_.intercept, abs=1e-9)


def test_long_tables_in_memory_are_reduced_without_changing_the_model(monkeypatch):
    frame = make_table(read_training_data.LONG_TABLE)
    X, y = frame.select(FEATURES), frame["target"].to_numpy()
    reduced = Regressor(n_terms=3).fit(X, y)
    monkeypatch.setattr(read_training_data, "LONG_TABLE", 10**9)
    whole = Regressor(n_terms=3).fit(X, y)
    assert forms(reduced) == forms(whole)
    np.testing.assert_allclose(reduced.predict(X), whole.predict(X), rtol=1e-12)
    np.testing.assert_allclose(reduced.feature_importances_, whole.feature_importances_)
    for mine, yours in zip(reduced.rule_coverages_, whole.rule_coverages_, strict=True):
        assert (mine.coverage, mine.share) == (yours.coverage, yours.share)
        assert mine.mean_target == pytest.approx(yours.mean_target)


class HuberLike:
    """A loss that needs every target, not means."""

    def value(self, y, raw_predictions):
        return np.sqrt(1 + np.square(y - raw_predictions))

    def gradients(self, y, raw_predictions):
        return (raw_predictions - y) / self.value(y, raw_predictions)

    def hessians(self, y, raw_predictions):
        return self.value(y, raw_predictions) ** -3.0

    def inverse_link(self, raw_predictions):
        return raw_predictions


def test_losses_that_do_not_take_means_get_every_target(monkeypatch):
    frame = make_table(800).with_columns(pl.col("target").round(1))
    known = Regressor(n_terms=2, loss=HuberLike())
    known.fit(frame.select(FEATURES), frame["target"].to_numpy())
    found = Regressor(n_terms=2, loss=HuberLike())
    found.fit(frame.select(*FEATURES, "target").lazy(), "target")
    np.testing.assert_allclose(
        found.predict(frame.select(FEATURES)), known.predict(frame.select(FEATURES)), rtol=1e-9
    )


def test_a_loss_of_means_may_not_be_inherited_from_by_mistake():
    class Mine(SquaredLoss):
        takes_means = False

    frame = make_table(300).select(*FEATURES, "target")
    one = Regressor(n_terms=2, loss=Mine()).fit(frame.lazy(), "target")
    other = Regressor(n_terms=2).fit(frame.lazy(), "target")
    np.testing.assert_allclose(
        one.predict(frame.select(FEATURES)), other.predict(frame.select(FEATURES))
    )


def test_warm_start_goes_on_with_other_conditions():
    frame = make_table(1000).select(*FEATURES, "class")
    model = Classifier(n_terms=2, warm_start=True).fit(frame.lazy(), "class")
    first = model.ensemble_.terms
    model.set_params(n_terms=4, max_thresholds=2).fit(frame.lazy(), "class")
    assert forms(model)[:2] == [rule.query for rule in first]
    covered = model.ensemble_.covered(frame.select(FEATURES)).sum(axis=0)
    assert [rule.coverage for rule in model.rule_coverages_] == covered.tolist()
    with pytest.raises(ValueError, match="must be those that the model was fitted to"):
        model.fit(frame.drop("few").lazy(), "class")


def test_given_conditions(monkeypatch):
    frame = make_table(500).select(*FEATURES, "class")
    own = (Condition("number", ">", 0.2), Condition("text", "==", "a"))
    known = Classifier(n_terms=2, conditions=own)
    monkeypatch.setattr(read_training_data, "LONG_TABLE", 0)
    known.fit(frame.select(FEATURES), frame["class"].to_numpy())
    found = Classifier(n_terms=2, conditions=own).fit(frame.lazy(), "class")
    assert_same(found, known)
    for conditions, error, message in [
        ([Condition("umber", ">", 1)], ValueError, "Did you mean 'number'"),
        ([Condition("number", "==", "a")], TypeError, "needs a column of strings"),
        ([], ValueError, "Got none at all"),
    ]:
        model = Classifier(conditions=conditions)
        with pytest.raises(error, match=message):
            model.fit(frame.lazy(), "class")
        with pytest.raises(error, match=message):
            model.fit(frame.select(FEATURES), frame["class"].to_numpy())


@pytest.mark.parametrize(
    ("cells", "classes"),
    [
        ([0, 1], np.array([0, 1])),
        ([0.0, 1.0], np.array([0.0, 1.0])),
        ([False, True], np.array([False, True])),
        (["b", "a"], np.array(["a", "b"], dtype=object)),
    ],
)
def test_classes_of_any_type(cells, classes):
    frame = pl.DataFrame({"x": [1, 2, 3, 4], "y": [cells[0], cells[1]] * 2})
    model = Classifier(n_terms=1).fit(frame.lazy(), "y")
    assert model.classes_.dtype == classes.dtype
    np.testing.assert_array_equal(model.classes_, classes)
    assert set(model.predict(frame.select("x")).tolist()) <= set(cells)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (("clas",), ValueError, r"target y must be the name of a column.*Did you mean 'class'"),
        ((["a"],), TypeError, "target y of a table that is read in parts must be the name"),
        (("class", "wght"), ValueError, "sample_weight must be the name of a column"),
        (("class", [1.0]), TypeError, "Got list instead"),
    ],
)
def test_wrong_roles_are_reported(arguments, error, message):
    frame = make_table(50)
    with pytest.raises(error, match=message):
        Classifier().fit(frame.lazy(), *arguments)


def test_a_target_alone_is_reported():
    with pytest.raises(ValueError, match="at least one column besides the target"):
        Classifier().fit(pl.LazyFrame({"y": [0, 1]}), "y")


@pytest.mark.parametrize("estimator", [RuleBoostingClassifier, RuleBoostingRegressor])
def test_slopes_need_all_rows(estimator):
    frame = make_table(50)
    with pytest.raises(
        ValueError, match=r"^Slopes need a table in memory\. Got one .* slopes=False"
    ):
        estimator(1).fit(frame.select("number", "few", "weight").lazy(), "few")


def test_long_tables_keep_all_rows_for_slopes():
    """Rows that conditions do not distinguish differ in the numbers that slopes use."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=read_training_data.LONG_TABLE)
    y = x + 0.1 * rng.normal(size=len(x))
    long = RuleBoostingRegressor(1, max_thresholds=1).fit(x[:, np.newaxis], y)
    [slope] = long.ensemble_
    values = slope.values(x[:, np.newaxis])
    design = np.column_stack([values, np.ones(len(x))])
    expected, _ = np.linalg.lstsq(design, y, rcond=None)[0]
    assert slope.weight == pytest.approx(expected, rel=0.01)


def test_estimators_that_hold_rows_out_refuse_streams():
    with pytest.raises(TypeError, match="needs a table in memory, to hold rows out"):
        RuleBoostingClassifierCV().fit(make_table(50).lazy(), "class")


def test_columns_that_tell_the_target_are_reported():
    frame = make_table(300).select("number", "class").with_columns(copy=pl.col("class"))
    with pytest.warns(ColumnWarning, match="'copy' determines the target") as caught:
        Classifier(n_terms=1).fit(frame.lazy(), "class")
    assert caught[0].filename == __file__


def test_progress_tells_rows_per_second(capsys):
    frame = make_table(1000).select(*FEATURES, "class")
    source = scan(frame, rows_per_part=300)
    seen = []
    source.on_progress = seen.append
    Classifier(n_terms=1, verbose=1).fit(source, "class")
    assert {progress.step for progress in seen} == {"values", "rows"}
    assert [progress.n_rows for progress in seen if progress.step == "rows"] == [
        *(300, 600, 900),
        *(1000, 1000),
    ]
    assert seen[-1].n_distinct <= 1000
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("read values: 1,000 rows, ")
    assert lines[0].endswith(" rows/s")


def test_an_interrupt_leaves_no_model_behind():
    source = scan(make_table(1000).select(*FEATURES, "class"), rows_per_part=300)

    def interrupt(progress):
        raise KeyboardInterrupt

    model = Classifier(n_terms=1).fit(source, "class")
    source.on_progress = interrupt
    with pytest.raises(KeyboardInterrupt):
        model.fit(source, "class")
    assert not hasattr(model, "ensemble_")


def test_targets_that_a_loss_does_not_suit_are_reported_though_their_means_do():
    frame = pl.DataFrame({"x": [1, 1, 2, 2], "y": [3.0, 0.0, 2.0, 1.0]})
    with pytest.raises(ValueError, match="gamma"):
        Regressor(loss="gamma").fit(frame.lazy(), "y")
    model = Regressor(loss="poisson", n_terms=1).fit(frame.lazy(), "y")
    known = Regressor(loss="poisson", n_terms=1).fit(frame.select("x"), frame["y"])
    np.testing.assert_allclose(model.predict(frame.select("x")), known.predict(frame.select("x")))


def test_a_model_with_a_certificate_for_all_rows_is_made_of_them(monkeypatch):
    frame = make_table(300).select("number", "few", "target")
    with pytest.raises(ValueError, match="strategy='global' needs a table in memory"):
        Regressor(strategy="global").fit(frame.lazy(), "target")
    monkeypatch.setattr(read_training_data, "LONG_TABLE", 0)
    X = frame.drop("target")
    model = Regressor(n_terms=1, strategy="global", max_conditions=1)
    assert model.fit(X, frame["target"]).certificate_.verify(X)


@pytest.mark.parametrize("weight", [None, "weight"])
@pytest.mark.parametrize("loss", ["poisson", "tweedie"])
def test_an_exposure_divides_the_target_and_weighs_the_row(as_stream, loss, weight, monkeypatch):
    monkeypatch.setattr(read_training_data, "LONG_TABLE", 0)
    rng = np.random.default_rng(3)
    frame = make_table(1500).with_columns(
        years=pl.Series(rng.choice([0.25, 0.7, 1.0, 3.1], 1500)),
        counts=pl.Series(rng.poisson(1.5, 1500)),
    )
    columns = frame.select(*FEATURES, "counts", "years", *([] if weight is None else [weight]))
    weights = None if weight is None else frame[weight].to_numpy()
    known = Regressor(n_terms=3, loss=loss)
    known.fit(frame.select(FEATURES), frame["counts"], weights, exposure=frame["years"].to_numpy())
    found = Regressor(n_terms=3, loss=loss)
    found.fit(as_stream(columns), "counts", weight, exposure="years")
    assert_same(found, known)


def make_times(n_rows, seed=0):
    rng = np.random.default_rng(seed)
    seconds = np.datetime64("2021-05-03T07:00:00", "s") + rng.integers(0, 10**8, n_rows)
    moment = pl.Series(seconds.astype("M8[us]"))
    moment = pl.select(pl.when(pl.Series(rng.random(n_rows) > 0.1)).then(moment)).to_series()
    day = pl.Series(seconds.astype("M8[D]"))
    signal = seconds > np.sort(seconds)[n_rows // 2]
    target = 2.0 * signal + rng.normal(size=n_rows)
    return pl.DataFrame(
        {
            "moment": moment,
            "day": day,
            "text": day.cast(pl.String),
            "long text": pl.Series(seconds.astype(str)),
            "few": rng.integers(0, 4, n_rows),
            "target": target,
            "class": np.where(target > 1, "yes", "no"),
            "weight": rng.choice([0.0, 0.3, 1.0, 2.5], n_rows),
        }
    )


@pytest.mark.parametrize("weight", [None, "weight"])
@pytest.mark.parametrize("ranges", [2**16, 64])
def test_dates_have_the_round_thresholds_of_the_table_in_memory(
    as_stream, weight, ranges, monkeypatch
):
    monkeypatch.setattr(read_training_data, "LONG_TABLE", 0)
    for function in (summary.ValueCounts.of.__func__, summary.ValueCounts.merge):
        monkeypatch.setattr(function, "__defaults__", (ranges,))
    monkeypatch.setattr(summary, "MAX_CATEGORIES", 1000)
    frame = make_times(1500)
    names = ["moment", "day", "text", "long text", "few"]
    columns = frame.select(*names, "class", *([] if weight is None else [weight]))
    weights = None if weight is None else frame[weight].to_numpy()
    known = Classifier(n_terms=3)
    known.fit(frame.select(names), frame["class"].to_numpy(), weights)
    assert any(kind_of(p.value) for p in known.ensemble_.conditions)
    found = Classifier(n_terms=3).fit(as_stream(columns), "class", weight)
    assert_same(found, known)
    monkeypatch.setattr(read_training_data, "LONG_TABLE", 10**9)
    whole = Classifier(n_terms=3)
    whole.fit(frame.select(names), frame["class"].to_numpy(), weights)
    assert forms(whole) == forms(known)


def test_texts_are_dates_only_if_all_of_them_are():
    frame = make_times(900).select("text", "class")
    odd = frame.with_columns(
        text=pl.when(pl.int_range(900) == 899).then(pl.lit("n/a")).otherwise("text")
    )
    model = Classifier(n_terms=1)
    dated = model.fit(scan(frame, rows_per_part=100), "class").ensemble_
    assert kind_of(dated.conditions[0].value) == "date"
    texts = model.fit(scan(odd, rows_per_part=100), "class").ensemble_
    assert all(isinstance(each.value, str | tuple | None) for each in texts.conditions)


@pytest.mark.parametrize("long", [0, 10**9])
def test_parts_of_dates_are_not_lost(long, monkeypatch):
    monkeypatch.setattr(read_training_data, "LONG_TABLE", long)
    frame = make_times(400)
    rule = "weekday of day == Sat"
    model = Classifier(n_terms=2, initial_terms=[rule])
    model.fit(frame.select("moment", "day"), frame["class"].to_numpy())
    covered = (frame["day"].dt.weekday() == 6).sum()
    assert model.rule_coverages_[0].coverage == covered
    with pytest.raises(ValueError, match="parts of dates need a table in memory"):
        model.fit(frame.select("moment", "day", "class").lazy(), "class")


def test_rules_of_your_own(as_stream, monkeypatch):
    monkeypatch.setattr(read_training_data, "LONG_TABLE", 0)
    frame = make_table(1500)
    rules = ["number > 0.123 & few in {1, 3}", 'text == "c é" & flag']
    how = {"n_terms": 4, "initial_terms": rules, "excluded_terms": ["gaps <= 0.77 & flag == false"]}
    known = Classifier(**how).fit(frame.select(FEATURES), frame["class"].to_numpy())
    found = Classifier(**how).fit(as_stream(frame.select(*FEATURES, "class")), "class")
    assert_same(found, known)
    X = frame.select(FEATURES)
    covered = [rule.query.covered(X).sum() for rule in found.ensemble_]
    assert [rule.coverage for rule in found.rule_coverages_] == covered
    assert str(found.ensemble_[0].query) == str(known.ensemble_[0].query)
    with pytest.raises(ValueError, match="'text' has no category 'zzz'"):
        Classifier(initial_terms=["text == zzz"]).fit(
            frame.select(*FEATURES, "class").lazy(), "class"
        )


def test_exposures_that_are_none_are_reported():
    frame = make_table(50).with_columns(years=pl.lit(0.0))
    table = frame.select(*FEATURES, "target", "years").lazy()
    with pytest.raises(ValueError, match="An exposure needs a loss with a logarithmic link"):
        Regressor().fit(table, "target", exposure="years")
    model = Regressor(loss="poisson")
    with pytest.raises(ValueError, match=r"exposure, column 'years', must be a positive number"):
        model.fit(table, "target", exposure="years")
    with pytest.raises(ValueError, match="exposure must be the name of a column"):
        model.fit(table, "target", exposure="yers")


@pytest.mark.parametrize("class_weight", [None, "balanced", {"b": 3.0}])
def test_alternatives_in_a_stream_of_three_classes(class_weight):
    frame = make_table(600).with_columns(
        kind=pl.Series(np.random.default_rng(0).choice(["a", "b", "c"], size=600))
    )
    columns, target = frame.select(FEATURES), frame["kind"].to_numpy()
    model = Classifier(2, class_weight=class_weight, brevity=0.0).fit(columns, target)
    expected = model.alternatives(1, columns, target, tolerance=0.4)
    source = frame.select(*FEATURES, "kind").lazy()
    found = model.alternatives(1, source, "kind", tolerance=0.4)
    assert len(expected) > 0
    assert [(one.form, one.output) for one in found] == [(one.form, one.output) for one in expected]
    np.testing.assert_allclose(
        [(one.share, one.overlap) for one in found],
        [(one.share, one.overlap) for one in expected],
    )
