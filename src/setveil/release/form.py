"""What a release asks of a form in which data are published; `forms.py` holds the forms themselves."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol

from setveil.catalog import FORMS
from setveil.data.disassociated import Disassociated
from setveil.data.grouped import Grouped
from setveil.data.published import form_in_words
from setveil.data.records.alignment import Alignment
from setveil.data.records.transactions import Transactions
from setveil.errors import BadData, UnknownName
from setveil.release.card import Counts
from setveil.release.truthfulness import Untrue

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from setveil.data.formats import Layout
    from setveil.data.published import Published
    from setveil.data.records.transactions import Unit
    from setveil.methods.base import Outcome
    from setveil.release.seed import Randomness
    from setveil.release.truthfulness import Aligned

Ids = Literal["pseudonym", "keep", "drop"]


class DataFormat(Protocol):
    """What a release needs to know of the format of its data file."""

    name: ClassVar[str]
    extensions: ClassVar[tuple[str, ...]]
    version: ClassVar[int]
    ids: ClassVar[Literal["none", "optional", "required"]]
    holds_empty_records: ClassVar[bool]

    def packable(self, extension: str) -> bool:
        """Tell whether a file with that ending can be packed."""

    def holds_ids(self, layout: Layout) -> bool:
        """Tell whether a file of that layout has a place for ids."""

    def public_layout(self, data: Any, layout: Layout) -> dict[str, str | bool]:
        """Return what a reader needs to know beside the format's name."""

    def read(self, path: Path, layout: Layout) -> Any:
        """Read a file."""

    def write(self, data: Any, path: Path, layout: Layout) -> None:
        """Write a file."""


class Form(ABC):
    """A form in which data are published, as a release handles it."""

    kind: ClassVar[type]
    about: ClassVar[str]
    """What a release of this form is, for the report."""
    formats: ClassVar[Mapping[str, DataFormat]]
    beside: ClassVar[tuple[str, ...]] = ()
    """The files that stand beside the data file."""
    counts_rows: ClassVar[bool] = False
    """Whether it says something of the number of rows, so that no two rows may come from one record."""

    @property
    def name(self) -> str:
        """The name on the card."""
        return next(name for name, kind in FORMS.items() if kind is self.kind)

    def format_named(self, name: str) -> DataFormat:
        """Return one of the formats that this form is written in."""
        if name not in self.formats:
            of_form = "" if self.kind is Transactions else f" of {form_in_words(self.kind)}"
            raise UnknownName("format" + of_form, name, self.formats)
        return self.formats[name]

    def first_file(self, name: str) -> str:
        """Return the name of the data file, or of the first one where a form has several."""
        return name

    def files_beside(self, published: Any, file: str) -> tuple[str, ...]:
        """Return the files that stand beside the data file of a release."""
        del published, file
        return self.beside

    def refuse_other_files(self, names: tuple[str, ...], first: str, *, card: str) -> None:
        """Refuse a card that names other files beside the data file than a release of this form has."""
        del first
        if set(names) != set(self.beside):
            wanted = ", ".join(self.beside) or "none"
            raise BadData(f"names other files beside the data than a release of this form has: {wanted}", file=card)

    def default_format(self, ids: Ids) -> str:
        """Return the format of a release that nobody chose one for."""
        return "basket" if ids == "drop" else "long"

    def refuse_ids(self, ids: Ids) -> None:  # noqa: B027 - most forms refuse nothing
        """Refuse what cannot become of ids."""

    @abstractmethod
    def arrange(
        self, data: Transactions, outcome: Outcome, ids: Ids, randomness: Randomness
    ) -> tuple[Published, Alignment]:
        """Put the rows in an order that tells nothing, under the names they will carry, and note where each came from."""

    @abstractmethod
    def countable(self, published: Any) -> Transactions | Grouped | Disassociated:
        """Return what tells records, items and how often they occur."""

    @abstractmethod
    def find_untrue(self, published: Any, aligned: Aligned, *, whole: bool) -> Untrue:
        """Return what is not so of the records behind the release; if `whole`, nothing of them may be left out either."""

    def labels(self, published: Any) -> tuple[str, ...]:
        """Return every name that the release shows, in the data or beside them."""
        return self.countable(published).vocabulary

    def plain(self, published: Any) -> Transactions | None:
        """Return the rows as plain records, where the form has such."""
        found = self.countable(published)
        return found if isinstance(found, Transactions) else None

    def write(self, published: Any, folder: Path, file: str, form: DataFormat, layout: Layout) -> None:
        """Write the data file, and what stands beside it."""
        form.write(published, folder / file, layout)

    def read(self, folder: Path, file: str, form: DataFormat, layout: Layout, unit: Unit) -> Any:
        """Read what `write` wrote."""
        del self
        return form.read(folder / file, layout).with_unit(unit)

    def counts(self, published: Any) -> Counts:
        """Count what the card tells."""
        found = self.countable(published)
        return Counts(
            records=found.records,
            items=len(found.vocabulary),
            occurrences=found.occurrences,
            empty_records=found.empty_records,
        )
