"""What a user works on: samples, files below the roots, and uploads. A file is named by a random id, never by its path."""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
import threading
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final

from setveil.data.files.packing import PACKINGS
from setveil.data.formats import FORMATS
from setveil.data.samples import SAMPLES
from setveil.studio.database import Upload
from setveil.studio.refusals import BadRequest, NotFound, TooLarge

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from setveil.studio.database import Database

MOST_FILES: Final = 2000
"""Maximum number of files that are listed."""
MOST_LOOKED_AT: Final = 50_000
"""Maximum number of entries of folders that are looked at."""
MOST_LABEL: Final = 120
SECRET_NAME: Final = "secret"  # noqa: S105 - the name of a file
_OTHER_ENDINGS: Final = (".tsv", ".json", ".data")
ENDINGS: Final = frozenset({one for form in FORMATS.values() for one in form.extensions} | {*_OTHER_ENDINGS})
"""The extensions of files that are listed."""


@dataclass(frozen=True)
class Sample:
    """A built-in sample, and the side files that come with it."""

    name: str
    """How to name it, such as `sample:hospital`."""
    title: str
    text: str
    side_files: tuple[str, ...]
    """The parameters that take the same name in place of a file."""


@dataclass(frozen=True)
class FileEntry:
    """A file below a root."""

    id: str
    root: str
    """The name of its root folder."""
    name: str
    """Its path below the root, to be shown."""
    bytes: int
    changed: float
    """When it was last changed, in seconds since 1970."""


def samples() -> list[Sample]:
    """Return the built-in samples."""
    sides = {
        "supermarket": ("categories", "sensitive", "hierarchy"),
        "hospital": ("categories", "sensitive", "hierarchy", "names"),
    }
    return [Sample(f"sample:{name}", name.capitalize(), text, sides.get(name, ())) for name, text in SAMPLES.items()]


def packed_ending(name: str) -> str:
    """Return the extension of a data file in small letters, with that of its packing; empty if it is not that of a data file."""
    path = Path(name.lower())
    packing = path.suffix if path.suffix in PACKINGS else ""
    plain = (Path(path.stem) if packing else path).suffix
    return plain + packing if plain in ENDINGS else ""


class Files:
    """The files below the roots, by opaque ids."""

    def __init__(self, folder: Path, roots: tuple[Path, ...]) -> None:
        self.roots = tuple(Path(os.path.realpath(one)) for one in roots)
        self.key = _kept_secret(folder)
        self.known: dict[str, tuple[Path, Path]] = {}

    def listed(self) -> list[FileEntry]:
        """Return the data files below the roots, in the order of their names."""
        found: list[FileEntry] = []
        known: dict[str, tuple[Path, Path]] = {}
        for root in self.roots:
            for path in _data_files(root):
                if len(found) == MOST_FILES:
                    break
                with suppress(OSError):
                    state = path.stat()
                    name = path.relative_to(root).as_posix()
                    entry = FileEntry(
                        self._id(root, name), root.name or str(root), _shown(name), state.st_size, state.st_mtime
                    )
                    found.append(entry)
                    known[entry.id] = (root, path)
        self.known = known
        return found

    def place(self, number: str) -> Path:
        """Return the path of a file; refuse one that is gone or now leaves its root."""
        if number not in self.known:
            self.listed()
        if number not in self.known:
            raise NotFound("there is no such file; list the files again")
        root, path = self.known[number]
        if not _is_below(root, path):
            raise NotFound("the file is gone or is no longer below its folder; list the files again")
        return path

    def _id(self, root: Path, name: str) -> str:
        text = f"{root}\0{name}".encode("utf-8", "surrogateescape")
        return hmac.new(self.key, text, hashlib.sha256).hexdigest()[:16]


def _kept_secret(folder: Path) -> bytes:
    path = folder / SECRET_NAME
    with suppress(OSError):
        if len(key := path.read_bytes()) == 32:
            return key
    key = secrets.token_bytes(32)
    path.touch(mode=0o600)
    path.write_bytes(key)
    return key


def _data_files(root: Path) -> Iterator[Path]:
    """Yield the data files below a root, without hidden ones and without links that leave it."""
    looked_at = 0
    for folder, names, files in os.walk(root):
        names[:] = sorted(name for name in names if not name.startswith("."))
        looked_at += len(names) + len(files)
        if looked_at > MOST_LOOKED_AT:
            return
        for name in sorted(files):
            path = Path(folder, name)
            if not name.startswith(".") and packed_ending(name) and _is_below(root, path):
                yield path


