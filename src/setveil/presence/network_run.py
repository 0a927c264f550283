"""A run over the network, from each party's side: connect, agree that the run may take place, run.

A provider records a run in its ledger after both providers have agreed and before any message that depends on the data is sent. A
provider whose ledger refuses a run informs the other parties at once, so that they do not wait for it.
"""

from __future__ import annotations

import threading
from contextlib import contextmanager, suppress
from contextvars import copy_context
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

from setveil.base import progress
from setveil.errors import BadParameter, Missing, PeerFailed, SetveilError
from setveil.presence.channel import PARTY_NAMES
from setveil.presence.dummies import DRAWS
from setveil.presence.marks import of_customers, of_ids
from setveil.presence.meeting import address, greeting, line_to, lines_of
from setveil.presence.parties import note_lost_party, run_collector, run_provider
from setveil.presence.run_ledger import PlannedRun
from setveil.presence.secure.backends import EXPERIMENTAL, require_backend
from setveil.presence.transport.handshake import greet
from setveil.presence.transport.tls import require_pinned

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from setveil.presence.channel import Role
    from setveil.presence.costs import Costs
    from setveil.presence.home import Home
    from setveil.presence.parties import ProviderResult
    from setveil.presence.policy import Policy
    from setveil.presence.run_ledger import Run, RunLedger
    from setveil.presence.secure.base import Provider
    from setveil.presence.tables.joined_table import JoinedTable
    from setveil.presence.tables.population import Population
    from setveil.presence.tables.provider_table import ProviderTable
    from setveil.presence.transport.handshake import Greeting
    from setveil.presence.transport.tls import TlsChannel

MOST_SECONDS = 1_000_000
INFORM_SECONDS = 20.0
"""How long a provider that refuses a run tries to connect to the other parties, to inform them."""


@dataclass(frozen=True)
class Places:
    """The addresses at which a provider meets the other parties, each as HOST:PORT.

    Parameters
    ----------
    peer : str
        The address that provider B listens on. Provider A connects to it.
    collector : str
        The address that the collector listens on.
    timeout : float
        Stop if another party sends nothing for this number of seconds.
    wait : float
        Wait this number of seconds for the other parties to start.

    Raises
    ------
    BadParameter
        `timeout` or `wait` is not between 0 and 1,000,000 seconds.

    Examples
    --------
    >>> import setveil as sv
    >>> sv.Places("10.0.0.2:7621", "10.0.0.3:7622", wait=60)
    Places(peer='10.0.0.2:7621', collector='10.0.0.3:7622', timeout=60.0, wait=60)
    """

    peer: str
    collector: str
    timeout: float = 60.0
    wait: float = 600.0

    def __post_init__(self) -> None:
        refuse_no_span(timeout=self.timeout, wait=self.wait)

    @classmethod
    def of_provider(
        cls, role: str, collector: str, *, peer: str | None, listen: str | None, timeout: float, wait: float
    ) -> Places:
        """Return the places of a provider: provider A connects to its `peer`, provider B listens at `listen`.

        Parameters
        ----------
        role : str
            The provider: ``"a"`` or ``"b"``.
        collector : str
            The address that the collector listens on.
        peer : str or None
            The address of provider B; for provider A only.
        listen : str or None
            The address to listen on; for provider B only.
        timeout, wait : float
            As in `Places`.

        Returns
        -------
        Places
            The places.

        Raises
        ------
        BadParameter
            The address of the other role is given.
        Missing
            The address of this role is missing.
        """
        given = {"peer": peer, "listen": listen}
        wanted, unwanted = ("peer", "listen") if role == "a" else ("listen", "peer")
        if given[unwanted]:
            other = "B" if role == "a" else "A"
            raise BadParameter(
                f"`{unwanted}=` is for provider {other} only: provider A connects with `peer=`, provider B listens with `listen=`"
            )
        meeting = given[wanted]
        if not meeting:
            which = (
                "the address that provider B listens on" if role == "a" else "the address to listen on for provider A"
            )
            raise Missing(f"`{wanted}=` is missing: {which}, as HOST:PORT")
        return cls(meeting, collector, timeout, wait)


def refuse_no_span(**seconds: float) -> None:
    """Raise `BadParameter` for a number of seconds that is not positive or too large."""
    for name, value in seconds.items():
        if not 0 < value <= MOST_SECONDS:
            raise BadParameter(
                f"{name} is {value:g}; allowed is a number of seconds above 0 and at most {MOST_SECONDS:,}"
            )


