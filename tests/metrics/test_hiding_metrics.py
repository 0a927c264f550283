"""Metrics of hiding itemsets: equal to their definitions, on hand examples, and where there is no figure."""

import json
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings

import setveil as sv
from setveil.data.records.alignment import Alignment
from setveil.metrics import border, hiding
from setveil.metrics.border import BorderExposure
from setveil.metrics.hiding import ArtificialItemsets, HidingFailure, MissesCost, RecordsTouched, ResidualItemsets
from setveil.mining.frequent import mine
from setveil.parameters.named_itemsets import NamedItemsets

from oracle import hiding_metrics as oracle
from support.exhaustive import examples
from support.random_data import as_sets, make, seeds

LEAST = {"5%": Fraction(1, 20), "10%": Fraction(1, 10), "0.3": Fraction(3, 10), "1": 1, "2": 2, "3": 3}
OF_NAMED = (HidingFailure, ResidualItemsets, MissesCost, ArtificialItemsets, BorderExposure)


def case(seed):
    """Return two data sets and named itemsets: rows moved, emptied, left out and doubled, items gone and new, sets that nobody holds."""
    rng = np.random.default_rng(seed)
    data, _categories = make(seed, records=int(rng.integers(1, 40)), items=8)
    before = as_sets(data)
    origins = rng.permutation(len(before))[: len(before) if rng.random() < 0.6 else rng.integers(len(before) + 1)]
    if rng.random() < 0.2:
        origins = np.concatenate((origins, origins[:3]))
    after = [set(before[r]) for r in origins]
    items = [*sorted(set().union(*before)), "h001", "unknown"]
    for t in after:
        luck = rng.random()
        if luck < 0.1:
            t.clear()
        elif luck < 0.4 and t:
            t.discard(str(rng.choice(sorted(t))))
        elif luck < 0.55:
            t.add(str(rng.choice(items[:-1])))  # h001 sorts before the others: codes shift
    common = sorted(oracle.frequent(before, 2), key=sorted) or [frozenset(items[:1])]
    named = [common[i] for i in rng.integers(len(common), size=rng.integers(1, 6))]
    named += [set(map(str, rng.choice(items, size=2)))] * (rng.random() < 0.4)
    return data, sv.from_lists(after), Alignment(origins.astype(np.int64)), list(dict.fromkeys(map(frozenset, named)))


def is_figure(measured, expected):
    """Tell whether a figure is as expected, or is lacking with a reason where none is."""
    json.dumps(measured.to_dict())
    if expected is None:
        return measured.value is None and bool(measured.reason)
    return measured.value is not None and math.isclose(measured.value, float(expected), abs_tol=1e-12)


@settings(max_examples=examples(250), deadline=None)
@given(seeds)
def test_every_figure_equals_its_definition(seed):
    data, published, alignment, named = case(seed)
    before, after = as_sets(data), as_sets(published)
    text, least = list(LEAST.items())[seed % len(LEAST)]
    given_ = {"itemsets": named, "min_support": text}
    count = oracle.threshold(before, least)
    count_after = min(count, oracle.threshold(after, least))

    measured = HidingFailure(**given_)(data, published)
    expected, was, still, became = oracle.hiding_failure(before, after, named, least)
    assert is_figure(measured, expected)
    if expected is not None:
        sizes = {"failed": len(still), "frequent-before": len(was), "became-frequent": len(became)}
        assert measured.details == sizes | {"count": count, "count-after": count_after}

    measured = ResidualItemsets(**given_)(data, published)
    assert is_figure(measured, oracle.residual(after, named))
    assert measured.details["highest-support"] == max(oracle.support(after, s) for s in named)
    assert measured.details["count"] == count_after

    for which in ("all", "avoidable"):
        measured = MissesCost(**given_, which=which)(data, published)
        expected, lost, counted, unavoidable = oracle.misses_cost(before, after, named, least, which)
        assert is_figure(measured, expected)
        if expected is not None:
            sizes = {"lost": len(lost), "before": len(counted), "unavoidable": len(unavoidable)}
            assert measured.details == sizes | {"count": count}

    measured = ArtificialItemsets(**given_)(data, published)
    expected, new, now = oracle.artificial(before, after, least)
    assert is_figure(measured, expected)
    if expected is not None:
        sizes = {"new": len(new), "after": len(now), "named-new": len(new & set(named))}
        assert measured.details == sizes | {"count": count}

    measured = RecordsTouched()(data, published, alignment)
    assert is_figure(measured, oracle.touched(before, after, alignment.rows.tolist()))
    assert measured.details["removed"] == len(set(range(data.records)) - set(alignment.rows.tolist()))


