"""Built-in synthetic data of any size, made from a seed: for first steps, for the demo and for measurements at scale.

Each sample is a module: `supermarket`, `hospital`. The data contain nothing about real people. Records are made in chunks of a fixed size,
each from its own random stream, so that a sample of n records is the beginning of every larger sample with the same seed. Large samples are
on disk: 10^8 records of `supermarket` take 6.6 GB.
"""

from __future__ import annotations

import re
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from setveil.base import progress
from setveil.data.records.labels import Vocabulary
from setveil.data.records.ragged import offsets_of
from setveil.data.records.transactions import Transactions
from setveil.data.samples.drawing import CHUNK_RECORDS
from setveil.engines import growing
from setveil.engines.growing import growing_lists, growing_texts
from setveil.engines.scratch import refuse_unless_free
from setveil.errors import BadParameter, UnknownName, closest

if TYPE_CHECKING:
    from setveil.data.samples.drawing import Sample

SAMPLES: dict[str, str] = {
    "supermarket": "baskets of a fictional supermarket, one per person, of any size (?records=N&seed=S)",
    "hospital": "diagnosis codes of patients of a fictional hospital, one record per person, of any size (?records=N&seed=S)",
}
"""The samples, each in the module of its name."""

_PREFIX = "sample:"
_DEFAULTS = {"records": 20_000, "seed": 0}
_LIMITS = {"records": (1, 100_000_000), "seed": (0, 2**128 - 1)}
_INTEGER = re.compile(r"-?[0-9]{1,60}")
_ID_DIGITS = 8
_RECORD_BYTES = 66
"""About what a record takes: its items, its offset and its id."""


def read_sample(source: str) -> Transactions:
    """Return a built-in sample.

    >>> read_sample("sample:supermarket?records=1000&seed=3").records
    1000
    """
    sample, asked = _parsed(source)
    size = asked["records"] * _RECORD_BYTES
    if size > growing.LARGE:
        refuse_unless_free(size, source)
    records, ids = growing_lists(np.int32), growing_texts()
    with progress.step(sample.step, total=asked["records"]) as advance:
        for chunk, first in enumerate(range(0, asked["records"], CHUNK_RECORDS)):
            wanted = min(CHUNK_RECORDS, asked["records"] - first)
            stream = np.random.SeedSequence(asked["seed"], spawn_key=(chunk,))
            chunk_items, chunk_lengths = sample.draw(np.random.default_rng(stream))
            offsets = offsets_of(chunk_lengths[:wanted])
            records.append(offsets, chunk_items[: offsets[-1]])
            ids.append(_ids(sample.person, first + 1, wanted))
            advance(first + wanted)
    data = Transactions.of_parts(*records.finish(), Vocabulary(sample.vocabulary), ids=ids.finish(), unit="person")
    return data.compacted()


def sample_taxonomy(source: str) -> tuple[list[str], list[list[str]]]:
    """Return the header and the rows of the taxonomy: every possible item with its group on each level."""
    sample, _ = _parsed(source)
    return ["item", *sample.levels], [list(row) for row in sample.rows]


def sample_sensitive(source: str) -> list[str]:
    """Return the sensitive items of the sample."""
    return list(_parsed(source)[0].sensitive)


def sample_names(source: str) -> dict[str, str]:
    """Return the names of the items that are codes; empty if items are names themselves."""
    return dict(_parsed(source)[0].names)


def _parsed(source: str) -> tuple[Sample, dict[str, int]]:
    """Return the sample and its options, or raise an error if they are invalid."""
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
    return _sample(address.removeprefix(_PREFIX)), _DEFAULTS | asked


@cache
def _sample(name: str) -> Sample:
    made: Sample = import_module(f"{__name__}.{name}").sample()
    return made


def _ids(person: str, first: int, count: int) -> Any:
    numbers = pa.array(np.arange(first, first + count)).cast(pa.string())
    padded = pc.utf8_lpad(numbers, _ID_DIGITS, padding="0")
    return pc.binary_join_element_wise(person, padded, "-").cast(pa.large_string())
