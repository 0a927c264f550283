"""Callers that are not awaited are refused with the reason and counted, and do not delay other callers."""

import contextlib
import socket
import ssl
import time

import pytest

from setveil.errors import BadParameter, OutputRefused, PeerFailed
from setveil.presence.certificates import grouped_digits
from setveil.presence.home import CERTIFICATE, KEY, Home
from setveil.presence.transport.listening import MOST_GREETED_AT_ONCE, Listener
from setveil.presence.transport.tls import connect, context_of

from support.parties import (
    LOOPBACK,
    PATIENCE_SECONDS,
    Task,
    caller_context,
    homes,
    listener,
    raw_caller,
    with_pins,
    without_waiting,
)


@pytest.fixture(scope="module")
def impostors(tmp_path_factory):
    """Give homes of the same roles with other keys, that know the certificates of the right ones."""
    folder = tmp_path_factory.mktemp("impostors")
    return {role: with_pins(Home.create(folder / role, role, name=f"test {role}"), homes()) for role in "abc"}


def call(role, peer, port, **named):
    return connect(homes()[role].credentials(), peer, LOOPBACK, port, **named)


@contextlib.contextmanager
def awaiting_a_through(disturbance, notes, **named):
    """Let another caller connect to B first; A must still get through. Give the notes and the number of refused callers."""
    with listener(**named) as ear:

        def disturbed():
            with contextlib.suppress(OSError, PeerFailed):
                disturbance(ear.port)
            return call("a", "b", ear.port)

        calling = Task(disturbed)
        b = ear.accept(PATIENCE_SECONDS)["a"]
        a = calling.result()
        a.send("x", b"1")
        assert b.receive("x", 1) == b"1"
        yield notes(), ear.strangers
        a.abort("over")
        b.abort("over")


def speaks(home, version=ssl.TLSVersion.TLSv1_3):
    def disturbance(port):
        with raw_caller(port, home, version) as raw:
            raw.settimeout(PATIENCE_SECONDS)
            assert raw.recv(8) in (b"", b"taken..\n")

    return disturbance


def says(*parts):
    def disturbance(port):
        with socket.create_connection((LOOPBACK, port), timeout=PATIENCE_SECONDS) as plain:
            for part in parts:
                plain.sendall(part)
            while plain.recv(4096):
                pass

    return disturbance


def test_a_caller_with_another_certificate_of_that_role(impostors, notes):
    asked = []

    def disturbance(port):
        with pytest.raises(PeerFailed) as refused:
            connect(impostors["a"].credentials(), "b", LOOPBACK, port)
        asked.append(str(refused.value))

    with awaiting_a_through(disturbance, notes) as (heard, strangers):
        shown, pinned = (grouped_digits(home.certificate.fingerprint) for home in (impostors["a"], homes()["a"]))
        assert (
            f"says that it is provider A, and showed a certificate that is not pinned: it claims the fingerprint {shown}"
            in heard
        )
        assert f"the pinned one has {pinned}; it was refused, and this party continues to wait." in heard
        assert strangers == 1
    assert asked[0].startswith("provider B at 127.0.0.1:")
    assert f"refused the certificate of this party, whose fingerprint is {shown}" in asked[0]


def test_a_caller_with_another_certificate_who_claims_nothing(impostors, notes):
    with awaiting_a_through(speaks(impostors["a"]), notes) as (heard, strangers):
        assert "showed a certificate that is not pinned; it was refused" in heard
        assert strangers == 1


def test_a_caller_without_a_certificate(notes):
    with awaiting_a_through(speaks(None), notes) as (heard, strangers):
        assert "showed no certificate" in heard
        assert strangers == 1


def test_a_caller_with_tls_1_2(notes):
    with awaiting_a_through(speaks(homes()["a"], ssl.TLSVersion.TLSv1_2), notes) as (heard, strangers):
        assert "does not speak TLS 1.3" in heard
        assert strangers == 1


