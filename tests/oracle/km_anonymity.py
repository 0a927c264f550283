"""k^m-anonymity, straight from the definitions (terrovitis2008, terrovitis2012), slow and obvious. Nothing is imported from the package.

Records are Python sets of items. A cluster of disassociated data is a dictionary: `size`, `record_chunks`, a list of lists of (subrecord,
count), and `term_chunk`.
"""

from itertools import combinations


def support(records, itemset, weights=None):
    """How many records hold all of the items."""
    return sum(w for r, w in zip(records, weights or [1] * len(records), strict=True) if itemset <= set(r))


def rare_itemsets(records, k, m, weights=None):
    """The sets of at most m items that some records hold, but fewer than k, and k or more each of their parts; with how many."""
    found = {}
    for record in records:
        for size in range(1, min(m, len(record)) + 1):
            for chosen in map(frozenset, combinations(sorted(record), size)):
                if chosen in found or support(records, chosen, weights) >= k:
                    continue
                if all(support(records, chosen - {one}, weights) >= k for one in chosen if size > 1):
                    found[chosen] = support(records, chosen, weights)
    return found
