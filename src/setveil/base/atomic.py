"""Files and folders that appear whole or not at all.

What is being made has a hidden workplace beside its target, and gets its name at the end::

    .OUT.setveil-staging-TOKEN/   mode 0700
      lock                        held by the process that works here; the lock ends with the process, however that ends
      new/                        the folder in the making, or the folder that holds the file in the making
      old                         what is replaced

The workplace is removed when the work fails, when the program is stopped (`remove_unfinished`), and, after a process was killed, by the
next run, which finds that nobody holds the lock.

Of two folders the private one is renamed first: where the public folder is, the private one is complete. Until the public folder is in its
place, a mark in the private folder names the workplace that the public folder comes from.
"""

from __future__ import annotations

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
    from collections.abc import Iterator
    from pathlib import Path

EXISTS = "exists; name another place, or replace it with `force=True`"
"""What is said of a target that is there already, after its name."""

_LOCK, _NEW, _OLD = "lock", "new", "old"
_MARK = ".uncommitted"
_SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))

_workplaces: set[Path] = set()
_written: list[str] = []
_committing = threading.Lock()
"""Held while work gets its name, so that the process does not end in between."""


# -- what is made -------------------------------------------------------------------------------------------------------------


@contextmanager
def make_file(target: Path, *, force: bool = False, if_exists: str = EXISTS) -> Iterator[Path]:
    """Give a hidden file to write; after the block it takes the target's place, or vanishes if the block failed."""
    refuse_file(target, force=force, if_exists=if_exists)
    with _workplace(target) as new, _one_sentence(f"{target} cannot be written"):
        made = new / target.name  # the ending stays, since it names the format
        yield made
        _sync(made)
        with committing(str(target)):
            _refuse_existing(target, force=force, if_exists=if_exists)  # another process may have made it meanwhile
            if force:
                made.replace(target)
            else:
                _link(made, target, if_exists)
            _sync(target.parent)


def replace_file(target: Path, content: bytes, *, mode: int = 0o644, is_result: bool = True) -> None:
    """Write a small file, also over an existing one. Unless it is a result, a program that is stopped does not mention it as written."""
    _remove_stale(target)
    with _workplace(target) as new, _one_sentence(f"{target} cannot be written"):
        made = new / target.name
        made.write_bytes(content)
        made.chmod(mode)
        _sync(made)
        with committing(str(target) if is_result else ""):
            made.replace(target)
            _sync(target.parent)


@contextmanager
def make_folder(target: Path, *, force: bool = False, if_exists: str = EXISTS) -> Iterator[Path]:
    """Give a hidden folder to fill, of mode 0700; after the block it takes the target's place, or vanishes if the block failed."""
    with _make_folders(target, force=force, if_exists=if_exists) as (new,):
        yield new


@contextmanager
def make_two_folders(public: Path, private: Path, *, force: bool = False) -> Iterator[tuple[Path, Path]]:
    """Give two hidden folders to fill; after the block both take their targets' places, or both vanish if it failed."""
    with _make_folders(private, public, force=force) as (new_private, new_public):
        yield new_public, new_private
        new_public.chmod(0o755)
        (new_private / _MARK).write_text(new_public.parent.name, encoding="utf-8")


@contextmanager
def committing(written: str) -> Iterator[None]:
    """Give finished work its name, with Ctrl-C put off; if the block succeeds, `written` (unless empty) counts as written."""
    with _committing, _signals_put_off():
        yield
        if written:
            _written.append(written)


def remove_unfinished() -> list[str]:
    """Remove what is being made, for a front end that ends the process without unwinding; return what was written before.

    Waits for names that are being given; none can be given afterwards.
    """
    _committing.acquire()
    for place in list(_workplaces):
        for _ in range(10):  # the main thread may still be adding files
            shutil.rmtree(place, ignore_errors=True)
            if not place.exists():
                break
    return list(_written)


# -- what is refused before any work ------------------------------------------------------------------------------------------


