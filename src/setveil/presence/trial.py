"""Trials: all three parties in one process, with the same code as in a real run, on lines inside the process."""

from __future__ import annotations

import secrets
import threading
import time
from contextlib import suppress
from contextvars import copy_context
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from setveil.base.arguments import check_arguments
from setveil.errors import BadData, BadParameter, PeerFailed
from setveil.presence.channel import PARTY_NAMES
from setveil.presence.dummies import KEY_BYTES
from setveil.presence.home import Home
from setveil.presence.methods.base import JoinedOutcome, Keys
from setveil.presence.parties import ProviderResult, run_collector, run_provider
from setveil.presence.policy import Policy
from setveil.presence.tables.joined_files import csv_sha256
from setveil.presence.tables.originals import BothGroups
from setveil.presence.transport.local import local_pair

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from setveil.presence.channel import Channel
    from setveil.presence.costs import Costs
    from setveil.presence.methods.dummy_users import DummyUsers
    from setveil.presence.tables.joined_table import JoinedTable
    from setveil.presence.tables.originals import Originals


@dataclass(frozen=True)
class Trial:
    """The results of all parties after a trial."""

    a: ProviderResult
    b: ProviderResult
    collector: Costs

    @property
    def openings(self) -> dict[str, int]:
        """The number of openings of each kind; an opening to both providers counts once."""
        at_a, at_b = (result.divided.openings.counts() for result in (self.a, self.b))
        return {kind: max(number, at_b[kind]) for kind, number in at_a.items()}

    @property
    def outcome(self) -> JoinedOutcome:
        """The joined table with its groups."""
        groups = BothGroups(self.a.divided.groups, self.b.divided.groups)
        openings = self.openings
        account = {"groups": groups.side("a").groups, "levels": len(self.a.divided.levels), "openings": openings}
        return JoinedOutcome(self.a.table, groups, account)


def run_trial(method: DummyUsers, originals: Originals, keys: Keys) -> JoinedOutcome:
    """Run the protocol on both tables and return the joined table; nothing is written."""
    return simulate(policy_of(method, originals), originals, keys).outcome


def policy_of(method: DummyUsers, originals: Originals) -> Policy:
    """Return the policy of a trial with this method and these tables."""
    return Policy(method, originals.schema, originals.population.sha256)


def refuse_union(originals: Originals, outsiders: int) -> None:
    """Refuse a population with too few people who are users of neither provider."""
    neither = int((~(originals.existing("a") | originals.existing("b"))).sum())
    if neither < outsiders:
        raise BadData(
            f"{neither:,} people of the population are at neither provider; the policy requires at least {outsiders:,} (outsiders), "
            "because otherwise absence from one provider proves presence at the other. Take the population from a third source"
        )


def trial_keys(home_a: str | Path | None = None, home_b: str | Path | None = None) -> Keys:
    """Return the dummy keys of homes, or random ones for this trial."""
    return Keys(_trial_key(home_a, "a"), _trial_key(home_b, "b"))


def _trial_key(home: str | Path | None, role: str) -> bytes:
    if not home:
        return secrets.token_bytes(KEY_BYTES)
    opened = Home.open(home)
    if opened.role != role:
        raise BadParameter(
            f"{home} is the home of {PARTY_NAMES[opened.role]}; `home_{role}=` requires the home of provider {role.upper()}"
        )
    return opened.dummy_key()


@check_arguments
def simulate(
    policy: Policy,
    originals: Originals,
    keys: Keys,
    publish: Callable[[JoinedTable], Callable[[], str]] | None = None,
) -> Trial:
    """Run all three parties of a policy in this process, as a trial.

    Nothing is written. To write the release folder and the private folder, use `publish_trial`.

    Parameters
    ----------
    policy : Policy
        The policy. Its population must be that of `originals`.
    originals : Originals
        The population and the tables of both providers.
    keys : Keys
        The keys that the providers draw their dummies with.
    publish : callable, optional
        The collector's function for writing the table, which returns a function that publishes it and returns its checksum (default:
        nothing is written).

    Returns
    -------
    Trial
        The results of providers A and B (`a`, `b`: groups, joined table, verdicts, costs) and the costs of the collector.

    Raises
    ------
    BadData
        The population is not that of the policy, or has too few people who are users of neither provider.
    GuaranteeViolated
        The population as a whole does not satisfy the policy.

    Examples
    --------
    >>> import secrets
    >>> import setveil as sv
    >>> from setveil.presence.tables.sample import sample
    >>> originals = sample(people=400).originals
    >>> method = sv.DummyUsers(max_a="0.9", min_a="0.1", max_b="0.9", min_b="0.1", backend="clear")
    >>> policy = sv.Policy(method, originals.schema, originals.population.sha256)
    >>> keys = sv.Keys(secrets.token_bytes(32), secrets.token_bytes(32))
    >>> trial = sv.simulate(policy, originals, keys)
    >>> all(trial.a.verdicts) and all(trial.b.verdicts)
    True
    """
    policy.refuse_other(originals.population)
    refuse_union(originals, policy.method.outsiders)
    ab, ba = local_pair("a", "b")
    ac, ca = local_pair("a", "c")
    bc, cb = local_pair("b", "c")

    def provider(role: Any, key: bytes, peer: Channel, collector: Channel) -> ProviderResult:
        return run_provider(
            role,
            policy,
            originals.table(role),
            originals.population,
            key,
            peer=peer,
            collector=collector,
            cpu_clock=time.thread_time,
        )

    parties: dict[str, tuple[Callable[[], Any], list[Channel]]] = {
        "a": (lambda: provider("a", keys.a, ab, ac), [ab, ac]),
        "b": (lambda: provider("b", keys.b, ba, bc), [ba, bc]),
        "c": (lambda: run_collector(policy, ca, cb, publish or _written_nowhere, cpu_clock=time.thread_time), [ca, cb]),
    }
    results = _together(parties)
    return Trial(results["a"], results["b"], results["c"])


def _written_nowhere(table: JoinedTable) -> Callable[[], str]:
    return lambda: csv_sha256(table)


def _together(parties: dict[str, tuple[Callable[[], Any], list[Channel]]]) -> dict[str, Any]:
    """Run each party in a thread; if one fails, abort the lines of the others and raise the first cause."""
    results: dict[str, Any] = {}
    failures: list[BaseException] = []

    def run(name: str) -> None:
        work, lines = parties[name]
        try:
            results[name] = work()
        except BaseException as error:  # noqa: BLE001 - raised again below
            failures.append(error)
            for line in lines:
                with suppress(Exception):
                    line.abort("stopped")
        else:
            for line in lines:
                line.close()

    # Only provider A reports progress, because all three take the same steps.
    threads = [
        threading.Thread(target=copy_context().run if name == "a" else _call, args=(run, name), daemon=True)
        for name in parties
    ]
    for thread in threads:
        thread.start()
    try:
        for thread in threads:
            while thread.is_alive():
                thread.join(0.05)
    except KeyboardInterrupt:
        for _work, lines in parties.values():
            for line in lines:
                with suppress(Exception):
                    line.abort("stopped")
        for thread in threads:
            thread.join(5)
        raise
    if failures:
        raise next((error for error in failures if not isinstance(error, PeerFailed)), failures[0])
    return results


def _call(work: Callable[[str], None], name: str) -> None:
    work(name)
