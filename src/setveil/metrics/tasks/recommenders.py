"""Recommenders that need only how often each pair of items occurs, and how well they find a hidden item.

`items` are the most frequent items of the original. All else is left out of training and testing. A recommender scores each item that a
person is not known to hold by the sum of its similarities to the known ones. The hidden item should be among the `top` highest scores.
Items with the same score have each of their places with the same probability, so results are means over the orders of equals.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from setveil.base.declaration import parameter
from setveil.data.forms.disassociated import Disassociated
from setveil.data.forms.generalized import Generalized
from setveil.data.forms.grouped import Grouped
from setveil.data.forms.reassociated import Reassociated
from setveil.data.records.transactions import Transactions
from setveil.metrics.base import Metric
from setveil.metrics.tasks.resampling import gain_kept, resampled_means

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from setveil.data.forms.pair_supports import PairSupports
    from setveil.metrics.pair import Pair
    from setveil.metrics.tasks.heldout import Cases, Heldout

SCORES_AT_ONCE = 1 << 21
"""Number of scores that are computed together."""
SAME = 1e-9
"""Scores that differ by less are equal, so that rounding does not decide."""


class Places(NamedTuple):
    """Where the hidden item of each person is among the items that a recommender scores."""

    higher: NDArray[np.int64]
    """The number of items with a higher score."""
    same: NDArray[np.int64]
    """The number of items with the same score, the hidden one included."""

    def recall(self, top: int) -> NDArray[np.float64]:
        """Return the probability that the hidden item is among the `top` first."""
        return self._mean(np.minimum(np.arange(top + 1.0), top))

    def ndcg(self, top: int) -> NDArray[np.float64]:
        """Return the expected discounted gain: 1 / log2(1 + place) at the places 1 to `top`, and 0 below."""
        return self._mean(np.concatenate(([0.0], np.cumsum(1 / np.log2(np.arange(2, top + 2))))))

    def _mean(self, up_to: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the mean gain over the possible places; `up_to[p]` is the sum of the gains of the first p places."""
        last = len(up_to) - 1
        gain: NDArray[np.float64] = (
            up_to[np.minimum(self.higher + self.same, last)] - up_to[np.minimum(self.higher, last)]
        )
        return gain / self.same


def places_by_similarity(cases: Cases, similarity: NDArray[np.float64]) -> Places:
    """Return the places of hidden items; the score of an item is the sum of its similarities to the known items."""
    return _places(cases, lambda known: known @ similarity)


def places_by_popularity(cases: Cases, supports: NDArray[np.float64]) -> Places:
    """Return the places of hidden items; the score of an item is its support, whoever the person is."""
    return _places(cases, lambda known: np.tile(supports, (known.shape[0], 1)))


