"""All attacks on a run, tried in a trial with both tables.

What a run opens does not depend on the secure computation, so the trial computes in the clear: it opens the same values and draws the
same dummies.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from setveil.base import progress
from setveil.presence.attack.certain import Certain, certain
from setveil.presence.attack.dummy_test import DummyTest, dummy_test
from setveil.presence.attack.failed_cuts import FailedCuts, MarginRow, failed_cuts, margins, with_margin
from setveil.presence.attack.together import Learned, together
from setveil.presence.attack.two_runs import TwoRuns, two_runs
from setveil.presence.dummies import KEY_BYTES
from setveil.presence.methods.base import Keys
from setveil.presence.trial import simulate

if TYPE_CHECKING:
    from setveil.presence.policy import Policy
    from setveil.presence.tables.originals import Originals
    from setveil.presence.trial import Trial


@dataclass(frozen=True)
class Posterior:
    """What a failed cut reveals to its owner, what the joined table alone makes certain, and what a margin changes."""

    failed_cuts: list[FailedCuts]
    certain: list[Certain]
    margins: tuple[MarginRow, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the results as plain values."""
        return {
            "failed_cuts": [one.to_dict() for one in self.failed_cuts],
            "certain_from_the_table": [one.to_dict() for one in self.certain],
            "margins": [row.to_dict() for row in self.margins],
        }


class Attacks:
    """The attacks on one run of a policy."""

    def __init__(self, policy: Policy, originals: Originals, keys: Keys) -> None:
        self.policy = policy
        self._clear = policy.changed(backend="clear")
        self._originals = originals
        self._keys = keys

    @cached_property
    def trial(self) -> Trial:
        """The run that is attacked."""
        return simulate(self._clear, self._originals, self._keys)

    def dummies(self) -> list[DummyTest]:
        """Guess, for each provider, which of its users are common, from the parts that they fall into."""
        trial = self.trial
        with progress.step("the dummy test"):
            return [dummy_test(trial, self._originals, attacker) for attacker in ("b", "a")]

    def posterior(self) -> Posterior:
        """Compute exactly how likely a user of a provider is common."""
        policy, trial, originals = self._clear, self.trial, self._originals
        found = [failed_cuts(trial, originals, policy.method, party) for party in ("a", "b")]
        sure = [certain(trial.a.divided, originals, party) for party in ("a", "b")]
        with progress.step("runs with other margins"):
            rows = margins(policy, originals, self._keys, with_margin(policy))
        return Posterior(found, sure, rows)

    def two_runs(self) -> tuple[TwoRuns, ...]:
        """Repeat the run with other keys or tables, and guess from the ids that change their part."""
        fresh = Keys(secrets.token_bytes(KEY_BYTES), secrets.token_bytes(KEY_BYTES))
        return two_runs(self._clear, self._originals, self._keys, fresh, self.trial)

    def together(self) -> list[Learned]:
        """Count what each party learns, alone and with the collector."""
        method, trial = self.policy.method, self.trial
        with progress.step("finding groups in the joined table"):
            return together(trial, self._originals, counts_to=method.counts_to, backend=method.backend)

    def certainty_is_excluded(self, party: str) -> bool:
        """Return whether the limits of the policy exclude that the table alone makes a user certainly present or absent."""
        method = self.policy.method
        least, most = getattr(method, f"min_{party}").share, getattr(method, f"max_{party}").share
        return bool(least > 0 and most < 1 and (party == "a" or method.scope == "qi+sa"))
