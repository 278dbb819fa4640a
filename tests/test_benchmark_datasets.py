"""Problems of the paper: where they come from, and what is said when one is not there."""

from __future__ import annotations

import gzip
import json

import narwhals as nw
import numpy as np
import pandas as pd
import pytest

from benchmarks import datasets
from benchmarks.datasets import DATASET_NAMES, load_dataset

OFFLINE = {
    "breast_cancer": (569, 30),
    "classification2": (2000, 8),
    "diabetes": (442, 10),
    "friedman1": (2000, 10),
    "friedman2": (2000, 4),
    "friedman3": (2000, 4),
    "iris": (150, 4),
    "tic_tac_toe": (958, 9),
    "wine": (178, 13),
}
TWO_CLASSES = {"breast_cancer", "classification2", "iris", "tic_tac_toe", "wine"}


@pytest.fixture
def no_folder(monkeypatch):
    monkeypatch.delenv("LACONIC_DATASETS", raising=False)


@pytest.fixture
def insurance_folder(tmp_path):
    lines = [f"{20 + i % 40},{'yes' if i % 3 else 'no'},{i / 8},0,a,b,{i}.5" for i in range(1338)]
    text = "\n".join(["age,smoker,bmi,children,sex,region,target", *lines])
    (tmp_path / "insurance.csv").write_text(text, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("name", OFFLINE)
def test_offline_problems(name, no_folder):
    dataset = load_dataset(name, random_state=3)
    assert dataset.data.shape == OFFLINE[name]
    assert len(dataset.target) == OFFLINE[name][0]
    assert len(dataset.feature_names) == OFFLINE[name][1]
    if name in TWO_CLASSES:
        assert set(dataset.target.tolist()) == {-1, 1}
        assert len(dataset.target_names) == 2
    else:
        assert dataset.target.dtype == np.float64


def test_seed_draws_the_sample(no_folder):
    first, again = (load_dataset("friedman1", random_state=5) for _ in range(2))
    np.testing.assert_array_equal(first.data, again.data)
    assert not np.array_equal(first.data, load_dataset("friedman1", random_state=6).data)


def test_classes_are_named_in_their_order(no_folder):
    dataset = load_dataset("breast_cancer")
    assert dataset.target_names == ("malignant", "benign")
    assert (dataset.target == 1).sum() == 357
    assert load_dataset("iris").target_names == ("setosa or virginica", "versicolor")


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_files_keep_the_kind_of_each_column(backend, insurance_folder):
    pytest.importorskip(backend)
    dataset = load_dataset("insurance", folder=insurance_folder, backend=backend)
    schema = nw.from_native(dataset.data, eager_only=True).schema
    assert schema["age"] == nw.Int64
    assert schema["bmi"] == nw.Float64
    assert schema["smoker"] == nw.String
    assert dataset.target[:2].tolist() == [0.5, 1.5]
    assert "target" not in dataset.feature_names


def test_mixed_columns_without_a_backend_are_objects(insurance_folder):
    dataset = load_dataset("insurance", folder=insurance_folder)
    assert dataset.data.dtype == object
    assert dataset.data[1].tolist() == [21, "yes", 0.125, 0, "a", "b"]


def test_folder_from_the_environment_and_compressed_file(insurance_folder, monkeypatch):
    plain = insurance_folder / "insurance.csv"
    with gzip.open(insurance_folder / "insurance.csv.gz", "wt", encoding="utf-8") as file:
        file.write(plain.read_text(encoding="utf-8"))
    plain.unlink()
    monkeypatch.setenv("LACONIC_DATASETS", str(insurance_folder))
    assert load_dataset("insurance").data.shape == (1338, 6)


def test_table_of_another_shape_is_refused(insurance_folder):
    path = insurance_folder / "insurance.csv"
    shorter = path.read_text(encoding="utf-8").splitlines()[:-1]
    path.write_text("\n".join(shorter), encoding="utf-8")
    with pytest.raises(ValueError, match=r"must have 1338 rows and 6 features\. Got 1337 and 6"):
        load_dataset("insurance", folder=insurance_folder)


def test_target_must_be_last(tmp_path):
    (tmp_path / "boston.csv").write_text("target,RM\n1,2\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"last column of .* must be 'target'\. Got 'RM'"):
        load_dataset("boston", folder=tmp_path)


def test_classes_must_be_signs(tmp_path):
    rows = "\n".join("1,2,3,4,5,6,7,0" for _ in range(712))
    (tmp_path / "titanic.csv").write_text(f"a,b,c,d,e,f,g,target\n{rows}", encoding="utf-8")
    with pytest.raises(ValueError, match=r"target of 'titanic' must be -1 or 1\. Got \[0\] from"):
        load_dataset("titanic", folder=tmp_path)


def test_missing_table_says_where_to_get_it(no_folder, tmp_path):
    with pytest.raises(FileNotFoundError, match=r"no folder was given .*mirichoi0218/insurance"):
        load_dataset("insurance")
    with pytest.raises(FileNotFoundError, match=r"has no such file.* Get the table from"):
        load_dataset("boston", folder=tmp_path)


def test_unreachable_host_is_named(no_folder, monkeypatch, tmp_path):
    # A proxy that nobody answers at: no download, with or without a network.
    monkeypatch.setenv("https_proxy", "http://127.0.0.1:9")
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path))
    with (
        pytest.warns(UserWarning, match="network error"),
        pytest.raises(FileNotFoundError, match="OpenML, which hosts it as data set 531, could not"),
    ):
        load_dataset("boston")


