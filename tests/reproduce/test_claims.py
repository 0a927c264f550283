"""Verdicts follow from figures by their rules, in both directions."""

import pytest

from setveil.reproduce.claims import CLAIMS, judge
from setveil.reproduce.figures import Figure, Figures
from setveil.reproduce.judging import Case, status_of
from setveil.reproduce.tendency_swapping import TITLES

SIZES = {"paper": ["BMS1", "BMS2", "WD-like"], "full": ["BMS1 full", "BMS2 full"]}
RECORDS = {"BMS1": 5000, "BMS2": 5000, "WD-like": 797, "BMS1 full": 60_000, "BMS2 full": 60_000}
SLOWER = {"BMS1": 1, "BMS2": 2, "WD-like": 3, "BMS1 full": 144, "BMS2 full": 288}
BETTER = {"BMS1": 0.6, "BMS2": 0.7, "WD-like": 0.8, "BMS1 full": 0.7, "BMS2 full": 0.8}
SUPPORTS = ("0.2%", "0.5%")
SEEDS = (0, 1, 2)

# Figures of a world in which the paper is right in everything, and so are we.
AS_CLAIMED = {
    "frequent-itemsets": {"original": 100, "part-swap": 80, "rand-swap": 85, "part-supp": 60, "split-person": 10,
                          "rand-swap-matched": 80, "whole-records": 100},
    "fi-similarity": {"part-swap": None, "rand-swap": 0.5, "part-supp": 0.4, "split-person": 0.1,
                      "rand-swap-matched": 0.9, "whole-records": 1},
    "dissimilarity-printed": {"part-swap": 0.001, "rand-swap": 0.01, "part-supp": 0.05, "split-person": 0},
    "dissimilarity-per-item": {"split-person": 0, "whole-records": 0},
    "seconds": {"split-person": 0.001, "part-supp": 0.002, "part-swap": 0.003, "rand-swap": 0.004},
    "not-hidden": {"part-swap": 0, "rand-swap": 0},
    "still-on-top": {"rand-swap": 0.8, "rand-swap-matched": 0.8},
    "record-loss": {"whole-records": 0.98},
}  # fmt: skip

# What makes each claim wrong everywhere: (metric, method, value), where a function gets data set and value.
CONTRARY = {
    "fewer-itemsets": ("frequent-itemsets", "rand-swap", 100),
    "more-than-suppressing-or-splitting": ("frequent-itemsets", "part-supp", 75),
    "rand-swap-keeps-many": ("frequent-itemsets", "rand-swap", 65),
    "highest-similarity": ("fi-similarity", "rand-swap", 0.95),
    "not-always-most-itemsets": ("frequent-itemsets", "rand-swap", 70),
    "better-on-long-records": ("fi-similarity", "part-swap", lambda dataset, _value: 1.5 - BETTER[dataset]),
    "lower-dissimilarity": ("dissimilarity-printed", "part-swap", 0.02),
    "split-person-zero": ("dissimilarity-per-item", "split-person", 0.001),
    "part-supp-highest": ("dissimilarity-printed", "rand-swap", 0.06),
    "split-person-fastest": ("seconds", "part-supp", lambda _dataset, value: value / 10),
    "part-supp-fast": ("seconds", "part-supp", lambda _dataset, value: value * 1.9),
    "rand-swap-slowest": ("seconds", "rand-swap", lambda _dataset, value: value / 2),
    "faster-than-rand-swap": ("seconds", "part-swap", lambda _dataset, value: value * 2),
    "time-grows-with-length": ("seconds", "*", lambda dataset, value: value / SLOWER[dataset] ** 2),
    "not-for-large-data": ("seconds", "part-swap", lambda dataset, _value: 0.01 if "full" in dataset else 0.001),
    "part-swap-hides": ("not-hidden", "part-swap", 0.01),
    "rand-swap-hides": ("not-hidden", "rand-swap", 0.9),
    "two-figures-are-blind": ("fi-similarity", "whole-records", 0.99),
    "chance-keeps-as-much": ("fi-similarity", "rand-swap-matched", 0.3),
    "chance-hides-little": ("still-on-top", "rand-swap", 0.2),
}


def figures(change=None, seeds=SEEDS):
    """Return figures as claimed, with one of them changed for some of the seeds."""
    metric_changed, method_changed, to = change or ("", "", 0)
    found = Figures()
    for dataset in RECORDS:
        for metric, methods in AS_CLAIMED.items():
            supports = SUPPORTS if metric in ("frequent-itemsets", "fi-similarity") else ("",)
            for method, stated in methods.items():
                value = BETTER[dataset] if stated is None else stated
                value = value * SLOWER[dataset] if metric == "seconds" else value
                for seed in SEEDS:
                    changed = metric == metric_changed and method_changed in (method, "*") and seed in seeds
                    now = (to(dataset, value) if callable(to) else to) if changed else value
                    lines = ("part-swap-paper", "part-swap") if method == "part-swap" else (method,)
                    for line in lines:
                        at = None if line == "original" else seed
                        for support in supports:
                            found.add(Figure(dataset, line, at, support, metric, now))
    return found


