"""Itemsets that a person named, such as those that are trade secrets: from a file or from Python."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, Any, ClassVar, overload

import numpy as np
from pydantic_core import core_schema

from setveil.base import progress
from setveil.data.files.side_files import first_unusable, shown
from setveil.data.names_found import NameList
from setveil.data.records.labels import label_order, note_stripped, stripped
from setveil.data.records.ragged import offsets_of
from setveil.errors import BadData

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from setveil.data.records.transactions import Transactions


class NamedItemsets(NameList, Sequence[tuple[str, ...]]):
    """Sets of items, each once and none of them empty, usable as a parameter; their items are in label order.

    They stay in the order given, which targets go by; those of a Python set, which has none, come in label order.

    >>> NamedItemsets([["milk", "bread"], ["bread", "milk"]])
    NamedItemsets(1 itemset of up to 2 items)
    """

    in_words: ClassVar[str] = "a file of itemsets"
    python_type: ClassVar[str] = "NamedItemsets or lists of items"
    example: ClassVar[str] = '[["baking-powder-170g", "caster-sugar-1kg"]]'
    noun: ClassVar[str] = "itemsets"

    def __init__(self, itemsets: Iterable[Iterable[str]]) -> None:
        if isinstance(itemsets, str | bytes | Mapping) or not isinstance(itemsets, Iterable):
            what = "a text" if isinstance(itemsets, str) else type(itemsets).__name__
            raise BadData(f"expected lists of items (setveil.read_itemsets reads them from a file), not {what}")
        found: dict[frozenset[str], None] = {}
        given = repeated_items = 0
        with_blanks: set[str] = set()
        for one in itemsets:
            items, changed = stripped(_checked(one))
            with_blanks.update(changed)
            found[frozenset(items)] = None
            given += 1
            repeated_items += len(items) - len(set(items))
        if not found:
            raise BadData("no itemset was named; expected at least one")
        labels = sorted(set().union(*found))
        if wrong := first_unusable(labels):
            raise BadData(f"a named itemset holds what cannot be an item: {wrong}")
        note_stripped(len(with_blanks), "items in itemsets")
        if repeated_items:
            progress.note(f"{repeated_items:,} repeated items within an itemset count once")
        if given > len(found):
            progress.note(f"{given - len(found):,} repeated itemsets count once")
        rank = {labels[place]: number for number, place in enumerate(label_order(labels))}
        by_rank = [sorted(map(rank.__getitem__, one)) for one in found]
        if isinstance(itemsets, AbstractSet):  # its order differs from run to run, and targets go by the order
            by_rank.sort()
        in_order = sorted(labels, key=rank.__getitem__)
        self._itemsets = tuple(tuple(in_order[number] for number in one) for one in by_rank)

    def __len__(self) -> int:
        return len(self._itemsets)

    @overload
    def __getitem__(self, place: int) -> tuple[str, ...]: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[tuple[str, ...], ...]: ...
    def __getitem__(self, place: int | slice) -> Any:
        return self._itemsets[place]

    def __eq__(self, other: object) -> bool:
        return self._itemsets == other._itemsets if isinstance(other, NamedItemsets) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._itemsets)

    def __repr__(self) -> str:
        longest = max(map(len, self._itemsets))
        return (
            f"NamedItemsets({len(self):,} itemset{'s' * (len(self) > 1)} of up to {longest} item{'s' * (longest > 1)})"
        )

    @classmethod
    def __get_pydantic_core_schema__(cls, _source: Any, _handler: Any) -> core_schema.CoreSchema:
        """Let pydantic take lists of labels and give them back as JSON."""
        return core_schema.no_info_plain_validator_function(
            cls._validated,
            serialization=core_schema.plain_serializer_function_ser_schema(lambda value: [list(one) for one in value]),
        )

    @classmethod
    def _validated(cls, value: Any) -> NamedItemsets:
        if isinstance(value, NamedItemsets):
            return value
        try:
            return cls(value)
        except BadData as error:
            raise ValueError(str(error)) from None

    @property
    def entries(self) -> tuple[tuple[str, ...], ...]:
        """Return the itemsets."""
        return self._itemsets

    def take(self, places: Iterable[int]) -> NamedItemsets:
        """Return the itemsets at these places."""
        return NamedItemsets(self._itemsets[place] for place in places)

    def bind(self, data: Transactions) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Return offsets and rising codes of itemsets that all occur in the data."""
        code_of = data.code_of
        codes = [sorted(code_of[label] for label in one) for one in self._itemsets]
        offsets = offsets_of([len(one) for one in codes])
        return offsets, np.array([code for one in codes for code in one], dtype=np.int32)


def _checked(one: Any) -> list[str]:
    if isinstance(one, str | bytes | Mapping) or not isinstance(one, Iterable):
        what = f"the text {shown(one)}" if isinstance(one, str) else f"of the type {type(one).__name__}"
        raise BadData(f"an itemset is {what}; expected a list of items")
    items = list(one)
    if not items:
        raise BadData("an itemset is empty; expected at least one item")
    wrong = [item for item in items if not isinstance(item, str)]
    if wrong:
        raise BadData(f"an item is of the type {type(wrong[0]).__name__}; items are text")
    return items
