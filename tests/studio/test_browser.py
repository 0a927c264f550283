"""The studio in a real browser: people get from data to a release, whatever their screen, and nothing leaves this machine."""

import io
import zipfile

import pytest

from studio.browsing import person_at

from support import studios
from support.studios import OWNER, SMALL, pretend, serving, wait_until

SLOW = """
import json, pathlib, sys, time
print(json.dumps({"event": "start", "seconds": 0.1, "step": 1, "label": "thinking", "total": 10}), file=sys.stderr, flush=True)
print(json.dumps({"event": "advance", "seconds": 0.2, "step": 1, "done": 4, "total": 10}), file=sys.stderr, flush=True)
print(json.dumps({"event": "note", "seconds": 0.2, "text": "a note about the data"}), file=sys.stderr, flush=True)
try:
    while not pathlib.Path("go").exists():
        time.sleep(0.05)
except KeyboardInterrupt:
    sys.exit(130)
print(json.dumps({"event": "end", "seconds": 0.3, "step": 1, "completed": True}), file=sys.stderr, flush=True)
print(json.dumps({"sentences": []}))
"""
"""A command that runs until it is allowed to end, or stopped."""

METHODS = {
    "disassociation": ("bms-webview-1.dat.gz", {"k": "4"}, {}, 1400, "light"),
    "part-swap": (
        "foodmart.dat.gz",
        {},
        {"categories": ("foodmart_taxonomy.csv.gz", {"level": "category"})},
        400,
        "dark",
    ),
    "insert": ("foodmart.dat.gz", {"rho": "50%"}, {"sensitive": "10\n100\n101\n"}, 1400, "light"),
}
"""Methods with a data set, values, side files (a file with the way to read it, or typed text), and a screen."""


@pytest.mark.parametrize("method", METHODS)
def test_a_person_gets_from_a_file_to_a_release_that_can_be_handed_over(pages, browser, method):
    file, values, sides, width, scheme = METHODS[method]
    with person_at(browser, pages.url, width=width, color_scheme=scheme, accept_downloads=True) as person:
        page = person.page
        person.judge("start")
        page.locator("a[href^='/open/file/']", has_text=file).click()
        page.get_by_label("All items of one person").check()
        person.judge("open")
        person.press("Use these data")
        person.judge("data")
        person.press("Find out what they show")
        person.wait_for_run()
        assert person.path.endswith("/exposure")
        assert "people" in person.title
        assert page.locator("svg.people").count() == 3
        person.judge("exposure")
        person.press("Choose a method yourself", "link")
        person.judge("choose")
        page.locator(f"a[href$='/set-up/{method}']").first.click()
        person.arrived()
        for name, value in values.items():
            page.locator(f"[name={name}]").fill(value)
        for name, given in sides.items():
            if isinstance(given, str):
                field = page.locator(f".field:has([name='{name}.typed'])")
                field.locator("summary").first.click()
                page.locator(f"[name='{name}.typed']").fill(given)
            else:
                page.locator(f"[name='{name}.from']").select_option(label=given[0])
                page.locator(f".field:has([name='{name}.from']) summary").nth(1).click()
                for option, typed in given[1].items():
                    page.locator(f"[name='{name}.{option}']").fill(typed)
        page.locator("#text-command", has_text=f"--method {method}").wait_for()
        person.judge("set-up")
        person.press("Make the release")
        person.wait_for_run()
        assert person.title == "The guarantee holds on the written files", page.locator("main").inner_text()
        assert page.locator("#box .verdict").inner_text().split()[1] == "holds"
        assert {one.get_attribute("data-drawn") for one in page.locator(".chart").all()} == {"yes"}
        person.judge("result")
        person.press("Hand it over", "link")
        person.judge("hand-over")
        with page.expect_download() as started:
            page.get_by_role("link", name="Download the folder (zip)").click()
        names = zipfile.ZipFile(io.BytesIO(started.value.path().read_bytes())).namelist()
        assert {"release/card.json", "release/CARD.md"} <= {*names}
        assert not [one for one in names if "dossier" in one or "alignment" in one]


ANSWERS = (
    "Named recipients",
    "That a person has an item of a list",
    "Two items of a person",
    "Every item of a released",
    "Count items and pairs",
    "This is the only release",
)


def chosen(pages, sample=SMALL, reading=None):
    return pages.studio.add_source(OWNER, sample=sample, reading=reading or {}).id


