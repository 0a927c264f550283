"""Groups and names of diagnosis codes from the tables of ICD-10-CM, which the extra `codes` installs.

Codes are found with or without their dot, in upper or lower case; items keep the spelling of the data. Loading the tables takes about three
seconds, so it happens only if a person asks for `icd10cm`.
"""

from __future__ import annotations

import re
import warnings
from typing import TYPE_CHECKING, Any, Literal, get_args

from setveil.base import progress
from setveil.data.files.side_files import shown
from setveil.errors import BadData, BadParameter, Missing
from setveil.parameters.makers import items_for
from setveil.parameters.names_found import SHOWN_IN_ERRORS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from setveil.data.forms.base import Published
    from setveil.data.records.transactions import Transactions
    from setveil.parameters.categories import Categories
    from setveil.parameters.hierarchy import Hierarchy
    from setveil.parameters.item_names import ItemNames

PREFIX = "icd10cm:"
Level = Literal["chapter", "block", "3"]
LEVELS: tuple[Level, ...] = get_args(Level)
"""The levels of ICD-10-CM that can be categories: chapter, most specific block, first three characters."""
_RANGE = re.compile(r"\((\w+-\w+)\)$")
_CATEGORY_LENGTH = 3


def categories_from_text(
    text: str, *, data: Transactions | None, missing_category: str | None = None, **_given: Any
) -> Categories:
    """Assign the codes of the data to categories, as `icd10cm:LEVEL` says; other items need a `missing_category`."""
    from setveil.parameters.categories import Categories  # noqa: PLC0415 - only to make some

    level = level_in(text)
    items = items_for(text, data)
    found, unknown = categories_in_icd10cm(items, level)
    if unknown and missing_category is None:
        raise _unknown_codes(unknown, len(items))
    return Categories(found)


def hierarchy_from_text(
    text: str, *, data: Transactions | None, missing_category: str | None = None, **_given: Any
) -> Hierarchy:
    """Build a tree over the codes of the data; other items need a `missing_category`."""
    from setveil.parameters.hierarchy_files import Nodes  # noqa: PLC0415 - it finds this module

    if text.startswith(PREFIX):
        raise BadParameter(f"{text!r} names a level, and a hierarchy has all levels of ICD-10-CM; expected 'icd10cm'")
    items = items_for(text, data)
    of_item, parent_of, unknown = parents_in_icd10cm(items)
    if unknown and missing_category is None:
        raise _unknown_codes(unknown, len(items))
    return Nodes(text, parent_of, of_item | dict.fromkeys(unknown, str(missing_category))).build()


def names_from_text(text: str, *, data: Published | None, **_given: Any) -> ItemNames:
    """Return the names of the codes of the data."""
    from setveil.parameters.item_names import ItemNames  # noqa: PLC0415 - only to make some

    return ItemNames(names_in_icd10cm(items_for(text, data)))


def level_in(text: str) -> Level:
    """Return the level in a text `icd10cm:LEVEL`."""
    for level in LEVELS:
        if text == PREFIX + level:
            return level
    allowed = ", ".join(PREFIX + level for level in LEVELS)
    raise BadParameter(f"{text!r} names no level of ICD-10-CM; allowed are: {allowed}")


def categories_in_icd10cm(items: Collection[str], level: Level) -> tuple[dict[str, str], list[str]]:
    """Return the category of each item that is a code, and the items that are not."""
    tables = _tables()
    category_of, unknown = {}, []
    for item in items:
        line = _line(tables, item)
        if not line:
            unknown.append(item)
        elif level == "chapter":
            category_of[item] = _chapter(tables, line[-1])
        else:
            category = next(place for place, name in enumerate(line) if len(name) == _CATEGORY_LENGTH)
            category_of[item] = line[category + (level == "block")]
    return category_of, unknown


def parents_in_icd10cm(items: Collection[str]) -> tuple[dict[str, str], dict[str, str], list[str]]:
    """Return the group of each code, the parent of each group (block, category or subcategory), and the items that are no codes.

    Chapters and blocks have the names of their ranges, such as `I10-I1A`. Other groups end with a star, such as `E11*`, because `E11` may
    be an item. A block of a single category is omitted.
    """
    tables = _tables()
    of_item: dict[str, str] = {}
    parent_of: dict[str, str] = {}
    unknown = []
    for item in items:
        line = _line(tables, item)
        if not line:
            unknown.append(item)
            continue
        names = dict.fromkeys(line[:-1])
        if tables.is_leaf(line[0]):
            del names[line[0]]  # other codes are groups too: the data may hold both E11 and E11.9
        groups = [name if "-" in name else f"{name}*" for name in names]
        of_item[item], *above = [*groups, _chapter(tables, line[-1])]
        parent_of |= zip(groups, above, strict=True)
    return of_item, parent_of, unknown


def names_in_icd10cm(items: Iterable[str]) -> dict[str, str]:
    """Return the names of the items that are codes."""
    tables = _tables()
    return {item: tables.get_description(line[0]).strip() for item in items if (line := _line(tables, item))}


def _unknown_codes(unknown: Collection[str], number: int) -> BadData:
    """Return the error about items that are no codes."""
    examples = ", ".join(map(shown, sorted(unknown)[:SHOWN_IN_ERRORS]))
    verb = "is no code" if len(unknown) == 1 else "are no codes"
    return BadData(
        f"{len(unknown):,} of {number:,} items {verb} of ICD-10-CM, such as {examples}; correct them, or put all of them into one category "
        "with `missing_category='other'`"
    )


def _tables() -> Any:
    with progress.step("loading ICD-10-CM"), warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of how it reads its tables
        try:
            import simple_icd_10_cm  # noqa: PLC0415 - of the extra `codes`; loads its tables for three seconds
        except ImportError:
            raise Missing(
                "ICD-10-CM requires simple-icd-10-cm, which is not installed; install it with: pip install 'setveil[codes]'"
            ) from None
    return simple_icd_10_cm


def _line(tables: Any, item: str) -> list[str]:
    """Return a code with its ancestors, the chapter last; nothing if it is not a code but perhaps a chapter or a block."""
    code = item.upper()
    bare = code.replace(".", "", 1) if code[_CATEGORY_LENGTH : _CATEGORY_LENGTH + 1] == "." else code
    if len(bare) < _CATEGORY_LENGTH or not bare.isalnum() or not tables.is_valid_item(code):
        return []
    return [
        code if "." in code or len(code) == _CATEGORY_LENGTH else f"{code[:3]}.{code[3:]}",
        *tables.get_ancestors(code),
    ]


def _chapter(tables: Any, number: str) -> str:
    """Return the range of codes of a chapter, which people know better than its number."""
    found = _RANGE.search(tables.get_description(number))
    return found[1] if found else f"chapter {number}"
