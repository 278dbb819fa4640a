"""Models as ONNX graphs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np

from laconic._util.optional import import_extra
from laconic.export.edge_rows import Outputs, check_outputs, edge_rows, expected_outputs
from laconic.export.onnx.graph import ModelNodes, OnnxGraph, tensor_info
from laconic.export.portable import PortableModel, compared_values, portable_model, refuse_times
from laconic.models import RuleModel

OnnxInputs: TypeAlias = Literal["auto", "columns", "tensor"]
OnnxNumbers: TypeAlias = Literal["double", "float"]

# Old enough for the runtimes that are in use, new enough for all operators in double precision.
_OPSETS = {"": 15, "ai.onnx.ml": 2}
_IR_VERSION = 8

_TENSOR = "X"
_OUTPUTS = ("raw_prediction", "prediction", "probabilities", "covered")


def to_onnx(
    model: RuleModel,
    *,
    inputs: OnnxInputs = "auto",
    numbers: OnnxNumbers = "double",
    missing_text: str = "",
    rule_columns: bool = False,
) -> Any:
    """Write a fitted model as an ONNX graph.

    Before it is returned, the graph is checked by onnx, run on edge rows by onnxruntime, and
    compared with the model.

    Parameters
    ----------
    model : RuleModel
        Fitted, with one of the named losses.
    inputs : {"auto", "columns", "tensor"}, default="auto"
        "columns" has one input per column that rules use, of shape (n_rows, 1) and with the name
        of the column: text as strings, numbers and booleans as numbers. "tensor" has a single
        input X with all columns of the training table, and needs a model without text. "auto" is
        "tensor" where it can be.
    numbers : {"double", "float"}, default="double"
        Type of the numbers that go in. Everything is computed in double precision all the same, so
        that "float" predicts what the model predicts for numbers of single precision.
    missing_text : str, default=""
        What stands for a missing value in text, which ONNX has no sign for. Missing numbers are
        NaN.
    rule_columns : bool, default=False
        Whether to add the output "covered", of shape (n_rows, n_rules).

    Returns
    -------
    onnx_model : onnx.ModelProto
        With the outputs "raw_prediction" and "prediction", of shape (n_rows,), and for a classifier
        "probabilities", of shape (n_rows, n_classes), all numbers in double precision; of three or
        more classes, raw predictions have that shape, too. Write it to a file with
        ``onnx_model.SerializeToString()``.

    Notes
    -----
    Infinities, which `predict` refuses, compare as numbers.

    Examples
    --------
    >>> import numpy as np
    >>> import onnxruntime
    >>> from laconic import RuleBoostingRegressor
    >>> model = RuleBoostingRegressor(l2_regularization=0).fit([[1], [2], [3], [4]], [5, 5, 1, 1])
    >>> session = onnxruntime.InferenceSession(to_onnx(model).SerializeToString())
    >>> session.run(["prediction"], {"X": np.array([[2.0], [3.0]])})
    [array([5., 1.])]
    """
    portable = portable_model(model)
    refuse_times(portable, "ONNX")
    layout = _checked_inputs(portable, inputs)
    if numbers not in ("double", "float"):
        raise ValueError(f"'numbers' must be 'double' or 'float'. Got {numbers!r} instead.")
    check_missing_text(portable, missing_text)
    onnx = import_extra("onnx", "onnx", "The export to ONNX")
    made = _model(portable, layout, numbers.upper(), missing_text, rule_columns)
    onnx.checker.check_model(made, full_check=True)
    _check_in_runtime(model, portable, made, numbers, missing_text)
    return made


def _model(
    portable: PortableModel, layout: str, number_type: str, missing_text: str, rule_columns: bool
) -> Any:
    helper = import_extra("onnx.helper", "onnx", "The export to ONNX")
    graph = OnnxGraph(portable.feature_names)
    nodes = ModelNodes(portable, graph, missing_text)
    if layout == "tensor":
        taken = [_tensor_input(portable, nodes, number_type)]
    else:
        taken = _column_inputs(portable, nodes, number_type)
    results = _results(portable, nodes, nodes.column_of(taken[0].name, 0), rule_columns)
    given = [tensor_info(name, kind, shape) for name, (_, kind, shape) in results.items()]
    for name, (tensor, _, _) in results.items():
        graph.nodes.append(helper.make_node("Identity", [tensor], [name]))
    return helper.make_model(
        helper.make_graph(graph.nodes, "laconic", taken, given, graph.constants),
        opset_imports=[helper.make_opsetid(*domain) for domain in _OPSETS.items()],
        ir_version=_IR_VERSION,
        producer_name="laconic",
    )


def _results(
    portable: PortableModel, nodes: ModelNodes, any_column: str, rule_columns: bool
) -> dict[str, tuple[str, str, list[Any]]]:
    """Tensor, element type and shape of each output."""
    covered = nodes.covered(any_column)
    raw_prediction = nodes.raw_prediction(any_column, covered)
    mean = nodes.mean(raw_prediction)
    results: dict[str, tuple[str, str, list[Any]]] = {
        "raw_prediction": (nodes.flat(raw_prediction), "DOUBLE", ["n_rows"])
    }
    n_classes = len(portable.classes or ())
    if portable.ensemble.outputs:
        results["raw_prediction"] = (raw_prediction, "DOUBLE", ["n_rows", n_classes])
    if portable.classes is None:
        results["prediction"] = (nodes.flat(mean), "DOUBLE", ["n_rows"])
    else:
        kind = class_type(portable.classes)
        label = nodes.flat(nodes.classes(raw_prediction, kind, portable.classes))
        results["prediction"] = (label, kind, ["n_rows"])
        results["probabilities"] = (nodes.probabilities(mean), "DOUBLE", ["n_rows", n_classes])
    if rule_columns and covered:
        table = nodes.graph.node("Concat", covered, axis=1)
        results["covered"] = (table, "BOOL", ["n_rows", len(covered)])
    return results


def _tensor_input(portable: PortableModel, nodes: ModelNodes, number_type: str) -> Any:
    names = list(portable.feature_names)
    for name in portable.kinds:
        nodes.set_numbers(name, nodes.column_of(_TENSOR, names.index(name)))
    return tensor_info(_TENSOR, number_type, ["n_rows", len(names)])


def _column_inputs(portable: PortableModel, nodes: ModelNodes, number_type: str) -> list[Any]:
    # A graph needs an input to know the number of rows, also where no rule does.
    kinds = portable.kinds or {portable.feature_names[0]: "any"}
    _check_names(kinds)
    taken = []
    for name, kind in kinds.items():
        is_text = kind == "text"
        (nodes.set_text if is_text else nodes.set_numbers)(name, name)
        taken.append(tensor_info(name, "STRING" if is_text else number_type, ["n_rows", 1]))
    return taken


def class_type(classes: Sequence[Any]) -> str:
    """Element type of a tensor of classes."""
    kinds = {str: "STRING", bool: "BOOL", int: "INT64", float: "DOUBLE"}
    return kinds[type(classes[0])]


def _checked_inputs(portable: PortableModel, inputs: Any) -> str:
    if inputs not in ("auto", "columns", "tensor"):
        raise ValueError(f"'inputs' must be 'auto', 'columns' or 'tensor'. Got {inputs!r} instead.")
    text = [name for name, kind in portable.kinds.items() if kind == "text"]
    if inputs == "tensor" and text:
        raise ValueError(
            "inputs='tensor' needs a model of numbers, because a tensor has a single type. Got "
            f"rules about text in {text[0]!r}. Use inputs='columns'."
        )
    if inputs == "auto":
        return "columns" if text else "tensor"
    return str(inputs)


def _check_names(names: Iterable[str]) -> None:
    for name in names:
        if name in ("", *_OUTPUTS):
            raise ValueError(
                "The inputs of an ONNX graph must have names other than its outputs, "
                f"{', '.join(map(repr, _OUTPUTS))}. Got a column {name!r}. Fit the model with "
                "another name, or use inputs='tensor' if there is no text."
            )


def check_missing_text(portable: PortableModel, missing_text: Any) -> None:
    """Refuse a text for missing values that is also a category."""
    if not isinstance(missing_text, str):
        raise TypeError(f"'missing_text' must be a str. Got {missing_text!r} instead.")
    for condition in portable.ensemble.conditions:
        if missing_text in compared_values(condition):
            raise ValueError(
                "'missing_text' must be a text that no condition compares with. Got "
                f"{missing_text!r}, which '{condition}' does. Choose another one."
            )


def _check_in_runtime(
    model: RuleModel, portable: PortableModel, made: Any, numbers: str, missing_text: str
) -> None:
    rows = [
        {name: None if cell == missing_text else cell for name, cell in row.items()}
        for row in edge_rows(portable)
    ]
    if numbers == "float":
        rows = [{name: as_single(cell) for name, cell in row.items()} for row in rows]
    expected = expected_outputs(model, rows)
    check_outputs("ONNX", rows, expected, run_onnx(portable, made, rows, missing_text))


def as_single(cell: Any) -> Any:
    """Round a number to single precision; None where it has none."""
    if cell is None or isinstance(cell, str):
        return cell
    with np.errstate(over="ignore"):
        number = float(np.float32(cell))
    return None if math.isinf(number) else number


def run_onnx(
    portable: PortableModel, made: Any, rows: Sequence[dict[str, Any]], missing_text: str = ""
) -> Outputs:
    """Run an exported graph on rows by onnxruntime."""
    runtime = import_extra("onnxruntime", "onnx", "To run ONNX")
    session = runtime.InferenceSession(made.SerializeToString(), providers=["CPUExecutionProvider"])
    feed = {taken.name: _fed(portable, taken, rows, missing_text) for taken in session.get_inputs()}
    names = [given.name for given in session.get_outputs()]
    results = dict(zip(names, session.run(names, feed), strict=True))
    probabilities = results.get("probabilities")
    return Outputs(
        results["raw_prediction"],
        results["prediction"],
        probabilities[:, 1]
        if probabilities is not None and probabilities.shape[1] == 2
        else probabilities,
        results.get("covered"),
    )


def _fed(
    portable: PortableModel, taken: Any, rows: Sequence[dict[str, Any]], missing_text: str
) -> Any:
    is_column = taken.name in portable.kinds and taken.shape[1] == 1
    names = [taken.name] if is_column else portable.feature_names
    cells = [[row.get(name) for name in names] for row in rows]
    if taken.type == "tensor(string)":
        return np.array([[missing_text if c is None else c for c in row] for row in cells], object)
    return np.array(cells, dtype=np.float32 if taken.type == "tensor(float)" else np.float64)
