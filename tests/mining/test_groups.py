"""Mining and counting in data of more than one block: the same sets and supports, whatever the size of blocks and groups."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from setveil.data.records.transactions import from_lists
from setveil.engines.blocks import using_engine
from setveil.engines.local import LocalBlocks, LocalEngine
from setveil.errors import TooManyItemsets
from setveil.kernels.threads import using_threads
from setveil.mining import frequent, groups, searching
from setveil.mining.frequent import count, count_or_at_least, mine, mine_up_to, top
from setveil.mining.supports import supports

from oracle import mining as oracle
from support.exhaustive import examples
from support.random_data import as_sets, make, seeds

# Tests of little data also run with the compiler off; hashing wraps around there with a warning.
pytestmark = pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")

KINDS = {"all": oracle.frequent, "closed": oracle.closed, "maximal": oracle.maximal}


@pytest.fixture(autouse=True, scope="module")
def ranges_of_little_work():
    """Let little data be cut into as many ranges as much data."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(searching, "_LEAST_WORK", 1)
        yield


def arrays(itemsets):
    return [getattr(itemsets, name).tolist() for name in ("offsets", "items", "supports")]


def sets_of(itemsets):
    found = {frozenset(labels): support for labels, support in itemsets}
    assert len(found) == len(itemsets), "a set was found twice"
    return found


