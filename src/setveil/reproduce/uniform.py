"""A generated data set like Syn of jia2014: every item equally likely, lengths of records that fall off geometrically.

Only what the paper prints of Syn is taken from it: 493,193 records, 5,000 items, 2,071,352 occurrences, at most 50 items a record, "each
item is generated with equal probability", and a number of records that "decreases almost exponentially with the record length".
"""

from __future__ import annotations

import numpy as np

from setveil.data.records.ragged import offsets_of
from setveil.data.records.transactions import Transactions
from setveil.errors import BadParameter

RECORDS, ITEMS, OCCURRENCES, LONGEST = 493_193, 5_000, 2_071_352, 50
SEED = 2014


def generated_uniform(
    *,
    records: int = RECORDS,
    items: int = ITEMS,
    occurrences: int = OCCURRENCES,
    longest: int = LONGEST,
    seed: int = SEED,
) -> Transactions:
    """Make the data set; records and items are met exactly, occurrences nearly.

    >>> generated_uniform(records=100, items=40, occurrences=400, longest=10).records
    100
    """
    if not 1 <= longest <= items or not records <= occurrences <= records * longest:
        raise BadParameter(
            f"{records:,} records of 1 to {longest:,} of {items:,} items cannot hold {occurrences:,} items in all"
        )
    rng = np.random.default_rng(seed)
    lengths = np.minimum(rng.geometric(records / occurrences, records), longest)
    row = np.repeat(np.arange(records), lengths)
    keys = np.empty(0, np.int64)
    missing = row
    while len(missing):  # an item that a record has already is drawn again
        drawn = np.concatenate((keys, missing * items + rng.integers(0, items, len(missing))))
        keys, first = np.unique(drawn, return_index=True)
        repeated = np.ones(len(drawn), np.bool_)
        repeated[first] = False
        missing = drawn[repeated] // items
    offsets = offsets_of(lengths)
    return Transactions.from_codes(offsets, keys % items, [str(item + 1) for item in range(items)], unit="record")
