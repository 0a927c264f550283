"""What records hold after pairs of them have exchanged items."""

# mypy: ignore-errors
# Numba infers the types.

from __future__ import annotations

from setveil.kernels.control import DONE, STOP
from setveil.kernels.jit import kernel

LOOK_EVERY = 1024
"""How many records are treated between two looks at the control array."""


@kernel
def exchange(offsets, items, partner, leaves, new_offsets, new_items, fill, control):
    """Merge what each record keeps with what its partner gives; an item that is in both counts once.

    `partner[r]` is -1 for a record that stays as it is. Without `fill` only the lengths are counted, into `new_offsets[r + 1]`.
    """
    for r in range(len(partner)):
        if r % LOOK_EVERY == 0:
            control[DONE] = r
            if control[STOP]:
                return
        at = new_offsets[r] if fill else 0
        kept, kept_end = offsets[r], offsets[r + 1]
        given, given_end = 0, 0
        if partner[r] >= 0:
            given, given_end = offsets[partner[r]], offsets[partner[r] + 1]
        while True:
            while kept < kept_end and leaves[kept]:
                kept += 1
            while given < given_end and not leaves[given]:
                given += 1
            if kept < kept_end and (given >= given_end or items[kept] <= items[given]):
                item = items[kept]
                if given < given_end and items[given] == item:
                    given += 1
                kept += 1
            elif given < given_end:
                item = items[given]
                given += 1
            else:
                break
            if fill:
                new_items[at] = item
            at += 1
        if not fill:
            new_offsets[r + 1] = at
