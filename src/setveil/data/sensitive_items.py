"""Items that nobody should be able to infer, as a person named them: from a file or from Python."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from pydantic_core import core_schema

from setveil.base import progress
from setveil.data.files.side_files import first_unusable
from setveil.data.names_found import NameList
from setveil.data.records.labels import label_order, note_stripped, stripped
from setveil.errors import BadData

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from setveil.data.records.transactions import Transactions


class SensitiveItems(NameList, AbstractSet[str]):
    """A set of items, usable as a parameter; it may be empty, and its items come in label order.

    >>> list(SensitiveItems(["tea", "beer", "tea"]))
    ['beer', 'tea']
    """

    in_words: ClassVar[str] = "a file with an item a line"
    python_type: ClassVar[str] = "SensitiveItems or a list of items"
    example: ClassVar[str] = 'sv.read_sensitive("sample:supermarket")'
    noun: ClassVar[str] = "items"

    def __init__(self, items: Iterable[str]) -> None:
        if isinstance(items, str | bytes | Mapping) or not isinstance(items, Iterable):
            what = "a text" if isinstance(items, str) else type(items).__name__
            raise BadData(f"expected a list of items (setveil.read_sensitive reads them from a file), not {what}")
        given = list(items)
        wrong = [item for item in given if not isinstance(item, str)]
        if wrong:
            raise BadData(f"a sensitive item is of the type {type(wrong[0]).__name__}; items are text")
        given, with_blanks = stripped(given)
        note_stripped(len(set(with_blanks)), "sensitive items")
        labels = sorted(set(given))
        if unusable := first_unusable(labels):
            raise BadData(f"what cannot be an item was named sensitive: {unusable}")
        if len(labels) < len(given):
            progress.note(f"{len(given) - len(labels):,} repeated sensitive items count once")
        self._items = dict.fromkeys(labels[place] for place in label_order(labels))

    def __contains__(self, item: object) -> bool:
        return item in self._items

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __hash__(self) -> int:
        return self._hash()

    def __repr__(self) -> str:
        return f"SensitiveItems({len(self):,} item{'s' * (len(self) != 1)})"

    @classmethod
    def __get_pydantic_core_schema__(cls, _source: Any, _handler: Any) -> core_schema.CoreSchema:
        """Let pydantic take a list of labels and give it back as JSON."""
        return core_schema.no_info_plain_validator_function(
            cls._validated, serialization=core_schema.plain_serializer_function_ser_schema(list)
        )

    @classmethod
    def _validated(cls, value: Any) -> SensitiveItems:
        if isinstance(value, SensitiveItems):
            return value
        try:
            return cls(value)
        except BadData as error:
            raise ValueError(str(error)) from None

    @property
    def entries(self) -> tuple[tuple[str, ...], ...]:
        """Return each item as a set of its own."""
        return tuple((item,) for item in self._items)

    def among(self, data: Transactions) -> NDArray[np.bool_]:
        """Return for each item code whether it is sensitive; the data need not hold every sensitive item."""
        mask = np.zeros(len(data.vocabulary), dtype=np.bool_)
        mask[[data.code_of[item] for item in self._items if item in data.code_of]] = True
        return mask
