"""Bootstrap over people: how far a figure could differ if other people had been drawn to test on."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

DRAWS = 1000
"""Number of bootstrap samples."""
AT_ONCE = 1 << 19
"""Number of weights that are drawn together; it limits the memory."""


def weights(people: int, seed: int) -> Iterator[NDArray[np.float64]]:
    """Yield blocks of bootstrap samples: how often each sample holds each person, divided by the number of people."""
    rng = np.random.default_rng((seed, 2))
    step = max(AT_ONCE // max(people, 1), 1)
    for first in range(0, DRAWS, step):
        rows = min(step, DRAWS - first)
        drawn = rng.integers(0, people, (rows, people)) + np.arange(rows)[:, None] * people
        yield np.bincount(drawn.ravel(), minlength=rows * people).reshape(rows, people) / people


def resampled_means(scores: NDArray[np.float64], seed: int) -> NDArray[np.float64]:
    """Return the mean of each column in each bootstrap sample of the rows."""
    return np.concatenate([block @ scores for block in weights(len(scores), seed)])


def limits(values: NDArray[np.float64]) -> tuple[float, float]:
    """Return the 95 % interval of bootstrap values."""
    low, high = np.quantile(values, (0.025, 0.975))
    return float(low), float(high)


class GainKept(NamedTuple):
    """The share of the gain of the original over a baseline that a release keeps."""

    share: float
    interval: tuple[float, float]
    of_original: tuple[float, float]
    """The 95 % interval of the gain of the original. The share is meaningful only if it is above 0."""


def gain_kept(means: NDArray[np.float64], draws: NDArray[np.float64]) -> GainKept:
    """Compare the mean figures of release, original and baseline, given with their means in each bootstrap sample."""
    (gain, gain_before), drawn, drawn_before = (
        means[:2] - means[2],
        draws[:, 0] - draws[:, 2],
        draws[:, 1] - draws[:, 2],
    )
    of_original = limits(drawn_before)
    if of_original[0] <= 0:
        return GainKept(np.nan, (np.nan, np.nan), of_original)
    defined = drawn_before > 0  # in at least 97.5 % of the samples
    return GainKept(float(gain / gain_before), limits(drawn[defined] / drawn_before[defined]), of_original)
