"""TDControl against its slow twin and the definition of ρ-uncertainty."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import setveil as sv
from setveil.data.forms.generalized import Generalized
from setveil.methods.uncertainty import _live, td_control
from setveil.methods.uncertainty.td_control import TDControl

from oracle import global_suppression as oracle
from oracle.uncertainty import unsafe_names
from support.exhaustive import examples
from support.global_suppression_cases import KNOWS, apply, drawn
from support.random_data import as_sets, make, seeds
from support.random_trees import some_tree

pytestmark = pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")  # hashing, with the compiler off


def check_truth(data, sensitive, published):
    """Check that every node covers an item of its record and no sensitive one, and exactly one node covers every other item."""
    tree = published.hierarchy
    for record, row in zip(as_sets(data), as_sets(published.rows), strict=True):
        assert row & sensitive <= record
        below = [set(tree.leaves_under(node)) for node in row - sensitive]
        assert all(leaves & record and not leaves & sensitive for leaves in below)
        assert sum(len(leaves & record) for leaves in below) == len(record - sensitive)


def readable_part(tree, released):
    """Return the shown names, directly below the root, and the items below them."""
    below = {name: tree.leaves_under(name) for name in set().union(*released)}
    pairs = {leaf: name for name, leaves in below.items() for leaf in leaves if leaf != name}
    return pairs | {name: tree.root for name in below if name != tree.root}


@pytest.mark.plain_python
@settings(max_examples=examples(200))
@given(seed=seeds, include_empty=st.booleans(), knows=KNOWS, apart=st.booleans())
def test_the_oracle_generalizes_and_suppresses_the_same(seed, include_empty, knows, apart):
    """Sensitive items are anywhere in the tree, or in a branch of their own."""
    data, sensitive, rho = drawn(seed)
    assume(set(data.vocabulary) - sensitive)
    rng = np.random.default_rng(seed)
    others = [f"other{j}" for j in range(int(rng.integers(0, 3)))]
    parent_of = some_tree([*sorted(set(data.vocabulary) - (sensitive if apart else set())), *others], rng)
    if apart:
        parent_of |= dict.fromkeys([*sorted(sensitive), *(set(parent_of.values()) - set(parent_of))], "above all")
    limit = {"include_empty": include_empty, "knows": knows}
    method = TDControl(sensitive=sensitive, rho=str(rho), hierarchy=parent_of, **limit)
    outcome = apply(method, data)
    published, records = outcome.published, as_sets(data)
    assert published.hierarchy == sv.Hierarchy(parent_of)
    released = as_sets(published.rows)
    expected, cut, steps = oracle.td_control(records, sensitive, rho, include_empty, knows, parent_of)
    assert released == expected
    assert unsafe_names(released, parent_of, sensitive, rho, include_empty, knows) == set()
    assert method.guarantee.check(published, original=data).status == ("holds" if sensitive else "undecided")
    check_truth(data, sensitive, published)
    rows = list(range(len(records)))
    gone, generalized = oracle.loss_split(records, rows, released, parent_of, sensitive)
    account = outcome.account
    assert account["nodes-specialised"] == steps
    assert account["nodes-of-the-cut"] == len(cut & set().union(*released))
    assert account["types-suppressed"] == len(sensitive - set().union(*released))
    assert account["occurrences-suppressed"] == gone
    assert account["generalization-loss"] == pytest.approx(float(generalized) / data.occurrences)


@settings(max_examples=examples(60))
@given(seed=seeds, fanout=st.integers(2, 4), knows=KNOWS)
def test_without_a_hierarchy_a_balanced_tree_covers_all_items(seed, fanout, knows):
    data, sensitive, rho = drawn(seed)
    assume(set(data.vocabulary) - sensitive)
    method = TDControl(sensitive=sensitive, rho=str(rho), fanout=fanout, knows=knows)
    published = apply(method, data).published
    tree = sv.Hierarchy.balanced(data.vocabulary, fanout)
    released = as_sets(published.rows)
    expected = oracle.td_control(as_sets(data), sensitive, rho, True, knows, tree.parent_of())
    assert released == expected[0]
    assert published.hierarchy.parent_of() == readable_part(tree, released)
    check_truth(data, sensitive, published)


def test_items_that_share_every_group_with_a_sensitive_one_are_shown_as_themselves():
    lists = [["ale", "beer"]] * 5 + [["tea", "mate"]] * 5 + [["rum", "tea"], ["ale", "rum"], ["milk"], ["whey"]]
    tree = {"ale": "spirits", "rum": "spirits", "beer": "spirits", "tea": "leafy", "mate": "leafy"}
    tree |= {"spirits": "drinks", "leafy": "drinks", "milk": "dairy", "whey": "dairy", "drinks": "top", "dairy": "top"}
    data = sv.from_lists(lists)
    published = apply(TDControl(sensitive=["rum"], rho="1/6", hierarchy=tree), data).published
    assert published.hierarchy == sv.Hierarchy(tree)  # rum below spirits and drinks
    assert not {"spirits", "drinks", "top"} & set(published.rows.vocabulary)
    assert {"ale", "beer"} <= set(published.rows.vocabulary)


@settings(max_examples=examples(25))
@given(seed=seeds, rho=st.sampled_from(["0.3", "0.5", "0.8"]), knows=KNOWS)
def test_larger_tables_are_safe_by_the_definition(seed, rho, knows):
    data, _categories = make(seed, records=80, items=20, hot=1.5)
    sensitive = set(data.vocabulary[::3])
    assume(set(data.vocabulary) - sensitive)
    method = TDControl(sensitive=sensitive, rho=rho, fanout=3, knows=knows)
    published = apply(method, data).published
    tree = published.hierarchy.parent_of()
    assert unsafe_names(as_sets(published.rows), tree, sensitive, Fraction(rho), True, knows) == set()
    check_truth(data, sensitive, published)


def test_a_node_is_final_if_splitting_it_costs_more_than_it_gains():
    """Only x1 reveals s: separating x1 and x2 gains 4 occurrences of one other item among 3, suppressing s loses 6."""
    lists = [["x1", "s"]] * 3 + [["x2"]] * 1 + [["y", "s"]] * 3 + [["y"]] * 30 + [[]] * 20
    data = sv.from_lists(lists)
    tree = {"x1": "x", "x2": "x", "x": "plain", "y": "plain", "plain": "top", "s": "top"}
    method = TDControl(sensitive=["s"], rho="4/5", hierarchy=tree)
    outcome = apply(method, data)
    assert as_sets(outcome.published.rows)[:4] == [{"x", "s"}] * 3 + [{"x"}]
    assert outcome.account["nodes-specialised"] == 1
    assert outcome.account["generalization-loss"] == pytest.approx(4 * (1 / 2) / data.occurrences)
    finer = apply(TDControl(sensitive=["s"], rho=1, hierarchy=tree), data)
    assert as_sets(finer.published.rows) == as_sets(data)


@pytest.mark.parametrize("rho", ["0", "1", "1/3"])
@pytest.mark.parametrize("include_empty", [True, False])
@pytest.mark.parametrize(
    ("lists", "sensitive"),
    [
        ([["a", "b"], ["a"]], []),
        ([["a"]], []),
        ([["s", "a"], [], ["a"]], ["s"]),
        ([["s", f"i{r}"] for r in range(6)], ["s"]),
        ([["s"]] * 3 + [["t"]] * 9, ["s"]),
        ([["s", "x"], ["x"], ["x"], ["x", "y"], ["s", "t", "x", "y"], ["t"]], ["s", "t"]),
        ([["*1", "a"], ["a", "b"], ["*", "b"], ["c"], ["d"], ["e"]], ["*1", "*"]),
    ],
)
def test_edge_cases_of_small_data(rho, include_empty, lists, sensitive):
    data = sv.from_lists(lists)
    method = TDControl(sensitive=sensitive, rho=rho, include_empty=include_empty, fanout=2)
    published = apply(method, data).published
    released = as_sets(published.rows)
    check_truth(data, set(sensitive), published)
    parent_of = sv.Hierarchy.balanced(data.vocabulary, 2).parent_of()
    expected = oracle.td_control(as_sets(data), set(sensitive), Fraction(rho), include_empty, "subset", parent_of)
    assert released == expected[0]
    assert published.hierarchy.parent_of() == readable_part(sv.Hierarchy(parent_of), released)
    assert not unsafe_names(released, parent_of, set(sensitive), Fraction(rho), include_empty)
    assert rho != "1" or released == as_sets(data)


def test_the_form_is_generalized_and_keeps_ids():
    data = sv.from_lists([["a", "s"], ["b"]]).with_ids(["one", "two"])
    outcome = apply(TDControl(sensitive=["s"], rho=0.5), data)
    assert TDControl.form is Generalized is type(outcome.published)
    assert outcome.published.rows.ids.to_pylist() == ["one", "two"]
    assert outcome.alignment.rows.tolist() == [0, 1]


def test_hierarchies_that_do_not_fit_are_refused():
    data = sv.from_lists([["a", "s"], ["b"]])
    with pytest.raises(sv.BadData, match="the hierarchy has no leaf for 2 of 3 items, such as 'b', 's'"):
        apply(TDControl(sensitive=["s"], rho=0.5, hierarchy={"a": "top"}), data)
    with pytest.raises(sv.BadData, match="the hierarchy has no leaf for 1 of 3 items, such as 's'"):
        apply(TDControl(sensitive=["s"], rho=0.5, hierarchy={"a": "top", "b": "top"}), data)
    with pytest.raises(sv.BadData, match="the hierarchy has no leaf for 1 of 3 items, such as 's'"):
        apply(TDControl(sensitive=["s"], rho=0.5, hierarchy={"a": "s", "b": "s"}), data)
    with pytest.raises(sv.BadParameter, match="every item is sensitive"):
        apply(TDControl(sensitive=["a", "b", "s"], rho=0.5), data)
    with pytest.raises(sv.BadParameter, match="fanout"):
        TDControl(sensitive=["s"], rho=0.5, fanout=1)


def test_the_result_is_the_same_on_any_number_of_threads():
    data, _categories = make(8, records=300, items=60, hot=1.5)
    method = TDControl(sensitive=data.vocabulary[::3], rho=0.6)
    made = [apply(method, data, threads).published for threads in (1, 2, 3)]
    assert made[0] == made[1] == made[2]


@pytest.mark.parametrize(("module", "step"), [(_live, "restoring sensitive items"), (td_control, "splitting nodes")])
def test_loops_stop_on_request(module, step, halt):
    data = sv.from_lists([["s"], ["x"], ["x", "s"], ["x"], ["y"], ["y"]])
    method = TDControl(sensitive=["s"], rho=0.5, hierarchy={"x": "xy", "y": "xy", "xy": "top", "s": "top"})
    assert apply(method, data).published.rows == data
    halt(module, step)
    assert apply(method, data).published.rows != data


@pytest.mark.realdata
def test_the_real_taxonomy_of_foodmart(real_data, real_folder):
    data = real_data("foodmart")
    tree = sv.read_hierarchy(
        real_folder / "foodmart_taxonomy.csv.gz", levels=["subcategory", "category", "department", "family"], paths=True
    )
    assert len(tree.nodes) - len(tree.leaves) == 184  # families above departments, and not the other way round
    order = np.random.default_rng(23).permutation(len(data.vocabulary))
    sensitive = {data.vocabulary[code] for code in order[: int(0.4 * len(order))]}
    method = TDControl(sensitive=sensitive, rho=0.7, include_empty=False, hierarchy=tree)
    rng = np.random.default_rng(1)
    outcome = method.bind(data, linked=False, rng=rng).apply(data, rng=rng)
    check_truth(data, sensitive, outcome.published)
    assert method.guarantee.check(outcome.published, original=data)
