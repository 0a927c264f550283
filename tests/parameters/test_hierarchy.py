import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from setveil.base.declaration import Declaration, parameter
from setveil.data.records.labels import label_order
from setveil.data.records.transactions import from_lists
from setveil.errors import BadData, BadParameter
from setveil.parameters.categories import Categories
from setveil.parameters.hierarchy import Hierarchy
from setveil.parameters.hierarchy_files import read_hierarchy
from setveil.parameters.tree_numbering import Cycle

from oracle import hierarchy as oracle
from support.program import HANG_SECONDS
from support.random_trees import NAMES, mappings

SHOP = {"milk": "dairy", "egg": "dairy", "ham": "meat", "dairy": "food", "meat": "food", "soap": "care"}


# -- the tree ----------------------------------------------------------------------------------------------------------


def test_the_worked_example():
    shop = Hierarchy(SHOP)
    assert shop.root == "*"
    assert shop.nodes == ("*", "care", "soap", "food", "dairy", "egg", "milk", "meat", "ham")
    assert shop.leaves == ("soap", "egg", "milk", "ham")
    assert shop.children("food") == ("dairy", "meat")
    assert (shop.parent("milk"), shop.parent("*")) == ("dairy", None)
    assert shop.ancestors("milk") == ("dairy", "food", "*")
    assert (shop.depth("*"), shop.depth("milk"), shop.height) == (0, 3, 3)
    assert (shop.interval("food"), shop.leaves_under("food")) == ((1, 4), ("egg", "milk", "ham"))
    assert (shop.is_leaf("milk"), shop.is_leaf("dairy")) == (True, False)
    assert repr(shop) == "Hierarchy(4 items under 5 inner nodes, height 3)"


@given(mappings())
def test_it_is_what_the_definition_says(parent_of):
    tree, made = oracle.rooted(parent_of), Hierarchy(parent_of)
    assert made.parent_of() == tree
    assert made.root == oracle.root(tree)
    assert len(made.nodes) == len(set(made.nodes))
    assert set(made.nodes) == oracle.nodes(tree)
    assert set(made.leaves) == oracle.leaves(tree)
    for number, node in enumerate(made.nodes):
        assert made.number(node) == number
        assert list(made.ancestors(node)) == oracle.ancestors(tree, node)
        assert made.depth(node) == len(oracle.ancestors(tree, node))
        assert set(made.children(node)) == oracle.children(tree, node)
        assert sorted(made.leaves_under(node)) == sorted(oracle.leaves_under(tree, node))
        assert made.is_leaf(node) == (node in oracle.leaves(tree))
        assert made.parents[number] < number


@given(mappings(), st.randoms(use_true_random=False))
def test_equal_trees_have_equal_numbers(parent_of, random):
    shuffled = list(parent_of.items())
    random.shuffle(shuffled)
    made, again = Hierarchy(parent_of), Hierarchy(dict(shuffled))
    assert made == again
    assert hash(made) == hash(again)
    assert made.nodes == again.nodes
    for node in made.nodes:
        inner = [child for child in made.children(node) if not made.is_leaf(child)]
        items = [child for child in made.children(node) if made.is_leaf(child)]
        assert [*made.children(node)] == [*items, *inner]
        all_inner = [name for name in made.nodes if not made.is_leaf(name)]
        for group, everything in ((items, made.leaves), (inner, all_inner)):
            place = {everything[at]: rank for rank, at in enumerate(label_order(everything))}
            assert group == sorted(group, key=place.__getitem__)


def test_trees_differ_by_any_parent_and_by_the_root():
    assert Hierarchy(SHOP) != Hierarchy({**SHOP, "ham": "dairy"})
    assert Hierarchy({"a": "x"}) != Hierarchy({"a": "x", "x": "*"})
    shallow, deep = (
        Hierarchy({"a": "x", "x": "r", "b": "y", "y": "r"}),
        Hierarchy({"a": "x", "x": "r", "b": "y", "y": "x"}),
    )
    assert shallow.nodes == deep.nodes  # names in their order do not tell them apart, parents do
    assert shallow != deep
    assert Hierarchy(SHOP) != SHOP


