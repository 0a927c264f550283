"""`setveil presence collector`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from setveil.cli.options import FORCE, REQUIRED, Option
from setveil.cli.presence.options import POLICY, WAIT, seconds
from setveil.cli.show import say, say_json
from setveil.presence.home import Home
from setveil.presence.policy import read_policy
from setveil.presence.release.run import collect
from setveil.release.card import CARD_NAME

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
    timeout, wait = seconds(given)
    found = collect(
        Home.open(Path(given["home"])),
        read_policy(given["policy"]),
        given["listen"],
        out,
        private=given["private"],
        timeout=timeout,
        wait=wait,
        force=given["force"],
    )
    card = found.card
    if given["json"]:
        say_json({"out": str(out), "card": card.model_dump(mode="json"), "costs": found.costs.to_dict()})
        return 0
    say(
        f"{out}/ holds {card.counts.records:,} records in {card.counts.groups:,} groups; {out / CARD_NAME} says what it is"
    )
    say(card.secure_computation)
    return 0
