import array
import dataclasses
import random

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from setveil.data.formats import FORMATS, Layout
from setveil.data.records.labels import are_in_order, label_order
from setveil.data.records.transactions import Transactions, from_lists
from setveil.errors import BadData, BadParameter

from support.exhaustive import examples

LABELS = ("a", "b", "c")
integers = st.one_of(st.integers(-200, 200), st.integers(-(10**25), 10**25)).map(str)
words = st.text("ab0179-é😀\ufffd", min_size=1, max_size=3)
vocabularies = st.one_of(st.lists(integers, unique=True), st.lists(words, unique=True))
records = st.lists(st.lists(st.sampled_from("abcdefg"), max_size=6), max_size=12)


def make(offsets=(0, 2, 3), items=(0, 2, 1), labels=LABELS, **rest):
    return Transactions(np.array(offsets), np.array(items), labels, **rest)


# -- what the constructor refuses --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"offsets": []}, "offsets must start at 0"),
        ({"offsets": [1, 2, 3]}, "offsets must start at 0"),
        ({"offsets": [0, 3, 2, 3]}, "never decrease"),
        ({"offsets": [0, 2]}, "end at the number of occurrences"),
        ({"offsets": [0, 2, 4]}, "end at the number of occurrences"),
        ({"offsets": [0.0, 2.0, 3.0]}, "offsets must be a one-dimensional array of whole numbers"),
        ({"items": [0, 3, 1]}, "outside the vocabulary"),
        ({"items": [-1, 2, 1]}, "outside the vocabulary"),
        ({"items": [0, 2**32 + 1, 1]}, "must fit 32 bits"),
        ({"items": [0.0, 1.5, 1.0]}, "item codes must be a one-dimensional array of whole numbers"),
        ({"items": [[0], [2], [1]]}, "item codes must be a one-dimensional array of whole numbers"),
        ({"items": [2, 0, 1]}, "strictly increasing within a record"),
        ({"items": [1, 1, 1]}, "strictly increasing within a record"),
        ({"labels": ("a", "a", "b")}, "distinct texts in label order"),
        ({"labels": ("b", "a", "c")}, "distinct texts in label order"),
        ({"labels": ("10", "9", "8")}, "distinct texts in label order"),
        ({"labels": (1, 2, 3)}, "distinct texts in label order"),
        ({"labels": ("a", "b", "\ud800")}, "distinct texts in label order"),
        ({"ids": ["1"]}, "1 ids (0 of them missing) for 2 records"),
        ({"ids": ["1", None]}, "2 ids (1 of them missing) for 2 records"),
        ({"ids": ["1", "1"]}, "two records have the same id"),
        ({"ids": [1, 2]}, "ids must be texts"),
        ({"ids": ["1", "\ud800"]}, "ids must be texts"),
    ],
    ids=str,
)
def test_the_constructor_refuses_what_breaks_an_invariant(wrong, sentence):
    with pytest.raises(BadData) as refused:
        make(**wrong)
    assert sentence in str(refused.value)


def test_the_constructor_takes_what_keeps_them():
    assert make().to_lists() == [["a", "c"], ["b"]]
    assert make(labels=("8", "9", "10")).to_lists() == [["8", "10"], ["9"]]
    assert make(offsets=[0], items=[], labels=()).records == 0
    assert make(ids=pa.chunked_array([["x"], ["y"]])).ids.to_pylist() == ["x", "y"]


def test_a_unit_that_is_none_is_refused():
    with pytest.raises(BadParameter, match=r"unit is 'people'; allowed is person \| record"):
        make(unit="people")


# -- making ------------------------------------------------------------------------------------------------------------


@given(records)
def test_from_lists_sorts_and_counts_once(lists):
    assert from_lists(lists).to_lists() == [sorted(set(record)) for record in lists]


@settings(max_examples=examples(50))
@given(records, st.randoms())
def test_the_order_of_what_is_given_does_not_matter(lists, dice):
    labels = list("gfedcba")
    dice.shuffle(labels)
    flat = [labels.index(item) for record in lists for item in record]
    offsets = np.cumsum([0, *map(len, lists)])
    made = Transactions.from_codes(offsets, np.array(flat, dtype=np.int64), labels)
    assert made.vocabulary == tuple("abcdefg")
    assert made.compacted() == from_lists([dice.sample(record, len(record)) for record in lists])


