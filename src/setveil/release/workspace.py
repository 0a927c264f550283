"""The folder in which the finished blocks of a publication remain until it ends, so that the same call resumes a run that was killed.

It is in the scratch folder, and its name depends on everything that determines the blocks. A seed that was drawn is stored there too.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from contextlib import contextmanager
from typing import TYPE_CHECKING

from setveil import __version__
from setveil.base import progress
from setveil.base.atomic import lock_folder, replace_file
from setveil.base.display import quantity
from setveil.engines.scratch import refusing_full_disk
from setveil.errors import OutputRefused
from setveil.release.seed import Seed, framed

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_SEED = "seed"


@contextmanager
def workspace(scratch: Path, *facts: str) -> Iterator[Path]:
    """Yield the folder of the publication with these facts. It is removed after the block, unless the block fails."""
    folder = scratch / f"setveil-{hashlib.sha256(framed(__version__, *facts)).hexdigest()[:16]}"
    with refusing_full_disk():
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    handle = lock_folder(folder)
    if handle is None:
        raise OutputRefused(
            f"another run works in {folder}; wait for its end, or choose another folder with `scratch=`"
        )
    try:
        if found := len([*folder.glob("*/*.arrow")]):
            progress.note(f"resuming an earlier run: {quantity(found, 'block')} of its steps are in {folder}")
        yield folder
    except BaseException:
        os.close(handle)
        progress.note(
            f"finished blocks remain in {folder}: the same call resumes from them. They are private; remove them otherwise"
        )
        raise
    os.close(handle)  # before removing: Windows cannot remove an open file
    shutil.rmtree(folder, ignore_errors=True)


def kept_seed(folder: Path) -> Seed:
    """Return the seed that an earlier run drew, or draw one and store it."""
    file = folder / _SEED
    if file.exists():
        return Seed(int(file.read_text(encoding="ascii")), given=False)
    seed = Seed.of(None)
    replace_file(file, str(seed.value).encode(), mode=0o600, is_result=False)
    return seed
