"""What a request may ask for: plain values, and ids of files. A text never becomes a path.

A side file is given as `{"file": id}`, `{"upload": id}`, `{"sample": "sample:hospital"}`, as a text that makes a value without a file
(`prefix:3`), or as the value itself: a list or a table.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from setveil.catalog import ATTACKS, METHODS, METRICS, named
from setveil.parameters import extra_options, kind_of
from setveil.parameters.texts import settings_in
from setveil.release.measuring import LEVELS
from setveil.studio.refusals import BadRequest

if TYPE_CHECKING:
    from setveil.base.declaration import Declaration

Resolve = Callable[[str, str], str]
"""Returns the path of `file` or `upload` with an id."""

_SAMPLE = re.compile(r"sample:[a-z]{1,40}(\?[a-z]+=[0-9]{1,40}(&[a-z]+=[0-9]{1,40})?)?")
_MADE = re.compile(
    r"random:[0-9]{1,9}(\?seed=[0-9]{1,40})?|balanced:[0-9]{1,9}|prefix:[0-9]{1,4}(,[0-9]{1,4}){0,30}|icd10cm(:[a-z0-9]{1,20})?"
)
_REFERENCES: Final = ("file", "upload", "sample")


def is_sample(text: str) -> bool:
    """Return whether a text names a built-in sample."""
    return _SAMPLE.fullmatch(text) is not None


def side_file(name: str, value: Any, resolve: Resolve) -> Any:
    """Return what a job file holds for a side file."""
    if isinstance(value, str):
        if is_sample(value) or _MADE.fullmatch(value):
            return value
        raise BadRequest(
            f"{name} is a text that is neither a sample nor a text such as prefix:3; give a file by its id, or the value itself"
        )
    if isinstance(value, Mapping) and len(value) == 1:
        ((kind, number),) = value.items()
        if kind == "path":
            raise BadRequest(f"{name} names a path; give a file by its id")
        if kind in _REFERENCES and isinstance(number, str):
            if kind != "sample":
                return resolve(kind, number)
            if is_sample(number):
                return number
            raise BadRequest(f"{name} names no sample")
    return value


def declared(catalog: Mapping[str, type[Declaration]], what: str, given: Any, resolve: Resolve) -> dict[str, Any]:
    """Return the table of a method, metric or attack with the paths of its side files."""
    if not isinstance(given, Mapping) or not isinstance(given.get("name"), str):
        raise BadRequest(f"a {what} must be a table with the key 'name'")
    kind = named(what, catalog, given["name"])
    files = _side_files(kind)
    return {name: side_file(name, value, resolve) if name in files else value for name, value in given.items()}


def listed(catalog: Mapping[str, type[Declaration]], what: str, given: Any, resolve: Resolve) -> list[Any]:
    """Return a list of levels, names, texts `NAME:parameter=value` and tables."""
    return [_listed_one(catalog, what, one, resolve) for one in (given if isinstance(given, list) else [given])]


def _listed_one(catalog: Mapping[str, type[Declaration]], what: str, one: Any, resolve: Resolve) -> Any:
    if not isinstance(one, str):
        return declared(catalog, what, one, resolve)
    if one in LEVELS:
        return one
    name, settings = settings_in(one)
    files = _side_files(named(what, catalog, name, levels=LEVELS))
    for parameter in settings.keys() & files:
        side_file(parameter, settings[parameter], resolve)
    return one


def _side_files(kind: type[Declaration]) -> set[str]:
    """Return the parameters whose texts can be paths, with their former names."""
    found = set()
    for parameter in kind.parameters():
        of_kind = kind_of(parameter.annotation)
        if of_kind is not None and of_kind.ending:
            found.add(parameter.name)
    return found | {former for former, name in kind.renamed.items() if name in found}


def method_table(given: Any, resolve: Resolve) -> dict[str, Any]:
    """Return the table `method` of a job file."""
    found = declared(METHODS, "method", given, resolve)
    kind = METHODS[found["name"]]
    files = _side_files(kind)
    options = {
        one.name for parameter in kind.parameters() for one in extra_options(parameter)
    } - kind.model_fields.keys()
    later = {name for name in files if name in found}
    plain = {
        name: value for name, value in found.items() if name not in {"name", *options, *later} and value is not None
    }
    kind.refuse_values(plain, later=later)
    return found


def grid_table(given: Any, resolve: Resolve) -> dict[str, Any]:
    """Return a table of `methods` of a grid, where a list holds several values of a parameter."""
    return declared(METHODS, "method", given, resolve)


def metric_list(given: Any, resolve: Resolve) -> list[Any]:
    """Return the list `metrics` of a job file."""
    return listed(METRICS, "metric", given, resolve)


def attack_list(given: Any, resolve: Resolve) -> list[Any]:
    """Return the list `attacks` of a job file."""
    return listed(ATTACKS, "attack", given, resolve)


def refuse_other_keys(given: Mapping[str, Any], allowed: tuple[str, ...], what: str) -> None:
    """Refuse keys that a request must not give."""
    for name in given:
        if name not in allowed:
            raise BadRequest(f"there is no key {name!r} for {what}; there are: {', '.join(allowed)}")
