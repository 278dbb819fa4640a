"""Models as ONNX graphs.

Everything is computed in double precision, in the order of the terms, so that raw predictions are
those of the model to the last bit. Text is encoded as numbers first, since few operators take it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import reduce
from typing import Any, Literal, Protocol, TypeAlias

import numpy as np

from laconic._util.optional import import_extra
from laconic.export.edge_rows import Outputs, check_outputs, edge_rows, expected_outputs
from laconic.export.portable import PortableModel, compared_values, portable_model, refuse_times
from laconic.models import RuleModel
from laconic.terms.conditions import THRESHOLD_RELATIONS, Condition
from laconic.terms.slopes import Slope

OnnxInputs: TypeAlias = Literal["auto", "columns", "tensor"]
OnnxNumbers: TypeAlias = Literal["double", "float"]

# Old enough for common runtimes, new enough for all operators in double precision.
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
    term_columns: bool = False,
) -> Any:
    """Write a fitted model as an ONNX graph.

    Before it is returned, the graph is checked by onnx, run on edge rows by onnxruntime, and
    compared with the model.

    Parameters
    ----------
    model : RuleModel
        Fitted, with one of the named losses.
    inputs : {"auto", "columns", "tensor"}, default="auto"
        "columns" has one input per column that terms use, of shape (n_rows, 1) and with the name
        of the column: text as strings, numbers and booleans as numbers. "tensor" has a single
        input X with all columns of the training table, and needs a model without text. "auto" is
        "tensor" for models without text.
    numbers : {"double", "float"}, default="double"
        Type of the numbers of inputs. Everything is computed in double precision in both cases, so
        that "float" predicts what the model predicts for numbers of single precision.
    missing_text : str, default=""
        The text that stands for a missing value, as ONNX has no missing texts. Missing numbers are
        NaN.
    term_columns : bool, default=False
        Whether to add the output "covered", of shape (n_rows, n_terms): whether a rule covers a
        row, or the row is above the lower end of a slope.

    Returns
    -------
    onnx_model : onnx.ModelProto
        With the outputs "raw_prediction" and "prediction", of shape (n_rows,), and for a classifier
        "probabilities", of shape (n_rows, n_classes), in the order of `classes_`, all numbers in
        double precision; of three or more classes, raw predictions have that shape, too. Write it
        to a file with ``onnx_model.SerializeToString()``.

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
    made = _model(portable, layout, numbers.upper(), missing_text, term_columns)
    onnx.checker.check_model(made, full_check=True)
    _check_in_runtime(model, portable, made, numbers, missing_text)
    return made


def _model(
    portable: PortableModel, layout: str, number_type: str, missing_text: str, term_columns: bool
) -> Any:
    helper = import_extra("onnx.helper", "onnx", "The export to ONNX")
    graph = OnnxGraph(portable.feature_names)
    nodes = ModelNodes(portable, graph, missing_text)
    if layout == "tensor":
        taken = [_tensor_input(portable, nodes, number_type)]
    else:
        taken = _column_inputs(portable, nodes, number_type)
    results = _results(portable, nodes, nodes.column_of(taken[0].name, 0), term_columns)
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
    portable: PortableModel, nodes: ModelNodes, any_column: str, term_columns: bool
) -> dict[str, tuple[str, str, list[Any]]]:
    """Return the tensor, element type and shape of each output."""
    values = nodes.values(any_column)
    raw_prediction = nodes.raw_prediction(any_column, values)
    mean = nodes.mean(raw_prediction)
    n_classes = len(portable.classes or ())
    results: dict[str, tuple[str, str, list[Any]]] = {
        "raw_prediction": (raw_prediction, "DOUBLE", ["n_rows", n_classes])
        if portable.ensemble.outputs
        else (nodes.flat(raw_prediction), "DOUBLE", ["n_rows"])
    }
    if portable.classes is None:
        results["prediction"] = (nodes.flat(mean), "DOUBLE", ["n_rows"])
    else:
        kind = class_type(portable.classes)
        label = nodes.flat(nodes.classes(raw_prediction, kind, portable.classes))
        results["prediction"] = (label, kind, ["n_rows"])
        results["probabilities"] = (nodes.probabilities(mean), "DOUBLE", ["n_rows", n_classes])
    if term_columns and values:
        table = nodes.graph.node("Concat", nodes.covered(values), axis=1)
        results["covered"] = (table, "BOOL", ["n_rows", len(values)])
    return results


