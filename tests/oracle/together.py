"""What several releases of the same records reveal together, by trying everything; slow and obvious. Nothing is imported from the package.

Records are numbered from 0 and are Python sets of items. Every release is given in the order of the records: `rows[r]` is its row of
record r, and `groups[r]` its group or cluster.
"""

from collections import Counter
from itertools import combinations, product

# -- true rows --------------------------------------------------------------------------------------------------------------


def ancestors(node, parent_of):
    while node in parent_of:
        node = parent_of[node]
        yield node


def joint_rows(releases, parent_of):
    """The union of the rows of each record, without nodes above another label of it."""
    views = []
    for rows in zip(*releases, strict=True):
        shown = set().union(*rows)
        views.append({label for label in shown if not any(label in ancestors(other, parent_of) for other in shown)})
    return views


# -- clusters ---------------------------------------------------------------------------------------------------------------


def bag_of(chunk):
    return Counter({frozenset(items): count for items, count in chunk if items})


class Worlds:
    """All joint worlds of disassociated releases: for each record, the sets of items that it has in at least one of them.

    A release is a pair: `groups`, and a list of clusters with `record_chunks` and `term_chunk`. Records get their items one after another.
    The state is what the chunks still have to give, and which items of term chunks no record has yet.
    """

    def __init__(self, releases):
        self.groups = [groups for groups, _clusters in releases]
        self.clusters = [clusters for _groups, clusters in releases]
        self.records = len(self.groups[0])
        self.bags = [[[bag_of(chunk) for chunk in c["record_chunks"]] for c in clusters] for clusters in self.clusters]
        self.domains = [[[frozenset().union(*bag) for bag in bags] for bags in release] for release in self.bags]
        start = self._start()
        layers = [{start: ()}]
        steps = []
        for record in range(self.records):
            after, made = {}, []
            for state in layers[-1]:
                for items in self._possible(record):
                    following = self._after(state, record, items)
                    if following is not None:
                        after[following] = ()
                        made.append((state, items, following))
            layers.append(after)
            steps.append(made)
        good = {state for state in layers[-1] if all(not parts for parts in state)}
        self.contents = [set() for _ in range(self.records)]
        for record in reversed(range(self.records)):
            able = [one for one in steps[record] if one[2] in good]
            self.contents[record] = {items for _state, items, _following in able}
            good = {state for state, _items, _following in able}

    def _start(self):
        """For each chunk the bag of parts, the empty part as often as records have none; for each term chunk its items."""
        state = []
        for groups, clusters, bags in zip(self.groups, self.clusters, self.bags, strict=True):
            for number, cluster in enumerate(clusters):
                size = sum(group == number for group in groups)
                for bag in bags[number]:
                    assert bag.total() <= size
                    state.append(frozenset((bag + Counter({frozenset(): size - bag.total()})).items()))
                state.append(frozenset(cluster["term_chunk"]))
        return tuple(state)

    def _possible(self, record):
        shown = [
            set(clusters[groups[record]]["term_chunk"]).union(*domains[groups[record]])
            for groups, clusters, domains in zip(self.groups, self.clusters, self.domains, strict=True)
        ]
        items = sorted(set.intersection(*shown))
        return [frozenset(one) for size in range(1, len(items) + 1) for one in combinations(items, size)]

    def _after(self, state, record, items):
        state, place = list(state), 0
        for groups, clusters, domains in zip(self.groups, self.clusters, self.domains, strict=True):
            for number in range(len(clusters)):
                for domain in domains[number]:
                    if groups[record] == number:
                        left = Counter(dict(state[place]))
                        part = items & domain
                        if not left[part]:
                            return None
                        left[part] -= 1
                        state[place] = frozenset((+left).items())
                    place += 1
                if groups[record] == number:
                    state[place] = state[place] - items
                place += 1
        return tuple(state)

    def candidates(self, itemset):
        """The records that hold a set in some joint world."""
        return {r for r, contents in enumerate(self.contents) if any(itemset <= items for items in contents)}

    def certain(self):
        """The pairs of record and item that are in every joint world."""
        return {(r, item) for r, contents in enumerate(self.contents) for item in frozenset.intersection(*contents)}


def sets_of(record, m):
    return [frozenset(one) for size in range(1, min(m, len(record)) + 1) for one in combinations(sorted(record), size)]


def too_few_candidates(records, worlds, k, m):
    """The sets of at most m items of a record that fewer than k records hold in joint worlds, each with these records."""
    known = {itemset for record in records for itemset in sets_of(record, m)}
    found = {itemset: worlds.candidates(itemset) for itemset in known}
    return {itemset: held for itemset, held in found.items() if len(held) < k}


def exact_links(releases, worlds):
    """The certain pairs of record and item that no release shows by itself."""
    alone = set().union(*(Worlds([release]).certain() for release in releases))
    return worlds.certain() - alone


# -- groups -----------------------------------------------------------------------------------------------------------------


def choices(groups, counts):
    """All sets of records with an item that agree with its count in every group of every release."""
    records = range(len(groups[0]))
    for mask in product((False, True), repeat=len(groups[0])):
        chosen = {r for r in records if mask[r]}
        if all(
            sum(of[r] == group for r in chosen) == number
            for of, numbers in zip(groups, counts, strict=True)
            for group, number in enumerate(numbers)
        ):
            yield chosen


def most_in_cells(groups, counts):
    """For each cell that all releases count an item in, the largest number of its records that hold it in some joint world."""
    most = Counter()
    cells = list(zip(*groups, strict=True))
    for chosen in choices(groups, counts):
        held = Counter(cells[r] for r in chosen)
        most |= held
    return most


def too_often(groups, counts, p):
    """The cells in which more than one in p records hold an item in some joint world."""
    sizes = Counter(zip(*groups, strict=True))
    return {cell for cell, number in most_in_cells(groups, counts).items() if number * p > sizes[cell]}


# -- hidden categories ------------------------------------------------------------------------------------------------------


def open_categories(rows, category_of):
    """The categories that no row of a record shows."""
    return set(category_of.values()) - {category_of[item] for row in rows for item in row}


# -- hidden itemsets --------------------------------------------------------------------------------------------------------


def support(rows, itemset):
    return sum(itemset <= row for row in rows)


def stand_out(first, second, named, least):
    """The named itemsets whose supports differ more than those of all unnamed ones of their size that are infrequent in both releases."""
    found = set()
    items = sorted(set().union(*first, *second))
    for itemset in named:
        own = abs(support(first, itemset) - support(second, itemset))
        others = [0]
        for other in map(frozenset, combinations(items, len(itemset))):
            held = support(first, other), support(second, other)
            if other not in named and max(held) >= 1 and held[0] < least[0] and held[1] < least[1]:
                others.append(abs(held[0] - held[1]))
        if own > max(others):
            found.add(itemset)
    return found


# -- swapped rows beside true rows --------------------------------------------------------------------------------------------


def contradictions(swapped, true):
    """The pairs of record and item that a true row holds and the swapped row lacks."""
    return {(r, item) for r, (one, other) in enumerate(zip(swapped, true, strict=True)) for item in other - one}
