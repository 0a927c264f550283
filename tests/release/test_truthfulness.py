"""What the card says of the truth of a release is compared with the records behind it, form by form."""

from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import setveil as sv
from setveil.base.verdict import MOST_WITNESSES
from setveil.data.forms import comparing
from setveil.data.records import ragged
from setveil.data.records.alignment import Alignment
from setveil.methods.base import Method, Outcome
from setveil.release.truthfulness import NOT_TRUTHFUL, find_untrue

from contract.forms import disturbed, disturbed_groups, disturbed_nodes, untrue_by_oracle
from support.exhaustive import examples
from support.random_clusters import clusters_of
from support.random_clusters import disturbed as disturbed_clusters
from support.random_data import as_sets, make, seeds

CLAIMS = st.sampled_from(["subset", "yes"])
many = settings(max_examples=examples(300), deadline=None)


def found_in(published, claim, data, rows):
    """Return the number of cases that are found, and the places of those that are shown, as the oracle names them."""
    found = find_untrue(published, claim, data, Alignment(np.asarray(rows, dtype=np.int64)))
    assert len(found.witnesses) == min(found.cases, MOST_WITNESSES)
    assert all(one.kind == NOT_TRUTHFUL and one.place and one.detail for one in found.witnesses)
    return found.cases, set(map(place_of, found.witnesses))


def place_of(witness):
    if witness.chunk is not None:
        return ("chunk", witness.group, witness.chunk)
    if witness.group is not None:
        return ("item", witness.group, *witness.items)
    return witness.row


def agrees(published, claim, data, rows):
    """Tell whether what is found is what the oracle finds."""
    wrong = untrue_by_oracle(published, data, rows, whole=claim == "yes")
    cases, places = found_in(published, claim, data, rows)
    return cases == len(wrong) and places <= wrong and len(places) == min(cases, MOST_WITNESSES)


def without_empty(seed):
    data = make(seed)[0]
    return data.without_empty() if data.occurrences else sv.from_lists([["a"]])


@many
@given(seeds, CLAIMS, st.booleans())
def test_plain_rows_are_compared_with_their_records(seed, claim, in_blocks):
    data = make(seed)[0]
    rows, alignment = disturbed(data, np.random.default_rng(seed))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(comparing, "BLOCK", 5 if in_blocks else 1 << 22)
        assert agrees(rows, claim, data, alignment.rows)


@many
@given(
    st.integers(1, 7).flatmap(lambda n: st.lists(st.integers(-1, n), max_size=9).map(lambda rows: (n, rows))),
    st.sampled_from([3, 1 << 22]),
)
def test_rows_aligned_with_no_record_or_with_the_record_of_an_earlier_row_are_found(drawn, block):
    records, rows = drawn
    wrong = {f"released row {r + 1}" for r, record in enumerate(rows) if not 0 <= record < records}
    again = [f"released row {r + 1}" for r, record in enumerate(rows) if record in rows[:r]]
    data, released = sv.from_lists([["a"]] * records), sv.from_lists([["a"]] * len(rows))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ragged, "BLOCK", block)
        found = find_untrue(released, "yes", data, Alignment(np.array(rows, dtype=np.int64)))
    lacking = len(rows) < records
    assert found.cases == len(wrong) + len(again) + lacking
    if not lacking and found.cases <= MOST_WITNESSES:
        assert sorted(one.place for one in found.witnesses) == sorted([*wrong, *again])


@many
@given(seeds, CLAIMS)
def test_nodes_are_compared_with_the_items_below_them(seed, claim):
    data = make(seed)[0]
    nodes, alignment = disturbed_nodes(data, np.random.default_rng(seed))
    assert agrees(nodes, claim, data, alignment.rows)


@many
@given(seeds, CLAIMS)
def test_rows_and_counts_of_groups_are_compared_with_their_records(seed, claim):
    data = make(seed)[0]
    grouped, alignment = disturbed_groups(data, np.random.default_rng(seed))
    assert agrees(grouped, claim, data, alignment.rows)


@many
@given(seeds, CLAIMS, st.booleans())
def test_chunks_are_compared_with_the_records_of_their_cluster(seed, claim, in_blocks):
    """Some releases are of the records, some of records that were changed, and some have faults in their clusters."""
    data, rng = without_empty(seed), np.random.default_rng(seed)
    rows, alignment = disturbed(data, rng) if rng.random() < 0.5 else (data, Alignment.identity(data.records))
    kept = np.flatnonzero(rows.lengths)
    clusters = clusters_of([as_sets(rows)[row] for row in kept], 2, 2, rng)
    faulty = disturbed_clusters(clusters, rng) if rng.random() < 0.5 else clusters
    for made, right in zip(faulty, clusters, strict=True):
        made["size"] = right["size"]
    if claim == "subset" or len(kept) == data.records:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(comparing, "BLOCK", 5 if in_blocks else 1 << 22)
            assert agrees(sv.Disassociated.from_clusters(faulty), claim, data, alignment.rows[kept])