def test_repeats_are_counted_in_a_note(notes):
    from_lists([["a", "b"], ["a"]])
    assert notes() == ""
    from_lists([["a", "b", "a", "a"], ["b", "b"], []])
    assert notes() == "3 repeated items within a record counted once"


@pytest.mark.parametrize(
    ("offsets", "codes", "labels", "sentence"),
    [
        ([0, 1], [2], ["a", "b"], "outside the vocabulary"),
        ([0, 1], [-1], ["a", "b"], "outside the vocabulary"),
        ([0, 1], [0.5], ["a", "b"], "whole numbers"),
        ([1, 3], [1, 0, 1], ["a", "b"], "offsets must start at 0"),
        ([0, 2], [1, 0, 1], ["a", "b"], "end at the number of occurrences"),
        ([], [1, 0, 1], ["a", "b"], "offsets must start at 0"),
        ([0, 1], [0], ["a", "a"], "two items have the same label"),
        ([0, 1], [0], [1, 2], "labels must be texts"),
    ],
)
def test_from_codes_refuses(offsets, codes, labels, sentence):
    with pytest.raises(BadData, match=sentence):
        Transactions.from_codes(np.array(offsets), np.array(codes), labels)


@pytest.mark.parametrize(
    ("lists", "sentence"),
    [
        (["ab"], "a record is a str; expected a list of items"),
        ([None], "a record is a NoneType; expected a list of items"),
        ([["a", 7]], "an item is a int; items must be text"),
        ([["\ud800"]], "labels must be texts that can be encoded as UTF-8"),
    ],
)
def test_from_lists_refuses(lists, sentence):
    with pytest.raises(BadData, match=sentence):
        from_lists(lists)


# -- the order of labels -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (["10", "9", "-3", "0"], ["-3", "0", "9", "10"]),
        (["10", "9", "a"], ["10", "9", "a"]),
        (["10", "9", "007"], ["007", "10", "9"]),
        (["10", "9", "+1"], ["+1", "10", "9"]),
        (["10", "9", "-0"], ["-0", "10", "9"]),
        (["10", "9", "٣"], ["10", "9", "٣"]),
        (["7", "007"], ["007", "7"]),
        (["1" + "0" * 18, "9" * 18, "-1" + "0" * 18, "-" + "9" * 18], None),
        (["-2" + "0" * 20, "-1" + "0" * 20, "3" + "0" * 20, "2" + "9" * 20, "5"], None),
        (["\uffff", "\U00010000", "Z", "a", "É", "é"], ["Z", "a", "É", "é", "\uffff", "\U00010000"]),
        ([], []),
    ],
    ids=str,
)
def test_labels_are_ordered_by_number_or_by_code_point(labels, expected):
    made = from_lists([labels])
    assert list(made.vocabulary) == (sorted(labels, key=int) if expected is None else expected)
    assert list(made.items) == list(range(len(labels)))


def is_canonical(label):
    try:
        return str(int(label)) == label
    except ValueError:
        return False


@given(vocabularies)
def test_label_order_is_that_of_python(labels):
    expected = sorted(labels, key=int if all(map(is_canonical, labels)) else str)
    assert [labels[i] for i in label_order(labels)] == expected
    assert are_in_order(expected)
    assert are_in_order(labels) == (labels == expected)


# -- frozen ------------------------------------------------------------------------------------------------------------


def test_nothing_can_be_set_or_written():
    data = make(ids=["x", "y"])
    with pytest.raises(dataclasses.FrozenInstanceError):
        data.unit = "person"
    for numbers in (data.offsets, data.items, data.lengths, data.supports):
        assert numbers.flags.c_contiguous
        with pytest.raises(ValueError, match="read-only"):
            numbers[0] = 1
    with pytest.raises(TypeError, match="unhashable"):
        hash(data)


def frozen_view(numbers):
    view = numbers[:]
    view.flags.writeable = False
    return view


