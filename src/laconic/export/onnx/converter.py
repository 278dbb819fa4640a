"""The converter by which skl2onnx converts pipelines that contain rule ensembles."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from laconic._util.optional import import_extra
from laconic.export.onnx.model import (
    ModelNodes,
    check_missing_text,
    constant_tensor,
    element_type,
)
from laconic.export.portable import PortableModel, portable_model, refuse_times
from laconic.models.rule_model import RuleModel, for_all_models

_MISSING_TEXT = ""


def register_onnx_converters() -> None:
    """Register converters for the estimators of this package with skl2onnx.

    Call it once before ``skl2onnx.to_onnx`` or ``skl2onnx.convert_sklearn``. The input of the
    estimator is the output of the step before it, or that of the graph: one tensor with all
    columns, or several, in the order of the training table. Text must be of type string, in which
    "" stands for a missing value; numbers may be of any type. Terms are computed in double
    precision. Probabilities and numbers have the type that skl2onnx chooses: double precision if
    the first input has it, single precision otherwise.

    Notes
    -----
    A step before the estimator may compute in single precision what scikit-learn computes in double
    precision. If that moves a value across a threshold, the prediction differs, as for any model
    with thresholds. Use ``DoubleTensorType`` to avoid this.

    Examples
    --------
    >>> import numpy as np
    >>> import skl2onnx
    >>> from laconic import RuleBoostingRegressor
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> X, y = np.array([[1.0], [2.0], [3.0], [4.0]]), [5, 5, 1, 1]
    >>> pipeline = make_pipeline(StandardScaler(), RuleBoostingRegressor(n_terms=1)).fit(X, y)
    >>> register_onnx_converters()
    >>> onnx_model = skl2onnx.to_onnx(pipeline, X)
    >>> [output.name for output in onnx_model.graph.output]
    ['variable']
    """
    _skl2onnx()
    for_all_models(_register)


def _skl2onnx() -> Any:
    return import_extra("skl2onnx", "onnx", "The conversion of pipelines to ONNX")


def _register(estimator: type[RuleModel]) -> None:
    # A subclass without a task of its own need not predict as its parent does.
    task = vars(estimator).get("task")
    if task is None:
        return
    class_options = {
        "zipmap": [True, False, "columns"],
        "output_class_labels": [False, True],
        "nocl": [True, False],
    }
    _skl2onnx().update_registered_converter(
        estimator,
        f"Laconic{estimator.__name__}",
        _set_types,
        _convert,
        options=class_options if task.holds_classes else None,
    )


class _ContainerGraph:
    """Adds operators and constants to a model of skl2onnx."""

    def __init__(self, scope: Any, container: Any) -> None:
        self._scope = scope
        self._container = container

    def node(self, operator: str, inputs: Sequence[str], domain: str = "", **settings: Any) -> str:
        """Add an operator and return the name of its output."""
        name = str(self._scope.get_unique_variable_name(operator))
        self._container.add_node(
            operator,
            list(inputs),
            [name],
            op_domain=domain,
            # The newest version of a domain may be newer than that of the rest of the graph.
            op_version=2 if domain else None,
            name=self._scope.get_unique_operator_name(operator),
            **settings,
        )
        return name

    def constant(self, kind: str, shape: Sequence[int], values: Sequence[Any]) -> str:
        """Add a tensor of the given element type and return its name."""
        name = str(self._scope.get_unique_variable_name("constant"))
        self._container.initializers.append(constant_tensor(name, kind, shape, values))
        return name


def _set_types(operator: Any) -> None:
    types = _data_types()
    number_type = types.DoubleTensorType if _is_double(operator) else types.FloatTensorType
    n_rows = operator.inputs[0].get_first_dimension()
    labels = operator.raw_operator.task_.labels
    if labels is None:
        operator.outputs[0].type = number_type([n_rows, 1])
        return
    is_text = isinstance(labels[0], str)
    label_type = types.StringTensorType if is_text else types.Int64TensorType
    operator.outputs[0].type = label_type([n_rows])
    operator.outputs[1].type = number_type([n_rows, len(labels)])


def _data_types() -> Any:
    return import_extra("skl2onnx.common.data_types", "onnx", "The conversion to ONNX")


def _is_double(operator: Any) -> bool:
    return isinstance(operator.inputs[0].type, _data_types().DoubleTensorType)


def _convert(scope: Any, operator: Any, container: Any) -> None:
    portable = portable_model(operator.raw_operator)
    refuse_times(portable, "ONNX")
    nodes, raw_prediction = _converted(portable, scope, operator, container)
    mean, classes = nodes.mean(raw_prediction), portable.classes
    if classes is None:
        _give_numbers(operator, container, mean, operator.outputs[0])
        return
    probabilities = nodes.probabilities(mean)
    if isinstance(classes[0], str):
        kind = "STRING"
    else:
        kind, classes = "INT64", tuple(map(_whole_class, classes))
    label = nodes.flat(nodes.classes(raw_prediction, kind, classes))
    container.add_node("Identity", [label], [operator.outputs[0].full_name])
    _give_numbers(operator, container, probabilities, operator.outputs[1])


def _converted(
    portable: PortableModel, scope: Any, operator: Any, container: Any
) -> tuple[ModelNodes, str]:
    check_missing_text(portable, _MISSING_TEXT)
    nodes = ModelNodes(portable, _ContainerGraph(scope, container), _MISSING_TEXT)
    columns = _columns(operator)
    if len(columns) != len(portable.feature_names):
        raise ValueError(
            f"The graph must give the {len(portable.feature_names)} columns that the estimator was "
            f"fitted on. Got {len(columns)}. Check the 'initial_types'."
        )
    for name, (variable, position, is_text) in zip(portable.feature_names, columns, strict=True):
        if name in portable.kinds:
            _check_type(name, portable.kinds[name], is_text)
            tensor = nodes.column_of(variable, position)
            (nodes.set_text if is_text else nodes.set_numbers)(name, tensor)
    first = nodes.column_of(columns[0][0], 0)
    return nodes, nodes.raw_prediction(first, nodes.values(first))


def _columns(operator: Any) -> list[tuple[str, int, bool]]:
    """Return for each column its tensor, the position in it, and whether it is text."""
    text_type = _data_types().StringTensorType
    return [
        (variable.full_name, position, isinstance(variable.type, text_type))
        for variable in operator.inputs
        for position in range(variable.type.shape[1])
    ]


def _check_type(name: str, kind: str, is_text: bool) -> None:
    if kind != "any" and is_text != (kind == "text"):
        needed, got = ("strings", "numbers") if kind == "text" else ("numbers", "strings")
        raise ValueError(
            f"Column {name!r} must be a tensor of {needed}, as in training. Got {got}. Change its "
            "type in the 'initial_types'."
        )


def _whole_class(name: Any) -> int:
    if name != int(name):
        raise ValueError(
            f"skl2onnx takes classes that are text or whole numbers. Got the class {name!r}. "
            "Fit the model with one of these, or use laconic.export.to_onnx."
        )
    return int(name)


def _give_numbers(operator: Any, container: Any, tensor: str, output: Any) -> None:
    kind = element_type("DOUBLE" if _is_double(operator) else "FLOAT")
    container.add_node("Cast", [tensor], [output.full_name], to=kind)
