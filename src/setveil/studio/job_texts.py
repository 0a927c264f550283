"""A set-up of a publication as a command line, a job file and Python: three texts that make the same bytes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from setveil.release.job import Job


@dataclass(frozen=True)
class JobTexts:
    """The same set-up, three times."""

    command: str
    file: str
    python: str


def texts_of(job: Job) -> JobTexts:
    """Return a job as texts."""
    return JobTexts("", job.to_toml(), "")
