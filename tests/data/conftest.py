"""What tests of data share: databases."""

from support.databases import fill, sqlite_url  # noqa: F401 - fixtures
from support.postgres import postgres_server  # noqa: F401 - the same
