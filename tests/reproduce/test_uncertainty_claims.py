"""Verdicts on jia2014 follow from figures by their rules, in both directions. Some claims exclude others: each has its figures."""

import pytest

from setveil.reproduce.figures import Figure, Figures
from setveil.reproduce.uncertainty_claims import CLAIMS, UNDECIDABLE, judge
from setveil.reproduce.uncertainty_findings import EVERYTHING, FINDINGS
from setveil.reproduce.uncertainty_lines import (
    DEGREES,
    FIFTHS,
    POS,
    READINGS,
    RETAIL,
    RHOS,
    SYN,
    T_MAXES,
    TITLES,
    WV,
    at_degree,
    at_rho,
    at_t_max,
)
from setveil.reproduce.uncertainty_printed import MINE_LOSS, TABLE_2, printed_figures

from reproduce.verdict_checks import (
    assert_all_agree,
    assert_all_contradict,
    assert_nothing_decides,
    assert_seeds_disagree,
)

SIZES = {"paper": [WV, RETAIL], "full": [POS, SYN]}
NAMES = [*SIZES["paper"], *SIZES["full"]]
RECORDS = {name: counts[0] for name, counts in TABLE_2.items()}
SEEDS = (0, 1, 2)
COUNTED = ("records", "items", "distinct-items")
BOTH_RHOS = [at_rho(rho) for rho in RHOS]


def settings_of(metric):
    if metric in COUNTED or metric in ("threads", "table-3-seconds"):
        return [""]
    if metric.startswith("scale-"):
        return [*FIFTHS]
    if metric.startswith("t-max-"):
        return [*map(at_t_max, T_MAXES)]
    return [*map(at_degree, DEGREES)] if metric in ("reconstruction-kl", "permutation-seconds") else BOTH_RHOS


def four(metric, mine, dist, other, td):
    return {metric: {"mine": mine, "dist": dist, "global": other, "td-control": td}}


def by_place(metric, values, *lines):
    """Give each line these values, at the settings of the metric in their order."""
    return {metric: {line: dict(zip(settings_of(metric), values, strict=True)) for line in lines}}


def same(metric, value, *lines):
    return {metric: dict.fromkeys(lines, value)}


PAIR = ("mine", "dist")
FALLING, RISING = [9 - n for n in range(9)], [*range(9)]
HUMP, LATE = [1, 2, 3, 4, 5, 5, 4, 1, 0], RISING
TABLE = {metric: {"original": {name: TABLE_2[name][n] for name in NAMES}} for n, metric in enumerate(COUNTED)}
AS_TOLD = {"info-loss": {"mine": {**MINE_LOSS, SYN: 0}}}
AT_PARTS = dict(zip(FIFTHS, (4, 8, 16, 16, 32), strict=True))

