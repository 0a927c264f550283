"""Release folders in object stores, such as `s3://bucket/release`, where several files cannot appear at once.

The card is written last and removed first: a folder without a card is not a release. Each file is read back and compared before the card is
written.
"""

from __future__ import annotations

import hashlib
import json
import re
import tempfile
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from setveil.base import progress
from setveil.base.atomic import EXISTS
from setveil.engines.scratch import TemporaryFolder
from setveil.errors import BadData, OutputRefused, SetveilError
from setveil.release import CARD_NAME

if TYPE_CHECKING:
    from collections.abc import Iterator

    from setveil.release.card import Card

_ADDRESS = re.compile(r"(?:s3|gs|gcs|abfs|abfss)://", re.IGNORECASE)
_PIECE = 1 << 22
_LIST = "unfinished-upload.json"
"""The names of the files of a release that is being written. It is removed when the card is there."""
_fetched: list[TemporaryFolder] = []
"""Folders with the files of releases that were opened; they are removed when the process ends."""


def is_address(place: object) -> bool:
    """Return whether a place is in an object store."""
    return isinstance(place, str) and _ADDRESS.match(place) is not None


def files_beside(card: Card) -> list[str]:
    """Return the names of the files of a release besides the card."""
    return [*card.data.checksums, *(one.file for one in card.documents)]


class StoredFolder:
    """A release folder in an object store."""

    def __init__(self, address: str) -> None:
        from pyarrow import fs  # noqa: PLC0415 - only object stores need it

        self.address = address
        with self._failing("cannot be used", OutputRefused):
            self._system, path = fs.FileSystem.from_uri(address)
        self._path = path.rstrip("/")
        self._folder: Path | None = None
        """Where the release is that is being uploaded."""
        self._names: list[str] = []
        if "/" not in self._path:
            raise OutputRefused(f"{address} names a bucket; name a folder in it, such as {address.rstrip('/')}/release")

    def has_card(self) -> bool:
        """Return whether there is a release."""
        with self._failing("cannot be read", BadData):
            return bool(self._system.get_file_info(self._place(CARD_NAME)).is_file)

    def refuse(self, *, force: bool) -> None:
        """Refuse to replace a release, unless `force`."""
        if not force and self.has_card():
            raise OutputRefused(f"{self.address} {EXISTS}")

    def upload(self, folder: Path) -> None:
        """Write the files of a release except the card. What was there before is removed first: it is no release without its card."""
        with self._failing("cannot be written", OutputRefused), progress.step(f"writing to {self.address}"):
            old = self._names_there()
            self._folder, self._names = folder, sorted(one.name for one in folder.iterdir() if one.name != CARD_NAME)
            self._write_list(folder, {*old, *self._names})
            for name in [CARD_NAME, *old]:
                self._delete(name)
            for name in self._names:
                self._put(folder / name)

    def complete(self) -> None:
        """Write the card, which makes the uploaded files a release."""
        assert self._folder is not None, "its files are uploaded first"
        with self._failing("cannot be written", OutputRefused):
            self._put(self._folder / CARD_NAME)
        with suppress(OSError):  # a list beside a card means nothing
            self._delete(_LIST)

    @contextmanager
    def discarding(self) -> Iterator[None]:
        """Remove what was uploaded if the block fails."""
        try:
            yield
        except BaseException:
            if self._folder is not None:
                try:
                    for name in [CARD_NAME, *self._names, _LIST]:
                        self._delete(name)
                except OSError:
                    progress.note(
                        f"{self.address} may still hold files of this run; remove them, or publish there again"
                    )
            raise

    def fetch(self) -> Path:
        """Return a temporary folder with a copy of the files that the card names."""
        if not self.has_card():
            raise BadData(f"is not a release folder: it has no {CARD_NAME}", file=self.address)
        _fetched.append(TemporaryFolder("fetched"))
        folder = _fetched[-1].path
        with self._failing("cannot be read", BadData), progress.step(f"reading from {self.address}"):
            for name in self._files_of_card(folder):
                self._get(folder / name)
        return folder

    def _names_there(self) -> list[str]:
        """Return the names of files that setveil wrote there: those that the card names, and those of an upload that did not end."""
        found = set[str]()
        with tempfile.TemporaryDirectory() as folder:
            if self.has_card():
                with suppress(BadData):  # of another version: what it names is not known
                    found.update(self._files_of_card(Path(folder)))
            if self._system.get_file_info(self._place(_LIST)).is_file:
                self._get(Path(folder) / _LIST)
                with suppress(ValueError):  # it was not written to the end
                    found.update(json.loads((Path(folder) / _LIST).read_bytes()))
        return sorted(name for name in found if "/" not in name)

    def _write_list(self, folder: Path, names: set[str]) -> None:
        """Write which files are about to be written, so that a later run removes them if this one is killed."""
        file = folder / _LIST
        file.write_text(json.dumps(sorted(names)), encoding="utf-8")
        self._put(file)
        file.unlink()

    def _delete(self, name: str) -> None:
        """Delete a file if it is there."""
        with suppress(FileNotFoundError):
            self._system.delete_file(self._place(name))

    def _files_of_card(self, folder: Path) -> list[str]:
        """Copy the card to a folder, and return the names of the other files of the release."""
        from setveil.release.card import Card  # noqa: PLC0415 - slow to import

        self._get(folder / CARD_NAME)
        return files_beside(Card.load(folder))

    def _place(self, name: str) -> str:
        return f"{self._path}/{name}"

    def _put(self, file: Path) -> None:
        with file.open("rb") as source, self._system.open_output_stream(self._place(file.name)) as sink:
            written = hashlib.sha256()
            while piece := source.read(_PIECE):
                written.update(piece)
                sink.write(piece)
        stored = hashlib.sha256()
        with self._system.open_input_stream(self._place(file.name)) as again:
            while piece := again.read(_PIECE):
                stored.update(piece)
        if stored.digest() != written.digest():
            raise OSError(f"{file.name} reads back as other bytes")

    def _get(self, file: Path) -> None:
        if file.parent / file.name != file or "/" in file.name:
            raise BadData(f"names the file {file.name!r}", file=self.address)
        with self._system.open_input_stream(self._place(file.name)) as source, file.open("wb") as sink:
            while piece := source.read(_PIECE):
                sink.write(piece)

    @contextmanager
    def _failing(self, what: str, kind: type[SetveilError]) -> Iterator[None]:
        """Raise our error for an error of the store; its message can be long, and its first line names the cause."""
        import pyarrow as pa  # noqa: PLC0415 - slow to import

        try:
            yield
        except (OSError, pa.ArrowException) as error:
            cause: Any = str(error).partition("\n")[0][:300]
            raise kind(f"{self.address} {what}: {cause}") from None