def meet_as_provider(
    home: Home,
    policy: Policy,
    table: ProviderTable,
    population: Population,
    places: Places,
    *,
    again: bool = False,
) -> ProviderResult:
    """Take part in a run as the provider of this home, and return the provider's result.

    `again` allows a second run that separates real users from dummies, if the peer allows it too.
    """
    role, other = _roles(home)
    _refuse_unready(home, other, policy, table, population)
    meeting = _Meeting(home, other, places)
    ledger = home.ledger
    try:
        planned = planned_run(home, policy, table, population)
        if not again and (refusal := ledger.refusal(planned)):
            raise refusal.error()
        last_run = ledger.last_run(planned.peer)
    except SetveilError as error:
        error.to_others = error.to_others or "its ledger of runs cannot be used"
        meeting.inform(error, "c", other)
        raise
    to_collector = greeting(home, policy, population.sha256)
    to_peer = replace(to_collector, data=planned.data, again=again, last_run=last_run)
    entry: Run | None = None
    collector: TlsChannel | None = None
    try:
        with meeting.line_to_peer(places.wait) as peer:
            theirs = greet(peer, to_peer)
            planned = replace(planned, peer_data=theirs.data, peer_run=theirs.last_run)
            _refuse_second_run(ledger, planned, theirs, again=again)
            with meeting.line_to_collector(places.wait, peer) as collector:
                greet(collector, to_collector)
                entry = _recorded_by_both(peer, ledger, planned, patience=places.wait, again=again and theirs.again)
                result = run_provider(role, policy, table, population, home.dummy_key(), peer=peer, collector=collector)
    except BaseException as error:
        if entry is not None:
            _record_end(entry.failed)
        if collector is None and isinstance(error, SetveilError) and error.to_others is not None:
            meeting.inform(error, "c")
        raise
    entry.finished()
    return result


def _recorded_by_both(peer: TlsChannel, ledger: RunLedger, planned: PlannedRun, *, patience: float, again: bool) -> Run:
    """Record the run after the peer agreed to it, and wait until the peer has recorded it too. Only then may the peer learn anything.

    A run that the peer did not record is void: nothing was sent in it.
    """
    peer.send("agreed", b"")
    usual, peer.timeout = peer.timeout, peer.timeout + patience  # the peer may still wait for the collector to start
    peer.receive("agreed", 0)
    peer.timeout = usual
    entry = ledger.begin(planned, run=peer.run, again=again)
    try:
        peer.send("recorded", b"")
        peer.receive("recorded", 0)
    except BaseException:
        _record_end(entry.void)
        raise
    return entry


def _record_end(end: Callable[[], None]) -> None:
    """Record the end of a run that failed; if recording fails too, report that as a note, so that the first error is raised."""
    try:
        end()
    except SetveilError as error:
        progress.note(f"the end of the run was not recorded: {error}.")


def meet_as_collector(
    home: Home,
    policy: Policy,
    listen: str,
    publish: Callable[[JoinedTable], Callable[[], str]],
    *,
    timeout: float = 3600.0,
    wait: float = 600.0,
) -> Costs:
    """Take part in a run as the collector, which listens for both providers at HOST:PORT; `publish` is as in `run_collector`."""
    if home.role != "c":
        raise BadParameter(f"{home.folder} is the home of {PARTY_NAMES[home.role]}, not of the collector")
    refuse_in_the_clear(policy)
    require_backend(policy.method.backend)
    place = address(listen, "listen")
    costs: Costs | None = None
    try:
        with lines_of(home, ("a", "b"), place, timeout=timeout, wait=wait) as lines:
            for role in ("a", "b"):
                greet(lines[role], greeting(home, policy, None))
            costs = run_collector(policy, lines["a"], lines["b"], publish)
    except PeerFailed as error:
        if costs is None:
            raise
        note_lost_party(error)
    return costs


def refuse_in_the_clear(policy: Policy) -> None:
    """Raise `BadParameter` if the backend of a policy hides nothing; a run over a network needs one that does."""
    if policy.method.backend == "clear":
        raise BadParameter(
            "the policy names the backend clear, which hides nothing and is allowed in trials only; use two-party or mpyc, or run a trial "
            "with setveil presence simulate"
        )


def _roles(home: Home) -> tuple[Provider, Provider]:
    if home.role == "c":
        raise BadParameter(f"{home.folder} is the home of the collector, not of a provider")
    return home.role, "b" if home.role == "a" else "a"


