"""The one place that compiles: `@kernel`.

Why not `numba.njit(cache=True)`: Numba's disk cache looks at the file of the kernel only, so that a kernel keeps calling the old binary of
another one that changed; its key holds the path of the source; and a damaged file ends the program. Here every file of kernels has a
folder of its own in the user's cache directory. The folder's name holds a hash of the sources that its machine code depends on
(`sources.py`), of how they are compiled (`forms.py`) and of the versions that matter: when one of them changes, a new folder starts. The
name of a file in it holds a hash of the types of the arguments and of the processor. A file that is damaged, or that cannot be read or
written, is no error: the kernel is compiled. Kernels that were installed compiled (`shipped.py`) come before the cache; nothing is ever
saved among them.

Environment: SETVEIL_CACHE_DIR names another place for the cache. SETVEIL_SHIPPED_KERNELS=0 ignores kernels that were installed compiled.
NUMBA_DISABLE_JIT=1 runs the kernels as plain Python.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import shutil
import sys
import time
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import TYPE_CHECKING, Any

import llvmlite
import numba
import numpy as np
from llvmlite import binding
from numba.core import caching, event, sigutils
from numba.core.compiler import CompileResult
from numba.core.runtime import rtsys
from numba.core.serialize import dumps

from setveil.base import progress
from setveil.base.cache_directory import find_cache_directory
from setveil.kernels import forms
from setveil.kernels.shipped import Shipped, find_shipped
from setveil.kernels.sources import hash_sources

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

VERSIONS = {
    "python": str(sys.implementation.cache_tag),
    "numba": numba.__version__,
    "llvmlite": llvmlite.__version__,
    "numpy": np.__version__,
}
"""The versions that shape the machine code. Of Python the minor version: its bytecode stays the same within it."""
KEEP_UNUSED_SECONDS = 30 * 24 * 3600
"""Folders of compiled kernels are removed when they have not been used for this long."""

KERNELS: list[Any] = []
"""Every kernel that was declared: a test shows that a job which uses them all compiles none on its second run."""

_CACHE = find_cache_directory()


def source_hash(module: Path) -> str:
    """Hash the sources that the kernels of a file depend on, how they are compiled, and the versions."""
    return hash_sources(module, _hash_compiler(), repr(VERSIONS))[:20]


@cache
def _hash_compiler() -> str:
    return hashlib.sha256(Path(forms.__file__).read_bytes()).hexdigest()


def kernel(function: Callable[..., Any]) -> Any:
    """Compile a loop over arrays when it is first called: cached on disk, without the interpreter's lock, without fastmath."""
    if numba.config.DISABLE_JIT:
        KERNELS.append(function)
        return function
    compiled = forms.Kernel(function)
    if function.__closure__ is None:
        with suppress(OSError):  # without a source file, for example at a prompt
            compiled.entry._cache = _KernelCache(function)  # noqa: SLF001 - Numba's own `enable_caching` sets this too
    KERNELS.append(compiled)
    return compiled


@cache
def _folder_of(module: str, file: str) -> Path:
    """Return the cache folder of a file of kernels, and mark it as used; it exists when something was saved."""
    folder = _CACHE / f"kernels-{module.removeprefix('setveil.')}-{source_hash(Path(file))}"
    with suppress(OSError):
        os.utime(folder)
    return folder


@cache
def _remove_unused(root: Path) -> None:
    """Remove the folders that have not been used for a long time, once per process."""
    for folder in root.glob("kernels-*"):
        with suppress(OSError):
            if time.time() - folder.stat().st_mtime > KEEP_UNUSED_SECONDS:
                shutil.rmtree(folder)


@cache
def _shipped() -> Shipped | None:
    """Return the kernels that were installed compiled, if they fit."""
    return find_shipped(VERSIONS, binding.get_process_triple(), binding.get_host_cpu_features())


def read_checked(path: Path) -> bytes | None:
    """Return what a file of the cache holds after its SHA-256, or None if it is missing or damaged."""
    try:
        content = path.read_bytes()
    except OSError:
        return None
    return content[32:] if hashlib.sha256(content[32:]).digest() == content[:32] else None


