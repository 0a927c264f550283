"""Hiding a tendency, straight from the definitions (gunawan2019, and the settled readings), slow and obvious.

Records are Python sets of items; `cat` maps an item to its category. Nothing is imported from the package.
"""

from collections import Counter
from fractions import Fraction


def weights(record, cat):
    return Counter(cat[i] for i in record)


def top(record, cat):
    """The heaviest category; the lowest of equals. None for an empty record."""
    w = weights(record, cat)
    return min(w, key=lambda g: (-w[g], g)) if w else None


def above_mean(record, cat):
    """C(t): the categories heavier than the mean weight of the categories that are there."""
    w = weights(record, cat)
    mean = Fraction(len(record), len(w)) if w else 0
    return {g for g in w if w[g] > mean}


def kind(record, cat):
    if not record:
        return "empty"
    if len(record) == 1:
        return "single"
    if len(weights(record, cat)) == 1:
        return "full"
    return "partial" if above_mean(record, cat) else "uniform"


def heaviest(record, cat):
    """All categories that no other one of the record outweighs."""
    w = weights(record, cat)
    return {g for g in w if w[g] == max(w.values())}


def hidden_categories(record, cat, ties="first"):
    """The categories that must go: all heaviest ones, or the first of them."""
    return heaviest(record, cat) if ties == "all" else {top(record, cat)} - {None}


def block(record, cat, ties="first"):
    """I(t): all items of the hidden categories."""
    return {i for i in record if cat[i] in hidden_categories(record, cat, ties)}


def jaccard(a, b):
    return Fraction(len(a & b), len(a | b)) if a | b else Fraction(0)


def compatible(a, b, cat, same="top", *, one_sided=False, ties="first"):
    if hidden_categories(a, cat, ties) & hidden_categories(b, cat, ties):
        return False
    if same == "any" and above_mean(a, cat) & above_mean(b, cat):
        return False
    if block(a, cat, ties) & b:
        return False
    return one_sided or not (block(b, cat, ties) & a)


def partners(records, cat, same="top", *, one_sided=False, ties="first"):
    """The greedy pairing in the given order: smallest coefficient, earliest of equals; each record in one pair at most."""
    partner = {}
    for k, t in enumerate(records):
        if k in partner:
            continue
        free = [j for j in range(len(records)) if j != k and j not in partner]
        fitting = [j for j in free if compatible(t, records[j], cat, same, one_sided=one_sided, ties=ties)]
        if fitting:
            j = min(fitting, key=lambda j: (jaccard(t, records[j]), j))
            partner[k], partner[j] = j, k
    return [partner.get(k, -1) for k in range(len(records))]


def swapped(records, cat, partner, ties="first"):
    """Every pair exchanges its blocks; an item that is there already is lost."""
    return [
        set(t) if j < 0 else (t - block(t, cat, ties)) | block(records[j], cat, ties)
        for t, j in zip(records, partner, strict=True)
    ]


def must_be_hidden(record, cat, which="all", full_min=2):
    k = kind(record, cat)
    if k == "partial":
        return which in ("all", "mixed")
    if k == "full" or (k == "single" and full_min == 1):
        return which in ("all", "whole")
    return False


def violations(original, published, cat, which="all", full_min=2, *, lossless=True, ties="first"):
    """What is wrong with published[r] as the row of original[r]: a set of (kind, record or item)."""
    found = set()
    for r, (t, s) in enumerate(zip(original, published, strict=True)):
        if not must_be_hidden(t, cat, which, full_min):
            continue
        hidden = hidden_categories(t, cat, ties)
        if any(cat.get(i) in hidden for i in s):
            found.add(("not-hidden", r))
        if kind(t, cat) == "partial" and not {i for i in t if cat[i] not in hidden} <= s:
            found.add(("more-taken-than-the-tendency", r))
    before = Counter(i for t in original for i in t)
    after = Counter(i for s in published for i in s)
    for i in before.keys() | after.keys():
        if after[i] > before[i] or (lossless and after[i] != before[i]):
            found.add(("support-changed", i))
    return found


def counted_as(t, s, cat, which="all", full_min=2, *, ties="first"):
    """Which count the record t with the released row s belongs to; each record belongs to one."""
    if not must_be_hidden(t, cat, which, full_min):
        without = {"empty": "empty", "single": "single-item", "uniform": "uniform"}
        return without.get(kind(t, cat), "not-covered")
    shown = {cat.get(i) for i in s}
    if shown & hidden_categories(t, cat, ties):
        return "not-hidden"
    return "tied" if shown & heaviest(t, cat) else "hidden"


def reach(original, published, cat, which="all", full_min=2, *, ties="first"):
    """How many records had a tendency that is hidden now, with all heaviest categories; and how many records there are."""
    found = [counted_as(t, s, cat, which, full_min, ties=ties) for t, s in zip(original, published, strict=True)]
    return found.count("hidden"), len(found)


def still_on_top(original, published, cat):
    concerned = [(t, s) for t, s in zip(original, published, strict=True) if kind(t, cat) in ("partial", "full")]
    if not concerned:
        return None
    hits = 0
    for t, s in concerned:
        w = Counter(cat[i] for i in s if i in cat)
        hits += any(w[g] == max(w.values()) for g in heaviest(t, cat) if w)
    return Fraction(hits, len(concerned))


def record_loss(original, published):
    losses = [1 - jaccard(t, s) if t | s else Fraction(0) for t, s in zip(original, published, strict=True)]
    return sum(losses) / len(losses)


def false_content(original, published):
    return Fraction(sum(len(s - t) for t, s in zip(original, published, strict=True)), sum(map(len, published)))


def dissimilarity(original, published, form):
    before = Counter(i for t in original for i in t)
    after = Counter(i for s in published for i in s)
    total = sum(before.values())
    if form == "printed":
        return Fraction(abs(total - sum(after.values())), total)
    return Fraction(sum(abs(before[i] - after[i]) for i in before.keys() | after.keys()), total)


def least_unhidden_by_item(records, cat, which="all", full_min=2, *, ties="first"):
    """An item may only end where its category need not be hidden: what exceeds the number of such records stays unhidden."""
    leaning = Counter(
        g for t in records if must_be_hidden(t, cat, which, full_min) for g in hidden_categories(t, cat, ties)
    )
    support = Counter(i for t in records for i in t)
    return max((max(0, n - (len(records) - leaning[cat[i]])) for i, n in support.items()), default=0)
