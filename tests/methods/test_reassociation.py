"""Re-association: the result is a reconstruction of the chunks, all are equally likely, and the seed alone decides."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import setveil as sv
from setveil.data.records.alignment import Alignment
from setveil.release.checking import check_release, guarantee_of
from setveil.release.dossier import Private
from setveil.release.opening import open_release

from oracle.tree_distance import tree_distance
from support.exhaustive import examples
from support.random_data import as_sets, make, seeds


def disassociated(seed, k=2, m=2, **sizes):
    data = make(seed, **sizes)[0].without_empty()
    if data.records < k:
        return None
    return sv.Disassociation(k=k, m=m, delta=max(k, 8)).apply(data, rng=np.random.default_rng(seed)).published


def occurrences(clusters, *, terms):
    told = sum(len(items) * n for c in clusters for chunk in c["record_chunks"] for items, n in chunk)
    return told + terms * sum(len(c["term_chunk"]) for c in clusters)


@settings(max_examples=examples(60))
@given(seed=seeds, k=st.integers(1, 3), terms=st.sampled_from(["drop", "place"]), copies=st.integers(1, 3))
def test_it_is_a_reconstruction(seed, k, terms, copies):
    data = disassociated(seed, k)
    if data is None:
        return
    method = sv.Reassociation(copies=copies, term_chunk=terms)
    release = sv.publish(data, method, seed=2**90 + seed, threads=1, metrics=[])
    assert release.verdict
    assert len(release.data) == copies
    for made in release.data.datasets:
        assert made.occurrences == occurrences(data.to_clusters(), terms=terms == "place")
        assert made.empty_records == 0
        assert made.records <= data.records
        lists = made.to_lists()
        assert lists == sorted(lists)  # in the order of content
    again = sv.publish(data, method, seed=2**90 + seed, threads=2, metrics=[])
    assert again.data == release.data


@pytest.mark.parametrize("terms", ["drop", "place"])
def test_omitted_items_are_counted_in_a_note(terms, notes):
    data = disassociated(3, records=40, items=30)
    in_chunks = {
        item for c in data.to_clusters() for chunk in c["record_chunks"] for items, _n in chunk for item in items
    }
    omitted = len(data.vocabulary) - len(in_chunks)
    assert omitted
    release = sv.publish(data, sv.Reassociation(term_chunk=terms), seed=2**90, metrics=[])
    said = f"{omitted:,} of {len(data.vocabulary):,} items omitted, because they are in term chunks only"
    assert (said in notes()) == (terms == "drop")
    assert (release.kept.items.gone == omitted) == (terms == "drop")


def test_every_way_to_combine_chunks_is_equally_likely():
    # Three places; a chunk of x, x, y and one of u, v: 3 ways to choose the record with y, times 6 to place u and v.
    cluster = {"size": 3, "record_chunks": [[(["x"], 2), (["y"], 1)], [(["u"], 1), (["v"], 1)]], "term_chunk": []}
    data = sv.Disassociated.from_clusters([cluster], stated={"k": 1, "m": 1})
    method = sv.Reassociation(copies=1000).bind(data, linked=False, rng=None)
    found = Counter()
    for seed in range(6):
        outcome = method.apply(data, rng=np.random.default_rng(seed))
        for made in outcome.published.datasets:
            found[tuple(sorted(tuple(sorted(record)) for record in as_sets(made)))] += 1
    # By hand: y meets u, v or neither; where it meets neither, u and v are with the two x.
    expected = {
        (("u", "x"), ("v", "x"), ("y",)): 1 / 3,
        (("u", "y"), ("v", "x"), ("x",)): 1 / 3,
        (("u", "x"), ("v", "y"), ("x",)): 1 / 3,
    }
    assert found.keys() == expected.keys()
    for way, share in expected.items():
        assert abs(found[way] / 6000 - share) < 4 * (share * (1 - share) / 6000) ** 0.5


def test_terms_are_placed_anywhere_in_their_cluster():
    clusters = [
        {"size": 4, "record_chunks": [[(["a"], 4)]], "term_chunk": ["t"]},
        {"size": 2, "record_chunks": [[(["b"], 2)]], "term_chunk": ["s"]},
    ]
    data = sv.Disassociated.from_clusters(clusters, stated={"k": 2, "m": 1}).arranged()[0]
    method = sv.Reassociation(copies=400, term_chunk="place").bind(data, linked=False, rng=None)
    outcome = method.apply(data, rng=np.random.default_rng(1))
    for made in outcome.published.datasets:
        assert Counter(map(tuple, made.to_lists())) == {("a",): 3, ("a", "t"): 1, ("b",): 1, ("b", "s"): 1}
    rows = outcome.alignment.rows.reshape(400, 6)
    with_t = [rows[i][["t" in row for row in made.to_lists()]][0] for i, made in enumerate(outcome.published.datasets)]
    assert set(with_t) == {2, 3, 4, 5}  # clusters are ordered by size: the first one has the places 0 and 1
    assert min(Counter(with_t).values()) > 60


def test_the_centroid_is_nearest_to_the_others():
    data = disassociated(11)
    every = sv.Reassociation(copies=6).bind(data, linked=False, rng=None)
    made = every.apply(data, rng=np.random.default_rng(5)).published.datasets
    lists = [one.to_lists() for one in made]
    sums = [sum(tree_distance(one, other) for other in lists) for one in lists]
    chosen = sv.Reassociation(copies=6, choose="centroid").bind(data, linked=False, rng=None)
    outcome = chosen.apply(data, rng=np.random.default_rng(5))
    assert outcome.account["sums-of-distances"] == sums
    assert len(set(sums)) > 1
    assert outcome.published.datasets == (made[sums.index(min(sums))],)


def test_unsafe_data_are_not_combined():
    rare = {"size": 3, "record_chunks": [[(["a", "b"], 1), (["a"], 1), (["b"], 1)]], "term_chunk": []}
    data = sv.Disassociated.from_clusters([rare], stated={"k": 2, "m": 2})
    with pytest.raises(sv.GuaranteeViolated, match="the disassociated data failed the check of their guarantee"):
        sv.publish(data, sv.Reassociation())
    with pytest.raises(sv.BadData, match="do not state the k and m of their guarantee"):
        sv.publish(replace(data, stated={}), sv.Reassociation())
    with pytest.raises(sv.BadParameter, match="reassociation takes disassociated data, not plain records"):
        sv.publish(sv.from_lists([["a"]]), sv.Reassociation())
    with pytest.raises(sv.BadParameter, match="disassociation takes plain records, not disassociated data"):
        sv.publish(data, sv.Disassociation(k=2, m=2))
    with pytest.raises(sv.BadParameter, match="not records of people"):
        sv.publish(disassociated(3), sv.Reassociation(), ids="pseudonym")


@pytest.fixture
def made():
    data = disassociated(11, records=50, items=20)
    assert data.clusters > 3
    assert len(data.terms)
    release = sv.publish(data, sv.Reassociation(copies=2, term_chunk="place"), seed=2**90, metrics=[])
    return data, release


def verdict_of(data, release, lists, slots=None):
    published = sv.Reassociated(tuple(sv.from_lists(one) for one in lists))
    alignment = release.alignment if slots is None else Alignment(slots)
    return release.method.guarantee.check(published, original=data, alignment=alignment)


def test_faults_are_found(made):
    data, release = made
    lists = [one.to_lists() for one in release.data.datasets]
    assert verdict_of(data, release, lists)

    def changed(number, row, record):
        return [
            [record if (i, r) == (number, row) else old for r, old in enumerate(one)] for i, one in enumerate(lists)
        ]

    kinds = {}
    longest = max(range(len(lists[1])), key=lambda row: len(lists[1][row]))
    kinds["an item that no cluster names"] = verdict_of(data, release, changed(0, 0, [*lists[0][0], "other"]))
    kinds["a missing item"] = verdict_of(data, release, changed(1, longest, lists[1][longest][1:]))
    swapped = release.alignment.rows.copy()
    first, last = 0, int(release.data.starts[1]) - 1
    swapped[[first, last]] = swapped[[last, first]]
    kinds["rows of two clusters swapped"] = verdict_of(data, release, lists, swapped)
    twice = release.alignment.rows.copy()
    twice[0] = twice[1]
    kinds["a place twice"] = verdict_of(data, release, lists, twice)
    found = {name: (verdict.status, set(verdict.violations)) for name, verdict in kinds.items()}
    assert all(status == "violated" for status, _violations in found.values()), found
    assert "item-of-another-cluster" in found["an item that no cluster names"][1]
    assert found["a missing item"][1] & {"chunk-with-other-subrecords", "term-item-not-placed-once"}
    assert found["a place twice"][1] == {"row-without-a-place"}
    for verdict in kinds.values():
        assert verdict.witnesses
        assert sum(verdict.violations.values()) >= len(verdict.witnesses)


def test_another_release_and_other_terms_are_found(made):
    data, release = made
    other = sv.Reconstruction(**{**release.method.guarantee.model_dump(), "release_sha256": "0" * 64})
    verdict = other.check(release.data, original=data, alignment=release.alignment)
    assert verdict.violations == {"made-from-another-release": 1}
    dropped = sv.Reconstruction(**{**release.method.guarantee.model_dump(), "term_chunk": "drop"})
    verdict = dropped.check(release.data, original=data, alignment=release.alignment)
    assert set(verdict.violations) == {"term-item-not-placed-once"}
    assert verdict.violations["term-item-not-placed-once"] == 2 * len(data.terms)
    with pytest.raises(sv.Missing, match="`original=`"):
        release.method.guarantee.check(release.data)
    with pytest.raises(sv.BadData, match="the alignment has 3 rows"):
        verdict_of(data, release, [one.to_lists() for one in release.data.datasets], np.arange(3))


def test_it_is_saved_checked_and_measured(tmp_path):
    original = make(11)[0].without_empty()
    first = sv.publish(original, sv.Disassociation(k=2, m=2, delta=8), metrics=[])
    first.save(tmp_path / "apart")
    opened = open_release(tmp_path / "apart")
    assert opened.data.stated == {"k": 2, "m": 2, "delta": 8}
    release = sv.publish(
        opened.data, sv.Reassociation(copies=3), original=original, metrics=["tree-edit-distance", "dissimilarity"]
    )
    card = release.save(tmp_path / "together", format="list")
    assert sorted(path.name for path in (tmp_path / "together").iterdir()) == [
        "CARD.md",
        "card.json",
        "data-1.jsonl",
        "data-2.jsonl",
        "data-3.jsonl",
        "datapackage.json",
    ]
    assert card.guarantee.parameters["release_sha256"] == opened.card.data.sha256
    assert [one.file for one in card.data.beside] == ["data-2.jsonl", "data-3.jsonl"]
    assert card.counts.records == release.data.records
    distance = release.measurements[0]
    assert distance.value == pytest.approx(np.mean(distance.details["each"]))
    assert distance.value == pytest.approx(
        np.mean([tree_distance(original.to_lists(), one.to_lists()) for one in release.data.datasets])
    )
    again = open_release(tmp_path / "together")
    assert again.data == release.data
    private = Private.load(tmp_path / "together.private")
    assert check_release(again, guarantee_of(again, private), original=opened.data, private=private)
    assert "data-3" in (tmp_path / "together.private" / "dossier.json").read_text()
    (tmp_path / "together" / "data-3.jsonl").unlink()
    with pytest.raises(sv.BadData, match=r"lacks the file 'data-3.jsonl'"):
        open_release(tmp_path / "together")


def test_a_release_is_published_again_as_its_data_are():
    data, _categories = make(3, records=60, items=12)
    apart = sv.publish(data.without_empty(), sv.Disassociation(k=2, m=2), metrics=[])
    made = [sv.publish(one, sv.Reassociation(), seed=2**90, metrics=[]).data for one in (apart, apart.data)]
    assert made[0] == made[1]


def test_an_original_without_the_items_of_the_release_is_refused():
    data, _categories = make(3, records=60, items=12)
    apart = sv.publish(data.without_empty(), sv.Disassociation(k=2, m=2), metrics=[])
    with pytest.raises(sv.BadData, match="the original lacks items of the release"):
        sv.publish(apart, sv.Reassociation(), original=sv.from_lists([["a"], ["b"]]))
