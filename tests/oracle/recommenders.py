"""Recommenders and their figures, from the definitions: small tables of zeros and ones, one row per person."""

from itertools import permutations

import numpy as np


def ease(table, regularization):
    """Return the weights of EASE: a ridge regression of each item on the others, without an intercept."""
    items = table.shape[1]
    weights = np.zeros((items, items))
    for item in range(items):
        others = [other for other in range(items) if other != item]
        known = table[:, others]
        ridge = known.T @ known + regularization * np.eye(len(others))
        weights[others, item] = np.linalg.solve(ridge, known.T @ table[:, item])
    return weights


def item_knn(table, neighbours):
    """Return the cosine of each item to its most similar others; those as similar as the last one count too."""
    items = table.shape[1]
    found = np.zeros((items, items))
    for item in range(items):
        cosines = {}
        for other in range(items):
            both, lengths = table[:, item] @ table[:, other], table[:, item].sum() * table[:, other].sum()
            if other != item and lengths:
                cosines[other] = both / lengths**0.5
        ranked = sorted(cosines.values(), reverse=True)
        least = ranked[neighbours - 1] if neighbours <= len(ranked) else 0
        for other, cosine in cosines.items():
            if cosine >= least - 1e-9:
                found[item, other] = cosine
    return found


def gains(scores, known, hidden, top):
    """Return Recall and NDCG of one person: the mean over all orders of equal scores."""
    candidates = [item for item in range(len(scores)) if item not in known]
    found = []
    for order in permutations(candidates):
        ranked = sorted(order, key=lambda item: -round(scores[item], 7))
        place = ranked.index(hidden) + 1
        found.append((place <= top, 1 / np.log2(1 + place) if place <= top else 0.0))
    return tuple(np.mean(found, axis=0))


def pair_fit(shares, seen):
    """Return R² of pairs and of single items; both are given by their shares of the records."""
    labels = sorted({label for pair in seen for label in pair})
    pairs = [(a, b) for number, a in enumerate(labels) for b in labels[:number]]
    return tuple(
        _r_squared([shares[frozenset(one)] for one in which], [seen[frozenset(one)] for one in which])
        for which in (pairs, [(a, a) for a in labels])
    )


def _r_squared(predicted, true):
    mean = sum(true) / len(true)
    spread = sum((q - mean) ** 2 for q in true)
    return 1 - sum((q - p) ** 2 for p, q in zip(predicted, true, strict=True)) / spread if spread else None


def shares(records, labels):
    """Return the share of the records with each item and each pair."""
    return {
        frozenset((a, b)): sum({a, b} <= record for record in records) / len(records) for a in labels for b in labels
    }


def auroc(scores, holds):
    """Return the probability that a holder has a higher score than another person, equal ones half."""
    pairs = [(scores[i], scores[j]) for i in range(len(scores)) for j in range(len(scores)) if holds[i] > holds[j]]
    return sum((one > other) + (one == other) / 2 for one, other in pairs) / len(pairs)
