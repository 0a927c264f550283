"""A database file that appears whole or not at all.

It is filled in a hidden folder beside its place and linked to its name at the end, which fails where that name was taken meanwhile. A
folder that a killed run left behind is recognised by its lock, which dies with the process, and removed by the next run.
"""

from __future__ import annotations

import errno
import glob
import os
import secrets
import shutil
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from setveil.errors import OutputRefused

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

try:
    import fcntl
except ImportError:  # pragma: no cover - not on Windows, where stale folders stay until removed by hand
    fcntl = None  # type: ignore[assignment]

_active: set[Path] = set()


@contextmanager
def new_file(target: Path) -> Iterator[Path]:
    """Give the hidden name of a file to make; after the block it takes its place, or vanishes if the block failed."""
    folder = target.with_name(f".{target.name}.setveil-staging-{secrets.token_hex(6)}")
    _active.add(folder)
    handle = None
    try:
        try:
            _sweep(target)
            folder.mkdir(mode=0o700)
            handle = _lock(folder)
        except OSError as error:
            raise OutputRefused(f"{target} cannot be written: {error.strerror}") from None
        hidden = folder / target.name
        yield hidden
        try:
            if os.listdir(folder) != [target.name]:  # noqa: PTH208 - a log that still belongs to it would be lost
                raise OutputRefused(f"{target} cannot be completed; look whether the disk is full")
            _sync(hidden)
            _move(hidden, target)
            _sync(target.parent)
        except FileExistsError:
            raise OutputRefused(
                f"{target} was made by somebody else meanwhile; run again to add a table to it"
            ) from None
        except OSError as error:
            raise OutputRefused(f"{target} cannot be written: {error.strerror}") from None
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        _active.discard(folder)
        if handle is not None:
            os.close(handle)


def _move(hidden: Path, target: Path) -> None:
    """Give a file its name, unless that is taken, which a plain renaming would not look at."""
    try:
        os.link(hidden, target)
    except OSError as error:
        if error.errno not in (errno.EPERM, errno.ENOTSUP, errno.EMLINK) or target.exists():
            raise
        hidden.rename(target)  # some file systems know no links


def remove_unfinished() -> None:
    """Remove what is being made, for a front end that ends the process without unwinding."""
    for folder in list(_active):
        for _ in range(10):  # the main thread may still be adding files
            shutil.rmtree(folder, ignore_errors=True)
            if not folder.exists():
                break


def _sweep(target: Path) -> None:
    """Remove hidden folders beside the target that no living process holds."""
    for stale in target.parent.glob(f".{glob.escape(target.name)}.setveil-*"):
        handle = _lock(stale)
        if handle is not None:
            shutil.rmtree(stale, ignore_errors=True)
            os.close(handle)


def _lock(folder: Path) -> int | None:
    """Hold a folder; None if another process holds it."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:
        return None
    if fcntl is not None:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(handle)
            return None
    return handle


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        with suppress(OSError):  # some file systems cannot sync a folder
            os.fsync(handle)
    finally:
        os.close(handle)
