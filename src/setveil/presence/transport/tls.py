"""Lines over the network: mutual TLS 1.3, each party known by its pinned certificate.

Whoever connects says in the clear part of TLS's greeting (the server's name, SNI) which certificate it is about to show. Nothing is
decided by that: it is there because Python does not tell which certificate it refused, and whoever pinned an old one needs both
fingerprints.
"""

from __future__ import annotations

import re
import socket
import ssl
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from setveil.errors import BadParameter, OutputRefused, PeerFailed
from setveil.presence.certificates import fingerprint, in_pairs
from setveil.presence.channel import PARTY_IN_WORDS
from setveil.presence.transport.framed import DEFAULT_TIMEOUT, FramedChannel, LineEnded
from setveil.presence.transport.line import ABORT_SECONDS, Line, reason_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from setveil.presence.certificates import Credentials
    from setveil.presence.channel import Role

WELCOME = b"welcome\n"
TAKEN = b"taken..\n"
"""What who listens says first: with TLS 1.3 who connects does not know yet whether its certificate was accepted."""
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
        """Whether the peer may still send something."""
        return self._line.ended is None

    def ends_within(self, seconds: float) -> bool:
        """Return whether the line has ended, or ends in so short a time."""
        deadline = time.monotonic() + seconds
        while self.alive and time.monotonic() < deadline:
            time.sleep(0.02)
        return not self.alive

    def failure(self) -> PeerFailed:
        """Return why a line that is not alive ended, by the peer's last words if it said any."""
        return self._failure or self._failed(self._last_words(LineEnded(self._line.ended or "")))

    @property
    def last_heard(self) -> float:
        """When a byte last went over the line in either direction, by the clock of `time.monotonic`."""
        return self._line.last_byte

    @property
    def wire_bytes(self) -> tuple[int, int]:
        """Bytes sent and received with all that framing and TLS add; zeros where the system does not count them."""
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
    """Return how this party speaks TLS: 1.3 and nothing older, showing its certificate."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER if listening else ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    context.options |= ssl.OP_NO_COMPRESSION
    context.load_cert_chain(credentials.certificate_file, credentials.key_file, password=_no_password)
    if listening:
        context.num_tickets = 0  # nobody resumes a run
        context.verify_mode = ssl.CERT_REQUIRED
        context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
        for certificate in credentials.pinned.values():
            context.load_verify_locations(cadata=certificate.der)
    else:
        # The one who listens is known by its certificate being the pinned one, byte for byte, which is more than a chain and a name say.
        # Were OpenSSL to refuse it, nobody could tell which one came.
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


def _no_password() -> str:
    raise BadParameter("the private key is encrypted with a password; expected key.pem as setveil made it")


def tuned(connected: socket.socket) -> None:
    """Let small messages go at once, and let the system notice a peer that vanished without a word.

    TCP_USER_TIMEOUT would notice it sooner while bytes are on their way, but it also ends the line to a peer that computes and reads not.
    """
    connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connected.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in _KEEPALIVE.items():
        if hasattr(socket, name):
            with suppress(OSError):
                connected.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)


def claim_of(credentials: Credentials) -> str:
    """Return what this party says of itself before it shows its certificate."""
    digits = credentials.certificate.fingerprint
    return f"{credentials.role}.{digits[:32]}.{digits[32:]}.setveil"


def claimed(name: str | None) -> tuple[Role, str] | None:
    """Return the role and the fingerprint that somebody claims."""
    found = _CLAIM.fullmatch(name or "")
    return (found[1], found[2] + found[3]) if found else None  # type: ignore[return-value]


def require_pinned(credentials: Credentials, peer: Role) -> None:
    """Refuse to talk to a party whose certificate is not pinned."""
    if peer == credentials.role:
        raise BadParameter(f"{PARTY_IN_WORDS[peer]} cannot connect to itself; name another role")
    if peer not in credentials.pinned:
        raise BadParameter(
            f"the certificate of {PARTY_IN_WORDS[peer]} is not pinned; get its certificate.pem and pin it before the run, "
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
    """Connect to a party that listens, trying for `wait` seconds while it has not started yet, or until the line `needed` ended."""
    require_pinned(credentials, peer)
    if not 0 < port < 1 << 16:
        raise BadParameter(f"{port} is no port to connect to; expected 1 to 65535")
    context = context_of(credentials, listening=False)
    deadline = time.monotonic() + wait
    party, place = PARTY_IN_WORDS[peer], f"{host}:{port}"
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
                    "see that it was started and that no firewall is between",
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
    """Return the encrypted line to the right party, which has accepted this one."""
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
    """Turn what can go wrong while a line is being made into an error that names the party."""
    try:
        yield
    except TimeoutError:
        message = f"sent nothing for {timeout:g} seconds"
    except ssl.SSLEOFError:
        message = "ended the line while it was being made; see what it says of refused callers"
    except ssl.SSLError as error:
        message = _refusal(error, credentials)
    except OSError as error:
        message = f"broke the line while it was being made ({error.strerror or 'no reason given'})"
    else:
        return
    raise PeerFailed(PARTY_IN_WORDS[peer], f"at {place} {message}") from None


def _await_welcome(line: ssl.SSLSocket, peer: Role, place: str) -> None:
    said = b""
    while len(said) < len(WELCOME) and (more := line.recv(len(WELCOME) - len(said))):
        said += more
    if said != WELCOME:
        what = "is connected to another run of this party; end that one first" if said == TAKEN else "closed the line"
        raise PeerFailed(PARTY_IN_WORDS[peer], f"at {place} {what}")


def _refusal(error: ssl.SSLError, credentials: Credentials) -> str:
    """Return what an error of TLS means to the one who connected."""
    reason = reason_of(error)
    if "alert" in reason and any(word in reason for word in ("unknown ca", "certificate", "decrypt error")):
        return (
            "refused the certificate of this party, whose fingerprint is "
            f"{in_pairs(credentials.certificate.fingerprint)}; see that it has pinned this one"
        )
    if "wrong version number" in reason or "record layer failure" in reason or "http request" in reason:
        return "does not speak TLS; see that host and port are right"
    if "version" in reason or "protocol" in reason:
        return "does not speak TLS 1.3, and nothing older is used"
    return f"could not be spoken to by TLS ({reason})"


def _refuse_other_certificate(credentials: Credentials, peer: Role, shown: bytes, place: str) -> None:
    if shown == credentials.pinned[peer].der:
        return
    for role, certificate in credentials.pinned.items():
        if certificate.der == shown:
            raise PeerFailed(
                PARTY_IN_WORDS[peer],
                f"is not at {place}: that is {PARTY_IN_WORDS[role]}, by its pinned certificate; see that host and port are right",
            )
    raise PeerFailed(
        PARTY_IN_WORDS[peer],
        f"at {place} shows another certificate than the pinned one: it shows {in_pairs(fingerprint(shown))}, "
        f"pinned is {in_pairs(credentials.pinned[peer].fingerprint)}; ask by another way which is right, and pin that",
    )


def listening_socket(host: str, port: int) -> socket.socket:
    """Return a socket that listens, or say why there is none."""
    try:
        family = socket.getaddrinfo(host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        made = socket.create_server(family[4][:2], family=family[0], backlog=64)
    except (OSError, UnicodeError, OverflowError) as error:
        raise OutputRefused(
            f"this party cannot listen at {host or 'any address'}, port {port}: "
            f"{getattr(error, 'strerror', None) or error}; name another place with `listen=`"
        ) from None
    made.setblocking(False)
    return made
