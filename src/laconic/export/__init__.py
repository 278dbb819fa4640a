"""Fitted models in forms that other programs read, one module or folder per form."""

from laconic.export.json.files import model_to_dict, to_json
from laconic.export.json.format import model_schema
from laconic.export.onnx.converter import register_onnx_converters
from laconic.export.onnx.model import to_onnx
from laconic.export.pmml import to_pmml
from laconic.export.program.functions import to_javascript, to_python
from laconic.export.scorecard import Scorecard, to_scorecard
from laconic.export.sql.statement import to_sql

__all__ = [
    "Scorecard",
    "model_schema",
    "model_to_dict",
    "register_onnx_converters",
    "to_javascript",
    "to_json",
    "to_onnx",
    "to_pmml",
    "to_python",
    "to_scorecard",
    "to_sql",
]
