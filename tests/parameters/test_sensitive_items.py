"""Sensitive items as people name them, and each content of some records once."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from pydantic import TypeAdapter, ValidationError

import setveil as sv
from setveil.errors import BadData

from support.exhaustive import examples
from support.random_data import make, seeds, with_sensitive


def test_a_set_of_items_in_label_order():
    items = sv.SensitiveItems(["tea", "beer", "gin"])
    assert list(items) == ["beer", "gin", "tea"]
    assert len(items) == 3
    assert "tea" in items
    assert "milk" not in items
    assert items == sv.SensitiveItems(["gin", "tea", "beer"]) == {"gin", "tea", "beer"}
    assert hash(items) == hash(sv.SensitiveItems(["gin", "tea", "beer"]))
    assert repr(items) == "SensitiveItems(3 items)"
    assert repr(sv.SensitiveItems(["tea"])) == "SensitiveItems(1 item)"
    assert list(sv.SensitiveItems(["10", "9", "100"])) == ["9", "10", "100"]
    assert list(sv.SensitiveItems([])) == []


def test_repeated_items_count_once_and_are_told(notes):
    assert list(sv.SensitiveItems(["tea", "beer", "tea", "tea"])) == ["beer", "tea"]
    assert notes() == "2 repeated sensitive items counted once"


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ("tea", "expected a list of items (setveil.read_sensitive reads them from a file), not a text"),
        (b"tea", "not bytes"),
        ({"tea": 1}, "not dict"),
        (7, "not int"),
        (None, "not NoneType"),
        (["tea", 7], "a sensitive item is of the type int; items must be text"),
        ([["tea"]], "a sensitive item is of the type list; items must be text"),
        (["tea", ""], "a sensitive item is invalid"),
        (["te\0a"], "a sensitive item is invalid"),
    ],
)
def test_what_is_no_set_of_items(wrong, message):
    with pytest.raises(BadData, match=re.escape(message)):
        sv.SensitiveItems(wrong)
    with pytest.raises(ValidationError, match=re.escape(message)):
        TypeAdapter(sv.SensitiveItems).validate_python(wrong)


def test_as_a_parameter_it_goes_to_json_and_back():
    kind = TypeAdapter(sv.SensitiveItems)
    items = sv.SensitiveItems(["tea", "beer"])
    assert kind.validate_python(items) is items
    assert kind.dump_json(items) == b'["beer","tea"]'
    assert kind.validate_python(kind.dump_python(items)) == items


@settings(max_examples=examples(100))
@given(seeds)
def test_the_codes_that_are_sensitive(seed):
    records, sensitive, _rho = with_sensitive(seed)
    data = sv.from_lists([sorted(record) for record in records])
    mask = sv.SensitiveItems(sorted(sensitive)).among(data)
    assert {label for label, named in zip(data.vocabulary, mask, strict=True) if named} == sensitive
    more = sv.SensitiveItems([*sensitive, "in no record"])
    assert np.array_equal(more.among(data), mask)
    assert more.places_in(data) == [place for place, item in enumerate(more) if item in sensitive]


# -- distinct contents ------------------------------------------------------------------------------------------------------


@settings(max_examples=examples(200))
@given(seeds)
def test_each_content_is_told_once(seed):
    small = sv.from_lists([sorted(record) for record in with_sensitive(seed)[0]])
    for data in (small, make(seed)[0]):
        contents, weights, content_of = data.distinct()
        each = contents.to_lists()
        assert sorted(map(tuple, each)) == sorted(set(map(tuple, data.to_lists())))
        assert [each[number] for number in content_of] == data.to_lists()
        assert weights.tolist() == np.bincount(content_of, minlength=len(each)).tolist()
        assert contents.vocabulary == data.vocabulary
        assert contents.records == 0 or contents.content_order().tolist() == list(range(contents.records))


def test_nothing_has_no_content():
    contents, weights, content_of = sv.from_lists([]).distinct()
    assert (contents.records, len(weights), len(content_of)) == (0, 0, 0)
    contents, weights, content_of = sv.from_lists([[], []], ids=["x", "y"]).distinct()
    assert contents.to_lists() == [[]]
    assert (weights.tolist(), content_of.tolist()) == ([2], [0, 0])
