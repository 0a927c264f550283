"""The claims of awad2020, each with the rule that decides it; those that our additional figures show come after them."""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

from setveil.reproduce.disassociation_lines import (
    BMS1,
    DELTAS,
    HP,
    KMEANS,
    LEVELS,
    MEAN_RECORDS,
    PAIRS,
    PRINTED_HP,
    PRINTED_ORIGINAL,
    PRINTED_UGAC,
    PRINTED_WHEEL,
    RANDOM,
    READ_AS,
    READINGS,
    RECORDS,
    RECORDS_OF_SECTION_2,
    RULE_SETS,
    RULES,
    RULES_BELOW,
    SETTINGS,
    TABLE_3,
    TABLE_4,
    TABLE_5,
    TABLE_6,
    TRIPLES,
    UGAC,
    UGAC_FIGHTING,
    UGAC_SAFE,
    WHEEL,
    WHEEL_SAFE,
    at,
)
from setveil.reproduce.figures import ORIGINAL
from setveil.reproduce.judging import OURS, Case, Claim, decide, outcome_of, rises

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from setveil.reproduce.figures import Figures
    from setveil.reproduce.judging import Values, Verdict, View

SMALL_DEVIATION = 0.01
"""Of the mean; the largest that is printed is 0.7 %."""
NEAR, FAR = 0.1, 0.25
"""How far a figure may be from what is printed: a tenth, and a quarter where the paper leaves out what it depends on."""
PAIR_SHIFT, TRIPLE_SHIFT = 6, 3
"""The largest shifts of ranks that are printed: 9 to 15, and 5 to 8."""
PRESERVED = 0.25
SIZE_ROOM = 0.05
LEAST, MOST = 0.5, 2.0
WHOLE = "itemsets"
"""Written without decimals."""
PAIR_NAMES = tuple(f"pair {place}" for place in range(1, PAIRS + 1))
TRIPLE_NAMES = tuple(f"triple {place}" for place in range(1, TRIPLES + 1))
RULE_NAMES = tuple(f"rule {place}" for place in range(1, RULES + 1))


def judge(
    figures: Figures, sizes: Mapping[str, Sequence[str]], records: Mapping[str, int], titles: Mapping[str, str]
) -> list[Verdict]:
    """Decide every claim."""
    return [decide(claim, figures, sizes, records, titles, READINGS) for claim in CLAIMS]


# -- rules ------------------------------------------------------------------------------------------------------------------------


def records_are(view: View, *, stated: int) -> list[Case]:
    """Compare the number of records."""
    found = view.case(BMS1, "records", [ORIGINAL], lambda v: v[ORIGINAL] == stated, unit=WHOLE)
    return [Case(found.place, found.outcome, {"records": found.numbers["original"], "as stated": float(stated)}, WHOLE)]


def counts_of_original(view: View) -> list[Case]:
    """Compare the counts of each pair and triple in the original with those printed."""
    both = [PRINTED_ORIGINAL, ORIGINAL]
    return [
        view.case(BMS1, "count", both, lambda v: v[PRINTED_ORIGINAL] == v[ORIGINAL], support=name, unit=WHOLE)
        for name in (*PAIR_NAMES, *TRIPLE_NAMES)
    ]


def errors(view: View, *, whose: str, one: str, other: str) -> list[Case]:
    """Compare errors of two ways of clustering, for each rule set and reading of supports."""
    cases = []
    for reading in READ_AS:
        beside = (PRINTED_UGAC, PRINTED_HP) if other == HP else ()
        for kind in RULE_SETS:
            found = view.case(
                BMS1,
                f"rae-{whose}-{reading}",
                [one, other],
                lambda v: v[one] < v[other],
                support=kind,
                unit=WHOLE if whose == "ga" else "",
                beside=beside,
            )
            cases.append(Case(f"{kind}, {reading}", found.outcome, found.numbers, found.unit))
    return cases


