"""Verdicts on gunawan2021 follow from figures by their rules, in both directions. Some claims exclude others: each has its figures."""

import pytest

from setveil.reproduce.figures import Figure, Figures
from setveil.reproduce.itemset_claims import CLAIMS, judge
from setveil.reproduce.itemset_findings import FINDINGS
from setveil.reproduce.itemset_lines import READINGS, TITLES
from setveil.reproduce.itemset_printed import PRINTED, SUPPORTS, TABLE_4, TABLE_5, printed_figures

from reproduce.verdict_checks import (
    assert_all_agree,
    assert_all_contradict,
    assert_nothing_decides,
    assert_seeds_disagree,
)

SIZES = {"paper": ["FoodMart"], "full": ["BMS1", "BMS2"]}
RECORDS = {"FoodMart": 4_141, "BMS1": 59_602, "BMS2": 77_512}
SEEDS = (0, 1, 2)
BY_SUPPORT = ("misses-cost", "avoidable-misses-cost", "artificial-itemsets")


def table(printed):
    """Return a table of the paper as what was measured."""
    return {method: dict(zip(SUPPORTS, printed[line], strict=True)) for method, line in PRINTED.items()}


def same(metric, value, *methods):
    return {metric: dict.fromkeys(methods, value)}


EXACT = ("exact-random", "exact-border", "exact-zero")
COUNTS = {"records": {"original": 4141}, "items": {"original": 18319}, "distinct-items": {"original": 1559}}
SMALLER = {"FoodMart": 5, "BMS1": 3, "BMS2": 4}
LARGER = {"FoodMart": 5, "BMS1": 8, "BMS2": 9}

