"""`setveil presence attack`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from setveil.base.display import quantity
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
    kind: Annotated[Kind, about("The attack to try.")] = "all",
    output: OutputOptions,
) -> ExitCode:
    r"""Measure what each party could learn from a run.

    Runs the policy in a trial with both tables, lets each party guess, and compares the guesses with the truth. What a run opens does not
    depend on the secure computation, so the trial computes in the clear. dummies: which users are common, guessed from the parts that they
    fall into. posterior: how likely a user is common after a failed cut (exact), and how a margin changes this. two-runs: which ids change
    their part when a run is repeated, also if only the attacker's own table changed. together: what each party learns, alone and with the
    collector. Nothing is written, and the output contains no ids.

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
            ("joined table", test.table),
            ("both", test.together),
        ):
            rows.append(
                [test.attacker.upper(), source, found.auc, found.lowest, found.highest, found.prior, found.users]
            )
    say_table(
        ["attacker", "from", "AUC", "present, lowest 5 %", "present, highest 5 %", "present, all", "users"],
        rows,
        title="Dummy test: which of the attacker's users are also customers of the other provider",
    )
    say("AUC 0.5 means that nothing is learned. Then both tails have the same share as all users.")
    say()


def _show_posterior(attacks: Attacks, posterior: Posterior) -> None:
    lines = []
    for one in posterior.failed_cuts:
        limits = f"{float(one.limits[0]):.4g} to {float(one.limits[1]):.4g}"
        for reading, name in (
            (one.own, "own cut failed by own rules"),
            (one.unknown, f"own cut failed, other provider's limits violated with q = {float(one.other_fails):.2g}"),
            (one.calm, "other provider's cut failed"),
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
            "groups in which the",
            "groups",
            "users",
            "lowest",
            "highest",
            "limits",
            "users outside",
            "certainly absent",
            "certainly present",
        ],
        lines,
        title="Posterior: how likely a user of the party is common, given the joined table and the failed check",
    )
    for one in posterior.failed_cuts:
        if one.too_large:
            groups = quantity(one.too_large, "group")
            say(f"Not included: {groups} of provider {one.party.upper()}, too large to count.")
    say_table(
        ["party", "certainly present", "certainly absent", "of users", "expected"],
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
        title="Margins: number of groups, and number of users whose posterior is outside the limits",
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
        title="Two or more runs: customers of the other provider, guessed from ids that change their part",
    )
    say("AUC, all: everyone in the population. The columns after it: the attacker's users in the first run.")
    say("AUC 0.5 means that nothing is learned. Then the lowest 5 % have the same share as all (prior).")
    say()


def _show_together(_attacks: Attacks, found: Iterable[Learned]) -> None:
    say_table(
        ["party", "learns", "number", "of"],
        [[one.who, one.what, one.number, one.of] for one in found],
        title="What each party learns, beyond its own table and the joined table",
    )


_SHOW: dict[str, Callable[[Attacks, Any], None]] = {
    "dummies": _show_dummies,
    "posterior": _show_posterior,
    "two-runs": _show_two_runs,
    "together": _show_together,
}
"""The function that prints the results of each attack, in the order of the output."""
