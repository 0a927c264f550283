"""Verdicts on awad2020 follow from figures by their rules, in both directions. Some claims exclude others: each has its figures."""

import pytest

from setveil.reproduce.disassociation_claims import CLAIMS, PAIR_NAMES, RULE_NAMES, TRIPLE_NAMES, judge
from setveil.reproduce.disassociation_lines import (
    READINGS,
    RULE_SETS,
    SETTINGS,
    TABLE_4,
    TABLE_5,
    TABLE_6,
    TITLES,
    printed_figures,
)
from setveil.reproduce.figures import Figure, Figures

from reproduce.verdict_checks import (
    assert_all_agree,
    assert_all_contradict,
    assert_nothing_decides,
    assert_seeds_disagree,
)

SIZES = {"paper": ["BMS1"], "full": []}
SEEDS = (0, 1, 2)
SETS = (*PAIR_NAMES, *TRIPLE_NAMES)
PRINTED_COUNTS = dict(zip(SETS, (*TABLE_5, *TABLE_6), strict=True))


def settings_of(metric):
    if metric.startswith(("rae", "alpha")):
        return RULE_SETS
    if metric in ("records", "mean-records", "rules-below"):
        return ("",)
    return {"count": SETS, "rank": SETS, "support": RULE_NAMES}.get(metric, SETTINGS)


def both(metric, **lines):
    """Return the same figures for both readings of supports."""
    return {f"{metric}-{reading}": lines for reading in ("inside", "expected")}


def k_of(setting):
    return int(setting[4])


def delta_of(setting):
    return int(setting.split("=")[-1])


def place(name):
    return int(name.split()[-1])


# For each claim figures with which it holds, and figures with which it does not.
WORLDS = {
    "records-of-section-5": ({"records": {"original": 59_602}}, {"records": {"original": 59_601}}),
    "records-of-section-2": ({"records": {"original": 149_639}}, {"records": {"original": 59_602}}),
    "counts-before": (
        {"count": {"original": lambda name: PRINTED_COUNTS[name][0]}}, {"count": {"original": lambda name: PRINTED_COUNTS[name][0] - 1}},
    ),
    "ugac-keeps-rules": (both("rae-ur", hp=66, ugac=34), both("rae-ur", hp=34, ugac=34)),
    "ugac-keeps-others": (both("rae-ga", hp=66, ugac=34), both("rae-ga", hp=34, ugac=34)),
    "table-3": (
        {"rae-ur-inside": {"hp": 53, "ugac": 42}, "rae-ga-inside": {"hp": 112_000, "ugac": 20_000}},
        {"rae-ur-inside": {"hp": 49, "ugac": 43}, "rae-ga-inside": {"hp": 113_000, "ugac": 19_000}},
    ),
    "ugac-and-kmeans": (both("rae-ur", kmeans=66, ugac=34), both("rae-ur", kmeans=33, ugac=34)),
    "others-and-kmeans": (both("rae-ga", kmeans=66, ugac=34), both("rae-ga", kmeans=33, ugac=34)),
    "alpha-from-below": (both("alpha-least", hp=1, ugac=2), both("alpha-least", hp=1, ugac=0.9)),
    "alpha-from-above": (both("alpha-most", hp=0.5, ugac=1), both("alpha-most", hp=1.1, ugac=0.5)),
    "same-range": (
        {"ted": {"wheel": 10_000}, "ted-deviation": {"wheel": 100}}, {"ted": {"wheel": 10_000}, "ted-deviation": {"wheel": 101}},
    ),
    "higher-privacy-nearer": ({"ted": {"wheel": lambda s: -k_of(s)}}, {"ted": {"wheel": 5}}),
    "smaller-delta-nearer": ({"ted": {"wheel": delta_of}}, {"ted": {"wheel": lambda s: -delta_of(s)}}),
    "table-4": ({"ted": {"wheel": lambda s: 1.09 * TABLE_4[s][0]}}, {"ted": {"wheel": lambda s: 0.89 * TABLE_4[s][0]}}),
    "number-of-records": ({"mean-records": {"wheel": 54_200}}, {"mean-records": {"wheel": 59_500}}),
    "pairs-stay": ({"rank": {"wheel": 17}}, {"rank": {"wheel": 18}}),
    "pair-ranks": ({"rank": {"wheel": lambda name: place(name) + 6}}, {"rank": {"wheel": lambda name: place(name) + 7}}),
    "table-5": (
        {"count": {"wheel": lambda name: 1.09 * PRINTED_COUNTS[name][1]}},
        {"count": {"wheel": lambda name: 1.11 * PRINTED_COUNTS[name][1]}},
    ),
    "triple-ranks": ({"rank": {"wheel": lambda name: place(name) + 3}}, {"rank": {"wheel": lambda name: place(name) + 4}}),
    "table-6": (
        {"count": {"wheel": lambda name: 0.91 * PRINTED_COUNTS[name][1]}},
        {"count": {"wheel": lambda name: 0.89 * PRINTED_COUNTS[name][1]}},
    ),
    "rules-preserved": ({"support": {"original": 0.004, "wheel": 0.0031}}, {"support": {"original": 0.004, "wheel": 0}}),
    "rules-below": ({"rules-below": {"wheel": 3}}, {"rules-below": {"wheel": 2}}),
    "km-anonymous": ({"violations": {"wheel": 0}}, {"violations": {"wheel": 1}}),
    "records-are-rare-still": ({"rare-itemsets": {"wheel": 1}}, {"rare-itemsets": {"wheel": 0}}),
    "fewer-rare-pairs": ({"rare-pairs": {"original": 2, "wheel": 1}}, {"rare-pairs": {"original": 2, "wheel": 2}}),
    "more-left-out": ({"items-left-out": {"wheel": k_of}}, {"items-left-out": {"wheel": 3}}),
    "price-of-safety": ({"ted": {"wheel": 1, "wheel-safe": 2}}, {"ted": {"wheel": 2, "wheel-safe": 2}}),
    "near-each-other": (
        {"ted-among": {"wheel": 1}, "ted-mean": {"wheel": 2}}, {"ted-among": {"wheel": 2}, "ted-mean": {"wheel": 2}},
    ),
    "centroid-nearer": (
        {"ted-of-centroid": {"wheel": 1}, "ted-mean": {"wheel": 2}}, {"ted-of-centroid": {"wheel": 3}, "ted-mean": {"wheel": 2}},
    ),
    "even-parts": (both("rae-ur", **{"ugac": 2, "ugac-fighting": 1}), both("rae-ur", **{"ugac": 2, "ugac-fighting": 2})),
    "stable-ants": (both("rae-ur", **{"ugac-safe": 1, "ugac-fighting": 2}), both("rae-ur", **{"ugac-safe": 2, "ugac-fighting": 1})),
}  # fmt: skip
OF_MEANS = ("same-range", "near-each-other", "centroid-nearer")
"""What is told of all seeds together."""


