"""Loops on all cores of one machine: threads, since kernels run without the interpreter's lock.

The main thread shows progress and listens for Ctrl-C; a loop hears of it through its control array (`control`).
"""

from __future__ import annotations

import os
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from contextlib import ExitStack
from contextvars import copy_context
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from setveil import progress
from setveil.errors import BadParameter
from setveil.kernels.control import CONTROL_WIDTH, DONE, STOP

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

POLL_SECONDS = 0.05

Result = TypeVar("Result")
Part = TypeVar("Part")


def number_of_threads(asked: int | None) -> int:
    """Return how many threads to use: as many as were asked for, else one for each core that this process may use."""
    if asked is not None and asked < 1:
        raise BadParameter(f"{asked} threads were asked for; there must be at least 1")
    available = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return asked or available


def share(
    label: str, parts: Sequence[Part], work: Callable[[Part, Any], Result], *, threads: int, total: int | None = None
) -> list[Result]:
    """Run `work(part, control)` for every part, begun in their order; the results come back in the order of the parts."""
    from setveil.kernels.jit import compiling  # noqa: PLC0415 - imports Numba, which help texts and checks do not need

    controls = np.zeros((max(len(parts), 1), CONTROL_WIDTH), dtype=np.int64)
    with ExitStack() as stack:
        advance = stack.enter_context(progress.step(label, total))
        stack.enter_context(compiling(_show_compiling(stack.enter_context(ExitStack()))))
        pool = ThreadPoolExecutor(threads, thread_name_prefix="setveil")
        try:
            # Each part gets the context of the caller, so that its notes and steps reach who listens there.
            futures = [pool.submit(copy_context().run, work, part, controls[i]) for i, part in enumerate(parts)]
            pending = set(futures)
            while pending:
                finished, pending = wait(pending, timeout=POLL_SECONDS, return_when=FIRST_COMPLETED)
                advance(int(controls[:, DONE].sum()))
                for future in finished:
                    future.result()
            return [future.result() for future in futures]
        finally:
            # After an error or Ctrl-C the loops return at their next look; else nobody reads it any more.
            controls[:, STOP] = 1
            pool.shutdown(wait=True, cancel_futures=True)


def _show_compiling(shown: ExitStack) -> Callable[[str | None], None]:
    """Show a step while a kernel is compiled: that happens once on a machine, and people wonder what takes so long."""

    def tell(kernel: str | None) -> None:
        if kernel is None:
            shown.close()
        else:
            shown.enter_context(progress.step(f"preparing {kernel} (first run on this machine only)"))

    return tell
