"""Numbers, columns, conditions and sums as trees of sqlglot, equal to those here to the last bit.

Databases differ from the usual floating point arithmetic: a number with a decimal point may be a
decimal number, integers may compare exactly with floats, and NaN may be larger than all numbers.
Every column of numbers is therefore cast to double precision, every number is written without loss,
and conditions that NaN would satisfy exclude it.

A column of dates is cast to TIMESTAMP, and compared with a TIMESTAMP. SQLite has neither: there,
dates are texts such as 2024-03-01 or 2024-03-01 12:30:00, without a time zone, which compare as
texts.
"""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime, time
from decimal import Decimal
from functools import reduce
from typing import Any

from laconic._util.optional import import_extra
from laconic.export.portable import PortableModel, compared_values, largest_raw_prediction
from laconic.tables.columns import Category
from laconic.tables.times import MONTHS, WEEKDAYS
from laconic.terms.conditions import SET_RELATIONS, VALUE_RELATIONS, Condition, Query

# Dialects without NaN, in which the text 'Infinity' may mean 0.
_WITHOUT_NAN = frozenset(
    {
        *("doris", "exasol", "fabric", "mysql", "oracle"),
        *("singlestore", "sqlite", "starrocks", "teradata", "tsql"),
    }
)
_WITHOUT_BOOLEANS = frozenset({"fabric", "tsql"})

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

    def rules(self) -> dict[str, Any]:
        """Return for each rule, by name, whether it covers a row."""
        rules = enumerate(self.portable.ensemble, start=1)
        return {f"rule_{number}": self.covered(rule.query) for number, rule in rules}

    def derived(self, raw_predictions: Sequence[Any]) -> dict[str, Any]:
        """Return probabilities and the prediction by name, given all raw predictions."""
        if self.portable.ensemble.outputs:
            places = range(len(raw_predictions))
            shares = {f"probability_{k + 1}": self.share(raw_predictions, k) for k in places}
            return shares | {"prediction": self.predicted_class(raw_predictions)}
        [raw] = raw_predictions
        has_classes = self.portable.classes is not None
        probability = {"probability": self.mean(raw.copy())} if has_classes else {}
        return probability | {"prediction": self.prediction(raw.copy())}

    def raw_prediction(self, output: int | None = None) -> Any:
        """Return the intercept plus the weights of the rules that cover a row, in rule order.

        If an output is given, it is that of one of three or more classes.
        """
        ensemble = self.portable.ensemble
        intercept = ensemble.intercepts[output or 0]
        rules = [rule for rule in ensemble if output in (None, rule.output)]
        terms = [self._weight_where(rule.query, rule.weight) for rule in rules]
        if intercept != 0.0 or not terms:
            terms.insert(0, self.double(intercept))
        return reduce(lambda left, right: self._exp.Add(this=left, expression=right), terms)

    def covered(self, query: Query) -> Any:
        """Return 1 where a query holds, 0 elsewhere."""
        exp = self._exp
        if not query:
            return exp.Literal.number(1)
        return exp.Case().when(self.condition(query), "1").else_("0")

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

    def _weight_where(self, query: Query, weight: float) -> Any:
        if not query:
            return self.double(weight)
        return self._exp.Case().when(self.condition(query), self.double(weight)).else_("0")

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
        name, relation = condition.feature, condition.relation
        part, whole = self.portable.parts.get(name, (None, name))
        kind = self.portable.kinds[whole]
        if condition.value is None:
            return self._presence(relation, self._column(whole), kind == "number")
        is_equality = relation in VALUE_RELATIONS
        column, write = self._operand(self._column(whole), kind, part, is_equality)
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


def _reads_in_sqlite(number: float) -> bool:
    connection = sqlite3.connect(":memory:")
    try:
        text = _decimal_text(math.fabs(number))
        [[read]] = connection.execute(f"SELECT {text}")
    finally:
        connection.close()
    return bool(read == math.fabs(number))


