"""`run`: make a release as a job describes it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from setveil.base.arguments import check_arguments
from setveil.engines.chosen import using_chosen_engine
from setveil.engines.scratch import using_scratch
from setveil.release.job import Job
from setveil.release.publishing import make_release

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from setveil.release.release import Release


@check_arguments
def run(
    job: Job | str | Path | Mapping[str, Any],
    *,
    out: str | Path | None = None,
    seed: int | str | None = None,
    force: bool = False,
) -> Release:
    """Make a release as a job describes it, in the same way as `publish`.

    The job in a dossier repeats its release: if the data or a file changed since, nothing is written.

    Parameters
    ----------
    job
        A job file, the dossier of a release, a `Job`, or a dictionary with the keys of a job.
    out
        Another release folder; its private folder is beside it. By default, the job names both.
    seed
        Another seed, or "from-system". The job in a dossier then makes a new release with the same settings.
    force
        Replace the folders of an earlier release.

    Returns
    -------
    Release
        The release, as `publish` returns it. It is written if the job or `out` names a folder.

    Raises
    ------
    BadParameter, UnknownName, Missing
        If a key or a value of the job is wrong or missing; the message names the file and the key.
    BadData
        If a file that the job names is missing or invalid, or the release of a dossier cannot be repeated.
    GuaranteeViolated, OutputRefused
        As `publish` raises them.

    Examples
    --------
    >>> import setveil as sv
    >>> data = {"path": "sample:supermarket?records=500", "unit": "person"}
    >>> method = {"name": "disassociation", "k": 3, "m": 2}
    >>> release = sv.run({"data": data, "method": method, "out": "release"})
    >>> again = sv.run("release.private/dossier.json", out="again")
    >>> again.data == release.data
    True
    """
    found = Job.of(job).changed(out=out, seed=seed, force=force)
    if found.target is not None:
        found.target.refuse()  # before the data are read
        found.target.refuse_scratch(found.content.get("scratch"))
    chosen = {
        name: found.content[name] for name in ("block_records", "spark_remote", "spark_folder") if name in found.content
    }
    engine = found.content.get("engine", "local")
    with using_scratch(found.content.get("scratch")), using_chosen_engine(engine, **chosen):  # before the data are read
        return make_release(found.publication(), found.repeated)
