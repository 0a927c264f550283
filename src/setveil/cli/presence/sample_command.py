"""`setveil presence sample`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from setveil.base.display import quantity
from setveil.cli.options import ForceOption, OutputOptions, about
from setveil.cli.show import say, say_json
from setveil.errors import ExitCode
from setveil.presence.sample_files import write_sample


def sample(
    *,
    out: Annotated[str, about("The folder to write.")],
    people: Annotated[int, about("Number of people in the population.")] = 20_000,
    seed: Annotated[int, about("Seed of the random generator.")] = 1,
    force: ForceOption = False,
    output: OutputOptions,
) -> ExitCode:
    """Write sample tables of a bank and a video service.

    Writes a.csv (the bank), b.csv (the video service), population.csv (everyone, as if from a third source) and policy.toml. All people
    are invented. The column customer of each table holds the provider's own customer numbers, which are never sent.

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
        f"{folder}/ holds a.csv ({quantity(counts['a'], 'customer')} of a bank), b.csv ({quantity(counts['b'], 'customer')} of a video "
        f"service), population.csv ({counts['population']:,} people) and policy.toml"
    )
    say(
        f"try: setveil presence simulate {folder}/a.csv {folder}/b.csv --population {folder}/population.csv --policy {folder}/policy.toml "
        "--out joined"
    )
    return ExitCode.OK
