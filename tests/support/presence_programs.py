"""The three programs of a joint run, on loopback or in network namespaces: homes, files and processes for tests."""

import socket
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path

from setveil.presence.home import Home

from support.forked import Forked
from support.program import PROGRAM, Ended, call, ended, start

HOST = "127.0.0.1"
ESTABLISHED = "01"
PATIENCE_SECONDS = 120


def free_ports(count):
    """Return ports that nobody listens on now."""
    sockets = [socket.create_server((HOST, 0)) for _ in range(count)]
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


def made_homes(folder: Path) -> None:
    """Make the homes a, b and c, each with the certificates of the others pinned."""
    for role in "abc":
        assert call("presence", "init", folder / role, "--role", role).code == 0
    for role in "abc":
        pins = [
            part for other in "abc" if other != role for part in (f"--pin-{other}", folder / other / "certificate.pem")
        ]
        assert call("presence", "init", folder / role, *pins).code == 0


def recorded(home: Path) -> list[str]:
    """Return the outcomes that the ledger of a home holds."""
    return [event.outcome for event in Home.open(home).ledger.events()]


MANY = 400_000
"""A number of people with whom a run still takes seconds when the parties have met."""


@dataclass
class Programs:
    """What the programs are started with."""

    folder: Path
    ports: tuple[int, int]
    policies: dict[str, str]
    wait: float = 60
    timeout: float = 20
    hosts: dict[str, str] = field(default_factory=lambda: dict.fromkeys("abc", HOST))
    namespaces: dict[str, str] = field(default_factory=dict)
    """The network namespace of each party, if parties run in namespaces."""
    forked: bool = True
    """Whether programs start at once, forked from a process that has imported them, or as a person starts them."""

    def address(self, role):
        return f"{self.hosts[role]}:{self.ports['bc'.index(role)]}"

    def arguments(self, role, *more):
        policy = ("--policy", self.policies.get(role, "trial/policy.toml"))
        waits = ("--wait", self.wait, "--timeout", 6 * self.timeout if role == "c" else self.timeout)
        common = ("--home", role, *policy, *waits, *more)
        if role == "c":
            return ("presence", "collector", "--listen", self.address("c"), "--out", "joined", *common)
        met = ("--peer" if role == "a" else "--listen", self.address("b"))
        files = (
            "--data",
            f"trial/{role}.csv",
            "--population",
            "trial/population.csv",
            "--private",
            f"run-{role}",
            "--person",
            "customer",
        )
        return ("presence", "provider", "--role", role, *files, *met, "--collector", self.address("c"), *common)

    def _inside(self, role):
        return ("ip", "netns", "exec", self.namespaces[role]) if self.namespaces else ()

    def start(self, role, *more):
        arguments = self.arguments(role, *more)
        if self.forked and not self.namespaces:
            return Forked(*arguments, cwd=self.folder)
        return start(*arguments, cwd=self.folder, program=(*self._inside(role), *PROGRAM))

    def run(self, **more) -> dict[str, Ended]:
        """Run all three to their end."""
        started = {role: self.start(role, *more.get(role, ())) for role in "cba"}
        return {role: ended(process) for role, process in started.items()}

    def await_lines(self):
        """Wait until all three lines are open: A to B, and both to the collector."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < deadline:
            called = [port for role in ("ab" if self.namespaces else "a") for port in self._called(role)]
            if called.count(self.ports[0]) >= 1 and called.count(self.ports[1]) >= 2:
                time.sleep(1)  # and greeted: a collector that still waits for a party goes on waiting
                return
            time.sleep(0.02)
        raise AssertionError("the parties did not meet")

    def _called(self, role):
        """Return the ports that a party connects to."""
        shown = subprocess.run(
            [*self._inside(role), "cat", "/proc/net/tcp"], capture_output=True, text=True, check=True
        )
        rows = [line.split() for line in shown.stdout.splitlines()[1:]]
        return [int(row[2].partition(":")[2], 16) for row in rows if row[3] == ESTABLISHED]

    def left(self):
        """Return the folders that a run leaves, as far as they are there."""
        return sorted(path.name for path in self.folder.iterdir() if path.name.startswith(("joined", "run-", ".")))


def programs(folder: Path, *, people=600, seed=1, **policies) -> Programs:
    """Make a sample, homes and free ports in a folder."""
    assert call("presence", "sample", "--out", folder / "trial", "--people", people, "--seed", seed).code == 0
    made_homes(folder)
    return Programs(folder, tuple(free_ports(2)), policies)
