"""Files of disassociated data: JSON Lines with a header and one line per cluster, or Parquet with one row per subrecord.

`{"format": "disassoc/1", "k": 3, "m": 2, "delta": 20, "clusters": 1, "records": 20}`
`{"size": 20, "record_chunks": [[[["a", "b"], 12], [["a"], 5]], [[["c"], 4]]], "term_chunk": ["x"]}`
"""

from __future__ import annotations

import hashlib
import json
from array import array
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pyarrow as pa

from setveil.base.arguments import check_arguments
from setveil.data.files import column_files, packing
from setveil.data.files.coded_labels import CodedLabels, as_array
from setveil.data.files.json_lines import Whole, item_text, json_type_name, json_value, lines_of
from setveil.data.files.packing import plain_suffix, writing
from setveil.data.files.side_files import first_unusable, shown
from setveil.data.forms.disassociated import STATED, Disassociated
from setveil.data.forms.own_format import OwnFormat
from setveil.data.records.labels import BLANKS
from setveil.data.records.transactions import Transactions
from setveil.errors import BadData, OutputRefused

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from setveil.data.formats import Layout

FORMAT = "disassoc/1"
_HEADER = f'{{"format": "{FORMAT}", "k": 3, "m": 2, "delta": 20, "clusters": 1, "records": 20}}'
_CLUSTER = '{"size": 20, "record_chunks": [[[["milk", "tea"], 12], [["milk"], 5]]], "term_chunk": ["wine"]}'
_FIELDS = {"size", "record_chunks", "term_chunk"}
_MOST_DIGITS = 15
"""Sums of larger numbers could exceed 64 bits."""
_COLUMNS = {"cluster": pa.int64(), "chunk": pa.int64(), "items": pa.large_list(pa.large_string()), "count": pa.int64()}
_WRITTEN_CLUSTERS = 1 << 13
_TERM_ROW = -1
_LONGEST_HEADER = 1 << 12
"""The number of bytes read to recognize a file of disassociated data."""


class DisassociatedFiles(OwnFormat):
    """The format of disassociated data: JSON Lines, by default compressed with gzip, or Parquet."""

    name: ClassVar[str] = "disassociated"
    summary: ClassVar[str] = "JSON Lines with one line per cluster (its size, record chunks and term chunk), or Parquet"
    extensions: ClassVar[tuple[str, ...]] = (".jsonl.gz", ".jsonl", ".parquet")

    def read(self, path: Path, layout: Layout) -> Disassociated:
        """Read a file, or raise `BadData` that says what is wrong and where."""
        del layout
        return read_disassociated(path)

    def as_table(self, extension: str, layout: Layout) -> Mapping[str, Any]:
        """Return the columns of a Parquet file; JSON Lines are no table, because the first line is a header."""
        del layout
        types = {name: "integer" if kind == pa.int64() else "array" for name, kind in _COLUMNS.items()}
        fields = [{"name": name, "type": kind} for name, kind in types.items()]
        return {"schema": {"fields": fields}} if extension == ".parquet" else {}

    def write(self, data: Disassociated, path: Path, layout: Layout) -> None:
        """Write a file, compressed if its name ends in .gz or .zst."""
        del layout
        write_disassociated(data, path)


@check_arguments
def read_disassociated(source: str | Path) -> Disassociated:
    """Read disassociated data from a JSON Lines or Parquet file.

    Parameters
    ----------
    source : str or Path
        The file; JSON Lines may be compressed (`.gz`, `.zst`). Clusters, chunks, subrecords and items may be in any order.

    Returns
    -------
    Disassociated
        The data.

    Raises
    ------
    BadData
        If the file is missing, empty or invalid; the message names the line.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import setveil as sv
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "data.jsonl"
    >>> lines = ['{"format": "disassoc/1"}', '{"size": 3, "record_chunks": [[[["milk"], 2]]], "term_chunk": ["wine"]}']
    >>> _ = path.write_text(chr(10).join(lines))
    >>> sv.read_disassociated(path)
    Disassociated(1 cluster, 1 record chunk, 3 records, 2 items)
    """
    path = Path(source)
    with packing.opened_once(path):
        data = _read_parquet(path) if plain_suffix(path) == ".parquet" else _read_lines(path)
        with packing.open_file(path) as file:
            return replace(data, source_sha256=hashlib.file_digest(file.raw, "sha256").hexdigest())


