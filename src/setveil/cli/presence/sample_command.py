"""`setveil presence sample`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from setveil.cli.options import ForceOption, OutputOptions, about
from setveil.cli.show import say, say_json
from setveil.errors import ExitCode
from setveil.presence.sample_files import write_sample


def sample(
    *,
    out: Annotated[str, about("The folder to make.")],
    people: Annotated[int, about("How many people the population has.")] = 20_000,
    seed: Annotated[int, about("Another seed gives other people.")] = 1,
    force: ForceOption = False,
    output: OutputOptions,
) -> ExitCode:
    """Write the invented tables of a bank and a video service, to try things out.

    Writes a.csv (a bank), b.csv (a video service), population.csv (everybody, from a third source) and policy.toml. All people are
    invented. The column customer of a table is the provider's own customer number, which no run uses.

    Example:
      setveil presence sample --out trial
    """
    folder = Path(out)
    again = f"setveil presence sample --people {people} --seed {seed}"
    made = write_sample(folder, people, seed, made_by=again, force=force)
    counts = {"a": len(made.table("a")), "b": len(made.table("b")), "population": len(made.population)}
    if output.json:
        say_json({"out": str(folder), **counts})
        return ExitCode.OK
    say(
        f"{folder}/ holds a.csv ({counts['a']:,} customers of a bank), b.csv ({counts['b']:,} of a video service), population.csv "
        f"({counts['population']:,} people) and policy.toml"
    )
    say(
        f"try: setveil presence simulate {folder}/a.csv {folder}/b.csv --population {folder}/population.csv --policy {folder}/policy.toml "
        "--out joined"
    )
    return ExitCode.OK
