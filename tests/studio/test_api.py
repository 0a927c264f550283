"""The whole way from data to a release through the API, its events, its errors and its document."""

import io
import json
import shlex
import threading
import zipfile

import httpx
import pytest

import setveil as sv
from setveil.cli import main

from support.studios import OWNER, PUBLISH, SMALL, TOKENS, finished, opened

SEED = "31415926535897932384"


def done(served, job):
    return finished(served.studio, served.studio.job(OWNER, job["id"]))


def add(client, **asked):
    return client.post("/api/v1/data", json=asked or {"sample": SMALL}).json()["id"]


def test_from_data_to_a_release(served):
    with served.client() as client:
        (file,) = client.get("/api/v1/files").json()
        assert file["name"] == "baskets.dat"
        source = add(client, file=file["id"], reading={"unit": "person"})
        answer = client.post("/api/v1/publish", json={"source": source, "content": PUBLISH})
        assert answer.status_code == 202
        job = answer.json()
        assert job["state"] in ("running", "queued")
        assert done(served, job).state == "done"
        shown = client.get(f"/api/v1/jobs/{job['id']}").json()
        assert shown["state"] == "done"
        assert "writing" in shown["progress"]["done"]
        assert client.get(f"/api/v1/jobs/{job['id']}/result").json()["verdict"]["status"] == "holds"
        release = client.get(f"/api/v1/releases/{job['id']}").json()
        assert (release["method"], release["records"], release["title"]) == ("disassociation", 60, "baskets.dat")
        assert client.get(f"/api/v1/releases/{job['id']}/card").json()["run"] == release["run"]
        files = client.get(f"/api/v1/releases/{job['id']}/files")
        assert files.headers["content-type"] == "application/zip"
        folder = served.studio.queue.folder / job["id"] / "release"
        with zipfile.ZipFile(io.BytesIO(files.content)) as archive:
            assert {name.removeprefix("release/"): archive.read(name) for name in archive.namelist()} == {
                path.name: path.read_bytes() for path in folder.iterdir()
            }
        for kind in ("check", "measure", "attack", "risk"):
            job = client.post(f"/api/v1/{kind}", json={"release": release["id"]}).json()
            assert done(served, job).state == "done", client.get(f"/api/v1/jobs/{job['id']}/result").json()


def test_data_are_described_advised_and_compared(served):
    answers = {
        "record": "person",
        "recipients": "contract",
        "hide": "identity",
        "known": "2",
        "rows": "counts",
        "work": "counts",
        "earlier": "no",
    }
    asked = {
        "profile": {"known": 1, "sensitive": ["bananas-loose"], "itemsets": [["bananas-loose"]]},
        "risk": {"known": 1, "sensitive": "sample:supermarket"},
        "advise": answers | {"records": 200},
        "compare": {
            "methods": [{"name": "disassociation", "k": [2, 3], "m": 2}],
            "seeds": 1,
            "sample": 100,
            "metrics": [],
            "targets": 50,
        },
    }
    with served.client() as client:
        source = add(client)
        for kind, content in asked.items():
            answer = client.post(f"/api/v1/{kind}", json={"source": source, "content": content})
            assert answer.status_code == 202, answer.text
            ended = done(served, answer.json())
            assert ended.state == "done", served.studio.result(ended)
        again = client.post(f"/api/v1/jobs/{ended.id}/again")  # the comparison: its trials are not run again
        ended = done(served, again.json())
        assert ended.state == "done"


def test_what_is_published_are_the_bytes_of_its_texts(served, tmp_path, monkeypatch):
    """The studio, the command, the job file and Python write the same release."""
    content = {
        "method": {"name": "part-swap", "categories": "sample:supermarket", "level": "department"},
        "metrics": ["quick", {"name": "items-lost", "sensitive": ["bananas-loose", "gala-apples-6-pack"]}],
        "seed": SEED,
        "names": {"bananas-loose": "Bananas"},
    }
    with served.client() as client:
        source = add(client)
        texts = client.post("/api/v1/texts", json={"source": source, "content": content}).json()
        job = client.post("/api/v1/publish", json={"source": source, "content": content}).json()
    assert done(served, job).state == "done"
    folder = served.studio.queue.folder / job["id"]
    assert (
        (folder / "job.toml").read_text(encoding="utf-8") == texts["file"] == served.studio.job_file(OWNER, job["id"])
    )
    wanted = {path.name: path.read_bytes() for path in (folder / "release").iterdir()}
    for name in ("command", "file", "python"):
        place = tmp_path / name
        place.mkdir()
        monkeypatch.chdir(place)
        for file, text in (texts["files"] | {"job.toml": texts["file"]}).items():
            (place / file).write_text(text, encoding="utf-8")
        if name == "python":
            exec(texts["python"], {})  # noqa: S102 - what a person would run
        else:
            assert main.run(shlex.split(texts["command"])[1:] if name == "command" else ["run", "job.toml"]) == 0
        assert {path.name: path.read_bytes() for path in (place / "release").iterdir()} == wanted, name


