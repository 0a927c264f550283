"""The expected supports of pairs equal the definitions in every form, and the mean over records drawn from the release."""

import numpy as np
import pytest
from hypothesis import given, settings

import setveil as sv
from setveil.catalog import FORMS
from setveil.data.forms import pair_supports as module

from contract.forms import at_random, disturbed_groups, disturbed_nodes
from oracle import pair_supports as oracle
from support.disassociated_cases import some_clusters
from support.exhaustive import examples
from support.random_data import as_sets, make, seeds

LABELS = [*(f"i{number:03}" for number in range(8)), "nowhere"]


def check(data, true, records):
    """Compare the supports that a form gives with a definition, for some items in any order."""
    labels = LABELS[::-1]
    found = data.pair_supports(labels)
    expected = [[float(true(a, b)) for b in labels] for a in labels]
    assert found.counts == pytest.approx(np.array(expected), rel=1e-9, abs=1e-9)
    assert found.items.tolist() == pytest.approx([row[place] for place, row in enumerate(expected)])
    assert found.counts.min(initial=0) >= 0
    assert found.records == records


def small(seed):
    return make(seed, items=8)[0]


def groups_of(data):
    """Return grouped data as Python lists."""
    lists, starts, ends = data.rows.to_lists(), data.group_starts.tolist(), data.sensitive_starts.tolist()
    names = [data.sensitive_vocabulary[code] for code in data.sensitive_codes]
    counts = dict(enumerate(zip(names, data.sensitive_counts.tolist(), strict=True)))
    return [
        (lists[starts[g] : starts[g + 1]], dict(counts[at] for at in range(ends[g], ends[g + 1])))
        for g in range(data.groups)
    ]


def below(tree):
    """Return a function for the items below a label."""
    return lambda label: tree.leaves_under(label) if label in tree.nodes else (label,)


@pytest.mark.parametrize("at_once", [1, 1 << 22])
@settings(max_examples=examples(40), deadline=None)
@given(seed=seeds)
def test_records(at_once, seed):
    data = small(seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "OCCURRENCES_AT_ONCE", at_once)
        check(data, lambda a, b: oracle.of_records(as_sets(data), a, b), data.records)


@settings(max_examples=examples(60), deadline=None)
@given(seed=seeds)
def test_disassociated_data(seed):
    clusters = [_renamed(cluster) for cluster in some_clusters(seed)]
    data = sv.Disassociated.from_clusters(clusters)
    check(data, lambda a, b: oracle.of_clusters(clusters, a, b), data.records)
    asked = [[a, b] for a in data.vocabulary for b in data.vocabulary]
    found = data.pair_supports(data.vocabulary).counts.ravel()
    assert found == pytest.approx(sv.support_bounds(data, asked).expected)


def _renamed(cluster):
    """Return a cluster with the labels that other tests here use."""

    def name(item):
        return f"i{int(item[1:]):03}"

    chunks = [[([name(item) for item in items], count) for items, count in chunk] for chunk in cluster["record_chunks"]]
    return {"size": cluster["size"], "record_chunks": chunks, "term_chunk": [*map(name, cluster["term_chunk"])]}


@pytest.mark.parametrize("fault", ["overlap", "term chunk", "size"])
def test_chunks_that_no_records_can_have_are_refused(fault):
    cluster = {"size": 3, "record_chunks": [[(["a"], 2)], [(["b"], 2)]], "term_chunk": ["c"]}
    faults = {
        "overlap": {"record_chunks": [[(["a"], 2)], [(["b", "a"], 2)]]},
        "term chunk": {"term_chunk": ["a"]},
        "size": {"size": 1},
    }
    data = sv.Disassociated.from_clusters([cluster | faults[fault]])
    with pytest.raises(sv.BadData, match="no records can have these chunks"):
        data.pair_supports(["a", "b"])


@settings(max_examples=examples(60), deadline=None)
@given(seed=seeds)
def test_grouped_data(seed):
    data, _alignment = disturbed_groups(small(seed), np.random.default_rng(seed))
    groups = groups_of(data)
    check(data, lambda a, b: oracle.of_groups(groups, a, b), data.records)


@settings(max_examples=examples(60), deadline=None)
@given(seed=seeds)
def test_generalized_data(seed):
    data, _alignment = disturbed_nodes(small(seed), np.random.default_rng(seed))
    check(data, lambda a, b: oracle.of_nodes(as_sets(data.rows), below(data.hierarchy), a, b), data.records)


@settings(max_examples=examples(20), deadline=None)
@given(seed=seeds)
def test_several_sets(seed):
    sets = [small(seed + number) for number in range(3)]
    mean = lambda a, b: sum(oracle.of_records(as_sets(one), a, b) for one in sets) / 3  # noqa: E731
    check(sv.Reassociated(tuple(sets)), mean, sum(one.records for one in sets) / 3)


def test_they_are_the_mean_over_records_drawn_at_random():
    rng = np.random.default_rng(5)
    clusters = [_renamed(cluster) for seed in range(4) for cluster in some_clusters(seed)]
    data = sv.Disassociated.from_clusters(clusters)
    _compare(data, lambda: oracle.drawn_from_clusters(clusters, rng))
    tree = sv.Hierarchy.balanced(LABELS, 3)
    rows = [{tree.parent(LABELS[0]), LABELS[4], LABELS[7]}, {tree.parent(LABELS[3]), LABELS[7]}, set()] * 5
    data = sv.Generalized(sv.from_lists(rows), tree)
    _compare(data, lambda: oracle.drawn_from_nodes(rows, below(tree), rng))


def _compare(data, draw):
    """Compare with the mean of 3,000 draws, to four standard errors."""
    drawn = []
    for _time in range(3000):
        table = np.array([[label in record for label in LABELS] for record in draw()], float)
        drawn.append(table.T @ table)
    drawn = np.array(drawn)
    errors = drawn.std(axis=0) / np.sqrt(len(drawn))
    found = data.pair_supports(LABELS).counts
    assert (np.abs(found - drawn.mean(axis=0)) <= 4 * errors + 1e-9).all()
    assert errors.max() > 0


def test_re_associated_copies_have_them_on_average():
    data, _categories = make(3, records=60, items=8, hot=0.7)
    chunks = sv.publish(data.without_empty(), sv.Disassociation(k=3, m=2), metrics=[], attacks=[])
    method = sv.Reassociation(copies=400, term_chunk="place")
    copies = sv.publish(chunks.data, method, metrics=[], attacks=[], seed=2**64, experiment=True).data
    each = np.array([one.pair_supports(LABELS).counts for one in copies.datasets])
    errors = each.std(axis=0) / np.sqrt(len(each))
    found = chunks.data.pair_supports(LABELS).counts
    assert (np.abs(copies.pair_supports(LABELS).counts - found) <= 4.5 * errors + 1e-9).all()
    assert errors.max() > 0


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_no_item_is_asked_for(form):
    data, _alignment = at_random(small(1), form, 1)
    assert data.pair_supports(()).counts.shape == (0, 0)
