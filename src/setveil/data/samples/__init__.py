"""Built-in synthetic data of any size, made from a seed: for first steps, for the demo and for measurements at scale.

`sample:supermarket` is a fictional shop (its items are in `_supermarket`) and its customers, with one basket each:

- popularity follows Zipf's law with exponent 1 over all items, flattened at the very top: weight = 1 / (rank + 4);
- tastes: each person has one favourite category, and four in ten have two, drawn in proportion to their popularity;
  between a quarter and three quarters of the items come from the favourites, the rest from all categories;
- bundles: a third of the people want one of a few sets of items, such as spaghetti, sauce and parmesan, and get it if
  their basket is long enough;
- lengths are log-normal: a mean of 8 items, a median of 6, at least 1, and a tail to about 60.

The data contain nothing about real people. Records are made in chunks of a fixed size, each from its own random stream,
so that a sample of n records is the beginning of every larger sample with the same seed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from setveil.base import progress
from setveil.data.records.labels import label_order
from setveil.data.records.ragged import offsets_of, runs
from setveil.data.records.transactions import Transactions
from setveil.data.samples import _supermarket
from setveil.errors import BadParameter, UnknownName, closest

if TYPE_CHECKING:
    from numpy.typing import NDArray

SAMPLES: dict[str, str] = {
    "supermarket": "baskets of a fictional supermarket, one per person, of any size (?records=N&seed=S)",
}

_PREFIX = "sample:"
_DEFAULTS = {"records": 20_000, "seed": 0}
_LIMITS = {"records": (1, 10_000_000), "seed": (0, 2**128 - 1)}
_INTEGER = re.compile(r"-?[0-9]{1,60}")

_CHUNK_RECORDS = 16_384
_ID_DIGITS = 8

_ZIPF_SHIFT = 4
_TWO_FAVOURITES = 0.4
_FIRST_FAVOURITE = 0.7
_LOYALTY = (0.25, 0.75)
_LOG_LENGTH = (2.07, 0.78)
_MOST_DRAWS = 80


@dataclass(frozen=True, eq=False)
class _Shop:
    """The items as tables to draw from, sorted by category; codes follow label order."""

    vocabulary: tuple[str, ...]
    code_on_shelf: NDArray[np.int32]
    popularity_up_to: NDArray[np.float64]
    """The cumulative share of popularity of each item."""
    shelf_start: NDArray[np.float64]
    """The start of each category on the scale of `popularity_up_to`; one more entry represents the whole shop."""
    shelf_width: NDArray[np.float64]
    bundle_codes: NDArray[np.int32]
    bundle_sizes: NDArray[np.int64]
    bundle_up_to: NDArray[np.float64]
    """The cumulative shares of people who want each bundle; the rest, up to 1, want none."""


def read_sample(source: str) -> Transactions:
    """Return a built-in sample.

    >>> read_sample("sample:supermarket?records=1000&seed=3").records
    1000
    """
    asked = _parsed(source)
    shop = _open_shop()
    items: list[NDArray[np.int32]] = []
    lengths: list[NDArray[np.int64]] = []
    ids: list[Any] = []
    with progress.step("making baskets", total=asked["records"]) as advance:
        for chunk, first in enumerate(range(0, asked["records"], _CHUNK_RECORDS)):
            wanted = min(_CHUNK_RECORDS, asked["records"] - first)
            stream = np.random.SeedSequence(asked["seed"], spawn_key=(chunk,))
            chunk_items, chunk_lengths = _baskets(shop, np.random.default_rng(stream))
            lengths.append(chunk_lengths[:wanted])
            items.append(chunk_items[: lengths[-1].sum()])
            ids.append(_customer_ids(first + 1, wanted))
            advance(first + wanted)
    offsets = offsets_of(np.concatenate(lengths))
    data = Transactions(offsets, np.concatenate(items), shop.vocabulary, ids=pa.concat_arrays(ids), unit="person")
    return data.compacted()


def sample_taxonomy(source: str) -> tuple[list[str], list[list[str]]]:
    """Return the header and the rows of the taxonomy: every possible item with its category and department."""
    _parsed(source)
    return ["item", "category", "department"], [[i.label, i.category, i.department] for i in _supermarket.items()]


def sample_sensitive(source: str) -> list[str]:
    """Return the sensitive items of the sample."""
    _parsed(source)
    return sorted(item.label for item in _supermarket.items() if item.sensitive)


def _parsed(source: str) -> dict[str, int]:
    """Return the options of a sample, or raise an error if they are invalid."""
    address, has_query, query = source.partition("?")
    known = [_PREFIX + name for name in SAMPLES]
    if address not in known:
        raise UnknownName("sample", address, known)
    example = f"for example {address}?records=1000&seed=3"
    asked: dict[str, int] = {}
    for part in query.split("&") if has_query else []:
        key, _, value = part.partition("=")
        if key not in _LIMITS:
            message = f"{source}: unknown option {key!r}; allowed are {' and '.join(_LIMITS)}, {example}"
            raise BadParameter(message, given=key, allowed=list(_LIMITS), suggestion=closest(key, _LIMITS))
        if key in asked:
            raise BadParameter(f"{source}: {key} is given twice; give it once, {example}")
        least, most = _LIMITS[key]
        if not _INTEGER.fullmatch(value) or not least <= int(value) <= most:
            limits = f"from {least:,} to {most:,}" if key == "records" else "of at least 0 and at most 128 bits"
            raise BadParameter(f"{source}: {key} is {value!r}; it must be a whole number {limits}, {example}")
        asked[key] = int(value)
    return _DEFAULTS | asked


@cache
def _open_shop() -> _Shop:
    shelves = _supermarket.items()
    labels = [item.label for item in shelves]
    order = label_order(labels)
    code_on_shelf = np.empty(len(shelves), dtype=np.int32)
    code_on_shelf[order] = np.arange(len(shelves), dtype=np.int32)

    rank = np.empty(len(shelves), dtype=np.int64)
    rank[np.argsort([-item.appeal for item in shelves], kind="stable")] = np.arange(1, len(shelves) + 1)
    popularity_up_to = np.cumsum(1 / (rank + _ZIPF_SHIFT))
    popularity_up_to /= popularity_up_to[-1]

    categories = [item.category for item in shelves]
    first_of_shelf = [i for i in range(len(shelves)) if i == 0 or categories[i] != categories[i - 1]]
    borders = np.append(np.append(0, popularity_up_to)[first_of_shelf], 1)

    code_of = dict(zip(labels, code_on_shelf.tolist(), strict=True))
    longest = max(len(bundle) for bundle in _supermarket.BUNDLES)
    padded = [[code_of[label] for label in bundle] + [0] * (longest - len(bundle)) for bundle in _supermarket.BUNDLES]
    return _Shop(
        vocabulary=tuple(labels[i] for i in order),
        code_on_shelf=code_on_shelf,
        popularity_up_to=popularity_up_to,
        shelf_start=np.append(borders[:-1], 0),
        shelf_width=np.append(np.diff(borders), 1),
        bundle_codes=np.array(padded, dtype=np.int32),
        bundle_sizes=np.array([len(bundle) for bundle in _supermarket.BUNDLES] + [0], dtype=np.int64),
        bundle_up_to=np.cumsum(list(_supermarket.BUNDLES.values())),
    )


def _baskets(shop: _Shop, rng: np.random.Generator) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Make the baskets of one chunk of people; return item codes, sorted within each basket, and the lengths of the baskets."""
    people = _CHUNK_RECORDS
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
    codes = shop.code_on_shelf[np.minimum(place, len(shop.vocabulary) - 1)]

    # People who want a bundle and have a large enough basket take it first.
    size = shop.bundle_sizes[bundle]
    size[size > draws] = 0
    nth = runs(np.zeros(people, dtype=np.int64), draws)
    bundled = np.flatnonzero(nth < size[person])
    codes[bundled] = shop.bundle_codes[bundle[person[bundled]], nth[bundled]]

    # An item that was drawn twice is in the basket once.
    keys = person.astype(np.int32) * np.int32(len(shop.vocabulary)) + codes
    keys.sort()
    keys = keys[np.append(True, keys[1:] != keys[:-1])]
    owner, codes = np.divmod(keys, np.int32(len(shop.vocabulary)))
    return codes, np.bincount(owner, minlength=people)


def _customer_ids(first: int, count: int) -> Any:
    numbers = pa.array(np.arange(first, first + count)).cast(pa.string())
    padded = pc.utf8_lpad(numbers, _ID_DIGITS, padding="0")
    return pc.binary_join_element_wise("customer", padded, "-").cast(pa.large_string())
