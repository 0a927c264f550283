"""Named itemsets: what they are made of, what is refused, and what becomes of them as a parameter."""

import json
import os
import subprocess
import sys
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

import setveil as sv
from setveil.base.declaration import Declaration, parameter

LABELS = st.text("abcxyz017 -é", max_size=4).map(str.strip).filter(bool)
LISTS = st.lists(st.lists(LABELS, min_size=1, max_size=5), min_size=1, max_size=8)


class Asking(Declaration):
    """What takes itemsets."""

    name = "asking"

    itemsets: sv.NamedItemsets = parameter(public=False, description="Some.")


def test_itemsets_stay_in_order_and_their_items_come_in_label_order():
    named = sv.NamedItemsets([["milk", "bread"], ["tea"], ["ale", "milk"]])
    assert list(named) == [("bread", "milk"), ("tea",), ("ale", "milk")]
    assert named[1] == ("tea",)
    assert named[1:] == (("tea",), ("ale", "milk"))
    assert len(named) == 3
    assert ("tea",) in named
    numbers = sv.NamedItemsets([["10", "9"], ["100", "2"]])
    assert list(numbers) == [("9", "10"), ("2", "100")], "as numbers, since all are"
    assert list(sv.NamedItemsets([["10", "9"], ["x"]])) == [("10", "9"), ("x",)]


@given(LISTS)
def test_each_is_there_once_whatever_it_is_made_of(lists):
    named = sv.NamedItemsets(lists)
    expected = list(dict.fromkeys(map(frozenset, lists)))
    assert [frozenset(one) for one in named] == expected
    assert all(len(set(one)) == len(one) for one in named)
    assert sv.NamedItemsets(tuple(map(tuple, lists))) == named
    assert sv.NamedItemsets(set(one) for one in lists) == named
    assert sv.NamedItemsets(named) == named
    assert sv.NamedItemsets(json.loads(json.dumps(lists))) == named


def test_what_repeats_is_told(notes):
    named = sv.NamedItemsets([["a", "b"], ["b", "a", "b"], ["c"], ["c"]])
    assert list(named) == [("a", "b"), ("c",)]
    assert notes() == "1 repeated item within an itemset counted once | 2 repeated itemsets counted once"


def test_nothing_is_told_where_nothing_repeats(notes):
    sv.NamedItemsets([["a", "b"], ["b"]])
    assert notes() == ""


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("sets.csv", "a,b\nb,c\nd\n", "2 of 3 items hold ','; if it separates items, read them with `separator=','`"),
        ("sets.csv", "items\na;b\n", "1 of 1 items hold ';'"),
        ("sets.txt", "a,b c d e\n", ""),
        ("sets.jsonl", '["a,b"]\n', ""),
    ],
)
def test_items_that_hold_another_separator_are_announced(tmp_path, notes, name, content, sentence):
    path = tmp_path / name
    path.write_text(content, encoding="utf-8")
    sv.read_itemsets(path)
    assert sentence in notes()
    assert bool(notes()) == bool(sentence)


def test_a_python_set_of_itemsets_has_the_same_order_in_every_run():
    code = "import setveil as sv; print(list(sv.NamedItemsets({frozenset(p) for p in ('ab', 'cd', 'a', 'bcd', 'zx')})))"
    said = {
        subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "PYTHONHASHSEED": str(n)},
        ).stdout
        for n in range(3)
    }
    assert said == {"[('a',), ('a', 'b'), ('b', 'c', 'd'), ('c', 'd'), ('x', 'z')]\n"}


@pytest.mark.parametrize(
    ("itemsets", "says"),
    [
        ([], "no itemset was named; expected at least one"),
        ([["a"], []], "an itemset is empty; expected at least one item"),
        ("secrets.txt", "expected lists of items (setveil.read_itemsets reads them from a file), not a text"),
        (b"ab", "not bytes"),
        ({"a": "b"}, "not dict"),
        (17, "not int"),
        (None, "not NoneType"),
        (["milk"], "an itemset is the text 'milk'; expected a list of items"),
        ([b"milk"], "an itemset is of the type bytes; expected a list of items"),
        ([{"milk": 1}], "an itemset is of the type dict; expected a list of items"),
        ([3], "an itemset is of the type int; expected a list of items"),
        ([["a", 3]], "an item is of the type int; items must be text"),
        ([[None]], "an item is of the type NoneType; items must be text"),
        ([["a", ""]], "the name '' is empty"),
        ([["a\0"]], "holds a control character"),
        ([["\ud800"]], "holds a lone surrogate"),
    ],
    ids=str,
)
def test_what_is_no_list_of_itemsets_is_refused(itemsets, says):
    with pytest.raises(sv.InputError) as refused:
        sv.NamedItemsets(itemsets)
    assert says in str(refused.value)
    with pytest.raises(sv.BadParameter) as refused:
        Asking(itemsets=itemsets)
    sentence = str(refused.value)
    assert sentence.startswith("asking: itemsets: ")
    assert says in sentence
    assert "\n" not in sentence
    assert "Value error" not in sentence


def test_a_very_long_text_is_cut():
    with pytest.raises(sv.InputError) as refused:
        sv.NamedItemsets(["x" * 10_000])
    assert len(str(refused.value)) < 200


@given(LISTS)
def test_as_a_parameter_it_goes_through_json_and_back(lists):
    asking = Asking(itemsets=lists)
    plain = json.loads(asking.model_dump_json())
    assert plain == {"itemsets": [list(one) for one in asking.itemsets]}
    assert Asking(**plain) == asking
    assert Asking.model_validate_json(asking.model_dump_json()) == asking
    assert asking.model_dump(mode="json") == plain
    assert asking.public_parameters() == {}


def test_equal_ones_are_equal_and_hash_alike():
    one, same = sv.NamedItemsets([["a", "b"], ["c"]]), sv.NamedItemsets([("b", "a"), {"c"}])
    other_order = sv.NamedItemsets([["c"], ["a", "b"]])
    assert one == same
    assert hash(one) == hash(same)
    assert one != other_order, "targets go by the order"
    assert one != [("a", "b"), ("c",)]
    assert len({one, same, other_order}) == 2


def test_it_shows_no_item():
    assert repr(sv.NamedItemsets([["milk", "bread"]])) == "NamedItemsets(1 itemset of up to 2 items)"
    assert repr(sv.NamedItemsets([["milk"], ["bread"]])) == "NamedItemsets(2 itemsets of up to 1 item)"


# -- in data ------------------------------------------------------------------------------------------------------------------

DATA = sv.from_lists([["milk", "bread"], ["tea", "milk"], ["10", "9"]])


def test_bound_they_are_codes_that_rise():
    named = sv.NamedItemsets([["tea", "milk", "9"], ["10"], ["bread", "10"]])
    offsets, codes = named.bind(DATA)
    assert offsets.tolist() == [0, 3, 4, 6]
    found = [codes[a:b].tolist() for a, b in pairwise(offsets)]
    assert all(one == sorted(one) for one in found)
    assert [{DATA.vocabulary[code] for code in one} for one in found] == [set(one) for one in named]
    assert sv.supports(DATA, (offsets, codes)).tolist() == [0, 1, 0]


def test_an_itemset_occurs_if_all_its_items_do():
    named = sv.NamedItemsets([["milk", "bred"], ["bread", "9"], ["xyzzy"], ["tea"]])
    assert named.places_in(DATA) == [1, 3], "bread and 9 are in no record together, but both occur"
    assert list(named.take([1, 3])) == [("9", "bread"), ("tea",)]
    assert named.places_in(sv.from_lists([[]])) == []
