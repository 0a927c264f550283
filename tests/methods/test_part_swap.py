"""PartSwap: partners, swaps, the steps for records without a partner, the departures from the paper."""

import numpy as np
import pytest
from hypothesis import given, settings

import setveil as sv
from setveil.data.records.tendency import Kind, tendencies
from setveil.methods.tendency import _block_swap
from setveil.methods.tendency import _part_swap_kernels as plain
from setveil.methods.tendency import _tendency_kernels as shape
from setveil.methods.tendency._block_swap import BlockSwap

from oracle import tendency as oracle
from support.exhaustive import IS_EXHAUSTIVE, examples
from support.random_data import as_sets, make, seeds

TIES = pytest.mark.parametrize("ties", ["all", "first"])
LADDERS = [(), ("cycle",), ("helper",), ("adopt",), ("cycle", "helper"), ("helper", "cycle", "adopt")]


def apply(method, data, seed=0):
    return method.apply(data, rng=np.random.default_rng(seed))


def paired(data, categories, *, strict, one_sided=False, ties="first"):
    swap = BlockSwap(data, categories, ties=ties)
    swap.enlist_mixed("file", np.random.default_rng(0))
    swap.find_partners(strict=strict, one_sided=one_sided)
    return swap


@TIES
@pytest.mark.parametrize("same", ["top", "any"])
@pytest.mark.parametrize("block", range(10 if IS_EXHAUSTIVE else 1))
def test_partners_equal_the_oracle_on_many_instances(ties, same, block):
    tied = 0
    for seed in range(block * 60, block * 60 + 60):
        data, categories = make(seed)
        swap = paired(data, categories, strict=same == "any", one_sided=False, ties=ties)
        records = as_sets(data)
        mixed = [records[r] for r in swap.mixed]
        assert swap.gets_from.tolist() == oracle.partners(mixed, categories, same, ties=ties), seed
        tied += sum(len(oracle.heaviest(t, categories)) > 1 for t in mixed)
    assert tied > 50


@pytest.mark.parametrize("block", range(4 if IS_EXHAUSTIVE else 1))
def test_the_papers_one_sided_rule_equals_the_oracle(block):
    for seed in range(block * 40, block * 40 + 40):
        data, categories = make(seed)
        swap = paired(data, categories, strict=False, one_sided=True)
        mixed = [as_sets(data)[r] for r in swap.mixed]
        assert swap.gets_from.tolist() == oracle.partners(mixed, categories, one_sided=True, ties="first"), seed


def with_runs(seed, records=400):
    """Make data in which many records have the same block, so that many with one top follow each other in the order `hard`."""
    rng = np.random.default_rng(seed)
    lists = []
    for _ in range(records):
        lean = int(rng.choice(5, p=[0.45, 0.25, 0.15, 0.1, 0.05]))
        block = {f"g{lean}-{i}" for i in rng.choice(4, size=int(rng.integers(2, 4)), replace=False)}
        rest = {f"g{g}-{int(4 * rng.random() ** 2)}" for g in range(5) if g != lean and rng.random() < 0.4}
        lists.append(sorted(block | rest))
    data = sv.from_lists(lists)
    return data, sv.Categories({i: i.split("-")[0] for i in data.vocabulary})


@TIES
@pytest.mark.parametrize("same", ["top", "any"])
@pytest.mark.parametrize("seen", [0, 3, 62])
def test_runs_of_equal_blocks_and_signatures_change_no_partner(monkeypatch, seen, same, ties):
    monkeypatch.setattr(_block_swap, "SEEN_ITEMS", seen)
    far = 0
    for seed in range(6):
        data, categories = with_runs(seed)
        swap = BlockSwap(data, categories, ties=ties)
        swap.enlist_mixed("hard", np.random.default_rng(seed))
        swap.find_partners(strict=same == "any", one_sided=False)
        m = len(swap.mixed)
        expected = np.full(m, -1)
        plain.pair_plainly(swap.enlisted, m, False, np.full(len(data.vocabulary), -1), expected, np.zeros(8, np.int64))
        assert np.array_equal(swap.gets_from[:m], expected)
        far += np.count_nonzero(expected - np.arange(m) > 50)
    assert far > 50


