"""The part of a publication that concerns a register: the seed, the check together with other releases, and the entry."""

from __future__ import annotations

import hmac
import secrets
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, ParamSpec, TypeVar

import numpy as np

from setveil.base import progress
from setveil.base.advice import Advice
from setveil.base.verdict import Verdict
from setveil.errors import BadParameter, GuaranteeViolated, InputError, OutputRefused
from setveil.release import CARD_NAME
from setveil.release.checking import Evidence
from setveil.release.dossier import DOSSIER_NAME, program_versions
from setveil.release.fingerprints import fingerprints, have_common
from setveil.release.provenance import DECIDING
from setveil.release.register import RegisteredRelease, Registration, listed, now
from setveil.release.register_file import CreatedMeanwhile, OpenRegister, People, RegisterFile
from setveil.release.seed import SECURE_BITS, Seed, framed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from setveil.data.forms.base import Published
    from setveil.release.card import Card
    from setveil.release.release import Release
    from setveil.release.saving import Target

P = ParamSpec("P")
R = TypeVar("R")

KEY_BYTES: Final = 32
_MOST_SHOWN: Final = 3
"""The maximum number of verdicts in a message; the dossier has all."""


def again_if_created_meanwhile(publish: Callable[P, R]) -> Callable[P, R]:
    """Publish once more if another process created the register during the first attempt: its key gives another release."""

    @wraps(publish)
    def publish_again(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return publish(*args, **kwargs)
        except CreatedMeanwhile:
            return publish(*args, **kwargs)

    return publish_again


@dataclass(eq=False)
class Registrar:
    """Gives a publication its seed, checks it together with other releases, and records it."""

    asked: Registration
    file: RegisterFile
    key: bytes
    recorded: RegisteredRelease | None = None
    """The entry of the release, once it is written."""

    @classmethod
    def of(cls, register: str | Path | Registration, seed: int | None) -> Registrar:
        """Return the registrar of a register; refuse a seed, which the key of the register determines."""
        asked = register if isinstance(register, Registration) else Registration(register)
        if seed is not None:
            raise BadParameter("`seed=` and `register=` exclude each other: a register determines the seed; remove one")
        path = Path(asked.file)
        file = RegisterFile(path)
        file.refuse_unwritable()
        if any((path.parent / mark).exists() for mark in (CARD_NAME, DOSSIER_NAME)):
            raise _inside(path, path.parent)
        return cls(asked, file, file.key() or secrets.token_bytes(KEY_BYTES))

    def refuse_inside(self, target: Target) -> None:
        """Refuse a register inside a folder of the release, which would be published or replaced with it."""
        place = self.file.path.resolve()
        for folder in (target.out, target.private):
            if folder.resolve() in place.parents:
                raise _inside(self.file.path, folder)

    def seed(self, checksum: str, recipe: str) -> Seed:
        """Return the seed of a job: the same data and recipe give the same one."""
        return Seed(int.from_bytes(self._mac("seed", checksum, recipe)[: SECURE_BITS // 8], "big"), given=False)

    def _mac(self, *values: str) -> bytes:
        """Return a keyed hash of values."""
        return hmac.digest(self.key, framed("setveil register", *values), "sha256")

    @contextmanager
    def entering(self, release: Release, target: Target) -> Iterator[NewEntry]:
        """Check a release together with those it overlaps with; yield its entry. Other publications wait until the block ends."""
        self.refuse_inside(target)
        people = self._people(release.original, release.randomness.checksum)
        with self.file.publishing(self.key) as register:
            together = self._joint_check(register, release, people)
            yield NewEntry(self, register, release, target, people, together)

    def _people(self, data: Published, checksum: str) -> People:
        rows = data.plain
        prints = np.empty(0, dtype=np.uint64) if rows is None else fingerprints(rows, self.key)
        has_ids = rows is not None and rows.ids is not None
        return People(self._mac("data", checksum), data.unit, has_ids, prints)

    def _joint_check(self, register: OpenRegister, release: Release, people: People) -> dict[str, Any] | None:
        """Return the joint verdict as plain values; None if no check is necessary. Raise unless it holds or is accepted."""
        entries, versions = register.entries(), _versions()
        if any(entry["run"] == release.randomness.run and entry["versions"] == versions for entry in entries):
            return None  # the same bytes as before
        others = _overlapping(entries, people, register)
        if not others:
            if entries:
                progress.note(
                    "these data share no id with an earlier release of the register, so no joint check was made; if they hold the same "
                    "people, use the same ids"
                )
            return None
        with progress.step("checking the releases together"):
            joint = check_with(others, release)
        if not joint.verdict and self.asked.accept_together is None:
            refusal = _refusal(others, joint)
            raise GuaranteeViolated(refusal, verdict=joint.verdict, advice=refusal)
        return joint.to_dict(others)


@dataclass(eq=False)
class NewEntry:
    """The entry of a release that is being written."""

    registrar: Registrar
    register: OpenRegister
    release: Release
    target: Target
    people: People
    together: dict[str, Any] | None
    name: str = field(default_factory=lambda: secrets.token_hex(16))
    """A random name, by which entry and dossier find each other."""
    card: Card | None = None
    """The card, once it is made."""

    @property
    def reason(self) -> str:
        """The reason why the release is accepted; empty if none is necessary."""
        needed = self.together is not None and self.together["status"] != "holds"
        return (self.registrar.asked.accept_together or "") if needed else ""

    def noted(self, card: Card) -> dict[str, Any]:
        """Take the card of the release for the entry, and return what the dossier records."""
        self.card = card
        return {
            "seed_from_register": True,
            "entry": self.name,
            "recipient": self.registrar.asked.recipient,
            "accepted_together": self.reason,
            "together": self.together,
        }

    @contextmanager
    def recording(self) -> Iterator[None]:
        """Record the entry together with what the block does."""
        registrar, row = self.registrar, self._row()
        with registrar.file.recording(self.register, row, self.people, registrar.key) as number:
            yield
        registrar.recorded = RegisteredRelease.of(row | {"number": number, "withdrawn": None, "withdrawn_reason": ""})

    def _row(self) -> dict[str, Any]:
        release, card = self.release, self.card
        assert card is not None, "the card is made before the release is recorded"
        together = None if self.together is None else {**self.together}
        if together is not None:
            del together["verdict"]  # with its witnesses in the dossier
        return {
            "published": now(),
            "run": card.run,
            "source": release.source,
            "records": release.original.records,
            "method": card.method.name,
            "parameters": card.method.parameters,
            "recipe": release.randomness.recipe,
            "versions": _versions(),
            "guarantee": card.guarantee.name,
            "guarantee_parameters": card.guarantee.parameters,
            "files": card.data.checksums,
            "recipient": self.registrar.asked.recipient,
            "release_folder": self.target.address or str(self.target.out.absolute()),
            "private_folder": str(self.target.private.absolute()),
            "private_sha256": card.private_sha256,
            "accepted_together": self.reason,
            "together": together,
            "pending": self.name,
        }


@dataclass(frozen=True, eq=False)
class JointResult:
    """The result of a joint check."""

    verdict: Any
    """A `Together`, or a `Verdict` if the check could not be made."""

    @property
    def text(self) -> str:
        """The verdicts that decide the result."""
        parts = getattr(self.verdict, "verdicts", (self.verdict,))
        texts = list(dict.fromkeys(str(one) for one in parts if one.status == self.verdict.status))
        more = [f"{len(texts) - _MOST_SHOWN:,} more"] if len(texts) > _MOST_SHOWN else []
        return "; ".join(texts[:_MOST_SHOWN] + more)

    def to_dict(self, others: list[dict[str, Any]]) -> dict[str, Any]:
        """Return the result as plain values, with the numbers of the other releases."""
        numbers = [entry["number"] for entry in others]
        return {
            "status": self.verdict.status,
            "text": self.text,
            "releases": numbers,
            "verdict": self.verdict.to_dict(),
        }


def check_with(others: list[dict[str, Any]], release: Release) -> JointResult:
    """Check a new release together with earlier ones; the result is undecided if one of them cannot be opened."""
    from setveil.release.together import check_together  # noqa: PLC0415 - only if there are other releases

    copies: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for entry in others:
        copies.setdefault((entry["run"], *sorted(entry["versions"].items())), []).append(entry)
    opened = [(entries, _opened(entries)) for entries in copies.values()]
    found = [evidence for _entries, evidence in opened if evidence is not None]
    if len(found) < len(opened):
        lost = [entries[0] for entries, evidence in opened if evidence is None]
        places = listed(f"{_named(entry)} in {entry['release_folder']}" for entry in lost)
        return _undecided(f"{places} cannot be opened as it was published; restore both folders")
    try:
        return JointResult(check_together([*found, release], original=release.compared))
    except InputError as error:
        return _undecided(str(error))


def _opened(entries: list[dict[str, Any]]) -> Evidence | None:
    """Return the first release that is still as it was published, with its private folder; the entries are copies of one release."""
    for entry in entries:
        with suppress(InputError, OSError):
            found = Evidence.found(entry["release_folder"], private=entry["private_folder"])
            card = found.opened.card
            if card is not None and card.run == entry["run"] and card.data.checksums == entry["files"]:
                return found
    return None


def _inside(register: Path, folder: Path) -> OutputRefused:
    return OutputRefused(f"the register {register} is inside {folder}, a folder of a release; choose another path")


def _undecided(reason: str) -> JointResult:
    return JointResult(Verdict("undecided", "joint check", {}, reason=reason))


def _overlapping(entries: list[dict[str, Any]], people: People, register: OpenRegister) -> list[dict[str, Any]]:
    """Return the releases that can hold some of these people. Only ids of the same kind can show that a release does not."""
    has_common = {people.data: True}  # by data: several releases can be of the same

    def overlaps(entry: dict[str, Any]) -> bool:
        if not (entry["has_ids"] and people.has_ids and entry["unit"] == people.unit):
            return True
        data = entry["data"]
        if data not in has_common:
            has_common[data] = have_common(register.fingerprints(data), people.fingerprints)
        return has_common[data]

    return [entry for entry in entries if overlaps(entry)]


def _refusal(others: list[dict[str, Any]], joint: JointResult) -> Advice:
    together = listed(["this release", *map(_named, others)])
    return Advice(
        f"{together} can cover the same people. Checked together: {joint.text}; nothing was written.",
        [
            "publish the same data with the same method, parameters and ids as before, which gives the same bytes",
            "state why you accept these releases together with `accept_together=`",
        ],
    )


def _named(entry: dict[str, Any]) -> str:
    """Return the number of a release and its recipient."""
    return f"release {entry['number']}" + (f" (for {entry['recipient']!r})" if entry["recipient"] else "")


def _versions() -> dict[str, str]:
    """Return the versions of the programs that determine what a seed gives."""
    return {name: version for name, version in program_versions().items() if name in DECIDING}
