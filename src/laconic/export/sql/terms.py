"""Numbers, columns, conditions and sums as trees of sqlglot, equal to those here to the last bit.

Databases differ from the usual floating point arithmetic: a number with a decimal point may be a
decimal number, integers may compare exactly with floats, and NaN may be larger than all numbers.
Every column of numbers is therefore cast to double precision, every number is written without loss,
and conditions that NaN would satisfy exclude it.
"""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from functools import reduce
from typing import Any

from laconic._util.optional import import_extra
from laconic.export.portable import PortableModel, compared_values, largest_raw_prediction
from laconic.export.sql.intervals import interval_columns
from laconic.export.sql.times import TimeTerms
from laconic.tables.columns import Category
from laconic.tables.times import Moment
from laconic.terms.conditions import SET_RELATIONS, VALUE_RELATIONS, Condition, Query
from laconic.terms.rules import Term
from laconic.terms.slopes import Slope

# Dialects without NaN, in which the text 'Infinity' may mean 0.
_WITHOUT_NAN = frozenset(
    {
        *("doris", "exasol", "fabric", "mysql", "oracle"),
        *("singlestore", "sqlite", "starrocks", "teradata", "tsql"),
    }
)
_WITHOUT_BOOLEANS = frozenset({"fabric", "tsql"})
# Dialects in which a product that is too small for a double is an error, and not 0.
_REFUSES_UNDERFLOW = frozenset({"materialize", "postgres", "redshift", "risingwave"})

# Decimals of so many digits are read as the nearest double by one correctly rounded operation.
_MAX_PLAIN_DIGITS = 15
_MAX_PLAIN_DECIMALS = 22

# Beyond that, an exponential overflows, which is an error in some databases.
_MAX_EXPONENT = 700

_LARGEST_POWER = 2**62


