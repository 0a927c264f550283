"""A studio: what its pages and its API call. Nothing here reads data; jobs do."""

from __future__ import annotations

import secrets
import shutil
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from filelock import FileLock, Timeout

from setveil.base.translation import naming_keys
from setveil.errors import OutputRefused
from setveil.release.job_lines import JOB_NAME
from setveil.studio import releases
from setveil.studio.contents import is_sample
from setveil.studio.database import Database, JobRow, LogRow, Source, Upload
from setveil.studio.events import Event, Progress, progress_of, read_events
from setveil.studio.job_texts import JobTexts, texts_of
from setveil.studio.jobs import EVENTS_NAME, Jobs
from setveil.studio.kinds import COMPARISON, KINDS, Asked, job_of, witnesses_in
from setveil.studio.refusals import BadRequest, NotAllowed, NotFound, WrongState
from setveil.studio.sources import FileEntry, Files, Sample, Uploads, checked_reading, label_of, samples

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from setveil.studio.releases import ReleaseRow
    from setveil.studio.settings import Settings
    from setveil.studio.sources import Arriving
    from setveil.studio.users import User

MOST_QUEUED = 1000
"""Maximum number of jobs that wait."""


class Studio:
    """Everything a studio does for a user. All methods are quick."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        folder = settings.folder
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder.chmod(0o700)
        self._lock = FileLock(folder / "studio.lock")
        try:
            self._lock.acquire(timeout=0)
        except Timeout:
            raise OutputRefused(f"another studio uses {folder}; stop it, or choose another folder") from None
        self.database = Database(folder)
        self.registers = _folder(folder / "registers")
        self.files_below = Files(folder, settings.roots)
        self.uploaded = Uploads(
            _folder(folder / "uploads"), self.database, most=settings.upload_bytes, quota=settings.quota_bytes
        )
        self.queue = Jobs(_folder(folder / "jobs"), self.database, settings.jobs)

    def open(self) -> None:
        """Go on with the jobs that the folder holds."""
        self.queue.advance()
        self.queue.watch()

    def close(self) -> None:
        """Stop; jobs that run go on, and are found again."""
        self.queue.close()
        self.database.close()
        self._lock.release()

    # what to work on

    def samples(self) -> list[Sample]:
        """Return the built-in samples."""
        return samples()

    def files(self, user: User) -> list[FileEntry]:
        """Return the data files below the roots."""
        _owner(user)
        return self.files_below.listed()

    def sources(self, user: User) -> list[Source]:
        """Return the data that a user works on, the newest first."""
        _owner(user)
        return self.database.sources(user.name)

    def source(self, user: User, number: str) -> Source:
        """Return data that a user works on."""
        _owner(user)
        found = self.database.source(number, user.name)
        if found is None:
            raise NotFound("there is no such data")
        return found

    def place_of(self, user: User, number: str) -> tuple[str, str]:
        """Return the kind and the id of what data were made from, so that they can be read in another way."""
        source = self.source(user, number)
        if source.kind == "sample":
            return "sample", source.place
        if source.kind == "file":
            listed = [(one, self.files_below.place(one)) for one in (entry.id for entry in self.files(user))]
        else:
            listed = [(one.id, self.uploaded.place(one)) for one in self.uploads(user)]
        for found, path in listed:
            if str(path) == source.place:
                return source.kind, found
        raise NotFound("the file is gone; choose data again")

    def add_source(
        self,
        user: User,
        *,
        sample: str | None = None,
        file: str | None = None,
        upload: str | None = None,
        reading: Mapping[str, Any] | None = None,
        title: str = "",
    ) -> Source:
        """Choose data: a sample by its name, or a file or an upload by its id."""
        _owner(user)
        given = {"sample": sample, "file": file, "upload": upload}
        chosen = [(kind, value) for kind, value in given.items() if value is not None]
        if len(chosen) != 1:
            raise BadRequest("name one of: sample, file, upload")
        kind, value = chosen[0]
        if kind == "sample":
            if not is_sample(value):
                raise BadRequest(
                    "sample must be a text such as sample:supermarket or sample:supermarket?records=1000&seed=3"
                )
            place, called = value, value
        else:
            path = self._path(user, kind, value)
            place = str(path)
            called = path.name if kind == "file" else self._upload(user, value).title
        source = Source(
            secrets.token_hex(8),
            user.name,
            label_of(title) if title.strip() else label_of(called),
            kind,  # type: ignore[arg-type]  # one of the three
            place,
            checked_reading(reading or {}),
            time.time(),
        )
        self.database.add("sources", source)
        return source

    def uploads(self, user: User) -> list[Upload]:
        """Return the files that a user uploaded."""
        _owner(user)
        return self.database.uploads(user.name)

    @contextmanager
    def receive(self, user: User, label: str, size: int | None) -> Iterator[Arriving]:
        """Yield where to write an upload; it is removed unless it was finished."""
        _owner(user)
        if size is not None:
            self.uploaded.refuse_size(size)
        with self.uploaded.receive(user.name, label, time.time()) as arriving:
            yield arriving

    def remove_upload(self, user: User, number: str) -> None:
        """Delete an upload."""
        _owner(user)
        self.uploaded.remove(self._upload(user, number))

    def _upload(self, user: User, number: str) -> Upload:
        found = self.database.upload(number, user.name)
        if found is None:
            raise NotFound("there is no such upload")
        return found

    def _path(self, user: User, kind: str, number: str) -> Path:
        """Return the path of a file or an upload by its id."""
        if kind == "file":
            return self.files_below.place(number)
        return self.uploaded.place(self._upload(user, number))

    # jobs

    def start(
        self,
        user: User,
        kind: str,
        *,
        source: str | None = None,
        release: str | None = None,
        content: Mapping[str, Any] | None = None,
    ) -> JobRow:
        """Start a job, or let it wait."""
        _owner(user)
        if kind not in KINDS:
            raise NotFound(f"there is no kind of job {kind!r}")
        given = dict(content or {})
        if release is not None:  # its job knows the data
            row = self._job_of_release(user, release)
            source = row.source
        with naming_keys(()):
            asked = self._asked(user, source, release, given)
            work = KINDS[kind](asked)
        if kind == "check" and witnesses_in(given):
            self.database.note(user.name, "checked with witnesses", release)
        title = asked.source.title if asked.source else kind
        job = JobRow(
            secrets.token_hex(8), user.name, kind, title, source, release, given, work.arguments, "queued", time.time()
        )
        return self._enter(job, work.files)

    def _enter(self, job: JobRow, files: Mapping[str, str], comparison: Path | None = None) -> JobRow:
        if len(self.database.jobs_in("queued")) >= MOST_QUEUED:
            raise WrongState(f"{MOST_QUEUED:,} jobs wait; stop some of them first")
        folder = self.queue.path(job)
        folder.mkdir(mode=0o700)
        try:
            for name, text in files.items():
                path = folder / name
                path.touch(mode=0o600)
                path.write_text(text, encoding="utf-8")
            if comparison is not None and comparison.is_dir():
                shutil.copytree(comparison, folder / COMPARISON)
            self.database.add("jobs", job)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        self.queue.advance()
        return self.database.job(job.id) or job

    def _asked(self, user: User, source: str | None, release: str | None, content: Mapping[str, Any]) -> Asked:
        return Asked(
            content,
            None if source is None else self.source(user, source),
            None if release is None else releases.place_of(self.queue.path(self._job_of_release(user, release))),
            lambda kind, number: str(self._path(user, kind, number)),
            self.registers / f"{user.name.encode().hex()[:120]}.db",
            lambda number: self._comparison(user, number),
        )

    def _comparison(self, user: User, number: str) -> Path:
        job = self.job(user, number)
        if job.kind != "compare" or job.state != "done":
            raise BadRequest("comparison must be the id of a job that compared set-ups")
        return self.queue.path(job) / COMPARISON

    def job_text(self, user: User, source: str, content: Mapping[str, Any]) -> JobTexts:
        """Return a set-up as a command line, a job file and Python."""
        _owner(user)
        with naming_keys(()):
            return texts_of(job_of(self._asked(user, source, None, content)))

    def job(self, user: User, number: str) -> JobRow:
        """Return a job of a user."""
        _owner(user)
        found = self.database.job(number)
        if found is None or found.owner != user.name:
            raise NotFound("there is no such job")
        return found

    def jobs(self, user: User) -> list[JobRow]:
        """Return the jobs of a user, the newest first."""
        _owner(user)
        return self.database.jobs(user.name)

    def result(self, job: JobRow) -> dict[str, Any] | None:
        """Return what a job printed: its result, or `{"error": ...}`; None as long as there is none."""
        if not job.has_ended:
            return None
        return self.queue.result(job) or {"error": _without_result(job)}

    def events(self, job: JobRow, after: int = 0) -> list[Event]:
        """Return what a job reported after a position."""
        return read_events(self.queue.path(job) / EVENTS_NAME, after)

    def progress(self, job: JobRow) -> Progress:
        """Return how far a job is."""
        found: list[Event] = []
        position = 0
        while some := self.events(job, position):
            found += some
            position = some[-1].position
        return progress_of(found)

    def cancel(self, user: User, number: str) -> JobRow:
        """Ask a job to stop."""
        return self.queue.cancel(self.job(user, number))

    def again(self, user: User, number: str) -> JobRow:
        """Start a job that has ended once more, as a new job with the same files."""
        job = self.job(user, number)
        if not job.has_ended:
            raise WrongState(f"the job is {job.state}; it can be started again once it has ended")
        old = self.queue.path(job)
        files = {
            path.name: path.read_text(encoding="utf-8")
            for path in old.iterdir()
            if path.suffix in (".toml", ".txt", ".csv", ".jsonl") and path.name != EVENTS_NAME
        }
        new = JobRow(
            secrets.token_hex(8),
            user.name,
            job.kind,
            job.title,
            job.source,
            job.release,
            job.content,
            job.arguments,
            "queued",
            time.time(),
        )
        return self._enter(new, files, old / COMPARISON if job.kind == "compare" else None)

    # releases

    def releases(self, user: User) -> list[ReleaseRow]:
        """Return the releases of a user, the newest first; a reviewer sees those of all users."""
        rows = self.database.published(user.name if user.is_owner else None)
        found = []
        for job in rows:
            try:
                found.append(releases.row_of(job, self.queue.path(job), named=user.is_owner))
            except (NotFound, KeyError, TypeError):  # its folder was deleted
                continue
        return found

    def release(self, user: User, number: str) -> ReleaseRow:
        """Return a release."""
        job = self._job_of_release(user, number)
        return releases.row_of(job, self.queue.path(job), named=user.is_owner)

    def _job_of_release(self, user: User, number: str) -> JobRow:
        found = self.database.job(number)
        if found is None or found.kind != "publish" or (user.is_owner and found.owner != user.name):
            raise NotFound("there is no such release")
        if found.state != "done":
            if not user.is_owner:
                raise NotFound("there is no such release")
            raise WrongState(f"the job is {found.state}, and there is no release")
        return found

    def _folder_of(self, release: ReleaseRow) -> Path:
        return self.queue.folder / release.id

    def card(self, release: ReleaseRow) -> dict[str, Any]:
        """Return the card of a release."""
        return releases.card_in(self._folder_of(release))

    def dossier(self, user: User, release: ReleaseRow) -> dict[str, Any]:
        """Return the dossier: for its owner without witnesses, for a reviewer the fields without labels."""
        dossier = releases.dossier_in(self._folder_of(release))
        return dossier if user.is_owner else releases.reviewed(dossier)

    def report(self, user: User, release: ReleaseRow) -> Path:
        """Return the path of the report."""
        _owner(user)
        return releases.report_in(self._folder_of(release))

    def witnesses(self, user: User, release: ReleaseRow) -> list[Any]:
        """Return the witnesses in the dossier, and note in the log who looked at them."""
        _owner(user)
        self.database.note(user.name, "looked at witnesses", release.id)
        return releases.witnesses_in(self._folder_of(release))

    def zip(self, user: User, release: ReleaseRow) -> Iterator[bytes]:
        """Yield a zip file of the release folder."""
        _owner(user)
        return releases.zipped(self._folder_of(release))

    def job_file(self, user: User, number: str) -> str:
        """Return the job file of a job that publishes."""
        job = self.job(user, number)
        if job.kind != "publish":
            raise NotFound("only a job that publishes has a job file")
        return (self.queue.path(job) / JOB_NAME).read_text(encoding="utf-8")

    def log(self, user: User) -> list[LogRow]:
        """Return who looked at private values, and when."""
        _owner(user)
        return self.database.log()


def _without_result(job: JobRow) -> dict[str, Any]:
    """Return the error of a job whose command printed nothing complete."""
    if job.state == "stopped":
        message = "stopped before the command had begun; nothing was written"
    elif job.exit_code is None:
        message = "the job and the server ended together; run it again"
    elif job.exit_code < 0:
        message = f"the system killed the command (signal {-job.exit_code}), for example because memory was full; run it again"
    else:
        message = f"the command ended with the exit code {job.exit_code} and without a result; run it again"
    return {"kind": job.state, "message": message, "exit_code": job.exit_code if job.exit_code is not None else 1}


def _owner(user: User) -> None:
    """Refuse a user who may not work with data."""
    if not user.is_owner:
        raise NotAllowed("a reviewer sees releases, their cards and dossiers only")


def _folder(path: Path) -> Path:
    path.mkdir(mode=0o700, exist_ok=True)
    return path
