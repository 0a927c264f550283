"""No key, id, customer key or value of the data occurs in anything that a party prints, logs, shows as its repr or publishes."""

import base64
import hashlib
import logging
import random
from contextlib import contextmanager
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pytest

from setveil.base import progress
from setveil.errors import BadData, BadParameter, GuaranteeViolated, SetveilError
from setveil.presence import parties as product_parties
from setveil.presence.cutting import Cutter
from setveil.presence.dummies import KeyedStream, row_choices
from setveil.presence.methods.base import Keys
from setveil.presence.methods.dummy_users import DummyUsers
from setveil.presence.parties import run_provider
from setveil.presence.protocol import ProviderProtocol
from setveil.presence.release.release import StagedTable
from setveil.presence.secure.two_party import extension
from setveil.presence.secure.two_party.session import TwoPartySession
from setveil.presence.tables.originals import BothGroups, Originals
from setveil.presence.tables.population import Population
from setveil.presence.tables.provider_table import ProviderTable
from setveil.presence.transport.local import local_pair
from setveil.presence.trial import policy_of

from support.parties import homes
from support.presence_meddling import WAYS, Meddler
from support.presence_recordings import honest, known_base_transfers, play
from support.presence_worlds import with_backend, world

KEYS = Keys(b"dummy key of A, never to be told", b"dummy key of B, never to be told")
METHOD = DummyUsers(min_a="0", max_a="1", min_b="0", max_b="1", k=2, scope="qi", candidates=4)
SPOILT_RUNS = 36


def named_world(seed=1, people=60):
    """Return a world whose ids and customer keys can be found wherever they are."""
    plain = world(seed, people)
    names = {name: f"person-{random.Random(name).randrange(16**12):012x}" for name in plain.population.ids.to_pylist()}  # noqa: S311

    def renamed(ids):
        return pa.array([names[one] for one in ids.to_pylist()], pa.large_string())

    def with_customers(table, role):
        keys = [f"customer-{random.Random(role + name).randrange(16**12):012x}" for name in table.ids.to_pylist()]  # noqa: S311
        return ProviderTable(renamed(table.ids), table.codes, table.sensitive, pa.array(keys, pa.large_string()))

    tables = [with_customers(plain.a, "a"), with_customers(plain.b, "b")]
    return Originals(plain.schema, Population(renamed(plain.population.ids)), *tables)


class Secrets:
    """What must not be found, in all the forms in which it might be written."""

    def __init__(self, originals):
        self.customers = [key for side in "ab" for key in originals.table(side).persons.to_pylist()]
        self.ids = [*originals.population.ids.to_pylist(), *self.customers]
        self.deltas = []
        self.blocks = originals.population.blocks
        pems = [(home.folder / "key.pem").read_text().splitlines()[1:-1] for home in homes().values()]
        self.keys = [KEYS.a, KEYS.b, *(home.dummy_key() for home in homes().values())]
        self.texts = [line for lines in pems for line in lines]
        tables = [originals.a.codes, originals.b.codes, originals.b.sensitive]
        self.raw = [one.astype(kind).tobytes() for one in tables for kind in ("<i4", "<i8", "<i2", "u1")]
        self.raw += [self.blocks[at : at + 16] for at in range(0, len(self.blocks), 16)]
        self.raw += [originals.existing(side).tobytes() for side in "ab"]
        self.raw += [np.packbits(originals.existing(side)).tobytes() for side in "ab"]

    def of_text(self):
        binary = [*self.keys, *(delta.tobytes() for delta in self.deltas)]
        forms = [
            *(one.hex() for one in binary), *(repr(one)[2:-1] for one in binary),
            *(base64.b64encode(one).decode()[:20] for one in binary),
            *(str(int(word)) for delta in self.deltas for word in delta),
            *(f"{int(word):x}" for delta in self.deltas for word in delta),
        ]  # fmt: skip
        return [*self.ids, *(one.partition("-")[2] for one in self.ids), *self.texts, *forms]

    def told(self, text):
        """Return the secrets that a text reveals; whole arrays must not be shown either."""
        return [one for one in (*self.of_text(), "array(", "person-", "customer-") if one in text]

    def held(self, payload):
        """Return what of it some bytes hold."""
        sought = [*self.keys, *(delta.tobytes() for delta in self.deltas), *self.raw]
        sought += [one.encode(code) for one in self.of_text() for code in ("utf-8", "utf-16-le")]
        return [one for one in sought if one in payload]

    def customers_in(self, payload):
        """Return the customer keys that some bytes hold, as they are or hashed."""
        keys = [one.encode() for one in self.customers]
        hashes = [(hashlib.sha256(key).digest(), hashlib.blake2b(key, digest_size=16).digest()) for key in keys]
        return [
            one
            for one, key, hashed in zip(self.customers, keys, hashes, strict=True)
            if any(form in payload for form in (key.partition(b"-")[2], *hashed))
        ]


