"""A misspelt name of any kind gets a suggestion, and programs find it as an attribute."""

import pandas as pd
import pytest

import setveil as sv
from setveil.errors import closest

DATA = sv.from_lists([["milk", "tea"], ["tea"]])
MISSPELT = {
    "a metric": (lambda: sv.measure(DATA, DATA, ["fisim"]), "fi-similarity"),
    "a level of metrics": (lambda: sv.measure(DATA, DATA, "quik"), "quick"),
    "a parameter of a metric": (lambda: sv.measure(DATA, DATA, ["fi-similarity:min_suport=2%"]), "min_support"),
    "a parameter that metrics require": (lambda: sv.measure(DATA, DATA, sensitve=["milk"]), "sensitive"),
    "an attack": (lambda: sv.publish(DATA, sv.RandSwap(), no_guarantee=True, attacks="find-recrd"), "find-record"),
    "a level of attacks": (lambda: sv.publish(DATA, sv.RandSwap(), no_guarantee=True, attacks="ful"), "full"),
    "a parameter of a method": (lambda: sv.PartSwap(categories={"a": "b"}, ordr="hard"), "order"),
    "a required parameter": (lambda: sv.Disassociation(k=5, mm=2), "m"),
    "a choice of a method": (lambda: sv.PartSwap(categories={"a": "b"}, order="hrd"), "hard"),
    "a choice of a function": (lambda: sv.mine(DATA, 1, kind="closd"), "closed"),
    "a unit": (lambda: sv.from_lists([["a"]], unit="persn"), "person"),
    "a sample": (lambda: sv.read("sample:supermarkt"), "sample:supermarket"),
    "an option of a sample": (lambda: sv.read("sample:supermarket?recods=3"), "records"),
    "a column": (lambda: sv.from_pandas(pd.DataFrame({"customer": [1], "item": ["a"]}), id="custmer"), "customer"),
    "a measurement": (lambda: sv.measure(DATA, DATA)["record-los"], "record-loss"),
}


@pytest.mark.parametrize(("use", "meant"), MISSPELT.values(), ids=MISSPELT)
def test_a_misspelt_name_gets_a_suggestion(use, meant):
    with pytest.raises(sv.InputError) as caught:
        use()
    assert caught.value.suggestion == meant
    assert str(caught.value).rstrip("?").endswith(f"Did you mean {meant!r}")


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("Part-Swap", "part-swap"),
        ("part_swap", "part-swap"),
        ("partswap", "part-swap"),
        ("full", "full-swap"),
        ("part-swop", "part-swap"),
        ("anonymity", "km-anonymity"),
        ("swap", "part-swap"),
        ("mondrian", None),
        ("K", "k"),
        ("q", None),
        ("", None),
    ],
)
def test_the_closest_name(given, meant):
    assert closest(given, ["part-swap", "full-swap", "part-supp", "km-anonymity", "k"]) == meant
