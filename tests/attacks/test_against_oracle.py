"""What attacks count, against plain loops."""

import numpy as np
import pytest
from scipy.stats import binom

import setveil as sv
from attacks.cases import SENSITIVE, by_nodes, drawn, linked, target
from setveil.attacks import downcode, find_record, guess_items, near_the_limit, row_figures, which_sensitive
from setveil.attacks.downcode import Downcode
from setveil.attacks.membership import _scores, _weights, area, found_at
from setveil.attacks.near_the_limit import NearTheLimit
from setveil.attacks.which_sensitive import WhichSensitive
from setveil.data.records.alignment import Alignment
from setveil.metrics.pair import Pair
from setveil.metrics.tendency import kept_heavy
from setveil.parameters.named_itemsets import NamedItemsets
from setveil.parameters.sensitive_items import SensitiveItems
from setveil.parameters.shares import MaxConfidence, MinSupport

from oracle import tendency
from oracle.sightings import candidates
from support.random_data import as_sets, make


def releases(seed):
    """Return records and one release of each form, made by its method."""
    data = sv.from_lists([row for row in linked(seed, 80).to_lists() if row])
    tree = sv.Hierarchy({label: f"g{label[:2]}" for label in data.vocabulary})
    methods = [
        sv.Insert(sensitive=SENSITIVE, rho="50%"),
        sv.Disassociation(k=3, m=2),
        sv.AprioriGeneralization(k=2, m=2, hierarchy=tree),
        sv.Permutation(sensitive=SensitiveItems(["s5"]), p=2),
    ]
    return data, [sv.publish(data, method, metrics="none", seed=2**70 + seed) for method in methods]


@pytest.mark.parametrize("seed", range(6))
def test_candidates_are_those_that_may_hold_the_items(seed, monkeypatch):
    monkeypatch.setattr(find_record, "AT_ONCE", 1 << 20 if seed % 2 else 9)
    data, made = releases(seed)
    rng = np.random.default_rng(seed)
    sought = [rng.choice(len(data.vocabulary), size, replace=False).tolist() for size in (1, 1, 2, 2, 3, 4) * 5]
    for record in range(0, data.records, 3):
        items = data.items[data.offsets[record] : data.offsets[record + 1]].tolist()
        sought += [items[:size] for size in (1, 2, 3) if len(items) >= size]
    for release in made:
        seen = release.data.sightings(data.vocabulary)
        place_of_record = {}
        for row, record in enumerate(release.alignment.rows.tolist()):
            place_of_record[record] = int(seen.place_of[row])
        for items in sought:
            wanted = candidates(release.data, [data.vocabulary[code] for code in items])
            found = seen.common(items)
            assert np.repeat(found, seen.sizes[found]).tolist() == wanted
        places = [place_of_record[record] for record in release.alignment.rows[: len(sought)].tolist()]
        rows = [np.array([row]) for row in range(len(places))]
        counted = find_record._Found.of(release.data, data.vocabulary, sought[: len(places)], rows)
        plain = [candidates(release.data, [data.vocabulary[code] for code in items]) for items in sought[: len(places)]]
        pairs = list(zip(plain, places, strict=True))
        assert counted.chance == pytest.approx(sum(1 / len(where) for where, place in pairs if place in where))
        shares = {
            "unique-and-right": sum(where == [place] for where, place in pairs),
            "unique-and-wrong": sum(len(where) == 1 and where != [place] for where, place in pairs),
            "among-candidates": sum(place in where for where, place in pairs),
            "no-candidate": sum(not where for where, _ in pairs),
        }
        assert counted.details() == {name: number / len(pairs) for name, number in shares.items()}


