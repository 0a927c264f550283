"""What this machine has."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

CGROUP_LIMIT = Path("/sys/fs/cgroup/memory.max")
"""The limit of a container (cgroup v2)."""


def memory_size() -> int | None:
    """Return the memory of this machine or container in bytes; None if the system does not say it."""
    found: list[int] = []
    with suppress(AttributeError, ValueError, OSError):  # not on Windows
        found.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    with suppress(OSError, ValueError):  # no container, or no limit: the file holds `max`
        found.append(int(CGROUP_LIMIT.read_text(encoding="ascii")))
    return min(found, default=None)
