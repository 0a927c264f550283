"""A provider's view can be simulated without the other provider: the two cannot be distinguished, unless a mask is missing."""

import numpy as np
import pytest
from scipy.stats import binom
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from setveil.presence.methods.dummy_users import DummyUsers
from setveil.presence.secure.two_party import correlated, extension, scoring
from setveil.presence.secure.two_party.hashing import FixedKeyHash
from setveil.presence.trial import policy_of

from support.presence_recordings import honest, known_base_transfers
from support.presence_simulator import noted_shares, simulated_view
from support.presence_worlds import KEYS, world

METHOD = DummyUsers(min_a="0", max_a="1", min_b="0", max_b="1", k=2, scope="qi", candidates=4)
VIEWS = 6
CHUNK = 64
MOST_PIECES = 400
BIT_BY_BIT = {"base-ot": 32, "open-": 1, "taken-entries": 4}
"""Points, the first shares of an opening, and numbers."""
HIDDEN = ("ot-extension", "ot-products", "ot-tables", "garbled", "taken-products", "taken-entries")
FALSE_ALARM = 1e-6 / 32
"""For each classifier; there are fewer than 32, so that all together cry wolf once in a million runs."""


@pytest.fixture(scope="module")
def originals():
    return world(1, 90)


def real_views(originals, count):
    """Return a number of runs with all parties, which differ only in their random choices."""
    with noted_shares():
        return [honest(METHOD, originals) for _ in range(count)]


@pytest.fixture(scope="module")
def real(originals):
    return real_views(originals, VIEWS)


@pytest.fixture(scope="module")
def simulated(originals, real):
    """Return the simulated runs of each provider: (view, how it ended)."""
    policy = policy_of(METHOD, originals)
    with noted_shares():
        return {
            role: [
                simulated_view(
                    role,
                    policy,
                    originals.table(role),
                    originals.population,
                    getattr(KEYS, role),
                    real[0].results[role],
                )
                for _ in range(VIEWS)
            ]
            for role in "ab"
        }


@pytest.mark.parametrize("role", ["a", "b"])
def test_a_simulated_run_ends_as_the_real_one_with_the_same_messages(role, real, simulated):
    found = real[0].results[role]
    assert found.divided.groups.groups > 5
    for seen, ended in simulated[role]:
        assert [one.shape for one in seen] == real[0].shapes(role)
        assert ended.divided.openings == found.divided.openings
        np.testing.assert_array_equal(ended.divided.groups.group_of, found.divided.groups.group_of)
        np.testing.assert_array_equal(ended.table.counts, found.table.counts)


def of_chunks(chunks):
    """Return features of pieces of messages: how often bits and half bytes occur, how even they are, and how they go together."""
    bits = np.unpackbits(chunks, axis=1).reshape(len(chunks), -1, 8).mean(axis=1)
    halves = [(part[:, :, None] == np.arange(16)).sum(axis=1) for part in (chunks >> 4, chunks & 15)]
    lagged = [chunks[:, lag:] ^ chunks[:, :-lag] for lag in (1, 2, 4, 8, 16)]
    alike = [np.unpackbits(one, axis=1).mean(axis=1) for one in (*lagged, chunks ^ np.roll(chunks, 1, axis=0))]
    evenness = [(counts**2).sum(axis=1) for counts in halves]
    ordered = np.sort(chunks, axis=1)
    different = (ordered[:, 1:] != ordered[:, :-1]).sum(axis=1)
    return np.column_stack([bits, *halves, *alike, *evenness, different])


