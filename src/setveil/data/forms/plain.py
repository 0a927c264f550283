"""The base class of forms whose rows are records, such as `Transactions`."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from setveil.data.forms.base import Changes, DataPlace, Ids, Naming, Published
from setveil.data.records.alignment import Alignment
from setveil.data.records.ragged import distinct, is_rising, record_ranges
from setveil.errors import BadParameter

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from setveil.data.forms.comparing import Aligned, Spans, Untrue
    from setveil.data.forms.own_format import DataFormat
    from setveil.data.forms.views import View
    from setveil.data.records.transactions import Transactions, Unit
    from setveil.parameters.hierarchy import Hierarchy


class RowsOfRecords(Published):
    """A form whose `rows` are records, each of one person or visit."""

    rows_are_records: ClassVar[bool] = True
    can_be_divided: ClassVar[bool] = True

    if TYPE_CHECKING:

        @property
        def rows(self) -> Transactions:
            """The rows as plain records."""

        def with_rows(self, rows: Transactions) -> Self:
            """Return the same form with other rows."""

    @property
    def plain(self) -> Transactions:
        """The rows as plain records."""
        return self.rows

    @property
    def lengths_shown(self) -> NDArray[np.int64]:
        """The number of items of each record."""
        return self.rows.lengths

    @property
    def tree(self) -> Hierarchy | None:
        """The hierarchy whose nodes replace items in the rows, or None."""
        return None

    def can_stand_for(self, items: Container[str]) -> NDArray[np.bool_]:
        """Return for each label of the rows whether it is one of these items or can represent one."""
        return np.array([label in items for label in self.rows.vocabulary], np.bool_)

    @classmethod
    def formats(cls) -> Mapping[str, DataFormat]:
        """Return the formats of plain records."""
        return plain_formats()

    @classmethod
    def default_format(cls, ids: Ids) -> str:
        """Return a format that can hold ids, if there are ids."""
        return "basket" if ids == "drop" else "long"

    def public_layout(self, place: DataPlace) -> dict[str, str | bool]:
        """Return the layout that a reader of the rows needs to know."""
        return place.format.public_layout(self.rows, place.layout)

    def files(self, name: str, most: int | None = None) -> tuple[str, ...]:
        """Return the files: those of the rows, and then those of the form."""
        from setveil.data.forms.parts import part_names  # noqa: PLC0415 - it imports this module indirectly

        number = 1 if most is None else -(-self.records // most)
        return (*(part_names(name, number) if number > 1 else [name]), *self.beside)

    @classmethod
    def refuse_other_files(cls, names: tuple[str, ...], first: str, *, card: str) -> None:
        """Refuse files besides those of the form, unless the first file is divided and they are its parts."""
        from setveil.data.forms.parts import FIRST, part_names  # noqa: PLC0415 - the same

        if not first.startswith(FIRST):
            super().refuse_other_files(names, first, card=card)
            return
        wanted = (*part_names(first, max(len(names) - len(cls.beside), 1) + 1)[1:], *cls.beside)
        cls._refuse_unless(names == wanted, wanted, card)

    @classmethod
    def _files_of_rows(cls, place: DataPlace) -> list[Path]:
        return [place.folder / name for name in (place.file, *place.further) if name not in cls.beside]

    def write_to(self, place: DataPlace) -> None:
        """Write the rows."""
        from setveil.data.forms.parts import write_parts  # noqa: PLC0415 - the same

        write_parts(self.rows, self._files_of_rows(place), place.format, place.layout)

    @classmethod
    def rows_from(cls, place: DataPlace, unit: Unit) -> Transactions:
        """Read the rows."""
        from setveil.data.forms.parts import read_parts  # noqa: PLC0415 - the same

        return read_parts(cls._files_of_rows(place), place.format, place.layout).with_unit(unit)

    @classmethod
    def read_from(cls, place: DataPlace, unit: Unit) -> Self:
        """Read files that `write_to` wrote; a form that is more than its rows overrides this."""
        rows: Any = cls.rows_from(place, unit)
        return rows  # type: ignore[no-any-return]

    def arrange(self, rows: NDArray[np.int64], naming: Naming) -> tuple[Self, Alignment]:
        """Sort the rows by content or by id."""
        arranged, alignment = _arranged(self.rows, rows, naming)
        return self.with_rows(arranged), alignment

    def find_untrue(self, aligned: Aligned, *, whole: bool) -> Untrue:
        """Compare each row with its record."""
        from setveil.data.forms.comparing import untrue_rows  # noqa: PLC0415 - it imports this module indirectly

        return untrue_rows(self.rows, aligned, self.spans(aligned.original), whole=whole)

    def spans(self, original: Transactions) -> Spans:
        """Return which items of the original the labels of the rows represent."""
        from setveil.data.forms.comparing import spans_of_items  # noqa: PLC0415 - it imports this module indirectly

        return spans_of_items(self.rows, original)

    def changes(self, original: Published, alignment: Alignment) -> Changes:
        """Count the records whose rows differ, and the occurrences that are not in their record."""
        from setveil.data.forms.comparing import shared_in_blocks  # noqa: PLC0415 - it imports this module indirectly

        rows, before, true = self.rows, original.as_records(), 0
        has_row, has_other_row = np.zeros((2, before.records), dtype=np.bool_)
        for first, last, shared in shared_in_blocks(before, rows, alignment.rows):
            record = alignment.rows[first:last]
            lengths = np.diff(rows.offsets[first : last + 1])
            had = before.offsets[1:][record] - before.offsets[:-1][record]
            has_row[record] = True
            has_other_row[record[(shared < lengths) | (shared < had)]] = True
            true += int(shared.sum())
        changed = before.records - int(np.count_nonzero(has_row & ~has_other_row))
        return Changes(changed, rows.occurrences - true - self.true_nodes(before, alignment))

    def views(self, original: Transactions, alignment: Alignment, records: Sequence[int]) -> Iterable[View]:
        """Return the rows of some records, with the changes marked."""
        from setveil.data.forms.views import places_of_records, views_of_rows  # noqa: PLC0415 - only reports need it

        return views_of_rows(self.rows, original, places_of_records(alignment, records))

    def pieces(self, occurrences: int) -> Iterator[tuple[int, Self]]:
        """Yield ranges of rows; a row with more occurrences is its own piece."""
        for first, last in record_ranges(self.rows.offsets, occurrences, occurrences):
            yield first, self.with_rows(self.rows.between(first, last))

    def true_nodes(self, original: Transactions, alignment: Alignment) -> int:
        """Count released labels that are not items and are true of their record."""
        del original, alignment
        return 0


def plain_formats() -> Mapping[str, DataFormat]:
    """Return the formats of plain records."""
    from setveil.data.formats import FORMATS  # noqa: PLC0415 - it imports this module indirectly

    return FORMATS


def _arranged(made: Transactions, rows: NDArray[np.int64], naming: Naming) -> tuple[Transactions, Alignment]:
    """Sort plain records into an order that reveals nothing, with the ids that they will have."""
    from setveil.data.records.in_blocks import need_blocks  # noqa: PLC0415 - it imports this module indirectly
    from setveil.data.records.sorting import refuse_equal_ids, sorted_by_content, sorted_by_id  # noqa: PLC0415 - the same

    if naming.ids == "drop":
        plain = made.with_ids(None).compacted()
        if need_blocks(plain):
            found = sorted_by_content(plain, rows)
            return found.records, Alignment(found.origins)
        order = plain.content_order()
        return plain.take(order), Alignment(rows[order])
    ids_of, original_ids_of = _ids_of_rows(rows, naming), partial(_ids_of_records, naming.original)
    if need_blocks(made):
        found = sorted_by_id(made.with_ids(None).compacted(), rows, ids_of, original_ids_of)
        return found.records, Alignment(found.origins, found.records.ids, found.original_ids)
    names = ids_of(np.arange(len(rows)))
    order = np.asarray(pc.array_sort_indices(names), dtype=np.int64)
    ids = names.take(order)
    # Equal ids would be side by side. Attached by `with_ids`, they would all be hashed instead.
    refuse_equal_ids(ids)
    rising = made.take(order, ids=None).compacted()
    published = type(rising).of_parts(rising.offsets, rising.items, rising.vocabulary, ids=ids, unit=rising.unit)
    return published, Alignment(rows[order], published.ids, original_ids_of(rows[order]))


def _ids_of_rows(rows: NDArray[np.int64], naming: Naming) -> Callable[[NDArray[np.int64]], Any]:
    """Return a function that returns the new ids of rows; `rows` are the original records of all rows."""
    if naming.ids == "pseudonym":
        # One pseudonym per row, in the order of records: if every record has one row, one pseudonym per record.
        names = naming.pseudonyms(len(rows))
        if is_rising(rows):
            return lambda chosen: names.take(pa.array(chosen))
        place = np.empty(len(rows), dtype=np.int64)
        place[np.argsort(rows, kind="stable")] = np.arange(len(rows))
        return lambda chosen: names.take(pa.array(place[chosen]))
    if not is_rising(rows, strictly=True) and len(distinct(rows)) < len(rows):
        raise BadParameter(
            "the method makes several rows from one record, and two rows cannot have the same id; "
            "publish with `ids='pseudonym'`, which gives each row its own id, or with `ids='drop'`"
        )
    return lambda chosen: _ids_of_records(naming.original, rows[chosen])


def _ids_of_records(original: Any, records: NDArray[np.int64]) -> Any:
    """Return the ids of original records; their numbers if they have none."""
    if original.ids is None:
        return pc.cast(pa.array(records + 1), pa.large_string())
    return original.ids.take(pa.array(records)).cast(pa.large_string())
