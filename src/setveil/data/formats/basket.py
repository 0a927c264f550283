"""Basket text, as FIMI and SPMF use it: a line is a record, items are separated by blanks or by a separator of your choice."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from setveil.data.formats.base import Format, Layout, check_separator, not_utf8, read_bytes
from setveil.data.transactions import Transactions
from setveil.errors import BadData, OutputRefused

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

_BLANKS = b" \t\r\v\f"
_BLANKS_TEXT = _BLANKS.decode()
_NEWLINE = 10
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class Basket(Format):
    """One record a line; a blank line is an empty record."""

    name: ClassVar[str] = "basket"
    summary: ClassVar[str] = "text, a record a line, items separated by blanks or --separator"
    extensions: ClassVar[tuple[str, ...]] = (".dat", ".txt", ".basket")
    holds_ids: ClassVar[bool] = False
    holds_empty_records: ClassVar[bool] = True

    def read(self, path: Path, layout: Layout) -> Transactions:
        """Read a basket file."""
        content = read_bytes(path).removeprefix(_BYTE_ORDER_MARK)
        return parse(content, _separator(layout), str(path))

    def encode(self, data: Transactions, layout: Layout) -> bytes:
        """Return the records as lines."""
        separator = _separator(layout)
        for label in data.vocabulary:
            problem = _unwritable(label, separator)
            if problem:
                way_out = "name another --separator or another format"
                raise OutputRefused(f"the item {label!r} {problem}, which a basket file cannot hold; {way_out}")
        if not data.records:
            raise OutputRefused("a basket file cannot hold data without records")
        lines = pc.binary_join(data.to_arrow(), pa.scalar(separator or " ", pa.large_string()))
        whole = pa.LargeListArray.from_arrays(pa.array([0, len(lines)], pa.int64()), lines)
        text: bytes = pc.binary_join(whole, pa.scalar("\n", pa.large_string()))[0].as_buffer().to_pybytes()
        first = _BYTE_ORDER_MARK if text.startswith(_BYTE_ORDER_MARK) else b""  # a reader takes one away
        return first + text + b"\n"


def _separator(layout: Layout) -> str | None:
    given = layout.separator
    if given is None or given == " ":
        return None
    check_separator(given)
    return given


def _unwritable(label: str, separator: str | None) -> str | None:
    if not label:
        return "is empty"
    if separator is None and any(c in _BLANKS_TEXT for c in label):
        return "holds a blank"
    if separator is not None and separator in label:
        return f"holds the separator {separator!r}"
    if any(c == "\x7f" or (c < " " and c not in _BLANKS_TEXT) for c in label):
        return "holds a line break or another control character"
    return "starts or ends with a blank" if label != label.strip(_BLANKS_TEXT) else None


def parse(content: bytes, separator: str | None, file: str) -> Transactions:
    """Make transactions of the bytes of a basket file."""
    if not content:
        raise BadData("is empty; expected a record a line", file=file)
    raw = np.frombuffer(content, dtype=np.uint8)
    _refuse_control_bytes(raw, file)
    newline = raw == _NEWLINE
    lines = int(np.count_nonzero(newline)) + (0 if raw[-1] == _NEWLINE else 1)
    tokens, line_of_token = (
        _split_blanks(raw, newline) if separator is None else _split_at(raw, newline, separator, file)
    )
    try:
        tokens.validate(full=True)
    except pa.ArrowInvalid:
        raise not_utf8(content, file) or AssertionError("the text is valid after all") from None
    encoded = tokens.dictionary_encode()
    codes = encoded.indices.to_numpy()
    offsets = np.concatenate(([0], np.cumsum(np.bincount(line_of_token, minlength=lines))))
    return Transactions.from_codes(offsets, codes, encoded.dictionary.to_pylist())


def _texts(values: NDArray[np.uint8], lengths: NDArray[np.int64]) -> Any:
    offsets = np.concatenate(([0], np.cumsum(lengths)))
    return pa.LargeStringArray.from_buffers(
        len(lengths), pa.py_buffer(offsets), pa.py_buffer(np.ascontiguousarray(values))
    )


def _split_blanks(raw: NDArray[np.uint8], newline: NDArray[np.bool_]) -> tuple[Any, NDArray[np.int64]]:
    """Split at runs of blanks: what is no blank, joined, is the text of all items; their lengths come from the borders."""
    is_blank = np.zeros(256, dtype=bool)
    is_blank[list(_BLANKS)] = True
    is_blank[_NEWLINE] = True
    inside = np.concatenate(([False], ~is_blank[raw], [False]))
    borders = np.flatnonzero(inside[1:] != inside[:-1])
    starts, ends = borders[0::2], borders[1::2]
    line = np.searchsorted(np.flatnonzero(newline), starts)
    return _texts(raw[inside[1:-1]], ends - starts), line


def _split_at(
    raw: NDArray[np.uint8], newline: NDArray[np.bool_], separator: str, file: str
) -> tuple[Any, NDArray[np.int64]]:
    """Split at one character; blanks around an item do not belong to it, and an item must not be empty."""
    if raw[-1] != _NEWLINE:
        raw, newline = np.append(raw, np.uint8(_NEWLINE)), np.append(newline, True)
    cuts = np.flatnonzero(newline | (raw == ord(separator)))
    starts = np.concatenate(([0], cuts[:-1] + 1))
    line = np.searchsorted(np.flatnonzero(newline), starts)
    text = np.ones(len(raw), dtype=bool)
    text[cuts] = False
    tokens = pc.ascii_trim(_texts(raw[text], cuts - starts), _BLANKS_TEXT)
    empty = pc.equal(pc.binary_length(tokens), 0).to_numpy(zero_copy_only=False)
    fields_of_line = np.bincount(line)
    blank_line = empty & (fields_of_line[line] == 1)
    broken = np.flatnonzero(empty & ~blank_line)
    if len(broken):
        raise BadData(f"an item between two {separator!r} is empty", file=file, line=int(line[broken[0]]) + 1)
    return tokens.filter(pa.array(~blank_line)), line[~blank_line]


def _refuse_control_bytes(raw: NDArray[np.uint8], file: str) -> None:
    allowed = np.ones(256, dtype=bool)
    allowed[:32] = False
    allowed[127] = False
    allowed[[*_BLANKS, _NEWLINE]] = True
    wrong = np.flatnonzero(~allowed[raw])
    if len(wrong):
        line = int(np.count_nonzero(raw[: wrong[0]] == _NEWLINE)) + 1
        raise BadData(f"holds the control byte 0x{raw[wrong[0]]:02x}; expected text in UTF-8", file=file, line=line)
