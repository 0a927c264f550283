"""A database file that appears whole or not at all.

It is filled in a hidden folder beside its place (`unfinished`) and linked to its name at the end, which fails where that name was taken
meanwhile.
"""

from __future__ import annotations

import errno
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

from setveil.errors import OutputRefused
from setveil.unfinished import committing, hidden_folder, sweep, sync

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@contextmanager
def new_file(target: Path) -> Iterator[Path]:
    """Give the hidden name of a file to make; after the block it takes its place, or vanishes if the block failed."""
    try:
        sweep(target)
    except OSError as error:
        raise OutputRefused(f"{target} cannot be written: {error.strerror}") from None
    with hidden_folder(target) as folder:
        hidden = folder / target.name
        yield hidden
        try:
            if os.listdir(folder) != [target.name]:  # noqa: PTH208 - a log that still belongs to it would be lost
                raise OutputRefused(f"{target} cannot be completed; look whether the disk is full")
            sync(hidden)
            with committing(str(target)):
                _move(hidden, target)
                sync(target.parent)
        except FileExistsError:
            raise OutputRefused(
                f"{target} was made by somebody else meanwhile; run again to add a table to it"
            ) from None
        except OSError as error:
            raise OutputRefused(f"{target} cannot be written: {error.strerror}") from None


def _move(hidden: Path, target: Path) -> None:
    """Give a file its name, unless that is taken, which a plain renaming would not look at."""
    try:
        os.link(hidden, target)
    except OSError as error:
        if error.errno not in (errno.EPERM, errno.ENOTSUP, errno.EMLINK) or target.exists():
            raise
        hidden.rename(target)  # some file systems know no links
