"""The costs of a run for a party: seconds, messages and bytes, in total and per level."""

from __future__ import annotations

import time
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from setveil.presence.channel import Traffic
    from setveil.presence.secure.base import Level


@dataclass(frozen=True)
class LevelCost:
    """The costs of one level: its open groups and ids, the seconds, and the traffic between the providers."""

    groups: int
    ids: int
    seconds: float
    messages: int
    bytes: int


@dataclass(frozen=True)
class Costs:
    """The costs of the whole run for one party."""

    seconds: float
    cpu_seconds: float
    traffic: dict[str, dict[str, int]]
    """Messages and bytes sent and received, for each other party."""
    levels: tuple[LevelCost, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the costs as plain values."""
        return asdict(self)


@contextmanager
def stopwatch(traffic: Traffic, costs: list[LevelCost], level: Level) -> Iterator[None]:
    """Append the costs of the block to a list."""
    began = time.perf_counter()
    messages, size = _moved(traffic)
    yield
    now = _moved(traffic)
    costs.append(LevelCost(level.groups, len(level.ids), time.perf_counter() - began, now[0] - messages, now[1] - size))


def _moved(traffic: Traffic) -> tuple[int, int]:
    return traffic.messages_sent + traffic.messages_received, traffic.bytes_sent + traffic.bytes_received