def figures(world, other=None, seeds=()):
    """Return the figures of a world, for some of the seeds those of another one, beside what the paper prints."""
    found = Figures(printed_figures())
    for seed in SEEDS:
        for metric, lines in (other if seed in seeds else world).items():
            for line, stated in lines.items():
                names = {line}
                if READINGS["safe"].get(line) not in lines:
                    names.add(READINGS["safe"].get(line, line))
                for name in names:
                    for setting in settings_of(metric):
                        value = stated(setting) if callable(stated) else stated
                        found.add(Figure("BMS1", name, seed, setting, metric, float(value)))
    return found


def verdict(key, found):
    return next(v for v in judge(found, SIZES, {"BMS1": 59_602}, TITLES) if v.claim.key == key)


def test_there_are_figures_for_every_claim():
    assert [*WORLDS] == [claim.key for claim in CLAIMS]
    assert len({claim.key for claim in CLAIMS}) == len(CLAIMS)


@pytest.mark.parametrize("key", WORLDS)
def test_a_claim_holds_where_the_figures_are_as_claimed(key):
    assert_all_agree(verdict(key, figures(WORLDS[key][0])).findings)


@pytest.mark.parametrize("key", WORLDS)
def test_a_claim_does_not_hold_where_they_say_the_contrary(key):
    assert_all_contradict(verdict(key, figures(WORLDS[key][1])).findings)


@pytest.mark.parametrize("key", [key for key in WORLDS if key not in OF_MEANS])
def test_a_claim_holds_in_part_where_the_seeds_disagree(key):
    found = verdict(key, figures(*WORLDS[key], seeds=(1,)))
    assert_seeds_disagree(found.status, found.findings[0].cases)


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.key)
def test_without_figures_nothing_is_decided(claim):
    assert_nothing_decides(verdict(claim.key, Figures(printed_figures())))


def test_the_two_ways_are_judged_apart():
    found = figures({"violations": {"wheel": 7, "wheel-safe": 0}})
    assert {f.reading: f.status for f in verdict("km-anonymous", found).findings} == {
        "plain": "does not hold",
        "safe": "holds",
    }


def test_what_the_paper_prints_is_told_and_not_compared():
    judged = verdict("ugac-keeps-rules", figures(both("rae-ur", hp=1, ugac=2)))
    assert judged.status == "does not hold"  # though it is as claimed in print
    assert judged.findings[0].cases[0].numbers == {"UGAC": 2, "HP": 1, "UGAC (as printed)": 34, "HP (as printed)": 66}
    beside = judged.findings[0].cases[1].numbers
    assert beside == {"UGAC": 2, "HP": 1}  # of other rules nothing is printed


def test_the_printed_distances_contradict_what_the_text_says_of_small_clusters():
    printed = {name: mean for name, (mean, _deviation) in TABLE_4.items()}
    judged = verdict("smaller-delta-nearer", figures({"ted": {"wheel": lambda setting: printed[setting]}}))
    assert judged.status == "holds in part"
    assert [case.place for case in judged.findings[0].cases if case.outcome != "agrees"] == ["k=m=4, δ=20 and 40"]
    assert verdict("higher-privacy-nearer", figures({"ted": {"wheel": lambda s: printed[s]}})).status == "holds"
