"""The category of each item: from a file, a mapping or a sample, or at random for experiments."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from setveil.base import progress
from setveil.base.arguments import check_arguments
from setveil.base.display import quantity
from setveil.data.files.side_files import first_unusable, shown, side_file
from setveil.data.files.texts import join_names
from setveil.data.records.labels import note_stripped, stripped
from setveil.data.records.look_alikes import LookAlikes, written
from setveil.errors import BadData, BadParameter
from setveil.parameters.kind import Option, Origin, ParameterKind
from setveil.parameters.layouts import ITEM_COLUMN, PATH_OPTIONS, SIDE_ENCODING, Columns, missing_option, named_in
from setveil.parameters.makers import items_for, maker_of
from setveil.parameters.prefixes import categories_by_prefix, checked_lengths

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from setveil.data.files.side_tables import Table
    from setveil.data.records.transactions import Transactions
    from setveil.parameters.layouts import Parents, Paths

_RANDOM = re.compile(r"random:(\d{1,9})(?:\?seed=(\d{1,40}))?")
_DISTANCE = re.compile(r"[0-9]{1,9}", re.ASCII)

MAKERS = {
    "random:": "categories.random_from_text",
    "prefix:": "prefixes.categories_from_text",
    "icd10cm": "icd10cm.categories_from_text",
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
    missing_category : str, optional
        The category of all items that are not named. By default, data with such an item are refused.

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

    allowed_text: ClassVar[str] = "a file of categories, or a text such as prefix:3, icd10cm:block or random:50"
    python_type: ClassVar[str] = "Categories or a mapping from item to category"
    example: ClassVar[str] = 'sv.read_categories("sample:supermarket")'
    option_example = "sample:supermarket"
    reader = "read_categories"
    ending = ".csv"
    options = (
        Option(
            "level",
            str,
            "Level of the taxonomy to use as categories: a column of the file or, for an item,parent file or paths, the distance "
            "from the root; several columns, separated by commas, are joined to a path.",
        ),
        ITEM_COLUMN,
        missing_option("Category"),
        *PATH_OPTIONS,
        SIDE_ENCODING,
    )
    bad_values = ("a text", {"item": 3}, 17, {"of_item": {}, "missing_category": ""})
    names_items = True

    def __init__(self, of_item: Mapping[str, str], missing_category: str | None = None) -> None:
        if missing_category is not None and (wrong := first_unusable([missing_category])):
            raise BadParameter(f"`missing_category=`: {wrong}; expected a name")
        self.missing_category = missing_category
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
        found = self._of_item.get(item, self.missing_category)
        if found is None:
            raise KeyError(item)
        return found

    def __contains__(self, item: object) -> bool:
        return item in self._of_item

    def __iter__(self) -> Iterator[str]:
        return iter(self._of_item)

    def __len__(self) -> int:
        return len(self._of_item)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Categories):
            return NotImplemented
        return (self._of_item, self.missing_category) == (other._of_item, other.missing_category)

    def __hash__(self) -> int:
        return hash((frozenset(self._of_item.items()), self.missing_category))

    def __repr__(self) -> str:
        return f"Categories({len(self):,} items in {len(set(self._of_item.values())):,} categories)"

    @classmethod
    def read(
        cls, source: str | Path, *, data: Transactions | None = None, separator: str | None = None, **options: Any
    ) -> Categories:
        """Read categories with `read_categories`."""
        del separator
        return read_categories(source, data=data, **options)

    @classmethod
    def example_for(cls, data: Transactions) -> Categories:
        """Return four categories of nearly equal size."""
        return cls.at_random(data.vocabulary, 4, seed=len(data.vocabulary))

    def to_json(self) -> dict[str, Any]:
        """Return the category of each item and, if there is one, the category of all others."""
        of_item = dict(self._of_item)
        if self.missing_category is None:
            return of_item
        return {"of_item": of_item, "missing_category": self.missing_category}

    def to_file(self) -> str:
        """Return the content of an `item,category` file, which holds the named items only."""
        written_to = io.StringIO()
        csv.writer(written_to, lineterminator="\n").writerows([("item", "category"), *self.items()])
        return written_to.getvalue()

    @classmethod
    def validated(cls, value: Any) -> Categories:
        """Return a mapping from texts to texts as categories."""
        if isinstance(value, Categories):
            return value
        if isinstance(value, Mapping):
            if value.keys() == {"of_item", "missing_category"} and isinstance(value["of_item"], Mapping):
                try:
                    return cls(cls.validated(value["of_item"]), value["missing_category"])
                except BadParameter as error:
                    raise ValueError(str(error)) from None
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

    def without_category(self, data: Transactions) -> list[str]:
        """Return the items of the data that are not named."""
        return [label for label in data.vocabulary if label not in self._of_item]

    def bind(self, data: Transactions) -> tuple[NDArray[np.int32], tuple[str, ...]]:
        """Return the category code of each item code, and the names of the occurring categories in order."""
        missing = self.without_category(data)
        if missing and self.missing_category is None:
            examples = ", ".join(map(shown, missing[:3]))
            remedy = "add a line for each, or put all of them into one category with `missing_category='other'`"
            if len(missing) == len(data.vocabulary) and self.origin is not None:
                named = ", ".join(map(shown, [*self][:3])) or "no item"
                remedy = (
                    f"it names {named}. Name the column of the items with `item_column=`, or use the file of these data"
                )
            raise BadData(
                f"{len(missing):,} of {len(data.vocabulary):,} items have no category, such as {examples}; {remedy}",
                file=None if self.origin is None else self.origin.source,
            )
        of_code = [self[label] for label in data.vocabulary]
        names = tuple(sorted(set(of_code)))
        code = {name: i for i, name in enumerate(names)}
        return np.array([code[name] for name in of_code], dtype=np.int32), names


@check_arguments
def read_categories(
    source: str | Path,
    *,
    level: str | int | None = None,
    data: Transactions | None = None,
    item_column: str | None = None,
    missing_category: str | None = None,
    path_column: str | None = None,
    path_separator: str | None = None,
    side_encoding: str | None = None,
) -> Categories:
    """Read categories from a table or from a sample, or assign them at random.

    The result has the attribute `origin`: the source, the options, and a sentence about what was read.

    Parameters
    ----------
    source : str or Path
        A table with a column of items: CSV with any usual separator, TSV or JSON Lines, also compressed (`.gz`, `.zst`), Parquet or Arrow.
        Or `sample:NAME`, `prefix:LENGTH` for the first characters of codes, `icd10cm:chapter`, `icd10cm:block` or `icd10cm:3` for diagnosis
        codes, or `random:COUNT?seed=N` for random categories.
    level : str or int, optional
        The level of a taxonomy to use. For a file with one column per level: the name of a column, or several names separated by commas,
        which are joined to a path (use this if a name occurs below several parents). For an `item,parent` file and for paths: the distance
        from the root; 1 means the groups directly below it. Not needed for a file with the columns `item,category`.
    data : Transactions, optional
        The data that the categories are for. They are required for `prefix:`, `icd10cm:` and `random:`, and help to find the column of the
        items.
    item_column : str, optional
        The column of the items. Default: `item`, or the column that clearly matches the items of `data`.
    missing_category : str, optional
        The category of all items that the file or ICD-10-CM does not name. By default, data with such an item are refused.
    path_column : str, optional
        The column that holds paths such as `Food > Dairy > Milk`. Default: the column in which paths are found.
    path_separator : str, optional
        What separates the names of a path. Default: ` > `.
    side_encoding : str, optional
        The encoding of text that is not UTF-8, such as `cp1252`.

    Returns
    -------
    Categories
        The category of each item.

    Raises
    ------
    BadData
        If the file is invalid; the message names the line or row.
    BadParameter
        If a text such as `prefix:...` is malformed, or `data` is missing for it.
    Missing
        If the tables of ICD-10-CM are not installed.

    Examples
    --------
    >>> import setveil as sv
    >>> categories = sv.read_categories("sample:supermarket", level="department")
    >>> categories["bananas-loose"]
    'produce'
    >>> categories.origin.found
    "sample:supermarket: 1,011 items in 13 categories, from the column 'department'"
    """
    text, wanted = str(source), None if level is None else str(level)
    if make := maker_of(text, MAKERS):
        made: Categories = make(text, data=data, level=wanted, missing_category=missing_category)
        found = _Found(dict(made), "as this text says", has_choice=False)
    else:
        columns = Columns(item_column, path_column, path_separator)
        with side_file(text, side_encoding):
            table = columns.open(text, None if data is None else data.vocabulary)
            found = _of_table(table, wanted, columns, accept_empty=missing_category is not None)
    categories = Categories(found.of_item, missing_category)
    sizes = (
        f"{quantity(len(categories), 'item')} in {quantity(len(set(found.of_item.values())), 'category', 'categories')}"
    )
    origin = Origin.of(
        source,
        f"{sizes}, {found.how}",
        level=wanted,
        item_column=item_column,
        missing_category=missing_category,
        path_column=path_column,
        path_separator=path_separator,
        side_encoding=side_encoding,
    )
    if found.has_choice:
        progress.note(origin.found + found.hint)
    if data is not None and missing_category is not None and (missing := categories.without_category(data)):
        progress.note(f"{text}: {quantity(len(missing), 'item')} of the data without a category put into one category")
    return categories.with_origin(origin)


class _Found(NamedTuple):
    """The category of each item, how they were found, whether the file has others too, and how to choose these."""

    of_item: dict[str, str]
    how: str
    has_choice: bool
    hint: str = ""


def _of_table(table: Table, level: str | None, columns: Columns, *, accept_empty: bool) -> _Found:
    names = [] if level is None else [name.strip() for name in level.split(",")]
    tree = _tree_in(table, level, names, columns)
    if tree is not None:
        return _of_tree(tree, level)
    hint = ""
    if not names:
        usual = table.named("category")
        if usual is None and len(table.others) > 1:
            raise table.wrong(f"has several levels ({join_names(table.others)}); name one with `level=`")
        names = [usual or table.others[0]]
        others = [shown(name) for name in table.others if name != names[0]]
        hint = f"; choose another of its columns with `level=`: {join_names(others)}" if others else ""
        paths = columns.paths(table)
        if paths is not None and paths.column == names[0]:
            hint += "; a category is a whole path, and `level=1` takes the first name of each"
    chosen = named_in(table, names)
    of_item = _of_columns(table, chosen, accept_empty=accept_empty)
    how = f"from the column{'s' if len(chosen) > 1 else ''} {join_names(map(shown, chosen))}"
    return _Found(of_item, how, has_choice=bool(hint) or len(table.others) > len(chosen), hint=hint)


def _tree_in(table: Table, level: str | None, names: Sequence[str], columns: Columns) -> Parents | Paths | None:
    """Return the tree that a table holds, or None if its columns are the levels."""
    parents = columns.parents(table)
    if parents is not None and table.others == [parents.column]:
        return parents
    if columns.names_paths:
        return columns.paths(table)
    if level is None:
        return parents if table.named("category") is None else None
    if all(table.named(name) not in (None, table.item) for name in names):
        return None
    return parents or (columns.paths(table) if _DISTANCE.fullmatch(level) else None)


def random_from_text(text: str, *, data: Transactions | None, **_given: Any) -> Categories:
    """Assign the items of the data at random, as `random:COUNT?seed=N` says."""
    asked = _RANDOM.fullmatch(text)
    if asked is None:
        raise BadParameter(
            f"{text!r} is not of the form random:COUNT or random:COUNT?seed=NUMBER, such as random:50?seed=3"
        )
    return Categories.at_random(items_for(text, data), int(asked[1]), seed=int(asked[2] or 0))


def _of_tree(tree: Parents | Paths, level: str | None) -> _Found:
    """Return the groups at one distance from the root of an `item,parent` file or of paths."""
    from setveil.parameters.hierarchy_files import tree_of  # noqa: PLC0415 - it imports this module

    table = tree.table
    hierarchy = tree_of(tree)
    allowed = "the distance from the root: 1 for the groups directly below it, 2 for the groups below those"
    if level is None:
        if hierarchy.height > 2:
            levels = f"its levels are 1 to {hierarchy.height - 1}"
            raise table.wrong(f"{tree.sentence}; give with `level=` {allowed}; {levels}")
        level = "1"
    if not _DISTANCE.fullmatch(level):
        others = [name for name in table.others if name != tree.column]
        or_column = f", or one of the columns: {join_names(others)}" if others else ""
        raise table.wrong(f"{tree.sentence}, and `level=` is {level!r}; expected {allowed}{or_column}")
    try:
        of_item = dict(hierarchy.level(int(level)))
    except BadData as error:
        raise BadData(str(error), file=table.file) from None
    return _Found(of_item, f"the groups at the distance {int(level)} from the root, from {tree.description}", True)


def _of_columns(table: Table, levels: Sequence[str], *, accept_empty: bool) -> dict[str, str]:
    """Return the names in these columns, joined to a path if there are several."""
    of_item: dict[str, str] = {}
    parts_of: dict[str, list[str]] = {}
    for number, (item, *parts) in table.rows(table.item, *levels):
        if accept_empty and item and not any(parts):
            continue
        if not all(parts) or not item:
            raise table.wrong(
                "an item or its category is empty; expected both, or `missing_category='other'` for such items", number
            )
        category = _path_name(parts)
        if parts_of.setdefault(category, parts) != parts:
            problem = f"the paths {_listed(parts_of[category])} and {_listed(parts)} have the same name {shown(category)}; rename one"
            raise table.wrong(problem, number)
        if (before := of_item.setdefault(item, category)) != category:
            problem = (
                f"item {shown(item)} has two categories, {shown(category)} here and {shown(before)} {table.earlier}"
            )
            raise table.wrong(f"{problem}; keep one of them", number)
    return of_item


def _path_name(parts: Sequence[str]) -> str:
    """Join names to a path, doubling slashes inside names; a single name is unchanged."""
    return "/".join(part.replace("/", "//") for part in parts) if len(parts) > 1 else parts[0]


def _listed(parts: list[str]) -> str:
    """Return the first parts of a path for a message."""
    return f"[{', '.join(map(shown, parts[:MOST_SHOWN]))}{', ...' if len(parts) > MOST_SHOWN else ''}]"
