"""Waiting for the parties that connect to this one, whoever else may come.

All callers are greeted at once in one loop, each with its own time limit, so that one who connects and says nothing holds nobody up.
"""

from __future__ import annotations

import selectors
import ssl
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from setveil.base import progress
from setveil.errors import PeerFailed
from setveil.presence.certificates import in_pairs
from setveil.presence.channel import PARTY_IN_WORDS
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
"""How long the other parties are still awaited after one refused the run: they hear of it, or refuse it themselves."""
_TOLD_ONE_BY_ONE = 5


@dataclass
class _Caller:
    """Somebody who connected and is not known yet."""

    line: ssl.SSLSocket
    place: str
    deadline: float
    claim: tuple[Role, str] | None = None
    waits_for: int = selectors.EVENT_READ


class Listener:
    """Listens at a port for certain parties. Strangers are refused, counted and noted, and do not end the wait."""

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
        """How many were refused so far."""
        self._last_refusal = ""
        self._socket = listening_socket(host, port)
        self.port: int = self._socket.getsockname()[1]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Listen no more; lines that `accept` returned stay."""
        for caller in self._callers:
            caller.line.close()
        self._callers.clear()
        self._socket.close()
        for channel in self._connected.values():
            channel.abort("it does not wait any longer")
        self._connected.clear()

    def accept(self, wait: float | None = None) -> dict[Role, TlsChannel]:
        """Wait at most `wait` seconds until all awaited parties are connected, in any order; return a line to each.

        A party that came and left may come again, unless it refuses the run: then the wait is over for all.
        """
        deadline = float("inf") if wait is None else time.monotonic() + wait
        refusal: PeerFailed | None = None
        while missing := [role for role in self._awaited if not self._is_connected(role)]:
            gone = [self._connected[role].failure() for role in missing if role in self._connected]
            if refusal is None and (refusal := next((one for one in gone if REFUSED in str(one)), None)):
                deadline = min(deadline, time.monotonic() + _REFUSAL_SECONDS)
            if time.monotonic() >= deadline or (refusal is not None and len(self._connected) == len(self._awaited)):
                did_not_come = PeerFailed(PARTY_IN_WORDS[missing[0]], self._did_not_come(wait or 0.0))
                error = refusal or (gone[0] if gone else did_not_come)
                for channel in self._connected.values():
                    channel.abort(str(error))
                self._connected.clear()
                raise error
            self._one_round(min(_STEP_SECONDS, max(0.0, deadline - time.monotonic())))
        found, self._connected = self._connected, {}
        return found

    def _is_connected(self, role: Role) -> bool:
        return role in self._connected and self._connected[role].alive

    def _did_not_come(self, wait: float) -> str:
        text = f"did not connect to port {self.port} within {wait:g} seconds"
        return f"{text}; {self.strangers} refused, the last one: {self._last_refusal}" if self.strangers else text

    def _one_round(self, seconds: float) -> None:
        """Take in callers, and go on with the greetings of those for whom something came."""
        with selectors.DefaultSelector() as selector:
            selector.register(self._socket, selectors.EVENT_READ)
            for caller in self._callers:
                selector.register(caller.line, caller.waits_for, caller)
            ready = selector.select(seconds)
        for key, _events in ready:
            if key.data is None:
                self._take_in()
            else:
                self._go_on(key.data)
        now = time.monotonic()
        for caller in [caller for caller in self._callers if caller.deadline <= now]:
            self._refuse(caller, f"said nothing that was awaited for {self._handshake_seconds:g} seconds")

    def _take_in(self) -> None:
        try:
            plain, address = self._socket.accept()
        except OSError:  # it left again
            return
        if len(self._callers) >= MOST_GREETED_AT_ONCE:
            self._refuse(self._callers[0], "was the longest to say nothing among too many callers")
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

    def _go_on(self, caller: _Caller) -> None:
        try:
            caller.line.do_handshake()
        except ssl.SSLWantReadError:
            caller.waits_for = selectors.EVENT_READ
        except ssl.SSLWantWriteError:
            caller.waits_for = selectors.EVENT_WRITE
        except ssl.SSLError as error:
            self._refuse(caller, self._refusal(error, caller))
        except OSError:
            self._refuse(caller, "went away while it was greeted")
        else:
            self._known(caller)

    def _known(self, caller: _Caller) -> None:
        """Take the party whose pinned certificate was shown, if it is awaited."""
        shown = caller.line.getpeercert(binary_form=True)
        roles = [role for role, pinned in self._credentials.pinned.items() if pinned.der == shown]
        if not roles:  # OpenSSL accepts pinned ones only, but it is the bytes that count
            self._refuse(caller, "showed a certificate that is not pinned")
        elif roles[0] not in self._awaited:
            self._refuse(caller, f"is {PARTY_IN_WORDS[roles[0]]}, which does not connect here")
        elif self._is_connected(roles[0]):
            with suppress(OSError):
                caller.line.send(TAKEN)
            self._refuse(caller, f"is {PARTY_IN_WORDS[roles[0]]}, which is connected already")
        else:
            self._welcome(caller, roles[0])

    def _welcome(self, caller: _Caller, role: Role) -> None:
        try:
            caller.line.send(WELCOME)
        except OSError:
            self._refuse(caller, "went away while it was greeted")
            return
        self._callers.remove(caller)
        if role in self._connected:  # it came, went, and came again
            self._connected[role].abort("another run of this party took its place")
        self._connected[role] = TlsChannel(self._credentials.role, role, caller.line, self._timeout)

    def _refuse(self, caller: _Caller, why: str) -> None:
        self._callers.remove(caller)
        caller.line.close()
        self.strangers += 1
        self._last_refusal = f"the caller at {caller.place} {why}"
        if self.strangers <= _TOLD_ONE_BY_ONE:
            progress.note(f"{self._last_refusal}; it was refused, and the wait goes on.")
        elif str(self.strangers).strip("0") == "1":
            progress.note(f"{self.strangers} callers were refused so far; the wait goes on.")

    def _refusal(self, error: ssl.SSLError, caller: _Caller) -> str:
        """Return what an error of TLS says of a caller."""
        reason = reason_of(error)
        if isinstance(error, ssl.SSLEOFError):
            return "went away while it was greeted"
        if "did not return a certificate" in reason:
            return "showed no certificate"
        if isinstance(error, ssl.SSLCertVerificationError) or "certificate verify failed" in reason:
            return self._not_pinned(caller)
        if "unsupported protocol" in reason or "inappropriate fallback" in reason:
            return "does not speak TLS 1.3"
        if "alert" in reason:
            return f"refused the certificate of this party, or went away ({reason})"
        return f"does not speak TLS as it should ({reason})"

    def _not_pinned(self, caller: _Caller) -> str:
        if caller.claim is None:
            return "showed a certificate that is not pinned"
        role, digits = caller.claim
        pinned = self._credentials.pinned.get(role)
        beside = f"pinned is {in_pairs(pinned.fingerprint)}" if pinned else "of which none is pinned"
        return (
            f"says that it is {PARTY_IN_WORDS[role]}, and showed a certificate that is not pinned: "
            f"it calls it {in_pairs(digits)}, {beside}"
        )
