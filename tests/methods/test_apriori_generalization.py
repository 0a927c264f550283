"""AprioriGeneralization against its slow twin and the definition of k^m-anonymity."""

from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import setveil as sv
from setveil.methods.disassociation import apriori_generalization as module
from setveil.methods.disassociation.apriori_generalization import AprioriGeneralization

from oracle.apriori_generalization import Recoding, generalized, rare_sets
from support.exhaustive import examples
from support.global_suppression_cases import apply
from support.random_data import as_sets, make, seeds
from support.random_trees import some_tree


def drawn(seed):
    """Return a small table of records, some of them equal and some empty, and a tree over its items and a few more."""
    rng = np.random.default_rng(seed)
    labels = [f"i{j}" for j in range(int(rng.integers(1, 11)))]
    chance = rng.choice([0.1, 0.3, 0.5, 0.8]) * rng.random(len(labels)) ** rng.choice([0.0, 1.0])
    pool = []
    for _ in range(int(rng.integers(1, 41))):
        if not pool or rng.random() < 0.6:
            pool.append([label for label, c in zip(labels, chance, strict=True) if rng.random() < c])
        else:
            pool.append(pool[rng.integers(len(pool))])
    pool.append(labels[:1])
    return sv.from_lists(pool), some_tree([*labels, "other", "another"], rng)


def check_truth(data, published):
    """Check that every item is shown as one node, the same everywhere, and that no other node is shown."""
    tree = published.hierarchy
    shown = set().union(*as_sets(published.rows))
    assert shown == set(published.rows.vocabulary)
    node_of = {item: node for node in shown for item in tree.leaves_under(node)}
    assert sum(len(tree.leaves_under(node)) for node in shown) == len(node_of)
    assert as_sets(published.rows) == [{node_of[item] for item in record} for record in as_sets(data)]


def refused(data, k):
    return sum(map(bool, as_sets(data))) < k


@pytest.mark.plain_python
@settings(max_examples=examples(300))
@given(seed=seeds, k=st.integers(1, 6), m=st.integers(1, 4), refine=st.booleans())
def test_the_oracle_finds_the_same_cut_and_no_set_is_rare(seed, k, m, refine):
    data, parent_of = drawn(seed)
    method = AprioriGeneralization(k=k, m=m, hierarchy=parent_of, refine=refine)
    if refused(data, k):
        with pytest.raises(sv.BadData, match=f"fewer than k = {k}"):
            apply(method, data)
        return
    outcome = apply(method, data)
    published = outcome.published
    rows = as_sets(published.rows)
    check_truth(data, published)
    assert rare_sets(rows, k, m) == {}
    tree = published.hierarchy.parent_of()
    assert tree == parent_of
    recoding, steps, refined = generalized(as_sets(data), tree, k, m, refine=refine)
    assert rows == recoding.labels()
    account = outcome.account
    assert account["sets-generalized"] == steps
    assert account["nodes-refined"] == refined
    shown = set().union(*recoding.rows())
    assert account["nodes-of-the-cut"] == len(shown) == len(published.rows.vocabulary)
    assert account["items-of-the-cut"] == sum(len(node) == 1 for node in shown)
    loss = sum(map(recoding.loss, recoding.cut)) / (len(published.hierarchy.leaves) * data.occurrences)
    assert account["generalization-loss"] == pytest.approx(loss)
    assert not refine or not recoding.refinable(k, m)


@settings(max_examples=examples(60))
@given(seed=seeds, k=st.integers(2, 5), m=st.integers(2, 5), fanout=st.integers(2, 4))
def test_without_a_hierarchy_a_balanced_tree_is_used(seed, k, m, fanout):
    data, _categories = make(seed, records=40, items=12)
    if refused(data, k):
        return
    published = apply(AprioriGeneralization(k=k, m=m, fanout=fanout), data).published
    held = set().union(*as_sets(data))
    assert published.hierarchy == sv.Hierarchy.balanced(held, fanout)
    check_truth(data, published)
    recoding, _steps, _refined = generalized(as_sets(data), published.hierarchy.parent_of(), k, m, refine=True)
    assert as_sets(published.rows) == recoding.labels()
    assert rare_sets(as_sets(published.rows), k, m) == {}


