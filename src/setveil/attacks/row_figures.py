"""Figures about rows and items that they do not show, as any release shows them: no names, so what they mean can be learned elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from setveil.attacks.matrices import held, low_rank, together
from setveil.data.records.ragged import owner_of, picked, ranks_of_sequences, runs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from setveil.data.records.transactions import Transactions

LEAST_ROWS = 20
"""A sign is one item or a pair of items in at least this number of rows."""
MOST_ITEMS = 2000
"""Maximum number of items that signs are made of; the most frequent ones are taken."""
RANK = 8
AT_ONCE = 400_000
"""Maximum number of pairs of a row and an item whose figures are computed at once."""
WITHOUT_RELEASE = 2
"""The first figures do not depend on what the release shows of sensitive items: the length of the row, and how common the item is."""


class Block(NamedTuple):
    """The figures of some rows."""

    rows: NDArray[np.int64]
    figures: NDArray[np.float32]
    """One figure for each row, item and kind of figure."""
    shown: NDArray[np.bool_]
    """For each row and item: whether the row shows the item."""


class RowFigures:
    """The figures of a release: for each row and sensitive item, how strongly the rest of the row and of the release suggests it."""

    def __init__(self, data: Transactions, sensitive: list[str], common: NDArray[np.float64], rho: float) -> None:
        """Count what the release shows; `common` is how common the attacker knows each sensitive item to be."""
        number = np.full(len(data.vocabulary) + 1, -1, np.int64)
        number[[data.code_of.get(label, -1) for label in sensitive]] = np.arange(len(sensitive))
        number[-1] = -1
        self.common, self.rho, self.width = common, rho, len(sensitive)
        of_item = number[data.items]
        self.shown = held(_offsets(data.offsets, of_item >= 0), of_item[of_item >= 0], self.width)
        self.offsets, self.codes = _offsets(data.offsets, of_item < 0), data.items[of_item < 0].astype(np.int64)
        self.others = held(self.offsets, self.codes, len(data.vocabulary))
        self.share = np.asarray(self.shown.sum(axis=0)).ravel() / max(data.records, 1)
        self._count_signs(data)
        self._count_baskets()
        self._model(data, [data.code_of.get(label, -1) for label in sensitive])

    def _count_signs(self, data: Transactions) -> None:
        """Count for each sign the rows that hold it, and those that show each sensitive item."""
        self.signs = _signs(self.offsets, self.codes, data)
        size = np.asarray(self.signs.sum(axis=0)).ravel()[:, None].astype(np.float32)
        counts = together(self.signs, self.shown).astype(np.float32)
        expected = (size * self.share).astype(np.float32)
        confidence = counts / np.maximum(size, 1)
        full = counts >= np.maximum(np.floor(self.rho * size), 1)
        self.highest = confidence.max(axis=0, initial=0)
        surprise = (counts - expected) / np.sqrt(expected + 1)
        fullness = counts / np.maximum(np.floor(self.rho * size), 1)
        self.of_sign = (confidence, fullness, surprise, -surprise, np.where(full, np.log(np.maximum(size, 1)), 0))

    def _count_baskets(self) -> None:
        """Count the rows with each set of other items, and those that show each sensitive item."""
        from scipy.sparse import csr_array  # noqa: PLC0415 - slow to import

        rows = len(self.offsets) - 1
        self.basket = ranks_of_sequences(self.offsets, self.codes)
        self.basket_size = np.bincount(self.basket, minlength=1)
        into = csr_array((np.ones(rows, np.float32), (self.basket, np.arange(rows))), (len(self.basket_size), rows))
        self.in_basket = (into @ self.shown).tocsr()

    def _model(self, data: Transactions, codes: list[int]) -> None:
        """Predict the counts of pairs by a model of rank 8, and compare them with those in the release."""
        frequent = np.argsort(-data.supports, kind="stable")[:MOST_ITEMS]
        place = np.full(len(data.vocabulary) + 1, -1, np.int64)
        place[frequent] = np.arange(len(frequent))
        matrix = held(data.offsets, data.items, len(data.vocabulary))[:, frequent]
        seen = together(matrix, matrix)
        predicted = low_rank(seen, data.records, RANK)
        at = place[codes]
        left = (predicted - seen) / np.sqrt(np.maximum(predicted, 0) + 1)
        rate = predicted / np.maximum(np.diag(seen), 1)[:, None]
        self.residual = np.zeros((len(data.vocabulary), self.width), np.float32)
        self.predicted = np.zeros_like(self.residual)
        for whole, part in ((self.residual, left), (self.predicted, rate)):
            whole[frequent[:, None], np.flatnonzero(at >= 0)] = part[:, at[at >= 0]]

    def blocks(self, rows: NDArray[np.int64]) -> Iterator[Block]:
        """Yield the figures of these rows, in order, some rows at a time."""
        step = max(AT_ONCE // max(self.width, 1), 1)
        for first in range(0, len(rows), step):
            yield self._block(rows[first : first + step])

    def _block(self, rows: NDArray[np.int64]) -> Block:
        shape = (len(rows), self.width)
        others, shown = self.others[rows], self.shown[rows].toarray() > 0
        length = np.diff(self.offsets)[rows]
        size = self.basket_size[self.basket[rows]][:, None]
        in_basket = self.in_basket[self.basket[rows]].toarray()
        each = np.maximum(length, 1)[:, None]
        per_row = (length[:, None], self.common, shown.sum(axis=1)[:, None], self.share, self.highest, size)
        figures = [np.broadcast_to(one, shape) for one in per_row]
        figures += [in_basket / size, in_basket / np.maximum(np.floor(self.rho * size), 1)]
        figures += [(others @ self.predicted) / each, (others @ self.residual) / each, _largest(others, self.residual)]
        figures += [_largest(self.signs[rows], values) for values in self.of_sign]
        return Block(rows, np.stack(figures, axis=2).astype(np.float32), shown)


def _offsets(offsets: NDArray[np.int64], kept: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return the offsets of the records with the chosen occurrences only."""
    starts: NDArray[np.int64] = np.concatenate(([0], np.cumsum(kept)))[offsets]
    return starts


