"""Lines over the network: mutual TLS 1.3, each party identified by its pinned certificate.

The party that connects states in the unencrypted part of the TLS greeting (the server name, SNI) which certificate it is about to show.
Nothing is decided by this claim. It exists because Python does not report which certificate it refused, and a party that pinned an old
certificate needs both fingerprints.
"""

from __future__ import annotations

import re
import socket
import ssl
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from setveil.errors import BadParameter, OutputRefused, PeerFailed
from setveil.presence.certificates import fingerprint, grouped_digits
from setveil.presence.channel import PARTY_NAMES
from setveil.presence.transport.framed import DEFAULT_TIMEOUT, FramedChannel, LineEnded
from setveil.presence.transport.line import ABORT_SECONDS, Line, reason_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from setveil.presence.certificates import Credentials
    from setveil.presence.channel import Role

WELCOME = b"welcome\n"
TAKEN = b"taken..\n"
"""The first message of the listening party: with TLS 1.3, the connecting party does not know yet whether its certificate was accepted."""
_KEEPALIVE = {"TCP_KEEPIDLE": 10, "TCP_KEEPINTVL": 5, "TCP_KEEPCNT": 3}
_RETRY_SECONDS = 0.1
_CLAIM = re.compile(r"([abc])\.([0-9a-f]{32})\.([0-9a-f]{32})\.setveil")


class TlsChannel(FramedChannel):
    """A `Channel` over a TLS line."""

    in_one_process = False

    def __init__(self, role: Role, peer: Role, connected: ssl.SSLSocket, timeout: float) -> None:
        super().__init__(role, peer, timeout)
        self._line = Line(connected)

    @property
    def alive(self) -> bool:
        """Whether the peer may still send messages."""
        return self._line.ended is None

    def ends_within(self, seconds: float) -> bool:
        """Return whether the line has ended, or ends within a number of seconds."""
        deadline = time.monotonic() + seconds
        while self.alive and time.monotonic() < deadline:
            time.sleep(0.02)
        return not self.alive

    def failure(self) -> PeerFailed:
        """Return the error of a line that has ended, with the reason that the peer sent, if any."""
        return self._failure or self._failed(self._last_words(LineEnded(self._line.ended or "")))

    @property
    def last_heard(self) -> float:
        """The time of the last byte in either direction, by `time.monotonic`."""
        return self._line.last_byte

    @property
    def wire_bytes(self) -> tuple[int, int]:
        """Bytes sent and received, including those of framing and TLS; zeros if the system does not count them."""
        return self._line.wire_bytes

    def _put(self, parts: Sequence[bytes]) -> None:
        self._line.put(parts)

    def _take(self, size: int) -> bytearray:
        return self._line.take(size, lambda: self.timeout)

    def _take_arrived(self, size: int) -> bytearray | None:
        return self._line.take_arrived(size)

    def _end(self, *, politely: bool) -> None:
        self._line.close(patience=self.timeout if politely else ABORT_SECONDS, in_all=not politely)


def context_of(credentials: Credentials, *, listening: bool) -> ssl.SSLContext:
    """Return the TLS context of this party: version 1.3 only, with its certificate."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER if listening else ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    context.options |= ssl.OP_NO_COMPRESSION
    context.load_cert_chain(credentials.certificate_file, credentials.key_file, password=_no_password)
    if listening:
        context.num_tickets = 0  # runs are never resumed
        context.verify_mode = ssl.CERT_REQUIRED
        context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
        for certificate in credentials.pinned.values():
            context.load_verify_locations(cadata=certificate.der)
    else:
        # The listening party is identified by its pinned certificate, byte for byte, which is stricter than a chain and a host name. If
        # OpenSSL refused the certificate, its fingerprint could not be reported.
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


def _no_password() -> str:
    raise BadParameter(
        "the private key is encrypted with a password; expected key.pem as setveil created it, without a password"
    )


def tuned(connected: socket.socket) -> None:
    """Set socket options: send small messages at once, and detect a peer that disappeared silently.

    TCP_USER_TIMEOUT would detect it sooner while bytes are in transit, but it also ends the line to a peer that computes and does not read.
    """
    connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connected.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in _KEEPALIVE.items():
        if hasattr(socket, name):
            with suppress(OSError):
                connected.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)


def claim_of(credentials: Credentials) -> str:
    """Return the role and fingerprint that this party claims before it shows its certificate, as a server name."""
    digits = credentials.certificate.fingerprint
    return f"{credentials.role}.{digits[:32]}.{digits[32:]}.setveil"


def claimed(name: str | None) -> tuple[Role, str] | None:
    """Return the role and the fingerprint that a caller claims, or None."""
    found = _CLAIM.fullmatch(name or "")
    return (found[1], found[2] + found[3]) if found else None  # type: ignore[return-value]


def require_pinned(credentials: Credentials, peer: Role) -> None:
    """Raise `BadParameter` if the certificate of a party is not pinned."""
    if peer == credentials.role:
        raise BadParameter(f"{PARTY_NAMES[peer]} cannot connect to itself; name another role")
    if peer not in credentials.pinned:
        raise BadParameter(
            f"the certificate of {PARTY_NAMES[peer]} is not pinned; get its certificate.pem and pin it before the run, "
            "with Home.pin or setveil presence init"
        )


def connect(
    credentials: Credentials,
    peer: Role,
    host: str,
    port: int,
    *,
    wait: float = DEFAULT_TIMEOUT,
    timeout: float = DEFAULT_TIMEOUT,
    needed: TlsChannel | None = None,
) -> TlsChannel:
    """Connect to a listening party. Try for `wait` seconds if it has not started yet, or until the line `needed` ends."""
    require_pinned(credentials, peer)
    if not 0 < port < 1 << 16:
        raise BadParameter(f"{port} is not a port to connect to; expected 1 to 65535")
    context = context_of(credentials, listening=False)
    deadline = time.monotonic() + wait
    party, place = PARTY_NAMES[peer], f"{host}:{port}"
    while True:
        if needed is not None and not needed.alive:
            raise needed.failure()
        left = deadline - time.monotonic()
        try:
            plain = socket.create_connection((host, port), timeout=max(0.01, min(left, 5.0)))
            break
        except (OSError, UnicodeError) as error:
            why = getattr(error, "strerror", None) or "no answer"
            if time.monotonic() + _RETRY_SECONDS >= deadline:
                raise PeerFailed(
                    party,
                    f"could not be reached at {place} within {wait:g} seconds ({why}); "
                    "check that it was started and that no firewall blocks the connection",
                ) from None
            time.sleep(_RETRY_SECONDS)
    try:
        return TlsChannel(credentials.role, peer, _greeted(context, plain, credentials, peer, place, timeout), timeout)
    except BaseException:
        plain.close()
        raise


def _greeted(
    context: ssl.SSLContext, plain: socket.socket, credentials: Credentials, peer: Role, place: str, timeout: float
) -> ssl.SSLSocket:
    """Return the encrypted line after both parties have accepted each other's certificates."""
    tuned(plain)
    plain.settimeout(timeout)
    with _named_failures(credentials, peer, place, timeout):
        line = context.wrap_socket(plain, server_hostname=claim_of(credentials), suppress_ragged_eofs=False)
        try:
            _refuse_other_certificate(credentials, peer, line.getpeercert(binary_form=True) or b"", place)
            _await_welcome(line, peer, place)
        except BaseException:
            line.close()
            raise
        return line


