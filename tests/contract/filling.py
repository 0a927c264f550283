"""How contract tests make an instance of anything that stands in the catalog, and which oracle answers for a guarantee.

A new kind of required parameter needs one entry in `BY_TYPE` or `IF_REQUIRED`, a new guarantee one in `ORACLES`; the suites do the rest. A
method that works in several ways may name them in `WAYS`; those of a kind of parameter are in `WAYS_BY_TYPE`.
"""

from fractions import Fraction
from inspect import isfunction
from typing import get_args

import numpy as np

import setveil as sv
from setveil.parameters.shares import MaxConfidence, MinConfidence, MinSupport
from setveil.parameters.targets import Targets

from contract.forms import seen_by_oracles, taken_apart
from oracle import hidden_itemsets, km_anonymity, permutation, reconstruction, tendency, uncertainty
from support.random_data import as_sets


def some_itemsets(data):
    """Return a few itemsets that records hold, most of them several; where there is no item, one that every method refuses."""
    rng = np.random.default_rng(data.occurrences)
    records = [record for record in as_sets(data) if record]
    if not records:
        return sv.NamedItemsets([["an item that no record holds"]])
    named = []
    for _ in range(4):
        one, other = (records[place] for place in rng.integers(0, len(records), 2))
        held = sorted(one & other or one)
        named.append(rng.choice(held, min(len(held), int(rng.integers(1, 4))), replace=False).tolist())
    return sv.NamedItemsets(named)