def test_wrong_values_are_refused_before_a_job_starts(served):
    wrong = [
        ({"method": {"name": "part-swop"}}, "part-swap"),
        ({"method": {"name": "disassociation", "kk": 3}}, "k"),
        ({"method": {"name": "disassociation", "k": 0, "m": 2}}, "k"),
        ({"method": {"name": "disassociation", "k": "many", "m": 2}}, "k"),
        ({"method": {"name": "disassociation", "m": 2}}, "k"),
        ({"method": {"name": "disassociation", "k": 3, "m": 2}, "ids": "all"}, "ids"),
        ({"method": {"name": "disassociation", "k": 3, "m": 2}, "metrics": ["nothing"]}, "nothing"),
        ({}, "method"),
    ]
    with served.client() as client:
        source = add(client)
        before = len(client.get("/api/v1/jobs").json())
        for content, said in wrong:
            for kind in ("texts", "publish"):
                answer = client.post(f"/api/v1/{kind}", json={"source": source, "content": content})
                assert answer.status_code == 400, (kind, content, answer.text)
                assert said in answer.json()["error"]["message"]
                assert answer.json()["error"].keys() >= {"kind", "message", "exit_code"}
                assert "`" not in answer.json()["error"]["message"]
        assert len(client.get("/api/v1/jobs").json()) == before


def test_a_refused_guarantee_says_what_to_do(served):
    content = {"method": {"name": "disassociation", "k": 10**6, "m": 2}, "metrics": "none"}
    with served.client() as client:
        job = client.post("/api/v1/publish", json={"source": add(client), "content": content}).json()
        assert done(served, job).state == "refused"
        error = client.get(f"/api/v1/jobs/{job['id']}/result").json()["error"]
    assert error["exit_code"] in (2, 3)
    assert error["message"]


def read_events(client, job, **headers):
    with client.stream("GET", f"/api/v1/jobs/{job}/events", headers=headers) as response:
        assert response.headers["content-type"].startswith("text/event-stream")
        text = "".join(response.iter_text())
    found = []
    for block in text.split("\n\n"):
        lines = dict(line.split(": ", 1) for line in block.splitlines() if ": " in line)
        if "event" in lines:
            found.append((lines["id"], lines["event"], json.loads(lines["data"])))
    return found


