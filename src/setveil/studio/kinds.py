"""How each kind of job becomes command-line arguments, and files in the folder of the job. The command runs in that folder."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import tomli_w

from setveil.base.translation import option_of
from setveil.comparison.candidates import SideFiles
from setveil.parameters import kind_of
from setveil.release.context import ANSWERS, Context
from setveil.release.job import Job
from setveil.release.job_lines import JOB_NAME
from setveil.studio.contents import (
    Resolve,
    attack_list,
    grid_table,
    method_table,
    metric_list,
    refuse_other_keys,
    side_file,
)
from setveil.studio.refusals import BadRequest

if TYPE_CHECKING:
    from pathlib import Path

    from setveil.parameters import ParameterKind
    from setveil.studio.database import Source

OUT: Final = "release"
COMPARISON: Final = "comparison"
MOST_WITNESSES: Final = 100
AS_JSON: Final = (option_of("json"), f"{option_of('progress')}=json")
"""Lets a command print its result and its events for programs."""
OF_JOB: Final = (
    "method", "metrics", "attacks", "ids", "seed", "experiment", "format", "separator", "compress", "file_records", "allow_failures",
    "no_guarantee", "threads", "block_records", "attack_limit", "missing_names", "distinct_labels", "names", "context", "register",
    "comparison",
)  # fmt: skip
"""The keys of a job file that a request may give. The others name places, or machines."""


@dataclass(frozen=True)
class Place:
    """A release that a command reads: its folder, its private folder, and where its original lies."""

    out: Path
    private: Path
    original: str


@dataclass(frozen=True)
class Asked:
    """What a request asks for."""

    content: Mapping[str, Any]
    source: Source | None
    release: Place | None
    resolve: Resolve
    register: Path
    comparison: Callable[[str], Path]
    """Returns the folder of a comparison by the id of its job."""

    @property
    def data(self) -> str:
        """The place of the data."""
        if self.source is None:
            raise BadRequest("name the data with the key 'source'")
        return self.source.place

    @property
    def of(self) -> Place:
        """The release."""
        if self.release is None:
            raise BadRequest("name the release with the key 'release'")
        return self.release


@dataclass(frozen=True)
class Work:
    """A command and the files that it needs in the folder of its job."""

    arguments: list[str]
    files: dict[str, str] = field(default_factory=dict)


class Options:
    """Builds the arguments of a command."""

    def __init__(self, asked: Asked, *command: str) -> None:
        self.asked, self.arguments = asked, [*command]
        self.files: dict[str, str] = {}

    def give(self, name: str, value: Any) -> None:
        """Add an option; a list is an option for each of its entries."""
        for one in value if isinstance(value, list) else [value]:
            if one is True:
                self.arguments.append(option_of(name))
            elif one is not None and one is not False:
                self.arguments.append(f"{option_of(name)}={one}")

    def plain(self, name: str, kind: type[Any], option: str = "") -> None:
        """Add an option for a plain value of the content, if it is given."""
        value = self.asked.content.get(name)
        if value is None:
            return
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            raise BadRequest(f"{name} is a {type(value).__name__}; expected a {kind.__name__}")
        self.give(option or name, value)

    def side(self, name: str, ending: str = "") -> None:
        """Add an option for a side file; a value is written to a file of the job."""
        value = self.asked.content.get(name)
        if value is None:
            return
        found = side_file(name, value, self.asked.resolve)
        if not isinstance(found, str):
            file = f"{name}{ending}"
            self.files[file] = _as_file(name, found)
            found = file
        self.give(name, found)

    def reading(self) -> None:
        """Add the reading options of the data."""
        for name, value in (self.asked.source.reading if self.asked.source else {}).items():
            self.give(name, value)

    def work(self) -> Work:
        """Return the command."""
        return Work([*self.arguments, *AS_JSON], self.files)


def _as_file(name: str, value: Any) -> str:
    """Return the content of a side file with a value."""
    for parameter in SideFiles.parameters():
        kind = kind_of(parameter.annotation)
        if parameter.name == name and kind is not None:
            text: str = _made(name, kind, value).to_file()
            return text
    if name == "names" and isinstance(value, Mapping):
        rows = [["item", "name"], *([str(item), str(text)] for item, text in value.items())]
        return "".join(",".join('"' + one.replace('"', '""') + '"' for one in row) + "\n" for row in rows)
    raise BadRequest(f"{name} is not what is expected")


def _made(name: str, kind: type[ParameterKind], value: Any) -> ParameterKind:
    try:
        return kind.validated(value)
    except ValueError as error:
        raise BadRequest(f"{name}: {error}") from None


def profile(asked: Asked) -> Work:
    """Return the command that describes data."""
    refuse_other_keys(
        asked.content,
        ("known", "show", "sensitive", "itemsets", "item_column", "side_encoding", "names", "threads"),
        "profile",
    )
    options = Options(asked, "profile", asked.data)
    for name in ("known", "show", "threads"):
        options.plain(name, int)
    for name, ending in (("sensitive", ".txt"), ("itemsets", ".jsonl"), ("names", ".csv")):
        options.side(name, ending)
    for name in ("item_column", "side_encoding"):
        options.plain(name, str)
    options.reading()
    return options.work()


def risk(asked: Asked) -> Work:
    """Return the command that reports what data or a release reveal to every recipient."""
    refuse_other_keys(asked.content, ("known", "sensitive", "item_column", "side_encoding", "names", "threads"), "risk")
    options = Options(asked, "risk", str(asked.release.out) if asked.release else asked.data)
    for name in ("known", "threads"):
        options.plain(name, int)
    for name, ending in (("sensitive", ".txt"), ("names", ".csv")):
        options.side(name, ending)
    for name in ("item_column", "side_encoding"):
        options.plain(name, str)
    if asked.release is None:
        options.reading()  # the card says how a release is read
    return options.work()


def advise(asked: Asked) -> Work:
    """Return the command that recommends set-ups for the answers to the questions."""
    sides = {one.name: kind_of(one.annotation) for one in SideFiles.parameters()}
    beside = [option.name for kind in sides.values() if kind is not None for option in kind.options]
    refuse_other_keys(asked.content, (*ANSWERS, *dict.fromkeys([*sides, *beside]), "records", "threads"), "advise")
    answers = {name: asked.content[name] for name in ANSWERS if name in asked.content}
    options = Options(asked, "advise", asked.data)
    options.give("context", "context.toml")
    options.files["context.toml"] = Context.of(answers).to_toml()
    for name, kind in sides.items():
        if kind is not None and kind.ending:
            options.side(name, kind.ending)
        elif asked.content.get(name) is not None:
            options.give(name, _text(name, asked.content[name]))
    for name in dict.fromkeys(beside):
        if asked.content.get(name) is not None:
            options.give(name, _text(name, asked.content[name]))
    for name in ("records", "threads"):
        options.plain(name, int)
    options.reading()
    return options.work()


def _text(name: str, value: Any) -> Any:
    if isinstance(value, bool):
        return value
    if not isinstance(value, str | int | float):
        raise BadRequest(f"{name} is a {type(value).__name__}; expected a text or a number")
    return str(value)


def job_of(asked: Asked) -> Job:
    """Return the job that publishes as the content says; paths in it are absolute, apart from the release folder."""
    refuse_other_keys(asked.content, OF_JOB, "publish")
    source = asked.source
    content: dict[str, Any] = {"data": {"path": asked.data, **(source.reading if source else {})}}
    convert = {"method": method_table, "metrics": metric_list, "attacks": attack_list}
    for name, value in asked.content.items():
        if value is None:
            continue
        if name in convert:
            content[name] = convert[name](value, asked.resolve)
        elif name == "names":
            content[name] = side_file(name, value, asked.resolve)
        elif name == "context":
            content[name] = Context.of(_table(name, value)).model_dump(mode="json")
        elif name == "register":
            table = {} if value is True else _table(name, value)
            refuse_other_keys(table, ("recipient", "accept_together"), "register")
            content[name] = {"file": str(asked.register), **table}
        elif name == "comparison":
            content[name] = str(asked.comparison(str(value)))
        else:
            content[name] = value
    return Job(content | {"out": OUT}, "")


def _table(name: str, value: Any) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise BadRequest(f"{name} is a {type(value).__name__}; expected a table")
    return value


def publish(asked: Asked) -> Work:
    """Return the command that runs a job file."""
    return Work(["run", JOB_NAME, *AS_JSON], {JOB_NAME: job_of(asked).to_toml()})


def check(asked: Asked) -> Work:
    """Return the command that checks a release again."""
    refuse_other_keys(asked.content, ("witnesses",), "check")
    options = Options(asked, "check", str(asked.of.out))
    options.give("original", asked.of.original)
    options.give("private", asked.of.private)
    options.give("witnesses", witnesses_in(asked.content))
    return options.work()


def witnesses_in(content: Mapping[str, Any]) -> int:
    """Return the number of witnesses that are asked for."""
    given = content.get("witnesses", 0)
    if not isinstance(given, int) or isinstance(given, bool) or not 0 <= given <= MOST_WITNESSES:
        raise BadRequest(f"witnesses must be a whole number from 0 to {MOST_WITNESSES}")
    return given


def measure(asked: Asked) -> Work:
    """Return the command that measures a release."""
    refuse_other_keys(asked.content, ("metrics", "exact"), "measure")
    options = Options(asked, "measure", asked.of.original, str(asked.of.out))
    options.give("private", asked.of.private)
    _give_texts(options, "metrics", "metric", metric_list)
    options.plain("exact", bool)
    return options.work()


def attack(asked: Asked) -> Work:
    """Return the command that attacks a release."""
    refuse_other_keys(asked.content, ("attacks", "limit", "targets", "seed", "threads"), "attack")
    options = Options(asked, "attack", str(asked.of.out))
    options.give("original", asked.of.original)
    options.give("private", asked.of.private)
    _give_texts(options, "attacks", "attack", attack_list)
    if asked.content.get("limit") is not None:
        options.give("limit", _text("limit", asked.content["limit"]))
    for name in ("targets", "seed", "threads"):
        options.plain(name, int)
    return options.work()


def _give_texts(options: Options, name: str, option: str, read: Callable[[Any, Resolve], list[Any]]) -> None:
    """Add an option for each metric or attack, which must be a text."""
    given = options.asked.content.get(name)
    if given is None:
        return
    found = read(given, options.asked.resolve)
    if not all(isinstance(one, str) for one in found):
        raise BadRequest(f"{name} must be a list of texts, NAME or NAME:parameter=value,...")
    options.give(option, found)


GRID_KEYS: Final = (
    "methods", "task", "metrics", "attacks", "seeds", "held_out", "targets", "sample", "allow_failures", "distinct_labels", "budget",
    "threads",
)  # fmt: skip


def compare(asked: Asked) -> Work:
    """Return the command that compares set-ups."""
    from setveil.comparison.grid import Grid  # noqa: PLC0415 - only for comparisons

    refuse_other_keys(asked.content, GRID_KEYS, "compare")
    source = asked.source
    content: dict[str, Any] = {"data": {"path": asked.data, **(source.reading if source else {})}}
    for name, value in asked.content.items():
        if name in ("budget", "threads") or value is None:
            continue
        if name == "methods":
            if not isinstance(value, list):
                raise BadRequest("methods must be a list of tables")
            content[name] = [grid_table(one, asked.resolve) for one in value]
        elif name == "task":
            if not isinstance(value, str | Mapping):
                raise BadRequest("task must be a metric: NAME, NAME:parameter=value,... or a table")
            (content[name],) = metric_list(value, asked.resolve)
        elif name in ("metrics", "attacks"):
            content[name] = (metric_list if name == "metrics" else attack_list)(value, asked.resolve)
        else:
            content[name] = value
    options = Options(asked, "compare", "grid.toml")
    options.give("out", COMPARISON)
    options.files["grid.toml"] = tomli_w.dumps(Grid(content, "").to_dict())
    options.plain("budget", str)
    options.plain("threads", int)
    return options.work()


KINDS: Final[dict[str, Callable[[Asked], Work]]] = {
    "profile": profile,
    "advise": advise,
    "publish": publish,
    "check": check,
    "measure": measure,
    "attack": attack,
    "risk": risk,
    "compare": compare,
}
"""The kinds of jobs."""
