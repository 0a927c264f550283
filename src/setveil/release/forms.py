"""What a release of one form does differently from those of the others: one small class a form.

Everything else, from the terms to the report, is the same for all of them and knows no form by name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pyarrow.compute as pc

from setveil.catalog import FORMS
from setveil.data.disassociated import Disassociated
from setveil.data.disassociated_files import DisassociatedFiles
from setveil.data.formats import FORMATS
from setveil.data.generalized import Generalized
from setveil.data.grouped import Grouped
from setveil.data.grouped_files import GroupedLines
from setveil.data.hierarchy_files import read_hierarchy
from setveil.data.neighbours import Neighbours
from setveil.data.records.alignment import Alignment
from setveil.data.records.ragged import offsets_of, picked
from setveil.data.records.transactions import Transactions
from setveil.errors import BadData, BadParameter
from setveil.release.card import Counts
from setveil.release.form import DataFormat, Form, Ids
from setveil.release.truthfulness import (
    Untrue,
    spans_of_items,
    spans_of_nodes,
    untrue_clusters,
    untrue_groups,
    untrue_rows,
)

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from setveil.data.formats import Layout
    from setveil.data.records.transactions import Unit
    from setveil.methods.base import Outcome
    from setveil.release.seed import Randomness
    from setveil.release.truthfulness import Aligned

HIERARCHY_NAME = "hierarchy.csv"


class PlainForm(Form):
    """Plain records."""

    kind: ClassVar[type] = Transactions
    about: ClassVar[str] = "A row is a record."
    formats: ClassVar[Mapping[str, DataFormat]] = FORMATS

    def arrange(
        self, data: Transactions, outcome: Outcome, ids: Ids, randomness: Randomness
    ) -> tuple[Transactions, Alignment]:
        """Sort the rows by content, or by the names that they carry."""
        return arranged(data, outcome.records, outcome.alignment.rows, ids, randomness)

    def countable(self, published: Transactions) -> Transactions:
        """Return the records."""
        return published

    def find_untrue(self, published: Transactions, aligned: Aligned, *, whole: bool) -> Untrue:
        """Compare each row with its record."""
        return untrue_rows(published, aligned, spans_of_items(published, aligned.original), whole=whole)


class GeneralizedForm(Form):
    """Records over the nodes of a hierarchy, which stands beside them in the release folder."""

    kind: ClassVar[type] = Generalized
    about: ClassVar[str] = (
        "A row is a record; where it holds the name of a group of items, it says that the person has at least one of them. Which items "
        "belong to a group is in hierarchy.csv."
    )
    formats: ClassVar[Mapping[str, DataFormat]] = FORMATS
    beside: ClassVar[tuple[str, ...]] = (HIERARCHY_NAME,)

    def arrange(
        self, data: Transactions, outcome: Outcome, ids: Ids, randomness: Randomness
    ) -> tuple[Generalized, Alignment]:
        """Sort the rows as plain records are sorted; the hierarchy goes with them whole."""
        made = outcome.published
        assert isinstance(made, Generalized)
        records, alignment = arranged(data, made.records, outcome.alignment.rows, ids, randomness)
        return Generalized(records, made.hierarchy), alignment

    def labels(self, published: Generalized) -> tuple[str, ...]:
        """Return the names in the records and all nodes of the hierarchy: a node stands for the items below it."""
        return (*published.records.vocabulary, *published.hierarchy.nodes)

    def countable(self, published: Generalized) -> Transactions:
        """Return the records over nodes."""
        return published.records

    def find_untrue(self, published: Generalized, aligned: Aligned, *, whole: bool) -> Untrue:
        """Compare each row with its record, where a node stands for one of the items below it."""
        spans = spans_of_nodes(published.records, aligned.original, published.hierarchy)
        return untrue_rows(published.records, aligned, spans, whole=whole)

    def write(self, published: Generalized, folder: Path, file: str, form: DataFormat, layout: Layout) -> None:
        """Write the records, and the hierarchy as `item,parent`."""
        form.write(published.records, folder / file, layout)
        (folder / HIERARCHY_NAME).write_bytes(published.hierarchy.to_parents_csv())

    def read(self, folder: Path, file: str, form: DataFormat, layout: Layout, unit: Unit) -> Generalized:
        """Read both."""
        records = form.read(folder / file, layout).with_unit(unit)
        return Generalized(records, read_hierarchy(folder / HIERARCHY_NAME))


class NamelessForm(Form):
    """A form with one format of its own, whose rows are no whole records and carry no names."""

    why_nameless: ClassVar[str]
    counts_rows: ClassVar[bool] = True

    def default_format(self, ids: Ids) -> str:
        """Return its only format."""
        del ids
        return next(iter(self.formats))

    def refuse_ids(self, ids: Ids) -> None:
        """Refuse names for rows."""
        if ids != "drop":
            raise BadParameter(f"ids is {ids!r}; {self.why_nameless}: allowed is drop")


class GroupedForm(NamelessForm):
    """Groups of rows, each with the multiset of its sensitive items."""

    kind: ClassVar[type] = Grouped
    about: ClassVar[str] = (
        "Rows stand in groups and hold only items that are not sensitive. How often each sensitive item occurs is told for a group as a "
        "whole, and which row of it holds which is not."
    )
    formats: ClassVar[Mapping[str, DataFormat]] = {GroupedLines.name: GroupedLines()}

    why_nameless: ClassVar[str] = "rows of grouped data carry no names, since a row is not a whole record"

    def arrange(
        self, data: Transactions, outcome: Outcome, ids: Ids, randomness: Randomness
    ) -> tuple[Grouped, Alignment]:
        """Sort rows within groups, and groups, by content."""
        del data, ids, randomness
        made = outcome.published
        assert isinstance(made, Grouped)
        published, rows = made.arranged()
        return published, Alignment(outcome.alignment.rows[rows])

    def countable(self, published: Grouped) -> Grouped:
        """Return the groups."""
        return published

    def find_untrue(self, published: Grouped, aligned: Aligned, *, whole: bool) -> Untrue:
        """Compare each row with its record, and the counts of each group with its records."""
        return untrue_groups(published, aligned, whole=whole)


class DisassociatedForm(NamelessForm):
    """Clusters of record chunks and a term chunk."""

    kind: ClassVar[type] = Disassociated
    about: ClassVar[str] = (
        "Records stand in clusters, taken apart into chunks: which part in one chunk belongs to which part in another is not told. The "
        "term chunk of a cluster names items that some of its records hold, and not how many."
    )
    formats: ClassVar[Mapping[str, DataFormat]] = {DisassociatedFiles.name: DisassociatedFiles()}
    why_nameless: ClassVar[str] = "parts of records in disassociated data carry no names"

    def arrange(
        self, data: Transactions, outcome: Outcome, ids: Ids, randomness: Randomness
    ) -> tuple[Disassociated, Alignment]:
        """Sort subrecords, chunks and clusters by content; the alignment goes cluster by cluster."""
        del data, ids, randomness
        made = outcome.published
        assert isinstance(made, Disassociated)
        published, clusters = made.arranged()
        starts = offsets_of(made.sizes)
        return published, Alignment(outcome.alignment.rows[picked(starts, clusters)[1]])

    def countable(self, published: Disassociated) -> Disassociated:
        """Return the clusters."""
        return published

    def find_untrue(self, published: Disassociated, aligned: Aligned, *, whole: bool) -> Untrue:
        """Compare the chunks of each cluster with its records."""
        return untrue_clusters(published, aligned, whole=whole)


class NeighboursForm(Form):
    """Sets of plain records, a file each: data-1, data-2 and so on."""

    kind: ClassVar[type] = Neighbours
    about: ClassVar[str] = (
        "A row is a record that was put together at random from the chunks of disassociated data: nobody's own record. Each file is one "
        "such set, complete in itself."
    )
    formats: ClassVar[Mapping[str, DataFormat]] = FORMATS

    def first_file(self, name: str) -> str:
        """Return the name with a number."""
        return name.replace("data", "data-1", 1)

    def files_beside(self, published: Neighbours, file: str) -> tuple[str, ...]:
        """Return the files of the other sets."""
        return tuple(self._file(file, number) for number in range(2, len(published) + 1))

    def refuse_other_files(self, names: tuple[str, ...], first: str, *, card: str) -> None:
        """Refuse files that are not numbered on from the first one."""
        wanted = tuple(self._file(first, number) for number in range(2, len(names) + 2))
        if names != wanted:
            raise BadData(
                f"names other files beside the data than a release of this form has: {', '.join(wanted)}", file=card
            )

    @staticmethod
    def _file(first: str, number: int) -> str:
        return first.replace("data-1", f"data-{number}", 1)

    def default_format(self, ids: Ids) -> str:
        """Return the format of plain records that carry no names."""
        del ids
        return "basket"

    def refuse_ids(self, ids: Ids) -> None:
        """Refuse names for rows."""
        if ids != "drop":
            raise BadParameter(
                f"ids is {ids!r}; re-associated rows are nobody's records and carry no names: allowed is drop"
            )

    def arrange(self, data: Any, outcome: Outcome, ids: Ids, randomness: Randomness) -> tuple[Neighbours, Alignment]:
        """Take the sets as they are: their rows stand in the order of content."""
        del data, ids, randomness
        made = outcome.published
        assert isinstance(made, Neighbours)
        return made, outcome.alignment

    def countable(self, published: Neighbours) -> Transactions:
        """Return the first set, which stands for all of them in pictures."""
        return published.datasets[0]

    def find_untrue(self, published: Neighbours, aligned: Aligned, *, whole: bool) -> Untrue:
        """Return all rows: none of them is a record."""
        del aligned, whole
        return Untrue.one(
            "all rows", f"each of the {published.records:,} rows is put together from parts of several records"
        )

    def plain(self, published: Neighbours) -> Transactions | None:
        """Return the records where there is one set."""
        return published.datasets[0] if len(published) == 1 else None

    def write(self, published: Neighbours, folder: Path, file: str, form: DataFormat, layout: Layout) -> None:
        """Write a file a set."""
        for number, one in enumerate(published.datasets, start=1):
            form.write(one, folder / self._file(file, number), layout)

    def read(self, folder: Path, file: str, form: DataFormat, layout: Layout, unit: Unit) -> Neighbours:
        """Read the files from the first number on as long as there are any."""
        names = [file]
        while (folder / self._file(file, len(names) + 1)).is_file():
            names.append(self._file(file, len(names) + 1))
        return Neighbours(tuple(form.read(folder / name, layout).with_unit(unit) for name in names))

    def counts(self, published: Neighbours) -> Counts:
        """Count what all sets have together."""
        sets = published.datasets
        return Counts(
            records=published.records,
            items=len(set().union(*(one.vocabulary for one in sets))),
            occurrences=sum(one.occurrences for one in sets),
            empty_records=sum(one.empty_records for one in sets),
        )


_BY_KIND: dict[type, Form] = {
    form.kind: form for form in (PlainForm(), GeneralizedForm(), GroupedForm(), DisassociatedForm(), NeighboursForm())
}


def form_of(kind: type) -> Form:
    """Return the form of a kind of data, such as that of a method."""
    return _BY_KIND[kind]


def form_named(name: str, *, file: str) -> Form:
    """Return the form that a card names."""
    if name not in FORMS:
        raise BadData(f"names the form {name!r}; known are: {', '.join(FORMS)}", file=file)
    return _BY_KIND[FORMS[name]]


def arranged(
    data: Transactions, made: Transactions, rows: np.ndarray[Any, np.dtype[np.int64]], ids: Ids, randomness: Randomness
) -> tuple[Transactions, Alignment]:
    """Put plain records in an order that tells nothing, under the names they will carry."""
    if ids == "drop":
        plain = made.with_ids(None).compacted()
        order = plain.content_order()
        return plain.take(order), Alignment(rows[order])
    if ids == "pseudonym":
        # One a row, a record's rows one after another: where every record has one row, that is a pseudonym a record.
        place = np.empty(len(rows), dtype=np.int64)
        place[np.argsort(rows, kind="stable")] = np.arange(len(rows))
        names = randomness.pseudonyms(len(rows)).take(place)
    elif len(np.unique(rows)) < len(rows):
        raise BadParameter(
            "the method makes several rows of one record, and two rows cannot carry the same id; "
            "publish with --ids pseudonym, which gives each row its own, or with --ids drop"
        )
    else:
        names = data.ids.take(rows)
    order = np.asarray(pc.array_sort_indices(names), dtype=np.int64)
    originals = data.names().take(rows[order])
    published = made.take(order, ids=names.take(order)).compacted()
    return published, Alignment(rows[order], published.ids, originals)
