"""The basket format of FIMI and SPMF: each line is a record, with items separated by blanks or by another separator.

SPMF files start with a header of lines that begin with `@`: `@CONVERTED_FROM_TEXT`, then `@ITEM=3=milk` for the name of item 3. The reader
replaces numbers by names and skips other header lines. The header ends at the first record, because an item can begin with `@`.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from setveil.base.progress import note
from setveil.base.sql import as_text
from setveil.data.files.assembly import DROP_MISSING, ListAssembly, Origin
from setveil.data.files.packing import BYTE_ORDER_MARK, packing_of
from setveil.data.files.packing import blocks as file_blocks
from setveil.data.files.texts import CONTROL, check_separator, first_unusable, not_utf8
from setveil.data.formats.base import Format, Layout
from setveil.data.records.labels import BLANKS, note_other_separator
from setveil.data.records.ragged import offsets_of
from setveil.data.records.transactions import Transactions
from setveil.errors import BadData, OutputRefused

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

_BLANKS = b" \t\r\v\f"
_BLANKS_TEXT = _BLANKS.decode()
_NEWLINE = 10
_HEADER_LINE = re.compile(rb"@(?:CONVERTED_FROM_|ITEM=|NAME=|ATTRIBUTEVALUE=)")
_NAME_LINE = re.compile(r"@ITEM=([^=]+)=(.+)")
_OTHER_SPMF = {"sequences": ("^-1$", "^-2$"), "transactions with utilities": ("^[0-9]+:[0-9]+:[0-9]+$",)}
"""Items that show another kind of file of SPMF: the ends of itemsets and of sequences, and the numbers around a utility."""
_WRITTEN_RECORDS = 1 << 16


class Basket(Format):
    """One record per line; a blank line is an empty record."""

    name: ClassVar[str] = "basket"
    summary: ClassVar[str] = "text with one record per line; items are separated by blanks or by another separator"
    extensions: ClassVar[tuple[str, ...]] = (".dat", ".txt", ".basket")
    ids: ClassVar[Literal["none", "optional", "required"]] = "none"
    holds_empty_records: ClassVar[bool] = True

    def read(self, path: Path, layout: Layout) -> Transactions:
        """Read a basket file."""
        data = parse(file_blocks(path), _separator(layout), str(path), drops_missing=layout.drops_missing)
        if pc.any(pc.starts_with(data.labels, '"')).as_py():
            separator = layout.separator or " "
            note(
                "items begin with a double quote, which is kept; if the file quotes items, read it with `format='wide'`, "
                f"`ragged=True` and `separator={separator!r}`, or with `format='long'` and `no_header=True` if a line is an id and an item"
            )
        if layout.separator is None:
            note_other_separator(data.vocabulary)
        for kind, signs in _OTHER_SPMF.items():
            if all(pc.any(pc.match_substring_regex(data.labels, sign)).as_py() for sign in signs):
                note(
                    f"the file looks like {kind} of SPMF, whose signs are read as items; convert it to transactions first"
                )
        return data

    def public_layout(self, data: Transactions, layout: Layout) -> dict[str, str | bool]:
        """Return the separator, if one was given."""
        del data
        return {"separator": layout.separator} if layout.separator else {}

    def why_unwritable(self, label: str, layout: Layout) -> str | None:
        """Return why a line cannot hold an item."""
        separator = _separator(layout)
        if not label:
            return "is empty"
        if separator is None and any(c in _BLANKS_TEXT for c in label):
            return "holds a blank"
        if separator is not None and separator in label:
            return f"holds the separator {separator!r}"
        return "holds a line break or another control character" if re.search(CONTROL, label) else None

    def as_sql(self, file: str, extension: str, layout: Layout) -> Mapping[str, str]:
        """Return a query that splits the lines."""
        del extension
        if packing_of(Path(file)) is not None:  # `read_text` does not decompress
            return {}
        pattern = r"\s+" if (separator := _separator(layout)) is None else re.escape(separator)
        query = f"""
  WITH file AS (
    SELECT string_split(rtrim(string_agg(content, '' ORDER BY filename), chr(10)), chr(10)) AS lines
    FROM read_text({as_text(file)})
  ), line AS (
    SELECT unnest(lines) AS line, generate_subscripts(lines, 1) AS record FROM file
  ), split AS (
    SELECT record, trim(unnest(string_split_regex(line, {as_text(pattern)})), ' ' || chr(13)) AS item FROM line
  )
  SELECT DISTINCT record, item FROM split WHERE item <> ''"""
        return {"released": query}

    def blocks(self, data: Transactions, path: Path, layout: Layout) -> Iterator[bytes]:
        """Yield the records as lines."""
        del path
        separator = _separator(layout)
        for label in data.vocabulary:
            problem = self.why_unwritable(label, layout)
            if problem:
                remedy = "choose another separator, or another format, such as list (.jsonl, .parquet)"
                raise OutputRefused(f"the item {label!r} {problem}, which a basket file cannot hold; {remedy}")
        if not data.records:
            raise OutputRefused("a basket file cannot hold data without records; choose another format")
        yield from lines_of(data, data.labels, separator or " ")


def lines_of(data: Transactions, written_labels: Any, separator: str) -> Iterator[bytes]:
    """Yield the records as lines of `written_labels`."""
    newline = pa.scalar("\n", pa.large_string())
    for first in range(0, data.records, _WRITTEN_RECORDS):
        records = data.lists(first, first + _WRITTEN_RECORDS, written_labels)
        lines = pc.binary_join(records, pa.scalar(separator, pa.large_string()))
        whole = pa.LargeListArray.from_arrays(pa.array([0, len(lines)], pa.int64()), lines)
        text: bytes = pc.binary_join(whole, newline)[0].as_buffer().to_pybytes()
        if first == 0:
            first_line = text.partition(b"\n")[0]
            if _HEADER_LINE.match(first_line):
                raise OutputRefused("the first record begins like the header of an SPMF file; choose another format")
            if text.startswith(BYTE_ORDER_MARK):
                yield BYTE_ORDER_MARK  # readers remove one
        yield text + b"\n"


def _separator(layout: Layout) -> str | None:
    given = layout.separator
    if given is None or given == " ":
        return None
    check_separator(given)
    return given


def parse(content: Iterator[bytes], separator: str | None, file: str, *, drops_missing: bool = False) -> Transactions:
    """Make transactions from the content of a basket file, given in blocks."""
    assembly = ListAssembly(Origin(file), drops_missing=drops_missing)
    names: dict[str, str] = {}
    line, in_header = 0, True
    for block in whole_lines(content):
        if in_header:
            records, skipped = _without_header(block, names, file, line)
            line += skipped
            in_header = not records
        else:
            records = block
        if not records:
            continue
        lengths, tokens = _split(records, separator, file, line, keeps_empty=drops_missing)
        assembly.add_flat(lengths, tokens)
        line += len(lengths)
    if in_header:
        raise BadData(
            f"{'has a header and no records' if line else 'is empty'}; expected one record per line", file=file
        )
    data = assembly.finish()
    return _named(data, names, file) if names else data


def _named(data: Transactions, names: dict[str, str], file: str) -> Transactions:
    """Replace item numbers by names."""
    labels = [names.get(label, label) for label in data.vocabulary]
    label, times = Counter(labels).most_common(1)[0] if labels else ("", 0)
    if times > 1:
        raise BadData(f"gives two items the name {label!r}; use different names in the @ITEM lines", file=file)
    return Transactions.from_codes(data.offsets, data.items, labels)


def whole_lines(content: Iterator[bytes]) -> Iterator[bytes]:
    """Regroup blocks so that each ends at the end of a line."""
    rest: list[bytes] = []
    for block in content:
        cut = block.rfind(b"\n") + 1
        if cut:
            yield b"".join([*rest, block[:cut]])
            rest = []
        if cut < len(block):
            rest.append(block[cut:])
    if rest:
        yield b"".join(rest)


def _without_header(block: bytes, names: dict[str, str], file: str, before: int) -> tuple[bytes, int]:
    """Remove the header lines of SPMF from a block and add their names to `names`; return the rest and the number of removed lines."""
    taken = at = 0
    while _HEADER_LINE.match(block, at):
        end = block.find(b"\n", at)
        line = block[at:] if end < 0 else block[at:end]
        at = len(block) if end < 0 else end + 1
        if wrong := not_utf8(line, file, before + taken):
            raise wrong
        taken += 1
        text = line.decode().strip(_BLANKS_TEXT)
        if not text.startswith("@ITEM="):
            continue
        named = _NAME_LINE.fullmatch(text)
        if re.search(CONTROL, text):
            raise BadData("the name of an item holds a control character", file=file, line=before + taken)
        if named is None or names.setdefault(named[1], named[2].strip(BLANKS)) != named[2].strip(BLANKS):
            problem = (
                "is not of the form @ITEM=NUMBER=NAME"
                if named is None
                else "gives another name to an item that has one"
            )
            raise BadData(problem, file=file, line=before + taken)
    return block[at:], taken


def _split(
    content: bytes, separator: str | None, file: str, line: int, *, keeps_empty: bool
) -> tuple[NDArray[np.int64], Any]:
    """Return the number of items of each line of a block, and all items; `line` is the number of lines before the block.

    An empty item between two separators is refused, or kept.
    """
    raw = np.frombuffer(content, dtype=np.uint8)
    _refuse_control_bytes(raw, file, line)
    newline = raw == _NEWLINE
    lines = int(np.count_nonzero(newline)) + (0 if raw[-1] == _NEWLINE else 1)
    tokens, line_of_token = (
        _split_blanks(raw, newline)
        if separator is None
        else _split_at(raw, newline, separator, _Refusing(file, line, keeps_empty))
    )
    try:
        tokens.validate(full=True)
    except pa.ArrowInvalid:
        wrong = not_utf8(content, file, line)
        assert wrong is not None
        raise wrong from None
    return np.bincount(line_of_token, minlength=lines), tokens


def _texts(values: NDArray[np.uint8], lengths: NDArray[np.int64]) -> Any:
    offsets = offsets_of(lengths)
    return pa.LargeStringArray.from_buffers(
        len(lengths), pa.py_buffer(offsets), pa.py_buffer(np.ascontiguousarray(values))
    )


def _split_blanks(raw: NDArray[np.uint8], newline: NDArray[np.bool_]) -> tuple[Any, NDArray[np.int64]]:
    """Split at runs of blanks: the bytes that are not blank are the text of all items, and the borders give their lengths."""
    is_blank = np.zeros(256, dtype=bool)
    is_blank[list(_BLANKS)] = True
    is_blank[_NEWLINE] = True
    inside = np.concatenate(([False], ~is_blank[raw], [False]))
    borders = np.flatnonzero(inside[1:] != inside[:-1])
    starts, ends = borders[0::2], borders[1::2]
    line = np.searchsorted(np.flatnonzero(newline), starts)
    return _texts(raw[inside[1:-1]], ends - starts), line


class _Refusing(NamedTuple):
    """What to refuse, and where it is: the file and the number of lines before the block."""

    file: str
    before: int
    keeps_empty: bool


def _split_at(
    raw: NDArray[np.uint8], newline: NDArray[np.bool_], separator: str, refusing: _Refusing
) -> tuple[Any, NDArray[np.int64]]:
    """Split at a separator; strip blanks around items."""
    file, before, keeps_empty = refusing
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
    if len(broken) and not keeps_empty:
        at = before + int(line[broken[0]]) + 1
        message = f"an item between two {separator!r} is empty; expected a name{DROP_MISSING}"
        raise BadData(message, file=file, line=at)
    tokens, line = tokens.filter(pa.array(~blank_line)), line[~blank_line]
    named = pc.greater(pc.binary_length(tokens), 0)
    wrong = first_unusable(tokens.filter(named))
    if wrong is not None:  # such as a tab, which counts as a blank at the ends
        at = before + int(line[named.to_numpy(zero_copy_only=False)][wrong]) + 1
        raise BadData("an item holds a control character", file=file, line=at)
    return tokens, line


def _refuse_control_bytes(raw: NDArray[np.uint8], file: str, before: int) -> None:
    allowed = np.ones(256, dtype=bool)
    allowed[:32] = False
    allowed[127] = False
    allowed[[*_BLANKS, _NEWLINE]] = True
    wrong = np.flatnonzero(~allowed[raw])
    if len(wrong):
        line = before + int(np.count_nonzero(raw[: wrong[0]] == _NEWLINE)) + 1
        raise BadData(f"holds the control byte 0x{raw[wrong[0]]:02x}; expected text in UTF-8", file=file, line=line)
