"""Site presence against the definition, on random tables of two providers and on the paper's own."""

import random
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import setveil as sv
from setveil.base.display import quantity
from setveil.base.verdict import MOST_WITNESSES
from setveil.presence.guarantees.site_presence import SitePresence
from setveil.presence.tables.originals import BothGroups

from oracle import site_presence as oracle
from support.exhaustive import examples
from support.joined_cases import drawn, joined, table_one, table_two

seeds = st.integers(min_value=0, max_value=2**32)
SHARES = ["0", "1/5", "1/4", "1/3", "2/5", "1/2", "3/5", "2/3", "3/4", "4/5", "1"]
SHARE_KINDS = {f"too-{which}-of-{side}" for which in ("few", "many") for side in "ab"}


def limits_of(seed, scope):
    rng = random.Random(f"limits {seed}")  # noqa: S311 - test data
    found = {}
    for side in "ab":
        low, high = sorted(rng.choices(range(len(SHARES)), k=2)) if rng.random() < 0.5 else (0, len(SHARES) - 1)
        found |= {f"min_{side}": SHARES[low], f"max_{side}": SHARES[high]}
    return SitePresence(**found, scope=scope), {s: (found[f"min_{s}"], found[f"max_{s}"]) for s in "ab"}


def values_at(case, side):
    return dict.fromkeys(case.a) if side == "a" else {one: value for one, (_cells, value) in case.b.items()}


@settings(max_examples=examples(300), deadline=None)
@given(seed=seeds, scope=st.sampled_from(["qi+sa", "qi"]), left_out=st.booleans())
def test_the_whole_check_counts_what_the_oracle_counts(seed, scope, left_out):
    case = drawn(seed, left_out=left_out)
    guarantee, limits = limits_of(seed, scope)
    verdict = guarantee.check(case.table, original=case.originals, alignment=case.groups)
    expected = oracle.finest_violations(limits, case.a, case.b, case.group_of, scope)
    if set(case.a) | set(case.b) == set(case.ids):
        expected["population-is-the-union"] = 1
    assert verdict.violations == expected
    assert bool(verdict) == (not expected)
    assert "checked completely" in verdict.reason
    for witness in verdict.witnesses:
        assert not any(one in f"{witness.place} {witness.detail}" for one in case.ids)


@settings(max_examples=examples(300), deadline=None)
@given(seed=seeds, scope=st.sampled_from(["qi+sa", "qi"]))
def test_finest_cells_are_enough_for_every_set_of_attributes(seed, scope):
    """The mediant argument: what holds of every group holds of every coarser value."""
    case = drawn(seed)
    guarantee, limits = limits_of(seed, scope)
    verdict = guarantee.check(case.table, original=case.originals, alignment=case.groups)
    if not SHARE_KINDS & verdict.violations.keys():
        for side in "ab":
            own = values_at(case, side)
            assert oracle.definition_holds(side, limits, case.records, own, case.boxes, case.group_of, scope)


@settings(max_examples=examples(300), deadline=None)
@given(seed=seeds, scope=st.sampled_from(["qi+sa", "qi"]), side=st.sampled_from("ab"), left_out=st.booleans())
def test_a_provider_alone_finds_what_the_definition_says_of_its_own_attributes(seed, scope, side, left_out):
    case = drawn(seed, left_out=left_out)
    guarantee, limits = limits_of(seed, scope)
    alone = BothGroups(**{side: case.side(side)})
    verdict = guarantee.check(case.table, original=case.originals_of(side), alignment=alone)
    own = values_at(case, side)
    assert bool(verdict) == oracle.definition_holds(side, limits, case.records, own, case.boxes, case.group_of, scope)
    assert f"checked by provider {side.upper()} alone" in verdict.reason


def test_random_cases_keep_and_break_it_in_each_way():
    seen = set()
    for seed in range(300):
        case = drawn(seed)
        for scope in ("qi+sa", "qi"):
            verdict = limits_of(seed, scope)[0].check(case.table, original=case.originals, alignment=case.groups)
            seen |= {*verdict.violations} or {"holds"}
    assert seen == SHARE_KINDS | {"population-is-the-union", "holds"}


