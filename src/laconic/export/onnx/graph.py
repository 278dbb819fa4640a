"""The computation of a model as ONNX operators, whoever collects them.

Everything is computed in double precision, in the order of the rules, so that raw predictions are
those of the model to the last bit. Text is encoded as numbers first, since few operators take it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Protocol

from laconic._util.optional import import_extra
from laconic.export.portable import PortableModel, compared_values
from laconic.terms.conditions import Condition, Query

# What text is encoded as, besides the positions of the categories that rules ask for.
MISSING_CODE = -1
_UNSEEN_CODE = -2


class Graph(Protocol):
    """Where operators and constants go."""

    def node(self, operator: str, inputs: Sequence[str], domain: str = "", **settings: Any) -> str:
        """Add an operator and return the name of its output."""
        ...

    def constant(self, kind: str, shape: Sequence[int], values: Sequence[Any]) -> str:
        """Add a tensor of the given element type and return its name."""
        ...


class OnnxGraph:
    """Operators and constants of a model of its own, beside inputs that have the given names."""

    def __init__(self, names: Iterable[str]) -> None:
        self._helper = import_extra("onnx.helper", "onnx", "The export to ONNX")
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        # More colons than any input begins with, so that no name is that of an input.
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
    """Operators of one model, in which some text stands for a missing value."""

    def __init__(self, portable: PortableModel, graph: Graph, missing_text: str) -> None:
        self.portable = portable
        self.graph = graph
        self.missing_text = missing_text
        self._columns: dict[str, str] = {}
        self._text_columns: set[str] = set()
        self._known: dict[Condition, str] = {}

    def column_of(self, tensor: str, position: int) -> str:
        """Column of a tensor, of shape (n_rows, 1)."""
        return self.graph.node("Gather", [tensor, self._whole(position)], axis=1)

    def set_numbers(self, name: str, tensor: str) -> None:
        """Take a column of numbers of any type, of shape (n_rows, 1)."""
        self._columns[name] = self._cast(tensor, "DOUBLE")

    def set_text(self, name: str, tensor: str) -> None:
        """Take a column of text, of shape (n_rows, 1)."""
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

    def covered(self, any_column: str) -> list[str]:
        """For each rule, which rows it covers; shape (n_rows, 1)."""
        queries = [rule.query for rule in self.portable.ensemble]
        always = "" if all(queries) else self._filled(any_column, "BOOL", True)
        return [self._query(query) if query else always for query in queries]

    def raw_prediction(self, any_column: str, covered: Sequence[str]) -> str:
        """Intercept plus weights; shape (n_rows, 1), or a column for each of several classes."""
        outputs = self.portable.ensemble.outputs
        if not outputs:
            return self._sum(any_column, covered, self.portable.ensemble.intercept, 0)
        sums = [
            self._sum(any_column, covered, output.intercept, place)
            for place, output in enumerate(outputs)
        ]
        return self.graph.node("Concat", sums, axis=1)

    def _sum(self, any_column: str, covered: Sequence[str], intercept: float, output: int) -> str:
        total = self._filled(any_column, "DOUBLE", intercept)
        zero = self._double(0.0)
        for rule, is_covered in zip(self.portable.ensemble, covered, strict=True):
            if rule.output != output:
                continue
            term = self.graph.node("Where", [is_covered, self._double(rule.weight), zero])
            total = self.graph.node("Add", [total, term])
        return total

    def mean(self, raw_prediction: str) -> str:
        """Raw prediction on the scale of the target."""
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
        """Probabilities of all classes; shape (n_rows, n_classes)."""
        if self.portable.ensemble.outputs:
            return mean
        other = self.graph.node("Sub", [self._double(1.0), mean])
        return self.graph.node("Concat", [other, mean], axis=1)

    def classes(self, raw_prediction: str, kind: str, values: Sequence[Any]) -> str:
        """One of the values for each row; shape (n_rows, 1)."""
        if self.portable.ensemble.outputs:
            place = self.graph.node("ArgMax", [raw_prediction], axis=1, keepdims=1)
            table = self.graph.constant(kind, [len(values)], values)
            return self.graph.node("Gather", [table, place])
        is_second = self.graph.node("Greater", [raw_prediction, self._double(0.0)])
        position = self._cast(is_second, "INT64")
        return self.graph.node("Gather", [self.graph.constant(kind, [2], values), position])

    def flat(self, tensor: str) -> str:
        """Tensor of shape (n_rows, 1) as one of shape (n_rows,)."""
        return self.graph.node("Reshape", [tensor, self._whole(-1)])

    def _query(self, query: Query) -> str:
        first, *others = [self._condition(condition) for condition in query]
        for other in others:
            first = self.graph.node("And", [first, other])
        return first

    def _condition(self, condition: Condition) -> str:
        if condition not in self._known:
            is_text = condition.feature in self._text_columns
            write = self._text_condition if is_text else self._number_condition
            self._known[condition] = write(condition, self._columns[condition.feature])
        return self._known[condition]

    def _number_condition(self, condition: Condition, column: str) -> str:
        node, relation = self.graph.node, condition.relation
        if relation in ("is missing", "is present", "!=", "not in"):
            is_missing = node("IsNaN", [column])
            if relation == "is missing":
                return is_missing
            is_present = node("Not", [is_missing])
            if relation == "is present":
                return is_present
        values = [self._double(float(value)) for value in compared_values(condition)]
        if relation in ("<=", ">"):
            return node({"<=": "LessOrEqual", ">": "Greater"}[relation], [column, *values])
        is_equal = self._any([node("Equal", [column, value]) for value in values])
        if relation in ("==", "in"):
            return is_equal
        return node("And", [is_present, node("Not", [is_equal])])

    def _text_condition(self, condition: Condition, codes: str) -> str:
        node, relation = self.graph.node, condition.relation
        is_missing = node("Equal", [codes, self._whole(MISSING_CODE)])
        if relation == "is missing":
            return is_missing
        if relation == "is present":
            return node("Not", [is_missing])
        known = self._categories(condition.feature)
        wanted = [known.index(value) for value in compared_values(condition)]
        is_equal = self._any([node("Equal", [codes, self._whole(code)]) for code in wanted])
        if relation in ("==", "in"):
            return is_equal
        return node("Not", [node("Or", [is_missing, is_equal])])

    def _any(self, conditions: Sequence[str]) -> str:
        first, *others = conditions
        for other in others:
            first = self.graph.node("Or", [first, other])
        return first

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
        return self.graph.constant("DOUBLE", [1], [number])

    def _whole(self, number: int) -> str:
        return self.graph.constant("INT64", [1], [number])
