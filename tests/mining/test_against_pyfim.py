"""Frequent, closed and maximal itemsets as an independent program finds them, itemset by itemset.

That program leaves out itemsets of items that every record holds; one empty record more cures it.
"""

import random

import fim
import numpy as np
import pytest

import setveil as sv
from setveil.mining.frequent import mine
from setveil.parameters.shares import MinSupport

from oracle import mining as oracle

TARGETS = {"all": "s", "closed": "c", "maximal": "m"}
kinds = pytest.mark.parametrize("kind", TARGETS)


def by_pyfim(records, count, kind):
    found = fim.fpgrowth([*records, []], target=TARGETS[kind], supp=-count, report="a")
    return {frozenset(items): support for items, support in found}


@pytest.mark.exhaustive
@pytest.mark.realdata
@kinds
@pytest.mark.parametrize(
    ("name", "share", "sets"),
    [
        ("bms-webview-1", "0.06%", {"all": 461_521, "closed": 64_762, "maximal": 15_179}),
        ("bms-webview-2", "0.05%", {"all": 114_216, "closed": 77_529, "maximal": 10_652}),
        ("retail", "0.05%", {"all": 19_242, "closed": 19_114, "maximal": 8_143}),
        ("retail", "0.01%", {"all": 240_852, "closed": 189_077, "maximal": 75_200}),
        ("bms-pos-100k", "0.1%", {"all": 229_108, "closed": 205_872, "maximal": 50_294}),
    ],
)
def test_on_real_data(real_data, name, share, sets, kind):
    data = real_data(name)
    records = [codes.tolist() for codes in np.split(data.items, data.offsets[1:-1])]
    found = mine(data, share, kind=kind)
    as_codes = map(frozenset, map(list, np.split(found.items.astype(object), found.offsets[1:-1])))
    ours = dict(zip(as_codes, found.supports.tolist(), strict=True))
    assert len(found) == len(ours) == sets[kind]
    assert ours == by_pyfim(records, MinSupport(share).count(data.records), kind)


@kinds
def test_on_small_data_with_items_in_every_record(kind):
    dice = random.Random(kind)  # noqa: S311 - test data
    for _ in range(300):
        labels = "abcdefghij"[: dice.randint(1, 10)]
        everywhere = dice.sample(labels, dice.randint(0, min(3, len(labels))))
        density = dice.random()
        records = [
            sorted({*everywhere, *(item for item in labels if dice.random() < density)})
            for _ in range(dice.randint(1, 14))
        ]
        count = dice.randint(1, 4)
        found = {frozenset(labels): support for labels, support in mine(sv.from_lists(records), count, kind=kind)}
        assert found == by_pyfim(records, count, kind)
        of_definition = {"all": oracle.frequent, "closed": oracle.closed, "maximal": oracle.maximal}[kind]
        assert found == of_definition([set(record) for record in records], count)
