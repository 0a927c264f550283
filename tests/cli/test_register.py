"""The register on the command line: what `publish` prints about it, and the commands `releases` and `withdraw`."""

import pytest

import setveil as sv

from support.program import call, names_in
from support.registers import JointCheck

SAMPLE = "sample:supermarket?records=60"
METHOD = ("--method", "disassociation", "--m", 1, "--measure", "none", "--k")
REGISTER = ("--register", "releases.db")


@pytest.fixture
def joint(monkeypatch):
    return JointCheck(monkeypatch)


def publish(folder, out, *options, k=2):
    return call("publish", SAMPLE, *METHOD, k, "--out", out, *options, cwd=folder)


def line_of(ended, heading):
    """Return what the summary says under a heading, on one line."""
    (found,) = [
        part for part in ended.out.replace("\n" + " " * 18, " ").splitlines() if part.startswith(f"  {heading}")
    ]
    return found.removeprefix(f"  {heading}").strip()


def test_without_a_register_publish_says_that_releases_are_not_tracked(tmp_path):
    ended = publish(tmp_path, "one")
    assert line_of(ended, "Not tracked").startswith("other releases of these data; add --register FILE")
    assert "Register  " not in ended.out
    assert publish(tmp_path, "two", "--json").json["register"] is None


def test_publish_names_the_entry_in_the_register(tmp_path, joint):
    ended = publish(tmp_path, "one", *REGISTER, "--recipient", "the city")
    assert line_of(ended, "Register") == "release 1 in releases.db, for the city"
    assert "Not tracked" not in ended.out
    joint.status = "holds"
    ended = publish(tmp_path, "two", *REGISTER, k=3)
    assert line_of(ended, "Register") == (
        "release 2 in releases.db; checked together with 1 earlier release: joint guarantee: holds"
    )


def test_another_recipe_needs_a_reason(tmp_path, joint):
    assert joint.status == "violated"
    assert publish(tmp_path, "one", *REGISTER, "--recipient", "the city").code == 0
    before = names_in(tmp_path)
    refused = publish(tmp_path, "two", *REGISTER, k=3)
    assert (refused.code, refused.out) == (3, "")
    assert "release 1 (for 'the city')" in refused.sentence()
    assert "--accept-together" in refused.sentence()
    assert names_in(tmp_path) == before
    accepted = publish(tmp_path, "two", *REGISTER, "--accept-together", "same readers", k=3)
    assert line_of(accepted, "Register").endswith(
        "joint guarantee: violated (3 shown together); accepted: same readers"
    )
    listed = call("releases", *REGISTER, cwd=tmp_path)
    assert "accepted together with release 1 (violated): same readers" in listed.out


def test_a_withdrawn_release_is_listed_as_withdrawn(tmp_path):
    assert publish(tmp_path, "one", *REGISTER).code == 0
    ended = call("withdraw", 1, *REGISTER, "--reason", "the project ended", cwd=tmp_path)
    assert ended.out.startswith("Release 1 is withdrawn. Joint checks still include it")
    listed = call("releases", *REGISTER, cwd=tmp_path).out
    assert "withdrawn" in listed
    assert "the project ended" in listed
    assert [one.status for one in sv.releases(tmp_path / "releases.db")] == ["withdrawn"]