def test_unknown_name_lists_the_known_ones():
    with pytest.raises(ValueError, match=r"'name' must be one of 'boston', .* Got 'atlantis'"):
        load_dataset("atlantis")


@pytest.mark.datasets
def test_every_problem_of_the_folder_loads(datasets_folder):
    specifications = json.loads((datasets_folder / "spec.json").read_text(encoding="utf-8"))
    assert set(DATASET_NAMES) == set(specifications)
    for name, spec in specifications.items():
        dataset = load_dataset(name, folder=datasets_folder, random_state=0)
        assert dataset.data.shape == (spec["source"]["rows"], spec["source"]["features"])
        is_number = len(dataset.target_names) == 1
        assert is_number == (spec["task"] == "regression")


def as_hosted(columns, target):
    """Table in the manner of OpenML, where numbers may be declared as categories."""
    frame = pd.DataFrame(columns)
    return frame, pd.Series(target).astype(str).astype("category")


def test_conversion_of_hosted_digits():
    digits = np.arange(10)
    X, y = as_hosted({f"input{i}": digits for i in range(1, 65)}, digits)
    columns, target = datasets._digits5(X, y)
    assert target.tolist() == [-1, -1, -1, 1, -1, -1, -1]
    assert columns["pixel_7_7"].tolist() == [0, 2, 3, 5, 6, 8, 9]
    assert len(columns) == 64


def test_conversion_of_hosted_boston():
    X, y = as_hosted({"CHAS": pd.Categorical(["0", "1"]), "RM": [6.5, 7.0]}, [24.0, 21.6])
    columns, target = datasets._boston(X, y)
    assert columns["CHAS"].tolist() == [0.0, 1.0]
    assert target.tolist() == [24.0, 21.6]


def test_conversion_of_hosted_wine():
    X, y = as_hosted({f"V{i}": [float(i)] for i in range(1, 12)}, [5])
    columns, target = datasets._red_wine_quality(X, y)
    assert columns["alcohol"].tolist() == [11.0]
    assert target.tolist() == [5]


def test_conversion_of_hosted_churn():
    frame = {"SeniorCitizen": ["0", "1"], "Contract": ["'One year'", "x"], "TotalCharges": ["", ""]}
    X, y = as_hosted(frame, ["Yes", "No"])
    columns, target = datasets._telco_churn(X, y)
    assert list(columns) == ["SeniorCitizen", "Contract"]
    assert columns["SeniorCitizen"].tolist() == [0.0, 1.0]
    assert columns["Contract"].tolist() == ["One year", "x"]
    assert target.tolist() == [1, -1]
