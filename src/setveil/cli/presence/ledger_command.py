"""`setveil presence ledger`."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import setveil as sv
from setveil.cli.options import OutputOptions, about
from setveil.cli.show import say, say_json, say_table
from setveil.errors import ExitCode


def ledger(
    home: Annotated[str, about("The party's home, made by presence init.")],
    /,
    *,
    recover: Annotated[bool, about("Renew a ledger that is missing, damaged or shortened.")] = False,
    output: OutputOptions,
) -> ExitCode:
    """List the runs that a party's home records, and renew a ledger that was lost.

    The ledger of runs records with whom a provider ran the protocol, over which people, and with which data. It refuses a second run that
    would tell real users from dummies. Each event holds the hash of all events before it, so a ledger that was changed, emptied or
    shortened is an error. If the file is lost and there is no backup, --recover makes a new one from what can still be read. Earlier runs
    may then be missing, so the new ledger refuses every run that it does not hold, unless both providers give --again.

    Example:
      setveil presence ledger bank
    """
    runs = sv.Home.open(home).ledger
    recovered = recover and runs.recover()
    events = runs.events()
    if output.json:
        say_json({"events": [asdict(event) for event in events], "recovered": recovered})
        return ExitCode.OK
    if recover:
        say("the ledger was renewed" if recovered else "the ledger is whole; nothing was renewed")
    if not events:
        say("the ledger is whole and records no run yet")
        return ExitCode.OK
    say_table(
        ["when", "event", "run", "peer's certificate", "people", "allowed again"],
        [
            [one.when, one.outcome, one.run[:8], one.peer[:8], one.people or None, "yes" if one.again else "no"]
            for one in events
        ],
        title="Runs of this home; the chain of hashes is whole",
    )
    return ExitCode.OK
