"""How contract tests make an instance of anything that stands in the catalog, and which oracle answers for a guarantee.

A kind of parameter says itself which values fit data, which must be refused, and which are to be tried. A new guarantee needs one entry in
`ORACLES`; the suites do the rest. A method that works in several ways may name them in `WAYS`.
"""

from fractions import Fraction
from inspect import isroutine
from types import UnionType
from typing import Literal, get_args, get_origin

import numpy as np

import setveil as sv
from setveil.parameters import kind_of
from setveil.parameters.names_found import names_found

from contract.forms import seen_by_oracles, taken_apart
from oracle import hidden_itemsets, km_anonymity, permutation, reconstruction, tendency, uncertainty
from support.random_data import as_sets


def some_rare_sensitive(data):
    """Return some items that are in no more than half of the records: no method can hide others without leaving them out."""
    rng = np.random.default_rng(data.occurrences)
    return sv.SensitiveItems(
        label
        for label, support in zip(data.vocabulary, data.supports, strict=True)
        if 2 * support <= data.records and rng.random() < 0.4
    )


PLAIN = {int: 2}
"""Values of plain types, for parameters that are required."""
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
        {"partition": "ants", "rules": sv.NamedItemsets.example_for},
        {"partition": "ants", "rules": sv.NamedItemsets.example_for, "stable": False, "iterations": 20, "safe": False},
        {"partition": "kmeans"},
    ),
}
"""Settings in which a method goes through the suite, beside its own defaults alone; a function is called with the data."""


def filled(kind, data, **chosen):
    """Make an instance, with values that fit the data for the required parameters, and for those whose defaults fit no data."""
    chosen = {name: value(data) if isroutine(value) else value for name, value in chosen.items()}
    own = BY_NAME.get(kind.name, {})
    parameters = [p for p in kind.parameters() if p.name not in chosen and (p.required or _names_items(p))]
    return kind(
        **{p.name: own[p.annotation](data) if p.annotation in own else example(p, data) for p in parameters}, **chosen
    )


def example(parameter, data):
    """Return a value of a parameter that fits the data."""
    kind = kind_of(parameter.annotation)
    return PLAIN[parameter.annotation] if kind is None else kind.example_for(data)


def _names_items(parameter):
    kind = kind_of(parameter.annotation)
    return kind is not None and kind.names_items and parameter.default is not None


def can_be_filled(kind, data):
    """Tell whether the data hold what the parameters name: there are no itemsets where there is no item."""
    return all(found.occur or not found.named for found in names_found(filled(kind, data), data))


def ways(kinds):
    """Return every entry of a table with every setting to test it in, and names for them."""
    found = []
    for kind in kinds.values():
        found += [(kind, chosen) for chosen in WAYS.get(kind.name, ({},))]
        of_kinds = [(p.name, kind_of(p.annotation)) for p in kind.parameters()]
        found += [(kind, {name: value}) for name, of in of_kinds if of is not None for value in of.ways]
    return found, [" ".join((kind.name, *map(_shown, chosen.values()))) for kind, chosen in found]


def _shown(value):
    return value.__qualname__ if isroutine(value) else str(value)


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


BAD_VALUES = {
    int: ("many",),
    float: ("many",),
    bool: ("perhaps",),
    Literal: ("nonsense", 17),
    tuple: ("nonsense", [object()]),
    UnionType: ("nonsense", [object()]),
}
"""What parameters of plain types must refuse, by the type or what it is made of."""
BEYOND = {"ge": -1, "le": 1}
"""What is to be added to a limit so that a value lies outside."""


def bad_values(parameter):
    """Return values that a parameter must refuse."""
    annotation, kind = parameter.annotation, kind_of(parameter.annotation)
    limits = [(getattr(rule, name, None), step) for rule in parameter.rules for name, step in BEYOND.items()]
    return [
        object(),
        *BAD_VALUES.get(get_origin(annotation) or annotation, ()),
        *(limit + step for limit, step in limits if limit is not None),
        *(value for value in (kind.bad_values if kind else ()) if value is not None or not is_optional(annotation)),
    ]


def is_optional(annotation):
    """Tell whether a parameter may be left out with None."""
    return type(None) in get_args(annotation)


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
