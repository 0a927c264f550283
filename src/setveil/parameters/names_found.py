"""Which names of a list occur in the data, and which labels of the data are close to missing names.

An item occurs if at least one record holds it. An itemset occurs if each of its items does, even if no record holds them all.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from copy import copy
from dataclasses import asdict, dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, get_args

from setveil.data.files.side_files import shown
from setveil.data.records.look_alikes import written
from setveil.errors import BadData, BadParameter
from setveil.parameters.kind import ParameterKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from setveil.data.forms.base import Published
    from setveil.data.records.look_alikes import LookAlikes

MissingNames = Literal["accept", "error"]
"""What to do with names that do not occur in the data, if other names do."""

MOST_COMPARED = 100_000
"""The maximum number of comparisons between missing names and labels: about one second."""
LONGEST_COMPARED = 60
"""A longer name is not compared with labels."""
_CLOSE = 0.65
"""How similar a label must be to be a likely typing error: two of three letters are in place (`tae` for `tea`)."""
_DIGITS = re.compile(r"\d")
SHOWN_IN_ERRORS = 3
"""See docs/decisions/0009."""


@dataclass(frozen=True)
class MissingName:
    """A named item that no record holds, and the closest label of the data, if any."""

    name: str
    close: str | None = None

    def __str__(self) -> str:
        return shown(self.name) + (f" (close to {shown(self.close)})" if self.close is not None else "")


@dataclass(frozen=True)
class NamesFound:
    """The number of entries of a list that occur in the data, and the items that do not."""

    parameter: str
    """The parameter that the list was given for."""
    noun: str
    """What the entries are: items, itemsets or rules."""
    named: int
    occur: int
    missing: tuple[MissingName, ...]
    """The items of the list that do not occur, in the order of the list."""

    def __str__(self) -> str:
        return self.sentence("data")

    def sentence(self, where: str) -> str:
        """Return how many entries occur in the data, the release or the original (`where`), as a sentence."""
        return f"{self.parameter}: {self.occur:,} of {self.named:,} named {self.noun} occur in the {where}"

    def missing_items(self, most: int) -> str:
        """Return the first `most` missing items and the number of further ones, for a message."""
        listed = ", ".join(map(str, self.missing[:most]))
        more = len(self.missing) - most
        return f"{listed} and {more:,} more" if more > 0 else listed

    def refuse(self, missing_names: MissingNames, *, file: str | None = None) -> None:
        """Refuse a list without any occurring entry or, with `error`, a list with a missing item."""
        if missing_names not in get_args(MissingNames):
            allowed = " | ".join(get_args(MissingNames))
            raise BadParameter(f"missing_names is {missing_names!r}; allowed is {allowed}")
        if self.occur and (missing_names == "accept" or not self.missing):
            return
        needed = "with `missing_names='error'` all" if self.occur else "at least one"
        wrong = f"{self}; {needed} must"
        missing = f"Not in the data: {self.missing_items(SHOWN_IN_ERRORS)}. " if self.missing else ""
        raise BadData(
            f"{wrong}. {missing}Correct the names{', or accept missing ones' if self.occur else ''}", file=file
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return asdict(self)


class NameList(ParameterKind):
    """A list that names items of the data; the base class of `SensitiveItems` and `NamedItemsets`."""

    noun: ClassVar[str]
    names_items = True
    occurred: bool = False
    """Whether the private folder of a release records that an entry occurred in the original."""

    @property
    @abstractmethod
    def entries(self) -> Sequence[tuple[str, ...]]:
        """The items of each entry."""

    def known_to_have_occurred(self) -> Self:
        """Return the same list, marked as having an entry that occurred in the original."""
        noted = copy(self)
        noted.occurred = True
        return noted

    def found_in(self, data: Published, parameter: str) -> NamesFound:
        """Count the entries that occur in the data, and find the labels closest to missing names."""
        noun = "rules" if parameter == "rules" else self.noun
        there = _occurring(data)
        occur = sum(there.issuperset(entry) for entry in self.entries)
        absent = dict.fromkeys(item for entry in self.entries for item in entry if item not in there)
        return NamesFound(parameter, noun, len(self.entries), occur, _with_close_labels(absent, data.vocabulary))

    def places_in(self, data: Published) -> list[int]:
        """Return the positions of the entries that occur in the data."""
        there = _occurring(data)
        return [place for place, entry in enumerate(self.entries) if there.issuperset(entry)]

    def refuse_look_alikes(self, parameter: str, found: LookAlikes) -> None:
        """Refuse a name if the data have another label that looks like it."""
        if self.occurred:
            return
        for name in dict.fromkeys(item for entry in self.entries for item in entry):
            if others := found.others(name):
                raise BadData(
                    f"{parameter} names {written(name)}, and the data hold {written(others[0])}, which looks alike and would not be "
                    "protected. Write both in the same way, or pass `distinct_labels=True` if they are different items"
                )

    def doubt(self, original: Published | None) -> str:
        """Return why a release without any entry of the list proves nothing; empty if an entry occurred in the original."""
        named = f"none of the {len(self.entries):,} named {self.noun} occurs"
        if self.occurred:
            return ""
        if original is None:
            return f"{named} in the release, so the list may be misspelt; compare with the original or use the private folder"
        return (
            ""
            if self.places_in(original)
            else f"{named} in the original, so there is nothing to check; correct the names"
        )


def refuse_look_alikes(declaration: Any, found: LookAlikes) -> None:
    """Refuse parameters of a method or guarantee that name only some of several labels that look alike."""
    for name in type(declaration).model_fields:
        given = getattr(declaration, name)
        if isinstance(given, ParameterKind):
            given.refuse_look_alikes(name, found)


def names_found(declaration: Any, data: Published) -> tuple[NamesFound, ...]:
    """Look up the name lists of a method or guarantee in the data, except those known to have occurred in the original."""
    given = {name: getattr(declaration, name) for name in type(declaration).model_fields}
    return tuple(
        names.found_in(data, name)
        for name, names in given.items()
        if isinstance(names, NameList) and not names.occurred
    )


def _occurring(data: Published) -> set[str]:
    return {label for label, held in zip(data.vocabulary, data.supports.tolist(), strict=True) if held}


def _with_close_labels(absent: Iterable[str], vocabulary: tuple[str, ...]) -> tuple[MissingName, ...]:
    left = MOST_COMPARED
    found = []
    for name in absent:
        candidates = vocabulary
        if len(candidates) > left:  # typos are rare at the start of a word
            candidates = tuple(label for label in candidates if label[:1] == name[:1])[:left]
        left -= len(candidates)
        digits = _DIGITS.findall(name)  # names that differ in a digit, as codes do, are different items
        alike = [label for label in candidates if _DIGITS.findall(label) == digits]
        close = get_close_matches(name, alike, n=1, cutoff=_CLOSE) if len(name) <= LONGEST_COMPARED else []
        found.append(MissingName(name, close[0] if close else None))
    return tuple(found)
