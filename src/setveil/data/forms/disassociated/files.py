"""Files of disassociated data: JSON Lines with a header and one line per cluster, or Parquet with one row per subrecord.

`{"format": "disassoc/1", "k": 3, "m": 2, "delta": 20, "clusters": 1, "records": 20}`
`{"size": 20, "record_chunks": [[[["a", "b"], 12], [["a"], 5]], [[["c"], 4]]], "term_chunk": ["x"]}`
"""

from __future__ import annotations

import hashlib
import json
from array import array
from dataclasses import replace
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pyarrow as pa

from setveil.base.arguments import check_arguments
from setveil.base.sql import as_text
from setveil.data.files import column_files, packing
from setveil.data.files.coded_labels import CodedLabels, as_array
from setveil.data.files.json_lines import Whole, item_text, json_type_name, json_value, lines_of
from setveil.data.files.packing import plain_suffix, writing
from setveil.data.files.side_files import first_unusable, shown
from setveil.data.forms.disassociated import STATED, Disassociated
from setveil.data.forms.disassociated.parts import ClusterArrays, joined
from setveil.data.forms.own_format import OwnFormat
from setveil.data.records.labels import BLANKS, Vocabulary, label_order
from setveil.data.records.ragged import pieces, record_ranges
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
_WRITTEN_CLUSTERS, _WRITTEN_TERMS = 1 << 13, 1 << 22
_GROUP_ROWS = 1 << 20
"""The number of rows in a row group of a Parquet file."""
_PARQUET_ROWS = 1 << 14
"""The number of rows of a Parquet file that are Python lists at the same time."""
_READ_NUMBERS = 1 << 22
"""How long a part is that is read: the number of its items, terms, subrecords and clusters."""
_TERM_ROW = -1
_Row = tuple[int, int, list[str], int]
"""A row of a Parquet file."""
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

    def as_sql(self, file: str, extension: str, layout: Layout) -> Mapping[str, str]:
        """Return queries for the clusters and the items of their subrecords in JSON Lines."""
        del layout
        if extension == ".parquet":
            return {}
        columns = "{'size': 'BIGINT', 'record_chunks': 'JSON[][]'}"
        lines = f"read_json({as_text(file)}, format = 'newline_delimited', columns = {columns})"
        whole = f"(SELECT row_number() OVER () AS cluster, * FROM {lines} WHERE size IS NOT NULL)"
        chunk = f"""
  WITH bag AS (
    SELECT cluster, unnest(record_chunks) AS bag, generate_subscripts(record_chunks, 1) AS chunk FROM {whole}
  ), entry AS (
    SELECT cluster, chunk, unnest(bag) AS entry, generate_subscripts(bag, 1) AS subrecord FROM bag
  )
  SELECT cluster, chunk, subrecord, CAST(entry->1 AS BIGINT) AS copies, unnest(CAST(entry->0 AS VARCHAR[])) AS item FROM entry"""
        return {"cluster": f"SELECT cluster, size AS records FROM {whole}", "chunk": chunk}

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

    def parts() -> Iterator[ClusterArrays]:
        number = 0
        for line in lines_of(path):
            number += 1
            try:
                value = json_value(line)
                if number == 1:
                    header.update(_header(value))
                else:
                    reading.add_line(value)
            except ValueError as error:
                raise BadData(str(error), file=str(path), line=number) from None
            if reading.is_long:
                yield reading.take_part()
        if not number:
            raise BadData(f"is empty; expected a header such as {_HEADER}", file=str(path))
        yield reading.take_part()

    arrays = joined(parts())
    for name, found in (("clusters", len(arrays.sizes)), ("records", reading.records)):
        if header.get(name, found) != found:
            problem = f"the header says {header[name]:,} {name}, and the lines below it have {found:,}"
            raise BadData(f"{problem}; lines are missing or were added", file=str(path), line=1)
    return reading.finish(arrays, {name: header[name] for name in STATED if name in header})


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
    """Collects the clusters of a file part by part."""

    def __init__(self) -> None:
        self.items = CodedLabels()
        self.terms = CodedLabels(self.items)
        self.records = 0
        self._begin_part()

    def _begin_part(self) -> None:
        self.items.codes, self.terms.codes = array("i"), array("i")
        self.offsets = array("q", [0])
        self.counts = array("q")
        self.chunk_starts = array("q", [0])
        self.cluster_starts = array("q", [0])
        self.sizes = array("q")
        self.term_starts = array("q", [0])

    @property
    def is_long(self) -> bool:
        """Whether the part is long enough."""
        return len(self.items.codes) + len(self.terms.codes) + len(self.counts) + len(self.sizes) >= _READ_NUMBERS

    def take_part(self) -> ClusterArrays:
        """Return the clusters of the part, with items in order of first appearance, and begin another part."""
        columns = (self.offsets, self.items.codes, self.counts, self.chunk_starts, self.cluster_starts)
        part = ClusterArrays(*map(as_array, (*columns, self.sizes, self.term_starts, self.terms.codes)))
        self._begin_part()
        return part

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
                self.add_subrecord(entry[0], _whole_number(entry[1], "the count of a subrecord"))
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

    def add_subrecord(self, items: Any, count: int) -> None:
        """Add a subrecord to the chunk."""
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
        self.records += size
        for label in terms:
            self.terms.add(label)
        self.term_starts.append(len(self.terms.codes))

    def finish(self, arrays: ClusterArrays, stated: dict[str, int]) -> Disassociated:
        """Return the data of all parts together."""
        labels = self.items.labels
        order = label_order(labels)
        rank = np.empty(len(order), np.int32)
        rank[order] = np.arange(len(order), dtype=np.int32)
        vocabulary = Vocabulary(labels[at] for at in order)
        none = Transactions.of_parts(np.zeros(1, np.int64), np.empty(0, np.int32), vocabulary, ids=None, unit="record")
        return Disassociated.of_arrays(arrays.renamed(rank), none, stated)