def crowd(seed):
    """Return more records of fewer items, in which single items and most pairs are frequent; and a tree."""
    rng = np.random.default_rng(seed)
    labels = [f"i{j}" for j in range(int(rng.integers(4, 10)))]
    chance = rng.uniform(0.1, rng.choice([0.5, 0.95]), len(labels))
    records = int(rng.integers(30, 150))
    data = sv.from_lists([[x for x, c in zip(labels, chance, strict=True) if rng.random() < c] for _ in range(records)])
    return data, some_tree(data.vocabulary, rng)


@settings(max_examples=examples(60))
@given(seed=seeds, k=st.integers(2, 6), m=st.integers(3, 5), refine=st.booleans())
def test_the_oracle_finds_the_same_cut_where_only_larger_sets_are_rare(seed, k, m, refine):
    data, parent_of = crowd(seed)
    outcome = apply(AprioriGeneralization(k=k, m=m, hierarchy=parent_of, refine=refine), data)
    rows = as_sets(outcome.published.rows)
    assert rare_sets(rows, k, m) == {}
    tree = outcome.published.hierarchy.parent_of()
    recoding, steps, refined = generalized(as_sets(data), tree, k, m, refine=refine)
    assert rows == recoding.labels()
    assert (outcome.account["sets-generalized"], outcome.account["nodes-refined"]) == (steps, refined)


@pytest.mark.parametrize(("refine", "shown"), [(False, {"ab", "cd", "e", "f"}), (True, {"a", "b", "cd", "e", "f"})])
def test_refining_undoes_what_a_later_step_made_unnecessary(refine, shown):
    """For {a, c}, which is rare, ab is cheapest; for {c, e} later cd: with cd, a and b can be shown separately."""
    parent_of = {item: group for group in ("ab", "cd", "ef") for item in group}
    few = [["a", "c"], ["c", "e"], *[["a", "d"]] * 2, *[["b", "c"]] * 2, *[["d", "e"]] * 2]
    data = sv.from_lists([*few, *[["d"]] * 10, *[["e"]] * 3, *[["f"]] * 50])
    published = apply(AprioriGeneralization(k=2, m=2, hierarchy=parent_of, refine=refine), data).published
    assert set(published.rows.vocabulary) == shown


LISTS = {
    "one record": [["a", "b", "c"]],
    "one item": [["a"], ["a"], ["a"]],
    "all equal": [["a", "b", "c", "d"]] * 4,
    "an item everywhere": [["a", f"i{r % 5}"] for r in range(10)],
    "no two alike": [["a", "b"], ["c", "d"], ["e", "f"], ["g"]],
    "empty among others": [[], ["a"], ["a", "b"], [], ["b"], ["a", "b"]],
    "b never without c, c at times without b": [*map(list, ["abc", "abc", "acd", "ad", "cd"])],
    "only a set of four is rare": [
        *map(list, ["abcd", "abc", "acd", "abd", "bcd", "ab", "ab", "abe", "abe", "abf", "abf"])
    ],
    "names of nodes": [["*", "**"], ["*", "*1"], ["**", "b"], ["b", "*1"]],
}


@pytest.mark.parametrize("lists", LISTS.values(), ids=LISTS)
@pytest.mark.parametrize("k", [1, 2, 3, 4, 9])
@pytest.mark.parametrize("m", [1, 2, 10**9])
def test_edge_cases_of_small_data(lists, k, m):
    data = sv.from_lists(lists)
    method = AprioriGeneralization(k=k, m=m, fanout=2)
    if refused(data, k):
        with pytest.raises(sv.BadData, match="choose a smaller k"):
            apply(method, data)
        return
    published = apply(method, data).published
    check_truth(data, published)
    rows = as_sets(published.rows)
    assert rare_sets(rows, k, m) == {}
    assert rows == generalized(as_sets(data), published.hierarchy.parent_of(), k, m, refine=True)[0].labels()
    assert rows == as_sets(data) or rare_sets(as_sets(data), k, m)


