"""Joint runs from Python, with all output files: as one party over a network, or as all three parties in a trial."""

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
    """The result of a run for a provider."""

    result: ProviderResult
    record: dict[str, Any]
    """The content of `run.json` in the private folder."""


@dataclass(frozen=True)
class Collected:
    """The result of a run for the collector."""

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
    """Take part in a run as a provider, and write the private folder.

    Parameters
    ----------
    home : Home
        The provider's home, with the pinned certificates of the two other parties. It determines the role, A or B.
    policy : Policy
        The policy that all parties agreed on.
    table : ProviderTable
        The provider's users with their customer keys: ``read_provider_table(..., person='COLUMN')``.
    population : Population
        The ids of all people, the same at both providers.
    places : Places
        The addresses of the other parties.
    private : str or Path
        The private folder to make.
    again : bool
        Allow a run with people who were in an earlier run, although the population, the policy, the peer or the data of either provider
        changed. A comparison of the two runs separates real users from dummies. Both providers must allow it.
    force : bool
        Replace the private folder of an earlier run.

    Returns
    -------
    Provided
        The result of the run, and the content of `run.json`.

    Raises
    ------
    BadParameter
        The ledger of runs refuses this run.
    GuaranteeViolated
        The tables or the joined table violate the policy; nothing is published.
    OutputRefused
        `private` exists and may not be replaced.
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
    """Take part in a run as the collector, and publish the joined table.

    The release folder appears only after all three parties found that the table satisfies the policy.

    Parameters
    ----------
    home : Home
        The collector's home, with the pinned certificates of both providers.
    policy : Policy
        The policy that all parties agreed on.
    listen : str
        The address at which the collector waits for both providers: `HOST:PORT`.
    out : str or Path
        The release folder to make.
    private : str or Path, optional
        The private folder to make; `OUT.private` by default.
    timeout : float
        End the run after this many seconds without a byte from a provider.
    wait : float
        End the run if not both providers connect within this many seconds.
    force : bool
        Replace existing folders of an earlier release.

    Returns
    -------
    Collected
        The card of the release, and the costs of the run.

    Raises
    ------
    GuaranteeViolated
        The table violates k-anonymity; nothing is published.
    OutputRefused
        A folder exists and may not be replaced.
    PeerFailed
        A provider failed or disagrees.

    Examples
    --------
    >>> home, policy = sv.Home.open("agency"), sv.read_policy("policy.toml")  # doctest: +SKIP
    >>> sv.collect(home, policy, "0.0.0.0:7622", "published").card.counts.records  # doctest: +SKIP
    521
    """
    refuse_no_span(timeout=timeout, wait=wait)
    target = Target.of(out, private, force=force)
    target.refuse()
    staged = StagedTable(target.out, target.private, policy.method, policy_sha256=policy.sha256, force=force)

    def publish(table: JoinedTable) -> Callable[[], str]:
        staged.stage(table)
        staged.check({"k-anonymity"})
        by_providers = "by each provider for its own users, before publication"
        staged.complete({"k-anonymity": "by the collector, on the published file", "site-presence": by_providers})
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
    """Run all three parties in this process, and publish the joined table.

    Both tables are available, so everything is checked, including what no party of a real run could check alone. The private folder
    contains the private files of each provider, the dossier and a report.

    Parameters
    ----------
    policy : Policy
        The limits, the columns and the population.
    originals : Originals
        The population, and the tables of both providers.
    keys : Keys
        The keys of both providers.
    out : str or Path
        The release folder to make.
    private : str or Path, optional
        The private folder to make; `OUT.private` by default.
    force : bool
        Replace existing folders of an earlier release.

    Returns
    -------
    dict
        The dossier: counts, verdicts, measurements, openings and costs.

    Raises
    ------
    GuaranteeViolated
        The tables or the joined table violate the policy; nothing is published.
    BadData
        The population is not that of the policy.
    OutputRefused
        A folder exists and may not be replaced.

    Examples
    --------
    >>> import tempfile
    >>> import setveil as sv
    >>> from setveil.presence.tables.sample import sample
    >>> originals, keys = sample(people=2000).originals, sv.Keys(b"a" * 16, b"b" * 16)
    >>> method = sv.DummyUsers(max_a="0.95", min_a="0.05", max_b="0.95", min_b="0.05", backend="clear")
    >>> policy = sv.Policy(method, originals.schema, originals.population.sha256)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     sv.publish_trial(policy, originals, keys, f"{folder}/joined")["table"]["records"]
    281
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
