"""The pages as answers to requests: each has its JSON, nothing inline, nothing for reviewers that is not theirs."""

import re

import pytest

from setveil.catalog import METHODS
from setveil.studio.pages import with_options

from support.studios import OWNER, SMALL, finished

INLINE = re.compile(r"<script(?![^>]*(\bsrc=|application/json))|\sstyle=|\son[a-z]+=|javascript:", re.IGNORECASE)
FOREIGN = re.compile(r"""(?:src|href|action)=["'](?:https?:)?//""")
NAME_OF_DATA = "my secret baskets"


def test_options_in_messages_are_code():
    assert with_options("Use --level or `k` <b>") == "Use <code>--level</code> or <code>k</code> &lt;b&gt;"


@pytest.fixture(scope="module")
def source(served):
    """Give the id of data whose exposure is known."""
    chosen = served.studio.add_source(OWNER, sample=SMALL, title=NAME_OF_DATA)
    job = finished(served.studio, served.studio.start(OWNER, "profile", source=chosen.id))
    assert job.state == "done", served.studio.result(job)
    return chosen.id


@pytest.fixture(scope="module")
def addresses(source, published):
    """Give the addresses of screens."""
    of_data = ("", "/exposure", "/advise", "/set-up", "/set-up/disassociation", "/set-up/insert", "/compare")
    return [
        "/",
        "/tour",
        "/api",
        "/releases",
        *(f"/data/{source}{one}" for one in of_data),
        f"/runs/{published}",
        f"/releases/{published}",
        f"/releases/{published}/hand-over",
    ]


def test_every_screen_is_a_page_and_json_with_the_same_content(served, addresses):
    with served.client() as client:
        for address in addresses:
            page = client.get(address)
            assert page.status_code == 200, address
            other = client.get("/index.json" if address == "/" else f"{address}.json")
            assert other.status_code == 200, address
            content = other.json()
            assert content["title"].replace("\u00a0", " ") in page.text.replace("\u00a0", " "), address
            assert "/home/" not in other.text or "curl" in other.text, address


def test_no_page_has_anything_inline_or_from_elsewhere(served, addresses):
    with served.client() as client:
        for address in addresses:
            page = client.get(address)
            policy = page.headers["content-security-policy"]
            assert "unsafe" not in policy
            assert "default-src 'none'" in policy
            assert not INLINE.search(page.text), (address, INLINE.search(page.text))
            assert not FOREIGN.search(page.text), address


def test_what_pages_load_is_there(served, addresses):
    with served.client() as client:
        found = {
            one
            for address in addresses
            for one in re.findall(r'(?:src|href)="(/static/[^"]*)"', client.get(address).text)
        }
        assert {"/static/htmx.min.js", "/static/made/theme.css", "/static/made/charts.js"} <= found
        for one in found:
            answer = client.get(one)
            assert answer.status_code == 200, one
            assert answer.headers["content-type"].partition(";")[0] in (
                "text/css",
                "text/javascript",
                "image/svg+xml",
            ), one


def test_the_report_is_shown_under_its_own_policy(served, published):
    with served.client() as client:
        answer = client.get(f"/releases/{published}/report")
        assert answer.status_code == 200
        assert "script-src 'sha256-" in answer.headers["content-security-policy"]
        assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]


def test_a_reviewer_sees_releases_and_nothing_else(served, addresses, published):
    with served.client("reviewer") as client:
        allowed = {"/", "/tour", "/api", "/releases", f"/releases/{published}"}
        for address in addresses:
            answer = client.get(address)
            assert (answer.status_code == 200) == (address in allowed), address
            assert NAME_OF_DATA not in answer.text, address
        for address in (f"/releases/{published}/report", f"/releases/{published}/hand-over"):
            assert client.get(address).status_code in (403, 404)


def test_another_owner_sees_nothing_of_it(served, addresses):
    with served.client("other") as client:
        for address in addresses:
            answer = client.get(address)
            assert NAME_OF_DATA not in answer.text, address
            assert (answer.status_code == 200) == (address in ("/", "/tour", "/api", "/releases")), address


@pytest.mark.parametrize(
    "method", [name for name, kind in METHODS.items() if kind.accepts[0].__name__ == "Transactions"]
)
def test_every_method_has_a_form(served, source, method):
    with served.client() as client:
        page = client.get(f"/data/{source}/set-up/{method}")
        assert page.status_code == 200
        for one in METHODS[method].parameters():
            assert f'name="{one.name}' in page.text, one.name


def test_a_refused_form_is_shown_again_with_what_was_typed(served, source):
    with served.client() as client:
        answer = client.post(f"/data/{source}/set-up/disassociation", data={"k": "0", "m": "2", "action": "publish"})
        assert answer.status_code == 400
        assert "k is 0; allowed is a whole number, at least 1" in answer.text
        assert 'name="m" value="2"' in answer.text
        assert client.post(f"/data/{source}/set-up/nothing", data={"k": "3"}).status_code == 404


def test_a_form_is_text_only(served, source):
    with served.client() as client:
        answer = client.post(f"/data/{source}/advise", files={"file": b"content"})
        assert answer.status_code == 400
        assert "application/x-www-form-urlencoded" in answer.text
        assert (
            client.post(
                f"/data/{source}/advise",
                content=b"\xff=1",
                headers={"content-type": "application/x-www-form-urlencoded"},
            ).status_code
            == 400
        )


@pytest.mark.parametrize(
    "address",
    [
        "/runs/unknown",
        "/data/unknown",
        "/data/x/set-up/y",
        "/comparisons/1",
        "/open/file/no",
        "/open/else/no",
        "/nothing",
    ],
)
def test_what_is_not_there_is_a_page_that_leads_back(served, address):
    with served.client() as client:
        answer = client.get(address)
        assert answer.status_code == 404
        assert 'href="/"' in answer.text


def test_forms_of_other_sites_are_refused(served, source):
    with served.client(None) as client:
        client.cookies.set(f"setveil-studio-{served.studio.settings.port}", "owner-" + "0123456789abcdef" * 2)
        answer = client.post(f"/data/{source}/exposure", headers={"Origin": "https://example.org"})
        assert answer.status_code == 403
