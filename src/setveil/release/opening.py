"""Open a release folder and verify that its files are those that the card describes."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING

from setveil import __version__
from setveil.base.progress import note
from setveil.catalog import FORMS, own_format_of
from setveil.data.files.packing import opened_once
from setveil.data.formats import FORMATS, Layout
from setveil.data.forms.base import DataPlace
from setveil.data.reading.detection import reading_of
from setveil.data.records.transactions import Transactions
from setveil.errors import BadData
from setveil.release.card import CARD_NAME, Card, file_sha256
from setveil.release.documents import refuse_other_documents
from setveil.release.object_store import StoredFolder, is_address

if TYPE_CHECKING:
    from setveil.data.forms.base import Counts, Published


@dataclass(frozen=True, eq=False)
class Opened:
    """A release that was read and whose checksums were verified; `open_release` returns it.

    Attributes
    ----------
    folder
        The release folder, or the data file if it has no card.
    card
        The public card; None for a data file without a card.
    data
        The released data, in their published form.

    Examples
    --------
    >>> import setveil as sv
    >>> baskets = [["milk", "tea"], ["milk", "tea"], ["milk", "wine"], ["milk", "wine"]]
    >>> release = sv.publish(baskets, sv.Disassociation(k=2, m=1), out="release")
    >>> opened = sv.open_release("release")
    >>> opened.card.guarantee.name
    'km-anonymity'
    """

    folder: Path
    card: Card | None
    data: Published

    @property
    def plain(self) -> Transactions | None:
        """The rows as plain records; None if the form has none."""
        return self.data.plain


def open_release(folder: str | Path) -> Opened:
    """Read a release folder and verify its files.

    The checksums and counts of the files must be those on the card. The guarantee is not checked: use `check`.

    Parameters
    ----------
    folder
        The release folder, or its address in an object store, such as `s3://bucket/release`.

    Returns
    -------
    Opened
        The folder, the card and the data.

    Raises
    ------
    BadData
        If the folder is not a release, or a file is not the one that the card describes.

    Examples
    --------
    >>> import setveil as sv
    >>> baskets = [["milk", "tea"], ["milk", "tea"], ["milk", "wine"], ["milk", "wine"]]
    >>> release = sv.publish(baskets, sv.Disassociation(k=2, m=1), out="release")
    >>> sv.open_release("release").data.records
    4
    """
    place = StoredFolder(str(folder)).fetch() if is_address(folder) else Path(folder)
    if not place.is_dir():
        raise BadData("is not a release folder" if place.exists() else "there is no such folder", file=str(place))
    card = Card.load(place)
    form = form_named(card.form, file=str(place / CARD_NAME))
    _refuse_other_file(place, card.data.file, card.data.sha256, "data file")
    further = tuple(one.file for one in card.data.beside)
    form.refuse_other_files(further, card.data.file, card=str(place / CARD_NAME))
    for one in card.data.beside:
        _refuse_other_file(place, one.file, one.sha256, "file")
    refuse_other_documents(card, file=str(place / CARD_NAME))
    for one in card.documents:
        _refuse_other_file(place, one.file, one.sha256, "document")
    file_format = form.format_named(card.data.format)
    if (
        card.data.layout.keys() - {entry.name for entry in fields(Layout)}
        or card.data.format_version != file_format.version
    ):
        raise BadData(
            f"describes a layout of {file_format.name!r} that setveil {__version__} does not read",
            file=str(place / CARD_NAME),
        )
    layout = Layout(**card.data.layout)  # type: ignore[arg-type]  # the card determines which are texts
    data = form.read_from(DataPlace(place, card.data.file, file_format, layout, further), card.unit)
    _refuse_other_counts(place, card, data.totals())
    return Opened(place, card, data.with_stated(card.method.parameters))


def form_named(name: str, *, file: str) -> type[Published]:
    """Return the form that a card names."""
    if name not in FORMS:
        raise BadData(f"names the form {name!r}; known are: {', '.join(FORMS)}", file=file)
    return FORMS[name]


def _refuse_other_file(place: Path, name: str, sha256: str, what: str) -> None:
    """Refuse a missing file, or a file other than the one that the card describes."""
    path = place / name
    if path.parent != place or not path.is_file():
        raise BadData(f"lacks the {what} {name!r} that its card names", file=str(place))
    if file_sha256(path) != sha256:
        raise BadData("is not the file that the card describes: its sha256 differs", file=str(path))


def _refuse_other_counts(place: Path, card: Card, counts: Counts) -> None:
    """Refuse a card whose counts differ from the data."""
    stated, there = asdict(card.counts), asdict(counts)
    reach = card.guarantee.reach
    if reach is not None and reach.unit == "records":
        stated["records in reach"], there["records in reach"] = reach.total, counts.records
    for name, number in stated.items():
        if number != there[name]:
            raise BadData(
                f"counts {number:,} {name.replace('_', ' ')}, but {card.data.file} has {there[name]:,}: the card or the data file was "
                "changed; use both as they were published",
                file=str(place / CARD_NAME),
            )


def open_file(
    path: Path, format_name: str | None, layout: Layout, takes: tuple[type[Published], ...] = (Transactions,)
) -> Opened:
    """Read a data file without a card; `takes` lists the forms that the guarantee to check applies to."""
    found = own_format_of(path, format_name)
    named = {name: one for form in FORMS.values() for name, one in form.formats().items()}
    if found is None and format_name in named.keys() - FORMATS.keys():
        found = named[format_name]
    elif found is None and (format_name is not None or Transactions in takes):
        with opened_once(path):
            reading = reading_of(path, format_name, layout, argument="release_format")
            if reading.note:
                note(reading.note)
            return Opened(path, None, reading.form.read(path, reading.layout))
    elif found is None:  # the guarantee does not apply to plain records, and every other form has one format
        found = next(one for form in takes for one in form.formats().values())
    return Opened(path, None, found.read(path, layout))
