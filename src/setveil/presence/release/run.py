"""A joint run to its files, for Python: over the network as one of the parties, or all three in a trial."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from setveil.base import progress
from setveil.base.arguments import check_arguments
from setveil.base.atomic import make_folder, refuse_folder
from setveil.presence.metrics.range_queries import RangeQueryError
from setveil.presence.network_run import meet_as_collector, meet_as_provider, refuse_no_span
from setveil.presence.release.dossier import make_joined_dossier, save_joined_dossier
from setveil.presence.release.provider_folder import NAMES, RUN_NAME, write_provider_folder
from setveil.presence.release.release import StagedTable
from setveil.presence.trial import simulate
from setveil.release.dossier import DOSSIER_NAME, REPORT_NAME
from setveil.release.saving import Target

if TYPE_CHECKING:
    from collections.abc import Callable

    from setveil.presence.costs import Costs
    from setveil.presence.home import Home
    from setveil.presence.methods.base import Keys
    from setveil.presence.network_run import Places
    from setveil.presence.parties import ProviderResult
    from setveil.presence.policy import Policy
    from setveil.presence.release.card import JoinedCard
    from setveil.presence.tables.joined_table import JoinedTable
    from setveil.presence.tables.originals import Originals
    from setveil.presence.tables.population import Population
    from setveil.presence.tables.provider_table import ProviderTable


@dataclass(frozen=True)
class Provided:
    """A run as a provider took part in it."""

    result: ProviderResult
    record: dict[str, Any]
    """What `run.json` in the private folder says."""


@dataclass(frozen=True)
class Collected:
    """A run as the collector took part in it."""

    card: JoinedCard
    costs: Costs


@check_arguments
def provide(
    home: Home,
    policy: Policy,
    table: ProviderTable,
    population: Population,
    places: Places,
    private: str | Path,
    *,
    again: bool = False,
    force: bool = False,
) -> Provided:
    """Take part in a run as the provider whose home it is, and write the private folder.

    Parameters
    ----------
    home
        The provider's home, with the certificates of the others pinned.
    policy, population
        The same at both providers.
    table
        This provider's users with their customer keys: ``read_provider_table(..., person='COLUMN')``.
    places
        Where this provider meets the others.
    private
        The private folder to make.
    again
        Allow a run over people who were in an earlier run, although the population, the policy, the peer or the data of either provider
        changed. Comparing the two runs tells real users from dummies. Both providers have to allow it.
    force
        Replace the private folder of an earlier run.

    Raises
    ------
    BadParameter
        The ledger of runs refuses this run.
    PeerFailed
        Another party failed, disagrees, or does not allow the run.

    Examples
    --------
    >>> home, policy = sv.Home.open("bank"), sv.read_policy("policy.toml")  # doctest: +SKIP
    >>> population = sv.read_population("population.csv")  # doctest: +SKIP
    >>> table = sv.read_provider_table("a.csv", policy.schema.a, None, person="customer")  # doctest: +SKIP
    >>> sv.provide(home, policy, table, population, sv.Places("10.0.0.2:7621", "10.0.0.3:7622"), "run-a")  # doctest: +SKIP
    """
    target = Path(private)
    refuse_folder(target, mark=RUN_NAME, names=NAMES, force=force)
    result = meet_as_provider(home, policy, table, population, places, again=again)
    with make_folder(target, force=force) as folder:
        record = write_provider_folder(folder, home.role, policy, table, population, result)
        from setveil.presence.report.page import render_run  # noqa: PLC0415 - only when a report is made

        (folder / REPORT_NAME).write_text(render_run(record), encoding="utf-8")
    return Provided(result, record)


@check_arguments
def collect(
    home: Home,
    policy: Policy,
    listen: str,
    out: str | Path,
    *,
    private: str | Path | None = None,
    timeout: float = 3600.0,
    wait: float = 600.0,
    force: bool = False,
) -> Collected:
    """Take part in a run as the collector, who waits for both providers at `listen` (HOST:PORT), and publish the table.

    The release folder `out` appears once all three parties found that the table keeps the policy. `private` is `OUT.private` by default.
    The run is given up after `wait` seconds without both providers, or after `timeout` seconds without a byte.
    """
    refuse_no_span(timeout=timeout, wait=wait)
    target = Target.of(out, private, force=force)
    target.refuse()
    staged = StagedTable(target.out, target.private, policy.method, policy_sha256=policy.sha256, force=force)

    def publish(table: JoinedTable) -> Callable[[], str]:
        staged.stage(table)
        staged.check({"k-anonymity"})
        by_providers = "by each provider on its own side, before publication"
        staged.complete({"k-anonymity": "by the collector, on the file", "site-presence": by_providers})
        record = {"policy_sha256": policy.sha256, "data_sha256": staged.sha256}
        (staged.private / DOSSIER_NAME).write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
        return staged.commit

    with staged:
        costs = meet_as_collector(home, policy, listen, publish, timeout=timeout, wait=wait)
    return Collected(staged.card, costs)


@check_arguments
def publish_trial(
    policy: Policy,
    originals: Originals,
    keys: Keys,
    out: str | Path,
    *,
    private: str | Path | None = None,
    force: bool = False,
) -> dict[str, Any]:
    """Run all three parties in this process and publish the table; return the dossier.

    Both tables are at hand, so everything is checked, also what no party of a real run could check alone. The private folder, `OUT.private`
    by default, holds what each provider would keep, and a report.

    Examples
    --------
    >>> sv.publish_trial(policy, originals, keys, "joined")  # doctest: +SKIP
    """
    target = Target.of(out, private, force=force)
    target.refuse()
    staged = StagedTable(target.out, target.private, policy.method, policy_sha256=policy.sha256, force=force)

    def publish(table: JoinedTable) -> Callable[[], str]:
        staged.stage(table)
        return lambda: staged.sha256

    with staged:
        trial = simulate(policy, originals, keys, publish)
        table = staged.table
        with progress.step("checking the joined table"):
            verdicts = staged.check({"k-anonymity", "site-presence"}, originals, trial.outcome.groups)
        by_trial = "in a trial, with both tables"
        card = staged.complete({"k-anonymity": by_trial, "site-presence": by_trial})
        with progress.step("measuring"):
            measurements = [RangeQueryError()(originals, table)]
        for role, result in (("a", trial.a), ("b", trial.b)):
            folder = staged.private / role
            folder.mkdir(mode=0o700)
            write_provider_folder(folder, role, policy, originals.table(role), originals.population, result)
        dossier = make_joined_dossier(policy, originals, table, trial, card, verdicts, measurements)
        save_joined_dossier(staged.private, dossier)
        with progress.step("writing the report"):
            from setveil.presence.report.page import render_joined  # noqa: PLC0415 - only when a report is made

            (staged.private / REPORT_NAME).write_text(render_joined(dossier), encoding="utf-8")
        staged.commit()
    return dossier
