"""Joined tables as releases: staged, read again, checked, and renamed, or nothing is written; and opened again."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from setveil.base.arguments import check_arguments
from setveil.base.atomic import make_two_folders
from setveil.errors import BadData, BadParameter, GuaranteeViolated, OutputRefused
from setveil.presence.release.card import JoinedCard, make_joined_card
from setveil.presence.secure.backends import EXPERIMENTAL
from setveil.presence.tables.joined_files import ATTRIBUTES_NAME, read_joined, write_joined
from setveil.release.card import CARD_NAME, FileBeside, file_sha256

if TYPE_CHECKING:
    from types import TracebackType

    from setveil.base.verdict import Verdict
    from setveil.presence.methods.base import JoiningMethod
    from setveil.presence.tables.joined_table import JoinedTable
    from setveil.presence.tables.originals import BothGroups, Originals

SECURE_IN_WORDS = {
    "two-party": f"two-party: oblivious transfer and garbled circuits between the providers; {EXPERIMENTAL}",
    "mpyc": "mpyc: three parties with an honest majority, the collector among them",
    "clear": "none: made in a trial in the clear",
}


class StagedTable:
    """A joined table on its way to a release; what is not committed inside the block vanishes."""

    table: JoinedTable
    """What a reader of the staged file finds, once it is staged."""
    card: JoinedCard
    """The card, once it is written."""

    def __init__(
        self,
        out: Path,
        private: Path,
        method: JoiningMethod,
        *,
        policy_sha256: str,
        data_file: str = "data.csv",
        force: bool = False,
    ) -> None:
        self._targets = out, private
        self._method = method
        self._policy_sha256 = policy_sha256
        self._file = data_file
        self._force = force
        self._stack = ExitStack()
        self.committed = False
        self.public = out
        self.private = private
        self.sha256 = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None and not self.committed:
            error = OutputRefused("the release was not completed")
            kind = type(error)
        self._stack.__exit__(kind, error, trace)

    def stage(self, table: JoinedTable) -> JoinedTable:
        """Write the table to a hidden place, and return what a reader finds there."""
        self.public, self.private = self._stack.enter_context(make_two_folders(*self._targets, force=self._force))
        write_joined(table, self.public, self._file)
        self.table = read_joined(self.public, self._file)
        self.sha256 = file_sha256(self.public / self._file)
        return self.table

    def check(
        self, names: set[str], originals: Originals | None = None, groups: BothGroups | None = None
    ) -> list[Verdict]:
        """Check those guarantees of the method that are named; raise unless they hold."""
        verdicts = []
        for guarantee in self._method.guarantees:
            if guarantee.name in names:
                verdict = guarantee.check(self.table, original=originals, alignment=groups)
                if not verdict:
                    raise GuaranteeViolated(
                        f"{guarantee.name} is not kept; nothing was written. {verdict}", verdict=verdict
                    )
                verdicts.append(verdict)
        return verdicts

    def complete(self, checked_by: dict[str, str]) -> JoinedCard:
        """Write the card."""
        backend = str(getattr(self._method, "backend", "clear"))
        self.card = make_joined_card(
            self._method,
            self.table,
            policy_sha256=self._policy_sha256,
            data=FileBeside(file=self._file, sha256=self.sha256),
            beside=(FileBeside(file=ATTRIBUTES_NAME, sha256=file_sha256(self.public / ATTRIBUTES_NAME)),),
            checked_by=checked_by,
            secure_computation=SECURE_IN_WORDS[backend],
        )
        (self.public / CARD_NAME).write_text(self.card.to_json(), encoding="utf-8")
        return self.card

    def commit(self) -> str:
        """Give the release its name; return the checksum of its data file."""
        self._stack.close()
        self.committed = True
        return self.sha256


@dataclass(frozen=True, eq=False)
class OpenedJoined:
    """A joined release, read, its checksums verified."""

    folder: Path
    card: JoinedCard
    table: JoinedTable


@check_arguments
def open_joined(folder: str | Path) -> OpenedJoined:
    """Read the folder of a joined release; its files must be those that the card describes."""
    place = Path(folder)
    try:
        if not place.is_dir():
            raise BadData("is not a release folder" if place.exists() else "there is no such folder", file=str(place))
    except OSError as error:
        raise BadData(f"cannot be read: {error.strerror or error}", file=str(place)) from None
    card = JoinedCard.load(place)
    if [one.file for one in card.beside] != [ATTRIBUTES_NAME]:
        raise BadData(f"names other files beside the data than {ATTRIBUTES_NAME}", file=str(place / CARD_NAME))
    for one in (card.data, *card.beside):
        path = place / one.file
        if path.parent != place or not path.is_file():
            raise BadData(f"lacks the file {one.file!r} that its card names", file=str(place))
        if file_sha256(path) != one.sha256:
            raise BadData("is not the file that the card describes: its sha256 differs", file=str(path))
    table = read_joined(place, card.data.file)
    if (table.records, table.groups) != (card.counts.records, card.counts.groups):
        raise BadData(
            f"tells of {card.counts.records:,} records in {card.counts.groups:,} groups, and {card.data.file} has {table.records:,} in "
            f"{table.groups:,}; get the release again from its collector",
            file=str(place / CARD_NAME),
        )
    return OpenedJoined(place, card, table)


def promised(card: JoinedCard, known: dict[str, Any]) -> list[Any]:
    """Return the guarantees that the card promises."""
    if not card.guarantees:
        raise BadData("promises no guarantee, so there is nothing to check", file=CARD_NAME)
    made = []
    for promise in card.guarantees:
        if promise.name not in known:
            raise BadData(f"promises {promise.name!r}, which setveil does not know", file=CARD_NAME)
        try:
            made.append(known[promise.name](**promise.parameters))
        except BadParameter as error:
            raise BadData(str(error), file=CARD_NAME) from None
    return made