def test_data_without_an_item_are_refused():
    for lists in ([], [[], []]):
        with pytest.raises(sv.BadData, match="no record holds an item"):
            apply(AprioriGeneralization(k=1, m=1), sv.from_lists(lists))


def test_ids_and_empty_records_stay():
    data = sv.from_lists([["a"], [], ["b"]]).with_ids(["one", "two", "three"])
    outcome = apply(AprioriGeneralization(k=2, m=2, hierarchy={"a": "top", "b": "top"}), data)
    assert AprioriGeneralization.form is sv.Generalized is type(outcome.published)
    assert outcome.published.rows.ids.to_pylist() == ["one", "two", "three"]
    assert as_sets(outcome.published.rows) == [{"top"}, set(), {"top"}]
    assert outcome.alignment.rows.tolist() == [0, 1, 2]


def test_a_node_with_one_child_is_never_shown():
    parent_of = {"a": "only a", "only a": "group", "b": "group", "c": "group 2", "group": "top", "group 2": "top"}
    data = sv.from_lists([["a"], ["a"], ["b"], ["b"], ["c"]])
    published = apply(AprioriGeneralization(k=2, m=1, hierarchy=parent_of), data).published
    assert set(published.rows.vocabulary) == {"top"}  # the next node above c that covers more than c
    data = sv.from_lists([["a"], ["b"], ["c"], ["c"]])
    published = apply(AprioriGeneralization(k=2, m=1, hierarchy=parent_of), data).published
    assert set(published.rows.vocabulary) == {"group", "c"}


def test_hierarchies_that_do_not_fit_are_refused():
    data = sv.from_lists([["a", "s"], ["b"]])
    with pytest.raises(sv.BadData, match="the hierarchy has no leaf for 2 of 3 items, such as 'b', 's'"):
        apply(AprioriGeneralization(k=1, m=1, hierarchy={"a": "top"}), data)
    with pytest.raises(sv.BadData, match="the hierarchy has no leaf for 1 of 3 items, such as 's'"):
        apply(AprioriGeneralization(k=1, m=1, hierarchy={"a": "s", "b": "s"}), data)
    with pytest.raises(sv.BadParameter, match="fanout"):
        AprioriGeneralization(k=1, m=1, fanout=1)


@pytest.mark.parametrize("items", [267, 5_000])
@pytest.mark.parametrize("m", [2, 3, 4])
def test_long_records_in_k_copies_stay_as_they_are(items, m):
    long = [f"i{j:04}" for j in range(items)]
    data = sv.from_lists([*[long] * 3, *[long[:1]] * 5, *[long[1:3]] * 2])
    published = apply(AprioriGeneralization(k=3, m=m), data).published
    assert published.rows == data
    nearly = sv.from_lists([*([*long, f"x{r}"] for r in range(3)), *[[f"x{r}"] for r in range(3)] * 2])
    published = apply(AprioriGeneralization(k=3, m=m), nearly).published
    x = {label for label in published.rows.vocabulary if label.startswith(("x", "*"))}
    assert len(published.rows.vocabulary) - len(x) >= items - items % 5 - 5
    assert rare_sets([row & x for row in as_sets(published.rows)], 3, m) == {}


@pytest.mark.parametrize("m", [2, 3])
def test_one_long_record_generalizes_its_items(m):
    long = [f"i{j:04}" for j in range(3_000)]
    data = sv.from_lists([long, *([label] for label in long for _ in range(2))])
    published = apply(AprioriGeneralization(k=3, m=m), data).published
    assert rare_sets(as_sets(published.rows), 3, m) == {}
    assert published.rows.vocabulary == (published.hierarchy.root,)


