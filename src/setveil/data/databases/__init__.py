"""Databases as sources and targets: PostgreSQL, SQLite files and DuckDB files.

Their libraries are the extra `db` and are imported only when an address is opened. Addresses carry passwords: outside of this package an
address is only ever shown as `shown` gives it, and what a driver says is told again without it.
"""

from setveil.data.databases.address import is_database, shown
from setveil.data.databases.reading import Rows, query_batches
from setveil.data.databases.writing import Shape, write_table

__all__ = ["Rows", "Shape", "is_database", "query_batches", "shown", "write_table"]
