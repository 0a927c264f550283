"""Every joint definition equals an oracle that tries everything, on random small cases of either outcome."""

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

import setveil as sv
from setveil.guarantees.together import itemsets
from setveil.guarantees.together.base import Linked
from setveil.guarantees.together.categories import JointCategories
from setveil.guarantees.together.clusters import JointClusters
from setveil.guarantees.together.groups import JointGroups
from setveil.guarantees.together.itemsets import JointItemsets
from setveil.guarantees.together.rows import JointRows
from setveil.guarantees.together.swapped import JointTruth

from oracle import hidden_itemsets, km_anonymity, tendency, uncertainty
from oracle import together as oracle
from support.random_clusters import cluster_of, safe_cluster

CASES = 500


def linked(data, rows, guarantee, truthful="subset", name="one"):
    return Linked(name, data, guarantee, truthful, np.asarray(rows, dtype=np.int64))


def rows_of(rng, lists, guarantee, truthful="subset", form=lambda rows: rows):
    """Publish rows in any order."""
    order = rng.permutation(len(lists))
    return linked(form(sv.from_lists([sorted(lists[r]) for r in order])), order, guarantee, truthful)


def records_of(rng, most_records=7, most_items=5, least_items=3):
    labels = [f"i{j}" for j in range(int(rng.integers(least_items, most_items + 1)))]
    density = rng.choice([0.3, 0.5, 0.7])
    size = int(rng.integers(3, most_records + 1))
    return [{one for one in labels if rng.random() < density} or {str(rng.choice(labels))} for _ in range(size)]


def thinned(rng, records, share=0.7):
    return [{item for item in record if rng.random() < share} for record in records]


def both_outcomes(outcomes, share=0.1, cases=CASES):
    """Assert that there were enough cases, and that neither outcome is rare."""
    assert sum(outcomes.values()) >= cases
    assert min(outcomes["holds"], outcomes["violated"]) >= share * sum(outcomes.values()), outcomes


# -- true rows ----------------------------------------------------------------------------------------------------------------

TREE = {"i0": "n0", "i1": "n0", "i2": "n1", "i3": "n1", "n0": "top", "n1": "top"}


def generalized(rng, records):
    """Replace each item by itself or a node above it, or suppress it."""
    nodes = {item: [item, *oracle.ancestors(item, TREE), None] for item in set().union(*records)}
    return [{str(chosen) for item in record if (chosen := rng.choice(nodes[item]))} for record in records]


