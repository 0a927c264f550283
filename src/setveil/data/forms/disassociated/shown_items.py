"""Which items disassociated data show where, and how exactly."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from setveil.data.forms.comparing import Aligned, codes_in
from setveil.data.records.in_blocks import need_blocks
from setveil.data.records.ragged import among, distinct, offsets_of, owner_of
from setveil.engines.growing import room

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from setveil.data.forms.base import Published
    from setveil.data.forms.disassociated import Disassociated
    from setveil.data.records.alignment import Alignment


def clusters_of_items(data: Disassociated) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the clusters that show each item, in a record chunk or in the term chunk, in increasing order.

    Those of item i are `clusters[starts[i] : starts[i + 1]]`, for the returned starts and clusters.
    """

    def parts() -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        first = 0
        for piece in data.in_pieces():
            of_subrecord = piece.cluster_of_chunk[piece.chunk_of_subrecord]
            codes = np.concatenate((piece.subrecords.items, piece.terms)).astype(np.int64)
            owners = np.concatenate((of_subrecord[owner_of(piece.subrecords.offsets)], owner_of(piece.term_starts)))
            width = max(piece.clusters, 1)
            keys = distinct(codes * width + owners)
            yield keys // width, keys % width + first
            first += piece.clusters

    number = len(data.vocabulary)
    found = None if need_blocks(data) else [*parts()]
    total = np.zeros(number, np.int64)
    for codes, _own in found or parts():
        total += np.bincount(codes, minlength=number)
    starts = offsets_of(total)
    clusters, ends = room(int(starts[-1]), np.int64), starts[:-1].copy()
    for codes, own in found or parts():
        counts = np.bincount(codes, minlength=number)
        clusters[(ends - offsets_of(counts)[:-1])[codes] + np.arange(len(codes))] = own
        ends += counts
    return starts, clusters


def shown_of(
    data: Disassociated, original: Published, alignment: Alignment
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return how often each item of the original is in record chunks, and how many further occurrences only term chunks list."""
    records, number = original.as_records(), len(data.vocabulary)
    in_terms = sum(np.bincount(piece.terms, minlength=number) for piece in data.in_pieces())
    exactly = original.in_own_order(data.vocabulary, data.supports - in_terms)
    codes, width = codes_in(records.labels, data.subrecords), max(number, 1)
    listed = np.zeros(len(records.vocabulary), np.int64)
    starts = offsets_of(data.sizes)
    for first, last, aligned in Aligned(records, alignment.rows).in_blocks(starts):
        record, item = aligned.occurrences()
        held = owner_of(starts[first : last + 1] - starts[first])[record] * width + codes[item]
        terms = data.term_starts[first : last + 1]
        named = owner_of(terms - terms[0]) * width + data.terms[terms[0] : terms[-1]]
        listed += np.bincount(item[among(held, named) & (codes[item] >= 0)], minlength=len(listed))
    return exactly, listed
