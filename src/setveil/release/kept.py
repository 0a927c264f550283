"""Count what a release keeps of its original: occurrences, items and unchanged records, and how much of it is true.

An occurrence is kept if the release still shows its item: of an item in 10 original and 7 released records, 7 occurrences are kept,
whichever records hold them. `records_changed` and `false_content` show what moved. All figures describe the original: they appear on the
console, in the dossier and in the report, never on the card.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from setveil.base.display import quantity

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from setveil.data.forms.base import Published
    from setveil.data.records.alignment import Alignment
    from setveil.parameters.sensitive_items import SensitiveItems


@dataclass(frozen=True)
class Part:
    """A part of a whole; `less_exactly` counts further cases that the release shows less exactly, such as generalized."""

    number: int
    of: int
    less_exactly: int = 0

    @property
    def gone(self) -> int:
        """The number of cases that the release does not show at all."""
        return self.of - self.number - self.less_exactly

    @property
    def share(self) -> float:
        """The share of the whole; 0 if the whole is empty."""
        return self.number / self.of if self.of else 0.0

    def __str__(self) -> str:
        return f"{self.number:,} of {self.of:,}"

    def percent(self) -> str:
        """Return the share in percent; 0 % means none and 100 % means all, not a rounded value."""
        percent = 100 * self.share
        if 0 < self.number < self.of and not 0.1 <= percent <= 99.9:
            return "less than 0.1 %" if percent < 1 else "more than 99.9 %"
        return f"{percent:.1f} %"


@dataclass(frozen=True)
class Kept:
    """The parts of its original that a release keeps, or of the disassociated release that it was made from."""

    compared_with: str
    """`the original`, or `the disassociated release`."""
    how: str
    """How the release shows occurrences less exactly; empty if it does not."""
    occurrences: Part
    items: Part
    records_changed: Part | None
    """Original records whose row differs, of all; None if a row is not one record."""
    false_content: Part | None
    """Released occurrences that are not true of their record, of all; None if a row is not one record."""
    sensitive_occurrences: Part | None
    sensitive_items: Part | None
    """The same for sensitive items that occur; None if the method has no sensitive items."""

    @property
    def keeps_no_sensitive_item(self) -> bool:
        """Whether the original holds sensitive items and the release shows none of them."""
        found = self.sensitive_occurrences
        return found is not None and found.of > 0 and found.gone == found.of

    def cost(self) -> str:
        """Return the cost of the release in one line.

        >>> from setveil.data.records.alignment import Alignment
        >>> from setveil.data.records.transactions import Transactions
        >>> original = Transactions.from_lists([["milk", "tea"], ["milk"], ["tea", "wine"]])
        >>> released = Transactions.from_lists([["milk"], ["milk"], ["milk", "tea"]])
        >>> kept(original, released, Alignment.identity(3)).cost()
        "3 of 5 occurrences (60.0 %) and 2 of 3 items kept; 66.7 % of records changed; 25.0 % of occurrences are not the record's own"
        """
        parts = self._kept(self.occurrences, self.items)
        if self.records_changed is not None:
            parts.append(
                f"{self.records_changed.percent()} of records changed"
                if self.records_changed.number
                else "no record changed"
            )
        if self.false_content is not None:
            untrue = f"{self.false_content.percent()} of occurrences are not the record's own"
            parts.append(untrue if self.false_content.number else "every occurrence is true")
        if self.keeps_no_sensitive_item:
            parts.append("no sensitive item is kept")
        elif (
            self.sensitive_occurrences is not None
            and self.sensitive_items is not None
            and self.sensitive_occurrences.of
        ):
            parts += self._kept(self.sensitive_occurrences, self.sensitive_items, "sensitive ")
        return "; ".join(parts)

    def _kept(self, occurrences: Part, items: Part, kind: str = "") -> list[str]:
        """Return how much is kept, and how much is shown less exactly."""
        where = "" if self.compared_with == "the original" else f" of {self.compared_with}"
        if occurrences.number == occurrences.of:
            return [f"every {kind}occurrence{where} kept"]
        whole = f"all {items.of:,}" if items.number == items.of else str(items)
        parts = [f"{occurrences} {kind}occurrences{where} ({occurrences.percent()}) and {whole} {kind}items kept"]
        if occurrences.less_exactly:
            named = f" and {quantity(items.less_exactly, kind + 'item')}" if items.less_exactly else ""
            parts.append(f"{quantity(occurrences.less_exactly, kind + 'occurrence')}{named} {self.how}")
        return parts

    def to_dict(self) -> dict[str, Any]:
        """Return the counts as plain values."""
        return asdict(self)


def kept(
    original: Published,
    published: Published,
    alignment: Alignment,
    sensitive: SensitiveItems | None = None,
) -> Kept:
    """Count what a release keeps.

    Parameters
    ----------
    original
        The data to compare with. Re-associated data can be compared with the disassociated release that they were made from; then only the
        occurrences that this release states with certainty are counted.
    published, alignment
        The release, and the original record of each row; for disassociated data, the records cluster by cluster.
    sensitive
        The sensitive items, if the method has any.
    """
    before = original.supports
    exactly, less = published.shown_of(original, alignment)
    exactly = np.minimum(exactly, before)
    less = np.minimum(less, before - exactly)
    every = np.ones(len(before), dtype=np.bool_)
    chosen = None
    if sensitive is not None:
        chosen = np.array([label in sensitive for label in original.vocabulary], dtype=np.bool_)
    changes = published.changes(original, alignment)
    return Kept(
        compared_with=original.as_input,
        how=published.less_exactly,
        occurrences=_occurrences(before, exactly, less, every),
        items=_items(before, exactly, less, every),
        records_changed=None if changes is None else Part(changes.records, original.records),
        false_content=None if changes is None else Part(changes.untrue, published.occurrences),
        sensitive_occurrences=None if chosen is None else _occurrences(before, exactly, less, chosen),
        sensitive_items=None if chosen is None else _items(before, exactly, less, chosen),
    )


def _occurrences(
    before: NDArray[np.int64], exactly: NDArray[np.int64], less: NDArray[np.int64], chosen: NDArray[np.bool_]
) -> Part:
    return Part(int(exactly[chosen].sum()), int(before[chosen].sum()), int(less[chosen].sum()))


def _items(
    before: NDArray[np.int64], exactly: NDArray[np.int64], less: NDArray[np.int64], chosen: NDArray[np.bool_]
) -> Part:
    held = chosen & (before > 0)
    there = held & (exactly > 0)
    named = held & (exactly == 0) & (less > 0)
    return Part(*(int(np.count_nonzero(which)) for which in (there, held, named)))
