"""Guess items of a person from all other items of the person."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from setveil.attacks.base import Attack, Finding
from setveil.attacks.matrices import held, together
from setveil.attacks.trials import Trial
from setveil.base.declaration import parameter
from setveil.data.records.ragged import distinct, owner_of, picked, ranks_of_sequences
from setveil.errors import Missing

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from setveil.attacks.target import Target

SHARE_GUESSED = 0.25
"""The surest guesses are counted: this share of the number of true pairs."""
LEAST_SUPPORT = 20
SHARE_SOUGHT = 5
"""Without sensitive items, one item in this number of those with the least support is sought."""
PRIOR_ROWS = 5
"""Number of rows without any association that naive Bayes adds to those with an item and to those without."""
MOST_LEARNED = 100_000
"""Maximum number of rows that logistic regression learns from."""


class GuessItems(Attack):
    """Guess sensitive items of a person from all other items, as the release teaches it."""

    name = "guess-items"
    title = "Guessing items"
    knows = "all items of a person that are not sensitive"
    statistic = (
        "a guess (person, sensitive item) is true. The surest guesses are counted, a quarter of the number of true pairs. Without a list of"
        " sensitive items, a fifth of the items with at least 20 records are drawn"
    )
    base_rate = (
        "the most common sensitive item is named for people at random, as often as there are guesses, then the next"
    )
    success = "items guessed right"
    blind_to = "attackers with more than these models, or with data of their own"
    fits = ("rho-uncertainty", "permutation-privacy")
    variants = (
        {"model": "same-basket"},
        {"model": "best-counts"},
        {"model": "naive-bayes"},
        {"model": "logistic-regression"},
    )
    needs = ("control",)
    bytes_per_occurrence = 60

    model: Literal["same-basket", "best-counts", "naive-bayes", "logistic-regression"] = parameter(
        "same-basket",
        public=True,
        description="same-basket: rows with the same other items. best-counts: the best single item as a sign. naive-bayes and"
        " logistic-regression: learned from the rows; the last one requires scikit-learn.",
    )

    def run(self, target: Target) -> Finding:
        """Guess for people in the release and for people who are not in it."""
        lesson = target.once(_lesson)
        if isinstance(lesson, str):
            return self.without_result(lesson)
        guess = _MODELS[self.model]
        trials = []
        for people in (lesson.members, lesson.others):
            scores = guess(lesson, people, target)
            trials.append(_surest(scores, people.truth, lesson.common))
        by_count = _surest(np.zeros(lesson.members.truth.shape), lesson.members.truth, lesson.common)
        details = {"items": len(lesson.sought), "people": len(lesson.members.truth)}
        return self.finding(trials[0], Trial.known(by_count.rate), control=trials[1], details=details)


class _People(NamedTuple):
    """People whose items are guessed."""

    offsets: NDArray[np.int64]
    codes: NDArray[np.int64]
    """The items that the attacker knows, as codes of the original."""
    truth: NDArray[np.bool_]
    """For each person and each item sought: whether the person has it."""


class _Lesson(NamedTuple):
    """What the release teaches, and the people to guess for."""

    sought: NDArray[np.int64]
    """The codes of the items that are guessed."""
    offsets: NDArray[np.int64]
    codes: NDArray[np.int64]
    """The other items of the released rows, as codes of the original."""
    shown: Any
    """A sparse matrix of rows and items sought."""
    common: NDArray[np.float64]
    """The share of rows with each item sought."""
    members: _People
    others: _People
    width: int

    @property
    def rows(self) -> int:
        return len(self.offsets) - 1


def _lesson(target: Target) -> _Lesson | str:
    """Return what there is to learn, or the reason why there is nothing."""
    original = target.original
    rows = target.published.plain
    assert rows is not None
    sought = sought_items(target)
    if not len(sought):
        return "the data hold no sensitive item"
    code = np.array([original.code_of.get(label, -1) for label in rows.vocabulary] or [-1], np.int64)
    offsets, codes = _without(rows.offsets, code[rows.items], code[rows.items] >= 0)
    number = np.full(len(original.vocabulary), -1, np.int64)
    number[sought] = np.arange(len(sought))
    is_sought = number[codes] >= 0
    shown_offsets, shown_codes = _without(offsets, codes, is_sought)
    shown = held(shown_offsets, number[shown_codes], len(sought))
    rng = target.rng("guess-items")

    def people(starts: NDArray[np.int64], items: NDArray[np.int64], among: NDArray[np.int64]) -> _People:
        chosen = rng.choice(among, min(target.targets, len(among)), replace=False)
        own_starts, places = picked(starts, chosen)
        own = items[places]
        truth = np.zeros((len(chosen), len(sought)), np.bool_)
        has = number[own] >= 0
        truth[owner_of(own_starts)[has], number[own[has]]] = True
        return _People(*_without(own_starts, own, ~has), truth)

    control = target.control_codes
    members = people(original.offsets, original.items.astype(np.int64), distinct(target.alignment.rows))
    others = people(*control, np.arange(len(control[0]) - 1))
    if min(members.truth.sum(), others.truth.sum()) * SHARE_GUESSED < 1:
        return "too few of the people have a sensitive item"
    common = np.asarray(shown.sum(axis=0)).ravel() / max(rows.records, 1)
    return _Lesson(
        sought, *_without(offsets, codes, ~is_sought), shown, common, members, others, len(original.vocabulary)
    )


def sought_items(target: Target) -> NDArray[np.int64]:
    """Return the codes of the items to guess: the sensitive ones, or a draw if there is no list."""
    original, sensitive = target.original, target.known.get("sensitive")
    if sensitive is not None:
        return np.flatnonzero(sensitive.among(original) & (original.supports > 0))
    frequent = np.flatnonzero(original.supports >= LEAST_SUPPORT)
    return np.sort(target.rng("sought items").choice(frequent, len(frequent) // SHARE_SOUGHT, replace=False))


def _without(
    offsets: NDArray[np.int64], codes: NDArray[np.int64], kept: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the records with the chosen occurrences only."""
    return np.concatenate(([0], np.cumsum(kept)))[offsets], codes[kept]


