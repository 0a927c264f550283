"""Sensitive items, which nobody should be able to infer: from a file or from Python."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from setveil.base import progress
from setveil.base.arguments import check_arguments
from setveil.base.display import quantity
from setveil.data.files.side_files import BETWEEN, first_unusable, lines_in, refuse_unusable
from setveil.data.records.labels import BLANKS, label_order, note_stripped, stripped
from setveil.errors import BadData
from setveil.parameters.names_found import NameList

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from setveil.data.records.transactions import Transactions


class SensitiveItems(NameList, AbstractSet[str]):
    """An immutable set of sensitive items, for parameters; it may be empty. Iteration is in label order.

    Parameters
    ----------
    items : iterable of str
        The items. A repeated item counts once, with a note.

    Raises
    ------
    BadData
        If `items` is not a list of texts, or a name is empty or holds a control character.

    Examples
    --------
    >>> import setveil as sv
    >>> list(sv.SensitiveItems(["tea", "beer", "tea"]))
    ['beer', 'tea']
    """

    allowed_text: ClassVar[str] = "a file with one item per line"
    python_type: ClassVar[str] = "SensitiveItems or a list of items"
    example: ClassVar[str] = 'sv.read_sensitive("sample:supermarket")'
    option_example = "sample:supermarket"
    noun: ClassVar[str] = "items"
    ending = ".txt"
    bad_values = ("a text", [3], [""], [["a"]], {"a": "b"}, ["a\nb"], 17, None)

    def __init__(self, items: Iterable[str]) -> None:
        if isinstance(items, str | bytes | Mapping) or not isinstance(items, Iterable):
            what = "a text" if isinstance(items, str) else type(items).__name__
            raise BadData(f"expected a list of items (setveil.read_sensitive reads them from a file), not {what}")
        given = list(items)
        wrong = [item for item in given if not isinstance(item, str)]
        if wrong:
            raise BadData(f"a sensitive item is of the type {type(wrong[0]).__name__}; items must be text")
        given, with_blanks = stripped(given)
        note_stripped(len(set(with_blanks)), "sensitive items")
        labels = sorted(set(given))
        if unusable := first_unusable(labels):
            raise BadData(f"a sensitive item is invalid: {unusable}")
        if len(labels) < len(given):
            progress.note(f"{quantity(len(given) - len(labels), 'repeated sensitive item')} counted once")
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
        return f"SensitiveItems({quantity(len(self), 'item')})"

    @classmethod
    def read(cls, source: str | Path, **_given: Any) -> SensitiveItems:
        """Read items from a text file, one per line, or from `sample:NAME`."""
        return cls(_read(str(source)))

    @classmethod
    def example_for(cls, data: Transactions) -> SensitiveItems:
        """Return a random third of the items, at least one if there are any."""
        rng = np.random.default_rng(data.occurrences)
        return cls(rng.permutation(data.vocabulary)[: -(-len(data.vocabulary) // 3)].tolist())

    def to_json(self) -> list[str]:
        """Return the items as a list."""
        return list(self)

    def to_file(self) -> str:
        """Return the content of a file with one item per line."""
        return "".join(f"{item}\n" for item in self)

    @property
    def entries(self) -> tuple[tuple[str, ...], ...]:
        """Each item as an entry of its own."""
        return tuple((item,) for item in self._items)

    def among(self, data: Transactions) -> NDArray[np.bool_]:
        """Return for each item code whether it is sensitive; sensitive items may be missing from the data."""
        mask = np.zeros(len(data.vocabulary), dtype=np.bool_)
        mask[[data.code_of[item] for item in self._items if item in data.code_of]] = True
        return mask


@check_arguments
def read_sensitive(source: str | Path, data: Transactions | None = None) -> tuple[str, ...]:
    """Read sensitive items from a text file with one item per line, or from a sample.

    Blank lines and blanks around an item are ignored.

    Parameters
    ----------
    source : str or Path
        A text file, also compressed (`.gz`, `.zst`), or `sample:NAME`.
    data : Transactions, optional
        If given, a list without any item that occurs in the data is refused.

    Returns
    -------
    tuple of str
        The items, each once, in label order.

    Raises
    ------
    BadData
        If the file is missing, empty or invalid, or no item occurs in `data`.

    Examples
    --------
    >>> import setveil as sv
    >>> "acne-gel-30g" in sv.read_sensitive("sample:supermarket")
    True
    """
    named = SensitiveItems.read(source)
    if data is not None:
        named.found_in(data, "sensitive").refuse("accept", file=str(source))
    return tuple(named)


def _read(file: str) -> list[str]:
    if file.startswith("sample:"):
        from setveil.data.samples import sample_sensitive  # noqa: PLC0415 - loaded only for samples

        return sample_sensitive(file)
    items = []
    for number, line in enumerate(lines_in(file), start=1):
        item = line.strip(BETWEEN + BLANKS)
        if not item:
            continue
        refuse_unusable(item, file, number)
        items.append(item)
    if not items:
        raise BadData("is empty; expected one sensitive item per line", file=file)
    return items
