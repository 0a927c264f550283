"""The search where mistakes hide: arrays that grow, bounds, limits, budgets, many levels, and places before the start of an array."""

import os
from itertools import combinations

import numpy as np
import pytest

from setveil.data.records.transactions import from_lists
from setveil.errors import TooManyItemsets
from setveil.kernels.control import DONE, STOP
from setveil.kernels.threads import using_threads
from setveil.mining import (
    _bit_search_kernels,
    _contained_kernels,
    _list_search_kernels,
    _row_kernels,
    _writing_kernels,
    frequent,
    searching,
)
from setveil.mining.frequent import count, mine, top
from setveil.parameters.shares import MinSupport

from oracle import mining as oracle
from support.random_data import as_sets

# Tests of little data also run with the compiler off, where every index is checked; hashing wraps around there with a warning.
pytestmark = [
    pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning"),
    pytest.mark.plain_python,
]

KINDS = {"all": oracle.frequent, "closed": oracle.closed, "maximal": oracle.maximal}
NOT_WRITTEN = 1 << 29
compiler_off = pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") != "1", reason="patches what is compiled in")


@pytest.fixture(autouse=True, scope="module")
def ranges_of_little_work():
    """Let little data be cut into as many ranges as much data."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(searching, "_LEAST_WORK", 1)
        yield


def dense(seed, *, records, items, share, everywhere=0, again=0):
    """Make records that hold many items each, some items in all records, some records again."""
    rng = np.random.default_rng(seed)
    table = rng.random((records, items)) < share
    table[:, :everywhere] = True
    table = np.concatenate([table, table[rng.integers(0, records, size=again)]])
    return from_lists([[f"i{j:02}" for j in np.flatnonzero(row)] for row in table])


def bounded(itemsets, shortest, longest):
    return {one: n for one, n in itemsets.items() if shortest <= len(one) and (longest is None or len(one) <= longest)}


def assert_found(transactions, min_count, kind, expected, **bounds):
    found = mine(transactions, min_count, kind=kind, threads=1, **bounds)
    assert all(list(labels) == sorted(labels) for labels, _ in found)
    assert sorted((labels, n) for labels, n in found) == sorted((tuple(sorted(one)), n) for one, n in expected.items())
    assert count(transactions, min_count, kind=kind, threads=1, **bounds) == len(expected)


@pytest.fixture
def one_thread():
    """Let all parts run one after another, so that what one leaves of a budget is what the next one gets."""
    with using_threads(1):
        yield


def search_of(transactions, min_count, kind="all"):
    wanted = frequent._Wanted(transactions, MinSupport(min_count), kind, 1, None)
    return frequent._Search(transactions, wanted)


class Strict(np.ndarray):
    """An array that refuses places before its start, which NumPy takes from its end."""

    def __getitem__(self, place):
        self._check(place)
        return super().__getitem__(place)

    def __setitem__(self, place, value):
        self._check(place)
        super().__setitem__(place, value)

    @staticmethod
    def _check(place):
        places = place if isinstance(place, tuple) else (place,)
        if any(not isinstance(one, slice) and one < 0 for one in places):
            raise IndexError(f"{place} is before the start")


class StrictNumPy:
    """NumPy for kernels: new arrays are strict, and hold what cannot be used as an index until it is written."""

    bool_, int32, int64 = np.bool_, np.int32, np.int64

    @staticmethod
    def empty(shape, dtype):
        return np.full(shape, NOT_WRITTEN, dtype).view(Strict)

    @staticmethod
    def zeros(shape, dtype):
        return np.zeros(shape, dtype).view(Strict)


def as_strict(thing):
    if isinstance(thing, tuple):
        kind = type(thing)
        return kind(*map(as_strict, thing)) if hasattr(kind, "_fields") else kind(map(as_strict, thing))
    return thing.view(Strict) if isinstance(thing, np.ndarray) else thing


@pytest.fixture
def strict(monkeypatch):
    """Let all kernels of the search work on strict arrays that grow by no more than they need; the compiler must be off."""

    def grown(array, used, needed):
        larger = StrictNumPy.empty(needed, array.dtype)
        larger[:used] = array[:used]
        return larger

    def strictly(kernel):
        def called(*arguments):
            found = kernel(*map(as_strict, arguments))
            if isinstance(found, Strict):
                return found.view(np.ndarray)
            if not isinstance(found, tuple) or not any(isinstance(array, Strict) for array in found):
                return found
            arrays = [array.view(np.ndarray) for array in found]
            return type(found)(*arrays) if hasattr(found, "_fields") else tuple(arrays)

        return called

    for module in (_contained_kernels, _list_search_kernels, _writing_kernels, _row_kernels):
        monkeypatch.setattr(module, "np", StrictNumPy)
    for module in (_list_search_kernels, _bit_search_kernels, _writing_kernels):
        monkeypatch.setattr(module, "grown", grown)
    for module, names in (
        (_list_search_kernels, ("search_lists", "search_root", "find_pairs", "find_pairs_by_row", "list_partners")),
        (_contained_kernels, ("rank_items", "find_contained", "drop_sets")),
        (_row_kernels, ("recode", "merge_equal", "index_entries")),
    ):
        for name in names:
            monkeypatch.setattr(module, name, strictly(getattr(module, name)))


@compiler_off
@pytest.mark.usefixtures("strict")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("word_bits", "table_bits"), [(2, 0), (3, 2), (9, 0), (9, 2)])
def test_arrays_that_start_with_one_place_grow_without_a_loss(kind, word_bits, table_bits, monkeypatch):
    for module in (_list_search_kernels, _bit_search_kernels):
        monkeypatch.setattr(module, "WORD_BITS", word_bits)
    for start in ("_START", "_ROOM", "_ROOM_FOR_ITEMS"):
        monkeypatch.setattr(_list_search_kernels, start, 1)
    monkeypatch.setattr(_contained_kernels, "_FEW_WORDS", 1)
    monkeypatch.setattr(_bit_search_kernels, "FEW_ROWS", 2)
    monkeypatch.setattr(searching, "_RANGES", 1)
    for listing in (True, False):
        monkeypatch.setitem(frequent._TABLE_BITS, listing, table_bits)
    for seed in range(3):
        transactions = dense(
            seed, records=16, items=8, share=(0.5, 0.65, 0.8)[seed % 3], everywhere=seed % 2, again=2 * seed
        )
        expected = KINDS[kind](as_sets(transactions), 2)
        for shortest, longest in ((1, None), (1, 2), (3, 4)):
            within = bounded(expected, shortest, longest)
            assert_found(transactions, 2, kind, within, min_length=shortest, max_length=longest)


@compiler_off
@pytest.mark.usefixtures("strict")
@pytest.mark.parametrize("kind", KINDS)
def test_rows_that_all_go_one_level_deeper_find_room(kind, monkeypatch):
    # Every row below "p" holds "a" and something behind it, and yet "a" is not in all records of "p".
    monkeypatch.setitem(frequent._TABLE_BITS, True, 0)
    monkeypatch.setitem(frequent._TABLE_BITS, False, 0)
    records = ["p", "pab", "pac", "pad", "pabc", "a", "a", *("bcd",) * 8]
    transactions = from_lists([list(record) for record in records])
    assert_found(transactions, 1, kind, KINDS[kind](as_sets(transactions), 1))


@compiler_off
@pytest.mark.parametrize("kind", KINDS)
def test_the_room_of_a_level_that_is_done_is_used_again(kind, monkeypatch):
    whole, tops = _list_search_kernels.write_level, []

    def watched(node, n_kept, looks_back, source, below, items, levels):
        if source is not below:  # written from the data themselves: no other level is open
            tops.append(levels.tops.tolist())
        return whole(node, n_kept, looks_back, source, below, items, levels)

    monkeypatch.setattr(_list_search_kernels, "write_level", watched)
    for module in (_list_search_kernels, _bit_search_kernels):
        monkeypatch.setattr(module, "WORD_BITS", 1)
    monkeypatch.setattr(searching, "_RANGES", 1)
    mine(dense(1, records=10, items=9, share=0.6), 2, kind=kind, threads=1)
    assert len(tops) > 2
    assert all(top == [0] * 5 for top in tops)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("everywhere", [0, 2])
def test_words_of_several_levels_equal_the_definition(kind, everywhere):
    # More items than a table of combinations takes, at several levels of the search in words.
    transactions = dense(5, records=20, items=13, share=0.7, everywhere=everywhere, again=10)
    expected = KINDS[kind](as_sets(transactions), 5)
    assert len(expected) > 30
    for shortest, longest in ((1, None), (2, 4), (4, None)):
        within = bounded(expected, shortest, longest)
        assert_found(transactions, 5, kind, within, min_length=shortest, max_length=longest)


@pytest.mark.parametrize("ranges", [1, 48])
def test_more_sets_than_the_first_arrays_hold_are_all_written(ranges, monkeypatch):
    monkeypatch.setattr(searching, "_RANGES", ranges)
    items = [f"i{j:02}" for j in range(13)]
    transactions = from_lists([items, items, ["x"], *([items[j]] for j in range(1, 13))])
    every = {one: 2 + (len(one) == 1) for length in range(1, 14) for one in combinations(items, length)}
    every[items[0],] = 2
    found = mine(transactions, 2, threads=1)
    assert dict(found) == every
    assert len(found) == len(every) == 2**13 - 1
    with pytest.raises(TooManyItemsets):
        mine(transactions, 2, limit=2**13 - 2, threads=1)


@pytest.mark.parametrize("kind", KINDS)
def test_into_how_many_ranges_the_items_are_cut_changes_no_byte(kind, monkeypatch):
    transactions = dense(4, records=25, items=14, share=0.4)
    found = []
    for ranges in (1, 2, 5, 48, 1000):
        monkeypatch.setattr(searching, "_RANGES", ranges)
        itemsets = mine(transactions, 2, kind=kind, threads=1)
        found.append((itemsets.offsets.tobytes(), itemsets.items.tobytes(), itemsets.supports.tobytes()))
    assert len(set(found)) == 1


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(4))
def test_how_pairs_are_counted_changes_no_byte(kind, seed, monkeypatch):
    transactions = dense(seed, records=40, items=9, share=(0.3, 0.6)[seed % 2], everywhere=seed % 3, again=20)
    expected = KINDS[kind](as_sets(transactions), 3)
    counted_at_once = []
    count_all = _list_search_kernels.find_pairs_by_row
    monkeypatch.setattr(
        _list_search_kernels, "find_pairs_by_row", lambda *given: counted_at_once.append(1) or count_all(*given)
    )
    found = []
    for cells in (0, 81):
        monkeypatch.setattr(searching, "MOST_CELLS", cells)
        itemsets = mine(transactions, 3, kind=kind, threads=1)
        found.append((itemsets.offsets.tobytes(), itemsets.items.tobytes(), itemsets.supports.tobytes()))
        assert {frozenset(one): n for one, n in itemsets} == expected
        assert len(counted_at_once) == (cells > 0)
    assert found[0] == found[1]


@pytest.mark.parametrize("min_count", [1, 3, 40])
def test_pairs_counted_by_row_are_those_counted_by_item(min_count):
    search = search_of(dense(3, records=40, items=12, share=0.4, again=30), min_count)
    rows, control = search._laid.rows, np.zeros(8, dtype=np.int64)
    by_row = _list_search_kernels.find_pairs_by_row(rows, min_count, control)
    by_item = _list_search_kernels.find_pairs(0, len(rows.names), rows, min_count, control)
    for one, other in zip(by_row, by_item, strict=True):
        assert one.tolist() == other.tolist()


@pytest.mark.usefixtures("one_thread")
def test_ranges_hold_every_item_once_and_share_the_work():
    search = search_of(dense(4, records=25, items=14, share=0.4), 2)
    ranges = search._laid.ranges
    assert [item for first, last, _ in ranges for item in range(first, last)] == list(range(14))
    assert len(ranges) > 5
    assert all(work >= 0 for _, _, work in ranges)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("everywhere", [0, 2])
def test_the_limit_is_the_number_that_is_still_listed(kind, everywhere):
    transactions = dense(7, records=12, items=6, share=0.5, everywhere=everywhere)
    there_are = len(KINDS[kind](as_sets(transactions), 2))
    assert there_are > 1
    for limit in range(there_are):
        with pytest.raises(TooManyItemsets) as refused:
            mine(transactions, 2, kind=kind, limit=limit, threads=1)
        assert (refused.value.found, refused.value.exact) == (there_are, True)
    for limit in (there_are, there_are + 1):
        assert len(mine(transactions, 2, kind=kind, limit=limit, threads=1)) == there_are


def test_sets_that_are_too_long_do_not_count_against_the_limit():
    transactions = from_lists([list("abcdefg")] * 2 + [["x"]])
    assert len(mine(transactions, 2, max_length=2, limit=28)) == 28
    assert len(mine(transactions, 2, min_length=6, limit=8)) == 8


@compiler_off
@pytest.mark.usefixtures("strict")
@pytest.mark.parametrize("kind", KINDS)
def test_the_limit_is_the_same_where_every_set_needs_new_room(kind, monkeypatch):
    for start in ("_START", "_ROOM", "_ROOM_FOR_ITEMS"):
        monkeypatch.setattr(_list_search_kernels, start, 0)
    transactions = dense(7, records=12, items=6, share=0.6, everywhere=1)
    there_are = len(KINDS[kind](as_sets(transactions), 2))
    for limit in range(there_are):
        with pytest.raises(TooManyItemsets):
            mine(transactions, 2, kind=kind, limit=limit, threads=1)
    assert len(mine(transactions, 2, kind=kind, limit=there_are, threads=1)) == there_are


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.usefixtures("one_thread")
def test_a_search_that_is_told_to_stop_looks_at_nothing_more(kind, monkeypatch):
    whole = _list_search_kernels.search_lists

    def stopped(*arguments):
        arguments[-1][STOP] = 1
        return whole(*arguments)

    monkeypatch.setattr(_list_search_kernels, "search_lists", stopped)
    parts = search_of(dense(4, records=25, items=14, share=0.4), 2, kind)._run(listing=True, limit=10**6, budget=0)
    below_items = [part for part in parts if part.nodes]
    assert below_items
    assert all((part.nodes, part.sets, part.status) == (1, 0, _writing_kernels.STOPPED) for part in below_items)


class StopsAfter(list):
    """A control array that says stop after some looks at it."""

    def __init__(self, looks):
        super().__init__([0] * 8)
        self.looks = looks

    def __getitem__(self, place):
        self.looks -= place == STOP
        return int(self.looks < 0) if place == STOP else super().__getitem__(place)


@compiler_off
@pytest.mark.parametrize("looks", [2, 5, 20])
@pytest.mark.usefixtures("one_thread")
def test_a_search_in_words_hears_that_it_should_stop(looks, monkeypatch):
    whole = _list_search_kernels.search_lists
    monkeypatch.setattr(searching, "_RANGES", 1)
    monkeypatch.setattr(
        _list_search_kernels, "search_lists", lambda *arguments: whole(*arguments[:-1], StopsAfter(looks))
    )
    *_, part = search_of(dense(4, records=25, items=14, share=0.7), 2)._run(listing=False, limit=0, budget=0)
    assert part.status == _writing_kernels.STOPPED
    assert part.nodes <= 2 * looks + 2  # a table of combinations is a node of its own, and does not look


def test_every_item_is_told_to_who_shows_how_far_the_search_is(monkeypatch):
    whole, controls = _list_search_kernels.search_lists, []

    def watched(*arguments):
        controls.append(arguments[-1])
        return whole(*arguments)

    monkeypatch.setattr(_list_search_kernels, "search_lists", watched)
    transactions = dense(4, records=25, items=14, share=0.4)
    mine(transactions, 2, threads=1)
    assert sum(control[DONE] for control in controls) == 14


@pytest.mark.parametrize("ranges", [1, 3])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.usefixtures("one_thread")
def test_a_budget_bounds_what_is_looked_at_by_all_ranges_together(ranges, kind, monkeypatch):
    monkeypatch.setattr(searching, "_RANGES", ranges)
    monkeypatch.setitem(frequent._TABLE_BITS, False, 2)
    search = search_of(dense(4, records=25, items=12, share=0.7), 4, kind)
    parts = search._run(listing=False, limit=0, budget=0)
    nodes, there_are = sum(part.nodes for part in parts), search.counted(budget=0)[0]
    assert nodes > 100
    assert search.counted(budget=nodes) == (there_are, True)
    for budget in (1, 10, 50):
        looked_at = sum(part.nodes for part in search._run(listing=False, limit=0, budget=budget))
        assert budget < looked_at <= budget + 3 * ranges
        found, exact = search.counted(budget=budget)
        assert not exact
        assert found < there_are


@pytest.mark.usefixtures("one_thread")
def test_a_budget_is_enough_for_as_many_places_as_it_says(monkeypatch):
    # The search looks at each item once, and there is nothing below any of them.
    monkeypatch.setattr(searching, "_RANGES", 1)
    transactions = from_lists([["a"], ["b"], ["b"], ["c"], ["c"], ["c"], ["a", "b"]])
    search = search_of(transactions, 2)
    parts = search._run(listing=False, limit=0, budget=0)
    assert [part.nodes for part in parts if part.nodes] == [3]
    assert search.counted(budget=3) == (3, True)
    assert search.counted(budget=2) == (2, False)


@pytest.mark.parametrize("kind", ["all", "closed"])
@pytest.mark.parametrize("everywhere", [0, 2])
def test_the_most_frequent_at_every_number(kind, everywhere):
    transactions = dense(6, records=9, items=6, share=0.6, everywhere=everywhere)
    expected = sorted(bounded(KINDS[kind](as_sets(transactions), 1), 2, 4).values(), reverse=True)
    for how_many in range(1, len(expected) + 2):
        found = top(transactions, how_many, kind=kind, min_length=2, max_length=4, threads=1)
        assert found.supports.tolist() == expected[:how_many]
        assert found.to_lists() == found.ordered().to_lists()


@pytest.mark.parametrize("few", [1, 4, 100_000])
@pytest.mark.parametrize("ties", [False, True])
def test_the_most_frequent_are_those_that_halving_the_distance_finds(few, ties, monkeypatch):
    """The former way: bisect the support for the highest one at which there are enough sets, then list them."""
    monkeypatch.setattr(frequent, "_FEW", few)
    monkeypatch.setattr(frequent, "_TIMES_TOO_MANY", 1)
    for seed in range(30):
        rng = np.random.default_rng(seed)
        transactions = dense(seed, records=int(rng.integers(5, 60)), items=7, share=float(rng.uniform(0.1, 0.7)))
        lengths = {"min_length": int(rng.integers(1, 4)), "max_length": [None, 3][int(rng.integers(2))]}
        how_many, least = int(rng.integers(1, 90)), int(rng.integers(1, 4))
        low, high = least, transactions.records + 1
        while high - low > 1:
            middle = (low + high) // 2
            enough = len(mine(transactions, middle, **lengths)) >= how_many
            low, high = (middle, high) if enough else (low, middle)
        expected = mine(transactions, low, **lengths).ordered()
        wanted = len(expected) if ties else min(how_many, len(expected))
        found = top(transactions, how_many, least=least, ties=ties, **lengths)
        assert found.to_lists() == expected.to_lists()[:wanted]
        assert found.supports.tolist() == expected.supports.tolist()[:wanted]


def test_as_many_as_are_asked_for_are_above_no_limit():
    three = from_lists([["a", "b"], ["a"], ["b"], ["b"]])
    assert top(three, 3, limit=1).supports.tolist() == [3, 2, 1]


def test_the_most_frequent_are_chosen_from_more_up_to_the_limit():
    equal = from_lists([["a", "b", "c"]] * 2)
    assert top(equal, 2, limit=7).to_lists() == [["a"], ["b"]]
    with pytest.raises(TooManyItemsets, match=r"there are 7 frequent itemsets .* the limit is 6"):
        top(equal, 2, limit=6)


def test_the_most_frequent_need_no_search_of_what_is_rare():
    # All combinations of the long record would be far above the limit.
    long = [f"i{j:02}" for j in range(40)]
    transactions = from_lists([long, *[["a", "b"]] * 3])
    assert top(transactions, 3, limit=100).to_lists() == [["a"], ["b"], ["a", "b"]]
    twice = from_lists([long, long, *[["a"]] * 3])
    assert top(twice, 1, limit=100).to_lists() == [["a"]]


@pytest.mark.parametrize("kind", KINDS)
def test_more_items_may_be_in_all_records_than_a_record_has_others(kind):
    transactions = from_lists([[*"abcdef", *others] for others in ("x", "", "xy", "y", "x")])
    assert_found(transactions, 2, kind, KINDS[kind](as_sets(transactions), 2))


def in_groups(seed, *, records, items, groups):
    """Make records of a few large groups of items, each with some items missing and some more: frequent sets are long and overlap."""
    rng = np.random.default_rng(seed)
    table = rng.random((groups, items)) < 0.6
    chosen = table[rng.integers(0, groups, size=records)]
    chosen = (chosen & (rng.random((records, items)) < 0.9)) | (rng.random((records, items)) < 0.1)
    return from_lists([[f"i{j:02}" for j in np.flatnonzero(row)] for row in chosen])


def maximal_differ(monkeypatch):
    """Return whether the maximal sets of some data differ from their definition, with all steps of the search in words."""
    monkeypatch.setitem(frequent._TABLE_BITS, True, 0)
    for seed in range(4):
        transactions = in_groups(seed, records=40, items=10, groups=3)
        found = {frozenset(labels): n for labels, n in mine(transactions, 4, kind="maximal", threads=1)}
        if found != oracle.maximal(as_sets(transactions), 4):
            return True
    return False


@compiler_off
def test_maximal_sets_of_long_sets_that_overlap(monkeypatch):
    assert not maximal_differ(monkeypatch)


def _cover_all(level, first, last, live, n_backs, levels, whole=_bit_search_kernels.set_level):
    whole(level, first, last, live, n_backs, levels)
    levels[level, _bit_search_kernels.COVERED] = live


def _write_path_alone(_bits, _names, search):
    length = search.state[_writing_kernels.PATH]
    search.base[:length] = search.path[:length]
    return length


@compiler_off
@pytest.mark.parametrize(
    ("step", "fault"),
    [
        ("support_of", lambda *_: 1000),  # looks ahead to sets that are not frequent
        ("support_of", lambda *_: 4),  # frequent, with another support
        ("is_held_back", lambda *_: True),  # takes every set as part of another
        ("set_level", _cover_all),  # takes every set as part of a larger one
        ("write_with", _write_path_alone),
    ],
)
def test_a_fault_in_a_step_of_the_look_ahead_is_found(step, fault, monkeypatch):
    monkeypatch.setattr(_bit_search_kernels, "are_frequent_pairs", lambda *_: True)
    monkeypatch.setattr(_bit_search_kernels, step, fault)
    assert maximal_differ(monkeypatch)


@compiler_off
@pytest.mark.parametrize(("missed", "kind"), [("earlier", "closed"), ("later", "maximal")])
def test_a_pair_that_is_missed_is_found(missed, kind, monkeypatch):
    whole = _list_search_kernels.take_partners

    def faulty(item, looks_back, pairs, items):
        n_seen = whole(item, looks_back, pairs, items)
        for other in items.seen[:n_seen]:
            if (other < item) == (missed == "earlier"):
                items.counts[other] = 1
        return n_seen

    # Every record of "b" and "c" holds "a" too, which is rarer.
    transactions = from_lists([list(record) for record in (*["abc"] * 3, *["b"] * 2, *["c"] * 3)])
    expected = KINDS[kind](as_sets(transactions), 2)
    assert_found(transactions, 2, kind, expected)
    monkeypatch.setattr(_list_search_kernels, "take_partners", faulty)
    found = {frozenset(labels): n for labels, n in mine(transactions, 2, kind=kind, threads=1)}
    assert found != expected


@pytest.mark.parametrize("ranges", [1, 5])
@pytest.mark.parametrize("longest", [1, 2, 3, 5])
@pytest.mark.parametrize("budget", [1, 10**6])  # the length bounds the search itself, or what it found
def test_longer_sets_count_for_what_is_maximal(budget, longest, ranges, monkeypatch):
    monkeypatch.setattr(searching, "_RANGES", ranges)
    monkeypatch.setattr(frequent, "_COUNT_BUDGET", budget)
    for seed in range(4):
        transactions = in_groups(seed, records=40, items=12, groups=3)
        expected = oracle.maximal(as_sets(transactions), 4)
        assert max(map(len, expected)) > longest
        within = bounded(expected, 1, longest)
        assert_found(transactions, 4, "maximal", within, max_length=longest)


@pytest.mark.usefixtures("one_thread")
def test_what_parts_find_within_sets_of_others_does_not_count_against_the_limit(monkeypatch):
    items = [f"i{j:02}" for j in range(20)]
    transactions = from_lists([items, items, ["x"], *([items[j]] for j in range(20) for _ in range(j))])
    monkeypatch.setattr(searching, "_RANGES", 5)
    search = search_of(transactions, 2, "maximal")
    assert sum(part.sets for part in search._run(listing=True, limit=100, budget=0)) > 3
    assert len(search.listed(1)) == 1
    assert search.listed(0) is None


@pytest.mark.usefixtures("one_thread")
def test_the_search_for_maximal_sets_leaves_what_is_within_one_set(monkeypatch):
    items = [f"i{j:02}" for j in range(20)]
    transactions = from_lists([items, items, ["x"], *([items[j]] for j in range(20) for _ in range(j))])
    monkeypatch.setattr(searching, "_RANGES", 1)
    search = search_of(transactions, 2, "maximal")
    assert len(search.listed(1)) == 1
    *_, part = search._run(listing=True, limit=10, budget=0)
    assert part.nodes <= 2 * len(items)  # every item alone, and at most one table below it: none of the 2**20 sets
