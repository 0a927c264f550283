"""The ladder for who found no partner, each step against a slow twin that draws from the same generator; and what is told of it."""

from collections import Counter
from types import SimpleNamespace

import numpy as np
import pytest

import setveil as sv
from setveil.methods.tendency import _exchange
from setveil.methods.tendency._exchange import HOW, Exchange

from oracle import tendency as oracle
from support.random_data import as_sets, make

SEEDS = range(40)
HOT = pytest.mark.parametrize("hot", [0, 6])
"""How many items the signatures tell of. What is found must not depend on it: with 0 the full comparison decides everything."""


TIES = pytest.mark.parametrize("ties", ["all", "first"])


def crowded(seed):
    """Make data of which many records find no partner: few categories, some items in most records; now and then anything."""
    if seed % 5 == 4:
        return make(seed)
    rng = np.random.default_rng(seed)
    groups, people = int(rng.integers(3, 6)), int(rng.integers(12, 35))
    crowd, items = int(rng.choice([2, 12])), int(rng.choice([8, 60]))
    lists = []
    for _ in range(people):
        lean = min(int(rng.integers(groups + crowd)), groups - 1)  # the last category has the crowd
        second = [int(rng.integers(groups))] * 2 if rng.random() < 0.3 else []
        leans = [lean] * int(rng.integers(1, 4)) + second + [h for h in range(groups) if rng.random() < 0.4]
        lists.append({f"g{g}-{int(items * rng.random() ** 2)}" for g in leans})
    data = sv.from_lists(map(sorted, lists))
    return data, sv.Categories({i: i.split("-")[0] for i in data.vocabulary})


def begun(seed, *, same="top", full_min=2, steps=(), ties="all"):
    """Return an exchange after the partner search and the given steps, and everything a twin needs to go on from there."""
    data, categories = crowded(seed)
    exchange = Exchange(data, categories, ties=ties)
    rng = np.random.default_rng(seed)
    exchange.enlist_mixed("hard", rng)
    exchange.enlist_whole(full_min, rng)
    exchange.find_partners(strict=same == "any", one_sided=False)
    exchange.rotate_whole(rng)
    for step in steps:
        exchange.treat_leftovers(step, rng)
    records = as_sets(data)
    return SimpleNamespace(
        exchange=exchange,
        data=data,
        cat=categories,
        records=records,
        taking=[records[r] for r in exchange.record],
        ties=ties,
        hidden=[oracle.hidden_categories(t, categories, ties) for t in records],
        blocks=[oracle.block(t, categories, ties) for t in records],
        waiting=exchange.waiting().tolist(),
    )


def may_give(giver, receiver, cat, same, ties):
    """Return whether the receiver can take the giver's block: another leaning, and none of the items is there."""

    def leaning(t):
        return oracle.hidden_categories(t, cat, ties) | (oracle.above_mean(t, cat) if same == "any" else set())

    return not leaning(giver) & leaning(receiver) and not oracle.block(giver, cat, ties) & receiver


def joined(state, same, rng):
    """Let who waits step between a giver and its receiver, again and again; return who gives to whom and who joined."""
    gives_to, waiting, found = state.exchange.gives_to.tolist(), state.waiting, []
    while waiting:
        giver = rng.permutation([p for p, q in enumerate(gives_to) if q >= 0])
        free = [(int(a), gives_to[a]) for a in giver]
        left = []
        for r in waiting:
            t = state.taking[r]
            fitting = [
                (a, b)
                for a, b in free
                if may_give(state.taking[a], t, state.cat, same, state.ties)
                and may_give(t, state.taking[b], state.cat, same, state.ties)
            ]
            if fitting:
                a, b = fitting[0]
                free.remove((a, b))
                gives_to[a], gives_to[r] = r, b
                found.append(r)
            else:
                left.append(r)
        if len(left) == len(waiting):
            break
        waiting = left
    return gives_to, found


