"""Two parties in two network namespaces, as on two machines, and the wire between them cut."""

import contextlib
import os
import secrets
import shutil
import subprocess
import time

import pytest

from parties import PATIENCE_SECONDS, ended_with_the_test, started

TIMEOUT = 2.0
B_SCRIPT = f"""
with Listener(home.credentials(), ["a"], host="10.77.8.2", port=7621, timeout={TIMEOUT}) as ear:
    print("listening", flush=True)
    channel = ear.accept(30)["a"]
for _ in range(10):
    channel.send("pong", channel.receive("ping", 1_000_000))
print("talked", flush=True)
try:
    while True:
        channel.send("pong", channel.receive("ping", 1_000_000))
except Exception as error:
    print(f"{{type(error).__name__}}|{{error}}|{{time.monotonic() - channel.last_heard:.2f}}", flush=True)
"""
A_SCRIPT = f"""
channel = connect(home.credentials(), "b", "10.77.8.2", 7621, timeout={TIMEOUT})
try:
    while True:
        channel.send("ping", bytes(1_000_000))
        channel.receive("pong", 1_000_000)
except Exception as error:
    print(f"{{type(error).__name__}}|{{error}}|{{time.monotonic() - channel.last_heard:.2f}}", flush=True)
"""


def ip(*words):
    return subprocess.run(["ip", *words], capture_output=True, text=True, check=True)


@pytest.fixture
def two_namespaces():
    """Give the names of two namespaces that a cable joins, and what cuts it; skip or fail where that cannot be had."""
    required = os.environ.get("SETVEIL_REQUIRE_SERVERS") == "1"
    if shutil.which("ip") is None:
        if required:
            pytest.fail("SETVEIL_REQUIRE_SERVERS=1, and the program ip is not installed: run make system-deps")
        pytest.skip("the program ip is not installed: run make system-deps")
    mark = secrets.token_hex(3)
    names = [f"setveil-{mark}-{role}" for role in "ab"]
    with contextlib.ExitStack() as stack:
        try:
            for name in names:
                ip("netns", "add", name)
                stack.callback(subprocess.run, ["ip", "netns", "del", name], capture_output=True, check=False)
            ends = [f"sv{mark}{role}" for role in "ab"]
            ip("link", "add", ends[0], "netns", names[0], "type", "veth", "peer", "name", ends[1], "netns", names[1])
            for number, (name, end) in enumerate(zip(names, ends, strict=True), 1):
                ip("-n", name, "address", "add", f"10.77.8.{number}/24", "dev", end)
                ip("-n", name, "link", "set", end, "up")
        except subprocess.CalledProcessError as error:
            # A machine may forbid namespaces even where `ip` is there, which no setting of ours can change.
            pytest.skip(f"network namespaces cannot be made here: {error.stderr.strip()}")
        yield names, lambda: ip("-n", names[0], "link", "set", ends[0], "down")


def test_both_sides_end_within_their_timeout_when_the_wire_is_cut(two_namespaces):
    (of_a, of_b), cut = two_namespaces
    b = started("b", B_SCRIPT, before=["ip", "netns", "exec", of_b])
    with ended_with_the_test(b):
        assert b.stdout.readline() == "listening\n"
        a = started("a", A_SCRIPT, before=["ip", "netns", "exec", of_a])
        with ended_with_the_test(a):
            assert b.stdout.readline() == "talked\n", b.stderr.read()
            cut()
            since = time.monotonic()
            for process, party in ((a, "provider B"), (b, "provider A")):
                out, err = process.communicate(timeout=PATIENCE_SECONDS)
                kind, said, waited = out.strip().split("|")
                assert kind == "PeerFailed", err
                assert said.startswith((f"{party} sent nothing for 2 seconds", f"{party} cannot be reached any more"))
                assert float(waited) < TIMEOUT + 1
            assert time.monotonic() - since < 2 * TIMEOUT + 2
