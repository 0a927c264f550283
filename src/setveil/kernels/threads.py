"""Loops on all cores of one machine: threads, since kernels run without the interpreter's lock.

The main thread shows progress and listens for Ctrl-C; a loop hears of it through its control array (`control`). The number of threads is
a context variable, so that loops far below a call use as many as the caller asked for. Results never depend on it.

    with using_threads(2):
        results = share("counting", parts, count_part, total=n)
"""

from __future__ import annotations

import os
from collections import deque
from contextlib import ExitStack, contextmanager, nullcontext
from contextvars import ContextVar, copy_context
from functools import wraps
from threading import Thread
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeVar

import numpy as np

from setveil.base import progress
from setveil.base.arguments import refuse_other_kind
from setveil.errors import BadParameter
from setveil.kernels.control import CONTROL_WIDTH, DONE, STOP

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

POLL_SECONDS = 0.05

Result = TypeVar("Result")
Part = TypeVar("Part")
Parameters = ParamSpec("Parameters")

_asked: ContextVar[int | None] = ContextVar("setveil_threads", default=None)
_outer: ContextVar[Any] = ContextVar("setveil_outer_control", default=None)
"""The control array of the part whose work this is; None outside of a part."""


def number_of_threads() -> int:
    """Return how many threads loops use here: as many as were asked for, otherwise one per core that this process may use."""
    available = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return _asked.get() or available


def is_part() -> bool:
    """Return whether this is the work of a part, which shows no step of its own."""
    return _outer.get() is not None


@contextmanager
def using_threads(number: int | None) -> Iterator[None]:
    """Let loops inside the block use this number of threads; None leaves it as it is."""
    refuse_other_kind("threads", number, "int | None", {})
    if number is not None and number < 1:
        raise BadParameter(f"{number} threads were asked for; there must be at least 1")
    token = _asked.set(number or _asked.get())
    try:
        yield
    finally:
        _asked.reset(token)


def with_threads(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """Let the keyword `threads` of a function hold for all loops below it."""

    @wraps(function)
    def call(*values: Parameters.args, **named: Parameters.kwargs) -> Result:
        with using_threads(named.get("threads")):  # type: ignore[arg-type]  # as the function declares it
            return function(*values, **named)

    return call


def run(label: str, work: Callable[[Any], Result], *, total: int | None = None) -> Result:
    """Run one long piece of work, `work(control)`, and show `label` with its progress out of `total`."""
    return share(label, [None], lambda _part, control: work(control), total=total)[0]


def share(
    label: str, parts: Sequence[Part], work: Callable[[Part, Any], Result], *, total: int | None = None
) -> list[Result]:
    """Run `work(part, control)` for every part, begun in their order; the results come back in the order of the parts.

    A part may share its own work too. Its loops then use the threads that are left, show no step of their own, and stop with the part.
    """
    from setveil.kernels.jit import compiling  # noqa: PLC0415 - imports Numba, which help texts and checks do not need

    outer = _outer.get()
    controls = np.zeros((max(len(parts), 1), CONTROL_WIDTH), dtype=np.int64)
    crew = _Crew(parts, work, controls)
    with ExitStack() as stack:
        shown = nullcontext(_show_nothing) if is_part() else progress.step(label, total)
        advance = stack.enter_context(shown)
        stack.enter_context(compiling(_show_compiling(stack.enter_context(ExitStack()))))
        try:
            crew.start(min(number_of_threads(), len(parts)))
            while crew.is_at_work(POLL_SECONDS):
                advance(int(controls[:, DONE].sum()))
                if outer is not None and outer[STOP]:
                    raise KeyboardInterrupt
            advance(int(controls[:, DONE].sum()))
        finally:
            # After an error or Ctrl-C the loops return at their next look; else nobody reads it any more.
            controls[:, STOP] = 1
            crew.dismiss()
    return crew.results


class _Crew(Generic[Part, Result]):
    """Threads that take one part after the other. A pool of futures would take several times as long where the parts are small."""

    def __init__(self, parts: Sequence[Part], work: Callable[[Part, Any], Result], controls: Any) -> None:
        self._parts = parts
        self._work = work
        self._controls = controls
        self._results: list[Any] = [None] * len(parts)
        self._waiting = deque(range(len(parts)))
        self._threads_each = 1
        self._threads: list[Thread] = []
        self._errors: list[BaseException] = []

    def start(self, number: int) -> None:
        """Let so many threads begin, each in the context of the caller, so that notes and steps reach who listens there."""
        self._threads_each = max(number_of_threads() // max(number, 1), 1)
        for place in range(number):
            thread = Thread(target=copy_context().run, args=(self._take_parts,), name=f"setveil_{place}")
            self._threads.append(thread)
            thread.start()

    def is_at_work(self, seconds: float) -> bool:
        """Wait so long for the end of the work, and tell whether it goes on; raise the first error of a part."""
        busy = next((thread for thread in self._threads if thread.is_alive()), None)
        if busy is not None:
            busy.join(seconds)
        if self._errors:
            raise self._errors[0]
        return busy is not None

    @property
    def results(self) -> list[Result]:
        """What the parts gave, in their order."""
        return self._results

    def dismiss(self) -> None:
        """Call off the parts that were not begun, and wait for the others."""
        self._waiting.clear()
        for thread in self._threads:
            if thread.ident is not None:  # else Ctrl-C came before it began
                thread.join()
        self._errors.clear()  # they hold this frame, and it holds them

    def _take_parts(self) -> None:
        while self._waiting and not self._errors:
            try:
                number = self._waiting.popleft()
            except IndexError:  # another thread took the last one
                return
            try:
                self._results[number] = copy_context().run(self._work_on, number)
            except BaseException as error:  # noqa: BLE001 - raised again in the thread that waits
                self._errors.append(error)

    def _work_on(self, number: int) -> Any:
        _outer.set(self._controls[number])
        _asked.set(self._threads_each)
        return self._work(self._parts[number], self._controls[number])


def _show_nothing(_done: int) -> None:
    """Show no progress."""


def _show_compiling(shown: ExitStack) -> Callable[[str | None], None]:
    """Show a step while a kernel is compiled: that happens once on a machine, and people wonder what takes so long."""

    def tell(kernel: str | None) -> None:
        if kernel is None:
            shown.close()
        else:
            shown.enter_context(progress.step(f"preparing {kernel} (first run on this machine only)"))

    return tell
