"""Joined tables as releases: whole and checked, or nothing; and what providers keep."""

import json

import numpy as np
import pytest

from setveil.errors import BadData, GuaranteeViolated, OutputRefused
from setveil.presence.catalog import GUARANTEES as JOINED_GUARANTEES
from setveil.presence.guarantees.k_anonymity import KAnonymity
from setveil.presence.methods.dummy_users import DummyUsers
from setveil.presence.release.provider_folder import read_provider_folder, write_provider_folder
from setveil.presence.release.release import StagedTable, open_joined, stated_guarantees
from setveil.presence.tables.originals import BothGroups
from setveil.presence.trial import policy_of

from support.presence_worlds import LIMITS, run, world

CHECKED = {"k-anonymity": "by a test", "site-presence": "by a test"}


@pytest.fixture(scope="module")
def made():
    originals, method = world(3, 200), DummyUsers(**LIMITS, backend="clear")
    return originals, policy_of(method, originals), run(method, originals)


def staging(tmp_path, policy, **more):
    return StagedTable(tmp_path / "out", tmp_path / "private", policy.method, policy_sha256=policy.sha256, **more)


def published(tmp_path, made, **more):
    _originals, policy, trial = made
    with staging(tmp_path, policy, **more) as staged:
        staged.stage(trial.outcome.table)
        staged.complete(CHECKED)
        staged.commit()
    return open_joined(tmp_path / "out")


def test_what_was_published_reads_back_and_keeps_what_the_card_says(tmp_path, made):
    originals, policy, trial = made
    opened = published(tmp_path, made)
    np.testing.assert_array_equal(opened.table.counts, trial.outcome.table.counts)
    assert opened.card.policy_sha256 == policy.sha256
    for guarantee in stated_guarantees(opened.card, dict(JOINED_GUARANTEES)):
        assert guarantee.check(opened.table, original=originals, alignment=trial.outcome.groups)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "private"]
    assert (tmp_path / "private").stat().st_mode & 0o077 == 0


def test_a_failure_inside_leaves_nothing(tmp_path, made):
    _originals, policy, trial = made

    def fail():
        with staging(tmp_path, policy) as staged:
            staged.stage(trial.outcome.table)
            raise RuntimeError("in between")

    with pytest.raises(RuntimeError, match="in between"):
        fail()
    assert list(tmp_path.iterdir()) == []


def test_what_nobody_committed_is_not_published(tmp_path, made):
    _originals, policy, trial = made
    with staging(tmp_path, policy) as staged:
        staged.stage(trial.outcome.table)
        staged.complete(CHECKED)
    assert list(tmp_path.iterdir()) == []


def test_a_table_that_violates_a_guarantee_is_not_published(tmp_path, made):
    originals, policy, trial = made
    strict = DummyUsers(**LIMITS, backend="clear", k=100)

    def publish():
        with StagedTable(tmp_path / "out", tmp_path / "private", strict, policy_sha256=policy.sha256) as staged:
            staged.stage(trial.outcome.table)
            staged.check({"k-anonymity"}, originals, trial.outcome.groups)
            staged.commit()

    with pytest.raises(GuaranteeViolated, match="k-anonymity is violated; nothing was written"):
        publish()
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_there_is_replaced_only_by_force(tmp_path, made):
    published(tmp_path, made)
    with pytest.raises(OutputRefused, match="exists"):
        published(tmp_path, made)
    assert published(tmp_path, made, force=True).table.records


@pytest.mark.parametrize("file", ["data.csv", "attributes.json"])
def test_a_changed_file_is_found_out(tmp_path, made, file):
    published(tmp_path, made)
    path = tmp_path / "out" / file
    path.write_bytes(path.read_bytes() + b"\n")
    with pytest.raises(BadData, match="SHA-256 differs"):
        open_joined(tmp_path / "out")


@pytest.mark.parametrize(
    "change",
    [{"form": "plain"}, {"beside": []}, {"extra": 1}, {"guarantees": [{"name": "k-anonymity"}]}],
    ids=lambda change: next(iter(change)),
)
def test_a_card_that_says_something_else_is_refused(tmp_path, made, change):
    published(tmp_path, made)
    path = tmp_path / "out" / "card.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(BadData, match=r"card\.json"):
        open_joined(tmp_path / "out")


def test_an_unknown_guarantee_is_refused(tmp_path, made):
    card = published(tmp_path, made).card
    with pytest.raises(BadData, match="site-presence"):
        stated_guarantees(card, {"k-anonymity": KAnonymity})


@pytest.mark.parametrize("role", ["a", "b"])
def test_what_a_provider_keeps_reads_back(tmp_path, made, role):
    originals, policy, trial = made
    result = getattr(trial, role)
    record = write_provider_folder(tmp_path, role, policy, originals.table(role), originals.population, result)
    kept = read_provider_folder(tmp_path, role, originals.population)
    assert kept.run == json.loads(json.dumps(record))
    np.testing.assert_array_equal(kept.groups.group_of, result.divided.groups.group_of)
    np.testing.assert_array_equal(kept.groups.lows, result.divided.groups.lows)
    np.testing.assert_array_equal(kept.groups.highs, result.divided.groups.highs)
    np.testing.assert_array_equal(kept.failed_lower, result.divided.failed_lower)
    assert kept.ways == tuple(way.decode() for way in result.divided.ways)
    assert len(kept.openings) == len(result.divided.openings.entries)
    alone = BothGroups(**{role: kept.groups})
    for guarantee in policy.method.guarantees:
        table = type(originals)(originals.schema, originals.population, **{role: originals.table(role)})
        assert guarantee.check(trial.outcome.table, original=table, alignment=alone)


def test_the_folder_of_another_provider_or_population_is_refused(tmp_path, made):
    originals, policy, trial = made
    write_provider_folder(tmp_path, "a", policy, originals.table("a"), originals.population, trial.a)
    with pytest.raises(BadData, match="provider A; expected that of provider B"):
        read_provider_folder(tmp_path, "b", originals.population)
    with pytest.raises(BadData, match="another population"):
        read_provider_folder(tmp_path, "a", world(4, 200).population)
    (tmp_path / "groups.parquet").write_bytes(b"nothing")
    with pytest.raises(BadData, match="not the private folder"):
        read_provider_folder(tmp_path, "a", originals.population)
