"""Labels that look alike: they differ only in Unicode form, in case or in invisible characters.

A program treats such labels as different items, a person as the same item. If one of them is named as sensitive, the other is not
protected. So each vocabulary is folded once: Unicode compatibility form, no case, no invisible characters. Blanks at the ends of labels are
stripped when labels are read.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING
from unicodedata import category, normalize

from setveil.base import progress
from setveil.data.records.labels import BLANKS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from setveil.data.records.transactions import Transactions

_SHOWN = 60
_UNSEEN = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2065\u2800\u3164\ufe00-\ufe0f\uffa0\ufff0-\ufff8\U000e0000-\U000e0fff]"
)
"""Default ignorable characters of Unicode that are not format characters, and the blank braille pattern."""
_KEY = "look-alikes"


def folded(label: str) -> str:
    """Return a text that is the same for all labels that look like this one.

    >>> folded("Cafe\u0301\u200b") == folded("caf\u00e9")
    True
    """
    if label.isascii():
        return label.lower().strip(BLANKS)
    text = _UNSEEN.sub("", normalize("NFKC", label))
    if not text.isprintable():  # texts with format characters are not printable
        text = "".join(char for char in text if category(char) != "Cf")
    return normalize("NFKC", text.casefold()).strip(BLANKS)


@dataclass(frozen=True)
class LookAlikes:
    """The groups of labels in a vocabulary that look alike."""

    labels: tuple[str, ...]
    groups: tuple[tuple[str, ...], ...]
    """Groups of at least two labels that look alike, in the order of `labels`."""

    @classmethod
    def among(cls, labels: Iterable[str]) -> LookAlikes:
        """Find look-alikes among distinct labels."""
        given = tuple(labels)
        whole = "".join(given)
        if whole.isascii() and whole == whole.lower() and all(label == label.strip(BLANKS) for label in given):
            return cls(given, ())  # no two look alike
        return cls(given, tuple(alike for alike in _by_look(given).values() if len(alike) > 1))

    @classmethod
    def of(cls, data: Transactions) -> LookAlikes:
        """Return the look-alikes of the data, which are found once and cached."""
        if _KEY not in data.remembered:
            data.remembered[_KEY] = cls.among(data.vocabulary)
        found: LookAlikes = data.remembered[_KEY]
        return found

    @property
    def pairs(self) -> int:
        """The number of pairs of labels that look alike."""
        return sum(len(alike) * (len(alike) - 1) // 2 for alike in self.groups)

    @cached_property
    def _by_look(self) -> dict[str, tuple[str, ...]]:
        return _by_look(self.labels)

    def others(self, name: str) -> tuple[str, ...]:
        """Return the labels that look like a name, except the name itself."""
        return tuple(label for label in self._by_look.get(folded(name), ()) if label != name)


def _by_look(labels: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for label in labels:
        look = folded(label)
        found[look] = (*found.get(look, ()), label)
    return found


def note_look_alikes(data: Transactions) -> Transactions:
    """Announce how many pairs of labels look alike; return the data unchanged."""
    found = LookAlikes.of(data)
    if found.groups:
        count = "1 pair of labels looks" if found.pairs == 1 else f"{found.pairs:,} pairs of labels look"
        one, other = map(written, found.groups[0][:2])
        progress.note(f"{count} alike, such as {one} and {other}; they count as different items")
    return data


def written(label: str) -> str:
    """Return a label in ASCII, so that characters that look alike can be distinguished."""
    text = ascii(label)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}..."