@settings(max_examples=examples(250), deadline=None)
@given(seeds)
def test_the_exposure_at_the_border_equals_its_definition(seed):
    data, published, _alignment, named = case(seed)
    text, least = list(LEAST.items())[seed % len(LEAST)]
    measured = BorderExposure(itemsets=named, min_support=text)(data, published)
    expected = oracle.border_exposure(as_sets(data), as_sets(published), named, least)
    assert is_figure(measured, expected and expected.pop("value"))
    if expected:
        assert all(math.isclose(measured.details[key], float(value)) for key, value in expected.items())


def paper_case():
    """Return data in which ab, bc and abc are frequent from 3 records on, and a release without ab: bc and abc are gone with it or not."""
    data = sv.from_lists([["a", "b", "c"]] * 3 + [["a", "b"], ["b", "c"], ["d"], []])
    after = sv.from_lists([["a", "b", "c"]] * 2 + [["b", "c"], ["a"], ["b", "c"], ["d"], []])
    return data, after, {"itemsets": [["b", "a"], ["a", "d"]], "min_support": "50%"}


def test_by_hand():
    data, after, given_ = paper_case()
    failure = HidingFailure(**given_)(data, after)
    assert (failure.value, failure.details["frequent-before"], failure.details["count"]) == (0, 1, 3)  # 50 % of 6
    assert HidingFailure(**given_)(data, data).value == 1
    residual = ResidualItemsets(**given_)(data, after)
    assert (residual.value, residual.details["highest-support"], residual.details["held"]) == (0.5, 2, 1)
    # Frequent and not named: a b c, ac bc, abc. Lost: ac and abc, of which abc holds ab and must go.
    missed = MissesCost(**given_)(data, after)
    assert missed.value == 2 / 6
    assert missed.details == {"lost": 2, "before": 6, "unavoidable": 1, "count": 3}
    avoidable = MissesCost(**given_, which="avoidable")(data, after)
    assert avoidable.value == 1 / 5
    assert avoidable.parameters == {"which": "avoidable"}
    assert ArtificialItemsets(**given_)(data, after).value == 0
    assert ArtificialItemsets(**given_)(after, data).value == 3 / 7
    assert ArtificialItemsets(**given_)(after, data).details["named-new"] == 1
    touched = RecordsTouched()(data, after, Alignment.identity(7))
    assert (touched.value, touched.details) == (2 / 7, {"records": 2, "removed": 0})


def test_an_itemset_at_the_border_is_exposed():
    data, after, given_ = paper_case()
    exposed = BorderExposure(**given_)(data, after)
    # Minimal infrequent: d (1 record), ab and ac (2). Whoever lists those in 2 records has the secret and one other.
    assert exposed.value == 1 / 2
    at_best = {"best-support": 2, "listed": 2, "named-in-list": 1, "frequent-before": 1, "border": 3, "count": 3}
    assert exposed.details == {"recall": 1.0, "base-rate": 1 / 7, "times-base-rate": 3.5, **at_best}
    # A secret that is still frequent is on no such list, and one of which a part is not frequent neither.
    assert BorderExposure(**given_)(data, data).value == 0
    assert BorderExposure(**given_)(data, sv.from_lists([["a"]] + [["b", "c"]] * 5)).value == 0


def test_emptied_records_move_no_threshold_and_bring_no_secret_back():
    data = sv.from_lists([["a", "b"]] * 5 + [["c"]] * 5)
    emptied = sv.from_lists([["a", "b"]] * 3 + [[]] * 2 + [["c"]] * 1 + [[]] * 4)
    given_ = {"itemsets": [["a", "b"]], "min_support": "50%"}
    failure = HidingFailure(**given_)(data, emptied)  # 3 of 10, but 3 of the 4 that hold an item
    assert (failure.value, failure.details["count"], failure.details["count-after"]) == (1, 5, 2)
    assert MissesCost(**given_)(data, emptied).value == 1  # a, b, c: below 5


def test_named_itemsets_that_became_frequent_stand_beside_the_failures():
    data = sv.from_lists([["a", "b"]] * 3 + [["c"], ["d"], ["c", "d"]])
    after = sv.from_lists([["a"], ["b"], ["a", "b"]] + [["c", "d"]] * 3)
    failure = HidingFailure(itemsets=[["a", "b"], ["c", "d"]], min_support=3)(data, after)
    assert (failure.value, failure.details["became-frequent"]) == (0, 1)


