"""JSON Lines with nested objects, such as FHIR resources: one row per value at a path like `code.coding.code`.

A path names fields, separated by dots. Lists on the way are taken apart, with or without a `[]` behind the field, so that one line can give
several items. `coding[system=http://hl7.org/fhir/sid/icd-10-cm]` takes only the objects of a list in which a field has this value. A field
whose name is the whole path comes first.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from setveil.data.files.assembly import Origin
from setveil.data.files.json_lines import batches_of_lines, item_text, json_type_name, json_value
from setveil.errors import BadData, BadParameter

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from numpy.typing import NDArray

_STEP = re.compile(r"([^.\[\]]+)(?:\[(?:([^\[\]=]+)=([^\[\]]+))?\])?(?:\.|$)")


class _Step(NamedTuple):
    """A field of a path, and the field with its value that an object must have, if one is named."""

    name: str
    field: str | None
    value: str | None


class JsonPath:
    """A path to values in nested objects.

    >>> JsonPath("code.coding.code").values({"code": {"coding": [{"code": "I10"}, {"code": "E11.9"}]}})
    ['I10', 'E11.9']
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self._steps: list[_Step] = []
        at = 0
        while at < len(text):
            found = _STEP.match(text, at)
            if found is None or (found.end() == len(text) and text.endswith(".")):
                expected = "names of fields, separated by dots, such as code.coding.code or coding[system=URL].code"
                raise BadParameter(f"the path {text!r} cannot be read at character {at + 1}; expected {expected}")
            self._steps.append(_Step(*found.groups()))
            at = found.end()

    def values(self, line: dict[str, Any]) -> list[Any]:
        """Return the values at the path; missing fields and null give none."""
        if self.text in line:
            return list(_apart([line[self.text]]))
        found: list[Any] = [line]
        for number, (name, field, value) in enumerate(self._steps):
            for one in found:
                if type(one) is not dict:
                    place = self._steps[number - 1].name
                    raise ValueError(
                        f"the field {place!r} is {_named(one)}; expected an object with the field {name!r}"
                    )
            found = list(_apart(one[name] for one in found if name in one))
            if field is not None:
                found = [one for one in found if type(one) is dict and one.get(field) == value]
        return found


def _apart(values: Any) -> Iterator[Any]:
    """Yield the values without null, and those of lists one by one; lists may be nested as deeply as JSON can be read."""
    waiting = [iter(values)]
    while waiting:
        for value in waiting[-1]:
            if type(value) is list:
                waiting.append(iter(value))
                break
            if value is not None:
                yield value
        else:
            waiting.pop()


def _named(value: Any) -> str:
    name = json_type_name(value)
    return f"a {name}" if not name.startswith(("a ", "an ", "true")) else name


class LinesOrigin(Origin):
    """The origin of rows that were taken from lines, for errors."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.rows_of_lines: list[NDArray[np.int32]] = []
        """The number of rows of each line, for each batch."""

    def wrong(self, message: str, row: int | None = None) -> BadData:
        """Return the error about a row, counted from 0; it names the line."""
        if row is None:
            return BadData(message, file=self.name)
        ends = np.cumsum(np.concatenate(self.rows_of_lines))
        return BadData(message, file=self.name, line=int(np.searchsorted(ends, row, side="right")) + 1)


def path_batches(path: Path, names: list[str]) -> tuple[LinesOrigin, Iterator[list[Any]]]:
    """Return where rows come from, and batches of ids and items; a line without an item is a row with a missing one."""
    origin = LinesOrigin(str(path))
    id_path, item_path = map(JsonPath, names)
    return origin, _batches(path, id_path, item_path, origin)


def _batches(path: Path, id_path: JsonPath, item_path: JsonPath, origin: LinesOrigin) -> Iterator[list[Any]]:
    number = 0
    for lines in batches_of_lines(path):
        ids: list[str | None] = []
        items: list[str | None] = []
        rows: list[int] = []
        for line in lines:
            number += 1
            try:
                name, found = _row(json_value(line), id_path, item_path)
            except ValueError as error:
                raise BadData(str(error), file=origin.name, line=number) from None
            ids.extend([name] * len(found))
            items.extend(found)
            rows.append(len(found))
        origin.rows_of_lines.append(np.array(rows, dtype=np.int32))
        yield [pa.array(ids, pa.large_string()), pa.array(items, pa.large_string())]
    if not number:
        raise BadData("is empty; expected one JSON object per line", file=origin.name)


def _row(value: Any, id_path: JsonPath, item_path: JsonPath) -> tuple[str | None, list[str | None]]:
    """Return the id and the items of a line."""
    if type(value) is not dict:
        raise ValueError(f"is {_named(value)}; expected an object")
    names = id_path.values(value)
    if len(names) > 1:
        raise ValueError(f"has {len(names):,} values at {id_path.text!r}; expected one id")
    found: list[str | None] = [item_text(item) for item in item_path.values(value)]
    return item_text(names[0], "the id") if names else None, found or [None]
