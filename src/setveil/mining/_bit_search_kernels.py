# mypy: ignore-errors
# (Numba infers the types)
"""The search below a path that few items can extend: a record is a word there, one bit an item.

A row is a word of the items that may still come (`words`), and, where closed sets are wanted, of those that must not be in all rows of a
path: in the lower bits of the same word those that were passed on the way here, in some more words (`backs`) those from before. Rows
that are equal in what may come are one row with the sum of their weights and the intersection of the rest (but see `merge_rows`).

For each node one pass counts all pairs of its bits: so each of its children knows its own extensions before it has rows. When these are
few, a table of all their combinations is summed up, and nothing is searched any more.
"""

from __future__ import annotations

from setveil.kernels.bits import WORD_BITS, bit_count, lowest_bit
from setveil.kernels.control import STOP
from setveil.kernels.jit import kernel
from setveil.mining._writing_kernels import (
    ALL,
    BUDGET,
    CLOSED,
    KIND,
    LISTING,
    MAX_LENGTH,
    MAXIMAL,
    MIN_COUNT,
    MIN_LENGTH,
    NODES,
    NONE,
    OUT_OF_BUDGET,
    PATH,
    PERFECT,
    RUNNING,
    STATUS,
    STOPPED,
    TABLE_BITS,
    grown,
    note,
    pop,
    push,
    put_in,
)

FEW_ROWS = 4
"""Fewer rows are not worth looking for equal ones."""


@kernel
def move_row(words, backs, weights, n_backs, row, to):
    """Copy a row to another place."""
    words[to] = words[row]
    weights[to] = weights[row]
    for back in range(n_backs):
        backs[to * n_backs + back] = backs[row * n_backs + back]


@kernel
def are_same(words, backs, n_backs, row, other, live, kind):
    """Tell whether two rows can be one."""
    if words[row] & live != words[other] & live:
        return False
    if kind == MAXIMAL:
        for back in range(n_backs):
            if backs[row * n_backs + back] != backs[other * n_backs + back]:
                return False
    return True


@kernel
def merge_rows(words, backs, weights, n_backs, first, last, live, kind, slots):
    """Make one row of those that are equal in the live bits; return where the rows end now.

    What came before is intersected, which is all that closed sets need to know of it. Whether a set is maximal depends on how often it
    occurs: there, only rows that are equal in all are merged.
    """
    if last - first < FEW_ROWS:
        return last
    size = 8
    while size < 2 * (last - first):
        size *= 2
    for slot in range(size):
        slots[slot] = -1
    end = first
    for row in range(first, last):
        key = words[row] & live
        if kind == MAXIMAL:
            for back in range(n_backs):
                key ^= backs[row * n_backs + back] * 31
        slot = ((key ^ (key >> 29)) * 0x1E3779B97F4A7C15 >> 20) & (size - 1)
        while slots[slot] >= 0 and not are_same(words, backs, n_backs, row, slots[slot], live, kind):
            slot = (slot + 1) & (size - 1)
        same = slots[slot]
        if same >= 0:
            weights[same] += weights[row]
            words[same] &= words[row]
            for back in range(n_backs):
                backs[same * n_backs + back] &= backs[row * n_backs + back]
        else:
            slots[slot] = end
            move_row(words, backs, weights, n_backs, row, end)
            end += 1
    return end


@kernel
def write_bits(word, bits):
    """Write the places of the bits of a word; return how many there are."""
    count = 0
    while word:
        bits[count] = lowest_bit(word)
        count += 1
        word &= word - 1
    return count


@kernel
def count_pairs(words, weights, first, last, live, pairs, bits):
    """Count for each two live bits the weight of the rows that have both; `pairs[a, b]` with a below b."""
    for a in range(write_bits(live, bits)):
        for b in range(bits[a], WORD_BITS):
            pairs[bits[a], b] = 0
    for row in range(first, last):
        weight = weights[row]
        width = write_bits(words[row] & live, bits)
        for a in range(width - 1):
            for b in range(a + 1, width):
                pairs[bits[a], bits[b]] += weight