# For each claim: figures (metric, line, value) with which it holds, and figures with which it does not, everywhere.
WORLDS = {
    "counts-of-table-2": (COUNTS, {metric: {"original": 7} for metric in COUNTS}),
    "length-of-table-2": ({"mean-length": {"original": 11.751}}, {"mean-length": {"original": 4.42}}),
    "more-complex-than-bms": (
        {"mean-length": {"original": SMALLER}, "distinct-items": {"original": SMALLER}},
        {"mean-length": {"original": LARGER}, "distinct-items": {"original": LARGER}},
    ),
    "failure-order": ({"hiding-failure": {"sw": 0.1, "heu": 0.2, "nv": 0.3}}, same("hiding-failure", 0, "sw", "heu", "nv")),
    "failure-of-sw": ({"hiding-failure": {"sw": 4 / 42}}, {"hiding-failure": {"sw": 0.25}}),
    "failure-of-heu-and-nv": ({"hiding-failure": {"heu": 0.5, "nv": 0.6}}, same("hiding-failure", 0, "heu", "nv")),
    "cost-slightly-above-heu": ({"misses-cost": {"sw": 0.064, "heu": 0.034}}, {"misses-cost": {"sw": 0.03, "heu": 0.034}}),
    "cost-equal-to-heu": ({"misses-cost": {"sw": 0.001, "heu": 0}}, {"misses-cost": {"sw": 0.01, "heu": 0}}),
    "cost-of-nv-highest": (
        {"misses-cost": {"sw": 0.1, "heu": 0.2, "nv": 0.3}}, {"misses-cost": {"sw": 0.3, "heu": 0.2, "nv": 0.3}},
    ),
    "table-4": ({"misses-cost": table(TABLE_4)}, same("misses-cost", 0.5, "sw", "heu", "nv")),
    "columns-equal": (
        {"misses-cost": table(TABLE_4), "artificial-itemsets": table(TABLE_5)},
        {metric: {key: dict(zip(SUPPORTS, (4, 3, 2, 1), strict=True)) for key in PRINTED} for metric in BY_SUPPORT},
    ),
    "heu-shows-at-lower-threshold": ({"residual": {"heu": 1, "sw": 0.3}}, {"residual": {"heu": 1, "sw": 1}}),
    "item-frequencies": (
        {"items-changed": {"sw": 0, "heu": 0.01, "nv": 0.05}}, {"items-changed": {"sw": 0, "heu": 0.06, "nv": 0.05}},
    ),
    "dissimilarity-lowest": (
        {"dissimilarity": {"sw": 0, "heu": 0.01, "nv": 0.05}}, {"dissimilarity": {"sw": 0.01, "heu": 0.01, "nv": 0.05}},
    ),
    "dissimilarity-order": (
        {"dissimilarity": {"sw": 0, "heu": 0.01, "nv": 0.05}}, {"dissimilarity": {"sw": 0, "heu": 0.05, "nv": 0.05}},
    ),
    "dissimilarity-values": ({"dissimilarity": {"heu": 0.01, "nv": 0.9}}, {"dissimilarity": {"heu": 0.001, "nv": 0.009}}),
    "sw-keeps-items": ({"dissimilarity": {"sw": 0}}, {"dissimilarity": {"sw": 0.001}}),
    "new-below-nv": ({"artificial-itemsets": {"sw": 0, "nv": 0.1}}, same("artificial-itemsets", 0, "sw", "nv")),
    "new-like-heu": ({"artificial-itemsets": {"sw": 0.001, "heu": 0}}, {"artificial-itemsets": {"sw": 0.002, "heu": 0}}),
    "new-of-heu-zero": ({"artificial-itemsets": {"heu": 0}}, {"artificial-itemsets": {"heu": 0.001}}),
    "new-minimized": (
        same("artificial-itemsets", 0, "sw", "heu", "nv"), {"artificial-itemsets": {"sw": 0.009, "heu": 0, "nv": 0.9}},
    ),
    "itemsets-remain": (
        {"artificial-itemsets": {"sw": 0}, "misses-cost": {"sw": 0}},
        {"artificial-itemsets": {"sw": 0}, "misses-cost": {"sw": 0.01}},
    ),
    "table-5": ({"artificial-itemsets": table(TABLE_5)}, same("artificial-itemsets", 0.2, "sw", "heu", "nv")),
    "new-close-to-zero": (
        {"artificial-itemsets": {"sw": 0.009, "heu": 0}}, {"artificial-itemsets": {"sw": 0.02, "heu": 0}},
    ),
    "leaving-out-cannot-fail": (same("hiding-failure", 0, "heu", "nv"), {"hiding-failure": {"heu": 0.5, "nv": 0}}),
    "leaving-out-makes-nothing-new": (
        same("artificial-itemsets", 0, "heu", "nv"), {"artificial-itemsets": {"heu": 0, "nv": 0.9}},
    ),
    "exact-swap-hides": (same("hiding-failure", 0, *EXACT), same("hiding-failure", 0.1, *EXACT)),
    "exact-swap-makes-nothing-new": (
        same("artificial-itemsets", 0, *EXACT), same("artificial-itemsets", 0.1, *EXACT),
    ),
    "levels-make-nothing-new": (
        same("artificial-itemsets", 0, "exact-levels"), same("artificial-itemsets", 0.1, "exact-levels"),
    ),
    "exact-swap-keeps-frequencies": (same("dissimilarity", 0, *EXACT), same("dissimilarity", 0.1, *EXACT)),
    "exact-swap-loses-fewer": (
        {"avoidable-misses-cost": {"exact-border": 0.1, "heu": 0.2, "sw-all": 0.2}},
        {"avoidable-misses-cost": {"exact-border": 0.1, "heu": 0.2, "sw-all": 0.1}},
    ),
    "exact-swap-loses-fewer-at-zero": (
        {"avoidable-misses-cost": {"exact-zero": 0.1, "heu-zero": 0.2}}, same("avoidable-misses-cost", 0.1, "exact-zero", "heu-zero"),
    ),
    "zero-shows-nothing": (
        {"residual": {"exact-zero": 0, "heu-zero": 0, "exact-border": 1, "heu": 1}},
        {"residual": {"exact-zero": 0.1, "heu-zero": 0, "exact-border": 1, "heu": 1}},
    ),
    "border-gives-away": (
        {"border-times-base-rate": {"exact-border": 30, "heu": 3}}, {"border-times-base-rate": {"exact-border": 30, "heu": 2}},
    ),
    "random-targets-do-not": (
        {"border-times-base-rate": {"exact-random": 2}}, {"border-times-base-rate": {"exact-random": 2.1}},
    ),
    "swapping-is-untrue": (
        {"false-content": {"sw": 0.1, "exact-random": 0.1, "heu": 0, "nv": 0}},
        {"false-content": {"sw": 0.1, "exact-random": 0, "heu": 0, "nv": 0}},
    ),
    "swapping-touches-more": (
        {"records-touched": {"exact-border": 0.2, "heu": 0.1}}, same("records-touched", 0.1, "exact-border", "heu"),
    ),
    "nearly-the-least-loss": (
        {"plan-lost": {"exact-zero": 104, "exact-zero-ilp": 100}, "plan-proven": {"exact-zero-ilp": 1}},
        {"plan-lost": {"exact-zero": 106, "exact-zero-ilp": 100}, "plan-proven": {"exact-zero-ilp": 1}},
    ),
}  # fmt: skip
OF_THE_DATA = ("counts-of-table-2", "length-of-table-2", "more-complex-than-bms")
"""What no seed changes."""


