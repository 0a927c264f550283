"""Whom earlier runs were about: a file of marks for each population, so that a later one can be compared with it person by person.

A population that is refreshed each month is another list with another checksum, and nearly the same people. A mark is 8 bytes of the hash
of an id; two different ids have the same one by a chance that does not matter here.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import numpy as np

from setveil.errors import BadData, OutputRefused
from setveil.unfinished import sync

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from setveil.data.joined.population import Population

_MARK = np.dtype("<u8")


class KnownPeople:
    """The marks of populations in a folder, which need not exist yet."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def keep(self, population: Population) -> None:
        """Write down who is in a population, once. Whoever calls keeps other processes away."""
        target = self.file(population.sha256)
        if target.exists():
            return
        unfinished = target.with_suffix(".unfinished")  # one that a killed process left is written over
        try:
            self.folder.mkdir(mode=0o700, exist_ok=True)
            with os.fdopen(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
                file.write(_marks(population).tobytes())
                file.flush()
                os.fsync(file.fileno())
            unfinished.replace(target)
            sync(self.folder)
        except OSError as error:
            raise OutputRefused(f"{target} cannot be written: {error.strerror}") from None

    def shared(self, earlier: str, population: Population) -> int | None:
        """Tell how many people of a population were in an earlier one, by its checksum; None if nothing is known of that one."""
        if earlier == population.sha256:
            return len(population)
        path = self.file(earlier)
        try:
            content = path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise BadData(f"cannot be read: {error.strerror}", file=str(path)) from None
        if not content or len(content) % _MARK.itemsize:
            raise BadData(
                "does not hold the marks of a population; put it back as it was made, or remove it", file=str(path)
            )
        return int(np.isin(_marks(population), np.frombuffer(content, dtype=_MARK)).sum())

    def file(self, population: str) -> Path:
        """Return where the marks of a population are, by its checksum."""
        return self.folder / f"{population}.marks"


def _marks(population: Population) -> NDArray[np.uint64]:
    """Return a mark for each id, in rising order, which is not that of the ids."""
    return np.sort(np.frombuffer(population.blocks, dtype=_MARK)[::2])
