"""What a party ran with whom, so that no second run tells its real users from dummies.

Dummies are drawn from a keyed stream, and the rows they show depend on the groups. So a run with the same peer, population, policy and data
**of both providers** has the same dummies and reveals nothing new. If any of these changed, dummies move and real users do not. Two peers
can compare what they saw, too. The ledger refuses such a run if a single person was in an earlier one, unless both providers allow it.

Nobody proves that the data belong to the commitment that is compared: the ledger protects against a peer that follows the protocol.
"""

from __future__ import annotations

import secrets
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal

from setveil import progress
from setveil.errors import BadParameter
from setveil.presence.event_chain import Damaged, EventChain
from setveil.presence.marks import shared

if TYPE_CHECKING:
    from pathlib import Path

    from setveil.presence.event_chain import OpenChain
    from setveil.presence.marks import Marks

Outcome = Literal["begun", "finished", "failed", "recovered"]
RECOVERED: Outcome = "recovered"
"""The event of a ledger that was renewed: runs before it may be missing."""
_HINT = (
    "it records the runs of this home, and without it a second run can tell your users from dummies. Put back the file from a backup. If "
    "there is none, renew it with setveil presence ledger (recover=True)"
)
_TELLS = "Comparing the two runs tells real users from dummies"
_HERE = "this provider"
_ALLOW = "allow this run at both providers with again=True"


@dataclass(frozen=True)
class PlannedRun:
    """What decides on the dummies of a run, and whom it is about."""

    party: str
    """This provider, as messages to others name it."""
    peer_party: str
    """The peer, as messages name it."""
    peer: str
    """Fingerprint of the peer's certificate."""
    population: str
    """SHA-256 of the population."""
    policy: str
    """SHA-256 of what decides on the groups."""
    data: str
    """Commitment to this provider's data."""
    peer_data: str | None
    """The peer's commitment to its data; None before the two have met."""
    peer_run: str | None
    """The last run with this provider that the peer remembers, if any."""
    ids: Marks
    """The people of the population, by their ids."""
    customers: Marks
    """This provider's users, by its own key; it stays here."""
    person: str
    """The column of that key."""


@dataclass(frozen=True)
class Event:
    """An event of the ledger; of one that was recovered only `outcome` and `when` have a meaning."""

    run: str
    """What the events of one run have in common, in both providers' ledgers."""
    outcome: Outcome
    when: str
    peer: str = ""
    population: str = ""
    policy: str = ""
    data: str = ""
    peer_data: str = ""
    ids: str = ""
    """The hash of the list of people."""
    customers: str = ""
    person: str = ""
    people: int = 0
    """The number of people of the population."""
    again: bool = False
    """Whether the ledger refused the run and both providers allowed it."""


@dataclass(frozen=True)
class Refusal:
    """Why a run would tell real users from dummies."""

    sentence: str
    """For the people of this provider."""
    to_others: str
    """For the other parties: without any number that only this provider knows."""
    by_peer: bool
    """Whether nothing but the peer's data changed."""


class Run:
    """A run that was begun; its end is recorded once."""

    def __init__(self, ledger: RunLedger, begun: Event) -> None:
        self._ledger = ledger
        self._begun = begun
        self._ended = False

    def finished(self) -> None:
        """Record that the run reached its end."""
        self._end("finished")

    def failed(self) -> None:
        """Record that the run failed; the peer may have seen some of it, so it counts all the same."""
        self._end("failed")

    def _end(self, outcome: Outcome) -> None:
        if not self._ended:
            self._ended = True
            self._ledger.record(Event(**asdict(self._begun) | {"outcome": outcome, "when": _now()}))


