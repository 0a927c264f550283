"""Before a run: a party that means another run is refused with the reason, and both parties contribute to the nonce."""

import dataclasses
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from setveil import __version__
from setveil.errors import PeerFailed
from setveil.presence.transport.frames import NO_NONCE
from setveil.presence.transport.handshake import PROTOCOL, Greeting, greet
from setveil.presence.transport.local import local_pair

from support.exhaustive import examples
from support.parties import HASHES, Task, lines

MINE = Greeting("a", policy=HASHES[0], population=HASHES[1], backend="two-party", data=HASHES[6], last_run="1" * 32)
THEIRS = dataclasses.replace(MINE, role="b", data=HASHES[7], again=True, last_run=None)


def both(mine, theirs, pair):
    """Let both greet; return what each got or which error it met."""
    tasks = [Task(greet, channel, greeting) for channel, greeting in zip(pair, (mine, theirs), strict=True)]
    return [outcome(task) for task in tasks]


def outcome(task):
    try:
        return task.result()
    except PeerFailed as error:
        return error


def test_who_agrees_gets_the_others_greeting_and_a_nonce_of_both():
    with lines() as (a, b):
        assert both(MINE, THEIRS, (a, b)) == [THEIRS, MINE]
        assert a._outgoing.nonce == a._incoming.nonce == b._outgoing.nonce == b._incoming.nonce != NO_NONCE
        a.send("x", b"1")
        assert b.receive("x", 1) == b"1"


def test_a_message_of_an_earlier_run_is_refused():
    a, b = local_pair("a", "b")
    both(MINE, THEIRS, (a, b))
    a._outgoing.nonce = NO_NONCE
    a.send("x", b"1")
    with pytest.raises(PeerFailed, match="provider A sent a message of another run"):
        b.receive("x", 1)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            {"policy": HASHES[2], "population": HASHES[3], "backend": "mpyc", "setveil": "9.9"},
            f"has another policy: {HASHES[2][:12]} there, {HASHES[0][:12]} here; compare the two policy files",
        ),
        ({"setveil": "9.9"}, f"uses setveil 9.9, this party {__version__}; install the same version"),
        ({"role": "c"}, "says that it is the collector, against its certificate"),
        (
            {"population": HASHES[3]},
            f"has another population: {HASHES[3][:12]} there, {HASHES[1][:12]} here; compare the two population files",
        ),
        ({"backend": "mpyc"}, "computes with the backend mpyc, this party with two-party; choose the same"),
        ({"data": None}, "sent no commitment to its data, without which a change of the data goes unnoticed"),
        (
            {"protocol": PROTOCOL + 1},
            f"uses version {PROTOCOL + 1} of the protocol, this program uses version {PROTOCOL}",
        ),
    ],
)
def test_each_disagreement_is_named_and_both_hear_of_it(change, said):
    pair = local_pair("a", "b")
    here, there = both(MINE, dataclasses.replace(THEIRS, **change), pair)
    assert str(here).startswith(f"provider B {said}")
    assert isinstance(there, PeerFailed)
    assert there.party == "provider A"
    if "role" in change or "data" in change:  # only one side can see that
        assert str(there).startswith(f"provider A stopped: seen from provider A: provider B {said}")


def test_a_party_without_the_population_agrees_with_any():
    pair = local_pair("a", "c")
    mine = dataclasses.replace(MINE, data=None, last_run=None)
    theirs = dataclasses.replace(mine, role="c", population=None)
    assert both(mine, theirs, pair) == [theirs, mine]


def test_a_disagreement_over_tls_is_told_to_both():
    with lines() as pair:
        here, there = both(MINE, dataclasses.replace(THEIRS, policy=HASHES[5]), pair)
    assert "provider B has another policy" in str(here)
    assert "another policy" in str(there)
    assert there.party == "provider A"


@settings(max_examples=examples(100))
@given(
    st.one_of(
        st.binary(max_size=1024),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.text(max_size=8),
            lambda inner: (
                st.lists(inner, max_size=4)
                | st.dictionaries(st.sampled_from([field.name for field in dataclasses.fields(Greeting)]), inner)
            ),
        ).map(lambda value: json.dumps(value).encode()[:1024]),
        st.just(b"[" * 1024),
    )
)
def test_a_greeting_of_any_bytes_is_an_error_that_names_the_party(raw):
    a, b = local_pair("a", "b", timeout=0.5)
    b.send("greeting", raw)
    b.close()
    with pytest.raises(PeerFailed) as refused:
        greet(a, MINE)
    assert refused.value.party == "provider B"
    assert str(refused.value).isprintable()


@pytest.mark.parametrize(
    "wrong",
    [
        {"policy": "abc"},
        {"backend": "two party"},
        {"role": "d"},
        {"protocol": True},
        {"data": "abc"},
        {"again": 1},
        {"last_run": "1" * 31},
    ],
)
def test_a_greeting_that_cannot_be_is_a_mistake_of_the_caller(wrong):
    with pytest.raises(ValueError, match="a greeting must hold"):
        dataclasses.replace(MINE, **wrong)
