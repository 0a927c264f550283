"""The one place that compiles: `@kernel`.

Why not plain `numba.njit(cache=True)`: Numba's disk cache looks at the file of the kernel only, so that a kernel keeps calling the old
binary of another one that changed. Here the cache folder's name holds a hash of the sources of all kernels and of the versions that
matter: whatever changes, a new folder starts. It lies under the user's cache directory, so that read-only installs work too.

Environment: SETVEIL_CACHE_DIR names another place for the cache. NUMBA_DISABLE_JIT=1 runs the kernels as plain Python.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
import time
from contextlib import contextmanager, suppress
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Any

import numba
import numpy as np
from numba.core import event

from setveil.base.cache_directory import find_cache_directory

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

KEEP_UNUSED_SECONDS = 30 * 24 * 3600
"""Caches of other versions are removed when they have not been used for this long."""

KERNELS: list[Any] = []
"""Every kernel that was declared: a test shows that a job which uses them all compiles none on its second run."""


def source_hash() -> str:
    """Hash the sources of all kernels and the versions that shape the machine code."""
    package = Path(__file__).parents[1]
    sources = sorted([*package.rglob("_*_kernels.py"), *(package / "kernels").glob("*.py")])
    digest = hashlib.sha256()
    for number in (version("numba"), version("llvmlite"), np.__version__, sys.version):
        digest.update(number.encode() + b"\0")
    for source in sources:
        digest.update(source.relative_to(package).as_posix().encode() + b"\0" + source.read_bytes() + b"\0")
    return digest.hexdigest()[:20]


def _prepare_cache() -> str | None:
    """Make the cache folder of this version and sweep out old ones; None where nothing can be written."""
    root = find_cache_directory()
    folder = root / f"kernels-{source_hash()}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        os.utime(folder)
        with TemporaryFile(dir=folder):  # a folder that is there may still not be ours to write to
            pass
    except OSError:
        return None
    for other in root.glob("kernels-*"):
        with suppress(OSError):
            if other != folder and time.time() - other.stat().st_mtime > KEEP_UNUSED_SECONDS:
                shutil.rmtree(other)
    return str(folder)


_CACHE = _prepare_cache()


def kernel(function: Callable[..., Any]) -> Any:
    """Compile a loop over arrays when it is first called: cached on disk, without the interpreter's lock, without fastmath."""
    before = numba.config.CACHE_DIR
    try:
        numba.config.CACHE_DIR = (
            _CACHE or before
        )  # read by Numba here, at declaration; other users' setting is put back
        compiled = numba.njit(nogil=True, cache=_CACHE is not None, fastmath=False, boundscheck=False)(function)
    finally:
        numba.config.CACHE_DIR = before
    KERNELS.append(compiled)
    return compiled


class _Listener(event.Listener):  # type: ignore[misc]  # Numba has no types
    """Hears of compiling; kernels that one calls are compiled inside it, so only the outermost counts."""

    def __init__(self, tell: Callable[[str | None], None]) -> None:
        self.tell = tell
        self.depth = 0

    def on_start(self, happening: Any) -> None:
        """Tell that a kernel is being compiled."""
        self.depth += 1
        if self.depth == 1:
            self.tell(happening.data["dispatcher"].py_func.__name__)

    def on_end(self, happening: Any) -> None:
        """Tell that it is done."""
        del happening
        self.depth -= 1
        if self.depth == 0:
            self.tell(None)


@contextmanager
def compiling(tell: Callable[[str | None], None]) -> Iterator[None]:
    """Call `tell` with a kernel's name when one is compiled inside the block, which happens on its first use only, and with None after."""
    listener = _Listener(tell)
    event.register("numba:compile", listener)
    try:
        yield
    finally:
        event.unregister("numba:compile", listener)