# -- tables with wrong content -----------------------------------------------------------------------------------------

FREE = SitePresence(min_a="0", max_a="1", min_b="0", max_b="1")


def some_case(groups=3):
    """Return a case with several groups that holds with free shares."""
    for seed in range(1000):
        case = drawn(seed, splits=8)
        table = case.table
        if table.groups >= groups and FREE.check(table, original=case.originals, alignment=case.groups):
            return case
    raise AssertionError


@settings(max_examples=examples(200), deadline=None)
@given(seed=seeds)
def test_a_table_that_was_tampered_with_is_found(seed):
    rng = random.Random(seed)  # noqa: S311 - test data
    case = drawn(seed)
    records = list(case.records)
    place = rng.randrange(len(records))
    a, b, value = records[place]
    match rng.randrange(4):
        case 0:
            records.append(records[place])
        case 1:
            del records[place]
        case 2:
            records[place] = (a, b, (value + 1) % case.schema.sensitive.cells)
        case 3:
            records[place] = (*case.boxes[rng.randrange(len(case.boxes))], value)
    if not records:
        return
    tampered = joined(case.schema, records)
    verdict = FREE.check(tampered, original=case.originals, alignment=case.groups)
    truthful = oracle.is_true(records, case.a, case.b, case.group_of, case.boxes)
    kinds = {"counts-not-true", "combination-of-no-group", "group-not-in-the-table"}
    assert bool(kinds & verdict.violations.keys()) == (not truthful)


def test_a_record_too_many_a_value_swapped_and_a_group_gone_are_named():
    case = some_case()
    table, given_ = case.table, {"original": case.originals, "alignment": case.groups}
    more = table.counts.copy()
    more[0, 0] += 1
    found = FREE.check(replace(table, counts=more), **given_)
    assert found.violations == {"counts-not-true": 1}
    assert found.witnesses[0].detail == (
        f"has {quantity(int(more[0, 0]), 'record')} with 'X'; the true number of common users is {more[0, 0] - 1}"
    )
    gone = replace(table, lows=table.lows[1:], highs=table.highs[1:], counts=table.counts[1:])
    assert FREE.check(gone, **given_).violations == {"group-not-in-the-table": 1}


def test_a_box_that_moved_is_found_on_every_way():
    case = some_case()
    table = case.table
    narrow = next(
        (group, place)
        for group in range(table.groups)
        for place in range(2)
        if table.highs[group, 0] - table.lows[group, 0] > 1
    )[0]
    highs = table.highs.copy()
    highs[narrow, 0] -= 1
    moved = replace(table, highs=highs)
    whole = FREE.check(moved, original=case.originals, alignment=case.groups)
    assert {"combination-of-no-group", "group-not-in-the-table"} <= whole.violations.keys()
    alone = FREE.check(moved, original=case.originals_of("a"), alignment=BothGroups(a=case.side("a")))
    assert "combination-of-no-group" in alone.violations
    # The groups moved along with the table: now users lie outside.
    for role in "ab":
        side = case.side(role)
        shut = replace(side, highs=side.lows + 1)
        outside = FREE.check(table, original=case.originals_of(role), alignment=BothGroups(**{role: shut}))
        assert "user-outside-the-intervals" in outside.violations
        assert not oracle.inside(
            case.a,
            case.b,
            case.group_of,
            [
                tuple(
                    tuple((low, low + 1) for low, _high in part) if name == role else part
                    for name, part in zip("ab", box, strict=True)
                )
                for box in case.boxes
            ],
        )


@settings(max_examples=examples(150), deadline=None)
@given(seed=seeds)
def test_users_outside_their_intervals_are_those_that_the_oracle_finds(seed):
    """One interval is a cell shorter at one end: exactly the users in that cell are outside."""
    rng = random.Random(seed)  # noqa: S311 - test data
    case = drawn(seed)
    group, role = rng.randrange(len(case.boxes)), rng.randrange(2)
    box = list(case.boxes[group][role])
    place = rng.randrange(len(box))
    low, high = box[place]
    if high - low < 2:
        return
    box[place] = (low + 1, high) if rng.random() < 0.5 else (low, high - 1)
    case.boxes[group] = (tuple(box), case.boxes[group][1]) if role == 0 else (case.boxes[group][0], tuple(box))
    found = FREE.check(case.table, original=case.originals, alignment=case.groups)
    inside = oracle.inside(case.a, case.b, case.group_of, case.boxes)
    assert ("user-outside-the-intervals" in found.violations) == (not inside)


