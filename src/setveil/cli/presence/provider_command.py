"""`setveil presence provider`."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from setveil.cli.options import FORCE, REQUIRED, Option
from setveil.cli.presence.options import (
    ID,
    POLICY,
    POPULATION,
    QUERY,
    QUERY_POPULATION,
    SEPARATOR,
    TIMEOUT,
    WAIT,
    population_of,
    seconds,
    table_of,
)
from setveil.cli.show import say, say_json
from setveil.errors import BadParameter, Missing
from setveil.presence.channel import PARTY_IN_WORDS
from setveil.presence.home import Home
from setveil.presence.network_run import Places
from setveil.presence.policy import read_policy
from setveil.presence.release.run import Provided, provide

TEXT = """Provider B listens and provider A calls it; both call the collector. All three compare the hash of the policy first. Nothing
of the table leaves this machine but what the ledger of openings in the private folder tells. A second run over some of the same people is
refused if the population, the policy, the peer or the data of either provider changed, since two such runs tell real users from dummies.
Both providers can allow it with --again.

Example:
  setveil presence provider --role b --home video --data b.csv \\
      --person customer --population population.csv --policy policy.toml \\
      --listen 0.0.0.0:7001 --collector 10.0.0.3:7002 --private run"""


def options(_name: str, _arguments: list[str]) -> list[Option]:
    """Return the options."""
    return [
        Option("role", Literal["a", "b"], "Which provider this is.", REQUIRED),
        Option("home", str, "This party's home, made by presence init.", REQUIRED),
        Option("data", str, "The table: a CSV or Parquet file, or a database with --query.", REQUIRED),
        Option(
            "person",
            str,
            "The column of your own customer numbers, which never change. The ledger of runs recognizes people by it. It is never sent.",
            REQUIRED,
        ),
        POPULATION,
        POLICY,
        Option("listen", str, "Of provider B: where to wait for A, as HOST:PORT."),
        Option("peer", str, "Of provider A: where B listens, as HOST:PORT."),
        Option("collector", str, "Where the collector listens, as HOST:PORT.", REQUIRED),
        Option("private", str, "The private folder to make: groups, openings, costs.", REQUIRED),
        Option(
            "again",
            bool,
            "Allow a run although the population, the policy, the peer or the data of either provider changed since an earlier run "
            "over some of the same people. Both providers have to allow it.",
            False,
        ),
        TIMEOUT,
        WAIT,
        ID,
        QUERY,
        QUERY_POPULATION,
        SEPARATOR,
        FORCE,
    ]


def run(_name: str, given: dict[str, Any]) -> int:
    """Run a provider."""
    role = given["role"]
    places = _places(role, given)
    private = Path(given["private"])
    home = Home.open(Path(given["home"]))
    if home.role != role:
        raise BadParameter(f"{given['home']} is the home of {PARTY_IN_WORDS[home.role]}, not of {PARTY_IN_WORDS[role]}")
    policy = read_policy(given["policy"])
    population = population_of(given)
    policy.refuse_other(population)  # before the table is read, which names ids that are not in it
    table = table_of(given["data"], role, policy.schema, population, given)
    found = provide(home, policy, table, population, places, private, again=given["again"], force=given["force"])
    _tell(private, found, as_json=given["json"])
    return 0


def _places(role: str, given: dict[str, Any]) -> Places:
    """Return where the others are met."""
    wanted, unwanted = ("peer", "listen") if role == "a" else ("listen", "peer")
    if given[unwanted]:
        raise BadParameter(f"--{unwanted} is for the other provider; A calls with --peer, and B waits with --listen")
    if not given[wanted]:
        raise Missing(
            f"--{wanted} is missing: {'where B listens' if role == 'a' else 'where to wait for A'}, as HOST:PORT"
        )
    timeout, wait = seconds(given)
    return Places(given[wanted], given["collector"], timeout, wait)


def _tell(private: Path, found: Provided, *, as_json: bool) -> None:
    if as_json:
        say_json({"private": str(private), **found.record})
        return
    result = found.result
    divided = result.divided
    say(
        f"the collector published {result.table.records:,} records in {result.table.groups:,} groups, sha256 {result.sha256}"
    )
    for verdict in result.verdicts:
        say(f"{verdict.guarantee}, as far as this provider can check it: {verdict.status}")
    sent = sum(one["bytes_sent"] + one["bytes_received"] for one in result.costs.traffic.values()) / 1e6
    say(
        f"{len(divided.levels)} levels, {divided.openings.counts()['pass']:,} checks, {sent:.1f} MB, {result.costs.seconds:.1f} s"
    )
    say(f"{private}/ holds the groups and the ledger of openings; it is never handed over")
