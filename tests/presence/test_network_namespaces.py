"""Parties in network namespaces of their own, as on several machines, and a wire between them cut."""

import contextlib
import os
import secrets
import shutil
import subprocess

import pytest

from support.parties import PATIENCE_SECONDS, ended_with_the_test, started
from support.presence_programs import MANY, programs
from support.program import call, ended

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
    print(f"{{type(error).__name__}}|{{error}}", flush=True)
"""
A_SCRIPT = f"""
channel = connect(home.credentials(), "b", "10.77.8.2", 7621, timeout={TIMEOUT})
try:
    while True:
        channel.send("ping", bytes(1_000_000))
        channel.receive("pong", 1_000_000)
except Exception as error:
    print(f"{{type(error).__name__}}|{{error}}", flush=True)
"""


def ip(*words):
    return subprocess.run(["ip", *words], capture_output=True, text=True, check=True)


@contextlib.contextmanager
def namespaces(roles):
    """Give namespaces by role, joined by a switch, with what cuts one off; skip or fail where that cannot be had."""
    required = os.environ.get("SETVEIL_REQUIRE_SERVERS") == "1"
    if shutil.which("ip") is None:
        if required:
            pytest.fail("SETVEIL_REQUIRE_SERVERS=1, and the program ip is not installed: run make system-deps")
        pytest.skip("the program ip is not installed: run make system-deps")
    mark = secrets.token_hex(3)
    names = {role: f"setveil-{mark}-{role}" for role in (*roles, "switch")}
    with contextlib.ExitStack() as stack:
        try:
            for name in names.values():
                ip("netns", "add", name)
                stack.callback(subprocess.run, ["ip", "netns", "del", name], capture_output=True, check=False)
            switch = names["switch"]
            ip("-n", switch, "link", "add", "between", "type", "bridge")
            ip("-n", switch, "link", "set", "between", "up")
            for number, role in enumerate(roles, 1):
                end, plug = f"sv{mark}{role}", f"sw{mark}{role}"
                ip("link", "add", end, "netns", names[role], "type", "veth", "peer", "name", plug, "netns", switch)
                ip("-n", switch, "link", "set", plug, "master", "between", "up")
                ip("-n", names[role], "address", "add", f"10.77.8.{number}/24", "dev", end)
                ip("-n", names[role], "link", "set", end, "up")
                ip("-n", names[role], "link", "set", "lo", "up")
        except subprocess.CalledProcessError as error:
            # A machine may forbid namespaces even where `ip` is there, which no setting of ours can change.
            pytest.skip(f"network namespaces cannot be made here: {error.stderr.strip()}")
        yield names, lambda role: ip("-n", switch, "link", "set", f"sw{mark}{role}", "down")


def test_both_sides_end_after_their_timeout_when_the_wire_is_cut():
    with namespaces("ab") as (names, cut):
        b = started("b", B_SCRIPT, before=["ip", "netns", "exec", names["b"]])
        _both_end(b, names["a"], cut)


def _both_end(b, of_a, cut):
    with ended_with_the_test(b):
        assert b.stdout.readline() == "listening\n"
        a = started("a", A_SCRIPT, before=["ip", "netns", "exec", of_a])
        with ended_with_the_test(a):
            assert b.stdout.readline() == "talked\n", b.stderr.read()
            cut("a")
            for process, party in ((a, "provider B"), (b, "provider A")):
                out, err = process.communicate(timeout=PATIENCE_SECONDS)
                kind, said = out.strip().split("|")
                assert kind == "PeerFailed", err
                assert said.startswith((f"{party} sent nothing for 2 seconds", f"{party} can no longer be reached"))


@pytest.fixture
def apart(tmp_path):
    """Give the three programs, each in a namespace of its own, and what cuts one off."""
    with namespaces("abc") as (names, cut):
        parties = programs(tmp_path, people=MANY)
        parties.hosts = {role: f"10.77.8.{number}" for number, role in enumerate("abc", 1)}
        parties.namespaces = names
        parties.timeout = 5
        yield parties, cut


def test_a_whole_run_between_three_namespaces_gives_the_table_of_a_trial(apart):
    parties, _cut = apart
    found = parties.run()
    assert {role: one.code for role, one in found.items()} == dict.fromkeys("abc", 0), found
    files = ("trial/a.csv", "trial/b.csv", "--population", "trial/population.csv", "--policy", "trial/policy.toml")
    homes = ("--home-a", "a", "--home-b", "b", "--backend", "clear", "--out", "trial-of-all")
    assert call("presence", "simulate", *files, *homes, cwd=parties.folder).code == 0
    assert (parties.folder / "joined/data.csv").read_bytes() == (parties.folder / "trial-of-all/data.csv").read_bytes()


def test_a_party_that_is_cut_off_in_the_middle_of_a_run_ends_all_and_leaves_nothing(apart):
    parties, cut = apart
    started_ = {role: parties.start(role) for role in "cba"}
    parties.await_lines()
    assert all(process.poll() is None for process in started_.values()), "it was done before the wire could be cut"
    cut("b")
    found = {role: ended(process) for role, process in started_.items()}
    assert {role: one.code for role, one in found.items()} == dict.fromkeys("abc", 4), found
    assert "provider B" in found["a"].sentence()
    assert parties.left() == []
