"""Known answers and exhaustive checks of what the two-party core is built from."""

import hashlib
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from setveil.errors import Missing, PeerFailed
from setveil.presence import libraries
from setveil.presence.coin import toss
from setveil.presence.secure.two_party import base_ot, tables
from setveil.presence.secure.two_party.blocks import SECURITY, lowest_bits, random_numbers, stretched, times
from setveil.presence.secure.two_party.correlated import ChosenRows, SentRows
from setveil.presence.secure.two_party.extension import Chooser, Sender
from setveil.presence.secure.two_party.hashing import MOST_TWEAKS, FixedKeyHash, Tweaks, Use
from setveil.presence.secure.two_party.transposing import columns_as_blocks

from oracle import half_gates as slow
from support.exhaustive import examples
from support.presence_lines import line, together

KEY = bytes(range(16))


def words(*numbers):
    return np.array([[number & (2**64 - 1), number >> 64] for number in numbers], dtype=np.uint64)


def number(block):
    return int(block[0]) | int(block[1]) << 64


def ends(key=KEY):
    """Return a sender and its chooser after their base transfers."""
    to_chooser, to_sender = line()
    return together(
        lambda: Sender(to_chooser, b"test", FixedKeyHash(key), Tweaks(1)),
        lambda: Chooser(to_sender, b"test", FixedKeyHash(key), Tweaks(1)),
    )


def test_aes_gives_the_vector_of_its_standard():
    # FIPS-197, appendix C.1.
    given_block = np.frombuffer(bytes.fromhex("00112233445566778899aabbccddeeff"), dtype="<u8")
    found = FixedKeyHash(bytes.fromhex("000102030405060708090a0b0c0d0e0f")).permute(given_block.reshape(1, 2))
    assert found.tobytes().hex() == "69c4e0d86a7b0430d8cdb78070b4c55a"


def test_a_stream_of_blocks_is_aes_in_counter_mode():
    # AES of zeros under zeros: the hash key of the first test case in the specification of GCM.
    assert stretched(bytes(16), (1,)).tobytes().hex() == "66e94bd4ef8a2c3b884cfa59ca342b2e"
    assert number(stretched(bytes(16), (2,))[1]) == slow.permuted(bytes(16), 1 << 120)


blocks = st.integers(0, 2**128 - 1)


@settings(deadline=None, max_examples=examples(60))
@given(st.binary(min_size=16, max_size=16), st.lists(st.tuples(blocks, blocks), min_size=1, max_size=5))
def test_the_hash_is_that_of_its_slow_twin(key, pairs):
    given_blocks, tweaks = zip(*pairs, strict=True)
    found = FixedKeyHash(key)(words(*given_blocks), words(*tweaks))
    assert [number(block) for block in found] == [slow.hashed(key, block, tweak) for block, tweak in pairs]


def test_tweaks_never_repeat():
    counters = [Tweaks(1), Tweaks(2)]
    seen = [
        number(block)
        for counter in counters
        for use in Use
        for _ in range(3)
        for block in counter.take(use, 2, 3).reshape(-1, 2)
    ]
    seen += [number(block) for use in Use for block in counters[0].take(use, 10, only=np.array([0, 9]))]
    seen += [number(block) for use in Use for block in counters[0].take(use, 1)]
    assert len(set(seen)) == len(seen)


def test_tweaks_that_are_used_up_are_refused():
    counter = Tweaks(1)
    counter.take(Use.GATES, MOST_TWEAKS - 1, only=np.array([0]))
    counter.take(Use.GATES, 1)
    with pytest.raises(OverflowError, match="none may be used twice"):
        counter.take(Use.GATES, 1)
    with pytest.raises(OverflowError, match="none may be used twice"):
        counter.take(Use.ROWS, -1)


def test_both_toss_the_same_coin_and_another_each_time():
    at_a, at_b = line()
    coins = [together(lambda: toss("a", at_a, b"x"), lambda: toss("b", at_b, b"x")) for _ in range(3)]
    assert all(of_a == of_b for of_a, of_b in coins)
    assert len({of_a for of_a, _ in coins}) == 3
    commitment, part = at_a.sent[0][1], at_a.sent[1][1]
    assert commitment == hashlib.sha256(b"setveil commit a x\0" + part).digest()