def some_sensitive(data):
    """Return a third of the items, at random, and one at least where there is one."""
    rng = np.random.default_rng(data.occurrences)
    return sv.SensitiveItems(rng.permutation(data.vocabulary)[: -(-len(data.vocabulary) // 3)].tolist())


def some_rare_sensitive(data):
    """Return some items that are in no more than half of the records: no method can hide others without leaving them out."""
    rng = np.random.default_rng(data.occurrences)
    return sv.SensitiveItems(
        label
        for label, support in zip(data.vocabulary, data.supports, strict=True)
        if 2 * support <= data.records and rng.random() < 0.4
    )


BY_TYPE = {
    sv.Categories: lambda data: sv.Categories.at_random(data.vocabulary, 4, seed=len(data.vocabulary)),
    sv.NamedItemsets: some_itemsets,
    sv.SensitiveItems: some_sensitive,
}
IF_REQUIRED = {
    MinSupport: lambda _data: MinSupport("10%"),
    MaxConfidence: lambda _data: MaxConfidence("0.5"),
    Targets: lambda _data: Targets("random"),
    int: lambda _data: 2,
}
"""The same for kinds whose defaults are as good as any value."""
BY_NAME = {
    "permutation": {sv.SensitiveItems: some_rare_sensitive},
    "reconstruction": {str: lambda data: taken_apart(data).checksum()},
}
"""The same for methods that cannot do everything."""

WAYS = {
    "part-swap": ({}, {"ties": "all"}),
    "rand-swap": ({"mode": "plain"}, {"mode": "matched"}),
    "apriori-generalization": ({}, {"m": 3, "fanout": 2, "refine": False}),
    "global-suppression": ({}, {"payoff": "cao"}, {"knows": "whole", "include_empty": False}),
    "partial-suppression": ({}, {"objective": "dist", "parts": 3}, {"knows": "whole", "include_empty": False}),
    "disassociation": (
        {},
        {"mode": "flat"},
        {"safe": False},
        {"cover": "suppress"},
        {"partition": "ants", "rules": some_itemsets},
        {"partition": "ants", "rules": some_itemsets, "stable": False, "iterations": 20, "safe": False},
        {"partition": "kmeans"},
    ),
}
"""Settings in which a method goes through the suite, beside its own defaults alone; a function is called with the data."""
WAYS_BY_TYPE = {Targets: ("0",)}
"""Values that a parameter of a kind takes in turn, beside its default."""


def filled(kind, data, **chosen):
    """Make an instance, with values that fit the data for the required parameters, and for others of their kind."""
    parameters = [p for p in kind.parameters() if p.name not in chosen and (p.required or p.annotation in BY_TYPE)]
    fill = BY_TYPE | IF_REQUIRED | BY_NAME.get(kind.name, {})
    chosen = {name: value(data) if isfunction(value) else value for name, value in chosen.items()}
    return kind(**{p.name: fill[p.annotation](data) for p in parameters}, **chosen)


def can_be_filled(kind, data):
    """Tell whether the data hold what the parameters name: there are no itemsets where there is no item."""
    return bool(data.vocabulary) or all(p.annotation is not sv.NamedItemsets for p in kind.parameters())


def ways(kinds):
    """Return every entry of a table with every setting to test it in, and names for them."""
    found = []
    for kind in kinds.values():
        found += [(kind, chosen) for chosen in WAYS.get(kind.name, ({},))]
        found += [(kind, {p.name: value}) for p in kind.parameters() for value in WAYS_BY_TYPE.get(p.annotation, ())]
    return found, [" ".join((kind.name, *map(_shown, chosen.values()))) for kind, chosen in found]


def _shown(value):
    return value.__name__ if isfunction(value) else str(value)


def _hidden_tendency(guarantee, original, published):
    asked = (guarantee.categories, guarantee.records, guarantee.full_min)
    found = tendency.violations(original, published, *asked, lossless=guarantee.lossless, ties=guarantee.ties)
    return {(kind, (where,) if isinstance(where, str) else where) for kind, where in found}


def _tendency_reach(guarantee, original, published):
    asked = (guarantee.categories, guarantee.records, guarantee.full_min)
    return tendency.reach(original, published, *asked, ties=guarantee.ties)


def _hidden_itemsets(guarantee, _original, published):
    text = str(guarantee.min_support)
    threshold = Fraction(text[:-1]) / 100 if text.endswith("%") else Fraction(text) if "." in text else int(text)
    targets = guarantee.targets * (len(guarantee.itemsets) if len(guarantee.targets) == 1 else 1)
    return hidden_itemsets.violations(published, list(guarantee.itemsets), threshold, targets or None)


def _rho_uncertainty(guarantee, _original, published, parent_of=None):
    asked = set(guarantee.sensitive), Fraction(str(guarantee.rho)), guarantee.include_empty, guarantee.knows
    if parent_of is None:
        return uncertainty.unsafe_items(published, *asked)
    return uncertainty.unsafe_names(published, parent_of, *asked)


def _permutation_privacy(guarantee, _original, groups):
    return permutation.violations(groups, set(guarantee.sensitive), guarantee.p)


def _km_anonymity(guarantee, _original, published, _parent_of=None):
    if published and isinstance(published[0], dict):
        return km_anonymity.cluster_violations(published, guarantee.k, guarantee.m, guarantee.attacker)
    return km_anonymity.violations(published, guarantee.k, guarantee.m)


def _reconstruction(guarantee, original, seen):
    clusters = taken_apart(sv.from_lists(original)).to_clusters()
    return reconstruction.violations(clusters, *seen, guarantee.term_chunk == "place")


def _itemsets_reach(guarantee, original, published):
    occurring = [items for items in guarantee.itemsets if set(items) <= set().union(*original)]
    return len(occurring) - len(_hidden_itemsets(guarantee, original, published)), len(guarantee.itemsets)


ORACLES = {
    "hidden-tendency": _hidden_tendency,
    "hidden-itemsets": _hidden_itemsets,
    "rho-uncertainty": _rho_uncertainty,
    "permutation-privacy": _permutation_privacy,
    "km-anonymity": _km_anonymity,
    "reconstruction": _reconstruction,
}


REACHES = {"hidden-tendency": _tendency_reach, "hidden-itemsets": _itemsets_reach}
"""Of guarantees that hold for some records, or itemsets, and not for others; one about the whole file covers all or nothing."""


def oracle_violations(guarantee, original, published, alignment):
    """Return what the oracle finds broken in a release: kinds, each with the place where (`forms.place_of`)."""
    seen = seen_by_oracles(published, alignment)
    tree = (published.tree.parent_of(),) if getattr(published, "tree", None) else ()
    return ORACLES[guarantee.name](guarantee, as_sets(original), seen, *tree)


def _records_seen(seen):
    """Count the records of a release as an oracle sees it: rows, groups, clusters, or rows with their places."""
    if isinstance(seen, tuple):  # re-associated rows
        return len(seen[0])
    if seen and isinstance(seen[0], dict):  # clusters
        return sum(cluster["size"] for cluster in seen)
    if seen and isinstance(seen[0], tuple):  # groups
        return sum(len(rows) for rows, _counts in seen)
    return len(seen)


def oracle_reach(guarantee, original, published, alignment):
    """Return how many records, or named itemsets, the oracle finds covered, and how many there are."""
    seen = seen_by_oracles(published, alignment)
    if guarantee.name in REACHES:
        return REACHES[guarantee.name](guarantee, as_sets(original), seen)
    violated = ORACLES[guarantee.name](guarantee, as_sets(original), seen)
    return 0 if violated else _records_seen(seen), _records_seen(seen)


def bad_values(parameter):
    """Return values outside the declared limits of a parameter."""
    annotation = parameter.annotation
    bad = [object()]
    if annotation in (int, float):
        bad.append("many")
        for rule in parameter._metadata:
            bad += [
                getattr(rule, "ge", None) is not None and rule.ge - 1,
                getattr(rule, "le", None) is not None and rule.le + 1,
            ]
        bad = [value for value in bad if value is not False]
    elif annotation is bool:
        bad.append("perhaps")
    elif get_args(annotation) and str(annotation).startswith("typing.Literal"):
        bad += ["nonsense", 17]
    elif get_args(annotation):
        bad += ["nonsense", [object()]]
    elif annotation in (MinSupport, MinConfidence):
        bad += ["often", "101%", -0.5, ""]
    elif annotation is MaxConfidence:
        bad += ["often", "101%", -0.5, "", "7/0", "8/7", True, "0.0000000001"]
    elif annotation is sv.Categories:
        bad += ["a text", {"item": 3}, 17]
    elif annotation is sv.NamedItemsets:
        bad += ["a text", [], [[]], ["a text"], [[3]], 17, None]
    elif annotation is sv.SensitiveItems:
        bad += ["a text", [3], [""], [["a"]], {"a": "b"}, ["a\nb"], 17, None]
    elif annotation is Targets:
        bad += ["often", "", -1, "3,", 1.5, True, []]
    return bad


def edge_cases():
    """Return small data sets at which algorithms trip."""
    named = {
        "one record": [["a", "b", "c", "d"]],
        "one item": [["a"], ["a"]],
        "all records equal": [["a", "b", "c", "d"]] * 6,
        "empty records among others": [[], ["a", "b", "b2"], [], ["c", "d", "d2"]],
        "only empty records": [[], []],
        "no record": [],
        "one item everywhere": [["a", f"i{r}", f"i{r + 1}"] for r in range(12)],
        "one long record": [[f"i{r}" for r in range(300)], ["i1"], ["i2", "i3"]],
        "numbers as labels": [["10", "9", "8"], ["7", "10"], ["9", "007"]],
    }
    return {name: sv.from_lists(lists) for name, lists in named.items()}


def generator(seed):
    return np.random.default_rng(seed)
