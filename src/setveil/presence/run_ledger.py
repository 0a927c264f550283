"""The ledger of a party's runs, which prevents a second run that separates real users from dummies.

Dummies are drawn from a keyed stream, and the rows they show depend on the groups. So a run with the same peer, population, policy, key and
data **of both providers** has the same dummies and reveals nothing new. If any of these changed, dummies move and real users do not. Two
peers can also compare what they saw. The ledger refuses such a run if a single person was in an earlier one, unless both providers
allow it.

There is no proof that the data belong to the commitment that is compared: the ledger protects against a peer that follows the protocol.
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
"""The event of a recovered ledger: runs before it may be missing."""
VOID: Outcome = "void"
"""The end of a run that the peer did not record; nothing was sent in it."""
_HINT = (
    "it records the runs of this home, and without it a second run can separate your users from dummies. Restore the newest backup of the "
    "file, and leave the .head file as it is. If the two do not match, or there is no backup, recover the ledger with "
    "Home.ledger.recover() or setveil presence ledger (`recover=True`)"
)
_CONSEQUENCE = "Comparing the runs separates real users from dummies"
_ALLOW = "allow this run at both providers with `again=True`"


@dataclass(frozen=True)
class PlannedRun:
    """What determines the dummies of a run, and the people in it."""

    party: str
    """This provider, as messages to other parties name it."""
    peer_party: str
    """The peer, as messages name it."""
    peer: str
    """Fingerprint of the peer's certificate."""
    population: str
    """SHA-256 of the population."""
    policy: str
    """SHA-256 of what determines the groups."""
    data: str
    """Commitment to this provider's data."""
    key: str
    """An identifier of the dummy key, which the marks of customers also depend on."""
    draws: int
    """The version of the drawing of dummies."""
    peer_data: str | None
    """The peer's commitment to its data; None before the two are connected."""
    peer_run: str | None
    """The last run with this provider that the peer remembers, if any."""
    ids: Marks
    """The people of the population, by their ids."""
    customers: Marks
    """This provider's users, by its own customer keys; never sent."""
    person: str
    """The column of these keys."""


@dataclass(frozen=True)
class Event:
    """An event of the ledger; in a `recovered` event, only `outcome` and `when` have a meaning."""

    run: str
    """The identifier of the run, the same in the ledgers of both providers."""
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
    """One reason why a run would separate real users from dummies."""

    here: str
    """The text for this provider's staff."""
    there: str
    """The text for the other parties, without any number or date that only this provider knows."""
    by_peer: bool = False
    """Whether only the peer's data changed."""


class Refusal:
    """The reasons why a run is refused, as texts for this provider and for the other parties."""

    def __init__(self, reasons: list[Reason]) -> None:
        self.sentence = f"{'; '.join(reason.here for reason in reasons)}. {_CONSEQUENCE}"
        self.to_others = f"{'; '.join(reason.there for reason in reasons)}; {_ALLOW}"
        self.by_peer = all(reason.by_peer for reason in reasons)

    def error(self) -> BadParameter:
        """Return the error for a run that this provider's own ledger refuses."""
        error = BadParameter(f"{REFUSED}: {self.sentence}; {_ALLOW}")
        error.to_others = self.to_others
        return error


class Run:
    """A run that has begun; its end is recorded once."""

    def __init__(self, ledger: RunLedger, begun: Event) -> None:
        self._ledger = ledger
        self._begun = begun
        self._ended = False

    def finished(self) -> None:
        """Record that the run finished."""
        self._end("finished")

    def failed(self) -> None:
        """Record that the run failed; the peer may have seen part of it, so it still counts."""
        self._end("failed")

    def void(self) -> None:
        """Record that nothing was sent because the peer did not confirm that it recorded the run; the run does not count."""
        self._end(VOID)

    def _end(self, outcome: Outcome) -> None:
        if not self._ended:
            self._ended = True
            self._ledger.record(Event(**asdict(self._begun) | {"outcome": outcome, "when": _now()}))


