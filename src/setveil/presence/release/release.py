"""Write joined releases in steps (stage, read again, check, rename), so that all or nothing is written; and open them."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from setveil.base.arguments import check_arguments
from setveil.base.atomic import make_two_folders
from setveil.base.display import quantity
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

BACKEND_DESCRIPTIONS = {
    "two-party": f"two-party: oblivious transfer and garbled circuits between the providers; {EXPERIMENTAL}",
    "mpyc": "mpyc: three parties, including the collector, with an honest majority",
    "clear": "none: made in a trial with the backend clear",
}
"""The texts of the card about secure computation, by backend."""


class StagedTable:
    """A context manager that writes a joined release; what is not committed inside the block is removed."""

    table: JoinedTable
    """The table as read from the staged file; set by `stage`."""
    card: JoinedCard
    """The card; set by `complete`."""

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
            error = OutputRefused("the release was not completed; nothing was written")
            kind = type(error)
        self._stack.__exit__(kind, error, trace)

    def stage(self, table: JoinedTable) -> JoinedTable:
        """Write the table to a hidden folder, read it again, and return it."""
        self.public, self.private = self._stack.enter_context(make_two_folders(*self._targets, force=self._force))
        write_joined(table, self.public, self._file)
        self.table = read_joined(self.public, self._file)
        self.sha256 = file_sha256(self.public / self._file)
        return self.table

    def check(
        self, names: set[str], originals: Originals | None = None, groups: BothGroups | None = None
    ) -> list[Verdict]:
        """Check the named guarantees of the method on the staged table; raise if one does not hold."""
        verdicts = []
        for guarantee in self._method.guarantees:
            if guarantee.name in names:
                verdict = guarantee.check(self.table, original=originals, alignment=groups)
                if not verdict:
                    raise GuaranteeViolated(
                        f"{guarantee.name} is violated; nothing was written. {verdict}", verdict=verdict
                    )
                verdicts.append(verdict)
        return verdicts

    def complete(self, checked_by: dict[str, str]) -> JoinedCard:
        """Write the card and return it; `checked_by` has the text for each guarantee."""
        backend = str(getattr(self._method, "backend", "clear"))
        self.card = make_joined_card(
            self._method,
            self.table,
            policy_sha256=self._policy_sha256,
            data=FileBeside(file=self._file, sha256=self.sha256),
            beside=(FileBeside(file=ATTRIBUTES_NAME, sha256=file_sha256(self.public / ATTRIBUTES_NAME)),),
            checked_by=checked_by,
            secure_computation=BACKEND_DESCRIPTIONS[backend],
        )
        (self.public / CARD_NAME).write_text(self.card.to_json(), encoding="utf-8")
        return self.card

    def commit(self) -> str:
        """Give the release folder its final name; return the SHA-256 of its data file."""
        self._stack.close()
        self.committed = True
        return self.sha256


@dataclass(frozen=True, eq=False)
class OpenedJoined:
    """A joined release that was read, with verified checksums.

    You get one from `open_joined`.

    Attributes
    ----------
    folder : Path
        The release folder.
    card : JoinedCard
        The card: guarantees, method, counts and checksums.
    table : JoinedTable
        The joined table.

    Examples
    --------
    >>> import tempfile
    >>> import setveil as sv
    >>> from setveil.presence.tables.sample import sample
    >>> originals, keys = sample(people=2000).originals, sv.Keys(b"a" * 16, b"b" * 16)
    >>> method = sv.DummyUsers(max_a="0.95", min_a="0.05", max_b="0.95", min_b="0.05", backend="clear")
    >>> policy = sv.Policy(method, originals.schema, originals.population.sha256)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = sv.publish_trial(policy, originals, keys, f"{folder}/joined")
    ...     opened = sv.open_joined(f"{folder}/joined")
    >>> opened.card.form, opened.table.records
    ('joined', 281)
    """

    folder: Path
    card: JoinedCard
    table: JoinedTable


@check_arguments
def open_joined(folder: str | Path) -> OpenedJoined:
    """Read a joined release, and verify that its files are those on the card.

    Parameters
    ----------
    folder : str or Path
        The release folder.

    Returns
    -------
    OpenedJoined
        The card and the table.

    Raises
    ------
    BadData
        The folder is not a joined release, a file is missing or damaged, or a file has another checksum than on the card.

    Examples
    --------
    >>> import tempfile
    >>> import setveil as sv
    >>> from setveil.presence.tables.sample import sample
    >>> originals, keys = sample(people=2000).originals, sv.Keys(b"a" * 16, b"b" * 16)
    >>> method = sv.DummyUsers(max_a="0.95", min_a="0.05", max_b="0.95", min_b="0.05", backend="clear")
    >>> policy = sv.Policy(method, originals.schema, originals.population.sha256)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = sv.publish_trial(policy, originals, keys, f"{folder}/joined")
    ...     sv.open_joined(f"{folder}/joined").table.records
    281
    """
    place = Path(folder)
    try:
        if not place.is_dir():
            raise BadData(
                "is not a release folder; name the folder of a joined table"
                if place.exists()
                else "there is no such folder",
                file=str(place),
            )
    except OSError as error:
        raise BadData(f"cannot be read: {error.strerror or error}", file=str(place)) from None
    card = JoinedCard.load(place)
    if [one.file for one in card.beside] != [ATTRIBUTES_NAME]:
        raise BadData(
            f"names other files than the data and {ATTRIBUTES_NAME}; get the release again from its collector",
            file=str(place / CARD_NAME),
        )
    for one in (card.data, *card.beside):
        path = place / one.file
        if path.parent != place or not path.is_file():
            raise BadData(
                f"lacks the file {one.file!r} that its card names; get the release again from its collector",
                file=str(place),
            )
        if file_sha256(path) != one.sha256:
            raise BadData(
                "is not the file that the card describes: its SHA-256 differs; get the release again from its collector",
                file=str(path),
            )
    table = read_joined(place, card.data.file)
    if (table.records, table.groups) != (card.counts.records, card.counts.groups):
        raise BadData(
            f"states {quantity(card.counts.records, 'record')} in {quantity(card.counts.groups, 'group')}, but {card.data.file} has "
            f"{table.records:,} in {table.groups:,}; get the release again from its collector",
            file=str(place / CARD_NAME),
        )
    return OpenedJoined(place, card, table)


def stated_guarantees(card: JoinedCard, known: dict[str, Any]) -> list[Any]:
    """Return the guarantees on the card; `known` maps names to classes."""
    if not card.guarantees:
        raise BadData("states no guarantee, so there is nothing to check", file=CARD_NAME)
    made = []
    for stated in card.guarantees:
        if stated.name not in known:
            raise BadData(
                f"states the guarantee {stated.name!r}, which this version of setveil does not know; use a newer version",
                file=CARD_NAME,
            )
        try:
            made.append(known[stated.name](**stated.parameters))
        except BadParameter as error:
            raise BadData(str(error), file=CARD_NAME) from None
    return made