@pytest.mark.parametrize("seed", range(20))
def test_heavy_categories_that_rows_keep(seed, monkeypatch):
    monkeypatch.setattr("setveil.metrics.tendency.AT_ONCE", 1 << 18 if seed % 2 else 6)
    data, categories = make(seed, records=60)
    rng = np.random.default_rng(seed)
    rows = rng.permutation(data.records)[:50]
    published = data.keeping(rng.random(data.occurrences) < 0.7).take(rows, ids=None)
    row_of = dict(zip(rows.tolist(), as_sets(published), strict=True))
    counted = dict.fromkeys(("tied", "tied-kept", "second", "second-kept"), 0)
    for number, record in enumerate(as_sets(data)):
        shown = {categories[item] for item in row_of.get(number, ())}
        heaviest, above = tendency.heaviest(record, categories), tendency.above_mean(record, categories)
        second = above - heaviest if tendency.kind(record, categories) in ("partial", "full") else set()
        counted["tied"] += len(heaviest) > 1
        counted["tied-kept"] += len(heaviest) > 1 and bool(heaviest & shown)
        counted["second"] += bool(second)
        counted["second-kept"] += bool(second & shown)
    found = kept_heavy(Pair(data, published, Alignment(rows)), categories)
    assert list(found.values()) == list(counted.values())


@pytest.mark.parametrize("seed", range(20))
def test_area_and_threshold(seed):
    rng = np.random.default_rng(seed)
    members, others = rng.integers(0, 12, 30) / 4 + 0.25, rng.integers(0, 12, 50) / 4
    above = sum((m > o) + (m == o) / 2 for m in members for o in others) / (30 * 50)
    value, low, high = area(members, others)
    assert value == pytest.approx(above)
    assert low <= value <= high
    for alarms in (0.01, 0.1, 0.5):
        # name people by falling score, at random among equals: the share of members named when this share of others is
        budget, named = alarms * len(others), 0.0
        for score in sorted({*members, *others}, reverse=True):
            equal = np.count_nonzero(others == score)
            part = 1.0 if equal <= budget else budget / equal
            named += part * np.count_nonzero(members == score)
            budget -= part * equal
            if part < 1:
                break
        assert found_at(members, others, alarms) == pytest.approx(named / len(members))


@pytest.mark.parametrize("seed", range(5))
def test_scores_of_guesses(seed):
    data, control = linked(seed, 120), linked(seed + 50, 60)
    published = data.keeping(np.random.default_rng(seed).random(data.occurrences) < 0.8)
    attacked = target(data, published, control, targets=40, sensitive=SENSITIVE)
    lesson = guess_items._lesson(attacked)
    rows = [set(row) for row in published.to_lists()]
    named = [data.vocabulary[code] for code in lesson.sought]
    for people in (lesson.members, lesson.others):
        known = np.split(people.codes, people.offsets[1:-1])
        scores = {model: guess(lesson, people, attacked) for model, guess in guess_items._MODELS.items()}
        for person in range(0, len(known), 7):
            items = {data.vocabulary[code] for code in known[person]}
            for place, item in enumerate(named):
                common = sum(item in row for row in rows) / len(rows)
                same = [row for row in rows if {i for i in row if i not in SENSITIVE} == items]
                wanted = (sum(item in row for row in same) + common) / (len(same) + 1)
                assert scores["same-basket"][person, place] == pytest.approx(wanted, rel=1e-5)
                counted = [
                    (sum({sign, item} <= row for row in rows) + common) / (sum(sign in row for row in rows) + 1)
                    for sign in items
                ]
                assert scores["best-counts"][person, place] == pytest.approx(max([common, *counted]), rel=1e-5)
                with_it = [row for row in rows if item in row]
                without = [row for row in rows if item not in row]
                odds = np.log((len(with_it) + 1) / (len(without) + 1))
                for sign in items:
                    expected = 5 * (sum(sign in row for row in rows) + 1) / (len(rows) + 1)
                    one = (sum(sign in row for row in with_it) + expected) / (len(with_it) + 5)
                    other = (sum(sign in row for row in without) + expected) / (len(without) + 5)
                    odds += np.log(one / other)
                assert scores["naive-bayes"][person, place] == pytest.approx(odds, rel=1e-4, abs=1e-4)


def test_the_surest_guesses_are_counted_and_ties_by_their_share():
    scores = np.array([[0.9, 0.5], [0.5, 0.1], [0.5, 0.5]])
    truth = np.array([[True, False], [True, False], [False, True]])
    # 3 true pairs: one guess at least; with a share of 1, three guesses: 0.9, then two of four with 0.5
    found = guess_items._surest(scores, truth, np.array([0.3, 0.2]))
    assert (found.right, found.tried) == (1.0, 1)
    tied = guess_items._surest(np.zeros((8, 1)), np.array([[True]] * 4 + [[False]] * 4), np.array([0.5]))
    assert (tied.right, tied.tried) == (0.5, 1)


