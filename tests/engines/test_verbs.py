"""Every engine does with blocks what plain Python does with lists."""

from functools import partial

import numpy as np
import pytest

import setveil as sv
from setveil.data.records.in_blocks import ITEMS, gathered, in_blocks
from setveil.engines.blocks import using_engine
from setveil.engines.local import LocalEngine

from support import engine_work as work
from support.random_data import make

GROUPS = 5
ON_SPARK_TOO = pytest.mark.parametrize(
    "where", ["local-1", "local-2", "sail", pytest.param("spark", marks=pytest.mark.exhaustive)], indirect=True
)


def rows_of(blocks):
    return [batch.to_pylist() for batch in blocks]


def plain_blocks(data, size):
    """Return the records as lists of codes, in lists of so many."""
    code = {label: place for place, label in enumerate(data.vocabulary)}
    records = [[code[label] for label in record] for record in data.to_lists()]
    return [records[start : start + size] for start in range(0, max(len(records), 1), size)]


CASES = [(1, 50, 7), (2, 8, 8), (3, 30, 1), (4, 1, 4), (5, 43, 40)]


@pytest.mark.parametrize(
    ("where", "seed", "records", "size"),
    [(where, *case) for where in ("local-1", "local-2", "sail") for case in CASES]
    + [pytest.param("spark", *CASES[0], marks=pytest.mark.exhaustive)],
    indirect=["where"],
)
def test_every_verb(on_engine, seed, records, size):
    data, _categories = make(seed, records=records)
    expected = plain_blocks(data, size)
    with on_engine(size):
        blocks = in_blocks(data)
        assert [[row[ITEMS] for row in block] for block in rows_of(blocks)] == expected
        assert blocks.rows.tolist() == [len(block) for block in expected]
        counted = blocks.fold("counting", partial(work.supports, data.vocabulary))
        assert counted.tolist() == [
            sum(record.count(code) for block in expected for record in block) for code in range(len(counted))
        ]
        numbered = blocks.map("numbering", work.numbered)
        first = np.cumsum([0, *map(len, expected)])
        with_numbers = [
            [{ITEMS: record, "row": first[number] + place, "block": number} for place, record in enumerate(block)]
            for number, block in enumerate(expected)
        ]
        assert [
            [{name: row[name] for name in ("items", "row", "block")} for row in block] for block in rows_of(numbered)
        ] == with_numbers
        assert next(iter(numbered)).schema == work.numbered(next(iter(blocks)), blocks.keys[0]).schema
        groups = numbered.regroup("grouping", partial(work.by_length, GROUPS), GROUPS)
        flat = [row for block in with_numbers for row in block]
        assert [[row["row"] for row in group] for group in rows_of(groups)] == [
            [row["row"] for row in flat if len(row[ITEMS]) % GROUPS == group] for group in range(GROUPS)
        ]
        assert groups.rows.tolist() == [len(group) for group in rows_of(groups)]
        assert {group.schema for group in groups} == {next(iter(numbered)).schema}
        kept = groups.map("choosing", work.longest_first)
        assert kept.rows.tolist() == [count // 2 for count in groups.rows.tolist()]
        summed = kept.fold("summing", work.checksums)
        starts = np.cumsum(kept.rows) - kept.rows
        of_each = [[row["row"] for row in block] for block in rows_of(kept)]
        assert summed.tolist() == [
            [sum(map(len, of_each)), sum(map(sum, of_each))],
            [
                sum((number + 1) * (int(start) + 1) for number, start in enumerate(starts)),
                sum(place * row for rows in of_each for place, row in enumerate(rows)),
            ],
        ]
        assert gathered(numbered, data).to_lists() == data.to_lists()
        assert numbered.gather().num_rows == records


@ON_SPARK_TOO
def test_results_are_equal_to_the_last_type(on_engine):
    data, _categories = make(11, records=40)

    def steps():
        numbered = in_blocks(data).map("numbering", work.numbered)
        groups = numbered.regroup("grouping", partial(work.by_length, GROUPS), GROUPS)
        return [*numbered, *groups, *groups.map("choosing", work.longest_first)]

    with using_engine(LocalEngine(9)):
        expected = steps()
    with on_engine(9):
        assert steps() == expected


@ON_SPARK_TOO
def test_an_error_of_the_work_is_the_same_everywhere(on_engine):
    data, _categories = make(12, records=40)
    numbers = np.zeros(10, np.int64)
    with on_engine(10):
        blocks = in_blocks(data)
        for verb in (
            lambda: blocks.map("refusing", work.refuse_second_block),
            lambda: blocks.fold("refusing", partial(work.refuse_second, numbers)),
            lambda: blocks.regroup("refusing", partial(work.refuse_second, numbers), 3),
        ):
            with pytest.raises(sv.BadData, match=r"^baskets.csv, line 7: the record is bad$") as refused:
                verb()
            assert refused.value.to_dict()["line"] == 7


def test_a_bug_in_the_work_is_no_error_of_the_input(on_engine):
    data, _categories = make(13, records=40)
    with on_engine(10):
        blocks = in_blocks(data)
        with pytest.raises(Exception, match="list index out of range") as broken:
            blocks.fold("counting", work.break_on_second)
        assert not isinstance(broken.value, sv.SetveilError)
        with pytest.raises(Exception, match="groups must be from 0 to 2"):
            blocks.regroup("grouping", work.outside, 3)
