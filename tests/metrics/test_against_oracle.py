"""The metrics against their definitions, and what each can and cannot see."""

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings

import setveil as sv
from setveil.data.records.alignment import Alignment
from setveil.metrics.distribution import Dissimilarity
from setveil.metrics.records import FalseContent, RecordLoss
from setveil.metrics.singling_out import SingledOut
from setveil.metrics.tendency import StillOnTop, TendencyPosterior

from oracle import tendency as oracle
from oracle.uniqueness import unique_records
from support.exhaustive import examples
from support.random_data import as_sets, make, seeds


def shaken(data, seed):
    """Return data of the same number of records that partly differ, and the rows they came from."""
    rng = np.random.default_rng(seed)
    lists = as_sets(data)
    for t in lists:
        if t and rng.random() < 0.4:
            t.discard(min(t))
        if rng.random() < 0.4:
            t.add(f"i{rng.integers(60):03}")
    rows = rng.permutation(len(lists))
    return lists, sv.from_lists([lists[r] for r in rows]), Alignment(rows)


def same(value, expected):
    return value is None if expected is None else math.isclose(value, float(expected), abs_tol=1e-12)


@settings(max_examples=examples(150), deadline=None)
@given(seeds)
def test_every_figure_equals_its_definition(seed):
    data, categories = make(seed)
    original = as_sets(data)
    released, published, alignment = shaken(data, seed)
    assert same(RecordLoss()(data, published, alignment).value, oracle.record_loss(original, released))
    if any(released):
        assert same(FalseContent()(data, published, alignment).value, oracle.false_content(original, released))
    if any(original):
        for form in ("per-item", "printed"):
            value = Dissimilarity(form=form)(data, published).value
            assert same(value, oracle.dissimilarity(original, released, form))
        known = {i: categories[i] for i in data.vocabulary}
        expected = oracle.still_on_top(original, released, known)
        assert same(StillOnTop(categories=categories)(data, published, alignment).value, expected)


@settings(max_examples=examples(60), deadline=None)
@given(seeds)
def test_records_singled_out_equal_their_definition(seed):
    data, _categories = make(seed)
    original = as_sets(data)
    released, published, _alignment = shaken(data, seed)
    for known in (1, 2, 3):
        measured = SingledOut(known=known)(data, published)
        assert measured.details["records"] == len(unique_records(released, known))
        assert same(measured.value, len(unique_records(released, known)) / len(released))
        assert same(measured.details["before"], len(unique_records(original, known)) / len(original))


def test_the_printed_form_lets_gains_and_losses_cancel():
    before, after = sv.from_lists([["a", "b"]]), sv.from_lists([["a", "c"]])
    assert Dissimilarity(form="printed")(before, after).value == 0
    assert Dissimilarity()(before, after).value == 1


def test_shuffling_whole_records_is_seen_by_record_loss_alone():
    data, _categories = make(11, records=50, items=30)
    rows = np.roll(np.arange(50), 1)
    shuffled = data.take(rows)
    assert Dissimilarity()(data, shuffled).value == 0
    assert RecordLoss()(data, shuffled, Alignment.identity(50)).value > 0.5


def leaning(groups, people, seed):
    """Return people who each lean to one category, and have one item of every third other."""
    rng = np.random.default_rng(seed)
    lists = []
    for _ in range(people):
        g = int(rng.integers(groups))
        others = [h for h in range(groups) if h != g and rng.random() < 0.3]
        lists.append(
            [f"g{g}-{i}" for i in rng.choice(40, 3, replace=False)] + [f"g{h}-{rng.integers(40)}" for h in others]
        )
    data = sv.from_lists(lists)
    return data, sv.Categories({i: i.split("-")[0] for i in data.vocabulary})


def posterior(data, published, categories):
    return TendencyPosterior(categories=categories)(data, published, Alignment.identity(data.records))


def test_an_attacker_names_every_tendency_that_was_not_hidden():
    data, categories = leaning(8, 3000, 1)
    measured = posterior(data, data, categories)
    assert measured.value > 0.99
    assert 0.1 < measured.details["base-rate"] < 0.2


@pytest.mark.parametrize("groups", [3, 5, 20])
def test_fewer_categories_tell_more_by_what_is_absent(groups):
    data, categories = leaning(groups, 4000, 2)
    method = sv.PartSwap(categories=categories)
    published = method.apply(data, rng=np.random.default_rng(0)).published
    measured = posterior(data, published, categories)
    # The hidden category is one of those absent from the row: with 3 there is hardly a choice, with 20 there are many.
    assert measured.value > measured.details["base-rate"]
    assert {3: measured.value > 0.5, 5: 0.25 < measured.value < 0.6, 20: measured.value < 0.2}[groups]


def test_suppressing_blocks_tells_the_attacker_as_much_as_swapping_by_absence():
    data, categories = leaning(10, 3000, 3)
    rest = [[i for i in t if categories[i] != oracle.top(t, categories)] for t in map(set, data.to_lists())]
    measured = posterior(data, sv.from_lists(rest), categories)
    assert measured.details["absent"] > measured.details["base-rate"]
    assert measured.value == max(measured.details[k] for k in ("absent", "beside-heaviest", "bayes"))