def errors_as_printed(view: View) -> list[Case]:
    """Compare each cell of Table 3 with random rules and supports read inside chunks."""
    cases = []
    for method, printed in ((HP, PRINTED_HP), (UGAC, PRINTED_UGAC)):
        for whose, value in TABLE_3[printed].items():
            found = view.case(
                BMS1,
                f"rae-{whose}-inside",
                [method],
                partial(_within, method=method, printed=value, room=FAR),
                support=RANDOM,
                unit=WHOLE,
                beside=[printed],
            )
            cases.append(Case(f"{view.title(method)}, {whose.upper()}", found.outcome, found.numbers, WHOLE))
    return cases


def alpha(view: View, *, metric: str, test: Callable[[float], bool]) -> list[Case]:
    """Look at the least or the largest confidence of a rule, for each rule set and reading of supports."""
    cases = []
    for reading in READ_AS:
        for kind in RULE_SETS:
            found = view.case(
                BMS1,
                f"{metric}-{reading}",
                [HP, UGAC],
                lambda v: all(test(value) for value in v.values()),
                support=kind,
            )
            cases.append(Case(f"{kind}, {reading}", found.outcome, found.numbers))
    return cases


def same_range(view: View) -> list[Case]:
    """Compare the standard deviation of distances with their mean."""
    cases = []
    for setting in SETTINGS:
        deviation = view.mean(BMS1, WHEEL, "ted-deviation", setting)
        mean = view.mean(BMS1, WHEEL, "ted", setting)
        values = {"deviation": deviation, "mean": mean}
        outcome = outcome_of([values], lambda v: v["deviation"] <= SMALL_DEVIATION * v["mean"])
        printed = {"deviation (as printed)": view.mean(BMS1, PRINTED_WHEEL, "ted-deviation", setting)}
        cases.append(Case(setting, outcome, values | printed, WHOLE))
    return cases


def rises_between(view: View, steps: Sequence[tuple[str, dict[str, str]]], *, metric: str) -> list[Case]:
    """Tell whether a figure rises from the first setting to the second, seed by seed; what is printed stands beside."""
    cases = []
    for place, settings in steps:
        low, high = settings
        by_seed = [
            {name: view.value(BMS1, WHEEL, metric, seed, setting) for name, setting in settings.items()}
            for seed in view.figures.seeds()
        ]
        numbers = {name: view.mean(BMS1, WHEEL, metric, setting) for name, setting in settings.items()}
        for name, setting in settings.items():
            printed = view.mean(BMS1, PRINTED_WHEEL, metric, setting)
            if printed is not None:
                numbers[f"{name} (as printed)"] = printed
        cases.append(Case(place, outcome_of(by_seed, rises(low, high)), numbers, WHOLE))
    return cases


def _between_levels(one: int, other: int) -> list[tuple[str, dict[str, str]]]:
    return [(f"δ={delta}", {f"k=m={k}": at(k, delta) for k in (one, other)}) for delta in DELTAS]


LOWER_PRIVACY, HIGHER_PRIVACY = _between_levels(LEVELS[-1], LEVELS[0]), _between_levels(LEVELS[0], LEVELS[-1])
LARGER_DELTA = [
    (f"k=m={k}, δ={low} and {high}", {f"δ={delta}": at(k, delta) for delta in (low, high)})
    for k in LEVELS
    for low, high in pairwise(DELTAS)
]


def near_printed(view: View, *, metric: str, printed: Mapping[str, float], room: float) -> list[Case]:
    """Compare figures with those printed."""
    return [
        view.case(
            BMS1,
            metric,
            [WHEEL],
            partial(_within, method=WHEEL, printed=value, room=room),
            support=setting,
            unit=WHOLE,
            beside=[PRINTED_WHEEL],
        )
        for setting, value in printed.items()
    ]


def ranks(view: View, *, names: Sequence[str], test: Callable[[float, int], bool]) -> list[Case]:
    """Look at the rank of each set after re-association; its rank before is its place."""
    return [
        view.case(
            BMS1,
            "rank",
            [WHEEL],
            lambda v, place=place: test(v[WHEEL], place),  # type: ignore[misc]
            support=name,
            unit=WHOLE,
            beside=[ORIGINAL, PRINTED_WHEEL],
        )
        for place, name in enumerate(names, start=1)
    ]


