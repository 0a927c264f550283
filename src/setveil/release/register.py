"""The release register: what was published from a source, so that a second release is not made blindly.

Two releases of the same people can reveal more together than each alone. With a register, the same job gives the same bytes, and `publish`
checks every other release together with those that it overlaps with (docs/register.md).
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from setveil.base.arguments import check_arguments
from setveil.base.display import ShownTable, to_html
from setveil.base.frames import as_pandas
from setveil.data.records.labels import are_texts
from setveil.errors import BadParameter
from setveil.release.register_file import RegisterFile

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True)
class Registration:
    """How to record a release in a register; the parameter `register` of `publish`.

    Parameters
    ----------
    file : str or Path
        The register: an SQLite file, which the first release creates. Keep it private: it holds a key.
    recipient : str
        Who gets the release.
    accept_together : str, optional
        The reason to publish although the guarantees do not hold for this release and earlier ones together.

    Examples
    --------
    >>> import setveil as sv
    >>> baskets = [["milk", "tea"], ["milk", "tea"], ["milk", "wine"], ["milk", "wine"]]
    >>> register = sv.Registration("releases.db", recipient="University of Bonn")
    >>> release = sv.publish(baskets, sv.Disassociation(k=2, m=1), out="release", register=register)
    >>> sv.releases("releases.db")[0].recipient
    'University of Bonn'
    """

    file: str | Path
    recipient: str = ""
    accept_together: str | None = None

    def __post_init__(self) -> None:
        for name, kinds, expected in (
            ("file", (str, Path), "a text or a path"),
            ("recipient", str, "a text"),
            ("accept_together", (str, type(None)), "a text or None"),
        ):
            value = getattr(self, name)
            if not isinstance(value, kinds):
                raise BadParameter(f"`{name}=` of a registration is {value!r}; expected {expected}")
            _refuse_lone_surrogate(name, value)
        if self.accept_together is not None and not self.accept_together.strip():
            raise BadParameter(
                "`accept_together=` is empty; allowed is a text that states why you accept these releases together"
            )


@dataclass(frozen=True)
class RegisteredRelease:
    """A release in a register; `releases` returns all of them.

    Attributes
    ----------
    number : int
        The number of the release in the register.
    published : str
        The time of the publication (UTC).
    run : str
        The id of the run, which is also on the card.
    source : str
        Where the data were read from.
    records : int
        The number of records of the data.
    method, parameters : str, dict
        The method and its public parameters.
    guarantee, guarantee_parameters : str or None, dict
        The guarantee and its public parameters; None for a baseline.
    files : dict of str to str
        The sha256 of each data file.
    recipient : str
        Who got the release; empty if you did not name a recipient.
    release_folder, private_folder : str
        The two folders at the time of the publication.
    private_sha256 : str
        The commitment to the private parameters on the card.
    accepted_together : str
        The reason why the release was published although the joint check did not hold; empty otherwise.
    together : dict or None
        The result of the joint check: `status`, `text`, and the numbers of the other `releases`. None if no check was necessary.
    withdrawn, withdrawn_reason : str or None, str
        When the release was withdrawn, and why.
    recipe : str
        Method, all parameters and `ids` as canonical JSON. It contains private parameters.

    Examples
    --------
    >>> import setveil as sv
    >>> baskets = [["milk", "tea"], ["milk", "tea"], ["milk", "wine"], ["milk", "wine"]]
    >>> release = sv.publish(baskets, sv.Disassociation(k=2, m=1), out="release", register="releases.db")
    >>> first = sv.releases("releases.db")[0]
    >>> first.number, first.method, first.withdrawn
    (1, 'disassociation', None)
    """

    number: int
    published: str
    run: str
    source: str
    records: int
    method: str
    parameters: dict[str, Any]
    guarantee: str | None
    guarantee_parameters: dict[str, Any]
    files: dict[str, str]
    recipient: str
    release_folder: str
    private_folder: str
    private_sha256: str
    accepted_together: str
    together: dict[str, Any] | None
    withdrawn: str | None
    withdrawn_reason: str
    recipe: str = field(repr=False)

    @classmethod
    def of(cls, entry: dict[str, Any]) -> RegisteredRelease:
        """Return the release of an entry of the file."""
        return cls(**{one.name: entry[one.name] for one in fields(cls)})

    @property
    def status(self) -> str:
        """`published` or `withdrawn`; `accepted` if it was published although the joint check did not hold."""
        if self.withdrawn is not None:
            return "withdrawn"
        return "accepted" if self.accepted_together else "published"

    def to_dict(self) -> dict[str, Any]:
        """Return everything except the recipe as plain values."""
        plain = asdict(self) | {"status": self.status}
        del plain["recipe"]
        return plain

    def remarks(self) -> list[str]:
        """Return why the release was accepted or withdrawn, one sentence each."""
        found = []
        if self.accepted_together and self.together is not None:
            others = f"release {listed(self.together['releases'])}"
            found.append(f"accepted together with {others} ({self.together['status']}): {self.accepted_together}")
        if self.withdrawn is not None:
            reason = f": {self.withdrawn_reason}" if self.withdrawn_reason else ""
            found.append(f"withdrawn {_minute(self.withdrawn)}{reason}")
        return found


class Releases(list[RegisteredRelease]):
    """The releases in a register, as `releases` returns them: a list that prints as a table.

    Examples
    --------
    >>> import setveil as sv
    >>> baskets = [["milk", "tea"], ["milk", "tea"], ["milk", "wine"], ["milk", "wine"]]
    >>> release = sv.publish(baskets, sv.Disassociation(k=2, m=1), out="release", register="releases.db")
    >>> [one.number for one in sv.releases("releases.db")]
    [1]
    """

    def __repr__(self) -> str:
        return "\n\n".join(table.to_text() for table in self.tables()) or "no releases"

    def _repr_html_(self) -> str:
        return to_html(*self.tables() or [ShownTable((), note="no releases")])

    def tables(self) -> list[ShownTable]:
        """Return a table of the releases, and one of the remarks about them."""
        header = [
            "number",
            "published (UTC)",
            "recipient",
            "method",
            "guarantee",
            "records",
            "status",
            "release folder",
        ]
        rows = [
            [
                one.number,
                _minute(one.published),
                one.recipient or None,
                one.method,
                one.guarantee,
                one.records,
                one.status,
                one.release_folder,
            ]
            for one in self
        ]
        remarks = [[one.number, remark] for one in self for remark in one.remarks()]
        tables = ShownTable(rows, header), ShownTable(remarks, ["number", "remark"])
        return [table for table in tables if table.rows]

    def to_pandas(self) -> Any:
        """Return a pandas DataFrame with one row per release and the entries of `to_dict` as columns. It requires pandas."""
        import pyarrow as pa  # noqa: PLC0415 - imported only for tables

        plain = [one.to_dict() for one in self]
        flat = [{k: json.dumps(v) if isinstance(v, dict) else v for k, v in one.items()} for one in plain]
        return as_pandas(pa.Table.from_pylist(flat))


@check_arguments
def releases(file: str | Path) -> Releases:
    """Return the releases in a register.

    Parameters
    ----------
    file : str or Path
        The register.

    Returns
    -------
    Releases
        All releases in the order of their numbers, also withdrawn ones.

    Raises
    ------
    BadData
        If the file does not exist or is not a release register.
    OutputRefused
        If the system refuses to open the file.

    Examples
    --------
    >>> import setveil as sv
    >>> baskets = [["milk", "tea"], ["milk", "tea"], ["milk", "wine"], ["milk", "wine"]]
    >>> release = sv.publish(baskets, sv.Disassociation(k=2, m=1), out="release", register="releases.db")
    >>> for one in sv.releases("releases.db"):
    ...     print(one.number, one.method, one.status)
    1 disassociation published
    """
    return Releases(map(RegisteredRelease.of, RegisterFile(Path(file)).read()))


@check_arguments
def withdraw(file: str | Path, release: int | str | Path, *, reason: str = "") -> RegisteredRelease:
    """Mark a release in a register as withdrawn.

    Joint checks still include it, because its recipients have the data. If it is already withdrawn, a new reason replaces the former one.

    Parameters
    ----------
    file : str or Path
        The register.
    release : int, str or Path
        The number of the release in the register, the id of its run, or its release folder.
    reason : str
        Why the release is withdrawn.

    Returns
    -------
    RegisteredRelease
        The release as it is now recorded.

    Raises
    ------
    BadData
        If the file does not exist or is not a release register.
    BadParameter
        If the register has no such release, or several.
    OutputRefused
        If the register cannot be written.

    Examples
    --------
    >>> import setveil as sv
    >>> baskets = [["milk", "tea"], ["milk", "tea"], ["milk", "wine"], ["milk", "wine"]]
    >>> release = sv.publish(baskets, sv.Disassociation(k=2, m=1), out="release", register="releases.db")
    >>> sv.withdraw("releases.db", 1, reason="the project ended").status
    'withdrawn'
    """
    _refuse_lone_surrogate("reason", reason)
    path = Path(file)
    with RegisterFile(path).changing() as register:
        number = _found(release, register.entries(), path)["number"]
        register.withdraw(number, now(), reason)
        changed = next(entry for entry in register.entries() if entry["number"] == number)
    return RegisteredRelease.of(changed)


def _refuse_lone_surrogate(name: str, value: Any) -> None:
    """Refuse a text that no file can hold; a terminal gives one for bytes that are not UTF-8."""
    if isinstance(value, str) and not are_texts([value]):
        raise BadParameter(f"`{name}=` is {value!r}, which holds a lone surrogate; expected valid Unicode text")


def _found(release: int | str | Path, entries: list[dict[str, Any]], path: Path) -> dict[str, Any]:
    """Return the entry that a number, a run id or a folder names."""
    text, folder = str(release), Path(release if isinstance(release, Path) else str(release)).resolve()
    named = [one for one in entries if text == str(one["number"])]
    named = named or [one for one in entries if text == one["run"] or folder == Path(one["release_folder"]).resolve()]
    if not named:
        known = f"it has {listed(one['number'] for one in entries)}" if entries else "it has none"
        raise BadParameter(
            f"{path} has no release {text!r}; {known}. Give the number, the id of the run or the release folder"
        )
    if len(named) > 1:
        numbers = listed(one["number"] for one in named)
        raise BadParameter(f"{text!r} is release {numbers} of {path}; give one of these numbers")
    return named[0]


def now() -> str:
    """Return the time (UTC) as the register stores it."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def _minute(moment: str) -> str:
    """Return a stored time without its seconds."""
    return moment[:16].replace("T", " ")


def listed(values: Iterable[Any]) -> str:
    """Return values as a list in a sentence."""
    *most, last = map(str, values)
    return f"{', '.join(most)} and {last}" if most else last
