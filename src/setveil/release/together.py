"""Check what several releases of the same data reveal together: `check_together`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from setveil.base.arguments import describe
from setveil.base.display import ShownTable, quantity, to_html
from setveil.base.verdict import SHOWN_WITNESSES, Reach, Status, Verdict
from setveil.errors import BadData, BadParameter, Missing
from setveil.guarantees.together.base import Linked
from setveil.guarantees.together.definitions import Excluded, JointPart, check_linked
from setveil.release.checking import Evidence, check_release, guarantee_of, refuse_other_release
from setveil.release.dossier import program_versions
from setveil.release.inputs import as_opened, as_records, original_of, private_of
from setveil.release.provenance import DECIDING
from setveil.release.release import Release

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from setveil.data.records.transactions import Transactions
    from setveil.release.dossier import Private
    from setveil.release.inputs import Reading
    from setveil.release.opening import Opened


@dataclass(frozen=True)
class Together:
    """The result of `check_together`. It is true only if all joint guarantees hold.

    Attributes
    ----------
    parts : tuple of JointPart
        The checks: each has the names of its `releases`, the `title` and text of its `definition`, and its `verdict`. Every pair of
        releases is in one of them.
    repeated : tuple of str
        Releases of the same run as an earlier one. They add nothing, and are not counted again.

    Examples
    --------
    >>> import setveil as sv
    >>> baskets = [["milk", "tea"], ["milk", "tea"], ["milk", "wine"], ["milk", "wine"]]
    >>> releases = [sv.publish(baskets, sv.Disassociation(k=2, m=m)) for m in (1, 2)]
    >>> together = sv.check_together(releases)
    >>> bool(together), together.status
    (True, 'holds')
    """

    parts: tuple[JointPart, ...]
    repeated: tuple[str, ...] = ()

    @property
    def status(self) -> Status:
        """`violated` if any verdict is, otherwise `undecided` if any is, otherwise `holds`."""
        found = {part.verdict.status for part in self.parts}
        return "violated" if "violated" in found else "undecided" if "undecided" in found else "holds"

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """The verdict of each part."""
        return tuple(part.verdict for part in self.parts)

    @property
    def notes(self) -> tuple[str, ...]:
        """A sentence for each release that was not counted."""
        return tuple(f"{name} is of the same run as an earlier release and counts once" for name in self.repeated)

    @property
    def definitions(self) -> tuple[str, ...]:
        """The joint definitions that were applied, each once."""
        return tuple(dict.fromkeys(part.definition for part in self.parts if part.definition))

    def __bool__(self) -> bool:
        return self.status == "holds"

    def __str__(self) -> str:
        return "\n".join([f"together: {self.status}", *map(str, self.parts), *self.notes])

    def _repr_html_(self) -> str:
        """Return an HTML table of the parts, with the first witnesses of each."""
        rows = [(" + ".join(part.releases), part.title, str(part.verdict)) for part in self.parts]
        tables = [ShownTable(rows, ["releases", "definition", "verdict"], title=f"together: {self.status}")]
        shown = [(one.kind, one.place, one.detail) for v in self.verdicts for one in v.witnesses[:SHOWN_WITNESSES]]
        if shown:
            tables.append(ShownTable(shown, ["witness", "place", "detail"]))
        return to_html(*tables)

    def to_dict(self, *, witnesses: int | None = None) -> dict[str, Any]:
        """Return the result as plain values, with at most `witnesses` witnesses per part (default: all)."""
        parts = [
            {
                "releases": list(part.releases),
                "title": part.title,
                "definition": part.definition,
                "verdict": part.verdict.to_dict(witnesses=witnesses),
            }
            for part in self.parts
        ]
        return {"status": self.status, "parts": parts, "repeated": list(self.repeated)}


def check_together(
    releases: Sequence[str | Path | Opened | Evidence | Release],
    *,
    original: Any = None,
    reading: Reading | None = None,
) -> Together:
    """Check what several releases of the same data reveal together.

    The attacker has all releases, and knows which rows belong to the same record. `docs/together.md` defines what each pair of guarantees
    means together. Pairs without a definition are undecided.

    Parameters
    ----------
    releases
        At least two releases: folders, results of `open_release`, or results of `publish`. The private folder of each is read from its
        default place beside the release.
    original
        The data that the releases were made from, or a path to read them from. Not needed if one of the releases is a result of `publish`.
    reading
        Options of `read` for the original; by default those that the dossier of the first release holds.

    Returns
    -------
    Together
        Truthy if all joint guarantees hold; with a verdict and witnesses for each joint definition.

    Raises
    ------
    Missing
        If the original or the private folder of a release is missing.
    BadData
        If a file is not the one that was published, or no release was made from the original.
    BadParameter
        If fewer than two releases are given, or one of them is not a release.

    Examples
    --------
    >>> import setveil as sv
    >>> baskets = [["beer", "crisps"]] * 4 + [["beer"], ["crisps"], ["tea"], ["milk"]]
    >>> first = sv.publish(baskets, sv.Insert(sensitive=["beer"], rho="60%"))
    >>> second = sv.publish(baskets, sv.Insert(sensitive=["crisps"], rho="60%"))
    >>> print(sv.check_together([first, second]).status)
    violated
    """
    if isinstance(releases, str | Path) or not isinstance(releases, Iterable):
        raise BadParameter(f"releases is {describe(releases)}; expected a list of at least two releases")
    given = [_Given.of(one, number) for number, one in enumerate(releases, start=1)]
    if len(given) < 2:
        raise BadParameter(
            f"{quantity(len(given), 'release')} given; a joint check needs at least two. Use `check` for one release"
        )
    data = _original(given, original, reading)
    for one in given:
        one.refuse_other_files()
    checksum = data.checksum()
    if not any(one.checksum == checksum for one in given):
        raise BadData(
            "the original is not the data that any of these releases was made from: its checksum differs from those in the dossiers; name "
            "the data that were published"
        )
    different: list[_Given] = []
    repeated: list[str] = []
    for one in given:
        if any(one.same_run(other) for other in different):
            repeated.append(one.linked.name)
        else:
            different.append(one)
    if len(different) == 1:
        text = "The same run twice reveals what it reveals once: the verdict is that of the release itself."
        part = JointPart((different[0].linked.name,), "one release", text, different[0].verdict(data))
        return Together((part,), tuple(repeated))
    reasons = [one.why_excluded(data, checksum) for one in different]
    included = [one.linked for one, reason in zip(different, reasons, strict=True) if not reason]
    excluded = [Excluded(one.linked, reason) for one, reason in zip(different, reasons, strict=True) if reason]
    return Together(check_linked(included, excluded, data), tuple(repeated))


@dataclass(frozen=True, eq=False)
class _Given:
    """A release as it was given: a saved one with its private folder, or an unsaved one."""

    linked: Linked
    run: tuple[str | None, ...]
    """The id of the run, and the versions of the programs that determine what a seed gives."""
    checksum: str
    """The checksum of the data that it was made from."""
    saved: tuple[Opened, Private] | None
    unsaved: Release | None

    @classmethod
    def of(cls, given: Any, number: int) -> _Given:
        if isinstance(given, Release):
            method, name = given.method, f"release {number}"
            linked = Linked(name, given.data, method.guarantee, method.truthful, given.alignment.rows)
            run = _run(given.randomness.run, program_versions())
            return cls(linked, run, given.randomness.checksum, None, given)
        found = given if isinstance(given, Evidence) else None
        opened = as_opened(given) if found is None else found.opened
        if opened.card is None:
            raise BadParameter(f"{opened.folder} is a data file without a card; give the release folder")
        private = private_of(opened) if found is None else found.private
        if private is None:
            raise Missing(
                f"{opened.folder} has no private folder beside it, which the joint check needs; restore it there"
            )
        guarantee = None if opened.card.guarantee.name is None else guarantee_of(opened, private)
        linked = Linked(str(opened.folder), opened.data, guarantee, private.card.truthful, private.alignment.rows)
        run = _run(opened.card.run, private.dossier.get("versions", {}))
        return cls(linked, run, private.dossier["input"]["checksum"], (opened, private), None)

    def refuse_other_files(self) -> None:
        """Refuse files other than those that were published, as `check` does."""
        if self.saved is not None:
            refuse_other_release(*self.saved)

    def same_run(self, other: _Given) -> bool:
        """Return whether both are of the same run by the same versions, or equal in their guarantees, data and alignments."""
        if self.run[0] is not None and self.run == other.run:
            return True
        rows = self.linked.rows
        return (
            self.checksum == other.checksum
            and self.linked.guarantee == other.linked.guarantee
            and len(rows) == len(other.linked.rows)
            and bool((rows == other.linked.rows).all())
            and self.linked.data == other.linked.data
        )

    def why_excluded(self, original: Transactions, checksum: str) -> str:
        """Return why the release cannot be compared with releases of this original; empty if it can."""
        name, data = self.linked.name, self.linked.data
        if data.made_from is not None:
            return f"{name} is {data.form_title}, for which there is no joint definition"
        if self.checksum != checksum:
            return f"{name} was made from other data than the original: the checksum in its dossier differs"
        if not self.linked.has_each_record_once(original):
            return f"{name} does not have exactly one row for each record of the original"
        return ""

    def verdict(self, original: Transactions) -> Verdict:
        """Return the verdict of the release by itself."""
        guarantee = self.linked.guarantee
        if guarantee is None:
            reason = f"{self.linked.name} has no guarantee"
            return Verdict(
                "undecided", "no guarantee", {}, reason=reason, reach=Reach.whole(original.records, holds=False)
            )
        if self.saved is not None:
            opened, private = self.saved
            return check_release(opened, guarantee, original=original, private=private)
        assert self.unsaved is not None  # a release is either saved or not
        return guarantee.check(self.linked.data, original=self.unsaved.original, alignment=self.unsaved.alignment)


def _run(run: str | None, versions: Mapping[str, str]) -> tuple[str | None, ...]:
    """Return the run with the versions that made it: the same seed gives other rows with other versions."""
    return (run, *map(versions.get, DECIDING))


def _original(given: Sequence[_Given], original: Any, reading: Reading | None) -> Transactions:
    """Return the original that was given, or that of the first result of `publish` made from records."""
    if original is None:
        for one in given:
            if one.unsaved is not None and one.unsaved.original.plain is not None:
                return one.unsaved.original.plain
        raise Missing("a joint check compares the releases with their original: name it with `original=`")
    private = next((one.saved[1] for one in given if one.saved is not None), None)
    return as_records(original_of(original, private, reading))
