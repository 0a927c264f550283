"""`setveil presence simulate`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

import setveil as sv
from setveil.cli.options import ForceOption, OutputOptions, PrivateFolderOption, ReleaseFolderOption, about
from setveil.cli.presence.options import TableAArgument, TableBArgument, TrialOptions
from setveil.cli.show import say, say_json, say_table
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
        Literal["two-party", "mpyc", "clear"] | None, about("Another secure computation than the policy's.")
    ] = None,
    force: ForceOption = False,
    output: OutputOptions,
) -> ExitCode:
    r"""Run all three parties on this machine, for a trial.

    The same code as the three programs, as threads on lines inside this process, with both tables at hand: so everything is checked, also
    what no party of a real run could check alone. The private folder holds what A and B would keep, a and b, and a report of cost, shares
    and query error. For the same table as three programs give, name their homes.

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


def _in_words(found: dict[str, Any]) -> str:
    """Return a figure beside what makes sense of it: a few queries that hardly anybody meets weigh heavily in the mean."""
    if found["value"] is None:
        return f"none, {found['reason']}"
    beside = found["details"]
    one_group = beside["error-of-one-group"]
    return (
        f"{found['value']:.3g} {found['unit']} (median {beside['median']:.3g}; of a table of one group {one_group:.3g})"
    )


def _show(out: Path, private: Path, dossier: dict[str, Any]) -> None:
    users, table, costs = dossier["users"], dossier["table"], dossier["costs"]
    say(
        f"{out}/ holds {table['records']:,} records in {table['groups']:,} groups, joined from {users['a']:,} users of A and "
        f"{users['b']:,} of B"
    )
    for verdict in dossier["verdicts"]:
        say(f"{verdict['guarantee']}: {verdict['status']}")
    between = costs["a"]["traffic"]["b"]
    say_table(
        ["cost", "number"],
        [
            ["seconds", round(costs["a"]["seconds"], 2)],
            ["checks of a division", dossier["openings"]["pass"]],
            ["levels", len(costs["a"]["levels"])],
            ["messages between A and B", between["messages_sent"] + between["messages_received"]],
            ["megabytes between A and B", round((between["bytes_sent"] + between["bytes_received"]) / 1e6, 1)],
        ],
    )
    for one in dossier["measurements"]:
        say(f"{one['name']}: {_in_words(one)}")
    say(dossier["card"]["secure_computation"])
    say(f"{out / CARD_NAME} says what it is; {private}/ is never handed over. Open {(private / REPORT_NAME).resolve()}")