def preserved(view: View) -> list[Case]:
    """Compare the support of each rule of Figure 6 before and after."""
    both = [ORIGINAL, WHEEL]
    return [
        view.case(BMS1, "support", both, _is_preserved, support=name, unit="share")
        for name in RULE_NAMES
        if view.mean(BMS1, ORIGINAL, "support", name) is not None
    ]


def _is_preserved(values: Values) -> bool:
    return abs(values[WHEEL] - values[ORIGINAL]) <= PRESERVED * values[ORIGINAL]


def rules_below(view: View) -> list[Case]:
    """Count the rules of Figure 6 that are below the threshold after re-association."""

    def test(values: Values) -> bool:
        return LEAST * RULES_BELOW <= values[WHEEL] <= MOST * RULES_BELOW

    return [view.case(BMS1, "rules-below", [WHEEL], test, unit=WHOLE, beside=[PRINTED_WHEEL])]


def by_setting(
    view: View, *, metric: str, methods: Sequence[str], test: Callable[[Values], bool], settings: Sequence[str]
) -> list[Case]:
    """Compare one metric at each setting."""
    return [view.case(BMS1, metric, methods, test, support=setting, unit=WHOLE) for setting in settings]


def two_metrics(view: View, *, metrics: tuple[str, str], names: tuple[str, str]) -> list[Case]:
    """Tell whether the first metric is below the second, at the settings at which sets were compared with each other."""
    cases = []
    for setting in (at(k, DELTAS[0]) for k in LEVELS):
        values = {name: view.mean(BMS1, WHEEL, metric, setting) for metric, name in zip(metrics, names, strict=True)}
        outcome = outcome_of([values], lambda v: v[names[0]] < v[names[1]])
        cases.append(Case(setting, outcome, values, WHOLE))
    return cases


def _within(values: Values, *, method: str, printed: float, room: float) -> bool:
    return abs(values[method] - printed) <= room * printed


def _counts(names: Sequence[str], table: Sequence[tuple[int, int, int]]) -> dict[str, float]:
    return {name: float(after) for name, (_before, after, _rank) in zip(names, table, strict=True)}


# -- claims -----------------------------------------------------------------------------------------------------------------------

DATA, TABLE_3_TOPIC, TED_TOPIC, BESIDE = "The data", "Table 3", "Table 4 and Figure 5", "beside"