def test_the_texts_beside_the_form_follow_what_is_typed(pages, browser):
    with person_at(browser, pages.url, refused=True) as person:
        person.go(f"/data/{chosen(pages)}/set-up/disassociation")
        assert "--k 3" in person.page.locator("#text-command").inner_text()
        person.page.locator("[name=k]").fill("17")
        person.page.locator("#text-command", has_text="--k 17").wait_for()
        person.page.locator("#text-python", has_text="k=17").wait_for()
        assert "k = 17" in person.page.locator("#text-job").inner_text()
        person.page.locator("[name=k]").fill("0")
        person.page.locator("#texts", has_text="allowed is a whole number, at least 1").wait_for()
        person.press("Make the release")
        assert "k is 0" in person.page.get_by_role("alert").inner_text()
        assert person.page.locator("[name=k]").get_attribute("aria-invalid") == "true"


ONE_SIDED = "a b\n" * 20 + "c d\ne f\n"
"""Records of which most lean to the same category: too few others can take their items."""
CATEGORIES = "a, x\nb, x\nc, y\nd, y\ne, z\nf, z"


def test_a_refused_guarantee_says_what_to_do_and_leads_back_to_the_filled_form(pages, browser):
    with pages.client() as client:
        upload = client.put("/api/v1/uploads/one-sided.dat", content=ONE_SIDED).json()["id"]
    source = pages.studio.add_source(OWNER, upload=upload, reading={"unit": "person"}).id
    with person_at(browser, pages.url) as person:
        person.go(f"/data/{source}/set-up/full-swap")
        person.page.locator(".field:has([name='categories.from']) summary").first.click()
        person.page.locator("[name='categories.typed']").fill(CATEGORIES)
        person.page.locator("summary", has_text="More about the release").click()
        person.page.locator("[name=ids]").select_option("pseudonym")
        person.press("Make the release")
        person.wait_for_run()
        assert person.title == "The guarantee could not be reached"
        assert "nothing was written" in person.page.get_by_role("alert").inner_text()
        assert person.page.get_by_role("heading", name="What you can do").is_visible()
        person.judge("refused")
        person.press("Change the settings", "link")
        assert person.page.locator("[name='categories.typed']").input_value() == CATEGORIES
        assert person.page.locator("[name='categories.from']").input_value() == "typed"
        assert person.page.locator("[name=ids]").input_value() == "pseudonym"


def test_advice_leads_to_a_filled_form(pages, browser):
    with person_at(browser, pages.url, width=400) as person:
        source = chosen(pages, "sample:hospital?records=600&seed=1")
        person.go(f"/data/{source}/advise")
        person.judge("questions")
        for answer in ANSWERS:
            person.page.get_by_label(answer).check()
        person.press("Get advice")
        person.wait_for_run()
        assert "fit" in person.title
        person.judge("advice")
        person.page.get_by_role("link", name="Set this up").first.click()
        person.arrived()
        assert person.page.locator("[name='sensitive.from']").input_value() == "sample:hospital"
        assert person.page.locator("[name=rho], [name=p]").first.input_value()
        person.page.locator("#text-command").wait_for()


def test_set_ups_are_compared_in_one_picture(pages, browser):
    with person_at(browser, pages.url) as person:
        person.go(f"/data/{chosen(pages, 'sample:supermarket?records=600&seed=1')}/compare")
        person.page.locator("[name='values.disassociation']").fill("k = 3, 8; m = 2")
        person.page.get_by_label("Probabilities of pairs of items").check()
        person.judge("compare")
        person.press("Compare")
        person.wait_for_run()
        assert person.path.startswith("/comparisons/")
        assert person.page.locator("#kept_and_gained .mark-symbol.role-mark path").count() == 2
        assert person.page.locator("#set-ups tbody tr").count() == 2
        hidden = person.page.locator("#set-ups th.same").first
        assert not hidden.is_visible()
        person.page.get_by_label("Only what differs").uncheck()
        assert hidden.is_visible()
        person.judge("comparison")
        best = person.page.locator("article h3").first.inner_text()
        person.press("Set up disassociation", "link")
        assert f"k={person.page.locator('[name=k]').input_value()}, m=2" in best


@pytest.fixture
def slow(tmp_path):
    """Give a studio whose commands run until they are allowed to end."""
    with serving(tmp_path / "studio") as served:
        pretend(served.studio, SLOW)
        yield served


