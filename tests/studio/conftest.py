"""What tests of the pages share: one server and one browser per worker."""

import pytest
from playwright.sync_api import sync_playwright

from support.studios import serving


@pytest.fixture(scope="session")
def pages(tmp_path_factory, real_folder):
    """Give a studio that serves its pages, with the real data sets as files to choose from."""
    with serving(tmp_path_factory.mktemp("studio") / "studio", roots=(real_folder,), jobs=2) as served:
        yield served


@pytest.fixture(scope="session")
def browser(chromium):
    """Give a browser."""
    with sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield opened
        opened.close()
