"""A studio for the tests of a file; for pages, one server and one browser per worker."""

import pytest
from playwright.sync_api import sync_playwright

from support.studios import OWNER, PUBLISH, SMALL, finished, serving


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """Give a studio with a folder of files to choose from."""
    root = tmp_path_factory.mktemp("root")
    (root / "baskets.dat").write_text("bread milk\nbread\ntea milk\n" * 20, encoding="utf-8")
    with serving(tmp_path_factory.mktemp("home") / "studio", roots=(root,)) as served:
        yield served


@pytest.fixture(scope="module")
def published(served):
    """Give the id of a release."""
    studio = served.studio
    source = studio.add_source(OWNER, sample=SMALL, title="my secret baskets")
    job = finished(
        studio,
        studio.start(OWNER, "publish", source=source.id, content=PUBLISH | {"attacks": "quick", "metrics": "full"}),
    )
    assert job.state == "done", studio.result(job)
    return job.id


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