@pytest.mark.realdata
@TIES
@pytest.mark.parametrize(
    ("name", "groups", "first"),
    [("bms-webview-1", 50, None), ("bms-webview-2", 50, 20_000), ("retail", 50, 12_000), ("bms-pos-100k", 5, 12_000)],
)
def test_exact_search_equals_the_plain_scan_on_real_data(real_data, name, groups, first, ties):
    data = real_data(name)
    data = data.take(np.arange(first or data.records)).compacted()
    categories = sv.Categories.at_random(data.vocabulary, groups, seed=1)
    swap = BlockSwap(data, categories, ties=ties)
    swap.enlist_mixed("hard", np.random.default_rng(1))
    swap.find_partners(strict=False, one_sided=False)
    m = len(swap.mixed)
    expected = np.full(m, -1)
    mark = np.full(len(data.vocabulary), -1)
    plain.pair_plainly(swap.enlisted, m, False, mark, expected, np.zeros(8, np.int64))
    assert m > 1000
    assert np.array_equal(swap.gets_from[:m], expected)


@pytest.mark.plain_python
@settings(max_examples=examples(60), deadline=None)
@given(seeds)
def test_kinds_and_tops_equal_the_oracle_and_the_checkers(seed):
    data, categories = make(seed)
    codes, names = categories.bind(data)
    swap = BlockSwap(data, categories, ties="all")
    seen_by_checker = tendencies(data, codes, len(names))
    for r, record in enumerate(as_sets(data)):
        expected = oracle.kind(record, categories)
        assert Kind(swap.kind[r]).name.lower() == expected
        assert Kind(seen_by_checker.kind[r]).name.lower() == expected
        if record:
            assert names[swap.top[r]] == names[seen_by_checker.top[r]] == oracle.top(record, categories)
        assert swap.above[r] == len(oracle.above_mean(record, categories))
        heaviest = oracle.heaviest(record, categories)
        listed = swap.hidden.values[swap.hidden.starts[r] : swap.hidden.starts[r + 1]]
        assert sorted(names[g] for g in listed) == sorted(heaviest)
        numbers = np.full(len(names), r), np.arange(len(names))
        assert {names[g] for g in np.flatnonzero(seen_by_checker.among_heaviest(*numbers))} == heaviest


@pytest.mark.plain_python
@settings(max_examples=examples(80), deadline=None)
@given(seeds)
def test_whatever_is_reported_hidden_is_hidden_and_nothing_is_lost(seed):
    data, categories = make(seed)
    rng = np.random.default_rng(seed)
    method = sv.PartSwap(
        categories=categories,
        order=str(rng.choice(["hard", "seeded", "file"])),
        same=str(rng.choice(["top", "any"])),
        ties=str(rng.choice(["all", "first"])),
        full_min=int(rng.integers(1, 3)),
        leftovers=LADDERS[rng.integers(len(LADDERS))],
    )
    outcome = apply(method, data, seed)
    found = oracle.violations(
        as_sets(data), as_sets(outcome.published), categories, "all", method.full_min, ties=method.ties
    )
    assert {kind for kind, _ in found} <= {"not-hidden"}
    assert len(found) == outcome.account["not-hidden"]
    assert outcome.account["not-hidden"] >= oracle.least_unhidden_by_item(
        as_sets(data), categories, "all", method.full_min, ties=method.ties
    )
    assert sum(outcome.account["not-hidden-why"].values()) == outcome.account["not-hidden"]
    assert sum(outcome.account["hidden"].values()) + outcome.account["not-hidden"] == outcome.account["to-hide"]


