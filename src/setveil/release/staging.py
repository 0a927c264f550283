"""Two folders that appear together or not at all.

Both are filled under hidden names beside their targets (`unfinished`), synced, and renamed, the private one first: where the public folder
is, the private one is complete. A private folder whose public one never came is recognised by a mark inside it.
"""

from __future__ import annotations

import os
import shutil
from contextlib import contextmanager
from typing import TYPE_CHECKING

from setveil.errors import OutputRefused
from setveil.unfinished import committing, hidden_beside, hidden_folder, hidden_name, lock, sweep, sync

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_MARK = ".uncommitted"


def private_beside(out: Path) -> Path:
    """Return where the private folder goes unless said otherwise."""
    return out.parent / f"{out.name}.private"


def refuse_taken(out: Path, private: Path, *, force: bool) -> None:
    """Refuse targets that exist, before any work is done; clear away what a killed run left."""
    for target in (out, private):
        _refuse_name(target)
    places = out.resolve(), private.resolve()
    if places[0] == places[1] or places[0] in places[1].parents or places[1] in places[0].parents:
        raise OutputRefused(
            f"the private folder {private} and the release folder {out} must stand apart, neither inside the other"
        )
    try:
        if not _there(out):
            _put_away_uncommitted(out, private)
        for target in (out, private):
            sweep(target)
        for target in (out, private):
            _refuse(target, force=force)
            if target.exists() and not target.is_dir():
                raise OutputRefused(f"{target} is a file; expected a folder or nothing")
            _refuse_unwritable(target)
    except OSError as error:
        raise OutputRefused(f"{error.filename} cannot be used: {error.strerror}") from None


def _refuse_name(target: Path) -> None:
    if target.name in ("", "..") or "\0" in str(target):
        raise OutputRefused(f"{str(target)!r} is not a name for a new folder; name another place")


def _refuse_unwritable(target: Path) -> None:
    """Refuse a place where nothing can be made, by making something: rights alone do not tell, as on a disk that is read-only."""
    with hidden_folder(target):
        pass


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
    handle = lock(private) if staging else None
    if handle is None:  # a living process is about to make the public one
        return
    if staging in {path.name for path in hidden_beside(out)}:
        private.rename(hidden_name(private, "old"))  # and swept there: removed in place, a part of it could stay
    os.close(handle)


@contextmanager
def staged(out: Path, private: Path, *, force: bool = False) -> Iterator[tuple[Path, Path]]:
    """Give two hidden folders to fill; after the block they take the targets' places, or vanish if it failed."""
    with hidden_folder(private) as private_staging, hidden_folder(out) as out_staging:
        try:
            yield out_staging, private_staging
            out_staging.chmod(0o755)
            (private_staging / _MARK).write_text(out_staging.name, encoding="utf-8")
            for folder in (private_staging, out_staging):
                _sync_tree(folder)
        except OSError as error:
            raise OutputRefused(f"{out} and {private} cannot be written: {error.strerror or error}") from None
        _commit([(private_staging, private), (out_staging, out)], force=force)


@contextmanager
def staged_folder(target: Path, *, force: bool) -> Iterator[Path]:
    """Give one hidden folder to fill; after the block it takes the target's place, or vanishes if it failed."""
    with hidden_folder(target) as staging:
        try:
            yield staging
            _sync_tree(staging)
        except OSError as error:
            raise OutputRefused(f"{target} cannot be written: {error.strerror or error}") from None
        with committing(str(target)):
            _refuse(target, force=force)  # another process may have made it meanwhile
            retired = target.rename(hidden_name(target, "old")) if target.exists() else None
            staging.rename(target)
            sync(target.parent)
        if retired is not None:
            shutil.rmtree(retired, ignore_errors=True)


def refuse_folder_taken(target: Path, *, mark: str, names: frozenset[str], force: bool) -> None:
    """Refuse a folder that exists, before any work is done; with `force` only one that holds the file `mark` and no other than `names`."""
    _refuse_name(target)
    sweep(target)
    _refuse(target, force=force)
    if target.exists() and not target.is_dir():
        raise OutputRefused(f"{target} is a file; expected a folder or nothing")
    there = sorted(path.name for path in target.iterdir()) if target.is_dir() else []
    if there and not (target / mark).is_file():
        raise OutputRefused(
            f"{target} is not what a run left (it has no {mark}), and is not replaced; name another place"
        )
    strangers = [name for name in there if name not in names]
    if strangers:
        raise OutputRefused(
            f"{target} holds {strangers[0]!r}, which no run left there, and is not replaced; move that or name another place"
        )
    _refuse_unwritable(target)


def _commit(pairs: list[tuple[Path, Path]], *, force: bool) -> None:
    """Rename both, with Ctrl-C held off: old ones out of the way (the public one first), then private, then public.

    Where that fails, everything goes back to its place.
    """
    with committing(str(pairs[-1][1])):
        for _made, target in pairs:
            _refuse(target, force=force)  # another process may have made it meanwhile
        moved: list[tuple[Path, Path]] = []
        try:
            for _made, target in reversed(pairs):
                if target.exists():
                    moved.append((target, target.rename(hidden_name(target, "old"))))
            retired = [now for _before, now in moved]
            for made, target in pairs:
                moved.append((made, made.rename(target)))
                sync(target.parent)
        except OSError as error:
            for before, now in reversed(moved):
                now.rename(before)
            raise OutputRefused(f"{error.filename2 or error.filename} cannot be written: {error.strerror}") from None
        (pairs[0][1] / _MARK).unlink()
        for aside in retired:
            shutil.rmtree(aside, ignore_errors=True)


def _sync_tree(folder: Path) -> None:
    for path in (*folder.rglob("*"), folder):
        sync(path)


def refuse_file(target: Path, *, force: bool) -> None:
    """Refuse a file that exists or cannot be made, before any work is done; clear away what a killed run left."""
    if "\0" in str(target):
        raise OutputRefused(f"{str(target)!r} is not a name that a file can have")
    if target.name in ("", "..") or (target.exists() and not target.is_file()):
        raise OutputRefused(f"{target} is not a file; expected a file or nothing")
    sweep(target)
    _refuse(target, force=force)


@contextmanager
def replacing(target: Path, *, force: bool) -> Iterator[Path]:
    """Give a hidden file to write to; after the block it takes the target's place, or vanishes if it failed."""
    refuse_file(target, force=force)
    with hidden_folder(target) as folder:
        hidden = folder / target.name  # the ending stays, since it names the format
        yield hidden
        with committing(str(target)):
            _refuse(target, force=force)  # another process may have made it meanwhile
            sync(hidden)
            hidden.rename(target)
            sync(target.parent)