def refuse_file(target: Path, *, force: bool = False, if_exists: str = EXISTS) -> None:
    """Refuse a file that exists or cannot be made, before any work; remove what a killed run left."""
    if "\0" in str(target):
        raise OutputRefused(f"{str(target)!r} is not a name that a file can have")
    with _one_sentence():
        if target.name in ("", "..") or (target.exists() and not target.is_file()):
            raise OutputRefused(f"{target} is not a file; expected a file or nothing")
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
    """Refuse a folder that exists or cannot be made, before any work; remove what a killed run left.

    With `force` a folder is replaced if it is empty, or if it holds the file `mark` and no other files than `names`.
    """
    _refuse_folder_name(target)
    with _one_sentence():
        _remove_stale(target)
        _refuse_existing(target, force=force, if_exists=if_exists)
        if target.exists() and not target.is_dir():
            raise OutputRefused(f"{target} is a file; expected a folder or nothing")
        found = sorted(path.name for path in target.iterdir()) if target.exists() else []
        if found and mark and mark not in found:
            raise OutputRefused(
                f"{target} is not what a run left (it has no {mark}), and is not replaced; name another place"
            )
        strangers = [] if names is None else [name for name in found if name not in names]
        if strangers:
            raise OutputRefused(
                f"{target} holds {strangers[0]!r}, which no run left there, and is not replaced; move that or name another place"
            )
        with _workplace(target):  # something has to be made: rights alone do not show a disk that is read-only
            pass


def refuse_two_folders(public: Path, private: Path, *, force: bool = False) -> None:
    """Refuse two folders that exist, cannot be made or lie within each other, before any work; remove what a killed run left."""
    for target in (public, private):
        _refuse_folder_name(target)
    with _one_sentence():
        places = public.resolve(), private.resolve()
        if places[0] == places[1] or places[0] in places[1].parents or places[1] in places[0].parents:
            raise OutputRefused(
                f"the private folder {private} and the release folder {public} must stand apart, neither inside the other"
            )
        if not _is_there(public):
            _remove_uncommitted(public, private)
    for target in (public, private):
        refuse_folder(target, force=force)


def _refuse_folder_name(target: Path) -> None:
    if target.name in ("", "..") or "\0" in str(target):
        raise OutputRefused(f"{str(target)!r} is not a name for a new folder; name another place")


def _refuse_existing(target: Path, *, force: bool, if_exists: str) -> None:
    """Refuse a target that exists, unless forced, or that cannot be made or replaced."""
    if not target.parent.is_dir():
        raise OutputRefused(f"{target.parent} is not a folder; make it first or name another place")
    if _is_there(target) and not force:
        raise OutputRefused(f"{target} {if_exists}")
    if target.is_symlink():
        raise OutputRefused(f"{target} is a link, which is not replaced; name the place it leads to")


def _is_there(target: Path) -> bool:
    return target.is_symlink() or target.exists()


@contextmanager
def _one_sentence(what: str = "") -> Iterator[None]:
    """Turn what the system refuses inside the block into one sentence."""
    try:
        yield
    except OSError as error:
        raise OutputRefused(f"{what or f'{error.filename} cannot be used'}: {error.strerror or error}") from None


# -- workplaces ---------------------------------------------------------------------------------------------------------------


@contextmanager
def _workplace(target: Path) -> Iterator[Path]:
    """Give the folder `new` of a workplace that this process holds; the workplace vanishes after the block."""
    place = target.with_name(f".{target.name}.setveil-staging-{secrets.token_hex(6)}")
    _workplaces.add(place)
    handle = None
    try:
        with _one_sentence(f"{place.parent} cannot be written"):
            place.mkdir(mode=0o700)
            handle = _lock(place)
            (place / _NEW).mkdir(mode=0o700)
        yield place / _NEW
    finally:
        if handle is not None:
            os.close(handle)  # first, since Windows removes no file that is open
        shutil.rmtree(place, ignore_errors=True)
        _workplaces.discard(place)