def test_numbers_are_ordered_as_numbers_though_groups_are_words():
    assert Hierarchy({"10": "low", "9": "low", "100": "low"}).leaves == ("9", "10", "100")


@pytest.mark.parametrize(
    ("parent_of", "root"),
    [
        ({"a": "x"}, "x"),
        ({"a": "x", "b": "y"}, "*"),
        ({"a": "x", "*": "y"}, "**"),
        ({"a": "*", "b": "**"}, "***"),
        ({"a": "x", "b": "y", "x": "all", "y": "all"}, "all"),
    ],
)
def test_the_root(parent_of, root):
    assert Hierarchy(parent_of).root == root


def test_nothing_in_it_can_be_changed():
    shop = Hierarchy(SHOP)
    for array in (shop.parents, shop.depths, shop.leaf_starts, shop.leaf_ends):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 7
    with pytest.raises(AttributeError):
        shop.leaves = ()


@pytest.mark.parametrize(
    ("parent_of", "sentence"),
    [
        ({}, "a hierarchy needs at least one item"),
        ({"a": ""}, "the name '' is empty"),
        ({"a\nb": "x"}, r"the name 'a\nb' holds a control character"),
        ({"a": "\ud800"}, r"the name '\ud800' holds a lone surrogate, which is not valid Unicode text"),
        ({"a": 3}, "a name is a int; expected a text"),
        ({"a": "a"}, "'a' -> 'a'"),
        ({"x": "a", "a": "b", "b": "c", "c": "a"}, "parents form a cycle: 'c' -> 'a' -> 'b' -> 'c'; expected"),
        ({"x": "y", "a": "b", "b": "a"}, "'b' -> 'a' -> 'b'"),
    ],
)
def test_what_is_no_tree_is_refused(parent_of, sentence):
    with pytest.raises(BadData) as refused:
        Hierarchy(parent_of)
    assert sentence in str(refused.value)


@given(st.dictionaries(st.integers(0, 9).map(str), st.integers(0, 9).map(str), min_size=1))
def test_every_circle_is_found_and_is_one(parent_of):
    try:
        Hierarchy(parent_of)
        found = ()
    except Cycle as cycle:
        found = cycle.nodes
    assert all(parent_of[a] == b for a, b in zip(found, found[1:] + found[:1], strict=True))
    if not found:
        for node in parent_of:
            oracle.ancestors(parent_of, node)  # raises if it does not end


def test_an_unknown_node_is_refused():
    with pytest.raises(BadParameter, match="the hierarchy has no node 'bread'"):
        Hierarchy(SHOP).parent("bread")


def test_deep_chains(tmp_path):
    deep = Hierarchy({str(i): str(i + 1) for i in range(100_000)})
    assert (deep.root, deep.leaves, deep.height) == ("100000", ("0",), 100_000)
    for content in (deep.to_parents_csv(), deep.to_levels_csv()):
        (tmp_path / "deep.csv").write_bytes(content)
        assert read_hierarchy(tmp_path / "deep.csv") == deep
    with pytest.raises(Cycle, match=r"'99999' -> '0' -> .* \(99,994 more\) -> '99999'"):
        Hierarchy({str(i): str((i + 1) % 100_000) for i in range(100_000)})


def test_a_million_items_are_no_trouble():
    started = time.process_time()
    large = Hierarchy.balanced(map(str, range(1_000_000)), 10)
    assert time.process_time() - started < HANG_SECONDS  # a step that is quadratic in anything takes hours
    assert (len(large.leaves), large.height) == (1_000_000, 6)


# -- using -------------------------------------------------------------------------------------------------------------


