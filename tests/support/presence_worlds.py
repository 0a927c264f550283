"""Small worlds of two providers, runs of the whole protocol in them, and what the slow twin says of the same."""

from fractions import Fraction

import numpy as np
from hypothesis import strategies as st

from setveil.presence.dummies import KeyedStream, id_blocks
from setveil.presence.methods.base import Keys
from setveil.presence.methods.dummy_users import DummyUsers
from setveil.presence.tables.attributes import OrderedAttribute
from setveil.presence.tables.originals import Originals
from setveil.presence.tables.population import Population
from setveil.presence.tables.provider_table import ProviderTable
from setveil.presence.tables.schema import Schema
from setveil.presence.trial import policy_of, simulate

from oracle.dummy_protocol import Protocol

KEYS = Keys(bytes(range(32)), bytes(range(100, 132)))
LIMITS = {"max_a": "9/10", "min_a": "1/10", "max_b": "9/10", "min_b": "1/10"}


def attribute(name, cells):
    return OrderedAttribute(name, tuple(f"{name}{number}" for number in range(cells)))


def world(seed, people=60, *, cells=((5, 3), (4, 7)), values=2, chance=(0.6, 0.5)):
    """Return tables whose columns depend on each other a little."""
    rng = np.random.default_rng(seed)
    schema = Schema(
        tuple(attribute(f"a{n}-", count) for n, count in enumerate(cells[0])),
        tuple(attribute(f"b{n}-", count) for n, count in enumerate(cells[1])),
        attribute("s", max(values, 2)),
    )
    population = Population.of([f"u{number}" for number in rng.permutation(people)])
    tables = {}
    for side, share in zip("ab", chance, strict=True):
        here = rng.random(people) < share
        here[rng.integers(people)] = True
        codes = np.column_stack([rng.integers(0, one.cells, people) for one in schema.of(side)]).astype(np.int32)
        chosen = population.ids.filter(here.tolist())
        tables[side] = ProviderTable(
            chosen, codes[here], rng.integers(0, values, people)[here].astype(np.int64) if side == "b" else None
        )
    return Originals(schema, population, tables["a"], tables["b"])


def methods(**fixed):
    """Draw limits, so narrow at times that equality decides."""
    share = st.sampled_from(["0", "1/10", "1/5", "1/4", "1/3"])
    high = st.sampled_from(["2/3", "3/4", "4/5", "9/10", "1"])
    return st.builds(
        lambda **drawn: DummyUsers(**(drawn | fixed)),
        min_a=share, min_b=share, max_a=high, max_b=high,
        k=st.integers(1, 3), l=st.integers(1, 2),
        scope=st.sampled_from(["qi", "qi+sa"]), score=st.sampled_from(["both", "own"]),
        alpha=st.sampled_from(["0", "1/2", "1"]), candidates=st.sampled_from([2, 3, 8]),
        margin=st.sampled_from(["0", "1/20"]), outsiders=st.sampled_from([0, 1]),
    )  # fmt: skip


def run(method, originals, keys=KEYS):
    """Run all three parties in this process."""
    return simulate(policy_of(method, originals), originals, keys)


def with_backend(method, backend, **changed):
    return DummyUsers(**(method.model_dump(mode="json") | {"backend": backend} | changed))


def opened(result):
    """Return what a provider noted as opened, by kind and way."""
    return {(entry.kind, entry.way): entry.value for entry in result.divided.openings.entries if entry.kind != "counts"}


def slow_twin(method, originals, keys=KEYS):
    """Return the same run in plain Python, with the draws of the same keyed streams."""
    context = bytes.fromhex(policy_of(method, originals).division_sha256)
    names = originals.population.ids.to_pylist()
    blocks = dict(zip(names, id_blocks(originals.population.blocks), strict=True))
    key_of = {"a": keys.a, "b": keys.b}

    def draw(side, name, way):
        stream = KeyedStream(key_of[side], context, b"dummy rows")
        return int(stream.draw(blocks[name][None, :], [way.encode()], np.array([1]))[0])

    def order(side, way):
        return (
            KeyedStream(key_of[side], context, b"order of cuts").shuffles([way.encode()], method.candidates)[0].tolist()
        )

    limits = {name: Fraction(str(getattr(method, name).share)) for name in (*LIMITS, "margin", "alpha")}
    plain = {name: getattr(method, name) for name in ("k", "l", "scope", "score", "candidates", "outsiders")}
    rows = {
        side: dict(zip(originals.table(side).ids.to_pylist(), originals.table(side).codes.tolist(), strict=True))
        for side in "ab"
    }
    sensitive = dict(zip(originals.table("b").ids.to_pylist(), originals.table("b").sensitive.tolist(), strict=True))
    cells = {side: [one.cells for one in originals.schema.of(side)] for side in "ab"}
    twin = Protocol(limits | plain, cells, rows, sensitive, names, draw, order)
    twin.run()
    return twin