@settings(max_examples=examples(80))
@given(seed=seeds, most=st.integers(1, 4), refine=st.booleans())
def test_no_set_is_rare_if_few_ways_are_tried(seed, most, refine):
    data, parent_of = drawn(seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "MOST_TRIED", most)
        published = apply(AprioriGeneralization(k=1, m=3, hierarchy=parent_of, refine=refine), data).published
        assert published.rows == data
        if refused(data, 4):
            return
        published = apply(AprioriGeneralization(k=4, m=3, hierarchy=parent_of, refine=refine), data).published
    check_truth(data, published)
    assert rare_sets(as_sets(published.rows), 4, 3) == {}


def test_a_tree_like_a_chain():
    items = [f"i{j:03}" for j in range(300)]
    parent_of = {item: f"n{j:03}" for j, item in enumerate(items)} | {f"n{j:03}": f"n{j + 1:03}" for j in range(299)}
    rng = np.random.default_rng(5)
    data = sv.from_lists([[items[j] for j in rng.integers(0, 300, 3)] for _ in range(200)])
    published = apply(AprioriGeneralization(k=3, m=2, hierarchy=parent_of), data).published
    check_truth(data, published)
    assert rare_sets(as_sets(published.rows), 3, 2) == {}


def test_the_result_is_the_same_on_any_number_of_threads():
    data, _categories = make(8, records=300, items=60, hot=0.7)
    method = AprioriGeneralization(k=3, m=3)
    made = [apply(method, data, threads).published for threads in (1, 2, 3)]
    assert made[0] == made[1] == made[2]
    assert made[0].records != data


@pytest.mark.parametrize(
    ("label", "shown"),
    [
        ("generalizing rare items", {"a", "b", "cd", "e", "f", "g"}),
        ("generalizing rare sets of 2", {"a", "b", "c", "d", "e", "fg"}),
        ("refining nodes", {"ab", "cd", "e", "fg"}),
        (None, {"a", "b", "cd", "e", "fg"}),
    ],
)
def test_loops_stop_on_request(label, shown, halt):
    parent_of = {item: group for group in ("ab", "cd", "efg") for item in group}
    parent_of |= {"f": "fg", "g": "fg", "fg": "efg"}
    few = [["a", "c"], ["c", "e"], *[["a", "d"]] * 2, *[["b", "c"]] * 2, *[["d", "e"]] * 2]
    data = sv.from_lists([*few, *[["d"]] * 10, *[["e"]] * 3, *[["f"]] * 50, ["g"]])
    method = AprioriGeneralization(k=2, m=2, hierarchy=parent_of)
    halt(module, label)
    made = method.apply(data, rng=np.random.default_rng(1)).published
    check_truth(data, made)
    assert set(made.rows.vocabulary) == shown


def rare_pairs(published, k):
    pairs = Counter(pair for row in published.rows.to_lists() for pair in combinations(row, 2))
    return {pair for pair, count in pairs.items() if count < k}


@pytest.mark.realdata
@pytest.mark.parametrize("refine", [True, False])
def test_the_real_taxonomy_of_foodmart(real_data, real_folder, refine):
    data = real_data("foodmart")
    levels = ["subcategory", "category", "department", "family"]
    tree = sv.read_hierarchy(real_folder / "foodmart_taxonomy.csv.gz", levels=levels, paths=True)
    outcome = apply(AprioriGeneralization(k=5, m=2, hierarchy=tree, refine=refine), data)
    check_truth(data, outcome.published)
    assert rare_pairs(outcome.published, 5) == set()
    assert outcome.published.rows.supports.min() >= 5
    recoding = Recoding(as_sets(data), outcome.published.hierarchy.parent_of())
    items = {name: node for node, name in recoding.names.items()}
    recoding.cut = {items[label] for label in outcome.published.rows.vocabulary}
    assert bool(recoding.refinable(5, 2)) is not refine


@pytest.mark.realdata
def test_real_click_streams(real_data):
    data = real_data("bms-webview-2")
    published = apply(AprioriGeneralization(k=5, m=3), data).published
    check_truth(data, published)
    assert published.rows.supports.min() >= 5
    assert rare_pairs(published, 5) == set()
    triples = Counter(x for row in published.rows.to_lists() for x in combinations(row, 3))
    assert min(triples.values()) >= 5