# For each claim: figures (metric, line, value) with which it holds, and figures with which it does not, everywhere.
WORLDS = {
    "counts-of-table-2": (TABLE, same("records", 1, "original") | same("items", 1, "original") | same("distinct-items", 1, "original")),
    "loss-falls": (by_place("info-loss", FALLING, *PAIR), by_place("info-loss", RISING, *PAIR)),
    "divergence-falls": (by_place("symmetric-kl", FALLING, *PAIR), same("symmetric-kl", 1, *PAIR)),
    "rules-rise-then-drop": (by_place("rule-similarity", HUMP, *PAIR), by_place("rule-similarity", LATE, *PAIR)),
    "no-rules-at-the-end": (
        same("rules-before", 1, *PAIR) | same("rules-after", 0, *PAIR),
        same("rules-before", 1, *PAIR) | same("rules-after", 1, *PAIR),
    ),
    "mine-loses-least": (four("info-loss", 1, 2, 2, 2), four("info-loss", 2, 3, 3, 2)),
    "loss-of-mine": (AS_TOLD, same("info-loss", 0.5, "mine")),
    "others-lose-more": (four("info-loss", 0.2, 0.4, 0.25, 0.25), four("info-loss", 0.2, 0.2, 0.3, 0.2)),
    "worst-case": (four("info-loss", 0.2, 0.3, 0.3, 0.7), four("info-loss", 0.2, 0.3, 0.3, 0.6)),
    "dist-loses-most": (four("info-loss", 1, 3, 2, 2), four("info-loss", 1, 2, 2, 2)),
    "others-do-not-scale": (same("seconds", 9000, "global", "td-control"), same("seconds", 7000, "global", "td-control")),
    "dist-is-nearest": (four("symmetric-kl", 2, 1, 2, 2), four("symmetric-kl", 2, 2, 2, 3)),
    "td-is-farthest": (four("symmetric-kl", 2, 1, 2, 3), four("symmetric-kl", 2, 1, 3, 3)),
    "orders-apart": (four("symmetric-kl", 2, 1, 2, 100), four("symmetric-kl", 2, 1, 2, 99)),
    "rules-gone": (
        same("cut-rule-similarity", 0.04, "global", "td-control"), same("cut-rule-similarity", 0.05, "global", "td-control"),
    ),
    "rules-retained": (same("cut-rule-similarity", 0.51, *PAIR), {"cut-rule-similarity": {"mine": 0.9, "dist": 0.5}}),
    "rules-reach": (same("cut-rule-similarity", 0.8, *PAIR), same("cut-rule-similarity", 0.79, *PAIR)),
    "mine-keeps-rules-best": ({"cut-rule-similarity": {"mine": 0.2, "dist": 0.1}}, same("cut-rule-similarity", 0.1, *PAIR)),
    "rules-rise-with-rho": (by_place("cut-rule-similarity", RISING, *PAIR), same("cut-rule-similarity", 1, *PAIR)),
    "one-rule-at-the-end": (
        same("cut-rules-before", 1, "dist") | same("cut-rules-after", 1, "dist"),
        same("cut-rules-before", 1, "dist") | same("cut-rules-after", 0, "dist"),
    ),
    "rules-of-td": (same("cut-rules-after", 8, "td-control"), same("cut-rules-after", 9, "td-control")),
    "td-is-fastest": (four("table-3-seconds", 2, 2, 2, 1), four("table-3-seconds", 2, 1, 2, 1)),
    "mine-slow-on-pos": (four("table-3-seconds", 3, 2, 2, 1), four("table-3-seconds", 2, 1, 2, 1)),
    "dist-faster-than-mine": (four("table-3-seconds", 3, 2, 0, 0), four("table-3-seconds", 2, 2, 0, 0)),
    "grows-reasonably": (
        by_place("scale-seconds", (1, 2, 3, 4, 25), *PAIR, "mine-whole", "dist-whole"),
        by_place("scale-seconds", (1, 2, 3, 4, 26), *PAIR, "mine-whole", "dist-whole"),
    ),
    "superlinear": (
        same("threads", 2, "original") | {"scale-seconds": {"mine": 1, "dist": 1, "mine-whole": 3, "dist-whole": 3}},
        same("threads", 2, "original") | {"scale-seconds": {"mine": 1, "dist": 1, "mine-whole": 2, "dist-whole": 2}},
    ),
    "parts-of-retail": ({"scale-parts": {"mine": AT_PARTS}}, same("scale-parts", 1, "mine")),
    "dist-is-flat": (
        by_place("t-max-loss", (0.509, 0.5, 0.5, 0.5, 0.5), "dist"),
        by_place("t-max-loss", (0.52, 0.5, 0.5, 0.5, 0.5), "dist"),
    ),
    "mine-descends": (
        by_place("t-max-loss", (0.36, 0.35, 0.35, 0.35, 0.35), "mine"), same("t-max-loss", 0.3, "mine"),
    ),
    "splitting-does-no-harm": (
        by_place("t-max-loss", (0.4, 0.4, 0.304, 0.3, 0.3), *PAIR),
        by_place("t-max-loss", (0.4, 0.4, 0.306, 0.3, 0.3), *PAIR),
    ),
    "time-rises-with-t-max": (
        by_place("t-max-seconds", (1, 1, 1, 1, 2), *PAIR), by_place("t-max-seconds", (1, 1, 1, 1, 1.9), *PAIR),
    ),
    "beats-permutation": (
        same("reconstruction-kl", 1, *PAIR) | {"reconstruction-kl": {"mine": 1, "dist": 1, "permutation": 2}},
        {"reconstruction-kl": {"mine": 1, "dist": 2, "permutation": 2}},
    ),
    "permutation-is-faster": (
        {"permutation-seconds": {"mine": 2, "dist": 2, "permutation": 1}},
        {"permutation-seconds": {"mine": 1, "dist": 2, "permutation": 1}},
    ),
    "trivial-beats-dist": ({"info-loss": {"trivial": 0.4, "dist": 0.5}}, same("info-loss", 0.4, "trivial", "dist")),
    "trivial-beats-global": ({"info-loss": {"trivial": 0.4, "global": 0.5}}, same("info-loss", 0.4, "trivial", "global")),
    "mine-below-trivial": ({"info-loss": {"trivial": 0.4, "mine": 0.3}}, same("info-loss", 0.4, "trivial", "mine")),
    "sensitive-types-only": (
        same("info-loss", 0.4, "trivial", "global-sensitive"), {"info-loss": {"trivial": 0.4, "global-sensitive": 0.41}},
    ),
    "types-die": (same("sensitive-types-left", 0.05, "global"), same("sensitive-types-left", 0.06, "global")),
    "insert-loses-least": (
        {"info-loss": {**four("info-loss", 2, 3, 3, 3)["info-loss"], "insert": 1}},
        {"info-loss": {**four("info-loss", 2, 3, 3, 3)["info-loss"], "insert": 2}},
    ),
    "above-the-bound": (
        {"info-loss": {**four("info-loss", 2, 3, 3, 3)["info-loss"], "insert": 2, "estimated-bound": 2}},
        {"info-loss": {**four("info-loss", 2, 3, 3, 3)["info-loss"], "insert": 2, "estimated-bound": 2.1}},
    ),
    "splitting-costs": (
        {"info-loss": {"mine": 2, "mine-whole": 1, "dist": 2, "dist-whole": 1}},
        same("info-loss", 1, "mine", "mine-whole", "dist", "dist-whole"),
    ),
    "plain-rules-stay": (
        same("cut-non-sensitive-rules", 1, "insert", "trivial"), {"cut-non-sensitive-rules": {"insert": 0.9, "trivial": 1}},
    ),
    "dist-breaks-plain-rules": (
        {"cut-non-sensitive-rules": {"mine": 1, "dist": 0.5}}, same("cut-non-sensitive-rules", 1, "mine", "dist"),
    ),
    "faster-than-printed": (four("table-3-seconds", 1, 1, 1, 1), four("table-3-seconds", 9000, 9000, 9000, 9000)),
    "all-are-safe": (same("unsafe-items", 0, *EVERYTHING), same("unsafe-items", 1, *EVERYTHING)),
    "insert-as-unsplit": ({"info-loss": {"insert": 0.301, "mine-whole": 0.3}}, {"info-loss": {"insert": 0.303, "mine-whole": 0.3}}),
    "insert-faster": ({"seconds": {"insert": 1, "mine-whole": 2}}, same("seconds", 1, "insert", "mine-whole")),
}  # fmt: skip
BY_SHORTEST = {
    "counts-of-table-2", "others-do-not-scale", "td-is-fastest", "mine-slow-on-pos", "dist-faster-than-mine", "grows-reasonably",
    "superlinear", "parts-of-retail", "time-rises-with-t-max", "permutation-is-faster", "faster-than-printed", "insert-faster",
}  # fmt: skip
"""What is not compared seed by seed: seconds by the shortest run, counts and parts once."""


