"""Disassociation: clusters and chunks equal those of a plain twin, nothing is lost, and no cluster violates the guarantee."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import setveil as sv
from setveil.data.forms.disassociated import LEFT_OUT, TERM_CHUNK
from setveil.kernels.threads import using_threads
from setveil.methods.disassociation._horizontal import Clustering, by_frequency
from setveil.methods.disassociation._vertical import assign_chunks

from oracle import disassociation as oracle
from support.exhaustive import examples
from support.random_data import as_sets, make, seeds

PLAIN = pytest.mark.plain_python


def without_empty(seed, **sizes):
    return make(seed, **sizes)[0].without_empty()


def coded(data):
    """Return the records as tuples of codes, in the order of content, and their numbers."""
    order = data.content_order()
    return [tuple(data.items[data.offsets[r] : data.offsets[r + 1]].tolist()) for r in order], order


def clusters_of(clustering):
    return [clustering.rows[a:b].tolist() for a, b in zip(clustering.starts[:-1], clustering.starts[1:], strict=True)]


@PLAIN
@settings(max_examples=examples(150))
@given(seed=seeds, k=st.integers(1, 5), delta=st.integers(1, 12), safe=st.booleans(), flat=st.booleans())
def test_clusters_are_those_of_the_plain_twin(seed, k, delta, safe, flat):
    data = without_empty(seed)
    delta = max(delta, k)
    if data.records < k:
        return
    records, order = coded(data)
    mode = "flat" if flat else "recursive"
    found = by_frequency(data, k, delta, safe=safe, mode=mode)
    twin = (oracle.horpart_flat if flat else oracle.horpart)(records, k, delta, safe)
    assert clusters_of(found) == [[int(order[place]) for place in cluster] for cluster in twin]
    assert sorted(found.rows.tolist()) == list(range(data.records))
    assert not safe or found.sizes.min() >= k


@PLAIN
@settings(max_examples=examples(200))
@given(seed=seeds, k=st.integers(1, 4), m=st.integers(1, 4))
def test_chunks_are_those_of_the_plain_twin(seed, k, m):
    data = without_empty(seed, records=int(seed % 9) + 1, items=int(seed // 9 % 7) + 2)
    if not data.records:
        return
    whole = Clustering(np.arange(data.records), np.array([0, data.records]))
    chunk, account = assign_chunks(data, whole, k, m)
    records = [tuple(data.items[data.offsets[r] : data.offsets[r + 1]].tolist()) for r in range(data.records)]
    chunks, terms = oracle.verpart(records, k, m)
    found = {}
    for item, number in zip(data.items.tolist(), chunk.tolist(), strict=True):
        found.setdefault(number, set()).add(item)
    assert found.pop(TERM_CHUNK, set()) == terms
    assert [found[number] for number in sorted(found)] == chunks
    assert account["searches-given-up"] == 0


@pytest.mark.parametrize("k", [5, 20, 40])
def test_more_than_one_word_of_records(k):
    data = without_empty(6, records=200, items=12, hot=1.5)
    whole = Clustering(np.arange(data.records), np.array([0, data.records]))
    chunk, _account = assign_chunks(data, whole, k, 2)
    records = [tuple(data.items[data.offsets[r] : data.offsets[r + 1]].tolist()) for r in range(data.records)]
    chunks, terms = oracle.verpart(records, k, 2)
    found = {}
    for item, number in zip(data.items.tolist(), chunk.tolist(), strict=True):
        found.setdefault(number, set()).add(item)
    assert len(chunks) > 1
    assert data.records > 62
    assert found.pop(TERM_CHUNK, set()) == terms
    assert [found[number] for number in sorted(found)] == chunks


@settings(max_examples=examples(60))
@given(seed=seeds, k=st.integers(1, 4), m=st.integers(1, 3), cover=st.sampled_from(["keep", "suppress"]))
def test_every_occurrence_is_published_once(seed, k, m, cover):
    data = without_empty(seed)
    if data.records < k:
        return
    method = sv.Disassociation(k=k, m=m, delta=max(k, 8), cover=cover)
    outcome = method.apply(data, rng=np.random.default_rng(seed))
    published, rows = outcome.published, outcome.alignment.rows
    assert sorted(rows.tolist()) == list(range(data.records))
    records, at = as_sets(data), 0
    shown_once = 0
    for cluster in published.to_clusters():
        mine = [records[row] for row in rows[at : at + cluster["size"]]]
        at += cluster["size"]
        terms = set(cluster["term_chunk"])
        assert terms <= set().union(*mine)
        for chunk in cluster["record_chunks"]:
            domain = set().union(*(items for items, _count in chunk))
            assert not domain & terms
            parts = Counter(frozenset(record & domain) for record in mine if record & domain)
            shown = Counter({frozenset(items): count for items, count in chunk})
            if cover == "keep":
                assert shown == parts
            shown_once += sum(len(items) * count for items, count in shown.items())
        shown_once += sum(item in terms for record in mine for item in record)
    suppressed = outcome.account.get("occurrences-left-out-for-covers", 0)
    assert shown_once + suppressed == data.occurrences
    assert cover == "suppress" or suppressed == 0


@settings(max_examples=examples(80))
@given(seed=seeds, k=st.integers(1, 4), m=st.integers(1, 3))
def test_no_certain_link_is_left_where_covers_are_suppressed(seed, k, m):
    data = without_empty(seed)
    if data.records < k:
        return
    method = sv.Disassociation(k=k, m=m, delta=max(k, 10), cover="suppress")
    published = method.apply(data, rng=np.random.default_rng(seed)).published
    assert all(not oracle.certain_links(cluster) for cluster in published.to_clusters())
    assert sv.KmAnonymity(k=k, m=m).check(published)


def test_there_are_certain_links_where_covers_are_kept():
    data = sv.from_lists([["a", "b"], ["a", "c"], ["a", "d"], ["a", "b"], ["a", "c"]])
    published = sv.Disassociation(k=2, m=2, delta=5).apply(data, rng=None).published
    assert [oracle.certain_links(cluster) for cluster in published.to_clusters()] == [{frozenset("ad")}]


@settings(max_examples=examples(40))
@given(seed=seeds)
def test_the_order_of_records_does_not_matter_and_neither_do_threads(seed):
    data = without_empty(seed)
    if data.records < 2:
        return
    shuffled = data.take(np.random.default_rng(seed).permutation(data.records))
    method = sv.Disassociation(k=2, m=2, delta=6)
    made = []
    for one, threads in ((data, 1), (shuffled, 1), (data, 2)):
        with using_threads(threads):
            made.append(method.apply(one, rng=None).published)
    assert made[0] == made[1] == made[2]


def copies(length, times, others=()):
    return sv.from_lists([[f"i{j:04}" for j in range(length)]] * times + [list(one) for one in others])


@pytest.mark.parametrize("length", [267, 1000, 5000])
@pytest.mark.parametrize("m", [2, 4])
def test_long_records_and_copies_of_them(length, m):
    single = sv.publish(copies(length, 1, [["i0001"], ["i0002", "x"], ["x"]]), sv.Disassociation(k=2, m=m), metrics=[])
    assert single.verdict
    same = sv.publish(copies(length, 5), sv.Disassociation(k=5, m=m), metrics=[]).data
    assert same.to_clusters()[0]["record_chunks"] == [[(sorted(f"i{j:04}" for j in range(length)), 5)]]
    among = copies(length, 5, [[f"i{j:04}"] for j in range(0, length, 50)])
    release = sv.publish(among, sv.Disassociation(k=5, m=m), metrics=[])
    assert release.verdict
    assert release.account["searches-given-up"] == 0


def test_a_search_that_finds_too_much_is_given_up_and_stays_safe(monkeypatch):
    monkeypatch.setattr("setveil.methods.disassociation._vertical.ROOM", 4)
    rng = np.random.default_rng(3)
    data = sv.from_lists([[f"i{j}" for j in range(12) if rng.random() < 0.8] for _ in range(60)]).without_empty()
    release = sv.publish(data, sv.Disassociation(k=2, m=6, delta=60), metrics=[])
    assert release.account["searches-given-up"] > 0
    assert release.verdict


EDGES = {
    "k is 1": ([["a"], ["b", "c"]], {"k": 1, "m": 3}),
    "m is larger than any record": ([["a", "b"], ["a", "b"], ["a", "c"]], {"k": 2, "m": 1000}),
    "one record": ([["a", "b", "c"]], {"k": 1, "m": 2}),
    "all records equal": ([["a", "b", "c"]] * 130, {"k": 5, "m": 3}),
    "an item in every record": ([["a", f"i{r % 7}", f"j{r % 11}"] for r in range(80)], {"k": 3, "m": 2}),
    "k as large as the data": ([["a", "b"], ["a"], ["b"], ["c"]], {"k": 4, "m": 2}),
    "nothing in common": ([[f"i{r}"] for r in range(40)], {"k": 4, "m": 2}),
}


@pytest.mark.parametrize(("lists", "limits"), EDGES.values(), ids=EDGES)
@pytest.mark.parametrize("mode", ["recursive", "flat"])
def test_edges(lists, limits, mode):
    release = sv.publish(sv.from_lists(lists), sv.Disassociation(**limits, mode=mode), metrics=[])
    assert release.verdict
    assert release.data.records == len(lists)
    assert release.data.sizes.min() >= limits["k"]


def test_records_that_cannot_be_protected_are_refused():
    with pytest.raises(sv.BadData, match="the data have 2 records, fewer than k = 3"):
        sv.publish(sv.from_lists([["a"], ["b"]]), sv.Disassociation(k=3, m=1))
    with pytest.raises(sv.BadData, match=r"the data have 1 empty record, .*`empty='drop'`"):
        sv.publish(sv.from_lists([["a"], []]), sv.Disassociation(k=1, m=1))
    with pytest.raises(sv.BadParameter, match="delta is 4, below k = 5"):
        sv.publish(sv.from_lists([["a"]] * 9), sv.Disassociation(k=5, m=1, delta=4))
    with pytest.raises(sv.BadParameter, match="give a file of itemsets with `rules=`"):
        sv.publish(sv.from_lists([["a"]] * 9), sv.Disassociation(k=2, m=1, partition="ants"))
    with pytest.raises(sv.BadParameter, match="applies to `partition='ants'` only, not to frequency"):
        sv.publish(sv.from_lists([["a"]] * 9), sv.Disassociation(k=2, m=1, rules=[["a"]]))


def test_as_printed_nothing_is_guaranteed_and_the_check_says_why():
    data = sv.from_lists([["a", "b"]] * 4 + [["c", "d"]])
    method = sv.Disassociation(k=2, m=2, delta=4, safe=False)
    with pytest.raises(sv.BadParameter, match="guarantees nothing here"):
        sv.publish(data, method)
    release = sv.publish(data, method, no_guarantee=True, metrics=[])
    assert release.data.sizes.tolist() == [1, 4]
    assert not sv.KmAnonymity(k=2, m=2).check(release.data)


@pytest.mark.realdata
def test_bms_webview_1_gives_the_figures_of_our_notes(real_data):
    data = real_data("bms-webview-1")
    outcome = sv.Disassociation(k=2, m=2, delta=20, safe=False).apply(data, rng=None)
    account = outcome.account
    assert account["clusters"] == 9_563
    assert account["clusters-below-k"] == 4_006
    assert account["clusters-of-several-chunks"] == 584
    assert account["occurrences-in-term-chunks"] == 40_567
    assert account["items-moved-for-lemma-2"] == 0
    safe = sv.Disassociation(k=2, m=2, delta=20).apply(data, rng=None).account
    assert safe["clusters"] == 5_787
    assert safe["records-of-the-largest-cluster"] == 24


def test_lemma_2_moves_an_item():
    # Every item is in k records, and no two occur together: three chunks with as many subrecords as records are too few.
    data = sv.from_lists([["a"], ["a"], ["b"], ["b"], ["a", "b"]])
    whole = Clustering(np.arange(5), np.array([0, 5]))
    chunk, account = assign_chunks(data, whole, 2, 2)
    assert account["items-moved-for-lemma-2"] == 1
    assert (chunk == TERM_CHUNK).sum() == 3
    assert not (chunk == LEFT_OUT).any()
