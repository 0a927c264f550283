"""Listening for the parties that connect to this one, in the presence of other callers.

One loop handles all callers at the same time, each with its own time limit, so that a silent caller does not delay the others.
"""

from __future__ import annotations

import selectors
import ssl
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from setveil.base import progress
from setveil.base.display import quantity
from setveil.errors import PeerFailed
from setveil.presence.certificates import grouped_digits
from setveil.presence.channel import PARTY_NAMES
from setveil.presence.transport.framed import DEFAULT_TIMEOUT, REFUSED
from setveil.presence.transport.line import reason_of
from setveil.presence.transport.tls import (
    TAKEN,
    WELCOME,
    TlsChannel,
    claimed,
    context_of,
    listening_socket,
    require_pinned,
    tuned,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from setveil.presence.certificates import Credentials
    from setveil.presence.channel import Role

HANDSHAKE_SECONDS = 10.0
MOST_GREETED_AT_ONCE = 64
_STEP_SECONDS = 0.1
_REFUSAL_SECONDS = 3.0
"""How long to wait for the other parties after one refused the run: they are informed, or refuse it themselves."""
_REPORTED_SINGLY = 5
"""Refused callers that are reported one by one; after these, only counts are."""


@dataclass
class _Caller:
    """A caller that has connected and is not identified yet."""

    line: ssl.SSLSocket
    place: str
    deadline: float
    claim: tuple[Role, str] | None = None
    waits_for: int = selectors.EVENT_READ


class Listener:
    """Listens on a port for certain parties. Other callers are refused, counted and reported, and do not end the wait."""

    def __init__(
        self,
        credentials: Credentials,
        awaited: Iterable[Role],
        *,
        host: str = "",
        port: int = 0,
        timeout: float = DEFAULT_TIMEOUT,
        handshake_seconds: float = HANDSHAKE_SECONDS,
    ) -> None:
        self._credentials = credentials
        self._awaited = tuple(dict.fromkeys(awaited))
        for role in self._awaited:
            require_pinned(credentials, role)
        self._timeout = timeout
        self._handshake_seconds = handshake_seconds
        self._context = context_of(credentials, listening=True)
        self._context.sni_callback = self._heard_claim
        self._callers: list[_Caller] = []
        self._connected: dict[Role, TlsChannel] = {}
        self.strangers = 0
        """The number of callers refused so far."""
        self._last_refusal = ""
        self._socket = listening_socket(host, port)
        self.port: int = self._socket.getsockname()[1]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Stop listening; lines that `accept` returned stay open."""
        for caller in self._callers:
            caller.line.close()
        self._callers.clear()
        self._socket.close()
        for channel in self._connected.values():
            channel.abort("it does not wait any longer")
        self._connected.clear()

    def accept(self, wait: float | None = None) -> dict[Role, TlsChannel]:
        """Wait at most `wait` seconds until all awaited parties are connected, in any order; return a line to each.

        A party that disconnects may connect again, unless it refuses the run: then the wait ends for all parties.
        """
        deadline = float("inf") if wait is None else time.monotonic() + wait
        refusal: PeerFailed | None = None
        while missing := [role for role in self._awaited if not self._is_connected(role)]:
            gone = [self._connected[role].failure() for role in missing if role in self._connected]
            if refusal is None and (refusal := next((one for one in gone if REFUSED in str(one)), None)):
                deadline = min(deadline, time.monotonic() + _REFUSAL_SECONDS)
            if time.monotonic() >= deadline or (refusal is not None and len(self._connected) == len(self._awaited)):
                absent = PeerFailed(PARTY_NAMES[missing[0]], self._absence(wait or 0.0))
                error = refusal or (gone[0] if gone else absent)
                for channel in self._connected.values():
                    channel.abort(str(error))
                self._connected.clear()
                raise error
            self._one_round(min(_STEP_SECONDS, max(0.0, deadline - time.monotonic())))
        found, self._connected = self._connected, {}
        return found

    def _is_connected(self, role: Role) -> bool:
        return role in self._connected and self._connected[role].alive

    def _absence(self, wait: float) -> str:
        text = f"did not connect to port {self.port} within {wait:g} seconds"
        if not self.strangers:
            return f"{text}; check that it was started with this address"
        return f"{text}; {quantity(self.strangers, 'caller')} refused, the last one: {self._last_refusal}"

    def _one_round(self, seconds: float) -> None:
        """Accept new callers, and continue the handshakes of those that sent something."""
        with selectors.DefaultSelector() as selector:
            selector.register(self._socket, selectors.EVENT_READ)
            for caller in self._callers:
                selector.register(caller.line, caller.waits_for, caller)
            ready = selector.select(seconds)
        for key, _events in ready:
            if key.data is None:
                self._accept_caller()
            else:
                self._continue_handshake(key.data)
        now = time.monotonic()
        for caller in [caller for caller in self._callers if caller.deadline <= now]:
            self._refuse(caller, f"did not complete the handshake within {self._handshake_seconds:g} seconds")

    def _accept_caller(self) -> None:
        try:
            plain, address = self._socket.accept()
        except OSError:  # the caller disconnected
            return
        if len(self._callers) >= MOST_GREETED_AT_ONCE:
            self._refuse(self._callers[0], "was silent for the longest time among too many callers")
        try:
            tuned(plain)
            plain.setblocking(False)
            line = self._context.wrap_socket(
                plain, server_side=True, do_handshake_on_connect=False, suppress_ragged_eofs=False
            )
        except OSError:
            plain.close()
            return
        place = f"{address[0]}:{address[1]}"
        self._callers.append(_Caller(line, place, time.monotonic() + self._handshake_seconds))

    def _heard_claim(self, line: ssl.SSLSocket | ssl.SSLObject, name: str | None, _context: ssl.SSLContext) -> None:
        for caller in self._callers:
            if caller.line is line:
                caller.claim = claimed(name)

    def _continue_handshake(self, caller: _Caller) -> None:
        try:
            caller.line.do_handshake()
        except ssl.SSLWantReadError:
            caller.waits_for = selectors.EVENT_READ
        except ssl.SSLWantWriteError:
            caller.waits_for = selectors.EVENT_WRITE
        except ssl.SSLError as error:
            self._refuse(caller, self._refusal(error, caller))
        except OSError:
            self._refuse(caller, "disconnected during the handshake")
        else:
            self._known(caller)

    def _known(self, caller: _Caller) -> None:
        """Accept the caller if it shows the pinned certificate of a party that is awaited."""
        shown = caller.line.getpeercert(binary_form=True)
        roles = [role for role, pinned in self._credentials.pinned.items() if pinned.der == shown]
        if not roles:  # OpenSSL accepts pinned certificates only, but the exact bytes decide
            self._refuse(caller, "showed a certificate that is not pinned")
        elif roles[0] not in self._awaited:
            self._refuse(caller, f"is {PARTY_NAMES[roles[0]]}, which does not connect here")
        elif self._is_connected(roles[0]):
            with suppress(OSError):
                caller.line.send(TAKEN)
            self._refuse(caller, f"is {PARTY_NAMES[roles[0]]}, which is already connected")
        else:
            self._welcome(caller, roles[0])

    def _welcome(self, caller: _Caller, role: Role) -> None:
        try:
            caller.line.send(WELCOME)
        except OSError:
            self._refuse(caller, "disconnected during the handshake")
            return
        self._callers.remove(caller)
        if role in self._connected:  # it disconnected and connected again
            self._connected[role].abort("another run of this party took its place")
        self._connected[role] = TlsChannel(self._credentials.role, role, caller.line, self._timeout)

    def _refuse(self, caller: _Caller, why: str) -> None:
        self._callers.remove(caller)
        caller.line.close()
        self.strangers += 1
        self._last_refusal = f"the caller at {caller.place} {why}"
        if self.strangers <= _REPORTED_SINGLY:
            progress.note(f"{self._last_refusal}; it was refused, and this party continues to wait.")
        elif str(self.strangers).strip("0") == "1":
            progress.note(f"{self.strangers:,} callers were refused so far; this party continues to wait.")

    def _refusal(self, error: ssl.SSLError, caller: _Caller) -> str:
        """Return the reason for which a caller is refused after a TLS error."""
        reason = reason_of(error)
        if isinstance(error, ssl.SSLEOFError):
            return "disconnected during the handshake"
        if "did not return a certificate" in reason:
            return "showed no certificate"
        if isinstance(error, ssl.SSLCertVerificationError) or "certificate verify failed" in reason:
            return self._not_pinned(caller)
        if "unsupported protocol" in reason or "inappropriate fallback" in reason:
            return "does not speak TLS 1.3"
        if "alert" in reason:
            return f"refused the certificate of this party, or disconnected ({reason})"
        return f"does not speak TLS correctly ({reason})"

    def _not_pinned(self, caller: _Caller) -> str:
        if caller.claim is None:
            return "showed a certificate that is not pinned"
        role, digits = caller.claim
        pinned = self._credentials.pinned.get(role)
        beside = (
            f"the pinned one has {grouped_digits(pinned.fingerprint)}"
            if pinned
            else "no certificate is pinned for this party"
        )
        return (
            f"says that it is {PARTY_NAMES[role]}, and showed a certificate that is not pinned: "
            f"it claims the fingerprint {grouped_digits(digits)}; {beside}"
        )