class SqlTerms:
    """The parts of a statement as trees, for a dialect of sqlglot.

    `columns` are the names in the database of features that have other names there. A `source` is
    the name of a table that qualifies columns.
    """

    def __init__(
        self,
        portable: PortableModel,
        dialect: str,
        columns: Mapping[str, str],
        source: Any | None = None,
    ) -> None:
        self.portable = portable
        self.dialect = dialect
        self.columns = {name: columns.get(name, name) for name in portable.kinds}
        self._source = source
        self._exp = sqlglot().exp
        self._times = TimeTerms(self._exp, dialect)

    def within(self, source: Any) -> SqlTerms:
        """Return the terms with columns of a table."""
        return SqlTerms(self.portable, self.dialect, self.columns, source)

    def raw_predictions(self) -> dict[str, Any]:
        """Return the raw prediction, or that of each of three or more classes, by name."""
        n_classes = len(self.portable.ensemble.outputs)
        if not n_classes:
            return {"raw_prediction": self.raw_prediction()}
        return {f"raw_prediction_{k + 1}": self.raw_prediction(k) for k in range(n_classes)}

    def terms(self) -> dict[str, Any]:
        """Return for each term, by name, whether it covers a row."""
        terms = enumerate(self.portable.ensemble, start=1)
        return {f"term_{number}": self.covered(term) for number, term in terms}

    def derived(self, raw_predictions: Sequence[Any]) -> dict[str, Any]:
        """Return probabilities and the prediction by name, given all raw predictions.

        After them come the ends of intervals, or which classes are in the sets.
        """
        intervals = {} if self.portable.intervals is None else self.intervals(raw_predictions)
        if self.portable.ensemble.outputs:
            places = range(len(raw_predictions))
            shares = {f"probability_{k + 1}": self.share(raw_predictions, k) for k in places}
            return shares | {"prediction": self.predicted_class(raw_predictions)} | intervals
        [raw] = raw_predictions
        has_classes = self.portable.classes is not None
        probability = {"probability": self.mean(raw.copy())} if has_classes else {}
        return probability | {"prediction": self.prediction(raw.copy())} | intervals

    def intervals(self, raw_predictions: Sequence[Any]) -> dict[str, Any]:
        """Return the ends of the interval, or for each class whether it is in the set, by name."""
        return interval_columns(self, raw_predictions, self._exp)

    def raw_prediction(self, output: int | None = None) -> Any:
        """Return the intercept plus what the terms add to a row, in their order.

        If an output is given, it is that of one of three or more classes.
        """
        ensemble = self.portable.ensemble
        intercept = ensemble.intercepts[output or 0]
        terms = [self._added(term) for term in ensemble if output in (None, term.output)]
        if intercept != 0.0 or not terms:
            terms.insert(0, self.double(intercept))
        return reduce(lambda left, right: self._exp.Add(this=left, expression=right), terms)

    def covered(self, term: Term) -> Any:
        """Return 1 where a rule holds, or a row is above the lower end of a slope, 0 elsewhere."""
        exp = self._exp
        if isinstance(term, Slope):
            is_above = int(term.missing_number > term.ends[0])
            return self._piecewise(term, term.lower, *map(exp.Literal.number, (1, 1, is_above)))
        if not term.query:
            return exp.Literal.number(1)
        return exp.Case().when(self.condition(term.query), "1").else_("0")

    def mean(self, raw_prediction: Any) -> Any:
        """Return the mean or the probability for a raw prediction."""
        exp = self._exp
        if self.portable.link == "identity":
            return raw_prediction
        if self.portable.link == "log":
            mean = exp.Exp(this=raw_prediction)
            if largest_raw_prediction(self.portable.ensemble) <= _MAX_EXPONENT:
                return mean
            least = exp.Neg(this=exp.Literal.number(_MAX_EXPONENT))
            is_zero = exp.LT(this=raw_prediction.copy(), expression=least)
            return exp.Case().when(is_zero, "0").else_(mean)
        exponent = exp.Neg(this=self._grouped(raw_prediction))
        divisor = exp.Add(this=exp.Literal.number(1), expression=exp.Exp(this=exponent))
        probability = exp.Div(
            this=self.double(1.0), expression=exp.Paren(this=divisor), typed=True, safe=False
        )
        if largest_raw_prediction(self.portable.ensemble) <= _MAX_EXPONENT:
            return probability
        limit = exp.Literal.number(_MAX_EXPONENT)
        is_one = exp.GT(this=raw_prediction.copy(), expression=limit)
        is_zero = exp.LT(this=raw_prediction.copy(), expression=exp.Neg(this=limit.copy()))
        return exp.Case().when(is_one, "1").when(is_zero, "0").else_(probability)

    def prediction(self, raw_prediction: Any) -> Any:
        """Return the predicted class or number."""
        if self.portable.classes is None:
            return self.mean(raw_prediction)
        is_second = self._exp.GT(this=raw_prediction, expression=self._exp.Literal.number(0))
        first, second = map(self._value, self.portable.classes)
        return self._exp.Case().when(is_second, second).else_(first)

    def predicted_class(self, raw_predictions: Sequence[Any]) -> Any:
        """Return the first class with the largest raw prediction, of three or more."""
        exp = self._exp
        case = exp.Case()
        for place, each in enumerate(raw_predictions[:-1]):
            others = [
                exp.GTE(this=each.copy(), expression=other.copy())
                for number, other in enumerate(raw_predictions)
                if number != place
            ]
            case = case.when(exp.and_(*others), self._value(self._classes[place]))
        return case.else_(self._value(self._classes[-1]))

    def share(self, raw_predictions: Sequence[Any], place: int) -> Any:
        """Return the probability of one of many classes: 1 / (1 + exp(other - own) + ...)."""
        exp = self._exp
        own = raw_predictions[place]
        limit = exp.Literal.number(_MAX_EXPONENT)
        total = self.double(1.0)
        for number, other in enumerate(raw_predictions):
            if number == place:
                continue
            difference = exp.Sub(this=other.copy(), expression=self._grouped(own.copy()))
            term = exp.Exp(this=difference)
            if largest_raw_prediction(self.portable.ensemble) > _MAX_EXPONENT / 2:
                bounds = (difference.copy(), exp.Neg(this=limit.copy()))
                is_zero = exp.LT(this=bounds[0], expression=bounds[1])
                is_huge = exp.GT(this=difference.copy(), expression=limit.copy())
                largest = exp.Exp(this=limit.copy())
                term = exp.Case().when(is_zero, "0").when(is_huge, largest).else_(term)
            total = exp.Add(this=total, expression=term)
        return exp.Div(
            this=self.double(1.0), expression=exp.Paren(this=total), typed=True, safe=False
        )

    def _grouped(self, term: Any) -> Any:
        """Put a sum in parentheses, so that a minus sign applies to all of it."""
        return term if isinstance(term, self._exp.Column) else self._exp.Paren(this=term)

    @property
    def _classes(self) -> tuple[Any, ...]:
        return self.portable.classes or ()

    def condition(self, query: Query) -> Any:
        """Return the conjunction of the conditions of a query that has some."""
        # NaN satisfies none of these relations.
        bounded = {p.feature for p in query if p.relation in ("<=", "==", "in")}
        conditions = [self._condition(p) for p in query]
        if self.dialect not in _WITHOUT_NAN:
            exposed = dict.fromkeys(
                p.feature
                for p in query
                if p.relation in (">", "!=", "not in")
                and p.feature not in bounded
                and self.portable.kinds.get(p.feature) == "number"
            )
            conditions += [self._is_number(self._column(name)) for name in exposed]
        return self._exp.and_(*conditions)

    def double(self, number: float) -> Any:
        """Write a number of double precision."""
        exp = self._exp
        if self.dialect != "sqlite":
            return self._as_double(exp.Literal.string(repr(number)))
        text = _decimal_text(number)
        # SQLite reads some decimals as a neighbour of the nearest double.
        if text is not None and _reads_in_sqlite(number):
            return self._literal(f"{text}.0" if "." not in text else text)
        return self._product(number)

    def _product(self, number: float) -> Any:
        """Write a number as a whole number times or divided by powers of two, which is exact."""
        exp = self._exp
        numerator, denominator = number.as_integer_ratio()
        shift = 0
        while numerator and numerator % 2 == 0:
            numerator, shift = numerator // 2, shift + 1
        term = self._as_double(self._literal(str(numerator)))
        for operation, power in ((exp.Mul, 2**shift), (exp.Div, denominator)):
            while power > 1:
                factor = min(power, _LARGEST_POWER)
                term = operation(this=term, expression=exp.Literal.number(factor))
                power //= factor
        product = exp.Paren(this=term)
        product.add_comments([repr(number)])
        return product

    def _literal(self, text: str) -> Any:
        literal = self._exp.Literal.number(text.removeprefix("-"))
        return self._exp.Neg(this=literal) if text.startswith("-") else literal

    def _as_double(self, term: Any) -> Any:
        return self._exp.Cast(this=term, to=self._exp.DataType.build("double"))

    def _added(self, term: Term) -> Any:
        """Return what a term adds to a row."""
        weight = self.double(term.weight)
        if isinstance(term, Slope):
            between = self._exp.Mul(this=self._excess(term), expression=weight)
            missing = term.at(term.missing_number)
            otherwise = self.double(missing) if missing else self._exp.Literal.number(0)
            lower = _flat_until(term) if self.dialect in _REFUSES_UNDERFLOW else term.lower
            return self._piecewise(term, lower, between, self.double(term.effect), otherwise)
        if not term.query:
            return weight
        return self._exp.Case().when(self.condition(term.query), weight).else_("0")

    def _piecewise(
        self, slope: Slope, lower: float | Moment, between: Any, above: Any, missing: Any
    ) -> Any:
        """Return 0 up to a value of a feature, and others between the ends of a slope and above."""
        column, kind, part = self._feature(slope.feature)
        operand, write = self._operand(column, kind, part, is_equality=False)
        is_low, is_between = (
            self._comparison("<=", operand.copy(), write(end)) for end in (lower, slope.upper)
        )
        is_present = self._presence("is present", column.copy(), kind == "number")
        case = self._exp.Case().when(is_low, "0").when(is_between, between)
        return case.when(is_present, above).else_(missing)

    def _excess(self, slope: Slope) -> Any:
        """Return by how much the feature exceeds the lower end of a slope, in units."""
        exp = self._exp
        column, kind, part = self._feature(slope.feature)
        operand, _ = self._operand(column, kind, part, is_equality=False)
        if slope.time_kind is not None:
            operand = self._times.microseconds(column, kind)
        number = operand if kind == "number" else self._as_double(operand)
        excess = exp.Paren(this=exp.Sub(this=number, expression=self.double(slope.ends[0])))
        if slope.unit == 1.0:
            return excess
        return exp.Div(this=excess, expression=self.double(slope.unit), typed=True, safe=False)

    def _feature(self, name: str) -> tuple[Any, str, str | None]:
        """Return the column of a feature, its kind, and the part of its dates that is meant."""
        part, whole = self.portable.parts.get(name, (None, name))
        return self._column(whole), self.portable.kinds[whole], part

    def _value(self, value: Category) -> Any:
        exp = self._exp
        if isinstance(value, str):
            return exp.Literal.string(value)
        if isinstance(value, bool) and self.dialect not in _WITHOUT_BOOLEANS:
            return exp.true() if value else exp.false()
        return self._literal(str(int(value))) if int(value) == value else self.double(value)

    def _column(self, name: str) -> Any:
        return quoted_column(self.columns[name], self._source)

    def _condition(self, condition: Condition) -> Any:
        relation = condition.relation
        whole, kind, part = self._feature(condition.feature)
        if condition.value is None:
            return self._presence(relation, whole, kind == "number")
        is_equality = relation in VALUE_RELATIONS
        column, write = self._operand(whole, kind, part, is_equality)
        values = [write(value) for value in compared_values(condition)]
        if relation in SET_RELATIONS:
            is_in = self._exp.In(this=column, expressions=values)
            return is_in if relation == "in" else self._exp.not_(is_in)
        return self._comparison(relation, column, *values)

    def _operand(
        self, column: Any, kind: str, part: str | None, is_equality: bool
    ) -> tuple[Any, Callable[[Any], Any]]:
        """Return a column as conditions compare it, and a writer of the values compared with it."""
        exp = self._exp
        if part is not None:
            return self._times.part(column, part), lambda value: self._times.code(part, value)
        if kind in ("date", "time", "duration"):
            return self._times.column(column, kind, is_equality), self._times.literal
        if kind == "number":
            return self._as_double(column), lambda value: self._threshold(float(value))
        if kind == "boolean":
            # Also correct if booleans are stored as 0 and 1.
            as_int = exp.Cast(this=column, to=exp.DataType.build("int"))
            return as_int, lambda value: exp.Literal.number(int(value))
        return column, self._value

    def _presence(self, relation: str, column: Any, is_of_numbers: bool) -> Any:
        exp = self._exp
        is_null = exp.Is(this=column, expression=exp.null())
        if not is_of_numbers or self.dialect in _WITHOUT_NAN:
            return is_null if relation == "is missing" else exp.not_(is_null)
        is_number = self._is_number(column.copy())
        return exp.or_(is_null, exp.not_(is_number)) if relation == "is missing" else is_number

    def _is_number(self, column: Any) -> Any:
        """Exclude NULL, and NaN, whether or not it is larger than all numbers."""
        infinity = self._as_double(self._exp.Literal.string("Infinity"))
        return self._exp.LTE(this=self._as_double(column), expression=infinity)

    def _threshold(self, number: float) -> Any:
        text = _decimal_text(number)
        is_plain = text is not None and (self.dialect != "sqlite" or _reads_in_sqlite(number))
        return self._literal(str(text)) if is_plain else self.double(number)

    def _comparison(self, relation: str, left: Any, right: Any) -> Any:
        exp = self._exp
        operations = {"<=": exp.LTE, ">": exp.GT, "==": exp.EQ, "!=": exp.NEQ}
        return operations[relation](this=left, expression=right)


