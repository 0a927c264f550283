"""A studio with its server, for tests."""

from __future__ import annotations

import sys
import threading
import time
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import httpx
import uvicorn

from setveil.studio.app import make_app
from setveil.studio.serving import _listening
from setveil.studio.settings import Settings
from setveil.studio.studio import Studio
from setveil.studio.users import User, Users, token_hash

from support.program import PATIENCE_SECONDS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

TOKENS = {name: f"{name}-{'0123456789abcdef' * 2}" for name in ("owner", "other", "reviewer")}
OWNER, OTHER, REVIEWER = (User(name, "reviewer" if name == "reviewer" else "owner") for name in TOKENS)
USERS = Users(
    {token_hash(TOKENS[one.name]): one for one in (OWNER, OTHER, REVIEWER)},
    {one.name: one for one in (OWNER, OTHER, REVIEWER)},
)
SMALL = "sample:supermarket?records=300&seed=4"
PUBLISH = {"method": {"name": "disassociation", "k": 3, "m": 2}, "metrics": "none", "attacks": "none"}
"""What publishes in little time."""


class Served:
    """A studio that answers requests at an address of this machine."""

    def __init__(self, studio: Studio, url: str) -> None:
        self.studio, self.url = studio, url

    def client(self, user: str | None = "owner", **more: Any) -> httpx.Client:
        """Return a client of a user; of nobody without a name."""
        headers = {} if user is None else {"Authorization": f"Bearer {TOKENS[user]}"}
        return httpx.Client(base_url=self.url, headers=headers, timeout=PATIENCE_SECONDS, **more)


@contextmanager
def serving(folder: Path, **settings: Any) -> Iterator[Served]:
    """Yield a studio whose server runs in a thread."""
    asked = Settings(folder, **{"users": USERS, "port": 0, **settings})
    listening = _listening(asked)
    asked = replace(asked, port=listening.getsockname()[1])
    studio = Studio(asked)
    app = make_app(studio)
    server = uvicorn.Server(uvicorn.Config(app, log_level="critical", timeout_graceful_shutdown=1))
    app.state.is_closing = lambda: server.should_exit
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    try:
        wait_until(lambda: server.started)
        yield Served(studio, f"http://127.0.0.1:{asked.port}")
    finally:
        server.should_exit = True
        thread.join()
        listening.close()
        stop_jobs(studio)
        studio.close()


@contextmanager
def opened(folder: Path, *, leaving: bool = False, **settings: Any) -> Iterator[Studio]:
    """Yield a studio without a server; with `leaving`, its jobs go on after it."""
    studio = Studio(Settings(folder, users=USERS, **settings))
    studio.open()
    try:
        yield studio
    finally:
        if not leaving:
            stop_jobs(studio)
        studio.close()


def stop_jobs(studio: Studio) -> None:
    """Stop all jobs, so that no process remains."""
    with studio.queue.lock:
        waiting = [*studio.database.jobs_in("queued"), *studio.database.jobs_in("running")]
        for job in waiting:
            if studio.database.job(job.id).state in ("queued", "running"):
                studio.queue.cancel(job)
    wait_until(lambda: studio.queue.advance() or not studio.database.jobs_in("running"))


def wait_until(condition: Any) -> None:
    """Wait until something holds."""
    limit = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        assert time.monotonic() < limit, "this never came to hold"
        time.sleep(0.02)


def finished(studio: Studio, job: Any) -> Any:
    """Wait until a job has ended, and return it."""
    wait_until(lambda: studio.database.job(job.id).has_ended)
    return studio.database.job(job.id)


def pretend(studio: Studio, script: str) -> None:
    """Let the jobs of a studio run a script of Python instead of setveil; the arguments of the command follow."""
    studio.queue.program = [sys.executable, "-I", "-S", "-c", script]
