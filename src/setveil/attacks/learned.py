"""Learn on data of other people which rows lost a sensitive item."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from setveil.attacks.base import Attack, Finding
from setveil.attacks.guess_items import SHARE_GUESSED
from setveil.attacks.row_figures import WITHOUT_RELEASE, RowFigures
from setveil.attacks.target import Target
from setveil.attacks.trials import Trial
from setveil.base.declaration import parameter
from setveil.errors import Missing
from setveil.kernels.threads import number_of_threads

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST_ROWS = 100_000
"""Maximum number of rows that are learned from, and that are attacked."""
MOST_LEARNED = 300_000
"""Maximum number of pairs of a row and an item that are learned from."""
WORTH_THREADS = 50_000
"""Fewer pairs are learned from in one thread."""
SURE = (200, 1000, 5000)
"""The numbers of surest guesses whose shares of right ones are reported as details."""


class Learned(Attack):
    """Find the rows that lost a sensitive item, as a learner sees it that ran the method on other people's data."""

    name = "learned"
    title = "Learning where items were suppressed"
    knows = "data of other people, the method with its parameters, and the sensitive items"
    statistic = (
        "a row that does not show a sensitive item had it. Gradient boosting learns from a release of the other people's data, by figures"
        " without names: confidences of rules from one or two items, how near they are to ρ, how far counts are from what independence"
        " and a model of rank 8 predict, sizes. The surest guesses are counted, a quarter of the number of suppressed occurrences"
    )
    base_rate = (
        "the same learner with two figures: the number of items of the row that are not sensitive, and how common the sensitive item is"
        " among the other people"
    )
    success = "suppressed sensitive items guessed right"
    blind_to = "what the names of items reveal, and rules from three or more items"
    paper: ClassVar[str] = "wong2007"
    fits = ("rho-uncertainty",)
    needs = ("control", "recipe")
    bytes_per_occurrence = 300
    shadow_share: ClassVar[float] = 0.5

    rounds: int = parameter(50, ge=1, le=1000, public=True, description="Number of trees of the learner.")

    def run(self, target: Target) -> Finding:
        """Learn from a release of the control, and guess for rows of the release."""
        sensitive, rho = target.known.get("sensitive"), target.known.get("rho")
        if sensitive is None or rho is None:
            return self.impossible("the release has no sensitive items with a limit ρ")
        if target.again is None or target.control is None:
            return self.without_result("needs the recipe of the release, and data of other people")
        own = target.control
        labels = [
            label
            for label, there in zip(own.vocabulary, sensitive.among(own) & (own.supports > 0), strict=True)
            if there
        ]
        if not labels:
            return self.without_result("the data of other people hold no sensitive item")
        published, alignment = target.again(own)
        if not published.records or not target.published.records:
            return self.without_result("too few sensitive items are suppressed")
        common = np.array([own.supports[own.code_of[label]] for label in labels]) / own.records
        rng = target.rng(self.name)
        taught = _pairs(Target(own, published, alignment), labels, common, float(rho.share), rng)
        asked = _pairs(target, labels, common, float(rho.share), rng)
        number = int(asked.had.sum() * SHARE_GUESSED)
        if not number or not taught.had.any() or taught.had.all():
            return self.without_result("too few sensitive items are suppressed")
        lesson = taught.some(MOST_LEARNED, rng)
        right = self._surest(lesson, asked)
        by_length = self._surest(lesson.without_release(), asked.without_release())
        details = {
            "suppressed": int(asked.had.sum()),
            "surest": {str(most): float(right[:most].mean()) for most in SURE if most <= len(right)},
            "surest-by-chance": {str(most): float(by_length[:most].mean()) for most in SURE if most <= len(right)},
        }
        main, naive = (Trial(float(one[:number].sum()), number) for one in (right, by_length))
        return self.finding(main, naive, bound=float(rho.share), details=details)

    def _surest(self, taught: _Pairs, asked: _Pairs) -> NDArray[np.bool_]:
        """Return whether each guess is right, the surest guess first."""
        try:
            from sklearn.ensemble import HistGradientBoostingClassifier  # noqa: PLC0415 - an extra
            from threadpoolctl import threadpool_limits  # noqa: PLC0415 - scikit-learn requires it
        except ImportError:
            raise Missing("the attack requires scikit-learn: install setveil[learn]") from None
        learner: Any = HistGradientBoostingClassifier(
            max_iter=self.rounds,
            l2_regularization=10,  # with few suppressed items in many pairs, small leaves fit accidents
            min_samples_leaf=max(len(taught.had) // 1500, 20),
            early_stopping=False,
            random_state=0,
        )
        threads = number_of_threads() if len(taught.had) >= WORTH_THREADS else 1
        with threadpool_limits(threads, user_api="openmp"):
            learner.fit(taught.figures, taught.had)
            score = learner.decision_function(asked.figures)
        order = np.random.default_rng(0).permutation(len(score))  # so that ties are in no order
        found: NDArray[np.bool_] = asked.had[order[np.argsort(-score[order], kind="stable")]]
        return found


class _Pairs(NamedTuple):
    """Pairs of a row and a sensitive item that the row does not show."""

    figures: NDArray[np.float32]
    had: NDArray[np.bool_]
    """Whether the record of the row holds the item."""

    def without_release(self) -> _Pairs:
        """Return the figures that do not depend on what the release shows of sensitive items."""
        return _Pairs(self.figures[:, :WITHOUT_RELEASE], self.had)

    def some(self, most: int, rng: np.random.Generator) -> _Pairs:
        """Return at most this number of pairs, drawn at random, of those that had the item at most half."""
        if len(self.had) <= most:
            return self
        drawn = [
            rng.permutation(np.flatnonzero(self.had))[: most // 2],
            rng.permutation(np.flatnonzero(~self.had)),
        ]
        chosen = np.sort(np.concatenate(drawn)[:most])
        return _Pairs(self.figures[chosen], self.had[chosen])


def _pairs(
    target: Target, labels: list[str], common: NDArray[np.float64], rho: float, rng: np.random.Generator
) -> _Pairs:
    """Return the pairs of a release, of at most MOST_ROWS rows."""
    rows, original = target.published.plain, target.original
    assert rows is not None
    chosen = np.arange(rows.records)
    if len(chosen) > MOST_ROWS:
        chosen = np.sort(rng.choice(chosen, MOST_ROWS, replace=False))
    codes = np.array([original.code_of.get(label, -1) for label in labels])
    figures, had = [], []
    for block in RowFigures(rows, labels, common, rho).blocks(chosen):
        row, item = np.nonzero(~block.shown)
        figures.append(block.figures[row, item])
        had.append(target.true_pairs(target.alignment.rows[block.rows[row]], codes[item]))
    return _Pairs(np.concatenate(figures), np.concatenate(had))
