"""How contract tests make an instance of anything that stands in the catalog, and which oracle answers for a guarantee.

A new kind of required parameter needs one entry in `BY_TYPE`, a new guarantee one in `ORACLES`; the suites do the rest. A method that works
in several ways may name them in `WAYS`.
"""

from typing import get_args

import numpy as np

import setveil as sv
from setveil.mining.threshold import MinConfidence, MinSupport

from oracle import tendency
from random_data import as_sets

BY_TYPE = {
    sv.Categories: lambda data: sv.Categories.at_random(data.vocabulary, 4, seed=len(data.vocabulary)),
}

WAYS = {"rand-swap": ({"mode": "plain"}, {"mode": "matched"})}
"""Settings in which a method goes through the suite, beside its own defaults alone."""


def filled(kind, data, **chosen):
    """Make an instance, with values that fit the data for the required parameters, and for others of their kind."""
    parameters = [p for p in kind.parameters() if p.name not in chosen and (p.required or p.annotation in BY_TYPE)]
    return kind(**{p.name: BY_TYPE[p.annotation](data) for p in parameters}, **chosen)


def ways(kinds):
    """Return every entry of a table with every setting to test it in, and names for them."""
    found = [(kind, chosen) for kind in kinds.values() for chosen in WAYS.get(kind.name, ({},))]
    return found, [" ".join((kind.name, *map(str, chosen.values()))) for kind, chosen in found]


def _hidden_tendency(guarantee, original, published):
    return tendency.breaches(
        original, published, guarantee.categories, guarantee.records, guarantee.full_min, lossless=guarantee.lossless
    )


ORACLES = {"hidden-tendency": _hidden_tendency}


def oracle_breaches(guarantee, original, published, alignment):
    """Return what the oracle finds broken in a release."""
    rows = as_sets(published)
    by_record = [set()] * len(rows)
    for row, record in zip(rows, alignment.rows, strict=True):
        by_record[record] = row
    return ORACLES[guarantee.name](guarantee, as_sets(original), by_record)


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
    elif annotation is sv.Categories:
        bad += ["a text", {"item": 3}, 17]
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
