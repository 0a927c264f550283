"""What a party ran with whom, so that no second run tells its real users from dummies.

Dummies are drawn from a keyed stream, and the rows they show depend on the groups. So a run with the same peer, population, policy, key and
data **of both providers** has the same dummies and reveals nothing new. If any of these changed, dummies move and real users do not. Two
peers can compare what they saw, too. The ledger refuses such a run if a single person was in an earlier one, unless both providers
allow it.

Nobody proves that the data belong to the commitment that is compared: the ledger protects against a peer that follows the protocol.
"""

from __future__ import annotations

import secrets
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal

from setveil.base import progress
from setveil.errors import BadParameter
from setveil.presence.event_chain import Damaged, EventChain
from setveil.presence.marks import shared
from setveil.presence.transport.framed import REFUSED

if TYPE_CHECKING:
    from pathlib import Path

    from setveil.presence.event_chain import OpenChain
    from setveil.presence.marks import Marks

Outcome = Literal["begun", "finished", "failed", "void", "recovered"]
RECOVERED: Outcome = "recovered"
"""The event of a ledger from which runs may be missing."""
VOID: Outcome = "void"
"""The end of a run that the peer did not record, and in which nothing was sent."""
_HINT = (
    "it records the runs of this home, and without it a second run can tell your users from dummies. Put back the newest backup of the "
    "file, and leave the .head file as it is. If the two do not fit, or there is no backup, renew the ledger with Home.ledger.recover() or "
    "setveil presence ledger (`recover=True`)"
)
_TELLS = "Comparing the runs tells real users from dummies"
_ALLOW = "allow this run at both providers with `again=True`"


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
    key: str
    """What tells the key of dummies from another, and marks of customers from those under another key."""
    draws: int
    """The version of how dummies are drawn."""
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
    key: str = ""
    draws: int = 0
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
class Reason:
    """One reason why a run would tell real users from dummies."""

    here: str
    """For the people of this provider."""
    there: str
    """For the other parties: without any number or date that only this provider knows."""
    by_peer: bool = False
    """Whether nothing but the peer's data changed."""


class Refusal:
    """Why a run is refused."""

    def __init__(self, reasons: list[Reason]) -> None:
        self.sentence = f"{'; '.join(reason.here for reason in reasons)}. {_TELLS}"
        self.to_others = f"{'; '.join(reason.there for reason in reasons)}; {_ALLOW}"
        self.by_peer = all(reason.by_peer for reason in reasons)

    def error(self) -> BadParameter:
        """Return the error of a run that this provider's own ledger refuses."""
        error = BadParameter(f"{REFUSED}: {self.sentence}; {_ALLOW}")
        error.to_others = self.to_others
        return error


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

    def void(self) -> None:
        """Record that nothing was sent, since the peer did not say that it recorded the run; it does not count."""
        self._end(VOID)

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
            if aside := self._chain.renew(asdict(_gap())):
                progress.note(f"the damaged ledger was kept as {aside}.")
            return True
        return False

    def events(self) -> list[Event]:
        """Return all events, the oldest first."""
        with self._chain.opened() as chain:
            return _events(chain)

    def record(self, event: Event) -> None:
        """Append an event."""
        with self._chain.opened() as chain:
            chain.append(asdict(event))

    def last_run(self, peer: str) -> str | None:
        """Return the last run with a peer, by its certificate, that the peer recorded too."""
        return next((event.run for event in reversed(_counting(self.events())) if event.peer == peer), None)

    def refusal(self, planned: PlannedRun) -> Refusal | None:
        """Return why a run would tell real users from dummies, or None; nothing is recorded."""
        with self._chain.opened() as chain:
            return _refusal(planned, chain)

    def begin(self, planned: PlannedRun, *, run: str, again: bool = False) -> Run:
        """Record that a run begins, before anything of the data is sent; refuse it unless both providers allowed it (`again`)."""
        with self._chain.opened() as chain:
            refusal = _refusal(planned, chain)
            if refusal is not None and not again:
                raise refusal.error()
            if refusal is not None and _is_unknown(planned, _events(chain)):
                chain.append(asdict(_gap()))  # the run that only the peer remembers stays missing
            event = Event(
                run=run,
                outcome="begun",
                when=_now(),
                ids=chain.keep(planned.ids.content),
                customers=chain.keep(planned.customers.content),
                people=planned.ids.count,
                again=refusal is not None,
                **{name: getattr(planned, name) for name in (*_COMPARED, "person") if name != "peer_data"},
                peer_data=planned.peer_data or "",
            )
            chain.append(asdict(event))
        if refusal is not None:
            progress.note(f"{refusal.sentence}. Both providers allowed it with `again=True`.")
        return Run(self, event)


