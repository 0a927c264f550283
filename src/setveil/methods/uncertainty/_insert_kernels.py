"""Loops of Insert: suppressed occurrences are restored, as long as every rule stays safe.

For an item t the records that lost it are grouped by what they hold now, and of each group as many take t as no rule forbids
(`_limit_kernels`). The *holders* of t, distinct contents of records that hold it, are listed under each of their items.

The slack of a holder is kept from one turn of t to the next. Between two turns of t only other items are added, which makes it larger. So
what was kept stays a valid bound as long as the record holds the same items, and a record that gained none since holds as many as before.
"""

# mypy: ignore-errors
# Numba infers the types.

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from setveil.kernels.bits import bit_count
from setveil.kernels.control import DONE, STOP
from setveil.kernels.jit import kernel
from setveil.methods.uncertainty._limit_kernels import (
    HOLDERS,
    ITEMS,
    USED,
    Search,
    Sharing,
    bits_below,
    first_kind,
    order_by_slack,
    second_kind,
    second_kind_of_new,
)
from setveil.methods.uncertainty._table_kernels import ALL, ONE, ZERO, Groups, content, group, mixed, put, records_with

if TYPE_CHECKING:
    from numpy.typing import NDArray

NONE = np.int64(-1)
ADDED, REFUSED, EVALUATED, NODES, CLOCK = 0, 1, 2, 3, 4
"""Places in `counts`: occurrences restored, occurrences that were given up, contents examined, sets examined, and the time."""
SLACK, SIZE = 0, 1
"""Columns of the kept slacks: a slack, and the number of items of the record at that time, or -1."""
POSITION, WEIGHT, LENGTH, BOUND = 0, 1, 2, 3
"""Columns of what is known of holders: a record that is one, the number of records, of items except t, and the slack or `UNKNOWN`."""
UNKNOWN = np.int64(-(2**62))
N_HOLDERS, N_BLOCKS = 0, 1
"""Places in `sizes` of the holders."""
BEFORE, COUNT, BLOCK = 0, 1, 14
"""Columns of blocks before the holders, and the number of holders in a full block."""


class Lists(NamedTuple):
    """The original records of each item that may be restored, from its start on, and where the item stands in them."""

    starts: NDArray[np.int64]
    rows: NDArray[np.int64]
    places: NDArray[np.int64]


class Parts(NamedTuple):
    """Non-sensitive parts of records: which records can take no sensitive item, the part of each, and the records with each part.

    `held` counts the records with a part that hold the item whose turn it is; it is 0 everywhere between turns. `together` is how many
    records hold at least the part, or -1 before it was counted; it never changes where non-sensitive items stay as they are.
    """

    is_dead: NDArray[np.bool_]
    of: NDArray[np.int64]
    sizes: NDArray[np.int64]
    held: NDArray[np.int64]
    together: NDArray[np.int64]


class Memory(NamedTuple):
    """What is known from one turn to the next.

    `versions` is the time when an item was last restored anywhere, `evaluated` when an occurrence was last examined: it is examined again
    only if something was restored that it depends on. `for_good` marks occurrences that can never be restored, known only where
    non-sensitive items stay as they are. `slacks` go by position in the lists.
    """

    versions: NDArray[np.int64]
    evaluated: NDArray[np.int64]
    for_good: NDArray[np.bool_]
    slacks: NDArray[np.int64]
    counts: NDArray[np.int64]


class Holders(NamedTuple):
    """The holders of an item. `words` have one bit per item of a holder; `masks` are 0 everywhere between contents.

    The holders that have an item are in blocks, so that few steps wait for memory. `heads`, -1 everywhere between turns, has the last
    block of each item, and `numbers`, 0 then, how many holders have it; `blocks` have the block before, the number of holders in it, and
    these. `items` is room for those of a holder.
    """

    sizes: NDArray[np.int64]
    known: NDArray[np.int64]
    words: NDArray[np.uint64]
    masks: NDArray[np.uint64]
    heads: NDArray[np.int64]
    numbers: NDArray[np.int64]
    blocks: NDArray[np.int64]
    items: NDArray[np.int64]


class Room(NamedTuple):
    """Room for the turn of one item: records that hold it, those that lost it, and the search among its holders."""

    holding: Groups
    lost: Groups
    holders: Holders
    sharing: Sharing
    ordered: Sharing
    search: Search


