"""Insert at its edges: no or full confidence, all or nothing sensitive, long records, ended searches, rounds, other items restored."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import setveil as sv
from setveil.methods.uncertainty import _restoring
from setveil.methods.uncertainty._restoring import Restoring
from setveil.methods.uncertainty.insert import Insert

from oracle import insert as twin
from oracle import uncertainty as oracle
from support.exhaustive import examples
from support.random_data import as_sets, crowd, seeds, with_sensitive

pytestmark = pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")  # hashing, with the compiler off
plain_python = pytest.mark.plain_python
HALF = "1/2"


def apply(records, sensitive, rho, *, seed=0, nodes=20_000, hot=200, **chosen):
    """Return the published records as sets, the account, and the verdict of a new check."""
    data = sv.from_lists([sorted(record) for record in records])
    method = Insert(sensitive=sorted(sensitive), rho=rho, **chosen)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_restoring, "NODES", nodes)
        patch.setattr(_restoring, "HOT", hot)
        outcome = method.apply(data, rng=np.random.default_rng(seed))
    occurred = method.sensitive.known_to_have_occurred()  # none of it need be published
    asked = method.guarantee.model_copy(update={"sensitive": occurred})
    return as_sets(outcome.published), outcome.account, asked.check(outcome.published)


# -- small tables ---------------------------------------------------------------------------------------------------------

SOME = [{"a", "e"}, {"a"}, {"e"}, {"e", "f"}, set(), {"a", "b", "f"}, {"a", "b"}]


@plain_python
@pytest.mark.parametrize(
    ("rho", "sensitive", "include_empty", "expected"),
    [
        ("0", "ef", True, [{"a"}, {"a"}, set(), set(), set(), {"a", "b"}, {"a", "b"}]),
        ("1", "ef", True, SOME),
        (HALF, "", True, SOME),
        (HALF, "f", False, SOME),  # b reveals one in two
        ("0.499", "f", False, [*SOME[:5], {"a", "b"}, {"a", "b"}]),
        ("0", "abef", True, [set()] * 7),
    ],
)
def test_what_is_published(rho, sensitive, include_empty, expected):
    released, _account, verdict = apply(SOME, set(sensitive), rho, include_empty=include_empty)
    assert released == expected
    assert verdict


@plain_python
def test_with_no_confidence_at_all_an_item_alone_is_no_rule():
    released, _account, verdict = apply(SOME, set("ef"), "0", include_empty=False)
    assert released == [{"a"}, {"a"}, {"e"}, released[3], set(), {"a", "b"}, {"a", "b"}]
    assert len(released[3]) == 1  # e or f, whichever came first
    assert verdict


@plain_python
def test_all_items_sensitive():
    records = [{"a"}, {"a"}, {"b"}, {"a", "b"}, set()]
    for include_empty in (True, False):
        released, _account, verdict = apply(records, {"a", "b"}, HALF, include_empty=include_empty, order="rarest")
        assert verdict
        assert sum(map(len, released)) == (4 if include_empty else 5)


@plain_python
@pytest.mark.parametrize(("rho", "kept"), [("7/10", 7), ("0.699", 6), ("71%", 7), ("1/10", 1), ("0.099", 0)])
def test_an_item_in_every_record_stays_in_its_share(rho, kept):
    released, account, verdict = apply([{"e", "a"}] * 10, {"e"}, rho, include_empty=False)
    assert sum("e" in record for record in released) == kept == 10 - account["sensitive-occurrences-left-out"]
    assert verdict


@plain_python
@pytest.mark.parametrize(("include_empty", "kept"), [(True, 5), (False, 8)])
def test_empty_records_are_records(include_empty, kept):
    released, account, verdict = apply([{"e"}] * 8 + [set()] * 2, {"e"}, HALF, include_empty=include_empty)
    assert sum("e" in record for record in released) == kept
    assert account["records-made-empty"] == 8 - kept
    assert verdict


@plain_python
@pytest.mark.parametrize("record", [set(), {"a"}, {"e"}, {"a", "e"}, {"e", "f"}, {"a", "b", "e", "f"}])
def test_one_record(record):
    sensitive = record & {"e", "f"}
    released, _account, verdict = apply([record], sensitive, HALF)
    assert released == [record - sensitive]
    assert verdict
    released, _account, verdict = apply([record], sensitive, HALF, include_empty=False)
    assert released == [record if len(record) == 1 else released[0]]
    assert verdict


@plain_python
def test_fewer_items_are_kept_if_attackers_know_whole_records():
    records = [{"a", "e"}, {"a", "e"}, {"a", "b"}, {"a", "b"}]
    kept = {}
    for knows in ("subset", "whole"):
        released, _account, verdict = apply(records, {"e"}, HALF, knows=knows)
        kept[knows] = sum("e" in record for record in released)
        assert verdict
    assert kept == {"subset": 2, "whole": 1}


def test_items_in_the_most_records_are_restored_first_by_default():
    records = [{"e", "f"}, {"e"}, {"e"}, {"f"}, {"e"}, *[set()] * 9]
    assert (
        apply(records, {"e", "f"}, HALF, include_empty=False)[0]
        == (apply(records, {"e", "f"}, HALF, include_empty=False, order="frequent")[0])
    )
    assert Insert(sensitive=["e"], rho=HALF).order == "frequent"


# -- searches that are given up -------------------------------------------------------------------------------------------------------


def sharing(items):
    """Return three records with `items` items, and three with one item more; in both groups one record also holds e."""
    names = [f"a{k:03}" for k in range(items)]
    return [{*names, "e"}, set(names), set(names), {*names, "z", "e"}, {*names, "z"}, {*names, "z"}]


@plain_python
@pytest.mark.parametrize(("items", "refused"), [(63, 0), (64, 0), (65, 1), (200, 1)])
def test_contents_that_share_too_much_with_others_are_given_up_and_counted(items, refused):
    released, account, verdict = apply(sharing(items), {"e"}, HALF, include_empty=False)
    assert account["not-tried-for-length"] == refused
    assert account["sensitive-occurrences-left-out"] == refused
    assert "e" in released[0]
    assert verdict


@plain_python
@settings(max_examples=examples(100))
@given(seeds, st.booleans(), st.booleans(), st.sampled_from([0, 1, 2, 3, 5]), st.sampled_from([0, 3]))
def test_with_few_sets_to_examine_it_is_safe_and_counts_what_was_given_up(seed, crowded, include_empty, nodes, rounds):
    records, sensitive, rho = crowd(seed, records=20 + seed % 60) if crowded else with_sensitive(seed)
    rho_text = f"{rho.numerator}/{rho.denominator}"
    chosen = {"include_empty": include_empty, "rounds": rounds}
    released, account, verdict = apply(records, sensitive, rho_text, nodes=nodes, **chosen)
    assert verdict
    assert crowded or not oracle.unsafe_items(released, sensitive, rho, include_empty)
    possible = len(list(can_be_restored(records, released, sensitive, rho, include_empty)))
    assert possible <= account.get("not-tried-for-length", 0)


def can_be_restored(records, released, sensitive, rho, include_empty, whole=False):
    """Yield every suppressed occurrence that could be restored alone."""
    table = list(map(frozenset, released))
    known = {}
    for row, record in enumerate(records):
        for item in record - table[row]:
            case = (table[row], item)
            if case not in known:
                asked = (table, [row], item, sensitive, rho, include_empty, whole)
                known[case] = twin.most_that_stay_safe(*asked) != table
            if known[case]:
                yield row, item


# -- long records ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("length", [500, 5000])
@pytest.mark.parametrize("order", ["frequent", "rarest"])
def test_long_records(length, order):
    rng = np.random.default_rng(length)
    labels = np.array([f"{k:04}" for k in range(length)])
    sensitive = set(rng.choice(labels, length * 2 // 5, replace=False).tolist())
    lengths = [length, length, length - 100, *rng.integers(1, 30, 200).tolist()]
    records = [set(rng.choice(labels, size, replace=False).tolist()) for size in lengths]
    released, account, verdict = apply(records, sensitive, "0.7", include_empty=False, order=order)
    assert verdict
    assert account["sensitive-occurrences-left-out"] < account["sensitive-occurrences"]
    assert all(s <= t and t - s <= sensitive for t, s in zip(records, released, strict=True))


# -- rounds ---------------------------------------------------------------------------------------------------------------


@plain_python
@settings(max_examples=examples(60))
@given(
    seeds,
    st.booleans(),
    st.booleans(),
    st.sampled_from(["subset", "whole"]),
    st.sampled_from(["frequent", "rarest"]),
)
def test_rounds_stay_safe_never_lose_and_end_where_nothing_can_be_restored(seed, crowded, include_empty, knows, order):
    records, sensitive, rho = crowd(seed, records=20 + seed % 60) if crowded else with_sensitive(seed)
    chosen = {"include_empty": include_empty, "knows": knows, "order": order}
    rho_text = f"{rho.numerator}/{rho.denominator}"
    first, before, _verdict = apply(records, sensitive, rho_text, seed=seed, **chosen)
    released, after, verdict = apply(records, sensitive, rho_text, seed=seed, rounds=6, **chosen)
    assert verdict
    assert crowded or not oracle.unsafe_items(released, sensitive, rho, include_empty, knows)
    gained = sum(map(len, released)) - sum(map(len, first))
    assert gained == after.get("gained-in-rounds", 0) >= before.get("gained-in-rounds", 0) == 0
    assert all(s <= t and t - s <= sensitive for t, s in zip(records, released, strict=True))
    assert not list(can_be_restored(records, released, sensitive, rho, include_empty, whole=knows == "whole"))


def rounds_of_the_twin(records, sensitive, rho, seed, rounds, order, **chosen):
    """Return the twin's result with the same draws: after every round, the table that holds more."""
    rng = np.random.default_rng(seed)
    labels = sorted(frozenset().union(*records))
    asked = (rng.permutation(len(records)), sensitive, rho)
    codes = np.array([labels.index(item) for item in twin.ranked(records, sensitive, order)], np.int64)
    start = [record - sensitive for record in records]
    memory = twin.Memory()
    table = twin.restore(records, start, [labels[code] for code in codes], *asked, **chosen, memory=memory)[-1]
    for _ in range(rounds):
        share = int(rng.integers(*_restoring.REMOVED_ONE_IN, endpoint=True))
        taken = rng.choice(codes, -(-len(codes) // share), replace=False)
        others = rng.permutation(np.setdiff1d(codes, taken))
        turns = [labels[code] for code in ((*others, *taken) if rng.random() < 0.7 else (*taken, *others))]
        fresh = memory.copy()
        less = twin.suppress(table, frozenset(labels[code] for code in taken), fresh)
        other = twin.restore(records, less, turns, *asked, **chosen, memory=fresh)[-1]
        if sum(map(len, other)) >= sum(map(len, table)):
            table, memory = other, fresh
    return table


@plain_python
@settings(max_examples=examples(60))
@given(seeds, st.booleans(), st.sampled_from(["subset", "whole"]), st.sampled_from(["frequent", "rarest"]))
def test_rounds_equal_those_of_the_twin(seed, include_empty, knows, order):
    records, sensitive, rho = crowd(seed, records=20 + seed % 60, items=5 + seed % 3, contents=8 + seed % 20)
    chosen = {"include_empty": include_empty, "order": order}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_restoring, "REMOVED_ONE_IN", (1 + seed % 3, 3))
        rho_text = f"{rho.numerator}/{rho.denominator}"
        asked = {"seed": seed, "rounds": 5, "hot": (200, 0)[seed % 2], "knows": knows}
        released, _account, verdict = apply(records, sensitive, rho_text, **asked, **chosen)
        assert verdict
        if sensitive:
            expected = rounds_of_the_twin(records, sensitive, rho, seed, 5, whole=knows == "whole", **chosen)
            assert released == expected


# -- other items, from any safe table -----------------------------------------------------------------------------------------


@plain_python
@settings(max_examples=examples(100))
@given(seeds, st.booleans(), st.booleans())
def test_non_sensitive_items_are_restored_as_by_the_twin(seed, crowded, include_empty):
    records, sensitive, rho = crowd(seed, records=20 + seed % 60) if crowded else with_sensitive(seed)
    data = sv.from_lists([sorted(record) for record in records])
    if not data.occurrences or rho == 1:
        return
    rng = np.random.default_rng(seed)
    mask = np.array([label in sensitive for label in data.vocabulary])
    present = ~mask[data.items] & (rng.random(data.occurrences) < rng.choice([0.3, 0.7, 1.0]))
    order = rng.permutation(len(data.vocabulary))[: int(rng.integers(1, len(data.vocabulary) + 1))]
    limit = Insert(sensitive=sorted(sensitive), rho=str(rho), include_empty=include_empty)
    restoring = Restoring(data, present, order, limit, np.random.default_rng(seed))
    restoring.run()
    labels = np.array(data.vocabulary)[data.items]
    start, after = (
        [frozenset(labels[a:b][there[a:b]].tolist()) for a, b in zip(data.offsets[:-1], data.offsets[1:], strict=True)]
        for there in (present, restoring.present)
    )
    steps = twin.restore(
        records,
        start,
        [data.vocabulary[code] for code in order],
        np.random.default_rng(seed).permutation(len(records)),
        sensitive,
        Fraction(rho),
        include_empty,
    )
    assert after == steps[-1]
    assert crowded or not oracle.unsafe_items(after, sensitive, rho, include_empty)


# -- real data ------------------------------------------------------------------------------------------------------------


@pytest.mark.exhaustive
@pytest.mark.realdata
@pytest.mark.parametrize(
    ("name", "seed", "loss"), [("bms-webview-2", 23, 26.2), ("retail", 231, 35.1), ("bms-pos-100k", 200, 25.5)]
)
def test_real_data_lose_no_more_than_was_measured(real_data, name, seed, loss):
    data = real_data(name)
    drawn = np.random.default_rng(seed).permutation(len(data.vocabulary))[: len(data.vocabulary) * 2 // 5]
    method = Insert(sensitive=[data.vocabulary[code] for code in drawn], rho="0.7", include_empty=False)
    outcome = method.apply(data, rng=np.random.default_rng(seed))
    assert round(100 * (1 - outcome.published.occurrences / data.occurrences), 1) <= loss
    assert outcome.account["other-occurrences-left-out"] == outcome.account["not-tried-for-length"] == 0
    assert method.guarantee.check(outcome.published, original=data)