@pytest.mark.parametrize("passed", [lambda a: a, frozen_view, memoryview, lambda a: a[::1]])
@pytest.mark.parametrize("held", [lambda *v: np.array(v, np.int64), lambda *v: array.array("q", v)])
def test_who_gave_the_arrays_cannot_change_the_data_through_them(passed, held):
    offsets, items = held(0, 2, 3), np.array([0, 2, 1], np.int32)
    data = Transactions(passed(np.asarray(offsets)), passed(items), LABELS)
    offsets[1], items[0] = 1, 1
    assert data.to_lists() == [["a", "c"], ["b"]]
    assert items.flags.writeable


def test_read_only_arrays_are_not_copied():
    data = make()
    assert np.shares_memory(data.with_unit("person").items, data.items)
    assert np.shares_memory(data.with_ids(["x", "y"]).offsets, data.offsets)


def test_strided_arrays_become_contiguous():
    data = Transactions(np.array([0, 9, 2, 9, 3])[::2], np.array([0, 9, 2, 9, 1])[::2], LABELS)
    assert data == make()
    assert data.items.flags.c_contiguous


# -- looking and deriving ----------------------------------------------------------------------------------------------


@given(records)
def test_counts(lists):
    data = from_lists(lists)
    sets = [set(record) for record in lists]
    assert (len(data), data.records) == (len(lists), len(lists))
    assert data.lengths.tolist() == [len(s) for s in sets]
    assert data.occurrences == sum(map(len, sets))
    assert data.empty_records == sum(not s for s in sets)
    assert data.supports.tolist() == [sum(label in s for s in sets) for label in data.vocabulary]
    assert [data.record(i) for i in range(len(lists))] == data.to_lists()
    assert data.names().to_pylist() == [str(i + 1) for i in range(len(lists))]
    assert [data.vocabulary[data.code_of[label]] for label in data.vocabulary] == list(data.vocabulary)


@given(records, st.data())
def test_take_gives_the_rows_asked_for(lists, draw):
    data = from_lists(lists, ids=[f"p{i}" for i in range(len(lists))], unit="person")
    rows = draw.draw(st.lists(st.sampled_from(range(len(lists))), unique=True) if lists else st.just([]))
    taken = data.take(np.array(rows, dtype=np.int64))
    assert taken.to_lists() == [data.record(row) for row in rows]
    assert taken.ids.to_pylist() == [f"p{row}" for row in rows]
    assert (taken.vocabulary, taken.unit) == (data.vocabulary, "person")
    assert data.take(rows, ids=None).ids is None
    assert data.take(rows, ids=[f"q{row}" for row in rows]).ids.to_pylist() == [f"q{row}" for row in rows]


def test_a_row_taken_twice_needs_other_ids():
    data = make(ids=["x", "y"])
    with pytest.raises(BadData, match="same id"):
        data.take([0, 0])
    assert data.take([0, 0], ids=None).to_lists() == [["a", "c"]] * 2


@given(records)
def test_compacted_leaves_out_what_does_not_occur(lists):
    some = from_lists([*lists, list("abcdefg")]).take(np.arange(len(lists)))
    assert some.compacted() == from_lists(lists)


def test_compacted_turns_the_order_numeric_when_only_numbers_are_left():
    data = from_lists([["10", "9"], ["a", "9"]]).take([0], ids=["x"])
    assert data.vocabulary == ("10", "9", "a")
    assert data.compacted() == from_lists([["9", "10"]], ids=["x"])
    assert data.compacted().vocabulary == ("9", "10")


def test_data_that_is_compact_is_given_back_as_it_is():
    data = make()
    assert data.compacted() is data
    assert data.without_empty() is data


@given(records)
def test_without_empty(lists):
    data = from_lists(lists, ids=[str(i) for i in range(len(lists))]).without_empty()
    assert data.to_lists() == [sorted(set(record)) for record in lists if record]
    assert data.ids.to_pylist() == [str(i) for i, record in enumerate(lists) if record]


@given(st.lists(st.lists(st.integers(0, 2**17).map(str), max_size=4) | st.just(["1"]), max_size=20))
def test_content_order_is_that_of_sorted_code_tuples(lists):
    data = from_lists(lists)
    tuples = [tuple(data.code_of[label] for label in record) for record in data.to_lists()]
    assert data.content_order().tolist() == sorted(range(len(tuples)), key=tuples.__getitem__)


