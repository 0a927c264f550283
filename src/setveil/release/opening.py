"""Opening a release folder: its files must be those that the card describes."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING

from setveil import __version__
from setveil.catalog import FORMS
from setveil.data.disassociated import Disassociated
from setveil.data.disassociated_files import STATED, DisassociatedFiles, looks_disassociated
from setveil.data.formats import FORMATS, Layout, format_named, format_of
from setveil.data.records.transactions import Transactions
from setveil.errors import BadData
from setveil.release.card import CARD_NAME, Card, Counts, file_sha256
from setveil.release.forms import form_named, form_of

if TYPE_CHECKING:
    from setveil.data.published import Published


@dataclass(frozen=True, eq=False)
class Opened:
    """A release folder, read and its checksum verified."""

    folder: Path
    card: Card | None
    """None for a bare data file."""
    data: Published

    @property
    def plain(self) -> Transactions | None:
        """The rows as plain records, where the form has such."""
        return form_of(type(self.data)).plain(self.data)


def open_release(folder: str | Path) -> Opened:
    """Read a release folder; its files must be those that the card describes."""
    place = Path(folder)
    if not place.is_dir():
        raise BadData("is not a release folder" if place.exists() else "there is no such folder", file=str(place))
    card = Card.load(place)
    kind = form_named(card.form, file=str(place / CARD_NAME))
    _refuse_other_file(place, card.data.file, card.data.sha256, "data file")
    kind.refuse_other_files(tuple(one.file for one in card.data.beside), card.data.file, card=str(place / CARD_NAME))
    for one in card.data.beside:
        _refuse_other_file(place, one.file, one.sha256, "file")
    form = kind.format_named(card.data.format)
    if card.data.layout.keys() - {entry.name for entry in fields(Layout)} or card.data.format_version != form.version:
        raise BadData(
            f"describes a layout of {form.name!r} that setveil {__version__} does not read", file=str(place / CARD_NAME)
        )
    layout = Layout(**card.data.layout)  # type: ignore[arg-type]  # the card says which are texts
    data = kind.read(place, card.data.file, form, layout, card.unit)
    _refuse_other_counts(place, card, kind.counts(data))
    if isinstance(data, Disassociated):  # a table does not say what it keeps, and the card does
        told = {name: card.method.parameters.get(name) for name in STATED}
        data = replace(data, stated={name: value for name, value in told.items() if isinstance(value, int)})
    return Opened(place, card, data)


def _refuse_other_file(place: Path, name: str, sha256: str, what: str) -> None:
    """Refuse a file that is not in the folder, or not the one that the card describes."""
    path = place / name
    if path.parent != place or not path.is_file():
        raise BadData(f"lacks the {what} {name!r} that its card names", file=str(place))
    if file_sha256(path) != sha256:
        raise BadData("is not the file that the card describes: its sha256 differs", file=str(path))


def _refuse_other_counts(place: Path, card: Card, counts: Counts) -> None:
    """Refuse a card that counts what is not in the data."""
    stated = {name: getattr(card.counts, name) for name in Counts.model_fields}
    there = {name: getattr(counts, name) for name in Counts.model_fields}
    reach = card.guarantee.reach
    if reach is not None and reach.unit == "records":
        stated["records in reach"], there["records in reach"] = reach.total, counts.records
    for name, number in stated.items():
        if number != there[name]:
            raise BadData(
                f"counts {number:,} {name.replace('_', ' ')}, and {card.data.file} has {there[name]:,}: the card or the data file was "
                "changed; use both as they were published",
                file=str(place / CARD_NAME),
            )


def open_file(path: Path, format_name: str | None, layout: Layout, takes: tuple[type, ...] = (Transactions,)) -> Opened:
    """Read a bare data file, of which nothing is known but what a guarantee takes."""
    if format_name is None and looks_disassociated(path):
        format_name = DisassociatedFiles.name
    if format_name is None and Transactions in takes:
        return Opened(path, None, format_of(path, layout, option="--release-format").read(path, layout))
    own = {name: form for kind in FORMS.values() for name, form in form_of(kind).formats.items() if name not in FORMATS}
    if format_name is None:  # the guarantee speaks of no plain records, and every other form has one format
        format_name = next(name for kind in takes for name in form_of(kind).formats)
    form = own.get(format_name) or format_named(format_name)
    return Opened(path, None, form.read(path, layout))
