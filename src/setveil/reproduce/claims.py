"""The claims of gunawan2019, section 5, each with the rule that decides it; and three of ours, which our additional figures show."""

from __future__ import annotations

from itertools import pairwise
from math import log
from typing import TYPE_CHECKING

from setveil.reproduce.figures import ORIGINAL
from setveil.reproduce.judging import OURS, Case, Claim, decide, in_time, outcome_of, rises

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from setveil.reproduce.figures import Figures
    from setveil.reproduce.judging import Values, Verdict, View

PART_SWAP = "part-swap"
READINGS = {"paper": {PART_SWAP: "part-swap-paper"}, "ours": {PART_SWAP: "part-swap"}}
"""PartSwap is run twice: the paper's text as it stands, and our defaults."""
OTHERS = ("rand-swap", "part-supp", "split-person")
ALL = (PART_SWAP, *OTHERS)
LOSSY = ("part-supp", "split-person")
HIDING, BESIDE = "hiding", "beside"
"""What claims are about that stand beside no figure of the paper: whether it hides, and what our additional figures show."""
MATCHED, WHOLE_RECORDS = "rand-swap-matched", "whole-records"

CONSIDERABLY = 1.1
"""A tenth more is considerably more."""
STEEP = 1.5
"""An exponent of growth above this is nearer to a square than to a line."""
MOSTLY_FALSE = 0.9
"""A record loss above this means that hardly anything of a record is left."""


def judge(
    figures: Figures, sizes: Mapping[str, Sequence[str]], records: Mapping[str, int], titles: Mapping[str, str]
) -> list[Verdict]:
    """Decide every claim."""
    return [decide(claim, figures, sizes, records, titles, READINGS) for claim in CLAIMS]


def _number_below_original(view: View) -> list[Case]:
    def test(v: Values) -> bool:
        return all(v[method] < v[ORIGINAL] for method in ALL)

    return view.by_support("frequent-itemsets", (ORIGINAL, *ALL), test, unit="itemsets")


def _number_of_part_swap(view: View) -> list[Case]:
    def test(v: Values) -> bool:
        return all(v[PART_SWAP] >= CONSIDERABLY * v[method] and v[PART_SWAP] > v[method] for method in LOSSY)

    return view.by_support("frequent-itemsets", (PART_SWAP, *LOSSY), test, unit="itemsets")


def _number_of_rand_swap(view: View) -> list[Case]:
    def test(v: Values) -> bool:
        return all(v["rand-swap"] >= CONSIDERABLY * v[method] and v["rand-swap"] > v[method] for method in LOSSY)

    return view.by_support("frequent-itemsets", ("rand-swap", *LOSSY), test, unit="itemsets")


def _similarity_highest(view: View) -> list[Case]:
    def test(v: Values) -> bool:
        return all(v[PART_SWAP] > v[method] for method in OTHERS)

    return view.by_support("fi-similarity", ALL, test)


def _number_not_highest(view: View) -> list[Case]:
    def test(v: Values) -> bool:
        return any(v[method] > v[PART_SWAP] for method in OTHERS)

    return view.by_support("frequent-itemsets", ALL, test, unit="itemsets")


def _better_on_longer_records(view: View) -> list[Case]:
    """Two readings: how similar the itemsets are, and how far ahead of the next best method; each rises along the data sets."""
    cases = []
    for what, score in (("similarity", _similarity), ("lead", _lead)):
        for one, other in pairwise(view.datasets):
            by_seed = [{d: score(view, d, seed) for d in (one, other)} for seed in view.figures.seeds()]
            means = {d: _mean([values[d] for values in by_seed]) for d in (one, other)}
            cases.append(Case(f"{what}, {one} to {other}", outcome_of(by_seed, rises(one, other)), means))
    return cases


def _similarity(view: View, dataset: str, seed: int, method: str = PART_SWAP) -> float | None:
    """Return the mean similarity over the supports, which are not the same for all data sets."""
    supports = view.figures.supports(dataset)
    return _mean([view.value(dataset, method, "fi-similarity", seed, support) for support in supports])


def _lead(view: View, dataset: str, seed: int) -> float | None:
    scores = [_similarity(view, dataset, seed, method) for method in ALL]
    known = [score for score in scores if score is not None]
    return known[0] - max(known[1:]) if len(known) == len(scores) else None


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known and len(known) == len(values) else None


def _diss_low(view: View) -> list[Case]:
    def test(v: Values) -> bool:
        return v[PART_SWAP] < min(v["rand-swap"], v["part-supp"])

    return view.by_dataset("dissimilarity-printed", (PART_SWAP, "rand-swap", "part-supp"), test, unit="share")


def _diss_zero(view: View) -> list[Case]:
    return view.by_dataset("dissimilarity-per-item", ("split-person",), lambda v: v["split-person"] == 0, unit="share")


def _diss_highest(view: View) -> list[Case]:
    def test(v: Values) -> bool:
        return all(v["part-supp"] > value for method, value in v.items() if method != "part-supp")

    return view.by_dataset("dissimilarity-printed", ALL, test, unit="share")


