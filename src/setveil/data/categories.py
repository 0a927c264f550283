"""Which category each item belongs to: given by the data owner, from a file, a mapping, a sample, or at random for experiments."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from pydantic_core import core_schema

from setveil.data.formats.base import not_utf8, read_bytes
from setveil.errors import BadData, BadParameter

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from setveil.data.transactions import Transactions

_RANDOM = re.compile(r"random:(\d{1,9})(?:\?seed=(\d{1,40}))?")


class Categories(Mapping[str, str]):
    """A mapping from item to category, frozen, and usable as a parameter of methods, guarantees and metrics."""

    in_words: ClassVar[str] = "a file of categories"

    def __init__(self, of_item: Mapping[str, str]) -> None:
        self._of_item = dict(of_item)

    def __getitem__(self, item: str) -> str:
        return self._of_item[item]

    def __iter__(self) -> Iterator[str]:
        return iter(self._of_item)

    def __len__(self) -> int:
        return len(self._of_item)

    def __eq__(self, other: object) -> bool:
        return self._of_item == other._of_item if isinstance(other, Categories) else NotImplemented

    def __hash__(self) -> int:
        return hash(frozenset(self._of_item.items()))

    def __repr__(self) -> str:
        return f"Categories({len(self):,} items in {len(set(self._of_item.values())):,} categories)"

    @classmethod
    def __get_pydantic_core_schema__(cls, _source: Any, _handler: Any) -> core_schema.CoreSchema:
        """Let pydantic take a mapping and give one back as JSON."""
        return core_schema.no_info_plain_validator_function(
            cls._validated,
            serialization=core_schema.plain_serializer_function_ser_schema(lambda value: dict(value._of_item)),  # noqa: SLF001
        )

    @classmethod
    def _validated(cls, value: Any) -> Categories:
        if isinstance(value, Categories):
            return value
        if isinstance(value, Mapping):
            if all(isinstance(k, str) and isinstance(v, str) for k, v in value.items()):
                return cls(value)
            raise ValueError("items and categories must be text")
        raise ValueError(
            f"expected a mapping from item to category (setveil.read_categories reads one from a file), not {type(value).__name__}"
        )

    @classmethod
    def at_random(cls, items: Sequence[str], count: int, *, seed: int = 0) -> Categories:
        """Deal the items out to `count` categories of nearly equal size, as the tendency paper's experiments do."""
        if count < 1:
            raise BadParameter(f"{count} random categories were asked for; there must be at least 1")
        places = np.random.default_rng(seed).permutation(len(items))
        return cls({item: f"random-{places[i] % count}" for i, item in enumerate(items)})

    def bind(self, data: Transactions) -> tuple[NDArray[np.int32], tuple[str, ...]]:
        """Return for each item code the code of its category, and the categories' names in order; only those that occur."""
        missing = [label for label in data.vocabulary if label not in self._of_item]
        if missing:
            shown = ", ".join(repr(label) for label in missing[:3])
            raise BadData(
                f"{len(missing):,} of {len(data.vocabulary):,} items have no category, such as {shown}; add a line for each"
            )
        of_code = [self._of_item[label] for label in data.vocabulary]
        names = tuple(sorted(set(of_code)))
        code = {name: i for i, name in enumerate(names)}
        return np.array([code[name] for name in of_code], dtype=np.int32), names


def read_categories(source: str | Path, *, level: str | None = None, data: Transactions | None = None) -> Categories:
    """Read categories from a CSV file with a header (gz too), from `sample:NAME`, or deal them out with `random:COUNT?seed=N`.

    A file with the columns `item,category` is read as it is. Of a taxonomy with one column a level, `level` names the column; several
    levels separated by commas are joined to a path, for names that stand under several parents.
    """
    text = str(source)
    if text.startswith("random:"):
        random = _RANDOM.fullmatch(text)
        if random is None:
            raise BadParameter(
                f"{text!r} is not of the form random:COUNT or random:COUNT?seed=NUMBER, such as random:50?seed=3"
            )
        if data is None:
            raise BadParameter(f"{text} deals out the items of a data set, and none was given")
        return Categories.at_random(data.vocabulary, int(random[1]), seed=int(random[2] or 0))
    if text.startswith("sample:"):
        from setveil.data.samples import sample_taxonomy  # noqa: PLC0415 - only who asks for a sample pays for it

        header, rows = sample_taxonomy(text)
        return _pick(header, enumerate(rows, start=2), level, text)
    content = read_bytes(Path(text))
    if wrong := not_utf8(content, text):
        raise wrong
    reader = csv.reader(io.StringIO(content.decode("utf-8-sig"), newline=""), strict=True)
    try:
        return _pick(next(reader, []), _numbered(reader), level, text)
    except csv.Error as error:
        raise BadData(f"is not a line of CSV ({error})", file=text, line=reader.line_num) from None


def _numbered(reader: Any) -> Iterator[tuple[int, list[str]]]:
    """Give each row with the number of the line on which it starts: a quoted value can hold line breaks."""
    starts = reader.line_num + 1
    for row in reader:
        yield starts, row
        starts = reader.line_num + 1


def _pick(header: Sequence[str], rows: Iterable[tuple[int, Sequence[str]]], level: str | None, file: str) -> Categories:
    columns = [name.strip() for name in header]
    twice = [name for name in columns if columns.count(name) > 1]
    if twice:
        raise BadData(f"has {columns.count(twice[0])} columns {twice[0]!r}; each may stand once", file=file, line=1)
    if "item" not in columns:
        raise BadData(
            f"expected a header with the column 'item'; the columns are: {', '.join(columns) or 'none'}",
            file=file,
            line=1,
        )
    levels = [name for name in columns if name != "item"]
    if not levels:
        raise BadData("has no column beside 'item'; expected one with the categories", file=file, line=1)
    if level is None:
        if "category" not in levels and len(levels) != 1:
            raise BadData(f"has several levels ({', '.join(levels)}); name one with --level", file=file, line=1)
        chosen = ["category"] if "category" in levels else levels
    else:
        chosen = [name.strip() for name in level.split(",")]
        unknown = [name for name in chosen if name not in levels]
        if unknown:
            raise BadData(f"has no level {unknown[0]!r}; the levels are: {', '.join(levels)}", file=file, line=1)
    item_at, at = columns.index("item"), [columns.index(name) for name in chosen]
    of_item: dict[str, str] = {}
    for number, row in rows:
        if not row:
            continue
        if len(row) != len(columns):
            raise BadData(f"has {len(row)} fields where the header has {len(columns)}", file=file, line=number)
        # Doubled where it is part of a name, so that two paths never read the same.
        category = "/".join(row[i].replace("/", "//") for i in at) if len(at) > 1 else row[at[0]]
        if not all(row[i] for i in at) or not row[item_at]:
            raise BadData("an item or its category is empty", file=file, line=number)
        if of_item.setdefault(row[item_at], category) != category:
            raise BadData(f"item {row[item_at]!r} was given another category before", file=file, line=number)
    return Categories(of_item)