def helped(state, rng):
    """Give who waits the first helper that can take the block and has something to give; return helper and items by record."""
    kinds = [oracle.kind(t, state.cat) for t in state.records]
    helpers = rng.permutation([r for r, kind in enumerate(kinds) if kind == "uniform"]).tolist()
    if not helpers:
        return {}
    priority = dict(zip(state.data.vocabulary, rng.permutation(len(state.data.vocabulary)), strict=True))
    found = {}
    for p in state.waiting:
        r = int(state.exchange.record[p])
        for u in helpers:
            offer = [i for i in state.records[u] - state.records[r] if state.cat[i] not in state.hidden[r]]
            if offer and not state.records[u] & state.blocks[r]:
                found[r] = u, sorted(offer, key=priority.get)[: len(state.blocks[r])]
                helpers.remove(u)
                break
    return found


def adopted(state, rng):
    """Move blocks to records that have their share, again and again; return the rounds and what all records hold then."""
    content = as_sets(state.exchange.result())
    taking = set(state.exchange.record.tolist())
    left = [int(state.exchange.record[p]) for p in state.waiting]
    children = [r for r in left if oracle.kind(state.records[r], state.cat) == "partial"]
    rounds = []
    while children:
        parents = rng.permutation([r for r in range(len(content)) if r not in left]).tolist()
        found = {}
        for r in children:
            for u in parents:
                barred = u in taking and state.hidden[u] & state.hidden[r]
                if not barred and not content[u] & state.blocks[r]:
                    found[r] = u
                    parents.remove(u)
                    break
        if not found:
            break
        for r, u in found.items():
            content[u] = content[u] | state.blocks[r]
            content[r] = content[r] - state.blocks[r]
        rounds.append((list(found.values()), list(found)))
        children = [r for r in children if r not in found]
        left = [r for r in left if r not in found]
    return rounds, content


@HOT
@TIES
@pytest.mark.parametrize("same", ["top", "any"])
def test_who_joins_which_exchange_equals_the_twin(hot, same, ties, monkeypatch):
    monkeypatch.setattr(_exchange, "HOT_ITEMS", hot)
    rounds = 0
    for seed in SEEDS:
        state = begun(seed, same=same, full_min=1 + seed % 2, ties=ties)
        gives_to, found = joined(state, same, np.random.default_rng(seed))
        exchange = state.exchange
        exchange.treat_leftovers("cycle", np.random.default_rng(seed))
        assert exchange.gives_to.tolist() == gives_to, seed
        assert exchange.gets_from.tolist() == [gives_to.index(p) if p in gives_to else -1 for p in range(len(gives_to))]
        assert set(exchange.record[found]) == set(np.flatnonzero(exchange.how == HOW.index("cycle")))
        rounds += len(found)
    assert rounds > 20


@HOT
@TIES
def test_who_helps_whom_with_what_equals_the_twin(hot, ties, monkeypatch):
    monkeypatch.setattr(_exchange, "HOT_ITEMS", hot)
    several = 0
    for seed in SEEDS:
        state = begun(seed, ties=ties)
        expected = helped(state, np.random.default_rng(seed))
        exchange = state.exchange
        exchange.treat_leftovers("helper", np.random.default_rng(seed))
        assert {r: int(u) for r, u in enumerate(exchange.helped_by) if u >= 0} == {
            r: u for r, (u, _) in expected.items()
        }
        given = {u: [state.data.vocabulary[i] for i in items] for u, items in exchange.given.items()}
        assert given == dict(expected.values()), seed
        assert {r for r, how in enumerate(exchange.how) if HOW[how] == "helper"} == set(expected)
        several += sum(len(items) > 1 for items in given.values())
    assert several > 20