# Dialects in which parts of dates are supported; weekdays count from Sunday, 0.
_WITH_PARTS = ("duckdb", "postgres", "sqlite")
# As long as any text of a date, because a text comes after all of its beginnings.
_SQLITE_PADDING = "0000-00-00 00:00:00.000000000"
_SQLITE_FORMATS = {"year": "%Y", "month": "%m", "day": "%d", "weekday": "%w", "hour": "%H"}


class TimeTerms:
    """Columns and literals of dates and times as trees, for a dialect of sqlglot."""

    def __init__(self, exp: Any, dialect: str) -> None:
        self._exp = exp
        self._dialect = dialect

    def column(self, column: Any, kind: str, is_equality: bool) -> Any:
        """Return a column of dates or times as literals compare with it."""
        if kind == "duration":
            raise ValueError(
                "The export to SQL must have columns of numbers, booleans, text, dates or times. "
                f"Got rules that use durations in {column.name!r}. Fit the model with numbers in "
                "their place, such as hours."
            )
        if self._dialect == "sqlite":
            literals = [self._exp.Literal.string(text) for text in ("T", " ")]
            text = self._exp.func("REPLACE", column, *literals)
            return self._padded(text, column, kind) if is_equality else text
        return self._cast(column, "timestamp" if kind == "date" else "time")

    def literal(self, value: date | time) -> Any:
        """Write a date or a time."""
        if isinstance(value, date) and not isinstance(value, datetime):
            value = datetime(value.year, value.month, value.day)
        if self._dialect == "sqlite":
            # As long as the padding: a shorter text of the same moment comes before it.
            text = f"{value.isoformat(timespec='microseconds')}000"
            return self._exp.Literal.string(text.replace("T", " "))
        literal = self._exp.Literal.string(value.isoformat().replace("T", " "))
        return self._cast(literal, "timestamp" if isinstance(value, datetime) else "time")

    def part(self, column: Any, part: str) -> Any:
        """Return a part of a date as a whole number."""
        if self._dialect not in _WITH_PARTS:
            raise ValueError(
                f"Parts of dates can be written for {', '.join(_WITH_PARTS)}. Got rules that use "
                f"the {part} of {column.name!r} in the dialect {self._dialect!r}. Choose one of "
                "these, or fit the model with the part as a column of its own."
            )
        if self._dialect == "sqlite":
            form = self._exp.Literal.string(_SQLITE_FORMATS[part])
            # Without the fraction of a second, as SQLite might round it up to the next day.
            whole = self._call("SUBSTR", column, *map(self._exp.Literal.number, (1, 19)))
            return self._cast(self._call("STRFTIME", form, whole), "int")
        word = self._exp.var("DOW" if part == "weekday" else part.upper())
        return self._exp.Extract(this=word, expression=self._cast(column, "timestamp"))

    def code(self, part: str, value: Any) -> Any:
        """Write the number of a weekday or a month, or any other part."""
        if part == "weekday":
            value = (WEEKDAYS.index(value) + 1) % 7
        elif part == "month":
            value = MONTHS.index(value) + 1
        if float(value).is_integer():
            return self._exp.Literal.number(int(value))
        return self._exp.Literal.number(repr(float(value)))

    def _padded(self, text: Any, column: Any, kind: str) -> Any:
        """Complete the text of a moment, which may lack seconds or the time of day."""
        padding = self._exp.Literal.string(_SQLITE_PADDING[0 if kind == "date" else 11 :])
        n_characters = self._call("LENGTH", column.copy())
        first = self._exp.Add(this=n_characters, expression=self._exp.Literal.number(1))
        return self._exp.DPipe(this=text, expression=self._call("SUBSTR", padding, first))

    def _call(self, name: str, *arguments: Any) -> Any:
        return self._exp.Anonymous(this=name, expressions=list(arguments))

    def _cast(self, term: Any, kind: str) -> Any:
        return self._exp.Cast(this=term, to=self._exp.DataType.build(kind))
