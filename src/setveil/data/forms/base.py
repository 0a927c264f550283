"""The base class of published forms: data that a method makes and a release holds.

Each form is a module of this package. It defines how its data are counted, sorted, written, read and compared with the original. Other code
calls these methods and never checks which form the data have (docs/decisions/0029).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, Self

import numpy as np

from setveil.errors import BadData, BadParameter, UnknownName

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from setveil.data.formats import Layout
    from setveil.data.forms.comparing import Aligned, Untrue
    from setveil.data.forms.own_format import DataFormat
    from setveil.data.forms.pair_supports import PairSupports
    from setveil.data.forms.sightings import Sightings
    from setveil.data.forms.views import View
    from setveil.data.records.alignment import Alignment
    from setveil.data.records.transactions import Transactions, Unit

Ids = Literal["pseudonym", "keep", "drop"]
"""How a release treats the ids of records."""


@dataclass(frozen=True)
class Counts:
    """Counts of the release, not of the original."""

    __pydantic_config__: ClassVar[dict[str, str]] = {"extra": "forbid"}

    records: int
    items: int
    occurrences: int
    empty_records: int


class Naming(NamedTuple):
    """The ids of released rows."""

    ids: Ids
    original: Any
    """The data that the release is made from, with their ids."""
    pseudonyms: Callable[[int], Any]
    """Returns the requested number of pseudonyms."""


class DataPlace(NamedTuple):
    """The place and the format of the data file of a release."""

    folder: Path
    file: str
    """The data file, or the first of several."""
    format: DataFormat
    layout: Layout
    further: tuple[str, ...] = ()
    """The further files."""

    @property
    def path(self) -> Path:
        """The data file, or the first of several."""
        return self.folder / self.file


class Changes(NamedTuple):
    """How rows differ from their original records."""

    records: int
    """The number of original records without a row or with a different row."""
    untrue: int
    """The number of released occurrences that are not in their record."""


class Form:
    """Properties of a published form that metrics and guarantees use."""

    form_title: ClassVar[str]
    """The name of the form for people, such as `grouped data`."""
    sets_of: ClassVar[type | None] = None
    """The form of each set, if data of this form are several sets."""
    has_support_bounds: ClassVar[bool] = False
    """Whether itemsets have bounds of support (`mining.support_bounds`) instead of an exact support."""

    if TYPE_CHECKING:

        @property
        def records(self) -> int:
            """The number of records."""


class Published(Form, ABC):
    """Data in a published form. A new form overrides the defaults of this class."""

    form_name: ClassVar[str]
    """The name on the card."""
    about_form: ClassVar[str]
    """A description of the form, for the report."""
    beside: ClassVar[tuple[str, ...]] = ()
    """The further files of a release besides the data file."""
    schemas_beside: ClassVar[Mapping[str, Any]] = MappingProxyType({})
    """The Table Schema of each further file."""
    can_be_divided: ClassVar[bool] = False
    """Whether several files can hold the rows."""
    why_nameless: ClassVar[str] = ""
    """Why rows cannot have ids; empty if they can."""
    rows_are_records: ClassVar[bool] = False
    """Whether each row is a record of the original, possibly changed."""
    counts_rows: ClassVar[bool] = False
    """Whether the number of rows is meaningful, so that no two rows may come from the same record."""
    made_from: ClassVar[type[Published] | None] = None
    """The form of the data that this form is made from; None for plain records."""
    as_input: ClassVar[str] = "the original"
    """The name of data of this form as the input of a release."""
    less_exactly: ClassVar[str] = ""
    """The text for occurrences that the form shows less exactly."""

    if TYPE_CHECKING:  # fields in some forms, which a property would hide

        @property
        def vocabulary(self) -> tuple[str, ...]:
            """The labels that occur."""

        @property
        def labels(self) -> Any:
            """The vocabulary as an Arrow column."""

        @property
        def supports(self) -> NDArray[np.int64]:
            """The number of records that hold each item, as far as the form shows it."""

        @property
        def occurrences(self) -> int:
            """The number of occurrences, as far as the form shows it."""

        @property
        def empty_records(self) -> int:
            """The number of empty records, as far as the form shows it."""

        @property
        def unit(self) -> Unit:
            """`person` if every person has exactly one record, `record` otherwise."""

        def with_unit(self, unit: Unit) -> Self:
            """Return the same data with another unit."""

    # -- queries --------------------------------------------------------------------------------------------------------------

    @property
    def plain(self) -> Transactions | None:
        """The rows as plain records; None if a row is not a whole record, or if there are several sets."""
        return None

    @property
    def why_not_plain(self) -> str:
        """What the data are instead of plain records, and what to do about it."""
        return f"{self.form_title}, which cannot be read as plain records"

    def as_records(self) -> Transactions:
        """Return the rows as plain records, or raise `BadParameter` if the form has none."""
        if self.plain is None:
            raise BadParameter(f"these are {self.why_not_plain}")
        return self.plain

    @property
    def sets(self) -> tuple[Published, ...]:
        """The complete sets in the release, usually one."""
        return (self,)

    @property
    def lengths_shown(self) -> NDArray[np.int64] | None:
        """The number of items of each record, or None if the form does not show it."""
        return None

    @property
    def row_parts(self) -> Transactions | None:
        """The rows, each a record or a part of one; None if the form has none."""
        return self.plain

    @property
    def aligned_rows(self) -> Transactions | None:
        """The rows that an alignment numbers, each a record or a part of one; None if it numbers the records of groups instead."""
        return self.plain if self.rows_are_records else None

    @property
    def sizes_drawn(self) -> dict[str, NDArray[np.int64]]:
        """Sizes whose distribution the report shows, by name."""
        return {}

    @property
    def labels_shown(self) -> tuple[str, ...]:
        """All labels that a release shows, in the data file or in further files."""
        return self.vocabulary

    def totals(self) -> Counts:
        """Return the counts for the card."""
        return Counts(self.records, len(self.vocabulary), self.occurrences, self.empty_records)

    def checksum(self) -> str | None:
        """Return a hash of the content; None for a form from which no release is made."""
        return None

    def pair_supports(self, labels: Sequence[str]) -> PairSupports:
        """Return the expected number of records that hold each of some items, and each pair of them; 0 for unknown items."""
        return self.as_records().pair_supports(labels)

    # -- releasing ------------------------------------------------------------------------------------------------------------

    @classmethod
    def refuse_ids(cls, ids: Ids) -> None:
        """Refuse a treatment of ids that the form does not allow."""
        if cls.why_nameless and ids != "drop":
            raise BadParameter(f"ids is {ids!r}; {cls.why_nameless}: allowed is drop")

    @abstractmethod
    def arrange(self, rows: NDArray[np.int64], naming: Naming) -> tuple[Self, Alignment]:
        """Sort the data into an order that reveals nothing and give rows their ids; `rows` is the record of each row."""

    def with_stated(self, parameters: Mapping[str, Any]) -> Self:
        """Return the same data with the parameters on the card, if the form keeps them."""
        del parameters
        return self

    # -- files ----------------------------------------------------------------------------------------------------------------

    @classmethod
    @abstractmethod
    def formats(cls) -> Mapping[str, DataFormat]:
        """Return the formats of the data file by name."""

    @classmethod
    def format_named(cls, name: str) -> DataFormat:
        """Return the format with this name."""
        formats = cls.formats()
        if name not in formats:
            raise UnknownName(cls._formats_text(), name, formats)
        return formats[name]

    @classmethod
    def _formats_text(cls) -> str:
        return f"format of {cls.form_title}"

    @classmethod
    def default_format(cls, ids: Ids) -> str:
        """Return the name of the default format of a release."""
        del ids
        return next(iter(cls.formats()))

    @classmethod
    def claims(cls, path: Path, format_name: str | None) -> bool:
        """Return whether a file holds data of this form, by the given format or by its first bytes."""
        del path, format_name
        return False

    def files(self, name: str, most: int | None = None) -> tuple[str, ...]:
        """Return the files of a release: the data file, or the first of several, and then the further files.

        `name` is the name of a data file that is not divided, and `most` the largest number of rows of a file.
        """
        del most
        return (name, *self.beside)

    @classmethod
    def refuse_other_files(cls, names: tuple[str, ...], first: str, *, card: str) -> None:
        """Refuse a card that lists other further files than a release of this form has."""
        del first
        cls._refuse_unless(set(names) == set(cls.beside), cls.beside, card)

    @staticmethod
    def _refuse_unless(fits: bool, wanted: tuple[str, ...], card: str) -> None:
        if not fits:
            listed = ", ".join(wanted) or "none"
            raise BadData(f"lists wrong files besides the data file; a release of this form has: {listed}", file=card)

    def public_layout(self, place: DataPlace) -> dict[str, str | bool]:
        """Return the layout that a reader of the data file needs to know, besides the name of its format."""
        return place.format.public_layout(self, place.layout)

    def write_to(self, place: DataPlace) -> None:
        """Write the data file and the further files."""
        place.format.write(self, place.path, place.layout)

    @classmethod
    def read_from(cls, place: DataPlace, unit: Unit) -> Self:
        """Read files that `write_to` wrote."""
        found: Self = place.format.read(place.path, place.layout).with_unit(unit)
        return found

    # -- comparing ------------------------------------------------------------------------------------------------------------

    @abstractmethod
    def find_untrue(self, aligned: Aligned, *, whole: bool) -> Untrue:
        """Return statements of the release that are not true of its records; if `whole`, omissions count too."""

    def shown_of(self, original: Published, alignment: Alignment) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return for each item of the original how often the release shows it exactly, and how often less exactly."""
        del alignment
        return original.in_own_order(self.vocabulary, self.supports), np.zeros(len(original.vocabulary), np.int64)

    def changes(self, original: Published, alignment: Alignment) -> Changes | None:
        """Count changed records and untrue occurrences; None if a row is not a record."""
        del original, alignment
        return None

    @abstractmethod
    def views(self, original: Transactions, alignment: Alignment, records: Sequence[int]) -> Iterable[View]:
        """Return what a recipient sees of some original records, with the changes marked, in the order of the records."""

    def sightings(self, items: Sequence[str]) -> Sightings:
        """Return where an attacker who knows items of the original looks for them."""
        from setveil.data.forms.sightings import Sightings  # noqa: PLC0415 - only attacks need it

        if self.row_parts is None:
            raise BadParameter(f"these are {self.why_not_plain}")
        return Sightings.in_rows(self.row_parts, ((item,) for item in items))

    def pieces(self, occurrences: int) -> Iterator[tuple[int, Self]]:
        """Yield the release in pieces of about this number of occurrences, in order, each with the number of its first row.

        A piece has the rows and parts of some records, without ids. By default, it is the whole release.
        """
        del occurrences
        yield 0, self

    def in_own_order(self, labels: tuple[str, ...], numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return numbers given by label in the order of the own vocabulary, 0 for missing labels; other labels are ignored."""
        number_of = dict(zip(labels, numbers.tolist(), strict=True))
        return np.array([number_of.get(label, 0) for label in self.vocabulary], dtype=np.int64)
