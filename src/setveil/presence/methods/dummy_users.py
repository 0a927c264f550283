"""Dummy user protocol: divide groups of ids while the joined table satisfies its limits; dummies hide who is a user of which provider.

Paper    takenouchi2012 (references.bib), section IV and Figure 1; formulas (2), (3), (4).
Settled  points that the paper leaves open: the check runs on hidden parts, and ids are sent only after it passed; one bit per group is
         opened; the whole population is checked too; a group whose division failed is final.
Departs  D counts negatively, and over all ids including dummies. Entropies are divided by their bound 2/e, not by the largest entropy among
         the candidates, because this needs no secure division (`normalise` = max is the paper's version, in trials only). Dummies are
         drawn with a stored key.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal, Self

import numpy as np
from pydantic import model_validator

from setveil.base.declaration import parameter
from setveil.errors import BadParameter
from setveil.parameters.shares import Share
from setveil.presence.guarantees.k_anonymity import GroupLimit, KAnonymity
from setveil.presence.guarantees.site_presence import PresenceLimit, SitePresence
from setveil.presence.methods.base import JoinedOutcome, JoiningMethod, Keys
from setveil.presence.secure.rules import MOST_RING_BITS, Linear, Rules
from setveil.presence.secure.tallies import MOST_POPULATION

if TYPE_CHECKING:
    from fractions import Fraction

    from setveil.guarantees.base import Guarantee
    from setveil.presence.tables.originals import Originals

Backend = Literal["two-party", "mpyc", "clear"]


class DummyUsers(GroupLimit, PresenceLimit, JoiningMethod):
    """Join the tables of two providers; dummies and secure computation hide each provider's users from the other provider."""

    name = "dummy-users"
    title = "Dummy user protocol"
    paper = "takenouchi2012"

    alpha: Share = parameter(
        Share("0.5"),
        public=True,
        description="Weight of nearness to the median in the score of a cut; the rest is the weight of the entropy of dummies.",
    )
    score: Literal["both", "own"] = parameter(
        "both",
        public=True,
        description="Whether the dummies of both providers count in the score of a cut, or only the owner's (own: needs no messages).",
    )
    candidates: int = parameter(8, ge=2, le=32, public=True, description="Number of cuts scored per group.")
    entropy: Literal["parent", "child"] = parameter(
        "parent",
        public=True,
        description="Whether dummies count as a share of the group or of its part; child requires score = own or backend = clear.",
    )
    normalise: Literal["constant", "max"] = parameter(
        "constant",
        public=True,
        description="Divisor of entropies: their bound (constant), or the largest among the candidates, as in the paper (max). "
        "max requires score = own or backend = clear.",
    )
    margin: Share = parameter(
        Share("0"),
        public=True,
        description="Amount by which the limits are tightened for divisions, so that a failed check reveals less to the owner of the cut.",
    )
    outsiders: int = parameter(
        1,
        ge=0,
        le=MOST_POPULATION - 1,
        public=True,
        description="Minimum number of people in the population who are users of neither provider.",
    )
    counts_to: Literal["b", "c"] = parameter(
        "b",
        public=True,
        description="Party that learns the number of common users per group: provider B (b), as in the paper, or only the collector (c).",
    )
    backend: Backend = parameter(
        "two-party",
        public=True,
        description="The secure computation; clear hides nothing and runs in trials only.",
    )

    @model_validator(mode="after")
    def _possible(self) -> Self:
        for side in ("a", "b"):
            low, high = self.drawn_in(side)
            if low > high:
                raise ValueError(
                    f"the margin {self.margin} leaves no allowed share between min_{side} and max_{side}; "
                    "choose a smaller margin or wider limits"
                )
        if self.backend != "clear" and self.score == "both" and (self.entropy == "child" or self.normalise == "max"):
            raise ValueError(
                "entropy = child and normalise = max require score = own or backend = clear (trials only); "
                "choose one of these, or entropy = parent and normalise = constant"
            )
        return self

    @property
    def guarantees(self) -> tuple[Guarantee, ...]:
        """k-anonymity and δ-site-presence."""
        return (
            KAnonymity(k=self.k, l=self.l),
            SitePresence(max_a=self.max_a, min_a=self.min_a, max_b=self.max_b, min_b=self.min_b, scope=self.scope),
        )

    def drawn_in(self, side: str) -> tuple[Fraction, Fraction]:
        """Return the lower and upper limit for the parts of a division: tightened by the margin, except limits of 0 and 1."""
        least: Fraction = getattr(self, f"min_{side}").share
        most: Fraction = getattr(self, f"max_{side}").share
        margin = self.margin.share
        return least + margin if least > 0 else least, most - margin if most < 1 else most

    def rules(self, values: int, population: int) -> Rules:
        """Return the rules as numbers, for given numbers of sensitive values and people; refuse limits that need too large numbers."""
        limits = {side: (getattr(self, f"min_{side}").share, getattr(self, f"max_{side}").share) for side in ("a", "b")}
        root = self._limits(limits, values)
        drawn_in = {side: self.drawn_in(side) for side in ("a", "b")}
        outsiders = np.array([-1, *[-1] * values, *[1] * values], dtype=np.int64)
        rules = Rules(
            population=population,
            values=values,
            candidates=self.candidates,
            root=Linear(
                np.vstack((root.weights, outsiders)), np.append(root.constants, np.int64(population - self.outsiders))
            ),
            part=self._limits(drawn_in, values),
            least_values=self.l,
            entropy_weight=float(1 - self.alpha.share) / 2 * math.e / 2,
            entropy_of=self.entropy,
            normalise=self.normalise,
        )
        if rules.ring_bits > MOST_RING_BITS:
            raise BadParameter(
                f"the limits have too many digits: a population of {population:,} needs numbers of {rules.ring_bits} bits, and at most "
                f"{MOST_RING_BITS} bits are allowed; write the limits as fractions with smaller denominators"
            )
        return rules

    def _limits(self, limits: dict[str, tuple[Fraction, Fraction]], values: int) -> Linear:
        """Return the rules of one group, without those that always hold."""
        of_b = np.zeros((values, 1 + 2 * values), dtype=object)
        of_both = np.zeros((values, 1 + 2 * values), dtype=object)
        for s in range(values):
            of_b[s, 1 + s] = 1
            of_both[s, 1 + values + s] = 1
        of_a = np.zeros(1 + 2 * values, dtype=object)
        of_a[0] = 1
        common = of_both.sum(axis=0)
        rows, constants = [common], [-self.k]
        whole = [(common, of_b.sum(axis=0))]
        cells = list(zip(of_both, of_b, strict=True)) if self.scope == "qi+sa" else whole
        for side, pairs in (("a", [(common, of_a)]), ("b", cells)):
            low, high = limits[side]
            for both, one in pairs:
                if low > 0:
                    rows.append(low.denominator * both - low.numerator * one)
                    constants.append(0)
                if high < 1:
                    rows.append(high.numerator * one - high.denominator * both)
                    constants.append(0)
        return Linear(np.array(rows).astype(np.int64), np.array(constants, dtype=np.int64))

    def apply(self, originals: Originals, *, keys: Keys) -> JoinedOutcome:
        """Run the protocol of both providers in this process, with the chosen backend."""
        from setveil.presence.trial import run_trial  # noqa: PLC0415 - it imports this module

        return run_trial(self, originals, keys)
