"""The paths in a job: which texts are paths, and how to write them so that they start from another folder."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from setveil.catalog import METHODS
from setveil.data.databases import is_database
from setveil.data.databases.address import address
from setveil.errors import BadParameter
from setveil.parameters import kind_of
from setveil.release.job_keys import KEYS, LISTS, TABLES

if TYPE_CHECKING:
    from setveil.base.declaration import Declaration
    from setveil.release.job_keys import Content

Move = Callable[[str], str]
"""Returns what to write instead of a relative path."""

_NOT_A_PATH = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]+:")
"""The beginning of a text such as sample:supermarket, random:50 or an address."""
_FOLDERS = ("out", "private", "comparison")


def is_path(text: str) -> bool:
    """Return whether a text is a path, and not a sample, an address or a text such as random:50."""
    return _NOT_A_PATH.match(text) is None


def is_kept(place: str) -> bool:
    """Return whether data can be read again from a place: not from a pipe, and not if the file is gone."""
    return not is_path(place) or Path(place).is_file() or Path(place).is_dir()


def with_paths(content: Content, move: Move, start: Path) -> Content:
    """Return the content of a job with each relative path replaced; paths start from the folder `start`."""

    def moved(place: str) -> str:
        if is_database(place):
            return _moved_database(place, move)
        return move(place) if is_path(place) and not Path(place).is_absolute() else place

    def moved_file(place: str) -> str:
        is_name = place.isidentifier() and not (start / place).exists()  # of something that is made without a file
        return place if is_name else moved(place)

    found = dict(content)
    for name, value in content.items():
        if name == "method":
            found[name] = _with_side_files(METHODS, value, moved_file)
        elif name in LISTS:
            _, table = LISTS[name]
            found[name] = [one if isinstance(one, str) else _with_side_files(table, one, moved_file) for one in value]
        elif name in TABLES:
            found[name] = value | {TABLES[name]: moved(value[TABLES[name]])}
        elif KEYS[name].is_path and isinstance(value, str):
            found[name] = moved(value) if name in _FOLDERS else moved_file(value)
    return found


def _with_side_files(catalog: Mapping[str, type[Declaration]], table: Content, moved: Move) -> Content:
    """Return the table of a method, metric or attack with the paths of its files replaced."""
    kinds = {parameter.name: kind_of(parameter.annotation) for parameter in catalog[table["name"]].parameters()}
    files = {name: table[name] for name, kind in kinds.items() if kind is not None and kind.ending and name in table}
    return table | {name: moved(value) for name, value in files.items() if isinstance(value, str)}


def _moved_database(place: str, move: Move) -> str:
    """Return an address with the relative path of its file replaced; an address of a server is unchanged."""
    try:
        file = address(place).path
    except BadParameter:  # the reader refuses it without repeating what may be secret
        return place
    if file is None or file.is_absolute():
        return place
    return f"{place.partition(':')[0]}:///{move(str(file))}"


def seen_from(folder: Path, place: str) -> str:
    """Return a relative path so that it starts from a folder."""
    path = Path(place)
    try:
        return os.path.relpath(Path(os.path.realpath(path.parent)) / path.name, os.path.realpath(folder))
    except ValueError:  # on another drive
        return str(path.absolute())