def _signs(offsets: NDArray[np.int64], codes: NDArray[np.int64], data: Transactions) -> Any:
    """Return a sparse matrix of rows and signs."""
    from scipy.sparse import csr_array  # noqa: PLC0415 - slow to import

    supports = np.bincount(codes, minlength=len(data.vocabulary))
    frequent = np.argsort(-supports, kind="stable")[:MOST_ITEMS]
    frequent = frequent[supports[frequent] >= LEAST_ROWS]
    used = np.zeros(len(supports), np.bool_)
    used[frequent] = True
    offsets, codes = _offsets(offsets, used[codes]), codes[used[codes]]
    row = owner_of(offsets)
    before = np.arange(len(codes)) - offsets[row]  # number of items of the row before each one
    one, other = codes[runs(offsets[row], before)], np.repeat(codes, before)
    keys = np.concatenate((codes * len(supports) + codes, one * len(supports) + other))
    _values, sign, size = np.unique(keys, return_inverse=True, return_counts=True)
    kept = size[sign] >= LEAST_ROWS
    number = np.cumsum(size >= LEAST_ROWS) - 1
    rows = np.concatenate((row, np.repeat(row, before)))[kept]
    shape = (len(offsets) - 1, int(np.count_nonzero(size >= LEAST_ROWS)))
    return csr_array((np.ones(len(rows), np.float32), (rows, number[sign[kept]])), shape)


def _largest(rows: Any, values: NDArray[Any]) -> NDArray[np.float32]:
    """Return for each row and item the largest value of the row's columns; 0 for rows without any."""
    found = np.zeros((rows.shape[0], values.shape[1]), np.float32)
    starts = rows.indptr.astype(np.int64)
    filled = np.flatnonzero(np.diff(starts))
    most = max(20 * AT_ONCE // max(values.shape[1], 1), 1)
    for part in np.array_split(filled, int(starts[-1]) // most + 1):
        if len(part):
            own_starts, places = picked(starts, part)
            found[part] = np.maximum.reduceat(values[rows.indices[places]], own_starts[:-1], axis=0)
    return found