def verdicts(found, sizes=SIZES):
    return {v.claim.key: v for v in judge(found, sizes, RECORDS, TITLES)}


def test_every_claim_holds_where_the_figures_are_as_claimed():
    found = verdicts(figures())
    assert {key: v.status for key, v in found.items()} == dict.fromkeys(found, "holds")
    assert {f.status for v in found.values() for f in v.findings} == {"holds"}


def test_there_is_a_contrary_for_every_claim():
    assert [*CONTRARY] == [claim.key for claim in CLAIMS]


@pytest.mark.parametrize("key", CONTRARY)
def test_a_claim_does_not_hold_where_the_figures_say_the_contrary(key):
    verdict = verdicts(figures(CONTRARY[key]))[key]
    assert {finding.status for finding in verdict.findings} == {"does not hold"}
    assert all(case.outcome == "disagrees" for finding in verdict.findings for case in finding.cases)


@pytest.mark.parametrize("key", [key for key in CONTRARY if CONTRARY[key][0] != "seconds"])
def test_a_claim_holds_in_part_where_the_seeds_disagree(key):
    verdict = verdicts(figures(CONTRARY[key], seeds=(1,)))[key]
    assert {case.outcome for finding in verdict.findings for case in finding.cases} == {"mixed"}
    assert verdict.status == "holds in part"
    assert "with some of the seeds only" in verdict.findings[0].evidence


def test_of_seconds_the_shortest_run_of_all_seeds_counts():
    slower = ("seconds", "split-person", lambda _dataset, value: 100 * value)
    assert verdicts(figures(slower, seeds=(0, 2)))["split-person-fastest"].status == "holds"
    assert verdicts(figures(slower))["split-person-fastest"].status == "does not hold"


def test_a_verdict_tells_the_numbers_it_was_decided_from():
    verdict = verdicts(figures(CONTRARY["highest-similarity"]))["highest-similarity"]
    first = verdict.to_dict()["findings"][0]["cases"][0]
    assert first["place"] == "BMS1 at 0.2%"
    expected = {"PartSwap (paper)": 0.6, "RandSwap": 0.95, "PartSupp": 0.4, "SplitPerson": 0.1}
    assert first["numbers"] == pytest.approx(expected)
    said = "0 of 6 cases agree; but BMS1 at 0.2%: PartSwap (paper) 0.6, RandSwap 0.95, PartSupp 0.4, SplitPerson 0.1"
    assert verdict.findings[0].evidence.startswith(said)


def test_our_part_swap_is_judged_apart_from_the_papers():
    found = figures()
    for row in [*found.rows]:
        if row.method == "part-swap-paper" and row.metric == "not-hidden":
            found.add(Figure(row.dataset, row.method, row.seed, "", row.metric, 0.01))
    by_reading = {f.reading: f.status for f in verdicts(found)["part-swap-hides"].findings if f.size == "paper"}
    assert by_reading == {"paper": "does not hold", "ours": "holds"}


def test_without_full_data_what_needs_them_cannot_be_decided():
    found = verdicts(figures(), {"paper": SIZES["paper"], "full": []})
    assert found["not-for-large-data"].status == "cannot be decided"
    assert found["not-for-large-data"].findings[0].evidence == "no figures that decide it"
    assert {f.size for v in found.values() if v.claim.key != "not-for-large-data" for f in v.findings} == {"paper"}


def test_a_figure_that_is_missing_decides_nothing():
    found = Figures(row for row in figures().rows if row.method != "split-person")
    assert verdicts(found)["split-person-zero"].status == "cannot be decided"
    assert verdicts(found)["lower-dissimilarity"].status == "holds"


@pytest.mark.parametrize(
    ("outcomes", "everywhere", "somewhere"),
    [
        (["agrees", "agrees"], "holds", "holds"),
        (["agrees", "disagrees"], "holds in part", "holds"),
        (["mixed", "disagrees"], "holds in part", "holds in part"),
        (["disagrees", "disagrees"], "does not hold", "does not hold"),
        (["agrees", "open"], "holds", "holds"),
        (["open"], "cannot be decided", "cannot be decided"),
        ([], "cannot be decided", "cannot be decided"),
    ],
)
def test_cases_add_up_to_a_status(outcomes, everywhere, somewhere):
    cases = [Case("", outcome, {}) for outcome in outcomes]
    assert status_of(cases) == everywhere
    assert status_of(cases, somewhere=True) == somewhere
