"""`setveil publish`."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import setveil as sv
from setveil.base.display import quantity
from setveil.base.translation import as_options
from setveil.catalog import METHODS
from setveil.cli.options import (
    BlockRecordsOption,
    Declared,
    DistinctLabelsOption,
    EngineOption,
    ForceOption,
    MeasureOption,
    MetricOption,
    NamesOption,
    OutputOptions,
    PrivateFolderOption,
    ReadingOptions,
    ReleaseFolderOption,
    ScratchOption,
    SparkFolderOption,
    SparkRemoteOption,
    ThreadsOption,
    Value,
    about,
    about_separator,
    metrics_given,
    together,
)
from setveil.cli.show import names_text, say, say_json, say_pairs
from setveil.data.formats import FORMATS
from setveil.errors import BadParameter, ExitCode, Missing
from setveil.release.card import CARD_NAME
from setveil.release.dossier import ALIGNMENT_NAME, DOSSIER_NAME, REPORT_NAME
from setveil.release.recounting import RECOUNT_NAME

if TYPE_CHECKING:
    from setveil.release.release import Release
    from setveil.release.saving import Target

MOST_FILES_SHOWN = 5
"""Of more data files, the summary names only the first and the last one."""
NOT_TRACKED = "other releases of these data; add `register='FILE'` to check and record them"


@together
@dataclass(frozen=True, kw_only=True)
class RegisterOptions:
    """How to record the release in a register."""

    register: Annotated[
        str | None,
        about(
            "File that records the releases of this source; the first one creates it. Keep it private. The same job then gives the same "
            "bytes, and a different release of the same people is checked together with the earlier ones."
        ),
    ] = None
    recipient: Annotated[str | None, about("Who gets the release, for the register.")] = None
    accept_together: Annotated[
        str | None,
        about("The reason to publish although the guarantees do not hold for this and earlier releases together."),
    ] = None

    def given(self) -> dict[str, str] | None:
        """Return the table `register` of a job; None without a register."""
        both = {"recipient": self.recipient, "accept_together": self.accept_together}
        given = {name: value for name, value in both.items() if value is not None}
        if self.register is not None:
            return {"file": self.register, **given}
        for name in given:
            raise BadParameter(f"`{name}=` is for a register; name one with `register=`, or remove it")
        return None


def publish(
    data: Annotated[
        str,
        about(
            "A file, a database with --query, a sample such as sample:supermarket?records=100000&seed=3, or a release folder for methods "
            "that need one."
        ),
    ],
    /,
    *,
    method: Annotated[str, about(f"The method: {' | '.join(METHODS)}.")],
    out: ReleaseFolderOption,
    private: PrivateFolderOption = None,
    original: Annotated[
        str | None, about("The original to compare with, for methods that take a release. It is never published.")
    ] = None,
    ids: Annotated[
        Literal["pseudonym", "keep", "drop"] | None,
        about(
            "Give rows pseudonyms (default if the data have ids and the method protects people), keep their ids, or drop them "
            "(default otherwise)."
        ),
    ] = None,
    seed: Annotated[
        str | None,
        about(
            "Seed of all random draws, a whole number of at least 64 bits (default: 128 random bits from the system)."
        ),
    ] = None,
    experiment: Annotated[
        bool,
        about(
            "Accept a seed below 64 bits. It can be guessed: do not share such a release. The card marks it as an experiment."
        ),
    ] = False,
    release_format: Annotated[
        str | None,
        about(
            f"Format of the release: {' | '.join(FORMATS)}, with an extension if the format has several, such as long.parquet "
            "(default: the format of the data, or long if rows have ids and that format cannot hold them). "
            "Grouped and disassociated data have their own formats; disassociated.parquet is possible too."
        ),
    ] = None,
    release_separator: Annotated[
        str | None, about_separator("What separates items or columns in the release (default: as in the data).")
    ] = None,
    compress: Annotated[Literal["gzip", "zstd"] | None, about("Compress the data file.")] = None,
    file_records: Annotated[
        int | None, about("Write data files of at most this number of records each, data-00001 and so on.")
    ] = None,
    allow_failures: Annotated[
        int,
        about("Accept a release with at most this number of unprotected records; the card reports their number."),
    ] = 0,
    missing_names: Annotated[
        Literal["accept", "error"],
        about("What to do if named items do not occur in the data: accept and list them, or stop with an error."),
    ] = "accept",
    distinct_labels: DistinctLabelsOption = False,
    names: NamesOption = None,
    context: Annotated[
        str | None,
        about(
            "File with the answers to the questions of setveil advise, for the dossier and the report. It is never published."
        ),
    ] = None,
    no_guarantee: Annotated[bool, about("Allow a method that guarantees nothing.")] = False,
    source: ReadingOptions,
    measure: MeasureOption = "quick",
    metric: MetricOption = None,
    attack: Annotated[
        list[str] | None,
        about(
            "An attack to try: none, quick (default: those that fit the guarantee and take little time), full, "
            "NAME or NAME:parameter=value,...; can be repeated. See: setveil attacks."
        ),
    ] = None,
    attack_limit: Annotated[
        str | None,
        about(
            "The highest excess of an attack over its control to accept, such as 5%. The summary and the card state whether it is met. "
            "The release is written either way; see: setveil attack --limit."
        ),
    ] = None,
    threads: ThreadsOption = None,
    block_records: BlockRecordsOption = None,
    engine: EngineOption = "local",
    spark_remote: SparkRemoteOption = None,
    spark_folder: SparkFolderOption = None,
    scratch: ScratchOption = None,
    force: ForceOption = False,
    save_job: Annotated[
        str | None, about("Also write this job to a file, which setveil run runs again. Keep it private.")
    ] = None,
    comparison: Annotated[
        str | None,
        about(
            "The folder of setveil compare for these data. The dossier and the report then state how many set-ups were tried before."
        ),
    ] = None,
    registering: RegisterOptions,
    output: OutputOptions,
    **parameters: Annotated[Value, Declared(METHODS, after="method")],
) -> ExitCode:
    r"""Publish a release after checking its guarantee on the written file.

    You may share the release folder --out as it is. Never share the private folder beside it, or the register. With --method NAME --help,
    this page shows the options of that method. To measure more later, use setveil report; to try more attacks, use setveil attack.

    Example:
      setveil publish sample:supermarket --method part-swap \
          --categories sample:supermarket --out release --register releases.db
    """
    reading = source.given()
    content = {
        "data": {"path": data} | reading,
        "original": {"path": original} | reading if original else None,
        "method": {"name": method} | parameters,
        "out": out,
        "private": private,
        "format": release_format,
        "separator": release_separator,
        "compress": compress,
        "file_records": file_records,
        "force": force,
        "ids": ids,
        "seed": seed,
        "experiment": experiment,
        "allow_failures": allow_failures,
        "no_guarantee": no_guarantee,
        "threads": threads,
        "block_records": block_records,
        "engine": engine,
        "spark_remote": spark_remote,
        "spark_folder": spark_folder,
        "scratch": scratch,
        "metrics": metrics_given(measure, metric),
        "attacks": attack,
        "attack_limit": attack_limit,
        "missing_names": missing_names,
        "distinct_labels": distinct_labels,
        "names": names,
        "comparison": comparison,
        "context": context,
        "register": registering.given(),
    }
    job = sv.Job({name: value for name, value in content.items() if value is not None}, file="")
    return run_job(job, output, save_job=save_job)


def run_job(job: sv.Job, output: OutputOptions, *, save_job: str | None = None) -> ExitCode:
    """Run a job that names a release folder, and print its result."""
    target = job.target
    if target is None:
        raise Missing(f"{job.file} names no release folder; name it with `out=`")
    if save_job is not None:
        job.refuse_saving(Path(save_job))
    release = sv.run(job)
    if save_job is not None:
        release.save_job(save_job, force=target.force)
    card, target = release.card, release.target
    assert card is not None  # the job names a folder
    assert target is not None
    if output.json:
        verdict = None if release.verdict is None else release.verdict.to_dict(witnesses=0)
        made = {"verdict": verdict, "summary": release.summary.to_dict(), "card": card.model_dump(mode="json")}
        lists = [found.to_dict() for found in release.names]
        recorded = None if release.registered is None else release.registered.to_dict()
        places = {"out": target.shown, "private": str(target.private), "job": save_job}
        attacks = release.findings.to_dict()
        say_json({**places, "names": lists, "attacks": attacks, "register": recorded, **made})
    else:
        files = [*_shortened([*card.data.checksums]), CARD_NAME, *(one.file for one in card.documents)]
        say_release(release, target, files, save_job)
    return ExitCode.OK


def _shortened(files: list[str]) -> list[str]:
    """Return the names of data files, those of many only by the first and the last one."""
    return files if len(files) <= MOST_FILES_SHOWN else [f"{files[0]} to {files[-1]} ({len(files):,} files)"]


def say_release(release: Release, target: Target, files: list[str], job: str | None) -> None:
    """Print the summary of a release, and which of its files may be shared."""
    out, private = target.shown, target.private
    checked = "" if release.verdict is None else "; checked on the written file"
    say(f"Published {out}/ with {release.method.name}{checked}.\n")
    names = [("Names", release.item_names.in_sentence(names_text(found))) for found in release.names]
    statuses = {} if release.verdict is None else {"Guarantee": "holds" if release.verdict else "not protected"}
    judged = release.findings.judgement
    attacks = [("Attacks", judged)] if judged else []
    say_pairs([*release.summary.lines(), *attacks, *names, _tracked(release)], statuses)
    say()
    say_pairs([
        (f"{out}/", f"{release.sharing}: {', '.join(files)}"),
        (f"{private}/", f"keep it: {REPORT_NAME}, {DOSSIER_NAME}, {ALIGNMENT_NAME}, {RECOUNT_NAME}"),
        *([] if job is None else [(job, f"keep it: the job; to run it again: setveil run {shlex.quote(job)}")]),
    ])  # fmt: skip


def _tracked(release: Release) -> tuple[str, str]:
    """Return the line about the register, with its heading."""
    entry, registrar = release.registered, release.registrar
    if entry is None or registrar is None:
        return "Not tracked", as_options(NOT_TRACKED)
    parts = [
        f"release {entry.number} in {registrar.asked.file}" + (f", for {entry.recipient}" if entry.recipient else "")
    ]
    if entry.together is not None:
        others = quantity(len(entry.together["releases"]), "earlier release")
        parts.append(f"checked together with {others}: {entry.together['text']}")
    if entry.accepted_together:
        parts.append(f"accepted: {entry.accepted_together}")
    return "Register", "; ".join(parts)
