"""`read`, which also accepts a release folder."""

from __future__ import annotations

from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, ParamSpec

from setveil.data.reading import source

if TYPE_CHECKING:
    from collections.abc import Callable

    from setveil.data.records.transactions import Transactions

P = ParamSpec("P")


def _accepting_releases(read_data: Callable[P, Transactions]) -> Callable[P, Transactions]:
    """Return a function that reads the records of a release folder, and everything else with `read_data`."""

    @wraps(read_data)
    def read(*args: P.args, **options: P.kwargs) -> Transactions:
        place = args[0] if args else options.get("source")
        if not isinstance(place, str | Path) or not _is_folder(place):
            return read_data(*args, **options)
        from setveil.release.inputs import as_records, read_place  # noqa: PLC0415 - files need no catalog

        given = {name: value for name, value in options.items() if name != "source"}
        return as_records(read_place(place, given), place=str(place))

    return read


def _is_folder(place: str | Path) -> bool:
    try:
        return Path(place).is_dir()
    except (OSError, ValueError):  # too long for a path, or not valid as one
        return False


read = _accepting_releases(source.read)
