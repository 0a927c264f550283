"""The sources that a kernel's machine code depends on, and their hash.

A compiled kernel contains the kernels it calls and the constants it names. It depends on its own file and on every kernel source that
this file imports, directly or not. From a module without kernels it may import literal constants only, so of such a module the text
counts and its imports do not. `jit.py` is no source of machine code: how it compiles (`forms.py`) is part of the key of every kernel. A
test reads every kernel source and verifies these rules.
"""

from __future__ import annotations

import hashlib
import re
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parents[1]
_IMPORTS = re.compile(rb"^(?:from|import)[ ]+setveil\.([\w.]+)", re.MULTILINE)
_COMPILER = "kernels.jit"


def hash_sources(module: Path, *stamp: str, package: Path = PACKAGE) -> str:
    """Hash the sources that the kernels of a file depend on, and what else shapes their machine code."""
    digest = hashlib.sha256(repr(stamp).encode())
    for source in find_sources(module, package=package):
        name = source.relative_to(package).as_posix() if source.is_relative_to(package) else source.name
        digest.update(b"\0" + name.encode() + b"\0" + hashlib.sha256(_read(source)).digest())
    return digest.hexdigest()


def find_sources(module: Path, *, package: Path = PACKAGE) -> list[Path]:
    """Return a file of kernels and the files that their machine code depends on, in an order that depends on their names only."""
    found: set[Path] = set()
    waiting = [module]
    while waiting:
        source = waiting.pop()
        if source not in found:
            found.add(source)
            if source == module or is_kernel_source(source, package=package):
                waiting += [_file_of(name, package) for name in _imports(source) if name != _COMPILER]
    return [module, *sorted(found - {module})]


def is_kernel_source(source: Path, *, package: Path = PACKAGE) -> bool:
    """Return whether a file may hold kernels that other kernels call."""
    return source.name.endswith("_kernels.py") or source.parent == package / "kernels"


def _file_of(name: str, package: Path) -> Path:
    place = package.joinpath(*name.split("."))
    return place / "__init__.py" if place.is_dir() else place.with_name(f"{place.name}.py")


@cache
def _read(source: Path) -> bytes:
    return source.read_bytes()


@cache
def _imports(source: Path) -> list[str]:
    return [name.decode() for name in _IMPORTS.findall(_read(source))]
