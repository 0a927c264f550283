"""Draw a release in memory: run a method that is bound to its data, and arrange the rows."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from setveil.base import progress
from setveil.base.display import size_text
from setveil.base.machine import memory_size
from setveil.data.forms.base import Naming
from setveil.data.records.in_blocks import need_blocks
from setveil.engines.blocks import current_engine

BYTES, BYTES_PER_OCCURRENCE = 300_000_000, 80
"""The memory of a publication of data in one piece, as benchmarks/bench_growth.py measures it."""

if TYPE_CHECKING:
    import numpy as np

    from setveil.base.advice import Advice
    from setveil.data.forms.base import Ids, Published
    from setveil.data.records.alignment import Alignment
    from setveil.methods.base import Method
    from setveil.release.seed import Randomness


@dataclass(frozen=True, eq=False)
class Drawn:
    """What a method made of the data, before any check."""

    published: Published
    alignment: Alignment
    account: dict[str, Any]
    advice: Advice
    seconds: float
    """The duration of the method."""
    seconds_arranging: float


def block_records_of(method: Method, data: Any) -> int | None:
    """Return the size of blocks if the result of a method on these data depends on it."""
    depends = method.runs_in_blocks and not method.same_in_blocks and need_blocks(data)
    return current_engine().block_records if depends else None


def note_memory(method: Method, data: Any) -> None:
    """Note how large a machine a method needs for data of more than one block, if it cannot work in blocks."""
    if method.runs_in_blocks or not need_blocks(data):
        return
    needed, here = BYTES + BYTES_PER_OCCURRENCE * data.occurrences, memory_size()
    has = "" if here is None else f", and this machine has {size_text(here)}"
    progress.note(
        f"{method.name} cannot work in blocks: it needs all {data.records:,} records in memory, about {size_text(needed)}{has}"
    )


def draw(bound: Method, data: Any, ids: Ids, randomness: Randomness, rng: np.random.Generator) -> Drawn:
    """Run a method that is bound to the data, and arrange its rows so that their order reveals nothing."""
    started = time.perf_counter()
    if randomness.block_records is not None and need_blocks(data):
        outcome = bound.apply_in_blocks(data, rng_of=randomness.generator_of_block)
    else:
        outcome = bound.apply(data, rng=rng)
    applied = time.perf_counter()
    published, alignment = outcome.published.arrange(outcome.alignment.rows, Naming(ids, data, randomness.pseudonyms))
    seconds = applied - started, time.perf_counter() - applied
    return Drawn(published, alignment, outcome.account, outcome.advice, *seconds)