def test_events_resume_where_they_were_left(served, published):
    with served.client() as client:
        everything = read_events(client, published)
        assert everything[-1][1:] == ("ended", {"state": "done", "exit_code": 0})
        middle = everything[len(everything) // 2][0]
        rest = read_events(client, published, **{"Last-Event-ID": middle})
        assert rest == everything[len(everything) // 2 + 1 :]
        assert read_events(client, published, **{"Last-Event-ID": "999999999"})[-1][1] == "ended"
        for wrong in ("x", "-1", "1e9", "9" * 30):
            assert client.get(f"/api/v1/jobs/{published}/events", headers={"Last-Event-ID": wrong}).status_code == 400


def test_events_arrive_while_the_job_runs(served):
    with served.client() as client:
        source = add(client, sample="sample:supermarket?records=2000000")
        job = client.post("/api/v1/profile", json={"source": source}).json()["id"]
        with client.stream("GET", f"/api/v1/jobs/{job}/events") as response:
            for line in response.iter_lines():
                if line == "event: start":
                    with served.client() as second:
                        assert second.post(f"/api/v1/jobs/{job}/cancel").status_code == 200
                if line.startswith("data: ") and "state" in line:
                    assert json.loads(line.removeprefix("data: "))["state"] == "stopped"
        assert client.post(f"/api/v1/jobs/{job}/cancel").status_code == 409


def test_a_result_is_there_once_the_job_has_ended(served):
    with served.client() as client:
        source = add(client, sample="sample:supermarket?records=2000000")
        job = client.post("/api/v1/profile", json={"source": source}).json()["id"]
        answer = client.get(f"/api/v1/jobs/{job}/result")
        assert (answer.status_code, answer.json()["error"]["kind"]) == (409, "wrong-state")
        assert client.post(f"/api/v1/jobs/{job}/again").status_code == 409
        client.post(f"/api/v1/jobs/{job}/cancel")
        finished(served.studio, served.studio.job(OWNER, job))
        assert client.get(f"/api/v1/jobs/{job}/result").json()["error"]["kind"] == "stopped"


def test_many_requests_at_the_same_time(served, published):
    places = [
        "/api/v1/jobs",
        f"/api/v1/releases/{published}/card",
        "/api/v1/files",
        f"/api/v1/jobs/{published}",
        f"/api/v1/releases/{published}/files",
    ]
    codes = []

    def ask(number):
        with served.client() as client:
            if number % 10 == 0:
                codes.append(client.post("/api/v1/data", json={"sample": SMALL}).status_code - 1)
            elif number % 10 == 1:
                codes.append(len(read_events(client, published)) and 200)
            else:
                codes.append(client.get(places[number % len(places)]).status_code)

    threads = [threading.Thread(target=ask, args=[number]) for number in range(200)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert codes == [200] * 200


def test_errors_of_routes_are_errors_of_ours(served):
    with served.client() as client:
        for method, path, code in (
            ("GET", "/api/v1/nothing", 404),
            ("POST", "/api/v1/jobs", 405),
            ("DELETE", "/api/v1/data", 405),
            ("GET", "/api/v2/jobs", 404),
            ("GET", "/x.json", 404),
        ):
            answer = client.request(method, path)
            assert (answer.status_code, answer.json()["error"]["exit_code"]) == (code, 2)


def test_the_document_lists_every_address(served):
    with served.client() as client:
        document = client.get("/api/v1/openapi.json").json()
    assert document["openapi"].startswith("3.1")
    assert "422" not in json.dumps(document)
    assert all(path.startswith("/api/v1/") for path in document["paths"])
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            assert {"400", "401", "403", "421"} <= operation["responses"].keys(), (method, path)
            assert operation["summary"].endswith(".")


def test_the_disk_is_full(tmp_path, monkeypatch):
    import errno  # noqa: PLC0415 - of this test only

    from support.studios import serving  # noqa: PLC0415 - the same

    with serving(tmp_path / "studio") as served, served.client() as client:
        source = add(client)

        def full(*_args, **_more):
            raise OSError(errno.ENOSPC, "No space left on device")

        monkeypatch.setattr("setveil.studio.studio.Studio._enter", full)
        answer = client.post("/api/v1/profile", json={"source": source})
        assert (answer.status_code, answer.json()["error"]["kind"]) == (507, "no-space")
        monkeypatch.setattr("setveil.studio.sources.Arriving.write", full)
        assert client.put("/api/v1/uploads/a.csv", content=b"x").status_code == 507
        assert client.get("/api/v1/uploads").json() == []


def test_nothing_is_answered_without_a_user(served):
    assert httpx.get(f"{served.url}/api/v1/jobs").json()["error"]["kind"] == "no-token"
    assert TOKENS["owner"] not in httpx.get(f"{served.url}/api/v1/jobs").text


def test_a_register_checks_releases_together(tmp_path):
    with opened(tmp_path / "studio") as studio:
        source = studio.add_source(OWNER, sample=SMALL)
        for recipient in ("the city", "the press"):
            content = PUBLISH | {"register": {"recipient": recipient, "accept_together": "a test"}}
            job = finished(studio, studio.start(OWNER, "publish", source=source.id, content=content))
            assert job.state == "done", studio.result(job)
        (register,) = (studio.settings.folder / "registers").iterdir()
        assert [one.recipient for one in sv.releases(register)] == ["the city", "the press"]


@pytest.mark.parametrize("kind", ["profile", "advise", "publish", "compare", "risk"])
def test_a_job_needs_data(served, kind):
    with served.client() as client:
        assert client.post(f"/api/v1/{kind}", json={}).status_code == 400
        assert client.post(f"/api/v1/{kind}", json={"source": "0" * 16}).status_code == 404
