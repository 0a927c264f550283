"""The dummy user protocol: groups of ids are divided as long as the joined table keeps its limits, and dummies hide who exists where.

Paper    takenouchi2012 (references.bib), section IV and Figure 1; formulas (2), (3), (4).
Settled  the check runs on a hidden division and ids are sent only once it passed; one bit a group is opened; the root is checked too;
         a group whose division failed is never tried again.
Ours     D counts negatively and over all ids, dummies included; entropies are divided by their bound 2/e and not by the largest among the
         candidates, which needs no secure division (`normalise` = max is the paper's, in a trial alone); dummies come from a keyed stream.
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
    """Two providers divide groups of ids together; dummies and secure computation hide who exists where."""

    name = "dummy-users"
    title = "Dummy user protocol"
    paper = "takenouchi2012"

    alpha: Share = parameter(
        Share("0.5"),
        public=True,
        description="What the nearness to the median weighs in the score of a cut; the rest is for the entropy of dummies.",
    )
    score: Literal["both", "own"] = parameter(
        "both",
        public=True,
        description="Whether the score of a cut knows the dummies of both providers, or only of its owner, and then costs no message.",
    )
    candidates: int = parameter(8, ge=2, le=32, public=True, description="Cuts that are scored in a group.")
    entropy: Literal["parent", "child"] = parameter(
        "parent",
        public=True,
        description="Whether dummies count as a share of the group or of its part; child needs score = own, or a trial in the clear.",
    )
    normalise: Literal["constant", "max"] = parameter(
        "constant",
        public=True,
        description="Whether entropies are divided by their bound, or by the largest of the candidates as printed (in the clear only).",
    )
    margin: Share = parameter(
        Share("0"),
        public=True,
        description="By how much the limits are drawn in for divisions, so that a division that failed tells its owner less.",
    )
    outsiders: int = parameter(
        1,
        ge=0,
        le=MOST_POPULATION - 1,
        public=True,
        description="People of the population at least who are at neither provider.",
    )
    counts_to: Literal["b", "c"] = parameter(
        "b",
        public=True,
        description="Who learns how many common users a group has: B, as in the paper, or only the collector.",
    )
    backend: Backend = parameter(
        "two-party",
        public=True,
        description="The secure computation; clear hides nothing and runs in a trial alone.",
    )

    @model_validator(mode="after")
    def _possible(self) -> Self:
        for side in ("a", "b"):
            low, high = self.drawn_in(side)
            if low > high:
                raise ValueError(
                    f"the margin {self.margin} leaves nothing between min_{side} and max_{side}; choose a smaller one"
                )
        if self.backend != "clear" and self.score == "both" and (self.entropy == "child" or self.normalise == "max"):
            raise ValueError(
                "entropy = child and normalise = max are the paper's own score, which runs with backend = clear, in a trial; "
                "else choose score = own, or parent and constant"
            )
        return self

    @property
    def guarantees(self) -> tuple[Guarantee, ...]:
        """k-anonymity, and the presence at either provider."""
        return (
            KAnonymity(k=self.k, l=self.l),
            SitePresence(max_a=self.max_a, min_a=self.min_a, max_b=self.max_b, min_b=self.min_b, scope=self.scope),
        )

    def drawn_in(self, side: str) -> tuple[Fraction, Fraction]:
        """Return the limits that parts of a division must keep; those that ask for nothing, 0 and 1, have no margin."""
        least: Fraction = getattr(self, f"min_{side}").share
        most: Fraction = getattr(self, f"max_{side}").share
        margin = self.margin.share
        return least + margin if least > 0 else least, most - margin if most < 1 else most

    def rules(self, values: int, population: int) -> Rules:
        """Return the rules as numbers, for so many sensitive values and people; refuse what no ring holds."""
        limits = {side: (getattr(self, f"min_{side}").share, getattr(self, f"max_{side}").share) for side in ("a", "b")}
        root = self._limits(limits, values)
        drawn_in = {side: self.drawn_in(side) for side in ("a", "b")}
        nobody = np.array([-1, *[-1] * values, *[1] * values], dtype=np.int64)
        rules = Rules(
            population=population,
            values=values,
            candidates=self.candidates,
            root=Linear(
                np.vstack((root.weights, nobody)), np.append(root.constants, np.int64(population - self.outsiders))
            ),
            part=self._limits(drawn_in, values),
            least_values=self.l,
            entropy_weight=float(1 - self.alpha.share) / 2 * math.e / 2,
            entropy_of=self.entropy,
            normalise=self.normalise,
        )
        if rules.ring_bits > MOST_RING_BITS:
            raise BadParameter(
                f"the limits have so many digits that a population of {population:,} needs numbers of {rules.ring_bits} bits; allowed are "
                f"{MOST_RING_BITS}; write them as fractions with smaller denominators"
            )
        return rules

    def _limits(self, limits: dict[str, tuple[Fraction, Fraction]], values: int) -> Linear:
        """Return the rules of one group; those that always hold are left out."""
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
        """Run the protocol of both providers in this process, with the secure computation that the method names."""
        from setveil.presence.trial import run_trial  # noqa: PLC0415 - runs this very method

        return run_trial(self, originals, keys)
