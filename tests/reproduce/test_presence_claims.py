"""Verdicts on takenouchi2012 follow from figures by their rules, in both directions. Some claims exclude others: each has its figures."""

import pytest

from setveil.reproduce.figures import Figure, Figures
from setveil.reproduce.presence_claims import CLAIMS, NEAR, THETAS, judge
from setveil.reproduce.presence_lines import READINGS, TITLES, VARIANTS, Plan, at, within

from reproduce.verdict_checks import (
    assert_all_agree,
    assert_all_contradict,
    assert_nothing_decides,
    assert_seeds_disagree,
)

ADULT, INSIDE = "Adult", "Adult, B inside A"
SIZES = {"paper": [ADULT, INSIDE], "full": []}
SEEDS = (0, 1, 2)
PAIRS = [within(side, *pair) for side in "ab" for pair in Plan((), ()).pairs]
SETTINGS = ("", *map(at, THETAS), *VARIANTS, *PAIRS)
WIDE = {within(side, "0.1", "0.9") for side in "ab"}
NARROW = {within(side, *near) for side in "ab" for near, _wide in NEAR[side]}


def errors(**lines):
    """Return the same figures for both kinds of queries."""
    return {f"error-{kind}": lines for kind in ("domain", "even")}


def by_setting(changed, value, usual):
    """Return what gives one value at some settings and another one elsewhere."""
    return lambda setting: value if setting in changed else usual


# For each claim figures with which it holds, and figures with which it does not.
WORLDS = {
    "protocol-and-mondrian": (errors(protocol=0.1, extended=0.2), errors(protocol=0.2, extended=0.2)),
    "ten-to-twenty-five": (errors(protocol=0.254), errors(protocol=0.256)),
    "protocol-and-mpalm": (errors(protocol=0.2, mpalm=0.1), errors(protocol=0.1, mpalm=0.1)),
    "mpalm-divides-more": ({"groups": {"protocol": 7, "mpalm": 8}}, {"groups": {"protocol": 8, "mpalm": 8}}),
    "ten-to-twenty": (errors(protocol=0.1, mpalm=0.2), errors(protocol=0.15, mpalm=0.21)),
    "worse-near-a-third": (errors(protocol=by_setting(NARROW, 0.3, 0.2)), errors(protocol=by_setting(NARROW, 0.1, 0.2))),
    "worse-near-a-half": (errors(protocol=by_setting(NARROW, 0.3, 0.2)), errors(protocol=0.2)),
    "every-pair": ({"groups": {"protocol": 1}}, {"groups": {"protocol": None}}),
    "beats-one-group": (errors(**{"protocol": 0.1, "one-group": 0.2}), errors(**{"protocol": 0.2, "one-group": 0.2})),
    "qi-errs-less": (errors(**{"protocol": 0.2, "protocol-qi": 0.1}), errors(**{"protocol": 0.1, "protocol-qi": 0.1})),
    "qi-divides-more": (
        {"groups": {"protocol": 1, "protocol-qi": 2}}, {"groups": {"protocol": 2, "protocol-qi": 2}},
    ),
    "our-score": (errors(protocol=0.1, default=0.1019), errors(protocol=0.1, default=0.1021)),
    "entropy-helps": (errors(default=by_setting({"α=1"}, 0.3, 0.2)), errors(default=0.2)),
    "own-costs": (errors(default=by_setting({"score own"}, 0.3, 0.2)), errors(default=0.2)),
    "more-candidates": (errors(default=by_setting({"32 candidates"}, 0.1, 0.2)), errors(default=0.2)),
    "margin-costs": (errors(default=by_setting({"margin 0.02", "margin 0.05"}, 0.3, 0.2)), errors(default=0.2)),
    "retrying-errs-less": (errors(protocol=0.2, retrying=0.1), errors(protocol=0.1, retrying=0.2)),
    "dropped-divides-nothing": ({"groups": {"dropped": 1, "default-qi": 9}}, {"groups": {"dropped": 2, "default-qi": 9}}),
}  # fmt: skip
OF_ALL_KEYS = ("every-pair",)
"""What is told of all keys together: whether there is a table does not depend on them."""