@kernel
def is_held_back(words, backs, n_backs, first, last, must, below, common):
    """Tell whether all rows with the bits `must` have an item in common that came before them: then a larger set has the same records."""
    lower = below
    is_first = True
    for row in range(first, last):
        if words[row] & must != must:
            continue
        lower &= words[row]
        left = lower
        for back in range(n_backs):
            common[back] = backs[row * n_backs + back] if is_first else common[back] & backs[row * n_backs + back]
            left |= common[back]
        is_first = False
        if left == 0:
            return False
    return True


@kernel
def has_frequent_before(words, backs, weights, n_backs, first, last, must, below, support, min_count, counts):
    """Return whether the rows with the bits `must` hold an item that came before them often enough: then a larger set is frequent.

    Ends as soon as an item has enough, or as none can: what is left of the support is less than the most frequent one lacks.
    """
    for place in range((n_backs + 1) * WORD_BITS):
        counts[place] = 0
    most = 0
    for row in range(first, last):
        if words[row] & must != must:
            continue
        word = words[row] & below
        while word:
            place = lowest_bit(word)
            counts[place] += weights[row]
            most = max(most, counts[place])
            word &= word - 1
        for back in range(n_backs):
            word = backs[row * n_backs + back]
            while word:
                place = (back + 1) * WORD_BITS + lowest_bit(word)
                counts[place] += weights[row]
                most = max(most, counts[place])
                word &= word - 1
        support -= weights[row]
        if most >= min_count or most + support < min_count:
            break
    return most >= min_count


@kernel
def forget_rare_before(words, backs, weights, n_backs, first, last, live, min_count, counts):
    """Clear the bits of the items before that are not in enough of these rows: no larger set with one of them is frequent.

    Return the bits left in the words beside the live ones, and how many words of `backs` there are now: none when all are clear.
    """
    for place in range((n_backs + 1) * WORD_BITS):
        counts[place] = 0
    for row in range(first, last):
        for part in range(n_backs + 1):
            word = words[row] & ~live if part == 0 else backs[row * n_backs + part - 1]
            while word:
                counts[part * WORD_BITS + lowest_bit(word)] += weights[row]
                word &= word - 1
    kept, n_kept = 0, NONE
    for part in range(n_backs + 1):
        often = 0
        for bit in range(WORD_BITS):
            if counts[part * WORD_BITS + bit] >= min_count:
                often |= 1 << bit
        counts[part] = often  # behind what is still to be read
        if part == 0:
            kept = often
        elif often:
            n_kept = n_backs
    for row in range(first, last):
        words[row] &= live | kept
        for back in range(n_kept):
            backs[row * n_backs + back] &= counts[back + 1]
    return kept, n_kept


@kernel
def support_of(words, weights, first, last, must):
    """Return the weight of the rows that have all of some bits."""
    support = 0
    for row in range(first, last):
        if words[row] & must == must:
            support += weights[row]
    return support


@kernel
def are_frequent_pairs(pairs, bits, min_count):
    """Return whether each two of some bits are together often enough: otherwise all of them together are not."""
    while bits:
        one = lowest_bit(bits)
        bits &= bits - 1
        others = bits
        while others:
            if pairs[one, lowest_bit(others)] < min_count:
                return False
            others &= others - 1
    return True


@kernel
def fill_table(words, weights, first, last, must, extensions, sums, places):
    """Sum up, for each combination of extensions, the weight of the rows that have it; return how many extensions there are."""
    width = 0
    word = extensions
    while word:
        places[lowest_bit(word)] = width
        width += 1
        word &= word - 1
    size = 1 << width
    for index in range(size):
        sums[index] = 0
    for row in range(first, last):
        if words[row] & must != must:
            continue
        index = 0
        word = words[row] & extensions
        while word:
            index |= 1 << places[lowest_bit(word)]
            word &= word - 1
        sums[index] += weights[row]
    step = 1
    while step < size:
        for start in range(0, size, 2 * step):
            for index in range(start, start + step):
                sums[index] += sums[index + step]
        step *= 2
    return width


@kernel
def can_grow(combination, width, sums, enough):
    """Tell whether one more extension leaves a combination of the table with enough records."""
    for place in range(width):
        if not combination >> place & 1 and sums[combination | 1 << place] >= enough:
            return True
    return False


