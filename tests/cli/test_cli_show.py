"""laconic show"""

import json
import re

from laconic import load_model
from laconic.estimators import model_from_dict


def test_show_tells_all_about_a_model(run, model):
    code, out, err = run("show", model)
    assert (code, err) == (0, "")
    for rule in load_model(model).ensemble_:
        assert str(rule.query) in out
    assert "proven optimal" in out
    assert "\x1b" not in out
    assert re.search(r"Features in use \(\d of 3\): ", out)


def test_models_as_json(run, model, table):
    saved = model.read_text(encoding="utf-8")
    assert run("show", model, "--json") == (0, saved, "")
    code, out, _ = run("fit", table, "--target", "spent", "--drop", "client", "--json")
    assert code == 0
    assert len(model_from_dict(json.loads(out)).ensemble_) == 10