@pytest.mark.parametrize("seed", range(4))
def test_rules_near_the_limit(seed, monkeypatch):
    monkeypatch.setattr(near_the_limit, "LEAST_ROWS", 5)
    data = linked(seed, 150, strength=0.9)
    release = sv.publish(data, sv.Insert(sensitive=SENSITIVE, rho="50%"), metrics="none", seed=2**70)
    attacked = target(
        data, release.data, rows=release.alignment.rows, targets=10**6, sensitive=SENSITIVE, rho=MaxConfidence("50%")
    )
    found = NearTheLimit().run(attacked)
    rows, truth = [set(r) for r in release.data.to_lists()], [set(data.to_lists()[r]) for r in release.alignment.rows]
    others = sorted({i for row in rows for i in row if i not in SENSITIVE})
    sets = [frozenset(one) for one in {frozenset((i, j)) for i in others for j in others}]
    right, tried, chance = 0, 0, 0.0
    for item in SENSITIVE:
        held = {q: sum(q <= row for row in rows) for q in sets}
        confidence = {q: sum(q <= row and item in row for row in rows) / n for q, n in held.items() if n >= 5}
        highest = max(confidence.values(), default=0)
        if not any(item in row for row in rows) or highest < 0.25:
            continue
        near = [q for q, value in confidence.items() if value >= 0.95 * highest]
        under = [r for r, row in enumerate(rows) if item not in row and any(q <= row for q in near)]
        right += sum(item in truth[r] for r in under)
        tried += len(under)
        had = sum(item in one for one in truth) - sum(item in row for row in rows)
        chance += len(under) * had / sum(item not in row for row in rows)
    if not tried:
        assert found.main is None
    else:
        assert (found.main.right, found.main.tried) == (right, tried)
        assert found.naive.rate == pytest.approx(chance / tried)


@pytest.mark.parametrize("seed", range(4))
def test_which_items_no_row_implies(seed):
    data = linked(seed, 90)
    published = sv.publish(data, sv.Insert(sensitive=SENSITIVE, rho="50%"), metrics="none", seed=2**70).data
    attacked = target(data, published, sensitive=SENSITIVE, rho=MaxConfidence("50%"))
    found = WhichSensitive(rows_per_item=1000).run(attacked)
    rows = [set(row) for row in published.to_lists()]
    named, tested = set(), set()
    for item in published.vocabulary:
        of_item = [row for row in rows if item in row and len(row) > 1]
        if of_item:
            tested.add(item)
            if all(sum(r >= row for r in rows) <= 0.5 * sum(r >= row - {item} for r in rows) for row in of_item):
                named.add(item)
    assert (found.main.right, found.main.tried) == (sum(i in SENSITIVE for i in named), len(named))
    assert found.naive.rate == pytest.approx(sum(i in SENSITIVE for i in tested) / len(tested))
    few = which_sensitive.WhichSensitive(rows_per_item=1).run(attacked)
    assert few.main.tried >= found.main.tried  # fewer rows rule out fewer items


@pytest.mark.parametrize("seed", range(3))
def test_the_most_similar_place(seed):
    data, made = releases(seed)
    strangers = drawn(seed + 9, 30)
    for release in made:
        attacked = target(data, release.data, strangers, rows=release.alignment.rows)
        seen = attacked.sightings
        held = [
            {data.vocabulary[code] for code, where in enumerate(seen.lists) if place in where}
            for place in range(len(seen.sizes))
        ]
        weight = {
            label: np.log1p(len(held) / (len(where) + 1))
            for label, where in zip(data.vocabulary, seen.lists, strict=True)
        }
        totals = np.array([sum(weight[item] for item in place) for place in held])
        people = [row for row in strangers.to_lists() if set(row) & set(weight)]
        offsets, codes = attacked.control_codes
        asked = np.flatnonzero(np.diff(offsets))
        found = _scores(attacked, offsets, codes, asked, _weights(attacked), totals)
        wanted = []
        for row in people:
            items = {item for item in row if item in weight}
            wanted.append(max(sum(weight[i] for i in items & p) / sum(weight[i] for i in items | p) for p in held))
        assert found == pytest.approx(wanted)
        assert len({round(one, 6) for one in wanted}) == len(set(found))  # equal ones are equal


