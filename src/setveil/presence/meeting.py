"""Connections between the parties of a run: provider A connects to provider B, both connect to the collector, all compare the policy."""

from __future__ import annotations

import re
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from setveil.base import progress
from setveil.errors import BadParameter, GuaranteeViolated, PeerFailed, SetveilError
from setveil.presence.channel import PARTY_NAMES
from setveil.presence.transport.framed import REFUSED
from setveil.presence.transport.handshake import Greeting
from setveil.presence.transport.line import ABORT_SECONDS
from setveil.presence.transport.listening import Listener
from setveil.presence.transport.tls import connect

if TYPE_CHECKING:
    from collections.abc import Iterator

    from setveil.presence.channel import Role
    from setveil.presence.home import Home
    from setveil.presence.policy import Policy
    from setveil.presence.transport.tls import TlsChannel


def address(text: str, option: str) -> tuple[str, int]:
    """Return the host and the port of a text HOST:PORT; `option` is the name for messages."""
    host, _, port = text.rpartition(":")
    if not host or not re.fullmatch("[0-9]{1,5}", port) or not 0 < int(port) < 65_536:
        raise BadParameter(f"{option} is {text!r}; expected HOST:PORT, such as 10.0.0.2:7001")
    return host.strip("[]"), int(port)


def greeting(home: Home, policy: Policy, population: str | None) -> Greeting:
    """Return the greeting of a party."""
    return Greeting(home.role, policy.sha256, population, policy.method.backend)


@contextmanager
def line_to(
    home: Home,
    peer: Role,
    place: tuple[str, int],
    *,
    timeout: float,
    wait: float,
    needed: TlsChannel | None = None,
) -> Iterator[TlsChannel]:
    """Connect to another party; the line is closed after the block, or aborted with the reason if the block failed.

    Connecting is given up as soon as `needed`, a line that the run also requires, has ended.
    """
    with progress.step(f"connecting to {PARTY_NAMES[peer]}"):
        try:
            channel = connect(home.credentials(), peer, *place, timeout=timeout, wait=wait, needed=needed)
        except PeerFailed:
            # If the needed line ends too, its end is the cause: the party that was called learned of it earlier.
            if needed is None or not needed.ends_within(ABORT_SECONDS):
                raise
            raise needed.failure() from None
    with _ending([channel]):
        yield channel


@contextmanager
def lines_of(
    home: Home, peers: tuple[Role, ...], place: tuple[str, int], *, timeout: float, wait: float
) -> Iterator[dict[Role, TlsChannel]]:
    """Wait until the other parties have connected."""
    names = " and ".join(PARTY_NAMES[peer] for peer in peers)
    with (
        Listener(home.credentials(), peers, host=place[0], port=place[1], timeout=timeout) as listener,
        progress.step(f"waiting for {names}"),
    ):
        channels = listener.accept(wait)
    with _ending(list(channels.values())):
        yield channels


@contextmanager
def _ending(channels: list[TlsChannel]) -> Iterator[None]:
    """Close lines after the block; if it failed, send the other parties a short reason without any value of the data."""
    try:
        yield
    except BaseException as error:
        for channel in channels:
            with suppress(Exception):
                channel.abort(_reason(error))
        raise
    failures = []
    for channel in channels:
        try:
            channel.close()
        except PeerFailed as error:  # the remaining lines still have to be closed properly
            failures.append(error)
    if failures:
        raise failures[0]


def _reason(error: BaseException) -> str:
    if isinstance(error, SetveilError) and error.to_others is not None:
        return f"{REFUSED}: {error.to_others}"
    if isinstance(error, PeerFailed):
        return str(error)
    if isinstance(error, KeyboardInterrupt):
        return "it was stopped by its person"
    return "the policy is not kept" if isinstance(error, GuaranteeViolated) else "it failed"
