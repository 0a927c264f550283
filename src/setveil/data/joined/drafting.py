"""A first draft of the public columns, from a table: what a person looks over before both providers agree on it."""

from __future__ import annotations

import math
from decimal import ROUND_FLOOR, Decimal
from typing import TYPE_CHECKING, Any

from setveil.data.joined.attributes import Attribute, NumericAttribute, OrderedAttribute, as_number
from setveil.data.joined.table_files import text_columns
from setveil.data.labels import label_order
from setveil.data.texts import in_words
from setveil.errors import BadData, BadParameter

if TYPE_CHECKING:
    from collections.abc import Sequence

_MOST_CATEGORIES = 1_000
_STEPS_WANTED = 100


def draft_attributes(
    source: str,
    *,
    id_column: str = "id",
    leaving_out: str | None = None,
    separator: str | None = None,
    query: str | None = None,
) -> tuple[Attribute, ...]:
    """Return an attribute for each column of a table but the ids and the one that is left out."""
    columns = text_columns(source, separator=separator, query=query)
    for name in (id_column, leaving_out):
        if name is not None and name not in columns:
            raise BadData(f"has no column {name!r}; the columns are: {in_words(columns)}", file=source)
    drafted = tuple(
        _drafted(name, values.unique().to_pylist(), source)
        for name, values in columns.items()
        if name not in (id_column, leaving_out)
    )
    if not drafted:
        raise BadData("has no column beside the ids; expected at least one quasi-identifier", file=source)
    return drafted


def draft_sensitive(source: str, name: str, **reading: Any) -> OrderedAttribute:
    """Return the sensitive attribute: its values in label order."""
    reading.pop("id_column", None)
    columns = text_columns(source, **reading)
    if name not in columns:
        raise BadData(f"has no column {name!r}; the columns are: {in_words(columns)}", file=source)
    return _categories(name, columns[name].unique().to_pylist(), source)


def _drafted(name: str, values: list[str], source: str) -> Attribute:
    numbers = [as_number(value) for value in values]
    if len(values) > 1 and all(number is not None for number in numbers):
        return _grid(name, [number for number in numbers if number is not None])
    return _categories(name, values, source)


def _grid(name: str, numbers: list[Decimal]) -> NumericAttribute:
    """Lay a grid over numbers: whole steps if the numbers are whole, about a hundred of a round size if they range widely."""
    low, high = min(numbers), max(numbers)
    wide = high - low
    step = Decimal(1)
    whole = all(number == number.to_integral_value() for number in numbers)
    if not whole or wide > 2 * _STEPS_WANTED:
        power = Decimal(10) ** math.floor(math.log10(wide / _STEPS_WANTED))
        step = next(power * times for times in (1, 2, 5, 10) if wide / (power * times) <= _STEPS_WANTED)
    return NumericAttribute(name, (low / step).to_integral_value(ROUND_FLOOR) * step, high, step)


def _categories(name: str, values: Sequence[str], source: str) -> OrderedAttribute:
    if len(values) > _MOST_CATEGORIES:
        raise BadData(
            f"the column {name!r} has {len(values):,} different texts, too many for categories; leave it out of the table",
            file=source,
        )
    labels = list(values)
    try:
        return OrderedAttribute(name, tuple(labels[place] for place in label_order(labels)))
    except BadParameter as error:
        raise BadData(f"{error}; correct the column or leave it out of the table", file=source) from None