def samples(view, kind):
    """Return a row of features for each piece of the messages of a kind in a view; of short ones the pieces are numbers, bit by bit."""
    found = [one.payload for one in view if one.kind.startswith(kind) and not one.sent]
    if kind == "open-":
        found = [payload[:1] for payload in found]
    size = BIT_BY_BIT.get(kind, CHUNK)
    whole = np.frombuffer(b"".join(found), dtype=np.uint8)
    pieces = whole[: len(whole) // size * size].reshape(-1, size)[:MOST_PIECES]
    return of_chunks(pieces) if size == CHUNK else np.unpackbits(pieces, axis=1).astype(float)


def chance_of(real_, simulated_, kind):
    """Learn from half of the views, and return the probability that guessing classifies as many pieces of the other half correctly."""
    middle = len(real_) // 2
    learned, asked = (
        [np.concatenate([samples(view, kind) for view in views[part]]) for views in (real_, simulated_)]
        for part in (slice(0, middle), slice(middle, None))
    )
    x, y = np.concatenate(learned), np.repeat([1, 0], [len(one) for one in learned])
    scaler = StandardScaler().fit(x)
    model = LogisticRegression(C=0.1, max_iter=300).fit(scaler.transform(x), y)
    right = sum(
        int((model.predict(scaler.transform(one)) == label).sum()) for label, one in zip((1, 0), asked, strict=True)
    )
    return float(binom.sf(right - 1, sum(map(len, asked)), 0.5))


def views_of(real_, simulated_, role):
    return [one.seen[role] for one in real_], [seen for seen, _ended in simulated_[role]][: len(real_)]


def told_apart(real_, simulated_, role):
    """Return the kinds of messages by which a classifier distinguishes real views from simulated ones."""
    views = views_of(real_, simulated_, role)
    here = {one.kind for one in views[0][0] if not one.sent}
    kinds = ["base-ot", "open-", *(kind for kind in HIDDEN if kind in here)]
    return [kind for kind in kinds if chance_of(*views, kind) < FALSE_ALARM]


@pytest.mark.parametrize("role", ["a", "b"])
def test_nothing_tells_a_real_view_from_a_simulated_one(role, real, simulated):
    assert told_apart(real, simulated, role) == []


def test_every_hidden_kind_is_looked_at_often_enough_to_find_a_leak(real):
    for kind in (*HIDDEN, "base-ot", "open-"):
        asked = sum(len(samples(one.seen["b"], kind)) for one in real)  # half of the real views, and as many simulated
        assert binom.sf(asked - 1, asked, 0.5) < FALSE_ALARM, (kind, asked)


def no_pads(_hashing, permuted, _tweaks, values, dtype):
    return np.zeros((len(permuted), values), dtype=dtype)


def no_stream(self, width):
    return np.zeros((len(self._streams), width), dtype=np.uint8)


def no_numbers(shape, dtype):
    return np.zeros(shape, dtype=dtype)


def no_hash(_self, blocks, tweaks):
    return np.zeros(np.broadcast_shapes(blocks.shape, tweaks.shape), dtype=np.uint64)


LEAKS = {
    "products without pads": ((correlated, "_numbers", no_pads), {"ot-products"}),
    "a matrix without streams": ((extension._Streams, "next", no_stream), {"ot-extension"}),
    "tables without a random number": ((scoring, "random_numbers", no_numbers), {"taken-entries"}),
    "gates and tables without a hash": ((FixedKeyHash, "__call__", no_hash), {"garbled", "ot-tables"}),
}


@pytest.mark.parametrize("name", LEAKS)
def test_a_mask_that_was_left_out_is_told(name, originals, simulated, monkeypatch):
    patched, kinds = LEAKS[name]
    monkeypatch.setattr(*patched)
    with known_base_transfers():
        leaking = real_views(originals, 4)
    found = {kind for role in "ab" for kind in told_apart(leaking, simulated, role)}
    assert kinds <= found


def test_a_view_is_more_than_its_lengths(real):
    """Chance differs from run to run: no hidden message of two runs is the same."""
    hidden = [
        {one.payload for one in played.received("b") if one.kind in HIDDEN and len(one.payload) > 31} for played in real
    ]
    for number, payloads in enumerate(hidden):
        assert not payloads & set().union(*hidden[number + 1 :])
