"""The keys of a job and their values, derived from the signatures and declarations of what takes them."""

from __future__ import annotations

import inspect
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, get_args, get_origin

from setveil.base.arguments import describe, refuse_other_kind
from setveil.catalog import ATTACKS, METHODS, METRICS, named
from setveil.data.reading import source
from setveil.errors import BadParameter, InputError, Missing, UnknownName
from setveil.parameters import ParameterKind, extra_options
from setveil.parameters.texts import settings_in
from setveil.release import publication
from setveil.release.measuring import LEVELS
from setveil.release.publication import Publication
from setveil.release.register import Registration

if TYPE_CHECKING:
    from setveil.base.declaration import Declaration

Content = dict[str, Any]
"""The values of a job, or of a table in it, by key."""

LARGEST_INTEGER: Final = 2**63 - 1
"""The largest integer that every program reads from a TOML file; a longer seed is written as text."""


class Key(NamedTuple):
    """A key of a table: its annotation, and the names that the annotation uses."""

    annotation: str
    known: Mapping[str, Any]

    @property
    def is_path(self) -> bool:
        """Whether a text is a path."""
        return "Path" in re.findall(r"\w+", self.annotation)

    def refuse(self, name: str, value: Any) -> None:
        """Refuse a value of another type, and a text that is not among the choices."""
        refuse_other_kind(name, value, self.annotation, self.known)
        for one in re.findall(r"\w+", self.annotation):
            allowed = get_args(self.known.get(one)) if get_origin(self.known.get(one)) is Literal else (value,)
            if value not in allowed:
                raise BadParameter.not_among(name, value, allowed)


KEYS: Final = {one.name: Key(str(one.type), vars(publication)) for one in fields(Publication)}
"""The keys of a job."""
REGISTER_KEYS: Final = {one.name: Key(str(one.type), {}) for one in fields(Registration)}
LISTS: Final = {"metrics": ("metric", METRICS), "attacks": ("attack", ATTACKS)}
TABLES: Final = {"data": "path", "original": "path", "method": "name", "register": "file"}
"""The keys that hold a table; a text stands for this entry of it."""


def reading_keys() -> dict[str, Key]:
    """Return the options of `read`."""
    known = inspect.unwrap(source.read).__globals__
    signature = inspect.signature(source.read)
    return {one.name: Key(one.annotation, known) for one in [*signature.parameters.values()][1:]}


@contextmanager
def naming(file: str, key: str = "") -> Iterator[None]:
    """Let messages of the block name the job file and the key; nothing if the job has no name."""
    try:
        yield
    except InputError as error:
        if file:
            error.args = (f"{file}{key and f', {key}'}: {error}", *error.args[1:])
        raise


def checked_content(given: Mapping[str, Any], file: str) -> Content:
    """Return the content of a job with its tables in full; refuse unknown keys and values of other types."""
    with naming(file):
        _refuse_keys(given, KEYS)
        for name in ("data", "method"):
            if name not in given:
                raise Missing(f"the key {name!r} is missing; a job needs data and method")
    content: Content = {}
    for name, value in given.items():
        with naming(file, name if name in TABLES or name in LISTS else ""):
            content[name] = _checked_value(name, plain(value))
    return content


def _checked_value(name: str, value: Any) -> Any:
    if name in TABLES:
        main = TABLES[name]
        table = {main: value} if isinstance(value, str) else value
        if not isinstance(table, Mapping):
            raise BadParameter(f"{name} is {describe(value)}; expected a text, or a table with the key {main!r}")
        keys = REGISTER_KEYS if name == "register" else {"path": Key("str", {})} | reading_keys()
        content = dict(table) if name == "method" else _checked_table(table, keys)
        if main not in content:
            raise Missing(f"the key {main!r} is missing")
        return _checked_declared("method", METHODS, content) if name == "method" else content
    if name in LISTS:
        kind, table = LISTS[name]
        listed = value if isinstance(value, list) else [value]
        return [_checked_listed(kind, table, one) for one in listed]
    if name == "seed":
        refuse_other_kind(name, value, "int | str", {})
        return value if isinstance(value, str) or value <= LARGEST_INTEGER else str(value)
    KEYS[name].refuse(name, value)
    return value


def _checked_listed(kind: str, table: Mapping[str, Any], one: Any) -> Any:
    if isinstance(one, Mapping) and isinstance(one.get("name"), str):
        return _checked_declared(kind, table, one)
    if not isinstance(one, str):
        raise BadParameter(f"an entry is {describe(one)}; expected a text, or a table with the key 'name'")
    if one not in LEVELS:
        named(kind, table, settings_in(one)[0], levels=LEVELS)
    return one


def _checked_table(table: Mapping[str, Any], keys: Mapping[str, Key]) -> Content:
    _refuse_keys(table, keys)
    for name, value in table.items():
        keys[name].refuse(name, value)
    return dict(table)


def _checked_declared(what: str, catalog: Mapping[str, type[Declaration]], table: Mapping[str, Any]) -> Content:
    refuse_other_kind("name", table["name"], "str", {})
    kind = named(what, catalog, table["name"])
    names = ["name"]
    for parameter in kind.parameters():
        names += [parameter.name, *(option.name for option in extra_options(parameter))]
    _refuse_keys(table, dict.fromkeys([*names, *kind.renamed]), names)
    return dict(table)


def _refuse_keys(table: Mapping[str, Any], keys: Mapping[str, Any], shown: Any = None) -> None:
    for name in table:
        if name not in keys:
            raise UnknownName("key", str(name), shown or keys)


def plain(value: Any) -> Any:
    """Return a value as JSON and TOML hold it."""
    if isinstance(value, ParameterKind):
        return value.to_json()
    if isinstance(value, Mapping):
        return {name: plain(one) for name, one in value.items()}
    if isinstance(value, tuple | list):
        return [plain(one) for one in value]
    return os.fspath(value) if isinstance(value, os.PathLike) else value
