"""A grid: the methods, settings and seeds to compare on the same data, and what to measure, as a file holds them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from setveil.base.arguments import describe, refuse_other_kind
from setveil.base.display import cut
from setveil.catalog import METHODS
from setveil.comparison.trials import ATTACKS, HELD_OUT, TASK, Asked
from setveil.data.files.toml_files import parse_toml, read_settings
from setveil.data.reading.source import source_name
from setveil.data.records.transactions import Transactions
from setveil.errors import BadParameter, Missing, UnknownName
from setveil.release.attack_runs import QUICK_TARGETS, as_attacks
from setveil.release.attacking import LEAST_TARGETS, MOST_TARGETS
from setveil.release.inputs import as_records
from setveil.release.job import Job
from setveil.release.job_keys import Content, naming, plain
from setveil.release.job_paths import is_kept
from setveil.release.measuring import as_metrics

if TYPE_CHECKING:
    from setveil.methods.base import Method

EXPECTED: Final = "a file that describes a comparison"
DEFAULTS: Final[Content] = {
    "task": TASK,
    "metrics": ["fi-similarity:min_support=1%"],
    "attacks": [*ATTACKS],
    "seeds": 3,
    "held_out": HELD_OUT,
    "targets": QUICK_TARGETS,
    "sample": 4000,
    "allow_failures": 0,
    "distinct_labels": False,
}
"""The keys besides `data` and `methods`, with their defaults."""
OF_JOB: Final = ("data", "metrics", "attacks", "allow_failures", "distinct_labels")
"""The keys that mean the same as in a job."""
MOST_SET_UPS: Final = 2000
"""Maximum number of set-ups: more come from a mistake in a list."""
MOST_SEEDS: Final = 1000
"""Maximum number of seeds, for the same reason."""


@dataclass(frozen=True)
class SetUp:
    """A method with its parameters, as a grid names it."""

    number: int
    table: Content
    """The name and the parameters as they were written."""
    job: Job = field(repr=False)
    """The same with the data and everything that is measured; paths start from the working folder."""

    @property
    def name(self) -> str:
        """The name of the method."""
        name: str = self.table["name"]
        return name

    @cached_property
    def settings(self) -> dict[str, str]:
        """The parameters as texts, by name."""
        return {name: cut(_text(value), 60) for name, value in self.table.items() if name != "name"}

    def made(self, data: Transactions) -> Method:
        """Return the method; the kinds of its parameters read their files."""
        return self.job.publication(data).method


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return ", ".join(map(_text, value)) if isinstance(value, list) else str(value)


@dataclass(frozen=True)
class Grid:
    """The methods, settings and seeds to compare, as plain values.

    Parameters
    ----------
    content : dict
        The values by key: `data` as in a job, and `methods`, a list of tables as the key `method` of a job. A parameter with a list of
        values stands for a set-up with each of them. The other keys have defaults.
    file : str
        The name of the grid in messages.

    Raises
    ------
    BadParameter, UnknownName, Missing
        If a key or a name is unknown or missing, or a value has another type.

    Examples
    --------
    >>> from setveil.comparison.grid import Grid
    >>> data = {"path": "sample:supermarket?records=500"}
    >>> grid = Grid({"data": data, "methods": [{"name": "disassociation", "k": [3, 5], "m": 2}], "seeds": 2})
    >>> [one.settings for one in grid.set_ups]
    [{'k': '3', 'm': '2'}, {'k': '5', 'm': '2'}]
    """

    content: Content
    file: str = field(default="the grid", compare=False)
    folder: Path = field(default=Path(), compare=False)
    """The folder from which relative paths start."""

    def __post_init__(self) -> None:
        if not isinstance(self.content, Mapping):
            raise BadParameter(
                f"grid is {describe(self.content)}; expected a file that describes a comparison, or a dictionary with its keys"
            )
        with naming(self.file):
            object.__setattr__(self, "content", _checked(plain(self.content)))
        _ = self.set_ups

    @classmethod
    def of(cls, given: Grid | str | Path | Mapping[str, Any]) -> Grid:
        """Return a grid as it is, from a file, or from its content."""
        if isinstance(given, str | Path):
            path = Path(given)
            return cls(parse_toml(read_settings(path, EXPECTED), path, EXPECTED), str(path), path.parent)
        return given if isinstance(given, Grid) else cls(given)  # type: ignore[arg-type]  # the constructor refuses others

    @property
    def seeds(self) -> list[int]:
        """The seeds of the trials of each set-up."""
        given = self.content["seeds"]
        return [*range(given)] if isinstance(given, int) else given

    @cached_property
    def set_ups(self) -> tuple[SetUp, ...]:
        """All set-ups, each once, in the order of the file."""
        tables = self.content["methods"]
        possible = sum(prod(len(one) for one in table.values() if isinstance(one, list)) for table in tables)
        if possible > MOST_SET_UPS:
            raise BadParameter(f"{self.file}: there are {possible:,} set-ups; allowed are at most {MOST_SET_UPS:,}")
        found: list[Content] = []
        for number, table in enumerate(tables):
            with naming(f"{self.file}, methods {number + 1}"):
                for one in _expanded(table):
                    if one not in found:
                        found.append(one)
        return tuple(SetUp(number, table, self._job(table)) for number, table in enumerate(found))

    def _job(self, table: Content) -> Job:
        content = {name: self.content[name] for name in OF_JOB}
        content["metrics"] = [self.content["task"], *self.content["metrics"]]
        job = Job(content | {"method": table}, f"{self.file}, {table['name']}")
        return job if self.folder == Path() else job.with_paths(lambda place: str(self.folder / place), self.folder)

    def asked(self, data: Transactions) -> Asked:
        """Return what every trial measures."""
        publication = self.set_ups[0].job.publication(data)
        task, *metrics = as_metrics(publication.metrics)
        return Asked(
            task,
            tuple(metrics),
            tuple(as_attacks(publication.attacks)),
            self.content["targets"],
            publication.allow_failures,
            publication.distinct_labels,
        )

    def read_data(self) -> Transactions:
        """Read the data; refuse a release whose rows are not whole records, and a pipe."""
        job = self.set_ups[0].job
        place = job.content["data"]["path"]
        if place == "-" or (Path(place).exists() and not is_kept(place)):
            raise BadParameter("no comparison can read data from a pipe; write them to a file first")
        return as_records(job.read_data(), place=source_name(place))

    def to_dict(self) -> Content:
        """Return the content with all defaults, as it was written; addresses of databases have no password."""
        content: Content = plain(self.content)
        content["data"]["path"] = source_name(content["data"]["path"])
        return content

    def to_toml(self) -> str:
        """Return the content of a file that describes the same comparison."""
        import tomli_w  # noqa: PLC0415 - only for writing

        return tomli_w.dumps(self.to_dict())

    def described(self) -> Content:
        """Return plain values from which `from_described` makes an equal grid in another process with the same working folder."""
        return {"content": self.content, "file": self.file, "folder": str(self.folder)}

    @classmethod
    def from_described(cls, given: Content) -> Grid:
        """Return the grid that `described` gave these values for."""
        return cls(given["content"], given["file"], Path(given["folder"]))


def _checked(given: Mapping[str, Any]) -> Content:
    for name in given:
        if name not in ("data", "methods", *DEFAULTS):
            raise UnknownName("key", str(name), ("data", "methods", *DEFAULTS))
    for name in ("data", "methods"):
        if name not in given:
            raise Missing(f"the key {name!r} is missing; a comparison needs data and methods")
    if _holds_none(given):
        raise BadParameter("a value is None, which no file can hold; leave its key out")
    content = {**DEFAULTS, **given}
    content["data"] = {"path": given["data"]} if isinstance(given["data"], str) else given["data"]
    content["methods"] = _checked_methods(given["methods"])
    content["seeds"] = _checked_seeds(content["seeds"])
    for name in ("metrics", "attacks"):
        content[name] = content[name] if isinstance(content[name], list) else [content[name]]
    held_out = content["held_out"]
    refuse_other_kind("held_out", held_out, "float", {})
    if not 0 < held_out < 1:
        raise BadParameter(f"held_out is {held_out}; allowed is a share between 0 and 1, such as 0.2")
    for name, least, most in (("targets", LEAST_TARGETS, MOST_TARGETS), ("sample", 0, 2**63 - 1)):
        refuse_other_kind(name, content[name], "int", {})
        if not least <= content[name] <= most:
            raise BadParameter(f"{name} is {content[name]:,}; allowed is a whole number of at least {least:,}")
    return content


def _holds_none(value: Any) -> bool:
    if isinstance(value, Mapping):
        value = list(value.values())
    return any(map(_holds_none, value)) if isinstance(value, list) else value is None


def _checked_methods(given: Any) -> list[Content]:
    tables = given if isinstance(given, list) else [given]
    found = [{"name": one} if isinstance(one, str) else one for one in tables]
    for one in found:
        if not isinstance(one, Mapping) or not isinstance(one.get("name"), str):
            raise BadParameter("an entry of methods is not a table with the key 'name'")
        kind = METHODS.get(one["name"])  # a job refuses unknown names
        if kind is not None and Transactions not in kind.accepts:
            raise BadParameter(f"{one['name']} takes a release, not the data, and cannot be compared; remove it")
    if not found:
        raise BadParameter("methods is empty; name at least one method")
    return found


def _checked_seeds(given: Any) -> int | list[int]:
    listed = given if isinstance(given, list) else [given]
    for one in listed:
        refuse_other_kind("seeds", one, "int", {})
    are_allowed = min(listed, default=-1) >= 0 if given is listed else 1 <= given <= MOST_SEEDS
    if not are_allowed or len({*listed}) < len(listed):
        allowed = f"a number from 1 to {MOST_SEEDS:,}, or a list of different whole numbers"
        raise BadParameter(f"seeds is {given}; allowed is {allowed}")
    return given  # type: ignore[no-any-return]


def _expanded(table: Mapping[str, Any]) -> list[Content]:
    """Return a table for each combination of the values of parameters with a list."""
    values = {name: value if isinstance(value, list) else [value] for name, value in table.items()}
    for name, listed in values.items():
        if not listed:
            raise BadParameter(f"{name} has no values; give at least one")
    return [dict(zip(values, chosen, strict=True)) for chosen in product(*values.values())]