def _refuse_unready(home: Home, other: Provider, policy: Policy, table: ProviderTable, population: Population) -> None:
    """Refuse a run that cannot succeed, before connecting to any party: check certificates, limits and libraries."""
    for party in cast("tuple[Role, ...]", (other, "c")):
        require_pinned(home.credentials(), party)
    refuse_in_the_clear(policy)
    policy.refuse_other(population)
    if table.persons is None:
        raise Missing(
            "the table has no customer keys, which the ledger of runs recognizes people by; read the table with `person='COLUMN'`, the "
            "column of your own customer numbers, which are never sent"
        )
    if table.persons.equals(table.ids):
        raise BadParameter(
            f"the column {table.person!r} holds the ids: if ids are written differently in a later run, the ledger of runs cannot "
            "recognize people. Name the column of your own customer numbers with `person='COLUMN'`"
        )
    policy.rules(len(population))
    require_backend(policy.method.backend)
    if policy.method.backend == "two-party":
        progress.note(EXPERIMENTAL)


def planned_run(home: Home, policy: Policy, table: ProviderTable, population: Population) -> PlannedRun:
    """Return what a provider's ledger compares, as far as it is known before connecting to the peer."""
    role, other = _roles(home)
    return PlannedRun(
        peer=home.pinned[other].fingerprint,
        party=PARTY_NAMES[role],
        peer_party=PARTY_NAMES[other],
        population=population.sha256,
        policy=policy.division_sha256,
        data=home.commitment(table),
        key=home.secret(b"name of the key").hex(),
        draws=DRAWS,
        peer_data=None,
        peer_run=None,
        ids=of_ids(population),
        customers=of_customers(table.persons, home.secret(b"customers")),
        person=table.person,
    )


def _refuse_second_run(ledger: RunLedger, planned: PlannedRun, theirs: Greeting, *, again: bool) -> None:
    """Refuse a run that would separate real users from dummies, unless both providers allow it."""
    refusal = ledger.refusal(planned)
    if refusal is None or (again and theirs.again):
        return
    error: SetveilError = refusal.error()
    if again:
        error = PeerFailed(planned.peer_party, f"does not allow a second run, so {error}")
    elif refusal.by_peer:
        error = PeerFailed(planned.peer_party, f"changed its data, so {error}")
    error.to_others = refusal.to_others
    raise error


class _Meeting:
    """A provider's connections to the other parties."""

    def __init__(self, home: Home, other: Provider, places: Places) -> None:
        self._home = home
        self._other = other
        self._places = places
        self._peer = address(places.peer, "peer" if home.role == "a" else "listen")
        self._collector = address(places.collector, "collector")

    def inform(self, error: SetveilError, *parties: Role) -> None:
        """Show why this provider refuses to run, and inform parties that it is not connected to, if they start soon enough."""
        progress.note(f"{error}. Informing the other parties; press Ctrl-C to skip this.")
        lines = {"c": self.line_to_collector, self._other: self.line_to_peer}
        with progress.step("informing the other parties that this run is refused"):
            threads = [
                threading.Thread(target=copy_context().run, args=(_inform, lines[party], error), daemon=True)
                for party in parties
            ]
            for thread in threads:
                thread.start()
            for thread in threads:
                while thread.is_alive():
                    thread.join(0.1)  # short waits, so that Ctrl-C works

    @contextmanager
    def line_to_peer(self, wait: float) -> Iterator[TlsChannel]:
        """Open the line to the other provider."""
        timeout = self._places.timeout
        if self._home.role == "a":
            with line_to(self._home, self._other, self._peer, timeout=timeout, wait=wait) as line:
                yield line
        else:
            with lines_of(self._home, (self._other,), self._peer, timeout=timeout, wait=wait) as lines:
                yield lines[self._other]

    @contextmanager
    def line_to_collector(self, wait: float, peer: TlsChannel | None = None) -> Iterator[TlsChannel]:
        """Open the line to the collector; stop waiting for it if the line to the peer ends."""
        # Twice the timeout: the collector may itself be waiting for the other provider, and should be the first to report this.
        timeout = 2 * self._places.timeout
        with line_to(self._home, "c", self._collector, timeout=timeout, wait=wait, needed=peer) as line:
            yield line


def _inform(line: Callable[[float], AbstractContextManager[TlsChannel]], error: SetveilError) -> None:
    """Send the reason to one party, if it can be reached: raising inside the line aborts it with the reason."""
    with suppress(SetveilError), progress.reporting(progress.Silent()), line(INFORM_SECONDS):
        raise error
