"""What a text of the data may be, the same in every format: an item or an id has at least one character and no control character."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from setveil.data.files.encoding import text_buffers
from setveil.data.records.labels import BLANKS, are_texts
from setveil.errors import BadData, BadParameter, OutputRefused

if TYPE_CHECKING:
    from collections.abc import Iterable

    from setveil.data.records.transactions import Transactions

CONTROL = r"[\x00-\x1f\x7f]"
RULE = "is empty or holds a control character"
_SHOWN = 200
_NO_TEXT = re.compile(r"[\x00-\x1f\x7f\x85\u2028\u2029]")
"""What cannot stand in a sentence: control characters, and what else ends a line."""


def unusable(texts: Any) -> Any:
    """Tell of each text of an Arrow column whether it cannot be an item or an id."""
    return pc.or_(pc.equal(pc.binary_length(texts), 0), pc.match_substring_regex(texts, CONTROL))


def first_unusable(texts: Any) -> int | None:
    """Return the place of the first text of a large_string column that cannot be an item or an id.

    Bytes are looked at first: a scan for control bytes is many times faster than a regular expression.
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
    """Return a large_string column whose texts have no blanks at their ends; mostly a look at their first and last bytes is enough."""
    content, offsets = text_buffers(texts)
    first, last = offsets[:-1][offsets[1:] > offsets[:-1]], offsets[1:][offsets[1:] > offsets[:-1]] - 1
    ends = np.concatenate((content[first], content[last]))
    return texts if np.all((ends > ord(" ")) & (ends < 128)) else pc.utf8_trim(texts, BLANKS)


def not_utf8(content: bytes, file: str, before: int = 0) -> BadData | None:
    """Return the error about the first byte that is not UTF-8 text, if there is one; `before` lines came before the content."""
    try:
        content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = before + content.count(b"\n", 0, error.start) + 1
        return BadData(f"holds the byte 0x{content[error.start]:02x}, which is not UTF-8 text", file=file, line=line)
    return None


def check_separator(given: str, *, quote: bool = True) -> None:
    """Refuse what cannot stand between items; `quote` says whether a double quote can."""
    if len(given) != 1 or ord(given) > 126 or (ord(given) < 32 and given != "\t") or (given == '"' and not quote):
        allowed = "one printable ASCII character or a tab, such as ','"
        raise BadParameter(f"the separator is {given!r}; allowed is {allowed}")


def check_column_names(*names: str) -> None:
    """Refuse names that are the same or cannot stand in a header."""
    if len(set(names)) < len(names):
        raise BadParameter(
            f"two columns have the same name {names[0]!r}; name them apart with `id=`, `item=`, `items=`"
        )
    for name in names:
        if not name or re.search(CONTROL, name) or not are_texts([name]):
            raise BadParameter(f"the column name {name!r} is empty or holds a control character or half a character")


def refuse_unusable(data: Transactions, form: str) -> None:
    """Refuse to write items or ids that no format holds."""
    for what, values in (("item", data.labels), ("id", data.ids)):
        if values is not None and first_unusable(values) is not None:
            raise OutputRefused(f"an {what} {RULE}, and {form!r} holds neither")


def in_words(columns: Iterable[str]) -> str:
    """Name columns for an error, not too many of them."""
    shown = _NO_TEXT.sub("?", ", ".join(columns)) or "none"
    return shown if len(shown) <= _SHOWN else shown[:_SHOWN] + "..."


def is_text_type(kind: Any) -> bool:
    """Tell whether `as_texts` takes a column of that type: text or whole numbers, or a dictionary of these."""
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
    """Tell whether a column of that type holds lists."""
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind))


def as_texts(values: Any) -> Any:
    """Return a column as large_string: text as it is, whole numbers in decimal. A dictionary column stays one."""
    if pa.types.is_dictionary(values.type):
        return pa.DictionaryArray.from_arrays(values.indices, as_texts(values.dictionary))
    return values.cast(pa.large_string())
