"""`setveil attack`."""

from __future__ import annotations

from typing import Annotated

import setveil as sv
from setveil.catalog import ATTACKS
from setveil.cli.options import OutputOptions, ReadingOptions, ThreadsOption, about
from setveil.cli.show import say, say_json, say_table
from setveil.errors import ExitCode


def attack(
    release: Annotated[str, about("A release folder with its private folder.")],
    /,
    *,
    attack: Annotated[
        list[str] | None,
        about(
            f"NAME, NAME:parameter=value,..., quick or full; can be repeated (default: full). Names: {' | '.join(ATTACKS)}."
        ),
    ] = None,
    original: Annotated[
        str | None, about("The data that the release was made from (default: the place that the private folder names).")
    ] = None,
    control: Annotated[
        str | None,
        about("Records of people who are not in the release (default: a shadow release on a part of the records)."),
    ] = None,
    limit: Annotated[
        str | None, about("The highest excess over the control to accept, such as 5%. The exit code is 3 above it.")
    ] = None,
    targets: Annotated[int, about("Maximum number of guesses of each attack.")] = 2000,
    seed: Annotated[int, about("Determines which people are attacked.")] = 0,
    private: Annotated[
        str | None, about("The private folder of the release (default: RELEASE.private, if it exists).")
    ] = None,
    source: ReadingOptions,
    threads: ThreadsOption = None,
    output: OutputOptions,
) -> ExitCode:
    """Try out what an attacker can still find out from a release.

    Each attack guesses something about people in the release and counts how often it is right, beside the same guesses without the release
    and for people who are not in it. The findings are private: they are added to the dossier and the report. An attack that finds
    little does not show that a release is safe. The reading options apply to --original and --control.

    Example:
      setveil attack release --attack find-record
    """
    found = sv.attack(
        release,
        original,
        attack or None,
        control=control,
        limit=limit,
        targets=targets,
        seed=seed,
        private=private,
        reading=source.given(),
        threads=threads,
    )
    if output.json:
        say_json(found.to_dict())
    else:
        if not found:
            say("no attacks")
        for table in found.tables():
            say_table(table.header, table.rows)
        if any(one.shadow for one in found):
            say("Attacks with a control were run against a shadow release: the same recipe on a part of the records.")
        if found.judgement:
            say(found.judgement)
    return ExitCode.OK if found.meets_limit else ExitCode.VIOLATED
