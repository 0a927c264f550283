"""The base class of forms whose rows are records, such as `Transactions`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from setveil.data.forms.base import Changes, DataPlace, Ids, Naming, Published
from setveil.data.records.alignment import Alignment
from setveil.data.records.ragged import distinct
from setveil.errors import BadData, BadParameter

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from setveil.data.forms.comparing import Aligned, Spans, Untrue
    from setveil.data.forms.own_format import DataFormat
    from setveil.data.forms.views import View
    from setveil.data.records.transactions import Transactions, Unit
    from setveil.parameters.hierarchy import Hierarchy


class RowsOfRecords(Published):
    """A form whose `rows` are records, each of one person or visit."""

    rows_are_records: ClassVar[bool] = True

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

    def write_to(self, place: DataPlace) -> None:
        """Write the rows."""
        place.format.write(self.rows, place.path, place.layout)

    @classmethod
    def rows_from(cls, place: DataPlace, unit: Unit) -> Transactions:
        """Read the rows."""
        rows: Transactions = place.format.read(place.path, place.layout).with_unit(unit)
        return rows

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
        from setveil.data.forms.comparing import shared_items  # noqa: PLC0415 - it imports this module indirectly

        rows, before = self.rows, original.as_records()
        shared = shared_items(before, rows, alignment.rows)
        as_before = (shared == rows.lengths) & (shared == before.lengths[alignment.rows])
        found = np.bincount(alignment.rows, minlength=before.records)
        same = np.bincount(alignment.rows[as_before], minlength=before.records)
        changed = int(np.count_nonzero((found == 0) | (same < found)))
        true = int(shared.sum()) + self.true_nodes(before, alignment)
        return Changes(changed, rows.occurrences - true)

    def views(self, original: Transactions, alignment: Alignment, records: Sequence[int]) -> Iterable[View]:
        """Return the rows of some records, with the changes marked."""
        from setveil.data.forms.views import places_of_records, views_of_rows  # noqa: PLC0415 - only reports need it

        return views_of_rows(self.rows, original, places_of_records(alignment, records))

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
    if naming.ids == "drop":
        plain = made.with_ids(None).compacted()
        order = plain.content_order()
        return plain.take(order), Alignment(rows[order])
    names: Any
    if naming.ids == "pseudonym":
        # One pseudonym per row, in the order of records: if every record has one row, one pseudonym per record.
        place = np.empty(len(rows), dtype=np.int64)
        place[np.argsort(rows, kind="stable")] = np.arange(len(rows))
        names = naming.pseudonyms(len(rows)).take(place)
    elif len(distinct(rows)) < len(rows):
        raise BadParameter(
            "the method makes several rows from one record, and two rows cannot have the same id; "
            "publish with `ids='pseudonym'`, which gives each row its own id, or with `ids='drop'`"
        )
    else:
        names = naming.original.ids.take(rows)
    order = np.asarray(pc.array_sort_indices(names), dtype=np.int64)
    originals = naming.original.names().take(rows[order])
    ids = names.take(order).cast(pa.large_string())
    # Equal ids would be side by side. Attached by `with_ids`, they would all be hashed instead.
    if pc.any(pc.equal(ids[1:], ids[:-1])).as_py():
        raise BadData("two records have the same id; give each record its own id")
    rising = made.take(order, ids=None).compacted()
    published = type(rising).of_parts(rising.offsets, rising.items, rising.vocabulary, ids=ids, unit=rising.unit)
    return published, Alignment(rows[order], published.ids, originals)