def looks_disassociated(path: Path) -> bool:
    """Return whether a file looks like disassociated data; False if it cannot be read."""
    try:
        if plain_suffix(path) == ".parquet":
            return set(column_files.schema_of(path).names) == set(_COLUMNS)
        if plain_suffix(path) != ".jsonl":
            return False
        with packing.reading(path) as (stream, _advance):
            beginning = stream.read(_LONGEST_HEADER)
        return f'"{FORMAT}"'.encode() in beginning.split(b"\n", 1)[0]
    except BadData:
        return False


def write_disassociated(data: Disassociated, path: Path) -> None:
    """Write disassociated data; equal data give equal bytes."""
    if wrong := first_unusable(data.vocabulary):
        raise OutputRefused(f"an item cannot be written: {wrong}")
    if plain_suffix(path) == ".parquet":
        with writing(path) as file:
            for block in column_files.written(path, _COLUMNS, _tables(data)):
                file.write(block)
        return
    with writing(path) as file:
        stated = {name: data.stated[name] for name in STATED if name in data.stated}
        header = {"format": FORMAT} | stated | {"clusters": data.clusters, "records": data.records}
        file.write(json.dumps(header).encode() + b"\n")
        for block in _blocks(data):
            file.write(block)


# -- reading ------------------------------------------------------------------------------------------------------------------


def _read_lines(path: Path) -> Disassociated:
    reading = _Reading()
    header: dict[str, int] = {}
    number = 0
    for line in lines_of(path):
        number += 1
        try:
            value = json_value(line)
            if number == 1:
                header = _header(value)
            else:
                reading.add_line(value)
        except ValueError as error:
            raise BadData(str(error), file=str(path), line=number) from None
    if not number:
        raise BadData(f"is empty; expected a header such as {_HEADER}", file=str(path))
    for name, found in (("clusters", len(reading.sizes)), ("records", sum(reading.sizes))):
        if header.get(name, found) != found:
            problem = f"the header says {header[name]:,} {name}, and the lines below it have {found:,}"
            raise BadData(f"{problem}; lines are missing or were added", file=str(path), line=1)
    return reading.finish({name: header[name] for name in STATED if name in header})


def _header(value: Any) -> dict[str, int]:
    if not isinstance(value, dict) or value.get("format") != FORMAT:
        raise ValueError(f"is not a header of disassociated data; expected one such as {_HEADER}")
    allowed = (*STATED, "clusters", "records")
    for name, number in value.items():
        if name != "format" and name not in allowed:
            raise ValueError(f"the header has the field {shown(name)}; allowed are format, {', '.join(allowed)}")
        if name != "format":
            _whole_number(number, f"{name!r} in the header", least=0)
    return {name: int(number) for name, number in value.items() if name != "format"}


def _whole_number(value: Any, what: str, least: int = 1) -> int:
    if not isinstance(value, Whole):
        raise ValueError(f"{what} is {json_type_name(value)}; expected a whole number")  # noqa: TRY004 - an error in the data
    if len(value) > _MOST_DIGITS or int(value) < least:
        raise ValueError(
            f"{what} is {value[:_MOST_DIGITS]}{'...' * (len(value) > _MOST_DIGITS)}; expected at least {least}"
        )
    return int(value)


def _list(value: Any, what: str) -> list[Any]:
    if not isinstance(value, list):
        raise ValueError(f"{what} is {json_type_name(value)}; expected a list")  # noqa: TRY004 - an error in the data
    return value


