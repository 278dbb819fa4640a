"""Fitted models in forms that other programs read, one module per form."""

from laconic.export.javascript import to_javascript
from laconic.export.json import load_model, model_schema, save_model, to_json
from laconic.export.model_dict import model_from_dict, model_to_dict
from laconic.export.onnx import to_onnx
from laconic.export.onnx_converter import register_onnx_converters
from laconic.export.pmml import to_pmml
from laconic.export.python import to_python
from laconic.export.scorecard import Scorecard, to_scorecard
from laconic.export.sql import to_sql

__all__ = [
    "Scorecard",
    "load_model",
    "model_from_dict",
    "model_schema",
    "model_to_dict",
    "register_onnx_converters",
    "save_model",
    "to_javascript",
    "to_json",
    "to_onnx",
    "to_pmml",
    "to_python",
    "to_scorecard",
    "to_sql",
]
