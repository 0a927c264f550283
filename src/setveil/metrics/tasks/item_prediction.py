"""How well a model that is trained on the release predicts an item of people from their other items."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from setveil.base import progress
from setveil.base.declaration import parameter
from setveil.data.records.transactions import Transactions
from setveil.errors import Missing
from setveil.metrics.base import Metric
from setveil.metrics.tasks.resampling import gain_kept, resampled_means

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from setveil.metrics.pair import Pair
    from setveil.metrics.tasks.heldout import Heldout

ROWS = 20_000
"""Maximum number of rows that a model is trained on, drawn at random from more, unless everything is computed in full."""
FEWEST = 5
"""Minimum number of people tested with an item, and without it, for an item to be predicted."""


class ItemPrediction(Metric):
    """Share of what models learn from the original to predict an item from the others that they also learn from the release."""

    name = "item-prediction"
    title = "Prediction of an item from the others"
    unit = "share of the original's gain over chance"
    better = "higher"
    about = "utility"
    formula = (
        "(A~ − 0.5) / (A − 0.5), A~ and A the mean AUROC over the target items of a logistic regression that predicts the target from the"
        " other items, trained on rows of the release and of the original, and tested on people who are not in the original"
    )
    blind_to = (
        "items that are not among the most frequent; whether the predicted probabilities are right, since only their order counts; how far"
        " the figure differs between releases with different seeds, which the interval does not cover"
    )
    tests_people = True

    items: int = parameter(
        200, public=True, ge=2, le=2000, description="Number of most frequent items of the original to use."
    )
    targets: int = parameter(
        20, public=True, ge=1, le=1000, description="Number of these items to predict, drawn at random."
    )
    seed: int = parameter(
        0, public=True, ge=0, description="Seed of the targets, the rows, the people tested and the bootstrap."
    )

    def measure(self, pair: Pair) -> tuple[float | None, dict[str, Any]]:
        """Train on the release and on the original, and test both on the same people."""
        heldout = pair.heldout
        require_scikit_learn()
        tested, targets = heldout.once(_tested, self.items, self.targets, self.seed)
        if not len(targets):
            reason = f"none of the most frequent items is held by {FEWEST} people tested and lacked by {FEWEST}"
            return None, {"reason": reason}
        before = heldout.once(_of_original, self)
        after = self.scores(heldout, pair.published)
        labels = heldout.labels(self.items)
        each = {
            labels[item]: {"release": float(a), "original": float(b)}
            for item, a, b in zip(targets.tolist(), after[0], before[0], strict=True)
        }
        means = np.array([after[0].mean(), before[0].mean(), 0.5])
        parts = np.stack([after[1], before[1], np.zeros(len(after[1]))], axis=1)
        details = {
            "auroc": {"release": float(means[0]), "original": float(means[1])},
            "targets": len(targets),
            "sample": tested.shape[0],
            "by-item": each,
        }
        kept = gain_kept(means, means + resampled_means(parts, self.seed))
        return heldout.share_kept(kept, details, "chance: its gain in AUROC over 0.5")

    def scores(self, heldout: Heldout, rows: Transactions) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the AUROC of each target by models trained on rows, and how much each person tested adds to their mean."""
        from setveil.data.forms.pair_supports import as_table  # noqa: PLC0415 - imports SciPy

        tested, targets = heldout.once(_tested, self.items, self.targets, self.seed)
        chosen = heldout.drawn(np.arange(rows.records), self.seed, ROWS)
        known = as_table(rows.take(chosen, ids=None), heldout.labels(self.items))
        aurocs, parts = np.empty(len(targets)), np.zeros(tested.shape[0])
        with progress.step("training models", len(targets)) as advance:
            for place, target in enumerate(targets.tolist()):
                aurocs[place], part = auroc(_predicted(known, tested, target), tested[:, [target]].toarray()[:, 0] > 0)
                parts += part / len(targets)
                advance(place + 1)
        return aurocs, parts


def require_scikit_learn() -> None:
    """Raise `Missing` if scikit-learn is not installed."""
    try:
        import sklearn  # noqa: F401, PLC0415 - an extra
    except ImportError:
        message = "item-prediction requires scikit-learn, which is not installed; install it with: pip install 'setveil[learn]'"
        raise Missing(message) from None


def auroc(scores: NDArray[np.float64], holds: NDArray[np.bool_]) -> tuple[float, NDArray[np.float64]]:
    """Return the area under the ROC curve, and how much each person adds to it.

    The area is the probability that a random holder has a higher score than a random other person; equal scores count half. For other
    weights of the people, it changes by the weighted mean of what they add, to the first order.
    """
    others, holders = np.sort(scores[~holds]), np.sort(scores[holds])

    def below(values: NDArray[np.float64], rising: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the share of the rising numbers that are below each value; equal ones count half."""
        both = np.searchsorted(rising, values) + np.searchsorted(rising, values, side="right")
        return both / (2 * len(rising))

    placed = np.where(holds, below(scores, others), 1 - below(scores, holders))
    area = float(placed[holds].mean())
    share = float(holds.mean())
    return area, (placed - area) / np.where(holds, share, 1 - share)


def _predicted(known: Any, tested: Any, target: int) -> NDArray[np.float64]:
    """Return the score of the target item for each person tested; all are equal if all rows, or none, hold it."""
    from sklearn.linear_model import LogisticRegression  # noqa: PLC0415 - an extra

    holds = known[:, [target]].toarray()[:, 0] > 0
    if not 0 < np.count_nonzero(holds) < len(holds):
        return np.zeros(tested.shape[0])
    model = LogisticRegression(solver="liblinear", random_state=0).fit(_without(known, target), holds)
    scores: NDArray[np.float64] = model.decision_function(_without(tested, target))
    return scores


def _without(table: Any, item: int) -> Any:
    """Return a table in which nobody holds the item."""
    made = table.copy()
    made.data[made.indices == item] = 0
    return made


def _tested(heldout: Heldout, items: int, targets: int, seed: int) -> tuple[Any, NDArray[np.int64]]:
    """Return the people tested as a sparse table, and the items to predict."""
    table = heldout.table(items)
    table = table[heldout.drawn(np.arange(table.shape[0]), seed)]
    holders, before = np.asarray(table.sum(axis=0)).ravel(), heldout.original.records - heldout.pairs(items).items
    able = np.flatnonzero((holders >= FEWEST) & (holders <= table.shape[0] - FEWEST) & (before > 0))
    rng = np.random.default_rng((seed, 3))
    return table, np.sort(rng.choice(able, min(targets, len(able)), replace=False))


def _of_original(heldout: Heldout, metric: ItemPrediction) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    return metric.scores(heldout, heldout.original)