class _Reading:
    """Collects the clusters of a file."""

    def __init__(self) -> None:
        self.items = CodedLabels()
        self.offsets = array("q", [0])
        self.counts = array("q")
        self.chunk_starts = array("q", [0])
        self.cluster_starts = array("q", [0])
        self.sizes = array("q")
        self.terms = CodedLabels(self.items)
        self.term_ends = array("q")

    def add_line(self, cluster: Any) -> None:
        """Add the cluster on a line, or raise `ValueError` if it is invalid."""
        if not isinstance(cluster, dict):
            raise ValueError(f"is {json_type_name(cluster)}; expected a cluster such as {_CLUSTER}")  # noqa: TRY004 - an error in the data
        if cluster.keys() != _FIELDS:
            other = sorted(cluster.keys() - _FIELDS)
            lacking = sorted(_FIELDS - cluster.keys())
            problem = f"has the field {shown(other[0])}" if other else f"has no field {lacking[0]!r}"
            raise ValueError(f"{problem}; a cluster has the fields 'size', 'record_chunks', 'term_chunk' and no others")
        size = _whole_number(cluster["size"], "the size of a cluster")
        for chunk in _list(cluster["record_chunks"], "the field 'record_chunks'"):
            if not _list(chunk, "a record chunk"):
                raise ValueError("a record chunk is an empty list; expected at least one subrecord with its count")
            for entry in chunk:
                if not isinstance(entry, list) or len(entry) != 2:
                    raise ValueError(
                        'an entry of a record chunk is invalid; expected a subrecord with its count, such as [["milk"], 5]'
                    )
                self._add_subrecord(entry[0], _whole_number(entry[1], "the count of a subrecord"))
            self.end_chunk()
        self.end_cluster(size, self.labels(cluster["term_chunk"], "the term chunk"))

    def labels(self, value: Any, what: str) -> list[str]:
        """Return the items of a list, or raise `ValueError` if they are invalid."""
        # A table may hold integers; JSON numbers are read as their digits.
        given = [item_text(str(item) if type(item) is int else item) for item in _list(value, what)]
        labels = [label.strip(BLANKS) for label in given]
        if len(set(labels)) < len(labels):
            twice = next(label for place, label in enumerate(labels) if label in labels[:place])
            raise ValueError(f"{what} holds the item {shown(twice)} twice; expected each item once")
        return labels

    def _add_subrecord(self, items: Any, count: int) -> None:
        for label in self.labels(items, "a subrecord"):
            self.items.add(label)
        self.offsets.append(len(self.items.codes))
        self.counts.append(count)

    def end_chunk(self) -> None:
        """Mark the end of a chunk."""
        self.chunk_starts.append(len(self.counts))

    def end_cluster(self, size: int, terms: list[str]) -> None:
        """Mark the end of a cluster."""
        self.cluster_starts.append(len(self.chunk_starts) - 1)
        self.sizes.append(size)
        for label in terms:
            self.terms.add(label)
        self.term_ends.append(len(self.terms.codes))

    def add_row(self, items: Any, count: int) -> None:
        """Add a subrecord of a table."""
        self._add_subrecord(items, count)

    def finish(self, stated: dict[str, int]) -> Disassociated:
        """Return the data."""
        cut = len(self.items.codes)
        both = Transactions.from_codes(
            np.concatenate((as_array(self.offsets), cut + as_array(self.term_ends))),
            np.concatenate((as_array(self.items.codes), as_array(self.terms.codes))),
            self.items.labels,
        )
        rows = len(self.counts)
        return Disassociated(
            Transactions(both.offsets[: rows + 1], both.items[:cut], both.vocabulary),
            as_array(self.counts),
            as_array(self.chunk_starts),
            as_array(self.cluster_starts),
            as_array(self.sizes),
            both.offsets[rows:] - cut,
            both.items[cut:],
            stated,
        )


def _read_parquet(path: Path) -> Disassociated:
    """Read a table that has, for each cluster, a row with chunk -1, the term chunk and the size, and one row per subrecord."""
    file = str(path)
    hint = "A table of disassociated data has these columns"
    found: list[tuple[int, int, list[str], int]] = []
    for columns in column_files.batches(path, list(_COLUMNS), hint):
        for name, column in zip(_COLUMNS, columns, strict=True):
            if column.null_count:
                raise BadData(f"the column {name!r} has missing values", file=file)
            if not _fits(name, column.type):
                expected = "lists of texts or whole numbers" if name == "items" else "whole numbers"
                raise BadData(f"the column {name!r} holds {column.type}; expected {expected}", file=file)
        found += zip(*(column.to_pylist() for column in columns), strict=True)
    # Rows may be in any order: clusters and chunks have numbers.
    found.sort(key=lambda row: row[:2])
    reading = _Reading()
    at = 0
    while at < len(found):
        cluster, chunk, terms, size = found[at]
        if chunk != _TERM_ROW:
            raise BadData(f"cluster {cluster} has no row with chunk -1; expected one with its size", file=file)
        at += 1
        try:
            _refuse_number(size, f"the size of cluster {cluster}")
            at = _rows_of_cluster(reading, found, at, cluster)
            reading.end_cluster(size, reading.labels(terms, f"the term chunk of cluster {cluster}"))
        except ValueError as error:
            raise BadData(str(error), file=file) from None
    if not found:
        raise BadData("has no rows; expected at least one cluster", file=file)
    return reading.finish({})


