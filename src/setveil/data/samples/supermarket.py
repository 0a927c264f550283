"""Baskets of `sample:supermarket`, a fictional shop (its items are in `_supermarket`) and its customers, with one basket each.

- popularity follows Zipf's law with exponent 1 over all items, flattened at the very top: weight = 1 / (rank + 4);
- tastes: each person has one favourite category, and four in ten have two, drawn in proportion to their popularity;
  between a quarter and three quarters of the items come from the favourites, the rest from all categories;
- bundles: a third of the people want one of a few sets of items, such as spaghetti, sauce and parmesan, and get it if
  their basket is long enough;
- lengths are log-normal: a mean of 8 items, a median of 6, at least 1, and a tail to about 60.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from setveil.data.records.ragged import runs
from setveil.data.samples import _supermarket
from setveil.data.samples.drawing import CHUNK_RECORDS, Coded, Sample, without_repeats

if TYPE_CHECKING:
    from numpy.typing import NDArray

_ZIPF_SHIFT = 4
_TWO_FAVOURITES = 0.4
_FIRST_FAVOURITE = 0.7
_LOYALTY = (0.25, 0.75)
_LOG_LENGTH = (2.07, 0.78)
_MOST_DRAWS = 80


@dataclass(frozen=True, eq=False)
class _Shop:
    """The items as tables to draw from, sorted by category."""

    items: Coded
    """The items, and the bundles as sets."""
    popularity_up_to: NDArray[np.float64]
    """The cumulative share of popularity of each item."""
    shelf_start: NDArray[np.float64]
    """The start of each category on the scale of `popularity_up_to`; one more entry represents the whole shop."""
    shelf_width: NDArray[np.float64]
    bundle_up_to: NDArray[np.float64]
    """The cumulative shares of people who want each bundle; the rest, up to 1, want none."""


@cache
def _open_shop() -> _Shop:
    shelves = _supermarket.items()
    rank = np.empty(len(shelves), dtype=np.int64)
    rank[np.argsort([-item.appeal for item in shelves], kind="stable")] = np.arange(1, len(shelves) + 1)
    popularity_up_to = np.cumsum(1 / (rank + _ZIPF_SHIFT))
    popularity_up_to /= popularity_up_to[-1]

    categories = [item.category for item in shelves]
    first_of_shelf = [i for i in range(len(shelves)) if i == 0 or categories[i] != categories[i - 1]]
    borders = np.append(np.append(0, popularity_up_to)[first_of_shelf], 1)
    return _Shop(
        items=Coded.of([item.label for item in shelves], _supermarket.BUNDLES),
        popularity_up_to=popularity_up_to,
        shelf_start=np.append(borders[:-1], 0),
        shelf_width=np.append(np.diff(borders), 1),
        bundle_up_to=np.cumsum(list(_supermarket.BUNDLES.values())),
    )


def _baskets(rng: np.random.Generator) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Make the baskets of one chunk of people; return item codes, sorted within each basket, and the lengths of the baskets."""
    shop = _open_shop()
    people = CHUNK_RECORDS
    draws = np.clip(rng.lognormal(*_LOG_LENGTH, people).astype(np.int64), 1, _MOST_DRAWS)
    first, second = np.searchsorted(shop.shelf_start[1:-1], rng.random((2, people)), side="right")
    second = np.where(rng.random(people) < _TWO_FAVOURITES, second, first)
    loyalty = rng.uniform(*_LOYALTY, people)
    bundle = np.searchsorted(shop.bundle_up_to, rng.random(people), side="right")

    person = np.repeat(np.arange(people), draws)
    whim = rng.random(len(person))
    shelf = np.full(len(person), len(shop.shelf_start) - 1)
    shelf = np.where(whim < loyalty[person], second[person], shelf)
    shelf = np.where(whim < (_FIRST_FAVOURITE * loyalty)[person], first[person], shelf)
    reached = shop.shelf_start[shelf] + shop.shelf_width[shelf] * rng.random(len(person))
    place = np.searchsorted(shop.popularity_up_to, reached, side="right")
    codes = shop.items.codes[np.minimum(place, len(shop.items.vocabulary) - 1)]

    # People who want a bundle and have a large enough basket take it first.
    size = shop.items.sizes[bundle]
    size[size > draws] = 0
    nth = runs(np.zeros(people, dtype=np.int64), draws)
    bundled = np.flatnonzero(nth < size[person])
    codes[bundled] = shop.items.sets[bundle[person[bundled]], nth[bundled]]

    return without_repeats(person, codes, len(shop.items.vocabulary))


def sample() -> Sample:
    """Return the sample."""
    items = _supermarket.items()
    return Sample(
        step="making baskets",
        person="customer",
        vocabulary=_open_shop().items.vocabulary,
        draw=_baskets,
        levels=("category", "department"),
        rows=[[item.label, item.category, item.department] for item in items],
        sensitive=sorted(item.label for item in items if item.sensitive),
    )
