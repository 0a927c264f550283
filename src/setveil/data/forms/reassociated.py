"""Re-associated data: one or more sets of plain records, each assembled at random from the same disassociated data.

In a release each set is a file: `data-1`, `data-2` and so on.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from setveil.base.display import quantity
from setveil.data.forms.base import Counts, Published
from setveil.data.forms.comparing import Untrue
from setveil.data.forms.disassociated import Disassociated
from setveil.data.forms.plain import plain_formats
from setveil.data.forms.views import items_of, views_of_rows
from setveil.data.records.alignment import Alignment
from setveil.data.records.ragged import offsets_of
from setveil.data.records.transactions import Transactions
from setveil.errors import BadData

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from setveil.data.forms.base import DataPlace, Ids, Naming
    from setveil.data.forms.comparing import Aligned
    from setveil.data.forms.own_format import DataFormat
    from setveil.data.forms.pair_supports import PairSupports
    from setveil.data.forms.views import View
    from setveil.data.records.transactions import Unit


@dataclass(frozen=True, eq=False, repr=False)
class Reassociated(Published):
    """Re-associated data: complete sets of plain records, each assembled at random from the same disassociated data.

    The method `Reassociation` makes them. Rows have no ids.

    Parameters
    ----------
    datasets : tuple of Transactions
        The sets, at least one.

    Raises
    ------
    BadData
        If there is no set, a set is not plain records, or records have ids.

    Examples
    --------
    >>> import setveil as sv
    >>> sv.Reassociated((sv.from_lists([["milk"], ["tea"]]), sv.from_lists([["milk", "tea"], []])))
    Reassociated(2 sets of 2 records)
    """

    form_name: ClassVar[str] = "reassociated"
    form_title: ClassVar[str] = "re-associated data"
    about_form: ClassVar[str] = (
        "Each row was assembled at random from the chunks of disassociated data; it is not the record of a person. Each file is one "
        "complete set of such rows."
    )
    why_nameless: ClassVar[str] = "rows of re-associated data are not records of people and have no ids"
    sets_of: ClassVar[type] = Transactions
    made_from: ClassVar[type[Published]] = Disassociated

    datasets: tuple[Transactions, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "datasets", tuple(self.datasets))
        if not self.datasets or not all(isinstance(one, Transactions) for one in self.datasets):
            raise BadData("re-associated data need at least one set of plain records")
        if any(one.ids is not None for one in self.datasets):
            raise BadData(
                "rows of re-associated data have no ids, because they are not records of people; drop the ids"
            )

    # -- queries --------------------------------------------------------------------------------------------------------------

    @property
    def records(self) -> int:
        """The number of records in all sets together."""
        return sum(one.records for one in self.datasets)

    @property
    def vocabulary(self) -> tuple[str, ...]:
        """The labels of the first set, which charts use for all sets: all sets hold each item equally often."""
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
        """`person` if every person has exactly one record, `record` otherwise."""
        return self.datasets[0].unit

    @property
    def plain(self) -> Transactions | None:
        """The records, if there is one set."""
        return self.datasets[0] if len(self) == 1 else None

    @property
    def why_not_plain(self) -> str:
        """The number of sets, and how to select one."""
        return f"{len(self)} sets of records; name the file of one set, such as data-1 with its extension"

    @property
    def sets(self) -> tuple[Transactions, ...]:
        """The sets."""
        return self.datasets

    @cached_property
    def starts(self) -> NDArray[np.int64]:
        """The start of each set among the rows of all sets, and the end of the last set."""
        return offsets_of([one.records for one in self.datasets])

    def pair_supports(self, labels: Sequence[str]) -> PairSupports:
        """Return the mean numbers of the sets."""
        from setveil.data.forms.pair_supports import PairSupports  # noqa: PLC0415 - imports SciPy

        each = [one.pair_supports(labels) for one in self.datasets]
        return PairSupports(np.mean([one.counts for one in each], axis=0), self.records / len(each))

    def totals(self) -> Counts:
        """Return the counts of all sets together."""
        items = set().union(*(one.vocabulary for one in self.datasets))
        return Counts(self.records, len(items), self.occurrences, self.empty_records)

    def with_unit(self, unit: Unit) -> Self:
        """Return the same sets with another unit."""
        return replace(self, datasets=tuple(one.with_unit(unit) for one in self.datasets))

    def __len__(self) -> int:
        return len(self.datasets)

    def __eq__(self, other: object) -> bool:
        return self.datasets == other.datasets if isinstance(other, Reassociated) else NotImplemented

    __hash__ = None  # type: ignore[assignment]  # too large for dictionary keys

    def __repr__(self) -> str:
        return f"Reassociated({quantity(len(self), 'set')} of {self.datasets[0].records:,} records)"

    # -- releasing ------------------------------------------------------------------------------------------------------------

    def arrange(self, rows: NDArray[np.int64], naming: Naming) -> tuple[Self, Alignment]:
        """Return the sets unchanged, because their rows are sorted by content."""
        del naming
        return self, Alignment(rows)

    def find_untrue(self, aligned: Aligned, *, whole: bool) -> Untrue:
        """Return all rows, because none of them is a record."""
        del aligned, whole
        return Untrue.one("all rows", f"each of the {self.records:,} rows is assembled from parts of several records")

    def views(self, original: Transactions, alignment: Alignment, records: Sequence[int]) -> Iterable[View]:
        """Return the row of the first set that is most like each record: no row is a record."""
        del alignment
        rows = self.datasets[0]
        starts, holders = rows.holders
        for record in records:
            codes = [rows.code_of[item] for item in items_of(original, record) if item in rows.code_of]
            found = [holders[starts[code] : starts[code + 1]] for code in codes]
            common = np.bincount(np.concatenate([np.empty(0, np.int64), *found]), minlength=rows.records)
            like = common / np.maximum(rows.lengths + int(original.lengths[record]) - common, 1)
            (view,) = views_of_rows(rows, original, {record: [int(like.argmax())] if common.any() else []})
            yield replace(
                view, parts=tuple(part._replace(where=f"the most similar row, {part.where}") for part in view.parts)
            )

    # -- files ----------------------------------------------------------------------------------------------------------------

    @classmethod
    def formats(cls) -> Mapping[str, DataFormat]:
        """Return the formats of plain records."""
        return plain_formats()

    @classmethod
    def default_format(cls, ids: Ids) -> str:
        """Return the format of plain records without ids."""
        del ids
        return "basket"

    def files(self, name: str, most: int | None = None) -> tuple[str, ...]:
        """Return a file for each set."""
        del most
        first = name.replace("data", "data-1", 1)
        return tuple(_file(first, number) for number in range(1, len(self) + 1))

    @classmethod
    def refuse_other_files(cls, names: tuple[str, ...], first: str, *, card: str) -> None:
        """Refuse files that are not numbered consecutively after the first one."""
        wanted = tuple(_file(first, number) for number in range(2, len(names) + 2))
        cls._refuse_unless(names == wanted, wanted, card)

    def public_layout(self, place: DataPlace) -> dict[str, str | bool]:
        """Return the layout that a reader of each file needs to know."""
        return place.format.public_layout(self.datasets[0], place.layout)

    def write_to(self, place: DataPlace) -> None:
        """Write one file per set."""
        for number, one in enumerate(self.datasets, start=1):
            place.format.write(one, place.folder / _file(place.file, number), place.layout)

    @classmethod
    def read_from(cls, place: DataPlace, unit: Unit) -> Self:
        """Read the consecutively numbered files, starting with the first one."""
        files = [place.path]
        while (path := place.folder / _file(place.file, len(files) + 1)).is_file():
            files.append(path)
        return cls(tuple(place.format.read(path, place.layout).with_unit(unit) for path in files))


def _file(first: str, number: int) -> str:
    return first.replace("data-1", f"data-{number}", 1)
