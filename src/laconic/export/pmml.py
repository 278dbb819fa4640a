"""Models as PMML 4.4 documents."""

from __future__ import annotations

import re
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from laconic.export.portable import (
    PortableModel,
    compared_values,
    portable_model,
    refuse_times,
    single_output,
)
from laconic.models import RuleModel
from laconic.tables.columns import Category
from laconic.terms.conditions import Condition, Query
from laconic.terms.rules import Term
from laconic.terms.slopes import Slope

_NAMESPACE = "http://www.dmg.org/PMML-4_4"

_DATA_TYPES = {"number": "double", "boolean": "boolean", "text": "string", "any": "string"}
_FUNCTIONS = {
    "<=": "lessOrEqual",
    ">": "greaterThan",
    "==": "equal",
    "!=": "notEqual",
    "in": "isIn",
    "not in": "isNotIn",
    "is missing": "isMissing",
    "is present": "isNotMissing",
}
_OUTPUTS = ("raw_prediction", "probability", "prediction")

# Characters that XML 1.0 does not allow, not even as references.
_NOT_IN_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def to_pmml(model: RuleModel) -> str:
    """Write a fitted model as a PMML document.

    Parameters
    ----------
    model : RuleModel
        Fitted, with one of the named losses.

    Returns
    -------
    document : str
        A RegressionModel of PMML 4.4, whose value is the raw prediction. Its output fields are
        "raw_prediction", "prediction" and, for a classifier, "probability" of the second class.

    Notes
    -----
    A row without a value for a field has a missing value there. A column of which rules only use
    whether it has a value is a field of text.

    Examples
    --------
    >>> from laconic import RuleBoostingRegressor
    >>> model = RuleBoostingRegressor(n_terms=1).fit([[1], [2], [3], [4]], [5, 5, 1, 1])
    >>> '<DataField name="x0" optype="continuous" dataType="double" />' in to_pmml(model)
    True
    """
    portable = portable_model(single_output(model, "A PMML document of this kind"))
    refuse_times(portable, "PMML")
    _check_texts(portable)
    root = Element("PMML", version="4.4", xmlns=_NAMESPACE)
    SubElement(SubElement(root, "Header"), "Application", name="laconic")
    dictionary = SubElement(root, "DataDictionary")
    for name, kind in portable.kinds.items():
        _field(dictionary, "DataField", name, _DATA_TYPES[kind])
    _add_model(root, portable)
    ElementTree.indent(root)
    # A parser reads a carriage return as a line feed, unless it is written as a reference.
    text = ElementTree.tostring(root, encoding="unicode").replace("\r", "&#13;")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def _add_model(root: Element, portable: PortableModel) -> None:
    model = SubElement(root, "RegressionModel", functionName="regression")
    schema = SubElement(model, "MiningSchema")
    for name in portable.kinds:
        # Values that were not seen in training are valid.
        SubElement(schema, "MiningField", name=name, invalidValueTreatment="asIs")
    _add_outputs(SubElement(model, "Output"), portable)
    total = _add_sums(SubElement(model, "LocalTransformations"), portable)
    table = SubElement(model, "RegressionTable", intercept="0")
    SubElement(table, "NumericPredictor", name=total, coefficient="1")


def _add_sums(transformations: Element, portable: PortableModel) -> str:
    """Add fields that sum what the terms add, in their order; return the name of the total."""
    ensemble = portable.ensemble
    stem = "sum_"
    while any(name.startswith(stem) for name in portable.kinds):
        stem += "_"  # not to be the name of a column
    names = [f"{stem}{number}" for number in range(len(ensemble) + 1)]
    start = _field(transformations, "DerivedField", names[0], "double")
    start.append(_constant(ensemble.intercept))
    for term, before, after in zip(ensemble, names, names[1:], strict=False):
        field = _field(transformations, "DerivedField", after, "double")
        field.append(_apply("+", _reference(before), _added(term)))
    return names[-1]


def _added(term: Term) -> Element:
    """Return what a term adds to a row."""
    weight = _constant(term.weight)
    if isinstance(term, Slope):
        lower, upper = map(_constant, term.ends)
        clipped = _apply("min", _apply("max", _reference(term.feature), lower), upper)
        added = _apply("*", _apply("-", clipped, lower), weight)
        missing = _constant(term.at(term.missing_number))
        return _apply("if", _apply("isMissing", _reference(term.feature)), missing, added)
    if not term.query:
        return weight
    return _apply("if", _conjunction(term.query), weight, _constant(0.0))


def _add_outputs(output: Element, portable: PortableModel) -> None:
    _field(output, "OutputField", "raw_prediction", "double", feature="predictedValue")
    raw_prediction = _reference("raw_prediction")
    mean = raw_prediction
    if portable.link == "log":
        mean = _apply("exp", raw_prediction)
    elif portable.link == "logistic":
        exponential = _apply("exp", _apply("-", _constant(0.0), raw_prediction))
        mean = _apply("/", _constant(1.0), _apply("+", _constant(1.0), exponential))
    if portable.classes is None:
        _transformed(output, "prediction", "double", mean)
        return
    first, second = map(_constant, portable.classes)
    is_second = _apply("greaterThan", raw_prediction, _constant(0.0))
    data_type = first.attrib["dataType"]
    _transformed(output, "probability", "double", mean)
    _transformed(output, "prediction", data_type, _apply("if", is_second, second, first))


def _transformed(output: Element, name: str, data_type: str, expression: Element) -> None:
    _field(output, "OutputField", name, data_type, feature="transformedValue").append(expression)


def _conjunction(query: Query) -> Element:
    conditions = [_condition(condition) for condition in query]
    return conditions[0] if len(conditions) == 1 else _apply("and", *conditions)


def _condition(condition: Condition) -> Element:
    arguments = [_reference(condition.feature)]
    if condition.value is None:
        return _apply(_FUNCTIONS[condition.relation], *arguments)
    arguments += map(_constant, compared_values(condition))
    comparison = _apply(_FUNCTIONS[condition.relation], *arguments)
    comparison.set("mapMissingTo", "false")
    return comparison


def _apply(function: str, *arguments: Element) -> Element:
    element = Element("Apply", function=function)
    element.extend(arguments)
    return element


def _reference(name: str) -> Element:
    return Element("FieldRef", field=name)


def _constant(value: Category) -> Element:
    if isinstance(value, bool):
        data_type, text = "boolean", str(value).lower()
    elif isinstance(value, str):
        data_type, text = "string", value
    else:
        data_type, text = "integer" if isinstance(value, int) else "double", repr(value)
    element = Element("Constant", dataType=data_type)
    element.text = text
    return element


def _field(parent: Element, kind: str, name: str, data_type: str, **settings: str) -> Element:
    optype = "continuous" if data_type in ("double", "integer") else "categorical"
    attributes = {"name": name, "optype": optype, "dataType": data_type, **settings}
    return SubElement(parent, kind, attributes)


def _check_texts(portable: PortableModel) -> None:
    for name in portable.kinds:
        if name in _OUTPUTS:
            raise ValueError(
                "The columns of a PMML document must have names other than its output fields, "
                f"{', '.join(map(repr, _OUTPUTS))}. Got {name!r}. Fit the model with another name."
            )
    for text in [*portable.kinds, *portable.texts]:
        if _NOT_IN_XML.search(text):
            raise ValueError(
                f"XML cannot contain all characters of {text!r}. Fit the model without it."
            )