def test_groups_that_the_providers_number_differently_are_found():
    case = some_case()
    other = case.side("b")
    shuffled = replace(other, group_of=np.roll(other.group_of, 1))
    found = FREE.check(case.table, original=case.originals, alignment=BothGroups(case.side("a"), shuffled))
    assert found.violations["groups-not-alike"] == int(np.count_nonzero(other.group_of != shuffled.group_of))
    fewer = replace(other, group_of=np.zeros_like(other.group_of), lows=other.lows[:1], highs=other.highs[:1])
    found = FREE.check(case.table, original=case.originals, alignment=BothGroups(case.side("a"), fewer))
    assert found.violations["groups-not-alike"] == 1


def test_a_common_user_in_no_group_is_found():
    case = some_case()
    one = next(user for user in case.a if user in case.b)
    del case.group_of[one]
    found = FREE.check(case.table, original=case.originals, alignment=case.groups)
    assert found.violations["common-user-without-group"] == 1
    assert found.violations.keys() & {"counts-not-true", "combination-of-no-group"}


# -- the paper ---------------------------------------------------------------------------------------------------------


def at_a(case, **shares):
    guarantee = SitePresence(min_b="0", max_b="1", **shares)
    return guarantee.check(case.table, original=case.originals_of("a"), alignment=BothGroups(a=case.side("a")))


def test_table_one_reveals_users_in_c_and_none_in_d():
    revealed = at_a(table_one(50), min_a="0", max_a="2/3")
    assert revealed.violations == {"too-many-of-a": 1}
    assert revealed.witnesses[0].detail == "2 of A's 2 users are also at B; max_a = 2/3 allows at most 1"
    assert at_a(table_one(50), min_a="1/2", max_a="1")  # 2 of 2 and 2 of 4: the bounds are inclusive
    assert at_a(table_one(60), min_a="2/3", max_a="2/3")


def test_the_printed_fractions_of_b_are_wrong():
    """Four of B's users, not three, watch X movie at 16:00 or later; and the printed table is not of the printed users."""
    case = table_one(60)
    printed = SitePresence(max_a="2/3", min_a="2/3", max_b="1/2", min_b="1/3")
    alone = printed.check(case.table, original=case.originals_of("b"), alignment=BothGroups(b=case.side("b")))
    # Group 1 shows 16:00 and later; by ids it contains the people in that part of the cut of incomes.
    late = {one for one, (cells, _value) in case.b.items() if cells[0] >= 32}
    assert sum(case.b[one][1] == 0 for one in late) == 4
    assert not alone
    by_time = replace(case, group_of={one: int(one not in late) for one in case.ids})
    found = printed.check(case.table, original=by_time.originals_of("b"), alignment=BothGroups(b=by_time.side("b")))
    assert found.violations == {"too-few-of-b": 1}
    assert found.witnesses[0].detail == (
        "1 of B's 4 users with 'X movie' is also at A; min_b = 1/3 requires at least 2"
    )
    whole = printed.check(case.table, original=case.originals, alignment=case.groups)
    assert whole.violations["user-outside-the-intervals"] > 0  # users 5 and 6 never watch before 16:00


def test_table_two_has_three_groups_and_seven_records():
    case = table_two()
    table = case.table
    assert (table.groups, table.records) == (3, 7)
    assert [int(n) for n in table.counts.sum(axis=1)] == [2, 3, 2]
    assert sv.KAnonymity(k=2, l=2).check(table)
    assert not sv.KAnonymity(k=3).check(table)
    given_ = {"original": case.originals, "alignment": case.groups}
    assert SitePresence(min_a="2/3", max_a="3/4", min_b="1/2", max_b="1").check(table, **given_)
    assert not SitePresence(min_a="2/3", max_a="2/3", min_b="1/2", max_b="1").check(table, **given_)


