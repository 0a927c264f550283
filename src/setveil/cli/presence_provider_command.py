"""`setveil presence provider`."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

from setveil.cli.options import FORCE, REQUIRED, Option
from setveil.cli.presence_options import (
    ID,
    POLICY,
    POPULATION,
    QUERY,
    QUERY_POPULATION,
    SEPARATOR,
    TIMEOUT,
    WAIT,
    population_of,
    refuse_in_the_clear,
    seconds,
    table_of,
)
from setveil.cli.show import say, say_json
from setveil.errors import BadParameter, Missing
from setveil.presence.channel import PARTY_IN_WORDS
from setveil.presence.home import Home
from setveil.presence.meeting import address, greeting, line_to, lines_of
from setveil.presence.parties import run_provider
from setveil.presence.policy import read_policy
from setveil.presence.secure.backends import EXPERIMENTAL, require_backend
from setveil.presence.transport.handshake import greet
from setveil.presence.transport.tls import require_pinned
from setveil.progress import note
from setveil.release.dossier import REPORT_NAME
from setveil.release.provider_folder import NAMES, RUN_NAME, write_provider_folder
from setveil.release.staging import refuse_folder_taken, staged_folder

if TYPE_CHECKING:
    from setveil.presence.channel import Role
    from setveil.presence.parties import ProviderResult
    from setveil.presence.run_ledger import Run
    from setveil.presence.secure.base import Provider

TEXT = """Provider B listens and provider A calls it; both call the collector. All three compare the hash of the policy first. Nothing
of the table leaves this machine but what the ledger of openings in the private folder tells. A second run over some of the same people,
with another population, other data, another policy or another peer, is refused, since two such runs tell real users from dummies;
--again allows it.

Example:
  setveil presence provider --role b --home video --data b.csv \\
      --population population.csv --policy policy.toml \\
      --listen 0.0.0.0:7001 --collector 10.0.0.3:7002 --private run"""


def options(_name: str, _arguments: list[str]) -> list[Option]:
    """Return the options."""
    return [
        Option("role", Literal["a", "b"], "Which provider this is.", REQUIRED),
        Option("home", str, "This party's home, made by presence init.", REQUIRED),
        Option("data", str, "The table: a CSV or Parquet file, or a database with --query.", REQUIRED),
        POPULATION,
        POLICY,
        Option("listen", str, "Of provider B: where to wait for A, as HOST:PORT."),
        Option("peer", str, "Of provider A: where B listens, as HOST:PORT."),
        Option("collector", str, "Where the collector listens, as HOST:PORT.", REQUIRED),
        Option("private", str, "The private folder to make: groups, openings, costs.", REQUIRED),
        Option(
            "again",
            bool,
            "Run although the population, the data, the policy or the peer is another than in an earlier run over some of the same people.",
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
    role = cast("Provider", given["role"])
    place, other = _places(role, given)
    collector_place = address(given["collector"], "--collector")
    timeout, wait = seconds(given)
    private = Path(given["private"])
    refuse_folder_taken(private, mark=RUN_NAME, names=NAMES, force=given["force"])
    home = Home.open(Path(given["home"]))
    if home.role != role:
        raise BadParameter(f"{given['home']} is the home of {PARTY_IN_WORDS[home.role]}, not of {PARTY_IN_WORDS[role]}")
    for party in cast("tuple[Role, ...]", (other, "c")):
        require_pinned(home.credentials(), party)  # before a run is noted in the ledger
    policy = read_policy(given["policy"])
    refuse_in_the_clear(policy)
    population = population_of(given)
    policy.refuse_other(population)
    table = table_of(given["data"], role, policy.schema, population, given)
    policy.rules(len(population))  # what cannot be computed is found before a run is noted, and so is a missing library
    require_backend(policy.method.backend)
    if policy.method.backend == "two-party":
        note(EXPERIMENTAL)
    of_run = {
        "peer": home.pinned[other].fingerprint,
        "population": population,
        "policy": policy.division_sha256,
        "data": table.checksum(),
        "again": given["again"],
    }
    home.ledger.refuse(**of_run)  # before anybody is called
    mine = greeting(home, policy, population.sha256)
    entry: Run | None = None
    try:
        with ExitStack() as lines:
            if role == "b":
                peer = lines.enter_context(lines_of(home, (other,), place, timeout=timeout, wait=wait))[other]
            else:
                peer = lines.enter_context(line_to(home, other, place, timeout=timeout, wait=wait))
            # Twice as patient: the collector may itself be waiting for the other provider, and is the one to say so.
            collector = lines.enter_context(line_to(home, "c", collector_place, timeout=2 * timeout, wait=wait))
            greet(peer, mine)  # with the collector on the line, who hears it where the providers disagree
            greet(collector, mine)
            entry = home.ledger.begin(**of_run)  # from here on the peer may learn something
            result = run_provider(role, policy, table, population, home.dummy_key(), peer=peer, collector=collector)
        with staged_folder(private, force=given["force"]) as folder:
            record = write_provider_folder(folder, role, policy, table, population, result)
            from setveil.report.joined_page import render_run  # noqa: PLC0415 - only when a report is made

            (folder / REPORT_NAME).write_text(render_run(record), encoding="utf-8")
    except BaseException:
        if entry is not None:
            entry.failed()
        raise
    entry.finished()
    _tell(private, result, record, as_json=given["json"])
    return 0


def _places(role: str, given: dict[str, Any]) -> tuple[tuple[str, int], Provider]:
    """Return where the other provider is met, and which it is."""
    wanted, unwanted = ("peer", "listen") if role == "a" else ("listen", "peer")
    if given[unwanted]:
        raise BadParameter(f"--{unwanted} is for the other provider; A calls with --peer, and B waits with --listen")
    if not given[wanted]:
        raise Missing(
            f"--{wanted} is missing: {'where B listens' if role == 'a' else 'where to wait for A'}, as HOST:PORT"
        )
    return address(given[wanted], f"--{wanted}"), "b" if role == "a" else "a"


def _tell(private: Path, result: ProviderResult, record: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        say_json({"private": str(private), **record})
        return
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