@contextmanager
def _named_failures(credentials: Credentials, peer: Role, place: str, timeout: float) -> Iterator[None]:
    """Turn errors of connecting into `PeerFailed`, which names the party."""
    try:
        yield
    except TimeoutError:
        message = f"sent nothing for {timeout:g} seconds"
    except ssl.SSLEOFError:
        message = "closed the connection during the handshake; check the refused callers that it reports"
    except ssl.SSLError as error:
        message = _refusal(error, credentials)
    except OSError as error:
        message = f"broke the connection during the handshake ({error.strerror or 'no reason given'})"
    else:
        return
    raise PeerFailed(PARTY_NAMES[peer], f"at {place} {message}") from None


def _await_welcome(line: ssl.SSLSocket, peer: Role, place: str) -> None:
    said = b""
    while len(said) < len(WELCOME) and (more := line.recv(len(WELCOME) - len(said))):
        said += more
    if said != WELCOME:
        what = "is connected to another run of this party; end that one first" if said == TAKEN else "closed the line"
        raise PeerFailed(PARTY_NAMES[peer], f"at {place} {what}")


def _refusal(error: ssl.SSLError, credentials: Credentials) -> str:
    """Return the meaning of a TLS error for the connecting party."""
    reason = reason_of(error)
    if "alert" in reason and any(word in reason for word in ("unknown ca", "certificate", "decrypt error")):
        return (
            "refused the certificate of this party, whose fingerprint is "
            f"{grouped_digits(credentials.certificate.fingerprint)}; check that it has pinned this certificate"
        )
    if "wrong version number" in reason or "record layer failure" in reason or "http request" in reason:
        return "does not speak TLS; check host and port"
    if "version" in reason or "protocol" in reason:
        return "does not speak TLS 1.3, and older versions are not allowed"
    return f"could not be connected to by TLS ({reason})"


def _refuse_other_certificate(credentials: Credentials, peer: Role, shown: bytes, place: str) -> None:
    if shown == credentials.pinned[peer].der:
        return
    for role, certificate in credentials.pinned.items():
        if certificate.der == shown:
            raise PeerFailed(
                PARTY_NAMES[peer],
                f"is not at {place}: that is {PARTY_NAMES[role]}, by its pinned certificate; check host and port",
            )
    raise PeerFailed(
        PARTY_NAMES[peer],
        f"at {place} shows another certificate than the pinned one: it shows {grouped_digits(fingerprint(shown))}, the pinned one is "
        f"{grouped_digits(credentials.pinned[peer].fingerprint)}; ask its owner by another channel which one is right, and pin that",
    )


def listening_socket(host: str, port: int) -> socket.socket:
    """Return a listening socket; raise `OutputRefused` if this address cannot be used."""
    try:
        family = socket.getaddrinfo(host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        made = socket.create_server(family[4][:2], family=family[0], backlog=64)
    except (OSError, UnicodeError, OverflowError) as error:
        raise OutputRefused(
            f"this party cannot listen at {host or 'any address'}, port {port}: "
            f"{getattr(error, 'strerror', None) or error}; name another address with `listen=`"
        ) from None
    made.setblocking(False)
    return made
