"""Permutation: order and groups equal the definition, the guarantee holds, and messages say what cannot be reached."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import setveil as sv
from setveil.data.records.ragged import read_only
from setveil.kernels.control import CONTROL_WIDTH, STOP
from setveil.kernels.threads import using_threads
from setveil.methods.uncertainty import permutation as module

from oracle import permutation as oracle
from support.exhaustive import examples
from support.random_data import as_sets, make, seeds


def drawn(seed, share=0.4):
    """Draw data and some of its items as sensitive ones."""
    data, _categories = make(seed)
    rng = np.random.default_rng(seed)
    labels = [label for label in data.vocabulary if rng.random() < share]
    return data, sv.SensitiveItems(labels)


def applied(data, threads=None, **parameters):
    method = sv.Permutation(**parameters)
    with using_threads(threads):
        return method.apply(data, rng=np.random.default_rng(0))


def groups_of(outcome):
    """Return the original records of each group, as sets of numbers in the order of the groups."""
    starts = outcome.published.group_starts
    return [set(outcome.alignment.rows[a:b].tolist()) for a, b in pairwise(starts)]


@pytest.mark.plain_python
@settings(max_examples=examples(150))
@given(seeds, st.integers(0, 30))
def test_the_order_is_that_of_the_definition(seed, limit):
    data, sensitive = drawn(seed)
    in_pattern = ~sensitive.among(data) & (data.supports <= limit)
    found = module.cuthill_mckee(data, in_pattern)
    assert found.tolist() == oracle.order(as_sets(data), set(sensitive), limit)


@pytest.mark.plain_python
@settings(max_examples=examples(300))
@given(seeds, st.integers(2, 6), st.integers(1, 3), st.sampled_from([0.1, 0.4, 0.8]))
def test_the_groups_are_those_of_the_definition(seed, p, alpha, share):
    data, sensitive = drawn(seed, share)
    outcome = applied(data, sensitive=sensitive, p=p, alpha=alpha)
    limit = max(data.records // 100, 2 * min(alpha * p, data.records))
    expected = oracle.grouped(as_sets(data), set(sensitive), p, alpha, limit)
    if expected is None:
        assert outcome.advice
        assert groups_of(outcome) == [set(range(data.records))]
    else:
        assert not outcome.advice
        assert groups_of(outcome) == [set(group) for group in expected]


@pytest.mark.plain_python
@settings(max_examples=examples(100))
@given(seeds, st.integers(2, 5))
def test_rows_and_counts_are_those_of_the_records(seed, p):
    data, sensitive = drawn(seed)
    outcome = applied(data, sensitive=sensitive, p=p)
    records, hidden = as_sets(data), set(sensitive)
    assert sorted(outcome.alignment.rows.tolist()) == list(range(data.records))
    for members, (rows, counts) in zip(groups_of(outcome), outcome.published.to_groups(), strict=True):
        assert sorted(map(sorted, rows)) == sorted(sorted(records[r] - hidden) for r in members)
        assert counts == {s: n for s in hidden if (n := sum(s in records[r] for r in members))}
    feasible = not outcome.advice
    verdict = sv.PermutationPrivacy(sensitive=sensitive, p=p).check(outcome.published, original=data)
    occurs = bool(hidden & set().union(*records))
    assert verdict.status == ("violated" if not feasible else "holds" if occurs else "undecided")


def test_records_wait_where_others_could_no_longer_be_grouped():
    """Every second record has x: a pair without x, however well it fits, would leave too few records for the others."""
    lists = [["x", f"a{r}"] for r in range(4)] + [["s", "b", "c"], ["b", "c"], ["d"], ["e"]]
    outcome = applied(sv.from_lists(lists), sensitive=["s", "x"], p=2)
    assert outcome.account["records-held-back-for-others"] == 1
    assert {4, 5} not in groups_of(outcome)
    roomy = applied(sv.from_lists([*lists, ["f"], ["g"]]), sensitive=["s", "x"], p=2)
    assert roomy.account["records-held-back-for-others"] == 0
    assert {4, 5} in groups_of(roomy)


def test_records_wait_where_too_few_fit_together():
    lists = [["s"], ["t", "u"], ["t", "v"], ["u", "v"]] + [["w"]] * 2
    outcome = applied(sv.from_lists(lists), sensitive=["s", "t", "u", "v"], p=3, alpha=1)
    assert sum(map(len, groups_of(outcome))) == 6
    assert outcome.account["records-with-too-few-partners"] >= 1


def test_records_with_common_items_come_together():
    lists = [[f"s{r}", f"a{r % 10}", f"b{r % 10}", f"c{r % 10}"] for r in range(40)]
    outcome = applied(sv.from_lists(lists), sensitive=[f"s{r}" for r in range(40)], p=4)
    assert sorted(map(sorted, groups_of(outcome))) == [[r, r + 10, r + 20, r + 30] for r in range(10)]


@pytest.mark.parametrize(
    ("lists", "p", "says"),
    [
        ([["s"]] * 3 + [["a"]] * 7, 4, "in 3 of the 10 records, so p can be at most 3, not 4"),
        ([["s"]] * 6 + [["a"]] * 4, 2, "in 6 of the 10 records, more than half of them, so no p can be reached"),
        ([["s"], ["a"]], 10**30, "in 1 of the 2 records, so p can be at most 2, not 1,000"),
    ],
)
def test_a_p_that_cannot_be_reached_is_refused_with_the_largest_one(lists, p, says):
    with pytest.raises(sv.GuaranteeViolated, match="permutation-privacy is violated; nothing was written") as broken:
        sv.publish(sv.from_lists(lists), sv.Permutation(sensitive=["s"], p=p))
    assert says in str(broken.value)
    assert broken.value.verdict.violations == {"too-often-in-a-group": 1}
    assert sv.Permutation(sensitive=["s"], p=2).p == 2


def test_the_reported_largest_p_can_be_reached():
    data = sv.from_lists([["s"]] * 3 + [["a"]] * 7)
    assert sv.publish(data, sv.Permutation(sensitive=["s"], p=3)).verdict


@pytest.mark.parametrize("sensitive", [[], ["s"]])
def test_without_a_sensitive_occurrence_all_records_are_one_group(sensitive):
    data = sv.from_lists([["a"], ["b"], ["s"]]).take([0, 1])
    method = sv.Permutation(sensitive=sensitive, p=2)
    outcome = method.apply(data, rng=np.random.default_rng(1))
    assert outcome.published.to_groups() == [([["a"], ["b"]], {})]
    with pytest.raises(sv.BadData, match=r"0 of [01] named items occur"):
        sv.publish(data, method)


@pytest.mark.parametrize("threads", [1, 2])
def test_the_number_of_threads_changes_nothing(threads):
    data, sensitive = drawn(11)
    assert (
        applied(data, threads, sensitive=sensitive, p=2).published == applied(data, sensitive=sensitive, p=2).published
    )


def test_the_kernels_stop_on_request():
    from setveil.methods.uncertainty import _permutation_kernels as kernels  # noqa: PLC0415 - imports Numba

    control = np.zeros(CONTROL_WIDTH, np.int64)
    control[STOP] = 1
    starts = read_only(np.arange(5, dtype=np.int64))
    group_of = np.full(4, -1, np.int64)
    items = read_only(np.zeros(4, np.int32))
    hidden = read_only(np.arange(4, dtype=np.int32))
    ordered, room = kernels.Ordered(starts, items, starts, hidden), module.make_room(4, np.ones(4, np.int64), 1, 4)
    assert kernels.make_groups(ordered, 2, 4, room, group_of, control) == (0, 0, 0)
    assert (group_of == -1).all()
    nothing, nodes = read_only(np.zeros(5, np.int64)), read_only(np.arange(4))
    assert kernels.breadth_first(nothing, nodes, nodes, np.empty(4, np.int64), control) < 4


@pytest.mark.realdata
@pytest.mark.parametrize("p", [4, 10])
def test_real_data_are_grouped_in_groups_of_p(real_data, p):
    data = real_data("bms-webview-2")
    chosen = np.random.default_rng(23).permutation(len(data.vocabulary))[: int(0.4 * len(data.vocabulary))]
    sensitive = [data.vocabulary[code] for code in chosen]
    release = sv.publish(data, sv.Permutation(sensitive=sensitive, p=p))
    assert release.verdict
    assert release.data.supports.tolist() == data.supports.tolist()
    assert np.mean(release.data.group_sizes == p) > 0.99