def test_a_run_shows_its_steps_and_can_be_cancelled(slow, browser):
    with person_at(browser, slow.url, width=400) as person:
        source = chosen(slow)
        person.go(f"/data/{source}")
        person.press("Find out what they show")
        person.page.get_by_text("40.0 %").wait_for()
        person.page.get_by_text("a note about the data").wait_for()
        person.judge("run")
        person.page.reload()
        person.page.get_by_text("40.0 %").wait_for()
        person.press("Cancel")
        person.page.get_by_role("heading", name="The run was stopped").wait_for()
        assert slow.studio.jobs(OWNER)[0].state == "stopped"
        assert person.page.get_by_role("button", name="Run again").is_visible()


def test_a_restart_of_the_server_loses_nothing(tmp_path, browser, monkeypatch):
    folder = tmp_path / "studio"
    monkeypatch.setattr(studios, "stop_jobs", lambda _studio: None)
    with serving(folder) as first:
        pretend(first.studio, SLOW)
        port = int(first.url.rpartition(":")[2])
        job = first.studio.start(OWNER, "risk", source=chosen(first))
        children = [*first.studio.queue.children.values()]
        with person_at(browser, first.url, quiet=False) as person:
            person.go(f"/runs/{job.id}")
            person.page.get_by_text("40.0 %").wait_for()
            address = person.page.url
    monkeypatch.undo()
    with serving(folder, port=port) as second, person_at(browser, second.url) as person:
        assert second.studio.job(OWNER, job.id).state == "running"
        person.page.goto(address)
        person.page.get_by_text("40.0 %").wait_for()
        (second.studio.queue.path(job) / "go").touch()
        person.wait_for_run()
        wait_until(lambda: second.studio.job(OWNER, job.id).has_ended)
        assert second.studio.job(OWNER, job.id).state == "done"
    assert [one.wait() for one in children] == [0]


def test_exceptions_are_shown_after_a_click_that_is_logged(pages, browser):
    job = studios.finished(
        pages.studio, pages.studio.start(OWNER, "publish", source=chosen(pages), content=studios.PUBLISH)
    )
    before = len(pages.studio.log(OWNER))
    with person_at(browser, pages.url) as person:
        person.go(f"/releases/{job.id}")
        assert len(pages.studio.log(OWNER)) == before
        person.press("Show exceptions, and log it")
        assert "in the log" in person.page.locator("#witnesses").inner_text()
        assert len(pages.studio.log(OWNER)) == before + 1
        person.press("Releases", "link")
        assert "Looked at witnesses" in person.page.locator("main").inner_text()
        person.judge("releases")


def test_everything_works_without_javascript(pages, browser):
    with person_at(browser, pages.url, java_script_enabled=False) as person:
        page = person.page
        person.go("/")
        person.press("Use hospital")
        person.press("Find out what they show")
        page.get_by_role("link", name="See the result").first.wait_for()  # the page renews itself
        person.press("See the result", "link")
        assert "recognize" in person.title
        assert page.locator("svg.people").count() == 3
        assert page.locator("figure table").first.is_visible()
        person.go(f"/data/{chosen(pages)}/set-up/disassociation")
        page.locator("[name=k]").fill("6")
        person.press("Show the command")
        assert "--k 6" in page.locator("#text-command").inner_text()
        assert page.locator("[name=k]").input_value() == "6"


def test_a_file_is_uploaded_and_read(pages, browser, tmp_path):
    file = tmp_path / "<b>baskets & more.csv"
    file.write_text(
        "id,item\n" + "".join(f"{row},{item}\n" for row in range(40) for item in (row % 7, f"<i>{row % 5}")),
        encoding="utf-8",
    )
    with person_at(browser, pages.url) as person:
        person.page.locator("#f-upload").set_input_files(file)
        person.press("Upload")
        person.page.get_by_role("link", name=file.name).click()
        person.page.locator("[name=person]").fill("id")
        person.press("Use these data")
        person.press("Find out what they show")
        person.wait_for_run()
        assert person.path.endswith("/exposure"), person.page.locator("main").inner_text()
        assert person.page.locator("figure table", has_text="<i>3").count() == 1
        assert person.page.locator("main i, main b", has_text="baskets").count() == 0


@pytest.mark.parametrize("path", ["/", "/tour", "/api", "/releases"])
def test_pages_can_be_operated_with_the_keyboard(pages, browser, path):
    with person_at(browser, pages.url, width=400) as person:
        person.go(path)
        person.judge(path)
        person.page.keyboard.press("Tab")
        assert person.page.evaluate("document.activeElement.textContent") == "Skip to the content"
        assert person.page.locator(".skip").bounding_box()["x"] >= 0
        for _ in range(3):
            person.page.keyboard.press("Tab")
            shadow = person.page.evaluate("getComputedStyle(document.activeElement).boxShadow")
            assert shadow != "none"
