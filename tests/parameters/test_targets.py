"""Targets: every form in which they are given, what is refused, and what is drawn."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import setveil as sv
from setveil.base.declaration import Declaration, parameter
from setveil.parameters.targets import Targets

from support.random_data import seeds


class Hiding(Declaration):
    """What takes targets."""

    name = "hiding"

    targets: Targets = parameter(Targets("random"), public=False, description="Some.")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("random", "random"),
        (" border\n", "border"),
        ("0", "0"),
        (7, "7"),
        (np.int64(7), "7"),
        ("3,0,5", "3,0,5"),
        ("3, 0 ,  5", "3, 0 ,  5"),
        ([3, 0, 5], "3,0,5"),
        ((3, 0, 5), "3,0,5"),
        (np.array([3, 0, 5]), "3,0,5"),
        ([np.int32(3), 0], "3,0"),
        ("9" * 18, "9" * 18),
    ],
    ids=str,
)
def test_every_form_is_taken_and_goes_through_json(value, text):
    targets = Targets(value)
    assert str(targets) == text
    assert repr(targets) == f"Targets({text!r})"
    assert Targets(targets) == targets
    hiding = Hiding(targets=value)
    assert json.loads(hiding.model_dump_json()) == {"targets": text}
    assert Hiding(**json.loads(hiding.model_dump_json())) == hiding
    assert hiding.public_parameters() == {}


@pytest.mark.parametrize(
    "value",
    [
        *("", "Random", "often", "1.5", "-1", "3,", ",3", "3,,5", "3;5", "random,3", "٣", "9" * 19, "1e3", "3 5"),
        *(-1, 10**18, 1.0, True, None, ..., b"3", {1, 2}, {"a": 1}),
        *([], (), np.array([]), [1.5], [-1], [True], ["3"], ["random"], ["3,4", 5]),
        *([[1], [1, 2]], np.array([[1, 2]]), np.array([1.0])),
    ],
    ids=repr,
)
def test_other_forms_are_refused_in_a_sentence(value):
    with pytest.raises(sv.BadParameter) as refused:
        Targets(value)
    assert Targets.allowed_text in str(refused.value)
    with pytest.raises(sv.BadParameter) as refused:
        Hiding(targets=value)
    sentence = str(refused.value)
    assert sentence.startswith("hiding: targets: ")
    assert "\n" not in sentence
    assert len(sentence) < 250


def test_equal_ones_are_equal_and_hash_alike():
    assert Targets("3,0") == Targets([3, 0]) == Targets("03 , 0")
    assert hash(Targets("3,0")) == hash(Targets("03 , 0"))
    assert Targets("0") == Targets(0)
    assert len({Targets(v) for v in ("random", "border", "0", 0, "0,0")}) == 4
    assert Targets("random") != "random"


# -- what they are of so many itemsets ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "expected"),
    [("border", [59, 59, 59]), ("0", [0, 0, 0]), (59, [59, 59, 59]), ("3,0,59", [3, 0, 59]), ([3, 0, 5], [3, 0, 5])],
)
def test_given_ones_are_as_given(value, expected):
    targets = Targets(value).of(3, 60)
    assert targets.tolist() == expected
    assert targets.dtype == np.int64
    targets[0] = 1  # an array of its own, which a method may change


@pytest.mark.parametrize("value", [60, 61, "3,0,60", 10**17])
def test_a_target_at_or_above_the_threshold_is_refused(value):
    with pytest.raises(sv.BadParameter, match=r"is not below 60, .* allowed is 0 to 59"):
        Targets(value).of(3, 60)


@pytest.mark.parametrize("value", ["3,0", "3,0,5,7"])
def test_there_is_one_or_one_for_each(value):
    with pytest.raises(
        sv.BadParameter, match=r"there are [24] targets for 3 itemsets; give one target, or one for each"
    ):
        Targets(value).of(3, 60)


@given(seeds, st.integers(1, 200), st.integers(1, 40))
def test_random_ones_are_from_half_the_threshold_to_just_below_it(seed, frequent_from, itemsets):
    drawn = Targets("random").of(itemsets, frequent_from, np.random.default_rng(seed))
    assert drawn.shape == (itemsets,)
    assert drawn.dtype == np.int64
    assert drawn.max() <= frequent_from - 1
    assert drawn.min() >= min(-(-frequent_from // 2), frequent_from - 1)
    assert drawn.min() >= 0
    again = Targets("random").of(itemsets, frequent_from, np.random.default_rng(seed))
    assert drawn.tolist() == again.tolist()
    assert Targets(drawn).of(itemsets, frequent_from).tolist() == drawn.tolist(), "drawn, they can be written down"


@pytest.mark.parametrize(
    ("frequent_from", "possible"), [(1, {0}), (2, {1}), (3, {2}), (4, {2, 3}), (5, {3, 4}), (9, {5, 6, 7, 8})]
)
def test_all_of_them_are_drawn_and_none_else(frequent_from, possible):
    drawn = Targets("random").of(20_000, frequent_from, np.random.default_rng(1))
    values, counts = np.unique(drawn, return_counts=True)
    assert set(values.tolist()) == possible
    assert counts.min() > 0.9 * 20_000 / len(possible), "each as often as any other"


def test_another_generator_draws_others_and_each_is_used_once():
    rng = np.random.default_rng(1)
    first, second = (Targets("random").of(30, 100, rng).tolist() for _ in range(2))
    assert first != second
    state = np.random.default_rng(1)
    Targets("border").of(30, 100, state)
    Targets("0").of(30, 100, state)
    assert Targets("random").of(30, 100, state).tolist() == first, "targets that are given draw nothing"


def test_random_ones_need_a_generator():
    with pytest.raises(sv.BadParameter, match="must be drawn"):
        Targets("random").of(3, 60)
