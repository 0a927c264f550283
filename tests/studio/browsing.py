"""A person at the pages of a studio: a browser that hears what pages ask for and say."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from typing import ClassVar

from axe_playwright_python.sync_playwright import Axe

from support.studios import TOKENS

PATIENCE = 60_000
SERIOUS = ("serious", "critical")
SIDEWAYS = "document.scrollingElement.scrollWidth - document.scrollingElement.clientWidth"
HEADINGS = (
    "[...document.querySelectorAll('h1, h2, h3, h4')].filter(h => h.checkVisibility()).map(h => Number(h.tagName[1]))"
)
UNNAMED = """[...document.querySelectorAll('input:not([type=hidden]), select, textarea')]
  .filter(one => !one.labels?.length && !one.getAttribute('aria-label')).map(one => one.name)"""


@dataclass
class Heard:
    """What a browser asked for and said."""

    requests: list[str] = field(default_factory=list)
    said: list[str] = field(default_factory=list)


class Person:
    """A person who uses the pages."""

    judged: ClassVar = set()
    """The screens that were judged, each with the looks of the browser: once is enough."""

    def __init__(self, page, url, looks, *, draws=True):
        self.page, self.url, self.looks, self.draws = page, url, looks, draws

    def go(self, path):
        self.page.goto(f"{self.url}{path}")
        self.arrived()

    def press(self, name, role="button"):
        with self.page.expect_navigation(wait_until="load"):
            self.page.get_by_role(role, name=name, exact=True).first.click()
        self.arrived()

    def arrived(self):
        """Wait until the page is complete: its charts are drawn."""
        self.page.wait_for_load_state()
        if self.draws and self.page.locator("#charts").count():
            self.page.locator("html[data-charts=drawn]").wait_for(state="attached", timeout=PATIENCE)

    def wait_for_run(self):
        """Wait until the run that the page shows has ended."""
        self.page.locator("[data-events]").wait_for(state="detached", timeout=PATIENCE)
        self.arrived()

    @property
    def title(self):
        return self.page.locator("h1").inner_text()

    @property
    def path(self):
        return self.page.url.removeprefix(self.url)

    def judge(self, name):
        """Check that the page can be used by everybody: nothing sticks out, headings are in order, and axe finds no serious fault."""
        if (name, self.looks) in self.judged:
            return
        self.judged.add((name, self.looks))
        assert self.page.evaluate(SIDEWAYS) <= 0, name
        levels = self.page.evaluate(HEADINGS)
        assert levels[0] == 1, name
        assert levels.count(1) == 1, name
        assert all(after <= before + 1 for before, after in pairwise(levels)), (name, levels)
        assert self.page.evaluate(UNNAMED) == [], name
        assert self.page.locator(".primary").count() <= 1, name
        found = Axe().run(self.page).response["violations"]
        faults = [
            (one["id"], [node["html"][:120] for node in one["nodes"]][:3]) for one in found if one["impact"] in SERIOUS
        ]
        assert faults == [], name


@contextmanager
def person_at(browser, url, *, width=1400, quiet=True, refused=False, **options):
    """Give a person who is signed in; at the end, nothing was said, and no request left this machine.

    With `refused`, a form may be refused: browsers say so. Without `quiet`, the server may be gone.
    """
    heard = Heard()
    context = browser.new_context(viewport={"width": width, "height": 900}, **options)
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    page.on("request", lambda request: heard.requests.append(request.url))
    page.on("console", lambda message: heard.said.append(f"{page.url}: {message.text}"))
    page.on("pageerror", lambda error: heard.said.append(f"{page.url}: {error}"))
    looks = (width, options.get("color_scheme"))
    person = Person(page, url, looks, draws=options.get("java_script_enabled", True))
    page.goto(f"{url}/?token={TOKENS['owner']}")
    yield person
    context.close()
    assert [one for one in heard.requests if not one.startswith((url, "data:"))] == []
    if quiet:
        assert [one for one in heard.said if not (refused and "status of 400" in one)] == []