def test_bind_gives_places_among_the_leaves():
    data, shop = from_lists([["ham", "milk"], ["soap"]]), Hierarchy(SHOP)
    places = shop.bind(data)
    assert [shop.leaves[place] for place in places] == list(data.vocabulary)
    first, end = shop.interval("food")
    assert [label for label, p in zip(data.vocabulary, places, strict=True) if first <= p < end] == ["ham", "milk"]
    assert shop.bind(from_lists([])).tolist() == []


def test_bind_refuses_what_is_no_leaf():
    with pytest.raises(BadData) as refused:
        Hierarchy(SHOP).bind(from_lists([["*", "milk", "dairy", "bread", "rice"]]))
    sentence = (
        "the hierarchy has no leaf for 4 of 5 items, such as '*', 'bread', 'dairy'; 2 of them are groups in it: read it with the argument "
        "`data`; add a line for each, or put all of them into one group with `missing_category='other'`"
    )
    assert str(refused.value) == sentence


@given(mappings(), st.integers(-1, 6))
def test_levels_are_categories(parent_of, distance):
    tree, made = oracle.rooted(parent_of), Hierarchy(parent_of)
    groups = {leaf: oracle.group_at(tree, leaf, distance) for leaf in oracle.leaves(tree)} if distance >= 1 else {}
    if groups and None not in groups.values():
        assert made.level(distance) == Categories(groups)
    else:
        with pytest.raises(BadData, match=r"has no level|are too close to the root to have a group"):
            made.level(distance)


@given(st.sets(NAMES, min_size=1, max_size=60), st.integers(2, 12))
def test_balanced_trees(items, fanout):
    made = Hierarchy.balanced(items, fanout)
    tree = made.parent_of()
    assert set(made.leaves) == items
    ordered = sorted(items)
    assert list(made.leaves) == [ordered[at] for at in label_order(ordered)]
    assert oracle.is_balanced(tree, fanout)
    assert fanout ** (made.height - 1) < len(items) <= fanout**made.height or len(items) == made.height == 1
    assert set(made.root) == {"*"}
    assert all(made.ancestors(leaf)[0].startswith(made.root) for leaf in made.leaves)


def test_names_of_a_balanced_tree():
    twelve = Hierarchy.balanced(map(str, range(12)), 3)
    assert twelve.children("*") == ("*1", "*2")
    assert twelve.children("*2") == ("*2.1", "*2.2")
    assert twelve.leaves_under("*2.1") == ("6", "7", "8")
    assert Hierarchy.balanced("abcde", 2).leaves_under("*2") == ("c", "d", "e")
    wide = Hierarchy.balanced(map(str, range(132)), 12)
    assert wide.children("*")[0] == "*01"
    assert wide.children("*")[-1] == "*11"
    assert Hierarchy.balanced(["*1", "**", "b"], 2).root == "***"


@pytest.mark.parametrize(
    ("items", "fanout", "sentence"),
    [
        ([], 2, "there are no items"),
        (["a"], 1, "the fan-out is 1; it must be at least 2"),
        (["a", "b", "a"], 2, "an item occurs twice"),
    ],
)
def test_trees_that_cannot_be_balanced(items, fanout, sentence):
    with pytest.raises(BadParameter, match=sentence):
        Hierarchy.balanced(items, fanout)


class Recipe(Declaration):
    name = "recipe"
    hierarchy: Hierarchy = parameter(public=True, description="The hierarchy.")


@given(mappings())
def test_it_is_a_parameter_and_json(parent_of):
    recipe = Recipe(hierarchy=parent_of)
    assert recipe == Recipe(hierarchy=Hierarchy(parent_of))
    assert Recipe(**recipe.model_dump(mode="json")) == recipe


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ("hierarchy.csv", "expected a mapping from item or node to its parent .* not str"),
        ({"a": "b", "b": "a"}, "parents form a cycle: 'b' -> 'a' -> 'b'"),
        ({"a": 1}, "a name is a int; expected a text"),
    ],
)
def test_what_is_no_tree_is_no_parameter(wrong, sentence):
    with pytest.raises(BadParameter, match=sentence):
        Recipe(hierarchy=wrong)