class _KernelCache(caching._Cache):  # type: ignore[misc]  # noqa: SLF001 - Numba has no types; the interface of its caches
    """Compiled forms of one kernel on disk: a file per tuple of argument types and processor."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self._folder = _folder_of(function.__module__, function.__code__.co_filename)

    @property
    def cache_path(self) -> str:
        """The folder of the files."""
        return str(self._folder)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the kernel for these types, or None if it must be compiled."""
        rtsys.initialize(
            target_context
        )  # what stored kernels call; Numba's full set-up takes 0.3 s, and only compiling needs it
        for read in (self._read_shipped, self._read_cached):
            with suppress(Exception):  # whatever is wrong with a stored kernel, compiling is the answer
                stored = read(sig, target_context.codegen())
                parts = None if stored is None else pickle.loads(stored)  # noqa: S301 - verified where it is read
                if parts is not None and self._is_asked_for(parts, sig):
                    place = "installed" if read == self._read_shipped else "cached"
                    progress.detail(f"loop {self._function.__name__}: compiled before ({place})")
                    return CompileResult._rebuild(target_context, *parts)  # noqa: SLF001 - as Numba's own cache does
        progress.detail(f"loop {self._function.__name__}: is compiled now")
        return None

    def _is_asked_for(self, parts: tuple[Any, ...], sig: Any) -> bool:
        """Return whether a stored kernel is this one, for these types."""
        described, signature = parts[1], parts[3]
        arguments, _returned = sigutils.normalize_signature(sig)
        named = described.modname, described.qualname
        return named == (self._function.__module__, self._function.__qualname__) and signature.args == tuple(arguments)

    def _read_shipped(self, sig: Any, _codegen: Any) -> bytes | None:
        shipped = _shipped()
        return shipped.read(f"{self._folder.name}/{self._name_file(sig, shipped.target)}") if shipped else None

    def _read_cached(self, sig: Any, codegen: Any) -> bytes | None:
        return read_checked(self._folder / self._name_file(sig, codegen.magic_tuple()))

    def save_overload(self, sig: Any, data: Any) -> None:
        """Store a compiled kernel; where nothing can be written, it is compiled again in the next process."""
        if data.lifted or data.library.has_dynamic_globals:  # bound to this process
            return
        *parts, environments = data._reduce()  # noqa: SLF001 - as Numba's own cache does
        # Loading an environment imports its module. One without constants holds nothing that machine code reads.
        stored = dumps((*parts, tuple(each for each in environments if each.consts)))
        with suppress(OSError):
            self._folder.mkdir(parents=True, exist_ok=True)
            with NamedTemporaryFile(dir=self._folder, delete=False) as file:
                try:
                    file.write(hashlib.sha256(stored).digest() + stored)
                    file.close()
                    Path(file.name).replace(self._folder / self._name_file(sig, data.codegen.magic_tuple()))
                except BaseException:
                    Path(file.name).unlink(missing_ok=True)
                    raise
        _remove_unused(_CACHE)

    def _name_file(self, sig: Any, target: tuple[str, str, str]) -> str:
        """Name a file after the kernel and a hash of the types, the processor and the bytecode."""
        arguments, returned = sigutils.normalize_signature(sig)
        code = self._function.__code__
        types = [_describe(kind) for kind in arguments], str(returned)
        key = repr((types, target, code.co_qualname, code.co_firstlineno, code.co_code))
        return f"{code.co_name}-{hashlib.sha256(key.encode()).hexdigest()[:20]}.nbc"

    def flush(self) -> None:
        """Forget nothing: files of other types stay valid."""

    enable = disable = flush


def _describe(kind: Any) -> Any:
    """Describe a type of Numba. Its own names leave out the fields of a named tuple, whose order the machine code depends on."""
    if not isinstance(kind, numba.types.BaseTuple):
        return str(kind)
    made_by = getattr(kind, "instance_class", tuple)
    return (
        made_by.__module__,
        made_by.__qualname__,
        getattr(made_by, "_fields", ()),
        [_describe(part) for part in kind.types],
    )


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
