"""Groups of codes by their first characters, for codes whose structure is their hierarchy: ATC, UNSPSC, HS, NACE, ICD.

Dots are not counted, so that the first four characters of `E11.90` and `E1190` are the same group. It has the name of its first item in
label order, as far as it goes: `E11.9`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from setveil.base import progress
from setveil.base.display import quantity
from setveil.errors import BadParameter
from setveil.parameters.makers import items_for

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from setveil.data.records.transactions import Transactions
    from setveil.parameters.categories import Categories
    from setveil.parameters.hierarchy import Hierarchy

PREFIX = "prefix:"
LONGEST = 100
"""The maximum length of a prefix."""
_LENGTH = re.compile(r"[0-9]{1,3}", re.ASCII)


def categories_from_text(text: str, *, data: Transactions | None, **_given: Any) -> Categories:
    """Assign the items of the data to categories, as `prefix:LENGTH` says."""
    from setveil.parameters.categories import Categories  # noqa: PLC0415 - it imports this module

    (length,) = lengths_in(text, several=False)
    return Categories.by_prefix(items_for(text, data), length)


def hierarchy_from_text(text: str, *, data: Transactions | None, **_given: Any) -> Hierarchy:
    """Build a tree over the items of the data, as `prefix:LENGTHS` says."""
    from setveil.parameters.hierarchy import Hierarchy  # noqa: PLC0415 - it imports this module

    return Hierarchy.by_prefix(items_for(text, data), lengths_in(text, several=True))


def lengths_in(text: str, *, several: bool) -> list[int]:
    """Return the lengths in a text `prefix:1,3,4`; without `several`, exactly one is allowed.

    >>> lengths_in("prefix:1,3,4", several=True)
    [1, 3, 4]
    """
    given = [part.strip() for part in text.removeprefix(PREFIX).split(",")]
    if not all(map(_LENGTH.fullmatch, given)) or (len(given) > 1 and not several):
        form = (
            "prefix:LENGTHS, such as prefix:1,3,4,5" if several else "prefix:LENGTH with one length, such as prefix:3"
        )
        raise BadParameter(f"{text!r} is not of the form {form}")
    return checked_lengths([int(part) for part in given])


def checked_lengths(lengths: Iterable[int]) -> list[int]:
    """Return the lengths; refuse lengths that do not increase or are out of range."""
    found = list(lengths)
    if not found or any(not 1 <= length <= LONGEST for length in found):
        raise BadParameter(f"the lengths of prefixes are {found}; expected numbers from 1 to {LONGEST}")
    if found != sorted(set(found)):
        raise BadParameter(f"the lengths of prefixes are {found}; expected increasing numbers, such as 1, 3, 4, 5")
    return found


def categories_by_prefix(items: Iterable[str], length: int) -> dict[str, str]:
    """Return the prefix of each item. An item that is shorter is a category of its own."""
    names: dict[str, str] = {}
    category_of = {}
    alone = 0
    for item in sorted(items):
        bare = _bare(item)
        alone += len(bare) < length
        category_of[item] = names.setdefault(bare[:length], _start(item, length))
    if alone:
        progress.note(f"{_shorter(alone, length)} form categories of their own")
    return category_of


def parents_by_prefix(items: Iterable[str], lengths: Sequence[int]) -> dict[str, str]:
    """Return the parent of each item and group.

    The name of a group is its prefix with a star, such as `A10*`, so that no group has the name of an item. If items end with stars, groups
    end with one more. An item is below the group of the longest prefix that it has.
    """
    ordered = sorted(items)
    star = "*" * (1 + max((len(item) - len(item.rstrip("*")) for item in ordered), default=0))
    parent_of: dict[str, str] = {}
    names: dict[str, str] = {}
    higher = 0
    for item in ordered:
        bare = _bare(item)
        above = None
        for length in lengths:
            if len(bare) < length:
                break
            name = names.setdefault(bare[:length], _start(item, length) + star)
            if above is not None:
                parent_of[name] = above
            above = name
        higher += len(bare) < lengths[-1]
        parent_of[item] = above or star
    if star in parent_of.values():  # items without any group are children of the root
        parent_of |= {name: star for name in names.values() if name not in parent_of}
    if higher:
        progress.note(f"{_shorter(higher, lengths[-1])} placed directly below the longest prefix that they have")
    return parent_of


def _bare(code: str) -> str:
    """Return a code without its dots; one that consists of dots only is returned as it is."""
    return code.replace(".", "") or code


def _start(code: str, length: int) -> str:
    """Return the shortest start of a code with this number of characters that are counted."""
    if "." not in code or not code.strip("."):
        return code[:length]
    counted = 0
    for place, character in enumerate(code):
        counted += character != "."
        if counted == length:
            return code[: place + 1]
    return code


def _shorter(number: int, length: int) -> str:
    return f"{quantity(number, 'item')} with fewer than {quantity(length, 'character')}"