def figures(world, other=None, seeds=()):
    """Return the figures of a world, for some of the seeds those of another one."""
    found = Figures()
    for seed in SEEDS:
        for metric, lines in (other if seed in seeds else world).items():
            for line, stated in lines.items():
                names = {line}
                if READINGS["qi"].get(line) not in lines:
                    names.add(READINGS["qi"].get(line, line))
                for name in names:
                    for setting in SETTINGS:
                        value = stated(setting) if callable(stated) else stated
                        for dataset in (ADULT, INSIDE):
                            note = "nothing can be published" if value is None else ""
                            found.add(Figure(dataset, name, seed, setting, metric, value, note))
    return found


def verdict(key, found):
    return next(v for v in judge(found, SIZES, {ADULT: 30_162, INSIDE: 30_162}, TITLES) if v.claim.key == key)


def test_there_are_figures_for_every_claim():
    assert [*WORLDS] == [claim.key for claim in CLAIMS]
    assert len({claim.key for claim in CLAIMS}) == len(CLAIMS)


@pytest.mark.parametrize("key", WORLDS)
def test_a_claim_holds_where_the_figures_are_as_claimed(key):
    assert_all_agree(verdict(key, figures(WORLDS[key][0])).findings)


@pytest.mark.parametrize("key", WORLDS)
def test_a_claim_does_not_hold_where_they_say_the_contrary(key):
    assert_all_contradict(verdict(key, figures(WORLDS[key][1])).findings)


@pytest.mark.parametrize("key", [key for key in WORLDS if key not in OF_ALL_KEYS])
def test_a_claim_holds_in_part_where_the_keys_disagree(key):
    found = verdict(key, figures(*WORLDS[key], seeds=(1,)))
    assert_seeds_disagree(found.status, found.findings[0].cases)


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.key)
def test_without_figures_nothing_is_decided(claim):
    assert_nothing_decides(verdict(claim.key, Figures()))


def test_the_two_scopes_are_judged_apart():
    found = figures(errors(**{"protocol": 0.5, "protocol-qi": 0.2}))
    assert {f.reading: f.status for f in verdict("ten-to-twenty-five", found).findings} == {
        "qi+sa": "does not hold",
        "qi": "holds",
    }


def test_kinds_of_queries_are_cases_of_their_own():
    world = {"error-domain": {"protocol": 30, "extended": 40}, "error-even": {"protocol": 0.2, "extended": 0.1}}
    found = verdict("protocol-and-mondrian", figures(world)).findings[0]
    assert (found.status, found.tally) == ("holds in part", "4 of 8")
    assert {case.place.split(", ")[1] for case in found.cases if case.outcome == "agrees"} == {"domain"}
    assert found.cases[0].in_words == "protocol, score as printed 3,000%, extended Mondrian 4,000%"


def test_limits_without_a_table_are_left_open_and_not_compared():
    narrow = by_setting({within("b", "0.5", "0.9"), within("b", "0.1", "0.5")}, None, 0.2)
    world = {"error-domain": {"protocol": narrow}, "error-even": {"protocol": narrow}}
    cases = {case.place: case.outcome for case in verdict("worse-near-a-half", figures(world)).findings[0].cases}
    assert {place for place, outcome in cases.items() if outcome == "open"} == {
        f"B: {limits}, {kind}" for limits in ("0.5 to 0.9", "0.1 to 0.5") for kind in ("domain", "even")
    }
    assert set(cases.values()) == {"open", "disagrees"}


def test_what_was_not_run_is_no_pair_of_limits():
    few = Figures([Figure(ADULT, "protocol", 0, within("a", "0.1", most), "groups", 5.0) for most in ("0.9", "0.8")])
    assert verdict("every-pair", few).findings[0].tally == "2 of 2"


def test_wide_limits_are_those_of_the_other_figures():
    assert {within(side, *wide) for side in "ab" for _near, wide in NEAR[side]} == WIDE
