"""`setveil presence attack`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from setveil.cli.options import OutputOptions, about
from setveil.cli.presence.options import TableAArgument, TableBArgument, TrialOptions
from setveil.cli.show import say, say_json, say_table
from setveil.errors import ExitCode
from setveil.presence.attack.attacks import Attacks, Posterior
from setveil.presence.attack.two_runs import CASES, TwoRuns

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from setveil.presence.attack.dummy_test import DummyTest
    from setveil.presence.attack.together import Learned

Kind = Literal["dummies", "posterior", "two-runs", "together", "all"]


def attack(
    a: TableAArgument,
    b: TableBArgument,
    /,
    *,
    tables: TrialOptions,
    kind: Annotated[Kind, about("Which attack to try.")] = "all",
    output: OutputOptions,
) -> ExitCode:
    r"""Try what a party could learn from a run.

    Runs the policy in a trial with both tables at hand, lets each party guess, and compares with the truth. What is opened does not depend
    on the secure computation, so the trial computes in the clear. dummies: which users the sides of divisions give away. posterior: what a
    failed cut tells its owner, exactly, and what a margin changes. two-runs: who moves when a run is repeated, also where only the
    attacker's own table changed. together: who learns what, alone and with the collector. Nothing is written; the numbers never say who.

    Example:
      setveil presence attack trial/a.csv trial/b.csv \
          --population trial/population.csv --policy trial/policy.toml
    """
    attacks = Attacks(*tables.trial(a, b))
    plain: dict[str, Any] = {
        "groups": attacks.trial.a.divided.groups.groups,
        "policy_sha256": attacks.policy.sha256,
    }
    for name, show in _SHOW.items():
        if kind in (name, "all"):
            found = getattr(attacks, name.replace("-", "_"))()
            plain[name.replace("-", "_")] = _plain(found)
            if not output.json:
                show(attacks, found)
    if output.json:
        say_json(plain)
    return ExitCode.OK


def _plain(found: Any) -> Any:
    return found.to_dict() if isinstance(found, Posterior) else [one.to_dict() for one in found]


def _show_dummies(_attacks: Attacks, tests: Iterable[DummyTest]) -> None:
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


def _show_posterior(attacks: Attacks, posterior: Posterior) -> None:
    lines = []
    for one in posterior.failed_cuts:
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
    for one in posterior.failed_cuts:
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
                "0" if attacks.certainty_is_excluded(one.party) else "may occur",
            ]
            for one in posterior.certain
        ],
        title="Certain from the joined table alone",
    )
    own = attacks.policy.method.margin.share
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
            for row in posterior.margins
        ],
        title="What a margin costs in groups, and how many users' posteriors still leave the limits",
    )


def _show_two_runs(_attacks: Attacks, found: Iterable[TwoRuns]) -> None:
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


def _show_together(_attacks: Attacks, found: Iterable[Learned]) -> None:
    say_table(
        ["who", "learns", "number", "of"],
        [[one.who, one.what, one.number, one.of] for one in found],
        title="Who learns what, beyond its own table and the joined table",
    )


_SHOW: dict[str, Callable[[Attacks, Any], None]] = {
    "dummies": _show_dummies,
    "posterior": _show_posterior,
    "two-runs": _show_two_runs,
    "together": _show_together,
}
"""How each attack is printed, in this order."""
