"""Spark Connect servers for tests, gone when the session ends.

Sail is one without Java, in the environment of the tests. Each worker of pytest-xdist that needs one starts its own, which takes a second.
Spark itself runs on two workers of one core each (`local-cluster`), in the environment that `make spark-server` makes. Its workers use the
Python of the tests.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

REPOSITORY = Path(__file__).parents[2]
SPARK_HOME = next((REPOSITORY / "build" / "spark-server").glob("lib/python*/site-packages/pyspark"), None)
PATIENCE_SECONDS = 300


class Server:
    """A running server."""

    def __init__(self, process: subprocess.Popen[bytes], port: int, log: Path) -> None:
        self.process = process
        self.remote = f"sc://localhost:{port}"
        self._log = log
        self._port = port

    def wait(self) -> None:
        """Wait until it listens."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < deadline and self.process.poll() is None:
            try:
                socket.create_connection(("localhost", self._port), 1).close()
            except OSError:
                time.sleep(0.05)
            else:
                return
        pytest.fail(f"the server did not start: {self._log.read_text(encoding='utf-8')[-2000:]}")

    def executors(self) -> list[int]:
        """Return the process numbers of the workers of Spark."""
        found = subprocess.run(["ps", "-wweo", "pid,ppid,args"], check=True, capture_output=True, text=True)
        rows = [line.split(None, 2) for line in found.stdout.splitlines()[1:]]
        return [
            int(pid)
            for pid, parent, command in rows
            if int(parent) == self.process.pid and "CoarseGrainedExecutorBackend" in command
        ]


def free_port() -> int:
    """Return a port that nothing listens on."""
    with socket.socket() as listening:
        listening.bind(("localhost", 0))
        return int(listening.getsockname()[1])


@contextmanager
def _running(command: list[str], port: int, folder: Path, **env: str) -> Iterator[Server]:
    log = folder / "server.log"
    paths = [env.pop("PYTHONPATH", ""), str(REPOSITORY / "src"), str(REPOSITORY / "tests")]
    around = {**os.environ, **env, "PYTHONPATH": os.pathsep.join(filter(None, paths))}
    with log.open("wb") as file:
        process = subprocess.Popen(command, cwd=folder, env=around, stdout=file, stderr=file, start_new_session=True)
    try:
        server = Server(process, port, log)
        server.wait()
        yield server
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
def spark(folder: Path, memory: int = 1024) -> Iterator[Server]:
    """Run Spark with two workers of so many MiB; skip or fail if it is not installed."""
    if os.environ.get("SETVEIL_SPARK") != "1":
        pytest.skip("Spark with Java takes minutes: set SETVEIL_SPARK=1, after make system-deps spark-server")
    if SPARK_HOME is None or shutil.which("java") is None:
        pytest.fail("SETVEIL_SPARK=1, and Spark is not installed: run make system-deps spark-server")
    port = free_port()
    settings = {
        "spark.connect.grpc.binding.port": port,
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": 4,
        "spark.sql.warehouse.dir": folder / "warehouse",
        "spark.driver.host": "localhost",
        "spark.driver.memory": f"{memory}m",
        "spark.executor.memory": f"{memory}m",
    }
    command = [str(SPARK_HOME / "bin" / "spark-submit"), "--master", f"local-cluster[2,1,{memory}]"]
    command += ["--class", "org.apache.spark.sql.connect.service.SparkConnectServer"]
    command += [part for name, value in settings.items() for part in ("--conf", f"{name}={value}")]
    env = {"SPARK_HOME": str(SPARK_HOME), "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    with _running([*command, "spark-internal"], port, folder, **env) as server:
        yield server
