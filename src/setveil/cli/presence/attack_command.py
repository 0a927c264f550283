"""`setveil presence attack`."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Any, Literal

from setveil.base import progress
from setveil.cli.options import Option
from setveil.cli.presence.options import TRIAL, trial_of
from setveil.cli.show import say, say_json, say_table
from setveil.presence.attack.certain import Certain, certain
from setveil.presence.attack.dummy_test import DummyTest, dummy_test
from setveil.presence.attack.failed_cuts import FailedCuts, MarginRow, failed_cuts, margins, with_margin
from setveil.presence.attack.together import Learned, together
from setveil.presence.attack.two_runs import CASES, TwoRuns, two_runs
from setveil.presence.dummies import KEY_BYTES
from setveil.presence.methods.base import Keys
from setveil.presence.policy import Policy
from setveil.presence.trial import simulate

if TYPE_CHECKING:
    from collections.abc import Iterable

    from setveil.presence.tables.originals import Originals
    from setveil.presence.trial import Trial

TEXT = """Runs the policy in a trial with both tables at hand, lets each party guess, and compares with the truth. What is opened does not
depend on the secure computation, so the trial computes in the clear. dummies: which users the sides of divisions give away. posterior: what
a failed cut tells its owner, exactly, and what a margin changes. two-runs: who moves when a run is repeated, also where only the attacker's
own table changed. together: who learns what, alone and with the collector. Nothing is written; the numbers never say who.

