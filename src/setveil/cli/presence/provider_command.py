"""`setveil presence provider`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import setveil as sv
from setveil.base.display import quantity
from setveil.cli.options import ForceOption, OutputOptions, about
from setveil.cli.presence.options import (
    HomeOption,
    IdOption,
    PolicyOption,
    PopulationOption,
    QueryPopulationOption,
    SeparatorOption,
    WaitOption,
)
from setveil.cli.show import say, say_json, say_verdict
from setveil.errors import ExitCode
from setveil.presence.table_source import TableSource

if TYPE_CHECKING:
    from setveil.presence.release.run import Provided


def provider(
    *,
    role: Annotated[Literal["a", "b"], about("The provider to run: a or b.")],
    home: HomeOption,
    data: Annotated[str, about("The table: a CSV or Parquet file, or a database with --query.")],
    person: Annotated[
        str,
        about(
            "The column of your own, stable customer numbers. The ledger of runs recognizes people by them. They are never sent."
        ),
    ],
    population: PopulationOption,
    policy: PolicyOption,
    listen: Annotated[
        str | None, about("Provider B only: the address to listen on for provider A, as HOST:PORT.")
    ] = None,
    peer: Annotated[str | None, about("Provider A only: the address that provider B listens on, as HOST:PORT.")] = None,
    collector: Annotated[str, about("The address that the collector listens on, as HOST:PORT.")],
    private: Annotated[str, about("The private folder to write: groups, openings and costs.")],
    again: Annotated[
        bool,
        about(
            "Allow a run although the population, the policy, the peer or the data of either provider changed since an earlier run over "
            "some of the same people. Both providers have to allow it."
        ),
    ] = False,
    timeout: Annotated[float, about("Stop if another party sends nothing for this number of seconds.")] = 60.0,
    wait: WaitOption = 600.0,
    id: IdOption = "id",  # noqa: A002 - the word people use
    query: Annotated[str | None, about("The SELECT statement of the table, if it is in a database.")] = None,
    query_population: QueryPopulationOption = None,
    separator: SeparatorOption = None,
    force: ForceOption = False,
    output: OutputOptions,
) -> ExitCode:
    r"""Run provider A or B over the network.

    Provider B listens, provider A connects to it, and both connect to the collector. All three compare the hash of the policy first. The
    run reveals nothing of the table except what the ledger of openings in the private folder records. A second run over some of the same
    people is refused if the population, the policy, the peer or the data of either provider changed, because comparing two such
    runs separates real users from dummies. Both providers can allow it with --again.

    Example:
      setveil presence provider --role b --home video --data b.csv \
          --person customer --population population.csv --policy policy.toml \
          --listen 0.0.0.0:7001 --collector 10.0.0.3:7002 --private run
    """
    places = sv.Places.of_provider(role, collector, peer=peer, listen=listen, timeout=timeout, wait=wait)
    party = sv.Home.open(home)
    party.refuse_other_role(role)
    agreed = sv.read_policy(policy)
    people_source = TableSource(
        place=population, query=query_population, id_column=id, separator=separator, called="query_population"
    )
    people = people_source.population()
    agreed.refuse_other(people)  # before the table is read, which names ids that are not in it
    own = TableSource(place=data, query=query, id_column=id, separator=separator)
    table = own.table(role, agreed.schema, people, person=person)
    folder = Path(private)
    found = sv.provide(party, agreed, table, people, places, folder, again=again, force=force)
    if output.json:
        say_json({"private": str(folder), **found.record})
    else:
        _show(folder, found)
    return ExitCode.OK


def _show(private: Path, found: Provided) -> None:
    result = found.result
    divided = result.divided
    say(
        f"the collector published {quantity(result.table.records, 'record')} in {quantity(result.table.groups, 'group')}, "
        f"SHA-256 {result.sha256}"
    )
    for verdict in result.verdicts:
        say_verdict(verdict, f"{verdict.guarantee}, as far as this provider can check it: {verdict.status}")
    sent = sum(one["bytes_sent"] + one["bytes_received"] for one in result.costs.traffic.values()) / 1e6
    say(
        f"{quantity(len(divided.levels), 'level')}, {quantity(divided.openings.counts()['pass'], 'check')}, {sent:.1f} MB, "
        f"{result.costs.seconds:.1f} s"
    )
    say(f"{private}/ holds the groups and the ledger of openings; keep it private")
