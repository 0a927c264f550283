"""Encode texts that arrive in batches as codes, in order of first appearance.

Arrow encodes the texts of one batch, but has no table that grows across batches. One batch, a file of a few megabytes, needs none, so that
nothing is compiled. For further batches, a hash table over the bytes is used. Per text it takes the bytes, 8 bytes for the offset, 4 for
the hash and 8 to 16 for slots; a Python dictionary of strings takes about 150 bytes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from setveil.data.records.equal_texts import draw_multiplier
from setveil.engines.growing import text_buffers

if TYPE_CHECKING:
    from numpy.typing import NDArray


class TextEncoder:
    """Assigns a code to each distinct text, starting with 0."""

    def __init__(self) -> None:
        self._only: Any = None
        """The distinct texts, while there is only one batch."""
        self._table: _Table | None = None

    def __len__(self) -> int:
        if self._table is not None:
            return self._table.count
        return 0 if self._only is None else len(self._only)

    @property
    def text_bytes(self) -> int:
        """The size of the distinct texts."""
        if self._table is not None:
            return self._table.text_bytes
        return 0 if self._only is None else int(self._only.nbytes)

    def encode(self, texts: Any) -> NDArray[np.int32]:
        """Return the codes of an Arrow column of type large_string without nulls."""
        if self._table is None and self._only is None:
            encoded = texts.dictionary_encode()
            self._only = encoded.dictionary
            codes: NDArray[np.int32] = encoded.indices.to_numpy(zero_copy_only=False).astype(np.int32, copy=False)
            return codes
        if self._table is None:
            self._table = _Table()
            self._table.enter(self._only)
            self._only = None
        return self._table.enter(texts)

    def texts(self) -> Any:
        """Return the texts by code as an Arrow column, which takes over the memory. Nothing can be encoded afterwards."""
        if self._table is not None:
            texts, self._table = self._table.hand_over(), None
        else:
            texts = self._only if self._only is not None else pa.array([], pa.large_string())
        self._only = None
        return texts


class _Table:
    """A hash table with open addressing, at most half full; its arrays grow in place if the system can move pages."""

    def __init__(self) -> None:
        from setveil.data.files import _encoding_kernels  # noqa: PLC0415 - compiled only for several batches
        from setveil.data.records import _text_kernels  # noqa: PLC0415 - the same

        self._kernels = _encoding_kernels
        self._multiplier = draw_multiplier(_text_kernels.PRIME)
        self.count = 0
        self._text = np.empty(1 << 16, dtype=np.uint8)
        self._offsets = np.zeros(1 << 12, dtype=np.int64)
        self._hashes = np.empty(1 << 12, dtype=np.int32)
        self._slots = np.full(1 << 13, -1, dtype=np.int32)

    @property
    def text_bytes(self) -> int:
        """The size of the texts."""
        return int(self._offsets[self.count])

    def enter(self, texts: Any) -> NDArray[np.int32]:
        """Add new texts; return the codes of all given texts."""
        new_text, new_offsets = text_buffers(texts)
        self._make_room(len(texts), int(new_offsets[-1] - new_offsets[0]))
        codes = np.empty(len(texts), dtype=np.int32)
        known = self._kernels.Texts(self._text, self._offsets, self._hashes, self._slots)
        self.count = int(self._kernels.enter(new_text, new_offsets, known, self.count, self._multiplier, codes))
        return codes

    def _make_room(self, texts: int, size: int) -> None:
        most = self.count + texts
        _grow(self._text, int(self._offsets[self.count]) + size)
        _grow(self._offsets, most + 1)
        _grow(self._hashes, most)
        if 2 * most > len(self._slots):
            width = 1 << (2 * most - 1).bit_length()
            self._slots = np.empty(0, dtype=np.int32)  # free the old array before allocating the new one
            self._slots = np.full(width, -1, dtype=np.int32)
            self._kernels.fill_slots(self._hashes, self.count, self._slots)

    def hand_over(self) -> Any:
        offsets, text = self._offsets, self._text
        offsets.resize(self.count + 1, refcheck=False)
        text.resize(int(offsets[-1]), refcheck=False)
        return pa.LargeStringArray.from_buffers(self.count, pa.py_buffer(offsets), pa.py_buffer(text))


def _grow(array: NDArray[Any], needed: int) -> None:
    """Resize the array to at least `needed` elements, with spare room; the system moves pages instead of copying them."""
    if needed > len(array):
        array.resize(max(needed, len(array) + len(array) // 4), refcheck=False)
