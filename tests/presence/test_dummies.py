"""Rows of dummies come from a keyed stream."""

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import setveil as sv
from setveil.presence.dummies import row_choices
from setveil.presence.tables.population import Population

from oracle.mondrian import drawn_number

KEY = bytes(range(16))


@given(st.binary(min_size=16, max_size=64), st.binary(max_size=40), st.integers(0, 9), st.integers(1, (1 << 31) - 1))
def test_each_id_draws_as_defined(key, context, ids, below):
    blocks = Population.of([str(n) for n in range(ids + 1)]).blocks
    one_by_one = [drawn_number(key, context, blocks[16 * n : 16 * (n + 1)], below) for n in range(ids + 1)]
    assert row_choices(key, context, blocks, below).tolist() == one_by_one


def test_a_known_answer():
    # Worked out apart, with the key that BLAKE2b gives: openssl enc -aes-128-ecb -nopad -K 4a36b6f193e286fb474bf73b8b65e176
    assert row_choices(KEY, b"context", bytes(16), 1_000_003).tolist() == [69_137]


def test_draws_are_even_and_depend_on_key_and_context():
    blocks = Population.of([str(n) for n in range(30_000)]).blocks
    drawn = row_choices(KEY, b"one", blocks, 10)
    counts = np.bincount(drawn, minlength=10)
    assert ((counts - 3_000) ** 2 / 3_000).sum() < 34  # chi square with 9 degrees of freedom: 1 in 10,000
    for key, context in ((KEY, b"two"), (KEY[::-1], b"one")):
        assert 0.08 < (row_choices(key, context, blocks, 10) == drawn).mean() < 0.12


@pytest.mark.parametrize(
    ("key", "blocks", "below", "words"),
    [
        (b"short", bytes(16), 5, "the dummy key has 5 bytes"),
        (bytes(65), bytes(16), 5, "the dummy key has 65 bytes"),
        (KEY, bytes(17), 5, "expected 16 bytes per id"),
        (KEY, bytes(16), 0, "the number of rows to draw from is 0"),
        (KEY, bytes(16), 1 << 31, "the number of rows to draw from is 2,147,483,648"),
    ],
)
def test_what_cannot_be_used_is_refused(key, blocks, below, words):
    with pytest.raises(sv.BadParameter, match=words):
        row_choices(key, b"", blocks, below)


def test_without_the_extra_the_error_names_it():
    code = (
        "import sys; sys.modules['cryptography'] = None\n"
        "import setveil.catalog\n"
        "from setveil.presence.dummies import row_choices\n"
        "from setveil.errors import Missing\n"
        "try: row_choices(bytes(16), b'', bytes(16), 5)\n"
        "except Missing as error: print(error)\n"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "pip install 'setveil[presence]'" in found.stdout
