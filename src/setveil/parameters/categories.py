"""The category of each item: from a file, a mapping or a sample, or at random for experiments."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from setveil.base.arguments import check_arguments
from setveil.data.files.side_files import read_table, shown
from setveil.data.files.texts import join_names
from setveil.data.records.labels import note_stripped, stripped
from setveil.data.records.look_alikes import LookAlikes, written
from setveil.errors import BadData, BadParameter
from setveil.parameters.kind import Option, ParameterKind
from setveil.parameters.makers import items_for, maker_of
from setveil.parameters.prefixes import categories_by_prefix, checked_lengths

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from setveil.data.files.side_files import Table
    from setveil.data.records.transactions import Transactions

_RANDOM = re.compile(r"random:(\d{1,9})(?:\?seed=(\d{1,40}))?")
_DISTANCE = re.compile(r"[0-9]{1,9}", re.ASCII)

MAKERS = {
    "random:": "categories.random_from_text",
    "prefix:": "prefixes.categories_from_text",
    "icd10cm:": "icd10cm.categories_from_text",
}
"""Texts that describe categories in place of a file; see `makers`."""
MOST_SHOWN = 4
"""The maximum number of parts of a path in a message."""


class Categories(ParameterKind, Mapping[str, str]):
    """An immutable mapping from item to category, for parameters of methods, guarantees and metrics.

    Use `read_categories` to read them from a file, or `Categories.at_random` to assign them at random.

    Parameters
    ----------
    of_item : mapping of str to str
        The category of each item. Blanks at the ends of names are stripped.

    Raises
    ------
    BadData
        If an item has two categories once blanks are stripped.

    Examples
    --------
    >>> import setveil as sv
    >>> categories = sv.Categories({"milk": "dairy", "ham": "meat"})
    >>> categories, categories["milk"]
    (Categories(2 items in 2 categories), 'dairy')
    """

    allowed_text: ClassVar[str] = "a file of categories"
    python_type: ClassVar[str] = "Categories or a mapping from item to category"
    example: ClassVar[str] = 'sv.read_categories("sample:supermarket")'
    option_example = "sample:supermarket"
    ending = ".csv"
    options = (
        Option(
            "level",
            str,
            "Level of the taxonomy to use as categories: a column of the file or, in an item,parent file, the distance from the root; "
            "several columns, separated by commas, are joined to a path.",
        ),
    )
    bad_values = ("a text", {"item": 3}, 17)
    names_items = True

    def __init__(self, of_item: Mapping[str, str]) -> None:
        items, with_blanks = stripped(list(of_item))
        names, names_with_blanks = stripped(list(of_item.values()))
        self._of_item = dict(zip(items, names, strict=True))
        if with_blanks and any(self._of_item[item] != name for item, name in zip(items, names, strict=True)):
            raise BadData(
                f"the item {shown(with_blanks[0])} has two categories, one with and one without blanks at its ends; keep one of them"
            )
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
        """Read categories with `read_categories`."""
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
        """Return a mapping from texts to texts as categories."""
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
        """Assign items at random to `count` categories of nearly equal size, as the experiments of the tendency paper do.

        Parameters
        ----------
        items : sequence of str
            The items.
        count : int
            The number of categories, at least 1.
        seed : int, default: 0
            The seed of the random assignment.

        Returns
        -------
        Categories
            Categories named `random-0`, `random-1` and so on.

        Raises
        ------
        BadParameter
            If `count` is less than 1.

        Examples
        --------
        >>> import setveil as sv
        >>> sv.Categories.at_random(["ham", "milk", "rice", "tea"], 2, seed=1)
        Categories(4 items in 2 categories)
        """
        if count < 1:
            raise BadParameter(f"the number of random categories is {count}; expected at least 1")
        places = np.random.default_rng(seed).permutation(len(items))
        return cls({item: f"random-{places[i] % count}" for i, item in enumerate(items)})

    @classmethod
    def by_prefix(cls, items: Iterable[str], length: int) -> Categories:
        """Assign codes to categories by their first characters, for codes such as those of ATC, UNSPSC, HS, NACE and ICD.

        Parameters
        ----------
        items : iterable of str
            The codes.
        length : int
            The number of characters, from 1 to 100. Dots are not counted.

        Returns
        -------
        Categories
            The prefix of each item. An item with fewer characters is a category of its own.

        Raises
        ------
        BadParameter
            If `length` is out of range.

        Examples
        --------
        >>> import setveil as sv
        >>> dict(sv.Categories.by_prefix(["A10BA02", "A10BB01", "N02BE01"], 3))
        {'A10BA02': 'A10', 'A10BB01': 'A10', 'N02BE01': 'N02'}
        """
        return cls(categories_by_prefix(items, checked_lengths([length])[0]))

    def refuse_look_alikes(self, parameter: str, found: LookAlikes) -> None:
        """Refuse labels that look alike in different categories, and categories that look alike."""
        for names in LookAlikes.among(dict.fromkeys(self.values())).groups:
            raise BadData(
                f"{parameter} has the categories {written(names[0])} and {written(names[1])}, which look alike, but their items would be "
                "counted separately. Write both in the same way, or pass `distinct_labels=True` if they are different categories"
            )
        for alike in found.groups:
            if len({self.get(label) for label in alike}) > 1:
                one = alike[0]
                other = next(label for label in alike if self.get(label) != self.get(one))
                raise BadData(
                    f"{written(one)} and {written(other)} look alike, and {parameter} does not give them the same category. "
                    "Write both in the same way, or pass `distinct_labels=True` if they are different items"
                )

    def bind(self, data: Transactions) -> tuple[NDArray[np.int32], tuple[str, ...]]:
        """Return the category code of each item code, and the names of the occurring categories in order."""
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
    """Read categories from a CSV file with a header or from a sample, or assign them at random.

    Parameters
    ----------
    source : str or Path
        A CSV file, also compressed (`.gz`, `.zst`), `sample:NAME`, `prefix:LENGTH` for the first characters of codes, `icd10cm:chapter`,
        `icd10cm:block` or `icd10cm:3` for diagnosis codes, or `random:COUNT?seed=N` for random categories.
    level : str or int, optional
        The level of a taxonomy to use. For a file with one column per level: the name of a column, or several names separated by commas,
        which are joined to a path (use this if a name occurs below several parents). For an `item,parent` file: the distance from the
        root; 1 means the groups directly below it. Not needed for a file with the columns `item,category`.
    data : Transactions, optional
        The data whose items get categories; required for `prefix:`, `icd10cm:` and `random:`.

    Returns
    -------
    Categories
        The category of each item.

    Raises
    ------
    BadData
        If the file is invalid; the message names the line.
    BadParameter
        If such a text is malformed, or `data` is missing for it.
    Missing
        If the tables of ICD-10-CM are not installed.

    Examples
    --------
    >>> import setveil as sv
    >>> sv.read_categories("sample:supermarket", level="department")["bananas-loose"]
    'produce'
    """
    text = str(source)
    if make := maker_of(text, MAKERS):
        made: Categories = make(text, data=data, level=level)
        return made
    table = read_table(text)
    wanted = None if level is None else str(level)
    return _of_tree(table, wanted) if table.is_parents else _of_columns(table, wanted)


def random_from_text(text: str, *, data: Transactions | None, **_given: Any) -> Categories:
    """Assign the items of the data at random, as `random:COUNT?seed=N` says."""
    asked = _RANDOM.fullmatch(text)
    if asked is None:
        raise BadParameter(
            f"{text!r} is not of the form random:COUNT or random:COUNT?seed=NUMBER, such as random:50?seed=3"
        )
    return Categories.at_random(items_for(text, data), int(asked[1]), seed=int(asked[2] or 0))


def _of_tree(table: Table, level: str | None) -> Categories:
    """Return the groups at one distance from the root of an `item,parent` file."""
    from setveil.parameters.hierarchy_files import from_parents  # noqa: PLC0415 - it imports this module

    hierarchy = from_parents(table)
    allowed = "the distance from the root: 1 for the groups directly below it, 2 for the groups below those"
    if level is None:
        raise BadData(f"is an item,parent file; give with `level=` {allowed}", file=table.file, line=1)
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
        raise BadData(f"has several levels ({join_names(levels)}); name one with `level=`", file=table.file, line=1)
    at, item_at = table.places(chosen), table.columns.index("item")
    of_item: dict[str, str] = {}
    parts_of: dict[str, list[str]] = {}
    for number, row in table.rows:
        parts = [row[i] for i in at]
        if not all(parts) or not row[item_at]:
            raise BadData("an item or its category is empty; expected both", file=table.file, line=number)
        category = _path_name(parts)
        if parts_of.setdefault(category, parts) != parts:
            problem = f"the paths {_listed(parts_of[category])} and {_listed(parts)} have the same name {shown(category)}; rename one"
            raise BadData(problem, file=table.file, line=number)
        if (before := of_item.setdefault(row[item_at], category)) != category:
            problem = f"item {shown(row[item_at])} has two categories, {shown(category)} here and {shown(before)} on an earlier line"
            raise BadData(f"{problem}; keep one of them", file=table.file, line=number)
    return Categories(of_item)


def _path_name(parts: Sequence[str]) -> str:
    """Join names to a path, doubling slashes inside names; a single name is unchanged."""
    return "/".join(part.replace("/", "//") for part in parts) if len(parts) > 1 else parts[0]


def _listed(parts: list[str]) -> str:
    """Return the first parts of a path for a message."""
    return f"[{', '.join(map(shown, parts[:MOST_SHOWN]))}{', ...' if len(parts) > MOST_SHOWN else ''}]"
