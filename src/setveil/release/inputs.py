"""Convert the inputs of public functions to data and releases: paths, samples, databases, lists, data frames, data already read."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from setveil.base.arguments import describe
from setveil.catalog import own_format_of
from setveil.data import databases
from setveil.data.files.character_encodings import encoding_named
from setveil.data.files.packing import opened_once
from setveil.data.files.piped import opened
from setveil.data.formats import Layout
from setveil.data.forms.base import Published
from setveil.data.reading.source import read, source_name
from setveil.data.reading.tables import from_arrow, from_pandas
from setveil.data.records.transactions import Transactions
from setveil.errors import BadData, BadParameter
from setveil.release import CARD_NAME
from setveil.release.object_store import StoredFolder, is_address

if TYPE_CHECKING:
    from setveil.methods.base import Method
    from setveil.release.dossier import Private
    from setveil.release.opening import Opened

Reading = dict[str, Any]
"""Options of `read`, by name."""
_ACCEPTED = "a path, a sample, a database, lists of items, a data frame, an Arrow table, or data that were read before"


def as_published(given: Any, reading: Reading | None = None) -> Published:
    """Return data in their own form: data already read or published are unchanged, everything else is read.

    A folder is a release. Reading options apply to files and databases.
    """
    if isinstance(getattr(given, "data", None), Published):  # a release, or one that was opened
        given = given.data
    if isinstance(given, Published):
        return given
    if isinstance(given, str | Path):
        return _read_place(given, reading or {})
    if type(given).__module__.partition(".")[0] == "pandas":
        return from_pandas(given)
    if hasattr(given, "__arrow_c_stream__"):
        return from_arrow(given)
    if isinstance(given, Iterable) and not isinstance(given, type):
        return Transactions.from_lists(given)
    raise BadParameter(f"data is {describe(given)}; expected {_ACCEPTED}")


def _read_place(place: str | Path, reading: Reading) -> Published:
    if is_release(place):
        from setveil.release.opening import open_release  # noqa: PLC0415 - the model of the card is slow to import, and data files need none

        return open_release(place).data
    if str(place).startswith("sample:") or databases.is_database(str(place)):
        return read(place, **reading)
    if Path(place).is_dir():
        raise BadData(f"is a folder; expected a file, or a release folder with {CARD_NAME}", file=str(place))
    with opened(place, encoding_named(reading.get("encoding"))) as path:
        own = own_format_of(path, reading.get("format"))
        return read(place, **reading) if own is None else cast("Published", own.read(path, Layout()))


def is_release(place: str | Path) -> bool:
    """Return whether a path is that of a release folder."""
    if is_address(place):
        return StoredFolder(str(place)).has_card()
    try:
        return (Path(place) / CARD_NAME).is_file()
    except (OSError, ValueError):  # too long for a path, or not valid as one
        return False


def as_input(place: str | Path, method: type[Method], reading: Reading | None = None) -> Any:
    """Read the input of a method; a release is returned as its path if the method needs its card."""
    return place if Transactions not in method.accepts else read_place(place, reading or {})


def read_from(given: Any, data: Any) -> tuple[str, Reading]:
    """Return the place that data were read from, and with which options; the place is empty if they were given as values."""
    from setveil.release.opening import Opened  # noqa: PLC0415 - as above

    source = getattr(data, "source", None)
    if source is not None:
        return source.place, source.options
    if isinstance(given, Opened):
        return str(given.folder), {}
    return source_name(given) if isinstance(given, str | Path) else "", {}


def read_place(place: str | Path, reading: Reading) -> Published:
    """Return data in their own form; refuse reading options for a release folder, whose card determines how it is read."""
    if reading and is_release(place):
        raise BadParameter(
            f"`{next(iter(reading))}=` does not apply to a release folder: its card determines how it is read; remove it"
        )
    return as_published(place, reading)


def as_records(given: Any, reading: Reading | None = None, *, place: str = "") -> Transactions:
    """Return data as plain records; refuse a release whose form has none, and name its path."""
    published = as_published(given, reading)
    place = source_name(given) if isinstance(given, str | Path) else place
    if published.plain is None and place:
        raise BadParameter(f"{place} holds {published.why_not_plain}")
    return published.as_records()


def as_minable(given: Published, *, place: str = "") -> Published:
    """Return data that can be mined: forms that bound supports and several sets unchanged, everything else as plain records."""
    return given if given.has_support_bounds or len(given.sets) > 1 else as_records(given, place=place)


def as_opened(
    given: Any,
    *,
    format: str | None = None,  # noqa: A002 - the word people use
    reading: Reading | None = None,
    takes: tuple[type, ...] = (Transactions,),
) -> Opened:
    """Open a release folder or a data file without a card; return an opened release unchanged."""
    from setveil.release.opening import Opened, open_file, open_release  # noqa: PLC0415 - the same

    if isinstance(given, Opened):
        return given
    if not isinstance(given, str | Path):
        raise BadParameter(
            f"release is {describe(given)}; expected a release folder, a data file, or the result of open_release"
        )
    path, options = Path(given), reading or {}
    if is_address(given) or not path.is_file():
        return open_release(given)
    with opened_once(path, encoding_named(options.get("encoding"))):
        return open_file(path, format, Layout.chosen(options), takes)


def private_of(release: Any, private: str | Path | Private | None = None) -> Private | None:
    """Return the given private folder, or the one beside the release folder, if it exists."""
    from setveil.release.card import Card  # noqa: PLC0415 - as above
    from setveil.release.dossier import DOSSIER_NAME, Private, private_beside  # noqa: PLC0415 - as above
    from setveil.release.opening import Opened  # noqa: PLC0415 - as above

    if isinstance(private, Private):
        return private
    if private is not None:
        return Private.load(Path(private))
    if isinstance(release, Opened):
        folder = None if release.card is None else release.folder
    elif isinstance(release, str | Path) and not is_address(release) and is_release(release):
        Card.load(Path(release))  # report a bad release before a bad private folder
        folder = Path(release)
    else:
        folder = None
    if folder is None:
        return None
    beside = private_beside(folder)
    return Private.load(beside) if (beside / DOSSIER_NAME).is_file() else None


def original_of(given: Any, private: Private | None, reading: Reading | None = None) -> Published:
    """Return the original of a release; a file is read with the given options, or else with those in the dossier."""
    return as_published(given, reading or (None if private is None else private.reading))


def refuse_unrelated(original: Transactions, release: Published) -> None:
    """Refuse an original that lacks items of a release."""
    if not original.code_of.keys() >= set(release.vocabulary):
        raise BadData(
            "the original lacks items of the release, so the release was not made from it; give the data that it was made from"
        )