@HOT
@TIES
@pytest.mark.parametrize("before", [(), ("cycle", "helper")])
def test_who_adopts_which_block_equals_the_twin(hot, before, ties, monkeypatch):
    monkeypatch.setattr(_exchange, "HOT_ITEMS", hot)
    twice = 0
    for seed in SEEDS:
        state = begun(seed, full_min=1 + seed % 2, steps=before, ties=ties)
        rounds, content = adopted(state, np.random.default_rng(seed))
        exchange = state.exchange
        exchange.treat_leftovers("adopt", np.random.default_rng(seed))
        assert [(u.tolist(), r.tolist()) for u, r in exchange.adoptions] == rounds, seed
        assert as_sets(exchange.result()) == content, seed
        twice += len(rounds) > 1
    assert twice > 0


@TIES
@pytest.mark.parametrize("steps", [(), ("cycle",), ("helper",), ("cycle", "helper", "suppress")])
def test_what_comes_out_is_what_was_exchanged(steps, ties):
    for seed in SEEDS:
        state = begun(seed, steps=steps, ties=ties)
        exchange, expected = state.exchange, list(state.records)
        for p, q in enumerate(exchange.gets_from):
            r, source = exchange.record[p], exchange.record[q]
            if q >= 0:
                expected[r] = (state.records[r] - state.blocks[r]) | state.blocks[source]
        for r, u in enumerate(exchange.helped_by):
            if u >= 0:
                given = {state.data.vocabulary[i] for i in exchange.given[int(u)]}
                expected[r] = (state.records[r] - state.blocks[r]) | given
                expected[u] = (state.records[u] - given) | state.blocks[r]
        if "suppress" in steps:
            for p in state.waiting:  # they still wait after all steps: records of one category, as they are
                assert oracle.kind(state.taking[p], state.cat) in ("full", "single")
            for r in np.flatnonzero(exchange.how == HOW.index("suppress")):
                assert oracle.kind(state.records[r], state.cat) == "partial", seed
                expected[r] = state.records[r] - state.blocks[r]
        result = exchange.result()
        assert as_sets(result) == expected, seed
        for r in range(result.records):
            assert (np.diff(result.items[result.offsets[r] : result.offsets[r + 1]]) > 0).all(), seed


def test_records_of_one_category_move_on_in_one_closed_round():
    for seed in SEEDS:
        exchange = begun(seed, full_min=1).exchange
        taking = np.flatnonzero(exchange.gives_to >= 0)
        assert np.array_equal(taking, np.flatnonzero(exchange.gets_from >= 0))
        assert np.array_equal(exchange.gets_from[exchange.gives_to[taking]], taking)
        assert (exchange.tops[exchange.gives_to[taking]] != exchange.tops[taking]).all()
        counts = Counter(exchange.tops[len(exchange.mixed) :].tolist())
        others = counts.total() - max(counts.values(), default=0)
        hidden = int(np.count_nonzero(exchange.how == HOW.index("whole")))
        assert hidden == min(counts.total(), 2 * others), seed


def enlisted(order, seed=0):
    data, categories = make(8, records=60, items=25, categories=4, hot=1.5)
    exchange = Exchange(data, categories, ties="all")
    exchange.enlist_mixed(order, np.random.default_rng(seed))
    return data, categories, exchange.mixed.tolist()


def test_hard_records_choose_first_and_nobody_by_place_in_the_file():
    data, categories, hard = enlisted("hard")
    support = Counter(i for t in data.to_lists() for i in t)
    sums = [sum(support[i] for i in oracle.block(t, categories, "all")) for t in as_sets(data)]
    falling = [sums[r] for r in hard]
    assert falling == sorted(falling, reverse=True)
    assert hard != enlisted("hard", seed=1)[2]  # equally hard ones are shuffled
    seeded, filed = enlisted("seeded")[2], enlisted("file")[2]
    assert filed == [r for r, t in enumerate(as_sets(data)) if oracle.kind(t, categories) == "partial"]
    assert sorted(hard) == sorted(seeded) == filed
    assert seeded not in (filed, hard)
    assert seeded != enlisted("seeded", seed=1)[2]


