"""What a published form is: data that a method makes and a release holds.

Each form is one module of this package. It knows how its data are counted, put in order, written and read, and compared with the original.
All other code asks the data and never which form they have (docs/decisions/0029).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, Self

import numpy as np

from setveil.errors import BadData, BadParameter, UnknownName

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from numpy.typing import NDArray

    from setveil.data.formats import Layout
    from setveil.data.forms.comparing import Aligned, Untrue
    from setveil.data.forms.own_format import DataFormat
    from setveil.data.records.alignment import Alignment
    from setveil.data.records.transactions import Transactions, Unit

Ids = Literal["pseudonym", "keep", "drop"]
"""What becomes of the ids of records."""


@dataclass(frozen=True)
class Counts:
    """Counts of the release itself; none of the original."""

    __pydantic_config__: ClassVar[dict[str, str]] = {"extra": "forbid"}

    records: int
    items: int
    occurrences: int
    empty_records: int


class Naming(NamedTuple):
    """Which names released rows carry."""

    ids: Ids
    original: Any
    """The data that the release is made from, which hold the ids."""
    pseudonyms: Callable[[int], Any]
    """Gives as many pseudonyms as asked for."""


class DataPlace(NamedTuple):
    """Where the data file of a release is, and how it is written."""

    folder: Path
    file: str
    format: DataFormat
    layout: Layout

    @property
    def path(self) -> Path:
        """The data file."""
        return self.folder / self.file


class Changes(NamedTuple):
    """How rows differ from the records that they came from."""

    records: int
    """Original records that have no row, or one that differs."""
    untrue: int
    """Released occurrences that are not true of their record."""


class Form:
    """What metrics and guarantees ask of any published form, by its type."""

    form_in_words: ClassVar[str]
    """What people call data of this form, such as `grouped data`."""
    sets_of: ClassVar[type | None] = None
    """The form of each set, where data of this form are several sets."""
    has_support_bounds: ClassVar[bool] = False
    """Whether an itemset has bounds of its support (`mining.support_bounds`) and not one support."""

    if TYPE_CHECKING:

        @property
        def records(self) -> int:
            """The number of records."""


class Published(Form, ABC):
    """Data in a published form. A new form says what differs from the defaults of this class."""

    form_name: ClassVar[str]
    """The name on the card."""
    about_form: ClassVar[str]
    """What a release of this form is, for the report."""
    beside: ClassVar[tuple[str, ...]] = ()
    """The files that stand beside the data file."""
    why_nameless: ClassVar[str] = ""
    """Why rows can carry no ids, where that is so."""
    rows_are_records: ClassVar[bool] = False
    """Whether each row is a record of the original, perhaps changed."""
    counts_rows: ClassVar[bool] = False
    """Whether the number of rows says something, so that no two rows may come from one record."""
    made_from: ClassVar[type[Published] | None] = None
    """The form of the release that data of this form are made from; None where they are made from records."""
    as_input: ClassVar[str] = "the original"
    """What people call data of this form where a release is made from them."""
    less_exactly: ClassVar[str] = ""
    """How the form names what it does not show as it was."""

    if TYPE_CHECKING:  # of some forms these are fields, which a property would hide

        @property
        def vocabulary(self) -> tuple[str, ...]:
            """The labels that occur."""

        @property
        def labels(self) -> Any:
            """The vocabulary as an Arrow column."""

        @property
        def supports(self) -> NDArray[np.int64]:
            """In how many records each item of the vocabulary is, as far as the form shows it."""

        @property
        def occurrences(self) -> int:
            """The number of items in all records together, as far as the form shows it."""

        @property
        def empty_records(self) -> int:
            """The number of records without an item, as far as the form shows it."""

        @property
        def unit(self) -> Unit:
            """Whether a record is a person or one record of several."""

        def with_unit(self, unit: Unit) -> Self:
            """Return the same data, their records said to be one per person (`person`) or not (`record`)."""

    # -- looking --------------------------------------------------------------------------------------------------------------

    @property
    def plain(self) -> Transactions | None:
        """The rows as plain records; None where a row is no whole record, or where there are several sets of rows."""
        return None

    @property
    def why_not_plain(self) -> str:
        """What the data are instead of plain records, and what can be done about it."""
        return f"{self.form_in_words}, of which plain records cannot be made"

    def as_records(self) -> Transactions:
        """Return the rows as plain records, or refuse data that have none."""
        if self.plain is None:
            raise BadParameter(f"these are {self.why_not_plain}")
        return self.plain

    @property
    def sets(self) -> tuple[Published, ...]:
        """The sets that are published side by side, each complete: mostly one."""
        return (self,)

    @property
    def lengths_shown(self) -> NDArray[np.int64] | None:
        """The number of items of each record, where the form shows it."""
        return None

    @property
    def row_parts(self) -> Transactions | None:
        """The rows, each of them a record or a part of one, where the form has such."""
        return self.plain

    @property
    def sizes_drawn(self) -> dict[str, NDArray[np.int64]]:
        """Sizes whose distribution the report draws, by their name there."""
        return {}

    @property
    def labels_shown(self) -> tuple[str, ...]:
        """Every label that a release shows, in the data or beside them."""
        return self.vocabulary

    def totals(self) -> Counts:
        """Count what the card reports."""
        return Counts(self.records, len(self.vocabulary), self.occurrences, self.empty_records)

    def checksum(self) -> str | None:
        """Return a hash of the content; None of a form that no release is made from."""
        return None

    # -- releasing ------------------------------------------------------------------------------------------------------------

    @classmethod
    def refuse_ids(cls, ids: Ids) -> None:
        """Refuse what cannot become of ids."""
        if cls.why_nameless and ids != "drop":
            raise BadParameter(f"ids is {ids!r}; {cls.why_nameless}: allowed is drop")

    @abstractmethod
    def arrange(self, rows: NDArray[np.int64], naming: Naming) -> tuple[Self, Alignment]:
        """Put the data in an order that reveals nothing, under the names that rows will carry; `rows` is the record of each row."""

    def with_stated(self, parameters: Mapping[str, Any]) -> Self:
        """Return the same data with what the card says of their making, where the form keeps that."""
        del parameters
        return self

    # -- files ----------------------------------------------------------------------------------------------------------------

    @classmethod
    @abstractmethod
    def formats(cls) -> Mapping[str, DataFormat]:
        """Return the formats of the data file by name."""

    @classmethod
    def format_named(cls, name: str) -> DataFormat:
        """Return one of the formats."""
        formats = cls.formats()
        if name not in formats:
            raise UnknownName(cls._formats_in_words(), name, formats)
        return formats[name]

    @classmethod
    def _formats_in_words(cls) -> str:
        return f"format of {cls.form_in_words}"

    @classmethod
    def default_format(cls, ids: Ids) -> str:
        """Return the name of the format of a release for which nobody chose one."""
        del ids
        return next(iter(cls.formats()))

    @classmethod
    def claims(cls, path: Path, format_name: str | None) -> bool:
        """Return whether a bare file holds data of this form, by the format that was named or else by how it begins."""
        del path, format_name
        return False

    @classmethod
    def first_file(cls, name: str) -> str:
        """Return the name of the data file, or of the first one where there are several."""
        return name

    def files_beside(self, file: str) -> tuple[str, ...]:
        """Return the files that stand beside the data file of a release."""
        del file
        return self.beside

    @classmethod
    def refuse_other_files(cls, names: tuple[str, ...], first: str, *, card: str) -> None:
        """Refuse a card that names other files beside the data file than a release of this form has."""
        del first
        cls._refuse_unless(set(names) == set(cls.beside), cls.beside, card)

    @staticmethod
    def _refuse_unless(fits: bool, wanted: tuple[str, ...], card: str) -> None:
        if not fits:
            listed = ", ".join(wanted) or "none"
            raise BadData(f"names other files beside the data than a release of this form has: {listed}", file=card)

    def public_layout(self, place: DataPlace) -> dict[str, str | bool]:
        """Return what a reader of the data file needs to know beside the name of its format."""
        return place.format.public_layout(self, place.layout)

    def write_to(self, place: DataPlace) -> None:
        """Write the data file, and what stands beside it."""
        place.format.write(self, place.path, place.layout)

    @classmethod
    def read_from(cls, place: DataPlace, unit: Unit) -> Self:
        """Read what `write_to` wrote."""
        found: Self = place.format.read(place.path, place.layout).with_unit(unit)
        return found

    # -- comparing ------------------------------------------------------------------------------------------------------------

    @abstractmethod
    def find_untrue(self, aligned: Aligned, *, whole: bool) -> Untrue:
        """Return what is not so of the records behind the release; if `whole`, nothing of them may be left out either."""

    def shown_of(self, original: Published, alignment: Alignment) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return for each item of the original how often the release shows it, and for how many more occurrences it says less."""
        del alignment
        return original.in_own_order(self.vocabulary, self.supports), np.zeros(len(original.vocabulary), np.int64)

    def changes(self, original: Published, alignment: Alignment) -> Changes | None:
        """Count changed records and untrue occurrences; None where a row is not one record."""
        del original, alignment
        return None

    def in_own_order(self, labels: tuple[str, ...], numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return numbers of labels as numbers of the own items; labels that do not occur here are left out."""
        number_of = dict(zip(labels, numbers.tolist(), strict=True))
        return np.array([number_of.get(label, 0) for label in self.vocabulary], dtype=np.int64)
