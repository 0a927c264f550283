"""All cores of one machine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from setveil.engines.base import Engine, Part, Result
from setveil.kernels import threads as threads_of_this_machine

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


class LocalEngine(Engine):
    """Runs work in threads of this process while the main thread shows progress and listens for Ctrl-C."""

    def __init__(self, threads: int | None = None) -> None:
        self.threads = threads_of_this_machine.number_of_threads(threads)

    def run(self, label: str, work: Callable[[Any], Result], *, total: int | None = None) -> Result:
        """Run one long piece of work."""
        return self.share(label, [None], lambda _part, control: work(control), total=total)[0]

    def share(
        self, label: str, parts: Sequence[Part], work: Callable[[Part, Any], Result], *, total: int | None = None
    ) -> list[Result]:
        """Run the work for every part, on all threads."""
        return threads_of_this_machine.share(label, parts, work, threads=self.threads, total=total)
