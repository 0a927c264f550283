"""The register with the joint check itself: `publish` reports what `check_together` finds, and refuses accordingly."""

import json
from pathlib import Path

import pytest

import setveil as sv

from support.registers import publish

REGISTER = "releases.db"
RECORDS = 200


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    """Let every test work in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="module")
def data():
    return sv.read(f"sample:supermarket?records={RECORDS}")


def insert(data, rho):
    frequent = sorted(data.vocabulary, key=lambda label: -data.supports[data.code_of[label]])
    return sv.Insert(sensitive=frequent[:6:2], rho=rho)


def accept(**options):
    return sv.Registration(REGISTER, accept_together="one reader has both", **options)


@pytest.mark.parametrize("private", [None, "elsewhere"])
def test_the_verdict_is_that_of_the_joint_check(data, private):
    """Also if the private folder is not at its default place: the register knows where it is."""
    first = publish(data, insert(data, "60%"), out="one", private=private, register=REGISTER)
    with pytest.raises(sv.GuaranteeViolated) as refused:
        publish(data, insert(data, "30%"), out="two", register=REGISTER)
    verdict = refused.value.verdict
    second = publish(data, insert(data, "30%"), out="two", register=accept())
    together = sv.check_together([first, second], original=data)
    assert verdict.status == together.status != "holds"
    assert [one.counts for one in verdict.verdicts] == [one.counts for one in together.verdicts]
    assert second.registered.together["status"] == together.status
    noted = json.loads(Path("two.private/dossier.json").read_text())["register"]["together"]["verdict"]
    assert noted["parts"][0]["definition"] == together.parts[0].definition
    assert sv.check("two", original=data)


def test_releases_that_hold_together_are_published(data):
    """Two ways to form clusters of the same records."""
    publish(data, sv.Disassociation(k=2, m=1), out="one", register=REGISTER)
    second = publish(data, sv.Disassociation(k=2, m=1, delta=RECORDS), out="two", register=REGISTER)
    assert second.registered.together["status"] == "holds"
    assert second.registered.status == "published"


def test_data_that_changed_are_undecided(data):
    publish(data, insert(data, "50%"), out="one", register=REGISTER)
    with pytest.raises(sv.GuaranteeViolated, match=r"undecided: .* was made from other data"):
        publish(data.take(range(1, RECORDS)), insert(data, "50%"), out="two", register=REGISTER)


def test_re_associated_data_are_undecided(data):
    chunks = publish(data, sv.Disassociation(k=2, m=1), out="one", register=REGISTER)
    for more in ({}, {"original": data}):
        with pytest.raises(sv.GuaranteeViolated, match=r"undecided: .*(`original=`|re-associated data)"):
            publish(chunks.data, sv.Reassociation(), out="two", register=REGISTER, **more)
    again = publish(chunks.data, sv.Reassociation(), out="two", register=accept(recipient="the same reader"))
    assert again.registered.number == 2