def test_nothing_to_hide():
    data = sv.from_lists([["a", "b"], ["a"], ["b"]])
    given_ = {"itemsets": [["a", "b"], ["x"]], "min_support": 2}
    for kind in (HidingFailure, BorderExposure):
        assert kind(**given_)(data, data).reason == hiding.NONE_WAS_FREQUENT
    assert MissesCost(**given_)(data, data).value == 0


def test_an_empty_release():
    data, nothing = sv.from_lists([["a", "b"]] * 3), sv.from_lists([])
    given_ = {"itemsets": [["a", "b"]], "min_support": 2}
    assert HidingFailure(**given_)(data, nothing).value == 0
    assert ResidualItemsets(**given_)(data, nothing).value == 0
    assert MissesCost(**given_)(data, nothing).value == 1
    assert ArtificialItemsets(**given_)(data, nothing).reason == "no itemset is frequent in the release"
    assert BorderExposure(**given_)(data, nothing).reason.endswith("minimal infrequent: it holds no item")
    assert RecordsTouched()(data, nothing, Alignment.identity(0)).details == {"records": 3, "removed": 3}
    assert RecordsTouched()(nothing, nothing, Alignment.identity(0)).reason == "the original holds no record"


def test_where_there_is_no_other_itemset():
    data = sv.from_lists([["a"]] * 3)
    assert MissesCost(itemsets=[["a"]], min_support=2)(data, data).reason.endswith("in the original except named ones")
    assert MissesCost(itemsets=[["a"]], min_support=9)(data, data).reason.endswith("in the original at all")
    pairs = sv.from_lists([["a", "b"]] * 3)
    avoidable = MissesCost(itemsets=[["a"], ["b"]], min_support=2, which="avoidable")
    assert avoidable(pairs, pairs).reason.endswith("except named ones and sets that contain one")
    exposure = BorderExposure(itemsets=[["a", "b"]], min_support=2)(pairs, pairs)
    assert exposure.reason.endswith("minimal infrequent: every set of its items is frequent")


def test_one_record_is_enough():
    data = sv.from_lists([["a", "b", "c"], ["c", "d"], ["d"]])
    after = sv.from_lists([["a", "c"], ["b", "d"], ["d"]])
    given_ = {"itemsets": [["a", "b"]], "min_support": 1}
    assert HidingFailure(**given_)(data, after).value == 0
    assert MissesCost(**given_)(data, after).details == {"lost": 3, "before": 8, "unavoidable": 1, "count": 1}
    assert ArtificialItemsets(**given_)(data, after).value == 1 / 6
    exposed = BorderExposure(**given_)(data, after)  # ab bc ad cd: in no record
    assert (exposed.value, exposed.details["recall"], exposed.details["base-rate"]) == (1 / 4, 1, 1 / 9)


def test_the_best_support_weighs_precision_and_recall():
    data = sv.from_lists([[item] for item in "abc"] * 4)
    metric = BorderExposure(itemsets=[["a"], ["b"], ["c"]], min_support=3)
    exposed = metric(data, sv.from_lists([["a"], *[["b"], ["c"], ["x"]] * 2]))
    # a alone is in one record; b, c and x in two: two of three secrets among three items beat one among one.
    assert [exposed.details[key] for key in ("best-support", "named-in-list", "listed")] == [2, 2, 3]
    # But who knows a and c takes the list of one record, on which b is not; and so for the others.
    assert (exposed.value, exposed.details["recall"]) == (0, 0)
    as_good = metric(data, sv.from_lists([["a"], *[["b"], ["c"], ["x"], ["y"], ["z"]] * 2]))
    # Now F1 is 2 / 4 at one record and 4 / 8 at two.
    assert (as_good.details["best-support"], as_good.details["listed"]) == (1, 1)


def test_secrets_that_pile_up_give_each_other_away():
    data = sv.from_lists([[item] for item in "abcdefgh"] * 4)
    metric = BorderExposure(itemsets=[["a"], ["b"], ["c"]], min_support=3)
    piled = metric(data, sv.from_lists([*[["a"], ["b"], ["c"], ["x"]] * 2, ["y"]]))
    # Whoever knows two of them lists what is in two records, and is left with the third and x.
    assert (piled.value, piled.details["recall"], piled.details["base-rate"]) == (3 / 2, 1, 3 / 6)
    assert piled.details["times-base-rate"] == 3