def figures(world, other=None, seeds=()):
    """Return the figures of a world, for some of the seeds those of another one, beside what the paper prints."""
    found = Figures(printed_figures())
    for dataset in RECORDS:
        for seed in SEEDS:
            for metric, lines in (other if seed in seeds else world).items():
                supports = (SUPPORTS if dataset == "FoodMart" else ("0.1%",)) if metric in BY_SUPPORT else ("",)
                for line, stated in lines.items():
                    for name in {reading[line] for reading in READINGS.values()} if line == "sw" else {line}:
                        for support in supports:
                            value = stated.get(dataset, stated.get(support, 0)) if isinstance(stated, dict) else stated
                            at = None if line == "original" else seed
                            found.add(Figure(dataset, name, at, support, metric, float(value)))
    return found


def verdict(key, found, sizes=SIZES):
    return next(v for v in judge(found, sizes, RECORDS, TITLES) if v.claim.key == key)


def test_there_are_figures_for_every_claim():
    assert [*WORLDS] == [claim.key for claim in CLAIMS]
    assert [claim for claim in CLAIMS if claim.ours] == [*FINDINGS]
    assert len({claim.key for claim in CLAIMS}) == len(CLAIMS)


@pytest.mark.parametrize("key", WORLDS)
def test_a_claim_holds_where_the_figures_are_as_claimed(key):
    assert_all_agree(verdict(key, figures(WORLDS[key][0])).findings)


@pytest.mark.parametrize("key", WORLDS)
def test_a_claim_does_not_hold_where_they_say_the_contrary(key):
    assert_all_contradict(verdict(key, figures(WORLDS[key][1])).findings)


@pytest.mark.parametrize("key", [key for key in WORLDS if key not in OF_THE_DATA])
def test_a_claim_holds_in_part_where_the_seeds_disagree(key):
    found = verdict(key, figures(*WORLDS[key], seeds=(1,)))
    assert_seeds_disagree(found.status, found.findings[0].cases)


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.key)
def test_without_figures_nothing_is_decided(claim):
    assert_nothing_decides(verdict(claim.key, Figures(printed_figures())))


def test_the_two_readings_of_sw_are_judged_apart():
    found = figures(WORLDS["failure-order"][0])
    for dataset in RECORDS:
        for seed in SEEDS:
            found.add(Figure(dataset, "sw-one", seed, "", "hiding-failure", 0.25))
    judged = verdict("failure-order", found)
    assert judged.status == "does not hold"
    assert {f.reading: f.status for f in judged.findings if f.size == "paper"} == {
        "one": "does not hold",
        "all": "holds",
    }


def test_what_the_paper_prints_is_told_and_not_compared():
    judged = verdict("failure-order", figures(WORLDS["failure-order"][1]))
    numbers = judged.findings[0].cases[0].numbers
    assert numbers["HEU (as printed)"] == pytest.approx(0.47619)
    assert numbers["HEU"] == 0
    assert judged.status == "does not hold"  # though the printed figures are in that very order
    assert "as printed" not in str([f.cases[0].numbers for f in judged.findings if f.size == "full"])


def test_a_plan_that_is_not_proven_to_be_the_least_decides_nothing():
    world = {**WORLDS["nearly-the-least-loss"][0], "plan-proven": {"exact-zero-ilp": 0}}
    assert verdict("nearly-the-least-loss", figures(world)).status == "cannot be decided"


def test_what_needs_other_data_cannot_be_decided_without():
    found = {v.claim.key: v for v in judge(figures({}), {"paper": ["FoodMart"], "full": []}, RECORDS, TITLES)}
    assert found["more-complex-than-bms"].status == "cannot be decided"
    assert {f.size for v in found.values() if v.claim.key != "more-complex-than-bms" for f in v.findings} == {"paper"}
