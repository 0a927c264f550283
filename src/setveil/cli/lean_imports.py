"""Import no more than a command uses: what libraries import beside it takes longer than a small job.

Arrow imports pandas, if it is installed, when it first makes an array. Numba imports `scipy.linalg` to see whether it could compile
linear algebra, which no kernel contains. While libraries are imported, Python looks for garbage hundreds of times among objects that
stay. This holds for the program only: in Python, all of it works as usual.
"""

from __future__ import annotations

import gc
import sys
from contextlib import contextmanager
from importlib.abc import MetaPathFinder
from importlib.machinery import PathFinder
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType

UNUSED = "pandas"
ASKING, ASKED = "numba.np.arraymath", "scipy.linalg.cython_blas"
"""The module that asks for linear algebra once, while it is imported, and what it imports to find out."""
NEW_OBJECTS_BEFORE_COLLECTION = 100_000
"""Python's own number, 700, costs a small job a tenth of its time. Importing all libraries makes about 200,000 objects."""


def install() -> None:
    """Let this process import neither pandas nor, for Numba, `scipy.linalg`, and seldom look for garbage."""
    gc.set_threshold(NEW_OBJECTS_BEFORE_COLLECTION)
    sys.meta_path.insert(0, _LeanFinder())


class _LeanFinder(MetaPathFinder):
    """Finds no pandas, and lets Numba find no linear algebra; SciPy itself can still import its own."""

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        """Return how to import the module that asks for linear algebra; None leaves others to the other finders."""
        if name == UNUSED:
            raise ModuleNotFoundError(f"no command uses {name}", name=name)
        spec = PathFinder.find_spec(name, path, target) if name == ASKING else None
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def execute_without(module: ModuleType) -> None:
                with _not_found(ASKED):
                    execute(module)

            spec.loader.exec_module = execute_without  # type: ignore[method-assign]
        return spec


@contextmanager
def _not_found(name: str) -> Iterator[None]:
    """Let a module that was not imported yet not be found inside the block."""
    if name in sys.modules:
        yield
        return
    sys.modules[name] = None  # type: ignore[assignment]  # Python's own sign that there is none
    try:
        yield
    finally:
        del sys.modules[name]
