"""What an engine can do.

Long loops get a *control* array: they write how much is done to `control[DONE]` and return early, with whatever they have, once
`control[STOP]` is not 0. That is how progress is shown and how Ctrl-C is heard while compiled code runs.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

DONE = 0
STOP = 1
CONTROL_WIDTH = 8
"""Control arrays are as long as a cache line, so that two threads do not write to the same one."""

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