def test_a_caller_of_another_pinned_role(notes):
    with awaiting_a_through(speaks(homes()["c"]), notes) as (heard, strangers):
        assert "is the collector, which does not connect here" in heard
        assert strangers == 1


@pytest.mark.parametrize(
    "said", [b"GET / HTTP/1.1\r\n\r\n", b"setveil\n" + bytes(60), b"\x16\x03\x01\x00\x05hello", bytes(3)]
)
def test_a_caller_who_does_not_speak_tls(said, notes):
    with awaiting_a_through(says(said), notes, handshake_seconds=0.5) as (heard, strangers):
        assert strangers == 1
        assert "it was refused, and this party continues to wait" in heard


def test_a_caller_who_says_nothing_holds_nobody_up(notes):
    with listener() as ear, socket.create_connection((LOOPBACK, ear.port)), without_waiting():
        calling = Task(lambda: (time.sleep(0.2), call("a", "b", ear.port))[1])
        b = ear.accept(PATIENCE_SECONDS)["a"]
        calling.result().abort("over")
        b.abort("over")
        assert notes() == ""


def test_a_caller_who_says_nothing_is_refused_in_time(notes):
    with listener(handshake_seconds=0.2) as ear, socket.create_connection((LOOPBACK, ear.port)) as quiet:
        with pytest.raises(
            PeerFailed, match=r"^provider A did not connect to port \d+ within 0\.6 seconds; 1 caller refused, the last"
        ):
            ear.accept(0.6)
        assert "did not complete the handshake within 0.2 seconds" in notes()
        quiet.settimeout(1)
        assert quiet.recv(1) == b""


def test_many_silent_callers_are_not_kept_for_ever(notes):
    with listener() as ear, contextlib.ExitStack() as stack:
        for _ in range(MOST_GREETED_AT_ONCE - 2):
            stack.enter_context(socket.create_connection((LOOPBACK, ear.port)))
        waiting = Task(ear.accept, 20)
        for _ in range(20):
            stack.enter_context(socket.create_connection((LOOPBACK, ear.port)))
        a = call("a", "b", ear.port)
        waiting.result()["a"].abort("over")
        a.abort("over")
        assert ear.strangers >= 10
        del notes


def test_the_collector_takes_both_providers_in_any_order():
    for order in ("ab", "ba"):
        with listener("c", ("a", "b")) as ear:
            waiting = Task(ear.accept, PATIENCE_SECONDS)
            called = {role: call(role, "c", ear.port) for role in order}
            found = waiting.result()
        assert sorted(found) == ["a", "b"]
        for role, line in called.items():
            line.send("who", role.encode())
            assert found[role].receive("who", 1) == role.encode()
            assert found[role].peer == role
            line.close()
            found[role].close()


def test_a_second_run_of_a_connected_party_is_refused_and_one_that_came_again_is_taken():
    with listener("c", ("a", "b")) as ear:
        waiting = Task(ear.accept, PATIENCE_SECONDS)
        first = call("a", "c", ear.port)
        with pytest.raises(PeerFailed, match=r"the collector at .* is connected to another run of this party"):
            call("a", "c", ear.port)
        first.close()
        time.sleep(0.2)
        again, b = call("a", "c", ear.port), call("b", "c", ear.port)
        found = waiting.result()
        again.send("x", b"1")
        assert found["a"].receive("x", 1) == b"1"
        for line in (again, b, *found.values()):
            line.abort("over")


def test_who_waited_in_vain_tells_those_who_came():
    with listener("c", ("a", "b")) as ear:
        waiting = Task(ear.accept, 0.5)
        a = call("a", "c", ear.port)
        with pytest.raises(PeerFailed, match=r"^provider B did not connect"):
            waiting.result()
        with pytest.raises(PeerFailed, match=r"^the collector stopped: provider B did not connect"):
            a.receive("x", 1)
        a.close()


