"""Atomic files and folders: a target appears complete or not at all.

Output is written to a hidden staging folder beside its target and renamed at the end::

    .OUT.setveil-staging-TOKEN/   mode 0700
      lock                        held by the writing process; the system releases it when the process ends, however it ends
      new/                        the new folder, or the folder that holds the new file
      copied/                     what is copied to another place than a folder
      old                         the former target, while it is replaced

The staging folder is removed when the block fails and when the program ends or is stopped (`remove_unfinished`). If a process
is killed, the next run removes it, because no process holds its lock.

Of two folders the private one is renamed first: if the public folder exists, the private one is complete. Until the public folder exists,
a mark in the private folder names the staging folder of the public one.
"""

from __future__ import annotations

import atexit
import errno
import glob
import os
import secrets
import shutil
import signal
import threading
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from typing import TYPE_CHECKING

from setveil.errors import OutputRefused

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path

EXISTS = "exists; choose another path, or replace it with `force=True`"
"""The end of the message about a target that exists; its path comes before."""

_LOCK, _NEW, _OLD, _COPIED = "lock", "new", "old", "copied"
_MARK = ".uncommitted"
_SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))

_staging_folders: set[Path] = set()
_written: list[str] = []
_committing = threading.Lock()
"""Held while output is renamed to its target, so that the process does not end in between."""


# -- writing -------------------------------------------------------------------------------------------------------------------


@contextmanager
def make_file(target: Path, *, force: bool = False, if_exists: str = EXISTS) -> Iterator[Path]:
    """Yield a hidden file to write; rename it to the target after the block, or remove it if the block fails."""
    with make_files(target, force=force, if_exists=if_exists) as (made,):
        yield made


@contextmanager
def make_files(*targets: Path, force: bool = False, if_exists: str = EXISTS) -> Iterator[list[Path]]:
    """Yield a hidden file for each target; rename all to their targets after the block, in this order, or remove all if the block fails.

    Ctrl-C cannot end the program between two renames.
    """
    for target in targets:
        refuse_file(target, force=force, if_exists=if_exists)
    with ExitStack() as stack:
        # the names keep the extension, which determines the format
        made = [stack.enter_context(_staging_folder(target)) / target.name for target in targets]
        with _refusing(f"{' and '.join(map(str, targets))} cannot be written"):
            yield made
            for file in made:
                _sync(file)
            with committing(str(targets[-1])):
                for target in targets:  # another process may have created it meanwhile
                    _refuse_existing(target, force=force, if_exists=if_exists)
                for file, target in zip(made, targets, strict=True):
                    if force:
                        file.replace(target)
                    else:
                        _link(file, target, if_exists)
                    _sync(target.parent)


def replace_file(target: Path, content: bytes, *, mode: int = 0o644, is_result: bool = True) -> None:
    """Write a small file atomically, replacing an existing one. Only results are reported as written when the program is stopped."""
    _remove_stale(target)
    with _staging_folder(target) as new, _refusing(f"{target} cannot be written"):
        made = new / target.name
        made.write_bytes(content)
        made.chmod(mode)
        _sync(made)
        with committing(str(target) if is_result else ""):
            made.replace(target)
            _sync(target.parent)


@contextmanager
def make_folder(target: Path, *, force: bool = False, if_exists: str = EXISTS) -> Iterator[Path]:
    """Yield a hidden folder with mode 0700; rename it to the target after the block, or remove it if the block fails."""
    with _make_folders(target, force=force, if_exists=if_exists) as (new,):
        yield new


@contextmanager
def make_two_folders(
    public: Path,
    private: Path,
    *,
    force: bool = False,
    recording: Callable[[], AbstractContextManager[None]] = nullcontext,
) -> Iterator[tuple[Path, Path]]:
    """Yield two hidden folders; rename both to their targets after the block, or remove both if the block fails.

    The renames happen inside the context that `recording` returns. If it fails before, nothing is renamed.
    """
    with _make_folders(private, public, force=force, recording=recording) as (new_private, new_public):
        yield new_public, new_private
        new_public.chmod(0o755)
        (new_private / _MARK).write_text(new_public.parent.name, encoding="utf-8")


@contextmanager
def make_folder_beside_copy(
    private: Path,
    *,
    force: bool = False,
    recording: Callable[[], AbstractContextManager[None]] = nullcontext,
    finishing: Callable[[], None],
) -> Iterator[tuple[Path, Path]]:
    """Yield a hidden folder for what is copied elsewhere, which is always removed, and one that is renamed to its target after the block.

    `finishing` runs after the rename, which is undone if it fails. Both happen inside the context that `recording` returns.
    """
    with _make_folders(private, force=force, recording=recording, finishing=finishing) as (new,):
        copied = new.with_name(_COPIED)
        copied.mkdir(mode=0o700)
        yield copied, new


@contextmanager
def committing(written: str) -> Iterator[None]:
    """Defer Ctrl-C while the block renames finished output; if it succeeds, record `written` (unless empty) as written."""
    with _committing, _signals_deferred():
        yield
        if written:
            _written.append(written)


