"""Encode ids as codes. They may be larger than memory, unlike items, whose distinct texts are always in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from setveil.data.files.encoding import TextEncoder
from setveil.data.records.equal_texts import TEXTS_AT_ONCE, first_repeated, numbered
from setveil.data.records.ragged import pieces
from setveil.engines import growing
from setveil.engines.growing import growing_texts

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from setveil.engines.growing import GrowingTexts


class IdEncoder:
    """Assigns a code to each id. Equal ids have the same code, or `numbers` finds them later.

    While ids are few, they are in a table. Once they are many, each goes to a file with the next code, unless it equals the one before: in
    most files, the rows of an id are together.
    """

    def __init__(self) -> None:
        self._table = TextEncoder()
        self._listed: GrowingTexts | None = None
        """The ids by code, once they are large."""
        self._last: Any = None
        self._texts: Any = None

    def encode(self, texts: Any) -> NDArray[Any]:
        """Return the codes of an Arrow column of type large_string with distinct texts."""
        if self._listed is None:
            codes = self._table.encode(texts)
            if self._table.text_bytes > growing.LARGE:
                self._listed = growing_texts()
                self._list(self._table.texts())
            return codes
        if not len(texts):
            return np.zeros(0, np.int64)
        known = len(self._listed) - (texts[0] == self._last)
        self._list(texts[len(self._listed) - known :])
        return np.arange(known, known + len(texts))

    def _list(self, texts: Any) -> None:
        assert self._listed is not None
        if len(texts):
            self._listed.append(texts)
            self._last = texts[-1]

    def texts(self) -> Any:
        """Return the ids by code as an Arrow column. Nothing can be encoded afterwards."""
        if self._texts is None:
            self._texts = self._table.texts() if self._listed is None else self._listed.finish()
        return self._texts

    def first_repeated(self) -> int | None:
        """Return the first code whose id has a smaller code too, or None."""
        return None if self._listed is None else first_repeated(self.texts())

    def numbers(self) -> tuple[NDArray[np.int64] | None, Any]:
        """Return the number of the id of each code, None if they are equal, and the distinct ids by number."""
        number_of = None if self._listed is None else numbered(self.texts())
        if number_of is None:
            return None, self.texts()
        distinct, known = growing_texts(), 0
        for part in pieces(len(number_of), TEXTS_AT_ONCE):
            is_new = np.diff(np.maximum.accumulate(np.append(known - 1, number_of[part]))) > 0
            distinct.append(self.texts()[part].filter(pa.array(is_new)))
            known += int(np.count_nonzero(is_new))
        return number_of, distinct.finish()
