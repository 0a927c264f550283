"""Which category each item belongs to: given by the data owner, from a file, a mapping, a sample, or at random for experiments."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from setveil.base.arguments import check_arguments
from setveil.data.files.side_files import read_table, shown
from setveil.data.files.texts import in_words
from setveil.data.records.labels import note_stripped, stripped
from setveil.data.records.look_alikes import LookAlikes, written
from setveil.errors import BadData, BadParameter
from setveil.parameters.kind import Option, ParameterKind

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from setveil.data.files.side_files import Table
    from setveil.data.records.transactions import Transactions

_RANDOM = re.compile(r"random:(\d{1,9})(?:\?seed=(\d{1,40}))?")
_DISTANCE = re.compile(r"[0-9]{1,9}", re.ASCII)

MOST_SHOWN = 4
"""Parts of a path that a sentence tells."""


class Categories(ParameterKind, Mapping[str, str]):
    """A mapping from item to category, frozen, and usable as a parameter of methods, guarantees and metrics."""

    in_words: ClassVar[str] = "a file of categories"
    python_type: ClassVar[str] = "Categories or a mapping from item to category"
    example: ClassVar[str] = 'sv.read_categories("sample:supermarket")'
    ending = ".csv"
    options = (
        Option(
            "level",
            str,
            "Level of the taxonomy in the file of categories: its column or, in an item,parent file, its number from the top; several, "
            "separated by commas, are joined to a path.",
        ),
    )
    bad_values = ("a text", {"item": 3}, 17)
    names_items = True

    def __init__(self, of_item: Mapping[str, str]) -> None:
        items, with_blanks = stripped(list(of_item))
        names, names_with_blanks = stripped(list(of_item.values()))
        self._of_item = dict(zip(items, names, strict=True))
        if with_blanks and any(self._of_item[item] != name for item, name in zip(items, names, strict=True)):
            raise BadData(f"the item {shown(with_blanks[0])} has two categories, with and without blanks at its ends")
        note_stripped(len(with_blanks), "items in categories")
        note_stripped(len(set(names_with_blanks)), "categories")

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
    def read(
        cls, source: str | Path, *, data: Transactions | None = None, level: str | int | None = None, **_given: Any
    ) -> Categories:
        """Read them from a CSV file with a header, take those of `sample:NAME`, or deal the items out with `random:COUNT?seed=N`."""
        return read_categories(source, level=level, data=data)

    @classmethod
    def example_for(cls, data: Transactions) -> Categories:
        """Return four categories of nearly equal size."""
        return cls.at_random(data.vocabulary, 4, seed=len(data.vocabulary))

    def to_json(self) -> dict[str, str]:
        """Return the category of each item."""
        return dict(self._of_item)

    def to_file(self) -> str:
        """Return the content of an `item,category` file."""
        written_to = io.StringIO()
        csv.writer(written_to, lineterminator="\n").writerows([("item", "category"), *self.items()])
        return written_to.getvalue()

    @classmethod
    def validated(cls, value: Any) -> Categories:
        """Take a mapping from texts to texts."""
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

    def refuse_look_alikes(self, parameter: str, found: LookAlikes) -> None:
        """Refuse labels that look alike in different categories, and categories that look alike."""
        for names in LookAlikes.among(dict.fromkeys(self.values())).groups:
            raise BadData(
                f"{parameter} has the categories {written(names[0])} and {written(names[1])}, which look alike: a record that leans to "
                "both would count as two leanings. Write both in the same way, or say `distinct_labels=True` if they are different "
                "categories"
            )
        for alike in found.groups:
            if len({self.get(label) for label in alike}) > 1:
                one = alike[0]
                other = next(label for label in alike if self.get(label) != self.get(one))
                raise BadData(
                    f"{written(one)} and {written(other)} look alike, and {parameter} does not give them the same category. "
                    "Write both in the same way, or say `distinct_labels=True` if they are different items"
                )

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


@check_arguments
def read_categories(
    source: str | Path, *, level: str | int | None = None, data: Transactions | None = None
) -> Categories:
    """Read categories from a CSV file with a header (gz too), from `sample:NAME`, or deal them out with `random:COUNT?seed=N`.

    A file with the columns `item,category` is read as it is. Of a taxonomy with one column a level, `level` names the column; several
    levels separated by commas are joined to a path, for names that stand under several parents. Of an `item,parent` file, `level` is a
    number: 1 are the groups right below the top, 2 those below them.
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
    table = read_table(text)
    wanted = None if level is None else str(level)
    return _of_tree(table, wanted) if table.is_parents else _of_columns(table, wanted)


def _of_tree(table: Table, level: str | None) -> Categories:
    """Take the groups at one distance below the top of an `item,parent` file."""
    from setveil.parameters.hierarchy_files import from_parents  # noqa: PLC0415 - it makes categories, so it imports this file

    hierarchy = from_parents(table)
    allowed = "the distance from the top as a number: 1 for the groups right below it, 2 for those below them"
    if level is None:
        raise BadData(f"is an item,parent file; name with `level=` {allowed}", file=table.file, line=1)
    if not _DISTANCE.fullmatch(level):
        raise BadData(f"is an item,parent file, and `level=` is {level!r}; expected {allowed}", file=table.file, line=1)
    try:
        return hierarchy.level(int(level))
    except BadData as error:
        raise BadData(str(error), file=table.file) from None


def _of_columns(table: Table, level: str | None) -> Categories:
    levels = table.levels
    if level is not None:
        chosen = [name.strip() for name in level.split(",")]
    elif "category" in levels or len(levels) == 1:
        chosen = ["category"] if "category" in levels else levels
    else:
        raise BadData(f"has several levels ({in_words(levels)}); name one with `level=`", file=table.file, line=1)
    at, item_at = table.places(chosen), table.columns.index("item")
    of_item: dict[str, str] = {}
    parts_of: dict[str, list[str]] = {}
    for number, row in table.rows:
        parts = [row[i] for i in at]
        if not all(parts) or not row[item_at]:
            raise BadData("an item or its category is empty", file=table.file, line=number)
        category = _path_name(parts)
        if parts_of.setdefault(category, parts) != parts:
            problem = f"the paths {_listed(parts_of[category])} and {_listed(parts)} both read {shown(category)}; rename one of them"
            raise BadData(problem, file=table.file, line=number)
        if of_item.setdefault(row[item_at], category) != category:
            raise BadData(f"item {shown(row[item_at])} was given another category before", file=table.file, line=number)
    return Categories(of_item)


def _path_name(parts: Sequence[str]) -> str:
    """Join names to a path; a slash inside a name is doubled. A name alone stays as it is."""
    return "/".join(part.replace("/", "//") for part in parts) if len(parts) > 1 else parts[0]


def _listed(parts: list[str]) -> str:
    """Return the parts of a path as they stand in a sentence, the first few of many."""
    return f"[{', '.join(map(shown, parts[:MOST_SHOWN]))}{', ...' if len(parts) > MOST_SHOWN else ''}]"
