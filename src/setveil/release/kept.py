"""What a release keeps of its original: occurrences, items, records as they are, and how much of it is true.

An occurrence is kept if the release still shows its item: of an item in 10 original and 7 released records, 7 occurrences are kept,
whichever records hold them. `records_changed` and `false_content` show what moved. All figures are about the original: they belong to the
console, the dossier and the report, never to the card.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from setveil.data.forms.base import Published
    from setveil.data.records.alignment import Alignment
    from setveil.parameters.sensitive_items import SensitiveItems


@dataclass(frozen=True)
class Part:
    """A number of a whole; `less_exactly` counts further ones that the release names in a way that says less."""

    number: int
    of: int
    less_exactly: int = 0

    @property
    def gone(self) -> int:
        """How many the release does not name at all."""
        return self.of - self.number - self.less_exactly

    @property
    def share(self) -> float:
        """The number as a share of the whole; 0 of nothing."""
        return self.number / self.of if self.of else 0.0

    def __str__(self) -> str:
        return f"{self.number:,} of {self.of:,}"

    def percent(self) -> str:
        """Return the share in percent; only none is 0 %, and only all is 100 %."""
        percent = 100 * self.share
        if 0 < self.number < self.of and not 0.1 <= percent <= 99.9:
            return "less than 0.1 %" if percent < 1 else "more than 99.9 %"
        return f"{percent:.1f} %"


@dataclass(frozen=True)
class Kept:
    """What a release keeps of its original, or of the disassociated release that it was made from."""

    compared_with: str
    """`the original`, or `the disassociated release`."""
    how: str
    """How the release names what it does not keep as it was; empty where it names nothing else."""
    occurrences: Part
    items: Part
    records_changed: Part | None
    """Original records whose row differs, of all; None where a row is not one record."""
    false_content: Part | None
    """Released occurrences that are not true of their record, of all; None where a row is not one record."""
    sensitive_occurrences: Part | None
    sensitive_items: Part | None
    """The same of sensitive items that occur; None where the method has no such items."""

    @property
    def keeps_no_sensitive_item(self) -> bool:
        """Whether the original holds sensitive items and the release names none of them."""
        found = self.sensitive_occurrences
        return found is not None and found.of > 0 and found.gone == found.of

    def cost(self) -> str:
        """Return what the release cost, in one line.

        >>> from setveil.data.records.alignment import Alignment
        >>> from setveil.data.records.transactions import Transactions
        >>> original = Transactions.from_lists([["milk", "tea"], ["milk"], ["tea", "wine"]])
        >>> released = Transactions.from_lists([["milk"], ["milk"], ["milk", "tea"]])
        >>> kept(original, released, Alignment.identity(3)).cost()
        "3 of 5 occurrences (60.0 %) and 2 of 3 items kept; 66.7 % of records changed; 25.0 % of occurrences are not the record's own"
        """
        said = self._kept(self.occurrences, self.items)
        if self.records_changed is not None:
            said.append(
                f"{self.records_changed.percent()} of records changed"
                if self.records_changed.number
                else "no record changed"
            )
        if self.false_content is not None:
            untrue = f"{self.false_content.percent()} of occurrences are not the record's own"
            said.append(untrue if self.false_content.number else "every occurrence is true")
        if self.keeps_no_sensitive_item:
            said.append("no sensitive item is kept")
        elif (
            self.sensitive_occurrences is not None
            and self.sensitive_items is not None
            and self.sensitive_occurrences.of
        ):
            said += self._kept(self.sensitive_occurrences, self.sensitive_items, "sensitive ")
        return "; ".join(said)

    def _kept(self, occurrences: Part, items: Part, kind: str = "") -> list[str]:
        """Return how much is kept, and how much is named less exactly."""
        where = "" if self.compared_with == "the original" else f" of {self.compared_with}"
        if occurrences.number == occurrences.of:
            return [f"every {kind}occurrence{where} kept"]
        whole = f"all {items.of:,}" if items.number == items.of else str(items)
        said = [f"{occurrences} {kind}occurrences{where} ({occurrences.percent()}) and {whole} {kind}items kept"]
        if occurrences.less_exactly:
            named = f" and {_counted(items.less_exactly, kind + 'item')}" if items.less_exactly else ""
            said.append(f"{_counted(occurrences.less_exactly, kind + 'occurrence')}{named} {self.how}")
        return said

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values."""
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
        What the release is compared with. Re-associated data may be compared with the disassociated release that they were made from;
        then the occurrences that this release states for certain are counted.
    published, alignment
        The release, and the original record of each row; of disassociated data, the records cluster by cluster.
    sensitive
        The sensitive items, if the method has such.
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


def _counted(number: int, what: str) -> str:
    return f"{number:,} {what}{'s' * (number != 1)}"