@settings(max_examples=examples(60), deadline=None)
@given(seeds)
def test_suppression_hides_every_mixed_record_and_adds_nothing(seed):
    data, categories = make(seed)
    method = sv.PartSwap(categories=categories, leftovers="cycle,helper,suppress", whole_records=False)
    published = apply(method, data, seed).published
    assert oracle.violations(as_sets(data), as_sets(published), categories, "mixed", lossless=False) == set()


@settings(max_examples=examples(60), deadline=None)
@given(seeds)
def test_only_records_that_take_part_or_help_change(seed):
    data, categories = make(seed)
    outcome = apply(sv.PartSwap(categories=categories), data, seed)
    changed = [r for r, (a, b) in enumerate(zip(as_sets(data), as_sets(outcome.published), strict=True)) if a != b]
    kinds = [oracle.kind(as_sets(data)[r], categories) for r in changed]
    assert kinds.count("uniform") == outcome.account["helpers"]
    assert not {"single", "empty"} & set(kinds)


def test_paper_reading_swaps_in_file_order_and_may_lose_items():
    lost = 0
    for seed in range(80 if IS_EXHAUSTIVE else 30):
        data, categories = make(seed)
        records = as_sets(data)
        published = as_sets(
            apply(sv.PartSwap(categories=categories, reading="paper", whole_records=False), data).published
        )
        mixed = [r for r, t in enumerate(records) if oracle.kind(t, categories) == "partial"]
        partner = oracle.partners([records[r] for r in mixed], categories, one_sided=True, ties="first")
        expected = list(records)
        swapped = oracle.swapped([records[r] for r in mixed], categories, partner, ties="first")
        for r, new in zip(mixed, swapped, strict=True):
            expected[r] = new
        assert published == expected, seed
        lost += sum(map(len, records)) - sum(map(len, published))
    assert lost > 0


def test_paper_reading_refuses_our_choices():
    _data, categories = make(1)
    with pytest.raises(sv.BadParameter, match="order cannot be chosen with reading 'paper'"):
        sv.PartSwap(categories=categories, reading="paper", order="hard")


def test_paper_reading_hides_the_first_of_equally_heavy_categories():
    _data, categories = make(1)
    method = sv.PartSwap(categories=categories, reading="paper")
    assert method.ties == method.guarantee.ties == "first"
    with pytest.raises(sv.BadParameter, match="with reading 'paper' only 'first' is allowed"):
        sv.PartSwap(categories=categories, reading="paper", ties="all")


def test_a_step_named_twice_is_refused():
    _data, categories = make(1)
    with pytest.raises(sv.BadParameter, match="leftovers names a step twice"):
        sv.PartSwap(categories=categories, leftovers="cycle,cycle")


def hot_item_data():
    """Return data in which every record holds item a0 except helpers and records that lean to category c; only these can take it."""
    lists = (
        [["a0", "a1", f"b{r}"] for r in range(6)]
        + [["c0", "c1", f"b{r}"] for r in range(4)]
        + [["b7", "c7"], ["b8", "c8"], ["b9", "c9"]]
    )
    return sv.from_lists(lists), sv.Categories({i: i[0] for t in lists for i in t})


def test_helpers_take_blocks_that_partners_cannot():
    data, categories = hot_item_data()
    alone = apply(sv.PartSwap(categories=categories, leftovers=""), data)
    assert alone.account["not-hidden"] == 2
    assert "at least 2 of them cannot be hidden by swapping (0 if all 3 records" in alone.advice
    helped = apply(sv.PartSwap(categories=categories), data)
    assert helped.account["not-hidden"] == 0
    assert helped.account["helpers"] == 2
    assert helped.advice == ""


def test_a_record_without_a_partner_joins_a_swap():
    lists = [["a0", "a1", "x0"], ["b0", "b1", "x1"], ["c0", "c1", "x2"]]
    data = sv.from_lists(lists)
    categories = sv.Categories({i: i[0] for t in lists for i in t})
    outcome = apply(sv.PartSwap(categories=categories, leftovers="cycle"), data)
    assert outcome.account["hidden"]["cycle"] == 1
    assert outcome.account["not-hidden"] == 0
    blocks = [{i for i in s if i[0] != "x"} for s in as_sets(outcome.published)]
    assert sorted(map(sorted, blocks)) == [["a0", "a1"], ["b0", "b1"], ["c0", "c1"]]