def _surest(scores: NDArray[np.float64], truth: NDArray[np.bool_], common: NDArray[np.float64]) -> Trial:
    """Count the true ones among the surest guesses; of equal scores, the more common item is surer, and ties count by their share."""
    number = max(int(truth.sum() * SHARE_GUESSED), 1)
    rank = np.empty(len(common))
    rank[np.argsort(common, kind="stable")] = np.arange(len(common))
    by_rank = np.broadcast_to(rank, scores.shape).ravel()
    order = np.lexsort((by_rank, scores.ravel()))[::-1]
    score, by_rank, right = scores.ravel()[order], by_rank[order], truth.ravel()[order]
    last_score, last_rank = score[number - 1], by_rank[number - 1]
    is_tied = (score == last_score) & (by_rank == last_rank)
    first = int(np.argmax(is_tied))
    return Trial(float(right[:first].sum() + right[is_tied].mean() * (number - first)), number)


def _same_basket(lesson: _Lesson, people: _People, target: Target) -> NDArray[np.float64]:
    """Score by the rows with exactly the same other items."""
    del target
    starts = np.concatenate((lesson.offsets, lesson.offsets[-1] + people.offsets[1:]))
    ranks = ranks_of_sequences(starts, _in_order(starts, np.concatenate((lesson.codes, people.codes))))
    basket = ranks[: lesson.rows]
    of_person = ranks[lesson.rows :]
    size = np.bincount(basket, minlength=int(ranks.max(initial=-1)) + 1)
    from scipy.sparse import csr_array  # noqa: PLC0415 - slow to import

    into = csr_array(
        (np.ones(lesson.rows, np.float32), (basket, np.arange(lesson.rows))), shape=(len(size), lesson.rows)
    )
    with_item = (into[of_person] @ lesson.shown).toarray()
    scores: NDArray[np.float64] = (with_item + lesson.common) / (size[of_person][:, None] + 1.0)
    return scores


def _in_order(starts: NDArray[np.int64], codes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the codes in increasing order within each record: codes of labels are not in the order of another vocabulary."""
    width = int(codes.max(initial=0)) + 1
    keys = owner_of(starts) * width + codes
    keys.sort()
    return keys % width


def _best_counts(lesson: _Lesson, people: _People, target: Target) -> NDArray[np.float64]:
    """Score by the known item that the sought item most often goes with."""
    del target
    counts, of_item = _counted(lesson)
    share = (counts + lesson.common) / (of_item[:, None] + 1.0)
    scores = np.tile(lesson.common, (len(people.truth), 1))
    np.maximum.at(scores, owner_of(people.offsets), share[people.codes])
    return scores


def _naive_bayes(lesson: _Lesson, people: _People, target: Target) -> NDArray[np.float64]:
    """Score by the log odds of the known items."""
    del target
    counts, of_item = _counted(lesson)
    total = np.maximum(lesson.common * lesson.rows, 0)
    expected = PRIOR_ROWS * (of_item[:, None] + 1) / (lesson.rows + 1)  # so that few rows say little
    with_it = (counts + expected) / (total + PRIOR_ROWS)
    without = (of_item[:, None] - counts + expected) / (lesson.rows - total + PRIOR_ROWS)
    prior = np.log((total + 1) / (lesson.rows - total + 1))
    scores: NDArray[np.float64] = prior + held(people.offsets, people.codes, lesson.width) @ np.log(with_it / without)
    return scores


def _counted(lesson: _Lesson) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the number of rows with each pair of a known and a sought item, and with each known item."""
    others = held(lesson.offsets, lesson.codes, lesson.width)
    return together(others, lesson.shown), np.asarray(others.sum(axis=0)).ravel().astype(np.float64)


def _logistic_regression(lesson: _Lesson, people: _People, target: Target) -> NDArray[np.float64]:
    """Score by one logistic regression per sought item."""
    try:
        from sklearn.linear_model import LogisticRegression  # noqa: PLC0415 - an extra
    except ImportError:
        raise Missing("logistic regression requires scikit-learn: install setveil[learn]") from None
    others = held(lesson.offsets, lesson.codes, lesson.width)
    chosen = np.arange(lesson.rows)
    if lesson.rows > MOST_LEARNED:
        chosen = np.sort(target.rng("logistic regression").choice(lesson.rows, MOST_LEARNED, replace=False))
    known, shown = others[chosen], lesson.shown[chosen].toarray() > 0
    asked = held(people.offsets, people.codes, lesson.width)
    scores = np.full((len(people.truth), len(lesson.sought)), -np.inf)
    for place in range(len(lesson.sought)):
        if 0 < shown[:, place].sum() < len(chosen):
            model = LogisticRegression(solver="liblinear", random_state=0).fit(known, shown[:, place])
            scores[:, place] = model.decision_function(asked)
    return scores


_MODELS = {
    "same-basket": _same_basket,
    "best-counts": _best_counts,
    "naive-bayes": _naive_bayes,
    "logistic-regression": _logistic_regression,
}
