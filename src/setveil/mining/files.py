"""Write itemsets and rules to files: text, CSV, JSON, Parquet or Arrow. A file is written completely or not at all.

Text and JSON Lines hold only the itemsets, as `read_itemsets` reads them; the other formats also hold the supports.
"""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from setveil.base.arguments import check_arguments
from setveil.base.atomic import make_file, refuse_file
from setveil.base.progress import step
from setveil.data.files.column_files import EXTENSIONS as TABLES
from setveil.data.files.column_files import written
from setveil.data.files.packing import packing_of, plain_suffix, writing
from setveil.data.files.side_files import shown
from setveil.data.files.texts import check_separator
from setveil.errors import OutputRefused
from setveil.mining.rules import Rules

if TYPE_CHECKING:
    from collections.abc import Iterator

    from setveil.mining.disassociated_itemsets import BoundedItemsets
    from setveil.mining.itemsets import Itemsets

TEXTS = (".txt", ".dat", ".basket")
JSON_LINES = (".jsonl", ".ndjson")
KINDS = (*TEXTS, ".csv", ".json", *JSON_LINES, *TABLES)
_ROWS = 1 << 15
"""Number of rows per written block."""


def refuse_target(target: Path, *, rules: bool, force: bool) -> None:
    """Raise `OutputRefused` for a file that cannot be written, before any work is done."""
    suffix = plain_suffix(target)
    kinds = [kind for kind in KINDS if not (rules and kind in TEXTS)]
    if suffix not in kinds:
        what = "rules" if rules else "itemsets"
        raise OutputRefused(
            f"{target}: {what} cannot be written to a file with this extension; allowed are {' '.join(kinds)}"
        )
    if packing_of(target) and suffix in TABLES:
        raise OutputRefused(f"{target}: a {suffix} file is compressed internally; omit the extension {target.suffix}")
    refuse_file(target, force=force)


@check_arguments
def write_mined(
    found: Itemsets | BoundedItemsets | Rules,
    file: str | Path,
    *,
    to_separator: str | None = None,
    force: bool = False,
) -> None:
    r"""Write itemsets or rules, in their order, to a file whose extension names the format.

    Parameters
    ----------
    found : Itemsets, BoundedItemsets or Rules
        The result of `mine`, `mine_bounds` or `association_rules`.
    file : str or Path
        The file to write. A .txt or .jsonl file holds only the itemsets; .csv, .json, .parquet and .arrow files also hold the supports.
        Rules cannot be written as .txt. Text formats may be compressed (.gz, .zst).
    to_separator : str, optional
        The separator between items in a text or CSV file; a blank by default.
    force : bool, default: False
        Whether to replace an existing file.

    Returns
    -------
    None
        The file appears when it is complete.

    Raises
    ------
    OutputRefused
        If the file exists, cannot be written or has an unknown extension, or if an item contains the separator.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import setveil as sv
    >>> file = Path(tempfile.mkdtemp()) / "itemsets.csv"
    >>> sv.write_mined(sv.mine(sv.from_lists([["tea", "milk"], ["tea"]]), 2), file)
    >>> file.read_text()
    'items,support,share\ntea,2,1.0\n'
    """
    target = Path(file)
    refuse_target(target, rules=isinstance(found, Rules), force=force)
    suffix = plain_suffix(target)
    if to_separator is not None:
        check_separator(to_separator)
    joined_by = to_separator or " "
    if suffix in TEXTS or suffix == ".csv":
        _refuse_separator_inside(found.itemsets if isinstance(found, Rules) else found, joined_by, target)
    table = found.to_table()
    with make_file(target, force=force) as hidden, step(f"writing {target.name}"), writing(hidden) as out:
        if suffix in TABLES:
            columns = dict(zip(table.column_names, table.schema.types, strict=True))
            for block in written(hidden, columns, iter(table.to_batches(_ROWS))):
                out.write(block)
            return
        rows = _rows(table)
        if suffix in TEXTS:
            lines: Iterator[str] = (joined_by.join(row["items"]) + "\n" for row in rows)
        elif suffix in JSON_LINES:
            lines = (_json(row if isinstance(found, Rules) else row["items"]) + "\n" for row in rows)
        elif suffix == ".csv":
            lines = _csv(table.column_names, rows, joined_by)
        else:
            lines = _json_list(rows)
        for line in lines:
            out.write(line.encode())


def _rows(table: Any) -> Iterator[dict[str, Any]]:
    for first in range(0, table.num_rows, _ROWS):
        yield from table.slice(first, _ROWS).to_pylist()


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _json_list(rows: Iterator[dict[str, Any]]) -> Iterator[str]:
    before = "[\n"
    for row in rows:
        yield before + _json(row)
        before = ",\n"
    yield "\n]\n" if before == ",\n" else "[]\n"


def _csv(names: list[str], rows: Iterator[dict[str, Any]], joined_by: str) -> Iterator[str]:
    yield ",".join(names) + "\n"
    for row in rows:
        line = io.StringIO()
        cells = [joined_by.join(cell) if isinstance(cell, list) else cell for cell in row.values()]
        csv.writer(line, lineterminator="\n").writerow(cells)
        yield line.getvalue()


def _refuse_separator_inside(found: Itemsets | BoundedItemsets, separator: str, target: Path) -> None:
    for code in np.flatnonzero(np.bincount(found.items)):
        label = found.vocabulary[code]
        if separator in label or label != label.strip():  # readers remove blanks around an item
            raise OutputRefused(
                f"{target}: the item {shown(label)} contains the separator {shown(separator)}, or blanks around it; choose another "
                "`to_separator=`, or a file with the extension .jsonl, .json or .parquet"
            )
