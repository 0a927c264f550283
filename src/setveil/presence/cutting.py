"""The part of a division that the owner of a cut computes alone: rows for dummies, the widest attribute, and scores of its cuts.

All open groups of a level are processed together. Nothing here is sent to another party.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from setveil.data.records.ragged import offsets_of
from setveil.presence.dummies import KeyedStream, id_blocks
from setveil.presence.secure.rules import SCORE_UNIT, WIDEST

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from setveil.presence.methods.dummy_users import DummyUsers
    from setveil.presence.secure.base import Level
    from setveil.presence.secure.rules import Rules
    from setveil.presence.tables.attributes import Attribute

WORST = -4 * SCORE_UNIT + 1
"""The score of a padding entry in a group with fewer cuts than candidates: below the score of any real cut."""


@dataclass(frozen=True, repr=False)
class Cuts:
    """The candidate cuts of each group, in shuffled order."""

    attribute: NDArray[np.int64]
    """The attribute that each group would be divided by."""
    places: NDArray[np.int64]
    """The first cell of the upper part (groups x candidates); past the last cell if the group cannot be divided."""
    values: NDArray[np.int32]
    """The cell of each id in the attribute of its group."""
    scores: NDArray[np.int64]
    """The owner's part of the score (groups x candidates)."""

    def lower(self, level: Level) -> NDArray[np.bool_]:
        """Return whether each id would be in the lower part of each candidate (ids x candidates)."""
        lower: NDArray[np.bool_] = self.values[:, None] < np.repeat(self.places, level.sizes, axis=0)
        return lower

    def chosen(self, level: Level, winners: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Return the place of each group's winner, and whether each id is in its lower part."""
        places = self.places[np.arange(len(winners)), winners]
        lower: NDArray[np.bool_] = self.values < np.repeat(places, level.sizes)
        return places, lower


class Cutter:
    """One provider's own part of the work, with its table and its stored key."""

    def __init__(
        self,
        method: DummyUsers,
        rules: Rules,
        attributes: tuple[Attribute, ...],
        codes: NDArray[np.int32],
        blocks: bytes,
        key: bytes,
        context: bytes,
    ) -> None:
        self._method = method
        self._rules = rules
        self._cells = np.array([one.cells for one in attributes], dtype=np.int64)
        self._codes = codes
        """The cells of each id of the population; -1 for ids that are not users of this provider."""
        self._existing = codes[:, 0] >= 0
        self._blocks = id_blocks(blocks)
        self._rows = KeyedStream(key, context, b"dummy rows")
        self._order = KeyedStream(key, context, b"order of cuts")

    def __repr__(self) -> str:
        return "Cutter(...)"

    def rows(self, level: Level, ways: list[bytes]) -> NDArray[np.int32]:
        """Return the cells of each id of the level: a user's own, and for a dummy those of a random user of the same group."""
        codes = self._codes[level.ids]
        exists = self._existing[level.ids]
        at = np.flatnonzero(exists)
        begins = np.searchsorted(at, level.starts)
        many = np.maximum(begins[1:] - begins[:-1], 1)
        group = np.repeat(np.arange(level.groups), level.sizes)
        dummy = np.flatnonzero(~exists)
        drawn = self._rows.draw(self._blocks[level.ids], ways, level.sizes)[dummy]
        of_group = group[dummy]
        pick = begins[of_group] + (drawn % many[of_group].astype(np.uint64)).astype(np.int64)
        codes[dummy] = codes[at[pick]]  # a group without users cannot have passed a check
        return codes

    def widths(self, level: Level, rows: NDArray[np.int32]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return each group's widest attribute and its width, as a share of the attribute's range."""
        low = np.minimum.reduceat(rows, level.starts[:-1], axis=0).astype(np.int64)
        high = np.maximum.reduceat(rows, level.starts[:-1], axis=0)
        width = (high - low) * WIDEST // np.maximum(self._cells - 1, 1)
        attribute = width.argmax(axis=1)
        return attribute, width[np.arange(level.groups), attribute]

    def cuts(self, level: Level, ways: list[bytes], rows: NDArray[np.int32], attribute: NDArray[np.int64]) -> Cuts:
        """Choose candidates at quantiles of the attribute, in a keyed order, and score them."""
        wanted = self._method.candidates
        sizes = level.sizes
        group = np.repeat(np.arange(level.groups), sizes)
        values = rows[np.arange(len(rows)), attribute[group]]
        span = np.int64(self._cells.max() + 1)
        keys = np.sort(group * span + values)  # by group, then by value
        first = np.flatnonzero(np.concatenate(([True], keys[1:] != keys[:-1])))
        distinct = keys[first]
        begins = np.searchsorted(distinct // span, np.arange(level.groups + 1))
        # The distinct value at each quantile, never the lowest; a repeated one is replaced by the next value above it.
        at = level.starts[:-1, None] + (np.arange(1, wanted + 1) * sizes[:, None]) // (wanted + 1)
        step = np.arange(wanted)
        nth = np.searchsorted(distinct, keys[at]) - begins[:-1, None]
        nth = np.maximum.accumulate(np.maximum(nth, 1) - step, axis=1) + step
        many = begins[1:] - begins[:-1]
        real = nth < many[:, None]
        # A group that cannot be divided keeps one place for this, which wins at any position of the order, as a cut would.
        real[:, 0] |= many < 2
        index = begins[:-1, None] + np.minimum(nth, many[:, None] - 1)
        places = np.where(many[:, None] > 1, distinct[index] % span, span)
        below = np.where(many[:, None] > 1, first[index] - level.starts[:-1, None], sizes[:, None])
        scores = self._scores(level, group, values, keys % span, places, below)
        scores = np.where(real, scores, WORST)
        order = self._order.shuffles(ways, wanted)
        return Cuts(
            attribute,
            np.take_along_axis(places, order, axis=1),
            values,
            np.take_along_axis(scores, order, axis=1),
        )

    def _scores(
        self,
        level: Level,
        group: NDArray[np.int64],
        values: NDArray[np.int32],
        rising: NDArray[np.int64],
        places: NDArray[np.int64],
        below: NDArray[np.int64],
    ) -> NDArray[np.int64]:
        """Return nearness to the median plus the entropy of the provider's own dummies, in whole units."""
        sizes = level.sizes[:, None]
        sums = offsets_of(rising)
        whole = (sums[level.starts[1:]] - sums[level.starts[:-1]])[:, None]
        lower = sums[level.starts[:-1, None] + below] - sums[level.starts[:-1]][:, None]
        # Twice the sum of |value - (place - 1/2)|, because a cut lies between two cells.
        twice = (2 * places - 1) * below - 2 * lower + 2 * (whole - lower) - (2 * places - 1) * (sizes - below)
        most = np.maximum(twice.max(axis=1, keepdims=True), 1)
        near: NDArray[np.int64] = np.rint(-float(self._method.alpha.share) * (twice / most) * SCORE_UNIT).astype(
            np.int64
        )
        if self._rules.faithful and self._method.score == "both":
            return near  # the clear computation adds the entropies of both providers
        dummies = ~self._existing[level.ids]
        span = np.int64(self._cells.max() + 1)
        keys = np.sort(group[dummies] * span + values[dummies])
        start = np.searchsorted(keys, np.arange(level.groups) * span)[:, None]
        end = np.searchsorted(keys, np.arange(1, level.groups + 1) * span)[:, None]
        own_lower = np.searchsorted(keys, np.arange(level.groups)[:, None] * span + places) - start
        own_lower = np.minimum(own_lower, end - start)
        own_upper = end - start - own_lower
        parts = (sizes, sizes) if self._rules.entropy_of == "parent" else (below, sizes - below)
        scores: NDArray[np.int64] = near
        for dummies_, part in zip((own_lower, own_upper), parts, strict=True):
            scores = scores + self._rules.entropies(dummies_, part)
        return scores
