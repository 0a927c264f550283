"""`setveil presence simulate`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

import setveil as sv
from setveil.base.display import quantity
from setveil.cli.options import ForceOption, OutputOptions, PrivateFolderOption, ReleaseFolderOption, about
from setveil.cli.presence.options import TableAArgument, TableBArgument, TrialOptions
from setveil.cli.show import colour_status, say, say_json, say_table
from setveil.errors import ExitCode
from setveil.release.card import CARD_NAME
from setveil.release.dossier import REPORT_NAME
from setveil.release.saving import Target

if TYPE_CHECKING:
    from pathlib import Path


def simulate(
    a: TableAArgument,
    b: TableBArgument,
    /,
    *,
    tables: TrialOptions,
    out: ReleaseFolderOption,
    private: PrivateFolderOption = None,
    backend: Annotated[
        Literal["two-party", "mpyc", "clear"] | None, about("Override the policy's secure-computation backend.")
    ] = None,
    force: ForceOption = False,
    output: OutputOptions,
) -> ExitCode:
    r"""Run all three parties on this machine, as a trial.

    Runs the same code as the three programs, as threads in one process. Both tables are available, so everything is checked, including
    what no single party of a real run could check. The private folder holds the folders a and b, which the providers would keep, and a
    report of cost, shares and query error. To get the same table as from the three programs, name the homes with --home-a and --home-b.

    Example:
      setveil presence simulate trial/a.csv trial/b.csv \
          --population trial/population.csv --policy trial/policy.toml --out joined
    """
    target = Target.of(out, private, force=force)
    target.refuse()  # before the tables are read
    policy, originals, keys = tables.trial(a, b)
    if backend:
        policy = policy.changed(backend=backend)
    dossier = sv.publish_trial(policy, originals, keys, target.out, private=target.private, force=force)
    if output.json:
        say_json({"out": str(target.out), "private": str(target.private), **dossier})
    else:
        _show(target.out, target.private, dossier)
    return ExitCode.OK


def _measurement_text(found: dict[str, Any]) -> str:
    """Return a query error with its median and a baseline: a few queries that hardly any record matches dominate the mean."""
    if found["value"] is None:
        return f"none, {found['reason']}"
    beside = found["details"]
    one_group = beside["error-of-one-group"]
    return f"{found['value']:.3g} {found['unit']} (median {beside['median']:.3g}; {one_group:.3g} for a table with a single group)"


def _show(out: Path, private: Path, dossier: dict[str, Any]) -> None:
    users, table, costs = dossier["users"], dossier["table"], dossier["costs"]
    say(
        f"{out}/ holds {quantity(table['records'], 'record')} in {quantity(table['groups'], 'group')}, joined from "
        f"{quantity(users['a'], 'user')} of provider A and {quantity(users['b'], 'user')} of provider B"
    )
    for verdict in dossier["verdicts"]:
        say(colour_status(f"{verdict['guarantee']}: {verdict['status']}", verdict["status"]))
    between = costs["a"]["traffic"]["b"]
    say_table(
        ["cost", "number"],
        [
            ["seconds", round(costs["a"]["seconds"], 2)],
            ["checks of divisions", dossier["openings"]["pass"]],
            ["levels", len(costs["a"]["levels"])],
            ["messages between A and B", between["messages_sent"] + between["messages_received"]],
            ["megabytes between A and B", round((between["bytes_sent"] + between["bytes_received"]) / 1e6, 1)],
        ],
    )
    for one in dossier["measurements"]:
        say(f"{one['name']}: {_measurement_text(one)}")
    say(dossier["card"]["secure_computation"])
    say(
        f"{out / CARD_NAME} describes the table. Keep {private}/ private. To read the report, open {(private / REPORT_NAME).resolve()}"
    )
