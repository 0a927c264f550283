"""What tests of the report share: a real release, and a real browser."""

import os
import shutil

import pytest

from program import call
from report.dossiers import dossier_in


@pytest.fixture(scope="session")
def private(tmp_path_factory):
    """Give the private folder of a release that the program made of its sample."""
    folder = tmp_path_factory.mktemp("release")
    options = ("--method", "part-swap", "--categories", "sample:supermarket", "--seed", 2**90, "--quiet")
    ended = call("publish", "sample:supermarket", *options, "--out", folder / "out")
    assert ended.code == 0, ended.err
    return folder / "out.private"


@pytest.fixture(scope="session")
def dossier(private):
    return dossier_in(private)


@pytest.fixture(scope="session")
def chromium():
    """Give the path of Chromium; without it the test is skipped, or fails where servers are required."""
    path = shutil.which("chromium")
    if path:
        return path
    if os.environ.get("SETVEIL_REQUIRE_SERVERS") == "1":
        pytest.fail("SETVEIL_REQUIRE_SERVERS=1, and Chromium is not installed: run make system-deps")
    return pytest.skip("Chromium is not installed: run make system-deps")
