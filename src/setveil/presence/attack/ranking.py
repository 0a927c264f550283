"""How well a score separates users who are present from those who are not."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.stats import rankdata

if TYPE_CHECKING:
    from numpy.typing import NDArray

TAIL = 20
"""One in this number of users is in the lowest tail, and one in the highest."""


@dataclass(frozen=True)
class Ranking:
    """How well a score predicts presence."""

    auc: float | None
    """The probability that a present user scores higher than an absent one; ties count half. None if one of the two does not occur."""
    lowest: float
    """The share of present users among the 5 % with the lowest scores."""
    highest: float
    prior: float
    """The share of present users among all."""
    users: int
    tail: int
    """The number of users that 5 % are."""

    def to_dict(self) -> dict[str, Any]:
        """Return the ranking as plain values."""
        return asdict(self)


def area_under_curve(score: NDArray[np.float64], present: NDArray[np.bool_]) -> float | None:
    """Return the probability that a present user scores higher than an absent one, ties counted half."""
    many, others = int(present.sum()), int((~present).sum())
    if not many or not others:
        return None
    ranks = rankdata(score)
    return float((ranks[present].sum() - many * (many + 1) / 2) / (many * others))


def ranking(score: NDArray[np.float64], present: NDArray[np.bool_]) -> Ranking:
    """Compare a score with the truth; users who tie at the border of a tail count with their mean."""
    users = len(score)
    tail = max(users // TAIL, 1)
    return Ranking(
        area_under_curve(score, present),
        _share_of_lowest(score, present, tail),
        _share_of_lowest(-score, present, tail),
        float(present.mean()),
        users,
        tail,
    )


def _share_of_lowest(score: NDArray[np.float64], present: NDArray[np.bool_], tail: int) -> float:
    border = np.partition(score, tail - 1)[tail - 1]
    below, at = score < border, score == border
    rest = tail - int(below.sum())
    return float((present[below].sum() + rest * present[at].mean()) / tail)