def test_a_coin_other_than_the_one_committed_to_is_refused():
    at_a, at_b = line()
    at_b.send("coin-commit", bytes(32))
    at_b.send("coin", bytes(32))
    with pytest.raises(PeerFailed, match="provider B tossed another coin"):
        toss("a", at_a, b"x")


def test_ones_own_commitment_sent_back_is_refused():
    at_a, at_b = line()
    at_b.send("coin-commit", hashlib.sha256(b"setveil commit a x\0" + bytes(32)).digest())
    at_b.send("coin", bytes(32))
    with pytest.raises(PeerFailed, match="provider B tossed another coin"):
        toss("a", at_a, b"x")


@pytest.mark.parametrize("width", [1, 2, 3, 17, 1023, 1024, 1025])
def test_turning_a_matrix_of_bits(width):
    rows = np.random.default_rng(width).integers(0, 256, (SECURITY, width), dtype=np.uint8)
    rows.setflags(write=False)
    bits = np.unpackbits(rows, axis=1, bitorder="little").T
    expected = np.packbits(bits, axis=1, bitorder="little")
    assert (columns_as_blocks(rows).view(np.uint8) == expected).all()


def test_base_transfers_give_the_key_of_the_bit_and_not_the_other():
    at_sender, at_chooser = line()
    bits = np.random.default_rng(0).random(SECURITY) < 0.5
    pairs, keys = together(
        lambda: base_ot.send(at_sender, b"test"), lambda: base_ot.choose(at_chooser, b"test", bits.tolist())
    )
    assert [pair[int(bit)] for pair, bit in zip(pairs, bits, strict=True)] == keys
    assert len({key for pair in pairs for key in pair}) == 2 * SECURITY


def test_base_transfers_of_another_session_give_other_keys():
    at_sender, at_chooser = line()
    pairs, keys = together(
        lambda: base_ot.send(at_sender, b"one"), lambda: base_ot.choose(at_chooser, b"two", [True] * SECURITY)
    )
    assert not {key for pair in pairs for key in pair} & set(keys)


# Of order 1, 2, 4, 8 (the first is the neutral element); not on the curve; a point with a part of small order; not reduced.
BAD_POINTS = [
    "0100000000000000000000000000000000000000000000000000000000000000",
    "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "0000000000000000000000000000000000000000000000000000000000000000",
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
    "0200000000000000000000000000000000000000000000000000000000000000",
    "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
]


@pytest.mark.parametrize("point", BAD_POINTS)
def test_points_outside_the_subgroup_are_refused(point):
    at_sender, at_chooser = line()
    at_sender.send("base-ot-offer", bytes.fromhex(point))
    with pytest.raises(PeerFailed, match="provider A sent a point that is not in the subgroup of the curve"):
        base_ot.choose(at_chooser, b"test", [False] * SECURITY)
    at_sender, at_chooser = line()
    at_chooser.send("base-ot-answer", bytes.fromhex(point) * SECURITY)
    with pytest.raises(PeerFailed, match="provider B sent a point that is not in the subgroup of the curve"):
        base_ot.send(at_sender, b"test")


def test_an_offer_sent_back_as_the_answer_is_refused():
    at_sender, at_chooser = line()

    def answer():
        at_chooser.send("base-ot-answer", at_chooser.receive("base-ot-offer", 32) * SECURITY)

    with pytest.raises(PeerFailed, match="not in the subgroup of the curve"):
        together(lambda: base_ot.send(at_sender, b"test"), answer)


def test_rows_of_the_extension_differ_by_delta_where_the_bit_is_set():
    sender, chooser = ends()
    assert lowest_bits(sender.delta)
    seen = []
    for count in (1, 7, 8, 9, 0, 1000, 8200):
        bits = np.random.default_rng(count).random(count) < 0.5
        q, t = together(lambda count=count: sender.extend(count), lambda bits=bits: chooser.extend(bits))
        assert (q == t ^ times(bits, sender.delta)).all()
        seen += q.tolist()
    assert len({tuple(block) for block in seen}) == len(seen)