def _workplaces_beside(target: Path) -> list[Path]:
    found = target.parent.glob(f".{glob.escape(target.name)}.setveil-*")
    return [place for place in found if place.is_dir() and not place.is_symlink()]


def _lock(place: Path) -> int | None:
    """Hold a workplace until the handle is closed; None where another process holds it, or where the file system has no locks."""
    from filelock import lock_descriptor  # noqa: PLC0415 - takes a fiftieth of a second, and only writing needs it

    with suppress(OSError):
        handle = os.open(place / _LOCK, os.O_RDWR | os.O_CREAT, 0o600)
        with suppress(OSError):
            if lock_descriptor(handle, blocking=False):
                return handle
        os.close(handle)
    return None


def _remove_stale(target: Path) -> None:
    """Remove workplaces beside a target that no living process holds."""
    for place in _workplaces_beside(target):
        handle = _lock(place)
        if handle is not None:
            os.close(handle)
            shutil.rmtree(place, ignore_errors=True)


def _remove_uncommitted(public: Path, private: Path) -> None:
    """Remove a private folder whose public one never came: its mark names the workplace that still holds the public one.

    Where nothing is there any more, the public folder did come and was moved elsewhere since: then the private one is still needed. Where
    a living process holds the workplace, the public folder is about to come.
    """
    mark = private / _MARK
    named = mark.read_text(encoding="utf-8") if mark.is_file() else ""
    for place in _workplaces_beside(public):
        handle = _lock(place) if place.name == named and (place / _NEW).exists() else None
        if handle is not None:
            with _workplace(private) as new:  # removed in its own place, a part of it could stay
                private.rename(new.with_name(_OLD))
            os.close(handle)


# -- how work gets its name ---------------------------------------------------------------------------------------------------


@contextmanager
def _make_folders(*targets: Path, force: bool, if_exists: str = EXISTS) -> Iterator[list[Path]]:
    """Give a hidden folder for each target; after the block they take their places in this order."""
    with ExitStack() as stack:
        made = [stack.enter_context(_workplace(target)) for target in targets]
        with _one_sentence(f"{' and '.join(map(str, reversed(targets)))} cannot be written"):
            yield made
            for folder in made:
                _sync_tree(folder)
        with committing(str(targets[-1])):
            for target in targets:
                _refuse_existing(target, force=force, if_exists=if_exists)  # another process may have made it meanwhile
            _rename(list(zip(made, targets, strict=True)))


def _rename(pairs: list[tuple[Path, Path]]) -> None:
    """Move old folders out of the way, the last one first, and new ones in; where that fails, everything goes back to its place."""
    moved: list[tuple[Path, Path]] = []
    try:
        for new, target in reversed(pairs):
            if target.exists():
                moved.append((target, target.rename(new.with_name(_OLD))))
        for new, target in pairs:
            moved.append((new, new.rename(target)))
            _sync(target.parent)
    except OSError as error:
        for before, now in reversed(moved):
            now.rename(before)
        raise OutputRefused(f"{error.filename2 or error.filename} cannot be written: {error.strerror}") from None
    if len(pairs) > 1:
        (pairs[0][1] / _MARK).unlink()


def _link(made: Path, target: Path, if_exists: str) -> None:
    """Give a file its name, unless that is taken, which a plain renaming would not look at."""
    try:
        os.link(made, target)
    except FileExistsError:
        raise OutputRefused(f"{target} {if_exists}") from None
    except OSError as error:
        if error.errno not in (errno.EPERM, errno.ENOTSUP, errno.EMLINK):
            raise
        made.rename(target)  # some file systems know no links


@contextmanager
def _signals_put_off() -> Iterator[None]:
    """Hear what asks the program to stop after the block only."""
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
    """Have the system write a file or a folder to disk."""
    is_folder = path.is_dir()
    with suppress(OSError) if is_folder else nullcontext():  # some systems open no folder, and some cannot sync one
        handle = os.open(path, os.O_RDONLY if is_folder else os.O_RDWR)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
