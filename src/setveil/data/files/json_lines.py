"""JSON Lines: each line is a record, either an object with a list of items (`{"id": "p1", "items": ["milk", 7]}`) or the list alone."""

from __future__ import annotations

import json
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from setveil.data.files.assembly import ListAssembly, Origin
from setveil.data.files.character_encodings import how_to_decode
from setveil.data.files.packing import blocks
from setveil.data.files.texts import join_names
from setveil.errors import BadData

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from setveil.data.formats.base import Layout
    from setveil.data.records.transactions import Transactions

EXTENSIONS = (".jsonl", ".ndjson")
_BATCH_LINES = 1 << 16
JSON_KINDS: dict[type, str] = {
    float: "a number with a fraction",
    bool: "true or false",
    type(None): "null",
    list: "a list",
    dict: "an object",
}
"""Names of JSON values that cannot be items, for messages."""


class _LineOrigin(Origin):
    """The origin of JSON Lines, whose rows are lines, because blank lines are refused."""

    def wrong(self, message: str, row: int | None = None) -> BadData:
        """Return the error about a row, counted from 0."""
        return BadData(message, file=self.name, line=None if row is None else row + 1)


class Whole(str):
    """A whole number as its digits: converting a very long one to int fails."""

    __slots__ = ()


def json_value(line: bytes | str) -> Any:
    """Return the value on a line, with whole numbers as `Whole`, or raise `ValueError` with a short message."""
    try:
        text = line if isinstance(line, str) else line.decode()
        return _DECODER.decode(text)
    except RecursionError:
        raise ValueError("is nested too deeply") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"is not JSON ({error.msg} at character {error.colno})") from None
    except UnicodeDecodeError as error:
        byte = error.object[error.start]
        raise ValueError(f"holds the byte 0x{byte:02x}, which is not UTF-8 text; {how_to_decode(byte)}") from None


def _whole(digits: str) -> Whole:
    return Whole("0" if digits == "-0" else digits)


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("names a field twice")
    return found


def _no_constant(name: str) -> Any:
    raise ValueError(f"holds {name}, which is not JSON")


def item_text(value: Any, what: str = "an item") -> str:
    """Return the text of an item or an id, or raise `ValueError` with a short message."""
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError:
            raise ValueError(f"{what} holds a lone surrogate, which is not valid Unicode text") from None
        return value
    raise ValueError(f"{what} is {JSON_KINDS[type(value)]}; expected text or a whole number")


_DECODER = json.JSONDecoder(object_pairs_hook=_each_once, parse_constant=_no_constant, parse_int=_whole)
"""Made once: making it takes as long as reading a short line."""


def read_json_lines(path: Path, layout: Layout) -> Transactions:
    """Read a file. If the first line has an id, every line must have one; otherwise none may."""
    file = str(path)
    assembly: ListAssembly | None = None
    with_ids = False
    number = 0
    with ExitStack() as stack:
        for lines in batches_of_lines(path):
            values: list[str] = []
            lengths: list[int] = []
            ids: list[str] = []
            for line in lines:
                number += 1
                try:
                    name, items = _record(json_value(line), layout)
                    if assembly is None:
                        with_ids = name is not None
                        if layout.id is not None and not with_ids:
                            raise ValueError(f"has no field {layout.id!r}; name yours with `id=`")  # noqa: TRY301 - an error in the data
                        assembly = ListAssembly(
                            _LineOrigin(file),
                            items_column=layout.items_column,
                            id_column=layout.id_column if with_ids else None,
                            drops_missing=layout.drops_missing,
                        )
                        stack.enter_context(assembly.comparing_ids())
                    _refuse_other_shape(name, layout.id_column, with_ids=with_ids)
                    values.extend(_item_or_nothing(item) if layout.drops_missing else item_text(item) for item in items)
                except ValueError as error:
                    raise BadData(str(error), file=file, line=number) from None
                lengths.append(len(items))
                if name is not None:
                    ids.append(name)
            assert assembly is not None
            texts = pa.array(values, pa.large_string())
            assembly.add_flat(np.array(lengths), texts, pa.array(ids, pa.large_string()) if with_ids else None)
    if assembly is None:
        raise BadData("is empty; expected one JSON value per line", file=file)
    return assembly.finish()


def _refuse_other_shape(name: str | None, column: str, *, with_ids: bool) -> None:
    if (name is not None) != with_ids:
        raise ValueError(
            f"has {'no' if with_ids else 'a'} field {column!r}, unlike the first line; give all lines an id, or none"
        )


def _item_or_nothing(value: Any) -> str:
    """Return the text of an item; an empty one for null, which the assembly drops."""
    return "" if value is None else item_text(value)


def _record(value: Any, layout: Layout) -> tuple[str | None, list[Any]]:
    if isinstance(value, list):
        if value and all(isinstance(item, dict) for item in value):
            raise ValueError(
                "an item is an object; expected text or a whole number. If the objects are records, write one per line, as jq -c '.[]' does"
            )
        return None, value
    column = layout.items_column
    if not isinstance(value, dict):
        raise ValueError(f"is neither a list of items nor an object with the field {column!r}")  # noqa: TRY004 - an error in the data
    if column not in value:
        what = (
            "Use `format='long'` if each line is one item"
            if layout.item_column in value
            else "Name yours with `items=`, or with `id=` and `item=` for one item per line"
        )
        raise ValueError(f"has no field {column!r}; the fields are: {join_names(value)}. {what}")
    items = value[column]
    if items is None and layout.drops_missing:
        items = []
    if not isinstance(items, list):
        raise ValueError(f"the field {column!r} is not a list of items")  # noqa: TRY004 - an error in the data
    name = item_text(value[layout.id_column], "the id") if layout.id_column in value else None
    return name, items


def lines_of(path: Path) -> Iterator[bytes]:
    """Yield the lines of a file; a blank last line is ignored. Only those of one block of bytes are in memory."""
    rest = b""
    for block in blocks(path):
        *whole, rest = (rest + block).split(b"\n")
        yield from whole
    if rest.strip():
        yield rest


def batches_of_lines(path: Path) -> Iterator[list[bytes]]:
    """Yield the lines of a file in batches; a blank last line is ignored."""
    rest = b""
    waiting: list[bytes] = []
    for block in blocks(path):
        *whole, rest = (rest + block).split(b"\n")
        waiting.extend(whole)
        if len(waiting) >= _BATCH_LINES:
            yield waiting
            waiting = []
    if rest.strip():
        waiting.append(rest)
    if waiting:
        yield waiting


def json_type_name(value: Any) -> str:
    """Return the kind of a JSON value, for messages."""
    return JSON_KINDS.get(type(value), "a whole number" if isinstance(value, Whole) else "a text")
