"""Conditions that a person asks how many records meet: JSON Lines, a query a line, `{"age": [30, 50], "sex": ["Male"]}`.

Of a numeric attribute the numbers from the first on and below the second; null leaves an end open. Of others a list of categories, or of
nodes of the taxonomy. A query asks for records that meet all of its conditions.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from setveil.base.arguments import check_arguments
from setveil.data.files.json_lines import json_value, kind_in_words, lines_of
from setveil.data.files.side_files import shown
from setveil.errors import BadData
from setveil.parameters.kind import ParameterKind
from setveil.presence.tables.attributes import NumericAttribute

if TYPE_CHECKING:
    from setveil.presence.tables.attributes import Attribute
    from setveil.presence.tables.schema import Schema

_EXAMPLE = '{"age": [30, 50], "sex": ["Male"]}'
Ranges = tuple[tuple[int, int], ...]
"""Cells of an attribute: ranges that do not touch, in their order."""


class Predicates(ParameterKind, Sequence[dict[str, list[str | None]]]):
    """Queries, each a list of values for some attributes; usable as a parameter.

    >>> Predicates([{"age": [30, 50]}])
    Predicates(1 query)
    """

    in_words: ClassVar[str] = "a file of queries (JSON Lines)"
    python_type: ClassVar[str] = "Predicates or a list of queries"
    example: ClassVar[str] = '[{"age": [30, 50], "sex": ["Male"]}]'
    ending = ".jsonl"
    bad_values = ([], [{}], ["a text"], [{"age": 30}], [{"age": [object()]}], {"age": [30, 50]}, 17)

    def __init__(self, queries: Iterable[Mapping[str, Iterable[Any]]]) -> None:
        if isinstance(queries, str | bytes | Mapping) or not isinstance(queries, Iterable):
            raise BadData(f"expected queries such as {_EXAMPLE}, not {type(queries).__name__}")
        self._queries = tuple(_checked(one) for one in queries)
        if not self._queries:
            raise BadData(f"there is no query; expected some such as {_EXAMPLE}")

    def __len__(self) -> int:
        return len(self._queries)

    def __getitem__(self, place: Any) -> Any:
        return self._queries[place]

    def __eq__(self, other: object) -> bool:
        return self._queries == other._queries if isinstance(other, Predicates) else NotImplemented

    def __hash__(self) -> int:
        return hash(repr(self._queries))

    def __repr__(self) -> str:
        return f"Predicates({len(self):,} {'query' if len(self) == 1 else 'queries'})"

    @classmethod
    def validated(cls, value: Any) -> Predicates:
        """Take queries, or the name of a file of them."""
        try:
            return super().validated(read_predicates(value) if isinstance(value, str | Path) else value)
        except BadData as error:
            raise ValueError(str(error)) from None

    def to_json(self) -> list[dict[str, list[str | None]]]:
        """Return the queries."""
        return list(self)

    def to_file(self) -> str:
        """Return the content of a file with one query per line."""
        return "".join(json.dumps(query, ensure_ascii=False) + "\n" for query in self)

    def ranges(self, schema: Schema) -> list[dict[int, Ranges]]:
        """Return for each query the cells of the attributes that it names, by their place; the sensitive one comes last."""
        attributes: tuple[Attribute, ...] = (*schema.attributes, schema.sensitive)
        place_of = {one.name: place for place, one in enumerate(attributes)}
        found = []
        for number, query in enumerate(self._queries, start=1):
            cells = {}
            for name, values in query.items():
                if name not in place_of:
                    known = ", ".join(place_of)
                    raise BadData(f"query {number:,} names {shown(name)}, which is no attribute; there are: {known}")
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
    """Read queries, a line each."""
    path = Path(source)
    queries = []
    for number, line in enumerate(lines_of(path), start=1):
        try:
            queries.append(_checked(json_value(line)))
        except (BadData, ValueError) as error:
            raise BadData(str(error), file=str(path), line=number) from None
    if not queries:
        raise BadData(f"is empty; expected a query a line, such as {_EXAMPLE}", file=str(path))
    return Predicates(queries)


def _checked(query: Any) -> dict[str, list[str | None]]:
    if not isinstance(query, Mapping) or not query:
        what = "an empty object" if isinstance(query, Mapping) else kind_in_words(query)
        raise BadData(f"a query is {what}; expected conditions such as {_EXAMPLE}")
    found: dict[str, list[str | None]] = {}
    for name, values in query.items():
        if not isinstance(name, str) or isinstance(values, str) or not isinstance(values, Sequence) or not values:
            raise BadData(f"the condition of {shown(str(name))} is no list; expected conditions such as {_EXAMPLE}")
        found[name] = [_text(name, one) for one in values]
    return found


def _text(name: str, value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return None if value is None else str(value)
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        raise BadData(f"the condition of {shown(name)} holds {kind_in_words(value)}; expected texts, numbers or null")
    return format(Decimal(repr(value)) if isinstance(value, float) else Decimal(value), "f")


def _numbers(attribute: NumericAttribute, values: list[str | None]) -> Ranges | str:
    """Return the cells from the first number on and below the second, or what is wrong with them."""
    if len(values) != 2:
        return f"has {len(values)} numbers; expected two, the first one in and the first one beyond, such as [30, 50]"
    low = _edge(attribute, values[0], 0)
    high = _edge(attribute, values[1], attribute.cells)
    for edge in (low, high):
        if isinstance(edge, str):
            return edge
    assert isinstance(low, int)
    assert isinstance(high, int)
    return ((low, high),) if low < high else "has an end that is not above its beginning"


def _edge(attribute: NumericAttribute, text: str | None, open_end: int) -> int | str:
    if text is None:
        return open_end
    try:
        place = (Fraction(text) - Fraction(attribute.low)) / Fraction(attribute.step)
    except (ValueError, ZeroDivisionError, OverflowError):
        return f"has {shown(text)}, which is not a number"
    if place.denominator != 1 or not 0 <= place <= attribute.cells:
        # What lies within a step is not known of anybody: such a query could not be counted.
        return f"has {text}; expected a number from {attribute.low} on in steps of {attribute.step}"
    return int(place)


def _named(attribute: Attribute, values: list[str | None]) -> Ranges | str:
    """Return the cells of categories or nodes, or what is wrong with them."""
    cells: set[int] = set()
    for text in values:
        found = None if text is None else attribute.interval(text)
        if found is None:
            return f"has {'null' if text is None else shown(text)}, which is none of its categories"
        cells.update(range(*found))
    ends = sorted(cell for cell in cells if cell + 1 not in cells)
    starts = sorted(cell for cell in cells if cell - 1 not in cells)
    return tuple((low, high + 1) for low, high in zip(starts, ends, strict=True))
