"""How the texts of a file became numbers, kept with models."""

import json
import pickle

import jsonschema
import pytest

from laconic import RuleBoostingRegressor, load_model, save_model
from laconic.estimators.files import model_from_dict
from laconic.export import model_schema, model_to_dict
from laconic.export.json.format import READING as FORMAT
from laconic.tables.text_files.dates import DATE_FORMATS
from laconic.tables.text_files.text_format import Reading

READING = Reading(",", {"day": "%d.%m.%Y"}, ("-", "<5"))


def fitted():
    return RuleBoostingRegressor(1).fit([[1], [2], [3], [4]], [5, 5, 1, 1])


def test_reading_round_trips():
    for reading in (READING, Reading()):
        assert pickle.loads(pickle.dumps(reading)) == reading
    assert "missing" not in FORMAT.write(Reading())
    assert FORMAT.read(json.loads(json.dumps(FORMAT.write(READING))), "reading") == READING


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ([], "reading must be a JSON object"),
        ({"decimal": "."}, "must have the key 'dates'"),
        ({"decimal": ".", "dates": {}, "more": 1}, "Got 'more' as well"),
        ({"decimal": ";", "dates": {}}, "reading.decimal must be '.' or ','"),
        ({"decimal": ".", "dates": []}, "reading.dates must be a JSON object"),
        ({"decimal": ".", "dates": {}, "missing": [1]}, r"reading.missing\[0\] must be"),
        ({"decimal": ".", "dates": {"a": "%H"}}, "reading.dates.a must be"),
    ],
)
def test_wrong_entries_are_refused(data, message):
    with pytest.raises(ValueError, match=message):
        FORMAT.read(data, "reading")
    with pytest.raises(ValueError, match=message):
        model_from_dict(model_to_dict(fitted()) | {"reading": data})


def test_models_keep_it_until_they_are_fitted_again(tmp_path):
    model = fitted()
    assert model.reading_ is None
    assert "reading" not in model_to_dict(model)
    model.reading_ = READING
    jsonschema.validate(model_to_dict(model), model_schema())
    save_model(model, tmp_path / "model.json")
    loaded = load_model(tmp_path / "model.json")
    assert loaded.reading_ == READING
    assert loaded.fit([[1], [2]], [1, 2]).reading_ is None


def test_formats_are_different():
    assert len(set(DATE_FORMATS)) == len(DATE_FORMATS)
