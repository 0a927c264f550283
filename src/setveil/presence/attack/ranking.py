"""How well a score tells who is present."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.stats import rankdata

if TYPE_CHECKING:
    from numpy.typing import NDArray

TAIL = 20
"""One in so many users is in the lowest tail, and one in the highest."""


@dataclass(frozen=True)
class Ranking:
    """What a score tells of presence."""

    auc: float | None
    """How often a user who is present has the higher score of two, one present and one not; ties count half. None without both kinds."""
    lowest: float
    """The share that is present among the 5 % with the lowest scores."""
    highest: float
    prior: float
    """The share that is present among all."""
    users: int
    tail: int
    """How many users 5 % are."""

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values."""
        return asdict(self)


def area_under_curve(score: NDArray[np.float64], present: NDArray[np.bool_]) -> float | None:
    """Return the chance that one who is present scores above one who is not, ties halved."""
    many, others = int(present.sum()), int((~present).sum())
    if not many or not others:
        return None
    ranks = rankdata(score)
    return float((ranks[present].sum() - many * (many + 1) / 2) / (many * others))


def ranking(score: NDArray[np.float64], present: NDArray[np.bool_]) -> Ranking:
    """Compare a score with the truth; in the tails, users with the score at the border count as their mean."""
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
