"""What an engine can do.

Long loops get a *control* array (`kernels/control.py`). That is how progress is shown and how Ctrl-C is heard while compiled code runs.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, TypeVar

from setveil.kernels.control import CONTROL_WIDTH, DONE, STOP

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["CONTROL_WIDTH", "DONE", "STOP", "Engine", "Part", "Result"]

Result = TypeVar("Result")
Part = TypeVar("Part")


class Engine(ABC):
    """Runs the parts of a method. Results never depend on the number of threads."""

    threads: int = 1

    @abstractmethod
    def run(self, label: str, work: Callable[[Any], Result], *, total: int | None = None) -> Result:
        """Run one long piece of work, `work(control)`, and show `label` with its progress out of `total`."""

    @abstractmethod
    def share(
        self, label: str, parts: Sequence[Part], work: Callable[[Part, Any], Result], *, total: int | None = None
    ) -> list[Result]:
        """Run `work(part, control)` for every part, on all threads; the results come back in the order of the parts."""