class Listener:
    """Keeps every label and note."""

    def __init__(self):
        self.texts = []

    @contextmanager
    def step(self, label, total):
        self.texts.append(f"{label} {total}")
        yield lambda done: self.texts.append(str(done))

    def note(self, text):
        self.texts.append(text)


@contextmanager
def everything_told(caplog):
    """Give a list of all logs, labels and notes of the block, and keep the secrets of the computation too."""
    listener, originals = Listener(), named_world()
    found = Secrets(originals)
    real = extension.random_block

    def noted():
        delta = real()
        found.deltas.append(delta | np.array([1, 0], dtype=np.uint64))
        return delta

    with (
        caplog.at_level(logging.DEBUG),
        progress.reporting(listener),
        patch.object(extension, "random_block", noted),
        known_base_transfers(),
    ):
        yield originals, found, listener.texts
    listener.texts.append(caplog.text)


def whole_text(error):
    """Return all that an error can show: its words, its notes, its verdict, and the same of those it came from."""
    shown = []
    while error is not None:
        shown += [str(error), repr(error), repr(error.args), *getattr(error, "__notes__", [])]
        shown += [str(getattr(error, "verdict", "")), repr(getattr(error, "verdict", ""))]
        error = error.__cause__ or error.__context__
    return "\n".join(shown)


def test_what_is_told_in_runs_that_fail_holds_no_secret(caplog):
    with everything_told(caplog) as (originals, hidden, texts):
        errors = []
        for number in range(SPOILT_RUNS):
            dice = random.Random(number)  # noqa: S311 - the same faults in every run
            direction = dice.choice(["ab", "ba", "ab", "ba", "ac", "bc", "ca", "cb"])
            meddler = Meddler(dice, direction, dice.randrange(5 if "c" in direction else 25), WAYS[number % len(WAYS)])
            played = play(METHOD, originals, KEYS, timeout=0.5, collector_timeout=4.0, meddle=meddler)
            errors += played.errors.values()
    texts += [whole_text(error) for error in errors]
    assert len({str(error) for error in errors}) > 15
    assert hidden.deltas
    assert any("dividing groups" in text for text in texts)
    assert hidden.told("\n".join(texts)) == []


