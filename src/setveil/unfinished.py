"""What is being made: hidden folders beside their targets, that vanish when the work fails or the process is stopped.

A folder that a killed run left behind is recognised by its lock, which dies with the process, and removed by the next run. Whatever gives
finished work its name does so inside `committing`, so that nobody ends the process in between, and notes what was written.
"""

from __future__ import annotations

import glob
import os
import secrets
import shutil
import signal
import threading
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
_written: list[str] = []
_committing = threading.Lock()
"""Held while work gets its name, so that nobody ends the process in between."""


def hidden_name(target: Path, what: str) -> Path:
    """Return a new hidden name beside a target."""
    return target.with_name(f".{target.name}.setveil-{what}-{secrets.token_hex(6)}")


def hidden_beside(target: Path) -> list[Path]:
    """Return the hidden folders beside a target."""
    return list(target.parent.glob(f".{glob.escape(target.name)}.setveil-*"))


def sweep(target: Path) -> None:
    """Remove hidden folders beside the target that no living process holds."""
    for stale in hidden_beside(target):
        handle = lock(stale)
        if handle is not None:
            shutil.rmtree(stale, ignore_errors=True)
            os.close(handle)


def lock(folder: Path) -> int | None:
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


@contextmanager
def hidden_folder(target: Path) -> Iterator[Path]:
    """Give a hidden folder beside a target, held by this process; it vanishes after the block, unless it was renamed."""
    folder = hidden_name(target, "staging")
    _active.add(folder)
    handle = None
    try:
        try:
            folder.mkdir(mode=0o700)
        except OSError as error:
            raise OutputRefused(f"{folder.parent} cannot be written: {error.strerror}") from None
        handle = lock(folder)
        assert handle is not None
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        _active.discard(folder)
        if handle is not None:
            os.close(handle)


@contextmanager
def committing(written: str) -> Iterator[None]:
    """Give finished work its name, with Ctrl-C held off; if the block succeeds, `written` was written."""
    with _committing, _uninterrupted():
        yield
        _written.append(written)


@contextmanager
def _uninterrupted() -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def sync(path: Path) -> None:
    """Have the system write a file or a folder to disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        with suppress(OSError):  # some file systems cannot sync a folder
            os.fsync(handle)
    finally:
        os.close(handle)


def remove_unfinished() -> list[str]:
    """Remove what is being made, for a front end that ends the process without unwinding; return what was written before.

    Waits for names that are being given; none can be given afterwards.
    """
    _committing.acquire()
    for folder in list(_active):
        for _ in range(10):  # the main thread may still be adding files
            shutil.rmtree(folder, ignore_errors=True)
            if not folder.exists():
                break
    return list(_written)
