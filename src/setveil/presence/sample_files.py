"""Files with sample tables of two providers. All people are invented."""

from __future__ import annotations

import csv
from itertools import compress
from pathlib import Path
from typing import TYPE_CHECKING

from setveil.base import progress
from setveil.base.atomic import make_folder, refuse_folder
from setveil.presence.methods.dummy_users import DummyUsers
from setveil.presence.tables.sample import sample
from setveil.presence.trial import policy_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from setveil.presence.tables.originals import Originals

TABLES = ("a.csv", "b.csv", "population.csv")
POLICY = "policy.toml"
ABOUT = "about.txt"
"""The file that marks a folder as a sample, as opposed to a user's own tables, whose files may have the same names."""


def write_sample(out: str | Path, people: int, seed: int, *, made_by: str, force: bool = False) -> Originals:
    """Write both tables, the population and a policy to a new folder; return the tables.

    `made_by` is recorded in the folder, so that the same sample can be made again.
    """
    place = Path(out)
    refuse_folder(place, mark=ABOUT, names=frozenset({ABOUT, POLICY, *TABLES}), force=force)
    with progress.step("inventing people"):
        made = sample(people, seed)
    originals, texts = made.originals, made.texts
    schema = originals.schema
    method = DummyUsers(max_a="0.9", min_a="0.1", max_b="0.9", min_b="0.1")
    at_a, at_b, all_people = TABLES
    columns: dict[str, dict[str, Iterable[str]]] = {all_people: {"id": texts["id"]}}
    for name, role, attributes in ((at_a, "a", schema.a), (at_b, "b", (*schema.b, schema.sensitive))):
        here, table = originals.existing(role), originals.table(role)
        assert table.persons is not None
        own = {one.name: compress(texts[one.name], here) for one in attributes}
        columns[name] = {"id": table.ids.to_pylist(), "customer": table.persons.to_pylist(), **own}
    with make_folder(place, force=force) as folder, progress.step("writing"):
        for name, held in columns.items():
            with (folder / name).open("w", encoding="utf-8", newline="") as file:
                writer = csv.writer(file, lineterminator="\n")
                writer.writerow(held)
                writer.writerows(zip(*held.values(), strict=True))
        (folder / POLICY).write_text(policy_of(method, originals).to_toml(), encoding="utf-8")
        (folder / ABOUT).write_text(f"Invented people: {made_by}\n", encoding="utf-8")
        folder.chmod(0o755)
    return originals
