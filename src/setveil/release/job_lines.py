"""A job as a person would write it: as a command, and as lines of Python. Both make the same bytes as the job file."""

from __future__ import annotations

import inspect
import shlex
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

import setveil
from setveil.catalog import METHODS
from setveil.data.records.transactions import Transactions
from setveil.errors import BadParameter
from setveil.parameters import CommandExample, extra_options, kind_of
from setveil.parameters.item_names import ItemNames
from setveil.release.context import Context
from setveil.release.job_content import list_separator
from setveil.release.job_keys import LISTS, REGISTER_KEYS, TABLES
from setveil.release.measuring import LEVELS

if TYPE_CHECKING:
    from setveil.base.declaration import Declaration
    from setveil.release.job_keys import Content

JOB_NAME: Final = "job.toml"
"""What a command calls the job file."""
_OPTIONS: Final = {"format": "release_format", "separator": "release_separator"}
"""Keys of a job whose option has another name, because `publish` has an option of that name for the data."""


def with_files(content: Content) -> tuple[Content, dict[str, str]]:
    """Return a job that names a file for each side file that it holds as a value, and the content of these files by name."""
    files: dict[str, str] = {}

    def add(name: str, ending: str, text: str) -> str:
        number, file = 1, name + ending
        while files.get(file, text) != text:
            number, file = number + 1, f"{name}-{number + 1}{ending}"
        files[file] = text
        return file

    def filed(table: Content, catalog: Mapping[str, type[Declaration]]) -> Content:
        found = dict(table)
        for parameter in catalog[table["name"]].parameters():
            kind, value = kind_of(parameter.annotation), table.get(parameter.name)
            if kind is None or not kind.ending or value is None or isinstance(value, str):
                continue
            try:
                made = kind.validated(value)
            except ValueError as error:
                raise BadParameter(f"{table['name']}: {parameter.name}: {error}", parameter=parameter.name) from None
            found[parameter.name] = add(parameter.name, kind.ending, made.to_file())
            if (missing := getattr(made, "missing_category", None)) is not None:
                found["missing_category"] = missing
        return found

    found = dict(content)
    found["method"] = filed(content["method"], METHODS)
    for name in content.keys() & LISTS.keys():
        _, catalog = LISTS[name]
        found[name] = [one if isinstance(one, str) else filed(one, catalog) for one in _listed(content[name])]
    if isinstance(content.get("context"), Mapping):
        found["context"] = add("context", ".toml", Context.of(content["context"]).to_toml())
    if isinstance(content.get("names"), Mapping):
        found["names"] = add("names", ".csv", ItemNames(content["names"]).to_file())
    return found, files


def command_of(content: Content) -> CommandExample:
    """Return the command that publishes as a job says, which names a file for each side file.

    Options have no files for metrics and attacks. The command then runs the job file.
    """
    if any(
        _needs_file(one, LISTS[name][1]) for name in content.keys() & LISTS.keys() for one in _listed(content[name])
    ):
        return CommandExample("run", (JOB_NAME,))
    data = _table("data", content["data"])
    place = data.pop("path")
    options: list[tuple[str, Any]] = [*data.items(), *_method_options(content["method"])]
    for name, value in content.items():
        if name in ("data", "method"):
            continue
        if name in LISTS:
            options += [_listed_option(name, one) for one in _listed(value)]
        elif name == "original":
            options.append((name, _table(name, value)["path"]))  # it is read like the data
        elif name == "register":
            table = _table(name, value)
            options += [("register" if key == "file" else key, table[key]) for key in REGISTER_KEYS if key in table]
        else:
            options.append((_OPTIONS.get(name, name), value))
    written = tuple(
        (name, True if value is True else shlex.quote(str(value))) for name, value in options if value is not False
    )
    return CommandExample("publish", (shlex.quote(place),), written)


def _needs_file(one: Any, catalog: Mapping[str, type[Declaration]]) -> bool:
    """Return whether a metric or an attack has a parameter that is read from a file."""
    if isinstance(one, str):
        return False
    kinds = {parameter.name: kind_of(parameter.annotation) for parameter in catalog[one["name"]].parameters()}
    return any(kind is not None and kind.ending and one.get(name) is not None for name, kind in kinds.items())