@settings(max_examples=examples(60), deadline=None)
@given(seeds)
def test_the_counts_beside_the_figures_are_those_of_the_definitions(seed):
    data, categories = make(seed)
    original = as_sets(data)
    released, published, alignment = shaken(data, seed)
    changed = RecordLoss()(data, published, alignment).details["records-changed"]
    assert changed == sum(t != s for t, s in zip(original, released, strict=True))
    if any(released):
        untrue = FalseContent()(data, published, alignment).details["untrue-occurrences"]
        assert untrue == sum(len(s - t) for t, s in zip(original, released, strict=True))
    measured = StillOnTop(categories=categories)(data, published, alignment)
    concerned = sum(oracle.kind(t, categories) in ("partial", "full") for t in original)
    if concerned:
        assert measured.details["of"] == concerned
        assert measured.details["records"] == round(measured.value * concerned)
    else:
        assert measured.reason == "no record has a tendency"


def test_an_equally_heavy_category_that_stays_is_still_on_top():
    data = sv.from_lists([["a0", "a1", "b0", "b1", "x0"], ["c0", "c1", "x1"]])
    published = sv.from_lists([["b0", "b1", "c0", "c1", "x0"], ["a0", "a1", "x1"]])
    measured = StillOnTop(categories={i: i[0] for i in data.vocabulary})(data, published, Alignment.identity(2))
    assert measured.details == {"records": 1, "of": 2}


class Taught:
    """The three guessers of tendency-posterior, taught on pairs of a row's category weights and the hidden category; no arrays."""

    def __init__(self, pairs, names):
        self.names = names
        self.tops = Counter(top for _row, top in pairs)
        self.beside = Counter((self.heaviest(row), top) for row, top in pairs)
        self.sizes = Counter((self.size(row), top) for row, top in pairs)
        self.seen = Counter((g, top) for row, top in pairs for g in row)

    def heaviest(self, row):
        return min(row, key=lambda g: (-row[g], g), default=None)

    def size(self, row):
        return min(max(row.values(), default=0), 7)

    def common(self):
        return max(self.names, key=lambda g: self.tops[g])

    def absent(self, row):
        return max((g for g in self.names if g not in row), key=lambda g: self.tops[g], default=self.names[0])

    def beside_heaviest(self, row):
        heaviest = self.heaviest(row)
        absent = (g for g in self.names if g not in row)
        return max(absent, key=lambda g: self.beside[heaviest, g], default=self.names[0])

    def bayes(self, row):
        """Return the score of every category: whole numbers would be too long, and equal scores may differ by rounding."""

        def score(top):
            shares = {g: (self.seen[g, top] + 1) / (self.tops[top] + 2) for g in self.names}
            return (
                math.log(self.beside[self.heaviest(row), top] + 1e-3)
                + math.log((self.sizes[self.size(row), top] + 1) / (self.tops[top] + 8))
                + sum(math.log(share if g in row else 1 - share) for g, share in shares.items())
            )

        return {top: score(top) for top in self.names}


def posterior_by_definition(original, released, names, category):
    """Return the hits of base, absent and beside-heaviest, and the least and most hits that bayes can have where scores are equal."""
    pairs = [
        (r % 2, Counter(category[i] for i in s if i in category), t)
        for r, (t, s) in enumerate(zip(original, released, strict=True))
        if oracle.kind(t, category) in ("partial", "full")
    ]
    hits, least, most = Counter(), 0, 0
    for fold in (0, 1):
        taught = Taught([(row, oracle.top(t, category)) for half, row, t in pairs if half != fold], names)
        for row, tops in [(row, oracle.heaviest(t, category)) for half, row, t in pairs if half == fold]:
            hits["base-rate"] += taught.common() in tops
            hits["absent"] += taught.absent(row) in tops
            hits["beside-heaviest"] += taught.beside_heaviest(row) in tops
            scores = taught.bayes(row)
            best = {g for g in names if scores[g] > max(scores.values()) - 1e-9}
            least += best <= tops
            most += bool(best & tops)
    return len(pairs), hits, least, most


@pytest.mark.parametrize("cells", [1 << 22, 12])
def test_what_an_attacker_names_equals_the_slow_guessers(cells, monkeypatch):
    monkeypatch.setattr("setveil.metrics.tendency.CELLS_AT_ONCE", cells)
    decided = beaten = 0
    for seed in range(60):
        data, categories = make(seed) if seed % 3 else leaning(4, 60, seed)
        names = categories.bind(data)[1]
        released, published, alignment = shaken(data, seed)
        measured = TendencyPosterior(categories=categories)(data, published, alignment)
        category = {i: categories[i] for i in data.vocabulary}
        records, hits, least, most = posterior_by_definition(as_sets(data), released, names, category)
        if records < 2:
            assert measured.reason == "fewer than two records have a tendency"
            continue
        found = measured.details
        assert found["records"] == records
        for guesser in ("base-rate", "absent", "beside-heaviest"):
            assert math.isclose(found[guesser], hits[guesser] / records), (seed, guesser)
        assert least <= round(found["bayes"] * records) <= most, seed
        assert measured.value == max(found[g] for g in ("base-rate", "absent", "beside-heaviest", "bayes"))
        decided += least == most
        beaten += measured.value == found["base-rate"] > max(found[g] for g in ("absent", "beside-heaviest", "bayes"))
    assert decided > 20
    assert beaten > 0