@kernel
def write_with(path, length, bits, names, base):
    """Write the path with the items of some bits to `base`; return how many they are."""
    for place in range(length):
        base[place] = path[place]
    while bits:
        put_in(base, NONE, length, names[lowest_bit(bits)])
        length += 1
        bits &= bits - 1
    return length


@kernel
def note_table(
    rows, n_backs, first, last, must, below, extensions, names, wanted, state, path, perfect, scratch, table, counts, out,
    tally, shared, own,
):  # fmt: skip
    """Note every combination of the extensions that is asked for; return the arrays, which may have grown."""
    words, backs, weights = rows
    base, choice = scratch
    sums, places, bits = table
    min_count, kind, longest = wanted[MIN_COUNT], wanted[KIND], wanted[MAX_LENGTH]
    width = fill_table(words, weights, first, last, must, extensions, sums, places)
    size = 1 << width
    no_bound = wanted[MIN_LENGTH] <= state[PATH] + 1 and longest >= state[PATH] + width + state[PERFECT]
    if kind == ALL and not wanted[LISTING] and no_bound:
        frequent = 0
        for combination in range(1, size):
            frequent += sums[combination] >= min_count
        tally[min(state[PATH] + 1, len(tally) - 1), state[PERFECT]] += frequent
        return out
    write_bits(extensions, bits)
    for combination in range(1, size):
        if sums[combination] < min_count:
            continue
        if kind != ALL and can_grow(combination, width, sums, min_count if kind == MAXIMAL else sums[combination]):
            continue
        chosen = 0
        word = combination
        while word:
            chosen |= 1 << bits[lowest_bit(word)]
            word &= word - 1
        length = write_with(path, state[PATH], chosen, names, base)
        if length > longest:
            continue
        held = must | chosen
        if kind == CLOSED and is_held_back(words, backs, n_backs, first, last, held, below, counts):
            continue
        if kind == MAXIMAL and has_frequent_before(
            words, backs, weights, n_backs, first, last, held, below, sums[combination], min_count, counts
        ):
            continue
        out = note(state, wanted, base, length, perfect, sums[combination], out, choice, tally, shared, own)
        if state[STATUS] != RUNNING:
            break
    return out


@kernel
def look_ahead(
    rows, n_backs, first, last, must, below, extensions, names, wanted, state, path, perfect, scratch, counts, out, tally,
    shared, own,
):  # fmt: skip
    """Return whether the path with all its extensions is frequent, and the arrays, which may have grown.

    Every set below the path is within that one: it is noted if it is maximal, and nothing below has to be looked at.
    """
    words, backs, weights = rows
    base, choice = scratch
    held = must | extensions
    support = support_of(words, weights, first, last, held)
    if support < wanted[MIN_COUNT]:
        return False, out
    if not has_frequent_before(
        words, backs, weights, n_backs, first, last, held, below, support, wanted[MIN_COUNT], counts
    ):
        length = write_with(path, state[PATH], extensions, names, base)
        out = note(state, wanted, base, length, perfect, support, out, choice, tally, shared, own)
    return True, out


