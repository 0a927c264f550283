"""`setveil presence sample`."""

from __future__ import annotations

import csv
from itertools import compress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from setveil.base import progress
from setveil.base.atomic import make_folder, refuse_folder
from setveil.cli.options import FORCE, REQUIRED, Option
from setveil.cli.show import say, say_json
from setveil.presence.methods.dummy_users import DummyUsers
from setveil.presence.tables.sample import sample
from setveil.presence.trial import policy_of

if TYPE_CHECKING:
    from collections.abc import Iterable

TEXT = """Writes a.csv (a bank), b.csv (a video service), population.csv (everybody, from a third source) and policy.toml. All people
are invented. The column customer of a table is the provider's own customer number, which no run uses.

Example:
  setveil presence sample --out trial"""


TABLES = ("a.csv", "b.csv", "population.csv")
POLICY = "policy.toml"
ABOUT = "about.txt"
"""Tells the folder of a sample from one with somebody's own tables, which may have the same names."""


def options(_name: str, _arguments: list[str]) -> list[Option]:
    """Return the options."""
    return [
        Option("out", str, "The folder to make.", REQUIRED),
        Option("people", int, "How many people the population has.", 20_000),
        Option("seed", int, "Another seed gives other people.", 1),
        FORCE,
    ]


def run(_name: str, given: dict[str, Any]) -> int:
    """Write the files."""
    out = Path(given["out"])
    refuse_folder(out, mark=ABOUT, names=frozenset({ABOUT, POLICY, *TABLES}), force=given["force"])
    with progress.step("inventing people"):
        made = sample(given["people"], given["seed"])
    originals, texts = made.originals, made.texts
    schema = originals.schema
    method = DummyUsers(max_a="0.9", min_a="0.1", max_b="0.9", min_b="0.1")
    at_a, at_b, everybody = TABLES
    columns: dict[str, dict[str, Iterable[str]]] = {everybody: {"id": texts["id"]}}
    for name, role, attributes in ((at_a, "a", schema.a), (at_b, "b", (*schema.b, schema.sensitive))):
        here, table = originals.existing(role), originals.table(role)
        assert table.persons is not None
        own = {one.name: compress(texts[one.name], here) for one in attributes}
        columns[name] = {"id": table.ids.to_pylist(), "customer": table.persons.to_pylist(), **own}
    with make_folder(out, force=given["force"]) as folder, progress.step("writing"):
        for name, held in columns.items():
            with (folder / name).open("w", encoding="utf-8", newline="") as file:
                writer = csv.writer(file, lineterminator="\n")
                writer.writerow(held)
                writer.writerows(zip(*held.values(), strict=True))
        (folder / POLICY).write_text(policy_of(method, originals).to_toml(), encoding="utf-8")
        about = f"Invented people: setveil presence sample --people {given['people']} --seed {given['seed']}\n"
        (folder / ABOUT).write_text(about, encoding="utf-8")
        folder.chmod(0o755)
    counts = {"a": len(originals.table("a")), "b": len(originals.table("b")), "population": len(originals.population)}
    if given["json"]:
        say_json({"out": str(out), **counts})
        return 0
    say(
        f"{out}/ holds a.csv ({counts['a']:,} customers of a bank), b.csv ({counts['b']:,} of a video service), population.csv "
        f"({counts['population']:,} people) and policy.toml"
    )
    say(
        f"try: setveil presence simulate {out}/a.csv {out}/b.csv --population {out}/population.csv --policy {out}/policy.toml "
        "--out joined"
    )
    return 0