def figures(world, other=None, seeds=()):
    """Return the figures of a world, for some of the seeds those of another one, beside what the paper prints."""
    found = Figures(printed_figures(NAMES))
    for dataset in NAMES:
        for seed in SEEDS:
            for metric, lines in (other if seed in seeds else world).items():
                for line, stated in lines.items():
                    for name in {reading.get(line, line) for reading in READINGS.values()}:
                        if name != line and name in lines:
                            continue
                        for setting in settings_of(metric):
                            value = stated.get(dataset, stated.get(setting)) if isinstance(stated, dict) else stated
                            at = None if line == "original" else seed
                            found.add(Figure(dataset, name, at, setting, metric, float(value)))
    return found


def verdict(key, found, sizes=SIZES):
    return next(v for v in judge(found, sizes, RECORDS, TITLES) if v.claim.key == key)


def test_there_are_figures_for_every_claim_that_can_be_decided():
    assert [*WORLDS] == [claim.key for claim in CLAIMS if claim.key not in UNDECIDABLE]
    assert [claim for claim in CLAIMS if claim.ours] == [*FINDINGS]
    assert len({claim.key for claim in CLAIMS}) == len(CLAIMS)


def decided(found):
    """Return the findings that have cases at all: some claims are about one data set."""
    return [finding for finding in found.findings if finding.cases]