def _places(cases: Cases, scores_of: Any) -> Places:
    people, items = cases.known.shape
    higher, same = np.empty(people, np.int64), np.empty(people, np.int64)
    step = max(SCORES_AT_ONCE // max(items, 1), 1)
    for first in range(0, people, step):
        known = cases.known[first : first + step]
        scores = scores_of(known)
        own = scores[np.arange(len(scores)), cases.hidden[first : first + step]][:, None]
        scores[known.nonzero()] = -np.inf
        margin = SAME * np.maximum(np.abs(own), 1)
        above = np.count_nonzero(scores > own + margin, axis=1)
        higher[first : first + step] = above
        same[first : first + step] = np.count_nonzero(scores >= own - margin, axis=1) - above
    return Places(higher, same)


class Recommender(Metric):
    """A recommender that is trained on pair supports."""

    unit = "share of the original's gain over popularity"
    better = "higher"
    about = "utility"
    blind_to = (
        "items that are not among the most frequent; how far the figure differs between releases with different seeds, which the interval"
        " does not cover"
    )
    tests_people = True
    takes = (Transactions, Disassociated, Generalized, Grouped, Reassociated)
    gain_text: ClassVar[str] = (
        "(N~ − P) / (N − P), N~ and N the mean NDCG@top of {} trained on the release and on the original, P that of the supports in the"
        " original. It is measured on people who are not in the original and hold at least two of the items, one of which is hidden at"
        " random. It is 0 if the release is worth no more than popularity, 1 if it is worth the original, and more than 1 if it is worth"
        " more"
    )

    items: int = parameter(
        2000, public=True, ge=2, le=5000, description="Number of most frequent items of the original to use."
    )
    top: int = parameter(10, public=True, ge=1, le=1000, description="Number of recommendations for each person.")
    seed: int = parameter(
        0, public=True, ge=0, description="Seed of the people tested, their hidden items and the bootstrap."
    )

    @abstractmethod
    def similarity(self, pairs: PairSupports) -> NDArray[np.float64]:
        """Return the similarity of each item (row) to each other item (column)."""

    def measure(self, pair: Pair) -> tuple[float | None, dict[str, Any]]:
        """Train on the release and on the original, and test both on the same people."""
        heldout = pair.heldout
        cases = heldout.cases(self.items, self.seed)
        people = len(cases.hidden)
        if not people:
            return None, {"reason": "no record to test on holds two of the most frequent items of the original"}
        popular = heldout.once(_of_popularity, self.items, self.seed)
        before = heldout.once(_of_original, self)
        pairs = pair.published.pair_supports(heldout.labels(self.items))
        after = places_by_similarity(cases, self.similarity(pairs))
        places = {"release": after, "original": before, "popularity": popular}
        gains = np.stack([one.ndcg(self.top) for one in places.values()], axis=1)
        kept = gain_kept(gains.mean(axis=0), resampled_means(gains, self.seed))
        details: dict[str, Any] = {
            "ndcg": {name: float(one.ndcg(self.top).mean()) for name, one in places.items()},
            "recall": {name: float(one.recall(self.top).mean()) for name, one in places.items()},
            "sample": people,
        }
        return heldout.share_kept(kept, details, f"popularity: its gain in NDCG@{self.top}")


def _of_popularity(heldout: Heldout, items: int, seed: int) -> Places:
    return places_by_popularity(heldout.cases(items, seed), heldout.pairs(items).items)


def _of_original(heldout: Heldout, recommender: Recommender) -> Places:
    similarity = recommender.similarity(heldout.pairs(recommender.items))
    return places_by_similarity(heldout.cases(recommender.items, recommender.seed), similarity)


class Ease(Recommender):
    """Share of what a linear recommender (EASE) learns from the original that it also learns from the release."""

    name = "ease"
    title = "Recommendations by EASE"
    formula = Recommender.gain_text.format("EASE (G + regularization I)⁻¹, G the expected pair supports,")

    regularization: float = parameter(
        200.0,
        public=True,
        gt=0,
        le=1e12,
        description="Regularization of EASE: the number added to the support of each item.",
    )

    def similarity(self, pairs: PairSupports) -> NDArray[np.float64]:
        """Return the weights of EASE: the linear model with diagonal 0 that best predicts each item from the others."""
        inverse = np.linalg.inv(pairs.counts + self.regularization * np.eye(len(pairs.counts)))
        found: NDArray[np.float64] = -inverse / inverse.diagonal()
        np.fill_diagonal(found, 0)
        return found


class ItemKnn(Recommender):
    """Share of what a recommender by similar items learns from the original that it also learns from the release."""

    name = "item-knn"
    title = "Recommendations by similar items"
    formula = Recommender.gain_text.format("item-kNN, the sum of cosines over the neighbours of known items,")

    neighbours: int = parameter(
        20,
        public=True,
        ge=1,
        le=5000,
        description="Number of most similar other items of each item; equally similar ones count too.",
    )

    def similarity(self, pairs: PairSupports) -> NDArray[np.float64]:
        """Return the cosine of each item to its most similar other items, and 0 to all others."""
        length = np.sqrt(np.maximum(pairs.items, 0))
        scale = np.divide(1, length, where=length > 0, out=np.zeros(len(length)))
        found: NDArray[np.float64] = pairs.counts * scale * scale[:, None]
        np.fill_diagonal(found, 0)
        if self.neighbours < len(found):
            least = np.partition(found, -self.neighbours, axis=1)[:, -self.neighbours, None]
            found[found < least - SAME] = 0
        return found
