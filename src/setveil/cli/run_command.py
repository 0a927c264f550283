"""`setveil run`."""

from __future__ import annotations

from typing import Annotated

import setveil as sv
from setveil.base.translation import naming_keys
from setveil.cli.options import ForceOption, OutputOptions, about
from setveil.cli.publish_command import run_job
from setveil.errors import ExitCode


def run(
    job: Annotated[str, about("A job file, or the dossier of a release, which repeats that release.")],
    /,
    *,
    out: Annotated[
        str | None, about("The release folder to write (default: that of the job); the private folder is OUT.private.")
    ] = None,
    seed: Annotated[
        str | None,
        about("Another seed, or from-system. With a dossier, this makes a new release with the same settings."),
    ] = None,
    force: ForceOption = False,
    output: OutputOptions,
) -> ExitCode:
    r"""Publish a release as a job file describes it.

    A job file holds the data, the method and all options of a publication; setveil publish --save-job FILE writes one. Paths in it start
    from its folder.

    Example:
      setveil run release.private/dossier.json --out release-again
    """
    with naming_keys(without=("out", "seed", "force")):
        return run_job(sv.Job.read(job).changed(out=out, seed=seed, force=force), output)
