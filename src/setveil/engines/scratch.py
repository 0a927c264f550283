"""The scratch folder: for data that may be larger than memory, while they are worked on.

It is a context variable, so that code far below a call uses the folder that the caller chose. By default it is the folder of the system for
temporary files (`TMPDIR`).
"""

from __future__ import annotations

import errno
import shutil
import tempfile
import weakref
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING

from setveil.base.display import size_text
from setveil.errors import OutputRefused

if TYPE_CHECKING:
    from collections.abc import Iterator

_folder: ContextVar[Path | None] = ContextVar("setveil_scratch", default=None)

OTHER_FOLDER = "free some space, or choose a folder on another disk with `scratch=` or the variable TMPDIR"
"""The end of a message about a scratch folder without room."""


def scratch_folder() -> Path:
    """Return the folder for temporary files."""
    return _folder.get() or Path(tempfile.gettempdir())


@contextmanager
def using_scratch(folder: str | Path | None) -> Iterator[None]:
    """Put the temporary files of the block into this folder, which is made if it is missing; None leaves it as it is."""
    chosen = _folder.get() if folder is None else Path(folder)
    token = _folder.set(chosen)
    try:
        if folder is not None:
            with refusing_full_disk():
                Path(folder).mkdir(parents=True, exist_ok=True, mode=0o700)
        yield
    finally:
        _folder.reset(token)


class TemporaryFolder:
    """A folder in the scratch folder. It is removed when nothing refers to this object any more, and when the process ends."""

    def __init__(self, name: str) -> None:
        with refusing_full_disk():
            self.path = Path(tempfile.mkdtemp(dir=scratch_folder(), prefix=f"setveil-{name}-"))
        weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)


def refuse_unless_free(size: int, what: str) -> None:
    """Refuse work that needs more temporary files than the disk has room for, before it starts."""
    folder = scratch_folder()
    with refusing_full_disk():
        free = shutil.disk_usage(folder).free
    if size > free:
        raise OutputRefused(
            f"{what} needs about {size_text(size)} for temporary files in {folder}, which has {size_text(free)} left; {OTHER_FOLDER}"
        )


@contextmanager
def refusing_full_disk() -> Iterator[None]:
    """Raise an error that says what to do if a temporary file cannot be written."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise OutputRefused(
                f"{scratch_folder()}, the folder for temporary files, is full; {OTHER_FOLDER}"
            ) from None
        raise OutputRefused(
            f"{scratch_folder()}, the folder for temporary files, cannot be used ({error.strerror}); choose another one with `scratch=` "
            "or the variable TMPDIR"
        ) from None