def test_of_equally_good_and_precise_supports_the_larger_one():
    data = sv.from_lists([["a", "b"]] * 5 + [["c", "d"]] * 5 + [["e", "f"]] * 5 + [["g"]] * 5)
    given_ = {"itemsets": [["a", "b"], ["c", "d"]], "min_support": 4}
    lists = [["a", "b"]] * 3 + [["a"], ["b"]] * 2 + [["c", "d"]] * 2 + [["c"], ["d"]] * 3 + [["e", "f"]] * 5
    both = BorderExposure(**given_)(data, sv.from_lists([*lists, *[["g"]] * 5]))
    assert (both.value, both.details["best-support"], both.details["named-in-list"]) == (0, 3, 1)
    none = BorderExposure(**given_)(data, sv.from_lists([["a", "b"]] * 4 + [["x"]] * 3 + [["y"]]))
    assert (none.value, none.details["best-support"], none.details["times-base-rate"]) == (0, 3, 0)


def test_a_record_that_was_doubled_or_split_was_touched():
    data = sv.from_lists([["a", "b"], ["c"], []])
    doubled = sv.from_lists([["a", "b"], ["a", "b"], ["c"], []])
    assert RecordsTouched()(data, doubled, Alignment(np.array([0, 0, 1, 2]))).details == {"records": 1, "removed": 0}
    assert RecordsTouched()(data, sv.from_lists([["a"], ["b"], ["c"]]), Alignment(np.array([0, 0, 1]))).value == 2 / 3


def test_too_many_itemsets_are_no_figure(monkeypatch):
    data, _categories = make(4, records=60, items=12)
    given_ = {"itemsets": [data.vocabulary[:1]], "min_support": 2}
    monkeypatch.setattr(hiding, "LIMIT", 5)
    monkeypatch.setattr(border, "LIMIT", 5)
    sets = len(mine(data, 2))
    for kind, where in ((MissesCost, "original"), (ArtificialItemsets, "original"), (BorderExposure, "release")):
        reason = kind(**given_)(data, data).reason
        assert reason.startswith(f"{sets:,} itemsets are in at least 2 records of the {where}; the limit is 5")
    monkeypatch.setattr(border, "LIMIT", sets)
    monkeypatch.setattr(border.borders, "LIMIT", 10)
    assert (
        "may be on the border of the itemsets in at least 2 records of the release"
        in BorderExposure(**given_)(data, data).reason
    )
    assert HidingFailure(**given_)(data, data).value == 1
    long = sv.from_lists([[f"i{j:04}" for j in range(1100)]])
    for kind in (MissesCost, ArtificialItemsets, BorderExposure):
        assert "itemsets are in at least 1 records" in kind(itemsets=[["i0001"]], min_support=1)(long, long).reason


def test_private_parameters_are_not_told():
    for kind in OF_NAMED:
        assert {p.name: (p.public, p.required) for p in kind.parameters() if p.name != "which"} == {
            "itemsets": (False, True),
            "min_support": (False, True),
        }
        assert "itemsets" not in kind(itemsets=[["a"]], min_support=2).public_parameters()


@pytest.mark.realdata
def test_secrets_piled_up_below_the_threshold_of_real_data(real_data):
    data = real_data("bms-webview-1")
    pairs = [(labels, held) for labels, held in mine(data, 60, min_length=2, max_length=2) if 60 <= held < 90]
    named = [labels for labels, _ in sorted(pairs)[::12]][:20]
    records, rows = as_sets(data), []
    for labels in named:  # one item leaves so many records that 59 still hold the pair, one record fewer than it takes
        holders = [r for r, t in enumerate(records) if set(labels) <= t]
        for r in holders[: max(len(holders) - 59, 0)]:
            records[r].discard(labels[1])
            rows.append(r)
    published = sv.from_lists(records)
    given_ = {"itemsets": NamedItemsets(named), "min_support": "0.1%"}
    failure = HidingFailure(**given_)(data, published)
    assert (failure.value, failure.details["frequent-before"], failure.details["count"]) == (0, 20, 60)
    missed, avoidable = (MissesCost(**given_, which=which)(data, published) for which in ("all", "avoidable"))
    assert missed.details["before"] == 3_991 - 20 == avoidable.details["before"] + avoidable.details["unavoidable"]
    assert 0 < avoidable.details["lost"] == missed.details["lost"] - missed.details["unavoidable"]
    assert ArtificialItemsets(**given_)(data, published).value == 0
    touched = RecordsTouched()(data, published, Alignment.identity(data.records))
    assert touched.details == {"records": len(set(rows)), "removed": 0}
    exposed = BorderExposure(**given_)(data, published)
    assert (exposed.details["best-support"], exposed.details["base-rate"]) == (59, 20 / (3_991 - 19))
    assert exposed.details["times-base-rate"] > 5