def remove_unfinished() -> list[str]:
    """Remove unfinished output, for a front end that ends the process without unwinding; return what was written before.

    Waits for renames in progress. No rename can start afterwards.
    """
    _committing.acquire()
    _remove_staging_folders()
    return list(_written)


@atexit.register
def _remove_staging_folders() -> None:
    """Remove the staging folders of this process; at its end, those whose removal Ctrl-C prevented."""
    for place in list(_staging_folders):
        for _ in range(10):  # the main thread may still be adding files
            shutil.rmtree(place, ignore_errors=True)
            if not place.exists():
                break


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_staging_folders.clear)  # the parent still writes to them


# -- refusing targets before any work -----------------------------------------------------------------------------------------


def refuse_file(target: Path, *, force: bool = False, if_exists: str = EXISTS) -> None:
    """Refuse a target file that exists or cannot be created, before any work; remove what a killed run left."""
    if "\0" in str(target):
        raise OutputRefused(f"{str(target)!r} is not a valid file name; choose another path")
    with _refusing():
        if target.name in ("", "..") or (target.exists() and not target.is_file()):
            raise OutputRefused(f"{target} is not a regular file and is not replaced; choose another path")
        _remove_stale(target)
        _refuse_existing(target, force=force, if_exists=if_exists)


def refuse_folder(
    target: Path,
    *,
    force: bool = False,
    if_exists: str = EXISTS,
    mark: str = "",
    names: frozenset[str] | None = None,
) -> None:
    """Refuse a target folder that exists or cannot be created, before any work; remove what a killed run left.

    With `force`, a folder may be replaced if it is empty, or if it holds the file `mark` and only files in `names`.
    """
    _refuse_folder_name(target)
    with _refusing():
        _remove_stale(target)
        _refuse_existing(target, force=force, if_exists=if_exists)
        if target.exists() and not target.is_dir():
            raise OutputRefused(f"{target} is a file; expected a folder; choose another path")
        found = sorted(path.name for path in target.iterdir()) if target.exists() else []
        if found and mark and mark not in found:
            raise OutputRefused(
                f"{target} was not written by setveil (it has no {mark}) and is not replaced; choose another path"
            )
        strangers = [] if names is None else [name for name in found if name not in names]
        if strangers:
            raise OutputRefused(
                f"{target} contains {strangers[0]!r}, which setveil did not write, and is not replaced; move it or choose another path"
            )
        with _staging_folder(target):  # only a trial shows a read-only disk: permissions do not
            pass


def refuse_two_folders(public: Path, private: Path, *, force: bool = False) -> None:
    """Refuse two target folders that exist, cannot be created or overlap, before any work; remove what a killed run left."""
    for target in (public, private):
        _refuse_folder_name(target)
    with _refusing():
        places = public.resolve(), private.resolve()
        if places[0] == places[1] or places[0] in places[1].parents or places[1] in places[0].parents:
            raise OutputRefused(
                f"the private folder {private} and the release folder {public} overlap; neither may be inside the other"
            )
        if not _exists(public):
            _remove_uncommitted(public, private)
    for target in (public, private):
        refuse_folder(target, force=force)


def _refuse_folder_name(target: Path) -> None:
    if target.name in ("", "..") or "\0" in str(target):
        raise OutputRefused(f"{str(target)!r} is not a valid name for a new folder; choose another path")


def _refuse_existing(target: Path, *, force: bool, if_exists: str) -> None:
    """Refuse a target that exists, unless `force`, or that cannot be created or replaced."""
    if not target.parent.is_dir():
        raise OutputRefused(f"{target.parent} is not a folder; create it or choose another path")
    if _exists(target) and not force:
        raise OutputRefused(f"{target} {if_exists}")
    if target.is_symlink():
        raise OutputRefused(f"{target} is a symbolic link, which is not replaced; give the path it points to")


def _exists(target: Path) -> bool:
    return target.is_symlink() or target.exists()


@contextmanager
def _refusing(what: str = "") -> Iterator[None]:
    """Turn an `OSError` of the block into `OutputRefused` with a one-sentence message."""
    try:
        yield
    except OSError as error:
        raise OutputRefused(f"{what or f'{error.filename} cannot be used'}: {error.strerror or error}") from None


# -- staging folders ----------------------------------------------------------------------------------------------------------


@contextmanager
def _staging_folder(target: Path) -> Iterator[Path]:
    """Yield the folder `new` of a staging folder that this process locks; remove the staging folder after the block."""
    place = target.with_name(f".{target.name}.setveil-staging-{secrets.token_hex(6)}")
    _staging_folders.add(place)
    handle = None
    try:
        with _refusing(f"{place.parent} cannot be written"):
            place.mkdir(mode=0o700)
            handle = lock_folder(place)
            (place / _NEW).mkdir(mode=0o700)
        yield place / _NEW
    finally:
        with _signals_deferred():  # Ctrl-C here would leave a part of the folder behind
            if handle is not None:
                os.close(handle)  # before removing: Windows cannot remove an open file
            shutil.rmtree(place, ignore_errors=True)
            _staging_folders.discard(place)