@pytest.mark.parametrize("pair", ["km km", "km rho", "rho rho"])
@pytest.mark.parametrize("has_tree", [False, True], ids=["plain", "generalized"])
def test_the_joint_view_satisfies_every_guarantee(pair, has_tree):
    """Half of the cases of each pair have a hierarchy."""
    outcomes = Counter()
    tree = sv.Hierarchy(TREE)
    for seed in range(CASES // 2):
        rng = np.random.default_rng(seed)
        records = records_of(rng, most_records=12, most_items=4) * 2
        sensitive = {str(item) for item in rng.choice(sorted(set().union(*records)), 1)}
        guarantees = {
            "km": [sv.KmAnonymity(k=int(k), m=int(m)) for k, m in rng.integers(1, 4, (2, 2))],
            "rho": [
                sv.RhoUncertainty(sensitive=sorted(sensitive), rho=f"{share}/6") for share in rng.integers(2, 6, 2)
            ],
        }
        chosen = [guarantees[kind][place] for place, kind in enumerate(pair.split())]
        chosen += chosen[:1] * (seed % 4 == 0)  # a third release
        shown = [generalized(rng, records) if has_tree else thinned(rng, records) for _ in chosen]
        if has_tree:
            shown[rng.integers(2)] = thinned(rng, records)  # plain rows have no hierarchy
        form = [
            (lambda rows: sv.Generalized(rows, tree))
            if has_tree and any(set(TREE.values()) & row for row in rows)
            else None
            for rows in shown
        ]
        releases = [
            rows_of(rng, rows, guarantee, form=make or (lambda rows: rows))
            for rows, guarantee, make in zip(shown, chosen, form, strict=True)
        ]
        view = oracle.joint_rows(shown, TREE if any(form) else {})
        verdicts = list(JointRows.check(releases, sv.from_lists(map(sorted, records))))
        different = list(dict.fromkeys(chosen))
        assert len(verdicts) == len(different)
        for verdict, guarantee in zip(verdicts, different, strict=True):
            if verdict.guarantee.startswith("km-anonymity"):
                expected = {items for _kind, items in km_anonymity.violations(view, guarantee.k, guarantee.m)}
                assert {tuple(sorted(one.items)) for one in verdict.witnesses} == expected
                holds = not expected
            else:
                above = {node for item in sensitive for node in oracle.ancestors(item, TREE)} if any(form) else set()
                holds = rho_holds(view, sensitive | above, guarantee.rho.share, any(form))
            assert verdict.status == ("holds" if holds else "violated")
        outcomes["holds" if all(verdicts) else "violated"] += 1
    both_outcomes(outcomes, cases=CASES // 2)


def rho_holds(view, names, rho, has_tree):
    """Return whether no sensitive name can be inferred, also if lower sensitive names are read as it."""
    readings = [(view, names)]
    if has_tree:
        for node in names:
            lower = {name for name in names if node in oracle.ancestors(name, TREE)}
            readings.append(([{node if label in lower else label for label in row} for row in view], {node}))
    return not any(
        uncertainty.is_inferred([frozenset(row) for row in rows], item, Fraction(rho), True)
        for rows, items in readings
        for item in items
    )


# -- clusters -----------------------------------------------------------------------------------------------------------------


def disassociated(rng, records, k, m):
    """Split records into random clusters and chunks; return the release for the library and for the oracle."""
    order = rng.permutation(len(records)).tolist()
    groups, clusters, at = [0] * len(records), [], 0
    while at < len(order):
        size = int(rng.integers(2, 5))
        part = order[at:] if len(order) - at - size < 2 else order[at : at + size]
        at += len(part)
        for record in part:
            groups[record] = len(clusters)
        mine = [records[record] for record in part]
        if rng.random() < 0.5 and len(part) >= k:
            clusters.append(safe_cluster(mine, k, m))
        else:
            held = sorted(set().union(*mine))
            where = rng.integers(-1, 3, len(held))
            chunks = [[item for item, chunk in zip(held, where, strict=True) if chunk == j] for j in range(3)]
            clusters.append(cluster_of(mine, chunks, [i for i, chunk in zip(held, where, strict=True) if chunk < 0]))
    rows = [record for number in range(len(clusters)) for record in order if groups[record] == number]
    data = sv.Disassociated.from_clusters(clusters)
    return linked(data, rows, sv.KmAnonymity(k=k, m=m)), (groups, clusters)


def test_candidates_and_exact_links_of_clusters():
    outcomes, links_found, links_true = Counter(), 0, 0
    for seed in range(CASES + 60):
        rng = np.random.default_rng(seed)
        k, m = int(rng.integers(2, 4)), int(rng.integers(1, 3))
        records = records_of(rng, most_records=6, most_items=4, least_items=2)
        pairs = [disassociated(rng, records, k, m) for _ in range(3 if seed % 5 == 0 else 2)]
        worlds = oracle.Worlds([pair[1] for pair in pairs])
        assert all(frozenset(record) in worlds.contents[r] for r, record in enumerate(records))
        few = oracle.too_few_candidates(records, worlds, k, m)
        (verdict,) = JointClusters.check([pair[0] for pair in pairs], sv.from_lists(map(sorted, records)))
        outcomes[verdict.status] += 1
        if verdict.status != "undecided":
            assert verdict.status == ("violated" if few else "holds"), seed
        for witness in verdict.witnesses:
            if witness.kind == "too-few-candidates":
                assert frozenset(witness.items) in few, seed
        certain = oracle.exact_links([pair[1] for pair in pairs], worlds)
        links_true += bool(certain)
        cells = list(zip(*(pair[1][0] for pair in pairs), strict=True))
        shown = [one for one in verdict.witnesses if one.kind == "exact-link"]
        assert len(shown) == verdict.counts["exact-links"]
        links_found += bool(shown)
        for witness in shown:
            place = tuple(int(part.split()[1]) - 1 for part in witness.place.split(" and "))
            assert {(r, witness.items[0]) for r, cell in enumerate(cells) if cell == place} <= certain, seed
    both_outcomes(outcomes)
    assert outcomes["undecided"] <= 0.03 * sum(outcomes.values()), outcomes
    assert links_found >= 50
    assert links_found >= 0.5 * links_true


# -- groups -------------------------------------------------------------------------------------------------------------------


def test_a_stronger_attacker_than_the_definition_knows_is_undecided():
    """The definition lets any record of a cluster hold an item of its term chunk, which an aware attacker does not believe."""
    data = sv.from_lists([["a", "b"]] * 6)
    chunks = sv.publish(data, sv.Disassociation(k=2, m=2), seed=2**90, metrics=[], attacks="none")

    def statuses(attacker):
        guarantee = sv.KmAnonymity(k=2, m=2, attacker=attacker)
        pair = [linked(chunks.data, chunks.alignment.rows, guarantee, "yes", name) for name in ("one", "two")]
        return [verdict.status for verdict in JointClusters.check(pair, data)]

    assert statuses("oblivious") == ["holds"]
    assert statuses("aware") == ["undecided"]


def grouped(records, parts, sensitive, p):
    """Publish groups of records; return the release for the library, and the groups and their counts for the oracle."""
    groups = [0] * len(records)
    for number, part in enumerate(parts):
        for record in part:
            groups[record] = number
    counts = [Counter(item for r in part for item in records[r] & sensitive) for part in parts]
    lists = [[sorted(records[r] - sensitive) for r in part] for part in parts]
    data = sv.Grouped.from_groups([(rows, dict(count)) for rows, count in zip(lists, counts, strict=True)])
    guarantee = sv.PermutationPrivacy(sensitive=sorted(sensitive), p=p)
    return linked(data, [r for part in parts for r in part], guarantee), groups, counts


def any_groups(rng, records):
    """Put records into groups of one to five."""
    order, parts = rng.permutation(len(records)).tolist(), []
    while order:
        size = int(rng.integers(1, 6))
        parts.append(order[:size])
        order = order[size:]
    return parts


def crossing_groups(rng, p):
    """Draw four cells, in which at most one in p records holds an item, and the groups of two releases that cross in them."""
    records, cells = [], []
    for _ in range(4):
        size = int(rng.integers(1, 4))
        cells.append(list(range(len(records), len(records) + size)))
        records += [{"s"} if one < size // p and rng.random() < 0.9 else {"a"} for one in range(size)]
    return records, [[cells[0] + cells[1], cells[2] + cells[3]], [cells[0] + cells[2], cells[1] + cells[3]]]


@pytest.mark.parametrize("number", [2, 3])
def test_no_world_has_an_item_too_often_in_a_cell_of_groups(number):
    outcomes, in_other_worlds = Counter(), 0
    for seed in range(CASES):
        rng = np.random.default_rng(seed)
        ps = [int(p) for p in rng.integers(2, 4, number)]
        if seed % 2:
            pool = [{"a", "s"}, {"s", "t"}, {"a"}, {"b"}, {"a", "b"}, {"b", "t"}]
            size = int(rng.integers(6, 10 if number == 2 else 9))
            records = [pool[one] for one in rng.choice(6, size, p=[0.05, 0.05, 0.3, 0.3, 0.25, 0.05])]
            parts = [any_groups(rng, records) for _ in range(number)]
        else:  # these are violated in other worlds only
            records, parts = crossing_groups(rng, max(ps))
            parts += [any_groups(rng, records)] * (number - 2)
        made = [grouped(records, part, {"s", "t"}, p) for part, p in zip(parts, ps, strict=True)]
        cases = set()
        for item in ("s", "t"):
            chosen = [range(number)] if number == 2 else [(0, 1), (0, 2), (1, 2), (0, 1, 2)]
            for those in chosen:
                groups = [made[one][1] for one in those]
                counts = [[count[item] for count in made[one][2]] for one in those]
                cases |= {(tuple(those), cell, item) for cell in oracle.too_often(groups, counts, max(ps))}
        original = sv.from_lists(map(sorted, records))
        (verdict,) = JointGroups.check([one[0] for one in made], original)
        outcomes[verdict.status] += 1
        if verdict.status != "undecided":
            assert verdict.status == ("violated" if cases else "holds"), seed
        for witness in verdict.witnesses:
            place = tuple(int(part.split()[1]) - 1 for part in witness.place.split(" and "))
            assert any(cell == place and item == witness.items[0] for _those, cell, item in cases), seed
            in_other_worlds += "in a joint world" in witness.detail
    both_outcomes(outcomes, 0.05)
    assert in_other_worlds >= 50
    assert outcomes["undecided"] == 0 or number > 2
    assert outcomes["undecided"] <= 0.02 * sum(outcomes.values())


def test_an_item_that_only_one_release_hides_is_shown_by_the_other():
    records = [{"s", "a"}, {"b"}, {"b"}, {"a", "t"}, {"a"}, {"b"}]
    one, other = (grouped(records, [[0, 1, 2], [3, 4, 5]], {item}, 2)[0] for item in "st")
    (verdict,) = JointGroups.check([one, other], sv.from_lists(map(sorted, records)))
    assert verdict.violations["sensitive-item-in-a-row"] == 2
    assert {items for w in verdict.witnesses if w.kind == "sensitive-item-in-a-row" for items in w.items} == {"s", "t"}


# -- swapped rows -------------------------------------------------------------------------------------------------------------

CATEGORIES = {f"i{j}": f"g{j % 3}" for j in range(6)}


def mixed(rng, records, share=0.5):
    """Swap items of records at random: some are gone, some are of others."""
    labels = sorted(set().union(*records))
    return [{item for item in labels if (item in record) != (rng.random() < share)} for record in records]


def without_hidden(rng, records, ties):
    """Replace the hidden categories of each record by items of others."""
    found = []
    for record in records:
        gone = tendency.hidden_categories(record, CATEGORIES, ties)
        others = [item for item in CATEGORIES if CATEGORIES[item] not in gone and rng.random() < 0.25]
        found.append({item for item in record if CATEGORIES[item] not in gone} | set(others))
    return found


def test_linked_rows_do_not_determine_the_hidden_category():
    outcomes = Counter()
    for seed in range(CASES + 100):
        rng = np.random.default_rng(seed)
        records = records_of(rng, most_records=5, most_items=6, least_items=6)
        number = 2 + (seed % 4 == 0)
        ties = [str(rng.choice(["first", "all"])) for _ in range(number)]
        which = [str(rng.choice(["all", "mixed", "whole"])) for _ in range(number)]
        shown = [without_hidden(rng, records, "all" if rng.random() < 0.9 else ties[0]) for _ in range(number)]
        guarantees = [
            sv.HiddenTendency(categories=CATEGORIES, ties=tie, records=kind)
            for tie, kind in zip(ties, which, strict=True)
        ]
        releases = [rows_of(rng, rows, one, "no") for rows, one in zip(shown, guarantees, strict=True)]
        held = set().union(*records)
        of_item = {item: CATEGORIES[item] for item in held}
        shown = [[row & held for row in rows] for rows in shown]
        determined, still = set(), set()
        for r, record in enumerate(records):
            hidden = [
                tendency.hidden_categories(record, CATEGORIES, tie)
                for tie, kind in zip(ties, which, strict=True)
                if tendency.must_be_hidden(record, CATEGORIES, kind)
            ]
            absent = oracle.open_categories([rows[r] for rows in shown], of_item)
            if hidden and len(absent) < 2:
                determined.add(r)
            still |= {(r, category) for category in set().union(*hidden) - absent}
        original = sv.from_lists(map(sorted, records))
        (verdict,) = JointCategories.check(releases, original)
        assert verdict.violations == {
            kind: len(cases)
            for kind, cases in (("hidden-category-determined", determined), ("hidden-category-shown", still))
            if cases
        }, seed
        assert verdict.status == ("violated" if determined or still else "holds")
        for witness in verdict.witnesses:
            record = int(witness.place.split()[-1]) - 1
            assert record in (determined if witness.kind.endswith("determined") else {r for r, _category in still})
        outcomes[verdict.status] += 1
    both_outcomes(outcomes, 0.05)


@pytest.mark.parametrize("largest_table", [1 << 24, 1], ids=["table", "sorted"])
def test_named_itemsets_stay_hidden_in_two_swapped_releases(largest_table, monkeypatch):
    monkeypatch.setattr(itemsets, "LARGEST_TABLE", largest_table)
    outcomes, standing = Counter(), Counter()
    for seed in range(largest_table, largest_table + CASES // 2):
        rng = np.random.default_rng(seed)
        records = records_of(rng, most_records=12, most_items=5, least_items=4) * 2
        share = rng.choice([0.02, 0.1])
        shown = [mixed(rng, records, share) for _ in range(2)]
        held = sorted(set().union(*records))
        lists, least, guarantees = [], [], []
        for _ in range(2):
            named = {
                frozenset(rng.choice(held, min(len(held), int(rng.integers(1, 4))), replace=False).tolist())
                for _ in range(2)
            }
            lists.append(sorted(named, key=sorted))
            least.append(int(rng.integers(len(records) // 2, len(records) + 2)))
            targets = [int(t) for t in rng.integers(least[-1] // 2, least[-1] + 3, len(named))]
            guarantees.append((lists[-1], least[-1], targets))
        declared = [
            sv.HiddenItemsets(itemsets=[sorted(one) for one in named], min_support=minimum, targets=tuple(targets))
            for named, minimum, targets in guarantees
        ]
        releases = [rows_of(rng, rows, one, "no") for rows, one in zip(shown, declared, strict=True)]
        *of_union, apart = JointItemsets.check(releases, sv.from_lists(map(sorted, records)))
        union = [one | other for one, other in zip(*shown, strict=True)]
        for verdict, (named, minimum, targets) in zip(of_union, guarantees, strict=True):
            expected = hidden_itemsets.violations(union, [sorted(one) for one in named], minimum, targets)
            assert {(one.kind, tuple(sorted(one.items))) for one in verdict.witnesses} == {
                (kind, tuple(sorted(items))) for kind, items in expected
            }
            assert bool(verdict) == (not expected)
        expected = oracle.stand_out(*shown, set().union(*lists), least)
        assert {frozenset(one.items) for one in apart.witnesses} == expected, seed
        assert apart.status == ("violated" if expected else "holds")
        standing[apart.status] += 1
        outcomes["holds" if all(of_union) and apart else "violated"] += 1
    both_outcomes(outcomes, cases=CASES // 2)
    both_outcomes(standing, cases=CASES // 2)


def test_a_named_itemset_that_only_the_union_of_three_releases_shows():
    """Each release shows it in a record of its own."""
    records = [["a"]] * 4 + [["b"]] * 4
    hidden = sv.HiddenItemsets(itemsets=[["a", "b"]], min_support=3)
    rows = [[["a", "b"] if row == own else one for row, one in enumerate(records)] for own in range(3)]
    releases = [linked(sv.from_lists(one), range(8), hidden, "no", str(own)) for own, one in enumerate(rows)]
    found = {
        tuple(one.name for one in group): [
            verdict.status for verdict in JointItemsets.check(group, sv.from_lists(records))
        ]
        for group in JointItemsets.groups(releases)
    }
    assert found.pop(("0", "1", "2")) == ["violated"]
    assert set(found) == {("0", "1"), ("0", "2"), ("1", "2")}
    assert all(statuses == ["holds", "holds"] for statuses in found.values())


def test_true_rows_undo_swapped_rows():
    outcomes = Counter()
    for seed in range(CASES):
        rng = np.random.default_rng(seed)
        records = records_of(rng, most_items=6, least_items=6)
        original = sv.from_lists(map(sorted, records))
        true = thinned(rng, records, rng.choice([0.0, 0.1, 0.7]))
        if seed % 2:
            guarantee = sv.HiddenTendency(categories=CATEGORIES)
            swapped = without_hidden(rng, records, "first")
            cases = {
                r
                for r, (record, row) in enumerate(zip(records, true, strict=True))
                if tendency.must_be_hidden(record, CATEGORIES)
                and {CATEGORIES[item] for item in row} & tendency.hidden_categories(record, CATEGORIES)
            }
            kind = "hidden-category-shown"
        else:
            named = [sorted(rng.choice(sorted(set().union(*records)), 2, replace=False).tolist())]
            guarantee = sv.HiddenItemsets(itemsets=named, min_support=3, targets=1)
            swapped = mixed(rng, records, 0.05)
            cases = {items for _kind, items in hidden_itemsets.violations(true, named, 3, [1])}
            kind = None
        releases = [
            rows_of(rng, swapped, guarantee, "no"),
            rows_of(rng, true, sv.KmAnonymity(k=1, m=1)),
        ]
        contradicted = oracle.contradictions(swapped, true)
        for pair in (releases, releases[::-1]):
            (verdict,) = JointTruth.check(pair, original)
            assert verdict.status == ("violated" if cases or contradicted else "undecided")
            assert verdict.counts["items-that-contradict"] == len(contradicted)
            if not cases and contradicted:
                assert verdict.violations == {"rows-contradict": len(contradicted)}
                found = {(int(w.place.split()[-1]) - 1, w.items[0]) for w in verdict.witnesses}
                assert found == contradicted
            elif cases:
                assert sum(verdict.violations.values()) == len(cases)
                assert kind is None or {int(w.place.split()[-1]) - 1 for w in verdict.witnesses} == cases
        outcomes["violated" if cases or contradicted else "holds"] += 1
    both_outcomes(outcomes, 0.05)