@pytest.mark.plain_python
@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=examples(100))
@given(seed=seeds, data=st.data())
def test_sets_in_blocks_equal_the_definition(kind, seed, data):
    transactions, _categories = make(seed, records=data.draw(st.integers(2, 40)), items=data.draw(st.integers(1, 9)))
    block = data.draw(st.integers(1, transactions.records - 1))
    min_count = data.draw(st.integers(1, max(1, transactions.records // 3)))
    longest = data.draw(st.sampled_from([None, 1, 2, 3]))
    with pytest.MonkeyPatch.context() as patch, using_engine(LocalEngine(block)):
        patch.setattr(groups, "GROUP_BYTES", data.draw(st.sampled_from([1, 1000, 5000, 1 << 27])))
        patch.setattr(groups, "MOST_CELLS", data.draw(st.sampled_from([1, 8, 1 << 22])))
        found = mine(transactions, min_count, kind=kind, max_length=longest)
        counted = count(transactions, min_count, kind=kind, max_length=longest)
    expected = KINDS[kind](as_sets(transactions), min_count)
    within = {one: n for one, n in expected.items() if longest is None or len(one) <= longest}
    assert sets_of(found) == within
    assert counted == len(within)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("cells", [1 << 8, 1 << 22])
def test_sets_in_blocks_are_in_the_same_order(kind, cells, monkeypatch):
    rng = np.random.default_rng(5)
    table = rng.random((300, 70)) < rng.choice([0.03, 0.1, 0.4], 70)
    transactions = from_lists([[f"i{j:02}" for j in np.flatnonzero(row)] for row in table])
    whole = arrays(mine(transactions, 4, kind=kind))
    assert len(whole[2]) > 1000
    monkeypatch.setattr(groups, "MOST_CELLS", cells)
    for block, size, threads in ((7, 1 << 27, 1), (100, 1 << 14, 2), (299, 1, 2)):
        monkeypatch.setattr(groups, "GROUP_BYTES", size)
        with using_engine(LocalEngine(block)), using_threads(threads):
            assert arrays(mine(transactions, 4, kind=kind)) == whole


@pytest.mark.realdata
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("name", "support"), [("retail", "0.3%"), ("bms-webview-2", "0.2%")])
def test_sets_of_real_data_in_blocks(real_data, name, support, kind, monkeypatch):
    transactions = real_data(name)
    whole = mine(transactions, support, kind=kind)
    monkeypatch.setattr(groups, "GROUP_BYTES", 1 << 21)
    with using_engine(LocalEngine(10_000)):
        assert arrays(mine(transactions, support, kind=kind)) == arrays(whole)
        assert supports(transactions, whole).tolist() == whole.supports.tolist()
        assert arrays(top(transactions, 500, kind=kind) if kind != "maximal" else whole) == arrays(
            whole.ordered().take(np.arange(500)) if kind != "maximal" else whole
        )


def test_groups_are_as_large_as_allowed_but_for_single_items(monkeypatch):
    monkeypatch.setattr(groups, "GROUP_BYTES", 10)
    sizes = np.array([3, 4, 3, 1, 12, 2, 11, 9, 1, 0])
    assert groups._starts(sizes).tolist() == [0, 3, 4, 5, 6, 7, 10]


def test_a_group_gets_what_its_items_need_and_nothing_else(monkeypatch):
    # By rising support: e (1 record), d, c (3 each), b, a; at a support of 2 the pairs cd, bc, ac, ab are frequent.
    records = ["abcd", "abcde", "bc", "ab", "ab", "d"]
    transactions = from_lists([list(record) for record in records])
    names = np.array([transactions.code_of[label] for label in "dcba"], np.int32)
    monkeypatch.setattr(groups, "GROUP_BYTES", 1)
    with using_engine(LocalEngine(4)):
        for kind, expected in (
            (0, [["dcba", "dcba"], ["cba", "cba", "cb"], ["ba", "ba", "ba", "ba"], []]),
            (
                1,
                [
                    ["dcba", "dcba"],
                    ["dcba", "dcba", "cb"],
                    ["dcba", "dcba", "cb", "ba", "ba"],
                    ["dcba"] * 2 + ["ba"] * 2,
                ],
            ),
        ):
            made = groups.Groups.of(transactions, names, 2, kind)
            blocks = [block.column("items").to_pylist() for block in made.blocks]
            assert [["".join("dcba"[rank] for rank in row) for row in rows] for rows in blocks] == expected


@pytest.mark.parametrize("kind", KINDS)
def test_too_many_sets_in_blocks_are_refused_in_the_same_words(kind, monkeypatch):
    monkeypatch.setattr(groups, "GROUP_BYTES", 1000)
    rng = np.random.default_rng(1)
    transactions = from_lists([[f"i{j:02}" for j in np.flatnonzero(row)] for row in rng.random((60, 12)) < 0.6])
    there_are = count(transactions, 3, kind=kind)
    said = []
    for block in (1000, 9):
        with using_engine(LocalEngine(block)):
            assert len(mine(transactions, 3, kind=kind, limit=there_are)) == there_are
            with pytest.raises(TooManyItemsets) as refused:
                mine(transactions, 3, kind=kind, limit=there_are - 1)
            said.append((str(refused.value), refused.value.found, refused.value.exact))
    assert said[0] == said[1]


def test_counting_in_blocks_ends_where_it_would_take_too_long(monkeypatch):
    monkeypatch.setattr(groups, "GROUP_BYTES", 1000)
    rng = np.random.default_rng(1)
    records = [[f"i{j:02}" for j in np.flatnonzero(row)] for row in rng.random((60, 20)) < 0.6]
    there_are = count(from_lists(records), 2)
    with using_engine(LocalEngine(9)):
        assert count_or_at_least(from_lists(records), 2) == (there_are, True)
        assert mine_up_to(from_lists(records), 2, there_are - 1) is None
        assert len(mine_up_to(from_lists(records), 2, there_are)) == there_are
        monkeypatch.setattr(frequent, "_COUNT_BUDGET", 50)
        found, exact = count_or_at_least(from_lists(records), 2)
    assert not exact
    assert 0 < found < there_are


def test_data_in_blocks_without_frequent_items():
    transactions = from_lists([["a"], ["b"], [], ["c"]])
    with using_engine(LocalEngine(2)):
        assert len(mine(transactions, 2)) == 0
        assert count(transactions, 2) == 0
        assert supports(transactions, [["a"], ["a", "b"], [], ["x"]]).tolist() == [1, 0, 4, 0]


@settings(max_examples=examples(60))
@given(seed=seeds, block=st.integers(1, 30))
def test_supports_in_blocks_equal_the_definition(seed, block):
    data, _categories = make(seed)
    rng = np.random.default_rng(seed)
    labels = [*data.vocabulary, "unknown"]
    asked = [list(rng.choice(labels, min(rng.integers(0, 4), len(labels)), replace=False)) for _ in range(20)]
    with using_engine(LocalEngine(block)):
        assert supports(data, asked).tolist() == oracle.supports(as_sets(data), asked)


def test_work_on_blocks_can_be_sent_to_another_machine(monkeypatch):
    def sending(called):
        def sent(self, label, work, *more):
            return called(self, label, pickle.loads(pickle.dumps(work)), *more)  # noqa: S301 - what was just pickled

        return sent

    for verb in ("map", "fold", "regroup"):
        monkeypatch.setattr(LocalBlocks, verb, sending(getattr(LocalBlocks, verb)))
    transactions = from_lists([["a", "b", "c"], ["a", "b"], ["a"], ["b", "c"]] * 3)
    whole = mine(transactions, 3)
    with using_engine(LocalEngine(5)):
        assert arrays(mine(transactions, 3)) == arrays(whole)
        assert supports(transactions, whole).tolist() == whole.supports.tolist()