def _time_split_person(view: View) -> list[Case]:
    return in_time(view, ALL, lambda v: min(v, key=v.__getitem__) == "split-person")


def _time_part_supp(view: View) -> list[Case]:
    def test(v: Values) -> bool:
        return v["part-supp"] < min(v[PART_SWAP], v["rand-swap"])

    return in_time(view, ("part-supp", PART_SWAP, "rand-swap"), test)


def _time_rand_swap(view: View) -> list[Case]:
    return in_time(view, ALL, lambda v: max(v, key=v.__getitem__) == "rand-swap")


def _time_part_swap(view: View) -> list[Case]:
    methods = (PART_SWAP, "rand-swap")
    return in_time(view, methods, lambda v: v[PART_SWAP] < v["rand-swap"])


def _time_by_dataset(view: View) -> list[Case]:
    cases = []
    for method in ALL:
        for one, other in pairwise(view.datasets):
            seconds = {dataset: view.shortest(dataset, method) for dataset in (one, other)}
            cases.append(Case(view.title(method), outcome_of([seconds], rises(one, other)), seconds, "s"))
    return cases


def _growth(view: View) -> list[Case]:
    """Compare the seconds of a data set in full with those of its part, and give the exponent of the growth."""
    cases = []
    for part in view.sizes.get("paper", ()):
        full = f"{part} full"
        if full not in view.datasets or view.records[full] <= view.records[part]:
            continue
        more_records = log(view.records[full] / view.records[part])
        before, after = view.shortest(part, PART_SWAP), view.shortest(full, PART_SWAP)
        exponent = log(after / before) / more_records if before and after else None
        numbers = {
            f"ms with {view.records[part]:,} records": 1000 * before if before else None,
            f"ms with {view.records[full]:,} records": 1000 * after if after else None,
            "exponent": exponent,
        }
        cases.append(Case(part, outcome_of([{"exponent": exponent}], lambda v: v["exponent"] > STEEP), numbers))
    return cases


def _part_swap_hides(view: View) -> list[Case]:
    return view.by_dataset("not-hidden", (PART_SWAP,), lambda v: v[PART_SWAP] == 0, unit="share")


def _rand_swap_hides(view: View) -> list[Case]:
    return view.by_dataset("not-hidden", ("rand-swap",), lambda v: v["rand-swap"] == 0, unit="share")


def _blind_metrics(view: View) -> list[Case]:
    """Look at whole records permuted: the paper's two figures, and how false the records are."""
    cases = []
    for dataset in view.datasets:
        supports = view.figures.supports(dataset)
        by_seed = []
        for seed in view.figures.seeds():
            similar = [view.value(dataset, WHOLE_RECORDS, "fi-similarity", seed, support) for support in supports]
            known = [value for value in similar if value is not None]
            by_seed.append({
                "least similarity": min(known) if known else None,
                "dissimilarity": view.value(dataset, WHOLE_RECORDS, "dissimilarity-per-item", seed),
                "record loss": view.value(dataset, WHOLE_RECORDS, "record-loss", seed),
            })  # fmt: skip
        numbers = {name: _mean([values[name] for values in by_seed]) for name in by_seed[0]} if by_seed else {}

        def test(v: Values) -> bool:
            return v["least similarity"] == 1 and v["dissimilarity"] == 0 and v["record loss"] > MOSTLY_FALSE

        cases.append(Case(dataset, outcome_of(by_seed, test), numbers))
    return cases


def _chance_does_as_well(view: View) -> list[Case]:
    methods = (PART_SWAP, MATCHED)
    return view.by_support("fi-similarity", methods, lambda v: v[MATCHED] >= v[PART_SWAP])


def _still_on_top(view: View) -> list[Case]:
    methods = ("rand-swap", MATCHED)
    return view.by_dataset("still-on-top", methods, lambda v: min(v.values()) > 0.5, unit="share")


