"""Requests at random against the OpenAPI document: no fault of the server, no response that the document does not describe."""

import re

import pytest
import schemathesis
from fastapi import FastAPI
from hypothesis import HealthCheck, settings
from schemathesis import checks
from schemathesis.specs.openapi import checks as of_documents

import setveil as sv
from setveil.studio.api import described

from support.exhaustive import examples
from support.studios import OWNER, PUBLISH, SMALL, TOKENS, finished, pretend, serving

SCHEMA = schemathesis.openapi.from_dict(described(FastAPI(title="setveil studio")))
CHECKS = [
    checks.not_a_server_error,
    of_documents.status_code_conformance,
    of_documents.content_type_conformance,
    of_documents.response_schema_conformance,
]
REQUESTS = 330
"""For each of the operations, of which there are more than 30: 10,000 in all."""
LABELS = frozenset(sv.read(SMALL).vocabulary)


@pytest.fixture(scope="module")
def fuzzed(tmp_path_factory):
    """Give a studio with data, jobs and a release, whose jobs do nothing from now on."""
    home = tmp_path_factory.mktemp("home")
    root = tmp_path_factory.mktemp("root")
    (root / "a.csv").write_text("id,item\na,b\n", encoding="utf-8")
    with serving(home / "studio", roots=(root,), upload_bytes=10_000, quota_bytes=100_000) as served:
        studio = served.studio
        source = studio.add_source(OWNER, sample=SMALL)
        job = finished(studio, studio.start(OWNER, "publish", source=source.id, content=PUBLISH))
        assert job.state == "done"
        pretend(studio, "print('{}')")
        served.known = {"source": source.id, "release": job.id, "number": job.id}
        yield served
        assert [path.name for path in home.iterdir()] == ["studio"], "something was written outside the studio's folder"
        assert [path.name for path in root.iterdir()] == ["a.csv"]


def with_known_ids(case, known, chosen):
    """Put ids that exist in the place of made ones, in every second request."""
    if chosen % 2 and "number" in (case.path_parameters or {}):
        case.path_parameters["number"] = known["source" if "/data/" in case.path else "number"]
    if chosen % 3 and isinstance(case.body, dict):
        for name in ("source", "release"):
            if name in case.body:
                case.body[name] = known[name]


@SCHEMA.parametrize()
@settings(max_examples=examples(REQUESTS), suppress_health_check=list(HealthCheck))
def test_random_requests(case, fuzzed):
    chosen = len(repr(case.body)) + len(repr(case.path_parameters)) + len(repr(case.query))
    with_known_ids(case, fuzzed.known, chosen)
    user = "reviewer" if chosen % 5 == 0 else "owner"
    response = case.call(base_url=fuzzed.url, headers={"Authorization": f"Bearer {TOKENS[user]}"})
    case.validate_response(response, checks=CHECKS)
    if user == "reviewer" and case.path != "/api/v1/openapi.json":
        assert LABELS & set(re.findall(r"[\w.-]+", response.text)) == set()


def test_the_fuzzer_asks_every_address():
    operations = [one.ok() for one in SCHEMA.get_all_operations()]
    assert len(operations) * REQUESTS >= 10_000
