"""Names of items that are codes, to show beside the codes: `E11.9 (type 2 diabetes)`.

Names are for display only. Labels of the data, checks and release folders do not depend on them. A table shows labels with `text` and
`listed`. Sentences quote labels or list them in braces, and `in_sentence` finds them there.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping
from dataclasses import replace
from os import PathLike
from typing import TYPE_CHECKING, Any

from setveil.base.arguments import check_arguments, describe
from setveil.base.display import cut
from setveil.data.files.side_files import shown, side_file, unusable
from setveil.data.files.side_tables import read_table
from setveil.data.files.texts import join_names
from setveil.errors import BadData, BadParameter
from setveil.parameters.makers import maker_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from setveil.base.verdict import Verdict
    from setveil.data.files.side_tables import Table
    from setveil.data.forms.base import Published
    from setveil.data.records.transactions import Transactions

MAKERS = {"sample:": "item_names.names_of_sample", "icd10cm": "icd10cm.names_from_text"}
"""Texts that describe names in place of a file; see `makers`."""
LONGEST = 60
"""The maximum number of characters of a name beside its code."""
_LABELS = re.compile(r"\{[^{}]*\}|'[^']*'|(?<=→ )\S+$")
"""Where sentences have labels: in braces, in quotes, or as the consequent of a rule at the end."""


class ItemNames(Mapping[str, str]):
    """An immutable mapping from item to name, for display; items without a name are shown as they are.

    Use `read_names` to read names from a file.

    Parameters
    ----------
    of_item : mapping of str to str
        The name of each item.

    Raises
    ------
    BadData
        If an item or a name is not a text, or is empty or holds a control character.

    Examples
    --------
    >>> import setveil as sv
    >>> names = sv.ItemNames({"E11.9": "type 2 diabetes", "I10": "high blood pressure"})
    >>> names.text("E11.9"), names.text("J18.9")
    ('E11.9 (type 2 diabetes)', 'J18.9')
    """

    def __init__(self, of_item: Mapping[str, str]) -> None:
        for given in (text for pair in of_item.items() for text in pair):
            if not isinstance(given, str):
                raise BadData(f"an item or its name is {describe(given)}; expected a text")
            if wrong := unusable(given):
                raise BadData(f"the item or name {shown(given)} {wrong}")
        self._of_item = dict(of_item)

    def to_file(self) -> str:
        """Return the content of a file from which `read_names` reads equal names."""
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows([("item", "name"), *self.items()])
        return text.getvalue()

    def __getitem__(self, item: str) -> str:
        return self._of_item[item]

    def __iter__(self) -> Iterator[str]:
        return iter(self._of_item)

    def __len__(self) -> int:
        return len(self._of_item)

    def __hash__(self) -> int:
        return hash(frozenset(self._of_item.items()))

    def __repr__(self) -> str:
        return f"ItemNames({len(self):,} items)"

    def text(self, label: str) -> str:
        """Return a label with its name, or the label alone if it has none or is its own name."""
        name = self._of_item.get(label, label)
        return label if name == label else f"{label} ({cut(name, LONGEST)})"

    def listed(self, labels: Iterable[str]) -> str:
        """Return labels with their names, separated by commas."""
        return ", ".join(map(self.text, labels))

    def in_sentence(self, sentence: str) -> str:
        """Return a sentence with names behind the labels that it quotes or lists in braces."""
        return _LABELS.sub(lambda found: self._marked(found[0]), sentence) if self._of_item else sentence

    def _marked(self, text: str) -> str:
        if text.startswith("{"):
            return f"{{{', '.join(map(self._marked, text[1:-1].split(', ')))}}}"
        label = _unquoted(text)
        return text + self.text(label).removeprefix(label)

    def in_verdict(self, verdict: Verdict) -> Verdict:
        """Return a verdict with names in the texts of its witnesses."""
        if not self._of_item:
            return verdict
        witnesses = (
            replace(one, place=self.in_sentence(one.place), detail=self.in_sentence(one.detail))
            for one in verdict.witnesses
        )
        return replace(verdict, witnesses=tuple(witnesses))

    def among(self, texts: Iterable[str]) -> dict[str, str]:
        """Return the names of the labels that are among these texts, or in sentences among them."""
        if not self._of_item:
            return {}
        labels = (label for text in dict.fromkeys(texts) for label in (text, *_labels_in(text)))
        return {label: self._of_item[label] for label in dict.fromkeys(labels) if label in self._of_item}


def _labels_in(sentence: str) -> Iterator[str]:
    """Yield the labels that a sentence quotes or lists in braces."""
    for found in _LABELS.findall(sentence):
        yield from map(_unquoted, found[1:-1].split(", ") if found.startswith("{") else [found])


def _unquoted(text: str) -> str:
    return text[1:-1] if len(text) > 2 and text[0] == text[-1] == "'" else text


NO_NAMES = ItemNames({})


@check_arguments
def read_names(
    source: str | Path,
    data: Transactions | None = None,
    *,
    item_column: str | None = None,
    side_encoding: str | None = None,
) -> ItemNames:
    """Read the names of items from a file with a header or from a sample, or take those of ICD-10-CM.

    Parameters
    ----------
    source : str or Path
        A table with the columns `item` and `name`, in any format that `read_categories` takes. The second column may also end with `name`,
        such as `product_name`, and have any name if it is the only other one. Or `sample:NAME`, or `icd10cm` for diagnosis codes.
    data : Transactions, optional
        The data whose items need names. They are required for `icd10cm`, and help to find the column of the items.
    item_column : str, optional
        The column of the items. Default: `item`, or the column that clearly matches the items of `data`.
    side_encoding : str, optional
        The encoding of text that is not UTF-8, such as `cp1252`.

    Returns
    -------
    ItemNames
        The name of each item. Items with an empty name have none.

    Raises
    ------
    BadData
        If the file is invalid; the message names the line.
    BadParameter
        If `data` is missing for `icd10cm`.
    Missing
        If the tables of ICD-10-CM are not installed.

    Examples
    --------
    >>> import setveil as sv
    >>> sv.read_names("sample:hospital").text("I10")
    'I10 (high blood pressure)'
    """
    return _read(str(source), data, item_column, side_encoding)


def _read(text: str, data: Published | None, item_column: str | None, side_encoding: str | None) -> ItemNames:
    if make := maker_of(text, MAKERS):
        made: ItemNames = make(text, data=data)
        return made
    with side_file(text, side_encoding):
        return _of_table(read_table(text, item_column, None if data is None else data.vocabulary))


def _of_table(table: Table) -> ItemNames:
    """Return the names in a table."""
    column = _column_of_names(table)
    if column is None:
        known = join_names(table.others)
        raise table.wrong(
            f"has no column 'name'; the columns beside {shown(table.item)} are: {known}; rename the column of the names to 'name'"
        )
    found: dict[str, str] = {}
    for number, (item, name) in table.rows(table.item, column):
        if not name:
            continue
        for what, given in (("item", item), ("name", name)):
            if wrong := unusable(given):
                raise table.wrong(f"the {what} {shown(given)} {wrong}", number)
        if found.setdefault(item, name) != name:
            raise table.wrong(f"the item {shown(item)} has another name {table.earlier}; keep one of them", number)
    return ItemNames(found)


def _column_of_names(table: Table) -> str | None:
    """Return the column `name`, the only other column, or the only one whose name ends like that, such as `product_name`."""
    if found := table.named("name"):
        return found
    candidates = [column for column in table.others if column.casefold().endswith("name")]
    candidates = table.others if len(table.others) == 1 else candidates
    return candidates[0] if len(candidates) == 1 else None


def names_of_sample(text: str, **_given: Any) -> ItemNames:
    """Return the names of a sample whose items are codes."""
    from setveil.data.samples import sample_names  # noqa: PLC0415 - loaded only for samples

    found = sample_names(text)
    if not found:
        raise BadData("has no names of items, because its items are words; omit `names=`", file=text)
    return ItemNames(found)


def as_item_names(
    given: Mapping[str, str] | str | Path | None,
    data: Published | None = None,
    item_column: str | None = None,
    side_encoding: str | None = None,
) -> ItemNames:
    """Return names that were given as a mapping, or as a file or text to read; none if nothing was given."""
    if given is None:
        return NO_NAMES
    if isinstance(given, ItemNames):
        return given
    if isinstance(given, Mapping) and all(isinstance(text, str) for pair in given.items() for text in pair):
        return ItemNames(given)
    if not isinstance(given, str | PathLike):
        wanted = "a mapping from item to name, both texts, or a file with names"
        raise BadParameter(f"names is {describe(given)}; expected {wanted}")
    return _read(str(given), data, item_column, side_encoding)
