"""What tests of the report share: a real release, and a real browser."""

import pytest
from playwright.sync_api import sync_playwright

from report.dossiers import dossier_in
from support.program import call


@pytest.fixture(scope="session")
def private(tmp_path_factory):
    """Give the private folder of a release that the program made of its sample."""
    folder = tmp_path_factory.mktemp("release")
    options = ("--method", "part-swap", "--categories", "sample:supermarket", "--seed", 2**90, "--quiet")
    ended = call("publish", "sample:supermarket", *options, "--measure", "full", "--out", folder / "out")
    assert ended.code == 0, ended.err
    return folder / "out.private"


@pytest.fixture(scope="session")
def dossier(private):
    return dossier_in(private)


@pytest.fixture(scope="module")
def started(chromium, tmp_path_factory):
    """Give a way to start a browser, with a profile of its own and the network off; all are closed at the end."""
    opened = []
    with sync_playwright() as driver:

        def start(**options):
            profile = tmp_path_factory.mktemp("profile")
            given = {"executable_path": chromium, "args": ["--no-sandbox"], "offline": True, **options}
            opened.append(driver.chromium.launch_persistent_context(profile, **given))
            return opened[-1]

        yield start
        for browser in opened:
            browser.close()


@pytest.fixture(scope="module")
def browser(started):
    return started()
