"""Connections by address."""

from __future__ import annotations

from typing import TYPE_CHECKING

from setveil.errors import BadData

if TYPE_CHECKING:
    from setveil.data.databases.address import Address
    from setveil.data.databases.base import Connection


def connection_to(place: Address) -> Connection:
    """Return a connection for an address, not yet open."""
    if place.kind == "postgresql":
        from setveil.data.databases.postgresql import PostgreSQL  # noqa: PLC0415 - each kind is imported on use

        return PostgreSQL(place)
    if place.kind == "sqlite":
        from setveil.data.databases.sqlite import SQLite  # noqa: PLC0415 - the same

        return SQLite(place)
    if place.kind == "spark":
        from setveil.data.databases.spark import Spark  # noqa: PLC0415 - the same

        return Spark(place)
    from setveil.data.databases.duckdb_file import DuckDB  # noqa: PLC0415 - the same

    return DuckDB(place)


def require_file(place: Address) -> None:
    """Refuse a missing file, because opening it could create one."""
    if place.path is None:
        return
    try:
        if place.path.is_dir():
            raise BadData("is a folder; expected a database file", file=place.shown)
        place.path.open("rb").close()
    except FileNotFoundError:
        raise BadData("there is no such file", file=place.shown) from None
    except OSError as error:
        raise BadData(f"cannot be read: {error.strerror or error}", file=place.shown) from None
