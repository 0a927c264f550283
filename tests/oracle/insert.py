"""Insert, straight from its description: all sensitive items out, then as many back as stay safe. Imports nothing from the package.

Slow and obvious: how many records of a content can take an item is found by trying, from all of them downwards, and every rule among the
items concerned is counted again by the definition.
"""

from itertools import combinations


def subsets(items):
    items = sorted(items)
    return (frozenset(c) for size in range(len(items) + 1) for c in combinations(items, size))


def counted(table, items):
    """How many records hold each set of these items."""
    return {q: sum(q <= record for record in table) for q in subsets(items)}


def is_safe_among(held, item, number, sensitive, rho, include_empty):
    """Tell whether all rules of some items stay safe when so many records that hold all of them but this one take it too.

    An addition of one of them to records with the others changes no other rules.
    """
    held = {q: count + number * (item in q) for q, count in held.items()}
    for q, count in held.items():
        for consequent in q & sensitive:
            known = q - {consequent}
            if (known or include_empty) and count > rho * held[known]:
                return False
    return True


def is_safe_from_whole(table, part, item, sensitive, rho, include_empty):
    """Tell whether of the records with exactly these items that are not sensitive few enough hold the item."""
    alike = [record for record in table if record - sensitive == part]
    return not (part or include_empty) or sum(item in record for record in alike) <= rho * len(alike)


def with_more(table, rows, item):
    more = list(table)
    for row in rows:
        more[row] = more[row] | {item}
    return more


def most_that_stay_safe(table, rows, item, sensitive, rho, include_empty, whole):
    """The table after the item came back to as many of these records, all of one content, as stay safe: the last ones first."""
    content = table[rows[0]]
    held = counted(table, content | {item})
    for number in range(len(rows), 0, -1):
        if not is_safe_among(held, item, number, sensitive, rho, include_empty):
            continue
        more = with_more(table, rows[::-1][:number], item)
        part = content - sensitive
        if not whole or item not in sensitive or is_safe_from_whole(more, part, item, sensitive, rho, include_empty):
            return more
    return table


class Memory:
    """When each occurrence was last looked at in vain, and when each item last came back: most need no second look."""

    def __init__(self):
        self.time, self.looked, self.came = 0, {}, {}

    def copy(self):
        same = Memory()
        same.time, same.looked, same.came = self.time, dict(self.looked), dict(self.came)
        return same

    def is_worth_a_look(self, row, item, content):
        """Tell whether since then the item or one that the record holds came back anywhere."""
        last = self.looked.get((row, item))
        return last is None or any(self.came.get(other, 0) > last for other in content | {item})


def put_back(original, table, order, position, sensitive, rho, include_empty=True, whole=False, memory=None):
    """Return the table after every step: items in their order, contents from the shortest, until nothing comes back any more.

    `position` gives each record its place in the drawn order; the first record of a content that comes there decides among contents that
    are equally long. Whether an occurrence is worth a look is settled when the turn of its item begins.
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
                table = most_that_stay_safe(steps[-1], rows, item, sensitive, rho, include_empty, whole)
                memory.time += 1
                memory.looked |= {(row, item): memory.time for row in rows if item not in table[row]}
                if table != steps[-1]:
                    memory.came[item] = memory.time
                steps.append(table)
        if steps[-1] == before:
            return steps


def take_out(table, items, memory):
    """The table without some items; what their records lack is worth a look again, and these items everywhere."""
    memory.time += 1
    rows = {row for row, record in enumerate(table) if record & items}
    memory.looked = {
        (row, item): t for (row, item), t in memory.looked.items() if row not in rows and item not in items
    }
    memory.came |= dict.fromkeys(items, memory.time)
    return [record - items for record in table]


def ranked(original, sensitive, order):
    """The sensitive items in the order in which they come back; items compare as their codes do."""
    held = {item: sum(item in record for record in original) for item in sensitive}
    return sorted((i for i in sensitive if held[i]), key=lambda i: (held[i] if order == "rarest" else -held[i], i))


def insert(original, sensitive, rho, position, *, include_empty=True, knows="subset", order="frequent"):
    """Return the table after every step of Insert."""
    start = [record - sensitive for record in original]
    return put_back(
        original,
        start,
        ranked(original, sensitive, order),
        position,
        sensitive,
        rho,
        include_empty,
        knows == "whole",
    )
