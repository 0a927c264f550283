"""The content of a job from a release that was made: where its values were read from, and what differs from defaults."""

from __future__ import annotations

from dataclasses import fields
from inspect import signature
from typing import TYPE_CHECKING, Any

from setveil.base.declaration import Declaration
from setveil.catalog import METHODS
from setveil.data.formats import Layout
from setveil.data.reading import source
from setveil.errors import Missing
from setveil.parameters import ParameterKind, extra_options
from setveil.release.dossier import private_beside
from setveil.release.inputs import read_from
from setveil.release.job_keys import KEYS, LISTS, TABLES, plain
from setveil.release.job_paths import is_kept
from setveil.release.publication import Publication
from setveil.release.register import Registration

if TYPE_CHECKING:
    from collections.abc import Mapping

    from setveil.release.job_keys import Content
    from setveil.release.release import Release
    from setveil.release.saving import Target


def content_of_release(release: Release, target: Target | None) -> Content:
    """Return the content of the job that makes a release, without a seed from the system; `target` says where it is written."""
    asked = release.asked
    content: Content = {"data": _place_of(release.source, release.reading, "data")}
    if asked.original is not None:
        content["original"] = _place_of(*read_from(asked.original, release.compared), "original")
    separator = list_separator(content)
    content["method"] = content_of(asked.method, METHODS, separator)
    if asked.register is not None:
        given = asked.register if isinstance(asked.register, Registration) else Registration(asked.register)
        content["register"] = {name: plain(value) for name, value in vars(given).items() if value}
    for name, (_, catalog) in LISTS.items():
        content[name] = [
            content_of(one, catalog, separator) if isinstance(one, Declaration) else one for one in getattr(asked, name)
        ]
    of_one_run = {"force", "scratch", "engine", "spark_remote", "spark_folder"}
    for name in KEYS.keys() - content.keys() - TABLES.keys() - of_one_run:
        content[name] = plain(getattr(asked if target is None else target, name, getattr(asked, name)))
    if target is not None and target.address:
        content["out"] = target.address
    elif target is not None and target.private == private_beside(target.out):
        del content["private"]
    return {name: content[name] for name in KEYS if name in content and content[name] not in _defaults(name)}


def content_of(one: Declaration, catalog: Mapping[str, type[Declaration]], separator: str | None) -> Content:
    """Return the table of a method, metric or attack: its name, and the parameters that differ from their defaults.

    A value that was read is written as its source, if the options of this table read it again, and else with its content. `separator` is
    what separates items in files of lists.
    """
    if catalog.get(one.name) is not type(one):
        raise Missing(f"no job can name {type(one).__name__}, which setveil does not have; publish with it in Python")
    content: Content = {"name": one.name}
    options: Content = {}  # of the kinds, None for those that were not given: parameters of the same kind share them
    for parameter in one.parameters():
        value = getattr(one, parameter.name)
        if not parameter.required and plain(value) == plain(parameter.default):
            continue
        content[parameter.name] = plain(value)
        origin = value.origin if isinstance(value, ParameterKind) else None
        if origin is not None:
            given = {name: text for name, text in origin.options.items() if text is not None}
            same_separator = given.pop("separator", None) == separator or not _takes_separator(type(value))
            needed = {option.name: given.pop(option.name, None) for option in extra_options(parameter)}
            if same_separator and not given and all(options.get(name, text) == text for name, text in needed.items()):
                content[parameter.name] = str(origin.source)
                options |= needed
                content |= {name: plain(text) for name, text in needed.items() if text is not None}
    return content


def _takes_separator(kind: type[ParameterKind]) -> bool:
    """Return whether the files of a kind hold items that a separator separates."""
    return "separator" in signature(kind.read).parameters


def _place_of(place: str, reading: Mapping[str, Any], what: str) -> Content:
    if not place or not is_kept(place):
        raise Missing(
            f"no job can name the {what} of this release, which were not read from a file that can be read again, but given in Python or "
            "through a pipe; write them to a file, and publish that file"
        )
    return {"path": place} | {name: plain(value) for name, value in reading.items()}


def list_separator(content: Content) -> str | None:
    """Return the separator of items in files of lists, which is that of the data."""
    tables = [content[name] for name in ("data", "original") if name in content]
    for table in tables:
        if table.get("separator"):
            return source.list_separator(
                table["separator"], [(table["path"], table.get("format"))], Layout.chosen(table)
            )
    return None


def _defaults(name: str) -> tuple[Any, Any]:
    """Return the default of a key, also as the only entry of a list."""
    (default,) = (one.default for one in fields(Publication) if one.name == name)
    return default, [default]
