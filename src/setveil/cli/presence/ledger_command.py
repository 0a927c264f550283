"""`setveil presence ledger`."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import setveil as sv
from setveil.cli.options import OutputOptions, about
from setveil.cli.show import say, say_json, say_table
from setveil.errors import ExitCode


def ledger(
    home: Annotated[str, about("The party's home, created with presence init.")],
    /,
    *,
    recover: Annotated[bool, about("Recover a ledger that is missing, damaged or shortened.")] = False,
    output: OutputOptions,
) -> ExitCode:
    """List the runs that a party's home records, or recover a lost ledger.

    The ledger of runs records each run of a provider: the peer, the people and the data. It refuses a second run that would separate real
    users from dummies. Each event holds the hash of all events before it, so a ledger that was changed, emptied or shortened is an error.
    If the file is lost and there is no backup, --recover makes a new ledger from what can still be read. Earlier runs may then be missing,
    so the new ledger refuses every run that it does not hold, unless both providers give --again.

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
        say("the ledger was recovered" if recovered else "the ledger is intact; nothing was recovered")
    if not events:
        say("the ledger is intact and records no runs yet")
        return ExitCode.OK
    say_table(
        ["time", "event", "run", "peer's certificate", "people", "allowed with --again"],
        [
            [one.when, one.outcome, one.run[:8], one.peer[:8], one.people or None, "yes" if one.again else "no"]
            for one in events
        ],
        title="Runs of this home; the chain of hashes is intact",
    )
    return ExitCode.OK