def test_content_order_with_codes_of_several_bytes():
    labels = [str(i) for i in range(70_000)]
    some = [["65536"], ["255", "256"], ["256"], ["1", "65536"], [], ["255"], ["1"], ["69999"]]
    data = from_lists([*some, labels])
    in_order = [data.record(row) for row in data.content_order() if row < len(some)]
    assert in_order == sorted(some, key=lambda record: [int(label) for label in record])


# -- telling apart -----------------------------------------------------------------------------------------------------

VARIANTS = {
    "plain": make(),
    "another item": make(items=[0, 2, 2]),
    "another border": make(offsets=[0, 1, 3], items=[0, 1, 2]),
    "another label": make(labels=("a", "b", "d")),
    "a label more": make(labels=("a", "b", "c", "d")),
    "a record more": make(offsets=[0, 2, 3, 3]),
    "two labels in one": make(labels=("a", "b\nc", "c")),
    "a label less": make(offsets=[0, 1, 2], items=[0, 1], labels=("a", "b\nc")),
    "a label less, split": make(offsets=[0, 1, 2], items=[0, 1], labels=("a", "b", "c")),
    "ids": make(ids=["x", "y"]),
    "other ids": make(ids=["x", "z"]),
    "ids, moved border": make(ids=["x\ny", "z"]),
    "ids, moved border back": make(ids=["x", "y\nz"]),
    "ids, the other way round": make(ids=["y", "x"]),
}


def test_checksum_and_equality_see_every_part():
    assert len({data.checksum() for data in VARIANTS.values()}) == len(VARIANTS)
    for name, data in VARIANTS.items():
        assert [other for other, given_ in VARIANTS.items() if given_ == data] == [name]


def test_equality_is_about_the_content():
    assert make() == from_lists([["c", "a"], ["b"]])
    assert make().checksum() == from_lists([["c", "a"], ["b"]]).checksum()
    assert make(ids=["x", "y"]) == make(ids=pa.array(["x", "y"]))
    assert make() != [["a", "c"], ["b"]]


def test_where_ids_lie_in_memory_does_not_matter():
    sliced = make(ids=pa.array(["w", "x", "y", "z"], pa.large_string())[1:3])
    assert sliced == make(ids=["x", "y"])
    assert sliced.checksum() == make(ids=["x", "y"]).checksum()


def test_the_checksum_is_that_of_every_format(tmp_path):
    dice = random.Random(5)  # noqa: S311 - test data
    lists = [dice.sample(LABELS, dice.randint(1, 3)) for _ in range(30)]
    for form in FORMATS.values():
        labelled = lists if form.holds_any_items else [[f"color={one[0]}"] for one in lists]
        data = from_lists(labelled, ids=[str(i) for i in range(30)])
        path = tmp_path / f"data{form.extensions[0]}.gz"
        form.write(data, path, Layout())
        same = data if form.holds_ids(Layout()) else data.with_ids(None)
        assert form.read(path, Layout()).checksum() == same.checksum()


# -- handing on --------------------------------------------------------------------------------------------------------


@given(records)
def test_to_arrow_is_a_large_list_of_texts_that_gives_the_data_back(lists):
    data = from_lists(lists)
    column = data.to_arrow()
    column.validate(full=True)
    assert column.type == pa.large_list(pa.large_string())
    assert column.null_count == 0
    encoded = column.values.dictionary_encode()
    back = Transactions.from_codes(
        column.offsets.to_numpy(), encoded.indices.to_numpy(), encoded.dictionary.to_pylist()
    )
    assert back == data


def test_to_arrow_shares_the_offsets():
    data = make()
    assert np.shares_memory(data.to_arrow().offsets.to_numpy(), data.offsets)


def test_take_by_mask_and_rows_that_are_not_there():
    data = from_lists([["a"], ["b"], ["c"]], ids=["x", "y", "z"])
    assert data.take(np.array([True, False, True])).to_lists() == [["a"], ["c"]]
    for rows in ([-1], [3], [0, 7]):
        with pytest.raises(BadData, match="from 0 to 2"):
            data.take(rows)
