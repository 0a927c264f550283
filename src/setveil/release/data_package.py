"""`datapackage.json`: the files of a release as a Data Package (https://datapackage.org), written from the fields of the card only."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from setveil.catalog import FORMS
from setveil.data.files.packing import packing_of, plain_suffix
from setveil.data.formats import Layout

if TYPE_CHECKING:
    from setveil.release.card import Card, FileBeside

PROFILE = "https://datapackage.org/profiles/2.0/datapackage.json"
MEDIA_TYPES = {
    ".csv": "text/csv",
    ".tsv": "text/tab-separated-values",
    ".jsonl": "application/jsonl",
    ".ndjson": "application/x-ndjson",
    ".parquet": "application/vnd.apache.parquet",
    ".arrow": "application/vnd.apache.arrow.file",
    ".feather": "application/vnd.apache.arrow.file",
}
"""The media types of data files by extension; other files are text."""
JSON_LINES = (".jsonl", ".ndjson")
BINARY = (".parquet", ".arrow", ".feather")


def data_package(card: Card) -> str:
    """Return the description of the files as JSON text."""
    described = {
        "$schema": PROFILE,
        "name": f"setveil-{card.run}" if card.run else "setveil",
        "title": f"Release by {card.method.name}: {FORMS[card.form].form_title}",
        "description": f"{card.guarantee.statement} CARD.md states what is protected and what is not.",
        "resources": [_resource(card, one) for one in card.data.every_file],
    }
    return json.dumps(described, indent=2, ensure_ascii=False) + "\n"


def _resource(card: Card, one: FileBeside) -> dict[str, Any]:
    path, packing = Path(one.file), packing_of(Path(one.file))
    extension = plain_suffix(path)
    described: dict[str, Any] = {"name": one.file.partition(".")[0].lower(), "path": one.file}
    if packing == "zstd":  # other programs do not read tables in this compression
        described |= {"format": "zst", "mediatype": "application/zstd", "bytes": one.bytes}
        return described | {"hash": f"sha256:{one.sha256}"}
    table = _table(card, one.file, extension)
    if table:
        described["type"] = "table"
    is_table_to_others = extension in JSON_LINES and not table  # other programs read any JSON Lines as a table
    described |= {
        "format": card.data.format if is_table_to_others else extension[1:],
        "mediatype": MEDIA_TYPES.get(extension, "text/plain"),
    }
    if packing:
        described["compression"] = "gz"  # not in the standard, but what programs for Data Packages write
    if extension not in BINARY:
        described["encoding"] = "utf-8"
    return described | {"bytes": one.bytes, "hash": f"sha256:{one.sha256}"} | table


def _table(card: Card, file: str, extension: str) -> dict[str, Any]:
    """Return the schema and the dialect of a file; empty if it is not a table."""
    form = FORMS[card.form]
    if file in form.beside:
        return {"schema": form.schemas_beside[file]}
    return {**form.format_named(card.data.format).as_table(extension, Layout(**card.data.layout))}  # type: ignore[arg-type]