def _fits(name: str, kind: Any) -> bool:
    """Return whether a column of a table has the right type."""
    if name != "items":
        return bool(pa.types.is_integer(kind))
    if not (pa.types.is_list(kind) or pa.types.is_large_list(kind)):
        return False
    texts = pa.types.is_string(kind.value_type) or pa.types.is_large_string(kind.value_type)
    return bool(texts or pa.types.is_integer(kind.value_type))


def _rows_of_cluster(reading: _Reading, rows: list[tuple[int, int, list[str], int]], at: int, cluster: int) -> int:
    """Add the subrecords of a cluster, chunk by chunk; return the start of the next cluster."""
    before = None
    while at < len(rows) and rows[at][0] == cluster:
        _, chunk, items, count = rows[at]
        if chunk < 0:
            raise ValueError(
                f"cluster {cluster} has two rows with chunk -1, or a lower chunk number; chunks are numbered starting with 0"
            )
        if before is not None and chunk != before:
            reading.end_chunk()
        before = chunk
        _refuse_number(count, f"a count in cluster {cluster}")
        reading.add_row(items, count)
        at += 1
    if before is not None:
        reading.end_chunk()
    return at


def _refuse_number(number: int, what: str) -> None:
    if not 1 <= number < 10**_MOST_DIGITS:
        raise ValueError(f"{what} is {number}; expected at least 1")


# -- writing ------------------------------------------------------------------------------------------------------------------


def _blocks(data: Disassociated) -> Iterator[bytes]:
    """Yield the lines of the clusters in blocks."""
    names = np.array([json.dumps(label, ensure_ascii=False) for label in data.vocabulary] or [""], dtype=object)
    for first in range(0, data.clusters, _WRITTEN_CLUSTERS):
        last = min(first + _WRITTEN_CLUSTERS, data.clusters)
        clusters = data.cluster_starts[first : last + 1].tolist()
        chunks = data.chunk_starts[clusters[0] : clusters[-1] + 1].tolist()
        offsets = data.subrecords.offsets[chunks[0] : chunks[-1] + 1].tolist()
        items = names[data.subrecords.items[offsets[0] : offsets[-1]]].tolist()
        counts = data.counts[chunks[0] : chunks[-1]].tolist()
        entries = [
            f"[[{', '.join(items[offsets[i] - offsets[0] : offsets[i + 1] - offsets[0]])}], {counts[i]}]"
            for i in range(len(counts))
        ]
        bags = [
            f"[{', '.join(entries[chunks[j] - chunks[0] : chunks[j + 1] - chunks[0]])}]" for j in range(len(chunks) - 1)
        ]
        places = data.term_starts[first : last + 1].tolist()
        terms = names[data.terms[places[0] : places[-1]]].tolist()
        sizes = data.sizes[first:last].tolist()
        lines = []
        for c, size in enumerate(sizes):
            held = ", ".join(bags[clusters[c] - clusters[0] : clusters[c + 1] - clusters[0]])
            rest = ", ".join(terms[places[c] - places[0] : places[c + 1] - places[0]])
            lines.append(f'{{"size": {size}, "record_chunks": [{held}], "term_chunk": [{rest}]}}\n')
        yield "".join(lines).encode()


def _tables(data: Disassociated) -> Iterator[Any]:
    """Yield the rows of a table: for each cluster, first the row of its size and term chunk, then its subrecords by chunk."""
    cluster = data.cluster_of_chunk[data.chunk_of_subrecord]
    chunk = data.chunk_of_subrecord - data.cluster_starts[cluster]
    clusters = np.concatenate((np.arange(data.clusters), cluster))
    chunks = np.concatenate((np.full(data.clusters, _TERM_ROW), chunk))
    numbers = np.concatenate((data.sizes, data.counts))
    both = Transactions.of_parts(
        np.concatenate((data.term_starts, data.term_starts[-1] + data.subrecords.offsets[1:])),
        np.concatenate((data.terms, data.subrecords.items)),
        data.vocabulary,
        ids=None,
        unit=data.unit,
    )
    order = np.lexsort((chunks, clusters))
    rows = both.take(order).to_arrow()
    yield pa.record_batch(
        [pa.array(clusters[order]), pa.array(chunks[order]), rows, pa.array(numbers[order])], names=list(_COLUMNS)
    )
