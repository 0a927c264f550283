"""A job: a whole publication as plain values, which a file can hold (docs/jobs.md).

A job has a key for each argument of `publish`. The keys below `data` are the options of `read`, and those below `method` the parameters of
the method with the options of their kinds. All of them are derived from these declarations.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from setveil import __version__
from setveil.base.arguments import describe
from setveil.base.atomic import make_file, refuse_file
from setveil.catalog import METHODS
from setveil.data.files.toml_files import parse_toml, read_settings
from setveil.data.reading.source import source_name
from setveil.data.records.labels import are_texts
from setveil.errors import BadData, BadParameter, InputError, OutputRefused
from setveil.parameters import values_of
from setveil.release import CARD_NAME
from setveil.release.dossier import is_dossier
from setveil.release.inputs import as_input, as_records
from setveil.release.job_content import content_of_release, list_separator
from setveil.release.job_keys import LISTS, checked_content, naming, plain
from setveil.release.job_paths import is_kept, is_path, seen_from, with_paths
from setveil.release.publication import Publication
from setveil.release.register import Registration
from setveil.release.repeating import Repeated
from setveil.release.saving import Target
from setveil.release.seed import SCHEME_VERSION, seed_from_text

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from setveil.base.declaration import Declaration
    from setveil.data.records.transactions import Transactions
    from setveil.release.job_keys import Content
    from setveil.release.job_paths import Move
    from setveil.release.release import Release

EXPECTED: Final = "a job file"


@dataclass(frozen=True)
class Job:
    """A whole publication as plain values: data, method and all settings.

    Parameters
    ----------
    content : dict
        The values by key: `data` and `method` are required, and every other argument of `publish` is possible. `data` is a path or a table
        with the key `path` and options of `read`. `method` is a table with the key `name` and the parameters of the method.
    file : str
        The name of the job in messages.

    Raises
    ------
    BadParameter, UnknownName
        If a key or a name is unknown, or a value has another type.

    Examples
    --------
    >>> import setveil as sv
    >>> data = {"path": "sample:supermarket?records=500"}
    >>> job = sv.Job({"data": data, "method": {"name": "disassociation", "k": 3, "m": 2}, "out": "release"})
    >>> job
    Job(disassociation of sample:supermarket?records=500)
    >>> job.save("job.toml")
    >>> sv.Job.read("job.toml") == job
    True
    """

    content: Content
    file: str = field(default="the job", compare=False)
    repeated: Repeated | None = field(default=None, compare=False)
    """The release to repeat, for a job from a dossier."""

    def __post_init__(self) -> None:
        if not isinstance(self.content, Mapping):
            raise BadParameter(
                f"job is {describe(self.content)}; expected a job file, a Job, or a dictionary with the keys of a job"
            )
        object.__setattr__(self, "content", checked_content(self.content, self.file))

    def __repr__(self) -> str:
        return f"Job({self.content['method']['name']} of {source_name(self.content['data']['path'])})"

    @classmethod
    def read(cls, file: str | Path) -> Job:
        """Read a job file (TOML or JSON), or the job in the dossier of a release; relative paths in it start from its folder."""
        path = Path(file)
        text = read_settings(path, EXPECTED)
        if not text.lstrip().startswith("{"):
            content, repeated = parse_toml(text, path, EXPECTED), None
        else:
            content, repeated = _from_json(text, path)
        job = cls(content, str(path), repeated)
        folder = path.parent
        return job if folder == Path() else job.with_paths(lambda place: str(folder / place), folder)

    @classmethod
    def of(cls, given: Job | str | Path | Mapping[str, Any]) -> Job:
        """Return a job as it is, from a file, or from its content."""
        if isinstance(given, str | Path):
            return cls.read(given)
        return given if isinstance(given, Job) else cls(given)  # type: ignore[arg-type]  # the constructor refuses others

    @classmethod
    def of_release(cls, release: Release, target: Target | None = None) -> Job:
        """Return the job that makes a release, without a seed from the system; `target` says where it is written."""
        return cls(content_of_release(release, target or release.target))

    def to_dict(self) -> Content:
        """Return the content as plain values; addresses of databases have no password."""
        content: Content = plain(self.content)
        for name in content.keys() & {"data", "original"}:
            content[name]["path"] = source_name(content[name]["path"])
        return content

    def to_toml(self) -> str:
        """Return the content of a job file."""
        import tomli_w  # noqa: PLC0415 - only for writing job files

        return tomli_w.dumps(self.to_dict())

    def save(self, file: str | Path, *, force: bool = False) -> None:
        """Write a job file; its relative paths start from its folder. It can hold a seed and sensitive names: keep it private.

        `force` replaces an existing file.
        """
        path = Path(file)
        refuse_job_file(path, force=force)
        job = self if path.parent == Path() else self.with_paths(lambda place: seen_from(path.parent, place))
        text = f"# A job of setveil {__version__}: run it with setveil run. Keep it private.\n\n{job.to_toml()}"
        if not are_texts([text]):
            raise OutputRefused(f"{path} cannot hold a path that is not valid Unicode text; rename the file")
        with make_file(path, force=force) as staged:
            staged.touch(mode=0o600)
            staged.write_text(text, encoding="utf-8")

    def refuse_saving(self, file: Path) -> None:
        """Refuse a file for the job of the release that this job makes, before the work starts."""
        target = self.target
        for folder in () if target is None else (target.out, target.private):
            if folder.resolve() in file.resolve().parents:
                raise OutputRefused(
                    f"{file} is inside {folder}, a folder of the release; choose another path for the job"
                )
        for name in self.content.keys() & {"data", "original"}:
            place = self.content[name]["path"]
            if place == "-" or (Path(place).exists() and not is_kept(place)):
                raise BadParameter("no job can name data that come through a pipe; write them to a file first")
        refuse_job_file(file, force=target is not None and target.force)

    def with_paths(self, move: Move, start: Path = Path()) -> Job:
        """Return the job with each relative path replaced; paths start from the folder `start`."""
        return replace(self, content=with_paths(self.content, move, start))

    def changed(self, *, out: str | Path | None = None, seed: int | str | None = None, force: bool = False) -> Job:
        """Return the job with another release folder or seed; with another seed, it repeats no release."""
        content, repeated = dict(self.content), self.repeated
        if out is not None:
            content["out"] = str(out)
            content.pop("private", None)
        if seed is not None:
            content["seed"], repeated = seed, None
        if force:
            content["force"] = True
        return replace(self, content=content, repeated=repeated)

    def with_seed(self, seed: int) -> Job:
        """Return the job with the seed of a run; a register gives the seed itself."""
        return self if "register" in self.content else replace(self, content=self.content | {"seed": str(seed)})

    @property
    def target(self) -> Target | None:
        """Where the release is written; None if the job names no folder."""
        names = {one.name for one in fields(Target)} & self.content.keys()
        return Target.of(**{name: self.content[name] for name in names}) if "out" in self.content else None

    def publication(self, data: Any = None) -> Publication:
        """Read the data and the files of the method, and return the arguments of `publish`; `data` are those that were read before."""
        content = dict(self.content)
        content["data"] = self.read_data() if data is None else data
        about, separator = getattr(content["data"], "plain", None), list_separator(self.content)
        if "original" in content:
            with self._naming("original"):
                content["original"] = as_records(*_place_and_reading(content["original"]))
        content["method"] = self._declared("method", METHODS, content["method"], about, separator)
        for name in content.keys() & LISTS.keys():
            _, table = LISTS[name]
            content[name] = [
                one if isinstance(one, str) else self._declared(name, table, one, about, separator)
                for one in content[name]
            ]
        if "register" in content:
            with self._naming("register"):
                content["register"] = Registration(**content["register"])
        if isinstance(content.get("seed"), str):
            with self._naming("seed"):
                content["seed"] = seed_from_text(content["seed"])
        return Publication(**content)

    def read_data(self) -> Any:
        """Read the data; a release is returned as its path if the method needs its card."""
        method = METHODS[self.content["method"]["name"]]
        place, reading = _place_and_reading(self.content["data"])
        with self._naming("data"):
            found = as_input(place, method, reading)
            if found is place and is_path(place) and not Path(place).exists():
                raise BadData("there is no such file or folder", file=place)
            of_original = _place_and_reading(self.content.get("original", {"path": place}))[1]
            if (
                found is place and reading and reading != of_original
            ):  # the command line has one set of options for both
                raise BadParameter(
                    f"`{next(iter(reading))}=` does not apply to a release: its card or its form determines how it is read; remove it"
                )
        return found

    def _declared(
        self,
        key: str,
        table: Mapping[str, type[Declaration]],
        given: Content,
        data: Transactions | None,
        separator: str | None,
    ) -> Any:
        """Return a method, metric or attack; the kinds of its parameters read their files."""
        kind = table[given["name"]]
        values = {name: given[name] for name in given.keys() & kind.renamed.keys()}
        for parameter in kind.parameters():
            with self._naming(f"{key}.{parameter.name}"):
                values |= values_of([parameter], given, data=data, separator=separator)
        with self._naming(key):
            return kind(**values)

    def _naming(self, key: str) -> AbstractContextManager[None]:
        return naming(self.file, key)


def refuse_job_file(file: Path, *, force: bool) -> None:
    """Refuse to write a job inside a release folder, or over an existing file; `force` allows replacing a job file only."""
    if (file.parent / CARD_NAME).exists():
        raise OutputRefused(f"{file} would be inside a release folder, and a job is private; choose another path")
    refuse_file(file, force=force)
    if file.exists():
        try:
            Job.read(file)
        except InputError:
            raise OutputRefused(f"{file} is not a job file and is not replaced; choose another path") from None


def _from_json(text: str, path: Path) -> tuple[Content, Repeated | None]:
    """Return a job in JSON, or the job in a dossier with the release that it repeats."""
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadData(f"is not valid JSON ({error}); expected {EXPECTED}", file=str(path)) from None
    if "dossier_version" not in content:
        return content, None
    if not is_dossier(content):
        raise BadData(
            f"is not a dossier of a release; expected {EXPECTED}, or the dossier of a release", file=str(path)
        )
    if not isinstance(content.get("job"), dict):
        raise BadData(
            "holds no job: the data were not read from a file, the method was made in Python, or an earlier version made the release",
            file=str(path),
        )
    if content["randomness"]["scheme"] != SCHEME_VERSION:
        raise BadData(
            f"derives random values by a scheme other than {SCHEME_VERSION}, which setveil {__version__} uses; repeat the release with the "
            "version of setveil that made it",
            file=str(path),
        )
    return content["job"], Repeated(str(path), content)


def _place_and_reading(table: Content) -> tuple[str, Content]:
    return table["path"], {name: value for name, value in table.items() if name != "path"}
