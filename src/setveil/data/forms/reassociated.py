"""Re-associated data: one or several sets of plain records, each put together at random from the same disassociated data.

In a release each set is a file: `data-1`, `data-2` and so on.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

from setveil.data.forms.base import Counts, Published
from setveil.data.forms.comparing import Untrue
from setveil.data.forms.disassociated import Disassociated
from setveil.data.forms.plain import plain_formats
from setveil.data.records.alignment import Alignment
from setveil.data.records.ragged import offsets_of
from setveil.data.records.transactions import Transactions
from setveil.errors import BadData

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray

    from setveil.data.forms.base import DataPlace, Ids, Naming
    from setveil.data.forms.comparing import Aligned
    from setveil.data.forms.own_format import DataFormat
    from setveil.data.records.transactions import Unit


@dataclass(frozen=True, eq=False, repr=False)
class Reassociated(Published):
    """Sets of plain records that stand beside each other, each of them complete.

    >>> Reassociated((Transactions.from_lists([["milk"], ["tea"]]), Transactions.from_lists([["milk", "tea"], []])))
    Reassociated(2 sets of 2 records)
    """

    form_name: ClassVar[str] = "reassociated"
    form_in_words: ClassVar[str] = "re-associated data"
    about_form: ClassVar[str] = (
        "A row is a record that was put together at random from the chunks of disassociated data: nobody's own record. Each file is one "
        "such set, complete in itself."
    )
    why_nameless: ClassVar[str] = "re-associated rows are nobody's records and carry no names"
    sets_of: ClassVar[type] = Transactions
    made_from: ClassVar[type[Published]] = Disassociated

    datasets: tuple[Transactions, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "datasets", tuple(self.datasets))
        if not self.datasets or not all(isinstance(one, Transactions) for one in self.datasets):
            raise BadData("re-associated data are at least one set of plain records")
        if any(one.ids is not None for one in self.datasets):
            raise BadData("rows of re-associated data carry no ids: nobody's record is among them")

    # -- looking --------------------------------------------------------------------------------------------------------------

    @property
    def records(self) -> int:
        """The number of records in all sets together."""
        return sum(one.records for one in self.datasets)

    @property
    def vocabulary(self) -> tuple[str, ...]:
        """The labels of the first set, which stands for all of them in pictures: all sets hold each item equally often."""
        return self.datasets[0].vocabulary

    @property
    def labels(self) -> Any:
        """The vocabulary as an Arrow column."""
        return self.datasets[0].labels

    @property
    def supports(self) -> NDArray[np.int64]:
        """The number of records of the first set that hold each item."""
        return self.datasets[0].supports

    @property
    def lengths_shown(self) -> NDArray[np.int64]:
        """The number of items of each record of the first set."""
        return self.datasets[0].lengths

    @property
    def occurrences(self) -> int:
        """The number of items in all records of all sets together."""
        return sum(one.occurrences for one in self.datasets)

    @property
    def empty_records(self) -> int:
        """The number of records without an item in all sets together."""
        return sum(one.empty_records for one in self.datasets)

    @property
    def unit(self) -> Unit:
        """Whether a record stands for a person or for one record of several."""
        return self.datasets[0].unit

    @property
    def plain(self) -> Transactions | None:
        """The records where there is one set."""
        return self.datasets[0] if len(self) == 1 else None

    @property
    def why_not_plain(self) -> str:
        """How many sets there are, and how to take one."""
        return f"{len(self)} sets of records; name the file of one, such as data-1 with its ending"

    @property
    def sets(self) -> tuple[Transactions, ...]:
        """The sets."""
        return self.datasets

    @cached_property
    def starts(self) -> NDArray[np.int64]:
        """Where the rows of each set start among those of all sets, and where the last one ends."""
        return offsets_of([one.records for one in self.datasets])

    def totals(self) -> Counts:
        """Count what all sets have together."""
        items = set().union(*(one.vocabulary for one in self.datasets))
        return Counts(self.records, len(items), self.occurrences, self.empty_records)

    def with_unit(self, unit: Unit) -> Self:
        """Return the same sets, their records said to be one per person (`person`) or not (`record`)."""
        return replace(self, datasets=tuple(one.with_unit(unit) for one in self.datasets))

    def __len__(self) -> int:
        return len(self.datasets)

    def __eq__(self, other: object) -> bool:
        return self.datasets == other.datasets if isinstance(other, Reassociated) else NotImplemented

    __hash__ = None  # type: ignore[assignment]  # arrays of any size: not meant for dictionaries

    def __repr__(self) -> str:
        return f"Reassociated({len(self):,} set{'s' * (len(self) != 1)} of {self.datasets[0].records:,} records)"

    # -- releasing ------------------------------------------------------------------------------------------------------------

    def arrange(self, rows: NDArray[np.int64], naming: Naming) -> tuple[Self, Alignment]:
        """Take the sets as they are: their rows stand in the order of content."""
        del naming
        return self, Alignment(rows)

    def find_untrue(self, aligned: Aligned, *, whole: bool) -> Untrue:
        """Return all rows: none of them is a record."""
        del aligned, whole
        return Untrue.one(
            "all rows", f"each of the {self.records:,} rows is put together from parts of several records"
        )

    # -- files ----------------------------------------------------------------------------------------------------------------

    @classmethod
    def formats(cls) -> Mapping[str, DataFormat]:
        """Return the formats of plain records."""
        return plain_formats()

    @classmethod
    def default_format(cls, ids: Ids) -> str:
        """Return the format of plain records that carry no names."""
        del ids
        return "basket"

    @classmethod
    def first_file(cls, name: str) -> str:
        """Return the name with a number."""
        return name.replace("data", "data-1", 1)

    def files_beside(self, file: str) -> tuple[str, ...]:
        """Return the files of the other sets."""
        return tuple(_file(file, number) for number in range(2, len(self) + 1))

    @classmethod
    def refuse_other_files(cls, names: tuple[str, ...], first: str, *, card: str) -> None:
        """Refuse files that are not numbered on from the first one."""
        wanted = tuple(_file(first, number) for number in range(2, len(names) + 2))
        cls._refuse_unless(names == wanted, wanted, card)

    def public_layout(self, place: DataPlace) -> dict[str, str | bool]:
        """Return what a reader of each file needs to know."""
        return place.format.public_layout(self.datasets[0], place.layout)

    def write_to(self, place: DataPlace) -> None:
        """Write a file per set."""
        for number, one in enumerate(self.datasets, start=1):
            place.format.write(one, place.folder / _file(place.file, number), place.layout)

    @classmethod
    def read_from(cls, place: DataPlace, unit: Unit) -> Self:
        """Read the files from the first number on as long as there are any."""
        files = [place.path]
        while (path := place.folder / _file(place.file, len(files) + 1)).is_file():
            files.append(path)
        return cls(tuple(place.format.read(path, place.layout).with_unit(unit) for path in files))


def _file(first: str, number: int) -> str:
    return first.replace("data-1", f"data-{number}", 1)
