"""Insert, straight from its description: suppress all sensitive items, restore as many as stay safe. Imports nothing from the package.

Slow and obvious: how many records of a content can take an item is found by trying, starting with all of them, and every rule among the
items concerned is counted again by the definition.
"""

from itertools import combinations


def subsets(items):
    items = sorted(items)
    return (frozenset(c) for size in range(len(items) + 1) for c in combinations(items, size))


def counted(table, items, records=None):
    """Return how many records hold each set of these items; the empty set, all `records` of which the table may be a part."""
    return {q: sum(q <= record for record in table) if q else records or len(table) for q in subsets(items)}


def is_safe_among(held, item, number, sensitive, rho, include_empty):
    """Return whether all rules of some items stay safe if `number` records that hold all of them except `item` take it too.

    Adding one of the items to records with the others changes no other rules.
    """
    held = {q: count + number * (item in q) for q, count in held.items()}
    for q, count in held.items():
        for consequent in q & sensitive if item in q else ():
            known = q - {consequent}
            if (known or include_empty) and count > rho * held[known]:
                return False
    return True


def is_safe_from_whole(table, part, item, sensitive, rho, include_empty):
    """Return whether few enough of the records with exactly these non-sensitive items hold the item."""
    alike = [record for record in table if record - sensitive == part]
    return not (part or include_empty) or sum(item in record for record in alike) <= rho * len(alike)


def with_more(table, rows, item):
    more = list(table)
    for row in rows:
        more[row] = more[row] | {item}
    return more


def most_that_stay_safe(table, rows, item, sensitive, rho, include_empty, whole, records=None):
    """Return the table with the item restored in as many of these records, all of one content, as stay safe: the last ones first."""
    content = table[rows[0]]
    held = counted(table, content | {item}, records)
    for number in range(len(rows), 0, -1):
        if not is_safe_among(held, item, number, sensitive, rho, include_empty):
            continue
        more = with_more(table, rows[::-1][:number], item)
        part = content - sensitive
        if not whole or item not in sensitive or is_safe_from_whole(more, part, item, sensitive, rho, include_empty):
            return more
    return table


class Memory:
    """When each occurrence was last examined in vain, and when each item was last restored: most need no second look."""

    def __init__(self):
        self.time, self.examined, self.restored = 0, {}, {}

    def copy(self):
        same = Memory()
        same.time, same.examined, same.restored = self.time, dict(self.examined), dict(self.restored)
        return same

    def is_worth_a_look(self, row, item, content):
        """Return whether the item, or one that the record holds, was restored anywhere since then."""
        last = self.examined.get((row, item))
        return last is None or any(self.restored.get(other, 0) > last for other in content | {item})


def restore(
    original, table, order, position, sensitive, rho, include_empty=True, whole=False, memory=None, records=None
):
    """Return the table after every step: items in their order, shortest contents first, until nothing more can be restored.

    `position` gives each record its place in the drawn order. Equally long contents are ordered by their first record in it. Whether an
    occurrence is worth a look is decided when the turn of its item begins. The table may be a part of all `records`.
    """
    by_position = sorted(range(len(original)), key=lambda row: position[row])
    memory = memory or Memory()
    steps = [list(table)]
    while True:
        before = steps[-1]
        for item in order:
            table = steps[-1]
            groups = {}
            for row in by_position:
                is_lost = item in original[row] and item not in table[row]
                if is_lost and memory.is_worth_a_look(row, item, table[row]):
                    groups.setdefault(table[row], []).append(row)
            for content in sorted(groups, key=len):
                rows = groups[content]
                table = most_that_stay_safe(steps[-1], rows, item, sensitive, rho, include_empty, whole, records)
                memory.time += 1
                memory.examined |= {(row, item): memory.time for row in rows if item not in table[row]}
                if table != steps[-1]:
                    memory.restored[item] = memory.time
                steps.append(table)
        if steps[-1] == before:
            return steps


def suppress(table, items, memory):
    """Return the table without some items; what their records lack, and these items everywhere, is worth a look again."""
    memory.time += 1
    rows = {row for row, record in enumerate(table) if record & items}
    memory.examined = {
        (row, item): t for (row, item), t in memory.examined.items() if row not in rows and item not in items
    }
    memory.restored |= dict.fromkeys(items, memory.time)
    return [record - items for record in table]


def ranked(original, sensitive, order):
    """Return the sensitive items in the order in which they are restored; items compare as their codes do."""
    held = {item: sum(item in record for record in original) for item in sensitive}
    return sorted((i for i in sensitive if held[i]), key=lambda i: (held[i] if order == "rarest" else -held[i], i))


def insert(original, sensitive, rho, position, *, include_empty=True, knows="subset", order="frequent"):
    """Return the table after every step of Insert."""
    start = [record - sensitive for record in original]
    return restore(
        original,
        start,
        ranked(original, sensitive, order),
        position,
        sensitive,
        rho,
        include_empty,
        knows == "whole",
    )


def insert_in_blocks(original, sensitive, rho, size, rng_of, *, include_empty=True, knows="subset", order="frequent"):
    """Return the table that Insert makes of blocks of `size` records: each alone, then once more by groups of items.

    A group of items takes the records that held one of them, at most as many as two blocks have. A single item that more records held
    takes those that hold it now, if there are not more of these, and some of the others.
    """
    chosen = {"include_empty": include_empty, "knows": knows, "order": order}
    table = []
    for number, first in enumerate(range(0, len(original), size)):
        block = original[first : first + size]
        if rho < 1 and any(record & sensitive for record in block):
            table += insert(block, sensitive, rho, rng_of(number).permutation(len(block)), **chosen)[-1]
        else:
            table += block
    held = {item: sum(item in record for record in original) for item in sensitive}
    turns = [
        item for item in ranked(original, sensitive, order) if sum(item in record for record in table) < held[item]
    ]
    rng = rng_of(-1)
    most = 2 * size
    while turns and rho < 1:
        group = [turns.pop(0)]
        while turns and sum(held[item] for item in group) + held[turns[0]] <= most:
            group.append(turns.pop(0))
        rows = [row for row, record in enumerate(original) if record & set(group)]
        if len(rows) > most:
            holding = [row for row in rows if table[row] & set(group)]
            if len(holding) > most:
                continue
            others = [place for place, row in enumerate(rows) if row not in holding]
            chosen_ones = rng.choice(others, most - len(holding), replace=False).tolist()
            rows = sorted([*holding, *(rows[place] for place in chosen_ones)])
        part, now = [original[row] for row in rows], [table[row] for row in rows]
        asked = (sensitive, rho, include_empty, knows == "whole")
        after = restore(part, now, group, rng.permutation(len(rows)), *asked, records=len(original))[-1]
        for row, record in zip(rows, after, strict=True):
            table[row] = record
    return table
