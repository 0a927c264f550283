"""Loops of `encoding` and `assembly`: a table of texts by hash, and rows put to their records."""

# mypy: ignore-errors
# Numba infers the types.

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from setveil.data.records._text_kernels import hash_of
from setveil.kernels.jit import kernel

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Texts(NamedTuple):
    """The known texts one after another, the hash of each, and a table with the code of a text at or behind its hash, -1 elsewhere."""

    text: NDArray[np.uint8]
    offsets: NDArray[np.int64]
    hashes: NDArray[np.int32]
    slots: NDArray[np.int32]


@kernel
def enter(new_text, new_offsets, known_texts, count, multiplier, codes):
    """Give each new text its code, adding those not seen before; return how many are known now.

    The caller has made room for all of them.
    """
    text, offsets, hashes, slots = known_texts.text, known_texts.offsets, known_texts.hashes, known_texts.slots
    mask = len(slots) - 1
    for i in range(len(codes)):
        start, end = new_offsets[i], new_offsets[i + 1]
        size = end - start
        value = hash_of(new_text, start, end, multiplier)
        place = value & mask
        while True:
            known = slots[place]
            if known < 0:
                slots[place] = count
                hashes[count] = value
                to = offsets[count]
                for at in range(size):
                    text[to + at] = new_text[start + at]
                offsets[count + 1] = to + size
                codes[i] = count
                count += 1
                break
            if hashes[known] == value and offsets[known + 1] - offsets[known] == size:
                same = True
                begin = offsets[known]
                for at in range(size):
                    if text[begin + at] != new_text[start + at]:
                        same = False
                        break
                if same:
                    codes[i] = known
                    break
            place = (place + 1) & mask
    return count


@kernel
def fill_slots(hashes, count, slots):
    """Put the known texts into a table of another size, which is empty (-1 throughout)."""
    mask = len(slots) - 1
    for code in range(count):
        place = hashes[code] & mask
        while slots[place] >= 0:
            place = (place + 1) & mask
        slots[place] = code


@kernel
def put_to_records(record_of_row, codes, next_place, items):
    """Write each row's code to the next free place of its record, and move that on."""
    for row in range(len(codes)):
        record = record_of_row[row]
        items[next_place[record]] = codes[row]
        next_place[record] += 1
