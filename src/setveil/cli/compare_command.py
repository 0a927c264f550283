"""`setveil compare`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import setveil as sv
from setveil.base.translation import naming_keys
from setveil.cli.options import OutputOptions, ReadingOptions, ThreadsOption, about
from setveil.cli.show import say, say_json, say_table
from setveil.comparison.folder import NAMES, PAGE_NAME
from setveil.comparison.trials import ATTACKS, TASK
from setveil.errors import BadParameter, ExitCode


def compare(
    place: Annotated[
        list[str],
        about("A TOML file with methods, settings and seeds, such as grid.toml; or the original and release folders."),
    ],
    /,
    *,
    out: Annotated[
        str,
        about("The folder to write. If it holds the same comparison, its trials are not run again. Keep it private."),
    ],
    budget: Annotated[
        str | None, about("How long to run, such as 20min, 90s or 2h (default: until all trials are done).")
    ] = None,
    heldout: Annotated[
        str | None,
        about("With releases: records of people who are not in the original, to test the task and attacks with."),
    ] = None,
    task: Annotated[
        str | None,
        about(f"With releases: the metric of what is kept, NAME or NAME:parameter=value,... (default: {TASK})."),
    ] = None,
    attack: Annotated[
        list[str] | None,
        about(
            f"With releases: an attack to try, NAME or NAME:parameter=value,...; can be repeated (default: {', '.join(ATTACKS)})."
        ),
    ] = None,
    source: ReadingOptions,
    threads: ThreadsOption = None,
    output: OutputOptions,
) -> ExitCode:
    r"""Compare methods and settings on the same data, or finished releases.

    With a TOML file, a part of the people is held out. Each method runs on the others with each of its settings and seeds, first on a
    sample and then on all records. The task and the attacks are tested with the people who were held out. Nothing is published. After
    Ctrl-C, run the same command again to continue. With releases, the reading options apply to the original.

    The folder shows what you can choose from your private data: name it with setveil publish --comparison.

    Example:
      setveil compare sample:supermarket release --out comparison
    """
    if len(place) == 1:
        of_releases = {"heldout": heldout, "task": task, "attack": attack, **source.given()}
        for name, value in of_releases.items():
            if value:
                raise BadParameter(f"`{name}=` is for finished releases; the file describes everything else. Remove it")
        with naming_keys(without=("out", "budget", "threads")):
            found = sv.compare(place[0], out=out, budget=budget, threads=threads)
    else:
        if budget is not None:
            raise BadParameter("`budget=` is for a file with methods and settings; remove it")
        original, *releases = place
        given: dict[str, Any] = {"heldout": heldout, "task": task, "attacks": attack}
        chosen = {name: value for name, value in given.items() if value is not None}
        found = sv.compare_releases(original, releases, out=out, reading=source.given(), threads=threads, **chosen)
    if output.json:
        say_json(found.to_dict())
        return ExitCode.OK
    table = found.table()
    say_table(table.header, table.rows)
    say()
    say(
        f"Task: {found.facts['task']['title']}, {found.facts['task']['unit']} ({found.facts['task']['better']} is better)."
    )
    if not found.facts["data"]["held_out"]:
        say("Optimistic: the task was tested on the same people that the releases were made from.")
    say(
        f"Open {out}/{PAGE_NAME}. Keep {out}/ private: {', '.join(name for name in NAMES if (Path(out) / name).exists())}"
    )
    return ExitCode.OK
