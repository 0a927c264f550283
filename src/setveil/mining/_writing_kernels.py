# mypy: ignore-errors
# (Numba infers the types)
"""What a search writes: the path it is on, the sets it found, or only how many.

The *path* holds the items of the prefix, as codes that rise. *Perfect* items are in every record that holds the path: each frequent set on
the path can be had with any of them, so that they are taken out of the search and multiplied in here.
"""

from __future__ import annotations

import numpy as np

from setveil.kernels.jit import kernel

NONE = np.int64(0)
"""No rows, no items: Numba compiles a loop anew for each number that stands in a call, and takes this one for any."""

# What is wanted (an array of whole numbers).
MIN_COUNT, MIN_LENGTH, MAX_LENGTH, KIND, LISTING, LIMIT, BUDGET, TABLE_BITS = range(8)
ALL, CLOSED, MAXIMAL = range(3)

# Where the search stands (another one).
PATH, PERFECT, SETS, PLACES, STATUS, NODES = range(6)
RUNNING, TOO_MANY, STOPPED, OUT_OF_BUDGET = range(4)


@kernel
def grown(array, used, needed):
    """Return an array with room for what is needed, at least twice as long, and with what was used of the old one."""
    larger = np.empty(max(2 * len(array), needed), array.dtype)
    for place in range(used):  # a loop: assigning slices takes Numba seconds to compile, and here it is no faster
        larger[place] = array[place]
    return larger


@kernel
def put_in(codes, first, last, code):
    """Put a code into codes that rise, from `first` to before `last`."""
    place = last
    while place > first and codes[place - 1] > code:
        codes[place] = codes[place - 1]
        place -= 1
    codes[place] = code


@kernel
def push(path, state, code):
    """Go one item deeper."""
    put_in(path, NONE, state[PATH], code)
    state[PATH] += 1


@kernel
def pop(path, state, code):
    """Come back from an item."""
    place = 0
    while path[place] != code:
        place += 1
    state[PATH] -= 1
    for later in range(place, state[PATH]):
        path[later] = path[later + 1]


@kernel
def sets_between(count, least, most, enough):
    """Return how many subsets of `count` things have from `least` to `most` of them; no more than a little above `enough`."""
    most = min(most, count)
    if least > count - most:  # from the end where there are fewer: as many leave out so few
        least, most = count - most, count - least
    total = 0
    ways = 1.0  # binomial coefficients, as floats: exact as long as they matter
    for size in range(most + 1):
        if size >= least:
            if ways > enough:
                return enough + 1
            total += int(ways + 0.5)
            if total > enough:
                return enough + 1
        ways = ways * (count - size) / (size + 1)
    return total


@kernel
def demand(state, wanted, length):
    """Return how many sets come of `length` items and the perfect ones, and how many places they take at most."""
    perfect = state[PERFECT]
    if wanted[KIND] != ALL:
        whole = length + perfect
        return (1, whole) if wanted[MIN_LENGTH] <= whole <= wanted[MAX_LENGTH] else (0, 0)
    if perfect == 0:
        return (1, length) if wanted[MIN_LENGTH] <= length <= wanted[MAX_LENGTH] else (0, 0)
    most = min(wanted[MAX_LENGTH] - length, perfect)
    sets = sets_between(perfect, max(wanted[MIN_LENGTH] - length, 0), most, wanted[LIMIT])
    return sets, sets * (length + most)


@kernel
def make_room(state, wanted, sets, needed, out, shared, own):
    """Return larger arrays to write to; or say that there are too many sets, here or in all parts of the search together.

    `shared[p]` is how many sets part p of the search had found when it last needed room.
    """
    items, lengths, supports = out
    shared[own] = state[SETS] + sets
    total = 0
    for part in range(len(shared)):
        total += shared[part]
    if total > wanted[LIMIT]:
        state[STATUS] = TOO_MANY
        return out
    if shared[own] > len(lengths):
        lengths, supports = grown(lengths, state[SETS], shared[own]), grown(supports, state[SETS], shared[own])
    if state[PLACES] + needed > len(items):
        items = grown(items, state[PLACES], state[PLACES] + needed)
    return items, lengths, supports


@kernel
def write_sets(state, wanted, base, length, perfect, support, out, choice):
    """Write the sets that `demand` counted, for which there is room: `length` codes of `base` with perfect items."""
    items, lengths, supports = out
    n_perfect = state[PERFECT]
    place = state[PLACES]
    number = state[SETS]
    least, most = max(wanted[MIN_LENGTH] - length, 0), min(wanted[MAX_LENGTH] - length, n_perfect)
    if wanted[KIND] != ALL:
        least = most = n_perfect
    for size in range(least, most + 1):
        for i in range(size):
            choice[i] = i
        while True:
            for i in range(length):
                items[place + i] = base[i]
            for i in range(size):
                put_in(items, place, place + length + i, perfect[choice[i]])
            place += length + size
            lengths[number] = length + size
            supports[number] = support
            number += 1
            # The next choice of so many: the last index that can rise does, those after it follow at once.
            i = size - 1
            while i >= 0 and choice[i] == n_perfect - size + i:
                i -= 1
            if i < 0:
                break
            choice[i] += 1
            for later in range(i + 1, size):
                choice[later] = choice[later - 1] + 1
    state[PLACES] = place
    state[SETS] = number


@kernel
def note(state, wanted, base, length, perfect, support, out, choice, tally, shared, own):
    """Write or count the sets of `length` codes of `base` and of perfect items; return the arrays, which may have grown."""
    if not wanted[LISTING]:
        if wanted[KIND] == ALL:
            # By the length and the perfect items: the number of sets may pass any word.
            tally[min(length, len(tally) - 1), state[PERFECT]] += 1
        else:
            state[SETS] += demand(state, wanted, length)[0]
        return out
    sets, needed = demand(state, wanted, length)
    if sets == 0:
        return out
    if state[SETS] + sets > wanted[LIMIT]:  # looked at first: `demand` counts no further than the limit
        state[STATUS] = TOO_MANY
        return out
    if state[SETS] + sets > len(out[1]) or state[PLACES] + needed > len(out[0]):
        out = make_room(state, wanted, sets, needed, out, shared, own)
        if state[STATUS] != RUNNING:
            return out
    write_sets(state, wanted, base, length, perfect, support, out, choice)
    return out
