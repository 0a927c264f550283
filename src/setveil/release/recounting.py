"""The file `recount.sql` of the private folder: DuckDB counts again what a release states, without any code of setveil.

Run it in the private folder: `duckdb < recount.sql`, or in Python `duckdb.sql(open("recount.sql").read())`. It holds private parameters.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from setveil.base.sql import as_text
from setveil.data.formats import FORMATS
from setveil.data.forms.parts import pattern_of
from setveil.guarantees.recounts import Recount, Recounts
from setveil.release.dossier import ALIGNMENT_NAME

if TYPE_CHECKING:
    from collections.abc import Iterator

    from setveil.data.forms.base import Counts, Published
    from setveil.release.release import Release
    from setveil.release.saving import DataFileFormat, Target

RECOUNT_NAME = "recount.sql"
_READ_AS_THEY_ARE = {"format", "id", "item", "items", "separator", "no_header", "unit", "person"}
"""Options of `read` that only say where the items are."""


def recount_text(release: Release, published: Published, target: Target, written: DataFileFormat, file: str) -> str:
    """Return the content of the file."""
    guarantee = release.method.guarantee
    demanded = Recounts() if guarantee is None else guarantee.recounts(type(published), release.original.vocabulary)
    file = pattern_of(file)
    place = f"{target.address}/{file}" if target.address else os.path.relpath(target.out / file, target.private)
    tables = dict(written.form.as_sql(place, written.extension, written.layout))
    queries = [*(_counts(published.totals()) if "released" in tables else ()), *demanded.queries] if tables else []
    if any(query.needs_original for query in queries):
        if original := _original(release):
            tables["original"] = original
            rows = "SELECT row + 1 AS record, original_row + 1 AS original_record FROM"
            tables["origin"] = f"{rows} read_parquet({as_text(ALIGNMENT_NAME)})"
        else:
            queries = [query for query in queries if not query.needs_original]
    return "\n".join(_lines(demanded, tables, queries, published.records))


def _lines(demanded: Recounts, tables: dict[str, str], queries: list[Recount], records: int) -> Iterator[str]:
    yield "-- Counts again what this release states, with DuckDB and without setveil. Run it in this folder: duckdb < recount.sql"
    yield "-- Keep it private: it holds parameters and paths that are not published."
    if demanded.not_counted:
        yield f"-- {demanded.not_counted}"
    missing = {query.what for query in demanded.queries} - {query.what for query in queries}
    if missing:
        yield f"-- Not counted, because SQL cannot read the files as setveil did: {'; '.join(sorted(missing))}."
    if not queries:
        return
    yield f"CREATE TABLE stated AS SELECT {records} AS records;"
    for name, query in tables.items():
        yield f"CREATE TABLE {name} AS\n{query};"
    yield from demanded.tables
    counted = [
        f"SELECT {as_text(query.what)} AS statement, ({query.query}) AS counted, {query.limit} AS stated"
        for query in queries
    ]
    together = "\nUNION ALL\n".join(counted)
    yield f"SELECT statement, counted, stated, counted = stated AS agrees FROM (\n{together}\n) AS all_counts;"


def _counts(stated: Counts) -> tuple[Recount, ...]:
    """Return the counts on the card. Records without items are not rows of the table."""
    return (
        Recount(
            "records that hold an item",
            "SELECT count(DISTINCT record) FROM released",
            stated.records - stated.empty_records,
        ),
        Recount("items", "SELECT count(DISTINCT item) FROM released", stated.items),
        Recount("occurrences", "SELECT count(*) FROM released", stated.occurrences),
    )


def _original(release: Release) -> str:
    """Return a query for the records of the original; empty if SQL cannot number them as setveil did."""
    source = getattr(release.original, "source", None)
    if source is None or not Path(source.place).is_file() or source.options.keys() - _READ_AS_THEY_ARE:
        return ""
    form = source.format
    if form is None or form.name not in FORMATS:
        return ""
    found = form.as_sql(str(Path(source.place).absolute()), source.extension, source.layout)
    return str(found.get("released", ""))