Example:
  setveil presence attack trial/a.csv trial/b.csv \\
      --population trial/population.csv --policy trial/policy.toml"""

Kind = Literal["dummies", "posterior", "two-runs", "together", "all"]


def options(_name: str, _arguments: list[str]) -> list[Option]:
    """Return the options."""
    return [
        *TRIAL,
        Option("kind", Kind, "Which attack to try.", "all"),
    ]


def run(_name: str, given: dict[str, Any]) -> int:
    """Try the attacks."""
    policy, originals, keys = trial_of(given)
    clear = policy.changed(backend="clear")  # which opens the same and draws the same dummies
    trial = simulate(clear, originals, keys)
    wanted = ("dummies", "posterior", "two-runs", "together") if given["kind"] == "all" else (given["kind"],)
    attacks = {
        "dummies": lambda: _dummies(trial, originals),
        "posterior": lambda: _posterior(clear, trial, originals, keys),
        "two-runs": lambda: _two_runs(clear, trial, originals, keys),
        "together": lambda: _together(policy, trial, originals),
    }
    found: dict[str, Any] = {"groups": trial.a.divided.groups.groups, "policy_sha256": policy.sha256}
    for name in wanted:
        results, tell = attacks[name]()
        found[name.replace("-", "_")] = results
        if not given["json"]:
            tell()
    if given["json"]:
        say_json(found)
    return 0


def _dummies(trial: Trial, originals: Originals) -> tuple[Any, Any]:
    with progress.step("the dummy test"):
        tests = [dummy_test(trial, originals, attacker) for attacker in ("b", "a")]
    return [test.to_dict() for test in tests], lambda: _tell_dummies(tests)


def _tell_dummies(tests: Iterable[DummyTest]) -> None:
    rows = []
    for test in tests:
        for source, found in (
            (f"sides of {test.splits:,} divisions", test.sides),
            ("the joined table", test.table),
            ("both", test.together),
        ):
            rows.append(
                [test.attacker.upper(), source, found.auc, found.lowest, found.highest, found.prior, found.users]
            )
    say_table(
        ["attacker", "from", "AUC", "present, lowest 5 %", "present, highest 5 %", "present, all", "users"],
        rows,
        title="Dummy test: which own users are at the other provider",
    )
    say("Nothing learned: AUC 0.5, and in both tails the share of all.")
    say()


def _posterior(policy: Policy, trial: Trial, originals: Originals, keys: Keys) -> tuple[Any, Any]:
    found = [failed_cuts(trial, originals, policy.method, party) for party in ("a", "b")]
    sure = [certain(trial.a.divided, originals, party) for party in ("a", "b")]
    with progress.step("runs with other margins"):
        rows = margins(policy, originals, keys, with_margin(policy))
    results = {
        "failed_cuts": [one.to_dict() for one in found],
        "certain_from_the_table": [one.to_dict() for one in sure],
        "margins": [row.to_dict() for row in rows],
    }
    return results, lambda: _tell_posterior(found, sure, rows, policy)


def _tell_posterior(
    found: Iterable[FailedCuts], sure: Iterable[Certain], rows: Iterable[MarginRow], policy: Policy
) -> None:
    lines = []
    for one in found:
        limits = f"{float(one.limits[0]):.4g} to {float(one.limits[1]):.4g}"
        for reading, name in (
            (one.own, "own cut failed, by own rules"),
            (one.unknown, f"own cut failed, other's limits with q = {float(one.other_fails):.2g}"),
            (one.calm, "other's cut failed"),
        ):
            edges = [None if edge is None else float(edge) for edge in (reading.lowest, reading.highest)]
            lines.append(
                [
                    one.party.upper(),
                    name,
                    reading.groups,
                    reading.users,
                    *edges,
                    limits,
                    reading.outside,
                    reading.absent,
                    reading.present,
                ]
            )
    say_table(
        [
            "party",
            "groups where the",
            "groups",
            "users",
            "lowest",
            "highest",
            "limits",
            "users outside",
            "surely absent",
            "surely present",
        ],
        lines,
        title="Posterior: how likely an own user is common, given the joined table and the failed check",
    )
    for one in found:
        if one.too_large:
            say(f"{one.too_large:,} groups of {one.party.upper()} are too large to count and left out.")
    say_table(
        ["party", "surely present", "surely absent", "of users", "expected"],
        [
            [
                one.party.upper(),
                one.present,
                one.absent,
                one.users,
                "0" if _certainty_is_excluded(policy, one.party) else "may occur",
            ]
            for one in sure
        ],
        title="Certain from the joined table alone",
    )
    own = policy.method.margin.share
    say_table(
        ["margin", "groups", "A outside, own", "A outside, unknown", "B outside, own", "B outside, unknown"],
        [
            [
                f"{row.margin}{' (the policy)' if row.margin == own else ''}",
                row.groups,
                *(
                    None if side is None else getattr(side, reading).outside
                    for side in (row.a, row.b)
                    for reading in ("own", "unknown")
                ),
            ]
            for row in rows
        ],
        title="What a margin costs in groups, and how many users' posteriors still leave the limits",
    )


def _certainty_is_excluded(policy: Policy, party: str) -> bool:
    """Tell whether the limits of the policy exclude that the table alone makes anybody certain."""
    method = policy.method
    least, most = getattr(method, f"min_{party}").share, getattr(method, f"max_{party}").share
    return least > 0 and most < 1 and (party == "a" or method.scope == "qi+sa")


def _two_runs(policy: Policy, trial: Trial, originals: Originals, keys: Keys) -> tuple[Any, Any]:
    fresh = Keys(secrets.token_bytes(KEY_BYTES), secrets.token_bytes(KEY_BYTES))
    found = two_runs(policy, originals, keys, fresh, trial)
    return [one.to_dict() for one in found], lambda: _tell_two_runs(found)


def _tell_two_runs(found: Iterable[TwoRuns]) -> None:
    say_table(
        ["changed from run to run", "attacker", "runs", "AUC, all", "AUC, own", "lowest 5 %", "prior"],
        [
            [
                CASES[one.case],
                one.attacker.upper(),
                one.runs,
                one.everybody.auc,
                one.own.auc,
                one.own.lowest,
                one.own.prior,
            ]
            for one in found
        ],
        title="Two runs and more: who exists at the other provider, from who moves",
    )
    say("AUC, all: everybody in the population. The columns after it: the attacker's users in the first run.")
    say("Nothing learned: AUC 0.5, and as many common users in the lowest 5 % as among all (prior).")
    say()


def _together(policy: Policy, trial: Trial, originals: Originals) -> tuple[Any, Any]:
    method = policy.method
    with progress.step("finding groups in the joined table"):
        found = together(trial, originals, counts_to=method.counts_to, backend=method.backend)
    return [one.to_dict() for one in found], lambda: _tell_together(found)


def _tell_together(found: Iterable[Learned]) -> None:
    say_table(
        ["who", "learns", "number", "of"],
        [[one.who, one.what, one.number, one.of] for one in found],
        title="Who learns what, beyond its own table and the joined table",
    )