# -- what mutants of the check would say -------------------------------------------------------------------------------


def test_bounds_are_inclusive_and_in_their_order():
    case = table_two()
    given_ = {"original": case.originals, "alignment": case.groups}
    exact = {"min_a": "2/3", "max_a": "3/4", "min_b": "1/2", "max_b": "1"}
    assert SitePresence(**exact).check(case.table, **given_)  # a strict check would refuse it
    tighter = SitePresence(**exact | {"max_a": "0.74"}).check(case.table, **given_)
    assert tighter.violations == {"too-many-of-a": 1}
    swapped = {"min_b": "2/3", "max_b": "3/4", "min_a": "1/2", "max_a": "1"}
    assert SitePresence(**swapped).check(case.table, **given_).violations.keys() == {"too-few-of-b", "too-many-of-b"}
    with pytest.raises(sv.BadParameter, match="expected min_a at most max_a"):
        SitePresence(min_a="0.9", max_a="0.1", min_b="0", max_b="1")


def test_limits_apply_to_each_sensitive_value():
    """In group 1 one of B's two users of X movie is common, and its only one of Y sports: 2 of 3 in all."""
    case = table_two()
    given_ = {"original": case.originals, "alignment": case.groups}
    shares = {"min_a": "0", "max_a": "1", "min_b": "2/3", "max_b": "3/4"}
    as_groups = SitePresence(**shares, scope="qi").check(case.table, **given_)
    assert as_groups
    assert "weaker than the definition" in as_groups.reason
    assert not SitePresence(**shares).check(case.table, **given_)


def test_large_denominators_do_not_overflow():
    case = table_two()
    given_ = {"original": case.originals, "alignment": case.groups}
    nearly = SitePresence(min_a="666666666/1000000000", max_a="750000001/1000000000", min_b="0", max_b="1")
    assert nearly.check(case.table, **given_)
    over = SitePresence(min_a="666666667/1000000000", max_a="749999999/1000000000", min_b="0", max_b="1")
    assert over.check(case.table, **given_).violations == {"too-few-of-a": 2, "too-many-of-a": 1}


# -- what is needed ----------------------------------------------------------------------------------------------------


def test_what_is_needed_is_said():
    case = table_two()
    with pytest.raises(sv.Missing, match="original"):
        FREE.check(case.table, alignment=case.groups)
    with pytest.raises(sv.Missing, match="alignment"):
        FREE.check(case.table, original=case.originals)
    with pytest.raises(sv.Missing, match="original"):
        FREE.check(case.table, original=case.originals_of(""), alignment=BothGroups())
    with pytest.raises(sv.Missing, match="provider B"):
        FREE.check(case.table, original=case.originals, alignment=BothGroups(a=case.side("a")))
    with pytest.raises(sv.Missing, match="provider A"):
        FREE.check(case.table, original=case.originals_of("b"), alignment=case.groups)


def test_groups_that_do_not_belong_are_refused():
    case, other = table_two(), table_one(50)
    with pytest.raises(sv.BadData, match="another population"):
        FREE.check(case.table, original=case.originals, alignment=other.groups)
    with pytest.raises(sv.BadData, match="other attributes"):
        FREE.check(case.table, original=other.originals, alignment=other.groups)
    side = case.side("a")
    beyond = replace(side, group_of=side.group_of + 1)
    with pytest.raises(sv.BadData, match="does not exist"):
        FREE.check(case.table, original=case.originals_of("a"), alignment=BothGroups(a=beyond))


def test_witnesses_are_bounded_and_counts_complete():
    case = table_two()
    users = {f"v{number}": ((3,) if number % 2 else (9,)) for number in range(2 * MOST_WITNESSES)}
    many = replace(case, ids=case.ids + list(users), a=case.a | users, group_of=case.group_of | dict.fromkeys(users, 0))
    found = FREE.check(many.table, original=many.originals, alignment=many.groups)
    assert found.violations == {"user-outside-the-intervals": MOST_WITNESSES}
    assert len(found.witnesses) == 1
    assert "100 of A's users" in found.witnesses[0].detail
