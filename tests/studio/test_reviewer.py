"""A reviewer sees releases, cards and dossiers, and in none of them a label, a seed or a path."""

import json
import re

import pytest

import setveil as sv

from support.studios import OWNER, SMALL, finished

LABELS = frozenset(sv.read(SMALL).vocabulary)
IDS = frozenset(map(str, sv.read(SMALL).ids))
SEEN = {"me", "releases", "release", "card", "dossier", "openapi"}
"""What a reviewer may ask for."""


def operations(client):
    for path, methods in client.get("/api/v1/openapi.json").json()["paths"].items():
        for method, operation in methods.items():
            yield operation["operationId"], method.upper(), path


def body_of(name, number):
    if name in ("check", "measure", "attack", "risk"):
        return {"release": number}
    if name == "add_data":
        return {"sample": SMALL}
    return {"source": number, "content": {}} if name in ("profile", "advise", "publish", "compare", "texts") else None


@pytest.fixture(scope="module")
def responses(served, published):
    """Give every response to a reviewer, by operation."""
    found = {}
    with served.client("reviewer") as client:
        for name, method, path in operations(client):
            place = path.replace("{number}", published).replace("{label}", "a.csv")
            found[name] = client.request(method, place, json=body_of(name, published))
    return found


def test_a_reviewer_may_only_look(responses):
    assert {name for name, response in responses.items() if response.status_code != 403} == SEEN
    assert all(responses[name].status_code == 200 for name in SEEN)
    for name in responses.keys() - SEEN:
        assert responses[name].json()["error"]["kind"] == "not-allowed"


def test_no_response_to_a_reviewer_holds_a_label_a_seed_or_a_path(served, published, responses):
    studio = served.studio
    text = "\n".join(
        response.text + repr(response.headers) for name, response in responses.items() if name != "openapi"
    )
    assert "disassociation" in text
    refuse_private(studio, published, text)


def refuse_private(studio, number, text):
    """Fail if a text holds a label, an id, a seed or a path of a release."""
    folder = studio.queue.folder / number / "release.private"
    dossier = json.loads((folder / "dossier.json").read_text(encoding="utf-8"))
    secrets = {
        dossier["seed"], dossier["private_salt"], dossier["input"]["checksum"], dossier["input"]["source"], "my secret baskets",
        str(studio.settings.folder), studio.settings.folder.name + "/", str(studio.settings.roots[0]), "release.private",
    }  # fmt: skip
    words = set(re.findall(r"[\w.-]+", text))
    assert LABELS & words == set()
    assert IDS & words == set()
    assert [one for one in secrets if one in text] == []


SET_UPS = [
    {"name": "part-swap", "categories": "sample:supermarket", "level": "department"},
    {"name": "part-supp", "categories": "sample:supermarket", "level": "department"},
    {"name": "insert", "sensitive": "sample:supermarket", "rho": "50%"},
    {"name": "exact-swap", "itemsets": [["bananas-loose", "wholemeal-sliced-loaf-800g"]], "min_support": 5},
    {"name": "naive", "itemsets": [["bananas-loose"]], "min_support": 5},
    {"name": "td-control", "sensitive": "sample:supermarket", "rho": "50%", "hierarchy": "sample:supermarket"},
]
ANSWERS = {
    "record": "person", "recipients": "contract", "hide": "identity,itemsets", "known": "2", "rows": "counts",
    "work": "rules", "earlier": "no",
}  # fmt: skip


@pytest.mark.exhaustive
@pytest.mark.parametrize("method", SET_UPS, ids=[one["name"] for one in SET_UPS])
def test_no_method_shows_a_reviewer_more(served, method):
    studio = served.studio
    source = studio.add_source(OWNER, sample=SMALL)
    content = {
        "method": method, "metrics": "full", "attacks": "full", "context": ANSWERS, "names": {"bananas-loose": "A name"},
        "no_guarantee": True, "allow_failures": 300,
    }  # fmt: skip
    job = finished(studio, studio.start(OWNER, "publish", source=source.id, content=content))
    assert job.state == "done", studio.result(job)
    with served.client("reviewer") as client:
        text = "".join(client.get(f"/api/v1/releases/{job.id}{place}").text for place in ("", "/card", "/dossier"))
    assert "A name" not in text
    refuse_private(studio, job.id, text)


def test_the_owner_sees_more(served, published):
    with served.client() as client:
        text = client.get(f"/api/v1/releases/{published}/dossier").text
    assert SMALL in text
    assert LABELS & set(re.findall(r"[\w.-]+", text))  # so the search above would find them
    assert "seed" in json.loads(text)


def test_a_reviewer_sees_the_verdict_and_the_figures(responses):
    dossier = responses["dossier"].json()
    assert dossier["verdict"]["status"] == "holds"
    assert any(one["value"] is not None for one in dossier["metrics"])
    assert dossier["card"] == responses["card"].json()
    assert responses["releases"].json()[0]["title"] == "disassociation"


def test_releases_of_others_are_for_reviewers_and_their_owner(served, published):
    with served.client("other") as other:
        assert other.get("/api/v1/releases").json() == []
        for place in ("", "/card", "/dossier", "/files"):
            assert other.get(f"/api/v1/releases/{published}{place}").status_code == 404
        assert other.post(f"/api/v1/releases/{published}/witnesses").status_code == 404


def test_a_job_without_a_release_is_none(served):
    studio = served.studio
    source = studio.add_source(OWNER, sample=SMALL)
    job = finished(
        studio,
        studio.start(
            OWNER, "publish", source=source.id, content={"method": {"name": "disassociation", "k": 10**6, "m": 2}}
        ),
    )
    assert job.state == "refused"
    with served.client() as owner, served.client("reviewer") as reviewer:
        assert owner.get(f"/api/v1/releases/{job.id}").status_code == 409
        assert reviewer.get(f"/api/v1/releases/{job.id}").status_code == 404
        assert reviewer.get(f"/api/v1/jobs/{job.id}").status_code == 403


def test_witnesses_are_shown_after_a_logged_request_only(served, published):
    folder = served.studio.queue.folder / published / "release.private"
    dossier = json.loads((folder / "dossier.json").read_text(encoding="utf-8"))
    dossier["verdict"]["witnesses"] = ["a place where it fails"]
    kept = (folder / "dossier.json").read_bytes()
    (folder / "dossier.json").write_text(json.dumps(dossier), encoding="utf-8")
    try:
        with served.client() as client:
            place = f"/api/v1/releases/{published}"
            assert "a place where it fails" not in client.get(f"{place}/dossier").text
            assert client.get(f"{place}/witnesses").status_code == 405
            assert client.get("/api/v1/log").json() == []
            assert client.post(f"{place}/witnesses").json() == {"witnesses": ["a place where it fails"]}
            (entry,) = client.get("/api/v1/log").json()
            assert (entry["user"], entry["action"], entry["release"]) == ("owner", "looked at witnesses", published)
    finally:
        (folder / "dossier.json").write_bytes(kept)
    with served.client() as client:
        for asked in ({"witnesses": 5}, {"witnesses": 0}, {}):
            job = client.post("/api/v1/check", json={"release": published, "content": asked}).json()
            finished(served.studio, served.studio.job(OWNER, job["id"]))
        assert [one["action"] for one in client.get("/api/v1/log").json()] == [
            "checked with witnesses",
            "looked at witnesses",
        ]
        assert (
            client.post("/api/v1/check", json={"release": published, "content": {"witnesses": 10**6}}).status_code
            == 400
        )
