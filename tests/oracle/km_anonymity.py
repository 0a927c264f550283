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


def violations(records, k, m):
    """What is broken in plain records: each minimal rare itemset, as a tuple of rising items."""
    return {("rare-itemset", tuple(sorted(chosen))) for chosen in rare_itemsets(records, k, m)}


# -- disassociated data, by its conditions ----------------------------------------------------------------------------------


def subrecords_of(chunk):
    """The bag of subrecords, each as often as it occurs."""
    return [frozenset(items) for items, count in chunk for _ in range(count)]


def cluster_violations(clusters, k, m, attacker="oblivious"):
    """What is broken in disassociated data: each with the cluster, and the chunk and items or the item concerned."""
    found = set()
    for number, cluster in enumerate(clusters):
        size, term_chunk = cluster["size"], set(cluster["term_chunk"])
        chunks = [subrecords_of(chunk) for chunk in cluster["record_chunks"]]
        domains = [frozenset().union(*chunk) for chunk in chunks]
        for item in sorted(frozenset().union(*domains)):
            if sum(item in domain for domain in domains) > 1:
                found.add(("item-in-two-chunks", (number, item)))
            if item in term_chunk:
                found.add(("item-in-term-chunk-too", (number, item)))
        for j, chunk in enumerate(chunks):
            if len(chunk) > size:
                found.add(("more-subrecords-than-records", (number, j, ())))
            if frozenset() in chunk:
                found.add(("empty-subrecord", (number, j, ())))
            found |= {("rare-itemset", (number, j, tuple(sorted(chosen)))) for chosen in rare_itemsets(chunk, k, m)}
        subrecords = sum(bool(subrecord) for chunk in chunks for subrecord in chunk)
        needed = size + k * (max(min(m, len(chunks)), 1) - 1)
        if size < k:
            found.add(("cluster-below-k", (number,)))
        if not term_chunk and subrecords < size:
            found.add(("records-without-items", (number,)))
        elif not term_chunk and k > 1 and size >= k and subrecords < needed:
            found.add(("too-few-subrecords", (number,)))
        if (
            term_chunk
            and k > 1
            and size >= k
            and attacker == "aware"
            and subrecords + (k - 1) * len(term_chunk) < needed
        ):
            found.add(("too-few-subrecords-if-aware", (number,)))
    return found


def links(clusters):
    """All links across the chunks of a cluster: certain ones of record chunks, certain ones to term chunks, forced ones; and certain
    ones of a cluster come with its number."""
    certain, to_terms, forced = set(), set(), set()
    for number, cluster in enumerate(clusters):
        size = cluster["size"]
        held = []  # (chunk, item, records with it)
        for j, chunk in enumerate(map(subrecords_of, cluster["record_chunks"])):
            held += [(j, item, support(chunk, {item})) for item in sorted(frozenset().union(*chunk))]
        for (i, x, s_x), (j, y, s_y) in combinations(held, 2):
            if i != j and size in (s_x, s_y):
                certain.add((number, i, x, j, y))
            if i != j and s_x + s_y > size:
                forced.add((number, i, x, j, y))
        to_terms |= {(number, i, x, y) for i, x, s_x in held if s_x == size for y in cluster["term_chunk"]}
    return certain, to_terms, forced


# -- disassociated data, by trying everything -------------------------------------------------------------------------------


def reconstructions(cluster, most_of_a_term=None):
    """All data that a cluster may come from: the records as a sorted tuple, each a sorted tuple of items, none of them empty.

    The subrecords of each chunk go to the records, at most one to each; each item of the term chunk goes to some of the records, to at most
    so many where that is known.
    """
    size = cluster["size"]
    states = {((),) * size}
    for chunk in cluster["record_chunks"]:
        bag = [tuple(sorted(subrecord)) for subrecord in subrecords_of(chunk)]
        for subrecord in bag:  # a record that has a part of this chunk is marked with it until all are placed
            states = {
                tuple(sorted([*state[:at], (state[at], subrecord), *state[at + 1 :]], key=repr))
                for state in states
                for at in range(size)
                if not (len(state[at]) == 2 and isinstance(state[at][1], tuple))
            }
        states = {
            tuple(
                sorted(slot[0] + slot[1] if len(slot) == 2 and isinstance(slot[1], tuple) else slot for slot in state)
            )
            for state in states
        }
    for item in cluster["term_chunk"]:
        states = {
            tuple(sorted((*slot, item) if at in chosen else slot for at, slot in enumerate(state)))
            for state in states
            for number in range(1, min(size, size if most_of_a_term is None else most_of_a_term) + 1)
            for chosen in combinations(range(size), number)
        }
    return {state for state in states if all(state)}


def unprotected_sets(cluster, k, m, attacker="oblivious"):
    """The sets of at most m items that a record may hold, and that no reconstruction has in k records.

    Of an attacker who is aware, sets with an item of the term chunk need k records that may hold them, which are all of the cluster.
    """
    most = k - 1 if attacker == "aware" else None
    best = {}
    for state in reconstructions(cluster, most):
        held = {}
        for slot in state:
            for size in range(1, min(m, len(slot)) + 1):
                for chosen in combinations(sorted(slot), size):
                    held[chosen] = held.get(chosen, 0) + 1
        for chosen, number in held.items():
            best[chosen] = max(best.get(chosen, 0), number)
    if attacker == "aware":
        terms = set(cluster["term_chunk"])
        best = {chosen: cluster["size"] if terms & set(chosen) else number for chosen, number in best.items()}
    return {chosen for chosen, number in best.items() if number < k}
