"""Work on blocks, which engines may send to other processes."""

import numpy as np
import pyarrow as pa

import setveil as sv
from setveil.data.records.in_blocks import ITEMS, as_records


def supports(vocabulary, block, _key):
    return as_records(block, vocabulary).supports


def numbered(block, key):
    """Return the block with columns of several types."""
    rows = np.arange(key.first_row, key.first_row + block.num_rows)
    lists = block.column(ITEMS)
    return pa.record_batch({
        ITEMS: lists,
        "row": pa.array(rows.astype(np.uint32)),
        "block": pa.array(np.full(block.num_rows, key.number)),
        "is_empty": pa.array(np.asarray(lists.value_lengths()) == 0),
        "text": pa.array([f"ö{row}" if row % 3 else None for row in rows], pa.large_string()),
        "nested": pa.array([[[row], []] for row in rows], pa.list_(pa.list_(pa.int16()))),
    })  # fmt: skip


def longest_first(block, _key):
    """Return fewer rows, in another order."""
    lengths = np.asarray(block.column(ITEMS).value_lengths())
    return block.take(pa.array(np.argsort(-lengths, kind="stable")[: block.num_rows // 2]))


def by_length(groups, block, _key):
    return np.asarray(block.column(ITEMS).value_lengths()).astype(np.int64) % groups


def checksums(block, key):
    """Count in two dimensions."""
    rows = block.column("row").to_numpy().astype(np.int64)
    return np.array([[len(rows), rows.sum()], [(key.number + 1) * (key.first_row + 1), rows @ np.arange(len(rows))]])


def refuse_second(result, _block, key):
    """Raise an error of setveil on the second block."""
    if key.number == 1:
        raise sv.BadData("the record is bad", file="baskets.csv", line=7)
    return result


def refuse_second_block(block, key):
    return refuse_second(block, block, key)


def break_on_second(_block, key):
    """Have a bug."""
    return [][key.number - 1] if key.number else np.zeros(1, np.int64)


def outside(block, _key):
    """Return groups that do not exist."""
    return np.full(block.num_rows, 3)


def never(_block, _key):
    raise AssertionError("this step was done before")


def size_of(content, _block, _key):
    return np.array([len(content)])


def wait(seconds, block, key):
    """Take a while."""
    import time  # noqa: PLC0415 - on the worker

    time.sleep(seconds)
    return numbered(block, key)
