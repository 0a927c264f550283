"""Shortcuts of Insert: what is known from before, what is not counted, and what is skipped. A fault in any of them changes results."""

import os
import re

import numpy as np
import pytest

import setveil as sv
from setveil.methods.uncertainty import _insert_kernels as kernels
from setveil.methods.uncertainty import _limit_kernels as limits
from setveil.methods.uncertainty import _parts_kernels as parts_kernels
from setveil.methods.uncertainty import _restoring
from setveil.methods.uncertainty import _table_kernels as tables
from setveil.methods.uncertainty._restoring import Restoring
from setveil.methods.uncertainty.insert import Insert

from support.random_data import as_sets, crowd

pytestmark = [
    pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning"),  # hashing, with the compiler off
    pytest.mark.plain_python,
]
compiler_off = pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") != "1", reason="patches what is compiled in")


def published(seed, patch, **chosen):
    """Return what is published for a table after rounds in which many items are suppressed again, and whether it is safe."""
    records, sensitive, rho = crowd(seed, records=20 + seed % 60, items=6 + seed % 3, contents=8 + seed % 20)
    patch.setattr(_restoring, "REMOVED_ONE_IN", (1 + seed % 3, 3))
    patch.setattr(_restoring, "HOT", 0)
    asked = {"sensitive": sorted(sensitive), "rho": f"{rho.numerator}/{rho.denominator}", "include_empty": False}
    method = Insert(**asked, rounds=5, **chosen)
    outcome = method.apply(sv.from_lists([sorted(record) for record in records]), rng=np.random.default_rng(seed))
    occurred = method.guarantee.model_copy(update={"sensitive": method.sensitive.known_to_have_occurred()})
    return as_sets(outcome.published), bool(occurred.check(outcome.published))


def is_found(seed, patch, place, name, fault):
    """Return whether a table shows the fault that replaces a function; without it, the result is safe."""
    honest, is_safe = published(seed, patch)
    assert is_safe
    with pytest.MonkeyPatch.context() as inner:
        inner.setattr(place, name, fault)
        return published(seed, patch)[0] != honest


def keeps_all_slacks(_self):
    """Forget no slack where items were suppressed."""


def counts_one_too_few(first, last, sets, asked, few, enough, counts, control):
    """Count one record too few that hold a part of records."""
    parts_count_records(first, last, sets, asked, few, enough + 1, counts, control)
    counts[counts > 0] -= 1


def with_words_of_present_items(table):
    """Lay out a table whose words lack the bits of items that are suppressed."""
    tables_set_up(table)
    table.words.fill(0)
    for row in range(len(table.words)):
        for at in range(table.offsets[row], table.offsets[row + 1]):
            if table.present[at]:
                table.words[row] |= np.uint64(1) << (tables.mixed(np.int64(table.items[at])) & np.uint64(63))
    for item, count in enumerate(table.held):
        at = slice(table.starts[item], table.starts[item] + count)
        table.list_words[at] = table.words[table.lists[at]]


def without_a_look_at_the_record(t, n_holding, rows, slacks, table, holding, holders):
    """Use kept slacks though the record gained items."""
    for position in holding.members[:n_holding]:
        if slacks[position, kernels.SIZE] >= 0:
            slacks[position, kernels.SIZE] = kernels.content(rows[position], table, holders.items)
    kernels_list_holders(t, n_holding, rows, slacks, table, holding, holders)


def stopping_too_early(q, size, enough, table):
    """Count one record less than is asked for, and answer that there are enough."""
    count = tables_records_with(q, size, enough - 1, table)
    return enough if count >= enough - 1 else count


def with_parts_that_nobody_else_holds(x, row, n_sensitive, rules, parts, *others):
    """Take the records that have a part as a whole for all that hold it."""
    parts.together[:] = parts.sizes
    return kernels_limit_by_content(x, row, n_sensitive, rules, parts, *others)


def forbidding_more(n_sensitive, is_sensitive, search, holders):
    """Ask for holders of all items of a content, also if one of these is its only sensitive item."""
    items = search.items[: search.sizes[kernels.ITEMS]]
    is_absent = not holders.numbers[items].all()
    return is_absent or kernels_is_forbidden(n_sensitive, is_sensitive, search, holders)


def knowing_one_holder_less(x, with_all, all_with_t, rules, is_sensitive, search, sharing):
    """Take one record with all of the content and the item for two."""
    more = with_all + 1 if with_all else 0
    return kernels_limit_by_knowing_most(x, more, all_with_t, rules, is_sensitive, search, sharing)


parts_count_records = parts_kernels.count_records
tables_set_up, tables_records_with = tables.set_up, tables.records_with
kernels_list_holders, kernels_limit_by_content = kernels.list_holders, kernels.limit_by_content
kernels_is_forbidden, kernels_limit_by_knowing_most = kernels.is_forbidden, kernels.limit_by_knowing_most


@pytest.mark.parametrize(
    ("place", "name", "fault", "seed"),
    [
        (Restoring, "_forget_slacks", keeps_all_slacks, 110),
        (Restoring, "_forget_slacks", keeps_all_slacks, 276),
        (parts_kernels, "count_records", counts_one_too_few, 8),
        (parts_kernels, "count_records", counts_one_too_few, 11),
        (tables, "set_up", with_words_of_present_items, 6),
        pytest.param(kernels, "list_holders", without_a_look_at_the_record, 52, marks=compiler_off),
        pytest.param(kernels, "list_holders", without_a_look_at_the_record, 92, marks=compiler_off),
        pytest.param(kernels, "limit_by_content", with_parts_that_nobody_else_holds, 8, marks=compiler_off),
        pytest.param(kernels, "is_forbidden", forbidding_more, 2, marks=compiler_off),
        pytest.param(kernels, "limit_by_knowing_most", knowing_one_holder_less, 12, marks=compiler_off),
        pytest.param(limits, "records_with", stopping_too_early, 4, marks=compiler_off),
        pytest.param(limits, "records_with", stopping_too_early, 6, marks=compiler_off),
    ],
)
def test_a_planted_fault_changes_what_is_published(place, name, fault, seed, monkeypatch):
    assert is_found(seed, monkeypatch, place, name, fault)


def test_a_long_run_is_announced_with_an_estimate(monkeypatch):
    notes = []
    monkeypatch.setattr(_restoring.progress, "note", notes.append)
    published(20, monkeypatch)
    assert notes == []
    monkeypatch.setattr(_restoring, "LONG_SECONDS", 0)
    published(20, monkeypatch)
    assert len(notes) == 1  # rounds announce nothing
    assert re.fullmatch(
        r"Restoring items will take about 1 minute, estimated from the first \d+ % of the sensitive occurrences\. "
        r"Use `parts=2` to finish in about a minute; more items are then suppressed\.",
        notes[0],
    )
    published(20, monkeypatch, parts=3)
    assert len(notes) == 2  # one for all parts
    assert "`parts=4`" in notes[1]


def test_a_long_run_that_is_not_of_insert_is_announced_without_parts(monkeypatch):
    notes = []
    monkeypatch.setattr(_restoring.progress, "note", notes.append)
    monkeypatch.setattr(_restoring, "LONG_SECONDS", 0)
    data = sv.from_lists([["a", "e"]] * 4)
    sv.PartialSuppression(sensitive=["e"], rho=0.5).apply(data, rng=np.random.default_rng(0))
    assert len(notes) == 1
    assert "parts" not in notes[0]
