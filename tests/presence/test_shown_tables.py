"""The collector shows both providers one table: they compare its hash before they say yes."""

import pytest

from setveil.errors import PeerFailed
from setveil.presence import parties as product_parties
from setveil.presence.methods.dummy_users import DummyUsers

from support.presence_detections import yes_to_two_tables
from support.presence_meddling import TwoTables
from support.presence_recordings import honest, known_base_transfers, play
from support.presence_worlds import with_backend, world

METHOD = DummyUsers(min_a="0", max_a="1", min_b="0", max_b="1", k=1, scope="qi", candidates=4)
BACKENDS = ["clear", "two-party", "mpyc"]
ENDS = {
    role: [(True, other, "shown"), (False, other, "shown"), (True, "c", "kept"), (False, "c", "published")]
    for role, other in ("ab", "ba")
}
"""What comes after the table, in this order."""


@pytest.fixture(autouse=True)
def _quick():
    with known_base_transfers():
        yield


@pytest.fixture(scope="module")
def originals():
    return world(1, 60)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("provider", ["a", "b"])
def test_two_tables_are_refused_by_both_providers(provider, backend, originals):
    meddler = TwoTables(provider, originals.schema)
    played = play(with_backend(METHOD, backend), originals, meddle=meddler)
    assert meddler.other is not None
    assert not played.hanging
    for role, other in ("aB", "bA"):
        error = played.errors[role]
        assert isinstance(error, PeerFailed)
        assert error.party == "the collector"
        assert f"showed provider {other} another table than this provider" in str(error)
    assert yes_to_two_tables(played) == []
    assert played.staged == played.published == []


@pytest.mark.parametrize("provider", ["a", "b"])
def test_without_the_comparison_two_tables_get_a_yes(provider, originals, monkeypatch):
    """Each provider's own check holds, and what the collector says of the published file is what each expects."""
    monkeypatch.setattr(product_parties, "_refuse_two_tables", lambda _joined, _peer: None)
    played = honest(METHOD, originals, meddle=TwoTables(provider, originals.schema))
    assert yes_to_two_tables(played) == ["a", "b"]
    assert len(played.published) == 1


@pytest.mark.parametrize("counts_to", ["b", "c"])
@pytest.mark.parametrize("backend", BACKENDS)
def test_the_hash_goes_once_each_way_before_the_yes(backend, counts_to, originals):
    played = honest(with_backend(METHOD, backend, counts_to=counts_to), originals)
    for role, other in ("ab", "ba"):
        kinds = [(one.sent, one.peer, one.kind) for one in played.seen[role]]
        last = [kinds.index((False, "c", "table")) + 3, *map(kinds.index, ENDS[role])]
        assert last == sorted(last)
        assert [one for one in kinds if one[2] == "shown"] == [(True, other, "shown"), (False, other, "shown")]
    hashes = {one.payload for role in "ab" for one in played.received(role) if one.kind == "shown"}
    assert len(hashes) == 1