def _read_parquet(path: Path) -> Disassociated:
    """Read a table that has, for each cluster, a row with chunk -1, the term chunk and the size, and one row per subrecord."""
    reading = _Reading()

    def parts() -> Iterator[ClusterArrays]:
        for cluster, rows in groupby(_rows_in_order(path), key=itemgetter(0)):
            _, chunk, terms, size = next(rows)
            try:
                if chunk != _TERM_ROW:
                    raise ValueError(f"cluster {cluster} has no row with chunk -1; expected one with its size")  # noqa: TRY301 - an error in the data
                _refuse_number(size, f"the size of cluster {cluster}")
                _add_chunks(reading, rows, cluster)  # noqa: B031 - what follows the first row
                reading.end_cluster(size, reading.labels(terms, f"the term chunk of cluster {cluster}"))
            except ValueError as error:
                raise BadData(str(error), file=str(path)) from None
            if reading.is_long:
                yield reading.take_part()
        yield reading.take_part()

    arrays = joined(parts())
    if not len(arrays.sizes):
        raise BadData("has no rows; expected at least one cluster", file=str(path))
    return reading.finish(arrays, {})


def _rows_in_order(path: Path) -> Iterator[_Row]:
    """Return the rows by cluster and chunk. In a file, they may be in any order; if they are in this one, few at a time are in memory."""
    before = (-(2**63), 0)
    for columns in _batches(path, "cluster", "chunk"):
        cluster, chunk = (np.append(first, column.to_numpy()) for first, column in zip(before, columns, strict=True))
        if np.any((cluster[1:] < cluster[:-1]) | ((cluster[1:] == cluster[:-1]) & (chunk[1:] < chunk[:-1]))):
            return iter(sorted(_rows(path), key=itemgetter(0, 1)))
        before = (cluster[-1], chunk[-1])
    return _rows(path)


def _rows(path: Path) -> Iterator[_Row]:
    for columns in _batches(path, *_COLUMNS):
        for part in pieces(len(columns[0]), _PARQUET_ROWS):
            yield from zip(*(column[part].to_pylist() for column in columns), strict=True)


def _batches(path: Path, *names: str) -> Iterator[list[Any]]:
    """Yield columns of a table in batches, or raise `BadData` if one has missing values or the wrong type."""
    for columns in column_files.batches(path, names, "A table of disassociated data has these columns"):
        for name, column in zip(names, columns, strict=True):
            if column.null_count:
                raise BadData(f"the column {name!r} has missing values", file=str(path))
            if not _fits(name, column.type):
                expected = "lists of texts or whole numbers" if name == "items" else "whole numbers"
                raise BadData(f"the column {name!r} holds {column.type}; expected {expected}", file=str(path))
        yield columns


def _fits(name: str, kind: Any) -> bool:
    """Return whether a column of a table has the right type."""
    if name != "items":
        return bool(pa.types.is_integer(kind))
    if not (pa.types.is_list(kind) or pa.types.is_large_list(kind)):
        return False
    texts = pa.types.is_string(kind.value_type) or pa.types.is_large_string(kind.value_type)
    return bool(texts or pa.types.is_integer(kind.value_type))


def _add_chunks(reading: _Reading, rows: Iterator[_Row], cluster: int) -> None:
    """Add the subrecords of a cluster, chunk by chunk."""
    for chunk, subrecords in groupby(rows, key=itemgetter(1)):
        if chunk < 0:
            raise ValueError(
                f"cluster {cluster} has two rows with chunk -1, or a lower chunk number; chunks are numbered starting with 0"
            )
        for _cluster, _chunk, items, count in subrecords:
            _refuse_number(count, f"a count in cluster {cluster}")
            reading.add_subrecord(items, count)
        reading.end_chunk()


def _refuse_number(number: int, what: str) -> None:
    if not 1 <= number < 10**_MOST_DIGITS:
        raise ValueError(f"{what} is {number}; expected at least 1")


# -- writing ------------------------------------------------------------------------------------------------------------------


def _blocks(data: Disassociated) -> Iterator[bytes]:
    """Yield the lines of the clusters in blocks."""
    names = np.array([json.dumps(label, ensure_ascii=False) for label in data.vocabulary] or [""], dtype=object)
    for first, last in record_ranges(data.term_starts, _WRITTEN_TERMS, _WRITTEN_CLUSTERS):
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
    """Yield the rows of a table in row groups: for each cluster, first the row of its size and term chunk, then its subrecords by chunk."""
    rows = np.arange(data.clusters + 1) + data.chunk_starts[data.cluster_starts]
    for part in [*pieces(int(rows[-1]), _GROUP_ROWS)] or [slice(0, 0)]:
        first = int(np.searchsorted(rows[1:], part.start, side="right"))
        last = int(np.searchsorted(rows, part.stop))
        table = _table(data.between(first, last), first)
        yield table.slice(part.start - rows[first], part.stop - part.start)


def _table(data: Disassociated, first: int) -> Any:
    """Return the rows of clusters, which are numbered starting with `first`."""
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
    return pa.record_batch(
        [pa.array(clusters[order] + first), pa.array(chunks[order]), rows, pa.array(numbers[order])],
        names=list(_COLUMNS),
    )
