"""Write pictures of every screen of the studio, in light and dark, on narrow and wide screens: python tools/studio_screenshots.py FOLDER.

With `--readme`, three of them are written to docs/pictures.
"""

from __future__ import annotations

import argparse
import socket
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from playwright.sync_api import sync_playwright

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Page

CHROMIUM = "/usr/bin/chromium"
README = {"exposure": "studio-exposure.png", "set-up": "studio-set-up.png", "result": "studio-result.png"}
README_SIZE = {"width": 1200, "height": 800}
SAMPLE = "sample:supermarket?records=4000"
WAIT = 180_000


def free_port() -> int:
    """Return a port that nothing listens on."""
    with socket.socket() as opened:
        opened.bind(("127.0.0.1", 0))
        return int(opened.getsockname()[1])


@contextmanager
def server(folder: Path) -> Iterator[str]:
    """Yield the address of a studio, with the token."""
    command = [
        sys.executable,
        "-m",
        "setveil",
        "studio",
        "--folder",
        str(folder / "studio"),
        "--port",
        str(free_port()),
    ]
    roots = folder / "data"
    roots.mkdir()
    (roots / "baskets.csv").write_text("id,item\n1,milk\n1,bread\n2,milk\n", encoding="utf-8")
    (roots / "loyalty-cards-2026.dat").write_text("1 2 3\n2 3\n", encoding="utf-8")
    with subprocess.Popen([*command, "--root", str(roots)], stdout=subprocess.PIPE, text=True) as process:  # noqa: S603 - this program
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            yield line.split()[1]
        finally:
            process.terminate()


def walk(page: Page, address: str) -> dict[str, str]:
    """Go from data to a release, and return the addresses of all screens."""
    page.goto(address)
    base = address.partition("?")[0].rstrip("/")
    seen: dict[str, str] = {"start": "/", "tour": "/tour", "reference": "/api", "missing": "/runs/unknown"}

    def ended() -> None:
        page.locator("[data-events]").wait_for(state="detached", timeout=WAIT)
        page.wait_for_load_state()

    def post(path: str, **fields: Any) -> str:
        """Send a form as a page does, and return the address that it leads to."""
        script = """async ([path, fields]) => {
          const body = new URLSearchParams();
          for (const [name, value] of Object.entries(fields)) for (const one of [].concat(value)) body.append(name, one);
          return (await fetch(path, {method: 'POST', body})).url;
        }"""
        return str(page.evaluate(script, [path, fields])).removeprefix(base)

    seen["open"] = page.locator("a[href^='/open/file/']").first.get_attribute("href") or ""
    data = post("/data", sample=SAMPLE)
    seen["data-empty"] = post("/data", sample="sample:hospital?records=500")
    seen["data"] = data
    page.goto(base + post(f"{data}/exposure"))
    ended()
    seen["exposure"] = f"{data}/exposure"
    seen["advise-empty"] = seen["data-empty"] + "/advise"
    answers = {
        "record": "person",
        "recipients": "contract",
        "hide": "identity",
        "known": "2",
        "rows": "true",
        "work": "counts",
        "earlier": "no",
    }
    run = post(f"{data}/advise", **answers)
    seen["run-advise"] = run
    page.goto(base + run)
    ended()
    seen["advise"] = f"{data}/advise"
    seen["choose"] = f"{data}/set-up"
    seen["set-up"] = f"{data}/set-up/disassociation"
    seen["set-up-lists"] = f"{data}/set-up/part-swap"
    page.goto(
        base
        + post(
            f"{data}/set-up/part-swap",
            **{"action": "publish", "categories.from": "sample:supermarket", "categories.level": "department"},
        )
    )
    ended()
    run = post(f"{data}/set-up/disassociation", action="publish", k="5", m="2", delta="50", safe="yes", stable="yes")
    page.goto(base + run)
    ended()
    release = run.replace("/runs/", "/releases/")
    page.goto(base + post(f"{release}/check"))
    ended()
    seen |= {"run-done": run, "result": release, "hand-over": f"{release}/hand-over", "releases": "/releases"}
    refused = post(
        f"{data}/set-up/part-swap",
        **{"action": "publish", "categories.from": "sample:supermarket", "categories.level": "department"},
    )
    page.goto(base + refused)
    ended()
    seen["run-refused"] = refused
    seen["compare"] = f"{data}/compare"
    compared = post(
        f"{data}/compare",
        method=["disassociation", "part-swap"],
        **{
            "values.disassociation": "k = 3, 10; m = 2",
            "values.part-swap": "",
            "categories.from": "sample:supermarket",
            "task": "ease",
            "seeds": "1",
            "budget": "1min",
        },
    )
    page.goto(base + compared)
    ended()
    seen["comparison"] = compared.replace("/runs/", "/comparisons/")
    return seen


def main() -> None:
    """Write the pictures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--readme", type=Path, help="the folder of the pictures in the README")
    parser.add_argument("--only", nargs="*", default=())
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as place, server(Path(place)) as address, sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        base = address.partition("?")[0].rstrip("/")
        page = browser.new_page()
        page.on("console", lambda said: print(f"{page.url}: {said.text}"))
        page.on("pageerror", lambda error: print(f"{page.url}: {error}"))
        seen = walk(page, address)
        cookies = page.context.cookies()
        for scheme in ("light", "dark"):
            for width in (400, 1400):
                context = browser.new_context(color_scheme=scheme, viewport={"width": width, "height": 900})
                context.add_cookies(cookies)
                page = context.new_page()
                page.on("console", lambda said: print(said.text))
                for name, path in seen.items():
                    if given.only and name not in given.only:
                        continue
                    page.goto(base + path)
                    if page.locator("#charts").count():
                        page.locator("html[data-charts=drawn]").wait_for(state="attached")
                    overflow = page.evaluate(
                        "document.scrollingElement.scrollWidth - document.scrollingElement.clientWidth"
                    )
                    if overflow > 0:
                        print(f"{name} at {width}: {overflow} pixels too wide")
                    page.screenshot(path=given.folder / f"{name}-{width}-{scheme}.png", full_page=True)
                context.close()
        if given.readme is not None:
            context = browser.new_context(viewport=README_SIZE)
            context.add_cookies(cookies)
            page = context.new_page()
            for name, file in README.items():
                page.goto(base + seen[name])
                if page.locator("#charts").count():
                    page.locator("html[data-charts=drawn]").wait_for(state="attached")
                page.screenshot(path=given.readme / file)
        browser.close()


if __name__ == "__main__":
    main()
