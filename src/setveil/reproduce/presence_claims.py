"""The claims of takenouchi2012, each with the rule that decides it; those that our additional figures show come after them.

Every comparison is made with both kinds of queries, since the paper's two sentences on selectivity differ on skewed data.
"""

from __future__ import annotations

from functools import partial
from itertools import product
from typing import TYPE_CHECKING

from setveil.reproduce.judging import OURS, Case, Claim, decide, outcome_of
from setveil.reproduce.presence_lines import (
    ADULT,
    BASE_MAX,
    BASE_MIN,
    DEFAULT,
    DEFAULT_QI,
    DROPPED,
    EXTENDED,
    GROUPS,
    INSIDE,
    KINDS,
    MPALM,
    ONE_GROUP,
    PROTOCOL,
    PROTOCOL_QI,
    READINGS,
    RETRYING,
    SAME,
    Plan,
    at,
    error_of,
    within,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from setveil.reproduce.figures import Figures
    from setveil.reproduce.judging import Outcome, Values, Verdict, View

THETAS = Plan((), ()).thetas
NEAR = {
    "a": ((("0.3", BASE_MAX), (BASE_MIN, BASE_MAX)), ((BASE_MIN, "0.4"), (BASE_MIN, BASE_MAX))),
    "b": (
        (("0.4", BASE_MAX), (BASE_MIN, BASE_MAX)),
        (("0.5", BASE_MAX), (BASE_MIN, BASE_MAX)),
        ((BASE_MIN, "0.6"), (BASE_MIN, BASE_MAX)),
        ((BASE_MIN, "0.5"), (BASE_MIN, BASE_MAX)),
    ),
}
"""Limits (least, largest) near the share of common users, 1/3 at A and 1/2 at B, and the wide ones of the other figures."""
NO_WORSE = 1.02
SHARE, WHOLE = "share", "itemsets"
"""Written in percent, and without decimals."""


def judge(
    figures: Figures, sizes: Mapping[str, Sequence[str]], records: Mapping[str, int], titles: Mapping[str, str]
) -> list[Verdict]:
    """Decide every claim."""
    return [decide(claim, figures, sizes, records, titles, READINGS) for claim in CLAIMS]


# -- rules ------------------------------------------------------------------------------------------------------------------------


def by_theta(
    view: View, *, dataset: str, methods: Sequence[str], test: Callable[[Values], bool], beside: Sequence[str] = ()
) -> list[Case]:
    """Compare errors at each selectivity, with both kinds of queries."""
    return [_case(view, dataset, kind, methods, test, at(theta), beside) for kind, theta in product(KINDS, THETAS)]


def _case(
    view: View,
    dataset: str,
    kind: str,
    methods: Sequence[str],
    test: Callable[[Values], bool],
    setting: str,
    beside: Sequence[str] = (),
) -> Case:
    found = view.case(dataset, error_of(kind), methods, test, support=setting, unit=SHARE, beside=beside)
    return Case(f"{setting}, {kind}", found.outcome, found.numbers, SHARE)


def _below(one: str, other: str) -> Callable[[Values], bool]:
    return lambda values: values[one] < values[other]


def _between(low: float, high: float) -> Callable[[Values], bool]:
    return lambda values: all(low <= round(value, 2) <= high for value in values.values())


def groups(view: View, *, dataset: str, one: str, other: str) -> list[Case]:
    """Tell whether the first has fewer groups."""
    found = view.case(dataset, GROUPS, [one, other], _below(one, other), unit=WHOLE)
    return [Case("groups", found.outcome, found.numbers, WHOLE)]


def near_share(view: View, *, side: str) -> list[Case]:
    """Compare limits near the share of common users with wide ones, keys by keys; limits with which nothing can be published stay open."""
    cases = []
    for kind, (near, wide) in product(KINDS, NEAR[side]):
        settings = {f"{least} to {most}": within(side, least, most) for least, most in (near, wide)}
        narrow, broad = settings
        by_seed = [
            {name: view.value(ADULT, PROTOCOL, error_of(kind), seed, setting) for name, setting in settings.items()}
            for seed in view.figures.seeds()
        ]
        numbers = {name: view.mean(ADULT, PROTOCOL, error_of(kind), setting) for name, setting in settings.items()}
        outcome = outcome_of(by_seed, _below(broad, narrow))
        cases.append(Case(f"{side.upper()}: {narrow}, {kind}", outcome, numbers, SHARE))
    return cases


def every_pair(view: View) -> list[Case]:
    """Tell for each pair of limits of Figure 4 whether a table can be made; what was not run is no case."""
    cases = []
    for side in "ab":
        for least, most in Plan((), ()).pairs:
            found = view.figures.spread(ADULT, view.line(PROTOCOL), GROUPS, within(side, least, most))
            if found.mean is not None or found.note:
                outcome: Outcome = "disagrees" if found.mean is None else "agrees"
                cases.append(Case(within(side, least, most), outcome, {"groups": found.mean or 0.0}, WHOLE))
    return cases


def variants(view: View, *, names: Sequence[str], test: Callable[[float, float], bool]) -> list[Case]:
    """Compare changed settings of the protocol with the usual ones, with both kinds of queries."""
    cases = []
    for kind, name in product(KINDS, names):
        settings = {name: name, "as usual": SAME}
        by_seed = [
            {told: view.value(ADULT, DEFAULT, error_of(kind), seed, setting) for told, setting in settings.items()}
            for seed in view.figures.seeds()
        ]
        numbers = {told: view.mean(ADULT, DEFAULT, error_of(kind), setting) for told, setting in settings.items()}
        outcome = outcome_of(by_seed, lambda v, name=name: test(v[name], v["as usual"]))  # type: ignore[misc]
        cases.append(Case(f"{name}, {kind}", outcome, numbers, SHARE))
    return cases


def _more(changed: float, usual: float) -> bool:
    return changed > usual


def _less(changed: float, usual: float) -> bool:
    return changed < usual


# -- claims -----------------------------------------------------------------------------------------------------------------------

FIGURE_2, FIGURE_3, FIGURE_4, BESIDE = "Figure 2", "Figure 3", "Figure 4", "beside"

_STATED: tuple[tuple[str, str, str, str, str, Callable[[View], list[Case]], bool], ...] = (
    ("protocol-and-mondrian", "V-A, Figure 2", FIGURE_2, "The protocol's error is lower than that of extended Mondrian.",
     "Lower at each θ, with both kinds of queries.",
     partial(by_theta, dataset=ADULT, methods=[PROTOCOL, EXTENDED], test=_below(PROTOCOL, EXTENDED), beside=[ONE_GROUP]), True),
    ("ten-to-twenty-five", "V-A, Figure 2", FIGURE_2, "The protocol's error is almost 10–25 %.",
     "Between 10 and 25 %, in whole percent, at each θ, with both kinds of queries.",
     partial(by_theta, dataset=ADULT, methods=[PROTOCOL], test=_between(0.10, 0.25), beside=[ONE_GROUP]), True),
    ("protocol-and-mpalm", "V-B, Figure 3", FIGURE_3, "The protocol's error is worse than that of MPALM.",
     "Higher at each θ, with both kinds of queries.",
     partial(by_theta, dataset=INSIDE, methods=[MPALM, PROTOCOL], test=_below(MPALM, PROTOCOL), beside=[ONE_GROUP]), False),
    ("mpalm-divides-more", "V-B", FIGURE_3, "MPALM, which retries, divides more often than the protocol.", "It has more groups.",
     partial(groups, dataset=INSIDE, one=PROTOCOL, other=MPALM), False),
    ("ten-to-twenty", "V-B, Figure 3", FIGURE_3, "The errors of both are almost 10–20 %.",
     "Both between 10 and 20 %, in whole percent, at each θ, with both kinds of queries.",
     partial(by_theta, dataset=INSIDE, methods=[PROTOCOL, MPALM], test=_between(0.10, 0.20), beside=[ONE_GROUP]), False),
    ("worse-near-a-third", "V-C, Figure 4(a)", FIGURE_4, "The error gets worse where a limit of A is near 0.3.",
     "Higher with a least share of 0.3, and with a largest one of 0.4 (with 0.3 there is no table), than with 0.1 to 0.9; both kinds.",
     partial(near_share, side="a"), True),
    ("worse-near-a-half", "V-C, Figure 4(b)", FIGURE_4, "The error gets worse where a limit of B is near 0.5.",
     "Higher with a least share of 0.4 and 0.5, and with a largest one of 0.6 and 0.5, than with 0.1 to 0.9; both kinds of queries.",
     partial(near_share, side="b"), True),
    ("every-pair", "V-C, Figure 4", FIGURE_4,
     "There is a table for all limits that Figure 4 spans, at most 0.9 to 0.3, at least 0.1 to 0.7.",
     "A table can be made at each pair whose lower limit is not above the upper one.", every_pair, True),
    ("beats-one-group", OURS, BESIDE, "The protocol's table errs less than a table of one group, which shows only the sensitive values.",
     "Lower error at each θ, with both kinds of queries.",
     partial(by_theta, dataset=ADULT, methods=[PROTOCOL, ONE_GROUP], test=_below(PROTOCOL, ONE_GROUP)), True),
    ("qi-errs-less", OURS, BESIDE, "Leaving B's sensitive attribute out of the limits lowers the error.",
     "The error by quasi-identifiers is lower at each θ, with both kinds of queries.",
     partial(by_theta, dataset=ADULT, methods=[PROTOCOL_QI, PROTOCOL], test=_below(PROTOCOL_QI, PROTOCOL)), False),
    ("qi-divides-more", OURS, BESIDE, "Leaving B's sensitive attribute out of the limits gives more groups.", "It has more groups.",
     partial(groups, dataset=ADULT, one=PROTOCOL, other=PROTOCOL_QI), False),
    ("our-score", OURS, BESIDE, "Our score, which needs no secure division, costs nothing.",
     "Its error is at most 2 % above that of the score as printed, at each θ, with both kinds of queries.",
     partial(by_theta, dataset=ADULT, methods=[DEFAULT, PROTOCOL], test=lambda v: v[DEFAULT] <= NO_WORSE * v[PROTOCOL]), True),
    ("entropy-helps", OURS, BESIDE, "The entropy of dummies in the score lowers the error.",
     "At θ = 10 % the error with α = 1 is higher than with α = 0.5, with both kinds of queries.",
     partial(variants, names=["α=1"], test=_more), True),
    ("own-costs", OURS, BESIDE, "A score that knows only its owner's dummies costs error.",
     "At θ = 10 % the error with score = own is higher than with both, with both kinds of queries.",
     partial(variants, names=["score own"], test=_more), True),
    ("more-candidates", OURS, BESIDE, "More candidates lower the error.",
     "At θ = 10 % the error with 32 candidates is lower than with 8, with both kinds of queries.",
     partial(variants, names=["32 candidates"], test=_less), True),
    ("margin-costs", OURS, BESIDE, "A margin costs error.",
     "At θ = 10 % the error with a margin of 0.02 and of 0.05 is higher than without, with both kinds of queries.",
     partial(variants, names=["margin 0.02", "margin 0.05"], test=_more), True),
    ("retrying-errs-less", OURS, BESIDE, "Extended Mondrian that tries another attribute after a failed check errs less than the protocol.",
     "Lower error at each θ, with both kinds of queries.",
     partial(by_theta, dataset=ADULT, methods=[RETRYING, PROTOCOL], test=_below(RETRYING, PROTOCOL)), True),
    ("dropped-divides-nothing", OURS, BESIDE, "Extended Mondrian that drops absent users divides nothing at all.",
     "Its table has no more groups than one.", lambda view: [_dropped(view)], False),
)  # fmt: skip


def _dropped(view: View) -> Case:
    found = view.case(ADULT, GROUPS, [DROPPED, DEFAULT_QI], lambda v: v[DROPPED] <= 1, unit=WHOLE)
    return Case("groups", found.outcome, found.numbers, WHOLE)


CLAIMS = tuple(
    Claim(key, section, topic, statement, rule, cases, sizes=("paper",), by_reading=by_reading)
    for key, section, topic, statement, rule, cases, by_reading in _STATED
)
