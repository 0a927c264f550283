"""The lines, settings and plans of the site-presence experiments. No number is printed in takenouchi2012, only ranges in its text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

ADULT, INSIDE = "Adult", "Adult, B inside A"
"""As dealt out for Figures 2 and 4, and for Figure 3, where all users of B are users of A."""

PROTOCOL, PROTOCOL_QI = "protocol", "protocol-qi"
DEFAULT, DEFAULT_QI = "default", "default-qi"
EXTENDED, EXTENDED_QI = "extended", "extended-qi"
RETRYING, RETRYING_QI = "retrying", "retrying-qi"
DROPPED = "dropped"
MPALM, MPALM_FIXED = "mpalm", "mpalm-fixed"
ONE_GROUP = "one-group"

TITLES = {
    PROTOCOL: "protocol, score as printed",
    PROTOCOL_QI: "protocol, score as printed, qi",
    DEFAULT: "protocol, our score",
    DEFAULT_QI: "protocol, our score, qi",
    EXTENDED: "extended Mondrian",
    EXTENDED_QI: "extended Mondrian, qi",
    RETRYING: "extended Mondrian, retrying",
    RETRYING_QI: "extended Mondrian, retrying, qi",
    DROPPED: "extended Mondrian, absent dropped",
    MPALM: "MPALM",
    MPALM_FIXED: "MPALM, fixed rows",
    ONE_GROUP: "one group",
}
"""In the order they are told. `qi` is the weaker scope, which leaves out B's sensitive attribute."""

READINGS = {
    "qi+sa": {},
    "qi": {PROTOCOL: PROTOCOL_QI, DEFAULT: DEFAULT_QI, EXTENDED: EXTENDED_QI, RETRYING: RETRYING_QI},
}
"""Whether the limits hold for B's sensitive attribute too, as Definition 1 has it, or for quasi-identifiers alone."""

DOMAIN, EVEN = "domain", "even"
KINDS = (DOMAIN, EVEN)
"""What θ is a share of: cells of the domain, or records, on a scale on which these are spread evenly."""
GROUPS = "groups"

BASE_MAX, BASE_MIN, ALPHA, THETA_OF_FIGURE_4 = "0.9", "0.1", "0.5", "10%"
BANDS = ("0–20 %", "20–40 %", "40–60 %", "60–80 %", "80 % and more")
"""The steps of Figure 4, and one for what is beyond them."""


def error_of(kind: str) -> str:
    """Return the metric: the mean relative error of queries of a kind."""
    return f"error-{kind}"


def held_by(kind: str) -> str:
    """Return the metric: the share of the records that a query of a kind holds, on average."""
    return f"held-{kind}"


def at(theta: str) -> str:
    """Return the setting of a figure that belongs to a selectivity."""
    return f"θ={theta}"


def within(side: str, least: str, most: str) -> str:
    """Return the setting of a figure of Figure 4: limits of one provider, those of the other as they are."""
    return f"{side.upper()}: {least} to {most}"


SAME = f"α={ALPHA}"
VARIANTS: dict[str, dict[str, Any]] = {
    "α=0": {"alpha": "0"},
    "α=0.25": {"alpha": "0.25"},
    SAME: {},
    "α=0.75": {"alpha": "0.75"},
    "α=1": {"alpha": "1"},
    "score own": {"score": "own"},
    "32 candidates": {"candidates": 32},
    "margin 0.02": {"margin": "0.02"},
    "margin 0.05": {"margin": "0.05"},
}
"""Changes of the protocol with our score, one at a time; the paper has α = 0.5, and says of candidates nothing."""


@dataclass(frozen=True)
class Plan:
    """How much is run."""

    seeds: tuple[int, ...]
    seeds_of_figure_4: tuple[int, ...]
    thetas: tuple[str, ...] = ("5%", "10%", "20%", "30%")
    largest: tuple[str, ...] = ("0.9", "0.8", "0.7", "0.6", "0.5", "0.4", "0.3")
    least: tuple[str, ...] = ("0.1", "0.2", "0.3", "0.4", "0.5", "0.6", "0.7")
    variants: tuple[str, ...] = tuple(VARIANTS)
    queries: int = 10_000
    common: int = 6_000
    only_a: int = 12_000
    only_b: int = 6_000

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """All limits of Figure 4 whose lower one is not above the upper one."""
        return [(least, most) for least in self.least for most in self.largest if float(least) <= float(most)]


FULL = Plan(seeds=(0, 1, 2, 3, 4), seeds_of_figure_4=(0, 1, 2))
QUICK = Plan(
    seeds=(0,),
    seeds_of_figure_4=(0,),
    largest=("0.9", "0.6", "0.5", "0.4", "0.3"),
    least=("0.1", "0.3", "0.4", "0.5"),
    variants=("α=0", SAME, "α=1", "score own", "32 candidates", "margin 0.05"),
    queries=4_000,
)
