"""Invented tables of a bank (provider A) and a video service (provider B) about the same people, for trials.

Every person of the population has all values; the table of a provider contains the values of its users. Genres depend on age and income, so
that joining the tables is useful and hiding common users has a cost.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from setveil.errors import BadParameter
from setveil.parameters.hierarchy import Hierarchy
from setveil.presence.tables.attributes import NumericAttribute, OrderedAttribute, TaxonomyAttribute
from setveil.presence.tables.originals import Originals
from setveil.presence.tables.population import Population
from setveil.presence.tables.provider_table import ProviderTable
from setveil.presence.tables.schema import Schema

if TYPE_CHECKING:
    from numpy.typing import NDArray

_TOWNS = {
    "North": ("Alder", "Birch", "Cedar"),
    "South": ("Dale", "Elm", "Fern"),
    "East": ("Gorse", "Hazel"),
    "West": ("Ivy", "Juniper", "Larch", "Maple"),
}
_MEMBERSHIPS = ("none", "basic", "standard", "premium")
_GENRES = ("drama", "news", "sports")
LEAST = 200


def sample_schema() -> Schema:
    """Return the schema of both tables."""
    towns = Hierarchy({town: region for region, towns in _TOWNS.items() for town in towns})
    return Schema(
        a=(
            NumericAttribute("age", Decimal(18), Decimal(90), Decimal(1)),
            NumericAttribute("income", Decimal(0), Decimal(200_000), Decimal(5_000)),
            TaxonomyAttribute.over("town", towns),
        ),
        b=(
            NumericAttribute("hour", Decimal(0), Decimal(23), Decimal(1)),
            NumericAttribute("minutes", Decimal(0), Decimal(600), Decimal(10)),
            OrderedAttribute("membership", _MEMBERSHIPS),
        ),
        sensitive=OrderedAttribute("genre", _GENRES),
    )


@dataclass(frozen=True)
class Sample:
    """The tables, and all values as text, as in files."""

    originals: Originals
    texts: dict[str, list[str]]
    """The texts of each column for every person of the population. Customer keys are only in the tables."""


def sample(people: int = 20_000, seed: int = 1) -> Sample:
    """Draw a population: about a third is at the bank and a quarter at the video service, with a slight positive correlation."""
    if not LEAST <= people <= 10_000_000:
        raise BadParameter(f"the number of people is {people:,}; allowed is {LEAST:,} to 10,000,000")
    if seed < 0:
        raise BadParameter(f"the seed is {seed}; allowed is a whole number of at least 0")
    rng = np.random.default_rng(seed)
    schema = sample_schema()
    age = np.clip(rng.gamma(6.0, 7.5, people) + 15, 18, 90).astype(np.int64)
    income = np.clip(rng.lognormal(10.4, 0.5, people) + 400 * (age - 18), 0, 200_000).astype(np.int64)
    town = rng.choice(len(schema.a[2].values), people, p=_falling(len(schema.a[2].values)))  # type: ignore[attr-defined]
    hour = ((rng.normal(20 - age / 30, 3, people)) % 24).astype(np.int64)
    minutes = np.clip(rng.gamma(2.0, 45, people) * (1.4 - age / 150), 0, 600).astype(np.int64)
    membership = np.clip(income // 25_000 + rng.integers(-1, 2, people), 0, 3)
    genre = (rng.random(people) * 3 + (age - 45) / 40).clip(0, 2.99).astype(np.int64)
    at_a = rng.random(people) < np.where(income > 40_000, 0.45, 0.25)
    at_b = rng.random(people) < np.where(at_a, 0.35, 0.25)
    width = len(str(people))
    ids = [f"u{number:0{width}}" for number in rng.permutation(people) + 1]
    numbers = {"age": age, "income": income, "hour": hour, "minutes": minutes}
    texts = {name: [str(value) for value in values.tolist()] for name, values in numbers.items()}
    labels = {"town": (schema.a[2], town), "membership": (schema.b[2], membership), "genre": (schema.sensitive, genre)}
    for name, (attribute, codes) in labels.items():
        texts[name] = [attribute.values[code] for code in codes.tolist()]  # type: ignore[attr-defined]
    texts["id"] = ids
    columns = {name: pa.array(values, pa.large_string()) for name, values in texts.items()}
    codes = {one.name: one.codes(columns[one.name], "the sample") for one in schema.attributes}
    tables = {}
    for side, here in (("a", at_a), ("b", at_b)):
        cells = np.column_stack([codes[one.name] for one in schema.of(side)])[here]
        ids_here = columns["id"].filter(pa.array(here))
        # Customer keys are drawn last, so that they do not change the other values of a seed.
        numbers_here = rng.permutation(len(ids_here)) + 1
        persons = pa.array([f"{side.upper()}{number:07}" for number in numbers_here], pa.large_string())
        tables[side] = ProviderTable(ids_here, cells, genre[here] if side == "b" else None, persons)
    population = Population(columns["id"])
    return Sample(Originals(schema, population, tables["a"], tables["b"]), texts)


def _falling(count: int) -> NDArray[np.float64]:
    weights = 1.0 / np.arange(1, count + 1)
    shares: NDArray[np.float64] = weights / weights.sum()
    return shares