def counted(state, full_min):
    """Return the bounds and the reasons for who is left, from their definitions."""
    kinds = Counter(oracle.kind(t, state.cat) for t in state.records)
    leaning = Counter(g for t in state.taking for g in oracle.hidden_categories(t, state.cat, state.ties))
    crowd = max(leaning.values(), default=0)
    crowd_category = min((g for g in leaning if leaning[g] == crowd), default=None)
    over = max(0, 2 * crowd - len(state.taking))
    support = Counter(i for t in state.records for i in t)
    too_common = {i for i in support if support[i] > len(state.records) - leaning[state.cat[i]]}
    why = Counter()
    for t in (state.taking[p] for p in state.waiting):
        if oracle.block(t, state.cat, state.ties) & too_common:
            why["item-too-common"] += 1
        elif over and crowd_category in oracle.hidden_categories(t, state.cat, state.ties):
            why["category-too-crowded"] += 1
        else:
            why["not-found"] += 1
    figures = {
        "taking-part": len(state.taking),
        "largest-group-with-one-top": crowd,
        "possible-helpers": kinds["uniform"],
        "at-least-unhidden-by-exchange": over,
        "at-least-unhidden-with-helpers": max(0, over - kinds["uniform"]),
        "at-least-unhidden-by-item": oracle.least_unhidden_by_item(
            state.records, state.cat, "all", full_min, ties=state.ties
        ),
    }
    return kinds, figures, why


@TIES
@pytest.mark.parametrize("full_min", [1, 2])
def test_the_account_counts_kinds_bounds_and_reasons(full_min, ties):
    reasons, bounds = Counter(), Counter()
    for seed in SEEDS:
        state = begun(seed, full_min=full_min, steps=("cycle",), ties=ties)
        account = state.exchange.account()
        kinds, figures, why = counted(state, full_min)
        assert {kind: count for kind, count in account["kinds"].items() if count} == kinds
        assert account["bounds"] == figures, seed
        assert account["not-hidden-why"] == {reason: why[reason] for reason in account["not-hidden-why"]}, seed
        assert account["not-hidden"] == len(state.waiting) >= figures["at-least-unhidden-by-exchange"]
        reasons += why
        bounds += Counter(figures)
    assert min(reasons[r] for r in ("item-too-common", "category-too-crowded", "not-found")) > 0
    assert min(bounds.values()) > 0


@pytest.mark.parametrize(
    ("chosen", "asked"),
    [
        ({}, {"records": "all", "ties": "first", "full_min": 2, "lossless": True}),
        ({"ties": "all"}, {"records": "all", "ties": "all", "full_min": 2, "lossless": True}),
        ({"full_min": 1}, {"records": "all", "full_min": 1, "lossless": True}),
        ({"whole_records": False}, {"records": "mixed", "full_min": 2, "lossless": True}),
        ({"leftovers": "cycle,suppress"}, {"records": "all", "full_min": 2, "lossless": False}),
        ({"leftovers": "adopt"}, {"records": "all", "full_min": 2, "lossless": True}),
        ({"reading": "paper"}, {"records": "all", "ties": "first", "full_min": 2, "lossless": False}),
    ],
)
def test_a_release_is_checked_for_what_the_method_was_told(chosen, asked):
    _data, categories = make(1)
    guarantee = sv.PartSwap(categories=categories, **chosen).guarantee
    assert {name: getattr(guarantee, name) for name in asked} == asked
    assert guarantee.categories == categories


@pytest.mark.parametrize("full_min", [1, 2])
def test_a_release_of_whole_records_is_checked_for_these(full_min):
    _data, categories = make(1)
    guarantee = sv.FullSwap(categories=categories, full_min=full_min).guarantee
    assert (guarantee.records, guarantee.full_min, guarantee.lossless) == ("whole", full_min, True)