@kernel
def search_bits(
    n_rows, n_backs, width, names, bit_supports, wanted, state, path, perfect, scratch, rows, slots, stacks, pairs, table,
    counts, out, tally, shared, own, control,
):  # fmt: skip
    """Find the sets that extend the path by the items `names` of the bits, which occur `bit_supports` times.

    The rows stand at the start of `rows`, with so many words of what came before. `stacks` holds, for each level: where its rows begin and
    end, which of its bits are alive and not yet looked at, the bit that leads to the level below, how many perfect items there were,
    and how many words of what came before there are.
    Return the arrays that may have grown.
    """
    min_count, kind, longest = wanted[MIN_COUNT], wanted[KIND], wanted[MAX_LENGTH]
    firsts, lasts, lives, lefts, steps, perfects, back_words = stacks
    words, backs, weights = rows
    whole = (1 << width) - 1
    if width <= wanted[TABLE_BITS]:
        state[NODES] += 1
        out = note_table(
            rows, n_backs, NONE, n_rows, NONE, NONE, whole, names, wanted, state, path, perfect, scratch, table, counts, out, tally, shared,
            own,
        )  # fmt: skip
        return rows, out
    if kind == MAXIMAL:
        is_done, out = look_ahead(
            rows, n_backs, NONE, n_rows, NONE, NONE, whole, names, wanted, state, path, perfect, scratch, counts, out, tally, shared, own,
        )  # fmt: skip
        if is_done:
            return rows, out
    n_rows = merge_rows(words, backs, weights, n_backs, NONE, n_rows, whole, kind, slots)
    count_pairs(words, weights, NONE, n_rows, whole, pairs[0], table[2])
    firsts[0], lasts[0], lives[0], lefts[0], back_words[0] = 0, n_rows, whole, whole, n_backs
    level = 0
    while state[STATUS] == RUNNING:
        if lefts[level] == 0:
            level -= 1
            if level < 0:
                break
            pop(path, state, names[steps[level]])
            state[PERFECT], n_backs = perfects[level], back_words[level]
            continue
        bit = lowest_bit(lefts[level])
        lefts[level] &= lefts[level] - 1
        first, last = firsts[level], lasts[level]
        support = bit_supports[bit] if level == 0 else pairs[level - 1, steps[level - 1], bit]
        extensions, perfect_bits = 0, 0
        word = lives[level] & ~((2 << bit) - 1)
        while word:
            other = lowest_bit(word)
            word &= word - 1
            if pairs[level, bit, other] == support:
                perfect_bits |= 1 << other
            elif pairs[level, bit, other] >= min_count:
                extensions |= 1 << other
        must, below = 1 << bit, (1 << bit) - 1
        state[NODES] += 1
        if control[STOP] != 0:
            state[STATUS] = STOPPED
        if wanted[BUDGET] and state[NODES] > wanted[BUDGET]:
            state[STATUS] = OUT_OF_BUDGET
        if state[STATUS] != RUNNING or (
            kind != ALL and is_held_back(words, backs, n_backs, first, last, must, below, counts)
        ):
            continue
        steps[level], perfects[level] = bit, state[PERFECT]
        push(path, state, names[bit])
        while perfect_bits:
            perfect[state[PERFECT]] = names[lowest_bit(perfect_bits)]
            state[PERFECT] += 1
            perfect_bits &= perfect_bits - 1
        if kind != MAXIMAL or (
            extensions == 0
            and not has_frequent_before(
                words, backs, weights, n_backs, first, last, must, below, support, min_count, counts
            )
        ):
            out = note(state, wanted, path, state[PATH], perfect, support, out, scratch[1], tally, shared, own)
        deeper = extensions != 0 and state[PATH] + (0 if kind == ALL else state[PERFECT]) < longest
        if kind == MAXIMAL and deeper and are_frequent_pairs(pairs[level], extensions, min_count):
            is_done, out = look_ahead(
                rows, n_backs, first, last, must, below, extensions, names, wanted, state, path, perfect, scratch, counts, out,
                tally, shared, own,
            )  # fmt: skip
            deeper = not is_done
        if deeper and bit_count(extensions) > wanted[TABLE_BITS]:
            most = 2 * last - first
            if most > len(words):
                words, weights = grown(words, last, most), grown(weights, last, most)
            if most * n_backs > len(backs):
                backs = grown(backs, last * n_backs, most * n_backs)
            rows = words, backs, weights
            keep = extensions if kind == ALL else extensions | below
            end = last
            for row in range(first, last):
                if words[row] & must and words[row] & extensions:
                    move_row(words, backs, weights, n_backs, row, end)
                    words[end] &= keep
                    end += 1
            compared = extensions
            if kind == MAXIMAL:
                before, n_backs = forget_rare_before(
                    words, backs, weights, n_backs, last, end, extensions, min_count, counts
                )
                compared |= before
            end = merge_rows(words, backs, weights, n_backs, last, end, compared, kind, slots)
            level += 1
            firsts[level], lasts[level], back_words[level] = last, end, n_backs
            lives[level] = lefts[level] = extensions
            count_pairs(words, weights, last, end, extensions, pairs[level], table[2])
            continue
        if deeper and state[STATUS] == RUNNING:
            state[NODES] += 1
            out = note_table(
                rows, n_backs, first, last, must, below, extensions, names, wanted, state, path, perfect, scratch, table, counts,
                out, tally, shared, own,
            )  # fmt: skip
        pop(path, state, names[bit])
        state[PERFECT] = perfects[level]
    return rows, out
