"""Hidden tendency: every way to ask for it against the oracle, witnesses that can be verified, and what is no release at all."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import setveil as sv
from setveil.base.verdict import FAILURE, MOST_WITNESSES, Verdict
from setveil.data.records.alignment import Alignment
from setveil.engines.blocks import using_engine
from setveil.engines.local import LocalEngine
from setveil.guarantees import hidden_tendency
from setveil.guarantees.hidden_tendency import HiddenTendency
from setveil.kernels.threads import using_threads

from oracle import tendency as oracle
from support.exhaustive import examples
from support.random_data import as_sets, make, seeds

TIES = st.sampled_from(["first", "all"])
WAYS = st.tuples(st.sampled_from(["all", "mixed", "whole"]), st.sampled_from([1, 2]), st.booleans(), TIES)


EACH_ONCE = ("hidden", "tied", "not-hidden", "not-covered", "single-item", "uniform", "empty")
"""The counts of a verdict of which each record belongs to one."""


def altered(data, categories, seed):
    """Return what became of each record: some lose their block, some other items, some gain a known or an unknown one."""
    rng = np.random.default_rng(seed)
    lists = as_sets(data)
    lost = Counter()
    for t in lists:
        fate = rng.random()
        gone = (
            oracle.block(t, categories, "all" if fate < 0.3 else "first")
            if fate < 0.5
            else [i for i in sorted(t) if fate < 0.7 and rng.random() < 0.5]
        )
        t.difference_update(gone)
        lost.update(sorted(gone))
    for item in lost.elements():
        if rng.random() < 0.9:  # mostly the items turn up elsewhere, so that supports stay
            lists[rng.integers(len(lists))].add(item)
    for t in lists:
        if rng.random() < 0.05:
            t.add("never seen before")
    return lists


def shuffled(lists, seed):
    rows = np.random.default_rng(seed).permutation(len(lists))
    return sv.from_lists([lists[r] for r in rows]), Alignment(rows)


@settings(max_examples=examples(150))
@given(seeds, WAYS)
def test_every_way_to_ask_agrees_with_the_oracle(seed, way):
    which, full_min, lossless, ties = way
    data, categories = make(seed)
    original, released = as_sets(data), altered(data, categories, seed)
    published, alignment = shuffled(released, seed)
    guarantee = HiddenTendency(categories=categories, records=which, ties=ties, full_min=full_min, lossless=lossless)
    verdict = guarantee.check(published, original=data, alignment=alignment)
    asked = (dict(categories), which, full_min)
    expected = oracle.violations(original, released, *asked, lossless=lossless, ties=ties)
    assert verdict.violations == Counter(kind for kind, _where in expected)
    assert verdict.failures == verdict.violations.get(FAILURE, 0)
    pairs = list(zip(original, released, strict=True))
    counted = Counter(oracle.counted_as(t, s, *asked, ties=ties) for t, s in pairs)
    assert {name: verdict.counts[name] for name in EACH_ONCE} == {name: counted[name] for name in EACH_ONCE}
    assert sum(verdict.counts[name] for name in EACH_ONCE) == verdict.counts["records"] == len(original)
    assert verdict.counts["to-hide"] == sum(oracle.must_be_hidden(t, *asked) for t in original)
    assert verdict.counts["published-unchanged"] == sum(t == s for t, s in pairs)
    reach = verdict.reach
    assert (reach.covered, reach.total) == oracle.reach(original, released, *asked, ties=ties)


@pytest.mark.parametrize(
    ("chosen", "said", "unsaid"),
    [
        ({}, ["single item", "only the first by name"], ["single category"]),
        ({"ties": "all", "full_min": 1}, [], ["single item", "only the first by name", "single category"]),
        ({"records": "mixed"}, ["only the first by name", "single category"], ["single item"]),
        ({"records": "whole"}, ["several categories", "single item"], ["only the first by name"]),
    ],
)
def test_what_the_parameters_leave_out_is_not_covered(chosen, said, unsaid):
    found = HiddenTendency(categories={"a": "x"}, **chosen).coverage_for(sv.Transactions).not_covered
    assert set(HiddenTendency.coverage.not_covered) < set(found) or not said
    own = " ".join(line for line in found if line not in HiddenTendency.coverage.not_covered)
    assert all(words in own for words in said)
    assert not any(words in own for words in unsaid)


def test_a_card_without_ties_means_the_first():
    """Cards of version 1 were written before the parameter was there."""
    assert HiddenTendency(categories={"a": "x"}, records="all", full_min=2, lossless=True).ties == "first"


def tied_release(**chosen):
    """Return records of which one has two equally heavy categories, a release in which the first of them is gone, and the verdict."""
    lists = [["a0", "a1", "b0", "b1", "x0"], ["c0", "c1", "x1"], ["d0", "d1", "x2"], ["e0", "f0"], ["e1"], []]
    released = [["c0", "c1", "b0", "b1", "x0"], ["a0", "a1", "x1"], *lists[2:]]
    data = sv.from_lists(lists)
    guarantee = HiddenTendency(categories={i: i[0] for t in lists for i in t}, **chosen)
    return guarantee.check(sv.from_lists(released), original=data, alignment=Alignment.identity(6))


def test_a_record_that_keeps_an_equally_heavy_category_is_not_counted_as_hidden():
    counts = {"hidden": 1, "tied": 1, "not-hidden": 1, "not-covered": 0, "single-item": 1, "uniform": 1, "empty": 1}
    verdict = tied_release()
    assert {name: verdict.counts[name] for name in EACH_ONCE} == counts
    assert verdict.violations == {FAILURE: 1}
    assert (verdict.reach.covered, verdict.reach.total) == (1, 6)
    assert verdict.counts["published-unchanged"] == 4
    assert {phrase: count for phrase, count in verdict.reach.rest.items() if count} == {
        "are not hidden": 1,
        "keep an equally heavy category": 1,
        "hold a single item": 1,
        "have no tendency": 2,
        "in all are published unchanged": 4,
    }


def test_all_equally_heavy_categories_can_be_asked_for():
    verdict = tied_release(ties="all")
    assert verdict.violations == {FAILURE: 2}
    assert verdict.counts["tied"] == 0
    assert verdict.counts["hidden"] == 1
    assert "still holds 'b0', 'b1' of 'b'" in verdict.witnesses[0].detail


def test_records_of_several_categories_are_not_covered_where_only_whole_ones_are_asked_for():
    verdict = tied_release(records="whole")
    assert verdict
    assert verdict.counts["not-covered"] == 3
    assert verdict.reach.covered == 0
    assert "3 have a tendency that is not covered" in str(verdict)


@settings(max_examples=examples(100))
@given(seeds, TIES)
def test_every_witness_can_be_verified_by_hand(seed, ties):
    data, categories = make(seed)
    published, alignment = shuffled(altered(data, categories, seed), seed)
    verdict = HiddenTendency(categories=categories, full_min=1, ties=ties).check(
        published, original=data, alignment=alignment
    )
    records, released = as_sets(data), as_sets(published)
    for witness in verdict.witnesses:
        items = set(witness.items)
        assert items
        assert all(repr(item) in witness.place + witness.detail for item in items)
        if witness.kind == "support-changed":
            (item,) = items
            before, after = (sum(item in t for t in d) for d in (records, released))
            assert witness.row is None
            assert witness.detail == f"its support is {after:,} in the release and {before:,} in the original"
            continue
        record, row = records[alignment.rows[witness.row]], released[witness.row]
        hidden = oracle.hidden_categories(record, categories, ties)
        assert witness.place == f"released row {witness.row + 1:,}"
        if witness.kind == FAILURE:
            left = {i for i in row if dict(categories).get(i) in hidden}
            assert items <= left
            assert len(items) == min(len(left), 5)
            assert all(repr(categories[i]) in witness.detail for i in items)
        else:
            gone = record - row - oracle.block(record, categories, ties)
            assert items <= gone
            assert len(items) == min(len(gone), 5)


def test_all_breaches_are_counted_and_the_first_of_each_kind_shown():
    many = MOST_WITNESSES + 20
    lists = [[f"a{r}", f"b{r}", f"c{r}", f"c{r}x"] for r in range(many)]
    data = sv.from_lists(lists)
    guarantee = HiddenTendency(categories={i: i[0] for i in data.vocabulary})
    published = sv.from_lists([t[1:] for t in lists])
    verdict = guarantee.check(published, original=data, alignment=Alignment.identity(many))
    kinds = (FAILURE, "more-taken-than-the-tendency", "support-changed")
    assert verdict.violations == dict.fromkeys(kinds, many)
    assert Counter(w.kind for w in verdict.witnesses) == dict.fromkeys(kinds, MOST_WITNESSES)
    assert [w.row for w in verdict.witnesses if w.kind == FAILURE] == list(range(MOST_WITNESSES))
    assert len(verdict.to_dict()["witnesses"]) == len(verdict.witnesses)
    assert len(verdict.to_dict(witnesses=7)["witnesses"]) == 7


def small():
    """Return a small original, its release and alignment, with ids on both sides, and the guarantee; it holds."""
    lists = [["a0", "a1", "b0"], ["c0", "c1", "d0"], ["e0", "f0"]]
    ids = ["anna", "bert", "carl"]
    data = sv.from_lists(lists, ids=ids)
    released = sv.from_lists([["e0", "f0"], ["b0", "c0", "c1"], ["a0", "a1", "d0"]], ids=["p", "q", "r"])
    alignment = Alignment(np.array([2, 0, 1]), pa.array(["p", "q", "r"]), pa.array(["carl", "anna", "bert"]))
    return data, released, alignment, HiddenTendency(categories={i: i[0] for t in lists for i in t})


def test_a_true_release_holds():
    data, released, alignment, guarantee = small()
    verdict = guarantee.check(released, original=data, alignment=alignment)
    assert verdict
    assert verdict.witnesses == ()


@pytest.mark.parametrize(
    ("rows", "records"),
    [([2, 0, 0], {1: 2, 2: 0}), ([2, 2, 2], {1: 0, 2: 0, 3: 3}), ([2, 0, 3], {2: 0}), ([2, 0, -1], {2: 0})],
    ids=["one twice", "one for all", "past the end", "before the start"],
)
def test_rows_and_records_must_correspond_one_to_one(rows, records):
    data, released, alignment, guarantee = small()
    broken = replace(alignment, rows=np.array(rows))
    verdict = guarantee.check(released, original=data, alignment=broken)
    assert verdict.violations == {"rows-do-not-correspond": len(records)}
    found = {w.place: w.detail for w in verdict.witnesses}
    assert found == {f"original record {r}": f"has {hits} released rows; expected 1" for r, hits in records.items()}
    assert not verdict.acceptable(100)


def test_release_alignment_and_original_must_be_of_one_size():
    data, released, alignment, guarantee = small()
    two = np.arange(2)
    cases = {
        "has 3 rows; the release has 3, the original 2": (data.take(two), released, alignment),
        "has 3 rows; the release has 2, the original 3": (data, released.take(two), alignment),
        "has 2 rows; the release has 3, the original 3": (data, released, Alignment(two)),
        "has 2 rows; the release has 2, the original 3": (data, released.take(two), Alignment(two)),
    }
    for detail, (original, published, aligned) in cases.items():
        verdict = guarantee.check(published, original=original, alignment=aligned)
        assert verdict.violations == {"rows-do-not-correspond": 1}
        assert verdict.witnesses[0].detail == detail


def test_names_must_be_those_of_the_alignment():
    data, released, alignment, guarantee = small()
    swapped = {
        "published": replace(alignment, published_ids=pa.array(["q", "p", "r"])),
        "original": replace(alignment, original_ids=pa.array(["anna", "carl", "bert"])),
    }
    for which, aligned in swapped.items():
        verdict = guarantee.check(released, original=data, alignment=aligned)
        assert verdict.violations == {"names-do-not-agree": 2}
        assert [w.row for w in verdict.witnesses] == [0, 1]
        assert {w.detail for w in verdict.witnesses} == {f"its {which} id is not the one in the alignment"}


def test_names_must_not_be_missing_on_one_side():
    data, released, alignment, guarantee = small()
    for published, aligned in (
        (released, replace(alignment, published_ids=None)),
        (released.with_ids(None), alignment),
    ):
        verdict = guarantee.check(published, original=data, alignment=aligned)
        assert verdict.violations == {"names-do-not-agree": 1}
        assert verdict.witnesses[0].place == "the published ids"
    nameless = replace(alignment, published_ids=None, original_ids=None)
    assert guarantee.check(released.with_ids(None), original=data, alignment=nameless)


def test_nothing_is_compared_where_names_disagree():
    data, _released, alignment, guarantee = small()
    unhidden = data.take(alignment.rows, ids=["p", "q", "x"])
    assert set(guarantee.check(unhidden, original=data, alignment=alignment).violations) == {"names-do-not-agree"}


@pytest.mark.parametrize(
    ("violations", "failures", "allowed", "accepted"),
    [
        ({}, 0, 0, True),
        ({FAILURE: 3}, 3, 3, True),
        ({FAILURE: 3}, 3, 2, False),
        ({FAILURE: 3, "support-changed": 1}, 3, 5, False),
        ({"support-changed": 1}, 0, 5, False),
    ],
)
def test_only_records_left_as_they_are_can_be_allowed(violations, failures, allowed, accepted):
    verdict = Verdict("violated" if violations else "holds", "hidden-tendency", {}, violations, failures)
    assert verdict.acceptable(allowed) == accepted
    assert bool(verdict) == (not violations)


def test_what_is_undecided_is_never_accepted():
    verdict = Verdict("undecided", "hidden-tendency", {})
    assert not verdict
    assert not verdict.acceptable(100)


def test_an_original_without_items_is_compared_too():
    verdict = HiddenTendency(categories={"a": "x"}).check(
        sv.from_lists([["a"]]), original=sv.from_lists([[]]), alignment=Alignment.identity(1)
    )
    assert verdict.violations == {"support-changed": 1}


def test_all_records_without_a_row_are_counted():
    many = MOST_WITNESSES + 20
    data = sv.from_lists([[f"a{r}", f"b{r}"] for r in range(many)])
    guarantee = HiddenTendency(categories={i: i[0] for i in data.vocabulary})
    verdict = guarantee.check(data, original=data, alignment=Alignment(np.zeros(many, np.int64)))
    assert verdict.violations == {"rows-do-not-correspond": many}
    assert len(verdict.witnesses) == MOST_WITNESSES


@pytest.mark.parametrize("which", ["published_ids", "original_ids"])
def test_a_name_that_is_missing_in_the_alignment_does_not_agree(which):
    data, released, alignment, guarantee = small()
    names = [None, *getattr(alignment, which).to_pylist()[1:]]
    aligned = replace(alignment, **{which: pa.array(names)})
    verdict = guarantee.check(released, original=data, alignment=aligned)
    assert verdict.violations == {"names-do-not-agree": 1}


# -- data in blocks -----------------------------------------------------------------------------------------------------------


def same_in_blocks(guarantee, published, data, alignment, *sizes):
    """Check in one piece and in blocks of these sizes; return the verdict, which is the same."""
    verdict = guarantee.check(published, original=data, alignment=alignment)
    for size in sizes:
        with using_engine(LocalEngine(size)), using_threads(1 + size % 2):
            assert guarantee.check(published, original=data, alignment=alignment) == verdict
    return verdict


@settings(max_examples=examples(60), deadline=None)
@given(seeds, WAYS)
def test_the_verdict_in_blocks_is_that_in_one_piece(seed, way):
    which, full_min, lossless, ties = way
    data, categories = make(seed)
    published, alignment = shuffled(altered(data, categories, seed), seed)
    guarantee = HiddenTendency(categories=categories, records=which, ties=ties, full_min=full_min, lossless=lossless)
    same_in_blocks(guarantee, published, data, alignment, 1, 2 + seed % 40)


def test_the_witnesses_in_blocks_are_the_first_ones(monkeypatch):
    monkeypatch.setattr(hidden_tendency, "PART_RECORDS", 7)  # parts can be smaller than blocks
    many = MOST_WITNESSES + 20
    lists = [[f"a{r}", f"b{r}", f"c{r}", f"c{r}x"] for r in range(many)]
    data = sv.from_lists(lists)
    guarantee = HiddenTendency(categories={i: i[0] for i in data.vocabulary})
    published, alignment = shuffled([t[1:] for t in lists], 3)
    verdict = same_in_blocks(guarantee, published, data, alignment, 5, 50)
    assert Counter(w.kind for w in verdict.witnesses)[FAILURE] == MOST_WITNESSES
    first = [w.row for w in verdict.witnesses if w.kind == FAILURE]
    assert alignment.rows[first].tolist() == list(range(MOST_WITNESSES))


def test_what_is_no_release_is_found_in_blocks_too(monkeypatch):
    monkeypatch.setattr(hidden_tendency, "BLOCK", 2)  # ids too are compared in several pieces
    data, released, alignment, guarantee = small()
    assert same_in_blocks(guarantee, released, data, alignment, 1, 2)
    two, nameless = np.arange(2), replace(alignment, published_ids=None, original_ids=None)
    broken = [
        *((released, data, replace(alignment, rows=np.array(rows))) for rows in ([2, 0, 0], [2, 0, 3], [-1, 0, 1])),
        (released.take(two), data, alignment),
        (released, data.take(two), alignment),
        (released, data, Alignment(two)),
        (released, data, replace(alignment, published_ids=pa.array(["q", "p", "r"]))),
        (released, data, replace(alignment, original_ids=pa.array(["carl", "anna", None]))),
        (released, data, replace(alignment, published_ids=None)),
        (released.with_ids(None), data, alignment),
        (released.with_ids(None), data, replace(nameless, rows=np.array([1, 2, 0]))),
        (sv.from_lists([["e0", "f0"], ["b0", "c0"], ["a0", "a1", "d0"]]), data, nameless),
        (sv.from_lists([["e0", "f0", "new"], ["b0", "c0", "c1"], ["a0", "a1", "d0"]]), data, nameless),
    ]
    for published, original, aligned in broken:
        assert not same_in_blocks(guarantee, published, original, aligned, 1, 2)


@pytest.mark.realdata
def test_a_release_of_real_data_is_checked_in_blocks(real_data):
    data = real_data("bms-pos-100k")
    data = data.take(np.arange(20_000)).compacted()
    method = sv.PartSwap(categories=sv.Categories.at_random(data.vocabulary, 5, seed=2))
    rows = np.random.default_rng(0).permutation(data.records)
    published = method.apply(data, rng=np.random.default_rng(0)).published.take(rows)
    assert same_in_blocks(method.guarantee, published, data, Alignment(rows), 3_000)
    spoiled = published.take(np.roll(np.arange(data.records), 1))
    assert not same_in_blocks(method.guarantee, spoiled, data, Alignment(rows), 3_000)