@pytest.mark.parametrize("key", WORLDS)
def test_a_claim_holds_where_the_figures_are_as_claimed(key):
    assert_all_agree(decided(verdict(key, figures(WORLDS[key][0]))))


@pytest.mark.parametrize("key", WORLDS)
def test_a_claim_does_not_hold_where_they_say_the_contrary(key):
    assert_all_contradict(decided(verdict(key, figures(WORLDS[key][1]))))


@pytest.mark.parametrize("key", [key for key in WORLDS if key not in BY_SHORTEST])
def test_a_claim_holds_in_part_where_the_seeds_disagree(key):
    found = decided(verdict(key, figures(*WORLDS[key], seeds=(1,))))[0]
    assert_seeds_disagree(found.status, found.cases)


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.key)
def test_without_figures_nothing_is_decided(claim):
    assert_nothing_decides(verdict(claim.key, Figures(printed_figures(NAMES))))


@pytest.mark.parametrize("key", UNDECIDABLE)
def test_what_is_not_there_cannot_be_judged_by_any_figures(key):
    every = {metric: lines for world in WORLDS.values() for metric, lines in world[0].items()}
    assert verdict(key, figures(every)).status == "cannot be decided"


def test_the_two_readings_are_judged_apart():
    found = figures(WORLDS["mine-loses-least"][1])
    for dataset in NAMES:
        for seed in SEEDS:
            for rho in RHOS:
                found.add(Figure(dataset, "mine-whole", seed, at_rho(rho), "info-loss", 1.0))
                found.add(Figure(dataset, "dist-whole", seed, at_rho(rho), "info-loss", 3.0))
    judged = verdict("mine-loses-least", found)
    assert judged.status == "does not hold"
    assert {f.reading: f.status for f in judged.findings if f.size == "paper"} == {
        "split": "does not hold",
        "whole": "holds",
    }


def test_what_the_paper_prints_is_told_and_not_compared():
    case = verdict("td-is-fastest", figures(WORLDS["td-is-fastest"][1])).findings[0].cases[0]
    assert (case.place, case.outcome) == (WV, "disagrees")
    assert case.numbers["TDControl (as printed)"] == 30
    told = verdict("loss-of-mine", figures(WORLDS["loss-of-mine"][1])).findings[0].cases[0]
    assert (told.numbers["as printed"], told.numbers["Mine"]) == (0.26, 0.5)


def test_without_retail_its_claims_cannot_be_decided():
    found = {v.claim.key: v for v in judge(figures({}), {"paper": [WV], "full": []}, RECORDS, TITLES)}
    for key in ("superlinear", "parts-of-retail", "dist-is-flat", "time-rises-with-t-max", "mine-slow-on-pos"):
        assert found[key].status == "cannot be decided"
