"""The documents of a release folder that state its card in other words: a page for people and a Data Package for programs.

They are written from the card alone, so they hold nothing that the card does not. The card names them with their checksums.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from setveil.errors import BadData
from setveil.release.card import CARD_NAME, Card, FileBeside
from setveil.release.card_text import card_text
from setveil.release.data_package import data_package

if TYPE_CHECKING:
    from pathlib import Path

TEXTS: Final = {"CARD.md": card_text, "datapackage.json": data_package}
"""How each document is written."""


def write_card(card: Card, folder: Path) -> Card:
    """Write the documents and the card that names them into a release folder, and return this card."""
    named = []
    for name, text in TEXTS.items():
        (folder / name).write_bytes(text(card).encode())
        named.append(FileBeside.of(folder / name))
    complete = card.model_copy(update={"documents": tuple(named)})
    (folder / CARD_NAME).write_bytes(complete.to_json().encode())
    return complete


def refuse_other_documents(card: Card, *, file: str) -> None:
    """Refuse a card that names other documents than a card of its version has."""
    wanted = [*TEXTS] if card.card_version >= 3 else []
    if [one.file for one in card.documents] != wanted:
        raise BadData(
            f"lists wrong documents; a card of version {card.card_version} has: {', '.join(wanted) or 'none'}",
            file=file,
        )
