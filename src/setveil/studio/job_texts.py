"""A set-up of a publication as a command line, a job file and Python: three texts that make the same bytes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from setveil.base.translation import as_command_line
from setveil.release.job_lines import command_of, python_of, with_files

if TYPE_CHECKING:
    from setveil.release.job import Job


@dataclass(frozen=True)
class JobTexts:
    """The same set-up, three times."""

    command: str
    file: str
    """The content of a job file, which is what the studio runs."""
    python: str
    files: dict[str, str]
    """The side files that the command and Python read, by name; the job file holds their content."""


def texts_of(job: Job) -> JobTexts:
    """Return a job as texts."""
    content, files = with_files(job.to_dict())
    return JobTexts(as_command_line(command_of(content)), job.to_toml(), python_of(content), files)