def test_similarity_of_places():
    data, control = drawn(1, 60), drawn(2, 150)
    attacked = target(data, data, control, targets=60)
    found = sv.Membership().run(attacked)
    assert found.details["members"] == sum(bool(row) for row in data.to_lists())
    assert found.main.rate > 0.5  # a copy of the original: everybody has a row of similarity 1


def test_hidden_pairs_of_numbers_are_recognized_in_any_order():
    """Whole numbers are in the order of their values, so that 9 comes before 10."""
    data = sv.from_lists([["9", "10"]] * 3 + [["9", "11"], ["10", "11"]] * 9)
    published = sv.from_lists([["9"], ["10"]] * 3 + [["9", "11"], ["10", "11"]] * 9)
    attacked = target(
        data, published, rows=np.arange(24) % 21, itemsets=NamedItemsets([["9", "10"]]), min_support=MinSupport(3)
    )
    found = sv.Holes().run(attacked)
    assert (found.main.right, found.main.tried, found.naive.rate) == (1, 1, 1.0)


def test_a_release_without_an_infrequent_pair_has_no_holes():
    data = sv.from_lists([["a", "b"]] * 4)
    attacked = target(data, data, itemsets=NamedItemsets([["a", "b"]]), min_support=MinSupport(2))
    assert sv.Holes().run(attacked).reason == "no pair of items of the release is infrequent"


def test_any_row_of_a_person_is_the_right_one():
    """A person with two rows is attacked once, and found in either of them."""
    data = sv.from_lists([["a", "b"], ["a", "c"], ["d", "e"]])
    published = sv.from_lists([["a"], ["a", "b"], ["a", "c"], ["d"]])
    found = sv.FindRecord(known=1).run(target(data, published, rows=np.array([0, 0, 1, 2])))
    assert found.main.tried == 3
    assert found.naive.rate == pytest.approx((2 + 1 + 1) / 3 / 4)
    of_first, of_second, of_third = {"a": 2 / 3, "b": 1}, {"a": 1 / 3, "c": 1}, {"d": 1, "e": 0}
    possible = [a + b + c for a in of_first.values() for b in of_second.values() for c in of_third.values()]
    assert any(found.main.right == pytest.approx(one) for one in possible)


@pytest.mark.parametrize("seed", range(5))
def test_searches_together_are_searches_one_by_one(seed):
    data = drawn(seed, 60, 12)
    seen = data.sightings(data.vocabulary)
    rng = np.random.default_rng(seed)
    sought = [rng.choice(12, rng.integers(1, 5), replace=False).tolist() for _ in range(80)]
    rows = [set(row) for row in data.to_lists()]
    found = dict(seen.searches(sought))
    assert sorted(found) == list(range(80))
    for number, items in enumerate(sought):
        wanted = {data.vocabulary[code] for code in items}
        assert found[number].tolist() == [place for place, row in enumerate(rows) if wanted <= row]


