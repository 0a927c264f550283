"""Range queries of a user as JSON Lines, one query per line: `{"age": [30, 50], "sex": ["Male"]}`.

A condition on a numeric attribute is a pair: numbers of at least the first and below the second; null is an open end. A condition on
another attribute is a list of categories or of nodes of the taxonomy. A query counts the records that meet all of its conditions.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from setveil.base.arguments import check_arguments
from setveil.base.display import quantity
from setveil.data.files.json_lines import json_type_name, json_value, lines_of
from setveil.data.files.side_files import shown
from setveil.errors import BadData
from setveil.parameters.kind import ParameterKind
from setveil.presence.tables.attributes import NumericAttribute

if TYPE_CHECKING:
    from setveil.presence.tables.attributes import Attribute
    from setveil.presence.tables.schema import Schema

_EXAMPLE = '{"age": [30, 50], "sex": ["Male"]}'
Ranges = tuple[tuple[int, int], ...]
"""Cells of an attribute as sorted ranges, with a gap between any two."""


class Predicates(ParameterKind, Sequence[dict[str, list[str | None]]]):
    """Range queries for the metric `range-query-error`.

    Parameters
    ----------
    queries : iterable of mappings
        One mapping per query, from attributes to conditions. The condition on a numeric attribute is a pair of numbers, `[low, high]`: it
        is met from `low` to below `high`, and None is an open end. The condition on another attribute is a list of categories or nodes.

    Raises
    ------
    BadData
        There is no query, or a condition is not a list of texts, numbers and None.

    Examples
    --------
    >>> import setveil as sv
    >>> sv.Predicates([{"age": [30, 50], "sex": ["Male"]}, {"age": [65, None]}])
    Predicates(2 queries)
    """

    allowed_text: ClassVar[str] = "a file of queries (JSON Lines)"
    python_type: ClassVar[str] = "Predicates or a list of queries"
    example: ClassVar[str] = '[{"age": [30, 50], "sex": ["Male"]}]'
    ending = ".jsonl"
    bad_values = ([], [{}], ["a text"], [{"age": 30}], [{"age": [object()]}], {"age": [30, 50]}, 17)

    def __init__(self, queries: Iterable[Mapping[str, Iterable[Any]]]) -> None:
        if isinstance(queries, str | bytes | Mapping) or not isinstance(queries, Iterable):
            raise BadData(f"expected queries such as {_EXAMPLE}, not {type(queries).__name__}")
        self._queries = tuple(_checked(one) for one in queries)
        if not self._queries:
            raise BadData(f"there is no query; expected at least one, such as {_EXAMPLE}")

    def __len__(self) -> int:
        return len(self._queries)

    def __getitem__(self, place: Any) -> Any:
        return self._queries[place]

    def __eq__(self, other: object) -> bool:
        return self._queries == other._queries if isinstance(other, Predicates) else NotImplemented

    def __hash__(self) -> int:
        return hash(repr(self._queries))

    def __repr__(self) -> str:
        return f"Predicates({quantity(len(self), 'query', 'queries')})"

    @classmethod
    def validated(cls, value: Any) -> Predicates:
        """Return the queries of a value that a user gave: queries, or the name of a file."""
        try:
            return super().validated(read_predicates(value) if isinstance(value, str | Path) else value)
        except BadData as error:
            raise ValueError(str(error)) from None

    def to_json(self) -> list[dict[str, list[str | None]]]:
        """Return the queries as a list."""
        return list(self)

    def to_file(self) -> str:
        """Return the content of a file with one query per line."""
        return "".join(json.dumps(query, ensure_ascii=False) + "\n" for query in self)

    def ranges(self, schema: Schema) -> list[dict[int, Ranges]]:
        """Return for each query the ranges of cells per attribute, keyed by the index of the attribute; the sensitive one is last."""
        attributes: tuple[Attribute, ...] = (*schema.attributes, schema.sensitive)
        place_of = {one.name: place for place, one in enumerate(attributes)}
        found = []
        for number, query in enumerate(self._queries, start=1):
            cells = {}
            for name, values in query.items():
                if name not in place_of:
                    known = ", ".join(place_of)
                    raise BadData(
                        f"query {number:,} names {shown(name)}, which is not an attribute; the attributes are: {known}"
                    )
                attribute = attributes[place_of[name]]
                made = (
                    _numbers(attribute, values)
                    if isinstance(attribute, NumericAttribute)
                    else _named(attribute, values)
                )
                if isinstance(made, str):
                    raise BadData(f"query {number:,}: {name!r} {made}")
                cells[place_of[name]] = made
            found.append(cells)
        return found


@check_arguments
def read_predicates(source: str | Path) -> Predicates:
    """Read range queries from a JSON Lines file with one query per line.

    Parameters
    ----------
    source : str or Path
        The file.

    Returns
    -------
    Predicates
        The queries.

    Raises
    ------
    BadData
        The file is missing or empty, or a line is not a query. The error names the line.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import setveil as sv
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "queries.jsonl")
    ...     _ = file.write_text('{"age": [30, 50], "genre": ["news"]}')
    ...     sv.read_predicates(file)
    Predicates(1 query)
    """
    path = Path(source)
    queries = []
    for number, line in enumerate(lines_of(path), start=1):
        try:
            queries.append(_checked(json_value(line)))
        except (BadData, ValueError) as error:
            raise BadData(str(error), file=str(path), line=number) from None
    if not queries:
        raise BadData(f"is empty; expected one query per line, such as {_EXAMPLE}", file=str(path))
    return Predicates(queries)


def _checked(query: Any) -> dict[str, list[str | None]]:
    if not isinstance(query, Mapping) or not query:
        what = "an empty object" if isinstance(query, Mapping) else json_type_name(query)
        raise BadData(f"a query is {what}; expected conditions such as {_EXAMPLE}")
    found: dict[str, list[str | None]] = {}
    for name, values in query.items():
        if not isinstance(name, str) or isinstance(values, str) or not isinstance(values, Sequence) or not values:
            raise BadData(
                f"the condition on {shown(str(name))} is not a list with values; expected conditions such as {_EXAMPLE}"
            )
        found[name] = [_text(name, one) for one in values]
    return found


def _text(name: str, value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return None if value is None else str(value)
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        raise BadData(
            f"the condition on {shown(name)} contains {json_type_name(value)}; expected texts, numbers or null"
        )
    return format(Decimal(repr(value)) if isinstance(value, float) else Decimal(value), "f")


def _numbers(attribute: NumericAttribute, values: list[str | None]) -> Ranges | str:
    """Return the cells from the first number to below the second, or a text that says what is wrong with the numbers."""
    if len(values) != 2:
        return f"has {quantity(len(values), 'number')}; expected two, such as [30, 50] for at least 30 and below 50"
    low = _edge(attribute, values[0], 0)
    high = _edge(attribute, values[1], attribute.cells)
    for edge in (low, high):
        if isinstance(edge, str):
            return edge
    assert isinstance(low, int)
    assert isinstance(high, int)
    return (
        ((low, high),)
        if low < high
        else "has a second number that is not above the first; expected two numbers such as [30, 50]"
    )


def _edge(attribute: NumericAttribute, text: str | None, open_end: int) -> int | str:
    if text is None:
        return open_end
    try:
        place = (Fraction(text) - Fraction(attribute.low)) / Fraction(attribute.step)
    except (ValueError, ZeroDivisionError, OverflowError):
        return f"has {shown(text)}, which is not a number"
    if place.denominator != 1 or not 0 <= place <= attribute.cells:
        # The order of values within a step is not stored, so such a query cannot be counted.
        return f"has {text}; expected {attribute.low} or a number above it in steps of {attribute.step}"
    return int(place)


def _named(attribute: Attribute, values: list[str | None]) -> Ranges | str:
    """Return the cells of categories or nodes, or a text that says what is wrong with them."""
    cells: set[int] = set()
    for text in values:
        found = None if text is None else attribute.interval(text)
        if found is None:
            return f"has {'null' if text is None else shown(text)}, which is not one of its categories"
        cells.update(range(*found))
    ends = sorted(cell for cell in cells if cell + 1 not in cells)
    starts = sorted(cell for cell in cells if cell - 1 not in cells)
    return tuple((low, high + 1) for low, high in zip(starts, ends, strict=True))
