# mypy: ignore-errors
# (Numba infers the types)
"""What a search writes: the path it is on, the sets it found, or only how many.

The *path* holds the items of the prefix, as codes that rise. *Perfect* items are in every record that holds the path: each frequent set on
the path can be had with any of them, so that they are taken out of the search and multiplied in here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from setveil.kernels.control import STOP
from setveil.kernels.jit import kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

NONE = np.int64(0)
"""No rows, no items: Numba compiles a loop anew for each number that stands in a call, and takes this one for any."""

ALL, CLOSED, MAXIMAL = range(3)

# The numbers of the state of a search.
PATH, PERFECT, SETS, PLACES, STATUS, NODES, PART, MORE_SETS, MORE_PLACES = range(9)
N_STATES = 9
RUNNING, TOO_MANY, STOPPED, OUT_OF_BUDGET, FULL = range(5)
"""FULL: the arrays have no room for MORE_SETS sets with MORE_PLACES items. What writes them returns no arrays, because handing these from
loop to loop takes longer than writing a set: `search_lists` makes room and searches once more below the item at hand."""


class Asked(NamedTuple):
    """What is asked for: the bounds of support and length, the kind of sets, whether to list them, and the bounds of the search.

    `depth` is the number of items up to which a path is extended. A search that looks back knows which earlier items all rows of a path
    hold.
    """

    min_count: int
    min_length: int
    max_length: int
    depth: int
    kind: int
    looks_back: int
    listing: int
    limit: int
    budget: int
    table_bits: int


class Part(NamedTuple):
    """A part of a search: its number, its items from `first` to before `last`, its table of counts, and what each part has found."""

    number: int
    first: int
    last: int
    tally: NDArray[np.int64]
    shared: NDArray[np.int64]


class Search(NamedTuple):
    """What is asked for and how far the search is: its state, the path, the perfect items, and room to write one set."""

    asked: Asked
    state: NDArray[np.int64]
    path: NDArray[np.int32]
    perfect: NDArray[np.int32]
    base: NDArray[np.int32]
    choice: NDArray[np.int32]
    tally: NDArray[np.int64]
    shared: NDArray[np.int64]
    control: NDArray[np.int64]


class Found(NamedTuple):
    """The sets found: their items one after the other, their lengths and their supports. The arrays grow."""

    items: NDArray[np.int32]
    lengths: NDArray[np.int32]
    supports: NDArray[np.int64]


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
def push(code, search):
    """Go one item deeper."""
    state = search.state
    put_in(search.path, NONE, state[PATH], code)
    state[PATH] += 1


@kernel
def pop(code, search):
    """Come back from an item."""
    path, state = search.path, search.state
    place = 0
    while path[place] != code:
        place += 1
    state[PATH] -= 1
    for later in range(place, state[PATH]):
        path[later] = path[later + 1]


@kernel
def visit(search):
    """Count a node of the search; return whether it may go on."""
    state, budget = search.state, search.asked.budget
    state[NODES] += 1
    if search.control[STOP] != 0:
        state[STATUS] = STOPPED
    if budget and state[NODES] > budget:
        state[STATUS] = OUT_OF_BUDGET
    return state[STATUS] == RUNNING


@kernel
def is_shallow(search):
    """Return whether the path may be extended."""
    state, asked = search.state, search.asked
    return state[PATH] + (state[PERFECT] if asked.kind == CLOSED else 0) < asked.depth


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
def demand(length, perfect, asked):
    """Return how many sets come of `length` items and the perfect ones, and how many places they take at most.

    For kind maximal a set is needed whatever its length: a smaller one may be within it.
    """
    if asked.kind == MAXIMAL:
        return 1, length + perfect
    if asked.kind != ALL:
        whole = length + perfect
        return (1, whole) if asked.min_length <= whole <= asked.max_length else (0, 0)
    if perfect == 0:
        return (1, length) if asked.min_length <= length <= asked.max_length else (0, 0)
    most = min(asked.max_length - length, perfect)
    sets = sets_between(perfect, max(asked.min_length - length, 0), most, asked.limit)
    return sets, sets * (length + most)


@kernel
def make_room(counted, search, found):
    """Return larger arrays for a search that is full; or say that there are too many sets, here or in all parts of the search together.

    `counted` is the number of sets here. `shared[p]` is the number that part p of the search had when it last needed room.
    """
    state, shared = search.state, search.shared
    items, lengths, supports = found.items, found.lengths, found.supports
    own, needed = state[SETS] + state[MORE_SETS], state[PLACES] + state[MORE_PLACES]
    shared[state[PART]] = counted
    total = 0
    for part in range(len(shared)):
        total += shared[part]
    if total > search.asked.limit:
        state[STATUS] = TOO_MANY
        return found
    state[STATUS] = RUNNING
    if own > len(lengths):
        lengths, supports = grown(lengths, state[SETS], own), grown(supports, state[SETS], own)
    if needed > len(items):
        items = grown(items, state[PLACES], needed)
    return Found(items, lengths, supports)


@kernel
def write_sets(base, length, support, search, found):
    """Write the sets that `demand` counted, for which there is room: `length` codes of `base` with perfect items."""
    asked, state, perfect, choice = search.asked, search.state, search.perfect, search.choice
    items = found.items
    n_perfect = state[PERFECT]
    place = state[PLACES]
    number = state[SETS]
    least, most = max(asked.min_length - length, 0), min(asked.max_length - length, n_perfect)
    if asked.kind != ALL:
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
            found.lengths[number] = length + size
            found.supports[number] = support
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
def note(base, length, support, search, found):
    """Write or count the sets of `length` codes of `base` and of perfect items; where there is no room, say so in the state."""
    asked, state = search.asked, search.state
    if not asked.listing and asked.kind == ALL:
        # By the length and the perfect items: the number of sets may pass any word.
        search.tally[min(length, len(search.tally) - 1), state[PERFECT]] += 1
        return
    sets, needed = demand(length, state[PERFECT], asked)
    if not asked.listing:
        state[SETS] += sets
    elif asked.kind != MAXIMAL and state[SETS] + sets > asked.limit:  # looked at first: `demand` counts no further
        state[STATUS] = TOO_MANY
    elif state[SETS] + sets > len(found.lengths) or state[PLACES] + needed > len(found.items):
        state[STATUS], state[MORE_SETS], state[MORE_PLACES] = FULL, sets, needed
    elif sets > 0:
        write_sets(base, length, support, search, found)
