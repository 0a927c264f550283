"""`setveil presence simulate`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from setveil.base import progress
from setveil.cli.options import FORCE, REQUIRED, Option
from setveil.cli.presence.options import TRIAL, place, trial_of
from setveil.cli.show import say, say_json, say_table
from setveil.presence.metrics.range_queries import RangeQueryError
from setveil.presence.release.dossier import make_joined_dossier, save_joined_dossier
from setveil.presence.release.provider_folder import write_provider_folder
from setveil.presence.release.release import JoinedDoor
from setveil.presence.trial import simulate
from setveil.release.card import CARD_NAME
from setveil.release.dossier import REPORT_NAME, private_beside
from setveil.release.saving import refuse_targets

if TYPE_CHECKING:
    from collections.abc import Callable

    from setveil.presence.tables.joined_table import JoinedTable

TEXT = """The same code as the three programs, as threads on lines inside this process, with both tables at hand: so everything is
checked, also what no party of a real run could check alone. The private folder holds what A and B would keep, a and b, and a report of
cost, shares and query error. For the same table as three programs give, name their homes.

Example:
  setveil presence simulate trial/a.csv trial/b.csv \\
      --population trial/population.csv --policy trial/policy.toml --out joined"""


def options(_name: str, _arguments: list[str]) -> list[Option]:
    """Return the options."""
    return [
        *TRIAL,
        Option("out", str, "The release folder to make.", REQUIRED),
        Option("private", str, "The private folder to make (default: OUT.private)."),
        Option("backend", Literal["two-party", "mpyc", "clear"], "Another secure computation than the policy's."),
        FORCE,
    ]


def run(_name: str, given: dict[str, Any]) -> int:
    """Run the trial."""
    out = Path(given["out"])
    private = place(given["private"], private_beside(out))
    refuse_targets(out, private, force=given["force"])
    policy, originals, keys = trial_of(given)
    if given["backend"]:
        policy = policy.changed(backend=given["backend"])
    door = JoinedDoor(out, private, policy.method, policy_sha256=policy.sha256, force=given["force"])
    with door:
        found: list[JoinedTable] = []

        def publish(table: JoinedTable) -> Callable[[], str]:
            found.append(door.stage(table))
            return lambda: door.sha256

        trial = simulate(policy, originals, keys, publish)
        table = found[0]
        with progress.step("checking the joined table"):
            verdicts = door.check(table, {"k-anonymity", "site-presence"}, originals, trial.outcome.groups)
        by_trial = "in a trial, with both tables"
        card = door.complete(table, {"k-anonymity": by_trial, "site-presence": by_trial})
        with progress.step("measuring"):
            measurements = [RangeQueryError()(originals, table)]
        for role, result in (("a", trial.a), ("b", trial.b)):
            folder = door.private / role
            folder.mkdir(mode=0o700)
            write_provider_folder(folder, role, policy, originals.table(role), originals.population, result)
        dossier = make_joined_dossier(policy, originals, table, trial, card, verdicts, measurements)
        save_joined_dossier(door.private, dossier)
        with progress.step("writing the report"):
            from setveil.presence.report.page import render_joined  # noqa: PLC0415 - only when a report is made

            (door.private / REPORT_NAME).write_text(render_joined(dossier), encoding="utf-8")
        door.commit()
    if given["json"]:
        say_json({"out": str(out), "private": str(private), **dossier})
        return 0
    _tell(out, private, dossier)
    return 0


def _in_words(found: dict[str, Any]) -> str:
    """Return a figure beside what makes sense of it: a few queries that hardly anybody meets weigh heavily in the mean."""
    if found["value"] is None:
        return f"none, {found['reason']}"
    beside = found["details"]
    one_group = beside["error-of-one-group"]
    return (
        f"{found['value']:.3g} {found['unit']} (median {beside['median']:.3g}; of a table of one group {one_group:.3g})"
    )


def _tell(out: Path, private: Path, dossier: dict[str, Any]) -> None:
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
    say(
        f"{out / CARD_NAME} says what it is; {private}/ is never handed over. Open {(private / 'report.html').resolve()}"
    )
