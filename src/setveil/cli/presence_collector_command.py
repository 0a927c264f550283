"""`setveil presence collector`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from setveil.cli.options import FORCE, REQUIRED, Option
from setveil.cli.presence_options import POLICY, WAIT, place, seconds
from setveil.cli.show import say, say_json
from setveil.errors import PeerFailed
from setveil.presence.home import Home
from setveil.presence.network_run import collect
from setveil.presence.parties import note_unheard
from setveil.presence.policy import read_policy
from setveil.release.card import CARD_NAME
from setveil.release.joined_release import JoinedDoor
from setveil.release.publishing import refuse_targets
from setveil.release.staging import private_beside

if TYPE_CHECKING:
    from collections.abc import Callable

    from setveil.data.joined.joined_table import JoinedTable

TEXT = """Waits for both providers, in any order, joins their halves and publishes once all three found that the table keeps the policy:
each provider its own side of δ-site-presence, the collector k-anonymity on the written file. It never sees ids, nor how large groups are in
the population.

Example:
  setveil presence collector --home agency --policy policy.toml \\
      --listen 0.0.0.0:7002 --out joined"""


def options(_name: str, _arguments: list[str]) -> list[Option]:
    """Return the options."""
    return [
        Option("home", str, "This party's home, made by presence init.", REQUIRED),
        POLICY,
        Option("listen", str, "Where to wait for the providers, as HOST:PORT.", REQUIRED),
        Option("out", str, "The release folder to make.", REQUIRED),
        Option("private", str, "The private folder to make (default: OUT.private)."),
        Option(
            "timeout",
            float,
            "Give up when a provider sent nothing for so many seconds. They divide for as long as they need, and say nothing meanwhile; a "
            "party or a network that is gone is noticed sooner.",
            3600.0,
        ),
        WAIT,
        FORCE,
    ]


def run(_name: str, given: dict[str, Any]) -> int:
    """Run the collector."""
    out = Path(given["out"])
    private = place(given["private"], private_beside(out))
    refuse_targets(out, private, force=given["force"])
    timeout, wait = seconds(given)
    home = Home.open(Path(given["home"]))
    policy = read_policy(given["policy"])
    door = JoinedDoor(out, private, policy.method, policy_sha256=policy.sha256, force=given["force"])
    cards, costs = [], []

    def publish(table: JoinedTable) -> Callable[[], str]:
        again = door.stage(table)
        door.check(again, {"k-anonymity"})
        by_providers = "by each provider on its own side, before publication"
        cards.append(
            door.complete(again, {"k-anonymity": "by the collector, on the file", "site-presence": by_providers})
        )
        record = {"policy_sha256": policy.sha256, "data_sha256": door.sha256}
        (door.private / "dossier.json").write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
        return door.commit

    try:
        with door:
            costs.append(collect(home, policy, given["listen"], publish, timeout=timeout, wait=wait))
    except PeerFailed as error:
        if not door.committed:
            raise
        note_unheard(error)
    card = cards[0]
    if given["json"]:
        say_json({"out": str(out), "card": card.model_dump(mode="json"), "costs": costs[0].to_dict()})
        return 0
    say(
        f"{out}/ holds {card.counts.records:,} records in {card.counts.groups:,} groups; {out / CARD_NAME} says what it is"
    )
    say(card.secure_computation)
    return 0
