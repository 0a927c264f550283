import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import setveil as sv
from setveil.base import progress

from support.exhaustive import examples

ATC = ["A10BA02", "A10BB01", "A11CC05", "N02BE01", "N02BE51"]
CODES = st.lists(st.text("A1.*", min_size=1, max_size=6), min_size=1, max_size=12, unique=True)


def characters(code):
    return code.replace(".", "") or code


def noted(make, *arguments):
    """Return what was made, and the notes."""
    notes = []

    class Listener(progress.Silent):
        def note(self, text):
            notes.append(text)

    with progress.reporting(Listener()):
        return make(*arguments), notes


def test_the_levels_of_atc_are_prefixes():
    tree = sv.Hierarchy.by_prefix(ATC, [1, 3, 4, 5])
    assert tree.ancestors("A10BA02") == ("A10BA*", "A10B*", "A10*", "A*", "*")
    assert tree.leaves_under("A10*") == ("A10BA02", "A10BB01")
    assert tree.leaves_under("N*") == ("N02BE01", "N02BE51")
    assert dict(tree.level(2)) == {code: f"{code[:3]}*" for code in ATC}


def test_categories_are_prefixes():
    assert dict(sv.Categories.by_prefix(ATC, 3)) == {code: code[:3] for code in ATC}


@settings(max_examples=examples(200), deadline=None)
@given(CODES, st.integers(1, 7))
def test_items_share_a_category_if_they_share_the_counted_characters(codes, length):
    made = sv.Categories.by_prefix(codes, length)
    assert set(made) == set(codes)
    for a in codes:
        for b in codes:
            assert (made[a] == made[b]) == (characters(a)[:length] == characters(b)[:length])


@settings(max_examples=examples(200), deadline=None)
@given(CODES, st.sets(st.integers(1, 7), min_size=1).map(sorted))
def test_an_item_is_below_each_group_of_its_characters_and_below_no_other(codes, lengths):
    tree = sv.Hierarchy.by_prefix(codes, lengths)
    assert sorted(tree.leaves) == sorted(codes)
    found = {frozenset(tree.leaves_under(node)) for node in tree.nodes if not tree.is_leaf(node)}
    expected = {frozenset(codes)}
    for length in lengths:
        for start in {characters(code)[:length] for code in codes if len(characters(code)) >= length}:
            expected.add(
                frozenset(
                    code
                    for code in codes
                    if characters(code)[: len(start)] == start and len(characters(code)) >= length
                )
            )
    assert found == expected


@settings(max_examples=examples(50), deadline=None)
@given(CODES)
def test_the_result_does_not_depend_on_the_order_of_items(codes):
    assert sv.Hierarchy.by_prefix(codes, [1, 3]) == sv.Hierarchy.by_prefix(codes[::-1], [1, 3])
    assert sv.Categories.by_prefix(codes, 2) == sv.Categories.by_prefix(codes[::-1], 2)


def test_dots_are_not_counted_and_codes_with_and_without_them_are_in_one_group():
    codes = ["E11.9", "E11.90", "E1190", "E10.9"]
    assert dict(sv.Categories.by_prefix(codes, 3)) == {"E11.9": "E11", "E11.90": "E11", "E1190": "E11", "E10.9": "E10"}
    assert sv.Hierarchy.by_prefix(codes, [3, 4]).leaves_under("E11.9*") == ("E11.9", "E11.90", "E1190")


def test_an_item_with_the_name_of_a_prefix_is_below_that_group():
    tree = sv.Hierarchy.by_prefix(["A10", "A10BA02"], [1, 3])
    assert tree.leaves_under("A10*") == ("A10", "A10BA02")


def test_an_item_that_is_too_short_is_below_its_longest_prefix_with_a_note():
    tree, notes = noted(sv.Hierarchy.by_prefix, ["A", "A1", "B102", "7"], [2, 3])
    assert tree.ancestors("A") == tree.ancestors("7") == ("*",)
    assert tree.ancestors("A1") == ("A1*", "*")
    assert notes == ["3 items with fewer than 3 characters placed directly below the longest prefix that they have"]
    categories, notes = noted(sv.Categories.by_prefix, ["A", "A1", "B102"], 3)
    assert dict(categories) == {"A": "A", "A1": "A1", "B102": "B10"}
    assert notes == ["2 items with fewer than 3 characters form categories of their own"]


def test_no_group_has_the_name_of_an_item_that_ends_with_stars():
    tree = sv.Hierarchy.by_prefix(["A1", "A1*", "A**", "*", "B"], [1, 2])
    assert tree.ancestors("A1*") == ("A1***", "A***", "**")
    assert tree.ancestors("*") == ("****", "**")


def test_texts_in_place_of_a_file():
    data = sv.from_lists([["A10BA02", "A10BB01"], ["N02BE01"]])
    assert sv.read_categories("prefix:3", data=data) == sv.Categories.by_prefix(data.vocabulary, 3)
    assert sv.read_hierarchy("prefix:1,3,4", data=data) == sv.Hierarchy.by_prefix(data.vocabulary, [1, 3, 4])
    assert sv.read_hierarchy("prefix:2", data=data) == sv.Hierarchy.by_prefix(data.vocabulary, [2])


@pytest.mark.parametrize(
    ("read", "text", "sentence"),
    [
        (sv.read_categories, "prefix:", "'prefix:' is not of the form prefix:LENGTH with one length, such as prefix:3"),
        (sv.read_categories, "prefix:1,3", "is not of the form prefix:LENGTH with one length"),
        (sv.read_categories, "prefix:three", "is not of the form prefix:LENGTH with one length"),
        (sv.read_categories, "prefix:0", "the lengths of prefixes are [0]; expected numbers from 1 to 100"),
        (sv.read_hierarchy, "prefix:1,,3", "is not of the form prefix:LENGTHS, such as prefix:1,3,4,5"),
        (sv.read_hierarchy, "prefix:-1", "is not of the form prefix:LENGTHS"),
        (sv.read_hierarchy, "prefix:3,1", "the lengths of prefixes are [3, 1]; expected increasing numbers, such as 1"),
        (sv.read_hierarchy, "prefix:3,3", "expected increasing numbers"),
        (sv.read_hierarchy, "prefix:1,101", "expected numbers from 1 to 100"),
    ],
)
def test_bad_texts_are_refused(read, text, sentence):
    with pytest.raises(sv.BadParameter) as caught:
        read(text, data=sv.from_lists([["A10"]]))
    assert sentence in str(caught.value)


@pytest.mark.parametrize("read", [sv.read_categories, sv.read_hierarchy])
def test_data_are_required(read):
    with pytest.raises(sv.BadParameter, match="is made from the items of a data set, and none was given"):
        read("prefix:3")