@many
@given(st.lists(st.sets(st.sampled_from("abcd"), min_size=1), min_size=1, max_size=6), seeds)
def test_parts_that_lost_items_are_true_if_each_has_a_record_of_its_own(records, seed):
    """Two parts may fit one record only, and a part may have to leave a record to another that fits nowhere else."""
    rng = np.random.default_rng(seed)
    parts = [sorted(item for item in record if rng.random() < 0.6) for record in records]
    if rng.random() < 0.5:
        parts[0] = sorted(records[-1])
    bag = [(part, parts.count(part)) for part in map(list, sorted(set(map(tuple, parts))))]
    published = sv.Disassociated.from_clusters([{"size": len(records), "record_chunks": [bag], "term_chunk": []}])
    assert agrees(published, "subset", sv.from_lists(records), np.arange(len(records)))


def test_a_part_that_is_there_far_too_often_is_found_at_once():
    data = sv.from_lists([["a", "b"], ["a"]])
    published = sv.Disassociated.from_clusters([{"size": 2, "record_chunks": [[(["a"], 10**12)]], "term_chunk": ["b"]}])
    assert found_in(published, "subset", data, [0, 1]) == (1, {("chunk", 0, 0)})


SMALL = sv.from_lists([["a", "b"], ["a"], ["b", "s"]])
GROUPED = sv.Grouped.from_groups([([["a", "b"], ["a"], ["b"]], {"s": 1})])
CLUSTER = sv.Disassociated.from_clusters(
    [{"size": 3, "record_chunks": [[(["a"], 2)], [(["b"], 2)]], "term_chunk": ["s"]}]
)


@pytest.mark.parametrize("published", [SMALL, GROUPED, CLUSTER], ids=["plain", "grouped", "disassociated"])
def test_an_alignment_that_does_not_fit_is_not_the_truth(published):
    assert found_in(published, "yes", SMALL, [0, 1, 2]) == (0, set())
    assert found_in(published, "no", SMALL, [7])[0] == 0
    for claim in ("subset", "yes"):
        assert found_in(published, claim, SMALL, [0, 1]) == (1, {None})
        assert found_in(published, claim, SMALL, [0, -1, 3]) == (2, {1, 2})
        assert found_in(published, claim, SMALL, [0, 1, 1]) == (1, {2})


def test_a_record_may_have_several_rows_where_nothing_is_counted():
    split = sv.from_lists([["a"], ["b"], ["a"]])
    assert found_in(split, "subset", SMALL, [0, 0, 1]) == (0, set())
    assert found_in(split, "yes", SMALL, [0, 0, 1])[0] == 1


def test_records_that_are_left_out_are_not_the_whole():
    assert found_in(SMALL.take([0, 1]), "subset", SMALL, [0, 1]) == (0, set())
    assert found_in(SMALL.take([0, 1]), "yes", SMALL, [0, 1]) == (1, {None})


def test_re_associated_rows_are_nobodys_records():
    both = sv.Reassociated((SMALL,))
    assert found_in(both, "no", CLUSTER, [0, 1, 2]) == (0, set())
    assert found_in(both, "subset", CLUSTER, [0, 1, 2]) == (1, {None})
    assert found_in(both, "subset", SMALL, [0, 1, 2]) == (1, {None})


@pytest.mark.parametrize("guarantee", [None, sv.KmAnonymity(k=1, m=1)], ids=["no guarantee", "a guarantee"])
@pytest.mark.parametrize("claim", ["yes", "subset", "no"])
def test_publish_refuses_a_method_that_is_less_true_than_it_says(claim, guarantee, tmp_path):
    class Embroider(Method):
        """Add an item to one record, and lose one of another."""

        name: ClassVar[str] = "embroider"
        title: ClassVar[str] = "Embroider"
        paper: ClassVar[str] = "cao2010"
        truthful: ClassVar[str] = claim

        @property
        def guarantee(self):
            return guarantee

        def apply(self, data, *, rng):
            del rng
            lists = data.to_lists()
            return Outcome(sv.from_lists([[*lists[0], "s"], lists[1], lists[2][:1]]), Alignment.identity(data.records))

    if claim == "no":
        sv.publish(SMALL, Embroider(), no_guarantee=True, metrics=[]).save(tmp_path / "out")
        return
    with pytest.raises(sv.GuaranteeViolated, match=f"embroider states .* truthful: {claim}, which is wrong") as refused:
        sv.publish(SMALL, Embroider(), no_guarantee=True, metrics=[])
    assert refused.value.verdict.violations == {NOT_TRUTHFUL: 2 if claim == "yes" else 1}
    assert refused.value.verdict.witnesses[0].items == ("s",)
    assert "\n" not in str(refused.value)
