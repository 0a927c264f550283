"""`setveil presence ledger`."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from setveil.cli.options import Option, argument
from setveil.cli.show import say, say_json, say_table
from setveil.presence.home import Home

TEXT = """The ledger of runs records with whom a provider ran the protocol, over which people, and with which data. It refuses a second
run that would tell real users from dummies. Each event holds the hash of all events before it, so a ledger that was changed, emptied or
shortened is an error. If the file is lost and there is no backup, --recover makes a new one from what can still be read. Earlier runs may
then be missing, so the new ledger refuses every run that it does not hold, unless both providers give --again.

Example:
  setveil presence ledger bank"""


def options(_name: str, _arguments: list[str]) -> list[Option]:
    """Return the options."""
    return [
        argument("home", "The party's home, made by presence init."),
        Option("recover", bool, "Renew a ledger that is missing, damaged or shortened.", False),
    ]


def run(_name: str, given: dict[str, Any]) -> int:
    """List the events."""
    ledger = Home.open(Path(given["home"])).ledger
    recovered = given["recover"] and ledger.recover()
    events = ledger.events()
    if given["json"]:
        say_json({"events": [asdict(event) for event in events], "recovered": recovered})
        return 0
    if given["recover"]:
        say("the ledger was renewed" if recovered else "the ledger is whole; nothing was renewed")
    if not events:
        say("the ledger is whole and records no run yet")
        return 0
    say_table(
        ["when", "event", "run", "peer's certificate", "people", "allowed again"],
        [
            [one.when, one.outcome, one.run[:8], one.peer[:8], one.people or None, "yes" if one.again else "no"]
            for one in events
        ],
        title="Runs of this home; the chain of hashes is whole",
    )
    return 0