def sqlglot() -> Any:
    """Import sqlglot, or say how to install it."""
    return import_extra("sqlglot", "sql", "The export to SQL")


def quoted_column(name: str, source: Any | None = None) -> Any:
    """Return a quoted column, qualified by the name of a table if there is one."""
    exp = sqlglot().exp
    table = None if source is None else source.copy()
    return exp.Column(this=exp.to_identifier(name, quoted=True), table=table)


def _decimal_text(number: float) -> str | None:
    """Write a number of few digits without an exponent.

    Examples
    --------
    >>> _decimal_text(30.0), _decimal_text(-0.25), _decimal_text(1 / 3)
    ('30', '-0.25', None)
    """
    if number.is_integer() and abs(number) <= 2**53:
        return str(int(number))
    decimal = Decimal(repr(number)).as_tuple()
    exponent = int(decimal.exponent)
    if len(decimal.digits) > _MAX_PLAIN_DIGITS or not -_MAX_PLAIN_DECIMALS <= exponent < 0:
        return None
    return format(Decimal(repr(number)), "f")


def _flat_until(slope: Slope) -> float | Moment:
    """Return up to which value a slope adds 0, also because less is too small for a double.

    Examples
    --------
    >>> _flat_until(Slope("x", 25, 68, 0.1)), _flat_until(Slope("x", 0, 1, 0.1))
    (25.0, 2e-323)
    """
    if slope.time_kind is not None:
        return slope.lower
    low, high = slope.ends
    while low < (middle := low / 2 + high / 2) < high:
        low, high = (low, middle) if slope.at(middle) else (middle, high)
    return low


def _reads_in_sqlite(number: float) -> bool:
    connection = sqlite3.connect(":memory:")
    try:
        text = _decimal_text(math.fabs(number))
        [[read]] = connection.execute(f"SELECT {text}")
    finally:
        connection.close()
    return bool(read == math.fabs(number))
