"""The rules that decide the claims of jia2014 on time, on splitting the records and on the permutation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from setveil.reproduce.figures import ORIGINAL
from setveil.reproduce.judging import Case, outcome_of
from setveil.reproduce.uncertainty_lines import (
    DEFAULT_T_MAX,
    DEGREES,
    DIST,
    DIST_WHOLE,
    FIFTHS,
    GLOBAL,
    MINE,
    MINE_WHOLE,
    PERMUTATION,
    POS,
    PRINTED,
    RETAIL,
    T_MAXES,
    TD,
    WV,
    at_degree,
    at_t_max,
)
from setveil.reproduce.uncertainty_printed import PARTS
from setveil.reproduce.uncertainty_rules import FOUR, PAIR, between, shortest

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from setveil.reproduce.judging import Values, View

FLAT, SLIGHT = 0.01, 0.02
UNHARMED = 0.005
"""A loss within half a point is the same quality."""
QUADRATIC = 25
"""Five times the data may take so many times as long, and the time still increases reasonably."""
DRAMATIC = 2


def _table_3(view: View, methods: Sequence[str], test: Callable[[Values], bool], names: Sequence[str]) -> list[Case]:
    cases = []
    for name in (name for name in view.datasets if name in names):
        found = shortest(view, name, "table-3-seconds", methods, "", test)
        printed = {view.title(PRINTED[m]): view.mean(name, PRINTED[m], "table-3-seconds") for m in methods}
        told = {title: value for title, value in printed.items() if value is not None}
        cases.append(Case(found.place, found.outcome, {**found.numbers, **told}, "s"))
    return cases


def td_fastest(view: View) -> list[Case]:
    """Look whether TDControl is the fastest on the two data sets that have it so in Table 3."""
    return _table_3(view, FOUR, lambda v: v[TD] < min(v[MINE], v[DIST], v[GLOBAL]), (POS, WV))


def mine_slowest(view: View) -> list[Case]:
    """Look whether Mine is the slowest on POS."""
    return _table_3(view, FOUR, lambda v: v[MINE] > max(v[DIST], v[GLOBAL], v[TD]), (POS,))


def dist_faster(view: View) -> list[Case]:
    """Look whether Dist is faster than Mine."""
    return _table_3(view, PAIR, lambda v: v[DIST] < v[MINE], view.datasets)


def grows_reasonably(view: View) -> list[Case]:
    """Compare the seconds on one fifth and on all of Retail."""
    first, last = FIFTHS[0], FIFTHS[-1]
    cases = []
    for method in (*PAIR, MINE_WHOLE, DIST_WHOLE) if RETAIL in view.datasets else ():
        seconds = {at: view.figures.spread(RETAIL, method, "scale-seconds", at).low for at in (first, last)}
        outcome = outcome_of([seconds], lambda v: v[first] < v[last] <= QUADRATIC * v[first])
        cases.append(Case(view.titles.get(method, method), outcome, seconds, "s"))
    return cases


def superlinear(view: View) -> list[Case]:
    """Compare how many times as fast parts are with the number of threads."""
    threads = view.value(RETAIL, ORIGINAL, "threads", 0) if RETAIL in view.datasets else None
    cases = []
    for split, whole in zip(PAIR, (MINE_WHOLE, DIST_WHOLE), strict=True) if threads else ():
        found = {
            what: view.figures.spread(RETAIL, line, "scale-seconds", FIFTHS[-1]).low
            for what, line in (("split", split), ("unsplit", whole))
        }
        outcome = outcome_of([found], lambda v, threads=threads: v["unsplit"] > threads * v["split"])  # type: ignore[misc]
        cases.append(Case(f"{view.titles.get(split, split)}, {threads or 0:.0f} threads", outcome, found, "s"))
    return cases


def parts_of_retail(view: View) -> list[Case]:
    """Compare into how many parts shares of Retail are divided."""
    cases = []
    for fifth, printed in PARTS.items() if RETAIL in view.datasets else ():
        found = view.mean(RETAIL, MINE, "scale-parts", fifth)
        outcome = outcome_of([{"ours": found}], lambda v, printed=printed: v["ours"] == printed)  # type: ignore[misc]
        cases.append(Case(f"{fifth} of {RETAIL}", outcome, {"as printed": float(printed), "ours": found}, "itemsets"))
    return cases


def _by_t_max(view: View, metric: str, method: str, test: Callable[[list[float]], bool], unit: str) -> list[Case]:
    settings = [at_t_max(t_max) for t_max in T_MAXES]
    if RETAIL not in view.datasets:
        return []
    return [
        between(
            view,
            RETAIL,
            metric,
            method,
            settings,
            lambda v: test([v[at] for at in settings]),
            place=view.title(method),
            unit=unit,
        )
    ]


def dist_flat(view: View) -> list[Case]:
    """Look whether Dist's loss is the same at every t_max."""
    return _by_t_max(view, "t-max-loss", DIST, lambda losses: max(losses) - min(losses) <= FLAT, "share")


def mine_descends(view: View) -> list[Case]:
    """Look whether Mine's loss falls a little with t_max."""
    return _by_t_max(view, "t-max-loss", MINE, lambda losses: 0 < losses[0] - losses[-1] <= SLIGHT, "share")


def unharmed(view: View) -> list[Case]:
    """Compare the losses at the default t_max and unsplit."""
    one, other = at_t_max(DEFAULT_T_MAX), at_t_max(T_MAXES[-1])

    def test(v: Values) -> bool:
        return v[one] - v[other] <= UNHARMED

    return [
        between(view, RETAIL, "t-max-loss", method, (one, other), test, place=view.title(method), unit="share")
        for method in PAIR
        if RETAIL in view.datasets
    ]


def time_rises(view: View) -> list[Case]:
    """Compare the seconds at the lowest and the highest t_max."""
    one, other = at_t_max(T_MAXES[0]), at_t_max(T_MAXES[-1])
    cases = []
    for method in PAIR if RETAIL in view.datasets else ():
        seconds = {at: view.figures.spread(RETAIL, method, "t-max-seconds", at).low for at in (one, other)}
        outcome = outcome_of([seconds], lambda v: v[other] >= DRAMATIC * v[one])
        cases.append(Case(view.title(method), outcome, seconds, "s"))
    return cases


def nothing_to_vary(view: View) -> list[Case]:
    """Return no case: there is no buffer."""
    del view
    return []


def beat_permutation(view: View) -> list[Case]:
    """Compare what can be reconstructed after Mine, Dist and the permutation."""
    return [
        view.case(
            WV,
            "reconstruction-kl",
            (*PAIR, PERMUTATION),
            lambda v: max(v[MINE], v[DIST]) < v[PERMUTATION],
            support=at_degree(p),
        )
        for p in DEGREES
        if WV in view.datasets
    ]


def permutation_faster(view: View) -> list[Case]:
    """Compare the seconds of the same."""
    return [
        shortest(
            view,
            WV,
            "permutation-seconds",
            (*PAIR, PERMUTATION),
            at_degree(p),
            lambda v: v[PERMUTATION] < min(v[MINE], v[DIST]),
        )
        for p in DEGREES
        if WV in view.datasets
    ]
