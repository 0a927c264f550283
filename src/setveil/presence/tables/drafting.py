"""Draft the public columns of a policy from a table. A person reviews the draft before both providers agree on it."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from setveil.data.files.csv_tables import no_column
from setveil.data.records.labels import label_order
from setveil.errors import BadData, BadParameter
from setveil.presence.tables.attributes import Attribute, NumericAttribute, OrderedAttribute, value_of
from setveil.presence.tables.table_files import text_columns

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

_MOST_CATEGORIES = 1_000
_FEW_ROWS = 20
"""In tables with more rows, a column whose texts all differ is a key, not a category."""
_STEPS_WANTED = 100
_FINEST = Fraction(1, 10**12)
_MOST = 10**15
"""Numbers in a policy are below this."""


def draft_attributes(
    source: str,
    *,
    id_column: str = "id",
    leaving_out: Collection[str] = (),
    separator: str | None = None,
    query: str | None = None,
) -> tuple[Attribute, ...]:
    """Return one attribute per column of a table, without the column of ids and the columns in `leaving_out`."""
    columns = text_columns(source, separator=separator, query=query)
    for name in (id_column, *leaving_out):
        if name not in columns:
            raise no_column(name, list(columns), "", file=source)
    drafted = tuple(
        _drafted(name, values.unique().to_pylist(), len(values), source)
        for name, values in columns.items()
        if name not in (id_column, *leaving_out)
    )
    if not drafted:
        raise BadData("has only the column of ids; expected at least one more column, a quasi-identifier", file=source)
    return drafted


def draft_sensitive(source: str, name: str, **reading: Any) -> OrderedAttribute:
    """Return the sensitive attribute, with its values in label order."""
    reading.pop("id_column", None)
    columns = text_columns(source, **reading)
    if name not in columns:
        raise no_column(name, list(columns), "", file=source)
    return _categories(name, columns[name].unique().to_pylist(), len(columns[name]), source)


def _drafted(name: str, values: list[str], rows: int, source: str) -> Attribute:
    given = [value_of(value) for value in values]
    numbers = {number for number in given if number is not None and abs(number) < _MOST}
    if all(number in numbers for number in given):
        return _grid(name, numbers) if len(numbers) > 1 else _categories(name, values[:1], rows, source)
    return _categories(name, values, rows, source, sum(number not in numbers for number in given))


def _grid(name: str, numbers: set[Decimal]) -> NumericAttribute:
    """Return a grid for numbers: steps of 1 for whole numbers in a small range, otherwise about a hundred steps of a round size.

    Both ends are multiples of the step. So numbers with many digits, which may belong to one person, do not get into a policy.
    """
    # Fractions are exact. Decimals are rounded to 28 digits, which could move an end inside the range.
    low, high = Fraction(min(numbers)), Fraction(max(numbers))
    wide = high - low
    step = Fraction(1)
    whole = all(number == number.to_integral_value() for number in numbers)
    if not whole or wide > 2 * _STEPS_WANTED:
        power = Fraction(10) ** math.floor(math.log10(wide / _STEPS_WANTED))
        step = next(power * times for times in (1, 2, 5, 10) if wide / (power * times) <= _STEPS_WANTED)
        step = max(step, _FINEST)
    size = Decimal(step.numerator) / Decimal(step.denominator)
    return NumericAttribute(name, math.floor(low / step) * size, math.ceil(high / step) * size, size)


def _categories(name: str, values: Sequence[str], rows: int, source: str, no_numbers: int = 0) -> OrderedAttribute:
    if len(values) > _MOST_CATEGORIES or len(values) == rows > _FEW_ROWS:
        hint = "; remove it from the table"
        if no_numbers:
            hint = f", and {no_numbers:,} of them are not numbers such as 37 or 0.5; correct these or remove the column from the table"
            hint += f". If it holds your own customer keys, name it with `person={name!r}`"
        raise BadData(
            f"the column {name!r} has {len(values):,} different texts in {rows:,} rows, too many for categories{hint}",
            file=source,
        )
    labels = list(values)
    try:
        return OrderedAttribute(name, tuple(labels[place] for place in label_order(labels)))
    except BadParameter as error:
        raise BadData(f"{error}; correct the column or remove it from the table", file=source) from None