def test_hidden_records_adopt_the_remaining_blocks():
    lists = [[f"a{r}", f"a{r + 10}", f"b{r}"] for r in range(6)] + [[f"c{r}", f"c{r + 10}", f"b{r}"] for r in range(4)]
    data = sv.from_lists(lists)
    categories = sv.Categories({i: i[0] for i in data.vocabulary})
    assert apply(sv.PartSwap(categories=categories), data).account["not-hidden"] == 2
    outcome = apply(sv.PartSwap(categories=categories, leftovers="cycle,helper,adopt"), data)
    assert outcome.account["hidden"]["adopt"] == 2
    assert outcome.account["not-hidden"] == 0
    assert oracle.violations(as_sets(data), as_sets(outcome.published), categories) == set()


@pytest.mark.parametrize("ladder", ["adopt,cycle", "suppress,adopt", "helper,suppress,cycle"])
def test_adopt_and_suppress_come_last(ladder):
    _data, categories = make(1)
    with pytest.raises(sv.BadParameter, match="come last"):
        sv.PartSwap(categories=categories, leftovers=ladder)


def test_the_bound_of_a_crowded_category_is_reached_and_reported():
    lists = [["a0", "a1", "b0"]] * 5 + [["c0", "c1", "b1"]] * 2
    data = sv.from_lists(lists)
    categories = sv.Categories({i: i[0] for t in lists for i in t})
    outcome = apply(sv.PartSwap(categories=categories), data)
    assert outcome.account["bounds"]["at-least-unhidden-by-exchange"] == 3 == outcome.account["not-hidden"]
    assert "5 of these 7 lean to the category 'a'" in outcome.advice
    assert outcome.account["bounds"]["at-least-unhidden-by-item"] == oracle.least_unhidden_by_item(
        as_sets(data), categories
    )


def test_too_few_categories_are_refused_and_few_give_a_note(notes):
    data = sv.from_lists([["a", "b"], ["b"]])
    two = sv.PartSwap(categories={"a": "x", "b": "y"})
    with pytest.raises(sv.BadParameter, match="at least 3"):
        two.bind(data, linked=True, rng=np.random.default_rng(0))
    data = sv.from_lists([["a", "b", "c"]])
    sv.PartSwap(categories={"a": "x", "b": "y", "c": "z"}).bind(data, linked=True, rng=np.random.default_rng(0))
    assert "only 3 categories" in notes()


def test_without_ids_records_of_a_single_category_stay_unchanged():
    data, categories = make(3, records=40, items=30, categories=4)
    bound = sv.PartSwap(categories=categories).bind(data, linked=False, rng=np.random.default_rng(0))
    assert not bound.whole_records
    assert bound.guarantee.records == "mixed"
    published = as_sets(apply(bound, data).published)
    for before, after in zip(as_sets(data), published, strict=True):
        if oracle.kind(before, categories) in ("full", "single", "empty"):
            assert before == after


def test_a_run_can_be_stopped():
    data, categories = make(5, records=400, items=60, categories=5)
    swap = paired(data, categories, strict=False, one_sided=False)
    control = np.zeros(8, np.int64)
    control[1] = 1
    partner = np.full(len(swap.mixed), -1)
    mark = np.full(len(data.vocabulary), -1)
    plain.pair_plainly(swap.enlisted, len(partner), False, mark, partner, control)
    assert (partner == -1).all()


def test_kinds_are_numbered_alike_in_kernels_and_checker():
    assert [int(k) for k in Kind] == [shape.EMPTY, shape.SINGLE, shape.FULL, shape.PARTIAL, shape.UNIFORM]