def _is_below(root: Path, path: Path) -> bool:
    """Return whether a path leads to a regular file below a root, whatever links are on its way."""
    try:
        place = path.resolve(strict=True)
    except (OSError, RuntimeError):
        return False
    return place.is_relative_to(root) and place.is_file()


def _shown(name: str) -> str:
    """Return a name that can be shown and sent, whatever its bytes."""
    return "".join(one if one.isprintable() else "�" for one in name.encode("utf-8", "replace").decode("utf-8"))


def label_of(text: str) -> str:
    """Return the label of an upload: the last part of what was given, without what cannot be shown."""
    name = _shown(text.replace("\\", "/").rpartition("/")[2]).strip()
    return name[-MOST_LABEL:] or "upload"


class Uploads:
    """Files that users sent, in the folder of the studio."""

    def __init__(self, folder: Path, database: Database, *, most: int, quota: int) -> None:
        self.folder, self.database, self.most, self.quota = folder, database, most, quota
        self.lock = threading.Lock()
        self.arriving = 0
        self.staging = folder / "staging"
        self.staging.mkdir(mode=0o700, parents=True, exist_ok=True)
        for unfinished in self.staging.iterdir():
            unfinished.unlink()
        known = {one.file for one in database.all_uploads()}
        for path in folder.iterdir():
            if path.is_file() and path.name not in known:  # renamed, but never entered
                path.unlink()

    def place(self, upload: Upload) -> Path:
        """Return the path of an upload."""
        return self.folder / upload.file

    def refuse_size(self, size: int) -> None:
        """Refuse an upload of a size that is known before it arrives."""
        if size > self.most:
            raise TooLarge(f"the upload has {size:,} bytes; allowed are {self.most:,}")
        if self.database.uploaded_bytes() + self.arriving + size > self.quota:
            raise self._full()

    def _full(self) -> TooLarge:
        return TooLarge(f"all uploads together may have {self.quota:,} bytes; delete some first")

    def _reserve(self, arrived: int, more: int) -> None:
        if arrived + more > self.most:
            raise TooLarge(f"the upload has more than {self.most:,} bytes")
        with self.lock:
            if self.database.uploaded_bytes() + self.arriving + more > self.quota:
                raise self._full()
            self.arriving += more

    @contextmanager
    def receive(self, owner: str, label: str, now: float) -> Iterator[Arriving]:
        """Yield where to write an upload; it is removed unless `finish` was called."""
        title = label_of(label)
        ending = packed_ending(title)
        if not ending:
            raise BadRequest(
                f"{title!r} has no extension of a data file; allowed are {', '.join(sorted(ENDINGS))}, also with .gz or .zst"
            )
        number = secrets.token_hex(8)
        staged = self.staging / number
        handle = os.open(staged, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "wb") as file:
            arriving = Arriving(self, file, Upload(number, owner, title, number + ending, 0, now), staged)
            try:
                yield arriving
            finally:
                with self.lock:
                    self.arriving -= arriving.bytes
                staged.unlink(missing_ok=True)

    def remove(self, upload: Upload) -> None:
        """Delete an upload."""
        self.place(upload).unlink(missing_ok=True)
        self.database.remove_upload(upload.id)


class Arriving:
    """An upload while it arrives."""

    def __init__(self, uploads: Uploads, file: BinaryIO, upload: Upload, staged: Path) -> None:
        self.uploads, self.file, self.upload, self.staged = uploads, file, upload, staged
        self.bytes = 0

    def write(self, block: bytes) -> None:
        """Write a part of the upload."""
        self.uploads._reserve(self.bytes, len(block))  # noqa: SLF001 - of the same module
        self.bytes += len(block)
        self.file.write(block)

    def finish(self) -> Upload:
        """Store the upload for good."""
        self.file.flush()
        os.fsync(self.file.fileno())
        done = Upload(**(vars(self.upload) | {"bytes": self.bytes}))
        self.staged.replace(self.uploads.place(done))
        self.uploads.database.add("uploads", done)
        return done


def checked_reading(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return options of `read`; refuse those that name a database."""
    from setveil.release.job_keys import reading_keys  # noqa: PLC0415 - imports every method

    keys = {name: key for name, key in reading_keys().items() if name != "query"}
    for name, value in given.items():
        if name not in keys:
            raise BadRequest(f"there is no reading option {name!r}; there are: {', '.join(keys)}")
        keys[name].refuse(name, value)
    return {name: value for name, value in given.items() if value is not None}
