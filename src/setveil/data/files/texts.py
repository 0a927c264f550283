"""The rules for texts in every format: an item or an id has at least one character and no control character."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from setveil.data.files.character_encodings import how_to_decode
from setveil.data.records.labels import BLANKS, are_texts
from setveil.data.records.ragged import pieces
from setveil.engines.growing import text_buffers
from setveil.errors import BadData, BadParameter, OutputRefused

if TYPE_CHECKING:
    from collections.abc import Iterable

    from setveil.data.records.transactions import Transactions

CONTROL = r"[\x00-\x1f\x7f]"
RULE = "is empty or holds a control character"
_SHOWN = 200
_TEXTS_AT_ONCE = 1 << 18
_NO_TEXT = re.compile(r"[\x00-\x1f\x7f\x85\u2028\u2029]")
"""Characters that messages must not contain: control characters and line ends."""


def unusable(texts: Any) -> Any:
    """Return for each text of an Arrow column whether it is invalid as an item or an id."""
    return pc.or_(pc.equal(pc.binary_length(texts), 0), pc.match_substring_regex(texts, CONTROL))


def first_unusable(texts: Any) -> int | None:
    """Return the position of the first text of a large_string column that is invalid as an item or an id, or None.

    A scan for control bytes comes first, because it is many times faster than a regular expression.
    """
    content, offsets = text_buffers(texts)
    if len(offsets) < 2:
        return None
    content = content[offsets[0] : offsets[-1]]
    if not np.any((content < 32) | (content == 127)) and np.all(offsets[1:] > offsets[:-1]):
        return None
    place = pc.index(unusable(texts), value=True).as_py()
    return None if place < 0 else int(place)


def stripped(texts: Any) -> Any:
    """Strip blanks from the ends of a large_string column; usually the first and last bytes show that there are none."""
    content, offsets = text_buffers(texts)
    first, last = offsets[:-1][offsets[1:] > offsets[:-1]], offsets[1:][offsets[1:] > offsets[:-1]] - 1
    ends = np.concatenate((content[first], content[last]))
    return texts if np.all((ends > ord(" ")) & (ends < 128)) else pc.utf8_trim(texts, BLANKS)


def not_utf8(content: bytes, file: str, before: int = 0) -> BadData | None:
    """Return the error about the first byte that is not UTF-8 text, or None; `before` is the number of lines before the content."""
    try:
        content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = before + content.count(b"\n", 0, error.start) + 1
        return BadData(
            f"holds the byte 0x{content[error.start]:02x}, which is not UTF-8 text; {how_to_decode(content[error.start])}",
            file=file,
            line=line,
        )
    return None


def check_separator(given: str, *, quote: bool = True) -> None:
    """Refuse an invalid separator; `quote` says whether a double quote is allowed."""
    if len(given) != 1 or ord(given) > 126 or (ord(given) < 32 and given != "\t") or (given == '"' and not quote):
        allowed = "one printable ASCII character or a tab, such as ','"
        raise BadParameter(f"the separator is {given!r}; allowed is {allowed}")


def check_column_names(*names: str) -> None:
    """Refuse column names that are equal or invalid."""
    if len(set(names)) < len(names):
        raise BadParameter(
            f"two columns have the same name {names[0]!r}; choose different columns with `id=`, `item=`, `items=`"
        )
    for name in names:
        if not name or re.search(CONTROL, name) or not are_texts([name]):
            raise BadParameter(
                f"the column name {name!r} is empty or holds a control character or a lone surrogate; choose another name"
            )


def refuse_unusable(data: Transactions, form: str) -> None:
    """Refuse to write items or ids that are invalid in every format."""
    for what, values in (("item", data.labels), ("id", data.ids)):
        parts = () if values is None else pieces(len(values), _TEXTS_AT_ONCE)
        if any(first_unusable(values[part]) is not None for part in parts):
            raise OutputRefused(f"an {what} {RULE}, which the format {form!r} cannot hold; rename it")


def join_names(columns: Iterable[str]) -> str:
    """Return column names for a message, shortened if there are many."""
    shown = _NO_TEXT.sub("?", ", ".join(columns)) or "none"
    return shown if len(shown) <= _SHOWN else shown[:_SHOWN] + "..."


def is_text_type(kind: Any) -> bool:
    """Return whether `as_texts` accepts a column of this type: text, whole numbers, or a dictionary of these."""
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    tests = (
        pa.types.is_string,
        pa.types.is_large_string,
        pa.types.is_string_view,
        pa.types.is_integer,
        pa.types.is_null,
    )
    return any(test(kind) for test in tests)


def is_list_type(kind: Any) -> bool:
    """Return whether a column of this type holds lists."""
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind))


def as_texts(values: Any) -> Any:
    """Return a column as large_string; whole numbers become decimal text. A dictionary column remains one."""
    if pa.types.is_dictionary(values.type):
        return pa.DictionaryArray.from_arrays(values.indices, as_texts(values.dictionary))
    return values.cast(pa.large_string())
