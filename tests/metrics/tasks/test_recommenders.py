"""Recommenders equal their definitions and another implementation, and their figures the mean over orders of equals."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from scipy import sparse

import setveil as sv
from setveil.data.forms.pair_supports import PairSupports, as_table
from setveil.metrics.pair import Pair
from setveil.metrics.tasks import recommenders as module
from setveil.metrics.tasks.heldout import Cases, Heldout

from oracle import recommenders as oracle
from support.exhaustive import examples
from support.random_data import seeds
from support.taste_groups import people_of_tastes


def tables(seed, records=30, items=7):
    rng = np.random.default_rng(seed)
    return (rng.random((records, items)) < rng.random(items) * 0.8).astype(float)


def pairs_of(table):
    return PairSupports(table.T @ table, len(table))


@settings(max_examples=examples(60), deadline=None)
@given(seed=seeds)
def test_ease_is_a_ridge_regression_of_each_item(seed):
    table, regularization = tables(seed), 0.5 + seed % 50
    found = sv.Ease(regularization=regularization).similarity(pairs_of(table))
    assert found == pytest.approx(oracle.ease(table, regularization), abs=1e-9)


@settings(max_examples=examples(60), deadline=None)
@given(seed=seeds)
def test_item_knn_keeps_the_most_similar_items(seed):
    table = tables(seed)
    for neighbours in (1, 3, 6, 50):
        found = sv.ItemKnn(neighbours=neighbours).similarity(pairs_of(table))
        assert found == pytest.approx(oracle.item_knn(table, neighbours), abs=1e-12)


def test_item_knn_equals_implicit():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        neighbours = pytest.importorskip("implicit.nearest_neighbours")
    data = people_of_tastes(1, 2000, items=60)
    labels = data.vocabulary
    table = sparse.csr_matrix(as_table(data, labels))
    model = neighbours.CosineRecommender(K=11, num_threads=1)  # an item is a neighbour of itself there
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(table, show_progress=False)
    similarity = sv.ItemKnn(neighbours=10).similarity(data.pair_supports(labels))
    theirs = model.similarity.toarray()
    np.fill_diagonal(theirs, 0)
    assert similarity == pytest.approx(theirs, abs=1e-12)
    people = np.flatnonzero(data.lengths >= 2)[:300]
    items, scores = model.recommend(people, table[people], N=10, filter_already_liked_items=True)
    ours = table[people] @ similarity
    ours[table[people].nonzero()] = -np.inf
    assert -np.sort(-ours, axis=1)[:, :10] == pytest.approx(scores)
    found = scores > 0  # where there are fewer than ten, the last items are fillers
    assert np.take_along_axis(ours, items, axis=1)[found] == pytest.approx(scores[found])
    assert found.mean() > 0.9


@pytest.mark.parametrize("at_once", [1, 1 << 21])
@settings(max_examples=examples(40), deadline=None)
@given(seed=seeds)
def test_places_are_means_over_the_orders_of_equals(at_once, seed):
    rng = np.random.default_rng(seed)
    people, items, top = 4, 7, int(rng.integers(1, 7))
    similarity = rng.integers(0, 3, (items, items)) / 3
    held = [rng.choice(items, int(rng.integers(1, 5)), replace=False) for _person in range(people)]
    table = np.zeros((people, items))
    for person, own in enumerate(held):
        table[person, own[1:]] = 1
    cases = Cases(sparse.csr_array(table), np.array([own[0] for own in held]))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "SCORES_AT_ONCE", at_once)
        by_similarity = module.places_by_similarity(cases, similarity)
        by_popularity = module.places_by_popularity(cases, similarity[0])
    for places, scores in ((by_similarity, table @ similarity), (by_popularity, np.tile(similarity[0], (people, 1)))):
        true = [oracle.gains(scores[p], set(held[p][1:]), held[p][0], top) for p in range(people)]
        assert places.recall(top).tolist() == pytest.approx([recall for recall, _ndcg in true])
        assert places.ndcg(top).tolist() == pytest.approx([ndcg for _recall, ndcg in true])


@pytest.fixture(scope="module")
def halves():
    data = people_of_tastes(3, 900)
    return data.take(range(600)), data.take(range(600, 900))


@pytest.mark.parametrize("metric", [sv.Ease(top=3), sv.ItemKnn(top=3, neighbours=5)], ids=lambda one: one.name)
def test_the_figure_is_the_share_of_the_gain_over_popularity(metric, halves):
    train, test = halves
    chunks = sv.publish(train, sv.Disassociation(k=4, m=2), metrics=[], attacks=[]).data
    heldout = Heldout(train, test)
    measured = metric.of(Pair(train, chunks, heldout=heldout))
    assert measured.status == "estimate"
    cases = heldout.cases(metric.items, metric.seed)
    labels = heldout.labels(metric.items)
    known, dense = cases.known.toarray(), as_table(train, labels).toarray()
    original = oracle.ease(dense, 200) if metric.name == "ease" else oracle.item_knn(dense, 5)
    models = {
        "release": metric.similarity(chunks.pair_supports(labels)),
        "original": original,
        "popularity": None,
    }
    ndcg, recall = {}, {}
    for name, similarity in models.items():
        scores = np.tile(dense.sum(axis=0), (len(known), 1)) if similarity is None else known @ similarity
        found = []
        for person, row in enumerate(scores):
            candidates = row[(known[person] == 0) & (np.arange(len(row)) != cases.hidden[person])]
            own = row[cases.hidden[person]]
            higher, same = int((candidates > own + 1e-9).sum()), int((np.abs(candidates - own) <= 1e-9).sum())
            places = [higher + 1 + step for step in range(same + 1)]
            gains = [(place <= 3, (place <= 3) / np.log2(1 + place)) for place in places]
            found.append(np.mean(gains, axis=0))
        recall[name], ndcg[name] = np.mean(found, axis=0)
    assert measured.details["ndcg"] == pytest.approx(ndcg)
    assert measured.details["recall"] == pytest.approx(recall)
    share = (ndcg["release"] - ndcg["popularity"]) / (ndcg["original"] - ndcg["popularity"])
    assert measured.value == pytest.approx(share)
    low, high = measured.interval
    assert low < measured.value < high
    assert low < 1


def test_hidden_items_are_drawn_from_people_with_two_of_the_most_frequent_items(halves):
    train, test = halves
    heldout = Heldout(train, test)
    labels = heldout.labels(20)
    assert [train.supports[train.code_of[label]] for label in labels] == sorted(train.supports, reverse=True)[:20]
    cases = heldout.cases(20, 0)
    whole = cases.known.toarray()
    whole[np.arange(len(whole)), cases.hidden] += 1
    held = [{*record} & {*labels} for record in test]
    assert [{labels[x] for x in np.flatnonzero(row)} for row in whole] == [one for one in held if len(one) >= 2]
    assert whole.max() == 1
    assert heldout.cases(20, 1).hidden.tolist() != cases.hidden.tolist()


def test_a_release_that_shows_nothing_is_worth_no_more_than_chance(halves):
    train, test = halves
    nothing = sv.from_lists([[] for _record in range(train.records)])
    for metric in (sv.Ease(), sv.ItemKnn()):
        measured = metric.of(Pair(train, nothing, heldout=test))
        places = train.pair_supports(Heldout(train, test).labels(2000)).counts.shape[0]
        known = Heldout(train, test).cases(2000, 0).known.sum(axis=1)
        chance = np.mean(10 / (places - known))
        assert measured.details["recall"]["release"] == pytest.approx(chance)
        assert measured.value < 0.05


def test_an_original_that_popularity_equals_defines_no_figure():
    rng = np.random.default_rng(1)
    lists = [[f"i{item}" for item in np.flatnonzero(rng.random(30) < 0.2)] for _record in range(400)]
    train, test = sv.from_lists(lists[:300]), sv.from_lists(lists[300:])
    measured = sv.Ease().of(Pair(train, train, heldout=test))
    assert measured.value is None
    assert "the original itself does not clearly beat popularity: its gain in NDCG@10 is between -" in measured.reason
    assert measured.details["ndcg"]["original"] > 0


def test_a_figure_can_exceed_the_original():
    data = people_of_tastes(5, 900)
    few, many, test = data.take(range(150)), data.take(range(600)), data.take(range(600, 900))
    measured = sv.Ease().of(Pair(few, many, heldout=test))
    assert measured.value > 1
