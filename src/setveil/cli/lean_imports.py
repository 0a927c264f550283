"""Import no more than a command uses: what libraries import beside it takes longer than a small job.

Arrow imports pandas, if it is installed, when it first makes an array, and writes docstrings for all of its 290 functions. Numba imports
`scipy.linalg` to see whether it could compile linear algebra, which no kernel contains. While libraries are imported, Python looks for
garbage hundreds of times among objects that stay. This holds for the program only: in Python, all of it works as usual.
"""

from __future__ import annotations

import gc
import sys
from contextlib import contextmanager
from importlib.machinery import PathFinder
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from contextlib import AbstractContextManager
    from importlib.machinery import ModuleSpec
    from types import ModuleType

UNUSED, USER = "pandas", "pyspark"
"""Only the client of Spark uses pandas."""
NEW_OBJECTS_BEFORE_COLLECTION = 100_000
"""Python's own number, 700, costs a small job a tenth of its time. Importing all libraries makes about 200,000 objects."""


def install() -> None:
    """Let this process import no more than it uses, and seldom look for garbage."""
    gc.set_threshold(NEW_OBJECTS_BEFORE_COLLECTION)
    sys.meta_path.insert(0, _LeanFinder())


class _LeanFinder:
    """Finds no pandas that nothing uses, and imports some modules under a condition. It extends no class, as `importlib.abc` is slow."""

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        """Return how to import a module under its condition; None leaves others to the other finders."""
        if name == UNUSED and USER not in sys.modules:
            raise ModuleNotFoundError(f"no command uses {name}", name=name)
        condition = CONDITIONS.get(name)
        spec = PathFinder.find_spec(name, path, target) if condition else None
        if condition is not None and spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def execute_under_condition(module: ModuleType) -> None:
                with condition():
                    execute(module)

            spec.loader.exec_module = execute_under_condition  # type: ignore[method-assign]
        return spec


@contextmanager
def _no_linear_algebra() -> Iterator[None]:
    """Let Numba not find what SciPy compiled of linear algebra; SciPy itself can still import it."""
    name = "scipy.linalg.cython_blas"
    if name in sys.modules:
        yield
        return
    sys.modules[name] = None  # type: ignore[assignment]  # Python's own sign that there is none
    try:
        yield
    finally:
        del sys.modules[name]


@contextmanager
def _no_parsed_docstrings() -> Iterator[None]:
    """Let Arrow describe its functions without the parameters that it would parse from docstrings."""
    from pyarrow.vendored import docscrape  # noqa: PLC0415 - imports Arrow

    parse = docscrape.NumpyDocString
    docscrape.NumpyDocString = lambda _text: {"Parameters": ()}
    try:
        yield
    finally:
        docscrape.NumpyDocString = parse


CONDITIONS: dict[str, Callable[[], AbstractContextManager[None]]] = {
    "numba.np.arraymath": _no_linear_algebra,
    "pyarrow.compute": _no_parsed_docstrings,
}
"""Modules that do work while they are imported, and how to import them without it."""