def _tensor_input(portable: PortableModel, nodes: ModelNodes, number_type: str) -> Any:
    names = list(portable.feature_names)
    for name in portable.kinds:
        nodes.set_numbers(name, nodes.column_of(_TENSOR, names.index(name)))
    return tensor_info(_TENSOR, number_type, ["n_rows", len(names)])


def _column_inputs(portable: PortableModel, nodes: ModelNodes, number_type: str) -> list[Any]:
    # A graph needs an input to know the number of rows, also where no term does.
    kinds = portable.kinds or {portable.feature_names[0]: "any"}
    _check_names(kinds)
    taken = []
    for name, kind in kinds.items():
        is_text = kind == "text"
        (nodes.set_text if is_text else nodes.set_numbers)(name, name)
        taken.append(tensor_info(name, "STRING" if is_text else number_type, ["n_rows", 1]))
    return taken


def class_type(classes: Sequence[Any]) -> str:
    """Return the element type of a tensor of classes."""
    kinds = {str: "STRING", bool: "BOOL", int: "INT64", float: "DOUBLE"}
    return kinds[type(classes[0])]


def _checked_inputs(portable: PortableModel, inputs: Any) -> str:
    if inputs not in ("auto", "columns", "tensor"):
        raise ValueError(f"'inputs' must be 'auto', 'columns' or 'tensor'. Got {inputs!r} instead.")
    text = [name for name, kind in portable.kinds.items() if kind == "text"]
    if inputs == "tensor" and text:
        raise ValueError(
            "inputs='tensor' needs a model of numbers, because a tensor has a single type. Got "
            f"terms that use text in {text[0]!r}. Use inputs='columns'."
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
    """Round a number to single precision; None if it is too large."""
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
        probabilities[:, int(portable.is_ascending)]
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


# Codes of texts besides the categories of rules, which are encoded as their positions.
MISSING_CODE = -1
_UNSEEN_CODE = -2


class Graph(Protocol):
    """A graph that takes operators and constants."""

    def node(self, operator: str, inputs: Sequence[str], domain: str = "", **settings: Any) -> str:
        """Add an operator and return the name of its output."""
        ...

    def constant(self, kind: str, shape: Sequence[int], values: Sequence[Any]) -> str:
        """Add a tensor of the given element type and return its name."""
        ...


class OnnxGraph:
    """Operators and constants of a new graph, whose inputs have the given names."""

    def __init__(self, names: Iterable[str]) -> None:
        self._helper = import_extra("onnx.helper", "onnx", "The export to ONNX")
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        # More colons than any input begins with, so that no other name is that of an input.
        n_colons = max((len(name) - len(name.lstrip(":")) for name in names), default=0)
        self._prefix = ":" * (n_colons + 1)

    def node(self, operator: str, inputs: Sequence[str], domain: str = "", **settings: Any) -> str:
        """Add an operator and return the name of its output."""
        name = f"{self._prefix}{operator}:{len(self.nodes)}"
        made = self._helper.make_node(operator, inputs, [name], domain=domain, **settings)
        self.nodes.append(made)
        return name

    def constant(self, kind: str, shape: Sequence[int], values: Sequence[Any]) -> str:
        """Add a tensor of the given element type and return its name."""
        name = f"{self._prefix}constant:{len(self.constants)}"
        self.constants.append(constant_tensor(name, kind, shape, values))
        return name


def tensor_info(name: str, kind: str, shape: Sequence[Any]) -> Any:
    """Describe an input or an output of a graph."""
    helper = import_extra("onnx.helper", "onnx", "The export to ONNX")
    return helper.make_tensor_value_info(name, element_type(kind), shape)


def element_type(kind: str) -> int:
    """Return ONNX's number for "DOUBLE", "FLOAT", "INT64", "BOOL" or "STRING"."""
    onnx = import_extra("onnx", "onnx", "The export to ONNX")
    return int(onnx.TensorProto.DataType.Value(kind))


def constant_tensor(name: str, kind: str, shape: Sequence[int], values: Sequence[Any]) -> Any:
    """Make a tensor of numbers or texts."""
    helper = import_extra("onnx.helper", "onnx", "The export to ONNX")
    if kind != "STRING":
        return helper.make_tensor(name, element_type(kind), shape, values)
    texts = [value.encode() for value in values]
    made = helper.make_tensor(name, element_type(kind), shape, texts)
    made.string_data[:] = texts  # the helper drops zero characters at their ends
    return made


class ModelNodes:
    """The operators of one model; a given text stands for a missing value."""

    def __init__(self, portable: PortableModel, graph: Graph, missing_text: str) -> None:
        self.portable = portable
        self.graph = graph
        self.missing_text = missing_text
        self._columns: dict[str, str] = {}
        self._text_columns: set[str] = set()
        self._known: dict[Condition, str] = {}
        self._constants: dict[tuple[str, str], str] = {}

    def column_of(self, tensor: str, position: int) -> str:
        """Return a column of a tensor, of shape (n_rows, 1)."""
        return self.graph.node("Gather", [tensor, self._whole(position)], axis=1)

    def set_numbers(self, name: str, tensor: str) -> None:
        """Set a column of numbers of any type, of shape (n_rows, 1)."""
        self._columns[name] = self._cast(tensor, "DOUBLE")

    def set_text(self, name: str, tensor: str) -> None:
        """Set a column of text, of shape (n_rows, 1)."""
        categories = self._categories(name)
        self._text_columns.add(name)
        self._columns[name] = self.graph.node(
            "LabelEncoder",
            [tensor],
            domain="ai.onnx.ml",
            keys_strings=[*categories, self.missing_text],
            values_int64s=[*range(len(categories)), MISSING_CODE],
            default_int64=_UNSEEN_CODE,
        )

    def values(self, any_column: str) -> list[str]:
        """Return for each rule which rows it covers, for each slope its values, negated.

        They have the shape (n_rows, 1).
        """
        return [
            self._negated_values(term)
            if isinstance(term, Slope)
            else self._joined("And", map(self._condition, term.query))
            if term.query
            else self._filled(any_column, "BOOL", True)
            for term in self.portable.ensemble
        ]

    def covered(self, values: Sequence[str]) -> list[str]:
        """Return which rows each term covers, given its values."""
        return [
            self.graph.node("Less", [each, self._double(0.0)]) if isinstance(term, Slope) else each
            for term, each in zip(self.portable.ensemble, values, strict=True)
        ]

    def _negated_values(self, slope: Slope) -> str:
        node, column = self.graph.node, self._columns[slope.feature]
        lower, upper = map(self._double, slope.ends)
        clipped = node("Min", [node("Max", [column, lower]), upper])
        missing = self._double(slope.missing_number)
        # In this order: onnxruntime does not subtract constants that are 0 in single precision.
        return node("Sub", [lower, node("Where", [node("IsNaN", [column]), missing, clipped])])

    def raw_prediction(self, any_column: str, values: Sequence[str]) -> str:
        """Return raw predictions, of shape (n_rows, 1), or with a column per class."""
        outputs = self.portable.ensemble.outputs
        if not outputs:
            return self._sum(any_column, values, self.portable.ensemble.intercept, 0)
        sums = [
            self._sum(any_column, values, output.intercept, place)
            for place, output in enumerate(outputs)
        ]
        return self.graph.node("Concat", sums, axis=1)

    def _sum(self, any_column: str, values: Sequence[str], intercept: float, output: int) -> str:
        total = self._filled(any_column, "DOUBLE", intercept)
        for term, each in zip(self.portable.ensemble, values, strict=True):
            if term.output != output:
                continue
            if isinstance(term, Slope):
                # Negative: onnxruntime does not multiply by what is 1 in single precision.
                added = self.graph.node("Mul", [each, self._double(-abs(term.weight))])
                total = self.graph.node("Add" if term.weight > 0 else "Sub", [total, added])
                continue
            numbers = [self._double(term.weight), self._double(0.0)]
            total = self.graph.node("Add", [total, self.graph.node("Where", [each, *numbers])])
        return total

    def mean(self, raw_prediction: str) -> str:
        """Return means on the scale of the target."""
        if self.portable.link == "identity":
            return raw_prediction
        node = self.graph.node
        if self.portable.link == "log":
            return node("Exp", [raw_prediction])
        if self.portable.link == "softmax":
            largest = node("ReduceMax", [raw_prediction], axes=[1], keepdims=1)
            exponentials = node("Exp", [node("Sub", [raw_prediction, largest])])
            total = node("ReduceSum", [exponentials, self._whole(1)], keepdims=1)
            return node("Div", [exponentials, total])
        # Not Sigmoid, which some runtimes approximate.
        one = self._double(1.0)
        exponential = node("Exp", [node("Neg", [raw_prediction])])
        return node("Div", [one, node("Add", [one, exponential])])

    def probabilities(self, mean: str) -> str:
        """Return probabilities in the ascending order of classes, of shape (n_rows, n_classes)."""
        if self.portable.ensemble.outputs:
            return mean
        other = self.graph.node("Sub", [self._double(1.0), mean])
        both = [other, mean] if self.portable.is_ascending else [mean, other]
        return self.graph.node("Concat", both, axis=1)

    def classes(self, raw_prediction: str, kind: str, values: Sequence[Any]) -> str:
        """Return the value of the predicted class, of shape (n_rows, 1)."""
        if self.portable.ensemble.outputs:
            place = self.graph.node("ArgMax", [raw_prediction], axis=1, keepdims=1)
            table = self.graph.constant(kind, [len(values)], values)
            return self.graph.node("Gather", [table, place])
        is_second = self.graph.node("Greater", [raw_prediction, self._double(0.0)])
        position = self._cast(is_second, "INT64")
        return self.graph.node("Gather", [self.graph.constant(kind, [2], values), position])

    def flat(self, tensor: str) -> str:
        """Reshape a tensor of shape (n_rows, 1) to (n_rows,)."""
        return self.graph.node("Reshape", [tensor, self._whole(-1)])

    def _condition(self, condition: Condition) -> str:
        if condition not in self._known:
            self._known[condition] = self._new_condition(condition)
        return self._known[condition]

    def _new_condition(self, condition: Condition) -> str:
        node, relation = self.graph.node, condition.relation
        column = self._columns[condition.feature]
        is_text = condition.feature in self._text_columns
        values = [
            self._whole(self._categories(condition.feature).index(value))
            if is_text
            else self._double(float(value))
            for value in compared_values(condition)
        ]
        if relation in THRESHOLD_RELATIONS:
            return node({"<=": "LessOrEqual", ">": "Greater"}[relation], [column, *values])
        are_equal = [node("Equal", [column, value]) for value in values]
        if relation in ("==", "in"):
            return self._joined("Or", are_equal)
        is_missing = (
            node("Equal", [column, self._whole(MISSING_CODE)])
            if is_text
            else node("IsNaN", [column])
        )
        if relation == "is missing":
            return is_missing
        return node("Not", [self._joined("Or", [is_missing, *are_equal])])

    def _joined(self, operator: str, conditions: Iterable[str]) -> str:
        return reduce(lambda left, right: self.graph.node(operator, [left, right]), conditions)

    def _categories(self, name: str) -> list[str]:
        about = [p for p in self.portable.ensemble.conditions if p.feature == name]
        values = (value for p in about for value in compared_values(p))
        return list(dict.fromkeys(value for value in values if isinstance(value, str)))

    def _filled(self, column: str, kind: str, value: Any) -> str:
        helper = import_extra("onnx.helper", "onnx", "The export to ONNX")
        tensor = helper.make_tensor("value", element_type(kind), [1], [value])
        return self.graph.node(
            "ConstantOfShape", [self.graph.node("Shape", [column])], value=tensor
        )

    def _cast(self, tensor: str, kind: str) -> str:
        return self.graph.node("Cast", [tensor], to=element_type(kind))

    def _double(self, number: float) -> str:
        return self._constant("DOUBLE", number)

    def _whole(self, number: int) -> str:
        return self._constant("INT64", number)

    def _constant(self, kind: str, number: float) -> str:
        # By its text, since -0.0 equals 0.0.
        key = kind, repr(number)
        if key not in self._constants:
            self._constants[key] = self.graph.constant(kind, [1], [number])
        return self._constants[key]