def wrong_inputs(originals):
    """Return calls that are refused, each with data at hand."""
    population, policy = originals.population, policy_of(METHOD, originals)
    line = local_pair("a", "b")[0]
    ids, customers = originals.a.ids.to_pylist(), originals.a.persons.to_pylist()

    def provider(table=originals.a, people=population, key=KEYS.a):
        return run_provider("a", policy, table, people, key, peer=line, collector=line)

    def table(of, persons=None):
        keys = None if persons is None else pa.array(persons, pa.large_string())
        return ProviderTable(pa.array(of, pa.large_string()), np.zeros((len(of), 2), dtype=np.int32), persons=keys)

    session = TwoPartySession("b", policy.rules(len(population)), local_pair("b", "a")[0])
    return {
        "another population": lambda: provider(people=Population.of(population.ids.to_pylist()[::-1])),
        "a person outside": lambda: provider(table=table([*ids, "person-outside"])),
        "a short key": lambda: provider(key=KEYS.a[:15]),
        "a long key": lambda: KeyedStream(KEYS.a * 3, b"", b"rows"),
        "no rows": lambda: row_choices(KEYS.a, b"", population.blocks, 0),
        "half a block": lambda: row_choices(KEYS.a, b"", population.blocks[1:], 5),
        "a person twice": lambda: table([ids[0], ids[0]]),
        "a control character": lambda: table([ids[0], ids[1] + "\n"]),
        "a customer twice": lambda: table(ids[:2], [customers[0], customers[0]]),
        "a control character of a customer": lambda: table(ids[:2], [customers[0], customers[1] + "\n"]),
        "fewer customers": lambda: table(ids[:2], customers[:1]),
        "a population with a person twice": lambda: Population.of([ids[0], ids[0]]),
        "no sensitive values": lambda: session.begin(originals.existing("b"), None),
        "other sensitive values": lambda: session.begin(originals.existing("b"), np.full(len(population), 99)),
        "people missing": lambda: session.begin(originals.existing("b")[1:], originals.sensitive()[1:]),
    }


@pytest.mark.parametrize("name", wrong_inputs(named_world()))
def test_what_is_told_of_wrong_input_holds_no_secret(name, caplog):
    with everything_told(caplog) as (originals, hidden, texts):
        with pytest.raises((BadData, BadParameter)) as caught:
            wrong_inputs(originals)[name]()
        texts.append(str(caught.value) + repr(caught.value))
    assert hidden.told("\n".join(texts)) == []


def test_what_is_told_of_a_broken_policy_holds_no_secret(caplog):
    with everything_told(caplog) as (originals, hidden, texts):
        strict = DummyUsers(**(METHOD.model_dump(mode="json") | {"k": 50}))
        errors = list(play(strict, originals, KEYS).errors.values())
        ended = honest(METHOD, originals, KEYS)
        table, groups = ended.published[0], BothGroups(*(ended.results[role].divided.groups for role in "ab"))
        narrow = DummyUsers(
            **(METHOD.model_dump(mode="json") | {"min_a": "9/10", "min_b": "9/10", "scope": "qi+sa", "k": 9})
        )
        verdicts = [one.check(table, original=originals, alignment=groups) for one in narrow.guarantees]
    assert sum(isinstance(error, GuaranteeViolated) for error in errors) == 2
    assert not any(verdicts)
    texts += [*map(whole_text, errors), *map(str, verdicts), *map(repr, verdicts)]
    assert hidden.told("\n".join(texts)) == []


def test_what_objects_show_of_themselves_holds_no_secret(caplog):
    kept = []

    def keeping(real):
        def made(self, *given, **named):
            real(self, *given, **named)
            kept.append(self)

        return made

    with everything_told(caplog) as (originals, hidden, texts), pytest.MonkeyPatch.context() as patched:
        for one in (ProviderProtocol, TwoPartySession, Cutter):
            patched.setattr(one, "__init__", keeping(one.__init__))
        played = honest(METHOD, originals, KEYS)
    sessions = [one for one in kept if isinstance(one, TwoPartySession)]
    assert len(kept) == 6
    objects = [*kept, KEYS, *homes().values(), *(home.credentials() for home in homes().values()), originals]
    objects += [originals.a, originals.population, *played.results.values(), *local_pair("a", "b")]
    for session in sessions:
        objects += [session._sender, session._chooser, session._people, session._common, session.openings]
        objects += [session._people._sent, session._people._chosen, session._sender.hash, session._sender.tweaks]
    for result in (played.results["a"], played.results["b"]):
        objects += [result.divided, result.divided.groups, result.divided.openings, *result.divided.openings.entries]
    for one in kept:
        objects += [value for value in vars(one).values() if type(value).__module__.startswith("setveil")]
    for one in objects:
        shown = repr(one).replace(repr(played.published[0]), "").replace(repr(played.results["a"].table), "")
        shown = shown.replace(repr(played.results["b"].table), "")  # what is published may be shown
        assert hidden.told(shown.replace(repr(sessions[0].rules), "")) == [], type(one)
    assert hidden.told("\n".join(texts)) == []