@pytest.mark.parametrize("seed", range(4))
def test_figures_of_rows(seed, monkeypatch):
    monkeypatch.setattr(row_figures, "LEAST_ROWS", 5)
    monkeypatch.setattr(row_figures, "AT_ONCE", 100)
    data = linked(seed, 120).keeping(np.random.default_rng(seed).random(linked(seed, 120).occurrences) < 0.8)
    labels, common, rho = sorted(SENSITIVE), np.arange(6) / 10, 0.3
    found = row_figures.RowFigures(data, labels, common, rho)
    rows = [set(row) for row in data.to_lists()]
    known = [frozenset(row - set(labels)) for row in rows]
    others = sorted({item for row in known for item in row})
    matrix = np.array([[item in row for item in data.vocabulary] for row in rows], float)
    seen = matrix.T @ matrix
    by_chance = np.outer(np.diag(seen), np.diag(seen)) / len(rows)
    departures = seen - by_chance
    values, vectors = np.linalg.eigh(departures - np.diag(np.diag(departures)))
    strongest = np.argsort(-np.abs(values))[: row_figures.RANK]
    model = by_chance + (vectors[:, strongest] * values[strongest]) @ vectors[:, strongest].T
    at = {item: code for code, item in enumerate(data.vocabulary)}
    signs = {frozenset((one, other)) for one in others for other in others}
    size = {sign: sum(sign <= row for row in rows) for sign in signs}
    signs = [sign for sign in signs if size[sign] >= 5]
    chosen = np.arange(0, len(rows), 7)
    blocks = list(found.blocks(chosen))
    assert len(blocks) > 1
    figures = np.concatenate([block.figures for block in blocks])
    for place, row in enumerate(chosen):
        mine = [sign for sign in signs if sign <= known[row]]
        basket = [one for one, of in zip(rows, known, strict=True) if of == known[row]]
        for number, item in enumerate(labels):
            having = {sign: sum(sign <= one and item in one for one in rows) for sign in signs}
            share = sum(item in one for one in rows) / len(rows)
            full = {sign: having[sign] / max(int(rho * size[sign] + 1e-9), 1) for sign in signs}
            beyond = {sign: (having[sign] - size[sign] * share) / (size[sign] * share + 1) ** 0.5 for sign in signs}
            in_basket = sum(item in one for one in basket)
            holes = [
                (model[at[i], at[item]] - seen[at[i], at[item]]) / (max(model[at[i], at[item]], 0) + 1) ** 0.5
                for i in known[row]
            ]
            wanted = [
                len(known[row]),
                common[number],
                len(rows[row]) - len(known[row]),
                share,
                max((having[sign] / size[sign] for sign in signs), default=0),
                len(basket),
                in_basket / len(basket),
                in_basket / max(int(rho * len(basket) + 1e-9), 1),
                sum(model[at[i], at[item]] / seen[at[i], at[i]] for i in known[row]) / max(len(known[row]), 1),
                sum(holes) / max(len(known[row]), 1),
                max(holes, default=0),
                max((having[sign] / size[sign] for sign in mine), default=0),
                max((full[sign] for sign in mine), default=0),
                max((beyond[sign] for sign in mine), default=0),
                max((-beyond[sign] for sign in mine), default=0),
                max((np.log(size[sign]) if full[sign] >= 1 else 0 for sign in mine), default=0),
            ]
            assert figures[place, number] == pytest.approx(wanted, rel=1e-3, abs=1e-3)


@pytest.mark.parametrize("seed", range(4))
def test_guesses_for_nodes(seed, monkeypatch):
    monkeypatch.setattr(downcode, "SHARE_GUESSED", 1)
    data, tree = by_nodes(seed, 60)
    public, _tree = by_nodes(seed + 50, 300)
    rows = sv.from_lists([[label[:3] if label[:3] < "n06" else label for label in row] for row in data.to_lists()])
    attacked = target(data, sv.Generalized(rows, tree), public, targets=10**6)  # no k: by the supports alone
    found = Downcode().run(attacked)
    half, _rest = np.split(attacked.rng("downcode").permutation(300), [150])
    known = [set(public.to_lists()[row]) for row in half]
    guess = {
        node: max((f"{node}a", f"{node}b"), key=lambda item: sum(item in row for row in known))
        for node in (f"n{code:02}" for code in range(6))
    }
    pairs = [(set(row), node) for row in data.to_lists() for node in guess if {f"{node}a", f"{node}b"} & set(row)]
    assert found.main.tried == len(pairs)
    assert found.main.right == sum(guess[node] in row for row, node in pairs)
    assert found.naive.rate == pytest.approx(0.5)


def test_a_needed_node_has_a_rare_child():
    share, rows, k = np.array([0.6, 0.4]), 12, 5
    either = [binom.pmf(range(1, k), rows, one).sum() for one in share]  # each child may be the rare one
    weight = np.array(either) / sum(either)
    # with the other child as the rare one, every row holds this one; as the rare one, it is in k / 2 rows
    wanted = [weight[1] + weight[0] * k / 2 / rows, weight[0] + weight[1] * k / 2 / rows]
    found = downcode._needed(share, [(0, 1), (1, 2)], np.array([0.0, rows]), k)
    assert found == pytest.approx(wanted, rel=1e-6)
    # a pair that is surely rare explains the node as well, so that little is learned
    found = downcode._needed(share, [(0, 1), (1, 2)], np.array([8.0] * 50 + [1000]), k)
    assert found == pytest.approx(share, abs=0.01)
