"""Two folders that appear together or not at all.

Both are filled under hidden names beside their targets, synced, and renamed, the private one first: where the public folder is, the
private one is complete. A folder that a killed run left behind is recognised by its lock, which dies with the process, and removed by
the next run. A private folder whose public one never came is recognised by a mark inside it.
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

_MARK = ".uncommitted"
_active: set[Path] = set()
_written: list[Path] = []
_committing = threading.Lock()
"""Held while targets are renamed, so that nobody ends the process in between."""


def private_beside(out: Path) -> Path:
    """Return where the private folder goes unless said otherwise."""
    return out.parent / f"{out.name}.private"


def refuse_taken(out: Path, private: Path, *, force: bool) -> None:
    """Refuse targets that exist, before any work is done; clear away what a killed run left."""
    for target in (out, private):
        if target.name in ("", ".."):
            raise OutputRefused(f"{str(target)!r} is not a name for a new folder; name another place")
    places = out.resolve(), private.resolve()
    if places[0] == places[1] or places[0] in places[1].parents or places[1] in places[0].parents:
        raise OutputRefused(
            f"the private folder {private} and the release folder {out} must stand apart, neither inside the other"
        )
    try:
        if not _there(out):
            _put_away_uncommitted(out, private)
        for target in (out, private):
            _sweep(target)
        for target in (out, private):
            _refuse(target, force=force)
            if target.exists() and not target.is_dir():
                raise OutputRefused(f"{target} is a file; expected a folder or nothing")
    except OSError as error:
        raise OutputRefused(f"{error.filename} cannot be used: {error.strerror}") from None


def _there(target: Path) -> bool:
    return target.is_symlink() or target.exists()


def _refuse(target: Path, *, force: bool) -> None:
    """Refuse a target that exists, unless forced, or that cannot be made or replaced."""
    if not target.parent.is_dir():
        raise OutputRefused(f"{target.parent} is not a folder; make it first or name another place")
    if _there(target) and not force:
        raise OutputRefused(f"{target} exists; name another place, or replace it with --force")
    if target.is_symlink():
        raise OutputRefused(f"{target} is a link, which is not replaced; name the place it leads to")


def _put_away_uncommitted(out: Path, private: Path) -> None:
    """Put away a private folder whose public one never came: its mark names the staging that should have become it.

    Where that staging is gone, the public folder did come and was moved elsewhere since: then the private one is still wanted.
    """
    mark = private / _MARK
    staging = mark.read_text(encoding="utf-8") if mark.is_file() else ""
    handle = _lock(private) if staging else None
    if handle is None:  # a living process is about to make the public one
        return
    if staging in {path.name for path in _hidden_beside(out)}:
        private.rename(_hidden(private, "old"))  # and swept there: removed in place, a part of it could stay
    os.close(handle)


def _hidden(target: Path, what: str) -> Path:
    return target.with_name(f".{target.name}.setveil-{what}-{secrets.token_hex(6)}")


def _hidden_beside(target: Path) -> list[Path]:
    return list(target.parent.glob(f".{glob.escape(target.name)}.setveil-*"))


def _sweep(target: Path) -> None:
    """Remove hidden folders beside the target that no living process holds."""
    for stale in _hidden_beside(target):
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


@contextmanager
def _staging(target: Path) -> Iterator[Path]:
    """Give a hidden folder beside a target, held by this process; it vanishes after the block, unless it was renamed."""
    folder = _hidden(target, "staging")
    _active.add(folder)
    handle = None
    try:
        try:
            folder.mkdir(mode=0o700)
        except OSError as error:
            raise OutputRefused(f"{folder.parent} cannot be written: {error.strerror}") from None
        handle = _lock(folder)
        assert handle is not None
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        _active.discard(folder)
        if handle is not None:
            os.close(handle)


@contextmanager
def staged(out: Path, private: Path, *, force: bool = False) -> Iterator[tuple[Path, Path]]:
    """Give two hidden folders to fill; after the block they take the targets' places, or vanish if it failed."""
    with _staging(private) as private_staging, _staging(out) as out_staging:
        try:
            yield out_staging, private_staging
            out_staging.chmod(0o755)
            (private_staging / _MARK).write_text(out_staging.name, encoding="utf-8")
            for folder in (private_staging, out_staging):
                _sync_tree(folder)
        except OSError as error:
            raise OutputRefused(f"{out} and {private} cannot be written: {error.strerror or error}") from None
        _commit([(private_staging, private), (out_staging, out)], force=force)


def _commit(pairs: list[tuple[Path, Path]], *, force: bool) -> None:
    """Rename both, with Ctrl-C held off: old ones out of the way (the public one first), then private, then public.

    Where that fails, everything goes back to its place.
    """
    with _committing, _uninterrupted():
        for _made, target in pairs:
            _refuse(target, force=force)  # another process may have made it meanwhile
        moved: list[tuple[Path, Path]] = []
        try:
            for _made, target in reversed(pairs):
                if target.exists():
                    moved.append((target, target.rename(_hidden(target, "old"))))
            retired = [now for _before, now in moved]
            for made, target in pairs:
                moved.append((made, made.rename(target)))
                _sync(target.parent)
        except OSError as error:
            for before, now in reversed(moved):
                now.rename(before)
            raise OutputRefused(f"{error.filename2 or error.filename} cannot be written: {error.strerror}") from None
        _written.append(pairs[-1][1])
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


def remove_unfinished() -> list[Path]:
    """Remove what is being staged, for a front end that ends the process without unwinding; return what was written before.

    Waits for renames that are under way; none can begin afterwards.
    """
    _committing.acquire()
    for folder in list(_active):
        for _ in range(10):  # the main thread may still be adding files
            shutil.rmtree(folder, ignore_errors=True)
            if not folder.exists():
                break
    return list(_written)


def refuse_file(target: Path, *, force: bool) -> None:
    """Refuse a file that exists or cannot be made, before any work is done; clear away what a killed run left."""
    try:
        if target.name in ("", "..") or (target.exists() and not target.is_file()):
            raise OutputRefused(f"{target} is not a file; expected a file or nothing")
        _sweep(target)
        _refuse(target, force=force)
    except ValueError:
        raise OutputRefused(f"{str(target)!r} is not a name that a file can have") from None


@contextmanager
def replacing(target: Path, *, force: bool) -> Iterator[Path]:
    """Give a hidden file to write to; after the block it takes the target's place, or vanishes if it failed."""
    refuse_file(target, force=force)
    with _staging(target) as folder:
        hidden = folder / target.name  # the ending stays, since it names the format
        yield hidden
        with _committing, _uninterrupted():
            _refuse(target, force=force)  # another process may have made it meanwhile
            _sync(hidden)
            hidden.rename(target)
            _sync(target.parent)
            _written.append(target)