@pytest.mark.parametrize("counts_to", ["b", "c"])
def test_the_collector_gets_and_publishes_nothing_of_single_people(counts_to, caplog, tmp_path):
    method = DummyUsers(**(METHOD.model_dump(mode="json") | {"counts_to": counts_to}))
    staged = StagedTable(tmp_path / "out", tmp_path / "private", method, policy_sha256="0" * 64)

    def publish(table):
        staged.stage(table)
        staged.check({"k-anonymity"})
        staged.complete({"k-anonymity": "by the collector", "site-presence": "by each provider"})
        return staged.commit

    with everything_told(caplog) as (originals, hidden, _texts), staged:
        played = honest(method, originals, KEYS, publish=publish)
    files = [one for one in tmp_path.rglob("*") if one.is_file()]
    assert len(files) >= 3
    for one in files:
        assert hidden.held(one.read_bytes()) == [], one.name
    groups = played.results["a"].divided.groups
    assert groups.groups > 4
    sizes = np.sort(np.bincount(groups.group_of))
    received = played.received("c")
    for message in received:
        assert hidden.held(message.payload) == [], message.kind
        for kind in ("<i4", "<i8"):
            if len(message.payload) % int(kind[2]) == 0:
                numbers = np.frombuffer(message.payload, dtype=kind)
                columns = numbers.reshape(groups.groups, -1).T if numbers.size % groups.groups == 0 else []
                assert not any(np.array_equal(np.sort(column), sizes) for column in columns), message.kind
    # There is room for nothing else: a number of groups, intervals, counts, and a bit.
    widths = {"groups": 8, "kept": 1, "boxes": 4 * 2 * groups.groups, "counts": 8 * 2 * groups.groups}
    widths["open-counts"] = 4 * 2 * groups.groups
    assert all(len(message.payload) == widths[message.kind] for message in received)


@pytest.mark.parametrize("backend", ["clear", "two-party", "mpyc"])
def test_no_message_holds_a_customer_key(backend, caplog):
    """Both at the sender and at the receiver."""
    with everything_told(caplog) as (originals, hidden, _texts):
        played = honest(with_backend(METHOD, backend), originals, KEYS)
    sent = [message for role in "abc" for message in played.seen[role] if message.sent]
    assert {message.peer for message in sent} == set("abc")
    for message in sent:
        assert hidden.customers_in(message.payload) == [], message.kind
    for key in hidden.customers[:3]:
        for payload in (key.encode(), hashlib.sha256(key.encode()).digest()):
            assert hidden.customers_in(b"before" + payload + b"after") == [key]


def test_what_would_be_told_is_found(caplog, monkeypatch):
    """An id in an error, and a key or a delta in what an object shows of itself."""
    with everything_told(caplog) as (originals, hidden, texts):
        name = originals.a.ids[3].as_py()

        def failing(*_given):
            raise SetveilError(f"{name} is where it should not be")

        monkeypatch.setattr(product_parties, "_checked_alone", failing)
        errors = play(METHOD, originals, KEYS, timeout=2.0).errors
        texts += [str(error) for error in errors.values()]
    assert name in hidden.told("\n".join(texts))
    delta = hidden.deltas[0]
    for shown in (
        repr(KEYS.a),
        KEYS.b.hex(),
        repr(delta),
        str(delta.tolist()),
        delta.tobytes().hex(),
        base64.b64encode(KEYS.a).decode(),
    ):
        assert hidden.told(f"Session({shown})"), shown
    for payload in (
        KEYS.a,
        originals.population.blocks,
        originals.b.codes.astype("<i4").tobytes(),
        name.encode("utf-16-le"),
    ):
        assert hidden.held(b"before" + payload + b"after")