_STATED: tuple[tuple[str, str, str, str, str, Callable[[View], list[Case]], bool], ...] = (
    ("records-of-section-5", "5", DATA, "BMS1 has 59,602 records.", "The number is equal.", partial(records_are, stated=RECORDS), False),
    ("records-of-section-2", "2.6", DATA, "The original set has 149,639 records.",
     "The number is equal. (It is that of the items of all records.)", partial(records_are, stated=RECORDS_OF_SECTION_2), False),
    ("counts-before", "5.2.1, Tables 5 and 6", DATA,
     "The most frequent 17 pairs and 6 triples of the original have the counts of Tables 5 and 6.",
     "Each count is equal.", counts_of_original, False),
    ("ugac-keeps-rules", "2.6, Table 3", TABLE_3_TOPIC,
     "UGAC's relative error for the utility rules (UR) is below that of horizontal partitioning.",
     "RAE of UGAC < RAE of HP, for each rule set and each reading of supports.", partial(errors, whose="ur", one=UGAC, other=HP), True),
    ("ugac-keeps-others", "2.6, Table 3", TABLE_3_TOPIC,
     "Other associations (GA) are not deteriorated: UGAC's error for all couples is below that of horizontal partitioning.",
     "RAE of UGAC < RAE of HP, for each rule set and each reading of supports.", partial(errors, whose="ga", one=UGAC, other=HP), True),
    ("table-3", "2.6, Table 3", TABLE_3_TOPIC, "The errors are those of Table 3.",
     "Each differs by at most a quarter from what is printed, with random rules and supports read inside chunks.", errors_as_printed, True),
    ("ugac-and-kmeans", "6", TABLE_3_TOPIC, "UGAC loses less of the utility rules than k-means.",
     "RAE of UGAC for UR < that of k-means, for each rule set and each reading of supports.",
     partial(errors, whose="ur", one=UGAC, other=KMEANS), True),
    ("others-and-kmeans", "6", TABLE_3_TOPIC, "UGAC does so without losing more of other associations.",
     "RAE of UGAC for GA < that of k-means, for each rule set and each reading of supports.",
     partial(errors, whose="ga", one=UGAC, other=KMEANS), True),
    ("alpha-from-below", "2.2, equation 2", TABLE_3_TOPIC, "The confidence α of a rule is at least 1/δ to the number of its items.",
     "The least α of all rules, times δ to the number of items, is at least 1, with HP and UGAC, for each rule set and each reading.",
     partial(alpha, metric="alpha-least", test=lambda value: value >= 1), True),
    ("alpha-from-above", "2.2, equation 2", TABLE_3_TOPIC, "The confidence α of a rule is at most 1.",
     "The largest α of all rules is at most 1, with HP and UGAC, for each rule set and reading of supports.",
     partial(alpha, metric="alpha-most", test=lambda value: value <= 1), True),
    ("same-range", "5.1.1, Table 4", TED_TOPIC,
     "Data sets made with the same k, m and δ are in the same range of distance from the original.",
     "The standard deviation is at most 1 % of the mean, at each setting.", same_range, True),
    ("higher-privacy-nearer", "5.1.2, Figure 5", TED_TOPIC,
     "Higher privacy (k = m = 4) gives data sets nearer to the original than lower (k = m = 2).",
     "TED at k = m = 4 < TED at k = m = 2, for each δ.", partial(rises_between, steps=LOWER_PRIVACY, metric="ted"), True),
    ("smaller-delta-nearer", "5.1.2, Figure 5", TED_TOPIC, "Smaller δ gives data sets nearer to the original.",
     "TED rises from δ = 20 to 40 and from 40 to 60, for each k. (As printed it falls from 20 to 40 at k = 4.)",
     partial(rises_between, steps=LARGER_DELTA, metric="ted"), True),
    ("table-4", "5.1, Table 4", TED_TOPIC, "The distances are those of Table 4.", "Each differs by at most a tenth from what is printed.",
     partial(near_printed, metric="ted", printed={name: float(mean) for name, (mean, _) in TABLE_4.items()}, room=NEAR), True),
    ("number-of-records", "5.2", TED_TOPIC, "Re-associated data have 53,555 records on average.",
     "The mean over all settings is within 5 %.",
     partial(near_printed, metric="mean-records", printed={"": float(MEAN_RECORDS)}, room=SIZE_ROOM), True),
    ("pairs-stay", "5.2.1, Table 5", "Table 5", "The 17 most frequent pairs are still the 17 most frequent.",
     "By the mean count over all settings, each ranks among the first 17.",
     partial(ranks, names=PAIR_NAMES, test=lambda rank, _place: rank <= PAIRS), True),
    ("pair-ranks", "5.2.1, Table 5", "Table 5", "Their ranks change mildly.",
     "No rank differs by more than 6, the largest shift that is printed.",
     partial(ranks, names=PAIR_NAMES, test=lambda rank, place: abs(rank - place) <= PAIR_SHIFT), True),
    ("table-5", "5.2.1, Table 5", "Table 5", "The counts after re-association are those of Table 5.",
     "Each differs by at most a tenth from what is printed.",
     partial(near_printed, metric="count", printed=_counts(PAIR_NAMES, TABLE_5), room=NEAR), True),
    ("triple-ranks", "5.2.1, Table 6", "Table 6", "The 6 most frequent triples are found in almost the same ranks.",
     "No rank differs by more than 3, the largest shift that is printed.",
     partial(ranks, names=TRIPLE_NAMES, test=lambda rank, place: abs(rank - place) <= TRIPLE_SHIFT), True),
    ("table-6", "5.2.1, Table 6", "Table 6", "The counts after re-association are those of Table 6.",
     "Each differs by at most a tenth from what is printed.",
     partial(near_printed, metric="count", printed=_counts(TRIPLE_NAMES, TABLE_6), room=NEAR), True),
    ("rules-preserved", "5.2.2, Figure 6", "Figure 6", "The support of the 50 most frequent association rules is well preserved.",
     "The support of each differs by at most a quarter from what it was.", preserved, True),
    ("rules-below", "5.2.2, Figure 6", "Figure 6", "5 of them fall below the threshold.",
     "Between half and twice as many do.", rules_below, True),
    ("km-anonymous", "2.1 and 6", BESIDE, "Disassociation guarantees k^m-anonymity.",
     "Our check finds nothing that breaks it, at each setting.",
     partial(by_setting, metric="violations", methods=[WHEEL], test=lambda v: v[WHEEL] == 0, settings=SETTINGS), True),
    ("records-are-rare-still", OURS, BESIDE, "Re-associated records are not k^m-anonymous by themselves.",
     "Some set of at most m items is in fewer than k of them, at each setting.",
     partial(by_setting, metric="rare-itemsets", methods=[WHEEL], test=lambda v: v[WHEEL] > 0, settings=SETTINGS), True),
    ("fewer-rare-pairs", OURS, BESIDE, "They have fewer rare pairs than the original.",
     "Fewer pairs are in fewer than k records than in the original, at each setting.",
     partial(by_setting, metric="rare-pairs", methods=[ORIGINAL, WHEEL], test=lambda v: v[WHEEL] < v[ORIGINAL], settings=SETTINGS), True),
    ("more-left-out", OURS, BESIDE, "Higher privacy leaves out more items, which no distance can be below.",
     "More items are left out at k = m = 4 than at k = m = 2, for each δ.",
     partial(rises_between, steps=HIGHER_PRIVACY, metric="items-left-out"), True),
    ("price-of-safety", OURS, BESIDE, "Safe clusters cost distance.", "TED is larger with safe clusters, at each setting.",
     partial(by_setting, metric="ted", methods=[WHEEL, WHEEL_SAFE], test=lambda v: v[WHEEL] < v[WHEEL_SAFE], settings=SETTINGS), False),
    ("near-each-other", OURS, BESIDE, "Re-associated data sets are nearer to each other than to the original.",
     "The mean distance between two of them is below that to the original, at δ = 20.",
     partial(two_metrics, metrics=("ted-among", "ted-mean"), names=("to each other", "to the original")), True),
    ("centroid-nearer", OURS, BESIDE, "The one that is nearest to the others is nearer to the original than the average one.",
     "Its distance is below the mean, at δ = 20.",
     partial(two_metrics, metrics=("ted-of-centroid", "ted-mean"), names=("centroid", "mean")), True),
    ("even-parts", OURS, BESIDE, "Ants keep rules better where large clusters are cut by the rules of their records, not as records come.",
     "RAE of UGAC, safe, for UR < that of UGAC, for each rule set and each reading of supports.",
     partial(errors, whose="ur", one=UGAC_FIGHTING, other=UGAC), False),
    ("stable-ants", OURS, BESIDE, "Ants that do not fight keep rules better.",
     "RAE of UGAC, safe and stable, for UR < that of UGAC, safe, for each rule set and each reading of supports.",
     partial(errors, whose="ur", one=UGAC_SAFE, other=UGAC_FIGHTING), False),
)  # fmt: skip
CLAIMS = tuple(
    Claim(key, section, topic, statement, rule, cases, sizes=("paper",), by_reading=by_reading)
    for key, section, topic, statement, rule, cases, by_reading in _STATED
)