class RunLedger:
    """The ledger of the home with a fingerprint, in a file that `create` made."""

    def __init__(self, path: Path, home: str) -> None:
        self._chain = EventChain(path, home, hint=_HINT)

    def create(self) -> None:
        """Make an empty ledger."""
        self._chain.create()

    def recover(self) -> bool:
        """Renew a ledger that is missing or damaged, and return whether that was needed.

        Runs may be missing from a renewed ledger, so it refuses every run that is not one of those it still holds.
        """
        try:
            self.events()
        except Damaged:
            if aside := self._chain.renew():
                progress.note(f"the damaged ledger was kept as {aside}.")
            self.record(Event(secrets.token_hex(16), RECOVERED, _now()))
            return True
        return False

    def events(self) -> list[Event]:
        """Return all events, the oldest first."""
        with self._chain.opened() as chain:
            return self._events(chain)

    def record(self, event: Event) -> None:
        """Append an event."""
        with self._chain.opened() as chain:
            chain.append(asdict(event))

    def last_run(self, peer: str) -> str | None:
        """Return the last run that was begun with a peer, by its certificate."""
        return next((event.run for event in reversed(self.events()) if event.peer == peer), None)

    def refusal(self, planned: PlannedRun) -> Refusal | None:
        """Return why a run would tell real users from dummies, or None; nothing is recorded."""
        with self._chain.opened() as chain:
            return self._refusal(planned, chain)

    def begin(self, planned: PlannedRun, *, run: str, again: bool = False) -> Run:
        """Record that a run begins, before anything of the data is sent; refuse it unless both providers allowed it (`again`)."""
        with self._chain.opened() as chain:
            refusal = self._refusal(planned, chain)
            if refusal is not None and not again:
                raise refused(refusal)
            event = Event(
                run=run,
                outcome="begun",
                when=_now(),
                ids=chain.keep(planned.ids.content),
                customers=chain.keep(planned.customers.content),
                people=planned.ids.count,
                again=refusal is not None,
                **{name: getattr(planned, name) for name in ("peer", "population", "policy", "data", "person")},
                peer_data=planned.peer_data or "",
            )
            chain.append(asdict(event))
        if refusal is not None:
            progress.note(f"{refusal.sentence}. Both providers allowed it with again=True.")
        return Run(self, event)

    def _events(self, chain: OpenChain) -> list[Event]:
        known = {field.name for field in fields(Event)}
        return [Event(**{name: value for name, value in event.items() if name in known}) for event in chain.events]

    def _refusal(self, planned: PlannedRun, chain: OpenChain) -> Refusal | None:
        noted = self._events(chain)
        if any(event.outcome != RECOVERED and not _differences(planned, event) for event in noted):
            return None
        if planned.peer_run is not None and all(planned.peer_run != event.run for event in noted):
            lacks = f"{planned.peer_party} remembers a run with {_HERE} that is not in the ledger of {_HERE}"
            how = "an older copy of this home was put back, or its program was killed when that run began"
            to_others = f"{lacks}; {_ALLOW}".replace(_HERE, planned.party)
            return Refusal(f"{lacks}: {how}. {_TELLS}", to_others, by_peer=False)
        strangers: set[tuple[str, str]] = set()
        for earlier in reversed(noted):
            if (earlier.ids, earlier.customers) not in strangers or earlier.outcome == RECOVERED:
                who = _who(planned, earlier, chain)
                if who is not None:
                    return _beside(planned, earlier, *who)
                strangers.add((earlier.ids, earlier.customers))
        return None


def refused(refusal: Refusal) -> BadParameter:
    """Return the error of a run that this provider's own ledger refuses."""
    error = BadParameter(f"the run is refused: {refusal.sentence}; {_ALLOW}")
    error.to_others = refusal.to_others
    return error


def _who(planned: PlannedRun, earlier: Event, chain: OpenChain) -> tuple[str, str] | None:
    """Return who of a planned run was in an earlier one, for this provider and for the others; None for nobody."""
    if earlier.outcome == RECOVERED:
        unknown = f"this ledger was recovered on {earlier.when}, and runs before that may be missing from it"
        return unknown, "its ledger of runs was recovered, and earlier runs may be missing from it"
    ids, customers = chain.kept(earlier.ids), chain.kept(earlier.customers)
    run, some = f"a run on {earlier.when}", f"some of the same people were in a run on {earlier.when}"
    if ids is None or customers is None:
        return f"the ledger lacks the people of {run}", f"its ledger of runs lacks the people of {run}"
    if count := shared(planned.ids, ids):
        return f"{count:,} of these {planned.ids.count:,} people were in {run}", some
    if count := shared(planned.customers, customers):
        return (
            f"{count:,} of these {planned.customers.count:,} users were in {run} under other ids, by the column {planned.person!r}",
            some,
        )
    if planned.person != earlier.person:
        return (
            f"people cannot be compared with those of {run}: they were recognized by the column {earlier.person!r} then, and by "
            f"{planned.person!r} now"
        ), some.replace("were", "may have been")
    return None


def _beside(planned: PlannedRun, earlier: Event, here: str, there: str) -> Refusal:
    found = [] if earlier.outcome == RECOVERED else _differences(planned, earlier)
    differences = f", with {' and '.join(found)}" if found else ""
    return Refusal(
        sentence=f"{here}{differences}. {_TELLS}",
        to_others=f"{there}{differences}; {_ALLOW}".replace(_HERE, planned.party),
        by_peer=found == [_other_data(planned.peer_party)],
    )


def _other_data(party: str) -> str:
    return f"other data of {party}"


def _differences(planned: PlannedRun, earlier: Event) -> list[str]:
    """Return in which ways two runs differ; a policy names its population, so that another one needs no words there."""
    ways = {
        "population": "another population",
        "data": _other_data(_HERE),
        "peer_data": _other_data(planned.peer_party),
        "policy": "another policy",
        "peer": "another peer",
    }
    found = [
        name for name in ways if getattr(planned, name) is not None and getattr(planned, name) != getattr(earlier, name)
    ]
    return [ways[name] for name in found if name != "policy" or "population" not in found]


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