@kernel
def put_back(order, lists, rules, parts, memory, table, room, control):
    """Go once through the items in their order, and restore as many occurrences of each as stay safe."""
    holding, lost, holders, sharing, search = room.holding, room.lost, room.holders, room.sharing, room.search
    rows, is_sensitive, counts = lists.rows, table.is_sensitive, memory.counts
    for t in order:
        if control[STOP]:
            return
        is_bounded = rules.whole and is_sensitive[t]
        n_holding, n_lost = find_lost(t, lists, memory, parts.is_dead, table, holding.members, lost.members)
        if is_bounded:
            for at in range(n_holding):
                parts.held[parts.of[rows[holding.members[at]]]] += 1
        n_groups = ZERO
        if n_lost > 0:
            list_holders(t, n_holding, rows, memory.slacks, table, holding, holders)
            n_groups = group_lost(n_lost, rows, table, lost, search)
        for turn in range(n_groups):
            number = lost.order[turn]
            row = rows[lost.members[lost.lasts[number]]]
            # The item alone, and whole records.
            x, n_sensitive = limit_by_record(t, row, lost.sizes[number], rules, parts, table, search)
            together, with_all, same = ZERO, ZERO, NONE
            forever, is_given_up = False, False
            if n_sensitive == 0 and is_sensitive[t]:
                x, together, forever = limit_by_content(x, row, n_sensitive, rules, parts, table, search)
            if x > 0 and n_sensitive > 0 and is_forbidden(n_sensitive, is_sensitive, search, holders):
                x = ZERO
            if x > 0 and search.sizes[ITEMS] > 0 and (is_sensitive[t] or n_sensitive > 0):
                is_given_up, with_all, same = meet_holders(holders, search, sharing)
                # What most often forbids it, before what takes long: the rules that know all but one item, and the content.
                if n_sensitive > 0 and not is_given_up:
                    x = limit_by_knowing_most(x, with_all, table.held[t], rules, is_sensitive, search, sharing)
                if x > 0 and n_sensitive > 0 and is_sensitive[t]:
                    x, together, forever = limit_by_content(x, row, n_sensitive, rules, parts, table, search)
                if is_given_up:
                    is_given_up = x > 0
                    x = ZERO
                elif is_sensitive[t] and x > 0:
                    x = max(min(x, rules.num * together // rules.den - with_all), ZERO)
                    forever = x <= 0 and n_sensitive == 0
                # Rules that know the item, then those that infer it.
                if x > 0 and n_sensitive > 0:
                    x, nodes = limit_by_knowing(x, table.held[t], holders.heads, rules, is_sensitive, search, sharing)
                    counts[NODES] += nodes
                base = together - with_all - x
                if x > 0 and is_sensitive[t] and prepare_search(t, x, base, rows, rules, table, room):
                    x, forever, nodes = first_kind(x, base, search, room.ordered, table, rules)
                    counts[NODES] += nodes
                if x < 0:
                    is_given_up = True
                    x = ZERO
            counts[EVALUATED] += 1
            if is_given_up:
                counts[REFUSED] += lost.sizes[number]
            position = give(t, x, number, lists, memory, table, lost)
            remember(number, is_given_up, forever and rules.plain_is_fixed, lists.places, memory, lost)
            leave_holders(x, search.sizes[HOLDERS], sharing.numbers, holders)
            if x > 0 and same >= 0:
                holders.known[same, WEIGHT] += x
            elif x > 0:
                add_holder(t, position, row, x, together - with_all - x, table, holders)
            if is_bounded:
                parts.held[parts.of[row]] += x
        if n_lost > 0:
            end_turn(t, rows, memory.slacks, table, holders)
        if is_bounded:
            for at in range(lists.starts[t], lists.starts[t + 1]):
                parts.held[parts.of[rows[at]]] = 0
        control[DONE] += 1


@kernel
def find_lost(t, lists, memory, is_dead, table, holding, lost):
    """Find the records that hold t, and those that lost it and may take it again; return their numbers."""
    rows, places, items, present = lists.rows, lists.places, table.items, table.present
    versions, evaluated = memory.versions, memory.evaluated
    n_holding = ZERO
    n_lost = ZERO
    for at in range(lists.starts[t], lists.starts[t + 1]):
        row, place = rows[at], places[at]
        if present[place]:
            holding[n_holding] = at
            n_holding += 1
            continue
        if memory.for_good[place] or (table.is_sensitive[t] and is_dead[row]):
            continue
        last = evaluated[place]
        is_changed = last < 0 or versions[t] > last
        other = table.offsets[row]
        end = table.offsets[row + 1]
        while not is_changed and other < end:
            is_changed = present[other] != 0 and versions[items[other]] > last
            other += 1
        if is_changed:
            lost[n_lost] = at
            n_lost += 1
    return n_holding, n_lost


@kernel
def list_holders(t, n_holding, rows, slacks, table, holding, holders):
    """List the holders with their slack, if it is known, and under each item those that have it."""
    members, before = holding.members, holding.before
    holders.sizes[N_HOLDERS] = 0
    holders.sizes[N_BLOCKS] = 0
    for number in range(group(n_holding, rows, table, holding)):
        last = holding.lasts[number]
        row = rows[members[last]]
        size = content(row, table, holders.items)
        # It is known if a record has as many items as then. No record keeps it: at the end of the turn one does.
        slack = UNKNOWN
        at = last
        while at >= 0:
            if slacks[members[at], SIZE] == size:
                slack = slacks[members[at], SLACK]
            slacks[members[at], SIZE] = -1
            at = before[at]
        add_holder(t, members[last], row, holding.sizes[number], slack, table, holders)


@kernel
def add_holder(t, position, row, weight, slack, table, holders):
    """Add a holder, and list it under each of its items."""
    heads, blocks, items, known = holders.heads, holders.blocks, table.items, holders.known
    number, n_blocks = holders.sizes[N_HOLDERS], holders.sizes[N_BLOCKS]
    length = ZERO
    word = np.uint64(0)
    for place in range(table.offsets[row], table.offsets[row + 1]):
        item = items[place]
        if table.present[place] and item != t:
            block = heads[item]
            if block < 0 or blocks[block, COUNT] == BLOCK:
                blocks[n_blocks, BEFORE] = block
                blocks[n_blocks, COUNT] = 0
                block = n_blocks
                heads[item] = block
                n_blocks += 1
            blocks[block, COUNT] += 1
            blocks[block, COUNT + blocks[block, COUNT]] = number
            holders.numbers[item] += 1
            word |= ONE << (mixed(np.int64(item)) & np.uint64(63))
            length += 1
    holders.words[number] = word
    known[number, POSITION] = position
    known[number, WEIGHT] = weight
    known[number, LENGTH] = length
    known[number, BOUND] = slack
    holders.sizes[N_HOLDERS] = number + 1
    holders.sizes[N_BLOCKS] = n_blocks


@kernel
def group_lost(n_lost, rows, table, lost, search):
    """Group the records that lost the item by content, write the order of the groups by length, and return their number."""
    counts, order, before_sort = search.counts, lost.order, lost.slots
    n_groups = group(n_lost, rows, table, lost)
    longest = ZERO
    for number in range(n_groups):
        size = content(rows[lost.members[lost.lasts[number]]], table, search.items)
        before_sort[number] = size
        longest = max(longest, size)
        counts[size + 1] += 1
    for size in range(longest + 1):
        counts[size + 1] += counts[size]
    for number in range(n_groups):
        size = before_sort[number]
        before_sort[number] = 0
        order[counts[size]] = number
        counts[size] += 1
    for size in range(longest + 2):
        counts[size] = 0
    return n_groups


@kernel
def limit_by_record(t, row, x, rules, parts, table, search):
    """Write the content of a record; return how many of x such records can take t where no items or whole records are known.

    Also returns how many sensitive items are in the content.
    """
    items = search.items
    size = content(row, table, items)
    n_sensitive = ZERO
    for k in range(size):
        n_sensitive += table.is_sensitive[items[k]]
    search.sizes[ITEMS] = size
    search.sizes[HOLDERS] = 0
    if table.is_sensitive[t]:
        if rules.include_empty:
            x = min(x, rules.num * rules.records // rules.den - table.held[t])
        if rules.whole and (size > n_sensitive or rules.include_empty):
            part = parts.of[row]
            x = min(x, rules.num * parts.sizes[part] // rules.den - parts.held[part])
    return max(x, ZERO), n_sensitive


@kernel
def limit_by_content(x, row, n_sensitive, rules, parts, table, search):
    """Return how many of x records with one content can take a sensitive item by the number of records that hold the content.

    Also returns that number, and whether non-sensitive items alone forbid it.
    """
    size, part = search.sizes[ITEMS], parts.of[row]
    if size == 0 or x == 0:
        return x, NONE, False
    is_plain = n_sensitive == 0
    together = parts.together[part] if is_plain and rules.plain_is_fixed else NONE
    if together < 0:
        together = records_with(search.items, size, ALL, table)
    if is_plain:
        parts.together[part] = together
    x = min(x, rules.num * together // rules.den)
    return x, together, x <= 0 and is_plain


@kernel
def is_forbidden(n_sensitive, is_sensitive, search, holders):
    """Return whether it is certain that a rule forbids t which knows t and all of the content but a sensitive item f.

    For each f, there must be a holder that lacks nothing but f. So all other items must be in holders, and a look at the holders with one
    of them, the one in the fewest, settles most cases. Words can only err in favour: they may have the bit of an item that is missing.
    """
    items, numbers, words, blocks = search.items, holders.numbers, holders.words, holders.blocks
    size = search.sizes[ITEMS]
    fewest = NONE
    for k in range(size):
        item = items[k]
        if n_sensitive > 1 or not is_sensitive[item]:
            if numbers[item] == 0:
                return True
            if fewest < 0 or numbers[item] < numbers[fewest]:
                fewest = item
    if size == 1:
        return False
    word, asked = np.uint64(0), np.uint64(0)
    for k in range(size):
        bit = ONE << (mixed(items[k]) & np.uint64(63))
        word |= bit
        if is_sensitive[items[k]] and items[k] != fewest:
            asked |= bit
    block = holders.heads[fewest]
    while block >= 0 and asked != 0:
        for at in range(COUNT + 1, COUNT + 1 + blocks[block, COUNT]):
            lacking = word & ~words[blocks[block, at]]
            if lacking == 0:
                return False
            if lacking & (lacking - ONE) == 0:
                asked &= ~lacking
        block = blocks[block, BEFORE]
    return asked != 0


@kernel
def meet_holders(holders, search, sharing):
    """Find what the holders share with the content, as bits of its items.

    Return whether that takes more than 64 bits, how many records hold t and all of the content, and the holder with nothing else, or -1.
    """
    masks, heads, blocks, known = holders.masks, holders.heads, holders.blocks, holders.known
    numbers, items = sharing.numbers, search.items
    size = search.sizes[ITEMS]
    n_used = ZERO
    n_met = ZERO
    too_many = False
    for k in range(size):
        block = heads[items[k]]
        if block < 0:
            continue
        if n_used == 64:
            too_many = True
            break
        search.used[n_used] = k
        bit = ONE << np.uint64(n_used)
        while block >= 0:
            for at in range(COUNT + blocks[block, COUNT], COUNT, -1):
                holder = blocks[block, at]
                if masks[holder] == 0:
                    numbers[n_met] = holder
                    n_met += 1
                masks[holder] |= bit
            block = blocks[block, BEFORE]
        n_used += 1
    search.sizes[USED] = n_used
    search.sizes[HOLDERS] = n_met
    full = bits_below(n_used)
    with_all = ZERO
    same = NONE
    for at in range(n_met):
        holder = numbers[at]
        sharing.masks[at] = masks[holder]
        sharing.weights[at] = known[holder, WEIGHT]
        if n_used == size and masks[holder] == full:
            with_all += known[holder, WEIGHT]
            if known[holder, LENGTH] == size:
                same = holder
    return too_many, with_all, same


@kernel
def limit_by_knowing_most(x, with_all, all_with_t, rules, is_sensitive, search, sharing):
    """Return how many of x records can take t by the rules that know t and the whole content but a sensitive item.

    An item that no holder has is the only sensitive one (`is_forbidden`).
    """
    without, masks, weights = search.without, sharing.masks, sharing.weights
    size, n_used, number = search.sizes[ITEMS], search.sizes[USED], search.sizes[HOLDERS]
    full = bits_below(n_used)
    fewest = all_with_t - with_all
    if n_used < size and size > 1:
        fewest = ZERO
        for at in range(number):
            if masks[at] == full:
                fewest += weights[at]
    elif size > 1:
        for at in range(number):
            lacking = full & ~masks[at]
            if lacking != 0 and lacking & (lacking - ONE) == 0:
                without[np.int64(bit_count(lacking - ONE))] += weights[at]
        for b in range(n_used):
            if is_sensitive[search.items[search.used[b]]]:
                fewest = min(fewest, without[b])
            without[b] = 0
    return max(min(x, rules.num * fewest // (rules.den - rules.num) - with_all), ZERO)


@kernel
def limit_by_knowing(x, all_with_t, heads, rules, is_sensitive, search, sharing):
    """Return how many of x records can take t so that no rule that knows t becomes unsafe, or -1 where a search was given up.

    Also returns how many sets were examined.
    """
    items, used = search.items, search.used
    nodes = ZERO
    for b in range(search.sizes[USED]):
        if x > 0 and is_sensitive[items[used[b]]]:
            x, more = second_kind(x, b, all_with_t, search, sharing, rules)
            nodes += more
    if search.sizes[USED] < search.sizes[ITEMS]:
        for k in range(search.sizes[ITEMS]):  # a sensitive item that no holder has: they must not all come with it
            if x > 0 and is_sensitive[items[k]] and heads[items[k]] < 0:
                x = second_kind_of_new(x, all_with_t, search, sharing, rules)
    return x, nodes


@kernel
def prepare_search(t, x, base, rows, rules, table, room):
    """Return whether a search for rules that infer t is needed; if so, bring the holders into the order of slack.

    `base` is how many records hold the content without t after x took it.
    """
    search, sharing, known = room.search, room.sharing, room.holders.known
    numbers, masks, weights = sharing.numbers, sharing.masks, sharing.weights
    n_met = search.sizes[HOLDERS]
    total = x
    for at in range(n_met):
        total += weights[at]
    excess = total * (rules.den - rules.num)
    if n_met == 0 or excess <= rules.num * base:
        return False
    for at in range(n_met):
        holder = numbers[at]
        if known[holder, BOUND] == UNKNOWN:
            known[holder, BOUND] = slack_of(t, rows[known[holder, POSITION]], table, room.holders.items)
        slack = known[holder, BOUND]
        if bit_count(masks[at]) == known[holder, LENGTH]:
            slack -= x  # its counterparts may be those that get t
        sharing.slacks[at] = slack
    order_by_slack(n_met, excess // rules.num + 1, search.counts, sharing, room.ordered)
    return True


@kernel
def slack_of(t, row, table, items):
    """Count the records that hold all other items of a record that holds t, and not t."""
    size = content(row, table, items)
    slack = -records_with(items, size, ALL, table)
    rest = ZERO
    for k in range(size):
        if items[k] != t:
            items[rest] = items[k]
            rest += 1
    return slack + records_with(items, rest, ALL, table)


@kernel
def give(t, x, number, lists, memory, table, lost):
    """Give t to the last x records of a group, which leaves them; return the position of the first one, or -1."""
    memory.counts[CLOCK] += 1
    memory.counts[ADDED] += x
    position = NONE
    at = lost.lasts[number]
    for _ in range(x):
        position = lost.members[at]
        table.present[lists.places[position]] = 1
        put(lists.rows[position], t, table)
        at = lost.before[at]
    if x > 0:
        memory.versions[t] = memory.counts[CLOCK]
    lost.lasts[number] = at
    return position


@kernel
def remember(number, is_given_up, forever, places, memory, lost):
    """Remember that the other records of a group were examined now, unless that was given up, and whether in vain for ever."""
    at = lost.lasts[number]
    while at >= 0:
        place = places[lost.members[at]]
        memory.for_good[place] = forever
        memory.evaluated[place] = -1 if is_given_up else memory.counts[CLOCK]
        at = lost.before[at]


@kernel
def leave_holders(x, n_met, numbers, holders):
    """Take x from the slack of the holders within the content, whose records took the item, and the bits from all that were met."""
    masks, known = holders.masks, holders.known
    for at in range(n_met):
        holder = numbers[at]
        if bit_count(masks[holder]) == known[holder, LENGTH] and known[holder, BOUND] != UNKNOWN:
            known[holder, BOUND] -= x
        masks[holder] = 0


@kernel
def end_turn(t, rows, slacks, table, holders):
    """Keep the slacks of the holders, and leave no block behind."""
    for holder in range(holders.sizes[N_HOLDERS]):
        position = holders.known[holder, POSITION]
        if table.is_sensitive[t] and holders.known[holder, BOUND] != UNKNOWN:
            slacks[position, SLACK] = holders.known[holder, BOUND]
            slacks[position, SIZE] = holders.known[holder, LENGTH] + 1
        row = rows[position]
        for place in range(table.offsets[row], table.offsets[row + 1]):
            holders.heads[table.items[place]] = -1
            holders.numbers[table.items[place]] = 0


@kernel
def take_out(order, lists, memory, table):
    """Suppress every occurrence of some items, which is safe for whole items; what they made unsafe is examined again."""
    rows, places, evaluated, present, hot = lists.rows, lists.places, memory.evaluated, table.present, table.hot
    memory.counts[CLOCK] += 1
    for t in order:
        for at in range(lists.starts[t], lists.starts[t + 1]):
            row, place = rows[at], places[at]
            memory.for_good[place] = False
            evaluated[place] = -1
            if present[place]:
                present[place] = 0
                table.sums[row] -= mixed(t)
                for other in range(table.offsets[row], table.offsets[row + 1]):
                    evaluated[other] = -1
        table.held[t] = 0
        memory.versions[t] = memory.counts[CLOCK]
        if hot[t] >= 0:
            for w in range(table.bits.shape[1]):
                table.bits[hot[t], w] = 0