def _staging_folders_beside(target: Path) -> list[Path]:
    found = target.parent.glob(f".{glob.escape(target.name)}.setveil-*")
    return [place for place in found if place.is_dir() and not place.is_symlink()]


def lock_folder(place: Path) -> int | None:
    """Lock a folder until the returned handle is closed; None if another process holds it or the file system has no locks."""
    from filelock import lock_descriptor  # noqa: PLC0415 - takes 20 ms, and only writing needs it

    with suppress(OSError):
        handle = os.open(place / _LOCK, os.O_RDWR | os.O_CREAT, 0o600)
        with suppress(OSError):
            if lock_descriptor(handle, blocking=False):
                return handle
        os.close(handle)
    return None


def _remove_stale(target: Path) -> None:
    """Remove staging folders beside a target that no running process locks."""
    for place in _staging_folders_beside(target):
        handle = lock_folder(place)
        if handle is not None:
            os.close(handle)
            shutil.rmtree(place, ignore_errors=True)


def is_uncommitted(public: Path, private: Path) -> bool:
    """Return whether a private folder was renamed to its target, and its public folder was not."""
    mark = private / _MARK
    return mark.is_file() and (public.with_name(mark.read_text(encoding="utf-8")) / _NEW).exists()


def _remove_uncommitted(public: Path, private: Path) -> None:
    """Remove a private folder whose public folder was never renamed to its target.

    The mark in the private folder names the staging folder that still holds the public one. If that is empty, the public folder was written
    and moved elsewhere since, so the private one is still needed. If a running process locks it, the public folder is about to be written.
    """
    mark = private / _MARK
    named = mark.read_text(encoding="utf-8") if mark.is_file() else ""
    for place in _staging_folders_beside(public):
        handle = lock_folder(place) if place.name == named and (place / _NEW).exists() else None
        if handle is not None:
            with _staging_folder(private) as new:  # removing it in place could leave a part behind
                private.rename(new.with_name(_OLD))
            os.close(handle)


# -- renaming to the target ---------------------------------------------------------------------------------------------------


@contextmanager
def _make_folders(
    *targets: Path,
    force: bool,
    if_exists: str = EXISTS,
    recording: Callable[[], AbstractContextManager[None]] = nullcontext,
    finishing: Callable[[], None] = lambda: None,
) -> Iterator[list[Path]]:
    """Yield a hidden folder for each target; rename them in this order after the block, and undo it if `finishing` fails."""
    with ExitStack() as stack:
        made = [stack.enter_context(_staging_folder(target)) for target in targets]
        with _refusing(f"{' and '.join(map(str, reversed(targets)))} cannot be written"):
            yield made
            for folder in made:
                _sync_tree(folder)
        with committing(str(targets[-1])):
            for target in targets:
                _refuse_existing(
                    target, force=force, if_exists=if_exists
                )  # another process may have created it meanwhile
            with recording():
                moved = _rename(list(zip(made, targets, strict=True)))
                try:
                    finishing()
                except BaseException:
                    _undo(moved)
                    raise


def _undo(moved: list[tuple[Path, Path]]) -> None:
    for before, now in reversed(moved):
        now.rename(before)


def _rename(pairs: list[tuple[Path, Path]]) -> list[tuple[Path, Path]]:
    """Move old folders away, the last one first, and new ones to their targets; return what was moved. Undo everything if a step fails."""
    moved: list[tuple[Path, Path]] = []
    try:
        for new, target in reversed(pairs):
            if target.exists():
                moved.append((target, target.rename(new.with_name(_OLD))))
        for new, target in pairs:
            moved.append((new, new.rename(target)))
            _sync(target.parent)
    except OSError as error:
        _undo(moved)
        raise OutputRefused(f"{error.filename2 or error.filename} cannot be written: {error.strerror}") from None
    if len(pairs) > 1:
        (pairs[0][1] / _MARK).unlink()
    return moved


def _link(made: Path, target: Path, if_exists: str) -> None:
    """Link a file to its target, which fails if the target exists; a plain rename would replace it."""
    try:
        os.link(made, target)
    except FileExistsError:
        raise OutputRefused(f"{target} {if_exists}") from None
    except OSError as error:
        if error.errno not in (errno.EPERM, errno.ENOTSUP, errno.EMLINK):
            raise
        made.rename(target)  # some file systems have no hard links


@contextmanager
def _signals_deferred() -> Iterator[None]:
    """Defer signals that stop the program until the block ends."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    heard: list[int] = []
    handlers = {number: signal.getsignal(number) for number in _SIGNALS}
    handlers = {number: handler for number, handler in handlers.items() if handler not in (None, signal.SIG_IGN)}
    for number in handlers:
        signal.signal(number, lambda number, _frame: heard.append(number))
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        for number in heard[:1]:
            signal.raise_signal(number)


def _sync_tree(folder: Path) -> None:
    for path in (*folder.rglob("*"), folder):
        _sync(path)


def _sync(path: Path) -> None:
    """Flush a file or a folder to disk."""
    is_folder = path.is_dir()
    with suppress(OSError) if is_folder else nullcontext():  # some systems cannot open a folder, or cannot sync one
        handle = os.open(path, os.O_RDONLY if is_folder else os.O_RDWR)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
