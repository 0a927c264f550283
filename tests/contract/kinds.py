"""Every format under every ending and in every layout, with an example for each: what the contract tests of formats go through."""

import random
from dataclasses import dataclass
from pathlib import Path

import pytest

from setveil.data.formats import FORMATS, Format, Layout
from setveil.data.records.transactions import from_lists


@dataclass(frozen=True)
class Kind:
    """A format under one ending, in one layout."""

    form: Format
    ending: str
    ragged: bool = False

    def __str__(self):
        return f"{'ragged' if self.ragged else self.form.name}{self.ending}"

    @property
    def layout(self):
        return Layout(ragged=self.ragged)

    @property
    def holds_ids(self):
        return self.form.holds_ids(self.layout)

    @property
    def is_text(self):
        return self.form.packable(self.ending)

    def path(self, folder, name, packing=""):
        return folder / f"{name}{self.ending}{packing}"

    def encode(self, data, layout=None):
        return b"".join(self.form.blocks(data, Path(f"data{self.ending}"), layout or self.layout))


KINDS = [Kind(form, ending) for form in FORMATS.values() for ending in form.extensions]
KINDS += [Kind(FORMATS["wide"], ending, ragged=True) for ending in FORMATS["wide"].extensions]
TEXT_KINDS = [kind for kind in KINDS if kind.is_text]
OTHER_ENDINGS = {".txt", ".basket", ".tsv", ".ndjson", ".feather"}
"""Endings that are read and written as others are."""
every_kind = pytest.mark.parametrize("kind", KINDS, ids=str)
main_kinds = pytest.mark.parametrize("kind", [k for k in KINDS if k.ending not in OTHER_ENDINGS], ids=str)
other_kinds = pytest.mark.parametrize("kind", [k for k in KINDS if k.ending in OTHER_ENDINGS], ids=str)
every_text_kind = pytest.mark.parametrize("kind", TEXT_KINDS, ids=str)
every_packing = pytest.mark.parametrize(
    ("kind", "packing"),
    [(kind, packing) for kind in KINDS for packing in (("", ".gz", ".zst") if kind.is_text else ("",))],
    ids=str,
)


def example_of(kind, records=40):
    dice = random.Random(3)  # noqa: S311 - test data
    items = [f"item-{i}" for i in range(15)]
    if kind.form.holds_any_items:
        lists = [dice.sample(items, dice.randint(1, 6)) for _ in range(records)]
    else:
        lists = [[f"{column}={dice.choice(items)}" for column in ("first", "second")] for _ in range(records)]
    return from_lists(lists, ids=[f"person-{i}" for i in range(records)] if kind.holds_ids else None)


def written(kind, data, path, layout=None):
    """Write data, whose path must not exist before, and return the bytes."""
    path.unlink(missing_ok=True)
    kind.form.write(data, path, layout or kind.layout)
    return path.read_bytes()
