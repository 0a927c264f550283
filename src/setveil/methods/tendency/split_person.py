"""SplitPerson: a record is split into one row per category. A baseline: it guarantees nothing.

Paper    gunawan2019 (references.bib), section 5, as a baseline; after Adar 2007, who splits query logs by interest.
Departs  the paper gives no details. Here every record gets one row per category that it holds, also if it has no tendency. An empty record
         stays one empty row. Each row of a person has its own pseudonym: a common one would undo the split.
Cost     linear: two passes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from setveil.data.records.alignment import Alignment
from setveil.data.records.ragged import offsets_of, read_only
from setveil.data.records.transactions import Transactions
from setveil.kernels.threads import run
from setveil.methods.base import Baseline, Outcome
from setveil.methods.in_blocks import applied_to_each
from setveil.methods.tendency.base import OverCategories

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.random import Generator
    from numpy.typing import NDArray


class SplitPerson(OverCategories, Baseline):
    """Split each record into one row per category; a baseline that guarantees nothing."""

    name = "split-person"
    title = "SplitPerson"
    paper = "gunawan2019"
    truthful = "subset"
    about_people = True
    runs_in_blocks = True

    def apply(self, data: Transactions, *, rng: Generator) -> Outcome:
        """Split the records. Nothing here is random; `publish` arranges the rows afterwards, so that their order reveals nothing."""
        from setveil.methods.tendency import _split_person_kernels as kernels  # noqa: PLC0415 - imports Numba: only when a kernel runs

        del rng
        codes, names = self.categories.bind(data)
        fixed = (data.offsets, data.items, read_only(codes), len(names))
        rows = np.empty(data.records, np.int64)

        def cut(control: Any) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
            kernels.count_rows(*fixed, rows, control)
            first_row = read_only(offsets_of(rows))
            offsets, items = np.zeros(first_row[-1] + 1, np.int64), np.empty(data.occurrences, np.int32)
            kernels.split(*fixed, first_row, offsets, items, control)
            return offsets, items

        offsets, items = run("splitting records", cut, total=data.records)
        # A person with one record may now have several rows.
        published = Transactions(offsets, items, data.vocabulary, unit="record")
        account = {
            "records": data.records,
            "rows": published.records,
            "records-split": int(np.count_nonzero(rows > 1)),
            "most-rows-of-a-record": int(rows.max(initial=0)),
        }
        return Outcome(published, Alignment(np.repeat(np.arange(data.records), rows)), account)

    def apply_in_blocks(self, data: Transactions, *, rng_of: Callable[[int], Generator]) -> Outcome:
        """Split the records of each data block."""
        rows = data.with_ids(None).with_unit("record")
        return applied_to_each(self, data, rng_of, like=rows, largest=("most-rows-of-a-record",))
