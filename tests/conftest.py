"""What all tests share: real data where it is at hand, files to read, Hypothesis settings, and an ear for notes."""

import gzip
import os
import shutil
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

import setveil as sv
from setveil.base import progress
from setveil.kernels.control import STOP

from support.exhaustive import IS_EXHAUSTIVE

# The same examples in every run, so that a change is judged by what it changed; SETVEIL_EXPLORE=1 draws new ones.
# How long examples take to draw depends on what else the machine does.
settings.register_profile(
    "setveil",
    deadline=None,
    print_blob=True,
    derandomize=os.environ.get("SETVEIL_EXPLORE") != "1",
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("setveil")

REPOSITORY = Path(__file__).parents[1]


def pytest_collection_modifyitems(config, items):
    """Leave exhaustive tests to `make test-all`."""
    if not IS_EXHAUSTIVE:
        chosen = [item for item in items if item.get_closest_marker("exhaustive") is None]
        config.hook.pytest_deselected(items=[item for item in items if item.get_closest_marker("exhaustive")])
        items[:] = chosen


@pytest.fixture(scope="session", autouse=True)
def _nobody_waits_for_the_disk():
    """Let this process not wait until the disk has what it wrote: no test cuts the power, and thousands of releases are written."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(os, "fsync", lambda _handle: None)
        yield


def data_folder():
    """Return the folder of real data sets, or skip the test."""
    folder = Path(os.environ.get("SETVEIL_DATA") or REPOSITORY.parent / "shared" / "data")
    if not folder.is_dir():
        pytest.skip("the real data sets are not at hand: name their folder with SETVEIL_DATA")
    return folder


@pytest.fixture(scope="session")
def real_folder():
    """Give the folder of real data sets; without it the test is skipped."""
    return data_folder()


@cache
def _read(folder, name):
    return sv.read(folder / f"{name}.dat.gz")


@pytest.fixture(scope="session")
def real_data():
    """Give a function that reads a real data set by name, once a session."""
    folder = data_folder()
    return lambda name: _read(folder, name)


class _Ear:
    def __init__(self):
        self.heard = []

    @contextmanager
    def step(self, label, total):
        del label, total
        yield lambda _done: None

    def note(self, text):
        self.heard.append(text)


@pytest.fixture
def notes():
    """Give a function that tells the notes heard so far."""
    ear = _Ear()
    with progress.reporting(ear):
        yield lambda: " | ".join(ear.heard)


@pytest.fixture
def halt(monkeypatch):
    """Give a function that lets one step of a module hear at once that its loop should stop."""

    def halted(module, step):
        run = module.run

        def run_halted(label, work, **more):
            def stopped(control):
                control[STOP] = label == step
                return work(control)

            return run(label, stopped, **more)

        monkeypatch.setattr(module, "run", run_halted)

    return halted


@pytest.fixture
def written(tmp_path, request):
    """Give a function that writes a file, packed if its name ends in .gz; without a name it is the module's FILE_NAME."""

    def write(content, name=None):
        path = tmp_path / (name or request.module.FILE_NAME)
        content = content if isinstance(content, bytes) else content.encode()
        path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
        return path

    return write


@pytest.fixture(scope="session")
def chromium():
    """Give the path of Chromium; without it the test is skipped, or fails where servers are required."""
    path = shutil.which("chromium")
    if path:
        return path
    if os.environ.get("SETVEIL_REQUIRE_SERVERS") == "1":
        pytest.fail("SETVEIL_REQUIRE_SERVERS=1, and Chromium is not installed: run make system-deps")
    return pytest.skip("Chromium is not installed: run make system-deps")
