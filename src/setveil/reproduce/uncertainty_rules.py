"""The rules that decide the claims of jia2014 on loss, distribution and rules: each looks at figures and returns cases.

Where the paper says *about*, *most* or *dramatically*, a constant says what we take it for, and what the paper prints stands beside ours.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from setveil.reproduce.figures import ORIGINAL
from setveil.reproduce.judging import Case, outcome_of
from setveil.reproduce.uncertainty_lines import (
    DIST,
    GLOBAL,
    HIGH,
    LOW,
    MINE,
    POS,
    RHOS,
    TD,
    WV,
    at_rho,
)
from setveil.reproduce.uncertainty_printed import MINE_LOSS, RULES_AT_09, TABLE_2

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from setveil.reproduce.judging import Values, View

FOUR = (MINE, DIST, GLOBAL, TD)
PAIR = (MINE, DIST)

ABOUT = 0.02
"""A loss is about as printed within two points."""
MORE, MOST_MORE, FAR = 0.05, 0.20, 0.75
"""On average 10 % more: from 5 to 20 points. The worst case is 75 %, within FAR_ROOM."""
FAR_ROOM = 0.10
TWO_HOURS = 7200
ORDERS = 100
"""Two orders of magnitude, at least."""
NEGLIGIBLE, MOST, REACHED = 0.05, 0.5, 0.8
DROPS = 0.5
"""To drop dramatically is to fall below half of the highest value."""
FEW_RULES = (2, 8)
"""About four rules: between half and twice that."""


def between(
    view: View,
    name: str,
    metric: str,
    method: str,
    settings: Sequence[str],
    test: Callable[[Values], bool],
    *,
    place: str,
    unit: str = "",
) -> Case:
    """Compare one metric of a method at several settings, seed by seed."""
    by_seed = [{at: view.value(name, method, metric, seed, at) for at in settings} for seed in view.figures.seeds()]
    means = {at: view.mean(name, method, metric, at) for at in settings}
    return Case(place, outcome_of(by_seed, test), means, unit)


def shortest(
    view: View, name: str, metric: str, methods: Sequence[str], at: str, test: Callable[[Values], bool]
) -> Case:
    """Compare the shortest of all runs."""
    found = {method: view.figures.spread(name, view.line(method), metric, at).low for method in methods}
    named = {view.title(method): value for method, value in found.items()}
    return Case(f"{name} at {at}" if at else name, outcome_of([found], test), named, "s")


def at_both(
    view: View, metric: str, methods: Sequence[str], test: Callable[[Values], bool], *, unit: str = ""
) -> list[Case]:
    """Compare on every data set at both ρ."""
    return [
        view.case(name, metric, methods, test, support=at_rho(rho), unit=unit)
        for name in view.datasets
        for rho in (LOW, HIGH)
    ]


def counts(view: View) -> list[Case]:
    """Compare the counts of Table 2."""
    cases = []
    for name in view.datasets:
        for metric, printed in zip(("records", "items", "distinct-items"), TABLE_2[name], strict=True):
            found = view.value(name, ORIGINAL, metric, 0)
            outcome = outcome_of([{"ours": found}], lambda v, printed=printed: v["ours"] == printed)  # type: ignore[misc]
            numbers = {"as printed": float(printed), "ours": found}
            cases.append(Case(f"{metric.replace('-', ' ')} of {name}", outcome, numbers, "itemsets"))
    return cases


def falls_with_rho(view: View, metric: str, unit: str = "") -> list[Case]:
    """Look whether a figure on WV falls from each ρ to the next."""
    cases = []
    for method in PAIR:
        for low, high in pairwise(RHOS):
            one, other = at_rho(low), at_rho(high)

            def test(v: Values, one: str = one, other: str = other) -> bool:
                return v[other] < v[one]

            place = f"{view.title(method)}, {WV}"
            cases.append(between(view, WV, metric, method, (one, other), test, place=place, unit=unit))
    return cases if WV in view.datasets else []


def rises_then_drops(view: View) -> list[Case]:
    """Look whether the similarity of rules on WV is highest at a ρ between the ends, and far lower at the last."""
    settings = [at_rho(rho) for rho in RHOS]

    def test(v: Values) -> bool:
        inner = max(v[at] for at in settings[1:-1])
        return inner > v[settings[0]] and v[settings[-1]] < DROPS * inner

    return [
        between(view, WV, "rule-similarity", method, settings, test, place=f"{view.title(method)}, {WV}")
        for method in PAIR
        if WV in view.datasets
    ]


def rules_at_the_end(view: View) -> list[Case]:
    """Compare the numbers of rules of WV at ρ = 0.9 with those that are told."""
    return _rules_before_after(view, WV, "", PAIR, RULES_AT_09)


def rules_at_the_end_cut(view: View) -> list[Case]:
    """Compare those of POS, cut to 5 items, before and after Dist."""
    return _rules_before_after(view, POS, "cut-", (DIST,), (1, 1))


def _rules_before_after(
    view: View, name: str, prefix: str, methods: Sequence[str], told: tuple[int, int]
) -> list[Case]:
    cases = []
    at = at_rho(RHOS[-1])
    for method in methods if name in view.datasets else ():
        metrics = {"before": f"{prefix}rules-before", "after": f"{prefix}rules-after"}
        by_seed = [
            {what: view.value(name, method, metric, seed, at) for what, metric in metrics.items()}
            for seed in view.figures.seeds()
        ]
        means = {what: view.mean(name, method, metric, at) for what, metric in metrics.items()}
        outcome = outcome_of(by_seed, lambda v: (v["before"], v["after"]) == told)
        cases.append(Case(f"{view.title(method)}, {name}", outcome, means, "itemsets"))
    return cases


def mine_least(view: View) -> list[Case]:
    """Look whether Mine loses least of the four."""
    return at_both(view, "info-loss", FOUR, lambda v: v[MINE] < min(v[m] for m in FOUR[1:]), unit="share")


def mine_about(view: View) -> list[Case]:
    """Compare Mine's loss with what the text names; at which ρ it does not say."""
    cases = []
    for name in (name for name in view.datasets if name in MINE_LOSS):
        for rho in (LOW, HIGH):

            def test(v: Values, printed: float = MINE_LOSS[name]) -> bool:
                return abs(v[MINE] - printed) <= ABOUT

            found = view.case(name, "info-loss", (MINE,), test, support=at_rho(rho), unit="share")
            numbers = {"as printed": MINE_LOSS[name], **found.numbers}
            cases.append(Case(found.place, found.outcome, numbers, "share"))
    return cases