_COMPARED = {
    "population": "another population",
    "key": "another key of dummies",
    "draws": "another way to draw dummies (another version of setveil)",
    "data": "other data of {party}",
    "peer_data": "other data of {peer}",
    "policy": "another policy",
    "peer": "another peer",
}
"""What makes a run another one, each with what messages say of it."""
_IMPLIED = {"policy": "population", "data": "key"}
"""A policy names its population, and a commitment depends on the key: the first needs no words where the second differs."""


def _events(chain: OpenChain) -> list[Event]:
    known = {field.name for field in fields(Event)}
    return [Event(**{name: value for name, value in event.items() if name in known}) for event in chain.events]


def _counting(events: list[Event]) -> list[Event]:
    """Return the events of runs that count: not those of which the peer saw nothing."""
    void = {event.run for event in events if event.outcome == VOID}
    return [event for event in events if event.run not in void]


def _gap() -> Event:
    return Event(secrets.token_hex(16), RECOVERED, _now())


def _is_unknown(planned: PlannedRun, noted: list[Event]) -> bool:
    """Return whether the peer remembers a run that is not recorded here."""
    return planned.peer_run is not None and all(planned.peer_run != event.run for event in noted)


def _refusal(planned: PlannedRun, chain: OpenChain) -> Refusal | None:
    noted = _events(chain)
    counting = _counting(noted)
    if any(not _differences(planned, event) for event in counting):
        return None
    reasons = []
    if _is_unknown(planned, noted):
        lacks = f"{planned.peer_party} remembers a run that is not in the ledger of "
        how = "an older copy of this home was put back, or its program stopped when that run began"
        reasons.append(Reason(f"{lacks}this provider: {how}", f"{lacks}{planned.party}"))
    strangers: set[tuple[str, str]] = set()
    for earlier in reversed(counting):
        if (earlier.ids, earlier.customers) not in strangers:
            if (reason := _reason(planned, earlier, chain)) is not None:
                reasons.append(reason)
                break
            strangers.add((earlier.ids, earlier.customers))
    return Refusal(reasons) if reasons else None


def _reason(planned: PlannedRun, earlier: Event, chain: OpenChain) -> Reason | None:
    """Return why a run would tell real users from dummies, compared with an earlier one; None if nobody was in both."""
    if earlier.outcome == RECOVERED:
        return Reason(
            f"runs before {earlier.when} may be missing from this ledger, which was recovered then",
            f"earlier runs may be missing from the ledger of {planned.party}, which was recovered",
        )
    run = f"a run on {earlier.when}"
    some = "some of the same people were in an earlier run"
    ids, customers = chain.kept(earlier.ids), chain.kept(earlier.customers)
    if ids is None or customers is None:
        who, some = f"the ledger lacks the people of {run}", some.replace("were", "may have been")
    elif count := shared(planned.ids, ids):
        who = f"{count:,} of these {planned.ids.count:,} people were in {run}"
    elif planned.key != earlier.key or planned.person != earlier.person:
        changed = (
            "the key of this home was exchanged"
            if planned.key != earlier.key
            else (f"they were recognized by the column {earlier.person!r} then, and by {planned.person!r} now")
        )
        who, some = f"people cannot be compared with those of {run}: {changed}", some.replace("were", "may have been")
    elif count := shared(planned.customers, customers):
        who = f"{count:,} of these {planned.customers.count:,} users were in {run} under other ids, by the column {planned.person!r}"
    else:
        return None
    found = _differences(planned, earlier)
    said = " and ".join(_COMPARED[name] for name in found if _IMPLIED.get(name) not in found)
    here, there = (said.format(party=party, peer=planned.peer_party) for party in ("this provider", planned.party))
    return Reason(f"{who}, with {here}", f"{some}, with {there}", by_peer=found == ["peer_data"])


def _differences(planned: PlannedRun, earlier: Event) -> list[str]:
    """Return in what two runs differ; what is not known yet differs from nothing."""
    return [
        name
        for name in _COMPARED
        if getattr(planned, name) is not None and getattr(planned, name) != getattr(earlier, name)
    ]


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