def test_an_extension_in_several_messages(monkeypatch):
    monkeypatch.setattr("setveil.presence.secure.two_party.extension.MOST_BITS", 64)
    test_rows_of_the_extension_differ_by_delta_where_the_bit_is_set()


@pytest.mark.parametrize("dtype", [np.uint16, np.uint32, np.uint64])
@pytest.mark.parametrize("width", [1, 2, 3, 8, 9])
def test_products_of_bits_and_numbers_are_shared(dtype, width):
    sender, chooser = ends()
    bits = np.random.default_rng(1).random(50) < 0.5
    sent, chosen = together(lambda: SentRows(sender, 50), lambda: ChosenRows(chooser, bits))
    most = int(np.iinfo(dtype).max)
    for values in (0, 1, most, most // 2 + 1, None):
        rows = np.random.default_rng(2).integers(0, 50, 70)
        numbers = random_numbers((70, width), dtype) if values is None else np.full((70, width), values, dtype=dtype)
        mine, theirs = together(
            lambda rows=rows, numbers=numbers: sent.share(rows, numbers),
            lambda rows=rows: chosen.share(rows, width, dtype),
        )
        assert mine.dtype == theirs.dtype == dtype
        assert (mine + theirs == np.where(bits[rows][:, None], numbers, 0)).all()
        assert len(np.unique(mine)) > mine.size * 0.9  # a share is no constant, though rows and numbers repeat


def test_products_in_more_than_one_piece(monkeypatch):
    monkeypatch.setattr("setveil.presence.secure.two_party.correlated.PIECE", 16)
    test_products_of_bits_and_numbers_are_shared(np.uint32, 5)


@pytest.mark.parametrize("piece", [1 << 16, 8])
def test_every_entry_of_every_small_table(piece, monkeypatch):
    monkeypatch.setattr(tables, "PIECE", piece)
    sender, chooser = ends()
    sizes = np.repeat([2, 16, 4, 8, 2], [2, 16, 4, 8, 1])
    picks = np.concatenate([np.arange(size) for size in (2, 16, 4, 8)] + [[1]])
    entries = {size: random_numbers(((sizes == size).sum(), size), np.uint32) for size in (2, 4, 8, 16)}
    _, found = together(
        lambda: tables.send(sender, sizes, list(entries.values())),
        lambda: tables.Choice(chooser, sizes, picks).receive(),
    )
    for size, table in entries.items():
        at = sizes == size
        assert (found[at] == table[np.arange(len(table)), picks[at]]).all()


def test_other_entries_stay_hidden_from_the_keys_of_the_chosen_one():
    # A chooser that opens all entries with the key of its own entry finds that entry, and noise elsewhere.
    sender, chooser = ends()
    table = np.zeros((1, 256), dtype=np.uint32)
    choices = []
    _, found = together(
        lambda: tables.send(sender, np.array([256]), [table]),
        lambda: choices.append(tables.Choice(chooser, np.array([256]), np.array([37]))) or choices[0].receive(),
    )
    hidden = np.frombuffer(sender.line.sent[-1][1], dtype="<u4")
    key = np.bitwise_xor.reduce(choices[0]._keys, axis=0)
    pads = FixedKeyHash(KEY)(np.broadcast_to(key, (256, 2)), Tweaks(1).take(Use.TABLE_ENTRIES, 256))
    opened = hidden ^ pads[:, 0].astype(np.uint32)
    assert found.tolist() == [0]
    assert np.flatnonzero(opened == 0).tolist() == [37]


@pytest.mark.parametrize(
    ("module", "package"), [("cryptography.hazmat.primitives", "cryptography"), ("nacl", "PyNaCl")]
)
def test_a_library_that_is_not_installed_is_named(module, package, monkeypatch):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(
        Missing, match=rf"needs {package}, which is not installed; install it with: pip install 'setveil\[presence\]'"
    ):
        libraries.curve() if package == "PyNaCl" else FixedKeyHash(KEY)


def test_importing_the_backend_imports_no_extra():
    code = (
        "import sys, setveil.presence.secure.two_party.session, setveil.presence.secure.two_party.collector;"
        "print([m for m in ('cryptography', 'nacl', 'mpyc') if m in sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
