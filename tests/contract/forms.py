"""Releases of every published form, made at random: what contract tests give to guarantees and metrics, and how an oracle sees them.

A new form needs one entry in `CASES`.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import pytest

import setveil as sv
from setveil.data.forms.base import Naming
from setveil.data.records.alignment import Alignment

from oracle import truthfulness
from support import random_clusters
from support.random_data import as_sets


def disturbed(data, rng):
    """Return a release-like copy: some records exchange, lose or gain items, and rows are shuffled."""
    lists = [set(t) for t in data.to_lists()]
    for _ in range(int(rng.integers(0, 12))):
        a, b = rng.integers(0, len(lists), 2)
        lists[a], lists[b] = (lists[b], lists[a]) if rng.random() < 0.3 else (lists[a], lists[b])
        if lists[a] and rng.random() < 0.7:
            moved = sorted(lists[a])[int(rng.integers(len(lists[a])))]
            lists[a].discard(moved)
            if rng.random() < 0.7:
                lists[b].add(moved)
    rows = rng.permutation(len(lists))
    return sv.from_lists([lists[r] for r in rows]), Alignment(rows)


def disturbed_groups(data, rng):
    """Return groups of such rows: some items are told for the group as a whole, and a few of these stand in a row too."""
    records, alignment = disturbed(data, rng)
    # The same items as `filling` names sensitive, or others: both happen.
    rare = {label for label, n in zip(records.vocabulary, records.supports, strict=True) if 3 * n <= records.records}
    hidden = rare if rng.random() < 0.5 else {label for label in records.vocabulary if rng.random() < 0.4}
    keep = rng.random() < 0.3
    groups, at, lists = [], 0, as_sets(records)
    while at < len(lists):
        size = int(rng.integers(1, 9))
        group = lists[at : at + size]
        counts = {s: n for s in sorted(hidden) if (n := sum(s in t for t in group))}
        rows = [t if keep and rng.random() < 0.2 else t - hidden for t in group]
        groups.append((rows, counts))
        at += size
    return sv.Grouped.from_groups(groups), alignment


def disturbed_nodes(data, rng):
    """Return such rows in which some items are replaced by the group that they belong to."""
    records, alignment = disturbed(data, rng)
    labels = sorted({*data.vocabulary, *records.vocabulary, "an item"})
    tree = sv.Hierarchy.balanced(labels, 3)
    general = {label: tree.parent(label) for label in labels if rng.random() < 0.3}
    lists = [{general.get(label, label) for label in t} for t in as_sets(records)]
    return sv.Generalized(sv.from_lists(lists), tree), alignment


def disturbed_clusters(data, rng):
    """Return clusters of such rows, taken apart so that they are 2^2-anonymous, half of the time with faults here and there."""
    records, alignment = disturbed(data, rng)
    clusters = random_clusters.clusters_of(as_sets(records), 2, 2, rng)
    if rng.random() < 0.5:
        clusters = random_clusters.disturbed(clusters, rng)
    return sv.Disassociated.from_clusters(clusters), alignment


def taken_apart(data):
    """Return disassociated data that are made of the records with items: what re-association starts from."""
    records = data.with_ids(None).without_empty()
    if not records.records:
        return sv.Disassociated.from_clusters([])
    k = min(2, records.records)
    made = sv.Disassociation(k=k, m=2, delta=8).apply(records, rng=None).published
    return replace(made, stated={"k": k, "m": 2})


def made_from(kind, data):
    """Return what a method or a guarantee takes in the place of the original data."""
    taken = getattr(kind, "accepts", kind.takes if hasattr(kind, "takes") else ())
    return taken_apart(data) if sv.Disassociated in taken or sv.Reassociated in taken else data


def disturbed_reassociation(data, rng):
    """Return records put together at random from clusters, half of the time with faults here and there."""
    rows, slots = [], []
    for cluster in taken_apart(data).to_clusters():
        mine = [set() for _slot in range(cluster["size"])]
        for chunk in cluster["record_chunks"]:
            parts = [items for items, count in chunk for _time in range(count)]
            for items, slot in zip(parts, rng.permutation(cluster["size"]), strict=False):
                mine[slot] |= set(items)
        slots += [len(slots) + slot for slot in range(cluster["size"])]
        rows += mine
    slots, faults = np.array(slots, dtype=np.int64), int(rng.integers(1, 4)) * (rng.random() < 0.5)
    for _ in range(faults * bool(rows)):
        one, other = rng.integers(0, len(rows), 2)
        match int(rng.integers(4)):
            case 0:
                rows[one], rows[other] = rows[other], rows[one]
            case 1:
                rows[one] |= rows[other]
            case 2 if rows[one]:
                rows[one].pop()
            case _:
                slots[one] = slots[other] if rng.random() < 0.5 else len(rows) + 3
    kept = rng.permutation([row for row in range(len(rows)) if rows[row]]).astype(np.int64)
    return sv.Reassociated((sv.from_lists([rows[row] for row in kept]),)), Alignment(slots[kept])


@dataclass(frozen=True)
class FormCase:
    """A form, for tests that know nothing else of it."""

    at_random: Callable
    """Makes a release of data that resembles one of a method, half of the time with faults, and its alignment."""
    seen: Callable
    """Returns a release and its alignment as oracles see it: rows in the order of their records, groups with counts, clusters."""
    unchanged: Callable
    """Makes a release in which nothing changed but the form; each record is a group, or a cluster, of its own."""
    untrue: Callable | None
    """Returns where a release is not true of the records behind its rows, as the oracle finds it; None where rows are no records."""
    in_order: Callable | None = None
    """Returns whether a release stands in the order of content, found in plain Python where that is short."""


def _by_record(records, alignment):
    rows = as_sets(records)
    found = [set()] * len(rows)
    for row, record in zip(rows, alignment.rows, strict=True):
        found[record] = row
    return found


def _unchanged_nodes(data, _sensitive):
    return sv.Generalized(data, sv.Hierarchy.balanced([*data.vocabulary, "an item"], 3))


def _untrue_nodes(published, behind, whole):
    tree = published.hierarchy
    below = {node: set(tree.leaves_under(node)) for node in tree.nodes}
    return truthfulness.untrue_rows(as_sets(published.rows), behind, whole, below)


def _unchanged_groups(data, sensitive):
    hidden = set(sensitive)
    return sv.Grouped.from_groups([([t - hidden], dict.fromkeys(sorted(t & hidden), 1)) for t in as_sets(data)])


def _untrue_groups(published, behind, whole):
    groups = published.to_groups()
    return truthfulness.untrue_groups(groups, _parted(behind, [len(rows) for rows, _counts in groups]), whole)


def _groups_in_order(published):
    groups = [(rows, [*counts.items()]) for rows, counts in published.to_groups()]
    return groups == sorted(groups) and all(rows == sorted(rows) for rows, _counts in groups)


def _unchanged_clusters(data, _sensitive):
    chunks = [[[(sorted(t), 1)]] if t else [] for t in as_sets(data)]
    return sv.Disassociated.from_clusters([{"size": 1, "record_chunks": chunk, "term_chunk": []} for chunk in chunks])


def _untrue_clusters(published, behind, whole):
    clusters = published.to_clusters()
    parted = _parted(behind, [cluster["size"] for cluster in clusters])
    return truthfulness.untrue_clusters(clusters, parted, whole)


def _parted(values, sizes):
    ends = np.cumsum(sizes)
    return [values[end - size : end] for size, end in zip(sizes, ends, strict=True)]


CASES = {
    sv.Reassociated: FormCase(
        disturbed_reassociation,
        lambda published, alignment: (as_sets(published.datasets[0]), alignment.rows.tolist()),
        lambda data, _sensitive: sv.Reassociated((data.with_ids(None),)),
        None,
        lambda published: all(rows == sorted(rows) for rows in (one.to_lists() for one in published.datasets)),
    ),
    sv.Transactions: FormCase(
        disturbed,
        _by_record,
        lambda data, _sensitive: data,
        lambda published, behind, whole: truthfulness.untrue_rows(as_sets(published), behind, whole),
    ),
    sv.Grouped: FormCase(
        disturbed_groups,
        lambda published, _alignment: published.to_groups(),
        _unchanged_groups,
        _untrue_groups,
        _groups_in_order,
    ),
    sv.Generalized: FormCase(
        disturbed_nodes,
        lambda published, alignment: _by_record(published.rows, alignment),
        _unchanged_nodes,
        _untrue_nodes,
    ),
    sv.Disassociated: FormCase(
        disturbed_clusters, lambda published, _alignment: published.to_clusters(), _unchanged_clusters, _untrue_clusters
    ),
}


def seen_by_oracles(published, alignment):
    """Return a release as oracles see it."""
    return CASES[type(published)].seen(published, alignment)


def is_in_order(published):
    """Return whether the order of a release without names depends on its content alone."""
    by_content = Naming("drop", published, lambda number: pytest.fail(f"{number} pseudonyms were asked for"))
    in_order = CASES[type(published)].in_order
    again = published.arrange(np.arange(published.records), by_content)[0]
    return again == published and (in_order is None or in_order(published))


def untrue_by_oracle(published, data, rows, *, whole):
    """Return where a release is not true of the records behind its rows, as the oracle finds it: a row, a chunk, or an item of a group."""
    return CASES[type(published)].untrue(published, [as_sets(data)[record] for record in rows], whole)


def place_of(witness, alignment):
    """Return where a witness is, as oracles tell it: a group or a row and an item, a chunk, a record, or the items concerned."""
    if witness.chunk is not None:
        return (witness.group, witness.chunk, witness.items)
    if witness.group is not None:
        return (witness.group if witness.row is None else witness.row, *witness.items[:1])
    return int(alignment.rows[witness.row]) if witness.row is not None else witness.items


def forms_of(kinds):
    """Return every entry of a table with every form that it takes, and names for them."""
    found = [(kind, form) for kind in kinds.values() for form in kind.takes]
    return found, [f"{kind.name} of {form.form_title}" for kind, form in found]


def unchanged(data, form, sensitive=()):
    """Return a release in which nothing changed but its form."""
    return CASES[form].unchanged(data, sensitive)


def at_random(data, form, seed):
    return CASES[form].at_random(data, np.random.default_rng(seed))