class RunLedger:
    """The ledger of a home, which is identified by the fingerprint of its certificate."""

    def __init__(self, path: Path, home: str) -> None:
        self._chain = EventChain(path, home, hint=_HINT)

    def create(self) -> None:
        """Create an empty ledger."""
        self._chain.create()

    def recover(self) -> bool:
        """Recover a ledger that is missing or damaged, and return whether that was necessary.

        Runs may be missing from a recovered ledger, so it refuses every run that it does not hold.
        """
        try:
            self.events()
        except Damaged:
            if aside := self._chain.renew(asdict(_gap())):
                progress.note(f"the damaged ledger was saved as {aside}.")
            return True
        return False

    def events(self) -> list[Event]:
        """Return all events, oldest first."""
        with self._chain.opened() as chain:
            return _events(chain)

    def record(self, event: Event) -> None:
        """Append an event."""
        with self._chain.opened() as chain:
            chain.append(asdict(event))

    def last_run(self, peer: str) -> str | None:
        """Return the last run with a peer, given by its certificate, that the peer recorded too."""
        return next((event.run for event in reversed(_counting(self.events())) if event.peer == peer), None)

    def refusal(self, planned: PlannedRun) -> Refusal | None:
        """Return why a run would separate real users from dummies, or None; nothing is recorded."""
        with self._chain.opened() as chain:
            return _refusal(planned, chain)

    def begin(self, planned: PlannedRun, *, run: str, again: bool = False) -> Run:
        """Record that a run begins, before anything that depends on the data is sent.

        Raise `BadParameter` if the ledger refuses the run, unless both providers allowed it (`again`).
        """
        with self._chain.opened() as chain:
            refusal = _refusal(planned, chain)
            if refusal is not None and not again:
                raise refusal.error()
            if refusal is not None and _is_unknown(planned, _events(chain)):
                chain.append(asdict(_gap()))  # the run that only the peer recorded remains missing
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
"""What distinguishes a run from another, each with its text in messages."""
_IMPLIED = {"policy": "population", "data": "key"}
"""A policy names its population, and a commitment depends on the key: messages omit the first if the second differs too."""


def _events(chain: OpenChain) -> list[Event]:
    known = {field.name for field in fields(Event)}
    return [Event(**{name: value for name, value in event.items() if name in known}) for event in chain.events]


def _counting(events: list[Event]) -> list[Event]:
    """Return the events of all runs except void ones, in which the peer saw nothing."""
    void = {event.run for event in events if event.outcome == VOID}
    return [event for event in events if event.run not in void]


def _gap() -> Event:
    return Event(secrets.token_hex(16), RECOVERED, _now())


def _is_unknown(planned: PlannedRun, noted: list[Event]) -> bool:
    """Return whether the peer recorded a run that is not recorded here."""
    return planned.peer_run is not None and all(planned.peer_run != event.run for event in noted)


def _refusal(planned: PlannedRun, chain: OpenChain) -> Refusal | None:
    noted = _events(chain)
    counting = _counting(noted)
    if any(not _differences(planned, event) for event in counting):
        return None
    reasons = []
    if _is_unknown(planned, noted):
        lacks = f"{planned.peer_party} remembers a run that is not in the ledger of "
        how = "an older copy of this home was restored, or its program stopped when that run began"
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
    """Return why a run, compared with an earlier one, would separate real users from dummies; None if no person was in both."""
    if earlier.outcome == RECOVERED:
        return Reason(
            f"runs before {earlier.when} may be missing from this ledger, which was recovered then",
            f"earlier runs may be missing from the ledger of {planned.party}, which was recovered",
        )
    run = f"a run on {earlier.when}"
    some = "some of the same people were in an earlier run"
    ids, customers = chain.kept(earlier.ids), chain.kept(earlier.customers)
    if ids is None or customers is None:
        who, some = f"the ledger does not hold the people of {run}", some.replace("were", "may have been")
    elif count := shared(planned.ids, ids):
        who = f"{count:,} of these {planned.ids.count:,} people were in {run}"
    elif planned.key != earlier.key or planned.person != earlier.person:
        changed = (
            "the dummy key of this home was replaced"
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
    """Return the properties in which two runs differ, as far as they are known."""
    return [
        name
        for name in _COMPARED
        if getattr(planned, name) is not None and getattr(planned, name) != getattr(earlier, name)
    ]


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