CLAIMS: tuple[Claim, ...] = (
    Claim(
        "fewer-itemsets",
        "5.2, Figure 3",
        "Figure 3",
        "Every anonymized data set has fewer frequent itemsets than the original.",
        "PartSwap, RandSwap, PartSupp and SplitPerson all have fewer than the original, at each support of each data set.",
        _number_below_original,
    ),
    Claim(
        "more-than-suppressing-or-splitting",
        "5.2, Figure 3",
        "Figure 3",
        "PartSwap keeps considerably more frequent itemsets than PartSupp and SplitPerson.",
        "PartSwap has at least a tenth more than each of the two, at each support of each data set.",
        _number_of_part_swap,
    ),
    Claim(
        "rand-swap-keeps-many",
        "5.2, Figure 3",
        "Figure 3",
        "RandSwap too keeps significantly more of them, since it loses no items.",
        "RandSwap has at least a tenth more than PartSupp and SplitPerson, at each support of each data set.",
        _number_of_rand_swap,
        by_reading=False,
    ),
    Claim(
        "highest-similarity",
        "5.2, Figure 4",
        "Figure 4",
        "PartSwap's frequent itemsets are always the most similar to the original's.",
        "PartSwap's similarity is above that of RandSwap, PartSupp and SplitPerson, at each support of each data set.",
        _similarity_highest,
    ),
    Claim(
        "not-always-most-itemsets",
        "5.2, Figure 4",
        "Figure 4",
        "PartSwap does not always have the most frequent itemsets of all methods.",
        "At some support of some data set another method of the paper has more than PartSwap.",
        _number_not_highest,
        somewhere=True,
    ),
    Claim(
        "better-on-long-records",
        "5.2",
        "Figure 4",
        "PartSwap works very well on data with many distinct items and long records.",
        "From BMS1 to BMS2 to WD items are more and records longer: so should rise PartSwap's similarity (mean over the supports), or at"
        " least its lead over the best other method. The supports of WD are others, and our WD is generated.",
        _better_on_longer_records,
        sizes=("paper",),
    ),
    Claim(
        "lower-dissimilarity",
        "5.3, Figure 5",
        "Figure 5",
        "PartSwap's dissimilarity is lower than that of RandSwap and of PartSupp.",
        "Diss as printed is below both, on each data set.",
        _diss_low,
    ),
    Claim(
        "split-person-zero",
        "5.3, Figure 5",
        "Figure 5",
        "SplitPerson's dissimilarity is always zero.",
        "Diss, item by item, is exactly 0 on each data set.",
        _diss_zero,
        by_reading=False,
    ),
    Claim(
        "part-supp-highest",
        "5.3, Figure 5",
        "Figure 5",
        "PartSupp's dissimilarity is always the highest.",
        "Diss as printed is above that of the three others, on each data set.",
        _diss_highest,
    ),
    Claim(
        "split-person-fastest",
        "5.4, Figure 6",
        "Figure 6",
        "SplitPerson takes the least time.",
        "Its shortest run is the shortest of the four methods, on each data set.",
        _time_split_person,
    ),
    Claim(
        "part-supp-fast",
        "5.4, Figure 6",
        "Figure 6",
        "PartSupp takes little time.",
        "Its shortest run is shorter than those of PartSwap and of RandSwap, on each data set.",
        _time_part_supp,
    ),
    Claim(
        "rand-swap-slowest",
        "5.4, Figure 6",
        "Figure 6",
        "RandSwap takes the longest, for the random numbers it has to draw.",
        "Its shortest run is the longest of the four methods, on each data set.",
        _time_rand_swap,
    ),
    Claim(
        "faster-than-rand-swap",
        "5.4, 6, Figure 6",
        "Figure 6",
        "PartSwap is faster than RandSwap.",
        "Its shortest run is shorter than RandSwap's, on each data set.",
        _time_part_swap,
    ),
    Claim(
        "time-grows-with-length",
        "5.4, Figure 6",
        "Figure 6",
        "All methods take longer from BMS1 to BMS2, and longest on WD, whose records are fewest and longest.",
        "The seconds of the shortest runs rise from BMS1 to BMS2 and from there to the generated WD, for each of the four methods.",
        _time_by_dataset,
        sizes=("paper",),
    ),
    Claim(
        "not-for-large-data",
        "5.5",
        "Figure 6",
        "PartSwap compares all pairs of records, so that a data set should not be too large.",
        "From 5,000 records to the full data set, seconds grow by an exponent of the number of records above 1.5 (2 is all pairs).",
        _growth,
        sizes=("full",),
    ),
    Claim(
        "part-swap-hides",
        "6",
        HIDING,
        "PartSwap hides what every person leans to.",
        "Of no record with a tendency an item of that category is left in its row (Definition 4), on each data set.",
        _part_swap_hides,
    ),
    Claim(
        "rand-swap-hides",
        "5.4",
        HIDING,
        "RandSwap too hides it successfully, if slowly.",
        "The same for RandSwap.",
        _rand_swap_hides,
        by_reading=False,
    ),
    Claim(
        "two-figures-are-blind",
        OURS,
        BESIDE,
        "Similarity of frequent itemsets and dissimilarity cannot tell a random permutation of whole records from perfection.",
        "With whole records permuted the similarity is 1 at each support and Diss is 0, while the record loss is above 0.9.",
        _blind_metrics,
        by_reading=False,
    ),
    Claim(
        "chance-keeps-as-much",
        OURS,
        BESIDE,
        "Moving as many items at random keeps frequent itemsets as well as PartSwap does.",
        "The similarity of RandSwap matched is not below PartSwap's, at each support of each data set.",
        _chance_does_as_well,
    ),
    Claim(
        "chance-hides-little",
        OURS,
        BESIDE,
        "Moving items at random leaves most tendencies where they were.",
        "More than half of the records with a tendency still have it on top after RandSwap, plain and matched, on each data set.",
        _still_on_top,
        by_reading=False,
    ),
)