def _method_options(table: Content) -> list[tuple[str, Any]]:
    flags = {
        one.name
        for parameter in METHODS[table["name"]].parameters()
        for one in extra_options(parameter)
        if one.type is bool
    }
    return [
        ("method" if name == "name" else name, value if name in flags else _as_text(value))
        for name, value in table.items()
        if value is not None
    ]


def _listed_option(name: str, one: Any) -> tuple[str, str]:
    """Return the option for a level, a metric or an attack."""
    if isinstance(one, str):
        return ("measure" if name == "metrics" and one in LEVELS else LISTS[name][0], one)
    given = [f"{key}={_as_text(value)}" for key, value in one.items() if key != "name" and value is not None]
    return (LISTS[name][0], f"{one['name']}:{','.join(given)}" if given else one["name"])


def _as_text(value: Any) -> str:
    """Return the value of a parameter as the command line takes it."""
    if isinstance(value, bool):
        return str(value).lower()
    return ",".join(map(_as_text, value)) if isinstance(value, list | tuple) else str(value)


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _table(name: str, value: Any) -> Content:
    return {TABLES[name]: value} if isinstance(value, str) else dict(value)


def python_of(content: Content) -> str:
    """Return lines of Python that publish as a job says, which names a file for each side file."""
    method, data = METHODS[content["method"]["name"]], _table("data", content["data"])
    is_read = Transactions in method.accepts or len(data) > 1
    separator = list_separator(content)
    arguments = ["data", "method"]
    for name, value in content.items():
        if name in LISTS:
            shown = [one if isinstance(one, str) else _Call(one, LISTS[name][1], separator) for one in _listed(value)]
            arguments.append(f"{name}={shown!r}")
        elif name == "original":
            arguments.append(f"original={_reading(_table(name, value))}")
        elif name == "register":
            arguments.append(f"register=sv.Registration({_named(_table(name, value))})")
        elif name == "seed" and value != "from-system":
            arguments.append(f"seed={int(value)}")
        elif name not in ("data", "method", "seed"):
            arguments.append(f"{name}={value!r}")
    lines = [
        "import setveil as sv",
        "",
        f"data = {_reading(data) if is_read else repr(data['path'])}",
        f"method = {_Call(content['method'], METHODS, separator)!r}",
        "release = sv.publish(",
        *(f"    {one}," for one in arguments),
        ")",
    ]
    return "\n".join(lines) + "\n"


def _reading(table: Content) -> str:
    options = {name: value for name, value in table.items() if name != "path"}
    return f"sv.read({', '.join(filter(None, [repr(table['path']), _named(options)]))})"


def _named(table: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in table.items())


class _Call:
    """The call that makes a method, metric or attack; its side files are read by the functions for them."""

    def __init__(self, table: Content, catalog: Mapping[str, type[Declaration]], separator: str | None) -> None:
        self.kind, self.table, self.separator = catalog[table["name"]], table, separator

    def __repr__(self) -> str:
        options = {one.name for parameter in self.kind.parameters() for one in extra_options(parameter)}
        given = {
            name: value for name, value in self.table.items() if name not in {"name", *options} and value is not None
        }
        return f"sv.{self.kind.__name__}({', '.join(f'{name}={self._shown(name, value)}' for name, value in given.items())})"

    def _shown(self, name: str, value: Any) -> str:
        kinds = {one.name: kind_of(one.annotation) for one in self.kind.parameters()}
        kind = kinds.get(self.kind.renamed.get(name, name))
        if kind is None or not kind.reader:
            return repr(tuple(value) if isinstance(value, list) else value)
        options = {one.name: self.table[one.name] for one in kind.options if self.table.get(one.name) is not None}
        if self.separator is not None and "separator" in inspect.signature(getattr(setveil, kind.reader)).parameters:
            options["separator"] = self.separator
        return f"sv.{kind.reader}({', '.join([repr(value), 'data=data', *([_named(options)] if options else [])])})"
