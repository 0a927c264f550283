"""Every circuit against whole numbers, and half-gates against plain bits and against a slow twin."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from setveil.presence.secure.two_party import circuits, half_gates
from setveil.presence.secure.two_party.blocks import lowest_bits
from setveil.presence.secure.two_party.extension import Chooser, Sender
from setveil.presence.secure.two_party.gates import PlainGates, ands_of, bits_of
from setveil.presence.secure.two_party.hashing import FixedKeyHash, Tweaks, Use

from oracle import half_gates as slow
from support.exhaustive import examples
from support.presence_lines import line, together

KEY = bytes(range(16))
PLAIN = PlainGates()


def number(block):
    return int(block[0]) | int(block[1]) << 64


def signed(value, width):
    value %= 1 << width
    return value - (1 << width) if value >> (width - 1) else value


def wires(numbers, width):
    """Return bits (width x numbers) of whole numbers of any sign."""
    return bits_of(np.array([value % (1 << width) for value in numbers], dtype=np.uint64), width)


def as_numbers(bits):
    return [sum(int(bit) << place for place, bit in enumerate(column)) for column in np.asarray(bits).T]


@st.composite
def pairs(draw, least_width=2):
    """Return a width and pairs of numbers of it, of which many lie at the borders."""
    width = draw(st.integers(least_width, 62))
    border = st.sampled_from([0, 1, (1 << width) - 1, 1 << (width - 1), (1 << (width - 1)) - 1])
    value = st.one_of(border, st.integers(0, (1 << width) - 1))
    couples = draw(st.lists(st.tuples(value, value), min_size=1, max_size=6))
    opposite = [(p, -p % (1 << width)) for p, _ in couples] + [(p, (-p - 1) % (1 << width)) for p, _ in couples]
    return width, couples + opposite


@settings(deadline=None)
@given(pairs())
def test_sums_and_their_signs(drawn):
    width, couples = drawn
    p, q = (wires(side, width) for side in zip(*couples, strict=True))
    assert as_numbers(circuits.total(PLAIN, p, q)) == [(x + y) % (1 << width) for x, y in couples]
    assert circuits.sign(PLAIN, p, q).tolist() == [signed(x + y, width) < 0 for x, y in couples]
    assert circuits.not_negative(PLAIN, p, q).tolist() == [signed(x + y, width) >= 0 for x, y in couples]


@settings(deadline=None)
@given(pairs())
def test_comparison_of_signed_numbers_whose_difference_fits(drawn):
    width, couples = drawn
    half = [(signed(x, width) // 2, signed(y, width) // 2) for x, y in couples]
    half += [(x, x) for x, _ in half]
    x, y = (wires(side, width) for side in zip(*half, strict=True))
    assert circuits.less(PLAIN, x, y).tolist() == [a < b for a, b in half]


def test_all_sums_and_comparisons_of_three_bits():
    p, q = (wires(side.reshape(-1), 3) for side in np.meshgrid(np.arange(8), np.arange(8)))
    both = list(zip(as_numbers(p), as_numbers(q), strict=True))
    assert as_numbers(circuits.total(PLAIN, p, q)) == [(x + y) % 8 for x, y in both]
    fits = [(x, y) for x, y in both if -4 <= signed(x, 3) - signed(y, 3) < 4]
    x, y = (wires(side, 3) for side in zip(*fits, strict=True))
    assert circuits.less(PLAIN, x, y).tolist() == [signed(a, 3) < signed(b, 3) for a, b in fits]


def test_a_sum_of_one_bit():
    p, q = np.array([[0, 0, 1, 1]], dtype=bool), np.array([[0, 1, 0, 1]], dtype=bool)
    assert circuits.total(PLAIN, p, q).tolist() == [[False, True, True, False]]
    assert circuits.sign(PLAIN, p, q).tolist() == [False, True, True, False]


@pytest.mark.parametrize("count", range(1, 8))
def test_all_of_and_at_least_for_every_pattern(count):
    bits = bits_of(np.arange(1 << count, dtype=np.uint64), count)
    assert circuits.all_of(PLAIN, bits).tolist() == bits.all(axis=0).tolist()
    for least in range(1, count + 2):
        found = circuits.at_least(PLAIN, bits, least, bits.shape[1:])
        assert found.tolist() == (bits.sum(axis=0) >= least).tolist()


@settings(deadline=None)
@given(st.integers(0, 4), st.integers(4, 40), st.integers(0, 2**32 - 1), st.sampled_from([1, 2, None]))
def test_the_first_of_the_highest(rounds, width, seed, reach):
    most = (1 << (width - 2)) - 1 if reach is None else reach
    scores = np.random.default_rng(seed).integers(-most, most + 1, (1 << rounds, 9))
    found = circuits.first_highest(PLAIN, bits_of(scores.astype(np.uint64), width))
    assert len(found) == rounds
    assert (as_numbers(found) if rounds else [0] * 9) == np.argmax(scores, axis=0).tolist()


def shared(numbers, width, seed):
    """Return bits of two random shares of numbers (numbers x batch)."""
    mine = np.random.default_rng(seed).integers(0, 1 << 63, numbers.shape, dtype=np.uint64)
    return bits_of(mine, width), bits_of(numbers.astype(np.uint64) - mine, width)


def rules_case(seed, least):
    random = np.random.default_rng(seed)
    rules, parts, values, batch, width = random.integers(0, 4), random.integers(1, 3), random.integers(1, 5), 12, 9
    numbers = random.integers(-1, 40, (rules, batch))
    counts = random.integers(0, 2, (values, parts, batch))
    circuit = partial(circuits.keeps_rules, rules=int(rules), parts=int(parts), least_values=least)
    kept = (numbers >= 0).all(axis=0)
    if least > 1:
        kept &= ((counts > 0).sum(axis=0) >= least).all(axis=0)
        numbers = np.concatenate([numbers, (counts - 1).reshape(-1, batch)])
    return circuit, *shared(numbers, width, seed), kept


@settings(deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 4))
def test_rules_are_kept_if_no_number_is_negative_and_enough_values_occur(seed, least):
    circuit, p, q, kept = rules_case(seed, least)
    assert circuit(PLAIN, p, q).tolist() == [kept.tolist()]


@pytest.fixture(scope="module")
def parties():
    to_b, to_a = line()
    return together(
        lambda: Sender(to_b, b"test", FixedKeyHash(KEY), Tweaks(1)),
        lambda: Chooser(to_a, b"test", FixedKeyHash(KEY), Tweaks(1)),
    )


def garbled(parties, circuit, p, q):
    mine, theirs = together(
        lambda: half_gates.garble(parties[0], circuit, p), lambda: half_gates.evaluate(parties[1], circuit, q)
    )
    return mine ^ theirs


@settings(deadline=None, max_examples=examples(25))
@given(seed=st.integers(0, 2**32 - 1), width=st.integers(2, 62), least=st.integers(1, 3))
def test_half_gates_give_what_plain_bits_give(parties, seed, width, least):
    random = np.random.default_rng(seed)
    p, q = random.random((2, width, 4, 5)) < 0.5
    for circuit in (circuits.total, circuits.not_negative, circuits.best_candidate):
        assert (garbled(parties, circuit, p, q) == circuit(PLAIN, p, q)).all()
    circuit, p, q, kept = rules_case(seed, least)
    assert garbled(parties, circuit, p, q).tolist() == [kept.tolist()]


def test_the_size_of_what_is_sent_is_two_blocks_an_and_and_a_seed(parties):
    p = np.zeros((20, 4, 7), dtype=bool)
    garbled(parties, circuits.not_negative, p, p)
    kind, payload = next(message for message in reversed(parties[0].line.sent) if message[0] == "garbled")
    assert kind == "garbled"
    assert len(payload) == 16 + 32 * 4 * 7 * 19
    assert ands_of(circuits.not_negative, 20, 4) == 4 * 19
    # Eight sums, seven comparisons, six choices of a score, and of the bits of a number two times one and once two.
    assert ands_of(circuits.best_candidate, 20, 8) == 8 * 19 + 7 * 19 + 6 * 20 + 2 * 1 + 1 * 2


def test_an_and_is_that_of_the_slow_twin(parties):
    sender, chooser = parties
    random = np.random.default_rng(4)
    zero_a, zero_b = random.integers(0, 1 << 63, (2, 8, 2), dtype=np.uint64)
    delta = number(sender.delta)
    bits = bits_of(np.arange(8, dtype=np.uint64), 2)
    mask = np.where(bits[..., None], sender.delta, np.uint64(0))
    sender.tweaks, chooser.tweaks = Tweaks(7), Tweaks(7)
    tweaks = Tweaks(7).take(Use.GATES, 2, 8)
    garbling = half_gates._Garbling(sender)
    zero_c = garbling.both(zero_a, zero_b)
    found = half_gates._Evaluating(chooser, np.concatenate(garbling.made)).both(zero_a ^ mask[0], zero_b ^ mask[1])
    for place in range(8):
        used = number(tweaks[0, place]), number(tweaks[1, place])
        first, second, zero = slow.garbled_and(KEY, delta, number(zero_a[place]), number(zero_b[place]), used)
        assert (number(garbling.made[0][place]), number(garbling.made[1][place])) == (first, second)
        assert number(zero_c[place]) == zero
        held = number((zero_a ^ mask[0])[place]), number((zero_b ^ mask[1])[place])
        label = slow.evaluated_and(KEY, *held, first, second, used)
        assert number(found[place]) == label == zero ^ (delta if bits[:, place].all() else 0)
    assert (lowest_bits(found) ^ lowest_bits(zero_c) == bits.all(axis=0)).all()