@contextlib.contextmanager
def answering(context, first=b""):
    """Listen as a program that is not a party; give the port."""
    with socket.create_server((LOOPBACK, 0)) as ear:

        def answer():
            plain, _ = ear.accept()
            with plain, contextlib.suppress(OSError):
                if context is None:
                    plain.sendall(first)
                    plain.recv(4096)
                else:
                    with context.wrap_socket(plain, server_side=True) as line:
                        line.recv(1)

        answered = Task(answer)
        yield ear.getsockname()[1]
        answered.result()


def test_a_listener_with_another_certificate(impostors):
    with (
        answering(context_of(impostors["b"].credentials(), listening=True)) as port,
        pytest.raises(PeerFailed) as refused,
    ):
        call("a", "b", port)
    shown, pinned = (grouped_digits(home.certificate.fingerprint) for home in (impostors["b"], homes()["b"]))
    assert str(refused.value).startswith(
        f"provider B at 127.0.0.1:{port} shows another certificate than the pinned one"
    )
    assert f"it shows {shown}, the pinned one is {pinned};" in str(refused.value)


def test_a_listener_of_another_pinned_role():
    with (
        answering(context_of(homes()["c"].credentials(), listening=True)) as port,
        pytest.raises(PeerFailed, match=f"provider B is not at 127.0.0.1:{port}: that is the collector"),
    ):
        call("a", "b", port)


def test_a_listener_with_tls_1_2():
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    context.load_cert_chain(homes()["b"].folder / CERTIFICATE, homes()["b"].folder / KEY)
    with (
        answering(context) as port,
        pytest.raises(PeerFailed, match=r"does not speak TLS 1\.3, and older versions are not allowed"),
    ):
        call("a", "b", port)


def test_a_listener_without_tls():
    with (
        answering(None, b"220 mail.example ESMTP\r\n") as port,
        pytest.raises(PeerFailed, match=r"provider B at .* does not speak TLS; check host and port"),
    ):
        call("a", "b", port)


def test_a_listener_that_says_nothing():
    with (
        socket.create_server((LOOPBACK, 0)) as ear,
        without_waiting(),
        pytest.raises(PeerFailed, match=r"provider B at .* sent nothing for 0\.3 s"),
    ):
        call("a", "b", ear.getsockname()[1], timeout=0.3)


def test_nobody_there_is_waited_for_and_then_told():
    with socket.create_server((LOOPBACK, 0)) as ear:
        port = ear.getsockname()[1]
    since = time.monotonic()
    said = f"provider B could not be reached at 127.0.0.1:{port} within 0.5 seconds"
    with without_waiting(), pytest.raises(PeerFailed, match=said):
        call("a", "b", port, wait=0.5)
    assert time.monotonic() - since >= 0.3
    late = Task(lambda: (time.sleep(0.4), listener(port=port))[1])
    calling = Task(call, "a", "b", port)
    with late.result() as ear:
        b = ear.accept(PATIENCE_SECONDS)["a"]
    calling.result().abort("over")
    b.abort("over")


def test_what_cannot_work_is_told_before_anything_is_sent(tmp_path):
    alone = Home.create(tmp_path / "a", "a")
    with pytest.raises(BadParameter, match="the certificate of provider B is not pinned"):
        connect(alone.credentials(), "b", LOOPBACK, 1)
    with pytest.raises(BadParameter, match="provider A cannot connect to itself"):
        connect(alone.credentials(), "a", LOOPBACK, 1)
    for port in (0, 65_536):
        with pytest.raises(BadParameter, match=f"{port} is not a port to connect to; expected 1 to 65535"):
            call("a", "b", port)
    with (
        listener() as ear,
        pytest.raises(OutputRefused, match=f"cannot listen at 127.0.0.1, port {ear.port}: Address already in use"),
    ):
        Listener(homes()["b"].credentials(), ["a"], host=LOOPBACK, port=ear.port)


def test_no_key_is_in_any_text_of_the_credentials():
    home = homes()["a"]
    secret = (home.folder / KEY).read_text().splitlines()[1]
    for thing in (home, home.credentials(), caller_context(home), home.certificate):
        assert secret not in repr(thing)
        assert home.dummy_key().hex() not in repr(thing)
