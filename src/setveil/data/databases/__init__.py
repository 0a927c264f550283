"""Databases as sources and targets: PostgreSQL, SQLite files and DuckDB files.

Their drivers are the optional dependency `db` and are imported only when an address is opened. Addresses contain passwords: outside this
package, addresses are displayed only with `shown`, and messages of drivers are repeated without passwords.
"""

from setveil.data.databases.address import is_database, shown
from setveil.data.databases.reading import Rows, query_batches
from setveil.data.databases.writing import Shape, write_table

__all__ = ["Rows", "Shape", "is_database", "query_batches", "shown", "write_table"]
