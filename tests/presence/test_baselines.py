"""The baselines make the same groups as their slow reference versions, and their guarantees hold."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import setveil as sv
from setveil.presence.methods._partition import Limits
from setveil.presence.methods.base import Keys
from setveil.presence.methods.extended_mondrian import ExtendedMondrian
from setveil.presence.methods.mondrian import Mondrian
from setveil.presence.methods.mpalm import Mpalm

from oracle import mondrian as oracle
from support.two_tables import name, originals_of, people, without_absent

KEYS = Keys(b"key of provider A", b"key of provider B")
BOUNDS = st.sampled_from([("0", "1"), ("0", "4/5"), ("1/10", "9/10"), ("1/3", "1"), ("1/3", "2/3")])
SIZES = {"k": st.integers(1, 3), "l": st.integers(1, 2)}


def limits_of(k, l, a, b, scope):  # noqa: E741 - what l-diversity calls it
    shares = [tuple(map(Fraction, bounds)) for bounds in (a, b)]
    return {"k": k, "l": l, "shares": shares, "by_value": scope == "qi+sa"}


def compare(case, method, expected, **more):
    """Run both and compare groups, intervals, counts and the number of cuts tried."""
    cells_of, at_a, values, users = case
    originals = originals_of(*case)
    try:
        groups, tried = expected()
    except oracle.NothingToRelease:
        with pytest.raises(sv.GuaranteeViolated, match=f"{method.name} publishes nothing"):
            method.apply(originals, keys=KEYS, **more)
        return
    outcome = method.apply(originals, keys=KEYS, **more)
    for role, columns in (("a", slice(0, at_a)), ("b", slice(at_a, None))):
        side = outcome.groups.side(role)
        assert [(np.flatnonzero(side.group_of == n).tolist()) for n in range(side.groups)] == [ids for ids, _ in groups]
        boxes = np.stack((side.lows, side.highs), axis=2).tolist()
        assert boxes == [[list(one) for one in box[columns]] for _, box in groups]
    rows = sorted(
        (
            *(tuple(low for low, _ in box), tuple(high for _, high in box)),
            [sum(users[i]["a"] and users[i]["s"] == s for i in ids) for s in range(values)],
        )
        for ids, box in groups
    )
    table = outcome.table
    assert [
        (tuple(low), tuple(high), counts)
        for low, high, counts in zip(table.lows.tolist(), table.highs.tolist(), table.counts.tolist(), strict=True)
    ] == rows
    account = outcome.account
    assert account["splits"] == len(groups) - 1
    assert account["cuts_tried"] == tried
    assert account["failed_checks"] == tried - account["splits"]
    for guarantee in method.guarantees:
        verdict = guarantee.check(table, original=originals, alignment=outcome.groups)
        assert verdict, str(verdict)
    assert len(cells_of) == table.lows.shape[1]


@given(people(), st.fixed_dictionaries(SIZES))
def test_mondrian_is_its_twin(case, limits):
    users = without_absent(case[3], case[1])
    compare(case, Mondrian(**limits), lambda: oracle.mondrian(users, case[0], **limits))


@given(
    people(),
    st.fixed_dictionaries({**SIZES, "a": BOUNDS, "b": BOUNDS, "scope": st.sampled_from(["qi", "qi+sa"])}),
    st.sampled_from(["fixed", "dropped"]),
    st.sampled_from(["none", "attributes"]),
)
def test_extended_mondrian_is_its_twin(case, limits, absent, retry):
    users = without_absent(case[3], case[1])
    if absent == "fixed":
        users = oracle.with_fixed_rows(users, [name(i) for i in range(len(users))], (KEYS.a, KEYS.b), case[1])
    compare(
        case,
        ExtendedMondrian(absent=absent, retry=retry, **declared(limits)),
        lambda: oracle.extended_mondrian(users, case[0], retry=retry, **limits_of(**limits)),
    )


@given(
    people(),
    st.fixed_dictionaries({**SIZES, "a": BOUNDS, "b": BOUNDS, "scope": st.sampled_from(["qi", "qi+sa"])}),
    st.booleans(),
)
def test_mpalm_is_its_twin(case, limits, whole):
    cells_of, at_a, _values, users = case
    more = {}
    if whole:
        cells = np.array([one["cells"] for one in users], dtype=np.int32)
        more["complete"] = (cells[:, :at_a], cells[:, at_a:])
    else:
        users = oracle.with_fixed_rows(
            without_absent(users, at_a), [name(i) for i in range(len(users))], (KEYS.a, KEYS.b), at_a
        )
    compare(case, Mpalm(**declared(limits)), lambda: oracle.mpalm(users, cells_of, **limits_of(**limits)), **more)


def declared(limits):
    return {
        **{key: limits[key] for key in ("k", "l", "scope")},
        **{f"{end}_{side}": limits[side][n] for side in "ab" for n, end in enumerate(("min", "max"))},
    }


def person(cells, *, a=True, s=0):
    return {"cells": cells, "a": a, "s": s}


def test_a_cut_stands_in_the_middle_of_a_stretch_without_users():
    case = ([40, 2], 1, 2, [person([3, 0]), person([4, 0]), person([30, 0]), person([39, 0])])
    table = Mondrian(k=2).apply(originals_of(*case), keys=KEYS).table
    assert table.highs[0].tolist() == [17, 2]  # cuts at 5 to 30 make the same parts
    assert table.lows[1].tolist() == [17, 0]


def test_limits_include_their_ends():
    # Two of A's four users in each half are common: exactly 1/2.
    users = [person([n // 4, 0], s=0 if n % 2 else None) for n in range(8)]
    originals = originals_of([2, 2], 1, 2, users)
    for bounds, groups in (({"min_a": "1/2", "max_a": 1}, 2), ({"min_a": 0, "max_a": "1/2"}, 2)):
        assert Mpalm(k=2, **bounds).apply(originals, keys=KEYS).table.groups == groups
    with pytest.raises(
        sv.GuaranteeViolated, match="the share of A's users who are also at B is not between 51/100 and 1"
    ):
        Mpalm(k=2, min_a="51%", max_a=1).apply(originals, keys=KEYS)


def test_what_the_scope_asks_of_each_sensitive_value():
    # In the lower half all of B's users with value 0 are at A, and none of those with value 1.
    users = [
        *(person([0, 0], s=0) for _ in range(2)),
        *(person([0, 0], a=False, s=1) for _ in range(2)),
        *(person([1, 1], s=1) for _ in range(2)),
        *(person([1, 1], a=False, s=0) for _ in range(2)),
    ]
    originals = originals_of([2, 2], 1, 2, users)
    cells = np.array([one["cells"] for one in users], dtype=np.int32)
    complete = (cells[:, :1], cells[:, 1:])
    bounds = {"max_a": 1, "min_a": 0, "max_b": "9/10", "min_b": "1/10"}
    by_group = Mpalm(scope="qi", **bounds).apply(originals, keys=KEYS, complete=complete)
    by_value = Mpalm(scope="qi+sa", **bounds).apply(originals, keys=KEYS, complete=complete)
    assert (by_group.table.groups, by_value.table.groups) == (2, 1)


def test_dropped_users_are_in_no_group():
    users = [person([n % 2, 0]) for n in range(4)] + [person([0, 0], s=None), person([0, 1], a=False)]
    limits = {"max_a": 1, "min_a": 0, "max_b": 1, "min_b": 0}
    outcome = ExtendedMondrian(absent="dropped", **limits).apply(originals_of([2, 2], 1, 2, users), keys=KEYS)
    assert outcome.groups.side("a").group_of.tolist() == [0, 1, 0, 1, 0, -1]
    assert outcome.account["ids_in_no_group"] == 1


@pytest.mark.parametrize("side", ["a", "b"])
def test_complete_cells_that_do_not_fit_are_refused(side):
    users = [person([0, 0]), person([1, 1])]
    originals = originals_of([2, 2], 1, 2, users)
    for wrong in (np.zeros((3, 1), np.int32), np.full((2, 1), 7, np.int32), np.zeros((2, 1), np.int32)):
        complete = [np.array([[0], [1]], np.int32)] * 2
        complete["ab".index(side)] = wrong
        with pytest.raises(sv.BadData, match=f"the complete cells of provider {side.upper()}"):
            Mpalm(min_a=0, max_a=1).apply(originals, keys=KEYS, complete=tuple(complete))


def test_numbers_that_would_not_be_exact_are_refused():
    bounds = (Fraction(1, 10**9), Fraction(1))
    limits = Limits(2, 1, bounds, bounds)
    limits.refuse_large_denominators(10**9)
    with pytest.raises(sv.BadParameter, match="has a denominator too large for"):
        limits.refuse_large_denominators(10**10)


def test_the_same_keys_give_the_same_table_and_others_another():
    rng = np.random.default_rng(1)
    users = [
        person(rng.integers(0, 40, 2).tolist(), a=bool(rng.random() < 0.6), s=0 if rng.random() < 0.6 else None)
        for _ in range(200)
    ]
    originals, again = (originals_of([40, 40], 1, 2, users, shuffled=seed) for seed in (1, 2))
    method = ExtendedMondrian(max_a="9/10", min_a="1/10", max_b="9/10", min_b="1/10")

    def groups(originals, keys):
        return method.apply(originals, keys=keys).groups.side("a").group_of.tolist()

    assert groups(originals, KEYS) == groups(again, KEYS)
    assert groups(originals, KEYS) != groups(originals, Keys(b"another key of A", KEYS.b))
