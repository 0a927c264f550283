"""Draw a release in memory: run a method that is bound to its data, and arrange the rows."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from setveil.data.forms.base import Naming

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


def draw(bound: Method, data: Any, ids: Ids, randomness: Randomness, rng: np.random.Generator) -> Drawn:
    """Run a method that is bound to the data, and arrange its rows so that their order reveals nothing."""
    started = time.perf_counter()
    outcome = bound.apply(data, rng=rng)
    applied = time.perf_counter()
    published, alignment = outcome.published.arrange(outcome.alignment.rows, Naming(ids, data, randomness.pseudonyms))
    seconds = applied - started, time.perf_counter() - applied
    return Drawn(published, alignment, outcome.account, outcome.advice, *seconds)
