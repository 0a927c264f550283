"""Commands that use what the program compiles: every method with a check and all its metrics, profiles, mining, conversion.

`job.py` runs them to compile, `check_wheels.py` to verify that nothing is left to compile.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from setveil.catalog import METHODS
from setveil.method_description import describe_method

if TYPE_CHECKING:
    from setveil.parameters.kind import CommandExample

SAMPLE = "sample:supermarket"
SMALL = "sample:supermarket?records=2000"
SEED = str(2**100 + 1)

OTHERS = [
    ["profile", SMALL, "--sensitive", SAMPLE],
    ["risk", SMALL, "--sensitive", SAMPLE],
    ["attacks"],
    ["mine", SMALL, "--min-support", "1%", "--out", "all.csv"],
    ["mine", SMALL, "--min-support", "1%", "--kind", "closed", "--out", "closed.csv"],
    ["mine", SMALL, "--min-support", "1%", "--kind", "maximal", "--out", "maximal.csv"],
    ["mine", SMALL, "--top", "50", "--out", "top.csv"],
    ["mine", SMALL, "--min-support", "1%", "--rules", "--out", "rules.csv"],
    ["convert", SMALL, "baskets.parquet"],
    ["convert", "baskets.parquet", "baskets.txt"],
    ["convert", "baskets.parquet", "baskets.csv"],
    ["profile", "baskets.txt"],
    ["profile", "baskets.csv"],
    ["publish", SMALL, "--method", "disassociation", "--k", "5", "--m", "2", "--out", "registered", "--register", "releases.db"],
    ["advise", SMALL, "--record", "person", "--recipients", "contract", "--hide", "identity,sensitive-items,preference", "--known", "2",
     "--rows", "counts", "--work", "recommendation", "--earlier", "no", "--sensitive", SAMPLE, "--categories", SAMPLE],
    ["compare", SMALL, "registered", "--out", "compared"],
    ["releases", "--register", "releases.db"],
    ["withdraw", "1", "--register", "releases.db"],
    ["demo", "--out", "demo"],
    ["methods"],
    ["guarantees"],
    ["metrics"],
    ["reproduce"],
    ["presence", "sample", "--people", "600", "--out", "trial"],
    ["presence", "policy", "--show", "trial/policy.toml"],
    ["presence", "simulate", "trial/a.csv", "trial/b.csv", "--policy", "trial/policy.toml", "--population", "trial/population.csv",
     "--out", "joined"],
]  # fmt: skip
"""The commands that are not examples of a method."""


def list_commands() -> list[list[str]]:
    """Return the arguments of all commands, to be run in this order in one folder."""
    found = list(OTHERS)
    for name, kind in METHODS.items():
        for example in describe_method(kind).example:
            words = _typed(example, f"{name}.")
            if words not in found:
                found.append(words)
            if example.command == "publish":
                original, out = words[1], words[words.index("--out") + 1]
                if "--no-guarantee" not in words:
                    found.append(["check", out, "--original", original])
                found.append(["measure", SMALL, out])
                if original == SMALL:
                    found.append(["attack", out, "--attack", "quick", "--targets", "50"])
    found.append(["check", "--together", "insert.release", "insert.release", "--original", SMALL])
    return found


def _typed(example: CommandExample, prefix: str) -> list[str]:
    """Return the words of an example, on less data, with a seed, and with release folders of its own."""
    words = [example.command, *(SMALL if one == SAMPLE else one for one in example.arguments)]
    for name, value in example.options:
        words += [f"--{name.replace('_', '-')}", *([] if value is True else [str(value)])]
    words += ["--seed", SEED if example.command == "publish" else "1"]
    return [prefix + word if word in {"release", "again"} else word for word in words]
