"""Two folders that appear together or not at all.

Both are filled under hidden names beside their targets, synced, and renamed, the private one first: where the public folder is, the
private one is complete. A folder that a killed run left behind is recognised by its lock, which dies with the process, and removed by
the next run. A private folder whose public one never came is recognised by a mark inside it.
"""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import threading
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from setveil.errors import OutputRefused

if TYPE_CHECKING:
    from collections.abc import Iterator

try:
    import fcntl
except ImportError:  # pragma: no cover - not on Windows, where stale folders stay until removed by hand
    fcntl = None  # type: ignore[assignment]

_MARK = ".uncommitted"
_active: set[Path] = set()


def private_beside(out: Path) -> Path:
    """Return where the private folder goes unless said otherwise."""
    return out.with_name(out.name + ".private")


def refuse_taken(out: Path, private: Path, *, force: bool) -> None:
    """Refuse targets that exist, before any work is done; clear away what a killed run left."""
    if out.resolve() == private.resolve() or out.resolve() in private.resolve().parents:
        raise OutputRefused(f"the private folder {private} must not be the release folder {out} or inside it")
    for target in (out, private):
        _sweep(target)
        if not target.parent.is_dir():
            raise OutputRefused(f"{target.parent} is not a folder; make it first or name another place")
    if not out.exists() and (private / _MARK).exists():
        shutil.rmtree(private)
    for target in (out, private):
        if target.exists() and not force:
            raise OutputRefused(f"{target} exists; name another place, or replace it with --force")
        if target.exists() and not target.is_dir():
            raise OutputRefused(f"{target} is a file; expected a folder or nothing")


def _sweep(target: Path) -> None:
    """Remove hidden folders beside the target that no living process holds."""
    for stale in target.parent.glob(f".{target.name}.setveil-*"):
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


def _hidden(target: Path, what: str) -> Path:
    return target.with_name(f".{target.name}.setveil-{what}-{secrets.token_hex(6)}")


@contextmanager
def staged(out: Path, private: Path) -> Iterator[tuple[Path, Path]]:
    """Give two hidden folders to fill; after the block they take the targets' places, or vanish if it failed."""
    pairs = [(_hidden(target, "staging"), target) for target in (private, out)]
    handles: list[int] = []
    try:
        for folder, _target in pairs:
            _active.add(folder)
            try:
                folder.mkdir(mode=0o700)
            except OSError as error:
                raise OutputRefused(f"{folder.parent} cannot be written: {error.strerror}") from None
            handle = _lock(folder)
            assert handle is not None
            handles.append(handle)
        (private_staging, _), (out_staging, _) = pairs
        yield out_staging, private_staging
        out_staging.chmod(0o755)
        (private_staging / _MARK).touch()
        for folder, _target in pairs:
            _sync_tree(folder)
        _commit(pairs)
    finally:
        for folder, _target in pairs:
            shutil.rmtree(folder, ignore_errors=True)
            _active.discard(folder)
        for handle in handles:
            os.close(handle)


def _commit(pairs: list[tuple[Path, Path]]) -> None:
    """Rename both, with Ctrl-C held off: old ones out of the way (the public one first), then private, then public."""
    with _uninterrupted():
        retired = []
        for _folder, target in reversed(pairs):
            if target.exists():
                aside = _hidden(target, "old")
                target.rename(aside)
                retired.append(aside)
        for folder, target in pairs:
            folder.rename(target)
            _sync(target.parent)
        (pairs[0][1] / _MARK).unlink()
        for aside in retired:
            shutil.rmtree(aside, ignore_errors=True)


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


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        with suppress(OSError):  # some file systems cannot sync a folder
            os.fsync(handle)
    finally:
        os.close(handle)


def _sync_tree(folder: Path) -> None:
    for path in (*folder.rglob("*"), folder):
        _sync(path)


def remove_unfinished() -> None:
    """Remove what is being staged: for a front end that ends the process without unwinding."""
    for path in list(_active):
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)


@contextmanager
def replacing(target: Path, *, force: bool) -> Iterator[Path]:
    """Give a hidden file name to write to; after the block it takes the target's place, or vanishes if it failed."""
    if target.exists() and not force:
        raise OutputRefused(f"{target} exists; name another place, or replace it with --force")
    if not target.parent.is_dir():
        raise OutputRefused(f"{target.parent} is not a folder; make it first or name another place")
    # The ending stays, since it names the format.
    hidden = target.with_name(f".setveil-{secrets.token_hex(6)}-{target.name}")
    _active.add(hidden)
    try:
        yield hidden
        _sync(hidden)
        hidden.rename(target)
    finally:
        hidden.unlink(missing_ok=True)
        _active.discard(hidden)
