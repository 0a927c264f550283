"""What tests of the command line share: a database server."""

from support.postgres import postgres_server  # noqa: F401 - a fixture