def others_lose_more(view: View) -> list[Case]:
    """Compare the mean loss of the other three, over all data sets, with Mine's."""
    cases = []
    for rho in (LOW, HIGH):
        by_seed = []
        for seed in view.figures.seeds():
            more = [
                _difference(view.value(name, method, "info-loss", seed, at_rho(rho)),
                            view.value(name, MINE, "info-loss", seed, at_rho(rho)))
                for name in view.datasets for method in FOUR[1:]
            ]  # fmt: skip
            known = [value for value in more if value is not None]
            by_seed.append({"more": sum(known) / len(known) if known and len(known) == len(more) else None})
        means = [v["more"] for v in by_seed if v["more"] is not None]
        outcome = outcome_of(by_seed, lambda v: MORE <= v["more"] <= MOST_MORE)
        numbers = {"points more than Mine": sum(means) / len(means) if means else None}
        cases.append(Case(f"all data sets at {at_rho(rho)}", outcome, numbers, "share"))
    return cases


def _difference(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else one - other


def worst_case(view: View) -> list[Case]:
    """Look how much the worst of the other three loses anywhere."""
    by_seed = []
    for seed in view.figures.seeds():
        found = [
            view.value(name, method, "info-loss", seed, at_rho(rho))
            for name in view.datasets
            for method in FOUR[1:]
            for rho in (LOW, HIGH)
        ]
        known = [value for value in found if value is not None]
        by_seed.append({"worst": max(known) if known and len(known) == len(found) else None})
    highest = [v["worst"] for v in by_seed if v["worst"] is not None]
    outcome = outcome_of(by_seed, lambda v: abs(v["worst"] - FAR) <= FAR_ROOM)
    return [Case("all data sets", outcome, {"as printed": FAR, "ours": max(highest, default=None)}, "share")]


def dist_worse(view: View) -> list[Case]:
    """Look whether Dist loses more than the others."""
    return at_both(view, "info-loss", FOUR, lambda v: v[DIST] > max(v[MINE], v[GLOBAL], v[TD]), unit="share")


def do_not_complete(view: View) -> list[Case]:
    """Look whether Global or TDControl takes more than the two hours that the paper waits."""
    return [
        shortest(view, name, "seconds", (method,), at_rho(HIGH), lambda v, method=method: v[method] > TWO_HOURS)  # type: ignore[misc]
        for name in view.datasets
        for method in (GLOBAL, TD)
    ]


def dist_nearest(view: View) -> list[Case]:
    """Look whether the shares of items move least with Dist."""
    return at_both(view, "symmetric-kl", FOUR, lambda v: v[DIST] < min(v[MINE], v[GLOBAL], v[TD]))


def td_farthest(view: View) -> list[Case]:
    """Look whether they move most with TDControl."""
    return at_both(view, "symmetric-kl", FOUR, lambda v: v[TD] > max(v[MINE], v[DIST], v[GLOBAL]))


def orders_apart(view: View) -> list[Case]:
    """Look whether the worst lies two orders of magnitude above Dist."""
    return at_both(view, "symmetric-kl", FOUR, lambda v: max(v.values()) >= ORDERS * v[DIST])


def rules_gone(view: View) -> list[Case]:
    """Look how many of the rules are the same after Global and TDControl."""
    return at_both(view, "cut-rule-similarity", (GLOBAL, TD), lambda v: max(v.values()) < NEGLIGIBLE)


def rules_retained(view: View) -> list[Case]:
    """Look how many of the rules are the same after Mine and Dist."""
    return at_both(view, "cut-rule-similarity", PAIR, lambda v: min(v.values()) > MOST)


def rules_reach(view: View) -> list[Case]:
    """Look whether the similarity of rules is high somewhere."""
    return at_both(view, "cut-rule-similarity", PAIR, lambda v: max(v.values()) >= REACHED)


def mine_best_rules(view: View) -> list[Case]:
    """Compare Mine and Dist by the rules."""
    return at_both(view, "cut-rule-similarity", PAIR, lambda v: v[MINE] > v[DIST])


def rules_rise(view: View) -> list[Case]:
    """Look whether the similarity of rules is higher at the higher ρ, on the data sets that the paper shows."""
    low, high = at_rho(LOW), at_rho(HIGH)
    return [
        between(
            view,
            name,
            "cut-rule-similarity",
            method,
            (low, high),
            lambda v: v[low] < v[high],
            place=f"{view.title(method)}, {name}",
        )
        for name in view.datasets
        if name in (WV, POS)
        for method in PAIR
    ]


def td_rules(view: View) -> list[Case]:
    """Count TDControl's rules on WV, cut to 5 items."""
    least, most = FEW_RULES
    if WV not in view.datasets:
        return []
    found = view.case(WV, "cut-rules-after", (TD,), lambda v: least <= v[TD] <= most, support=at_rho(HIGH))
    return [Case(found.place, found.outcome, {"as printed": 4.0, **found.numbers}, "itemsets")]
