"""Spark Connect servers for tests, gone when the session ends.

Sail is one without Java, in the environment of the tests. Each worker of pytest-xdist that needs one starts its own, which takes a second.
Spark itself runs on two workers of one core each (`local-cluster`), in the environment that `make spark-server` makes. Its workers use the
Python of the tests. All workers of pytest-xdist share one, since it is three programs in Java, which take a while to start and to warm up.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

REPOSITORY = Path(__file__).parents[2]
SPARK_HOME = next((REPOSITORY / "build" / "spark-server").glob("lib/python*/site-packages/pyspark"), None)
SPARK_WORKERS = 2
PATIENCE_SECONDS = 300
FOR_SMALL_WORK = {
    "spark.log.level": "WARN",
    # Blocks of tests are small: starting a step takes longer than its work.
    "spark.driver.defaultJavaOptions": "-XX:+UseSerialGC -XX:TieredStopAtLevel=1",
    "spark.executor.defaultJavaOptions": "-XX:+UseSerialGC -XX:TieredStopAtLevel=1",
    # How long the pieces of a worker that was killed are asked for, three times, before it is given up.
    "spark.shuffle.io.retryWait": "1s",
}


@dataclass(frozen=True)
class Server:
    """A running server."""

    pid: int
    port: int

    @property
    def remote(self) -> str:
        """Its address."""
        return f"sc://localhost:{self.port}"

    def executors(self) -> list[int]:
        """Return the process numbers of the workers of Spark."""
        found = subprocess.run(["ps", "-wweo", "pid,ppid,args"], check=True, capture_output=True, text=True)
        rows = [line.split(None, 2) for line in found.stdout.splitlines()[1:]]
        return [
            int(pid)
            for pid, parent, command in rows
            if int(parent) == self.pid and "CoarseGrainedExecutorBackend" in command
        ]


def free_port() -> int:
    """Return a port that nothing listens on."""
    with socket.socket() as listening:
        listening.bind(("localhost", 0))
        return int(listening.getsockname()[1])


def _listens(port: int) -> bool:
    try:
        socket.create_connection(("localhost", port), 1).close()
    except OSError:
        return False
    return True


@contextmanager
def _running(command: list[str], port: int, folder: Path, **env: str) -> Iterator[Server]:
    """Run a server, which ends with this process, also if that is killed."""
    log = folder / "server.log"
    paths = [env.pop("PYTHONPATH", ""), str(REPOSITORY / "src"), str(REPOSITORY / "tests")]
    around = {**os.environ, **env, "PYTHONPATH": os.pathsep.join(filter(None, paths))}
    setpriv = shutil.which("setpriv")
    ending_with_us = [setpriv, "--pdeathsig", "TERM"] if setpriv else []
    with log.open("wb") as file:
        process = subprocess.Popen(
            [*ending_with_us, *command], cwd=folder, env=around, stdout=file, stderr=file, start_new_session=True
        )
    try:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not _listens(port):
            if time.monotonic() > deadline or process.poll() is not None:
                pytest.fail(f"the server did not start: {log.read_text(encoding='utf-8')[-2000:]}")
            time.sleep(0.05)
        yield Server(process.pid, port)
    finally:
        with suppress(ProcessLookupError):  # a test ended it
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@contextmanager
def sail(folder: Path, **env: str) -> Iterator[Server]:
    """Run Sail; `env` changes its environment."""
    port = free_port()
    with _running(
        [sys.executable, "-m", "pysail", "spark", "server", "--port", str(port)], port, folder, **env
    ) as server:
        yield server


@contextmanager
def spark(folder: Path, memory: int = 1024, **settings: str) -> Iterator[Server]:
    """Run Spark with workers of so many MiB; skip or fail if it is not installed."""
    if SPARK_HOME is None or shutil.which("java") is None:
        why = "Spark is not installed: run make system-deps spark-server"
        if os.environ.get("SETVEIL_REQUIRE_SERVERS") == "1":
            pytest.fail(f"SETVEIL_REQUIRE_SERVERS=1, and {why}")
        pytest.skip(why)
    port = free_port()
    settings = {
        "spark.connect.grpc.binding.port": str(port),
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.driver.memory": f"{memory}m",
        "spark.executor.memory": f"{memory}m",
        "spark.driver.host": "localhost",
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "4",
        **settings,
    }
    command = [str(SPARK_HOME / "bin" / "spark-submit"), "--master", f"local-cluster[{SPARK_WORKERS},1,{memory}]"]
    command += ["--class", "org.apache.spark.sql.connect.service.SparkConnectServer"]
    command += [part for name, value in settings.items() for part in ("--conf", f"{name}={value}")]
    env = {"SPARK_HOME": str(SPARK_HOME), "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    with _running([*command, "spark-internal"], port, folder, **env) as server:
        yield server


@contextmanager
def shared_spark(folder: Path) -> Iterator[Server]:
    """Use the Spark of this folder; whoever comes first starts it, and ends it when the others are done."""
    started = folder / "started"
    with (folder / "users").open("w") as users:
        fcntl.flock(users, fcntl.LOCK_EX)
        if started.exists():
            fcntl.flock(users, fcntl.LOCK_SH)
            yield Server(*map(int, started.read_text(encoding="ascii").split()))
            return
        with spark(folder, **FOR_SMALL_WORK) as server:
            started.write_text(f"{server.pid} {server.port}", encoding="ascii")
            fcntl.flock(users, fcntl.LOCK_SH)
            yield server
            fcntl.flock(users, fcntl.LOCK_EX)
            started.unlink()
